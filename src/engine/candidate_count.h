/* candidate_count.h - how many candidates the kept documents would be of one another, at any
 * threshold */
#ifndef ND_ENGINE_CANDIDATE_COUNT_H
#define ND_ENGINE_CANDIDATE_COUNT_H

#include <neardup/dedup.h>
#include <neardup/ratio.h>

/* Pairs of kept documents that share a band and pass the filter of candidates. */
struct nd_candidate_count {
    unsigned bands, rows; /* nd_bands_choose */
    /* Both documents in one block, in two. */
    double within, across;
    double found; /* of both kinds, each once */
};

/*
 * Whether candidates are found by bands of minima alone, so that they can be counted at other
 * thresholds.
 */
ND_API int nd_dedup_has_bands(const struct nd_dedup *dedup);

/*
 * Count pairs as if the bands had been chosen for this threshold; 0/1: with the bands and the
 * threshold that the engine has.  block: of each document, as
 * pushed.  Of many kept documents, or of many that share a band, some are counted and stand for
 * the others: an estimate, and always the same.
 *
 * sliced, above 0: the documents are a slice of this share, in which two of resemblance x are
 * together with the chance x, or else by chance (reading/slice.h).  So a pair counts for more the
 * less it is alike, as many times as it has chances to be torn apart.  1: each counts once.
 * Nothing else is called meanwhile.  ND_EINVAL: the engine has no bands, or as nd_bands_choose;
 * ND_ENOMEM.
 */
ND_API enum nd_status nd_dedup_count_candidates(const struct nd_dedup *dedup, const uint32_t *block,
                                                struct nd_ratio threshold, double sliced,
                                                struct nd_candidate_count *out,
                                                struct nd_error *err);

/* The memory that the shingles of kept documents have taken so far, of its limit. */
ND_API uint64_t nd_dedup_cached_bytes(const struct nd_dedup *dedup);

#endif
