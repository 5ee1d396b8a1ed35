/* sketch_scalar.c - the sketch kernels in plain C: the definition of all the others */
#include "simd/sketch/add_distinct.h"
#include "simd/sketch/sketch_kernels.h"

static void shingles(const uint64_t *token, size_t n, unsigned w, uint64_t *out)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = token[i];

        for (unsigned k = 1; k < w; k++)
            sum = nd_shingle_rotate(sum) + token[i + k];
        out[i] = nd_shingle_finalise(sum);
    }
}

static uint64_t sequence_sum(const uint64_t *token, size_t n, uint64_t first)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t x = token[i] ^ (first + i) * ND_POSITION_STEP;

        sum += (x & UINT32_MAX) * (x >> 32);
    }
    return sum;
}

/* Value k of a shingle is h1 + k * h2 + (k / 16) * (k % 16) * ND_MINIMA_STEP. */
static void minhash(const uint64_t *shingle, size_t n, uint32_t *minima)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t h1 = (uint32_t)shingle[i], h2 = (uint32_t)(shingle[i] >> 32) | 1;

        for (uint32_t k = 0; k < ND_MINIMA; k += ND_MINIMA_BLOCK) {
            uint32_t value = h1 + k * h2, step = h2 + k / ND_MINIMA_BLOCK * ND_MINIMA_STEP;

            for (uint32_t within = 0; within < ND_MINIMA_BLOCK; within++) {
                if (value < minima[k + within])
                    minima[k + within] = value;
                value += step;
            }
        }
    }
}

static void simhash(const uint64_t *feature, size_t n, int64_t *sum)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < ND_SIMHASH_WIDTH; b++)
            sum[b] += (feature[i] >> b & 1) ? 1 : -1;
}

static uint64_t positive(const int64_t *sum)
{
    uint64_t bits = 0;

    for (unsigned b = 0; b < ND_SIMHASH_WIDTH; b++)
        bits |= (uint64_t)(sum[b] > 0) << b;
    return bits;
}

static void bytes_equal(const uint8_t *a, const uint8_t *b, uint64_t equal[2])
{
    equal[0] = equal[1] = 0;
    for (size_t k = 0; k < ND_MINIMA; k++)
        equal[k / 64] |= (uint64_t)(a[k] == b[k]) << k % 64;
}

static void low_bytes(const uint32_t *minima, uint8_t *out)
{
    for (size_t k = 0; k < ND_MINIMA; k++)
        out[k] = (uint8_t)minima[k];
}

static unsigned minima_equal(const uint32_t *a, const uint32_t *b)
{
    unsigned equal = 0;

    for (size_t k = 0; k < ND_MINIMA; k++)
        equal += a[k] == b[k];
    return equal;
}

static size_t entry_of(const struct nd_slots *in, size_t at)
{
    return in->wide ? ((const uint32_t *)in->slot)[at] : ((const uint16_t *)in->slot)[at];
}

static size_t count_found(const struct nd_slots *in, const uint64_t *value, size_t n, size_t *near)
{
    const size_t mask = ((size_t)1 << (64 - in->shift)) - 1;
    size_t found = 0;

    (void)near;
    for (size_t i = 0; i < n; i++) {
        size_t at = value[i] >> in->shift, entry = entry_of(in, at);

        while (entry && in->entry[entry] != value[i]) {
            at = (at + 1) & mask;
            entry = entry_of(in, at);
        }
        found += entry != 0;
    }
    return found;
}

static size_t add_distinct(const struct nd_slots *in, const uint64_t *value, size_t n)
{
    return nd_add_distinct(in, value, n);
}

const struct nd_sketch_kernels nd_sketch_scalar = {
    .shingles = shingles,
    .sequence_sum = sequence_sum,
    .minhash = minhash,
    .simhash = simhash,
    .positive = positive,
    .bytes_equal = bytes_equal,
    .low_bytes = low_bytes,
    .minima_equal = minima_equal,
    .count_found = count_found,
    .add_distinct = add_distinct,
};
