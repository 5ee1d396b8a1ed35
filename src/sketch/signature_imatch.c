/*
 * signature_imatch.c - I-Match (Seshasai 2009, §2.4.3; Kolcz 2004): the terms in a lexicon, as one
 * hash
 *
 * The lexicons are those of docs/format/signatures.md: the primary one is a band of nidf, the
 * secondary one has the rarer terms of the df table, and each randomized one leaves out a part of
 * the primary one.  Every lexicon is topped up, and its signature rejected, by itself.
 */
#include "sketch/signer.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number/bits.h"
#include "base/sort.h"
#include "simd/signature/signature_kernels.h"

enum { MILLION = 1000000, COPIES = ND_SIGNATURE_LEXICONS_MAX + 1 };

_Static_assert(ND_SIGNATURE_LEXICONS_MAX <= ND_LEXICONS_MOST, "the kernels take as many");

/*
 * Whether ln(N / n) / ln N is below a bound of so many millionths: log n above (1 - bound) log N.
 * Logarithms are rounded down in their 48th place, and what is nearer than that is equal.
 */
static bool is_below(uint32_t n, uint64_t log_n_documents, uint64_t bound)
{
    unsigned __int128 left = (unsigned __int128)nd_log2_fixed(n, ND_LOG2_BITS_MAX) * MILLION;
    unsigned __int128 right = (unsigned __int128)log_n_documents * (MILLION - bound);

    return left > right + MILLION;
}

static bool is_above(uint32_t n, uint64_t log_n_documents, uint64_t bound)
{
    unsigned __int128 left = (unsigned __int128)nd_log2_fixed(n, ND_LOG2_BITS_MAX) * MILLION;
    unsigned __int128 right = (unsigned __int128)log_n_documents * (MILLION - bound);

    return left + MILLION < right;
}

/* The document frequencies of the band, by halving: nidf falls as n rises. */
static void find_band(struct nd_signer *s)
{
    uint64_t log = nd_log2_fixed(s->df.n_documents, ND_LOG2_BITS_MAX);
    uint64_t low = nd_signature_millionths(s->params.lexicon_low);
    uint64_t high = nd_signature_millionths(s->params.lexicon_high);
    uint64_t from = 1, to = (uint64_t)UINT32_MAX + 1; /* the least that is not above the band */

    while (from < to) {
        uint64_t middle = (from + to) / 2;

        if (middle <= UINT32_MAX && is_above((uint32_t)middle, log, high))
            from = middle + 1;
        else
            to = middle;
    }
    s->df_least = from > UINT32_MAX ? UINT32_MAX : (uint32_t)from;
    from = 0; /* the greatest that is not below it */
    to = UINT32_MAX;
    while (from < to) {
        uint64_t middle = (from + to + 1) / 2;

        if (is_below((uint32_t)middle, log, low))
            to = middle - 1;
        else
            from = middle;
    }
    s->df_most = (uint32_t)from;
}

enum nd_status nd_imatch_prepare(struct nd_signer *s, struct nd_error *err)
{
    const struct nd_signature_params *p = &s->params;

    if (!s->df.n_documents)
        return nd_fail(err, ND_EINVAL, "I-Match needs a df table, of which its lexicon is made");
    if (s->df.n_documents < 2)
        return nd_fail(err, ND_EINVAL,
                       "the df table counts only one document, so nidf is undefined");
    find_band(s);
    s->drop = p->bootstrap
                  ? 24109 /* 2^16 / e */
                  : (uint32_t)((nd_signature_millionths(p->drop) * 65536 + MILLION / 2) / MILLION);
    for (unsigned k = 0; k < p->lexicons; k += ND_LEXICONS_A_KEY)
        s->key[k / ND_LEXICONS_A_KEY] =
            nd_mix64(p->seed + ND_SIGNATURE_STEP * (k / ND_LEXICONS_A_KEY + 1));
    return ND_OK;
}

/* The document frequency of feature i; 0: the table does not have it. */
static uint32_t frequency(const struct nd_signer *s, const struct nd_features *f, size_t i)
{
    if (f->df && f->df[i] != 1)
        return f->df[i];
    return s->df.count(s->df.context, f->items[i].hash); /* 1 may stand for unseen */
}

/* Each of n terms once: ascending where that matters; how many, or -1. */
static int64_t distinct_terms(struct nd_signer *s, size_t n)
{
    if (nd_hasher_wants_order(&s->hasher)) {
        if (!nd_word_array_reserve(&s->scratch, n + 1))
            return -1;
        return (int64_t)nd_sort_distinct(s->hash.items, n, s->scratch.items);
    }
    if (!nd_shingle_set_build(&s->set, s->hash.items, n))
        return -1;
    if (s->set.count)
        memcpy(s->hash.items, s->set.distinct, s->set.count * sizeof *s->hash.items);
    return (int64_t)s->set.count;
}

/*
 * The terms of the primary lexicon to s->hash: distinct, keyed, and ascending where that matters;
 * how many, or -1.  Only a band that begins at 1 has to ask which terms are unseen.
 */
static int64_t primary_terms(struct nd_signer *s, const struct nd_features *f)
{
    const uint32_t least = s->df_least, most = s->df_most;
    const bool by_array = f->df && least > 1;
    size_t n_content = f->count - f->n_metadata, n = 0;

    if (!nd_word_array_reserve(&s->hash, n_content + 1))
        return -1;
    for (size_t i = 0; i < n_content; i++) {
        uint32_t df = by_array ? f->df[i] : frequency(s, f, i);

        s->hash.items[n] = f->items[i].hash;
        n += (df >= least) & (df <= most) & (df > 0) & (f->items[i].weight != 0);
    }
    nd_signer_key(s, s->hash.items, n);
    return distinct_terms(s, n);
}

/* Return the frequency of feature i, where 1 may stand for unseen. */
static uint32_t frequency_or_one(const struct nd_signer *s, const struct nd_features *f, size_t i)
{
    return f->df ? f->df[i] : frequency(s, f, i);
}

/* The document's terms of one frequency, keyed, distinct, ascending; how many. */
static size_t terms_of_frequency(struct nd_signer *s, const struct nd_features *f, size_t n,
                                 uint32_t df, uint64_t *term)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (f->items[i].weight && frequency_or_one(s, f, i) == df &&
            (df > 1 || frequency(s, f, i) > 0))
            term[count++] = f->items[i].hash;
    nd_signer_key(s, term, count);
    return nd_sort_distinct(term, count, term + n);
}

/*
 * The secondary lexicon's terms of the document in its order, lowest idf first, equal ones by their
 * hash; at most `most`, to s->extra.  A frequency at a time, until there are enough: so the terms
 * of frequency 1, of which the table has to say whether it has them, are seldom asked for.  -1: no
 * memory.
 */
static int64_t secondary_terms(struct nd_signer *s, const struct nd_features *f, size_t most)
{
    size_t n = f->count - f->n_metadata, n_ranks = 0, taken = 0;
    uint64_t *rank, *term;

    if (!nd_word_array_reserve(&s->extra, most + 3 * n))
        return -1;
    rank = s->extra.items + most;
    term = rank + n;
    for (size_t i = 0; i < n; i++) {
        uint32_t df = f->items[i].weight ? frequency_or_one(s, f, i) : 0;

        if (df > 0 && df < s->df_least)
            rank[n_ranks++] = UINT32_MAX - df;
    }
    n_ranks = nd_sort_distinct(rank, n_ranks, term);
    for (size_t r = 0; r < n_ranks && taken < most; r++) {
        size_t same = terms_of_frequency(s, f, n, (uint32_t)(UINT32_MAX - rank[r]), term);

        for (size_t i = 0; i < same && taken < most; i++)
            s->extra.items[taken++] = term[i];
    }
    return (int64_t)taken;
}

/* The sums of each lexicon before its hash: 0 is the primary one, then its copies. */
struct tally {
    uint64_t sum[COPIES], count[COPIES]; /* of the primary lexicon's terms that it keeps */
    uint64_t more[COPIES];               /* terms of the secondary one */
};

static enum nd_status count_terms(struct nd_signer *s, size_t n, struct tally *t)
{
    const unsigned copies = s->params.lexicons;
    const struct nd_lexicons lexicons = {s->key, copies, s->drop};

    memset(t->sum, 0, (copies + 1) * sizeof *t->sum);
    memset(t->count, 0, (copies + 1) * sizeof *t->count);
    if (!nd_word_array_reserve(&s->scratch, n + 1))
        return ND_ENOMEM;
    nd_signature_kernels()->mix(s->hash.items, n, 0, s->scratch.items);
    for (size_t i = 0; i < n; i++)
        t->sum[0] += s->scratch.items[i];
    t->count[0] = n;
    nd_signature_kernels()->lexicons(&lexicons, s->hash.items, s->scratch.items, n, t->sum + 1,
                                     t->count + 1);
    return ND_OK;
}

/* Top each lexicon up to more than the limit, if there are as many. */
static enum nd_status top_up(struct nd_signer *s, const struct nd_features *f, struct tally *t)
{
    const uint64_t limit = s->params.secondary;
    int64_t n = 0;
    bool wants_more = false;

    for (unsigned k = 0; k <= s->params.lexicons; k++) {
        t->more[k] = limit == 0 || t->count[k] > limit ? 0 : limit + 1 - t->count[k];
        wants_more |= t->more[k] > 0;
    }
    if (wants_more)
        n = secondary_terms(s, f, (size_t)limit + 1);
    for (unsigned k = 0; k <= s->params.lexicons; k++)
        t->more[k] = t->more[k] < (uint64_t)n ? t->more[k] : (uint64_t)n;
    return n < 0 ? ND_ENOMEM : ND_OK;
}

/* By the token function: sums, in any order. */
static void add_up(const struct nd_signer *s, const struct tally *t, uint64_t *out)
{
    for (unsigned k = 0; k <= s->params.lexicons; k++) {
        uint64_t sum = t->sum[k];

        for (size_t i = 0; i < t->more[k]; i++)
            sum += nd_mix64(s->extra.items[i]);
        out[k] = nd_hasher_sum(sum, t->count[k] + t->more[k]);
    }
}

/* The terms that lexicons first … first + count - 1 keep, ascending as they were; `room` each. */
static void choose(const struct nd_signer *s, size_t n, unsigned first, unsigned count, size_t room,
                   size_t *len)
{
    for (unsigned k = 0; k < count; k++)
        len[k] = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t term = s->hash.items[i];
        uint64_t bits = 0;

        for (unsigned k = 0; k < count; k++) {
            unsigned copy = first + k - 1; /* of the primary lexicon: none */

            if (first + k > 0 && (k == 0 || copy % ND_LEXICONS_A_KEY == 0))
                bits = nd_mix64(term ^ s->key[copy / ND_LEXICONS_A_KEY]);
            s->scratch.items[k * room + len[k]] = term;
            len[k] +=
                first + k == 0 || (bits >> 16 * (copy % ND_LEXICONS_A_KEY) & UINT16_MAX) >= s->drop;
        }
    }
}

/* By the other functions: some lists at a time, each ascending. */
static enum nd_status hash_lists(struct nd_signer *s, size_t n, const struct tally *t,
                                 uint64_t *out)
{
    enum { AT_ONCE = ND_SHA1_LANES };
    const unsigned all = s->params.lexicons + 1;
    const size_t room = n + s->params.secondary + 2;
    struct nd_list list[AT_ONCE];
    size_t len[AT_ONCE];

    if (!nd_word_array_reserve(&s->scratch, (AT_ONCE + 1) * room))
        return ND_ENOMEM;
    for (unsigned first = 0; first < all; first += AT_ONCE) {
        unsigned count = all - first < AT_ONCE ? all - first : AT_ONCE;

        choose(s, n, first, count, room, len);
        for (unsigned k = 0; k < count; k++) {
            uint64_t *word = s->scratch.items + k * room;
            size_t more = t->more[first + k];

            if (more) {
                memcpy(word + len[k], s->extra.items, more * sizeof *word);
                nd_sort_values(word, len[k] + more, s->scratch.items + AT_ONCE * room);
            }
            list[k] = (struct nd_list){word, len[k] + more};
        }
        nd_hasher_sets(&s->hasher, list, count, out + first);
    }
    return ND_OK;
}

/* Hashes alone, as features. */
static bool give_weights(struct nd_signer *s, struct nd_features *features)
{
    if (!features->hash)
        return true;
    if (!ND_RESERVE(s->feature, &s->feature_capacity, features->count))
        return false;
    for (size_t i = 0; i < features->count; i++)
        s->feature[i] = (struct nd_feature){features->hash[i], ND_WEIGHT_ONE};
    features->items = s->feature;
    return true;
}

enum nd_status nd_sign_imatch(struct nd_signer *s, const struct nd_features *given,
                              struct nd_signature *out)
{
    struct nd_features weighted = *given, *features = &weighted;
    int64_t n = give_weights(s, features) ? primary_terms(s, features) : -1;
    struct tally t;

    if (n < 0 || count_terms(s, (size_t)n, &t) != ND_OK || top_up(s, features, &t) != ND_OK)
        return ND_ENOMEM;
    if (!nd_hasher_wants_order(&s->hasher))
        add_up(s, &t, s->word.items);
    else if (hash_lists(s, (size_t)n, &t, s->word.items) != ND_OK)
        return ND_ENOMEM;
    out->is_rejected = 1;
    out->count = (size_t)s->params.lexicons + 1;
    for (size_t k = 0; k < out->count; k++) { /* too few terms: NONE */
        uint64_t terms = t.count[k] + t.more[k];

        if (terms == 0 || terms < s->params.least_terms)
            s->word.items[k] = ND_COORDINATE_NONE;
        else
            out->is_rejected = 0;
    }
    return ND_OK;
}
