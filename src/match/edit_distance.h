/* edit_distance.h - the band of diagonals that an edit script of some cost can reach */
#ifndef ND_MATCH_EDIT_DISTANCE_H
#define ND_MATCH_EDIT_DISTANCE_H

#include <stdbool.h>

#include <neardup/compare.h>

/* Two runs of tokens, read from their beginnings (step 1) or from their ends (step -1). */
struct nd_edit_pair {
    const uint64_t *a, *b; /* the first token in the order of reading */
    size_t n_a, n_b;
    int step;
};

/* Diagonals low … high, a diagonal being the place in b minus that in a. */
struct nd_edit_band {
    int64_t low, high;
};

#define ND_EDIT_FAR (UINT32_MAX / 2) /* a cell outside the band: more than any cost */

/* The least cost whatever the tokens are: that of the difference in length. */
uint64_t nd_edit_least(size_t n_a, size_t n_b, const struct nd_edit_costs *costs);

/* The diagonals of all scripts that cost at most `most`, which is at least nd_edit_least. */
struct nd_edit_band nd_edit_band_of(size_t n_a, size_t n_b, const struct nd_edit_costs *costs,
                                    uint64_t most);

/*
 * row[j] = the least cost, within the band, that makes the first j tokens of b of all of a;
 * ND_EDIT_FAR or more outside the band.  row has n_b + 1 elements.
 */
void nd_edit_last_row(const struct nd_edit_pair *pair, const struct nd_edit_costs *costs,
                      struct nd_edit_band band, uint32_t *row);

/* ND_EINVAL, ND_EUNSUPPORTED; *costs gets a cost of replacing that is never above the other two. */
enum nd_status nd_edit_check(size_t n_a, size_t n_b, struct nd_edit_costs *costs,
                             struct nd_error *err);

/* Take away the tokens that both begin with, and that both end with: how many at each end. */
void nd_edit_trim(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, size_t *first,
                  size_t *last);

#endif
