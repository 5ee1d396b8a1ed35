/* hamming_kernels.c - the definition of the Hamming kernels, and the choice of a table of them */
#include "simd/hamming_kernels.h"

#include <string.h>

static void places(const struct nd_hamming_spread *spread, uint64_t key, unsigned turn,
                   const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = nd_hamming_hash_end(nd_hamming_hash_word(0, x[i] & key));

        place[i] = nd_hamming_place(spread, hash);
        fold[i] = nd_hamming_fold(x[i], turn);
    }
}

static size_t ball(const uint32_t *mask, uint32_t data, uint32_t level, uint32_t n_lines,
                   uint32_t *place)
{
    size_t count = 0;

    for (unsigned i = 0; i < 16; i++) {
        uint32_t at = (data ^ mask[i]) & (2 * level - 1);

        at = at < n_lines ? at : at & (level - 1);
        if (count == 0 || at != place[count - 1])
            place[count++] = at;
    }
    return count;
}

static struct nd_hamming_seen lines(const struct nd_hamming_look *now,
                                    const struct nd_hamming_look *next, unsigned distance,
                                    struct nd_hamming_found *found, uint32_t *more)
{
    struct nd_hamming_seen seen = {0, 0};

    for (size_t i = 0; i < now->n; i++) {
        const uint32_t *word = now->line[i]->word;
        unsigned slots = 0;

        for (unsigned j = 0; j < (word[15] & 15); j++)
            slots |= (unsigned)((unsigned)__builtin_popcount(word[j] ^ now->value[i]) <= distance)
                     << j;
        if (i < next->n)
            __builtin_prefetch(next->line[i], 0, 2);
        found[seen.found] = (struct nd_hamming_found){(uint32_t)i, slots};
        seen.found += slots != 0;
        more[seen.more] = (uint32_t)i;
        seen.more += word[15] > 15;
    }
    for (size_t i = now->n; i < next->n; i++)
        __builtin_prefetch(next->line[i], 0, 2);
    return seen;
}

static size_t rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                   unsigned distance, uint32_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++, row += words) {
        unsigned bits = 0;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)__builtin_popcountll(row[w] ^ query[w]);
        found[count] = (uint32_t)i;
        count += bits <= distance;
    }
    return count;
}

static size_t next(const uint64_t *value, size_t n, size_t end, size_t gap, unsigned distance,
                   struct nd_hamming_found *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned slots = 0;

        for (unsigned b = 0; b < 8 && i + 1 + gap + b < end; b++) {
            uint64_t differ = value[i] ^ value[i + 1 + gap + b];

            slots |= (unsigned)((unsigned)__builtin_popcountll(differ) <= distance) << b;
        }
        found[count] = (struct nd_hamming_found){(uint32_t)i, slots};
        count += slots != 0;
    }
    return count;
}

static void store_line(void *to, const void *from)
{
    memcpy(to, from, 64);
}

static void fence(void)
{
}

const struct nd_hamming_kernels nd_hamming_scalar = {.places = places,
                                                     .ball = ball,
                                                     .lines = lines,
                                                     .rows = rows,
                                                     .next = next,
                                                     .store_line = store_line,
                                                     .fence = fence};

const struct nd_hamming_kernels *nd_hamming_kernels_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR: return &nd_hamming_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return &nd_hamming_avx2;
    case ND_ISA_AVX512: return &nd_hamming_avx512;
#elif defined(__aarch64__)
    case ND_ISA_NEON: return &nd_hamming_neon;
#endif
    default: return NULL;
    }
}

const struct nd_hamming_kernels *nd_hamming_kernels(void)
{
    enum nd_isa isa = nd_isa();

    if (isa == ND_ISA_AVX512 && !nd_isa_has_vpopcntdq())
        isa = ND_ISA_AVX2;
    return nd_hamming_kernels_of(isa);
}
