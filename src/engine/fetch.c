/* fetch.c - texts and shingles of kept documents, read again */
#include "engine/state.h"

unsigned nd_worker_number(const struct nd_dedup *d, const struct nd_worker *w)
{
    return (unsigned)(w - d->worker);
}

enum nd_status nd_fetch_text(struct nd_dedup *d, struct nd_worker *w, uint32_t number,
                             struct nd_view *text)
{
    uint64_t document = nd_kept_document(d, number);

    if (w->text_of != document) {
        enum nd_status status;

        w->text_of = UINT64_MAX;
        status = d->source.fetch(d->source.context, document, nd_worker_number(d, w), &w->text,
                                 &w->error);
        if (status)
            return w->status = status;
        w->text_of = document;
    }
    *text = w->text;
    return ND_OK;
}

enum nd_status nd_fetch_shingles(struct nd_dedup *d, struct nd_worker *w, uint32_t number,
                                 const uint64_t **shingle, size_t *n)
{
    struct nd_sketch sketch;
    struct nd_view text;
    enum nd_status status;

    *shingle = nd_shingle_cache_get(d->cache, number, n);
    if (!*shingle)
        *shingle = nd_shingle_cache_get(w->fetched, number, n);
    if (*shingle)
        return ND_OK;
    status = nd_fetch_text(d, w, number, &text);
    if (status)
        return status;
    if (nd_sketcher_read_valid(w->kept_sketcher, text.data, text.len, &sketch) ||
        !nd_shingle_cache_put(w->fetched, number, sketch.shingle, (size_t)sketch.n_shingles))
        return nd_worker_fail(w, ND_ENOMEM, "reading a kept document again");
    *shingle = sketch.shingle;
    *n = (size_t)sketch.n_shingles;
    return ND_OK;
}
