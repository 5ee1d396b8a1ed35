/* hasher.c - features, lists and sets by a hash function */
#include "sketch/hasher.h"

#include "base/hash.h"
#include "simd/signature/signature_kernels.h"

enum nd_status nd_hasher_init(struct nd_hasher *h, enum nd_hash_function function,
                              uint64_t rabin_polynomial, struct nd_error *err)
{
    *h = (struct nd_hasher){.function = function};
    if (function != ND_HASH_RABIN)
        return ND_OK;
    if (!nd_rabin_is_irreducible(rabin_polynomial))
        return nd_fail(err, ND_EINVAL, "rabin_polynomial: t^64 + 0x%016llx is not irreducible",
                       (unsigned long long)rabin_polynomial);
    return nd_rabin_init(&h->rabin, rabin_polynomial) ? ND_OK
                                                      : nd_fail(err, ND_ENOMEM, "out of memory");
}

void nd_hasher_release(struct nd_hasher *h)
{
    nd_rabin_release(&h->rabin);
}

void nd_hasher_run(const struct nd_hasher *h, uint64_t *hash, size_t n)
{
    switch (h->function) {
    case ND_HASH_LOOKUP8: nd_signature_kernels()->lookup8(hash, n); break;
    case ND_HASH_RABIN: nd_signature_kernels()->rabin(&h->rabin, hash, n); break;
    case ND_HASH_SHA1: nd_sha1_each(hash, n); break;
    default: break;
    }
}

static uint64_t not_zero(uint64_t x)
{
    return x ? x : 1;
}

/* By another function than the token's. */
static void hash_lists(const struct nd_hasher *h, const struct nd_list *list, size_t count,
                       uint64_t *out)
{
    if (h->function == ND_HASH_SHA1)
        nd_sha1_lists(list, count, out);
    for (size_t i = 0; i < count; i++) {
        if (h->function == ND_HASH_LOOKUP8)
            out[i] = nd_lookup8_words(list[i].word, list[i].n);
        else if (h->function == ND_HASH_RABIN)
            out[i] = nd_signature_kernels()->rabin_words(&h->rabin, list[i].word, list[i].n);
        out[i] = not_zero(out[i]);
    }
}

uint64_t nd_hasher_sum(uint64_t sum, uint64_t count)
{
    return not_zero(nd_mix64(sum + ND_SIGNATURE_STEP * count));
}

void nd_hasher_lists(const struct nd_hasher *h, const struct nd_list *list, size_t count,
                     uint64_t *out)
{
    if (h->function != ND_HASH_TOKEN) {
        hash_lists(h, list, count, out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;

        for (size_t k = 0; k < list[i].n; k++)
            sum += nd_mix64(list[i].word[k] + ND_SIGNATURE_STEP * (k + 1));
        out[i] = nd_hasher_sum(sum, list[i].n);
    }
}

void nd_hasher_sets(const struct nd_hasher *h, const struct nd_list *list, size_t count,
                    uint64_t *out)
{
    if (h->function != ND_HASH_TOKEN) {
        hash_lists(h, list, count, out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = 0;

        for (size_t k = 0; k < list[i].n; k++)
            sum += nd_mix64(list[i].word[k]);
        out[i] = nd_hasher_sum(sum, list[i].n);
    }
}
