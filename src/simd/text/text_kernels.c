/* text_kernels.c - chooses the kernels of the text layer */
#include "simd/text/text_kernels.h"

const struct nd_text_kernels *nd_text_kernels(void)
{
    switch (nd_isa()) {
#if defined(__x86_64__)
    case ND_ISA_AVX512:
        return nd_isa_has_vbmi2() ? &nd_text_kernels_vbmi2 : &nd_text_kernels_avx512;
    case ND_ISA_AVX2: return &nd_text_kernels_avx2;
#elif defined(__aarch64__)
    case ND_ISA_NEON: return &nd_text_kernels_neon;
#endif
    default: return &nd_text_kernels_scalar;
    }
}
