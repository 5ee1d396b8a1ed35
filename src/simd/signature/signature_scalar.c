/* signature_scalar.c - the signature kernels in plain C: the definition of all the others */
#include "simd/signature/signature_kernels.h"

#include "base/hash.h"

#define TARGET
typedef uint32_t sha1_word;
#include "simd/signature/sha1_lanes.h"

typedef uint64_t lookup8_word;
#include "simd/signature/lookup8_lanes.h"

static void mix(const uint64_t *value, size_t n, uint64_t add, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = nd_mix64(value[i] + add);
}

static void weighted(const uint64_t *word, const int32_t *weight, size_t n, int64_t *sum)
{
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < ND_WEIGHTED_BITS; b++)
            sum[b] += word[i] >> b & 1 ? weight[i] : -(int64_t)weight[i];
}

static void equal(const uint64_t *word, size_t n, int32_t weight, int64_t *sum)
{
    for (size_t i = 0; i < n; i++)
        weighted(word + i, &weight, 1, sum);
}

static uint64_t signs(const int64_t *sum)
{
    uint64_t word = 0;

    for (unsigned b = 0; b < ND_WEIGHTED_BITS; b++)
        word |= (uint64_t)(sum[b] > 0) << b;
    return word;
}

/* The message begins with a 1, so that zeroes in front count, and ends with 64 zeroes. */
static uint64_t rabin_words(const struct nd_rabin *r, const uint64_t *word, size_t n)
{
    uint64_t rest = r->polynomial; /* t^64: a 1, and place for a word */

    if (n == 0)
        return rest;
    rest ^= __builtin_bswap64(word[0]);
    for (size_t i = 1; i < n; i++)
        rest = nd_rabin_step(r->table, rest) ^ __builtin_bswap64(word[i]);
    return nd_rabin_step(r->table, rest);
}

static void rabin(const struct nd_rabin *r, uint64_t *hash, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash[i] = rabin_words(r, hash + i, 1);
}

static void sha1_one(uint32_t state[5], const uint32_t block[16])
{
    uint32_t w[16];

    memcpy(w, block, sizeof w);
    sha1_rounds(state, w);
}

static void least(uint64_t *value, size_t n, size_t distance)
{
    for (size_t i = 0; i + distance < n; i++)
        value[i] = value[i + distance] < value[i] ? value[i + distance] : value[i];
}

static size_t changes(const uint64_t *value, size_t n, uint64_t before, uint64_t *out)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) { /* branchless: always written, kept or not */
        out[count] = value[i];
        count += value[i] != before;
        before = value[i];
    }
    return count;
}

static void lexicons(const struct nd_lexicons *lexicons, const uint64_t *term,
                     const uint64_t *value, size_t n, uint64_t *sum, uint64_t *count)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = 0;

        for (unsigned k = 0; k < lexicons->count; k++, bits >>= 16) {
            if (k % ND_LEXICONS_A_KEY == 0)
                bits = nd_mix64(term[i] ^ lexicons->key[k / ND_LEXICONS_A_KEY]);
            if ((bits & UINT16_MAX) >= lexicons->drop) {
                sum[k] += value[i];
                count[k]++;
            }
        }
    }
}

const struct nd_signature_kernels nd_signature_scalar = {
    .mix = mix,
    .weighted = weighted,
    .equal = equal,
    .signs = signs,
    .least = least,
    .changes = changes,
    .lookup8 = lookup8,
    .rabin = rabin,
    .rabin_words = rabin_words,
    .sha1 = sha1,
    .sha1_one = sha1_one,
    .lexicons = lexicons,
};
