/* output.h - a file on its way out: atomic where it can be, compressed as its name says */
#ifndef ND_REPORT_OUTPUT_H
#define ND_REPORT_OUTPUT_H

#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/types.h>

#include "base/file/late_write.h"
#include "base/file/publish.h"
#include "input/streams/entry_header.h"

#include <stddef.h>
#include <stdint.h>

/*
 * A file. One with a regular or absent name is written unseen, and given to the publisher once it
 * is whole; anything else (a device, a pipe, "-" for the standard output, /dev/fd/5 for what is
 * open as 5) is written in place. Not for two threads at once.
 */
struct nd_output;

/* Open for writing; NULL is "-".  Missing folders are not made.  ND_EIO, ND_ENOMEM. */
struct nd_output *nd_output_open(struct nd_publisher *publisher, const char *path,
                                 enum nd_publish_stage stage, struct nd_error *err);

/* It replaces this input, which must not have changed by then. */
void nd_output_replace(struct nd_output *o, const struct nd_file_mark *input);
/* Compressed so, "gzip", whatever its name says (borrowed). */
void nd_output_be_compressed(struct nd_output *o, const char *compression);

/* Before anything is written: it will be an archive, "tar" or "zip" (borrowed), and not plain
 * bytes. */
void nd_output_be_archive(struct nd_output *o, const char *archive);

/* Before anything is written: it will be what is written, whatever its name says. */
void nd_output_be_plain(struct nd_output *o);

/* Begin an entry of an archive; its `bytes` bytes must follow (nd_packer_entry). */
enum nd_status nd_output_entry(struct nd_output *o, const char *name,
                               const struct nd_entry_header *header, uint64_t bytes,
                               struct nd_error *err);
enum nd_status nd_output_write(struct nd_output *o, const void *data, size_t len,
                               struct nd_error *err);

/* Begin another member, or frame, with what is written next, where the compression has these. */
enum nd_status nd_output_divide(struct nd_output *o, struct nd_error *err);

/*
 * Between these two, what is written stays where it is, and is written out from there, where it is
 * written as it stands, instead of being copied.  After an error nothing is left to be returned.
 *
 * To a file that nobody sees yet it is written even later: then *late has the bytes and their place,
 * and they must stay until nd_output_write_late, which any thread may call, at any time before the
 * output is finished.  Anything else has been written when nd_output_return returns.
 */
void nd_output_borrow(struct nd_output *o, struct nd_late_write *late);
enum nd_status nd_output_return(struct nd_output *o, struct nd_error *err);
enum nd_status nd_output_write_late(const struct nd_output *o, struct nd_late_write *late,
                                    struct nd_error *err);

/* Hand what is buffered to whoever reads a pipe; nothing for a file that nobody sees yet. */
enum nd_status nd_output_flush(struct nd_output *o, struct nd_error *err);

/* All has been written: the publisher has it.  Frees the output, whatever the result. */
enum nd_status nd_output_finish(struct nd_output *o, struct nd_error *err);

/* Free the output; what was written unseen is gone.  NULL: nothing. */
void nd_output_discard(struct nd_output *o);

/* ---- Records of several files behind one another ---- */

/*
 * The bytes between two records, so that they stay two: a newline where the first does not end in
 * one; a blank line between paragraphs and between messages; the line of an envelope before a
 * message that has none. Starts from zeroes.
 */
struct nd_separator {
    unsigned char has_record; /* one has been written */
    unsigned char newlines;   /* at its end, at most 2 */
    unsigned char has_return; /* lines end in CR LF */
};

/* The bytes to write before the next record, which is noted as written.  They are constant. */
struct nd_view nd_separator_before(struct nd_separator *separator, struct nd_view record,
                                   enum nd_unit unit, enum nd_format format);

#endif
