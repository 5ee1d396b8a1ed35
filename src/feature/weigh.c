/* weigh.c - from counts to weights: docs/format/weights.md
 *
 * All numbers are integers, so that the weights are the same on every processor.  Why nothing
 * overflows, and what rounding does:
 *
 *   idf        in 2^-40.  The largest is ln N < 64 ln 2 < 45 for N < 2^64: idf < 2^46.
 *   gain       of a word, in 2^-24 and below 2^32 (`marked` limits it), so the sum over the fewer
 *              than 2^32 words of a document is below 2^64, and a mean below 2^32.
 *   frequency  in 2^-24.  A count is tf 2^24 < 2^56, or the sum of the gains, < 2^64; the logarithm
 *              is 1 + ln tf, < 2^29, times a mean gain, shifted by 24: < 2^37.
 *   idf times frequency is in 2^-64 and below 2^46 2^64 = 2^110, which 128 bits hold.
 *
 * From there on the weights of a document are only compared with one another.  They are shifted by
 * one number of bits until the greatest has WEIGHT_BITS, 48: the shift cuts less than 2^-47 of the
 * greatest off any weight, and a product of such a weight and a fraction (in 2^-32) has 80 bits.
 * The OR of all weights has as many bits as the greatest of them, so no branch looks for that one.
 */
#include "feature/weigh.h"

#include "base/memory.h"
#include "feature/list.h"
#include "feature/weight_tables.h"

#include <neardup/ratio.h>

#include <stdlib.h>

typedef unsigned __int128 wide;

enum {
    MAX_CORNER_WEIGHT = 255,
    MAX_CORNERS = 32,
    NEAR = 1024,      /* words whose position weights are worked out beforehand */
    FRACTION = 32,    /* bits of a fraction */
    WEIGHT_BITS = 48, /* of the greatest weight while weights are compared */
    IDF_REMEMBERED = 1024,
};

/* The worth of a word's place in the document (Seshasai 2009, §5.2, §5.3). */
struct position {
    enum nd_position kind;
    struct corner {
        uint64_t fraction; /* of the length, in 2^-31: 0 … 2^31 */
        uint32_t weight;   /* in 2^-24 */
    } corner[MAX_CORNERS];
    unsigned corners;
    uint32_t near[NEAR]; /* of word i + 1, where the length does not matter */
};

struct nd_weigher {
    struct nd_weight_params params;
    bool is_exact; /* weights are whole numbers and keep their proportions */
    struct position position;
    int64_t boost;           /* in 2^-24 */
    uint64_t clip_quantile;  /* fractions in 2^-32 */
    uint64_t cut, band_high; /* of the greatest weight: below is dropped, above is dropped */
    uint64_t top_share;
    const struct nd_df *df;            /* NULL: none */
    uint64_t documents, log_documents; /* N, ln N */
    uint64_t idf[IDF_REMEMBERED];      /* of n < IDF_REMEMBERED */
};

/*
 * Partition by the highest bit in which the values differ, and go on in the part that holds the
 * rank: a radix exchange in place of a quickselect.  There are at most 64 rounds, and spread values
 * halve in each but the last few.  Since no pivot is chosen, no input is a bad one.
 */
uint64_t nd_rank_select(uint64_t *value, size_t n, size_t rank)
{
    uint64_t differ = 0;

    for (size_t i = 1; i < n; i++)
        differ |= value[0] ^ value[i];
    while (differ) {
        uint64_t bit = UINT64_C(1) << (63 - __builtin_clzll(differ)), first, among = 0;
        size_t zeros = 0;

        for (size_t i = 0; i < n; i++) {
            if (value[i] & bit)
                continue;
            first = value[i];
            value[i] = value[zeros];
            value[zeros++] = first;
        }
        if (rank < zeros) {
            n = zeros;
        } else {
            value += zeros;
            n -= zeros;
            rank -= zeros;
        }
        for (size_t i = 1; i < n; i++)
            among |= value[0] ^ value[i];
        differ = among;
    }
    return value[0];
}

static enum nd_status bad_table(const struct nd_view *entry, const char *why, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "position_table: \"%.*s\": %s", (int)entry->len, entry->data,
                   why);
}

static enum nd_status read_corner(struct position *p, const struct nd_view *entry,
                                  struct nd_error *err)
{
    struct corner *corner = &p->corner[p->corners];
    struct nd_view rest = *entry, fraction, weight;
    struct nd_ratio at, worth;

    if (p->corners == MAX_CORNERS)
        return bad_table(entry, "there are more than 32 corners", err);
    if (!nd_list_part(&rest, &fraction) || !nd_list_part(&rest, &weight) || rest.data ||
        nd_ratio_parse(fraction.data, fraction.len, &at, NULL) != ND_OK ||
        nd_ratio_parse(weight.data, weight.len, &worth, NULL) != ND_OK)
        return bad_table(entry, "expected FRACTION:WEIGHT, such as 0.5:0.2", err);
    if (at.p > at.q)
        return bad_table(entry, "a fraction of the length must be from 0 to 1", err);
    if (worth.p > (uint64_t)worth.q * MAX_CORNER_WEIGHT)
        return bad_table(entry, "a weight must be from 0 to 255", err);
    corner->fraction = ((uint64_t)at.p << 31) / at.q;
    corner->weight = (uint32_t)(((uint64_t)worth.p << 24) / worth.q);
    if (p->corners > 0 && corner->fraction <= corner[-1].fraction)
        return bad_table(entry, "fractions must increase", err);
    p->corners++;
    return ND_OK;
}

static enum nd_status read_table(struct position *p, const char *list, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_view entry;
    bool any = false;

    while (status == ND_OK && nd_list_next(&list, &entry))
        status = read_corner(p, &entry, err);
    for (unsigned i = 0; i < p->corners; i++)
        any = any || p->corner[i].weight > 0;
    if (status == ND_OK && !any)
        return nd_fail(err, ND_EINVAL, "position_table: no corner has a weight above 0");
    return status;
}

/* Return the gain of word i if the length does not matter. */
static uint32_t by_number(enum nd_position kind, uint64_t i)
{
    switch (kind) {
    case ND_POSITION_LOG: return (uint32_t)(nd_ln(i + 1) / (i + 1) >> 16);
    case ND_POSITION_INVERSE: return (uint32_t)(ND_GAIN_ONE / i);
    case ND_POSITION_INVERSE_LOG: return (uint32_t)(UINT64_MAX / nd_ln(i < 3 ? 3 : i));
    default: return ND_GAIN_ONE;
    }
}

static enum nd_status init_position(struct position *p, const struct nd_weight_params *params,
                                    struct nd_error *err)
{
    *p = (struct position){.kind = params->position};
    if (p->kind == ND_POSITION_TABLE)
        return read_table(p, params->position_table, err);
    for (unsigned i = 0; i < NEAR; i++)
        p->near[i] = by_number(p->kind, i + 1);
    return ND_OK;
}

static bool needs_length(const struct position *p)
{
    return p->kind == ND_POSITION_COSINE || p->kind == ND_POSITION_TABLE;
}

/* Level before the first corner and after the last, a straight line between two. */
static uint32_t by_table(const struct position *p, uint64_t fraction)
{
    const struct corner *a, *b;
    unsigned i = 0;
    int64_t rise;

    while (i < p->corners && p->corner[i].fraction < fraction)
        i++;
    if (i == 0)
        return p->corner[0].weight;
    if (i == p->corners)
        return p->corner[i - 1].weight;
    a = &p->corner[i - 1];
    b = &p->corner[i];
    /* |rise| < 255 2^24 < 2^32 and a distance is at most 2^31: the product is below 2^63. */
    rise = (int64_t)b->weight - (int64_t)a->weight;
    rise = rise * (int64_t)(fraction - a->fraction) / (int64_t)(b->fraction - a->fraction);
    return (uint32_t)((int64_t)a->weight + rise);
}

static uint32_t position_weight(const struct position *p, uint64_t i, uint64_t length)
{
    uint64_t fraction;

    if (!needs_length(p))
        return i <= NEAR ? p->near[i - 1] : by_number(p->kind, i);
    fraction = (i << 31) / length;
    if (p->kind == ND_POSITION_COSINE)
        return nd_raised_cosine((uint32_t)(fraction << 1));
    return by_table(p, fraction);
}

/*
 * ⌊2^31 i / length⌋ for neighbouring i without a division for each, as in Bresenham's lines: from
 * one i to the next the quotient grows by ⌊2^31 / length⌋, and by one more where the remainders add
 * up to `length` or above.
 */
static void fill_cosine(uint64_t i, size_t n, uint64_t length, uint32_t *weight)
{
    const uint64_t step = (UINT64_C(1) << 31) / length, more = (UINT64_C(1) << 31) % length;
    uint64_t fraction = (i << 31) / length, rest = (i << 31) % length;

    for (size_t k = 0; k < n; k++) {
        uint64_t over;

        weight[k] = nd_raised_cosine((uint32_t)(fraction << 1));
        rest += more;
        over = rest >= length;
        fraction += step + over;
        rest -= length & (0 - over);
    }
}

static void fill_positions(const struct position *p, uint64_t i, size_t n, uint64_t length,
                           uint32_t *weight)
{
    size_t k = 0;

    if (p->kind == ND_POSITION_COSINE) {
        fill_cosine(i, n, length, weight);
        return;
    }
    if (!needs_length(p))
        for (; k < n && i + k <= NEAR; k++)
            weight[k] = p->near[i + k - 1];
    for (; k < n; k++)
        weight[k] = position_weight(p, i + k, length);
}

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

/* A fraction of a parameter in 2^-32, rounded down, so that a tenth of fifty is five.  False: it is
 * not within 0 and 1. */
static bool read_fraction(double fraction, uint64_t *out)
{
    if (!(fraction >= 0 && fraction <= 1))
        return false;
    *out = (uint64_t)(fraction * 4294967296.0);
    return true;
}

static enum nd_status check_words(const struct nd_weight_params *p, struct nd_error *err)
{
    if ((unsigned)p->tf > ND_TF_BINARY)
        return nd_fail(err, ND_EINVAL, "tf: %d is not a term frequency", (int)p->tf);
    if ((unsigned)p->idf > ND_IDF_NIDF)
        return nd_fail(err, ND_EINVAL, "idf: %d is not an inverse document frequency", (int)p->idf);
    if ((unsigned)p->markup > ND_MARKUP_ADD)
        return nd_fail(err, ND_EINVAL, "markup: %d is not a rule", (int)p->markup);
    if ((unsigned)p->position > ND_POSITION_TABLE)
        return nd_fail(err, ND_EINVAL, "position: %d is not a function", (int)p->position);
    return ND_OK;
}

static enum nd_status read_fractions(struct nd_weigher *w, struct nd_error *err)
{
    const struct nd_weight_params *p = &w->params;
    const struct {
        const char *name;
        double value;
        uint64_t *to;
    } fractions[] = {
        {"clip_quantile", p->clip_quantile, &w->clip_quantile},
        {"low", p->low, &(uint64_t){0}},
        {"high", p->high, &(uint64_t){0}},
        {"band_low", p->band_low, &(uint64_t){0}},
        {"band_high", p->band_high, &w->band_high},
        {"top_share", p->top_share, &w->top_share},
    };

    for (size_t i = 0; i < sizeof fractions / sizeof *fractions; i++) {
        if (!read_fraction(fractions[i].value, fractions[i].to))
            return nd_fail(err, ND_EINVAL, "%s: %g is not a fraction from 0 to 1",
                           fractions[i].name, fractions[i].value);
        if (i >= 1 && i <= 3 && *fractions[i].to > w->cut)
            w->cut = *fractions[i].to;
    }
    if (p->band_high > 0 && p->band_low > p->band_high)
        return nd_fail(err, ND_EINVAL, "band_low: %g is above band_high, %g", p->band_low,
                       p->band_high);
    if (!(p->template_weight >= 0 && p->template_weight <= 1))
        return nd_fail(err, ND_EINVAL, "template_weight: %g is not a fraction from 0 to 1",
                       p->template_weight);
    if (!(p->markup_boost >= 0 && p->markup_boost <= 255))
        return nd_fail(err, ND_EINVAL, "markup_boost: %g is not from 0 to 255", p->markup_boost);
    w->boost = (int64_t)(p->markup_boost * ND_GAIN_ONE + 0.5);
    return ND_OK;
}

static enum nd_status read_params(struct nd_weigher *w, const struct nd_df *df,
                                  struct nd_error *err)
{
    enum nd_status status = check_words(&w->params, err);

    if (status == ND_OK)
        status = read_fractions(w, err);
    if (status == ND_OK)
        status = init_position(&w->position, &w->params, err);
    if (status == ND_OK && w->params.idf != ND_IDF_NONE && !df)
        status =
            nd_fail(err, ND_EINVAL,
                    "idf needs a df table: make one with neardup df build and give its path as df");
    if (status != ND_OK)
        return status;
    w->documents = df ? nd_df_documents(df) : 1;
    w->log_documents = w->documents > 1 ? nd_ln(w->documents) : 0;
    w->df = df;
    for (uint32_t n = 0; n < IDF_REMEMBERED; n++)
        w->idf[n] = idf_of(w, n);
    return ND_OK;
}

bool nd_weights_are_whole(const struct nd_weight_params *p)
{
    return p->idf == ND_IDF_NONE && (p->tf == ND_TF_COUNT || p->tf == ND_TF_BINARY) &&
           p->position == ND_POSITION_NONE && p->markup == ND_MARKUP_IGNORE &&
           (p->template_weight <= 0 || p->template_weight >= 1);
}

struct nd_weigher *nd_weigher_new(const struct nd_weight_params *params, const struct nd_df *df,
                                  bool has_fields, struct nd_error *err)
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
    w->is_exact = nd_weights_are_whole(params) && !has_fields;
    return w;
}

void nd_weigher_free(struct nd_weigher *w)
{
    free(w);
}

void nd_weigh_scratch_release(struct nd_weigh_scratch *s)
{
    free(s->raw);
    free(s->weight);
    free(s->work);
    *s = (struct nd_weigh_scratch){0};
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
    return needs_length(&w->position);
}

/* Return the gain of a word by its place, as its mark changes it. */
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
    return marked(w, position_weight(&w->position, i, length), mark);
}

void nd_weigher_gains(const struct nd_weigher *w, uint64_t i, size_t n, uint64_t length,
                      const uint16_t *mark, uint32_t *gain)
{
    fill_positions(&w->position, i, n, length, gain);
    for (size_t k = 0; mark && k < n; k++)
        gain[k] = marked(w, gain[k], mark[k]);
}

static bool reserve(struct nd_weigh_scratch *s, size_t n)
{
    return ND_RESERVE(s->raw, &s->raw_capacity, n) &&
           ND_RESERVE(s->weight, &s->weight_capacity, n) &&
           ND_RESERVE(s->work, &s->work_capacity, n);
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
 * The short cut for what nearly every document is: plain counts below 2^16.  idf times tf, in
 * 2^-40, is below 2^46 2^16 = 2^62 and fits 64 bits; the 2^24 that the frequency would have is in
 * the shift.  False: this is another document, and what was written means nothing.
 */
static bool multiply_counts(const struct nd_weigher *w, struct nd_weigh_scratch *s,
                            const struct nd_term_stat *stat, size_t n, int *shift)
{
    const bool is_log = w->params.idf == ND_IDF_LOG;
    const uint64_t documents = w->documents, log = w->log_documents;
    uint64_t any = 0, *to = s->weight;
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
    bits = (int)bits_of(any);
    *shift = bits + 24 - WEIGHT_BITS;
    if (bits > WEIGHT_BITS)
        for (size_t i = 0; i < n; i++)
            to[i] >>= bits - WEIGHT_BITS;
    else
        for (size_t i = 0; i < n; i++)
            to[i] <<= WEIGHT_BITS - bits;
    return true;
}

/* tf·idf to s->weight, with 48 bits in the greatest.  Returns by how many bits idf times frequency,
 * in 2^-64, was shifted right. */
static int multiply(const struct nd_weigher *w, struct nd_weigh_scratch *s,
                    const struct nd_term_stat *stat, size_t n)
{
    const bool has_gain = nd_weigher_needs_gain(w), is_log = w->params.idf == ND_IDF_LOG;
    const uint64_t documents = w->documents, log = w->log_documents;
    wide any = 0, *raw = s->raw;
    int shift;

    if (multiply_counts(w, s, stat, n, &shift))
        return shift;
    for (size_t i = 0; i < n; i++) {
        uint64_t idf = is_log ? log_idf(documents, log, stat[i].df) : idf_at(w, stat[i].df);

        raw[i] = (wide)idf * frequency(w, &stat[i], has_gain);
        any |= raw[i];
    }
    shift = (int)bits_of(any) - WEIGHT_BITS;
    for (size_t i = 0; i < n; i++)
        s->weight[i] = shift >= 0 ? (uint64_t)(raw[i] >> shift) : (uint64_t)(raw[i] << -shift);
    return shift;
}

/* The weights above 0, to s->work. */
static size_t positive(struct nd_weigh_scratch *s, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        if (s->weight[i])
            s->work[count++] = s->weight[i];
    return count;
}

/* Limit the outliers (Seshasai 2009, §7.1.2).  Ranks are nearest ranks, ⌈q count⌉, among the weights
 * above 0. */
static void clip(const struct nd_weigher *w, struct nd_weigh_scratch *s, size_t n)
{
    uint64_t limit = UINT64_MAX;
    size_t count = positive(s, n);

    if (w->clip_quantile && count) {
        size_t rank = (size_t)(((wide)w->clip_quantile * count + UINT32_MAX) >> FRACTION);

        limit = nd_rank_select(s->work, count, rank - 1);
    }
    if (w->params.clip_rank && w->params.clip_rank <= count) {
        uint64_t value = nd_rank_select(s->work, count, count - w->params.clip_rank);

        limit = value < limit ? value : limit;
    }
    for (size_t i = 0; i < n; i++)
        if (s->weight[i] > limit)
            s->weight[i] = limit;
}

static uint64_t max_of(const uint64_t *weight, size_t n)
{
    uint64_t max = 0;

    for (size_t i = 0; i < n; i++)
        max = weight[i] > max ? weight[i] : max;
    return max;
}

/* Keep the `keep` greatest of the weights above 0.  Of equal weights those of the smallest hashes
 * stay, and of equal hashes the first. */
static void keep_top(struct nd_weigh_scratch *s, const struct nd_term_stat *stat, size_t n,
                     size_t keep)
{
    size_t count = positive(s, n), above = 0, ties = 0, left;
    uint64_t limit, hash, *weight = s->weight;

    if (keep >= count)
        return;
    limit = nd_rank_select(s->work, count, count - keep);
    for (size_t i = 0; i < n; i++) {
        above += weight[i] > limit;
        if (weight[i] == limit)
            s->work[ties++] = stat[i].hash;
    }
    left = keep - above; /* of those that weigh `limit`, so many stay */
    hash = nd_rank_select(s->work, ties, left - 1);
    for (size_t i = 0; i < n; i++)
        left -= weight[i] == limit && stat[i].hash < hash;
    for (size_t i = 0; i < n; i++) {
        bool is_tie = weight[i] == limit && stat[i].hash == hash;

        if (weight[i] < limit || (weight[i] == limit && stat[i].hash > hash) ||
            (is_tie && left == 0))
            weight[i] = 0;
        else
            left -= is_tie;
    }
}

/*
 * Fractions were cut to 2^-32, so that the fraction q of a parameter lies in [c, c + 1) 2^-32 for
 * the stored c.  Both limits are rounded towards keeping: the lower one is ⌊c greatest⌋ <= q
 * greatest, the upper one ⌈(c + 1) greatest⌉ >= q greatest.
 */
static void apply_thresholds(const struct nd_weigher *w, struct nd_weigh_scratch *s,
                             const struct nd_term_stat *stat, size_t n)
{
    uint64_t greatest = max_of(s->weight, n), cut, high = UINT64_MAX;
    size_t keep = SIZE_MAX;

    if (w->top_share)
        keep = (size_t)(((wide)w->top_share * positive(s, n) + UINT32_MAX) >> FRACTION);
    if (w->params.top && w->params.top < keep)
        keep = w->params.top;
    cut = (uint64_t)((wide)w->cut * greatest >> FRACTION);
    if (w->band_high)
        high = (uint64_t)(((wide)(w->band_high + 1) * greatest + UINT32_MAX) >> FRACTION);
    if (cut || w->band_high)
        for (size_t i = 0; i < n; i++)
            if (s->weight[i] < cut || s->weight[i] > high)
                s->weight[i] = 0;
    if (keep < n)
        keep_top(s, stat, n, keep);
}

/*
 * The weights in proportion to the greatest, which becomes ND_WEIGHT_ONE = 2^15, to nearest; with
 * one division.  G is the greatest shifted to 48 bits, 2^47 <= G < 2^48, and r = ⌊2^95 / G⌋, so
 * r <= 2^48 and a product W r of a weight W <= G is at most 2^95.  It stands for W / G in 2^-95 and
 * is shifted by 80 to 2^-15.
 *
 * W r is less than the exact 2^95 W / G by less than W < 2^48: by less than 2^-32 of the last bit
 * that stays.  So the result is the nearest integer unless W / G lies within 2^-32 of the last bit
 * above a half, and the greatest becomes 2^15 exactly: G r > 2^95 - 2^48, which is rounded up.
 */
static uint64_t quantise(struct nd_weigh_scratch *s, size_t n, int32_t *weight)
{
    uint64_t greatest = max_of(s->weight, n), reciprocal;
    unsigned shift;

    if (greatest == 0) {
        for (size_t i = 0; i < n; i++)
            weight[i] = 0;
        return 0;
    }
    shift = WEIGHT_BITS - bits_of(greatest);
    reciprocal = (uint64_t)(((wide)1 << 95) / (greatest << shift));
    for (size_t i = 0; i < n; i++) {
        wide product = (wide)(s->weight[i] << shift) * reciprocal;

        weight[i] = (int32_t)((product + ((wide)1 << 79)) >> 80);
    }
    return greatest;
}

/* The weight of ND_WEIGHT_ONE in 2^-32, divided by the length where that is asked for. */
static uint64_t per_word(const struct nd_weigher *w, wide unit, uint64_t n_words)
{
    if (w->params.normalise_length && n_words > 1)
        unit /= n_words;
    return unit < UINT64_MAX ? (uint64_t)unit : UINT64_MAX;
}

/* Return the greatest weight in 2^-32: idf times frequency, in 2^-64, was shifted right. */
static wide unit_of(uint64_t greatest, int shift)
{
    return (shift >= 0 ? (wide)greatest << shift : (wide)greatest >> -shift) >> 32;
}

/*
 * Whole numbers, all shifted up by as many bits as leave the greatest at ND_WEIGHT_ONE or below, so
 * that sums of them are 0 where those of the numbers are (Manku 2007, §2; Henzinger 2006: a bit is
 * set if its sum is above 0).  A number is below 2^32, so its 48 bits hold all of it, shifted up by
 * 64 - shift.  Returns what ND_WEIGHT_ONE stands for, in 2^-32.
 */
static uint64_t keep_whole(struct nd_weigh_scratch *s, size_t n, int shift, int32_t *weight)
{
    uint64_t greatest = max_of(s->weight, n);
    unsigned up = 0;

    if (!greatest) {
        for (size_t i = 0; i < n; i++)
            weight[i] = 0;
        return 0;
    }
    greatest >>= 64 - shift;
    while (greatest && greatest << (up + 1) <= ND_WEIGHT_ONE)
        up++;
    for (size_t i = 0; i < n; i++) {
        uint64_t whole = s->weight[i] >> (64 - shift) << up;

        weight[i] = (int32_t)(whole < INT32_MAX ? whole : INT32_MAX);
    }
    return (uint64_t)(ND_WEIGHT_ONE >> up) << 32;
}

uint64_t nd_weigher_unit_of_one(const struct nd_weigher *w, uint64_t n_words)
{
    return per_word(w, UINT64_C(1) << 32, n_words);
}

enum nd_status nd_weigher_run(const struct nd_weigher *w, struct nd_weigh_scratch *scratch,
                              const struct nd_term_stat *stat, size_t n, uint64_t n_words,
                              int32_t *weight, uint64_t *unit)
{
    wide one;
    int shift;

    if (!reserve(scratch, n))
        return ND_ENOMEM;
    shift = multiply(w, scratch, stat, n);
    if (w->clip_quantile || w->params.clip_rank)
        clip(w, scratch, n);
    if (w->cut || w->band_high || w->params.top || w->top_share)
        apply_thresholds(w, scratch, stat, n);
    one = w->is_exact ? keep_whole(scratch, n, shift, weight)
                      : unit_of(quantise(scratch, n, weight), shift);
    if (unit)
        *unit = per_word(w, one, n_words);
    return ND_OK;
}
