/* shares.c - tasks dealt out to workers: each its own share first, then what is left of others' */
#include "base/thread/shares.h"

#include "base/system/c_functions.h"

#include <stdlib.h>

static uint64_t pack(uint64_t from, uint64_t to)
{
    return from | to << 32;
}

static uint32_t from_of(uint64_t left)
{
    return (uint32_t)left;
}

static uint32_t to_of(uint64_t left)
{
    return (uint32_t)(left >> 32);
}

struct nd_share *nd_shares_new(unsigned n_shares)
{
    struct nd_share *share = nd_aligned_alloc(_Alignof(struct nd_share), n_shares * sizeof *share);

    for (unsigned i = 0; share && i < n_shares; i++)
        atomic_init(&share[i].left, 0);
    return share;
}

void nd_shares_deal(struct nd_share *share, unsigned n_shares, size_t n)
{
    for (unsigned i = 0; i < n_shares; i++)
        atomic_store(&share[i].left, pack(n * i / n_shares, n * (i + 1) / n_shares));
}

void nd_shares_give(struct nd_share *share, unsigned n_shares, unsigned worker, size_t n)
{
    for (unsigned i = 0; i < n_shares; i++)
        atomic_store(&share[i].left, i == worker ? pack(0, n) : 0);
}

static bool take_first(struct nd_share *share, size_t *task)
{
    uint64_t left = atomic_load(&share->left);

    do {
        if (from_of(left) == to_of(left))
            return false;
        *task = from_of(left);
    } while (
        !atomic_compare_exchange_weak(&share->left, &left, pack(from_of(left) + 1U, to_of(left))));
    return true;
}

static bool take_last(struct nd_share *share, size_t *task)
{
    uint64_t left = atomic_load(&share->left);

    do {
        if (from_of(left) == to_of(left))
            return false;
        *task = to_of(left) - 1U;
    } while (
        !atomic_compare_exchange_weak(&share->left, &left, pack(from_of(left), to_of(left) - 1U)));
    return true;
}

bool nd_shares_take(struct nd_share *share, unsigned n_shares, unsigned worker, size_t *task)
{
    if (take_first(&share[worker], task))
        return true;
    for (unsigned i = 1; i < n_shares; i++)
        if (take_last(&share[(worker + i) % n_shares], task))
            return true;
    return false;
}

bool nd_shares_are_empty(struct nd_share *share, unsigned n_shares)
{
    for (unsigned i = 0; i < n_shares; i++) {
        uint64_t left = atomic_load(&share[i].left);

        if (from_of(left) != to_of(left))
            return false;
    }
    return true;
}
