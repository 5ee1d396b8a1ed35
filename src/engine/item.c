/* item.c - the documents of a batch: made, grouped by their bytes, sketched */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/state.h"

struct nd_item *nd_items_begin(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                               struct nd_error *err)
{
    void *list = d->item, *keys = d->key;
    size_t room = n ? n : 1; /* a batch may be of bad records alone: its list is not NULL */
    bool ok = nd_array_reserve(&list, &d->item_capacity, room, sizeof *d->item);

    d->item = list;
    ok = ok && nd_array_reserve(&keys, &d->key_capacity, room, d->n_keys * sizeof *d->key);
    d->key = keys;
    if (!ok) {
        nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        d->item[i] = (struct nd_item){.text = items[i].text,
                                      .document = items[i].document,
                                      .group = items[i].group,
                                      .first_same = i};
    return d->item;
}

void nd_items_end(struct nd_item *item, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(item[i].hits.at);
        nd_candidates_release(&item[i].near);
        nd_candidates_release(&item[i].near_in_batch);
    }
}

enum { HASH_TASK = 64 };

struct hashing {
    struct nd_item *item;
    size_t n;
};

static void hash_items(void *context, size_t task, unsigned worker)
{
    struct hashing *job = context;

    (void)worker;
    for (size_t i = task * HASH_TASK; i < job->n && i < (task + 1) * HASH_TASK; i++)
        job->item[i].raw = nd_hash_bytes(job->item[i].text.data, job->item[i].text.len);
}

static bool same_bytes(const struct nd_item *a, const struct nd_item *b)
{
    return a->raw == b->raw && a->group == b->group && a->text.len == b->text.len &&
           (a->text.len == 0 || memcmp(a->text.data, b->text.data, a->text.len) == 0);
}

enum nd_status nd_items_group(struct nd_dedup *d, struct nd_item *item, size_t n,
                              struct nd_error *err)
{
    size_t n_places = 16, *place; /* of the first items: index + 1 */

    while (n_places < 2 * n)
        n_places *= 2;
    place = calloc(n_places, sizeof *place);
    if (!place)
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    nd_pool_run(d->pool, (n + HASH_TASK - 1) / HASH_TASK, hash_items, &(struct hashing){item, n});
    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)nd_mix64(item[i].raw + item[i].group) & (n_places - 1);

        while (place[at] && !same_bytes(&item[place[at] - 1], &item[i]))
            at = (at + 1) & (n_places - 1);
        if (place[at])
            item[i].first_same = place[at] - 1;
        else
            place[at] = i + 1;
    }
    free(place);
    return ND_OK;
}

bool nd_item_read(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    struct nd_sketch sketch;

    if (nd_sketcher_read(w->sketcher, item->text.data, item->text.len, &sketch)) {
        nd_worker_fail(w, ND_ENOMEM, "reading a document");
        return false;
    }
    if (sketch.n_shingles > UINT32_MAX) {
        nd_worker_fail(w, ND_EUNSUPPORTED,
                       "counting more than 2^32 distinct shingles in a document");
        return false;
    }
    item->is_read = true;
    item->n_tokens = sketch.n_tokens;
    item->n_shingles = sketch.n_shingles;
    item->is_short = sketch.n_tokens < d->params.sketch.w;
    item->is_listed =
        sketch.n_tokens > 0 && (!item->is_short || d->params.short_policy == ND_SHORT_TOKENS);
    item->row.identity = sketch.identity;
    item->row.group = item->group;
    item->row.n_shingles = (uint32_t)sketch.n_shingles;
    item->row.is_short = item->is_short;
    return true;
}

void nd_item_sketch(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);
    struct nd_sketch sketch = {
        .identity = item->row.identity, .shingle = set->distinct, .n_shingles = set->count};
    uint64_t *key;

    nd_sketch_finish(&sketch, d->parts);
    nd_index_row_from_sketch(&item->row, &sketch, item->group);
    item->row.is_short = item->is_short;
    key = d->key + (size_t)(item - d->item) * d->n_keys;
    nd_index_keys(&d->index_params, &item->row, key);
    item->row.key = key;
}

bool nd_item_sign(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    struct nd_document text_alone = {.text = item->text};
    struct nd_signed *x;

    if (!d->matching)
        return true;
    x = nd_arena_alloc(&w->shingles, sizeof *x);
    if (!x || nd_signing_run(w->signing, item->document ? item->document : &text_alone, item->group,
                             &w->shingles, x)) {
        nd_worker_fail(w, ND_ENOMEM, "signing a document");
        return false;
    }
    item->own_signatures = x;
    return true;
}

bool nd_item_hold_shingles(struct nd_worker *w, struct nd_item *item)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);
    uint64_t *copy = nd_arena_alloc(&w->shingles, set->count * sizeof *copy);

    if (!copy) {
        nd_worker_fail(w, ND_ENOMEM, "holding a document's shingles");
        return false;
    }
    if (set->count)
        memcpy(copy, set->distinct, set->count * sizeof *copy);
    item->shingle = copy;
    return true;
}
