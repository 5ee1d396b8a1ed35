/* neardup/recipe.h - the recipe: how texts become sketches, and how sketches decide */
#ifndef NEARDUP_RECIPE_H
#define NEARDUP_RECIPE_H

#include <neardup/dedup.h>
#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_KEEP_MAX 127 /* bytes of a keep policy */

/*
 * The whole named choice.  As text it is an INI file (docs/format/recipe.md): [sketch] and up to
 * ND_METHOD_SIGNATURES sections [signature NAME] say what must agree before two sketches may be
 * compared, [decide] what is free to change.  `threads`, `pin_threads` and `cache_bytes` change no
 * result and are in no recipe.
 */
struct nd_recipe {
    struct nd_dedup_params dedup; /* its `method` is not read: what follows is */
    struct nd_method method;      /* the [signature NAME] sections, and `match` */
    char keep[ND_KEEP_MAX + 1];   /* who stands for a cluster, "first", "newest:date": the order in
                                     which the caller pushes; the engine does not see it */
};

/* nd_dedup_params_default() and "first": what recipes/default.ini says. */
ND_API struct nd_recipe nd_recipe_default(void);

/*
 * Change the recipe to what the text says; keys that it does not name stay as they are, and so do
 * signatures; a new [signature NAME] starts from nd_feature_params_default() and the like.  `name`
 * is what messages call the text: "name:line: reason", with the nearest known key or word; relative
 * paths in the text (df, stop_words) are below its folder.  ND_EINVAL, and the recipe is as it was.
 * Each value is checked by itself, and that something reads it; nd_dedup_new checks whether they
 * fit together.
 */
ND_API enum nd_status nd_recipe_parse(struct nd_recipe *recipe, const char *name, const char *text,
                                      size_t len, struct nd_error *err);

/* The same, of a file.  ND_EIO; ND_EINVAL; ND_ENOMEM. */
ND_API enum nd_status nd_recipe_load(struct nd_recipe *recipe, const char *path,
                                     struct nd_error *err);

/*
 * The recipes that come with neardup (recipes/), which the library has with it: the name of the
 * i-th in alphabetical order, such as "manku-2007", NULL: there are no more; its text, with
 * comments, NULL: there is none of this name; in a line what it is.  Static storage.
 */
ND_API const char *nd_recipe_name(size_t i);
ND_API const char *nd_recipe_text(const char *name, size_t *len);
ND_API struct nd_view nd_recipe_about(const char *name);
/* Which of them was most likely meant; NULL: none is near. */
ND_API const char *nd_recipe_nearest(const char *name);

/* nd_recipe_parse with the text of a shipped recipe.  ND_EINVAL: the message names the nearest. */
ND_API enum nd_status nd_recipe_by_name(struct nd_recipe *recipe, const char *name,
                                        struct nd_error *err);

/* Change one key: "threshold=0.85", "simhash.bits=128".  ND_EINVAL, and the recipe is as it was. */
ND_API enum nd_status nd_recipe_set(struct nd_recipe *recipe, const char *assignment,
                                    struct nd_error *err);

/* ND_EINVAL: a key that nothing reads is not at its default. */
ND_API enum nd_status nd_recipe_check(const struct nd_recipe *recipe, struct nd_error *err);

/*
 * The i-th key of [decide] that has another value than its default and that nothing reads, then
 * signatures that no rule reads, as what warning->message says; 0: there are no more.  The recipe
 * is good all the same.
 */
ND_API int nd_recipe_warning(const struct nd_recipe *recipe, size_t i, struct nd_error *warning);

/* Whether a signature asks a df table: for idf, a lexicon, what is rare, phrases, stop words. */
ND_API int nd_signature_asks_df(const struct nd_named_signature *signature);

/*
 * Give a signature its open df table, which stays the caller's, or NULL; df_version becomes its
 * fingerprint, which is part of the recipe's.  ND_EINVAL: the signature asks a table and there is
 * none; it counts other features; the recipe states another version.
 */
ND_API enum nd_status nd_signature_use_table(struct nd_named_signature *signature,
                                             const struct nd_df *table, struct nd_error *err);

/* The same for template text: whether it asks for a df table of shingles, and giving it one. */
ND_API int nd_signature_asks_template(const struct nd_named_signature *signature);
ND_API enum nd_status nd_signature_use_template(struct nd_named_signature *signature,
                                                const struct nd_df *table, struct nd_error *err);

/* Name the df table of all signatures that ask one.  ND_EINVAL: none does; too long a path. */
ND_API enum nd_status nd_recipe_set_df(struct nd_recipe *recipe, const char *path,
                                       struct nd_error *err);

/*
 * The canonical text: all keys that are read, sorted, one spelling for each value; it parses to the
 * same recipe.  *text (zero-terminated; *len without the zero) is the caller's, to free().
 * *fingerprint, where not NULL, is the XXH3 of the canonical [signature NAME] and [sketch] sections
 * without the paths of df tables: sketches may be compared where it agrees.  ND_EINVAL: the recipe
 * holds what no recipe can say; ND_ENOMEM.
 */
ND_API enum nd_status nd_recipe_canonical(const struct nd_recipe *recipe, char **text, size_t *len,
                                          uint64_t *fingerprint, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
