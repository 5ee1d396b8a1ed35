/* neardup/explain.h - why two documents are duplicates or not; what one document consists of
 *
 * Library: neardup-files.
 *
 *     struct nd_explanation e;
 *
 *     if (nd_run_explain(options, "a.txt", "b.txt", NULL, &e, &err) == ND_OK)
 *         puts(e.why);
 *     nd_explanation_release(&e);
 *
 * The functions that read documents are runs over files, as those of neardup/uses.h: of the options
 * the recipe, paths, input, tmp, threads and df_auto count.  They write nothing.
 */
#ifndef NEARDUP_EXPLAIN_H
#define NEARDUP_EXPLAIN_H

#include <neardup/run.h>
#include <neardup/uses.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Two documents ----------------------------------------------------------------------------
 */

/* Two documents beside each other, and what a run of only these two would decide. */
struct nd_explanation {
    struct nd_document_name name[2];
    uint64_t bytes[2], tokens[2];
    /* Of their shingles. */
    struct nd_overlap overlap;
    /* The Hamming distance of the simhashes, and how many of ND_MINHASH_COUNT minima are equal. */
    unsigned distance;
    unsigned equal_minima;
    /* What the recipe's signatures have in common; a = b = 0 where one of them is rejected. */
    struct {
        char name[ND_RECIPE_NAME_MAX + 1];
        struct nd_agreement agreement;
    } signature[ND_RECIPE_SIGNATURES];
    unsigned n_signatures;
    /* Whether their texts are, whatever is decided. */
    enum nd_identical identical;
    int is_short[2];
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

/*
 * Explain two documents.  Without a path in the options, a and b are files that hold one document each;
 * else the first documents of that corpus with these ids or places, as they are or as the outputs
 * write them, with escapes.  ND_EINPUT: not found, or a file holds another number of documents.
 */
ND_API enum nd_status nd_run_explain(const struct nd_run_options *options, const char *a,
                                     const char *b, const struct nd_run_events *events,
                                     struct nd_explanation *out, struct nd_error *err);

/* The explanation as one JSON object and a newline (docs/format/uses.md); the caller frees *text.
 * ND_ENOMEM. */
ND_API enum nd_status nd_explanation_json(const struct nd_explanation *e, char **text, size_t *len,
                                          struct nd_error *err);

/* ---- The features of one document -------------------------------------------------------------
 */

/* A feature in readable form (Seshasai 2009, Figures 3-1 and 3-3). */
struct nd_explained_feature {
    char *text;
    /* What the signature is made of: the hash by its own function and seed. */
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

/*
 * List the features of one document.  Without a path in the options, `name` is a file that holds one
 * document; else an id or a place in that corpus, as in nd_run_explain, whose statuses it returns.
 */
ND_API enum nd_status nd_run_features(const struct nd_run_options *options, const char *name,
                                      const struct nd_run_events *events,
                                      struct nd_document_features *out, struct nd_error *err);

/* The features as one JSON object and a newline, in the order of the document or by weight;
 * `top` of them, or all (0).  The caller frees *text.  ND_ENOMEM. */
ND_API enum nd_status nd_document_features_json(const struct nd_document_features *d,
                                                int by_position, size_t top, char **text,
                                                size_t *len, struct nd_error *err);

/* ---- The rows of a manifest -------------------------------------------------------------------
 */

/* The most rows that are explained at once. */
#define ND_EXPLAIN_ROWS_MAX 100000u

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

/* Starts from zeroes. */
struct nd_explain_rows_params {
    /* A file that nd_run_dedup wrote, compressed or not. */
    const char *manifest;
    /* How many rows, 1 … ND_EXPLAIN_ROWS_MAX. */
    size_t lowest;
    /* the recipe of the options decides, and not that of the manifest. */
    int own_recipe;
    /* Called for each row; not 0: stop with ND_ECANCELLED. */
    int (*each)(void *context, const struct nd_explained_row *row);
    void *context;
};

/*
 * Explain the rows of a manifest that have the lowest resemblance, the lowest first.  Rows without
 * one come last, by falling distance.  Documents are read as the manifest says.  Without
 * a path in the options they are looked for where they were, by their places; else in those files and
 * folders, by place or by id.  They are held in memory.  summary->found: rows that were explained;
 * left_out: rows of which a document was not found.  ND_EINPUT: not a manifest, or an input was
 * standard input; ND_EINVAL: `lowest`; the statuses of nd_run_explain.
 */
ND_API enum nd_status nd_run_explain_rows(const struct nd_run_options *options,
                                          const struct nd_explain_rows_params *params,
                                          const struct nd_run_events *events,
                                          struct nd_use_summary *summary, struct nd_error *err);

/* A row as one JSON object and a newline; the caller frees *text.  ND_ENOMEM. */
ND_API enum nd_status nd_explained_row_json(const struct nd_explained_row *row, char **text,
                                            size_t *len, struct nd_error *err);

/* ---- How hashes are distributed ---------------------------------------------------------------
 */

#define ND_HISTOGRAM_BUCKETS_MAX 1024u

/* How many hashes fall into each of some equal parts of their space (Seshasai 2009, Figure 3-2,
 * with 256). */
struct nd_hash_histogram {
    /* Of the signature, as above. */
    char name[ND_RECIPE_NAME_MAX + 1];
    /* 2 … ND_HISTOGRAM_BUCKETS_MAX. */
    unsigned buckets;
    /* The features of all documents, in all and in each part. */
    uint64_t features, all[ND_HISTOGRAM_BUCKETS_MAX];
    /* The same of distinct hashes. */
    uint64_t distinct, bucket[ND_HISTOGRAM_BUCKETS_MAX];
    /* There were more distinct hashes than could be remembered. */
    int is_lower_bound;
};

/* Count one hash; is_new: it was not met before. */
ND_API void nd_hash_histogram_add(struct nd_hash_histogram *h, uint64_t hash, int is_new);

/* Make the histogram of a document's features.  ND_EINVAL: buckets. */
ND_API enum nd_status nd_hash_histogram_of(const struct nd_explained_signature *signature,
                                           unsigned buckets, struct nd_hash_histogram *out,
                                           struct nd_error *err);

/* The deviation of the buckets from their mean, divided by the one to be expected of uniform
 * hashes: about 1 if they are uniform, 0 without hashes. */
ND_API double nd_hash_histogram_deviation(const struct nd_hash_histogram *h);

/*
 * Make the histograms of all documents of the inputs, one for each signature of the recipe (at
 * most ND_RECIPE_SIGNATURES; *n: how many).  Features of weight 0 count as well.  ND_EINVAL:
 * buckets; the statuses of nd_run_sketch.
 */
ND_API enum nd_status nd_run_hash_histograms(const struct nd_run_options *options, unsigned buckets,
                                             const struct nd_run_events *events,
                                             struct nd_hash_histogram *out, unsigned *n,
                                             struct nd_run_summary *summary, struct nd_error *err);

/* Histograms as one JSON object and a newline; the caller frees *text.  ND_ENOMEM. */
ND_API enum nd_status nd_hash_histograms_json(const struct nd_hash_histogram *h, unsigned n,
                                              char **text, size_t *len, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
