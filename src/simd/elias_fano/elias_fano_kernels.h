/* elias_fano_kernels.h - the hot loop of reading an Elias-Fano code, one function an instruction set */
#ifndef ND_SIMD_ELIAS_FANO_ELIAS_FANO_KERNELS_H
#define ND_SIMD_ELIAS_FANO_ELIAS_FANO_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "simd/instruction_set.h"

/*
 * A run of values of an Elias-Fano code.  Value i has its low bits at bit i * low_bits of `low`,
 * and in `high` a 1 at place h + i, h being the rest of it; the ones stand in the order of the
 * values.
 */
struct nd_elias_fano_run {
    const uint64_t *low; /* 8 bytes are readable from the byte in which any value begins */
    const uint64_t *high;
    unsigned low_bits; /* 0 … 63 */
    uint64_t first;    /* the number of the first value wanted */
    uint64_t place;    /* of its 1 */
    size_t count;      /* values wanted: so many ones there are, from `place` on */
};

/* out[j] = value first + j, j < count.  All give the same; the scalar one is the definition. */
typedef void nd_elias_fano_decode(const struct nd_elias_fano_run *run, uint64_t *out);

/* The one in use, and the one of an instruction set: NULL where this build has none. */
nd_elias_fano_decode *nd_elias_fano(void);
nd_elias_fano_decode *nd_elias_fano_of(enum nd_isa isa);

nd_elias_fano_decode nd_elias_fano_scalar;
#if defined(__x86_64__)
nd_elias_fano_decode nd_elias_fano_avx2, nd_elias_fano_avx512;
#endif

/* Values that are looked for together in the low bits of a run, 1 to ND_ELIAS_FANO_PROBES; one is
 * near to another that differs in at most `distance` bits. */
enum { ND_ELIAS_FANO_PROBES = 4 };
struct nd_elias_fano_probes {
    uint64_t value[ND_ELIAS_FANO_PROBES];
    unsigned n, distance;
};

/*
 * Which values of a run have low bits near to those of a probe: found[i] is j * ND_ELIAS_FANO_PROBES
 * + p where value first + j, j < count, is near to probe p; the numbers ascend.  `found` has room for
 * count * ND_ELIAS_FANO_PROBES.  Returns how many.  Nothing is read of `high`.
 */
typedef size_t nd_elias_fano_near(const struct nd_elias_fano_run *run,
                                  const struct nd_elias_fano_probes *probes, uint32_t *found);
nd_elias_fano_near *nd_elias_fano_nears(void);
nd_elias_fano_near *nd_elias_fano_nears_of(enum nd_isa isa);

nd_elias_fano_near nd_elias_fano_near_scalar;
#if defined(__x86_64__)
nd_elias_fano_near nd_elias_fano_near_avx2, nd_elias_fano_near_avx512;
#endif

/* Words of bits, each XOR `flip`: 0, or all ones to look for zeros. */
struct nd_elias_fano_bits {
    const uint64_t *word;
    size_t words;
    uint64_t flip;
};

/*
 * The place of the one number nth, counted from 1, among the bits from `place` on; where there are
 * fewer, the last place.
 */
typedef uint64_t nd_elias_fano_select(const struct nd_elias_fano_bits *bits, uint64_t place,
                                      uint64_t nth);
nd_elias_fano_select *nd_elias_fano_selects(void);
nd_elias_fano_select *nd_elias_fano_selects_of(enum nd_isa isa);

#endif
