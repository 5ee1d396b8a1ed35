/*
 * recipe_struct.h - what a recipe is inside: the struct that the INI keys fill, for those who run
 * recipes
 *
 * In no public header, so that a program does not depend on its layout; what is marked ND_API is
 * exported nevertheless, as the runs over files are a library of their own, of the same version.
 */
#ifndef ND_RECIPE_RECIPE_STRUCT_H
#define ND_RECIPE_RECIPE_STRUCT_H

#include <stdbool.h>

#include <neardup/dedup.h>
#include <neardup/recipe.h>

#include <neardup/compare.h>

#include "match/method.h"

/* The most bytes of a keep policy. */
#define ND_KEEP_MAX 127

/* How an engine decides: [sketch] and [decide], and behind them what no recipe says, as it changes
 * no result.  Start from nd_dedup_params_default(). */
struct nd_dedup_params {
    struct nd_sketch_params sketch;
    enum nd_candidates_by candidates;
    enum nd_verify verify;
    enum nd_cluster cluster;
    enum nd_short short_policy;
    enum nd_forms forms;
    /* 0 < p <= q */
    struct nd_ratio threshold;
    /* The fraction of the pairs at the threshold that bands find: 0 … 0.9999. */
    double recall;
    /* Both 0: they are chosen for threshold and recall. */
    unsigned bands, rows;
    /* For ND_CANDIDATES_SIMHASH. */
    unsigned simhash_bits;
    /* The most exact comparisons of a document, and the most documents that one key lists where
     * they are candidates of one another. */
    unsigned max_checks;
    /* For ND_CANDIDATES_MATCH; the engine copies it. */
    const struct nd_method *method;
    /* As in struct nd_dedup_options. */
    unsigned threads;
    unsigned char pin_threads, takes_sketches;
    /* No document comes with its text, so that nothing is signed and no df table is needed. */
    unsigned char takes_no_texts;
    size_t cache_bytes;
    /* The index of an engine of a run over files begins with room for so many; 0: for some
     * (ND_FIRST_DOCUMENTS). */
    size_t first_documents;
};
struct nd_dedup_params nd_dedup_params_default(void);

struct nd_recipe {
    struct nd_dedup_params dedup; /* its `method` is not read: what follows is */
    struct nd_method method;      /* the sections [signature NAME], and `match` */
    /* Which document represents a cluster, "first", "newest:date": the order in which a run pushes
     * documents; the engine does not see it. */
    char keep[ND_KEEP_MAX + 1];
};

/* Return what nd_recipe_new gives, by value. */
ND_API struct nd_recipe nd_recipe_default(void);

/* The engine's parameters by this recipe; they borrow its method. */
ND_API struct nd_dedup_params nd_recipe_dedup_params(const struct nd_recipe *recipe);

/* Return the values from which a section [signature NAME] starts. */
struct nd_recipe_signature nd_recipe_signature_default(void);

/* The section of this name; it is added where there is none.  NULL: ND_EINVAL, as this is no name,
 * or there are ND_RECIPE_SIGNATURES. */
struct nd_recipe_signature *nd_recipe_section(struct nd_recipe *recipe, struct nd_view name,
                                              struct nd_error *err);

/* The public functions of these names, for a section. */
ND_API bool nd_signature_needs_df(const struct nd_recipe_signature *signature);
ND_API bool nd_signature_needs_template(const struct nd_recipe_signature *signature);
ND_API enum nd_status nd_signature_use_df(struct nd_recipe_signature *signature,
                                          const struct nd_df *table, struct nd_error *err);
ND_API enum nd_status nd_signature_use_template(struct nd_recipe_signature *signature,
                                                const struct nd_df *table, struct nd_error *err);
/* The signature with this name, or the first one if the name is NULL. NULL: there is none. */
ND_API const struct nd_recipe_signature *nd_recipe_df_signature(const struct nd_recipe *recipe,
                                                                const char *which);
ND_API struct nd_document_signer *nd_document_signer_of(const struct nd_recipe_signature *signature,
                                                        struct nd_error *err);

/*
 * Checks, in the order in which they are made (params.c).  ND_EINVAL: the message names the key.
 */
/* There are no more signatures than there may be, and every text ends, so that the recipe can be
 * read.  Numbers are not looked at: a recipe can be read and changed before they are in range. */
enum nd_status nd_recipe_has_ends(const struct nd_recipe *recipe, struct nd_error *err);
enum nd_status nd_method_check(const struct nd_method *method, struct nd_error *err);
/* Also every number of [sketch] and [decide] is in its range.  NULL is refused, too. */
ND_API enum nd_status nd_recipe_params_check(const struct nd_recipe *recipe, struct nd_error *err);
/* Check the values of an engine, which must also fit together. */
enum nd_status nd_dedup_params_check(const struct nd_dedup_params *p, struct nd_error *err);

/* When a text is parsed, and by nd_recipe_check: whether the values of a section fit together, and
 * those of the whole recipe.  `err` is not NULL.  The message begins with the name of a key.  Also
 * ND_ENOMEM. */
enum nd_status nd_signature_fits(const struct nd_recipe_signature *section, struct nd_error *err);
enum nd_status nd_recipe_fits(const struct nd_recipe *recipe, struct nd_error *err);

/* Return the name of the measure that decides, such as "resemblance"; NULL: none does. */
ND_API const char *nd_dedup_measure(const struct nd_dedup_params *p);
/* Whether a containment decides, whichever it is. */
ND_API bool nd_dedup_measures_containment(const struct nd_dedup_params *p);
/* Whether candidates are found by samples of shingles, not by bands of minima. */
ND_API bool nd_dedup_takes_samples(const struct nd_dedup_params *p);

#endif
