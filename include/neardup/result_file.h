/*
 * neardup/result_file.h - a file that appears whole under its name, or not at all
 *
 * The library is libneardup.
 *
 *     status = nd_result_file_open(&file, "result.txt", &input, 1, &err);
 *     if (status == ND_OK) {
 *         fputs(text, nd_result_file_stream(file));
 *         status = nd_result_file_publish(file, &err);
 *     }
 */
#ifndef NEARDUP_RESULT_FILE_H
#define NEARDUP_RESULT_FILE_H

#include <stddef.h>
#include <stdio.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The file has no name until it is published, and it is on the disk before that.  A symbolic link is
 * followed, and permissions are kept.  Devices, pipes, "-" (the standard output) and /dev/fd/N are
 * written in place.  One thread at a time may use a handle.
 */
struct nd_result_file;

/*
 * Open a file of this name.  `reads` lists what the caller reads to make it ("-": the standard
 * input), and the caller's other outputs; NULLs among them are skipped.
 *
 * ND_EINVAL: `name` is one of these, whatever it is called there; ND_EIO: it cannot be written;
 * ND_ENOMEM.
 */
ND_API enum nd_status nd_result_file_open(struct nd_result_file **file, const char *name,
                                          const char *const *reads, size_t n_reads,
                                          struct nd_error *err);

/* Check `reads` only, before any work is done: ND_EINVAL, ND_ENOMEM. */
ND_API enum nd_status nd_result_file_check(const char *name, const char *const *reads,
                                           size_t n_reads, struct nd_error *err);

/* Return the stream to write to.  The stream is borrowed, and must not be closed.  It can be sought
 * in, unless the file is written in place. */
ND_API FILE *nd_result_file_stream(struct nd_result_file *file);

/* All has been written: give the file its name.  Frees the handle, whatever the result.  ND_EIO,
 * ND_ENOMEM. */
ND_API enum nd_status nd_result_file_publish(struct nd_result_file *file, struct nd_error *err);

/* Free the handle without publishing: no file appears.  NULL: nothing happens. */
ND_API void nd_result_file_discard(struct nd_result_file *file);

#ifdef __cplusplus
}
#endif
#endif
