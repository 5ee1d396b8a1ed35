/* pair_evidence.h - what compare and explain say of two documents beside each other */
#ifndef ND_EVIDENCE_PAIR_EVIDENCE_H
#define ND_EVIDENCE_PAIR_EVIDENCE_H

#include <neardup/evidence.h>

/* The agreement of the sketches of two documents. */
struct nd_two_sketches {
    uint64_t tokens[2];
    struct nd_overlap overlap; /* of their shingles */
    unsigned distance;         /* Hamming, of their simhashes */
    unsigned equal_minima;
};
ND_API enum nd_status nd_two_sketches(const struct nd_sketch_params *params,
                                      const struct nd_document *const document[2],
                                      struct nd_two_sketches *out, struct nd_error *err);

/*
 * List their distinct terms: those in both, then those in only one, each ordered by first
 * occurrence. The caller frees the terms and their texts, whatever the status.
 */
enum nd_status nd_two_terms(const struct nd_document *const document[2], struct nd_term **term,
                            size_t *n_shared, size_t *n_only_a, size_t *n_only_b,
                            struct nd_error *err);
void nd_terms_free(struct nd_term *term, size_t n);

/*
 * Check what is asked for.  Then compare two documents by every measure that is asked for, and
 * explain what the recipe, whose tables are open, decides of them.  The names in *out are empty.
 * *out must be released whatever the status.
 */
ND_API enum nd_status nd_compare_check(const struct nd_recipe *recipe,
                                       const struct nd_compare_params *params,
                                       struct nd_error *err);
ND_API enum nd_status nd_compare_documents(const struct nd_recipe *recipe,
                                           const struct nd_compare_params *params,
                                           const struct nd_document *const document[2],
                                           struct nd_comparison *out, struct nd_error *err);
ND_API enum nd_status nd_explain_documents(const struct nd_recipe *recipe,
                                           const struct nd_document *const document[2],
                                           struct nd_explanation *out, struct nd_error *err);

#endif
