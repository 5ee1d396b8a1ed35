/* packed_numbers.h - numbers of a few bits each, without space between them */
#ifndef ND_HAMMING_FILE_PACKED_NUMBERS_H
#define ND_HAMMING_FILE_PACKED_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Number i takes the bits from i * bits on, 0 to 63 of them, counted from the lowest bit of the
 * first word.  It may reach into the next word, so there is one word more than the bits need: then
 * both words can be read without a test, and a shift by 64, which C does not define, is written as
 * two shifts.
 */
static inline uint64_t nd_packed_words(uint64_t n, unsigned bits)
{
    return (n * bits + 63) / 64 + 1;
}

static inline uint64_t nd_packed_get(const uint64_t *packed, unsigned bits, uint64_t i)
{
    uint64_t bit = i * bits, shift = bit % 64;
    const uint64_t *word = packed + bit / 64;

    return (word[0] >> shift | word[1] << (63 - shift) << 1) & ((UINT64_C(1) << bits) - 1);
}

/* The words were zero; number < 2^bits. */
static inline void nd_packed_put(uint64_t *packed, unsigned bits, uint64_t i, uint64_t number)
{
    uint64_t bit = i * bits, shift = bit % 64;
    uint64_t *word = packed + bit / 64;

    word[0] |= number << shift;
    word[1] |= number >> (63 - shift) >> 1;
}

#endif
