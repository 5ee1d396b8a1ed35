/*
 * update.c - index files: build, add, merge
 *
 * Merging.  A new segment is merged with the last one if that holds at most twice as many entries,
 * the result with the one before, and so on.  So each segment holds more than twice as many as the
 * next, and there are at most log2(N) of them, like the digits of a binary counter.
 *
 * Parts.  A segment belongs to a part, which holds a bounded number of entries, at most 2^32 - 1,
 * and segments merge within their part only.  What does not fit into the last part fills it, which
 * then becomes one segment, and goes on in new parts of one segment each.  Each new segment is
 * collected when it is written, so that no more than a part is in memory.
 */
#include <stdlib.h>

#include "hamming/file/change.h"
#include "hamming/plan/plan_checks.h"

/* Entries as they come in, for an index that holds some already. */
static enum nd_status check_entries(const struct nd_hamming_entries *entries, unsigned bits,
                                    struct nd_error *err)
{
    if (!entries)
        return nd_fail(err, ND_EINVAL, "there are no entries");
    return nd_hamming_check_bits(entries->fingerprints, entries->count, bits, err);
}

/* Entries that are written, part by part, to a file that holds `before` others; the first new
 * segment also takes the old ones from number `kept` on. */
struct addition {
    const struct nd_hamming_entries *entries;
    const struct nd_hamming_file *old; /* NULL: there is none */
    unsigned kept;
    size_t words, done;
    uint64_t before;
    struct nd_hamming_collection all;
};

static enum nd_status collect_addition(void *context, const struct nd_hamming_piece *piece,
                                       struct nd_hamming_entries *entries, struct nd_error *err)
{
    struct addition *a = context;
    const uint64_t *row = a->entries->fingerprints + a->done * a->words;
    uint64_t old = 0;
    size_t some;
    enum nd_status status;

    for (unsigned i = a->kept; a->old && i < a->old->n; i++)
        old += a->old->segment[i].count;
    some = (size_t)(piece->count - old);
    nd_hamming_collect_release(&a->all);
    status =
        nd_hamming_collect_begin(&a->all, (size_t)piece->count, a->words, old ? NULL : row, err);
    for (; a->old && a->kept < a->old->n && status == ND_OK; a->kept++) {
        const struct nd_hamming_segment *s = &a->old->segment[a->kept];

        status = nd_hamming_collect_segment(&a->all, s, 0, s->count, err);
    }
    if (status == ND_OK)
        status = nd_hamming_collect_entries(&a->all, a->entries, a->done, some, a->before, err);
    a->done += some;
    return status == ND_OK ? nd_hamming_collect_finish(&a->all, entries, err) : status;
}

enum nd_status nd_hamming_build_planned(const char *path, const struct nd_hamming_plan *plan,
                                        const struct nd_hamming_shape *shape,
                                        const struct nd_hamming_entries *entries,
                                        struct nd_error *err)
{
    struct addition all = {.entries = entries, .words = nd_hamming_words(plan->problem.bits)};
    struct nd_hamming_change c;
    enum nd_status status = check_entries(entries, plan->problem.bits, err);

    if (status == ND_OK)
        status = nd_hamming_change_open(&c, path, false, err);
    if (status != ND_OK)
        return status;
    nd_hamming_change_begin(&c, plan, shape, shape->recipe);
    nd_hamming_change_collect(&c, collect_addition, &all);
    status = nd_hamming_change_add_parts(&c, entries ? entries->count : 0, 0, 0, err);
    if (status == ND_OK)
        status = nd_hamming_change_replace(&c, err);
    nd_hamming_collect_release(&all.all);
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
        status = nd_hamming_build_planned(path, &plan, shape, entries, err);
    return status;
}

enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                     const uint64_t *fingerprints, const uint32_t *ids, size_t n,
                                     struct nd_error *err)
{
    const struct nd_hamming_entries entries = {fingerprints, n, ids, NULL};
    enum nd_status status = nd_hamming_plan_check(plan, err);
    struct nd_hamming_shape shape = {.codec = ND_HAMMING_EF};
    struct nd_hamming_plan held;

    if (status == ND_OK && !nd_hamming_file_holds(plan->family, ND_HAMMING_COMPACT))
        status = nd_fail(err, ND_EINVAL,
                         "a file holds tables of blocks or coverings, or shards by "
                         "popcount");
    if (status != ND_OK)
        return status;
    held = *plan;
    nd_hamming_plan_to_file(&held);
    shape.tables = held.tables;
    return nd_hamming_build_planned(path, &held, &shape, &entries, err);
}

/* The first segment that is to be merged with `more` new entries, of those from number `first` on. */
static unsigned merge_from(const struct nd_hamming_header *h, unsigned first, uint64_t more)
{
    unsigned kept = h->layout == ND_HAMMING_FAST ? first : h->segments;

    while (kept > first &&
           (h->segment[kept - 1].count <= 2 * more || kept >= ND_HAMMING_SEGMENTS_MAX)) {
        more += h->segment[kept - 1].count;
        kept--;
    }
    return kept;
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

/*
 * Find room for `more` entries: which segments are kept, how many entries the segment behind those
 * has, and in which part it is.
 */
static unsigned find_room(const struct nd_hamming_header *h, uint64_t more, uint64_t *first,
                          unsigned *part)
{
    unsigned last = nd_hamming_header_last_part(h), kept;
    uint64_t held = nd_hamming_header_count_from(h, last), max = nd_hamming_part_max(h->part_max);
    bool fits = more <= max - held;

    *part = h->segments ? h->segment[h->segments - 1].part : 0;
    if (fits)
        kept = merge_from(h, last, more);
    else /* the last part is filled, and is one segment then */
        kept = held == max && h->segments - last == 1 ? h->segments : last;
    *first = nd_hamming_header_count_from(h, kept) + (fits ? more : max - held);
    if (*first == 0) { /* nothing is left to do in the last part */
        ++*part;
        *first = max;
    }
    return kept;
}

/* To a file that is locked and mapped. */
static enum nd_status add(struct nd_hamming_change *c, struct nd_hamming_file *file,
                          const struct nd_hamming_entries *entries, struct nd_error *err)
{
    uint64_t count = nd_hamming_header_count(&file->header), first;
    unsigned part, kept = find_room(&file->header, entries->count, &first, &part);
    struct addition more = {entries, file, kept, file->scheme.words, 0, count, {.n = 0}};
    enum nd_status status = nd_hamming_file_open_from(file, kept, c->path, err);

    if (status == ND_OK)
        status = nd_hamming_change_keep(c, file, kept, false, count + entries->count, err);
    nd_hamming_change_collect(c, collect_addition, &more);
    if (status == ND_OK)
        status = nd_hamming_change_add_parts(
            c, nd_hamming_header_count_from(&file->header, kept) + entries->count, first, part,
            err);
    if (status == ND_OK)
        status = is_better_anew(&file->header, kept) ? nd_hamming_change_replace(c, err)
                                                     : nd_hamming_change_append(c, err);
    nd_hamming_collect_release(&more.all);
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
        status = check_entries(entries, file->header.bits, err);
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
        if (!is_same_recipe(file[0], file[i]))
            return nd_fail(err, ND_EINVAL, "fingerprints of two recipes in one index");
        if (file[i]->header.bits != bits)
            return nd_fail(err, ND_EINVAL, "fingerprints of %u bits and of %u in one index", bits,
                           file[i]->header.bits);
        *total += nd_hamming_header_count(&file[i]->header);
    }
    return status;
}

/* A reader of all entries of several files: entry number `at` of a segment is the next one. */
struct merging {
    struct nd_hamming_file *const *file;
    unsigned segment;
    uint64_t at;
    size_t words;
    struct nd_hamming_collection all;
};

static enum nd_status collect_merged(void *context, const struct nd_hamming_piece *piece,
                                     struct nd_hamming_entries *entries, struct nd_error *err)
{
    struct merging *m = context;
    uint64_t left = piece->count;
    enum nd_status status;

    nd_hamming_collect_release(&m->all);
    status = nd_hamming_collect_begin(&m->all, (size_t)left, m->words, NULL, err);
    while (left && status == ND_OK) {
        const struct nd_hamming_file *file = *m->file;
        const struct nd_hamming_segment *s = &file->segment[m->segment];
        uint64_t some;

        if (m->segment == file->n) {
            m->file++;
            m->segment = 0;
            continue;
        }
        some = s->count - m->at < left ? s->count - m->at : left;
        status = nd_hamming_collect_segment(&m->all, s, m->at, some, err);
        left -= some;
        m->at += some;
        if (m->at == s->count) {
            m->segment++;
            m->at = 0;
        }
    }
    return status == ND_OK ? nd_hamming_collect_finish(&m->all, entries, err) : status;
}

/* All segments of all files as one for each part; files are open. */
static enum nd_status merge(struct nd_hamming_change *c, struct nd_hamming_file *const *file,
                            size_t n, const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct merging merging = {.file = file, .words = nd_hamming_words(shape->bits)};
    struct nd_hamming_plan plan;
    uint64_t total;
    enum nd_status status = check_together(file, n, shape->bits, &total, err);

    if (status == ND_OK)
        status = nd_hamming_file_plan(shape, total, &plan, err);
    if (status != ND_OK)
        return status;
    nd_hamming_change_begin(c, &plan, shape, nd_hamming_file_recipe(file[0]));
    nd_hamming_change_collect(c, collect_merged, &merging);
    status = nd_hamming_change_add_parts(c, total, 0, 0, err);
    if (status == ND_OK)
        status = nd_hamming_change_replace(c, err);
    nd_hamming_collect_release(&merging.all);
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
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        status = nd_hamming_file_open(&file[i], paths[i], err);
        if (status == ND_OK)
            status = nd_hamming_file_check(file[i], err);
    }
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
