/*
 * lookup8.c - Jenkins' 64-bit hash() (Seshasai 2009, §3.2), for keys of a multiple of eight bytes
 */
#include "sketch/hash_functions.h"

enum { A, B, C };

/* One third of a round: how far c, a and b are shifted. */
static inline void stir(uint64_t s[3], unsigned right, unsigned left, unsigned again)
{
    s[A] = (s[A] - s[B] - s[C]) ^ s[C] >> right;
    s[B] = (s[B] - s[C] - s[A]) ^ s[A] << left;
    s[C] = (s[C] - s[A] - s[B]) ^ s[B] >> again;
}

static inline void mix(uint64_t s[3])
{
    stir(s, 43, 9, 8);
    stir(s, 38, 23, 5);
    stir(s, 35, 49, 11);
    stir(s, 12, 18, 22);
}

/* The last block has 0 to 2 words; the low byte of its third is the length's. */
uint64_t nd_lookup8_words(const uint64_t *word, size_t n)
{
    uint64_t s[3] = {0, 0, UINT64_C(0x9E3779B97F4A7C13)};
    size_t i = 0;

    for (; n - i >= 3; i += 3) {
        s[A] += word[i];
        s[B] += word[i + 1];
        s[C] += word[i + 2];
        mix(s);
    }
    s[C] += 8 * (uint64_t)n;
    if (i < n)
        s[A] += word[i];
    if (i + 1 < n)
        s[B] += word[i + 1];
    mix(s);
    return s[C];
}
