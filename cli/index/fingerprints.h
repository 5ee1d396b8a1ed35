/* fingerprints.h - files of fingerprints: lines of hexadecimal, rows of sketch, raw words, or index
 * files */
#ifndef CLI_FINGERPRINTS_H
#define CLI_FINGERPRINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <neardup/hamming_file.h>

#include "results.h"
#include "settings.h"

/*
 * A block of fingerprints and their ids. The text of id i is text + id[i]; if id[i] is NO_TEXT, the
 * id is the number first + i. Starts from zeroes.
 */
struct fingerprints {
    uint64_t *row;
    size_t *id;
    char *text;
    size_t n, capacity, text_len, text_capacity, words;
};
#define NO_TEXT SIZE_MAX
enum { FINGERPRINTS_AT_ONCE = 1 << 14 }; /* where not all are kept */

struct fingerprint_file {
    const struct hamming_settings *settings;
    const char *name; /* its name in messages */
    FILE *file;
    char *line;
    size_t line_capacity;
    size_t digits;                          /* digits of the first line; 0: no line yet */
    uint64_t n;                             /* fingerprints read so far */
    struct nd_hamming_file *index;          /* the index, if the file is one */
    struct sketched_fingerprints *sketched; /* the sketch file, if it is one */
    struct nd_parser *parser;               /* parser of rows of sketch; NULL: none seen yet */
};

/*
 * Open a file; "-" is the standard input. A file that begins like an index is read as one. False:
 * an error was reported.
 */
bool fingerprint_file_open(struct fingerprint_file *f, const struct hamming_settings *settings,
                           const char *path);
void fingerprint_file_close(struct fingerprint_file *f);
/* Whether a file, which is not a pipe, begins like an index, or like a sketch file. */
bool is_index_path(const char *path);
bool is_sketch_path(const char *path);

/* A sketch file read for its fingerprints (sketched_fingerprints.c).  NULL: an error was reported. */
struct sketched_fingerprints *sketched_open(const char *path, unsigned bits);
void sketched_close(struct sketched_fingerprints *s);
/* The next one goes to *row, and its id, which is valid until the next call, to *id.  1; 0: a
 * document without one; 2: the end; -1: an error was reported. */
int sketched_next(struct sketched_fingerprints *s, uint64_t *row, const char **id, size_t *len);

/* Append at most `most` fingerprints. False: a bad line or out of memory, which was reported. */
bool fingerprint_file_read(struct fingerprint_file *f, size_t most, struct fingerprints *out);

/*
 * Read n whole files. start[i] (start may be NULL) is where the i-th begins. False: an error was
 * reported.
 */
bool fingerprints_read_files(struct fingerprints *out, const struct hamming_settings *settings,
                             const char *const *path, size_t n, size_t *start);

/* Append a fingerprint with the text of its id. False: out of memory, which was reported. */
bool fingerprints_add(struct fingerprints *out, const uint64_t *row, const char *id, size_t len);
/* Set the text of the id of the last fingerprint, which is not counted yet. */
bool fingerprints_add_id(struct fingerprints *out, const char *id, size_t len);
/* Parse at most ceil(bits / 4) digits, highest first. Returns NULL, or what is wrong. */
const char *fingerprint_digits(const char *text, size_t len, unsigned bits, uint64_t *row);
/*
 * Parse a row of sketch in f->line. Returns 1 with a fingerprint, 0 if the document has none, -1
 * after reporting an error.
 */
int fingerprint_row_read(struct fingerprint_file *f, size_t len, struct fingerprints *out);

/* The index that the options describe. */
struct nd_hamming_shape hamming_shape(const struct hamming_settings *h);

/* Remove all fingerprints, but keep the memory. */
void fingerprints_clear(struct fingerprints *f);
void fingerprints_release(struct fingerprints *f);

/*
 * Write the id of fingerprint i of a block whose first fingerprint has number `first` in its file.
 */
void print_fingerprint_id(struct results *to, const struct fingerprints *f, size_t i,
                          uint64_t first);

#endif
