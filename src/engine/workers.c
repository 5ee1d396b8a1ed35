/* workers.c - the working memory of each thread, and its failures */
#include <stdlib.h>

#include "engine/state.h"

/* What one worker holds of shingles made within a batch. */
enum { FETCHED_BYTES = 4 << 20 };

enum nd_status nd_worker_fail(struct nd_worker *w, enum nd_status status, const char *what)
{
    if (w->status)
        return w->status;
    w->status = status;
    return nd_fail(&w->error, status, "%s while %s",
                   status == ND_ENOMEM ? "out of memory" : nd_status_name(status), what);
}

enum nd_status nd_workers_status(struct nd_dedup *d, struct nd_error *err)
{
    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++) {
        if (!d->worker[i].status)
            continue;
        if (err)
            *err = d->worker[i].error;
        return d->worker[i].status;
    }
    return ND_OK;
}

bool nd_workers_new(struct nd_dedup *d, struct nd_error *err)
{
    unsigned n = nd_pool_threads(d->pool);

    d->here = d->worker = calloc(n, sizeof *d->worker);
    for (unsigned i = 0; d->worker && i < n; i++) {
        struct nd_worker *w = &d->worker[i];

        w->text_of = UINT64_MAX;
        w->sketcher = nd_sketcher_new(&d->params.sketch, err);
        w->kept_sketcher = nd_sketcher_new(&d->params.sketch, err);
        w->tokeniser[0] = nd_tokeniser_new();
        w->tokeniser[1] = nd_tokeniser_new();
        w->fetched = nd_shingle_cache_new(FETCHED_BYTES);
        if (!w->sketcher || !w->kept_sketcher)
            return false;
        if (d->matching && !(w->signing = nd_signing_new(d->matching, err)))
            return false;
        if (!w->tokeniser[0] || !w->tokeniser[1] || !w->fetched)
            break;
        if (i == n - 1)
            return true;
    }
    nd_fail(err, ND_ENOMEM, "out of memory for %u workers", n);
    return false;
}

void nd_workers_free(struct nd_dedup *d)
{
    for (unsigned i = 0; d->worker && i < nd_pool_threads(d->pool); i++) {
        struct nd_worker *w = &d->worker[i];

        nd_sketcher_free(w->sketcher);
        nd_sketcher_free(w->kept_sketcher);
        nd_signing_free(w->signing);
        nd_tokeniser_free(w->tokeniser[0]);
        nd_tokeniser_free(w->tokeniser[1]);
        nd_shingle_set_release(&w->set);
        nd_shingle_cache_free(w->fetched);
        nd_candidates_release(&w->met);
        nd_arena_release(&w->held);
    }
    free(d->worker);
}

void nd_worker_begin(struct nd_worker *w)
{
    w->text_of = UINT64_MAX;
    w->status = ND_OK;
}

void nd_workers_begin(struct nd_dedup *d)
{
    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++)
        nd_worker_begin(&d->worker[i]);
}

void nd_workers_forget(struct nd_dedup *d)
{
    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++)
        nd_arena_reset(&d->worker[i].held);
}

/* What the workers made of kept documents' shingles goes to the cache of all. */
void nd_workers_end(struct nd_dedup *d)
{
    for (unsigned i = 0; i < nd_pool_threads(d->pool); i++)
        nd_shingle_cache_move(d->worker[i].fetched, d->cache);
}
