/* parts.c - puts the sketch files of the parts of one input into the order of their numbers */
#include "record/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/reader.h"

const char *nd_sketch_file_path(const struct nd_sketch_file *f)
{
    return f->path;
}

static int by_number(const void *a, const void *b)
{
    const struct nd_sketch_file_info *x = &(*(struct nd_sketch_file *const *)a)->info;
    const struct nd_sketch_file_info *y = &(*(struct nd_sketch_file *const *)b)->info;

    if (x->parts != y->parts)
        return x->parts < y->parts ? -1 : 1;
    return (x->part > y->part) - (x->part < y->part);
}

/* "2", "2 and 5", "2, 5 and 6"; of many the first ones.  The files are the parts of one n, in order. */
static void list_missing(struct nd_sketch_file *const *file, size_t n, char *out, size_t size)
{
    enum { NAMED_MAX = 8 };
    uint32_t missing = file[0]->info.parts - (uint32_t)n, named = 0;
    size_t len = 0;

    for (uint32_t number = 1, at = 0; named < missing && named < NAMED_MAX; number++) {
        if (at < n && file[at]->info.part == number) {
            at++;
            continue;
        }
        named++;
        len += (size_t)snprintf(out + len, size - len, "%s%u",
                                named == 1         ? ""
                                : named == missing ? " and "
                                                   : ", ",
                                number);
    }
    if (named < missing)
        (void)snprintf(out + len, size - len, " and %u more", missing - named);
}

/* The parts of one n, in order: check that none is there twice, and with needs_all that all are. */
static enum nd_status check_parts(struct nd_sketch_file *const *file, size_t n, bool needs_all,
                                  struct nd_error *err)
{
    const struct nd_sketch_file_info *last = &file[n - 1]->info;
    char missing[160];

    for (size_t i = 1; i < n; i++)
        if (file[i]->info.part == file[i - 1]->info.part)
            return nd_fail(err, ND_EINVAL, "%s and %s are both part %u of %u", file[i - 1]->path,
                           file[i]->path, file[i]->info.part, last->parts);
    if (!needs_all || n == last->parts)
        return ND_OK;
    list_missing(file, n, missing, sizeof missing);
    return nd_fail(err, ND_EINVAL, "%s is part %u of %u, and part%s %s %s not here",
                   file[n - 1]->path, last->part, last->parts, n + 1 < last->parts ? "s" : "",
                   missing, n + 1 < last->parts ? "are" : "is");
}

/* Check each run of files of one n, in a list that is sorted; what is no part stands first. */
static enum nd_status check_all(struct nd_sketch_file *const *file, size_t n, bool needs_all,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t from = 0, to; from < n && status == ND_OK; from = to) {
        for (to = from + 1; to < n && file[to]->info.parts == file[from]->info.parts; to++)
            ;
        if (file[from]->info.parts)
            status = check_parts(file + from, to - from, needs_all, err);
    }
    return status;
}

enum nd_status nd_sketch_files_order(struct nd_sketch_file **file, size_t n, bool needs_all,
                                     struct nd_error *err)
{
    struct nd_sketch_file **sorted = nd_alloc_array(n + 1, sizeof(struct nd_sketch_file *));
    enum nd_status status;

    if (!sorted)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(sorted, file, n * sizeof(struct nd_sketch_file *));
    qsort(sorted, n, sizeof(struct nd_sketch_file *), by_number);
    status = check_all(sorted, n, needs_all, err);
    /* Files of several kinds have the order in which they were given. */
    if (status == ND_OK && n && sorted[0]->info.parts == sorted[n - 1]->info.parts &&
        sorted[0]->info.parts)
        memcpy(file, sorted, n * sizeof(struct nd_sketch_file *));
    free(sorted);
    return status;
}
