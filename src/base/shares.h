/* shares.h - tasks dealt out to workers: each its own share first, then what is left of others' */
#ifndef ND_BASE_SHARES_H
#define ND_BASE_SHARES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tasks 0 … n - 1 in as many runs of neighbours as there are workers.  A worker takes its own from
 * the front, and from another's the last, so that who comes back to the same things later finds
 * most of them in the cache of its own processor.
 */
enum { ND_SHARES_MOST = 1 << 30 }; /* tasks dealt at once */
struct nd_share {
    _Alignas(64) _Atomic(uint64_t) left; /* from the first (low half) to before the last (high) */
};

/* The shares of n_shares workers, none of them with a task; NULL: no memory.  Freed by free(). */
struct nd_share *nd_shares_new(unsigned n_shares);
/* n: at most ND_SHARES_MOST.  Nobody may be taking meanwhile. */
void nd_shares_deal(struct nd_share *share, unsigned n_shares, size_t n);
/* … all of them to one worker's share. */
void nd_shares_give(struct nd_share *share, unsigned n_shares, unsigned worker, size_t n);
/* By several workers at once.  False: all were taken. */
bool nd_shares_take(struct nd_share *share, unsigned n_shares, unsigned worker, size_t *task);
/* Whether all were taken. */
bool nd_shares_are_empty(struct nd_share *share, unsigned n_shares);

#endif
