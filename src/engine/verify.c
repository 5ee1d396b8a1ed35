/* verify.c - the exact comparison of a document with a candidate, and which hit is the best */
#include "engine/verify.h"

#include <neardup/compare.h>

/* Documents of earlier batches come before all of this one. */
static bool is_earlier(struct nd_kept_ref x, struct nd_kept_ref y)
{
    return x.in_batch != y.in_batch ? y.in_batch : x.number < y.number;
}

bool nd_hit_is_better(const struct nd_engine_plan *plan, const struct nd_hit *x,
                      const struct nd_hit *y)
{
    int by_measure;

    if (x->is_equal != y->is_equal)
        return x->is_equal;
    if (plan->params.verify == ND_VERIFY_NONE) {
        bool by_distance = plan->index.bands == 0 && !plan->matching;

        if (by_distance && x->distance != y->distance)
            return x->distance < y->distance;
        if (!by_distance && x->equal != y->equal)
            return x->equal > y->equal;
        return is_earlier(x->kept, y->kept);
    }
    by_measure = nd_fraction_compare(nd_measure(plan->params.verify, &x->overlap),
                                     nd_measure(plan->params.verify, &y->overlap));
    return by_measure ? by_measure > 0 : is_earlier(x->kept, y->kept);
}

static bool add_hit(struct nd_worker *w, struct nd_item *item, struct nd_hit hit)
{
    struct nd_item_search *search = &item->search;

    if (!ND_RESERVE(search->hits, &search->hits_capacity, search->n_hits + 1)) {
        nd_worker_fail(w, ND_ENOMEM, "comparing documents");
        return false;
    }
    search->hits[search->n_hits++] = hit;
    return true;
}

bool nd_item_note_equal(struct nd_worker *w, struct nd_item *item, uint32_t number)
{
    uint64_t n = item->read.n_shingles;

    return add_hit(
        w, item, (struct nd_hit){.kept = {number, false}, .overlap = {n, n, n}, .is_equal = true});
}

/*
 * How many shingles the item must share with a kept document of n for a hit that counts: one that
 * reaches the threshold and, if the item may prune, is better than the best so far.  UINT64_MAX:
 * more than either has.  The best so far is the last one, as each is noted only if it is better.
 */
static uint64_t needed_shared(const struct nd_engine_plan *plan, const struct nd_item *item,
                              struct nd_kept_ref kept, size_t n)
{
    enum nd_verify verify = plan->params.verify;
    uint64_t need = nd_measure_need(verify, item->read.n_shingles, n, plan->threshold, false);

    if (item->search.may_prune && item->search.n_hits) {
        const struct nd_hit *best = &item->search.hits[item->search.n_hits - 1];
        uint64_t more =
            nd_measure_need(verify, item->read.n_shingles, n, nd_measure(verify, &best->overlap),
                            is_earlier(best->kept, kept));

        need = more > need ? more : need;
    }
    return need > (item->read.n_shingles < n ? item->read.n_shingles : n) ? UINT64_MAX : need;
}

/*
 * Whether the item and a candidate, `other` or the kept document of that number, are forms filled in
 * differently.  False, and the worker has the error: one of them has no text, or memory is short.
 */
static bool is_other_form(const struct nd_kept *kept, struct nd_worker *w,
                          const struct nd_item *item, const struct nd_item *other, uint32_t number)
{
    struct nd_view text = other ? other->text : (struct nd_view){NULL, 0};
    struct nd_difference differs = {.by = ND_DIFFERS_NOTHING};
    enum nd_status status;

    if (item->sketched || (other ? other->sketched != NULL : nd_kept_has_no_text(kept, number))) {
        nd_worker_fail(w, ND_EUNSUPPORTED, "comparing forms, for which both texts are needed");
        return false;
    }
    if (!other && nd_fetch_text(kept, w, number, &text))
        return false;
    status = nd_difference_of(item->text, text, &differs, NULL);
    if (status != ND_OK)
        nd_worker_fail(w, status, "comparing forms");
    return nd_forms_apart(w->plan->params.forms, differs.by);
}

/* Note a hit that reaches the threshold, unless the two documents are forms filled in differently. */
static bool note_hit(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                     const struct nd_item *other, struct nd_hit hit)
{
    if (w->plan->params.forms != ND_FORMS_NONE &&
        is_other_form(kept, w, item, other, hit.kept.number))
        return true;
    return w->status == ND_OK && add_hit(w, item, hit);
}

bool nd_item_compare(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                     const struct nd_shingle_set *set, struct nd_candidate candidate,
                     const struct nd_item *batch)
{
    const struct nd_item *other = batch ? &batch[candidate.number] : NULL;
    size_t n = other ? (size_t)other->read.n_shingles
                     : nd_index_shingles(kept->finder.index, candidate.number);
    struct nd_hit hit = {.kept = {candidate.number, batch != NULL},
                         .overlap = {.a = item->read.n_shingles, .b = n},
                         .equal = candidate.equal,
                         .distance = candidate.distance};
    const uint64_t *shingle;
    uint64_t need;

    if (w->plan->params.verify == ND_VERIFY_NONE)
        return note_hit(kept, w, item, other, hit);
    need = needed_shared(w->plan, item, hit.kept, n);
    if (need == UINT64_MAX)
        return true; /* its text need not be read */
    if (other ? !nd_item_shingles(w, other, &shingle, &n)
              : nd_fetch_shingles(kept, w, candidate.number, &shingle, &n) != ND_OK)
        return false;
    hit.overlap.b = n;
    hit.overlap.shared = nd_shingle_set_shared(set, shingle, n, need);
    return hit.overlap.shared == ND_SHARED_TOO_FEW || note_hit(kept, w, item, other, hit);
}

/* In the order in which candidates are checked: the nearest, then by keep order. */
static bool comes_before(const struct nd_engine_plan *plan, struct nd_candidate x, bool x_in_batch,
                         const struct nd_hit *y)
{
    if (plan->index.bands == 0 && plan->params.candidates == ND_CANDIDATES_SIMHASH) {
        if (x.distance != y->distance)
            return x.distance < y->distance;
    } else if (x.equal != y->equal) {
        return x.equal > y->equal;
    }
    return is_earlier((struct nd_kept_ref){x.number, x_in_batch}, y->kept);
}

static size_t rank_of(const struct nd_engine_plan *plan, const struct nd_item *item,
                      const struct nd_hit *hit)
{
    size_t rank = 0;

    for (size_t i = 0; i < item->search.near.count; i++)
        rank += comes_before(plan, item->search.near.items[i], false, hit);
    for (size_t i = 0; i < item->search.near_in_batch.count; i++)
        rank += comes_before(plan, item->search.near_in_batch.items[i], true, hit);
    return rank;
}

/* Cheap where the candidates are few, which they nearly always are. */
static bool is_within(const struct nd_engine_plan *plan, const struct nd_item *item,
                      const struct nd_hit *hit, size_t more)
{
    size_t limit = plan->params.max_checks;

    if (item->search.n_near + item->search.near_in_batch.count + more <= limit)
        return true;
    return rank_of(plan, item, hit) + more < limit;
}

bool nd_item_has_hit(const struct nd_engine_plan *plan, const struct nd_item *item, size_t more)
{
    for (size_t i = 0; i < item->search.n_hits; i++)
        if (is_within(plan, item, &item->search.hits[i], more))
            return true;
    return false;
}

const struct nd_hit *nd_item_best_hit(const struct nd_engine_plan *plan, const struct nd_item *item)
{
    const struct nd_hit *best = NULL;

    for (size_t i = 0; i < item->search.n_hits; i++)
        if (is_within(plan, item, &item->search.hits[i], 0) &&
            (!best || nd_hit_is_better(plan, &item->search.hits[i], best)))
            best = &item->search.hits[i];
    return best;
}
