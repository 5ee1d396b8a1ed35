/* overflow.c - keys under which so many near documents stand that no more of them are listed there
 *
 * A thousand pages of one template share max of their bands and reach no threshold with one
 * another: each would be a candidate of all later ones.  So a key takes max_checks documents that
 * are candidates of one another, the earliest.  A later one overflows: it is left out of the key,
 * and is found by its other keys, those of what only it has.  Documents that share the key but
 * could not match do not count, so that who is listed where depends on no document outside of what
 * is connected by possible matches.
 *
 * But a document that looks up a key meets all that stand there, to find out which it could match.  So
 * a key takes no more than plan->key_room documents, whether they could match or not.  Documents that
 * share so crowded a key are connected by that, for all who divide documents into parts
 * (candidate_rows.c, met.c).
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

/* How often values occur in the documents of a batch, or more where some fall together. */
struct value_counts {
    uint32_t *n;
    size_t mask;
};

static bool count_values(struct value_counts *counts, const struct nd_item *item,
                         const struct nd_index_row *const *row, size_t n)
{
    size_t total = 0, places = 64;

    for (size_t i = 0; i < n; i++)
        total += row[i] ? item[item[i].first_same].read.content.n_values : 0;
    while (places < 4 * total)
        places *= 2;
    counts->mask = places - 1;
    counts->n = calloc(places, sizeof *counts->n);
    for (size_t i = 0; counts->n && i < n; i++) {
        const struct nd_container_row *content = &item[item[i].first_same].read.content;

        for (uint32_t k = 0; row[i] && k < content->n_values; k++)
            counts->n[content->value[k] & counts->mask]++;
    }
    return counts->n != NULL;
}

/*
 * Whether as many values of an item's sample as must be shared may be full before the batch ends.
 * A list is full if the index has half of its room taken, or the batch takes the other half.
 */
static bool may_fill(const struct nd_engine_plan *plan, const struct nd_item *item, size_t place,
                     const struct value_counts *counts)
{
    const struct nd_item *first = &item[item[place].first_same];
    const struct nd_container_row *content = &first->read.content;
    uint32_t need, k = nd_container_sample(&plan->containers, content, &need),
                   n = first->search.crowd;

    for (uint32_t i = 0; counts->n && i < k && n < need; i++)
        n += counts->n[content->value[i] & counts->mask] > plan->params.max_checks / 2;
    return n >= need;
}

/* Whether a list of those that are left out of full values may fill up. */
static bool overflow_may_fill(const struct nd_kept *kept, const struct nd_item *item,
                              const struct nd_index_row *const *row, const unsigned char *link,
                              size_t n)
{
    size_t n_linked = 0, max_near = 0;

    for (size_t i = 0; i < n; i++) {
        size_t n_near = row[i] ? item[item[i].first_same].search.n_near : 0;

        n_linked += row[i] && link[i];
        max_near = n_near > max_near ? n_near : max_near;
    }
    return n_linked + max_near >= kept->plan->params.max_checks &&
           n_linked + nd_containers_longest(kept->finder.containers, ND_CONTAINERS_OVERFLOW) >=
               kept->plan->params.max_checks;
}

int nd_overflow_may_fill(const struct nd_kept *kept, const struct nd_item *item,
                         const struct nd_index_row *const *row, const unsigned char *link, size_t n)
{
    struct value_counts counts = {NULL, 0};
    int may;

    if (!kept->finder.containers)
        return 0;
    may = overflow_may_fill(kept, item, row, link, n);
    if (!may && n > kept->plan->params.max_checks / 2 && !count_values(&counts, item, row, n))
        may = -1;
    for (size_t i = 0; !may && i < n; i++)
        may = row[i] && may_fill(kept->plan, item, i, &counts);
    free(counts.n);
    return may;
}

enum { KEYS_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };

static bool has_limit(const struct nd_engine_plan *plan)
{
    return plan->params.candidates == ND_CANDIDATES_MINHASH ||
           plan->params.candidates == ND_CANDIDATES_SIMHASH;
}

static void note_full_keys(const struct nd_engine_plan *plan, const uint32_t *full, uint32_t max,
                           struct nd_item *item)
{
    for (unsigned t = 0; t + 1 < plan->n_keys; t++)
        if (full[t] >= max)
            item->read.row.left_out.word[t / 64] |= UINT64_C(1) << t % 64;
}

bool nd_listed_keys_reserve(struct nd_listed_keys *listed, const struct nd_engine_plan *plan,
                            size_t n)
{
    listed->n = 0;
    listed->n_max = n;
    return ND_RESERVE(listed->key, &listed->capacity, (n + 1) * plan->n_keys);
}

/* A key that it is left out of becomes one that nobody has. */
void nd_listed_keys_add(struct nd_listed_keys *listed, const struct nd_engine_plan *plan,
                        const struct nd_index_row *row)
{
    size_t at = listed->n++;

    for (unsigned t = 0; t + 1 < plan->n_keys; t++)
        listed->key[t * listed->n_max + at] =
            row->left_out.word[t / 64] >> t % 64 & 1 ? ~row->key[t] : row->key[t];
}

static uint32_t count_equal_keys(const uint64_t *key, size_t n, uint64_t wanted)
{
    uint32_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += key[i] == wanted;
    return found;
}

/* Leave the item out of the keys that list as many documents as they can. */
static void note_crowded_keys(const struct nd_kept *kept, const struct nd_worker *w,
                              const struct nd_listed_keys *listed, struct nd_item *item)
{
    struct nd_index_row *row = &item->read.row;
    uint32_t room = w->plan->key_room;

    for (unsigned t = 0; t + 1 < w->plan->n_keys && !row->identity_only; t++) {
        uint32_t n =
            !listed ? 0 : count_equal_keys(listed->key + t * listed->n_max, listed->n, row->key[t]);

        if (n >= room || nd_index_lists(kept->finder.index, row, t, room - n))
            row->left_out.word[t / 64] |= UINT64_C(1) << t % 64;
    }
}

static void count_shared(const struct nd_kept *kept, const struct nd_item *item, uint32_t number,
                         uint32_t *full)
{
    struct nd_table_set shared = nd_index_keys_shared(kept->finder.index, &item->read.row, number);

    for (unsigned i = 0; i < ND_TABLE_SET_WORDS; i++)
        for (; shared.word[i]; shared.word[i] &= shared.word[i] - 1)
            full[64 * i + (unsigned)__builtin_ctzll(shared.word[i])]++;
}

/* Count under each key of an item the candidates of the index, up to `max`: where documents have
 * labels, those that may stand for it. */
static bool count_candidates(const struct nd_kept *kept, struct nd_worker *w,
                             const struct nd_item *item, uint32_t max, uint32_t *full)
{
    if (!kept->finder.n_labelled) {
        nd_index_count_keys(kept->finder.index, &item->read.row,
                            nd_engine_plan_reach(w->plan, item->read.n_shingles), max, full);
        return true;
    }
    if (!nd_finder_candidates(&kept->finder, w, item))
        return false;
    for (size_t i = 0; i < w->found.count; i++)
        count_shared(kept, item, w->found.items[i].number, full);
    return true;
}

/* Leave it out of those that list max_checks of its candidates. */
static bool note_keys_of_candidates(const struct nd_kept *kept, struct nd_worker *w,
                                    const struct nd_item *batch, struct nd_item *item)
{
    uint32_t full[KEYS_MAX] = {0}, max = w->plan->params.max_checks;
    const struct nd_candidates *near = &item->search.near_in_batch;

    if (!count_candidates(kept, w, item, max, full))
        return false;
    for (unsigned t = 0; t + 1 < w->plan->n_keys; t++)
        for (size_t i = 0; batch && i < near->count && full[t] < max; i++)
            full[t] += nd_index_will_stand(&w->plan->index, &batch[near->items[i].number].read.row,
                                           &item->read.row, t);
    note_full_keys(w->plan, full, max, item);
    return true;
}

bool nd_overflow_note(const struct nd_kept *kept, struct nd_worker *w, const struct nd_item *batch,
                      const struct nd_listed_keys *listed, struct nd_item *item)
{
    /* All that stand under its keys and count are its candidates. */
    if (kept->finder.containers)
        return note_values(kept, w, batch, item);
    if (!has_limit(w->plan))
        return true;
    if (nd_item_candidates(item) >= w->plan->params.max_checks &&
        !note_keys_of_candidates(kept, w, batch, item))
        return false;
    if (item->search.crowd + (listed ? listed->n : 0) >= w->plan->key_room)
        note_crowded_keys(kept, w, listed, item);
    return true;
}

bool nd_overflow_note_next(const struct nd_kept *kept, struct nd_worker *w, struct nd_item *item)
{
    size_t n = nd_index_count(kept->finder.index);

    if (kept->finder.containers)
        return note_values_next(kept, w, item);
    if (has_limit(w->plan) && n >= w->plan->params.max_checks &&
        !note_keys_of_candidates(kept, w, NULL, item))
        return false;
    if (has_limit(w->plan) && n >= w->plan->key_room)
        note_crowded_keys(kept, w, NULL, item);
    return true;
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
    if (w->crowd >= w->plan->key_room)
        note_crowded_keys(kept, w, NULL, item);
    return true;
}
