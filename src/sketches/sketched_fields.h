/* sketched_fields.h - the fields of documents that come as rows of sketch files */
#ifndef ND_SKETCHES_SKETCHED_FIELDS_H
#define ND_SKETCHES_SKETCHED_FIELDS_H

#include <neardup/error.h>
#include <neardup/sketch_file.h>
#include <neardup/types.h>

/* The most fields that a run asks for. */
enum { ND_FIELDS_MAX = 56 };

/* Which of the fields that a file keeps are those that a run asks for, in the order of the run. */
struct nd_sketched_fields {
    size_t n;
    const char *const *name;   /* borrowed */
    int stored[ND_FIELDS_MAX]; /* -1: it is not kept */
};

/* Find the n fields of a run in a file.  ND_EINVAL: one of the first n_needed is not kept. */
enum nd_status nd_sketched_fields_find(struct nd_sketched_fields *fields,
                                       const struct nd_sketch_file_info *file, const char *path,
                                       const char *const *name, size_t n, size_t n_needed,
                                       struct nd_error *err);
/* Check that the i-th field of the run is kept; -1: none is asked for.  ND_EINVAL. */
enum nd_status nd_sketched_fields_check(const struct nd_sketched_fields *fields, const char *path,
                                        int i, struct nd_error *err);
/* Fill in the values of a row for each field, and what was repaired in them. */
void nd_sketched_fields_get(const struct nd_sketched_fields *fields,
                            const struct nd_sketch_row *row, struct nd_field *field,
                            uint64_t *replaced);

#endif
