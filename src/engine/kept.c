/* kept.c - the kept documents: columns by number, texts and shingles read again, and who has these
 * bytes or these tokens */
#include "engine/kept.h"

#include "base/hash.h"

uint32_t nd_kept_document(const struct nd_kept *kept, uint32_t number)
{
    return ((const uint32_t *)kept->document.data)[number];
}

static uint64_t raw_of(const struct nd_kept *kept, uint32_t number)
{
    return ((const uint64_t *)kept->raw.data)[number];
}

static uint64_t raw_second_of(const struct nd_kept *kept, uint32_t number)
{
    return ((const uint64_t *)kept->raw_second.data)[number];
}

static uint64_t raw_key(uint64_t raw, uint32_t group)
{
    return nd_mix64(raw ^ (uint64_t)group * UINT64_C(0x9E3779B97F4A7C15));
}

void nd_kept_prefetch(const struct nd_kept *kept, const struct nd_item *item)
{
    nd_multimap_prefetch(&kept->by_raw, raw_key(item->raw, item->group));
}

enum nd_status nd_fetch_text(const struct nd_kept *kept, struct nd_worker *w, uint32_t number,
                             struct nd_view *text)
{
    uint64_t document = nd_kept_document(kept, number);

    if (w->text_of != document) {
        enum nd_status status;

        w->text_of = UINT64_MAX;
        status = kept->source.fetch(kept->source.context, document, w->number, &w->text, &w->error);
        if (status)
            return w->status = status;
        w->text_of = document;
    }
    *text = w->text;
    return ND_OK;
}

/* Fetch the shingles of a document that has no text. */
static enum nd_status fetch_sketched(const struct nd_kept *kept, struct nd_worker *w,
                                     uint32_t number, const uint64_t **shingle, size_t *n)
{
    enum nd_status status = kept->source.fetch_shingles(
        kept->source.context, nd_kept_document(kept, number), w->number, shingle, n, &w->error);

    if (status)
        return w->status = status;
    if (!nd_shingle_cache_put(w->fetched, number, *shingle, *n))
        return nd_worker_fail(w, ND_ENOMEM, "reading a kept document again");
    return ND_OK;
}

enum nd_status nd_fetch_shingles(const struct nd_kept *kept, struct nd_worker *w, uint32_t number,
                                 const uint64_t **shingle, size_t *n)
{
    struct nd_sketch sketch;
    struct nd_view text;
    enum nd_status status;

    *shingle = nd_shingle_cache_get(kept->cache, number, n);
    if (!*shingle)
        *shingle = nd_shingle_cache_get(w->fetched, number, n);
    if (*shingle)
        return ND_OK;
    if (nd_kept_has_no_text(kept, number))
        return fetch_sketched(kept, w, number, shingle, n);
    status = nd_fetch_text(kept, w, number, &text);
    if (status)
        return status;
    if (nd_sketcher_read_valid(w->kept_sketcher, text.data, text.len, &sketch) ||
        !nd_shingle_cache_put(w->fetched, number, sketch.shingle, (size_t)sketch.n_shingles))
        return nd_worker_fail(w, ND_ENOMEM, "reading a kept document again");
    *shingle = sketch.shingle;
    *n = (size_t)sketch.n_shingles;
    return ND_OK;
}

/* ---- Documents without text ---- */

bool nd_kept_is_sketched(const struct nd_kept *kept, uint64_t document)
{
    const uint64_t *bits = kept->sketched.data;

    return kept->plan->params.takes_sketches && (bits[document / 64] >> document % 64 & 1);
}

bool nd_kept_has_no_text(const struct nd_kept *kept, uint32_t number)
{
    return nd_kept_is_sketched(kept, nd_kept_document(kept, number));
}

unsigned char nd_kept_verified(const struct nd_kept *kept, bool is_verified, uint64_t a, uint64_t b)
{
    if (!is_verified)
        return ND_VERIFIED_NO;
    return nd_kept_is_sketched(kept, a) || nd_kept_is_sketched(kept, b) ? ND_VERIFIED_SKETCH
                                                                        : ND_VERIFIED_TEXT;
}

static void note_sketched(struct nd_kept *kept, uint64_t document, bool is_sketched)
{
    uint64_t *word = (uint64_t *)kept->sketched.data + document / 64;

    if (document % 64 == 0)
        *word = 0;
    *word |= (uint64_t)is_sketched << document % 64;
}

enum nd_identical nd_kept_identical_sketches(const struct nd_kept *kept, enum nd_equal_by by,
                                             uint32_t a, uint32_t b)
{
    if (raw_of(kept, a) == raw_of(kept, b) && raw_second_of(kept, a) == raw_second_of(kept, b))
        return ND_IDENTICAL_BYTES;
    return by == ND_EQUAL_BY_TOKENS && nd_index_same_sketch(kept->finder.index, a, b)
               ? ND_IDENTICAL_TOKENS
               : ND_IDENTICAL_NO;
}

int nd_kept_equals(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                   enum nd_equal_by by, uint32_t number)
{
    struct nd_view text;

    if (item->sketched || nd_kept_has_no_text(kept, number))
        return by == ND_EQUAL_BY_TOKENS
                   ? nd_index_has_sketch(kept->finder.index, number, &item->read.row)
                   : by == ND_EQUAL_BY_BYTES && raw_of(kept, number) == item->raw &&
                         raw_second_of(kept, number) == item->raw_second;
    if (nd_fetch_text(kept, w, number, &text))
        return (int)w->status;
    return nd_worker_equal(w, by, item->text, text);
}

/* ---- Equal documents ---- */

/* The lowest number, should there be several: the earliest kept. */
static int take_earlier(int found, uint32_t number, uint32_t *best)
{
    if (!found || number < *best)
        *best = number;
    return 1;
}

int nd_kept_find_bytes(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                       uint32_t *number)
{
    struct nd_multimap_scan scan = nd_multimap_find(&kept->by_raw, raw_key(item->raw, item->group));
    uint32_t at;
    int found = 0;

    while (nd_multimap_next(&kept->by_raw, &scan, &at)) {
        int same;

        if (raw_of(kept, at) != item->raw ||
            nd_index_group(kept->finder.index, at) != item->group ||
            !nd_finder_allows(&kept->finder, at, item))
            continue;
        same = nd_kept_equals(kept, w, item, ND_EQUAL_BY_BYTES, at);
        if (same < 0)
            return same;
        if (same)
            found = take_earlier(found, at, number);
    }
    return found;
}

int nd_kept_find_tokens(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                        uint32_t *number)
{
    struct nd_identity_scan scan =
        nd_index_find_identity(kept->finder.index, item->read.row.identity, item->group);
    uint32_t at;
    int found = 0;

    if (nd_engine_plan_ignores_text(kept->plan))
        return 0;
    while (nd_index_next_identity(kept->finder.index, &scan, &at)) {
        int same = nd_finder_allows(&kept->finder, at, item)
                       ? nd_kept_equals(kept, w, item, ND_EQUAL_BY_TOKENS, at)
                       : 0;

        if (same < 0)
            return same;
        if (same)
            found = take_earlier(found, at, number);
    }
    return found;
}

int nd_kept_find_equal(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *item,
                       uint32_t *number)
{
    switch (nd_item_equal_by(kept->plan, item)) {
    case ND_EQUAL_NEVER: break;
    case ND_EQUAL_BY_BYTES: return nd_kept_find_bytes(kept, w, item, number);
    case ND_EQUAL_BY_TOKENS: return nd_kept_find_tokens(kept, w, item, number);
    }
    return 0;
}

struct nd_equal_scan nd_equal_scan_begin(const struct nd_kept *kept, const struct nd_item *item)
{
    struct nd_equal_scan scan = {
        .by = nd_item_equal_by(kept->plan, item), .raw = item->raw, .group = item->group};

    if (scan.by == ND_EQUAL_BY_TOKENS)
        scan.by_tokens =
            nd_index_find_identity(kept->finder.index, item->read.row.identity, item->group);
    else
        scan.by_bytes = nd_multimap_find(&kept->by_raw, raw_key(item->raw, item->group));
    return scan;
}

bool nd_equal_scan_next(const struct nd_kept *kept, struct nd_equal_scan *scan, uint32_t *number)
{
    if (scan->by == ND_EQUAL_BY_TOKENS)
        return nd_index_next_identity(kept->finder.index, &scan->by_tokens, number);
    while (scan->by == ND_EQUAL_BY_BYTES &&
           nd_multimap_next(&kept->by_raw, &scan->by_bytes, number))
        if (raw_of(kept, *number) == scan->raw &&
            nd_index_group(kept->finder.index, *number) == scan->group)
            return true;
    return false;
}

/* Whether a document is looked up by its bytes.  It is not where equal bytes decide nothing: a
 * million empty documents would have one key. */
static bool is_found_by_bytes(const struct nd_kept *kept, bool is_short)
{
    return nd_equal_by(kept->plan, is_short, false) != ND_EQUAL_NEVER;
}

void nd_kept_mark_known(const struct nd_kept *kept, unsigned worker, struct nd_item *item, size_t n)
{
    enum { AHEAD = 4 };
    const struct nd_multimap *map = &kept->by_raw;

    nd_pool_read_lock(kept->pool, worker);
    for (size_t i = 0; i < n; i++) {
        struct nd_multimap_scan scan = nd_multimap_find(map, raw_key(item[i].raw, item[i].group));
        uint32_t at;

        if (i + AHEAD < n)
            nd_kept_prefetch(kept, &item[i + AHEAD]);
        while (!item[i].is_known && nd_multimap_next(map, &scan, &at))
            item[i].is_known = raw_of(kept, at) == item[i].raw;
    }
    nd_pool_read_unlock(kept->pool, worker);
}

static bool make_room(struct nd_kept *kept, size_t n)
{
    struct nd_multimap *map = &kept->by_raw;
    struct nd_multimap_adder adder;

    if (nd_multimap_fits(map, n))
        return true;
    if (!nd_multimap_grow(map, n))
        return false;
    adder.map = map;
    adder.n = 0;
    for (uint32_t i = 0; i < kept->n; i++)
        if (is_found_by_bytes(kept, nd_index_is_short(kept->finder.index, i)))
            nd_multimap_add_soon(
                &adder, raw_key(raw_of(kept, i), nd_index_group(kept->finder.index, i)), i);
    nd_multimap_add_rest(&adder);
    return true;
}

/* n more kept documents, of those that were pushed: `pushed` with these. */
static bool reserve(struct nd_kept *kept, size_t n, uint64_t pushed)
{
    if (kept->plan->params.takes_sketches &&
        (!nd_column_reserve(&kept->raw_second, kept->n + n, sizeof(uint64_t)) ||
         !nd_column_reserve(&kept->sketched, pushed / 64 + 1, sizeof(uint64_t))))
        return false;
    return nd_column_reserve(&kept->document, kept->n + n, sizeof(uint32_t)) &&
           nd_column_reserve(&kept->raw, kept->n + n, sizeof(uint64_t)) && make_room(kept, n);
}

static void add(struct nd_kept *kept, uint64_t raw, uint32_t group, bool is_short,
                uint64_t document)
{
    ((uint32_t *)kept->document.data)[kept->n] = (uint32_t)document;
    ((uint64_t *)kept->raw.data)[kept->n] = raw;
    if (is_found_by_bytes(kept, is_short))
        nd_multimap_add(&kept->by_raw, raw_key(raw, group), kept->n);
    kept->n++;
}

bool nd_kept_restore(struct nd_kept *kept, const uint64_t *raw, uint32_t n)
{
    const struct nd_index *index = kept->finder.index;

    if (n && !reserve(kept, n, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        add(kept, raw[i], nd_index_group(index, i), nd_index_is_short(index, i), i);
    return true;
}

enum nd_status nd_kept_add(struct nd_kept *kept, const struct nd_item *item, size_t n,
                           enum nd_item_state state, uint64_t first, struct nd_error *err)
{
    size_t n_kept = 0;
    bool ok;

    for (size_t i = 0; i < n; i++)
        n_kept += item[i].state == state;
    ok = reserve(kept, n_kept, first + n);
    for (size_t i = 0; ok && i < n; i++) {
        if (kept->plan->params.takes_sketches)
            note_sketched(kept, first + i, item[i].sketched != NULL);
        if (item[i].state != state)
            continue;
        if (kept->plan->params.takes_sketches)
            ((uint64_t *)kept->raw_second.data)[kept->n] = item[i].raw_second;
        add(kept, item[i].raw, item[i].group, item[i].read.is_short, first + i);
    }
    if (!ok)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu kept documents", kept->n + n_kept);
    return ND_OK;
}

enum nd_status nd_kept_init(struct nd_kept *kept, const struct nd_engine_plan *plan,
                            const struct nd_text_source *source, struct nd_pool *pool,
                            struct nd_error *err)
{
    kept->plan = plan;
    kept->pool = pool;
    kept->cache = nd_shingle_cache_new(plan->params.cache_bytes);
    if (!source)
        kept->texts = nd_texts_new();
    if (!kept->cache || (!source && !kept->texts))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    kept->source = source ? *source : nd_texts_source(kept->texts);
    if (!nd_finder_init(&kept->finder, plan, err))
        return ND_ENOMEM;
    if (plan->params.cluster != ND_CLUSTER_PAIRS)
        nd_finder_bound(&kept->finder, plan, NULL);
    return ND_OK;
}

void nd_kept_release(struct nd_kept *kept)
{
    nd_column_release(&kept->document);
    nd_column_release(&kept->raw);
    nd_column_release(&kept->raw_second);
    nd_column_release(&kept->sketched);
    nd_multimap_release(&kept->by_raw);
    nd_shingle_cache_free(kept->cache);
    nd_texts_free(kept->texts);
    nd_finder_release(&kept->finder);
}
