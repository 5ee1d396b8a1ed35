/* token_hash.h - the hash of one token, inlined where tokens are hashed by the million */
#ifndef ND_SIMD_TEXT_TOKEN_HASH_H
#define ND_SIMD_TEXT_TOKEN_HASH_H

#include "base/hash.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define ND_TOKEN_HASH_SHORT 16 /* longer tokens are hashed by XXH3 */

#define ND_TOKEN_HASH_KEY_A UINT64_C(0xA0761D6478BD642F)
#define ND_TOKEN_HASH_KEY_B UINT64_C(0xE7037ED1A0B428DB)
#define ND_TOKEN_HASH_KEY_LENGTH UINT64_C(0x9E3779B97F4A7C15)
#define ND_TOKEN_HASH_MULTIPLIER UINT64_C(0xC4CEB9FE1A85EC53)

/* For each length up to 16: the masks of the two words and the key of the first. */
struct nd_token_hash_row {
    uint64_t mask_a, mask_b, key_a;
};
extern const struct nd_token_hash_row nd_token_hash_rows[ND_TOKEN_HASH_SHORT + 1];

/*
 * The two words of a short token to 64 bits: docs/format/text.md, "Token hash".  The product of
 * the two keyed words spreads every bit over 128, whose halves are added without carry; the keyed
 * words themselves go in as well, so that a factor of zero does not hide the other.  One round of
 * shift, multiply and shift (a bijection) brings every input bit to every output bit: the halves
 * alone are biased for tokens of up to 8 bytes, whose second word is a constant.
 */
static inline uint64_t nd_token_hash_words(uint64_t x, uint64_t y)
{
    unsigned __int128 product = (unsigned __int128)x * y;
    uint64_t h = (uint64_t)product ^ (uint64_t)(product >> 64) ^ x ^ y;

    h = (h ^ h >> 32) * ND_TOKEN_HASH_MULTIPLIER;
    return h ^ h >> 29;
}

/* The hash of the token at p, at least 16 bytes of which are readable. */
static inline uint64_t nd_token_hash_padded(const char *p, size_t len)
{
    const struct nd_token_hash_row *row;
    uint64_t a, b;

    if (__builtin_expect(len > ND_TOKEN_HASH_SHORT, 0))
        return nd_hash_bytes(p, len);
    row = &nd_token_hash_rows[len];
    memcpy(&a, p, 8);
    memcpy(&b, p + 8, 8);
    return nd_token_hash_words((a & row->mask_a) ^ row->key_a,
                               (b & row->mask_b) ^ ND_TOKEN_HASH_KEY_B);
}

#endif
