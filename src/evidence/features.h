/* features.h - the features of one document, with their texts, weights and hashes */
#ifndef ND_EVIDENCE_FEATURES_H
#define ND_EVIDENCE_FEATURES_H

#include <stdbool.h>

#include <neardup/evidence.h>
#include <neardup/feature.h>
#include <neardup/signature.h>

/*
 * The features that each signature of the recipe, whose tables are open, is made of.  The name in *out
 * is empty.  *out must be released whatever the status.
 */
ND_API enum nd_status nd_features_of_document(const struct nd_recipe *recipe,
                                              const struct nd_document *document,
                                              struct nd_document_features *out,
                                              struct nd_error *err);

/* The working memory of one thread.  Starts from zeroes. */
struct nd_feature_maker {
    struct nd_featurer *featurer;
    struct nd_featurer *full; /* without position, clipping and thresholds; NULL: the same */
    struct nd_signer *signer; /* NULL: the hashes of features are used unchanged */
};

/* How many signatures are explained: those of the recipe, or 1 for its shingles; and their names. */
ND_API unsigned nd_explained_signatures(const struct nd_recipe *recipe);
ND_API void nd_explained_signature_name(const struct nd_recipe *recipe, unsigned i,
                                        char name[ND_RECIPE_NAME_MAX + 1]);

/* A maker of the features of signature i; `with_full`: of the full weights too.  ND_EINVAL, ND_ENOMEM:
 * *err says why; the caller still releases what was made. */
ND_API enum nd_status nd_feature_maker_init(struct nd_feature_maker *m,
                                            const struct nd_recipe *recipe, unsigned i,
                                            bool with_full, struct nd_error *err);
ND_API void nd_feature_maker_release(struct nd_feature_maker *m);
/* Turn the hashes of n features into those that the signature uses, in place. */
ND_API void nd_feature_maker_hash(const struct nd_feature_maker *m, uint64_t *hash, size_t n);

#endif
