/* publish.h - the files that a run writes: checked before it, published together after it */
#ifndef ND_BASE_FILE_PUBLISH_H
#define ND_BASE_FILE_PUBLISH_H

#include <neardup/error.h>

#include "base/file/temporary.h"
#include "base/system/descriptor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rules are those of docs/format/outputs.md, "How files are published":
 *
 *   nd_publisher_read     everything that the run reads
 *   nd_publisher_claim    every output by its name: none is read by the run, no two are one file
 *   nd_publisher_add      every output once it is whole
 *   nd_publisher_publish  all of them, evidence first, with signals held back
 */

/* Identifies a file and its state at one moment. inode 0: no file. */
struct nd_file_mark {
    uint64_t device, inode, bytes;
    int64_t seconds, nanoseconds; /* time of modification */
};
struct nd_file_mark nd_file_mark(const struct nd_file_about *about);
/* The mark of a regular file; otherwise none. */
struct nd_file_mark nd_file_mark_at(const char *path);
struct nd_file_mark nd_file_mark_of(int descriptor);
bool nd_file_mark_is_one(const struct nd_file_mark *a, const struct nd_file_mark *b);
bool nd_file_mark_is_unchanged(const struct nd_file_mark *a, const struct nd_file_mark *b);

/*
 * The file descriptor that a name means: "-" and "/dev/stdout" are 1, "/dev/fd/5" is 5; -1: none.
 * Opening such a name anew would truncate the file behind it, or replace it.
 */
int nd_output_descriptor(const char *name);

/*
 * Whether two names mean the same file, which may not exist yet. Devices never do: sending two
 * outputs to /dev/null is intended.
 */
bool nd_output_is_same(const char *a, const char *b);

/*
 * Find where an output of this name is written. *target becomes the name to publish it under, with
 * symbolic links resolved, which the caller frees; or NULL if it is written in place, because it is
 * a device or a pipe. ND_EIO: a folder, or a file that may not be written; ND_ENOMEM.
 */
enum nd_status nd_output_target(const char *name, char **target, struct nd_error *err);

/* Kinds of outputs, in the order in which they are published. */
enum nd_publish_stage { ND_PUBLISH_EVIDENCE, ND_PUBLISH_RESULT };

struct nd_pool;

/* Starts from zeroes.  Used by one thread at a time. */
struct nd_publisher {
    const struct nd_pool *pool; /* how many threads compress outputs; NULL: one */
    unsigned level;             /* of their compression; 0: its default */
    struct nd_publisher_input *input;
    size_t n_inputs, inputs_capacity;
    bool is_sorted;
    const char **claimed;
    size_t n_claimed, claimed_capacity;
    struct nd_publisher_output *output;
    size_t n_outputs, outputs_capacity;
    bool wrote_in_place; /* set by a writer to a pipe or a device */
    bool syncs;          /* sync before publishing: set if an input is replaced */
    bool is_publishing;  /* from nd_publisher_publish to nd_publisher_release */
};

/* Note that the run reads this file; a mark without a file is ignored. ND_ENOMEM. */
enum nd_status nd_publisher_read(struct nd_publisher *p, const struct nd_file_mark *file,
                                 struct nd_error *err);
/* Note that the run reads a file, by its name; "-" is the standard input. */
enum nd_status nd_publisher_read_path(struct nd_publisher *p, const char *path,
                                      struct nd_error *err);
bool nd_publisher_is_read(struct nd_publisher *p, const struct nd_file_mark *file);

/*
 * Claim `name` (borrowed; NULL: nothing) for an output. ND_EINVAL: another output has it, or the
 * run reads that file; but if `replaced` is not NULL, replacing a read file is allowed, and
 * *replaced becomes that file's mark, or none. ND_ENOMEM.
 */
enum nd_status nd_publisher_claim(struct nd_publisher *p, const char *name,
                                  struct nd_file_mark *replaced, struct nd_error *err);
bool nd_publisher_is_claimed(const struct nd_publisher *p, const char *name);

/*
 * Hand over a complete output (nd_temporary_finish), whatever the result. `replaced` (NULL or none:
 * nothing) is the input that it replaces, as it was when it was read. ND_ENOMEM.
 */
enum nd_status nd_publisher_add(struct nd_publisher *p, struct nd_temporary *file,
                                enum nd_publish_stage stage, const struct nd_file_mark *replaced,
                                struct nd_error *err);
/*
 * Hand over a result that is a link (nd_temporary_create_link), to be created on publishing;
 * `existing` is borrowed.
 */
enum nd_status nd_publisher_add_link(struct nd_publisher *p, const char *target,
                                     const char *existing, struct nd_error *err);

/*
 * Rename all outputs to their names: evidence, then results, each in the order of the calls;
 * signals wait meanwhile, and afterwards nd_temporary_abandon lets the process go on. If an input to
 * be replaced has changed, ND_ECHANGED: it stays, the output is kept beside it as NAME.neardup-kept, and nothing more is published. Otherwise ND_EIO,
 * ND_ENOMEM. *n_published is increased by the number of outputs published.
 */
enum nd_status nd_publisher_publish(struct nd_publisher *p, size_t *n_published,
                                    struct nd_error *err);

/* Remove what was not published. `p` can be used again. */
void nd_publisher_release(struct nd_publisher *p);

#endif
