/* signature_counts.c - checksums of buckets of terms (Manku 2007, §5.4d), and the text profile */
#include "sketch/signer.h"

#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "simd/signature/signature_kernels.h"

/* A signature of NONE in every coordinate. */
static enum nd_status reject(struct nd_signer *s, struct nd_signature *out)
{
    out->is_rejected = 1;
    memset(s->word.items, 0, out->count * sizeof *s->word.items);
    return ND_OK;
}

static size_t bucket_of(uint64_t mixed, unsigned buckets)
{
    return (size_t)((mixed >> 32) * buckets >> 32);
}

/* By the token function: sums, the terms in any order. */
static void add_to_buckets(const struct nd_signer *s, const uint64_t *term, size_t n,
                           uint64_t *checksum)
{
    enum { CHUNK = 256 };
    uint64_t count[ND_SIGNATURE_GROUPS_MAX], mixed[CHUNK];
    const unsigned buckets = s->params.groups;

    memset(count, 0, buckets * sizeof *count);
    memset(checksum, 0, buckets * sizeof *checksum);
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;

        nd_signature_kernels()->mix(term + i, m, 0, mixed);
        for (size_t k = 0; k < m; k++) {
            size_t b = bucket_of(mixed[k], buckets);

            checksum[b] += mixed[k];
            count[b]++;
        }
    }
    for (unsigned b = 0; b < buckets; b++)
        checksum[b] = count[b] ? nd_hasher_sum(checksum[b], count[b]) : ND_COORDINATE_NONE;
}

/* By another function: the terms of each bucket together, ascending. */
static void hash_buckets(const struct nd_signer *s, const uint64_t *term, size_t n, uint64_t *list,
                         uint64_t *checksum)
{
    struct nd_list bucket[ND_SIGNATURE_GROUPS_MAX];
    size_t end[ND_SIGNATURE_GROUPS_MAX + 1] = {0};
    const unsigned buckets = s->params.groups;

    memset(bucket, 0, buckets * sizeof *bucket);
    for (size_t i = 0; i < n; i++)
        end[bucket_of(nd_mix64(term[i]), buckets) + 1]++;
    for (unsigned b = 0; b < buckets; b++)
        end[b + 1] += end[b];
    for (size_t i = 0; i < n; i++)
        list[end[bucket_of(nd_mix64(term[i]), buckets)]++] = term[i];
    for (size_t b = 0, from = 0; b < buckets; from = end[b++])
        bucket[b] = (struct nd_list){list + from, end[b] - from};
    nd_hasher_sets(&s->hasher, bucket, buckets, checksum);
    for (unsigned b = 0; b < buckets; b++)
        if (bucket[b].n == 0)
            checksum[b] = ND_COORDINATE_NONE;
}

enum nd_status nd_sign_checksums(struct nd_signer *s, const struct nd_features *features,
                                 struct nd_signature *out)
{
    int64_t gathered = nd_signer_gather(s, features, false);
    size_t n = (size_t)gathered;

    out->count = s->params.groups;
    if (gathered < 0 || !nd_shingle_set_build(&s->set, s->hash.items, n))
        return ND_ENOMEM;
    n = s->set.count;
    if (n == 0 || n < s->params.least_terms)
        return reject(s, out);
    if (!nd_hasher_wants_order(&s->hasher)) {
        add_to_buckets(s, s->set.distinct, n, s->word.items);
        return ND_OK;
    }
    if (!nd_word_array_reserve(&s->scratch, n))
        return ND_ENOMEM;
    memcpy(s->hash.items, s->set.distinct, n * sizeof *s->hash.items);
    nd_sort_values(s->hash.items, n, s->scratch.items);
    hash_buckets(s, s->hash.items, n, s->scratch.items, s->word.items);
    return ND_OK;
}

/* Sorted occurrences to pairs of a term and its count; how many. */
static size_t count_runs(const uint64_t *sorted, size_t n, uint64_t *pair)
{
    size_t count = 0;

    for (size_t i = 0; i < n;) {
        size_t from = i;

        while (i < n && sorted[i] == sorted[from])
            i++;
        pair[2 * count] = sorted[from];
        pair[2 * count + 1] = i - from;
        count++;
    }
    return count;
}

/* Count occurrences in any order; pairs have that of the first occurrences.  False: no memory. */
static bool count_in_set(struct nd_shingle_set *set, const uint64_t *term, size_t n, uint64_t *pair)
{
    uint32_t *count;

    if (!nd_shingle_set_build(set, term, n))
        return false;
    count = (uint32_t *)(pair + 2 * set->count); /* behind the pairs */
    memset(count, 0, set->count * sizeof *count);
    nd_shingle_set_count(set, term, n, count);
    for (size_t i = 0; i < set->count; i++) {
        pair[2 * i] = set->distinct[i];
        pair[2 * i + 1] = count[i];
    }
    return true;
}

/* Distinct terms and their counts: ascending where the hash wants order; how many, -1: no memory.
 */
static int64_t count_terms(struct nd_signer *s, size_t n, uint64_t *pair)
{
    if (!nd_hasher_wants_order(&s->hasher))
        return count_in_set(&s->set, s->hash.items, n, pair) ? (int64_t)s->set.count : -1;
    nd_sort_values(s->hash.items, n, s->scratch.items);
    return (int64_t)count_runs(s->hash.items, n, pair);
}

/* The unit of counts: the share of the greatest, rounded, but 2 at least where any word repeats. */
static uint64_t unit_of(uint64_t greatest, uint64_t millionths)
{
    uint64_t unit = (uint64_t)(((unsigned __int128)greatest * millionths + 500000) / 1000000);

    if (unit < 2)
        unit = greatest > 1 ? 2 : 1;
    return unit;
}

/* The pairs, which ascend by term, from the greatest count on. */
static size_t order_pairs(const uint64_t *pair, size_t n, uint64_t *place, uint64_t *scratch,
                          uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        place[i] = (UINT32_MAX - pair[2 * i + 1]) << 32 | i;
    nd_sort_values(place, n, scratch);
    for (size_t i = 0; i < n; i++)
        memcpy(out + 2 * i, pair + 2 * (place[i] & UINT32_MAX), 2 * sizeof *out);
    return 2 * n;
}

/* Each count rounded down to whole units of a share of the greatest; terms of less than one unit
 * go.  Returns how many stay. */
static size_t quantise(uint64_t *pair, size_t n, uint64_t millionths)
{
    uint64_t greatest = 0, unit;
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        greatest = pair[2 * i + 1] > greatest ? pair[2 * i + 1] : greatest;
    unit = unit_of(greatest, millionths);
    for (size_t i = 0; i < n; i++) {
        uint64_t count = pair[2 * i + 1];

        pair[2 * kept] = pair[2 * i];
        pair[2 * kept + 1] = count;
        kept += count >= unit;
    }
    for (size_t i = 0; i < kept; i++)
        pair[2 * i + 1] -= (uint32_t)pair[2 * i + 1] % (uint32_t)unit;
    return kept;
}

enum nd_status nd_sign_profile(struct nd_signer *s, const struct nd_features *features,
                               struct nd_signature *out)
{
    int64_t n_occurrences = nd_signer_gather(s, features, false), n_terms;
    size_t max = n_occurrences < 0 ? 0 : (size_t)n_occurrences, n;
    uint64_t *pair;

    out->count = 1;
    if (n_occurrences < 0 || !nd_word_array_reserve(&s->scratch, max + 1) ||
        !nd_word_array_reserve(&s->extra, 4 * max + 1))
        return ND_ENOMEM;
    pair = s->extra.items;
    n_terms = count_terms(s, max, pair);
    if (n_terms < 0)
        return ND_ENOMEM;
    if (n_terms == 0 || (uint64_t)n_terms < s->params.least_terms)
        return reject(s, out);
    n = quantise(pair, (size_t)n_terms, s->quantum);
    if (nd_hasher_wants_order(&s->hasher)) {
        uint64_t *ordered = pair + 2 * n;
        struct nd_list list = {ordered,
                               order_pairs(pair, n, s->hash.items, s->scratch.items, ordered)};

        nd_hasher_lists(&s->hasher, &list, 1, s->word.items);
        return ND_OK;
    }
    for (size_t i = 0; i < n; i++)
        pair[i] = pair[2 * i] + ND_SIGNATURE_STEP * pair[2 * i + 1];
    nd_hasher_sets(&s->hasher, &(struct nd_list){pair, n}, 1, s->word.items);
    return ND_OK;
}
