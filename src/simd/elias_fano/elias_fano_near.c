/* elias_fano_near.c - low bits of an Elias-Fano code near to some: the definition */
#include "simd/elias_fano/elias_fano_kernels.h"

/* Branchless: each number is written, and counted where its value is near. */
size_t nd_elias_fano_near_scalar(const struct nd_elias_fano_run *run,
                                 const struct nd_elias_fano_probes *probes, uint32_t *found)
{
    const uint64_t mask = (UINT64_C(1) << run->low_bits) - 1;
    uint64_t bit = run->first * run->low_bits;
    size_t n = 0;

    for (size_t j = 0; j < run->count; j++, bit += run->low_bits) {
        const uint64_t *low = run->low + bit / 64;
        unsigned shift = bit % 64;
        uint64_t part = low[0] >> shift;

        if (shift + run->low_bits > 64)
            part |= low[1] << (64 - shift);
        for (unsigned p = 0; p < probes->n; p++) {
            uint64_t differ = (part ^ probes->value[p]) & mask;

            found[n] = (uint32_t)j * ND_ELIAS_FANO_PROBES + p;
            n += (unsigned)__builtin_popcountll(differ) <= probes->distance;
        }
    }
    return n;
}

nd_elias_fano_near *nd_elias_fano_nears_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR:
    case ND_ISA_NEON: return nd_elias_fano_near_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return nd_elias_fano_near_avx2;
    case ND_ISA_AVX512:
        return nd_isa_has_vpopcntdq() && nd_isa_has_vbmi2() ? nd_elias_fano_near_avx512
                                                            : nd_elias_fano_near_avx2;
#endif
    default: return NULL;
    }
}

nd_elias_fano_near *nd_elias_fano_nears(void)
{
    return nd_elias_fano_nears_of(nd_isa());
}
