/* df_features.c - which features of a recipe a df table counts */
#include <string.h>

#include "recipe/recipe_struct.h"

const struct nd_recipe_signature *nd_recipe_df_signature(const struct nd_recipe *recipe,
                                                         const char *which)
{
    const struct nd_method *m = &recipe->method;

    for (unsigned i = 0; i < m->n_signatures; i++)
        if (!which || strcmp(m->signature[i].name, which) == 0)
            return &m->signature[i];
    return NULL;
}

enum nd_status nd_recipe_df_features(const struct nd_recipe *recipe, const char *which,
                                     struct nd_feature_params *features,
                                     struct nd_weight_params *weights, struct nd_error *err)
{
    const struct nd_recipe_signature *s;

    if (nd_recipe_params_check(recipe, err) != ND_OK)
        return ND_EINVAL;
    s = nd_recipe_df_signature(recipe, which);
    *features = nd_feature_params_default();
    features->boilerplate = recipe->dedup.sketch.boilerplate;
    if (weights)
        *weights = nd_weight_params_default();
    if (which ? strcmp(which, "terms") == 0 : !s)
        return ND_OK;
    if (which && strcmp(which, "sketch") == 0) {
        features->unit = recipe->dedup.sketch.unit == ND_SHINGLE_CHARACTERS ? ND_FEATURE_CHARACTERS
                                                                            : ND_FEATURE_SHINGLES;
        features->width = recipe->dedup.sketch.w;
        return ND_OK;
    }
    if (!s)
        return nd_fail(err, ND_EINVAL,
                       "the recipe has no signature '%s'; terms and sketch are always available",
                       which);
    if (s->feature.unit == ND_FEATURE_NONE)
        return nd_fail(err, ND_EINVAL,
                       "signature %s: unit = none: fields and links are not counted, so nothing is "
                       "left to count",
                       s->name);
    *features = s->feature;
    features->boilerplate = recipe->dedup.sketch.boilerplate;
    if (weights)
        *weights = s->weight;
    return ND_OK;
}
