/* filter_kernels.c - the definition of the filter's kernels, and the choice of a table of them */
#include "simd/filter/filter_kernels.h"

enum { PREFETCH_DISTANCE = 96 };

static void places(const struct nd_filter_code *code, const uint64_t *x, size_t n, unsigned half,
                   uint32_t *place)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t word = (uint32_t)(x[i] >> (32 * half));
        unsigned syndrome = 0;

        for (unsigned j = 0; j < ND_FILTER_CHECKS; j++)
            syndrome |= (unsigned)__builtin_parity(word & code->check[j]) << j;
        place[i] = (word ^ code->error[syndrome]) >> ND_FILTER_CHECKS;
    }
}

static size_t marked(const uint32_t *set, const uint32_t *place, size_t n, uint32_t *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n && i < PREFETCH_DISTANCE; i++)
        __builtin_prefetch(set + place[i] / 32, 0, 2);
    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH_DISTANCE < n)
            __builtin_prefetch(set + place[i + PREFETCH_DISTANCE] / 32, 0, 2);
        found[count] = (uint32_t)i;
        count += set[place[i] / 32] >> place[i] % 32 & 1;
    }
    return count;
}

const struct nd_filter_kernels nd_filter_scalar = {.places = places, .marked = marked};

const struct nd_filter_kernels *nd_filter_kernels_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR:
    case ND_ISA_NEON: return &nd_filter_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return &nd_filter_avx2;
    case ND_ISA_AVX512: return &nd_filter_avx512;
#endif
    default: return NULL;
    }
}

const struct nd_filter_kernels *nd_filter_kernels(void)
{
    enum nd_isa isa = nd_isa();

    if (isa == ND_ISA_AVX512 && !nd_isa_has_vpopcntdq())
        isa = ND_ISA_AVX2;
    return nd_filter_kernels_of(isa);
}
