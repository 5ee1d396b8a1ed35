/* elias_fano_kernels.c - reading an Elias-Fano code: the definition, and the choice of a function */
#include "simd/elias_fano/elias_fano_kernels.h"

void nd_elias_fano_scalar(const struct nd_elias_fano_run *run, uint64_t *out)
{
    const uint64_t mask = (UINT64_C(1) << run->low_bits) - 1;
    uint64_t word = run->place / 64, bits, low_bit = run->first * run->low_bits;
    size_t i = 0;

    if (run->count == 0)
        return;
    bits = run->high[word] & ~UINT64_C(0) << run->place % 64;
    for (;; bits = run->high[++word])
        for (; bits; bits &= bits - 1) {
            uint64_t place = word * 64 + (uint64_t)__builtin_ctzll(bits);
            const uint64_t *low = run->low + low_bit / 64;
            unsigned shift = low_bit % 64;
            uint64_t part = low[0] >> shift;

            if (shift + run->low_bits > 64)
                part |= low[1] << (64 - shift);
            out[i] = (place - run->first - i) << run->low_bits | (part & mask);
            low_bit += run->low_bits;
            if (++i == run->count)
                return;
        }
}

nd_elias_fano_decode *nd_elias_fano_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR:
    case ND_ISA_NEON: return nd_elias_fano_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return nd_elias_fano_avx2;
    case ND_ISA_AVX512: return nd_elias_fano_avx512;
#endif
    default: return NULL;
    }
}

nd_elias_fano_decode *nd_elias_fano(void)
{
    return nd_elias_fano_of(nd_isa());
}
