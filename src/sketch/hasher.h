/* hasher.h - the hash functions that a signature can name: of a feature, of a list, of a set */
#ifndef ND_SKETCH_HASHER_H
#define ND_SKETCH_HASHER_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/signature.h>

#include "sketch/hash_functions.h"

/* The function that hashes a feature's 64 bits again; docs/format/signatures.md says which bytes.
 */
struct nd_hasher {
    enum nd_hash_function function;
    struct nd_rabin rabin; /* without a table: another function */
};

/* ND_EINVAL: the polynomial is not irreducible; ND_ENOMEM. */
enum nd_status nd_hasher_init(struct nd_hasher *h, enum nd_hash_function function,
                              uint64_t rabin_polynomial, struct nd_error *err);
void nd_hasher_release(struct nd_hasher *h);

/* Each of n hashes by the function, in place. */
void nd_hasher_run(const struct nd_hasher *h, uint64_t *hash, size_t n);

/* Hash each of `count` lists; no hash is 0. */
void nd_hasher_lists(const struct nd_hasher *h, const struct nd_list *list, size_t count,
                     uint64_t *out);

/*
 * Hash each of `count` sets; no hash is 0.  The token function adds up its members' mixed hashes,
 * so that their order does not matter; the other functions want them ascending
 * (nd_hasher_wants_order).
 */
void nd_hasher_sets(const struct nd_hasher *h, const struct nd_list *list, size_t count,
                    uint64_t *out);
static inline bool nd_hasher_wants_order(const struct nd_hasher *h)
{
    return h->function != ND_HASH_TOKEN;
}
/* Return the hash, by the token function, of a set of `count` whose mixed hashes have this sum. */
uint64_t nd_hasher_sum(uint64_t sum, uint64_t count);

#endif
