/* leaders.c - who leads, for a caller: found anew for each answer, from pairs that the caller sees */
#include "store/search/leaders.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "match/measure.h"

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory while finding a leader");
}

uint64_t nd_order_next(uint64_t next_order, uint32_t next_entry)
{
    uint64_t least = (uint64_t)next_entry << 32;

    return next_order > least ? next_order : least;
}

void nd_leaders_release(struct nd_leaders *leaders)
{
    free(leaders->memo);
    free(leaders->frame);
    free(leaders->hit);
}

/* A table that one answer made large is not cleared for each one after it. */
void nd_leaders_begin(struct nd_leaders *leaders, struct nd_txn *txn, const uint32_t *sets,
                      size_t n_sets)
{
    enum { PLACES_KEPT = 1024 };

    if (leaders->n_places > PLACES_KEPT) {
        free(leaders->memo);
        leaders->memo = NULL;
        leaders->n_places = 0;
    } else if (leaders->n_memo) {
        memset(leaders->memo, 0, leaders->n_places * sizeof *leaders->memo);
    }
    leaders->n_memo = leaders->n_frames = leaders->n_hits = 0;
    leaders->txn = txn;
    leaders->sets = sets;
    leaders->n_sets = n_sets;
    leaders->n_pairs = leaders->n_read = 0;
    leaders->most = ND_STORE_PAIRS_OF_SET;
    leaders->was_cut = false;
    leaders->without = leaders->absent = ND_NO_ENTRY;
}

/* ---- The first document with a text ---- */

/* 1, 0: there is none, < 0. */
static int first_holder(const struct nd_leaders *leaders, uint32_t entry, uint64_t *order,
                        struct nd_view *id, struct nd_error *err)
{
    int found;

    *order = 0;
    found = nd_catalog_next_holder(leaders->txn, entry, order, id, err);
    if (found <= 0 || entry != leaders->without || *order != leaders->without_order)
        return found;
    ++*order;
    return nd_catalog_next_holder(leaders->txn, entry, order, id, err);
}

enum nd_status nd_leaders_first(struct nd_leaders *leaders, uint32_t entry, uint64_t *order,
                                struct nd_view *id, struct nd_error *err)
{
    int found = first_holder(leaders, entry, order, id, err);

    if (found == 0)
        return nd_fail(err, ND_EINPUT, "no document has the text of entry %lu",
                       (unsigned long)entry);
    return found < 0 ? (enum nd_status)found : ND_OK;
}

enum nd_status nd_leaders_leave_out(struct nd_leaders *leaders, uint32_t entry, uint64_t order,
                                    struct nd_error *err)
{
    struct nd_view id;
    uint64_t next;
    int found;

    leaders->without = entry;
    leaders->without_order = order;
    found = first_holder(leaders, entry, &next, &id, err);
    if (found == 0)
        leaders->absent = entry;
    return found < 0 ? (enum nd_status)found : ND_OK;
}

/* ---- What is remembered ---- */

static struct nd_leaders_memo *place_of(struct nd_leaders_memo *memo, size_t n_places,
                                        uint32_t entry)
{
    size_t place = (size_t)nd_mix64(entry) & (n_places - 1);

    while (memo[place].entry_plus_1 && memo[place].entry_plus_1 != entry + 1)
        place = (place + 1) & (n_places - 1);
    return &memo[place];
}

static bool grow_memo(struct nd_leaders *leaders)
{
    size_t n_places = leaders->n_places ? 2 * leaders->n_places : 64;
    struct nd_leaders_memo *memo = calloc(n_places, sizeof *memo);

    if (!memo)
        return false;
    for (size_t i = 0; i < leaders->n_places; i++)
        if (leaders->memo[i].entry_plus_1)
            *place_of(memo, n_places, leaders->memo[i].entry_plus_1 - 1) = leaders->memo[i];
    free(leaders->memo);
    leaders->memo = memo;
    leaders->n_places = n_places;
    return true;
}

/* The memo of an entry, with its order; valid until the next call.  NULL: *status. */
static struct nd_leaders_memo *remember(struct nd_leaders *leaders, uint32_t entry,
                                        enum nd_status *status, struct nd_error *err)
{
    struct nd_leaders_memo *memo;
    struct nd_view id;
    uint64_t order;

    *status = ND_ENOMEM;
    if (2 * (leaders->n_memo + 1) > leaders->n_places && !grow_memo(leaders)) {
        no_memory(err);
        return NULL;
    }
    memo = place_of(leaders->memo, leaders->n_places, entry);
    if (memo->entry_plus_1)
        return memo;
    *status = nd_leaders_first(leaders, entry, &order, &id, err);
    if (*status != ND_OK)
        return NULL;
    *memo = (struct nd_leaders_memo){.entry_plus_1 = entry + 1, .leads = -1, .order = order};
    leaders->n_memo++;
    return memo;
}

enum nd_status nd_leaders_order(struct nd_leaders *leaders, uint32_t entry, uint64_t *order,
                                struct nd_error *err)
{
    enum nd_status status;
    const struct nd_leaders_memo *memo = remember(leaders, entry, &status, err);

    if (!memo)
        return status;
    *order = memo->order;
    return ND_OK;
}

/* ---- Pairs ---- */

struct nd_pair_scan nd_pair_scan_begin(uint32_t entry, uint32_t bound)
{
    return (struct nd_pair_scan){.entry = entry, .bound = bound, .counted = UINT32_MAX};
}

/* Go on with the first set from here that the caller sees.  False: there is none. */
static bool skip_to_visible(const struct nd_leaders *leaders, struct nd_pair_scan *scan)
{
    while (scan->at < leaders->n_sets && leaders->sets[scan->at] < scan->set)
        scan->at++;
    if (scan->at == leaders->n_sets)
        return false;
    if (leaders->sets[scan->at] > scan->set) {
        scan->set = leaders->sets[scan->at];
        scan->other = 0;
    }
    return true;
}

/* Whether one more pair may be read. */
static bool may_read(struct nd_leaders *leaders, struct nd_pair_scan *scan)
{
    if (scan->counted != scan->set)
        scan->n = 0;
    scan->counted = scan->set;
    if (scan->n == leaders->most)
        return false;
    scan->n++;
    leaders->n_pairs++;
    leaders->n_read++;
    return true;
}

/* The pair that was read is read again later. */
static void put_back(struct nd_leaders *leaders, struct nd_pair_scan *scan)
{
    leaders->n_pairs--;
    scan->n--;
}

int nd_pair_scan_next(struct nd_leaders *leaders, struct nd_pair_scan *scan,
                      struct nd_pair_row *row, struct nd_error *err)
{
    while (skip_to_visible(leaders, scan)) {
        uint32_t set = scan->set;
        int found =
            nd_catalog_next_pair(leaders->txn, scan->entry, &scan->set, &scan->other, row, err);

        if (found <= 0)
            return found;
        if (leaders->n_read >= ND_STORE_PAIRS) {
            scan->has_gap = true;
            return 0;
        }
        if (scan->set != set)
            continue; /* perhaps not a visible one */
        if (row->identical == ND_PAIR_GAP) {
            scan->has_gap |= row->shared < scan->bound;
            scan->set++;
            scan->other = 0;
            continue;
        }
        if (scan->other >= scan->bound) {
            scan->other = UINT32_MAX; /* where a gap would be */
            continue;
        }
        if (scan->other == leaders->absent) {
            scan->other++;
            continue;
        }
        if (may_read(leaders, scan))
            return 1;
        scan->has_gap = true;
        scan->set++;
        scan->other = 0;
    }
    return 0;
}

/* ---- Who leads ---- */

static uint32_t bound_of(uint64_t order)
{
    return (uint32_t)(order >> 32);
}

static bool push_frame(struct nd_leaders *leaders, uint32_t entry, uint64_t order)
{
    if (!ND_RESERVE(leaders->frame, &leaders->frame_capacity, leaders->n_frames + 1))
        return false;
    leaders->frame[leaders->n_frames].scan = nd_pair_scan_begin(entry, bound_of(order));
    leaders->frame[leaders->n_frames++].order = order;
    return true;
}

/* An entry is decided: so may be the one that waits for it. */
static void pop_frame(struct nd_leaders *leaders, bool leads)
{
    uint32_t entry = leaders->frame[--leaders->n_frames].scan.entry;

    place_of(leaders->memo, leaders->n_places, entry)->leads = leads;
}

/* Look at the next pair of the entry on top, or at the one that was decided meanwhile. */
static enum nd_status step(struct nd_leaders *leaders, struct nd_error *err)
{
    struct nd_pair_scan *scan = &leaders->frame[leaders->n_frames - 1].scan;
    uint64_t order = leaders->frame[leaders->n_frames - 1].order;
    const struct nd_leaders_memo *memo;
    struct nd_pair_row row;
    enum nd_status status;
    uint32_t other;
    int found = nd_pair_scan_next(leaders, scan, &row, err);

    if (found < 0)
        return (enum nd_status)found;
    if (!found) {
        leaders->was_cut |= scan->has_gap;
        pop_frame(leaders, true);
        return ND_OK;
    }
    other = scan->other;
    memo = remember(leaders, other, &status, err);
    if (!memo)
        return status;
    if (memo->order < order && memo->leads < 0) {
        put_back(leaders, scan); /* until the other is decided */
        return push_frame(leaders, other, memo->order) ? ND_OK : no_memory(err);
    }
    if (memo->order < order && memo->leads)
        pop_frame(leaders, false);
    else
        scan->other++;
    return ND_OK;
}

int nd_leaders_leads(struct nd_leaders *leaders, uint32_t entry, struct nd_error *err)
{
    enum nd_status status;
    const struct nd_leaders_memo *memo = remember(leaders, entry, &status, err);

    if (!memo)
        return (int)status;
    if (memo->leads >= 0)
        return memo->leads;
    leaders->n_frames = 0;
    if (!push_frame(leaders, entry, memo->order))
        return (int)no_memory(err);
    while (leaders->n_frames) {
        status = step(leaders, err);
        if (status != ND_OK)
            return (int)status;
    }
    return place_of(leaders->memo, leaders->n_places, entry)->leads;
}

enum nd_status nd_leaders_neighbours(struct nd_leaders *leaders, uint32_t entry, uint64_t before,
                                     struct nd_error *err)
{
    struct nd_pair_scan scan =
        nd_pair_scan_begin(entry, before == UINT64_MAX ? UINT32_MAX : bound_of(before));
    uint64_t order_of_other = 0;
    struct nd_pair_row row;
    struct nd_entry other;
    enum nd_status status = ND_OK;
    int found = 0;

    leaders->n_hits = 0;
    for (; status == ND_OK && (found = nd_pair_scan_next(leaders, &scan, &row, err)) == 1;
         scan.other++) {
        status = nd_leaders_order(leaders, scan.other, &order_of_other, err);
        if (status != ND_OK || order_of_other >= before)
            continue;
        found = nd_catalog_get_entry(leaders->txn, scan.other, &other, err);
        if (found < 0)
            return (enum nd_status)found;
        if (!ND_RESERVE(leaders->hit, &leaders->hit_capacity, leaders->n_hits + 1))
            return no_memory(err);
        leaders->hit[leaders->n_hits++] =
            (struct nd_near_entry){.number = scan.other,
                                   .set = scan.set,
                                   .identical = (enum nd_identical)row.identical,
                                   .n_shingles = other.row.n_shingles,
                                   .shared = row.shared,
                                   .distance = row.distance};
    }
    leaders->was_cut |= scan.has_gap;
    return status != ND_OK ? status : (enum nd_status)found;
}

/* ---- The nearest leader ---- */

static int compare_orders(uint64_t x, uint64_t y)
{
    return x < y ? -1 : x > y;
}

int nd_near_compare(const struct nd_sketching *sketching, uint64_t n_shingles,
                    const struct nd_near_entry *x, uint64_t order_of_x,
                    const struct nd_near_entry *y, uint64_t order_of_y)
{
    static const int class[] = {
        [ND_IDENTICAL_BYTES] = 0, [ND_IDENTICAL_TOKENS] = 1, [ND_IDENTICAL_NO] = 2};
    enum nd_verify verify = sketching->rows.plan.params.verify;
    int nearer = class[x->identical] - class[y->identical];

    if (nearer)
        return nearer;
    if (x->identical != ND_IDENTICAL_NO)
        return compare_orders(order_of_x, order_of_y);
    if (nd_sketching_reads_shingles(sketching)) {
        struct nd_overlap of_x = {n_shingles, x->n_shingles, x->shared};
        struct nd_overlap of_y = {n_shingles, y->n_shingles, y->shared};

        nearer = nd_fraction_compare(nd_measure(verify, &of_y), nd_measure(verify, &of_x));
    } else if (nd_sketching_signs(sketching)) {
        nearer = x->shared > y->shared ? -1 : x->shared < y->shared;
    } else {
        nearer = x->distance < y->distance ? -1 : x->distance > y->distance;
    }
    return nearer ? nearer : compare_orders(order_of_x, order_of_y);
}

int nd_leaders_choose(struct nd_leaders *leaders, const struct nd_sketching *sketching,
                      uint64_t n_shingles, const struct nd_near_entry *hit, size_t n,
                      uint64_t before, struct nd_near_entry *best, struct nd_error *err)
{
    uint64_t order = 0, order_of_best = 0;
    bool has_best = false;

    for (size_t i = 0; i < n; i++) {
        enum nd_status status =
            hit[i].is_below ? ND_OK : nd_leaders_order(leaders, hit[i].number, &order, err);
        int leads;

        if (hit[i].is_below)
            continue;
        if (status != ND_OK)
            return (int)status;
        if (order >= before || (has_best && nd_near_compare(sketching, n_shingles, best,
                                                            order_of_best, &hit[i], order) < 0))
            continue;
        leads = nd_leaders_leads(leaders, hit[i].number, err);
        if (leads < 0)
            return leads;
        if (!leads)
            continue;
        *best = hit[i];
        order_of_best = order;
        has_best = true;
    }
    return has_best;
}

/* Documents with the text of a leader follow it, as nothing is nearer. */
int nd_leaders_of(struct nd_leaders *leaders, const struct nd_sketching *sketching,
                  const struct nd_near_entry *own, uint64_t order, struct nd_near_entry *best,
                  struct nd_error *err)
{
    uint64_t first = 0;
    enum nd_status status = nd_leaders_order(leaders, own->number, &first, err);
    int leads = status == ND_OK && first < order ? nd_leaders_leads(leaders, own->number, err) : 0;

    if (status != ND_OK || leads < 0)
        return status != ND_OK ? (int)status : leads;
    if (leads) {
        *best = *own;
        return 1;
    }
    status = nd_leaders_neighbours(leaders, own->number, order, err);
    if (status != ND_OK)
        return (int)status;
    return nd_leaders_choose(leaders, sketching, own->n_shingles, leaders->hit, leaders->n_hits,
                             order, best, err);
}
