/* elias_fano_select.c - the n-th one of some bits: the definition, and with POPCNT and BMI2 */
#include "simd/elias_fano/elias_fano_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static uint64_t select_scalar(const struct nd_elias_fano_bits *bits, uint64_t place, uint64_t nth)
{
    uint64_t at = place / 64, x = (bits->word[at] ^ bits->flip) & ~UINT64_C(0) << place % 64, n;

    while ((n = (uint64_t)__builtin_popcountll(x)) < nth) {
        if (++at == bits->words)
            return at * 64 - 1;
        nth -= n;
        x = bits->word[at] ^ bits->flip;
    }
    while (--nth)
        x &= x - 1;
    return at * 64 + (uint64_t)__builtin_ctzll(x);
}

#if defined(__x86_64__)
#define TARGET __attribute__((target("bmi,bmi2,popcnt")))

TARGET static uint64_t select_bmi(const struct nd_elias_fano_bits *bits, uint64_t place,
                                  uint64_t nth)
{
    uint64_t at = place / 64, x = (bits->word[at] ^ bits->flip) & ~UINT64_C(0) << place % 64, n;

    while ((n = (uint64_t)_mm_popcnt_u64(x)) < nth) {
        if (++at == bits->words)
            return at * 64 - 1;
        nth -= n;
        x = bits->word[at] ^ bits->flip;
    }
    return at * 64 + _tzcnt_u64(_pdep_u64(UINT64_C(1) << (nth - 1), x));
}
#endif

nd_elias_fano_select *nd_elias_fano_selects_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR:
    case ND_ISA_NEON: return select_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2:
    case ND_ISA_AVX512: return select_bmi;
#endif
    default: return NULL;
    }
}

nd_elias_fano_select *nd_elias_fano_selects(void)
{
    return nd_elias_fano_selects_of(nd_isa());
}
