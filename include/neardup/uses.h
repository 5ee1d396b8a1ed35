/* neardup/uses.h - what near-duplicates are used for, over files: pairs, compare, track, collapse …
 *
 * Library: neardup-files.
 *
 *     struct nd_track_params params = nd_track_params_default();
 *     struct nd_use_summary summary;
 *
 *     params.series = "url";
 *     if (nd_run_track(options, &params, NULL, &summary, &err) == ND_OK)
 *         printf("%" PRIu64 " documents changed\n", summary.found);
 *
 * Each function is one run over files, as nd_run_dedup is (neardup/run.h).  It reads the paths
 * of the options, makes sketches by their recipe, and writes to their `output`, which is
 * published only if all went well; tmp, strict, max_bad, threads and df_auto count too.  Of the
 * other options only those count that the function names.  Where no other status is named, a
 * function returns what nd_run_dedup does.
 */
#ifndef NEARDUP_USES_H
#define NEARDUP_USES_H

#include <stdio.h>

#include <neardup/compare.h>
#include <neardup/evidence.h>
#include <neardup/run.h>
#include <neardup/sketch_file.h>
#include <neardup/visits.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of what a run read and found. */
struct nd_use_summary {
    uint64_t documents, bad_records, failed_inputs;
    /* Bad records, except those that the option max-bad allows. */
    uint64_t left_out;
    /* As in struct nd_run_summary. */
    int partly_published, wrote_in_place;
    struct nd_run_replaced replaced;
    /* Each function says what it counts here. */
    uint64_t found;
};

/* ---- Every pair -------------------------------------------------------------------------------
 */

/* Starts from zeroes. */
/* Further columns of the rows of pairs, which are measured on the texts. */
enum nd_pair_column {
    /* Distinct terms that only one of the two has (Henzinger 2006), and that both have. */
    ND_PAIR_TERMS = 1,
    /* The tokens of both. */
    ND_PAIR_LENGTHS = 2,
    /* The edit distance in tokens (nd_edit_distance, costs 1), where it takes at most 2^26 cells. */
    ND_PAIR_EDIT = 4,
};

struct nd_pairs_params {
    /* The field with a document's address.  Rows then say whether both are of one host.  NULL: they
     * do not. */
    const char *site;
    /* Pairs that miss the threshold, but reach this value of the measure, are listed too, marked.
     * Zeroes: none is. */
    struct nd_ratio near_misses;
    /* A set of enum nd_pair_column.  TSV has a header then, and sketch files are refused, as they
     * have no texts. */
    unsigned columns;
    /* JSON Lines instead of TSV. */
    unsigned char json;
};

/*
 * List every verified pair, one TSV line each: id and id (the earlier first), resemblance, shared,
 * union; with `site` one column more, "same" or "other"; with `near_misses` one more, "match" or
 * "near-miss".  In JSON: docs/format/outputs.md.  The options within, never and summary count as well.
 * ND_EINVAL also where near misses are not below the threshold, or the recipe does not verify what
 * minhash or all candidates find.
 */
ND_API enum nd_status nd_run_pairs(const struct nd_run_options *options,
                                   const struct nd_pairs_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err);

/* ---- Sketches ---------------------------------------------------------------------------------
 */

/* Write the sketches of every document, one JSON object per line. */
ND_API enum nd_status nd_run_sketch(const struct nd_run_options *options,
                                    const struct nd_run_events *events,
                                    struct nd_run_summary *summary, struct nd_error *err);

/*
 * Write the sketches of every document to one file (neardup/sketch_file.h), options->output, which
 * must be a regular one; with their shingles, or without.
 */
ND_API enum nd_status nd_run_sketch_file(const struct nd_run_options *options, int keeps_shingles,
                                         const struct nd_run_events *events,
                                         struct nd_run_summary *summary, struct nd_error *err);

/* Write the rows of a sketch file to a stream, one JSON object per line (docs/format/uses.md); with
 * their shingles, or without.  ND_EINPUT, ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_sketch_file_dump(const struct nd_sketch_file *file, int with_shingles,
                                          FILE *stream, struct nd_error *err);

/* Read all of a sketch file.  ND_EINPUT: it is damaged; ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_sketch_file_verify(const struct nd_sketch_file *file,
                                            struct nd_error *err);

/* ---- Indexes of records -----------------------------------------------------------------------
 */

/*
 * Add all documents to the last sketch file of options->against, which is made if it does not exist;
 * options->append is set.  All are added or none.
 */
ND_API enum nd_status nd_run_index_add(const struct nd_run_options *options,
                                       const struct nd_run_events *events,
                                       struct nd_run_summary *summary, struct nd_error *err);
/*
 * List every pair of a document and one of the sketch files of options->against that are equal or
 * near, as nd_run_pairs does, the one of the files first.  Of more than max_checks that are candidates
 * of one another some may be missed.
 */
ND_API enum nd_status nd_run_index_query(const struct nd_run_options *options, int json,
                                         const struct nd_run_events *events,
                                         struct nd_run_summary *summary, struct nd_error *err);

/* Which sketch files become one.  Starts from zeroes. */
struct nd_sketch_merge {
    const char *const *paths;
    size_t n_paths;
    /* A regular file. */
    const char *output;
    /* 1: only documents with these ids; one without an id is called by its place, file:line. */
    int chooses;
    /* 1: all documents but those; the output may then replace the only file. */
    int leaves_out;
    const struct nd_view *ids;
    size_t n_ids;
};

/* Write the documents of sketch files, in their order, to one file; *documents: how many.
 * ND_EINVAL: their recipes differ (the message names the key), or only some have shingles;
 * ND_EINPUT: there is no document of an id; ND_EIO, ND_ENOMEM. */
ND_API enum nd_status nd_run_sketch_merge(const struct nd_sketch_merge *params, uint64_t *documents,
                                          struct nd_error *err);

/* The receiver of the results of nd_run_fingerprints; called from the thread that runs.  A status
 * other than ND_OK ends the run, which returns it with the error. */
struct nd_run_fingerprints {
    void *context;
    /* Called once, before all others: what fingerprints they are, and the canonical text and
     * fingerprint of the recipe, df tables included (nd_recipe_canonical).  Borrowed for the call.
     */
    enum nd_status (*begin)(void *context, const struct nd_recipe_simhash *simhash,
                            struct nd_view canonical, uint64_t recipe_fingerprint,
                            struct nd_error *err);
    /* Called for each document, in the order of the input: its id, or its place where it has none,
     * and its fingerprint (neardup/hamming.h). */
    enum nd_status (*take)(void *context, struct nd_view id, const uint64_t *fingerprint,
                           struct nd_error *err);
};

/*
 * Make the fingerprint of every document (nd_recipe_simhash_of).  Documents that have none, such as
 * those without text, are left out and counted in summary->unsigned_documents.  Nothing is written.
 */
ND_API enum nd_status nd_run_fingerprints(const struct nd_run_options *options,
                                          const struct nd_run_fingerprints *out,
                                          const struct nd_run_events *events,
                                          struct nd_run_summary *summary, struct nd_error *err);

/* ---- Two documents beside each other ----------------------------------------------------------
 */

/* Compare two documents, which are named as in nd_run_explain.  ND_EINVAL: weights were asked for,
 * but the recipe has no signature. */
ND_API enum nd_status nd_run_compare(const struct nd_run_options *options,
                                     const struct nd_compare_params *params, const char *a,
                                     const char *b, const struct nd_run_events *events,
                                     struct nd_comparison *out, struct nd_error *err);

/* ---- What was decided elsewhere --------------------------------------------------------------
 */

/* Starts from zeroes. */
struct nd_apply_params {
    /* A manifest or a file of clusters, as nd_run_dedup writes them, or "-". */
    const char *decisions;
    /* The inputs are only some of those that were decided: a row that names no document of them is
     * no error. */
    unsigned char partial;
};

/*
 * Write the survivors of the inputs by what nd_run_dedup decided, here or elsewhere: those that it
 * wrote, byte for byte.  Nothing is compared.  A document is found by its name; where some input
 * has a path that the manifest names, by its place and its name.  A manifest of another tool is
 * JSON Lines with a key `removed` for each removed document: its id.  Options of reading that the
 * caller leaves at their defaults are those of the manifest.  Of the outputs there are output,
 * output-dir, copy-to, link-to and removed; of the summary the counts of documents, kept and
 * removed, where applies is 1.  32 bytes for each row are held.  ND_EINPUT: the file is neither; a
 * row names no document; documents have one name, and one of them may be kept while another is
 * removed; in a file of clusters, a document has no line.
 */
ND_API enum nd_status nd_run_apply(const struct nd_run_options *options,
                                   const struct nd_apply_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err);

/* ---- report -----------------------------------------------------------------------------------
 */

/* Starts from zeroes. */
struct nd_report_params {
    /* A manifest that nd_run_dedup wrote, or one of another tool as nd_run_apply takes it; it is read
     * twice, so it is a file. */
    const char *manifest;
};

/*
 * Write the page that the option `report` of nd_run_dedup writes, to the output, from the manifest of
 * that run.  Without a path in the options, documents are looked for where they were, by their places;
 * else in those files and folders, by place or by id.  Options of reading that the caller leaves at
 * their defaults are those of the manifest.  With the texts of that run the page is the same, byte for
 * byte; the page says what it does not have.  24 bytes for each row are held, and the texts that the
 * page shows.  summary->documents: rows; found, left_out: pairs to show whose texts were found, and
 * whose were not.  ND_EINPUT: not a manifest, or one of nd_run_filter; the statuses of nd_run_explain.
 */
ND_API enum nd_status nd_run_report(const struct nd_run_options *options,
                                    const struct nd_report_params *params,
                                    const struct nd_run_events *events,
                                    struct nd_use_summary *summary, struct nd_error *err);

/* ---- A stream against prototypes --------------------------------------------------------------
 */

enum nd_filter_output {
    ND_FILTER_MATCHES,  /* the records that match a prototype, unchanged */
    ND_FILTER_OTHERS,   /* the records that match none */
    ND_FILTER_ANNOTATE, /* every message of mail, with a field X-Neardup; else as ROWS */
    ND_FILTER_NOTHING,  /* only the count */
    ND_FILTER_ROWS,     /* a JSON object for every document: whether it matches, and which */
};

/* Starts from zeroes, and has prototypes. */
struct nd_filter_params {
    /* Files and folders. */
    const char *const *prototypes;
    size_t n_prototypes;
    enum nd_filter_output output;
    /* The fields of a prototype's text and its id.  NULL: those of the options. */
    const char *const *text_fields;
    size_t n_text_fields;
    const char *id_field;
    /* A field of the prototypes: summary->quoted counts by its values, and has one of an empty name
     * for prototypes without it.  NULL: nothing is counted. */
    const char *group_field;
};

/*
 * Compare each document of the inputs with the documents of `prototypes`, by the recipe's
 * candidates and what it verifies, and with no other document of its own stream (Kolcz 2004, §5.2).
 * Among several matching prototypes, the one with the greatest resemblance is named; ties go to the
 * first.  (Where nothing is verified: the one that has most in common in the first signature, or
 * else the lowest Hamming distance.)  Prototypes stay in memory; the stream does not.  Where the
 * format asked for is that of a message, prototypes are read as mbox, which a single message is
 * too.  The options never, manifest and summary count as well, and output-dir, which gets matches
 * or messages as dedup's survivors.  In the manifest a document that matches is a removed one, and
 * its prototype the kept one.  In the summary, where filters is 1, `removed` are the documents that
 * match, and `kept` the others.  ND_EINPUT: a file of prototypes failed; two messages that are
 * files go to one output; mail and other documents are annotated in one run.  ND_EINVAL: copy-to,
 * link-to or annotate is set; group_field with prototypes that are sketch files.
 */
ND_API enum nd_status nd_run_filter(const struct nd_run_options *options,
                                    const struct nd_filter_params *params,
                                    const struct nd_run_events *events,
                                    struct nd_run_summary *summary, struct nd_error *err);

/* ---- Versions of a document over time ---------------------------------------------------------
 */

/* Start from nd_track_params_default(). */
struct nd_track_params {
    struct nd_visit_params visits;
    /* The field that says which document a version belongs to.  NULL: all belong to one. */
    const char *series;
    /* The field with the time of a version.  NULL: versions come in order. */
    const char *time;
    /* One row for each document, the greatest priority first; else one row for each version. */
    unsigned char plan;
    /* How much a plan lowers the priority of a document whose last version is, by the recipe, a
     * near duplicate of that of an earlier document (Seshasai 2009, §1.1.1; Manku 2007, §1).  0:
     * duplicates are not looked for. */
    uint32_t duplicate_score;
    /* Above 0: only where that version is at most this many seconds older. */
    uint64_t max_age;
    /* JSON Lines; else TSV below a head. */
    unsigned char json;
};
ND_API struct nd_track_params nd_track_params_default(void);

/*
 * Write the distances between successive versions and the next visit (Seshasai 2009, §2.6.1;
 * neardup/visits.h).  The distance is that of the simhashes or, if the recipe has signatures, of
 * the first one: bits or coordinates that differ, or values that only one has.  With a
 * duplicate_score the last versions are held in memory.  Versions of the same time stay in input
 * order; one without a readable time is a bad record.  summary->found: documents whose last version
 * differs from the one before (or is the first).
 */
ND_API enum nd_status nd_run_track(const struct nd_run_options *options,
                                   const struct nd_track_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err);

/* ---- A ranked list, one result for each cluster ------------------------------------------------
 */

/* Starts from zeroes. */
struct nd_collapse_params {
    /* The order of the results.  NULL or "rank": by the best rank in the cluster; else as a keep
     * policy: "longest", "shortest:F", "newest:F" … */
    const char *order;
    /* The order of a result's duplicates, given in the same way: each result is then a JSON object
     * that lists them.  NULL: results are the records themselves, without duplicates. */
    const char *expand;
    /* The name of a document: list only its cluster, all of it, in the order of `order`, or with
     * `expand` its object alone.  NULL: one result for every cluster. */
    const char *only;
};

/*
 * Reduce the documents of a ranked list, best first, to one of each cluster (Seshasai 2009,
 * §1.1.1).  The recipe's keep policy says which one is shown: with "first" the best ranked, else a
 * better near duplicate stands in its place.  Clusters are stars: what is left out is a verified
 * duplicate of what is shown.  The list is held in memory.  The option never counts as well.
 * summary->found: the results.  ND_EINPUT: no document has the name `only`.
 */
ND_API enum nd_status nd_run_collapse(const struct nd_run_options *options,
                                      const struct nd_collapse_params *params,
                                      const struct nd_run_events *events,
                                      struct nd_use_summary *summary, struct nd_error *err);

/* ---- Hosts that mirror one another ------------------------------------------------------------
 */

/* Start from nd_mirrors_params_default(). */
struct nd_mirrors_params {
    /* The field with the address of a page: "url". */
    const char *url;
    /* How many pages of a host are sampled, at most (100); 0: all. */
    unsigned sample;
    /* A pair of hosts shares at least this many paths of the sample (3). */
    unsigned least;
    /* A path that more hosts have brings no two of them together (100). */
    unsigned common;
    /* Pairs with at least this score are listed (1/2). */
    struct nd_ratio score;
    /* JSON Lines; else TSV below a head. */
    unsigned char json;
};
ND_API struct nd_mirrors_params nd_mirrors_params_default(void);

/*
 * List pairs of hosts that look like mirrors (Seshasai 2009, §2.5.2), the highest score first.  Of
 * each host the pages with the lowest hashes of their paths are sampled, so that two hosts sample
 * the same paths.  Hosts that share paths are compared at these: pages are equal (the same tokens),
 * similar (their estimated resemblance, by their minima, reaches the recipe's threshold) or
 * different.  The score is the sum over the shared paths of 1 for equal pages and of the
 * resemblance for similar ones, divided by the number of paths that either sample has among those
 * that both could have sampled.  summary->found: the pairs.  A page without an address is a bad
 * record.
 */
ND_API enum nd_status nd_run_mirrors(const struct nd_run_options *options,
                                     const struct nd_mirrors_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_use_summary *summary, struct nd_error *err);

/* ---- What a cluster shares --------------------------------------------------------------------
 */

/* Start from nd_template_params_default(). */
struct nd_template_params {
    /* The fraction of the documents that has each shingle of the template (4/5). */
    struct nd_ratio share;
    /* A file of ids and their clusters, as nd_run_dedup writes it, and the id of a document in the
     * cluster.  NULL: the documents read are one cluster. */
    const char *clusters;
    const char *cluster;
    /* JSON Lines; else text. */
    unsigned char json;
};
ND_API struct nd_template_params nd_template_params_default(void);

/*
 * Write what the documents of a cluster have in common, and what is left of each (Seshasai 2009,
 * §2.5.3; nd_template_find), with the recipe's shingles of words.  First comes the template, as it
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
    /* How many words on either side of an anchor count with it (10), at most 1000. */
    unsigned window;
    /* The address of `root`, such as "https://example.org/"; NULL: none. */
    const char *base;
    /* The folder where the addresses of files begin.  NULL: the only input, if that is a folder,
     * else the working directory. */
    const char *root;
    /* The field with the address of a record: "url". */
    const char *url;
};
ND_API struct nd_anchors_params nd_anchors_params_default(void);

/*
 * Gather for each document what the links of the others say of it (Seshasai 2009, §2.3.3; Manku
 * 2007, §5.3), and write all as JSON Lines: id, url, title, text and, in the form in which a recipe
 * reads them as `fields`, `links` and `inlinks` (addresses), `anchors` (texts) and `anchor_words`
 * (words in and around anchors, with weights).  Links are those of HTML pages; docs/format/uses.md
 * says which document one leads to.  The inputs are read three times, so that no text is held.
 * summary->found: documents that another one links to.  ND_EINVAL: standard input; ND_ECHANGED: an
 * input changed meanwhile.
 */
ND_API enum nd_status nd_run_anchors(const struct nd_run_options *options,
                                     const struct nd_anchors_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_use_summary *summary, struct nd_error *err);

/* ---- Documents edited at random ---------------------------------------------------------------
 */

/* How many words: a number of them, or a share of those that there are.  Zeroes: none. */
struct nd_perturb_amount {
    unsigned words;
    struct nd_ratio share;
};

/* Start from nd_perturb_params_default(). */
struct nd_perturb_params {
    struct nd_perturb_amount insert, remove, swap, replace;
    /* A file with a word in each line, behind the last tab if there is one, as df top writes it: only
     * these words are edited, and they are what is inserted.  NULL: any word is edited, and what is
     * inserted are words of the documents. */
    const char *lexicon;
    /* Documents with fewer words that may be edited are left out. */
    unsigned least;
    /* Write each document twice: as it is, and edited with "~" behind its id.  Both rows have its id
     * as `cluster`, so that the output is the truth of itself. */
    unsigned char beside;
    unsigned seed;
};
ND_API struct nd_perturb_params nd_perturb_params_default(void);

/*
 * Write each document with words inserted, removed, replaced, and exchanged with the next, as JSON
 * Lines: id, text, words (there were) and edits (docs/format/uses.md).  Without a lexicon, if words
 * are inserted, the inputs are read twice.  summary->found: documents that were edited.  ND_EINVAL:
 * standard input would be read twice.
 */
ND_API enum nd_status nd_run_perturb(const struct nd_run_options *options,
                                     const struct nd_perturb_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_use_summary *summary, struct nd_error *err);

/* ---- Parts that repeat ------------------------------------------------------------------------
 */

enum nd_repeats_cut {
    ND_REPEATS_LINES,
    /* Lines up to a blank one, with the blank ones that follow. */
    ND_REPEATS_PARAGRAPHS,
    /* Three sentences in a row. */
    ND_REPEATS_SENTENCES,
    /* So many tokens in a row. */
    ND_REPEATS_PASSAGES,
};
#define ND_REPEATS_TOKENS_MAX 1000000
#define ND_REPEATS_OCCURRENCES_MAX 65536
#define ND_REPEATS_PASSAGE_TOKENS 50

/* Start from nd_repeats_params_default(). */
struct nd_repeats_params {
    enum nd_repeats_cut cut;
    /* The length of a passage; of other parts, the least that is cut.  0: 50, and 1. */
    unsigned tokens;
    /* Parts that stand in fewer places stay everywhere. */
    unsigned occurrences;
    /* Lines, paragraphs and sentences also repeat if they resemble an earlier one so much, which is
     * verified exactly.  p 0: only if their tokens are equal. */
    struct nd_ratio near;
    /* Records that cuts leave without a token are left out. */
    unsigned char drop_empty;
    /* Write JSON Lines of the ids and texts in place of the records, whatever these are. */
    unsigned char texts;
    /* The field by whose values the summary counts, addresses by their hosts.  NULL: "url", or the
     * id of a document without it, if they are addresses. */
    const char *domain_field;
};
ND_API struct nd_repeats_params nd_repeats_params_default(void);
/* "lines", "paragraphs", "sentences", "passages". */
ND_API const char *nd_repeats_cut_name(enum nd_repeats_cut cut);

/*
 * Write the records as dedup writes survivors, without the parts of their texts that stand in an
 * earlier place, in a document before or in the same one (docs/format/repeats.md).  Parts are equal if
 * their tokens are.  Each part that was cut stands in full in what is written.  The options
 * output_dir, manifest, summary and memory count as well.  The inputs are read
 * twice, for passages and near parts three times.  summary->found: cuts.
 * The standard input is read again from where it began if it is a file.
 * ND_EINVAL: a limit is out of range, an input cannot be read twice, or its texts cannot be cut;
 * ND_EINPUT also where a record is none of JSON Lines, a table or plain text, without `texts`; ND_ECHANGED: the input
 * changed meanwhile.
 */
ND_API enum nd_status nd_run_repeats(const struct nd_run_options *options,
                                     const struct nd_repeats_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_repeats_summary *counts,
                                     struct nd_use_summary *summary, struct nd_error *err);

/* ---- Sources of texts -------------------------------------------------------------------------
 */

/* Start from nd_sources_params_default(). */
struct nd_sources_params {
    /* A file with one document; or, if this is NULL, files and folders each document of which is a
     * text.  Rows then say of which text they are. */
    const char *text;
    const char *const *texts;
    size_t n_texts;
    /* Passages have at least so many tokens (8). */
    unsigned least;
    /* Passages with at most so many other tokens between them in both texts are one (0). */
    unsigned gap;
    /* List so many sources of each text; 0: all. */
    unsigned top;
    unsigned char json;
};
ND_API struct nd_sources_params nd_sources_params_default(void);

/*
 * List the documents that have passages of the text, those with the most of its tokens first
 * (docs/format/uses.md), as nd_passages_find finds them; of several texts one after the other.  The
 * inputs may be sketch files that keep shingles of words: then documents are listed that have as many
 * shingles of the text as a passage has, without passages.  summary->found: how many rows there are.
 * ND_EINPUT also where the only text is shorter than a passage.
 */
ND_API enum nd_status nd_run_sources(const struct nd_run_options *options,
                                     const struct nd_sources_params *params,
                                     const struct nd_run_events *events,
                                     struct nd_use_summary *summary, struct nd_error *err);

/* ---- What another tool removed ----------------------------------------------------------------
 */

/* Start from nd_audit_params_default(). */
struct nd_audit_params {
    /* The file that says which documents were removed (docs/format/audit.md). */
    const char *removed;
    /* A file of the tool's clusters.  NULL: those that `removed` names. */
    const char *clusters;
    /* How many removed documents without a match, and how many kept ones, are compared with every kept
     * one. */
    size_t sample;
    unsigned char json;
    /* A file for a page with the removed documents that are least like any kept one, and the largest
     * false clusters.  NULL: none. */
    const char *page;
    /* Files for rows: the removed documents without a match; clusters with removed documents that are
     * far from the kept one.  NULL: none. */
    const char *unmatched, *false_clusters;
};
ND_API struct nd_audit_params nd_audit_params_default(void);

/*
 * Write a row: the share of removed documents without a kept match at the threshold of the recipe,
 * by resemblance, and of kept ones with an earlier match, with intervals; false clusters; and runs
 * that are lost (docs/format/audit.md).  Documents are read again by their places.
 * summary->found: removed documents that were searched for without a match.  ND_EINPUT: a file cannot be read, or names removed documents that the inputs do not have.
 */
ND_API enum nd_status nd_run_audit(const struct nd_run_options *options,
                                   const struct nd_audit_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
