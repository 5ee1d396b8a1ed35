/* replaced_hash.h - the bytes that stand behind each U+FFFD of a repaired text, as one number */
#ifndef ND_BASE_REPLACED_HASH_H
#define ND_BASE_REPLACED_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

/*
 * The bytes that a U+FFFD of a repaired text replaced: 1 to 3 bytes and their number, in 32 bits. A
 * U+FFFD that was in the text itself counts too, because such a text differs from one in which it
 * was inserted.
 */
#define ND_REPLACED_NOTHING ((uint32_t)0x03EFBFBD) /* a U+FFFD that was in the text */

static inline uint32_t nd_replaced_pack(const char *bytes, unsigned n)
{
    uint32_t packed = n;

    for (unsigned i = 0; i < 3; i++)
        packed = packed << 8 | (i < n ? (unsigned char)bytes[i] : 0);
    return packed;
}

/* A running hash of the sequence; starts from zeroes. */
struct nd_replaced_hash {
    uint64_t state;
    bool is_any; /* something was replaced */
};

static inline void nd_replaced_hash_add(struct nd_replaced_hash *h, uint32_t packed)
{
    h->state = nd_mix64(h->state * UINT64_C(0x9E3779B97F4A7C15) + packed);
    h->is_any = h->is_any || packed != ND_REPLACED_NOTHING;
}

/* 0: nothing was replaced. */
static inline uint64_t nd_replaced_hash_value(const struct nd_replaced_hash *h)
{
    if (!h->is_any)
        return 0;
    return h->state ? h->state : 1;
}

/* The hash of a repaired text's bytes or tokens, which differs if other bytes were replaced. */
static inline uint64_t nd_replaced_mark(uint64_t hash, uint64_t replaced)
{
    return hash ^ replaced;
}

#endif
