/* sha1.c - SHA-1 (FIPS 180-4) of lists of words, as many at once as the kernels have lanes */
#include <string.h>

#include "simd/signature/signature_kernels.h"
#include "sketch/hash_functions.h"

enum { LANES = ND_SHA1_LANES, BLOCK_WORDS = 8, STATE = 5, BLOCK = 16 };

static const uint32_t beginning[STATE] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476,
                                          0xC3D2E1F0};

static void begin(uint32_t state[STATE][LANES])
{
    for (int k = 0; k < STATE; k++)
        for (int lane = 0; lane < LANES; lane++)
            state[k][lane] = beginning[k];
}

static uint64_t first_64_bits(uint32_t state[STATE][LANES], size_t lane)
{
    return (uint64_t)state[0][lane] << 32 | state[1][lane];
}

/* Word i, of eight, of a block whose numbers are `lanes` apart: its bytes in order are two
 * big-endian numbers. */
static inline void put(uint32_t *block, size_t lanes, size_t i, uint64_t word)
{
    block[2 * i * lanes] = __builtin_bswap32((uint32_t)word);
    block[(2 * i + 1) * lanes] = __builtin_bswap32((uint32_t)(word >> 32));
}

/* A message of one word is one block. */
void nd_sha1_each(uint64_t *hash, size_t n)
{
    uint32_t state[STATE][LANES], block[BLOCK][LANES] = {{0}};

    for (int lane = 0; lane < LANES; lane++) {
        block[2][lane] = UINT32_C(1) << 31;
        block[15][lane] = 64;
    }
    for (size_t i = 0; i < n; i += LANES) {
        size_t m = n - i < LANES ? n - i : LANES;

        for (size_t lane = 0; lane < m; lane++)
            put(&block[0][lane], LANES, 0, hash[i + lane]);
        begin(state);
        nd_signature_kernels()->sha1(state, (const uint32_t(*)[LANES])block);
        for (size_t lane = 0; lane < m; lane++)
            hash[i + lane] = first_64_bits(state, lane);
    }
}

/* Blocks of a message of n words with the 1 bit and the length behind it. */
static size_t blocks_of(size_t n)
{
    return (n + 2 + BLOCK_WORDS - 1) / BLOCK_WORDS; /* the two take a word each */
}

/* Block b of a list into its lane: the words, where they end a byte 0x80, and at last the length.
 */
static inline __attribute__((always_inline)) void fill(uint32_t *block, size_t lanes,
                                                       const struct nd_list *list, size_t b)
{
    const size_t from = b * BLOCK_WORDS;
    size_t here = list->n < from ? 0 : list->n - from;

    if (here > BLOCK_WORDS)
        here = BLOCK_WORDS;
    for (size_t i = 0; i < here; i++)
        put(block, lanes, i, list->word[from + i]);
    for (size_t i = here; i < BLOCK_WORDS; i++)
        put(block, lanes, i, from + i == list->n ? 0x80 : 0);
    if (b + 1 == blocks_of(list->n))
        put(block, lanes, BLOCK_WORDS - 1, __builtin_bswap64(64 * (uint64_t)list->n));
}

static uint64_t hash_one(const struct nd_list *list)
{
    uint32_t state[STATE], block[BLOCK];

    memcpy(state, beginning, sizeof state);
    for (size_t b = 0; b < blocks_of(list->n); b++) {
        fill(block, 1, list, b);
        nd_signature_kernels()->sha1_one(state, block);
    }
    return (uint64_t)state[0] << 32 | state[1];
}

/* Up to LANES lists: each lane's digest is taken where its list ends. */
static void hash_lanes(const struct nd_list *list, size_t count, uint64_t *out)
{
    uint32_t state[STATE][LANES], block[BLOCK][LANES] = {{0}};
    size_t most = 0;

    for (size_t lane = 0; lane < count; lane++)
        most = blocks_of(list[lane].n) > most ? blocks_of(list[lane].n) : most;
    begin(state);
    for (size_t b = 0; b < most; b++) {
        for (size_t lane = 0; lane < count; lane++)
            if (b < blocks_of(list[lane].n))
                fill(&block[0][lane], LANES, list + lane, b);
        nd_signature_kernels()->sha1(state, (const uint32_t(*)[LANES])block);
        for (size_t lane = 0; lane < count; lane++)
            if (b + 1 == blocks_of(list[lane].n))
                out[lane] = first_64_bits(state, lane);
    }
}

void nd_sha1_lists(const struct nd_list *list, size_t count, uint64_t *out)
{
    if (count == 1) {
        *out = hash_one(list);
        return;
    }
    for (size_t i = 0; i < count; i += LANES)
        hash_lanes(list + i, count - i < LANES ? count - i : LANES, out + i);
}
