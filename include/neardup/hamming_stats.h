/* neardup/hamming_stats.h - how a set of fingerprints is distributed */
#ifndef NEARDUP_HAMMING_STATS_H
#define NEARDUP_HAMMING_STATS_H

#include <neardup/hamming.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_HAMMING_BUCKETS_MAX 1024u

/*
 * Two distributions of a set: of the place of the highest 1 in the XOR of neighbours in sorted
 * order (002, Figure 2(a)), and over parts of equal size of the space of fingerprints (002, Figure
 * 2(b), with 128; 000, Figure 6-1, with 256).  The functions keep nothing: any number of threads
 * may call them at once.
 */
struct nd_hamming_stats {
    uint64_t count, distinct;
    unsigned bits, buckets;
    uint64_t equal;                          /* neighbours whose XOR is 0 */
    uint64_t leading[ND_HAMMING_BITS_MAX];   /* those whose XOR's highest 1 is at place i */
    uint64_t bucket[ND_HAMMING_BUCKETS_MAX]; /* of wide ones by their highest 64 bits */
};

/*
 * Of n fingerprints (at most 2^32 - 1), with 2 to ND_HAMMING_BUCKETS_MAX buckets.  Needs 32 bytes
 * of memory a fingerprint.  ND_EINVAL, ND_ENOMEM: *stats is as it was.
 */
ND_API enum nd_status nd_hamming_stats_make(const uint64_t *fingerprints, size_t n, unsigned bits,
                                            unsigned buckets, struct nd_hamming_stats *stats,
                                            struct nd_error *err);

/*
 * What leading[place] would be, in the mean, of as many distinct fingerprints, were they uniform:
 * of the 2^d prefixes of d = bits - 1 - place bits, those that go on with a 0 and with a 1.
 */
ND_API double nd_hamming_stats_uniform(const struct nd_hamming_stats *stats, unsigned place);

#ifdef __cplusplus
}
#endif
#endif
