/* parts.h - sketch files of the parts of one input, in the order of their numbers */
#ifndef ND_RECORD_PARTS_H
#define ND_RECORD_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/sketch_file.h>

/* The path by which it was opened. */
ND_API const char *nd_sketch_file_path(const struct nd_sketch_file *file);

/*
 * Put files that are all parts of the same n into the order of their numbers; a shell lists part 10
 * before part 2.  Other files keep their order.  ND_EINVAL: a part of the same n is there twice, or,
 * with needs_all, one is missing; ND_ENOMEM.
 */
ND_API enum nd_status nd_sketch_files_order(struct nd_sketch_file **file, size_t n, bool needs_all,
                                            struct nd_error *err);

/* Whether both are one file, whose bytes are known to be equal. */
bool nd_sketch_source_equals(const struct nd_sketch_source *a, const struct nd_sketch_source *b);

/*
 * Files one behind the other, whose sources are numbered on.  A file that goes on where the one
 * before it ended within a source, as the parts of an input do, shares that source.  Starts from
 * zeroes.
 */
struct nd_sketch_joined {
    uint32_t sources;
    /* The source that was added last, and the last file with documents, with the number of its first
     * source. */
    const struct nd_sketch_source *source;
    const struct nd_sketch_file *last;
    uint32_t last_first;
};
/* Add a file, which stays open as long as others are added.  *first: the number of its first source;
 * *shares: that one was there already.  ND_EUNSUPPORTED: too many sources; ND_EIO, ND_EINPUT, ND_ENOMEM. */
ND_API enum nd_status nd_sketch_join(struct nd_sketch_joined *joined,
                                     const struct nd_sketch_file *file, uint32_t *first,
                                     bool *shares, struct nd_error *err);

#endif
