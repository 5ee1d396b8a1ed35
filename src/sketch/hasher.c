/* hasher.c - features, lists and sets by a hash function */
#include "sketch/hasher.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/sha1.h"
#include "simd/signature_kernels.h"
#include "sketch/lookup8.h"
#include "sketch/rabin.h"

enum nd_status nd_hasher_init(struct nd_hasher *h, enum nd_hash_function function,
                              uint64_t rabin_polynomial, struct nd_error *err)
{
    *h = (struct nd_hasher){.function = function};
    if (function == ND_HASH_SHA1 && !nd_sha1_is_built())
        return nd_fail(err, ND_EUNSUPPORTED, "hash = sha1: this build has no SHA-1 (libmd)");
    if (function != ND_HASH_RABIN)
        return ND_OK;
    if (!nd_rabin_is_irreducible(rabin_polynomial))
        return nd_fail(err, ND_EINVAL, "rabin_polynomial: t^64 + 0x%016llx is not irreducible",
                       (unsigned long long)rabin_polynomial);
    h->rabin = nd_rabin_table_new(rabin_polynomial);
    return h->rabin ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

void nd_hasher_release(struct nd_hasher *h)
{
    free(h->rabin);
    h->rabin = NULL;
}

static uint64_t hash_words(const struct nd_hasher *h, const uint64_t *word, size_t n)
{
    switch (h->function) {
    case ND_HASH_LOOKUP8: return nd_lookup8_words(word, n);
    case ND_HASH_RABIN: return nd_rabin_words(h->rabin, word, n);
    case ND_HASH_SHA1: return nd_sha1_64(word, n * sizeof *word);
    default: return 0;
    }
}

void nd_hasher_run(const struct nd_hasher *h, uint64_t *hash, size_t n)
{
    if (h->function == ND_HASH_TOKEN)
        return;
    for (size_t i = 0; i < n; i++)
        hash[i] = hash_words(h, hash + i, 1);
}

static uint64_t not_zero(uint64_t x)
{
    return x ? x : 1;
}

uint64_t nd_hasher_sum(uint64_t sum, uint64_t count)
{
    return not_zero(nd_mix64(sum + ND_SIGNATURE_STEP * count));
}

uint64_t nd_hasher_list(const struct nd_hasher *h, const uint64_t *word, size_t n)
{
    uint64_t sum = 0;

    if (h->function != ND_HASH_TOKEN)
        return not_zero(hash_words(h, word, n));
    for (size_t i = 0; i < n; i++)
        sum += nd_mix64(word[i] + ND_SIGNATURE_STEP * (i + 1));
    return nd_hasher_sum(sum, n);
}

uint64_t nd_hasher_set(const struct nd_hasher *h, const uint64_t *word, size_t n)
{
    uint64_t sum = 0;

    if (h->function != ND_HASH_TOKEN)
        return not_zero(hash_words(h, word, n));
    for (size_t i = 0; i < n; i++)
        sum += nd_mix64(word[i]);
    return nd_hasher_sum(sum, n);
}
