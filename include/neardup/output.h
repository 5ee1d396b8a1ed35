/* neardup/output.h - a file that a program writes whole or not at all */
#ifndef NEARDUP_OUTPUT_H
#define NEARDUP_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A file that takes its name when it is complete; until then what stood there stays, and whatever
 * ends the process leaves it as it was.  The rules are those of docs/format/outputs.md: a symbolic
 * link is followed, a file that may not be written is respected, and permissions stay.  Used by one
 * thread at a time.
 */
struct nd_output_file;

/*
 * Begin to write the file `name`; *stream is open until the file is published or discarded.
 * `others` are the n names of what the program reads ("-": its standard input) and of its other
 * outputs, NULLs among them are skipped: that the file is one of them, however it is called, is
 * ND_EINVAL.  A device or a pipe is written in place.  ND_EIO, ND_ENOMEM; there is then nothing to
 * discard.
 */
ND_API enum nd_status nd_output_file_open(struct nd_output_file **output, const char *name,
                                          const char *const *others, size_t n, FILE **stream,
                                          struct nd_error *err);

/* Give it its name, and free it.  ND_EIO, ND_ENOMEM: what stood there before stands there still. */
ND_API enum nd_status nd_output_file_publish(struct nd_output_file *output, struct nd_error *err);

/* Forget what was written, and free it.  NULL: nothing. */
ND_API void nd_output_file_discard(struct nd_output_file *output);

#ifdef __cplusplus
}
#endif
#endif
