/* mask_bits.h - an AVX-512 mask as an integer */
#ifndef ND_SIMD_MASK_BITS_H
#define ND_SIMD_MASK_BITS_H

/*
 * The empty assembly keeps the value in a register: where gcc 12 spills the conversion of a
 * __mmask8, it stores one byte and reads four, which waits for the store.
 */
static inline unsigned nd_mask_bits(unsigned mask)
{
#if defined(__x86_64__)
    __asm__("" : "+r"(mask));
#endif
    return mask;
}

#endif
