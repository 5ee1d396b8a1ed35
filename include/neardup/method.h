/* neardup/method.h - signatures by name, and the rule that says when two documents match */
#ifndef NEARDUP_METHOD_H
#define NEARDUP_METHOD_H

#include <neardup/df.h>
#include <neardup/feature.h>
#include <neardup/signature.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_METHOD_SIGNATURES 4 /* in a recipe, at most */
#define ND_METHOD_NAME_MAX 15
#define ND_MATCH_MAX 255

/* A section [signature NAME] of a recipe: features, their weights, what is made of them. */
struct nd_named_signature {
    char name[ND_METHOD_NAME_MAX + 1];
    struct nd_feature_params feature;
    struct nd_weight_params weight;
    struct nd_signature_params signature;
    char df[ND_FEATURE_PATH_MAX + 1]; /* path of the df table, "": none; in a recipe's file,
                                         relative to the folder of the file */
    uint64_t df_version;              /* what nd_df_fingerprint must say of it; 0: not said */
    char template_df[ND_FEATURE_PATH_MAX + 1]; /* the same of the table of template text, which */
    uint64_t template_df_version;              /* opened is feature.template_table */
    const struct nd_df *table; /* it, opened by whoever runs the recipe and theirs; NULL: none */
};

/* From documents to this one of their signatures: the working memory of one thread. */
struct nd_named_signer;

/* The signature is not needed any longer, its df table, where it has one, is.  NULL and *err: what
 * nd_featurer_new and nd_signer_new say, behind the signature's name. */
ND_API struct nd_named_signer *nd_named_signer_new(const struct nd_named_signature *signature,
                                                   struct nd_error *err);
/* NULL: nothing. */
ND_API void nd_named_signer_free(struct nd_named_signer *s);

/* *out is borrowed until the next document; *n_tokens (NULL allowed) is how many tokens it has.
 * ND_ENOMEM. */
ND_API enum nd_status nd_named_signer_run(struct nd_named_signer *s,
                                          const struct nd_document *document,
                                          struct nd_signature *out, uint64_t *n_tokens);

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
 *           | "overlap" "(" NAME ")"       shared / the greater       (values)
 *           | "cosine" "(" NAME ")"        shared / sqrt(a b)         (values)
 *           | "same" "(" NAME ")"          equal reserved bits: 1     (bits)
 *           | "length"                     the shorter of the two texts / the longer, in tokens
 */
struct nd_method {
    struct nd_named_signature signature[ND_METHOD_SIGNATURES];
    unsigned n_signatures; /* 0: the built-in candidates of the [decide] half */
    char match[ND_MATCH_MAX + 1];
};

#ifdef __cplusplus
}
#endif
#endif
