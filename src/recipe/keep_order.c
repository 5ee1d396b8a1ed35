/* keep_order.c - in which order documents are offered to the engine: the first of a cluster is kept */
#include "recipe/keep_order.h"

#include <stdlib.h>

void nd_rough_keys_release(struct nd_rough_keys *r)
{
    free(r->record);
    free(r->text);
    nd_arena_release(&r->texts);
    *r = (struct nd_rough_keys){0};
}

bool nd_rough_keys_note(struct nd_rough_keys *r, const struct nd_keep *keep, uint64_t key,
                        uint32_t record, struct nd_view value)
{
    if (!nd_keep_is_rough(keep, key))
        return true;
    if (!ND_RESERVE(r->record, &r->record_capacity, r->n + 1) ||
        !ND_RESERVE(r->text, &r->text_capacity, r->n + 1))
        return false;
    value.data = nd_arena_copy(&r->texts, value.data, value.len);
    if (!value.data)
        return false;
    r->bytes += value.len + sizeof *r->record + sizeof *r->text + ND_BUFFER_PADDING;
    r->record[r->n] = record;
    r->text[r->n++] = value;
    return true;
}

static struct nd_view text_of(const struct nd_rough_keys *r, uint32_t record)
{
    size_t low = 0, high = r->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->record[middle] < record)
            low = middle + 1;
        else
            high = middle;
    }
    return r->text[low];
}

/* By preference and policy alone. */
static int compare(const struct nd_keep *keep, const struct nd_rough_keys *rough,
                   const struct nd_offer *a, const struct nd_offer *b)
{
    if (a->prefer != b->prefer)
        return a->prefer < b->prefer ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->record == b->record || !nd_keep_is_rough(keep, a->key))
        return 0;
    return nd_keep_compare(keep, text_of(rough, a->record), text_of(rough, b->record));
}

int nd_offer_compare(const struct nd_keep *keep, const struct nd_rough_keys *rough,
                     const struct nd_offer *a, const struct nd_offer *b)
{
    int order = compare(keep, rough, a, b);

    if (order || a->record == b->record)
        return order;
    if (keep->by == ND_KEEP_LAST)
        return a->record > b->record ? -1 : 1;
    return a->record < b->record ? -1 : 1;
}

bool nd_offers_are_tied(const struct nd_keep *keep, const struct nd_rough_keys *rough,
                        const struct nd_offer *a, const struct nd_offer *b)
{
    return compare(keep, rough, a, b) == 0;
}
