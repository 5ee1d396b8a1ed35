/* parts.c - puts the sketch files of the parts of one input into the order of their numbers */
#include "record/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/sketch_reader.h"

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

bool nd_sketch_source_equals(const struct nd_sketch_source *a, const struct nd_sketch_source *b)
{
    return a->bytes_hash && a->bytes_hash == b->bytes_hash && a->records == b->records &&
           strcmp(a->path, b->path) == 0 && !a->entry == !b->entry &&
           (!a->entry || strcmp(a->entry, b->entry) == 0);
}

/* The source of the first or the last document of a file that has some, and where in it that is. */
static enum nd_status read_end(const struct nd_sketch_file *file, bool last, uint32_t *source,
                               uint64_t *offset, struct nd_error *err)
{
    struct nd_sketch_block block = {0};
    enum nd_status status = nd_sketch_file_read(file, last ? file->info.blocks - 1 : 0,
                                                ND_SKETCH_FILE_ROWS, &block, err);

    if (status == ND_OK) {
        *source = block.rows[last ? block.n - 1 : 0].source;
        *offset = block.rows[last ? block.n - 1 : 0].offset;
    }
    nd_sketch_block_release(&block);
    return status;
}

/* Whether the first source of a file is the last one before, and its documents are behind those. */
static enum nd_status goes_on(const struct nd_sketch_joined *j, const struct nd_sketch_file *file,
                              bool *shares, struct nd_error *err)
{
    uint32_t before_source = 0, source = 0;
    uint64_t before = 0, offset = 0;
    enum nd_status status;

    *shares = j->source && file->info.sources &&
              nd_sketch_source_equals(j->source, nd_sketch_file_source(file, 0));
    if (!*shares || !file->info.blocks || !j->last)
        return ND_OK;
    status = read_end(j->last, true, &before_source, &before, err);
    if (status == ND_OK)
        status = read_end(file, false, &source, &offset, err);
    if (status == ND_OK && j->last_first + before_source + 1 == j->sources)
        *shares = source != 0 || offset > before;
    return status;
}

enum nd_status nd_sketch_join(struct nd_sketch_joined *j, const struct nd_sketch_file *file,
                              uint32_t *first, bool *shares, struct nd_error *err)
{
    const uint32_t n = file->info.sources;
    enum nd_status status = goes_on(j, file, shares, err);

    *first = j->sources - *shares;
    if (status != ND_OK)
        return status;
    if (n > UINT32_MAX - *first)
        return nd_fail(err, ND_EUNSUPPORTED, "%s: more than 2^32 sources", file->path);
    j->sources = *first + n;
    if (n)
        j->source = nd_sketch_file_source(file, n - 1);
    if (file->info.blocks) {
        j->last = file;
        j->last_first = *first;
    }
    return ND_OK;
}
