/* batch.c - what stands around every kind of batch: begun, documents numbered, counted, ended */
#include <stdlib.h>

#include "engine/state.h"

#include <neardup/text.h>

struct hashing {
    struct nd_item *item;
    size_t n;
};

static void hash_items(void *context, size_t task, unsigned worker)
{
    const struct hashing *job = context;

    (void)worker;
    nd_items_hash(job->item, job->n, task);
}

static enum nd_status make_items(struct nd_dedup *d, const struct nd_dedup_item *items, size_t n,
                                 struct nd_item **out, struct nd_error *err)
{
    struct hashing job = {nd_items_begin(d, d->at_hand, items, n, err), n};

    if (!job.item)
        return ND_ENOMEM;
    nd_workers_forget(d);
    d->at_hand->is_linked = false;
    nd_pool_run(d->pool, nd_items_hash_tasks(n), hash_items, &job);
    if (!nd_dedup_ignores_text(d) && !nd_items_group(job.item, n))
        return nd_fail(err, ND_ENOMEM, "out of memory for a batch of %zu documents", n);
    *out = job.item;
    return ND_OK;
}

enum nd_status nd_batch_check(const struct nd_dedup *d, enum nd_pushed kind,
                              const struct nd_dedup_item *items, size_t n, struct nd_error *err)
{
    if (d->pushed != ND_PUSHED_NOTHING && d->pushed != kind)
        return nd_fail(err, ND_EINVAL,
                       "one engine makes stars, pairs or components: its documents were pushed for "
                       "another of them");
    if (n && !items)
        return nd_fail(err, ND_EINVAL, "no items: NULL, and %zu of them", n);
    if (n > UINT32_MAX - 1 || d->stats.documents + n > UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %u documents", UINT32_MAX - 1);
    /* The run over files, which brings its pool, has repaired what it read. */
    for (size_t i = 0; d->owns_pool && i < n; i++)
        if (items[i].text.len && !items[i].text.data)
            return nd_fail(err, ND_EINVAL, "item %zu: no text, and %zu bytes of it", i,
                           items[i].text.len);
        else if (!nd_utf8_valid(items[i].text.data, items[i].text.len))
            return nd_fail(err, ND_EINVAL,
                           "item %zu: its text is no valid UTF-8; nd_utf8_repair makes it so", i);
    return ND_OK;
}

enum nd_status nd_batch_begin(struct nd_dedup *d, enum nd_pushed kind,
                              const struct nd_dedup_item *items, size_t n, struct nd_item **out,
                              struct nd_error *err)
{
    enum nd_status status;

    d->pushed = kind;
    nd_workers_begin(d);
    status = make_items(d, items, n, out, err);
    if (d->texts)
        nd_texts_begin(d->texts, items);
    return status;
}

void nd_batch_end(struct nd_dedup *d, struct nd_item *item, size_t n, enum nd_status status)
{
    if (status == ND_OK) {
        d->stats.documents += n;
        nd_workers_end(d);
    }
    nd_items_end(item, n);
}

/* Of a document that was never signed, as it has no tokens or is a copy: none. */
static bool has_signature(const struct nd_dedup *d, const struct nd_signed *x)
{
    for (unsigned i = 0; i < d->matching->method.n_signatures; i++)
        if (!x->signature[i].is_rejected)
            return true;
    return false;
}

static bool append_signatures(struct nd_dedup *d, const struct nd_item *item)
{
    static const struct nd_signature none[ND_METHOD_SIGNATURES] = {
        {.is_rejected = 1}, {.is_rejected = 1}, {.is_rejected = 1}, {.is_rejected = 1}};
    const struct nd_signed *x = item->own_signatures;
    struct nd_signature_row row = {none, item->group, item->n_tokens};

    if (x)
        row = (struct nd_signature_row){x->signature, x->group, x->length};
    if (x && item->is_listed)
        ++*(has_signature(d, x) ? &d->stats.signed_documents : &d->stats.unsigned_documents);
    return nd_signatures_append(d->signatures, &row);
}

enum nd_status nd_document_keep(struct nd_dedup *d, struct nd_item *item, uint64_t document,
                                size_t place, uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_index_append(d->index, &item->row, number, err);

    if (status == ND_OK && d->signatures && !append_signatures(d, item))
        status = nd_fail(err, ND_ENOMEM, "out of memory for an index of signatures");
    if (status == ND_OK)
        status = d->source.keep(d->source.context, document, place, err);
    return status;
}

bool nd_item_is_empty(const struct nd_item *item)
{
    return item->is_read ? item->n_tokens == 0 : item->is_short && item->n_shingles == 0;
}

size_t nd_item_candidates(const struct nd_item *item)
{
    return item->n_near + item->near_in_batch.count;
}

void nd_stats_count(struct nd_dedup *d, const struct nd_item *item, size_t checks, bool was_cut)
{
    d->stats.short_documents += item->is_short;
    d->stats.empty_documents += nd_item_is_empty(item);
    d->stats.cut_documents += was_cut;
    d->stats.candidates += nd_item_candidates(item);
    d->stats.checks += checks;
    d->stats.bytes += item->text.len;
}
