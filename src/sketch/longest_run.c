/* longest_run.c - what of a document another one has: a run of its shingles, or all of a short one */
#include <neardup/sketch.h>

#include <stdbool.h>

#include "simd/sketch/sketch_kernels.h"

static bool has(const uint64_t *shingle, size_t n, uint64_t wanted)
{
    size_t low = 0;

    while (n) {
        size_t half = n / 2;

        if (shingle[low + half] < wanted) {
            low += half + 1;
            n -= half + 1;
        } else if (shingle[low + half] == wanted) {
            return true;
        } else {
            n = half;
        }
    }
    return false;
}

size_t nd_shingles_longest_run(const uint64_t *token, size_t n_tokens, unsigned w,
                               const uint64_t *shingle, size_t n_shingles, size_t *first)
{
    size_t best = 0, begin = 0;

    for (size_t i = 0; w && i + w <= n_tokens; i++) {
        if (!has(shingle, n_shingles, nd_shingle_of(token + i, w))) {
            begin = i + 1;
        } else if (i + 1 - begin > best) {
            best = i + 1 - begin;
            *first = begin;
        }
    }
    return best ? best + w - 1 : 0;
}

/* Take off again what was added to the sum of the tokens: every step of the hash can be undone. */
uint64_t nd_shingle_within(uint64_t shingle, size_t n_tokens)
{
    uint64_t inverse = ND_SHINGLE_MULTIPLIER; /* by Newton's iteration, modulo 2^64 */
    uint64_t x = shingle ^ shingle >> 29 ^ shingle >> 58;

    for (int i = 0; i < 5; i++)
        inverse *= 2 - ND_SHINGLE_MULTIPLIER * inverse;
    x *= inverse;
    x ^= x >> 32;
    return nd_shingle_finalise(x - ND_POSITION_STEP * n_tokens);
}
