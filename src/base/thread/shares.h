/* shares.h - tasks dealt out to workers: each its own share first, then what is left of others' */
#ifndef ND_BASE_THREAD_SHARES_H
#define ND_BASE_THREAD_SHARES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Tasks 0 … n - 1, divided into one range of consecutive tasks for each worker. A worker takes its
 * own tasks from the front, and those of others from the back, so that data that is processed again
 * later is mostly in the cache of the same processor.
 */
enum { ND_SHARES_MAX = 1 << 30 }; /* tasks divided at one time */
struct nd_share {
    _Alignas(64) _Atomic(uint64_t) left; /* next task in the low half, end in the high half */
};

/* Make the ranges of n_shares workers, all empty; NULL: out of memory. Freed by nd_aligned_free. */
struct nd_share *nd_shares_new(unsigned n_shares);
/* Divide n tasks, at most ND_SHARES_MAX. No worker may be taking tasks meanwhile. */
void nd_shares_deal(struct nd_share *share, unsigned n_shares, size_t n);
/* Give all tasks to one worker's range. */
void nd_shares_give(struct nd_share *share, unsigned n_shares, unsigned worker, size_t n);
/* Take a task; called by several workers at once. False: there are no more. */
bool nd_shares_take(struct nd_share *share, unsigned n_shares, unsigned worker, size_t *task);
/* Whether all tasks were taken. */
bool nd_shares_are_empty(struct nd_share *share, unsigned n_shares);

#endif
