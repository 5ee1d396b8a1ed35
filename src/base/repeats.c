/* repeats.c - which of very many hashes come more than once, in some bits each */
#include "base/repeats.h"

#include <string.h>

#include "base/memory.h"

/*
 * A block is a cache line, and a hash has BITS bits of one.  Of 20 million different hashes, with both
 * filters together taking 16 bits a hash, 0.16 % are taken for repeated ones; with 8, 1.5 %; with 4,
 * 10 %.  The second filter has a quarter of the bytes: hashes that repeat are few in most inputs, and
 * where they are many, most have to be looked at anyway.
 */
enum { BLOCK_WORDS = 8, BLOCK_BYTES = 64, BITS = 4, AGAIN = 4, ENOUGH_BYTES = 2, PENDING = 32 };

static bool bloom_init(struct nd_bloom *b, size_t bytes)
{
    b->n_blocks = bytes / BLOCK_BYTES / ND_REPEATS_SLICES * ND_REPEATS_SLICES;
    if (b->n_blocks == 0)
        b->n_blocks = ND_REPEATS_SLICES;
    if (b->n_blocks > UINT32_MAX)
        b->n_blocks = UINT32_MAX / ND_REPEATS_SLICES * ND_REPEATS_SLICES;
    b->word = nd_table_alloc(b->n_blocks * BLOCK_BYTES);
    return b->word != NULL;
}

static void bloom_release(struct nd_bloom *b)
{
    nd_table_free(b->word, b->n_blocks * BLOCK_BYTES);
    *b = (struct nd_bloom){.word = NULL};
}

size_t nd_repeats_enough(uint64_t n)
{
    return n < SIZE_MAX / ENOUGH_BYTES ? (size_t)n * ENOUGH_BYTES : SIZE_MAX;
}

bool nd_repeats_init(struct nd_repeats *r, size_t bytes)
{
    *r = (struct nd_repeats){.met = {.word = NULL}};
    if (bloom_init(&r->met, bytes - bytes / AGAIN) && bloom_init(&r->again, bytes / AGAIN))
        return true;
    nd_repeats_release(r);
    return false;
}

void nd_repeats_release(struct nd_repeats *r)
{
    bloom_release(&r->met);
    bloom_release(&r->again);
}

void nd_repeats_clear(struct nd_repeats *r)
{
    memset(r->met.word, 0, r->met.n_blocks * BLOCK_BYTES);
    memset(r->again.word, 0, r->again.n_blocks * BLOCK_BYTES);
}

void nd_repeats_end_noting(struct nd_repeats *r)
{
    bloom_release(&r->met);
}

/* Blocks of a slice follow one another, as the number of blocks is a multiple of that of slices. */
static uint64_t *block_of(const struct nd_bloom *b, uint64_t hash)
{
    return b->word + (((hash >> 32) * b->n_blocks) >> 32) * BLOCK_WORDS;
}

/* Return the places of a hash's bits in its block, 9 bits of a word each. */
static uint64_t places_of(uint64_t hash)
{
    return (hash | 1) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - 9 * BITS);
}

/* Set the bits of a hash.  Whether all were set. */
static bool bloom_add(const struct nd_bloom *b, uint64_t hash)
{
    uint64_t *block = block_of(b, hash), places = places_of(hash), unset = 0;

    for (unsigned i = 0; i < BITS; i++, places >>= 9) {
        uint64_t bit = UINT64_C(1) << (places & 63), *word = &block[places >> 6 & 7];

        unset |= ~*word & bit;
        *word |= bit;
    }
    return unset == 0;
}

static bool bloom_has(const struct nd_bloom *b, uint64_t hash)
{
    const uint64_t *block = block_of(b, hash);
    uint64_t places = places_of(hash), unset = 0;

    for (unsigned i = 0; i < BITS; i++, places >>= 9)
        unset |= ~block[places >> 6 & 7] & UINT64_C(1) << (places & 63);
    return unset == 0;
}

static void note(const struct nd_repeats *r, uint64_t hash)
{
    if (bloom_add(&r->met, hash))
        (void)bloom_add(&r->again, hash);
}

/* A hash is noted when the blocks of PENDING more have been asked for, so that memory is never waited
 * for while nothing else is on its way. */
void nd_repeats_note(struct nd_repeats *r, unsigned slice, unsigned n_slices, const uint64_t *hash,
                     size_t n)
{
    uint64_t pending[PENDING];
    size_t n_mine = 0, n_noted = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_mine = (hash[i] >> 32) * n_slices >> 32 == slice;

        if (!is_mine)
            continue;
        __builtin_prefetch(block_of(&r->met, hash[i]), 1);
        if (n_mine - n_noted == PENDING)
            note(r, pending[n_noted++ % PENDING]);
        pending[n_mine++ % PENDING] = hash[i];
    }
    while (n_noted < n_mine)
        note(r, pending[n_noted++ % PENDING]);
}

void nd_repeats_find(const struct nd_repeats *r, const uint64_t *hash, size_t n, bool *may)
{
    for (size_t i = 0; i < n && i < PENDING; i++)
        __builtin_prefetch(block_of(&r->again, hash[i]));
    for (size_t i = 0; i < n; i++) {
        if (n - i > PENDING)
            __builtin_prefetch(block_of(&r->again, hash[i + PENDING]));
        may[i] = bloom_has(&r->again, hash[i]);
    }
}
