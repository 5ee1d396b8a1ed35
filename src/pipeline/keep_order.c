/* keep_order.c - in which order documents are offered to the engine: the first of a cluster is kept */
#include "pipeline/keep_order.h"

#include "pipeline/run.h"

#include <stdlib.h>
#include <string.h>

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

int nd_offer_compare(const struct nd_keep *keep, const struct nd_rough_keys *rough,
                     const struct nd_offer *a, const struct nd_offer *b)
{
    if (a->prefer != b->prefer)
        return a->prefer < b->prefer ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->record == b->record)
        return 0;
    if (nd_keep_is_rough(keep, a->key)) {
        int order = nd_keep_compare(keep, text_of(rough, a->record), text_of(rough, b->record));

        if (order)
            return order;
    }
    if (keep->by == ND_KEEP_LAST)
        return a->record > b->record ? -1 : 1;
    return a->record < b->record ? -1 : 1;
}

uint32_t nd_preference(const struct nd_run *run, const struct nd_document *document)
{
    const struct nd_run_options *options = run->options;
    struct nd_view value;
    bool is_known;
    uint32_t i = 0;

    if (!options->prefer_field)
        return 0;
    value = nd_document_field(document, run->prefer_index);
    is_known = value.data && !nd_document_field_replaced(document, run->prefer_index);
    for (; i < options->n_prefer; i++)
        if (is_known && strlen(options->prefer[i]) == value.len &&
            memcmp(options->prefer[i], value.data, value.len) == 0)
            break;
    return i;
}
