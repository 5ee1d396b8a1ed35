/* neardup/result_file.h - a file that appears whole under its name, or not at all */
#ifndef NEARDUP_RESULT_FILE_H
#define NEARDUP_RESULT_FILE_H

#include <stddef.h>
#include <stdio.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The file has no name until it is published, and is synced before that.  A symbolic link is
 * followed, and permissions are kept.  Devices, pipes, "-" (the standard output) and /dev/fd/N are
 * written in place.  Use a handle from one thread at a time.  The library is libneardup.
 */
struct nd_result_file;

/*
 * `reads`: what the caller reads to make this file, by name ("-": the standard input), and its
 * other outputs; NULLs among them are skipped.  ND_EINVAL: `name` is one of them, by whatever name;
 * ND_EIO: it cannot be written; ND_ENOMEM.
 */
ND_API enum nd_status nd_result_file_open(struct nd_result_file **file, const char *name,
                                          const char *const *reads, size_t n_reads,
                                          struct nd_error *err);

/* Only look whether it could be opened, as far as `reads` goes: ND_EINVAL, ND_ENOMEM. */
ND_API enum nd_status nd_result_file_check(const char *name, const char *const *reads,
                                           size_t n_reads, struct nd_error *err);

/* Where to write: borrowed, and not to be closed.  Files that are not in place can be sought in. */
ND_API FILE *nd_result_file_stream(struct nd_result_file *file);

/* All has been written: give it its name.  Frees it, whatever the result.  ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_result_file_publish(struct nd_result_file *file, struct nd_error *err);

/* Nothing appears.  Frees it.  NULL: nothing. */
ND_API void nd_result_file_discard(struct nd_result_file *file);

#ifdef __cplusplus
}
#endif
#endif
