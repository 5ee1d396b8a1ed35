/* stored_pairs.c - which pairs of a new text are stored
 *
 * A text that is near many others would fill the database with pairs.  So of those with the entries of
 * a label set only some are stored: with the first ones, of which those that led come before the
 * others, since they say who leads; and of the rest with the nearest.  What is left out of a label
 * set depends on that set alone, so that whoever sees both sides of a pair sees why it is not there.
 * Each entry that lacks pairs has a gap, which says from which entry on.
 */
#include <stdlib.h>

#include "store/write/writer.h"

/* A hit, and what becomes of its pair. */
struct nd_hit_pair {
    struct nd_near_entry near;
    bool has_led, is_kept;
};

static int compare_places(const void *x, const void *y)
{
    const struct nd_near_entry *a = &((const struct nd_hit_pair *)x)->near;
    const struct nd_near_entry *b = &((const struct nd_hit_pair *)y)->near;

    if (a->set != b->set)
        return a->set < b->set ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* The hits of the search within the threshold, *n of them, in order of label sets and numbers. */
static enum nd_status take_hits(struct nd_writer *w, size_t *n, struct nd_error *err)
{
    *n = 0;
    if (!ND_RESERVE(w->pair, &w->pair_capacity, w->search.n_hits + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory while pairs are stored");
    for (size_t i = 0; i < w->search.n_hits; i++)
        if (!w->search.hit[i].is_below)
            w->pair[(*n)++] = (struct nd_hit_pair){.near = w->search.hit[i], .is_kept = true};
    if (*n)
        qsort(w->pair, *n, sizeof *w->pair, compare_places);
    return ND_OK;
}

static enum nd_status learn_who_led(struct nd_writer *w, struct nd_hit_pair *pair, size_t n,
                                    struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_entry entry = {.has_led = false};

        status = nd_reader_entry(&w->reader, pair[i].near.number, &entry, err);
        pair[i].has_led = entry.has_led;
    }
    return status;
}

static void keep_first(struct nd_hit_pair *pair, size_t n, bool has_led, unsigned *most)
{
    for (size_t i = 0; i < n && *most; i++)
        if (pair[i].has_led == has_led) {
            pair[i].is_kept = true;
            --*most;
        }
}

static void keep_nearest(const struct nd_sketching *sketching, uint64_t n_shingles,
                         struct nd_hit_pair *pair, size_t n, unsigned most)
{
    for (; most; most--) {
        struct nd_hit_pair *best = NULL;

        for (size_t i = 0; i < n; i++)
            if (!pair[i].is_kept &&
                (!best || nd_near_compare(sketching, n_shingles, &pair[i].near, pair[i].near.number,
                                          &best->near, best->near.number) < 0))
                best = &pair[i];
        if (!best)
            return;
        best->is_kept = true;
    }
}

/* Choose among the pairs with the entries of a label set; they are in order of numbers. */
static void choose(const struct nd_writer *w, uint64_t n_shingles, struct nd_hit_pair *pair,
                   size_t n)
{
    unsigned most = w->store->options.pairs_stored, first = most;

    for (size_t i = 0; i < n; i++)
        pair[i].is_kept = false;
    keep_first(pair, n, true, &first);
    keep_first(pair, n, false, &first);
    keep_nearest(&w->store->sketching, n_shingles, pair, n, most);
}

static enum nd_status put_pair(struct nd_writer *w, uint32_t number, uint32_t set,
                               const struct nd_near_entry *near, struct nd_error *err)
{
    const struct nd_pair_row row = {.shared = (uint32_t)near->shared,
                                    .distance = (uint16_t)near->distance,
                                    .identical = (uint8_t)near->identical};

    w->state.n_pairs++;
    return nd_catalog_put_pair(w->reader.txn, number, set, near->number, near->set, &row, err);
}

/* Neither side has the pair. */
static enum nd_status leave_out(struct nd_writer *w, uint32_t number, uint32_t set,
                                const struct nd_near_entry *near, struct nd_error *err)
{
    enum nd_status status =
        nd_catalog_note_gap(w->reader.txn, number, near->set, near->number, err);

    return status == ND_OK ? nd_catalog_note_gap(w->reader.txn, near->number, set, number, err)
                           : status;
}

static enum nd_status put_group(struct nd_writer *w, uint32_t number, struct nd_entry *entry,
                                struct nd_hit_pair *pair, size_t n, struct nd_error *err)
{
    bool is_own_set = pair->near.set == entry->label_set;
    bool is_crowd = n > 2 * (size_t)w->store->options.pairs_stored;
    enum nd_status status = is_own_set || is_crowd ? learn_who_led(w, pair, n, err) : ND_OK;

    for (size_t i = 0; i < n && is_own_set; i++)
        entry->has_led &= !pair[i].has_led;
    if (status == ND_OK && is_crowd)
        choose(w, entry->row.n_shingles, pair, n);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = pair[i].is_kept ? put_pair(w, number, entry->label_set, &pair[i].near, err)
                                 : leave_out(w, number, entry->label_set, &pair[i].near, err);
    return status;
}

enum nd_status nd_writer_put_pairs(struct nd_writer *w, uint32_t number, struct nd_entry *entry,
                                   struct nd_error *err)
{
    size_t n, end;
    enum nd_status status = take_hits(w, &n, err);

    entry->has_led = true;
    for (size_t i = 0; status == ND_OK && i < n; i = end) {
        for (end = i + 1; end < n && w->pair[end].near.set == w->pair[i].near.set;)
            end++;
        status = put_group(w, number, entry, &w->pair[i], end - i, err);
    }
    return status;
}
