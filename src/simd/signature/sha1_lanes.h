/* sha1_lanes.h - the compression function of SHA-1 (FIPS 180-4, section 6.1), of many messages at
 * once: included by each file of kernels, after it has defined
 *
 *     TARGET     the attributes of its functions
 *     sha1_word  a number of 32 bits, or a vector of them
 */
#include <string.h>

enum { SHA1_WIDTH = sizeof(sha1_word) / sizeof(uint32_t) };

TARGET static inline __attribute__((always_inline)) sha1_word sha1_rotate(sha1_word x, int n)
{
    return x << n | x >> (32 - n);
}

TARGET static inline __attribute__((always_inline)) sha1_word sha1_choice(int t, sha1_word b,
                                                                          sha1_word c, sha1_word d)
{
    if (t < 20)
        return d ^ (b & (c ^ d));
    if (t >= 40 && t < 60)
        return (b & c) | (d & (b ^ c));
    return b ^ c ^ d;
}

TARGET static inline __attribute__((always_inline)) void sha1_rounds(sha1_word state[5],
                                                                     sha1_word w[16])
{
    static const uint32_t constant[4] = {0x5A827999, 0x6ED9EBA1, 0x8F1BBCDC, 0xCA62C1D6};
    sha1_word s[5];

    for (int k = 0; k < 5; k++)
        s[k] = state[k];
#pragma GCC unroll 80
    for (int t = 0; t < 80; t++) {
        sha1_word next;

        if (t >= 16)
            w[t & 15] =
                sha1_rotate(w[(t + 13) & 15] ^ w[(t + 8) & 15] ^ w[(t + 2) & 15] ^ w[t & 15], 1);
        next = sha1_rotate(s[0], 5) + sha1_choice(t, s[1], s[2], s[3]) + s[4] + w[t & 15] +
               constant[t / 20];
        s[4] = s[3];
        s[3] = s[2];
        s[2] = sha1_rotate(s[1], 30);
        s[1] = s[0];
        s[0] = next;
    }
    for (int k = 0; k < 5; k++)
        state[k] += s[k];
}

/* The lanes from `first` on, SHA1_WIDTH of them. */
TARGET static inline __attribute__((always_inline)) void
sha1_some_lanes(uint32_t state[5][ND_SHA1_LANES], const uint32_t block[16][ND_SHA1_LANES],
                int first)
{
    sha1_word s[5], w[16];

    for (int k = 0; k < 5; k++)
        memcpy(&s[k], &state[k][first], sizeof *s);
    for (int k = 0; k < 16; k++)
        memcpy(&w[k], &block[k][first], sizeof *w);
    sha1_rounds(s, w);
    for (int k = 0; k < 5; k++)
        memcpy(&state[k][first], &s[k], sizeof *s);
}

TARGET static void sha1(uint32_t state[5][ND_SHA1_LANES], const uint32_t block[16][ND_SHA1_LANES])
{
    for (int first = 0; first < ND_SHA1_LANES; first += SHA1_WIDTH)
        sha1_some_lanes(state, block, first);
}
