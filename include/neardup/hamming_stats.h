/* neardup/hamming_stats.h - how a set of fingerprints is distributed
 *
 * Library: neardup.  How many neighbours in sorted order differ first in bit 20:
 *
 *     static struct nd_hamming_stats stats;
 *     if (nd_hamming_stats_make(fingerprints, n, 64, 128, &stats, &err) != ND_OK)
 *         return fail(&err);
 *     printf("%llu, of uniform ones %.0f\n", (unsigned long long)stats.leading[20],
 *            nd_hamming_stats_uniform(&stats, 20));
 */
#ifndef NEARDUP_HAMMING_STATS_H
#define NEARDUP_HAMMING_STATS_H

#include <neardup/hamming.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_HAMMING_BUCKETS_MAX 1024u

/*
 * Two distributions of a set: of the place of the highest 1 in the XOR of neighbours in sorted order
 * (Manku 2007, Figure 2(a)), and over parts of equal size of the space of fingerprints (Manku 2007,
 * Figure 2(b), with 128; Seshasai 2009, Figure 6-1, with 256).
 */
struct nd_hamming_stats {
    uint64_t count;
    uint64_t distinct;
    unsigned bits;
    unsigned buckets;
    /* Neighbours whose XOR is 0. */
    uint64_t equal;
    /* leading[i]: neighbours whose XOR has its highest 1 at place i. */
    uint64_t leading[ND_HAMMING_BITS_MAX];
    /* Fingerprints in each part of the space; wide ones by their highest 64 bits. */
    uint64_t bucket[ND_HAMMING_BUCKETS_MAX];
};

/*
 * Count the distributions of n fingerprints (2^32 - 1 at most) over `buckets` parts, 2 to
 * ND_HAMMING_BUCKETS_MAX.  Needs 32 bytes of memory a fingerprint.  Nothing is kept, so any number
 * of threads may call this.  ND_EINVAL, ND_ENOMEM: *stats is as it was.
 */
ND_API enum nd_status nd_hamming_stats_make(const uint64_t *fingerprints, size_t n, unsigned bits,
                                            unsigned buckets, struct nd_hamming_stats *stats,
                                            struct nd_error *err);

/*
 * The mean of leading[place] over sets of as many distinct fingerprints that are uniform: how many
 * of the 2^d prefixes of d = bits - 1 - place bits go on both with a 0 and with a 1.
 */
ND_API double nd_hamming_stats_uniform(const struct nd_hamming_stats *stats, unsigned place);

#ifdef __cplusplus
}
#endif
#endif
