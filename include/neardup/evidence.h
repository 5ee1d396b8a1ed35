/* neardup/evidence.h - what is said of two documents, and what one consists of: as structs, and as JSON
 *
 * Library: neardup.
 *
 *     if (nd_comparison_json(&comparison, &text, &len, &err) == ND_OK)
 *         fwrite(text, 1, len, stdout);
 *     free(text);
 *     nd_comparison_release(&comparison);
 *
 * The runs of neardup/uses.h and neardup/explain.h make the structs.
 */
#ifndef NEARDUP_EVIDENCE_H
#define NEARDUP_EVIDENCE_H

#include <neardup/compare.h>
#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/recipe.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Two documents by every measure -------------------------------------------------------------
 */

/* The parts of a comparison that take time of their own. */
enum nd_compare_parts {
    ND_COMPARE_EDIT = 1,     /* the edit distance */
    ND_COMPARE_SCRIPT = 2,   /* the edits themselves, too */
    ND_COMPARE_PASSAGES = 4, /* copied passages */
    ND_COMPARE_TERMS = 8,    /* the terms themselves, and how often each document has them */
    ND_COMPARE_WEIGHTS = 16, /* the weighted features of the recipe's first signature */
};

/* Start from nd_compare_params_default(). */
struct nd_compare_params {
    /* A set of enum nd_compare_parts. */
    unsigned parts;
    struct nd_edit_costs costs;
    /* The limit of the edit distance.  0: as far as about two seconds allow; or ND_EDIT_NO_LIMIT.
     */
    uint64_t limit;
    struct nd_passage_params passages;
};
ND_API struct nd_compare_params nd_compare_params_default(void);

/* A distinct term as it stands in the text (UTF-8, zero-terminated), and how often each of two
 * documents has it. */
struct nd_term {
    char *text;
    uint64_t in_a, in_b;
};

/* A feature of a signature in readable form, and its weight in each of two documents (the sum over
 * equal features). */
struct nd_weight {
    char *text;
    int64_t in_a, in_b;
};

/* Two documents beside each other.  What belongs to parts that were not asked for is zero. */
struct nd_comparison {
    /* The parts that were asked for. */
    unsigned parts;
    struct nd_document_name name[2];
    /* Their texts, in UTF-8, and the tokens in them: hash, and place in bytes. */
    char *text[2];
    size_t bytes[2];
    struct nd_token *token[2];
    size_t tokens[2];

    int same_bytes, same_words;
    /* The kind of words that only one of them has. */
    enum nd_differs differs_in;
    struct nd_overlap shingles;
    /* The distance of the simhashes, of 64. */
    unsigned hamming;
    struct nd_term_overlap terms;
    /* Whether they are duplicates by the rule of Conrad and Schriber (Seshasai 2009, §2.5.1). */
    int conrad_schriber;

    /* edit_distance is ND_EDIT_BEYOND where it is greater than the limit. */
    uint64_t edit_limit, edit_distance;
    struct nd_edit *edit;
    size_t n_edits;

    /* Passages of the second that stand in the first; `covered`: tokens of each in passages. */
    struct nd_passage *passage;
    size_t n_passages;
    uint64_t covered[2];

    /* Shared terms, then those of the first only, then those of the second only; each group in the
     * order of first occurrence. */
    struct nd_term *term;
    size_t n_shared, n_only_a, n_only_b;

    /* The name of the signature whose features these are; the greatest difference comes first. */
    char signature[ND_RECIPE_NAME_MAX + 1];
    struct nd_weight *weight;
    size_t n_weights;
    /* Inner product and squared lengths of the weights; and the value of a weight of 1 in each
     * document, which includes the length normalisation. */
    double weights_inner, weights_squares[2], weights_unit[2];
};
ND_API void nd_comparison_release(struct nd_comparison *c);

/* The comparison as one JSON object and a newline (docs/format/uses.md); the caller frees *text.
 * ND_ENOMEM. */
ND_API enum nd_status nd_comparison_json(const struct nd_comparison *c, char **text, size_t *len,
                                         struct nd_error *err);

/* ---- Two documents, and what is decided of them --------------------------------------------------
 */

/* Two documents beside each other, and what a run of only these two would decide. */
struct nd_explanation {
    struct nd_document_name name[2];
    uint64_t bytes[2], tokens[2];
    /* The overlap of their shingles. */
    struct nd_overlap overlap;
    /* The Hamming distance of the simhashes, and how many of ND_MINHASH_COUNT minima are equal. */
    unsigned distance;
    unsigned equal_minima;
    /* The agreement of the recipe's signatures; a = b = 0 where one of them is rejected. */
    struct {
        char name[ND_RECIPE_NAME_MAX + 1];
        struct nd_agreement agreement;
    } signature[ND_RECIPE_SIGNATURES];
    unsigned n_signatures;
    /* Whether their texts are, whatever is decided. */
    enum nd_identical identical;
    int is_short[2];
    /* The kind of words that only one of them has. */
    enum nd_differs differs_in;
    /* The bands of the recipe, and the minima in each. */
    unsigned bands, rows;
    /* The probability that a pair of this resemblance shares a band, so that it is compared; -1 if
     * candidates are found in another way. */
    double band_chance;
    /* The decision, and the reason in words. */
    int is_duplicate;
    char why[384];
    /* Shared terms, then those of a only, then those of b only; each group in the order of first
     * occurrence. */
    struct nd_term *terms;
    size_t n_shared, n_only_a, n_only_b;
};
ND_API void nd_explanation_release(struct nd_explanation *e);

/* The explanation as one JSON object and a newline (docs/format/uses.md); the caller frees *text.
 * ND_ENOMEM. */
ND_API enum nd_status nd_explanation_json(const struct nd_explanation *e, char **text, size_t *len,
                                          struct nd_error *err);

/* A row of a manifest: the document that was removed (B) and the one kept for it (A). */
struct nd_explained_row {
    /* Its number among the rows below the header, from 1. */
    uint64_t number;
    /* As the manifest has it; below 0: it has none. */
    double resemblance;
    /* The texts have another resemblance now. */
    int has_changed;
    /* Places, as the manifest has them. */
    const char *kept_at, *removed_at;
    /* NULL: one of the two was not found, and `missing` is its place. */
    const struct nd_explanation *explanation;
    const char *missing;
};

/* A row as one JSON object and a newline; the caller frees *text.  ND_ENOMEM. */
ND_API enum nd_status nd_explained_row_json(const struct nd_explained_row *row, char **text,
                                            size_t *len, struct nd_error *err);

/* ---- The features of one document ----------------------------------------------------------------
 */

/* A feature in readable form (Seshasai 2009, Figures 3-1 and 3-3). */
struct nd_explained_feature {
    char *text;
    /* The value that the signature is made of: the hash by its own function and seed. */
    uint64_t hash;
    /* By the recipe, in the unit of its tf and idf; and the same without position, clipping and
     * thresholds. */
    double weight, full;
    /* How many documents of the df table have it (1: it is unseen); 0: there is no table. */
    uint32_t df;
    /* It is of a field or a link, not of the text. */
    int from_field;
};

/* The features that a signature is made of, in the order of the document; those of fields last. */
struct nd_explained_signature {
    /* For a recipe without signatures "sketch": the shingles. */
    char name[ND_RECIPE_NAME_MAX + 1];
    struct nd_explained_feature *feature;
    /* All features, and those with a weight above 0. */
    size_t n_features, n_weighted;
    /* Their numbers by falling weight; ties in the order of the document. */
    size_t *by_weight;
    /* How many are fields whose weight depends on the sums of the others. */
    size_t n_forced;
    /* Weights count only as 0 or not 0. */
    int is_set;
    /* Some weight differs from the full one. */
    int has_full;
    /* There is a df table. */
    int has_df;
};

struct nd_document_features {
    struct nd_document_name name;
    uint64_t bytes, tokens;
    struct nd_explained_signature signature[ND_RECIPE_SIGNATURES];
    unsigned n_signatures;
};
ND_API void nd_document_features_release(struct nd_document_features *d);

/* The features as one JSON object and a newline, in the order of the document or by weight;
 * `top` of them, or all (0).  The caller frees *text.  ND_ENOMEM. */
ND_API enum nd_status nd_document_features_json(const struct nd_document_features *d,
                                                int by_position, size_t top, char **text,
                                                size_t *len, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
