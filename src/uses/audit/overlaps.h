/* overlaps.h - the nearest of many documents to each of some, by their sets of shingles, exhaustively */
#ifndef ND_USES_AUDIT_OVERLAPS_H
#define ND_USES_AUDIT_OVERLAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

/*
 * A document that is searched for: its distinct shingles, and its place in the order of the corpus.
 * `after`: only documents that come before it are looked at.
 */
struct nd_sought {
    uint64_t order, *shingle;
    uint32_t n;
    bool after;
};

/* The nearest one so far: none where shared is 0.  Equally near ones: the first. */
struct nd_audit_nearest {
    uint64_t order;
    uint32_t shared, either;
};

/*
 * Lists, for each shingle of the documents sought, which of them have it. Whoever has a document of
 * the corpus counts how many of its shingles each of them has, so nothing is missed, and the work is
 * the number of shingles that they share.
 */
struct nd_overlaps {
    const struct nd_sought *sought;
    size_t n;
    struct nd_overlap_slot {
        uint64_t shingle; /* 0: free; then 1 stands for 0 */
        uint32_t from, count;
    } * slot;
    size_t n_slots;
    uint32_t *list;
};
/* Borrows the documents.  False: out of memory. */
bool nd_overlaps_init(struct nd_overlaps *o, const struct nd_sought *sought, size_t n);
void nd_overlaps_release(struct nd_overlaps *o);

/* The memory of a worker: the nearest one to each of o->n, and scratch.  False: out of memory. */
struct nd_overlaps_worker {
    struct nd_audit_nearest *nearest;
    uint32_t *count, *met;
};
bool nd_overlaps_worker_init(struct nd_overlaps_worker *w, const struct nd_overlaps *o);
void nd_overlaps_worker_release(struct nd_overlaps_worker *w);
/* Take a document of the corpus, by its n distinct shingles. */
void nd_overlaps_take(const struct nd_overlaps *o, struct nd_overlaps_worker *w, uint64_t order,
                      const uint64_t *shingle, size_t n);
/* Add what another worker knows. */
void nd_overlaps_join(const struct nd_overlaps *o, struct nd_overlaps_worker *w,
                      const struct nd_overlaps_worker *other);

#endif
