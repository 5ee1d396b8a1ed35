/* detect.h - what a stream of bytes is: compression, archive, text format, or no text at all */
#ifndef ND_INPUT_FORMATS_DETECT_H
#define ND_INPUT_FORMATS_DETECT_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/input.h>

enum nd_compression {
    ND_COMPRESSION_NONE,
    ND_COMPRESSION_GZIP,
    ND_COMPRESSION_ZSTD,
    ND_COMPRESSION_XZ,
    ND_COMPRESSION_BZIP2,
    ND_COMPRESSION_LZ4
};
enum nd_archive { ND_ARCHIVE_NONE, ND_ARCHIVE_TAR, ND_ARCHIVE_ZIP };

enum { ND_DETECT_BYTES = 1 << 16 }; /* bytes examined at the start of a stream */

/* By magic bytes. */
enum nd_compression nd_detect_compression(const char *head, size_t len);
enum nd_archive nd_detect_archive(const char *head, size_t len);
/* The compression whose magic bytes the whole content is only a beginning of; NONE: it is not. */
enum nd_compression nd_detect_cut_compression(const char *all, size_t len);
const char *nd_compression_name(enum nd_compression c);
const char *nd_archive_name(enum nd_archive a); /* NULL: none */

/* The compression according to the name's last suffix: "x.gz", "x.tgz". */
enum nd_compression nd_detect_compression_by_name(const char *path);
/* The kind of archive according to the name: "x.tar", "x.tar.gz", "x.tgz", "x.zip". */
enum nd_archive nd_detect_archive_by_name(const char *path);

/* The text format according to the name, ignoring suffixes of compression; AUTO: none. */
enum nd_format nd_detect_format_by_name(const char *path);

/* Whether the name says no more than JSON: "x.json". */
bool nd_detect_is_named_json(const char *path);

/* The filter for a file of this name, ignoring suffixes of compression; NULL: none. */
const char *nd_detect_filter(const char *path, const struct nd_input_options *options);

/*
 * The text format that the first bytes show; AUTO if they could be plain text or anything. CSV and
 * TSV are recognised by a first line with every text field as a column.
 */
enum nd_format nd_detect_format(const char *head, size_t len,
                                const struct nd_input_options *options);

/*
 * Whether these first bytes have the whole first line with text, and no NUL.  Then more bytes change
 * neither which compression and archive they are, nor, where nd_detect_has_line_format as well, the format.
 */
bool nd_detect_has_line(const char *head, size_t len);
/* Whether their first line shows a format: that of records, one behind the other. */
bool nd_detect_has_line_format(const char *head, size_t len,
                               const struct nd_input_options *options);

/*
 * Detect a table without a column for the text: a first line of at least two names, and at least
 * one row after it, all with as many fields. `at_end`: no more bytes follow. CSV, TSV, or AUTO if
 * it is neither.
 */
enum nd_format nd_detect_any_table(const char *head, size_t len, bool at_end);

struct nd_binary_kind {
    const char *what;   /* "is a PDF file" */
    const char *advice; /* "convert it to text first …"; NULL: there is none */
};

/*
 * The kind of a file that is not text, by its first bytes; NULL: no known kind, but not necessarily
 * text.
 */
const struct nd_binary_kind *nd_detect_binary(const char *head, size_t len);

/* The name of the ready-made filter that reads this kind: "pdf"; NULL: there is none. */
const char *nd_detect_ready_filter(const struct nd_binary_kind *kind);

/*
 * If a zip is an office document or a book, whose files mean nothing on their own; otherwise NULL.
 */
const struct nd_binary_kind *nd_detect_office_zip(const char *head, size_t len);

/*
 * Whether there is a NUL within the first 8 KiB, which text in UTF-8 or an 8-bit charset does not
 * have; NULL: no.
 */
const struct nd_binary_kind *nd_detect_early_nul(const char *head, size_t len);

#endif
