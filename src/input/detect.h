/* detect.h - what a stream of bytes is: compression, archive, text format */
#ifndef ND_INPUT_DETECT_H
#define ND_INPUT_DETECT_H

#include <stdbool.h>

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

enum { ND_DETECT_BYTES = 1 << 16 }; /* looked at, at the start of a stream */

/* By magic bytes. */
enum nd_compression nd_detect_compression(const char *head, size_t len);
enum nd_archive nd_detect_archive(const char *head, size_t len);
/* Bytes that are all there is, and only the beginning of what a compression begins with; NONE: they
 * are no such. */
enum nd_compression nd_detect_cut_compression(const char *all, size_t len);
const char *nd_compression_name(enum nd_compression c);
const char *nd_archive_name(enum nd_archive a); /* NULL: none */

/* What the name's last suffix promises: "x.gz", "x.tgz". */
enum nd_compression nd_detect_compression_by_name(const char *path);
/* "x.tar", "x.tar.gz", "x.tgz", "x.zip". */
enum nd_archive nd_detect_archive_by_name(const char *path);

/* The text format that the name promises, suffixes of compression passed over; AUTO: none. */
enum nd_format nd_detect_format_by_name(const char *path);

/*
 * The text format that the first bytes show; AUTO where they could be plain text or anything.  CSV
 * and TSV are known by a first line that has every text field as a column.
 */
enum nd_format nd_detect_format(const char *head, size_t len,
                                const struct nd_input_options *options);

/*
 * A table whose columns do not include the text: a first line of at least two names, and at least
 * one row behind it, all of them with as many fields.  `at_end`: no bytes follow.  CSV, TSV, or
 * AUTO where it is neither.
 */
enum nd_format nd_detect_any_table(const char *head, size_t len, bool at_end);

/* "JSON Lines", "plain text" … */
const char *nd_format_name(enum nd_format format);

#endif
