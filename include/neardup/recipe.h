/* neardup/recipe.h - the recipe: how texts become sketches, and how sketches decide
 *
 * Library: neardup.
 *
 *     struct nd_recipe *recipe = nd_recipe_new(&err);
 *
 *     if (recipe && nd_recipe_set(recipe, "threshold=0.85", &err) == ND_OK)
 *         dedup = nd_dedup_new(recipe, NULL, &err);
 *     nd_recipe_free(recipe);
 */
#ifndef NEARDUP_RECIPE_H
#define NEARDUP_RECIPE_H

#include <neardup/df.h>
#include <neardup/error.h>
#include <neardup/feature.h>
#include <neardup/signature.h>
#include <neardup/sketch.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most signatures that a recipe has. */
#define ND_RECIPE_SIGNATURES 4
/* The most bytes in the name of a signature. */
#define ND_RECIPE_NAME_MAX 15

/*
 * A recipe is everything that decides which documents are near duplicates.  As text it is an INI
 * file (docs/format/recipe.md lists its keys): [sketch] and up to ND_RECIPE_SIGNATURES sections
 * [signature NAME] say what must agree before two sketches may be compared; [decide] says what is
 * free to change.  A caller sets and reads it by the same keys: "threshold", or "NAME.bits" for a
 * key of the section [signature NAME].
 *
 * A recipe is used by one thread while it is changed, and by any number while it is not.  Whoever
 * is given one copies what they need, unless they say otherwise.
 */
struct nd_recipe;

/* A new recipe: what recipes/default.ini says.  NULL: ND_ENOMEM.  To be freed. */
ND_API struct nd_recipe *nd_recipe_new(struct nd_error *err);
/* A copy that changes independently, with the same df tables.  NULL: ND_ENOMEM.  To be freed. */
ND_API struct nd_recipe *nd_recipe_copy(const struct nd_recipe *recipe, struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_recipe_free(struct nd_recipe *recipe);

/*
 * Change the recipe to what the text says.  Keys that the text does not name keep their values, and
 * so do signatures; a new [signature NAME] starts from nd_feature_params_default() and the like.
 * `name` is what messages call the text: "name:line: reason", with the nearest known key or word;
 * relative paths in the text (df, stop_words) are below its folder.  ND_EINVAL, ND_ENOMEM: the
 * recipe is unchanged.  Checked are each value, whether something reads its key, and whether the
 * values of each section and of the whole fit together.
 */
ND_API enum nd_status nd_recipe_parse(struct nd_recipe *recipe, const char *name, const char *text,
                                      size_t len, struct nd_error *err);

/* nd_recipe_parse with the content of a file.  ND_EIO; ND_EINVAL; ND_ENOMEM. */
ND_API enum nd_status nd_recipe_load(struct nd_recipe *recipe, const char *path,
                                     struct nd_error *err);

/* nd_recipe_parse with the text of a shipped recipe.  ND_EINVAL: the message names the nearest. */
ND_API enum nd_status nd_recipe_by_name(struct nd_recipe *recipe, const char *name,
                                        struct nd_error *err);

/*
 * Change one key: "threshold=0.85", "simhash.bits=128".  Whether anything reads the key is left to
 * nd_recipe_check, since another assignment may follow.  ND_EINVAL: the recipe is unchanged.
 */
ND_API enum nd_status nd_recipe_set(struct nd_recipe *recipe, const char *assignment,
                                    struct nd_error *err);

/*
 * The value of one key ("threshold", "simhash.bits") in its canonical spelling, whether anything
 * reads the key or not.  *value (zero-terminated, empty where the key is) is the caller's, to
 * free().  ND_EINVAL: there is no such key or signature, or its value is none that a recipe can
 * say; ND_ENOMEM.
 */
ND_API enum nd_status nd_recipe_get(const struct nd_recipe *recipe, const char *key, char **value,
                                    struct nd_error *err);

/*
 * Check the recipe as a whole.  ND_EINVAL: a key that nothing reads is not at its default, or
 * values do not fit together.
 */
ND_API enum nd_status nd_recipe_check(const struct nd_recipe *recipe, struct nd_error *err);

/*
 * The i-th warning about a recipe that is valid nevertheless, as warning->message: first the keys
 * of [decide] that nothing reads and that do not have their default, then the signatures, where no
 * rule reads them.  0: there are no more.
 */
ND_API int nd_recipe_warning(const struct nd_recipe *recipe, size_t i, struct nd_error *warning);

/*
 * The canonical text: all keys that are read, sorted, one spelling for each value; it parses to the
 * same recipe.  *text (zero-terminated; *len without the zero) is the caller's, to free().
 * *fingerprint, where not NULL, is the XXH3 of the canonical [signature NAME] and [sketch] sections
 * without the paths of df tables: sketches may be compared where it agrees.  ND_EINVAL: the recipe
 * holds what no recipe can say; ND_ENOMEM.
 */
ND_API enum nd_status nd_recipe_canonical(const struct nd_recipe *recipe, char **text, size_t *len,
                                          uint64_t *fingerprint, struct nd_error *err);

/*
 * The first key in which two recipes differ, in the order of their canonical texts: "shingle",
 * "simhash.bits".  sketch_half: of [sketch] and the signatures only, which must agree before
 * sketches may be compared.  *key is the caller's, to free(); NULL: there is none.  ND_EINVAL: a
 * recipe that has no canonical text; ND_ENOMEM.
 */
ND_API enum nd_status nd_recipe_difference(const struct nd_recipe *a, const struct nd_recipe *b,
                                           int sketch_half, char **key, struct nd_error *err);

/* ---- The recipes that come with neardup (recipes/), which the library holds ------------------ */

/* The name of the i-th in alphabetical order, such as "manku-2007".  NULL: there are no more. */
ND_API const char *nd_recipe_name(size_t i);
/* Its text, with comments; *len (NULL allowed) its bytes.  NULL: there is none of this name. */
ND_API const char *nd_recipe_text(const char *name, size_t *len);
/* Return what the recipe is, in one line; empty: there is none of this name. */
ND_API struct nd_view nd_recipe_about(const char *name);
/* The shipped recipe that was most likely meant.  NULL: none is near. */
ND_API const char *nd_recipe_nearest(const char *name);

/* ---- What a recipe says, for those who sketch documents themselves ---------------------------- */

/* The section [sketch], for nd_sketcher_new. */
ND_API struct nd_sketch_params nd_recipe_sketch_params(const struct nd_recipe *recipe);

/* How many sections [signature NAME] there are. */
ND_API size_t nd_recipe_signatures(const struct nd_recipe *recipe);
/* The name of the i-th in alphabetical order, and what it makes of features, for
 * nd_signature_compare and the like.  Borrowed until the recipe changes.  NULL: there are no more.
 */
ND_API const char *nd_recipe_signature_name(const struct nd_recipe *recipe, size_t i);
ND_API const struct nd_signature_params *nd_recipe_signature_params(const struct nd_recipe *recipe,
                                                                    size_t i);

/* Whether signature i needs a df table: for idf, a lexicon, rare features, phrases, stop words. */
ND_API int nd_recipe_needs_df(const struct nd_recipe *recipe, size_t i);
/* Whether it needs a df table of shingles, by which template text is recognised. */
ND_API int nd_recipe_needs_template(const struct nd_recipe *recipe, size_t i);

/*
 * Give signature i its open df table, or NULL.  The table stays the caller's and outlives what is
 * made of the recipe.  The key df_version becomes its fingerprint, which is part of the recipe's.
 * ND_EINVAL: the signature needs a table and there is none; the table counts other features; the
 * recipe states another version; there is no such signature.
 */
ND_API enum nd_status nd_recipe_use_df(struct nd_recipe *recipe, size_t i,
                                       const struct nd_df *table, struct nd_error *err);
/* Use the table for template text, with the key template_df_version. */
ND_API enum nd_status nd_recipe_use_template(struct nd_recipe *recipe, size_t i,
                                             const struct nd_df *table, struct nd_error *err);

/*
 * Set the key df, a path, of all signatures that need a df table: who runs the recipe over files
 * opens it.  ND_EINVAL: none needs one; the path is too long.
 */
ND_API enum nd_status nd_recipe_set_df(struct nd_recipe *recipe, const char *path,
                                       struct nd_error *err);

/*
 * The features that `which` names: "terms"; "sketch", the shingles of the recipe's [sketch] section;
 * the name of one of its signatures; NULL: its first signature, or terms where it has none.
 * *weights, where not NULL, becomes that signature's, or the default.  ND_EINVAL: there is no such
 * signature.
 */
ND_API enum nd_status nd_recipe_df_features(const struct nd_recipe *recipe, const char *which,
                                            struct nd_feature_params *features,
                                            struct nd_weight_params *weights, struct nd_error *err);

/* Makes one of a recipe's signatures from documents: the working memory of one thread. */
struct nd_document_signer;

/*
 * A signer for signature i.  The recipe is not needed any longer; its df table, where it has one,
 * is.  NULL: what nd_featurer_new and nd_signer_new say, behind the signature's name; ND_EINVAL:
 * there is no such signature.
 */
ND_API struct nd_document_signer *nd_document_signer_new(const struct nd_recipe *recipe, size_t i,
                                                         struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_document_signer_free(struct nd_document_signer *s);

/*
 * The signature of one document.  *out is borrowed until the next document; *n_tokens (NULL
 * allowed) is how many tokens the document has.  ND_ENOMEM.
 */
ND_API enum nd_status nd_document_signer_run(struct nd_document_signer *s,
                                             const struct nd_document *document,
                                             struct nd_signature *out, uint64_t *n_tokens);

/* Which fingerprint stands for a document in a Hamming index (hamming.h). */
struct nd_recipe_simhash {
    /* Its number among the recipe's signatures; -1: the simhash of [sketch]. */
    int signature;
    /* 32 … 512 */
    unsigned bits;
    /* The most bits that the rule, or simhash_bits, lets differ; 0: none. */
    unsigned distance;
};

/*
 * The only signature of the kind simhash, or of a recipe without signatures the simhash of
 * [sketch].  ND_EINVAL: there is none, or there are several.
 */
ND_API enum nd_status nd_recipe_simhash_of(const struct nd_recipe *recipe,
                                           struct nd_recipe_simhash *out, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
