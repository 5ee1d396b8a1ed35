/* leaders.h - who leads, for a caller: found anew for each answer, from pairs that the caller sees */
#ifndef ND_STORE_SEARCH_LEADERS_H
#define ND_STORE_SEARCH_LEADERS_H

#include <stdbool.h>
#include <stdint.h>

#include "store/catalog/catalog.h"
#include "store/search/search.h"

/*
 * An entry leads if no earlier entry within the threshold of it leads, among the entries of the
 * label sets that the caller sees.  Its order is that of the first document that has its text.
 *
 * The order of a document is at least the number that the next new entry had when the document was
 * stored, times 2^32 (nd_order_next).  So an entry whose number is greater than that is later, and
 * of the pairs of an entry only those with smaller numbers are read.
 */
uint64_t nd_order_next(uint64_t next_order, uint32_t next_entry);

#define ND_NO_ENTRY UINT32_MAX

/* An entry as remembered within one answer. */
struct nd_leaders_memo {
    uint32_t entry_plus_1;
    int8_t leads; /* -1: not known */
    uint64_t order;
};

/* The pairs of an entry with entries that the caller sees, in order of label sets and numbers. */
struct nd_pair_scan {
    uint32_t entry, bound;
    size_t at; /* of sets */
    uint32_t set, other;
    uint32_t counted; /* the set of which n pairs were read */
    size_t n;
    bool has_gap; /* of the pairs that were looked for, some were never stored, or not read */
};

/* The working memory of one thread. */
struct nd_leaders {
    struct nd_txn *txn;
    const uint32_t *sets; /* which the caller sees, ascending */
    size_t n_sets;
    uint64_t n_pairs; /* that were read */
    uint64_t n_read;  /* of them, some twice */
    size_t most;      /* pairs of an entry with a label set; more are not read */
    bool was_cut; /* pairs that were not stored, or not read, might have changed what was found */
    /* A document that is left out of account, by its entry and order; and the entry, if nobody else
     * has its text; ND_NO_ENTRY: there is none. */
    uint32_t without, absent;
    uint64_t without_order;

    struct nd_leaders_memo *memo;
    size_t n_memo, n_places; /* a power of two */
    struct {
        struct nd_pair_scan scan;
        uint64_t order;
    } * frame;
    size_t n_frames, frame_capacity;
    struct nd_near_entry *hit;
    size_t n_hits, hit_capacity;
};
void nd_leaders_release(struct nd_leaders *leaders);

/*
 * Begin an answer.  It reads at most ND_STORE_PAIRS pairs; and of those of an entry with a label set
 * the first ND_STORE_PAIRS_OF_SET, unless leaders->most is set.
 */
void nd_leaders_begin(struct nd_leaders *leaders, struct nd_txn *txn, const uint32_t *sets,
                      size_t n_sets);

/* All functions below return ND_ENOMEM or what the catalog does, or < 0. */

/* Leave a document out of account, from the beginning of an answer on. */
enum nd_status nd_leaders_leave_out(struct nd_leaders *leaders, uint32_t entry, uint64_t order,
                                    struct nd_error *err);

/* The first document with the text of an entry; `id` points into the transaction. */
enum nd_status nd_leaders_first(struct nd_leaders *leaders, uint32_t entry, uint64_t *order,
                                struct nd_view *id, struct nd_error *err);
/* The order of the first document with this text. */
enum nd_status nd_leaders_order(struct nd_leaders *leaders, uint32_t entry, uint64_t *order,
                                struct nd_error *err);
/* 1: it leads; 0: it does not. */
int nd_leaders_leads(struct nd_leaders *leaders, uint32_t entry, struct nd_error *err);

/* Begin a scan of pairs with entries below a bound; UINT32_MAX: all.  _next: 1, 0 at the end. */
struct nd_pair_scan nd_pair_scan_begin(uint32_t entry, uint32_t bound);
int nd_pair_scan_next(struct nd_leaders *leaders, struct nd_pair_scan *scan,
                      struct nd_pair_row *row, struct nd_error *err);

/* Collect the entries within the threshold of an entry in leaders->hit: those of an order below
 * `before`; UINT64_MAX: all. */
enum nd_status nd_leaders_neighbours(struct nd_leaders *leaders, uint32_t entry, uint64_t before,
                                     struct nd_error *err);

/* Compare how near two hits are to a text of n_shingles: equal bytes come first, then equal tokens,
 * then what the recipe measures; of two that are as near, the earlier.  Negative: x is nearer;
 * positive: y. */
int nd_near_compare(const struct nd_sketching *sketching, uint64_t n_shingles,
                    const struct nd_near_entry *x, uint64_t order_of_x,
                    const struct nd_near_entry *y, uint64_t order_of_y);

/* Choose the nearest of the hits within the threshold that leads and has an order below `before`.  1: *best is it. */
int nd_leaders_choose(struct nd_leaders *leaders, const struct nd_sketching *sketching,
                      uint64_t n_shingles, const struct nd_near_entry *hit, size_t n,
                      uint64_t before, struct nd_near_entry *best, struct nd_error *err);

/*
 * Find the leader of a stored document, by its order and an entry as near as can be to itself: of
 * all that has an order below it.  1: *best is it; 0: the document leads.
 */
int nd_leaders_of(struct nd_leaders *leaders, const struct nd_sketching *sketching,
                  const struct nd_near_entry *own, uint64_t order, struct nd_near_entry *best,
                  struct nd_error *err);

#endif
