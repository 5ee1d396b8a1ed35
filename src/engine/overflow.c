/* overflow.c - keys under which so many near documents stand that no more of them are listed there
 *
 * A thousand pages of one template share max of their bands and reach no threshold with one
 * another: each would be a candidate of all later ones.  So a key takes max_checks documents that
 * are candidates of one another, the earliest.  A later one overflows: it is left out of the key,
 * and is found by its other keys, those of what only it has.  Documents that share the key but
 * could not match do not count, so that who is listed where depends on no document outside of what
 * is connected by possible matches.
 *
 * A key is that of a band or a block of the simhash; or, where candidates are found by samples of
 * shingles, the 32-bit value of a shingle.
 */
#include "engine/overflow.h"

#include <stdlib.h>

/* A count for each value of the item.  NULL: the worker has the error. */
static uint32_t *begin_counts(struct nd_worker *w, const struct nd_item *item)
{
    uint32_t *full = calloc(item->read.content.n_values + 1, sizeof *full);

    if (!full)
        nd_worker_fail(w, ND_ENOMEM, "listing a document");
    return full;
}

/* Leave the item out of the values under which `max` documents stand. */
static bool note_full_values(struct nd_worker *w, const uint32_t *full, uint32_t max,
                             struct nd_item *item)
{
    size_t n = item->read.content.n_values, words = n / 64 + 1;
    uint64_t *left_out = (uint64_t *)item->read.content.left_out;

    for (size_t i = 0; i < n; i++) {
        if (full[i] < max)
            continue;
        if (!left_out) {
            left_out = nd_arena_alloc(&w->held, words * sizeof *left_out);
            if (!left_out) {
                nd_worker_fail(w, ND_ENOMEM, "listing a document");
                return false;
            }
            for (size_t word = 0; word < words; word++)
                left_out[word] = 0;
            item->read.content.left_out = left_out;
        }
        left_out[i / 64] |= UINT64_C(1) << i % 64;
    }
    return true;
}

/* Count all candidates that are indexed; the item itself keeps the nearest only. */
static void count_indexed(const struct nd_kept *kept, const struct nd_worker *w,
                          const struct nd_item *item, uint32_t *full)
{
    const struct nd_candidates *met = &w->found;

    for (size_t i = 0; i < met->count; i++)
        nd_containers_count(kept->finder.containers, &item->read.content, met->items[i].number,
                            full);
}

static bool note_values(const struct nd_kept *kept, struct nd_worker *w,
                        const struct nd_item *batch, struct nd_item *item)
{
    const struct nd_candidates *near = &item->search.near_in_batch;
    uint32_t *full;
    bool ok;

    if (nd_item_candidates(item) < w->plan->params.max_checks)
        return true;
    full = begin_counts(w, item);
    ok = full && nd_finder_candidates(&kept->finder, w, item);
    if (ok)
        count_indexed(kept, w, item, full);
    for (size_t i = 0; ok && i < near->count; i++)
        if (near->items[i].equal != ND_SCORE_NONE)
            nd_container_row_count(&w->plan->containers, &item->read.content,
                                   &batch[near->items[i].number].read.content, full);
    ok = ok && note_full_values(w, full, w->plan->params.max_checks, item);
    free(full);
    return ok;
}

static bool note_values_next(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    uint32_t *full;
    bool ok;

    if (kept->n < w->plan->params.max_checks)
        return true;
    if (!nd_finder_candidates(&kept->finder, w, item))
        return false;
    if (w->found.count < w->plan->params.max_checks)
        return true;
    full = begin_counts(w, item);
    if (full)
        count_indexed(kept, w, item, full);
    ok = full && note_full_values(w, full, w->plan->params.max_checks, item);
    free(full);
    return ok;
}

static bool note_values_joined(const struct nd_kept *kept, struct nd_worker *w,
                               struct nd_item *item, const bool *is_joined)
{
    const struct nd_candidates *met = &w->found;
    uint32_t *all, *joined;
    bool ok;

    if (met->count < ND_JOINED_A_KEY)
        return true;
    all = begin_counts(w, item);
    joined = begin_counts(w, item);
    ok = all && joined;
    for (size_t i = 0; ok && i < met->count; i++) {
        nd_containers_count(kept->finder.containers, &item->read.content, met->items[i].number,
                            all);
        if (is_joined[i])
            nd_containers_count(kept->finder.containers, &item->read.content, met->items[i].number,
                                joined);
    }
    ok = ok && note_full_values(w, joined, ND_JOINED_A_KEY, item) &&
         note_full_values(w, all, w->plan->params.max_checks, item);
    free(all);
    free(joined);
    return ok;
}

enum { KEYS_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };

static bool has_limit(const struct nd_plan *plan)
{
    return plan->params.candidates == ND_CANDIDATES_MINHASH ||
           plan->params.candidates == ND_CANDIDATES_SIMHASH;
}

static void note_full_keys(const struct nd_plan *plan, const uint32_t *full, uint32_t max,
                           struct nd_item *item)
{
    for (unsigned t = 0; t + 1 < plan->n_keys; t++)
        if (full[t] >= max)
            item->read.row.left_out.word[t / 64] |= UINT64_C(1) << t % 64;
}

bool nd_overflow_note(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *batch,
                      struct nd_item *item)
{
    uint32_t full[KEYS_MAX] = {0}, max = w->plan->params.max_checks;

    /* All that stand under its keys and count are its candidates. */
    if (kept->finder.containers)
        return note_values(kept, w, batch, item);
    if (!has_limit(w->plan) || nd_item_candidates(item) < max)
        return true;
    nd_index_count_keys(kept->finder.index, &item->read.row,
                        nd_plan_filter(w->plan, item->read.n_shingles), max, full);
    for (unsigned t = 0; t + 1 < w->plan->n_keys; t++)
        for (size_t i = 0; i < item->search.near_in_batch.count && full[t] < max; i++)
            full[t] += nd_index_will_stand(
                &w->plan->index, &batch[item->search.near_in_batch.items[i].number].read.row,
                &item->read.row, t);
    note_full_keys(w->plan, full, max, item);
    return true;
}

bool nd_overflow_note_next(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    uint32_t full[KEYS_MAX] = {0}, max = w->plan->params.max_checks;

    if (kept->finder.containers)
        return note_values_next(kept, w, item);
    if (!has_limit(w->plan) || nd_index_count(kept->finder.index) < max)
        return true;
    nd_index_count_keys(kept->finder.index, &item->read.row,
                        nd_plan_filter(w->plan, item->read.n_shingles), max, full);
    note_full_keys(w->plan, full, max, item);
    return true;
}

static void count_shared(const struct nd_kept *kept, const struct nd_item *item, uint32_t number,
                         uint32_t *full)
{
    struct nd_table_set shared = nd_index_keys_shared(kept->finder.index, &item->read.row, number);

    for (unsigned i = 0; i < ND_TABLE_SET_WORDS; i++)
        for (; shared.word[i]; shared.word[i] &= shared.word[i] - 1)
            full[64 * i + (unsigned)__builtin_ctzll(shared.word[i])]++;
}

bool nd_overflow_note_joined(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item,
                             const bool *is_joined)
{
    const struct nd_candidates *met = &w->found;
    uint32_t all[KEYS_MAX] = {0}, joined[KEYS_MAX] = {0};

    if (kept->finder.containers)
        return note_values_joined(kept, w, item, is_joined);
    if (!has_limit(w->plan))
        return true;
    if (met->count >= ND_JOINED_A_KEY)
        for (size_t i = 0; i < met->count; i++)
            count_shared(kept, item, met->items[i].number, is_joined[i] ? joined : all);
    for (unsigned t = 0; t + 1 < w->plan->n_keys; t++)
        all[t] += joined[t];
    note_full_keys(w->plan, joined, ND_JOINED_A_KEY, item);
    note_full_keys(w->plan, all, w->plan->params.max_checks, item);
    return true;
}
