/* item.c - the documents of a batch: made, grouped by their bytes, sketched */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/state.h"

struct nd_item *nd_items_begin(const struct nd_dedup *d, struct nd_batch_room *room,
                               const struct nd_dedup_item *items, size_t n, struct nd_error *err)
{
    void *list = room->item, *keys = room->key;
    size_t least = n ? n : 1; /* a batch may be of bad records alone: its list is not NULL */
    bool ok = nd_array_reserve(&list, &room->item_capacity, least, sizeof *room->item);

    room->item = list;
    ok = ok && nd_array_reserve(&keys, &room->key_capacity, least, d->n_keys * sizeof *room->key);
    room->key = keys;
    if (!ok) {
        nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        room->item[i] = (struct nd_item){.text = items[i].text,
                                         .document = items[i].document,
                                         .group = items[i].group,
                                         .key = room->key + i * d->n_keys,
                                         .first_same = i};
    room->items = items;
    room->n = n;
    return room->item;
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

size_t nd_items_hash_tasks(size_t n)
{
    return (n + HASH_TASK - 1) / HASH_TASK;
}

void nd_items_hash(struct nd_item *item, size_t n, size_t task)
{
    for (size_t i = task * HASH_TASK; i < n && i < (task + 1) * HASH_TASK; i++)
        item[i].raw = nd_hash_bytes(item[i].text.data, item[i].text.len);
}

static bool same_bytes(const struct nd_item *a, const struct nd_item *b)
{
    return a->raw == b->raw && a->group == b->group && a->text.len == b->text.len &&
           (a->text.len == 0 || memcmp(a->text.data, b->text.data, a->text.len) == 0);
}

bool nd_items_group(struct nd_item *item, size_t n)
{
    size_t n_places = 16, *place; /* of the first items: index + 1 */

    while (n_places < 2 * n)
        n_places *= 2;
    place = calloc(n_places, sizeof *place);
    if (!place)
        return false;
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
    return true;
}

static enum nd_status read_item(const struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    struct nd_sketch sketch;

    if (nd_sketcher_read_valid(w->sketcher, item->text.data, item->text.len, &sketch))
        return ND_ENOMEM;
    if (sketch.n_shingles > UINT32_MAX)
        return ND_EUNSUPPORTED;
    item->is_read = true;
    item->n_tokens = sketch.n_tokens;
    item->n_shingles = sketch.n_shingles;
    item->is_short = sketch.n_tokens < d->params.sketch.w && !nd_dedup_ignores_text(d);
    item->is_listed =
        nd_dedup_ignores_text(d) ||
        (sketch.n_tokens > 0 && (!item->is_short || d->params.short_policy == ND_SHORT_TOKENS));
    item->row.identity = sketch.identity;
    item->row.group = item->group;
    item->row.n_shingles = (uint32_t)sketch.n_shingles;
    item->row.is_short = item->is_short;
    return ND_OK;
}

bool nd_item_read(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    enum nd_status status = read_item(d, w, item);

    if (status == ND_ENOMEM)
        nd_worker_fail(w, status, "reading a document");
    else if (status)
        nd_worker_fail(w, status, "counting more than 2^32 distinct shingles in a document");
    return status == ND_OK;
}

void nd_item_sketch(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);
    struct nd_sketch sketch = {
        .identity = item->row.identity, .shingle = set->distinct, .n_shingles = set->count};

    nd_sketch_finish(&sketch, d->parts);
    nd_index_row_from_sketch(&item->row, &sketch, item->group);
    item->row.is_short = item->is_short;
    nd_index_keys(&d->index_params, &item->row, item->key);
    item->row.key = item->key;
}

static bool sign_item(const struct nd_dedup *d, struct nd_worker *w, struct nd_arena *held,
                      struct nd_item *item)
{
    struct nd_document text_alone = {.text = item->text};
    struct nd_signed *x;

    if (!d->matching)
        return true;
    x = nd_arena_alloc(held, sizeof *x);
    if (!x || nd_signing_run(w->signing, item->document ? item->document : &text_alone, item->group,
                             held, x))
        return false;
    item->own_signatures = x;
    return true;
}

bool nd_item_sign(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item)
{
    bool ok = sign_item(d, w, &w->held, item);

    if (!ok)
        nd_worker_fail(w, ND_ENOMEM, "signing a document");
    return ok;
}

static bool hold_shingles(const struct nd_worker *w, struct nd_arena *held, struct nd_item *item)
{
    const struct nd_shingle_set *set = nd_sketcher_shingles(w->sketcher);
    uint64_t *copy = nd_arena_alloc(held, set->count * sizeof *copy);

    if (!copy)
        return false;
    if (set->count)
        memcpy(copy, set->distinct, set->count * sizeof *copy);
    item->shingle = copy;
    return true;
}

bool nd_item_hold_shingles(struct nd_worker *w, struct nd_item *item)
{
    bool ok = hold_shingles(w, &w->held, item);

    if (!ok)
        nd_worker_fail(w, ND_ENOMEM, "holding a document's shingles");
    return ok;
}

/* What fails here is left for the look, which says why. */
void nd_item_prepare(struct nd_dedup *d, struct nd_worker *w, struct nd_arena *held,
                     struct nd_item *item)
{
    if (read_item(d, w, item))
        return;
    if (item->n_tokens || item->is_listed)
        nd_item_sketch(d, w, item);
    item->is_prepared =
        (!item->is_listed || sign_item(d, w, held, item)) && hold_shingles(w, held, item);
}
