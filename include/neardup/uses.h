/* neardup/uses.h - what near-duplicates are used for, over files: compare, track, collapse … */
#ifndef NEARDUP_USES_H
#define NEARDUP_USES_H

#include <neardup/compare.h>
#include <neardup/run.h>
#include <neardup/visits.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All of them read options->paths by options->input and sketch by options->recipe, as the runs of
 * neardup/run.h do; what they write goes to options->output, which is published only where all went
 * well.  Other members of the options do not count, but for `strict`.
 */

/* What was read. */
struct nd_use_summary {
    uint64_t documents, bad_records, failed_inputs;
    uint64_t left_out;                    /* bad records, but for those that max_bad allows */
    int partly_published, wrote_in_place; /* as in struct nd_run_summary */
    uint64_t found;                       /* what it is says each function */
};

/* ---- Two documents beside each other ----------------------------------------------------------
 */

enum nd_compare_parts {
    ND_COMPARE_EDIT = 1,     /* the edit distance */
    ND_COMPARE_SCRIPT = 2,   /* and the edits themselves */
    ND_COMPARE_PASSAGES = 4, /* copied passages */
    ND_COMPARE_TERMS = 8,    /* the terms themselves, and how often they stand in each */
    ND_COMPARE_WEIGHTS = 16, /* the weighted features of the recipe's first signature */
};

/* Start from nd_compare_params_default(). */
struct nd_compare_params {
    unsigned parts; /* a set of enum nd_compare_parts: what takes time of its own */
    struct nd_edit_costs costs;
    uint64_t limit; /* of the edit distance: ND_EDIT_NO_LIMIT, or 0: what two seconds or so allow */
    struct nd_passage_params passages;
};
ND_API struct nd_compare_params nd_compare_params_default(void);

/* A feature of a signature, as people read it, and its weight in each of two documents (of equal
 * features the sum). */
struct nd_weight {
    char *text;
    int64_t in_a, in_b;
};

struct nd_comparison {
    unsigned parts; /* that were asked for */
    char *id[2];    /* as printed: the record's id or its place */
    char *at[2];
    char *text[2]; /* UTF-8 */
    size_t bytes[2];
    struct nd_token *token[2]; /* in the text: hash, and place in bytes */
    size_t tokens[2];
    int same_bytes, same_words;
    struct nd_overlap shingles;
    unsigned hamming;             /* distance of the simhashes, of 64 */
    struct nd_term_overlap terms; /* numbers of terms */
    int conrad_schriber;

    uint64_t edit_limit, edit_distance; /* ND_EDIT_BEYOND: greater than the limit */
    struct nd_edit *edit;
    size_t n_edits;
    struct nd_passage *passage; /* of the second that stand in the first */
    size_t n_passages;
    uint64_t covered[2];  /* tokens in passages */
    struct nd_term *term; /* shared, only in the first, only in the second; each by first place */
    size_t n_shared, n_only_a, n_only_b;

    char signature[ND_METHOD_NAME_MAX + 1]; /* whose features these are */
    struct nd_weight *weight;               /* the greatest difference first */
    size_t n_weights;
    double weights_inner, weights_squares[2]; /* inner product, squared lengths */
    double
        weights_unit[2]; /* what a weight of 1 stands for in each: length normalisation is here */
};
ND_API void nd_comparison_release(struct nd_comparison *c);

/* As nd_run_explain: two files, or two ids of the corpus options->paths.  ND_EINVAL: weights of a
 * recipe without signatures. */
ND_API enum nd_status nd_run_compare(const struct nd_run_options *options,
                                     const struct nd_compare_params *params, const char *a,
                                     const char *b, const struct nd_run_events *events,
                                     struct nd_comparison *out, struct nd_error *err);

/* All that is in it, as one JSON object and a newline (docs/format/uses.md); the caller frees
 * *text.  ND_ENOMEM. */
ND_API enum nd_status nd_comparison_json(const struct nd_comparison *c, char **text, size_t *len,
                                         struct nd_error *err);

/* ---- A stream against prototypes --------------------------------------------------------------
 */

enum nd_filter_output {
    ND_FILTER_MATCHES,  /* the records that match a prototype, in their own form */
    ND_FILTER_OTHERS,   /* those that match none */
    ND_FILTER_ANNOTATE, /* every message of mail with a field X-Neardup; else as ROWS */
    ND_FILTER_NOTHING,  /* only count */
    ND_FILTER_ROWS,     /* of every document a JSON object that says whether, and which */
};

/*
 * options->output_dir counts as well: what matches, or the messages, as dedup's survivors.
 *
 * Compare each document of options->paths with the documents of `prototypes`, by the recipe's
 * candidates and what it verifies, and with none of its own stream (004 section 5.2).  Of several
 * prototypes the one of greatest resemblance is named, the first of equal ones (nothing verified:
 * with most in common in the first signature, else of least Hamming distance).  Prototypes stay in
 * memory; the stream does not.  Where the format asked for is that of
 * a message, prototypes are read as mbox, which one message is as well.  summary->found: the
 * documents that match.  ND_EINPUT: a prototype's file failed; two messages that are files go to
 * one output; mail and other documents are annotated in one run; the statuses of nd_run_dedup.
 */
ND_API enum nd_status nd_run_filter(const struct nd_run_options *options,
                                    const char *const *prototypes, size_t n_prototypes,
                                    enum nd_filter_output output,
                                    const struct nd_run_events *events,
                                    struct nd_use_summary *summary, struct nd_error *err);

/* ---- Versions of a document over time ---------------------------------------------------------
 */

/* Start from nd_track_params_default(). */
struct nd_track_params {
    struct nd_visit_params visits;
    const char *series; /* field that says which document a version is of; NULL: all of one */
    const char *time;   /* field with the time of a version; NULL: they come in order */
    unsigned char plan; /* a row a document, greatest priority first; else a row a version */
    /* A plan's priority of a document whose last version is a near duplicate, by the recipe, of
     * that of an earlier document falls by so much (000 section 1.1.1; 002 section 1); 0: none is
     * looked for.  With max_age > 0 only where that version is at most so many seconds the older
     * (001). */
    uint32_t duplicate_score;
    uint64_t max_age;
    unsigned char json; /* JSON Lines; else TSV below a head */
};
ND_API struct nd_track_params nd_track_params_default(void);

/*
 * The distances between successive versions and the next visit (000 section 2.6.1;
 * neardup/visits.h), by the simhash or, of a recipe with signatures, by its first one: bits or
 * coordinates that differ, values that only one has.  With a duplicate_score the last versions are
 * held in memory.  Versions of one time stay in input order; one without a readable time is a
 * bad record.  summary->found: documents whose last version is not that of the one before (or is
 * the first).
 */
ND_API enum nd_status nd_run_track(const struct nd_run_options *options,
                                   const struct nd_track_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err);

/* ---- A ranked list, one result a cluster ------------------------------------------------------
 */

struct nd_collapse_params {
    const char *order; /* of the results; NULL or "rank": by the best rank in the cluster; else as a
                          keep policy: "longest", "shortest:F", "newest:F" … */
    const char *expand; /* the order of a result's duplicates, in the same way: a JSON object a
                           result that lists them; NULL: the records themselves, without them */
};

/*
 * The documents of a ranked list, best first, to one of each cluster (001; 000 section 1.1.1).
 * Which one is shown says recipe.keep: with "first" the best ranked, else a better near duplicate
 * stands in its place.  Clusters are stars: what is left out is a verified duplicate of what is
 * shown.  The list is held in memory.  summary->found: the results.
 */
ND_API enum nd_status nd_run_collapse(const struct nd_run_options *options,
                                      const struct nd_collapse_params *params,
                                      const struct nd_run_events *events,
                                      struct nd_use_summary *summary, struct nd_error *err);

/* ---- Hosts that mirror one another ------------------------------------------------------------
 */

/* Start from nd_mirrors_params_default(). */
struct nd_mirrors_params {
    const char *url;       /* field with the address of a page: "url" */
    unsigned sample;       /* pages of a host that are looked at, at most (100); 0: all */
    unsigned least;        /* a pair of hosts shares at least so many paths of the sample (3) */
    unsigned common;       /* a path that more hosts have does not bring two together (100) */
    struct nd_ratio score; /* pairs of at least this score (1/2) */
    unsigned char json;
};
ND_API struct nd_mirrors_params nd_mirrors_params_default(void);

/*
 * Pairs of hosts that look like mirrors (000 section 2.5.2), the highest score first.  Of each host
 * the pages are sampled whose paths hash least, so that two hosts sample the same paths.  Hosts
 * that share paths are compared at those: pages are equal (the same tokens), similar (estimated
 * resemblance of at least recipe.dedup.threshold, by their minima), or different.  The score is
 * the sum over the shared paths of 1 for equal pages and of the resemblance for similar ones,
 * divided by the paths that either sample has among those that both could have sampled.
 * summary->found: the pairs.  A page without an address is a bad record.
 */
ND_API enum nd_status nd_run_mirrors(const struct nd_run_options *options,
                                     const struct nd_mirrors_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_use_summary *summary, struct nd_error *err);

/* ---- What a cluster shares --------------------------------------------------------------------
 */

/* Start from nd_template_params_default(). */
struct nd_template_params {
    struct nd_ratio share; /* of the documents that have a template's shingle (4/5) */
    const char *clusters;  /* file of ids and their clusters, as nd_run_dedup writes; NULL: the
                              documents read are one cluster */
    const char *cluster;   /* the cluster's id in it */
    unsigned char json;
};
ND_API struct nd_template_params nd_template_params_default(void);

/*
 * What the documents of a cluster have in common, and what is left of each (000 section 2.5.3; see
 * nd_template_find), with word shingles of recipe.dedup.sketch.w words.  First the template, as it
 * stands in the document that has most of it; then the pieces of every document that are not part
 * of it.  The cluster is held in memory.  summary->found: the template's shingles.
 */
ND_API enum nd_status nd_run_template(const struct nd_run_options *options,
                                      const struct nd_template_params *params,
                                      const struct nd_run_events *events,
                                      struct nd_use_summary *summary, struct nd_error *err);

/* ---- What links say of pages ------------------------------------------------------------------
 */

/* Start from nd_anchors_params_default(). */
struct nd_anchors_params {
    unsigned window;  /* words on either side of an anchor that count with it (10), at most 1000 */
    const char *base; /* the address of `root`, such as "https://example.org/"; NULL: none */
    const char *root; /* folder from which the addresses of files begin; NULL: the only input, if
                         that is a folder, else where the process is */
    const char *url;  /* field of records with their address: "url" */
};
ND_API struct nd_anchors_params nd_anchors_params_default(void);

/*
 * Gather for each document what the links of the others say of it (000 section 2.3.3; 002 section
 * 5.3c, d), and write all as JSON Lines: id, url, title, text, and, as a recipe's `fields` read
 * them, `links` and `inlinks` (addresses), `anchors` (texts) and `anchor_words` (words of anchors
 * and about them, with weights: docs/format/uses.md).  Links are those of HTML pages, and lead to
 * documents by the rules of docs/format/uses.md.  The inputs are read three times, so that no text
 * is held.  summary->found: documents that another one links to.  ND_EINVAL: standard input;
 * ND_ECHANGED: an input is not what it was before.
 */
ND_API enum nd_status nd_run_anchors(const struct nd_run_options *options,
                                     const struct nd_anchors_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_use_summary *summary, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
