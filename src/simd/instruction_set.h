/* instruction_set.h - what this processor can run, asked in one place */
#ifndef ND_SIMD_INSTRUCTION_SET_H
#define ND_SIMD_INSTRUCTION_SET_H

#include <stdbool.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "neardup runs on little-endian machines only: its formats and hashes are little-endian"
#endif

/* Instruction sets in the order of preference on their architecture. */
enum nd_isa { ND_ISA_SCALAR, ND_ISA_AVX2, ND_ISA_AVX512, ND_ISA_NEON };

/*
 * AVX2 stands for AVX2, BMI1, BMI2 and POPCNT; AVX512 for F, BW, DQ and VL on top.  The features
 * that some AVX-512 machines lack are asked for one by one; they are false while a lesser set is
 * forced.
 */
enum nd_isa nd_isa(void);
bool nd_isa_has_vbmi2(void); /* with VBMI */
bool nd_isa_has_vpopcntdq(void);
bool nd_isa_has_sha(void);   /* with AVX2, too */
bool nd_isa_has_clmul(void); /* with AVX2, too: products without carries */

#endif
