/* signature_kernels.h - the hot loops of making signatures, one table an instruction set */
#ifndef ND_SIMD_SIGNATURE_SIGNATURE_KERNELS_H
#define ND_SIMD_SIGNATURE_SIGNATURE_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "simd/instruction_set.h"
#include "simd/signature/rabin_step.h"

enum {
    ND_WEIGHTED_BITS = 64,
    ND_LEXICONS_A_KEY = 4, /* lexicons that one mixed key decides for: 16 bits each */
    ND_LEXICONS_MOST = 256,
    ND_SHA1_LANES = 16, /* messages that are hashed at once */
};

/* Not needed, but faster: no vector crosses a line of the cache. */
#define ND_SIGNATURE_ALIGN 64

/* Pinned by docs/format/signatures.md: what separates the words of one feature, and places. */
#define ND_SIGNATURE_STEP UINT64_C(0x9E3779B97F4A7C15)

/* Randomized lexicons (Kolcz 2004, §4): which terms each leaves out. */
struct nd_lexicons {
    const uint64_t *key; /* one for every ND_LEXICONS_A_KEY of them */
    unsigned count;      /* 0 … ND_LEXICONS_MOST */
    uint32_t drop;       /* of 2^16: a term whose 16 bits are below it is left out */
};

/*
 * All tables give the same results; the scalar one is the definition.  No alignment is needed, and
 * nothing beyond the given counts is read or written.
 */
struct nd_signature_kernels {
    /* out[i] = nd_mix64(value[i] + add), i < n; `out` may be `value`. */
    void (*mix)(const uint64_t *value, size_t n, uint64_t add, uint64_t *out);

    /*
     * sum[b] += weight[i] for each word with bit b, -= weight[i] for each without (Charikar 2002;
     * Manku 2007, §2).
     */
    void (*weighted)(const uint64_t *word, const int32_t *weight, size_t n, int64_t *sum);

    /* Add up n words of one weight. */
    void (*equal)(const uint64_t *word, size_t n, int32_t weight, int64_t *sum);

    /* Bit b: whether sum[b] is above 0, b < ND_WEIGHTED_BITS. */
    uint64_t (*signs)(const int64_t *sum);

    /* value[i] = the lesser of itself and value[i + distance] as it was, i + distance < n. */
    void (*least)(uint64_t *value, size_t n, size_t distance);

    /* Write the values that differ from the one before, which is `before` for the first, to `out`;
     * return how many. */
    size_t (*changes)(const uint64_t *value, size_t n, uint64_t before, uint64_t *out);

    /* Jenkins' hash(key, 8, level 0) of each word, in place. */
    void (*lookup8)(uint64_t *hash, size_t n);

    /* Rabin's fingerprint of each word's bytes, little-endian, the first leading, in place. */
    void (*rabin)(const struct nd_rabin *r, uint64_t *hash, size_t n);

    /* The fingerprint of n words one after another. */
    uint64_t (*rabin_words)(const struct nd_rabin *r, const uint64_t *word, size_t n);

    /* One block of 16 words of each of the messages into its state (FIPS 180-4, section 6.1.2). */
    void (*sha1)(uint32_t state[5][ND_SHA1_LANES], const uint32_t block[16][ND_SHA1_LANES]);

    /* Hash one block of one message. */
    void (*sha1_one)(uint32_t state[5], const uint32_t block[16]);

    /*
     * For each lexicon k: sum[k] += value[i], count[k] += 1 for every term that it keeps: the 16
     * bits of nd_mix64(term[i] xor key[k / 4]) from 16 (k mod 4) on are not below `drop`.
     */
    void (*lexicons)(const struct nd_lexicons *lexicons, const uint64_t *term,
                     const uint64_t *value, size_t n, uint64_t *sum, uint64_t *count);
};

/* The sum of the weights; returns whether 32 bits hold every sum of some of them. */
static inline int nd_weights_fit(const int32_t *weight, size_t n, int64_t *total)
{
    int64_t sum = 0, size = 0;

    for (size_t i = 0; i < n; i++) {
        int64_t w = weight[i];

        sum += w;
        size += w < 0 ? -w : w;
    }
    *total = sum;
    return size <= INT32_MAX;
}

/* The table in use, and the one of an instruction set: NULL where this build has none. */
const struct nd_signature_kernels *nd_signature_kernels(void);
const struct nd_signature_kernels *nd_signature_kernels_of(enum nd_isa isa);

extern const struct nd_signature_kernels nd_signature_scalar;
#if defined(__x86_64__)
extern const struct nd_signature_kernels nd_signature_avx2, nd_signature_avx512;
/* By the SHA instructions, or where the processor lacks them as the scalar table does. */
void nd_sha1_one(uint32_t state[5], const uint32_t block[16]);
/* By carry-less products, or where the processor lacks them as the scalar table does. */
void nd_rabin_each(const struct nd_rabin *r, uint64_t *hash, size_t n);
uint64_t nd_rabin_of_words(const struct nd_rabin *r, const uint64_t *word, size_t n);
#elif defined(__aarch64__)
extern const struct nd_signature_kernels nd_signature_neon;
#endif

#endif
