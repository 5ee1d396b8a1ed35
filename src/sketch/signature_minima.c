/* signature_minima.c - minima, super-shingles of two kinds, mega-shingles */
#include "sketch/signer.h"

#include <string.h>

#include "base/sort.h"
#include "simd/signature/signature_kernels.h"
#include "simd/sketch/sketch_kernels.h"

enum { CHUNK = 512 };

_Static_assert(ND_SIGNATURE_MINIMA_MAX % ND_MINIMA == 0, "whole runs of minima");

/*
 * The minima of docs/format/sketch.md, and more of them: run r of 128 is made of the hashes mixed
 * with r, run 0 of the hashes themselves.  Returns how many features there are.
 */
static size_t find_minima(const struct nd_signer *s, const struct nd_features *features,
                          uint32_t *minima)
{
    uint64_t hash[CHUNK + 1], mixed[CHUNK];
    size_t n = 0;

    memset(minima, 0xFF, ND_SIGNATURE_MINIMA_MAX * sizeof *minima);
    for (size_t i = 0; i < features->count; i += CHUNK) {
        size_t left = features->count - i;
        size_t m = nd_signer_take(s, features, i, left < CHUNK ? left : CHUNK, hash);

        n += m;
        nd_sketch_kernels()->minhash(hash, m, minima);
        for (size_t r = 1; r * ND_MINIMA < s->params.minima; r++) {
            nd_signature_kernels()->mix(hash, m, ND_SIGNATURE_STEP * r, mixed);
            nd_sketch_kernels()->minhash(mixed, m, minima + r * ND_MINIMA);
        }
    }
    return n;
}

/* A signature of nothing: NONE in every coordinate, or no value. */
static enum nd_status reject(struct nd_signer *s, struct nd_signature *out)
{
    out->count = nd_signature_words(&s->params);
    out->is_rejected = 1;
    memset(s->word.items, 0, out->count * sizeof *s->word.items);
    return ND_OK;
}

enum nd_status nd_sign_minima(struct nd_signer *s, const struct nd_features *features,
                              struct nd_signature *out)
{
    uint32_t minima[ND_SIGNATURE_MINIMA_MAX];

    if (find_minima(s, features, minima) == 0)
        return reject(s, out);
    out->count = s->params.minima;
    for (size_t i = 0; i < out->count; i++)
        s->word.items[i] = (uint64_t)minima[i] + 1;
    return ND_OK;
}

/* Consecutive groups of the minima, each hashed (Henzinger 2006: 84 minima, 6 groups). */
static void super_shingles(const struct nd_signer *s, const uint64_t *sketch, uint64_t *out)
{
    size_t groups = s->params.groups, each = s->params.minima / groups;
    struct nd_list list[ND_SIGNATURE_MINIMA_MAX];

    for (size_t g = 0; g < groups; g++)
        list[g] = (struct nd_list){sketch + g * each, each};
    nd_hasher_lists(&s->hasher, list, groups, out);
}

/* Every pair of super-shingles (Fetterly 2003): one is equal where two super-shingles are. */
static void mega_shingles(const struct nd_signer *s, const uint64_t *sketch, uint64_t *out)
{
    enum { PAIRS = ND_SIGNATURE_MEGA_MAX * (ND_SIGNATURE_MEGA_MAX - 1) / 2 };
    uint64_t super[ND_SIGNATURE_MEGA_MAX], pair[PAIRS][2];
    struct nd_list list[PAIRS];
    size_t at = 0;

    super_shingles(s, sketch, super);
    for (size_t g = 0; g < s->params.groups; g++)
        for (size_t h = g + 1; h < s->params.groups; h++, at++) {
            pair[at][0] = super[g];
            pair[at][1] = super[h];
            list[at] = (struct nd_list){pair[at], 2};
        }
    nd_hasher_lists(&s->hasher, list, at, out);
}

/* The shingles of the sketch as a sorted sequence of distinct values, as a set (Broder 1997). */
static size_t sorted_shingles(const struct nd_signer *s, uint64_t *sketch, uint64_t *out)
{
    uint64_t scratch[ND_SIGNATURE_MINIMA_MAX];
    struct nd_list list[ND_SIGNATURE_MINIMA_MAX];
    size_t n = nd_sort_distinct(sketch, s->params.minima, scratch), count;
    size_t width = s->params.width < n ? s->params.width : n;

    count = n - width + 1;
    for (size_t i = 0; i < count; i++)
        list[i] = (struct nd_list){sketch + i, width};
    nd_hasher_lists(&s->hasher, list, count, out);
    return nd_sort_distinct(out, count, scratch);
}

enum nd_status nd_sign_shingled_minima(struct nd_signer *s, const struct nd_features *features,
                                       struct nd_signature *out)
{
    uint32_t minima[ND_SIGNATURE_MINIMA_MAX];
    uint64_t sketch[ND_SIGNATURE_MINIMA_MAX];

    if (!nd_word_array_reserve(&s->word, s->params.minima))
        return ND_ENOMEM;
    if (find_minima(s, features, minima) == 0)
        return reject(s, out);
    for (size_t i = 0; i < s->params.minima; i++)
        sketch[i] = minima[i];
    out->count = nd_signature_words(&s->params);
    if (s->params.kind == ND_SIGNATURE_SUPERSHINGLES)
        super_shingles(s, sketch, s->word.items);
    else if (s->params.kind == ND_SIGNATURE_MEGASHINGLES)
        mega_shingles(s, sketch, s->word.items);
    else
        out->count = sorted_shingles(s, sketch, s->word.items);
    return ND_OK;
}
