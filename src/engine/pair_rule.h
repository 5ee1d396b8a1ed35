/* pair_rule.h - the rule by which pairs are found, near misses among them */
#ifndef ND_ENGINE_PAIR_RULE_H
#define ND_ENGINE_PAIR_RULE_H

#include <stdbool.h>

#include "recipe/recipe_struct.h"

struct nd_pair_rule {
    bool has_near_misses;
    enum nd_verify verify;
    struct nd_ratio threshold; /* of a match; the engine's is lower for near misses */
};

/*
 * Change the parameters of an engine that makes pairs: it finds those that reach `near` too (zeroes:
 * no near misses), and the greater of two containments counts, as a pair has no direction.
 * ND_EINVAL, and nothing has changed: `near` is not below the threshold, or the recipe does not
 * verify what minhash or all candidates find.
 */
ND_API enum nd_status nd_pair_rule_set(struct nd_pair_rule *rule, struct nd_dedup_params *params,
                                       struct nd_ratio near, struct nd_error *err);

/* Whether a pair matches, rather than nearly. */
ND_API bool nd_pair_rule_matches(const struct nd_pair_rule *rule, const struct nd_found_pair *pair);

/* Check that the rule allows `near`, before anything is read. */
ND_API enum nd_status nd_pair_rule_check(const struct nd_dedup_params *params, struct nd_ratio near,
                                         struct nd_error *err);

#endif
