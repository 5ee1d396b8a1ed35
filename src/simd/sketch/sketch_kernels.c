/* sketch_kernels.c - the choice of a table of sketch kernels */
#include "simd/sketch/sketch_kernels.h"

const struct nd_sketch_kernels *nd_sketch_kernels_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR: return &nd_sketch_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return &nd_sketch_avx2;
    case ND_ISA_AVX512: return &nd_sketch_avx512;
#elif defined(__aarch64__)
    case ND_ISA_NEON: return &nd_sketch_neon;
#endif
    default: return NULL;
    }
}

const struct nd_sketch_kernels *nd_sketch_kernels(void)
{
    return nd_sketch_kernels_of(nd_isa());
}
