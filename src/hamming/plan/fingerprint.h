/* fingerprint.h - arithmetic on fingerprints of one to eight words */
#ifndef ND_HAMMING_PLAN_FINGERPRINT_H
#define ND_HAMMING_PLAN_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/hamming.h>

#include "base/number/bits.h"

/* How many bits are 1: the bits of a key, for example. */
static inline unsigned nd_hamming_ones(const uint64_t *x, size_t words)
{
    unsigned ones = 0;

    for (size_t w = 0; w < words; w++)
        ones += nd_count_ones(x[w]);
    return ones;
}

static inline unsigned nd_hamming_distance(const uint64_t *a, const uint64_t *b, size_t words)
{
    unsigned distance = 0;

    for (size_t w = 0; w < words; w++)
        distance += nd_count_ones(a[w] ^ b[w]);
    return distance;
}

/* Whether two fingerprints agree in all bits of a key. */
static inline bool nd_hamming_agree(const uint64_t *key, const uint64_t *a, const uint64_t *b,
                                    size_t words)
{
    uint64_t differ = 0;

    for (size_t w = 0; w < words; w++)
        differ |= (a[w] ^ b[w]) & key[w];
    return differ == 0;
}

/* A total order: word 0 decides first. */
static inline int nd_hamming_compare(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = 0; w < words; w++)
        if (a[w] != b[w])
            return a[w] < b[w] ? -1 : 1;
    return 0;
}

/*
 * All words folded to one by XOR.  Each bit of the result is the XOR of some bits of the
 * fingerprint, and each bit of the fingerprint is in one bit of the result only.  So two results
 * differ in no more bits than the fingerprints do: a filter on results loses nothing that is near.
 * The rotations keep words apart that are alike.
 */
static inline uint64_t nd_hamming_fold_words(const uint64_t *x, size_t words)
{
    uint64_t fold = x[0];

    for (size_t w = 1; w < words; w++)
        fold ^= x[w] << (5 * w) | x[w] >> (64 - 5 * w);
    return fold;
}

/* A mask of all bits of a fingerprint; `mask` holds nd_hamming_words(bits) words. */
static inline void nd_hamming_fill_mask(uint64_t *mask, unsigned bits)
{
    for (size_t w = 0; w < nd_hamming_words(bits); w++)
        mask[w] = 64 * (w + 1) <= bits ? UINT64_MAX : UINT64_MAX >> (64 - bits % 64);
}

#endif
