/* candidate_count.c - how many candidates the kept documents would be of one another */

/*
 * The low bytes of the minima are all that bands are made of (index/index_row.c), so the rows of
 * the index tell who would share a band at any threshold.  For each band the documents are sorted
 * by their keys, and the pairs of each bucket are tested as a look-up would (nd_index_query_row): a
 * pair counts in the first band that it shares.
 */
#include "engine/candidate_count.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "engine/batch.h"
#include "engine/document/shingle_cache.h"
#include "index/index_row.h"
#include "index/live_state.h"
#include "recipe/recipe_struct.h"

enum { DOCUMENTS_MAX = 20000, BUCKET_MAX = 128 };

struct counted {
    uint64_t key;
    uint32_t number;
};

struct candidate_counting {
    const struct nd_dedup *d;
    const struct nd_index *index;
    const uint32_t *block;
    struct nd_index_params params;
    unsigned band;
    struct nd_fraction threshold;
    unsigned distance;
    double sliced;
    struct counted *document; /* of the sample */
    size_t n;
    struct nd_candidate_count *out;
};

int nd_dedup_has_bands(const struct nd_dedup *d)
{
    return !d->plan.matching && !d->plan.containers.sample && d->plan.index.bands > 0 &&
           d->plan.params.candidates == ND_CANDIDATES_MINHASH;
}

uint64_t nd_dedup_cached_bytes(const struct nd_dedup *d)
{
    return d->kept.cache ? nd_shingle_cache_bytes(d->kept.cache) : 0;
}

static int by_key(const void *a, const void *b)
{
    const struct counted *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Return whom a document could match by its resemblance, whatever decides. */
static struct nd_reach reach_of(const struct candidate_counting *c, uint32_t number)
{
    struct nd_reach reach = {.distance = c->distance};

    nd_measure_range(ND_VERIFY_JACCARD, nd_live_gate(c->index, number).n_shingles, c->threshold,
                     &reach.least, &reach.most);
    return reach;
}

/* Whether this is the first band that makes two documents candidates. */
static bool are_candidates(const struct candidate_counting *c, struct nd_reach reach, uint32_t a,
                           uint32_t b)
{
    const uint8_t *x = nd_live_low(c->index, a), *y = nd_live_low(c->index, b);
    const size_t rows = c->params.rows;

    if (!nd_reaches_count(reach, nd_live_gate(c->index, b).n_shingles) ||
        !nd_reaches_distance(reach, ND_MINHASH_COUNT - nd_low_bytes_equal(x, y)))
        return false;
    for (size_t band = 0; band < c->band; band++)
        if (memcmp(x + band * rows, y + band * rows, rows) == 0)
            return false;
    return memcmp(x + c->band * rows, y + c->band * rows, rows) == 0;
}

static void count_pair(struct candidate_counting *c, uint32_t a, uint32_t b, double weight)
{
    double x = (double)nd_low_bytes_equal(nd_live_low(c->index, a), nd_live_low(c->index, b)) /
               ND_MINHASH_COUNT;
    double for_torn = weight / (x + (1 - x) * c->sliced);

    c->out->found += weight;
    if (c->block[nd_kept_document(&c->d->kept, a)] == c->block[nd_kept_document(&c->d->kept, b)])
        c->out->within += for_torn;
    else
        c->out->across += for_torn;
}

/* The pairs of documents with one key; of very many, those of some that stand for all. */
static void count_bucket(struct candidate_counting *c, const struct counted *bucket, size_t n)
{
    size_t some = n < BUCKET_MAX ? n : BUCKET_MAX;
    double weight = (double)n * (double)(n - 1) / ((double)some * (double)(some - 1));

    for (size_t i = 1; i < some; i++) {
        const uint32_t a = bucket[i * n / some].number;
        const struct nd_reach reach = reach_of(c, a);

        for (size_t k = 0; k < i; k++) {
            uint32_t b = bucket[k * n / some].number;

            if (are_candidates(c, reach, a, b))
                count_pair(c, a, b, weight);
        }
    }
}

static void count_band(struct candidate_counting *c)
{
    for (size_t i = 0; i < c->n; i++) {
        uint32_t number = c->document[i].number;

        c->document[i].key = nd_band_key(&c->params, c->band, nd_live_low(c->index, number),
                                         nd_live_gate(c->index, number).group);
    }
    qsort(c->document, c->n, sizeof *c->document, by_key);
    for (size_t from = 0, to; from < c->n; from = to) {
        for (to = from + 1; to < c->n && c->document[to].key == c->document[from].key;)
            to++;
        if (to - from > 1)
            count_bucket(c, c->document + from, to - from);
    }
}

/* List the kept documents; of many only a share, chosen by a hash of their numbers. */
static bool list_documents(struct candidate_counting *c)
{
    uint32_t n = c->d->kept.n;

    c->document = nd_alloc_array((size_t)n + 1, sizeof *c->document);
    if (!c->document)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!(*nd_live_flags(c->index, i) & (ND_LIVE_SHORT | ND_LIVE_IDENTITY_ONLY)) &&
            (n <= DOCUMENTS_MAX || nd_mix64(i + 1) % n < DOCUMENTS_MAX))
            c->document[c->n++].number = i;
    return true;
}

enum nd_status nd_dedup_count_candidates(const struct nd_dedup *d, const uint32_t *block,
                                         struct nd_ratio threshold, double sliced,
                                         struct nd_candidate_count *out, struct nd_error *err)
{
    struct candidate_counting c = {.d = d,
                                   .index = d->kept.finder.index,
                                   .block = block,
                                   .params = d->plan.index,
                                   .sliced = sliced,
                                   .out = out};
    const double share = d->kept.n > DOCUMENTS_MAX ? (double)DOCUMENTS_MAX / d->kept.n : 1;

    *out = (struct nd_candidate_count){.bands = d->plan.index.bands, .rows = d->plan.index.rows};
    if (!nd_dedup_has_bands(d))
        return nd_fail(err, ND_EINVAL, "candidates are not found by bands of minima");
    if (!threshold.p)
        threshold = d->plan.params.threshold;
    else if (nd_bands_choose(threshold, d->plan.params.recall, &out->bands, &out->rows, err))
        return ND_EINVAL;
    c.params.bands = out->bands;
    c.params.rows = out->rows;
    c.params.simhash_bits = ND_NO_SIMHASH;
    c.threshold = nd_measure_threshold(ND_VERIFY_JACCARD, threshold);
    c.distance = ND_MINHASH_COUNT - nd_low_bytes_agreeing(threshold.p, threshold.q);
    if (!list_documents(&c))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (c.band = 0; c.band < out->bands; c.band++)
        count_band(&c);
    free(c.document);
    out->within /= share * share;
    out->across /= share * share;
    out->found /= share * share;
    return ND_OK;
}
