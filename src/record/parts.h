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

#endif
