/* band_filter.h - the hot loop of looking through rows: whose bands may a filter have? */
#ifndef ND_SIMD_FILTER_BAND_FILTER_H
#define ND_SIMD_FILTER_BAND_FILTER_H

#include <stddef.h>
#include <stdint.h>

#include "simd/instruction_set.h"

/* A filter of keys (Bloom 1970; Putze 2007): each key sets four bits of one word. */
struct nd_key_words {
    const uint64_t *word;
    uint64_t n; /* words, fewer than 2^32 */
};

/* The word is taken from the upper half of a key, the bits from the lower one, but for its 8 lowest
 * bits. */
static inline uint64_t nd_key_word(uint64_t key, uint64_t n)
{
    return (key >> 32) * n >> 32;
}

static inline uint64_t nd_key_bits(uint64_t key)
{
    return UINT64_C(1) << (key >> 8 & 63) | UINT64_C(1) << (key >> 14 & 63) |
           UINT64_C(1) << (key >> 20 & 63) | UINT64_C(1) << (key >> 26 & 63);
}

/* The factor that tells keys of different tables apart and spreads the bits of a band: one odd
 * factor for both. */
#define ND_KEY_FACTOR UINT64_C(0x9E3779B97F4A7C15)

/* The key of a band, of its first low bytes, up to 8, as a number. */
static inline uint64_t nd_key_of_band(uint64_t low, uint64_t band)
{
    return ((low ^ low >> 32) * ND_KEY_FACTOR ^ band * ND_KEY_FACTOR) & ~UINT64_C(1);
}

/* How low bytes are divided: bands * rows <= 128. */
struct nd_low_bands {
    unsigned bands, rows;
};

/* The bits of the first low bytes of a band, from 8 bytes that were loaded where it begins. */
static inline uint64_t nd_band_mask(unsigned rows)
{
    return rows < 8 ? (UINT64_C(1) << 8 * rows) - 1 : UINT64_MAX;
}

/*
 * The numbers i < n of those low bytes, in order, of which the filter has the key of some band.
 * Behind the 128 bytes of each, 8 more are readable.  `found` holds n.  Returns how many.
 */
typedef size_t nd_band_filter_find(const struct nd_key_words *filter,
                                   const struct nd_low_bands *bands, const uint8_t *const *low,
                                   size_t n, uint32_t *found);

/* The one in use, and the one of an instruction set: NULL where this build has none.  All give the
 * same; the scalar one is the definition. */
nd_band_filter_find *nd_band_filter(void);
nd_band_filter_find *nd_band_filter_of(enum nd_isa isa);

nd_band_filter_find nd_band_filter_scalar;
#if defined(__x86_64__)
nd_band_filter_find nd_band_filter_avx2, nd_band_filter_avx512;
nd_band_filter_find nd_band_filter_vbmi; /* AVX-512 with VBMI */
#endif

#endif
