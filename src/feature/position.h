/* position.h - what a word's place in the document is worth (000 s. 5.2, 5.3) */
#ifndef ND_FEATURE_POSITION_H
#define ND_FEATURE_POSITION_H

#include <neardup/error.h>
#include <neardup/feature.h>

#include <stdbool.h>
#include <stdint.h>

#define ND_POSITION_CORNERS 32 /* of a position table, at most */
#define ND_POSITION_NEAR 1024  /* words whose weights are worked out beforehand */

struct nd_position_corner {
    uint64_t share;  /* of the length, in 2^-31: 0 … 2^31 */
    uint32_t weight; /* in 2^-24 */
};

struct nd_position_weights {
    enum nd_position kind;
    struct nd_position_corner corner[ND_POSITION_CORNERS];
    unsigned corners;
    uint32_t near[ND_POSITION_NEAR]; /* of word i + 1, where the length does not matter */
};

/* ND_EINVAL: a position table that cannot be read. */
enum nd_status nd_position_init(struct nd_position_weights *p,
                                const struct nd_weight_params *params, struct nd_error *err);

/* Whether nd_position_weight reads `length`. */
bool nd_position_needs_length(const struct nd_position_weights *p);

/* The weight of word i, from 1, of `length`, in 2^-24. */
uint32_t nd_position_weight(const struct nd_position_weights *p, uint64_t i, uint64_t length);

/* The same of words i … i + n - 1. */
void nd_position_fill(const struct nd_position_weights *p, uint64_t i, size_t n, uint64_t length,
                      uint32_t *weight);

#endif
