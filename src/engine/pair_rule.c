/* pair_rule.c - the rule by which pairs are found, near misses among them */
#include "engine/pair_rule.h"

#include <inttypes.h>

enum nd_status nd_pair_rule_check(const struct nd_dedup_params *params, struct nd_ratio near,
                                  struct nd_error *err)
{
    const struct nd_ratio threshold = params->threshold;

    if (!near.q)
        return ND_OK;
    if (params->verify == ND_VERIFY_NONE)
        return nd_fail(err, ND_EINVAL, "no near misses: the recipe verifies nothing");
    if (params->candidates != ND_CANDIDATES_MINHASH && params->candidates != ND_CANDIDATES_ALL)
        return nd_fail(
            err, ND_EINVAL,
            "no near misses: these candidates do not find all pairs that miss the threshold; use "
            "minhash or all");
    if (!near.p || (uint64_t)near.p * threshold.q >= (uint64_t)threshold.p * near.q)
        return nd_fail(err, ND_EINVAL,
                       "near misses from %" PRIu32 "/%" PRIu32
                       ": this must be above 0 and below the threshold, %" PRIu32 "/%" PRIu32,
                       near.p, near.q, threshold.p, threshold.q);
    return ND_OK;
}

enum nd_status nd_pair_rule_set(struct nd_pair_rule *rule, struct nd_dedup_params *params,
                                struct nd_ratio near, struct nd_error *err)
{
    enum nd_status status = nd_pair_rule_check(params, near, err);

    if (status != ND_OK)
        return status;
    *rule = (struct nd_pair_rule){.has_near_misses = near.q != 0, .threshold = params->threshold};
    if (rule->has_near_misses)
        params->threshold = near;
    if (nd_dedup_measures_containment(params))
        params->verify = ND_VERIFY_CONTAINMENT_EITHER;
    rule->verify = params->verify;
    return ND_OK;
}

bool nd_pair_rule_matches(const struct nd_pair_rule *rule, const struct nd_found_pair *pair)
{
    return !rule->has_near_misses || pair->is_equal ||
           nd_overlap_reaches(&pair->overlap, rule->verify, rule->threshold);
}
