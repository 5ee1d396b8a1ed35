/* dedup.c - the deduplication engine: made from parameters, counted, freed */
#include <stdlib.h>

#include "engine/engine.h"
#include "engine/params.h"
#include "engine/state.h"

/* What the index of a run over files has room for from the start: 14 MB, whole huge pages, and the
 * first growths that would fill it again.  A program may have an engine for each of its users. */
enum { FIRST_DOCUMENTS = 40000, FIRST_IN_BATCH = 1000 };

/* What the candidates are looked up by, and the parts of a sketch that this needs. */
static enum nd_status plan_index(struct nd_dedup *d, struct nd_error *err)
{
    const struct nd_dedup_params *p = &d->params;

    d->index_params = (struct nd_index_params){0, 0, ND_NO_SIMHASH};
    d->parts = ND_SKETCH_SIMHASH;
    if (p->candidates == ND_CANDIDATES_MATCH) {
        d->matching = nd_matching_new(p->method, err);
        return d->matching ? ND_OK : ND_EINVAL;
    }
    if (p->candidates == ND_CANDIDATES_SIMHASH)
        d->index_params.simhash_bits = p->simhash_bits;
    if (p->candidates != ND_CANDIDATES_MINHASH)
        return ND_OK;
    d->parts |= ND_SKETCH_MINHASH;
    /* A cosine of t takes a resemblance of t^2 at least, a containment may have any. */
    if (p->verify == ND_VERIFY_JACCARD || p->verify == ND_VERIFY_COSINE)
        d->least_equal = nd_low_bytes_agreeing(d->threshold.num, d->threshold.den);
    d->index_params.bands = p->bands;
    d->index_params.rows = p->rows;
    if (p->bands)
        return ND_OK;
    return nd_bands_choose(p->threshold, p->recall, &d->index_params.bands, &d->index_params.rows,
                           err);
}

static enum nd_status make_parts(struct nd_dedup *d, struct nd_error *err)
{
    if (!d->source.fetch) {
        d->texts = nd_texts_new();
        if (!d->texts)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        d->source = nd_texts_source(d->texts);
    }
    d->n_keys = nd_index_key_count(&d->index_params);
    d->index = nd_index_new(&d->index_params, err);
    if (!d->index || !nd_finder_new(d, &d->leaders, err) || !nd_finder_new(d, &d->pending, err))
        return ND_ENOMEM;
    if (d->matching && !(d->signatures = nd_matching_index(d->matching)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    d->cache = nd_shingle_cache_new(d->params.cache_bytes);
    if (!d->cache)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    d->at_hand = d->room = calloc(nd_pool_threads(d->pool), sizeof *d->room);
    d->lending = nd_lending_new(d->pool);
    if (!d->room || !d->lending)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return nd_workers_new(d, err) ? ND_OK : ND_ENOMEM;
}

static struct nd_dedup *make(struct nd_pool *pool, const struct nd_dedup_params *params,
                             const struct nd_text_source *source, struct nd_error *err)
{
    struct nd_dedup *d;

    if (nd_dedup_params_check(params, err))
        return NULL;
    if (source && (!source->fetch || !source->keep)) {
        nd_fail(err, ND_EINVAL, "a text source needs both functions, fetch and keep");
        return NULL;
    }
    d = calloc(1, sizeof *d);
    if (!d) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    d->params = *params;
    d->pool = pool;
    d->threshold = nd_measure_threshold(params->verify, params->threshold);
    if (source)
        d->source = *source;
    if (params->candidates == ND_CANDIDATES_ALL)
        d->params.max_checks = UINT32_MAX;
    if (plan_index(d, err) || make_parts(d, err)) {
        nd_dedup_release(d);
        return NULL;
    }
    return d;
}

struct nd_dedup *nd_dedup_new_on(struct nd_pool *pool, const struct nd_dedup_params *params,
                                 const struct nd_text_source *source, struct nd_error *err)
{
    struct nd_dedup *d = make(pool, params, source, err);

    if (!d || (nd_index_reserve(d->index, FIRST_DOCUMENTS, err) == ND_OK &&
               nd_index_reserve(d->leaders.index, FIRST_IN_BATCH, err) == ND_OK &&
               nd_index_reserve(d->pending.index, FIRST_IN_BATCH, err) == ND_OK))
        return d;
    nd_dedup_release(d);
    return NULL;
}

struct nd_dedup *nd_dedup_new(const struct nd_dedup_params *params,
                              const struct nd_text_source *source, struct nd_error *err)
{
    struct nd_pool *pool = nd_dedup_params_check(params, err) ? NULL
                           : params->pin_threads ? nd_pool_new_pinned(params->threads, err)
                                                 : nd_pool_new(params->threads, err);
    struct nd_dedup *d = pool ? make(pool, params, source, err) : NULL;

    if (d)
        d->owns_pool = true;
    else
        nd_pool_free(pool);
    return d;
}

void nd_dedup_release(struct nd_dedup *d)
{
    nd_workers_free(d);
    for (unsigned i = 0; d->room && i < nd_pool_threads(d->pool); i++) {
        free(d->room[i].item);
        free(d->room[i].key);
        free(d->room[i].link);
        nd_arena_release(&d->room[i].held);
    }
    free(d->room);
    nd_shingle_cache_free(d->cache);
    nd_kept_release(&d->kept);
    nd_finder_free(&d->pending);
    nd_finder_free(&d->leaders);
    nd_index_free(d->index);
    nd_signatures_free(d->signatures);
    nd_matching_free(d->matching);
    nd_components_free(d->components);
    nd_complete_free(d->complete);
    nd_texts_free(d->texts);
    nd_lending_free(d->lending);
    if (d->owns_pool)
        nd_pool_free(d->pool);
    free(d);
}

void nd_dedup_get_stats(const struct nd_dedup *d, struct nd_dedup_stats *out)
{
    const struct nd_index_left_out left_out = nd_index_left_out(d->index);

    *out = d->stats;
    out->crowded_documents = left_out.documents;
    out->crowded_keys = left_out.keys;
    out->bands = d->index_params.bands;
    out->rows = d->index_params.rows;
    out->index_bytes =
        nd_index_bytes(d->index) + (d->signatures ? nd_signatures_bytes(d->signatures) : 0);
}
