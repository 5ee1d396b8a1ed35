/* signature_params.c - the parameters of signatures: their ranges, and the shape of what they give
 */
#include <neardup/signature.h>

#include "sketch/signer.h"

struct nd_signature_params nd_signature_params_default(void)
{
    return (struct nd_signature_params){
        .kind = ND_SIGNATURE_SIMHASH,
        .hash = ND_HASH_TOKEN,
        .rabin_polynomial = UINT64_C(0x243F6A8885A30907),
        .bits = 64,
        .minima = 84,
        .groups = 6,
        .width = 4,
        .modulus = 25,
        .window = 4,
        .lexicon_low = 0.2,
        .lexicon_high = 0.8,
        .least_terms = 5,
        .drop = 0.33,
        .quantum = 0.01,
    };
}

uint64_t nd_signature_millionths(double share)
{
    return (uint64_t)(share * 1e6 + 0.5);
}

static enum nd_status out_of_range(const char *key, const char *range, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s is out of range: %s", key, range);
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1; /* not a NaN */
}

static enum nd_status check_simhash(const struct nd_signature_params *p, struct nd_error *err)
{
    if (p->bits != 32 && p->bits != 64 && p->bits != 128 && p->bits != 256 && p->bits != 384 &&
        p->bits != 512)
        return out_of_range("bits", "a simhash has 32, 64, 128, 256, 384 or 512", err);
    if (p->reserved_bits > ND_SIGNATURE_RESERVED_MAX)
        return out_of_range("reserved_bits", "0 to 16", err);
    return ND_OK;
}

static enum nd_status check_minima(const struct nd_signature_params *p, struct nd_error *err)
{
    if (p->minima < 1 || p->minima > ND_SIGNATURE_MINIMA_MAX)
        return out_of_range("minima", "1 to 1024", err);
    if (p->kind == ND_SIGNATURE_MINHASH)
        return ND_OK;
    if (p->kind == ND_SIGNATURE_SORTED_SHINGLES)
        return p->width >= 1 && p->width <= p->minima
                   ? ND_OK
                   : out_of_range("sketch_width", "1 to the number of minima", err);
    if (p->groups < 1 || p->groups > p->minima || p->minima % p->groups)
        return out_of_range("groups", "a divisor of the number of minima", err);
    if (p->kind == ND_SIGNATURE_MEGASHINGLES &&
        (p->groups < 2 || p->groups > ND_SIGNATURE_MEGA_MAX))
        return out_of_range("groups", "2 to 32 super-shingles for mega-shingles", err);
    return ND_OK;
}

static enum nd_status check_values(const struct nd_signature_params *p, struct nd_error *err)
{
    if (p->bits < 1 || p->bits > 64)
        return out_of_range("bits", "1 to 64 for each value", err);
    if (p->kind == ND_SIGNATURE_BOTTOM_K && p->minima < 1)
        return out_of_range("minima", "1 or more", err);
    if (p->kind == ND_SIGNATURE_MOD_P && p->modulus < 1)
        return out_of_range("modulus", "1 or more", err);
    if (p->kind == ND_SIGNATURE_WINNOWING && p->window < 1)
        return out_of_range("window", "1 or more", err);
    return ND_OK;
}

static enum nd_status check_imatch(const struct nd_signature_params *p, struct nd_error *err)
{
    if (!is_share(p->lexicon_low) || !is_share(p->lexicon_high) || p->lexicon_low > p->lexicon_high)
        return out_of_range("lexicon_low", "0 to 1, and at most lexicon_high", err);
    if (p->lexicons > ND_SIGNATURE_LEXICONS_MAX)
        return out_of_range("lexicons", "0 to 256", err);
    if (!is_share(p->drop) || p->drop >= 1)
        return out_of_range("drop", "0 to less than 1", err);
    return ND_OK;
}

enum nd_status nd_signature_params_check(const struct nd_signature_params *params,
                                         struct nd_error *err)
{
    if ((unsigned)params->hash > ND_HASH_SHA1)
        return nd_fail(err, ND_EINVAL, "unknown hash function");
    if (params->hash == ND_HASH_RABIN && !nd_rabin_is_irreducible(params->rabin_polynomial))
        return nd_fail(err, ND_EINVAL, "rabin_polynomial: t^64 + 0x%016llx is not irreducible",
                       (unsigned long long)params->rabin_polynomial);
    switch (params->kind) {
    case ND_SIGNATURE_SIMHASH: return check_simhash(params, err);
    case ND_SIGNATURE_MINHASH:
    case ND_SIGNATURE_SUPERSHINGLES:
    case ND_SIGNATURE_SORTED_SHINGLES:
    case ND_SIGNATURE_MEGASHINGLES: return check_minima(params, err);
    case ND_SIGNATURE_BOTTOM_K:
    case ND_SIGNATURE_MOD_P:
    case ND_SIGNATURE_WINNOWING:
    case ND_SIGNATURE_FEATURES: return check_values(params, err);
    case ND_SIGNATURE_IMATCH: return check_imatch(params, err);
    case ND_SIGNATURE_CHECKSUMS:
        return params->groups >= 1 && params->groups <= ND_SIGNATURE_GROUPS_MAX
                   ? ND_OK
                   : out_of_range("groups", "1 to 1024 buckets", err);
    case ND_SIGNATURE_PROFILE:
        return is_share(params->quantum) ? ND_OK : out_of_range("quantum", "0 to 1", err);
    default: return nd_fail(err, ND_EINVAL, "unknown kind of signature");
    }
}

enum nd_signature_form nd_signature_form(const struct nd_signature_params *params)
{
    switch (params->kind) {
    case ND_SIGNATURE_SIMHASH: return ND_FORM_BITS;
    case ND_SIGNATURE_BOTTOM_K:
    case ND_SIGNATURE_MOD_P:
    case ND_SIGNATURE_WINNOWING:
    case ND_SIGNATURE_SORTED_SHINGLES:
    case ND_SIGNATURE_FEATURES: return ND_FORM_VALUES;
    default: return ND_FORM_COORDINATES;
    }
}

size_t nd_signature_words(const struct nd_signature_params *params)
{
    switch (params->kind) {
    case ND_SIGNATURE_SIMHASH: return (params->bits + 63) / 64;
    case ND_SIGNATURE_MINHASH: return params->minima;
    case ND_SIGNATURE_SUPERSHINGLES:
    case ND_SIGNATURE_CHECKSUMS: return params->groups;
    case ND_SIGNATURE_MEGASHINGLES: return (size_t)params->groups * (params->groups - 1) / 2;
    case ND_SIGNATURE_IMATCH: return (size_t)params->lexicons + 1;
    case ND_SIGNATURE_PROFILE: return 1;
    default: return 0;
    }
}

void nd_signature_mask(const struct nd_signature_params *params, uint64_t *mask)
{
    unsigned left = params->bits - params->reserved_bits;

    if (nd_signature_form(params) != ND_FORM_BITS)
        return;
    for (size_t i = 0; i < nd_signature_words(params); i++) {
        unsigned here = left < 64 ? left : 64;

        mask[i] = here < 64 ? (UINT64_C(1) << here) - 1 : UINT64_MAX;
        left -= here;
    }
}

/* Whether a feature that occurs has a weight, whichever it is. */
static bool all_have_weight(const struct nd_weight_params *w)
{
    return w->idf == ND_IDF_NONE && w->markup == ND_MARKUP_IGNORE &&
           w->position == ND_POSITION_NONE && w->clip_quantile == 0 && w->clip_rank == 0 &&
           w->low == 0 && w->high == 0 && w->band_low == 0 && w->band_high == 0 && w->top == 0 &&
           w->top_share == 0 && w->template_weight == 0;
}

/* Kinds that take features as a set, and find equal ones by themselves. */
static bool takes_equal_ones(enum nd_signature_kind kind)
{
    switch (kind) {
    case ND_SIGNATURE_MINHASH:
    case ND_SIGNATURE_BOTTOM_K:
    case ND_SIGNATURE_MOD_P:
    case ND_SIGNATURE_SUPERSHINGLES:
    case ND_SIGNATURE_SORTED_SHINGLES:
    case ND_SIGNATURE_MEGASHINGLES:
    case ND_SIGNATURE_FEATURES: return true;
    default: return false;
    }
}

struct nd_feature_params nd_signature_features(const struct nd_signature_params *params,
                                               const struct nd_weight_params *weights,
                                               const struct nd_feature_params *features)
{
    struct nd_feature_params f = *features;

    if (takes_equal_ones(params->kind) && all_have_weight(weights) && f.unit != ND_FEATURE_TERMS &&
        f.select != ND_SELECT_FIRST)
        f.count = ND_FEATURE_OCCURRENCES;
    return f;
}

struct nd_weight_params nd_signature_weights(const struct nd_signature_params *params,
                                             const struct nd_weight_params *weights)
{
    struct nd_weight_params w = *weights;

    if (params->kind != ND_SIGNATURE_SIMHASH && params->kind != ND_SIGNATURE_PROFILE &&
        all_have_weight(weights))
        w.tf = ND_TF_BINARY;
    return w;
}
