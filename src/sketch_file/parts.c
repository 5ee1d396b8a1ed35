/* parts.c - puts the sketch files of the parts of one input into the order of their numbers */
#include "sketch_file/parts.h"

#include <stdlib.h>

#include "sketch_file/reader.h"

const char *nd_sketch_file_path(const struct nd_sketch_file *f)
{
    return f->path;
}

static bool are_parts(struct nd_sketch_file *const *file, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (file[i]->info.parts != file[0]->info.parts)
            return false;
    return n && file[0]->info.parts;
}

static int by_number(const void *a, const void *b)
{
    const struct nd_sketch_file *const *x = a, *const *y = b;

    return ((*x)->info.part > (*y)->info.part) - ((*x)->info.part < (*y)->info.part);
}

static enum nd_status missing(const struct nd_sketch_file *file, uint32_t number,
                              struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s is part %u of %u, and part %u is not here", file->path,
                   file->info.part, file->info.parts, number);
}

enum nd_status nd_sketch_files_order(struct nd_sketch_file **file, size_t n, bool needs_all,
                                     struct nd_error *err)
{
    uint32_t due = 1; /* the number of the next part */

    if (!are_parts(file, n))
        return ND_OK;
    qsort(file, n, sizeof *file, by_number);
    for (size_t i = 0; i < n; i++, due++) {
        const struct nd_sketch_file_info *info = &file[i]->info;

        if (i && info->part == file[i - 1]->info.part)
            return nd_fail(err, ND_EINVAL, "%s and %s are both part %u of %u", file[i - 1]->path,
                           file[i]->path, info->part, info->parts);
        if (needs_all && info->part != due)
            return missing(file[i], due, err);
    }
    return needs_all && due <= file[0]->info.parts ? missing(file[n - 1], due, err) : ND_OK;
}
