/* signature_kernels.c - the choice of a table of signature kernels */
#include "simd/signature/signature_kernels.h"

const struct nd_signature_kernels *nd_signature_kernels_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR: return &nd_signature_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return &nd_signature_avx2;
    case ND_ISA_AVX512: return &nd_signature_avx512;
#elif defined(__aarch64__)
    case ND_ISA_NEON: return &nd_signature_neon;
#endif
    default: return NULL;
    }
}

const struct nd_signature_kernels *nd_signature_kernels(void)
{
    return nd_signature_kernels_of(nd_isa());
}
