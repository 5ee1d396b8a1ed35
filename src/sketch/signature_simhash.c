/* signature_simhash.c - simhash of weighted features (Charikar 2002) */
#include "sketch/signer.h"

#include <string.h>

#include "base/number/bits.h"
#include "base/sort.h"
#include "simd/signature/signature_kernels.h"

enum { CHUNK = 256, WORDS = 512 / ND_WEIGHTED_BITS };

/* Word j of a feature's bits: its hash, then what the mixing makes of it. */
static void word_of(const uint64_t *hash, size_t n, size_t j, uint64_t *out)
{
    if (j == 0)
        memcpy(out, hash, n * sizeof *out);
    else
        nd_signature_kernels()->mix(hash, n, ND_SIGNATURE_STEP * j, out);
}

/* The features of one chunk that have a weight: first `equal` of one weight, then the others. */
struct chunk {
    uint64_t hash[CHUNK];
    int32_t least, weight[CHUNK]; /* of the equal ones; of the others */
    size_t n, equal;
};

/* How many of the features have the least weight that is not 0. */
static size_t count_least(const struct nd_feature *feature, size_t n, int32_t *least)
{
    size_t count = 0;

    *least = INT32_MAX;
    for (size_t i = 0; i < n; i++) {
        int32_t weight = feature[i].weight;

        if (weight < *least && weight != 0) {
            *least = weight;
            count = 0;
        }
        count += weight == *least;
    }
    return count;
}

/*
 * If weights are of frequencies alone, most features occur once and have the least weight: those
 * come first, and are added up as ones.
 */
static void part_equal(const struct nd_feature *feature, size_t n, int32_t least, struct chunk *c)
{
    uint64_t hash[CHUNK];
    size_t equal = 0, others = 0;

    for (size_t i = 0; i < n; i++) {
        int32_t weight = feature[i].weight;

        c->hash[equal] = hash[others] = feature[i].hash;
        c->weight[others] = weight;
        equal += weight == least;
        others += weight != least && weight != 0;
    }
    memcpy(c->hash + equal, hash, others * sizeof *hash);
    c->least = least;
    c->equal = equal;
    c->n = equal + others;
}

static void gather(const struct nd_features *features, size_t from, size_t n, struct chunk *c)
{
    const struct nd_feature *feature;
    int32_t least;

    if (features->hash) {
        memcpy(c->hash, features->hash + from, n * sizeof *c->hash);
        c->least = ND_WEIGHT_ONE;
        c->n = c->equal = n;
        return;
    }
    feature = features->items + from;
    if (2 * count_least(feature, n, &least) >= n) {
        part_equal(feature, n, least, c);
        return;
    }
    c->n = c->equal = 0;
    for (size_t i = 0; i < n; i++) {
        c->hash[c->n] = feature[i].hash;
        c->weight[c->n] = feature[i].weight;
        c->n += feature[i].weight != 0;
    }
}

/* One word of each of the features to its sums. */
static void add_word(const struct chunk *c, const uint64_t *word, int64_t *sum)
{
    if (c->equal)
        nd_signature_kernels()->equal(word, c->equal, c->least, sum);
    nd_signature_kernels()->weighted(word + c->equal, c->weight, c->n - c->equal, sum);
}

/* Add up features of one chunk; returns how many have a weight. */
static size_t add_chunk(const struct nd_signer *s, const struct nd_features *features, size_t from,
                        size_t n, size_t words, int64_t *sum)
{
    uint64_t word[CHUNK];
    struct chunk c;

    gather(features, from, n, &c);
    nd_signer_key(s, c.hash, c.n);
    nd_hasher_run(&s->hasher, c.hash, c.n);
    for (size_t j = 0; j < words; j++) {
        if (j > 0)
            word_of(c.hash, c.n, j, word);
        add_word(&c, j ? word : c.hash, sum + j * ND_WEIGHTED_BITS);
    }
    return c.n;
}

/*
 * A forced feature weighs one unit more than the n-th smallest magnitude among the sums, so that n
 * bits follow its hash: another value leaves all of them as they are with probability 2^-n.
 */
static void force(const struct nd_signer *s, const struct nd_feature *forced, unsigned bits,
                  int64_t *sum)
{
    uint64_t magnitude[WORDS * ND_WEIGHTED_BITS], scratch[WORDS * ND_WEIGHTED_BITS];
    uint64_t hash = forced->hash, word = 0;
    size_t n = forced->weight < 1 ? 1 : (size_t)forced->weight;
    int64_t weight;

    for (unsigned b = 0; b < bits; b++)
        magnitude[b] = (uint64_t)(sum[b] < 0 ? -sum[b] : sum[b]);
    nd_sort_values(magnitude, bits, scratch);
    weight = (int64_t)magnitude[(n < bits ? n : bits) - 1] + 1;
    nd_signer_key(s, &hash, 1);
    nd_hasher_run(&s->hasher, &hash, 1);
    for (unsigned b = 0; b < bits; b++) {
        if (b % ND_WEIGHTED_BITS == 0)
            word_of(&hash, 1, b / ND_WEIGHTED_BITS, &word);
        sum[b] += word >> b % ND_WEIGHTED_BITS & 1 ? weight : -weight;
    }
}

/* The length, from 0 to 2^32 tokens, in 2^r steps of equal ratio. */
static uint64_t quantised_length(uint64_t n_tokens, unsigned r)
{
    enum { OCTAVES_LOG2 = 5 };
    uint64_t log = nd_log2_fixed(n_tokens + (n_tokens < UINT64_MAX), ND_SIGNATURE_RESERVED_MAX);
    uint64_t step = log >> (ND_SIGNATURE_RESERVED_MAX + OCTAVES_LOG2 - r);
    uint64_t most = (UINT64_C(1) << r) - 1;

    return step < most ? step : most;
}

/* Return the value of the r reserved bits: a field, or the length. */
static uint64_t reserved_value(const struct nd_features *features, unsigned r)
{
    return features->has_reserved ? features->reserved >> (64 - r)
                                  : quantised_length(features->n_tokens, r);
}

enum nd_status nd_sign_simhash(struct nd_signer *s, const struct nd_features *features,
                               struct nd_signature *out)
{
    const struct nd_signature_params *p = &s->params;
    int64_t sum[WORDS * ND_WEIGHTED_BITS];
    uint64_t mask[WORDS] = {0};
    unsigned bits = p->bits - p->reserved_bits;
    size_t words = nd_signature_words(p), n_weighted = 0;

    memset(sum, 0, words * ND_WEIGHTED_BITS * sizeof *sum);
    memset(s->word.items, 0, words * sizeof *s->word.items);
    out->count = words;
    for (size_t i = 0; i < features->count; i += CHUNK)
        n_weighted += add_chunk(
            s, features, i, features->count - i < CHUNK ? features->count - i : CHUNK, words, sum);
    out->is_rejected = n_weighted == 0;
    if (out->is_rejected)
        return ND_OK;
    nd_signature_mask(p, mask);
    for (size_t i = 0; i < features->n_forced; i++)
        force(s, features->forced + i, bits, sum);
    for (size_t j = 0; j < words; j++)
        s->word.items[j] = nd_signature_kernels()->signs(sum + j * ND_WEIGHTED_BITS) & mask[j];
    if (p->reserved_bits)
        s->word.items[words - 1] |= reserved_value(features, p->reserved_bits)
                                    << ((p->bits - 1) % 64 + 1 - p->reserved_bits);
    return ND_OK;
}
