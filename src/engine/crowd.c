/* crowd.c - keys under which so many near documents stand that no more of them are listed there
 *
 * A thousand pages of one template share most of their bands and reach no threshold with one
 * another: each would be a candidate of all later ones.  So a key takes max_checks documents that
 * are candidates of one another, the earliest; a later one is found by its other keys, those of
 * what only it has.  Documents that share the key but could not match do not count, so that who is
 * listed where depends on no document outside of what is connected by possible matches.
 */
#include "engine/state.h"

static bool has_limit(const struct nd_dedup *d)
{
    return d->params.candidates == ND_CANDIDATES_MINHASH ||
           d->params.candidates == ND_CANDIDATES_SIMHASH;
}

void nd_item_leave_out(const struct nd_dedup *d, const struct nd_item *batch, struct nd_item *item)
{
    uint32_t full[ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2] = {0}, most = d->params.max_checks;

    /* All that stand under its keys and count are its candidates. */
    if (!has_limit(d) || nd_item_candidates(item) < most)
        return;
    nd_index_count_keys(d->index, &item->row, nd_candidates_allowed(d, item->n_shingles), most,
                        full);
    for (unsigned t = 0; t + 1 < d->n_keys; t++) {
        for (size_t i = 0; i < item->near_in_batch.count && full[t] < most; i++)
            full[t] += nd_index_will_stand(
                &d->index_params, &batch[item->near_in_batch.at[i].number].row, &item->row, t);
        if (full[t] >= most)
            item->row.left_out.word[t / 64] |= UINT64_C(1) << t % 64;
    }
}
