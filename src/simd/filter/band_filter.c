/* band_filter.c - looking through rows by a filter: the definition, and the choice of a function */
#include "simd/filter/band_filter.h"

#include <stdbool.h>
#include <string.h>

static bool has_band(const struct nd_key_words *filter, const struct nd_low_bands *b,
                     const uint8_t *low)
{
    const uint64_t kept = nd_band_mask(b->rows);

    for (unsigned band = 0; band < b->bands; band++) {
        uint64_t word, key, bits;

        memcpy(&word, low + band * b->rows, sizeof word);
        key = nd_key_of_band(word & kept, band);
        bits = nd_key_bits(key);
        if ((filter->word[nd_key_word(key, filter->n)] & bits) == bits)
            return true;
    }
    return false;
}

size_t nd_band_filter_scalar(const struct nd_key_words *filter, const struct nd_low_bands *bands,
                             const uint8_t *const *low, size_t n, uint32_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (has_band(filter, bands, low[i]))
            found[count++] = (uint32_t)i;
    return count;
}

nd_band_filter_find *nd_band_filter_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR:
    case ND_ISA_NEON: return nd_band_filter_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return nd_band_filter_avx2;
    case ND_ISA_AVX512: return nd_band_filter_avx512;
#endif
    default: return NULL;
    }
}

nd_band_filter_find *nd_band_filter(void)
{
#if defined(__x86_64__)
    if (nd_isa_has_vbmi2())
        return nd_band_filter_vbmi;
#endif
    return nd_band_filter_of(nd_isa());
}
