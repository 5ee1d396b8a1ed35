/* weigh.c - from counts to weights: docs/format/weights.md */
#include <stdlib.h>

#include "base/memory.h"
#include "feature/position.h"
#include "feature/select_rank.h"
#include "feature/weigh.h"
#include "feature/weight_tables.h"

typedef unsigned __int128 wide;

enum {
    FRACTION = 32,    /* bits of a share */
    WEIGHT_BITS = 48, /* of the greatest weight while weights are compared */
    IDF_REMEMBERED = 1024,
};

struct nd_weigher {
    struct nd_weight_params params;
    struct nd_position_weights position;
    int64_t boost;           /* in 2^-24 */
    uint64_t clip_quantile;  /* shares in 2^-32 */
    uint64_t cut, band_high; /* of the greatest weight: below is dropped, above is dropped */
    uint64_t top_share;
    const struct nd_df *df;            /* NULL: none */
    uint64_t documents, log_documents; /* N, ln N */
    uint64_t idf[IDF_REMEMBERED];      /* of n < IDF_REMEMBERED */
    wide *raw;                         /* weights of this document */
    uint64_t *weight, *work;
    size_t capacity;
};

/* ln(N / n), n above 0; of n above N 0. */
static inline uint64_t log_idf(uint64_t documents, uint64_t log_documents, uint32_t n)
{
    uint64_t log = nd_ln(n + (n == 0));

    return n < documents ? log_documents - log : 0;
}

/* idf of n of N, in 2^-40; n above N is N. */
static uint64_t idf_of(const struct nd_weigher *w, uint32_t n)
{
    n = n > 0 ? n : 1;
    switch (w->params.idf) {
    case ND_IDF_INVERSE: return ND_LN_ONE / n;
    case ND_IDF_LOG: return log_idf(w->documents, w->log_documents, n);
    case ND_IDF_NIDF: return nd_df_nidf(w->df, n);
    default: return ND_LN_ONE;
    }
}

/* A share of a parameter to 2^-32, cut, so that a tenth of fifty is five; false: it is none. */
static bool read_share(double share, uint64_t *out)
{
    if (!(share >= 0 && share <= 1))
        return false;
    *out = (uint64_t)(share * 4294967296.0);
    return true;
}

static enum nd_status check_words(const struct nd_weight_params *p, struct nd_error *err)
{
    if ((unsigned)p->tf > ND_TF_BINARY)
        return nd_fail(err, ND_EINVAL, "tf: %d is no term frequency", (int)p->tf);
    if ((unsigned)p->idf > ND_IDF_NIDF)
        return nd_fail(err, ND_EINVAL, "idf: %d is no inverse document frequency", (int)p->idf);
    if ((unsigned)p->markup > ND_MARKUP_ADD)
        return nd_fail(err, ND_EINVAL, "markup: %d is no rule", (int)p->markup);
    if ((unsigned)p->position > ND_POSITION_TABLE)
        return nd_fail(err, ND_EINVAL, "position: %d is no function", (int)p->position);
    return ND_OK;
}

static enum nd_status read_shares(struct nd_weigher *w, struct nd_error *err)
{
    const struct nd_weight_params *p = &w->params;
    const struct {
        const char *name;
        double value;
        uint64_t *to;
    } shares[] = {
        {"clip_quantile", p->clip_quantile, &w->clip_quantile},
        {"low", p->low, &(uint64_t){0}},
        {"high", p->high, &(uint64_t){0}},
        {"band_low", p->band_low, &(uint64_t){0}},
        {"band_high", p->band_high, &w->band_high},
        {"top_share", p->top_share, &w->top_share},
    };

    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        if (!read_share(shares[i].value, shares[i].to))
            return nd_fail(err, ND_EINVAL, "%s: %g is no share: 0 to 1", shares[i].name,
                           shares[i].value);
        if (i >= 1 && i <= 3 && *shares[i].to > w->cut)
            w->cut = *shares[i].to;
    }
    if (p->band_high > 0 && p->band_low > p->band_high)
        return nd_fail(err, ND_EINVAL, "band_low: %g is above band_high, %g", p->band_low,
                       p->band_high);
    if (!(p->template_weight >= 0 && p->template_weight <= 1))
        return nd_fail(err, ND_EINVAL, "template_weight: %g is no share: 0 to 1",
                       p->template_weight);
    if (!(p->markup_boost >= 0 && p->markup_boost <= 255))
        return nd_fail(err, ND_EINVAL, "markup_boost: %g is not within 0 and 255", p->markup_boost);
    w->boost = (int64_t)(p->markup_boost * ND_GAIN_ONE + 0.5);
    return ND_OK;
}

static enum nd_status read_params(struct nd_weigher *w, const struct nd_df *df,
                                  struct nd_error *err)
{
    enum nd_status status = check_words(&w->params, err);

    if (status == ND_OK)
        status = read_shares(w, err);
    if (status == ND_OK)
        status = nd_position_init(&w->position, &w->params, err);
    if (status == ND_OK && w->params.idf != ND_IDF_NONE && !df)
        status = nd_fail(err, ND_EINVAL,
                         "idf: a df table is needed: make one with neardup df "
                         "build, and name it as df");
    if (status != ND_OK)
        return status;
    w->documents = df ? nd_df_documents(df) : 1;
    w->log_documents = w->documents > 1 ? nd_ln(w->documents) : 0;
    w->df = df;
    for (uint32_t n = 0; n < IDF_REMEMBERED; n++)
        w->idf[n] = idf_of(w, n);
    return ND_OK;
}

struct nd_weigher *nd_weigher_new(const struct nd_weight_params *params, const struct nd_df *df,
                                  struct nd_error *err)
{
    struct nd_weigher *w = calloc(1, sizeof *w);

    if (!w) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    w->params = *params;
    if (read_params(w, df, err) != ND_OK) {
        free(w);
        return NULL;
    }
    return w;
}

void nd_weigher_free(struct nd_weigher *w)
{
    if (!w)
        return;
    free(w->raw);
    free(w->weight);
    free(w->work);
    free(w);
}

bool nd_weigher_needs_df(const struct nd_weigher *w)
{
    return w->params.idf != ND_IDF_NONE;
}

bool nd_weigher_needs_marks(const struct nd_weigher *w)
{
    return w->params.markup != ND_MARKUP_IGNORE;
}

bool nd_weigher_needs_gain(const struct nd_weigher *w)
{
    return w->params.position != ND_POSITION_NONE || nd_weigher_needs_marks(w) ||
           w->params.template_weight > 0;
}

bool nd_weigher_needs_length(const struct nd_weigher *w)
{
    return nd_position_needs_length(&w->position);
}

/* What a mark makes of the gain that a word has by its place. */
static uint32_t marked(const struct nd_weigher *w, uint64_t gain, unsigned mark)
{
    if (mark == 0 || w->params.markup == ND_MARKUP_IGNORE)
        return (uint32_t)gain;
    if (w->params.markup == ND_MARKUP_ADD) {
        gain += (uint64_t)w->boost * mark / ND_MARK_FULL;
    } else {
        int64_t more = (w->boost - (int64_t)ND_GAIN_ONE) * (int64_t)mark / (int64_t)ND_MARK_FULL;

        gain = gain * (uint64_t)((int64_t)ND_GAIN_ONE + more) >> 24;
    }
    return gain < UINT32_MAX ? (uint32_t)gain : UINT32_MAX;
}

uint32_t nd_weigher_gain(const struct nd_weigher *w, uint64_t i, uint64_t length, unsigned mark)
{
    return marked(w, nd_position_weight(&w->position, i, length), mark);
}

void nd_weigher_gains(const struct nd_weigher *w, uint64_t i, size_t n, uint64_t length,
                      const uint16_t *mark, uint32_t *gain)
{
    nd_position_fill(&w->position, i, n, length, gain);
    for (size_t k = 0; mark && k < n; k++)
        gain[k] = marked(w, gain[k], mark[k]);
}

static bool reserve(struct nd_weigher *w, size_t n)
{
    size_t a = w->capacity, b = w->capacity, c = w->capacity;

    if (n <= w->capacity)
        return true;
    if (!nd_array_reserve((void **)&w->raw, &a, n, sizeof *w->raw) ||
        !nd_array_reserve((void **)&w->weight, &b, n, sizeof *w->weight) ||
        !nd_array_reserve((void **)&w->work, &c, n, sizeof *w->work))
        return false;
    w->capacity = a < b ? a : b;
    w->capacity = c < w->capacity ? c : w->capacity;
    return true;
}

/* tf with gains, in 2^-24: of the mean gain where tf is not the count. */
static uint64_t frequency(const struct nd_weigher *w, const struct nd_term_stat *s, bool has_gain)
{
    uint64_t mean = has_gain ? s->gain / s->tf : ND_GAIN_ONE;

    switch (w->params.tf) {
    case ND_TF_LOG: return (uint64_t)((wide)((ND_LN_ONE + nd_ln(s->tf)) >> 16) * mean >> 24);
    case ND_TF_BINARY: return mean;
    default: return has_gain ? s->gain : (uint64_t)s->tf << 24;
    }
}

static unsigned bits_of(wide x)
{
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;

    if (high)
        return 128 - (unsigned)__builtin_clzll(high);
    return low ? 64 - (unsigned)__builtin_clzll(low) : 0;
}

static uint64_t idf_at(const struct nd_weigher *w, uint32_t n)
{
    return n < IDF_REMEMBERED ? w->idf[n] : idf_of(w, n);
}

/*
 * What nearly every document is: plain counts below 2^16.  idf times tf, in 2^-40, has at most 62
 * bits then, and the 2^24 that it lacks are in the shift.  False: another document.
 */
static bool multiply_counts(struct nd_weigher *w, const struct nd_term_stat *stat, size_t n,
                            int *shift)
{
    const bool is_log = w->params.idf == ND_IDF_LOG;
    const uint64_t documents = w->documents, log = w->log_documents;
    uint64_t any = 0, *to = w->weight;
    uint32_t tf = 0;
    int bits;

    if (nd_weigher_needs_gain(w) || w->params.tf != ND_TF_COUNT)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint64_t weight =
            (is_log ? log_idf(documents, log, stat[i].df) : idf_at(w, stat[i].df)) * stat[i].tf;

        to[i] = weight;
        any |= weight;
        tf |= stat[i].tf;
    }
    if (tf > UINT16_MAX)
        return false;
    bits = (int)bits_of(any); /* of the greatest, too */
    *shift = bits + 24 - WEIGHT_BITS;
    if (bits > WEIGHT_BITS)
        for (size_t i = 0; i < n; i++)
            w->weight[i] >>= bits - WEIGHT_BITS;
    else
        for (size_t i = 0; i < n; i++)
            w->weight[i] <<= WEIGHT_BITS - bits;
    return true;
}

/* tf·idf to w->weight, the greatest of 48 bits; what one of its units is, as a power of 2 of the
 * 2^-64 that idf times tf has. */
static int multiply(struct nd_weigher *w, const struct nd_term_stat *stat, size_t n)
{
    const bool has_gain = nd_weigher_needs_gain(w), is_log = w->params.idf == ND_IDF_LOG;
    const uint64_t documents = w->documents, log = w->log_documents;
    wide any = 0, *raw = w->raw;
    int shift;

    if (multiply_counts(w, stat, n, &shift))
        return shift;
    for (size_t i = 0; i < n; i++) {
        uint64_t idf = is_log ? log_idf(documents, log, stat[i].df) : idf_at(w, stat[i].df);

        raw[i] = (wide)idf * frequency(w, &stat[i], has_gain);
        any |= raw[i];
    }
    shift = (int)bits_of(any) - WEIGHT_BITS; /* of the greatest, too */
    for (size_t i = 0; i < n; i++)
        w->weight[i] =
            shift >= 0 ? (uint64_t)(w->raw[i] >> shift) : (uint64_t)(w->raw[i] << -shift);
    return shift;
}

/* The weights above 0, to w->work. */
static size_t positive(struct nd_weigher *w, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (w->weight[i])
            w->work[count++] = w->weight[i];
    return count;
}

/* Bring the outliers down (000 s. 7.1.2): ranks are by nearest rank, of the weights above 0. */
static void clip(struct nd_weigher *w, size_t n)
{
    uint64_t limit = UINT64_MAX;
    size_t count = positive(w, n);

    if (w->clip_quantile && count) {
        size_t rank = (size_t)(((wide)w->clip_quantile * count + UINT32_MAX) >> FRACTION);

        limit = nd_rank_select(w->work, count, rank - 1);
    }
    if (w->params.clip_rank && w->params.clip_rank <= count) {
        uint64_t value = nd_rank_select(w->work, count, count - w->params.clip_rank);

        limit = value < limit ? value : limit;
    }
    for (size_t i = 0; i < n; i++)
        if (w->weight[i] > limit)
            w->weight[i] = limit;
}

static uint64_t greatest_of(const uint64_t *weight, size_t n)
{
    uint64_t greatest = 0;

    for (size_t i = 0; i < n; i++)
        greatest = weight[i] > greatest ? weight[i] : greatest;
    return greatest;
}

/* Keep `keep` of the weights above 0: the greatest; of equal ones those of the least hashes, and of
 * equal hashes the first. */
static void keep_top(struct nd_weigher *w, const struct nd_term_stat *stat, size_t n, size_t keep)
{
    size_t count = positive(w, n), above = 0, ties = 0, left;
    uint64_t least, hash;

    if (keep >= count)
        return;
    least = nd_rank_select(w->work, count, count - keep);
    for (size_t i = 0; i < n; i++) {
        above += w->weight[i] > least;
        if (w->weight[i] == least)
            w->work[ties++] = stat[i].hash;
    }
    left = keep - above;
    hash = nd_rank_select(w->work, ties, left - 1);
    for (size_t i = 0; i < n; i++)
        left -= w->weight[i] == least && stat[i].hash < hash;
    for (size_t i = 0; i < n; i++) {
        bool is_tie = w->weight[i] == least && stat[i].hash == hash;

        if (w->weight[i] < least || (w->weight[i] == least && stat[i].hash > hash) ||
            (is_tie && left == 0))
            w->weight[i] = 0;
        else
            left -= is_tie;
    }
}

static void apply_thresholds(struct nd_weigher *w, const struct nd_term_stat *stat, size_t n)
{
    uint64_t greatest = greatest_of(w->weight, n), cut, high = UINT64_MAX;
    size_t keep = SIZE_MAX;

    if (w->top_share)
        keep = (size_t)(((wide)w->top_share * positive(w, n) + UINT32_MAX) >> FRACTION);
    if (w->params.top && w->params.top < keep)
        keep = w->params.top;
    cut = (uint64_t)((wide)w->cut * greatest >> FRACTION);
    if (w->band_high) /* the share was cut: one more, and up, so that both ends are within */
        high = (uint64_t)(((wide)(w->band_high + 1) * greatest + UINT32_MAX) >> FRACTION);
    if (cut || w->band_high)
        for (size_t i = 0; i < n; i++)
            if (w->weight[i] < cut || w->weight[i] > high)
                w->weight[i] = 0;
    if (keep < n)
        keep_top(w, stat, n, keep);
}

/* The weights to 0 … ND_WEIGHT_ONE, to nearest, by the reciprocal of the greatest. */
static uint64_t quantise(const struct nd_weigher *w, size_t n, int32_t *weight)
{
    uint64_t greatest = greatest_of(w->weight, n), reciprocal;
    unsigned shift;

    if (greatest == 0) {
        for (size_t i = 0; i < n; i++)
            weight[i] = 0;
        return 0;
    }
    shift = WEIGHT_BITS - bits_of(greatest);
    reciprocal = (uint64_t)(((wide)1 << 95) / (greatest << shift));
    for (size_t i = 0; i < n; i++) {
        wide product = (wide)(w->weight[i] << shift) * reciprocal;

        weight[i] = (int32_t)((product + ((wide)1 << 79)) >> 80);
    }
    return greatest;
}

/* What the greatest weight is in 2^-32, over the length where that is asked for. */
static uint64_t unit_of(const struct nd_weigher *w, uint64_t greatest, int shift, uint64_t n_words)
{
    wide unit = shift >= 0 ? (wide)greatest << shift : (wide)greatest >> -shift;

    unit >>= 32;
    if (w->params.normalise_length && n_words > 1)
        unit /= n_words;
    return unit < UINT64_MAX ? (uint64_t)unit : UINT64_MAX;
}

uint64_t nd_weigher_unit_of_one(const struct nd_weigher *w, uint64_t n_words)
{
    uint64_t one = UINT64_C(1) << 32;

    return w->params.normalise_length && n_words > 1 ? one / n_words : one;
}

enum nd_status nd_weigher_run(struct nd_weigher *w, const struct nd_term_stat *stat, size_t n,
                              uint64_t n_words, int32_t *weight, uint64_t *unit)
{
    uint64_t greatest;
    int shift;

    if (!reserve(w, n))
        return ND_ENOMEM;
    shift = multiply(w, stat, n);
    if (w->clip_quantile || w->params.clip_rank)
        clip(w, n);
    if (w->cut || w->band_high || w->params.top || w->top_share)
        apply_thresholds(w, stat, n);
    greatest = quantise(w, n, weight);
    if (unit)
        *unit = unit_of(w, greatest, shift, n_words);
    return ND_OK;
}
