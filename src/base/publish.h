/* publish.h - the files that a run writes: checked before it, published together after it */
#ifndef ND_BASE_PUBLISH_H
#define ND_BASE_PUBLISH_H

#include <neardup/error.h>

#include "base/temporary.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * The rules are those of docs/format/outputs.md, "How files are published":
 *
 *   nd_publisher_read     everything that the run reads
 *   nd_publisher_claim    every output by its name: none is read by the run, no two are one file
 *   nd_publisher_add      every output once it is whole
 *   nd_publisher_publish  all of them, evidence first, with signals held back
 */

/* Which file, and its state when it was looked at.  inode 0: none. */
struct nd_file_mark {
    uint64_t device, inode, bytes;
    int64_t seconds, nanoseconds; /* of modification */
};
struct nd_file_mark nd_file_mark(const struct stat *about);
/* Of a regular file; else none. */
struct nd_file_mark nd_file_mark_at(const char *path);
struct nd_file_mark nd_file_mark_of(int descriptor);
bool nd_file_mark_is_one(const struct nd_file_mark *a, const struct nd_file_mark *b);
bool nd_file_mark_is_unchanged(const struct nd_file_mark *a, const struct nd_file_mark *b);

/*
 * The file descriptor that a name stands for: "-" and "/dev/stdout" are 1, "/dev/fd/5" is 5; -1:
 * none.  To open such a name anew would empty the file behind it, or put another in its place.
 */
int nd_output_descriptor(const char *name);

/*
 * Whether two names are those of one file, which may not exist yet.  Devices are none: whoever
 * sends two outputs to /dev/null means it.
 */
bool nd_output_is_same(const char *a, const char *b);

/*
 * Where an output of this name is written: *target becomes the name to publish it under, which is
 * that of the file behind a symbolic link and the caller's to free, or NULL where it is written in
 * place, being a device or a pipe.  ND_EIO: a folder, or a file that may not be written; ND_ENOMEM.
 */
enum nd_status nd_output_target(const char *name, char **target, struct nd_error *err);

/* In the order in which they are published. */
enum nd_publish_stage { ND_PUBLISH_EVIDENCE, ND_PUBLISH_RESULT };

/* Starts from zeroes.  Used by one thread at a time. */
struct nd_publisher {
    struct nd_publisher_input *input;
    size_t n_inputs, inputs_capacity;
    bool is_sorted;
    const char *claimed[8];
    size_t n_claimed;
    struct nd_publisher_output *output;
    size_t n_outputs, outputs_capacity;
    bool wrote_in_place; /* for whoever writes to a pipe or a device to set */
    bool syncs; /* all is on the disk when it is published: set where an input is replaced */
};

/* The run reads this file.  A mark of none is nothing.  ND_ENOMEM. */
enum nd_status nd_publisher_read(struct nd_publisher *p, const struct nd_file_mark *file,
                                 struct nd_error *err);
/* The same by its name; "-" is the standard input. */
enum nd_status nd_publisher_read_path(struct nd_publisher *p, const char *path,
                                      struct nd_error *err);
bool nd_publisher_is_read(struct nd_publisher *p, const struct nd_file_mark *file);

/*
 * An output is to go to `name` (borrowed; NULL: nothing).  ND_EINVAL: another one does, or the run
 * reads that file; where `replaced` is not NULL this is no mistake, and *replaced becomes what the
 * file was, or none.
 */
enum nd_status nd_publisher_claim(struct nd_publisher *p, const char *name,
                                  struct nd_file_mark *replaced, struct nd_error *err);
bool nd_publisher_is_claimed(const struct nd_publisher *p, const char *name);

/*
 * Hand over an output that is whole (nd_temporary_finish), whatever the result.  `replaced` (NULL,
 * or none: nothing) is the input that it replaces, as it was when it was read.  ND_ENOMEM.
 */
enum nd_status nd_publisher_add(struct nd_publisher *p, struct nd_temporary *file,
                                enum nd_publish_stage stage, const struct nd_file_mark *replaced,
                                struct nd_error *err);
/* A result that is a link (nd_temporary_create_link), made when it is published; `existing` is
 * borrowed. */
enum nd_status nd_publisher_add_link(struct nd_publisher *p, const char *target,
                                     const char *existing, struct nd_error *err);

/*
 * Give all their names: evidence, then results, each in the order of the calls; signals wait
 * meanwhile.  Where an input that is to be replaced is not what it was, ND_ECHANGED: it stays, the
 * output stands beside it as NAME.neardup-kept, and nothing more is published.  Else ND_EIO,
 * ND_ENOMEM.  *n_published is increased by those that have their names.
 */
enum nd_status nd_publisher_publish(struct nd_publisher *p, size_t *n_published,
                                    struct nd_error *err);

/* What was not published is removed.  `p` is ready to be used again. */
void nd_publisher_release(struct nd_publisher *p);

#endif
