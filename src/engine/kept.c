/* kept.c - the kept documents: columns by number, and who has these bytes or these tokens */
#include <string.h>

#include "base/hash.h"
#include "engine/state.h"
#include "match/same_tokens.h"

uint32_t nd_kept_document(const struct nd_dedup *d, uint32_t number)
{
    return ((const uint32_t *)d->kept.document.data)[number];
}

static uint64_t raw_of(const struct nd_dedup *d, uint32_t number)
{
    return ((const uint64_t *)d->kept.raw.data)[number];
}

static uint64_t raw_key(uint64_t raw, uint32_t group)
{
    return nd_mix64(raw ^ (uint64_t)group * UINT64_C(0x9E3779B97F4A7C15));
}

void nd_kept_expect(const struct nd_dedup *d, const struct nd_item *item)
{
    nd_multimap_prefetch(&d->kept.by_raw, raw_key(item->raw, item->group));
}

/* The least number, should there be several: the earliest kept. */
static int better_number(int found, uint32_t number, uint32_t *best)
{
    if (!found || number < *best)
        *best = number;
    return 1;
}

int nd_kept_find_bytes(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item,
                       uint32_t *number)
{
    struct nd_multimap_scan scan =
        nd_multimap_find(&d->kept.by_raw, raw_key(item->raw, item->group));
    uint32_t at;
    int found = 0;

    while (nd_multimap_next(&d->kept.by_raw, &scan, &at)) {
        struct nd_view text;
        enum nd_status status;

        if (raw_of(d, at) != item->raw || nd_index_group(d->index, at) != item->group)
            continue;
        status = nd_fetch_text(d, w, at, &text);
        if (status)
            return status;
        if (text.len == item->text.len &&
            (text.len == 0 || memcmp(text.data, item->text.data, text.len) == 0))
            found = better_number(found, at, number);
    }
    return found;
}

int nd_same_text(const struct nd_dedup *d, struct nd_worker *w, struct nd_view a, struct nd_view b)
{
    int same = d->params.sketch.unit == ND_SHINGLE_WORDS
                   ? nd_same_tokens(w->tokeniser[0], a, w->tokeniser[1], b)
                   : nd_same_characters(a, b);

    return same < 0 ? (int)nd_worker_fail(w, ND_ENOMEM, "comparing texts") : same;
}

int nd_kept_find_tokens(struct nd_dedup *d, struct nd_worker *w, const struct nd_item *item,
                        uint32_t *number)
{
    struct nd_identity_scan scan =
        nd_index_find_identity(d->index, item->row.identity, item->group);
    uint32_t at;
    int found = 0;

    if (nd_dedup_ignores_text(d))
        return 0;
    while (nd_index_next_identity(d->index, &scan, &at)) {
        struct nd_view text;
        enum nd_status status = nd_fetch_text(d, w, at, &text);
        int same;

        if (status)
            return status;
        same = nd_same_text(d, w, item->text, text);
        if (same < 0)
            return same;
        if (same)
            found = better_number(found, at, number);
    }
    return found;
}

/* Where short documents are always kept, and where texts do not count, nobody asks for their bytes,
 * and a million empty ones have one key. */
static bool is_asked_for(const struct nd_dedup *d, bool is_short)
{
    return !nd_dedup_ignores_text(d) && (!is_short || d->params.short_policy != ND_SHORT_KEEP);
}

void nd_kept_mark_known(struct nd_dedup *d, struct nd_item *item, size_t n)
{
    enum { AHEAD = 4 };
    const struct nd_multimap *map = &d->kept.by_raw;

    nd_pool_lock(d->pool);
    for (size_t i = 0; i < n; i++) {
        struct nd_multimap_scan scan = nd_multimap_find(map, raw_key(item[i].raw, item[i].group));
        uint32_t at;

        if (i + AHEAD < n)
            nd_kept_expect(d, &item[i + AHEAD]);
        while (!item[i].is_known && nd_multimap_next(map, &scan, &at))
            item[i].is_known = raw_of(d, at) == item[i].raw;
    }
    nd_pool_unlock(d->pool);
}

static bool make_room(struct nd_dedup *d, size_t n)
{
    struct nd_multimap *map = &d->kept.by_raw;
    struct nd_multimap_adder adder;

    if (nd_multimap_fits(map, n))
        return true;
    if (!nd_multimap_grow(map, n))
        return false;
    adder.map = map;
    adder.n = 0;
    for (uint32_t i = 0; i < d->kept.n; i++)
        if (is_asked_for(d, nd_index_is_short(d->index, i)))
            nd_multimap_add_soon(&adder, raw_key(raw_of(d, i), nd_index_group(d->index, i)), i);
    nd_multimap_add_rest(&adder);
    return true;
}

static bool reserve(struct nd_dedup *d, size_t n)
{
    struct nd_kept *kept = &d->kept;

    return nd_column_reserve(&kept->document, kept->n + n, sizeof(uint32_t)) &&
           nd_column_reserve(&kept->raw, kept->n + n, sizeof(uint64_t)) && make_room(d, n);
}

static void add(struct nd_dedup *d, const struct nd_item *item, uint64_t document)
{
    struct nd_kept *kept = &d->kept;

    ((uint32_t *)kept->document.data)[kept->n] = (uint32_t)document;
    ((uint64_t *)kept->raw.data)[kept->n] = item->raw;
    if (is_asked_for(d, item->is_short))
        nd_multimap_add(&kept->by_raw, raw_key(item->raw, item->group), kept->n);
    kept->n++;
}

enum nd_status nd_kept_add(struct nd_dedup *d, const struct nd_item *item, size_t n,
                           enum nd_item_state state, struct nd_error *err)
{
    size_t n_kept = 0;
    bool ok;

    for (size_t i = 0; i < n; i++)
        n_kept += item[i].state == state;
    nd_pool_lock(d->pool);
    ok = reserve(d, n_kept);
    for (size_t i = 0; ok && i < n; i++)
        if (item[i].state == state)
            add(d, &item[i], d->stats.documents + i);
    nd_pool_unlock(d->pool);
    if (!ok)
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu kept documents", d->kept.n + n_kept);
    return ND_OK;
}

void nd_kept_release(struct nd_kept *kept)
{
    nd_column_release(&kept->document);
    nd_column_release(&kept->raw);
    nd_multimap_release(&kept->by_raw);
}
