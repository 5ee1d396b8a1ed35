/* method.h - the signatures of a recipe, and the rule that says when two documents match */
#ifndef ND_MATCH_METHOD_H
#define ND_MATCH_METHOD_H

#include <neardup/recipe.h>

/* The most bytes of a rule. */
#define ND_MATCH_MAX 255

/* A section [signature NAME] of a recipe: features, their weights, what is made of them. */
struct nd_recipe_signature {
    char name[ND_RECIPE_NAME_MAX + 1];
    struct nd_feature_params feature;
    struct nd_weight_params weight;
    struct nd_signature_params signature;
    /* The path of its df table, "": none.  In a recipe's file it is relative to the file's folder.
     */
    char df[ND_FEATURE_PATH_MAX + 1];
    /* The nd_df_fingerprint that the table must have; 0: any. */
    uint64_t df_version;
    /* The table of template text, which, once open, is feature.template_table; its fingerprint. */
    char template_df[ND_FEATURE_PATH_MAX + 1];
    uint64_t template_df_version;
    /* The df table itself, opened and owned by whoever runs the recipe; NULL: none. */
    const struct nd_df *table;
};

/*
 * The signatures of a recipe and its `match` rule (docs/format/recipe.md):
 *
 *     rule  = all { "or" all }             all = test { "and" test }
 *     test  = "(" rule ")" | "any of" "(" rule { "," rule } ")" | "all of" "(" … ")"
 *           | value ( ">=" | "<=" ) number
 *     value = "distance" "(" NAME ")"      differing bits             (bits)
 *           | "agree" "(" NAME ")"         agreeing bits              (bits)
 *           | "equal" "(" NAME ")"         equal coordinates          (coordinates)
 *           | "shared" "(" NAME ")"        values in both             (values)
 *           | "resemblance" "(" NAME ")"   shared / union             (values)
 *           | "containment" "(" NAME ")"   shared / the smaller       (values)
 *           | "overlap" "(" NAME ")"       shared / the larger        (values)
 *           | "cosine" "(" NAME ")"        shared / sqrt(a b)         (values)
 *           | "same" "(" NAME ")"          equal reserved bits: 1     (bits)
 *           | "length"                     the shorter of the two texts / the longer, in tokens
 */
struct nd_method {
    struct nd_recipe_signature signature[ND_RECIPE_SIGNATURES];
    /* 0: candidates come from what [sketch] makes. */
    unsigned n_signatures;
    char match[ND_MATCH_MAX + 1];
};

#endif
