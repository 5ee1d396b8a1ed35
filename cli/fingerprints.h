/* fingerprints.h - files of fingerprints: lines of hexadecimal, raw words, or index files */
#ifndef CLI_FINGERPRINTS_H
#define CLI_FINGERPRINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "results.h"
#include "settings.h"

/*
 * A block of fingerprints and their ids.  The text of id i is text + id[i]; where id[i] is NO_TEXT
 * it is the number first + i.  Start from zeroes.
 */
struct fingerprints {
    uint64_t *row;
    size_t *id;
    char *text;
    size_t n, capacity, text_len, text_capacity, words;
};
#define NO_TEXT SIZE_MAX

struct fingerprint_file {
    const struct hamming_settings *settings;
    const char *name; /* as messages call it */
    FILE *file;
    char *line;
    size_t line_capacity;
    size_t digits;                 /* of the first line; 0: none was read */
    uint64_t n;                    /* read so far */
    struct nd_hamming_file *index; /* what is read, where the file is one */
};

/* "-": the standard input.  A file that begins like an index is one.  False: it was said why. */
bool fingerprint_file_open(struct fingerprint_file *f, const struct hamming_settings *settings,
                           const char *path);
void fingerprint_file_close(struct fingerprint_file *f);

/* Append at most `most` fingerprints.  False: a bad line or no memory, it was said which. */
bool fingerprint_file_read(struct fingerprint_file *f, size_t most, struct fingerprints *out);

/* Read n files whole; start[i] (NULL: not wanted): where the i-th begins.  False: it was said why.
 */
bool fingerprints_read_files(struct fingerprints *out, const struct hamming_settings *settings,
                             const char *const *path, size_t n, size_t *start);

/* Forget what was read, keep the memory. */
void fingerprints_clear(struct fingerprints *f);
void fingerprints_release(struct fingerprints *f);

/* Write the id of fingerprint i, of a block whose first is number `first` of its file. */
void print_fingerprint_id(struct results *to, const struct fingerprints *f, size_t i,
                          uint64_t first);

#endif
