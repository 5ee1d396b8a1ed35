/* compare.c - the exact comparison of a document with a candidate */
#include "engine/state.h"

struct nd_index_filter nd_candidates_allowed(const struct nd_dedup *d, uint64_t n_shingles)
{
    struct nd_index_filter filter = {0, UINT32_MAX, d->least_equal};

    if (d->params.verify != ND_VERIFY_NONE)
        nd_measure_range(d->params.verify, n_shingles, d->threshold, &filter.least, &filter.most);
    return filter;
}

/* Documents of earlier batches come before all of this one. */
static bool is_earlier(struct nd_kept_ref x, struct nd_kept_ref y)
{
    return x.in_batch != y.in_batch ? y.in_batch : x.at < y.at;
}

bool nd_hit_is_better(const struct nd_dedup *d, const struct nd_hit *x, const struct nd_hit *y)
{
    int by_measure;

    if (d->params.verify == ND_VERIFY_NONE) {
        bool by_distance = d->index_params.bands == 0 && !d->matching;

        if (by_distance && x->distance != y->distance)
            return x->distance < y->distance;
        if (!by_distance && x->equal != y->equal)
            return x->equal > y->equal;
        return is_earlier(x->kept, y->kept);
    }
    by_measure = nd_fraction_compare(nd_measure(d->params.verify, &x->overlap),
                                     nd_measure(d->params.verify, &y->overlap));
    return by_measure ? by_measure > 0 : is_earlier(x->kept, y->kept);
}

static bool add_hit(struct nd_worker *w, struct nd_item *item, struct nd_hit hit)
{
    void *at = item->hits.at;
    bool ok = nd_array_reserve(&at, &item->hits.capacity, item->hits.count + 1, sizeof hit);

    item->hits.at = at;
    if (!ok) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    item->hits.at[item->hits.count++] = hit;
    return true;
}

uint64_t nd_item_need(const struct nd_dedup *d, const struct nd_item *item, struct nd_kept_ref kept,
                      size_t n)
{
    enum nd_verify verify = d->params.verify;
    uint64_t need = nd_measure_need(verify, item->n_shingles, n, d->threshold, false);

    if (item->may_prune && item->hits.count) {
        const struct nd_hit *best = &item->hits.at[item->hits.count - 1];
        uint64_t more =
            nd_measure_need(verify, item->n_shingles, n, nd_measure(verify, &best->overlap),
                            is_earlier(best->kept, kept));

        need = more > need ? more : need;
    }
    return need > (item->n_shingles < n ? item->n_shingles : n) ? UINT64_MAX : need;
}

bool nd_item_compare(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                     const struct nd_shingle_set *set, struct nd_candidate candidate, bool in_batch,
                     const uint64_t *shingle, size_t n)
{
    struct nd_hit hit = {.kept = {candidate.number, in_batch},
                         .overlap = {.a = item->n_shingles, .b = n},
                         .equal = candidate.equal,
                         .distance = candidate.distance};
    uint64_t need = nd_item_need(d, item, hit.kept, n);

    if (need == UINT64_MAX)
        return true;
    hit.overlap.shared = nd_shingle_set_shared(set, shingle, n, need);
    if (hit.overlap.shared == ND_SHARED_TOO_FEW)
        return true;
    return add_hit(w, item, hit);
}

bool nd_item_accept(struct nd_worker *w, struct nd_item *item, struct nd_candidate candidate,
                    bool in_batch, uint64_t n_shingles)
{
    return add_hit(w, item,
                   (struct nd_hit){.kept = {candidate.number, in_batch},
                                   .overlap = {.a = item->n_shingles, .b = n_shingles},
                                   .equal = candidate.equal,
                                   .distance = candidate.distance});
}

bool nd_item_compare_stored(struct nd_dedup *d, struct nd_worker *w, struct nd_item *item,
                            const struct nd_shingle_set *set, struct nd_candidate candidate)
{
    const uint64_t *shingle;
    size_t n;

    if (d->params.verify == ND_VERIFY_NONE)
        return nd_item_accept(w, item, candidate, false,
                              nd_index_shingles(d->index, candidate.number));
    if (nd_item_need(d, item, (struct nd_kept_ref){candidate.number, false},
                     nd_index_shingles(d->index, candidate.number)) == UINT64_MAX)
        return true; /* its text need not be read */
    if (nd_fetch_shingles(d, w, candidate.number, &shingle, &n))
        return false;
    return nd_item_compare(d, w, item, set, candidate, false, shingle, n);
}

bool nd_item_begin_compare(struct nd_worker *w, const struct nd_item *item)
{
    if (w->in_set == item)
        return true;
    w->in_set = NULL;
    if (!nd_shingle_set_build(&w->set, item->shingle, (size_t)item->n_shingles)) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    w->in_set = item;
    return true;
}

/* In the order in which candidates are checked: the nearest, then by keep order. */
static bool comes_before(const struct nd_dedup *d, struct nd_candidate x, bool x_in_batch,
                         const struct nd_hit *y)
{
    if (d->index_params.bands == 0 && d->params.candidates == ND_CANDIDATES_SIMHASH) {
        if (x.distance != y->distance)
            return x.distance < y->distance;
    } else if (x.equal != y->equal) {
        return x.equal > y->equal;
    }
    return is_earlier((struct nd_kept_ref){x.number, x_in_batch}, y->kept);
}

static size_t rank_of(const struct nd_dedup *d, const struct nd_item *item,
                      const struct nd_hit *hit)
{
    size_t rank = 0;

    for (size_t i = 0; i < item->near.count; i++)
        rank += comes_before(d, item->near.at[i], false, hit);
    for (size_t i = 0; i < item->near_in_batch.count; i++)
        rank += comes_before(d, item->near_in_batch.at[i], true, hit);
    return rank;
}

/* Cheap where the candidates are few, which they nearly always are. */
static bool is_within(const struct nd_dedup *d, const struct nd_item *item,
                      const struct nd_hit *hit, size_t more)
{
    size_t limit = d->params.max_checks;

    if (item->n_near + item->near_in_batch.count + more <= limit)
        return true;
    return rank_of(d, item, hit) + more < limit;
}

bool nd_item_has_hit(const struct nd_dedup *d, const struct nd_item *item, size_t more)
{
    for (size_t i = 0; i < item->hits.count; i++)
        if (is_within(d, item, &item->hits.at[i], more))
            return true;
    return false;
}

const struct nd_hit *nd_item_best_hit(const struct nd_dedup *d, const struct nd_item *item)
{
    const struct nd_hit *best = NULL;

    for (size_t i = 0; i < item->hits.count; i++)
        if (is_within(d, item, &item->hits.at[i], 0) &&
            (!best || nd_hit_is_better(d, &item->hits.at[i], best)))
            best = &item->hits.at[i];
    return best;
}
