/*
 * update.c - index files: build, add, merge
 *
 * Merging.  A new segment is merged with the last one if that holds at most twice as many entries,
 * the result with the one before, and so on.  So each segment holds more than twice as many as the
 * next, and there are at most log2(N) of them, like the digits of a binary counter.
 */
#include <stdlib.h>

#include "hamming/file/change.h"
#include "hamming/plan/plan.h"

static enum nd_status check_count(uint64_t count, size_t more, struct nd_error *err)
{
    return more <= UINT32_MAX && count + more <= UINT32_MAX
               ? ND_OK
               : nd_fail(err, ND_EINVAL,
                         "%llu fingerprints are too many: a file holds at most 2^32 - 1",
                         (unsigned long long)(count + more));
}

/* Entries as they come in, for an index that holds some already. */
static enum nd_status check_entries(const struct nd_hamming_entries *entries, unsigned bits,
                                    uint64_t before, struct nd_error *err)
{
    enum nd_status status;

    if (!entries)
        return nd_fail(err, ND_EINVAL, "there are no entries");
    status = check_count(before, entries->count, err);
    return status == ND_OK ? nd_hamming_check_bits(entries->fingerprints, entries->count, bits, err)
                           : status;
}

/* A new file after a plan. */
static enum nd_status build(const char *path, const struct nd_hamming_plan *plan,
                            const struct nd_hamming_shape *shape,
                            const struct nd_hamming_entries *entries, struct nd_error *err)
{
    size_t words = nd_hamming_words(plan->problem.bits);
    struct nd_hamming_collection all = {.n = 0};
    struct nd_hamming_change c;
    enum nd_status status = check_entries(entries, plan->problem.bits, 0, err);

    if (status == ND_OK)
        status = nd_hamming_change_open(&c, path, false, err);
    if (status != ND_OK)
        return status;
    nd_hamming_change_begin(&c, plan, shape, shape->recipe);
    if (entries->count)
        status = nd_hamming_collect_begin(&all, entries->count, words, entries->fingerprints, err);
    if (status == ND_OK)
        status = nd_hamming_collect_entries(&all, entries, 0, err);
    if (status == ND_OK)
        status = nd_hamming_collect_finish(&all, &c.entries, err);
    if (status == ND_OK)
        status = nd_hamming_change_replace(&c, err);
    nd_hamming_collect_release(&all);
    nd_hamming_change_release(&c);
    return status;
}

enum nd_status nd_hamming_file_build(const char *path, const struct nd_hamming_shape *shape,
                                     const struct nd_hamming_entries *entries, struct nd_error *err)
{
    uint64_t texts = shape && shape->max_bytes ? nd_hamming_text_bytes(entries) : 0;
    struct nd_hamming_plan plan;
    enum nd_status status =
        nd_hamming_file_plan_texts(shape, entries ? entries->count : 0, texts, &plan, err);

    if (status == ND_OK && shape) /* the plan refuses NULL */
        status = build(path, &plan, shape, entries, err);
    return status;
}

enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                     const uint64_t *fingerprints, const uint32_t *ids, size_t n,
                                     struct nd_error *err)
{
    const struct nd_hamming_entries entries = {fingerprints, n, ids, NULL};
    enum nd_status status = nd_hamming_plan_check(plan, err);
    struct nd_hamming_shape shape = {.codec = ND_HAMMING_EF};

    if (status == ND_OK && !nd_hamming_file_holds(plan->family))
        status = nd_fail(err, ND_EINVAL, "a file holds tables of blocks or coverings");
    if (status != ND_OK)
        return status;
    shape.tables = plan->tables;
    return build(path, plan, &shape, &entries, err);
}

/* The first segment that is to be merged with `more` new entries. */
static unsigned merge_from(const struct nd_hamming_header *h, uint64_t more)
{
    unsigned first = h->segments;

    while (first > 0 &&
           (h->segment[first - 1].count <= 2 * more || first >= ND_HAMMING_SEGMENTS_MAX)) {
        more += h->segment[first - 1].count;
        first--;
    }
    return first;
}

/* Whether the bytes that would be unused exceed half of those that would stay. */
static bool is_better_anew(const struct nd_hamming_header *h, unsigned kept)
{
    struct nd_hamming_header after = *h;
    uint64_t live = 0;

    after.segments = kept;
    if (kept == 0)
        return true;
    for (unsigned i = 0; i < kept; i++)
        live += nd_hamming_page_up(h->segment[i].bytes);
    return 2 * nd_hamming_header_dead(&after) > live;
}

/* To a file that is locked and mapped. */
static enum nd_status add(struct nd_hamming_change *c, struct nd_hamming_file *file,
                          const struct nd_hamming_entries *entries, struct nd_error *err)
{
    uint64_t count = nd_hamming_header_count(&file->header), merged = entries->count;
    unsigned kept = merge_from(&file->header, entries->count);
    struct nd_hamming_collection all = {.n = 0};
    enum nd_status status = nd_hamming_file_open_from(file, kept, c->path, err);

    for (unsigned i = kept; i < file->n; i++)
        merged += file->header.segment[i].count;
    if (status == ND_OK)
        status = nd_hamming_change_keep(c, file, kept, count + entries->count, err);
    if (status == ND_OK)
        status = nd_hamming_collect_begin(&all, (size_t)merged, file->scheme.words,
                                          kept == file->n ? entries->fingerprints : NULL, err);
    if (status == ND_OK)
        status = nd_hamming_collect_file(&all, file, err);
    if (status == ND_OK)
        status = nd_hamming_collect_entries(&all, entries, count, err);
    if (status == ND_OK)
        status = nd_hamming_collect_finish(&all, &c->entries, err);
    if (status == ND_OK)
        status = is_better_anew(&file->header, kept) ? nd_hamming_change_replace(c, err)
                                                     : nd_hamming_change_append(c, err);
    nd_hamming_collect_release(&all);
    return status;
}

enum nd_status nd_hamming_file_add(const char *path, const struct nd_hamming_entries *entries,
                                   struct nd_error *err)
{
    struct nd_hamming_file *file = NULL;
    struct nd_hamming_change c;
    enum nd_status status = nd_hamming_change_open(&c, path, true, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_file_map(&file, c.fd, path, err);
    if (status == ND_OK)
        status =
            check_entries(entries, file->header.bits, nd_hamming_header_count(&file->header), err);
    if (status == ND_OK && entries->count)
        status = add(&c, file, entries, err);
    nd_hamming_file_close(file);
    nd_hamming_change_release(&c);
    return status;
}

static bool is_same_recipe(const struct nd_hamming_file *a, const struct nd_hamming_file *b)
{
    return !a->recipe.len == !b->recipe.len &&
           (!a->recipe.len || a->recipe.fingerprint == b->recipe.fingerprint);
}

/* Whether the files can be one, and of how many entries. */
static enum nd_status check_together(struct nd_hamming_file *const *file, size_t n, unsigned bits,
                                     uint64_t *total, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    *total = 0;
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        uint64_t count = nd_hamming_header_count(&file[i]->header);

        if (!is_same_recipe(file[0], file[i]))
            return nd_fail(err, ND_EINVAL, "fingerprints of two recipes in one index");
        if (file[i]->header.bits != bits)
            return nd_fail(err, ND_EINVAL, "fingerprints of %u bits and of %u in one index", bits,
                           file[i]->header.bits);
        status = check_count(*total, (size_t)count, err);
        *total += count;
    }
    return status;
}

/* All segments of all files as one; files are open. */
static enum nd_status merge(struct nd_hamming_change *c, struct nd_hamming_file *const *file,
                            size_t n, const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct nd_hamming_collection all = {.n = 0};
    struct nd_hamming_plan plan;
    uint64_t total;
    enum nd_status status = check_together(file, n, shape->bits, &total, err);

    if (status == ND_OK)
        status = nd_hamming_file_plan(shape, total, &plan, err);
    if (status != ND_OK)
        return status;
    nd_hamming_change_begin(c, &plan, shape, nd_hamming_file_recipe(file[0]));
    status =
        nd_hamming_collect_begin(&all, (size_t)total, nd_hamming_words(shape->bits), NULL, err);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        status = nd_hamming_collect_file(&all, file[i], err);
    if (status == ND_OK)
        status = nd_hamming_collect_finish(&all, &c->entries, err);
    if (status == ND_OK)
        status = nd_hamming_change_replace(c, err);
    nd_hamming_collect_release(&all);
    return status;
}

enum nd_status nd_hamming_file_merge(const char *const *paths, size_t n, const char *output,
                                     const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct nd_hamming_file **file = calloc(n + 1, sizeof *file);
    struct nd_hamming_shape same;
    struct nd_hamming_change c;
    enum nd_status status;

    if (!file)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = n ? nd_hamming_change_open(&c, output, false, err)
               : nd_fail(err, ND_EINVAL, "no index to merge is given");
    if (status != ND_OK) {
        free(file);
        return status;
    }
    for (size_t i = 0; i < n && status == ND_OK; i++)
        status = nd_hamming_file_open(&file[i], paths[i], err);
    if (status == ND_OK) {
        same = nd_hamming_file_shape(file[0]);
        status = merge(&c, file, n, shape ? shape : &same, err);
    }
    for (size_t i = 0; i < n; i++)
        nd_hamming_file_close(file[i]);
    free(file);
    nd_hamming_change_release(&c);
    return status;
}
