/* signer.c - from weighted features to a signature of any kind */
#include "sketch/signer.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "simd/signature/signature_kernels.h"

bool nd_word_array_reserve(struct nd_word_array *words, size_t n)
{
    return ND_RESERVE(words->items, &words->capacity, n);
}

/*
 * x is a multiple of p = 2^shift q, q odd, where x times the inverse of q, rotated by the shift, is
 * at most (2^64 - 1) / p (Granlund and Montgomery 1994, section 9).
 */
static void prepare_modulus(struct nd_signer *s)
{
    uint64_t p = s->params.modulus, q, inverse;

    s->modulus_shift = (unsigned)__builtin_ctzll(p | UINT64_C(1) << 63);
    q = p >> s->modulus_shift;
    inverse = q; /* q q = 1 modulo 8, so q is right in 3 bits; then 6, 12, … */
    for (int i = 0; i < 5; i++)
        inverse *= 2 - q * inverse;
    s->modulus_inverse = inverse;
    s->modulus_most = UINT64_MAX / p;
}

static enum nd_status prepare(struct nd_signer *s, struct nd_error *err)
{
    const struct nd_signature_params *p = &s->params;
    enum nd_status status = nd_hasher_init(&s->hasher, p->hash, p->rabin_polynomial, err);

    if (status != ND_OK)
        return status;
    s->seed = p->seed ? nd_mix64(p->seed) : 0;
    s->kept_bits = UINT64_MAX;
    if (nd_signature_form(p) == ND_FORM_VALUES && p->kind != ND_SIGNATURE_SORTED_SHINGLES &&
        p->bits < 64)
        s->kept_bits = (UINT64_C(1) << p->bits) - 1;
    if (p->kind == ND_SIGNATURE_MOD_P)
        prepare_modulus(s);
    if (p->kind == ND_SIGNATURE_PROFILE) /* other kinds have not checked it */
        s->quantum = nd_signature_millionths(p->quantum);
    if (!nd_word_array_reserve(&s->word, nd_signature_words(p)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return p->kind == ND_SIGNATURE_IMATCH ? nd_imatch_prepare(s, err) : ND_OK;
}

struct nd_signer *nd_signer_new_from(const struct nd_signature_params *params,
                                     const struct nd_df_source *df, struct nd_error *err)
{
    struct nd_signer *s;

    if (nd_signature_params_check(params, err) != ND_OK)
        return NULL;
    s = calloc(1, sizeof *s);
    if (!s) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    s->params = *params;
    s->df = *df;
    if (prepare(s, err) != ND_OK) {
        nd_signer_free(s);
        return NULL;
    }
    return s;
}

static uint32_t count_in_table(const void *context, uint64_t hash)
{
    return nd_df_count(context, hash);
}

struct nd_signer *nd_signer_new(const struct nd_signature_params *params, const struct nd_df *df,
                                struct nd_error *err)
{
    const struct nd_df_source source = {df ? nd_df_documents(df) : 0, count_in_table, df};

    return nd_signer_new_from(params, &source, err);
}

void nd_signer_free(struct nd_signer *s)
{
    if (!s)
        return;
    nd_hasher_release(&s->hasher);
    nd_shingle_set_release(&s->set);
    free(s->feature);
    free(s->hash.items);
    free(s->scratch.items);
    free(s->extra.items);
    free(s->word.items);
    free(s);
}

void nd_signer_key(const struct nd_signer *s, uint64_t *hash, size_t n)
{
    if (s->seed)
        nd_signature_kernels()->mix(hash, n, s->seed, hash);
}

void nd_signer_hash(const struct nd_signer *s, uint64_t *hash, size_t n)
{
    nd_signer_key(s, hash, n);
    nd_hasher_run(&s->hasher, hash, n);
}

/* The hashes of features from … from + n - 1 that have a weight; how many. */
static size_t gather(const struct nd_features *features, size_t from, size_t n, uint64_t *hash)
{
    const struct nd_feature *at;
    size_t kept = 0;

    if (features->hash) {
        memcpy(hash, features->hash + from, n * sizeof *hash);
        return n;
    }
    at = features->items + from;
    for (size_t i = 0; i < n; i++) { /* without a branch: written always, kept or not */
        hash[kept] = at[i].hash;
        kept += at[i].weight != 0;
    }
    return kept;
}

int64_t nd_signer_gather(struct nd_signer *s, const struct nd_features *features, bool content)
{
    size_t most = features->count - (content ? features->n_metadata : 0), n;

    if (!nd_word_array_reserve(&s->hash, most + 1))
        return -1;
    n = gather(features, 0, most, s->hash.items);
    nd_signer_key(s, s->hash.items, n);
    return (int64_t)n;
}

size_t nd_signer_take(const struct nd_signer *s, const struct nd_features *features, size_t from,
                      size_t n, uint64_t *hash)
{
    size_t kept = gather(features, from, n, hash);

    nd_signer_key(s, hash, kept);
    nd_hasher_run(&s->hasher, hash, kept);
    if (s->kept_bits != UINT64_MAX)
        for (size_t i = 0; i < kept; i++)
            hash[i] &= s->kept_bits;
    return kept;
}

enum nd_status nd_signer_run(struct nd_signer *s, const struct nd_features *features,
                             struct nd_signature *out)
{
    static enum nd_status (*const run[])(struct nd_signer *, const struct nd_features *,
                                         struct nd_signature *) = {
        [ND_SIGNATURE_SIMHASH] = nd_sign_simhash,
        [ND_SIGNATURE_MINHASH] = nd_sign_minima,
        [ND_SIGNATURE_BOTTOM_K] = nd_sign_values,
        [ND_SIGNATURE_MOD_P] = nd_sign_values,
        [ND_SIGNATURE_WINNOWING] = nd_sign_values,
        [ND_SIGNATURE_SUPERSHINGLES] = nd_sign_shingled_minima,
        [ND_SIGNATURE_SORTED_SHINGLES] = nd_sign_shingled_minima,
        [ND_SIGNATURE_MEGASHINGLES] = nd_sign_shingled_minima,
        [ND_SIGNATURE_IMATCH] = nd_sign_imatch,
        [ND_SIGNATURE_CHECKSUMS] = nd_sign_checksums,
        [ND_SIGNATURE_PROFILE] = nd_sign_profile,
        [ND_SIGNATURE_FEATURES] = nd_sign_values,
    };
    struct nd_signature signature = {0};
    enum nd_status status = run[s->params.kind](s, features, &signature);

    if (status != ND_OK)
        return status;
    signature.word = s->word.items;
    *out = signature;
    return ND_OK;
}

bool nd_signature_hold(struct nd_signature *x, struct nd_arena *arena)
{
    uint64_t *copy = nd_arena_alloc(arena, x->count * sizeof *copy + sizeof *copy);

    if (copy && x->count)
        memcpy(copy, x->word, x->count * sizeof *copy);
    x->word = copy;
    return copy != NULL;
}
