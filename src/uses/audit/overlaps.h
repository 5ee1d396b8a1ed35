/* overlaps.h - documents that are searched for among all kept ones, by their shingles, exhaustively */
#ifndef ND_USES_AUDIT_OVERLAPS_H
#define ND_USES_AUDIT_OVERLAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

/*
 * A document that is searched for: its distinct shingles, and its place in the order of the corpus.
 * `after`: only documents that come before it count.  `whole`: its nearest one is searched for,
 * however far it is; else, whether any reaches the threshold.
 */
struct nd_sought {
    uint64_t order, *shingle;
    uint32_t n;
    bool after, whole;
};

/* The nearest one so far: none where shared is 0.  Equally near ones: the first. */
struct nd_audit_nearest {
    uint64_t order;
    uint32_t shared, either;
};
/* Take the nearer of two; of equally near ones the first document. */
void nd_audit_nearest_offer(struct nd_audit_nearest *best, struct nd_audit_nearest found);
/* Whether it is at the threshold or above. */
bool nd_audit_nearest_reaches(const struct nd_audit_nearest *nearest, struct nd_ratio threshold);

/*
 * Lists, for shingles of the documents sought, which of them have it.  Whoever has a document of the
 * corpus counts how many of these shingles each of them shares.
 *
 * Another document that reaches the threshold t has at least t n of the n shingles of one, so it has
 * one of any n - ceil(t n) + 1 of them (Chaudhuri, Ganti and Kaushik 2006, "prefix filter").  So these are
 * listed of one that is not `whole`: those that the fewest of the documents sought have.  Where what
 * is shared of them leaves it open, all are counted.
 */
struct nd_overlaps {
    const struct nd_sought *sought;
    size_t n;
    struct nd_ratio threshold;
    struct nd_overlap_slot {
        uint64_t shingle; /* 0: free; then 1 stands for 0 */
        uint32_t from, count;
    } * slot;
    size_t n_slots;
    uint64_t *sieve;         /* bits, of which that of every listed shingle is set */
    uint32_t *list, *listed; /* and how many shingles of each document are */
};
/* Borrows the documents, and puts the shingles of each that is not whole in another order.  False: out
 * of memory. */
bool nd_overlaps_init(struct nd_overlaps *o, struct nd_sought *sought, size_t n,
                      struct nd_ratio threshold);
void nd_overlaps_release(struct nd_overlaps *o);

/* The memory of a worker: the nearest one to each of o->n, of one that is not whole any that reaches
 * the threshold; and scratch.  False: out of memory. */
struct nd_overlaps_worker {
    struct nd_audit_nearest *nearest;
    uint32_t *count, *met;
};
bool nd_overlaps_worker_init(struct nd_overlaps_worker *w, const struct nd_overlaps *o);
void nd_overlaps_worker_release(struct nd_overlaps_worker *w);
/* Take a document of the corpus, by its n distinct shingles, and as a set; NULL: there is only one. */
struct nd_shingle_set;
void nd_overlaps_take(const struct nd_overlaps *o, struct nd_overlaps_worker *w, uint64_t order,
                      const uint64_t *shingle, size_t n, const struct nd_shingle_set *set);
/* Add what another worker knows. */
void nd_overlaps_join(const struct nd_overlaps *o, struct nd_overlaps_worker *w,
                      const struct nd_overlaps_worker *other);

#endif
