/* crowd.c - keys under which so many near documents stand that no more of them are listed there
 *
 * A thousand pages of one template share most of their bands and reach no threshold with one
 * another: each would be a candidate of all later ones.  So a key takes max_checks documents that
 * are candidates of one another, the earliest; a later one is found by its other keys, those of
 * what only it has.  Documents that share the key but could not match do not count, so that who is
 * listed where depends on no document outside of what is connected by possible matches.
 */
#include "engine/state.h"

enum { KEYS_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };

static bool has_limit(const struct nd_dedup *d)
{
    return d->params.candidates == ND_CANDIDATES_MINHASH ||
           d->params.candidates == ND_CANDIDATES_SIMHASH;
}

static void note_full(const struct nd_dedup *d, const uint32_t *full, uint32_t most,
                      struct nd_item *item)
{
    for (unsigned t = 0; t + 1 < d->n_keys; t++)
        if (full[t] >= most)
            item->row.left_out.word[t / 64] |= UINT64_C(1) << t % 64;
}

void nd_item_leave_out(const struct nd_dedup *d, const struct nd_item *batch, struct nd_item *item)
{
    uint32_t full[KEYS_MAX] = {0}, most = d->params.max_checks;

    /* All that stand under its keys and count are its candidates. */
    if (!has_limit(d) || nd_item_candidates(item) < most)
        return;
    nd_index_count_keys(d->index, &item->row, nd_candidates_allowed(d, item->n_shingles), most,
                        full);
    for (unsigned t = 0; t + 1 < d->n_keys; t++)
        for (size_t i = 0; i < item->near_in_batch.count && full[t] < most; i++)
            full[t] += nd_index_will_stand(
                &d->index_params, &batch[item->near_in_batch.at[i].number].row, &item->row, t);
    note_full(d, full, most, item);
}

void nd_item_leave_out_next(const struct nd_dedup *d, struct nd_item *item)
{
    uint32_t full[KEYS_MAX] = {0}, most = d->params.max_checks;

    if (!has_limit(d) || nd_index_count(d->index) < most)
        return;
    nd_index_count_keys(d->index, &item->row, nd_candidates_allowed(d, item->n_shingles), most,
                        full);
    note_full(d, full, most, item);
}

static void count_shared(const struct nd_dedup *d, const struct nd_item *item, uint32_t number,
                         uint32_t *full)
{
    struct nd_table_set shared = nd_index_keys_shared(d->index, &item->row, number);

    for (unsigned i = 0; i < ND_TABLE_SET_WORDS; i++)
        for (; shared.word[i]; shared.word[i] &= shared.word[i] - 1)
            full[64 * i + (unsigned)__builtin_ctzll(shared.word[i])]++;
}

void nd_item_leave_out_joined(const struct nd_dedup *d, struct nd_item *item,
                              const struct nd_candidates *met, const bool *is_joined)
{
    uint32_t all[KEYS_MAX] = {0}, joined[KEYS_MAX] = {0};

    if (!has_limit(d))
        return;
    if (met->count >= ND_JOINED_A_KEY)
        for (size_t i = 0; i < met->count; i++)
            count_shared(d, item, met->at[i].number, is_joined[i] ? joined : all);
    for (unsigned t = 0; t + 1 < d->n_keys; t++)
        all[t] += joined[t];
    note_full(d, joined, ND_JOINED_A_KEY, item);
    note_full(d, all, d->params.max_checks, item);
}
