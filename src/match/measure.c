/* measure.c - resemblance, containment and cosine of two sets, compared exactly in integers */
#include "match/measure.h"

typedef unsigned __int128 wide;

static const struct nd_measure_row rows[] = {
    [ND_VERIFY_JACCARD] = {"jaccard", "resemblance"},
    [ND_VERIFY_CONTAINMENT] = {"containment", "containment"},
    [ND_VERIFY_COSINE] = {"cosine", "cosine"},
    [ND_VERIFY_NONE] = {"none", NULL},
    [ND_VERIFY_CONTAINMENT_OF_KEPT] = {"containment-of-kept", "containment-of-kept"},
    [ND_VERIFY_CONTAINMENT_EITHER] = {"containment-either", "containment-either"},
};

const struct nd_measure_row *nd_measure_row(enum nd_verify verify)
{
    return (size_t)verify < sizeof rows / sizeof *rows ? &rows[verify] : NULL;
}

const char *nd_measure_word(size_t i)
{
    return i < sizeof rows / sizeof *rows ? rows[i].word : NULL;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

struct nd_fraction nd_measure(enum nd_verify verify, const struct nd_overlap *overlap)
{
    uint64_t a = overlap->a, b = overlap->b, shared = overlap->shared;

    if (shared == 0)
        return (struct nd_fraction){0, 1};
    switch (verify) {
    case ND_VERIFY_CONTAINMENT: return (struct nd_fraction){shared, a};
    case ND_VERIFY_CONTAINMENT_OF_KEPT: return (struct nd_fraction){shared, b};
    case ND_VERIFY_CONTAINMENT_EITHER: return (struct nd_fraction){shared, least(a, b)};
    case ND_VERIFY_COSINE: return (struct nd_fraction){shared * shared, a * b};
    case ND_VERIFY_JACCARD:
    case ND_VERIFY_NONE: break;
    }
    return (struct nd_fraction){shared, a + b - shared};
}

struct nd_fraction nd_measure_threshold(enum nd_verify verify, struct nd_ratio t)
{
    if (verify == ND_VERIFY_COSINE)
        return (struct nd_fraction){(uint64_t)t.p * t.p, (uint64_t)t.q * t.q};
    return (struct nd_fraction){t.p, t.q};
}

/* The least s with s * den >= num, or > num. */
static uint64_t quotient_above(wide num, uint64_t den, bool strictly)
{
    wide s = num / den;

    if (strictly || s * den < num)
        s++;
    return s > UINT64_MAX ? UINT64_MAX : (uint64_t)s;
}

static uint64_t square_root(wide x)
{
    uint64_t root = 0;

    for (int bit = 63; bit >= 0; bit--) {
        uint64_t with = root | UINT64_C(1) << bit;

        if ((wide)with * with <= x)
            root = with;
    }
    return root;
}

/* s^2 * den >= num * a * b: s from the root of the quotient, then a step or two. */
static uint64_t cosine_need(uint64_t ab, struct nd_fraction bound, bool strictly)
{
    wide quotient = (wide)bound.num * ab / bound.den;
    uint64_t s = square_root(quotient);
    struct nd_fraction reached = {s * s, ab};

    while (nd_fraction_compare(reached, bound) < (strictly ? 1 : 0)) {
        s++;
        reached.num = s * s;
    }
    return s;
}

uint64_t nd_measure_need(enum nd_verify verify, uint64_t a, uint64_t b, struct nd_fraction bound,
                         bool strictly)
{
    switch (verify) {
    case ND_VERIFY_CONTAINMENT: return quotient_above((wide)bound.num * a, bound.den, strictly);
    case ND_VERIFY_CONTAINMENT_OF_KEPT:
        return quotient_above((wide)bound.num * b, bound.den, strictly);
    case ND_VERIFY_CONTAINMENT_EITHER:
        return quotient_above((wide)bound.num * least(a, b), bound.den, strictly);
    case ND_VERIFY_COSINE: return cosine_need(a * b, bound, strictly);
    case ND_VERIFY_JACCARD:
    case ND_VERIFY_NONE: break;
    }
    /* s / (a + b - s) >= n / d, that is s (n + d) >= n (a + b) */
    return quotient_above((wide)bound.num * (a + b), bound.num + bound.den, strictly);
}

/* Resemblance and squared cosine are at most min / max; of what is contained only the other is
 * bounded, from below. */
void nd_measure_range(enum nd_verify verify, uint64_t a, struct nd_fraction bound,
                      uint32_t *first_count, uint32_t *last_count)
{
    wide low = ((wide)a * bound.num + bound.den - 1) / bound.den,
         high = (wide)a * bound.den / bound.num;

    if (verify == ND_VERIFY_CONTAINMENT_EITHER || verify == ND_VERIFY_CONTAINMENT_OF_KEPT)
        low = 0;
    if (verify == ND_VERIFY_CONTAINMENT_EITHER || verify == ND_VERIFY_CONTAINMENT)
        high = UINT32_MAX;
    *first_count = low > UINT32_MAX ? UINT32_MAX : (uint32_t)low;
    *last_count = high > UINT32_MAX ? UINT32_MAX : (uint32_t)high;
}

int nd_overlap_reaches(const struct nd_overlap *overlap, enum nd_verify verify,
                       struct nd_ratio threshold)
{
    if (!overlap->a && !overlap->b)
        return 1;
    return nd_fraction_compare(nd_measure(verify, overlap),
                               nd_measure_threshold(verify, threshold)) >= 0;
}
