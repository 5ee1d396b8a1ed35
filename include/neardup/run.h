/* neardup/run.h - whole runs over files: deduplicate, list pairs, explain, show sketches */
#ifndef NEARDUP_RUN_H
#define NEARDUP_RUN_H

#include <neardup/dedup.h>
#include <neardup/error.h>
#include <neardup/input.h>
#include <neardup/recipe.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Everything that `neardup dedup` can be told.  Start from nd_run_options_default().  All strings
 * are borrowed for the duration of the run.  An output named "-" is the standard output, as is
 * `output` where it is NULL; one whose name ends in .gz, .zst, .xz, .bz2 or .lz4 is compressed.
 */
struct nd_run_options {
    struct nd_recipe recipe;       /* method, threshold, keep policy … */
    struct nd_input_options input; /* `fields` is the run's own: leave it empty */
    const char *const *paths;      /* files, directories, "-" */
    size_t n_paths;

    const char *within;        /* field: only documents in which it is equal are compared */
    const char *site;          /* nd_run_pairs: field with an address; pairs of one host are told */
    const char *prefer_field;  /* field: documents with an earlier value of `prefer` are kept */
    const char *const *prefer; /* before any other keep policy */
    size_t n_prefer;

    const char *output;       /* survivors: records, or the list of the paths kept */
    const char *output_dir;   /* instead: every input under its relative path in this folder */
    const char *copy_to;      /* instead: documents that are files are copied into this folder */
    const char *link_to;      /* instead: they are linked (hard, else symbolic) */
    const char *removed;      /* nd_run_dedup: the records that do not survive, as `output` */
    const char *manifest;     /* JSON Lines: what was removed, and why */
    const char *clusters;     /* TSV: id, id of the kept one; every document */
    const char *summary;      /* JSON */
    const char *tmp;          /* folder for what cannot be read again */
    unsigned char strict;     /* stop at the first bad record or failing file, publish nothing */
    unsigned char dry_run;    /* write only the summary */
    unsigned char null_paths; /* a list of paths: each ends in a NUL, not in a line end */

    /* Of all records, and of those of each input that is replaced, at most so many are bad: else
     * nothing is published (docs/format/outputs.md).  Zeroes: 1/20 (one at any rate), and none of
     * an input that is replaced. */
    struct nd_ratio max_bad;
    const char *const *also_read; /* other files behind this run, such as the recipe's: no output */
    size_t n_also_read;
};
ND_API struct nd_run_options nd_run_options_default(void);

struct nd_run_progress {
    uint64_t documents;
    uint64_t bytes_done, bytes_total; /* of the stored input; total 0: not known */
    unsigned pass, passes;            /* from 1; each pass goes over all documents */
    uint64_t pass_done, pass_total;   /* documents of this pass; total 0: by bytes, as above */
    double seconds;
};

/* What happens meanwhile; each may be NULL.  All are called from the thread that runs. */
struct nd_run_events {
    void *context;
    void (*problem)(void *context, const struct nd_problem *problem);
    /* place: "file:line", "file!entry" or "file". */
    void (*bad_record)(void *context, const char *place, const char *reason);
    /* Once a batch of 2 MB or so.  Not 0: stop with ND_ECANCELLED. */
    int (*progress)(void *context, const struct nd_run_progress *progress);
};

#define ND_RUN_LARGEST 10
#define ND_RUN_KINDS 24
#define ND_RUN_UNRELATED 0.05 /* resemblance of documents that share common phrases only */

/* Files that were taken for the same thing. */
struct nd_run_kind {
    enum nd_format format;
    char compression[8], archive[8]; /* "none"; "" */
    char first[256];                 /* path of the first, possibly cut */
    int is_container;
    uint64_t sources, records, bytes;
};

/* A cluster: the kept one's id, possibly cut, and all that it stands for, itself counted. */
struct nd_run_cluster {
    char id[256];
    uint64_t documents;
};

struct nd_run_summary {
    uint64_t documents, kept, removed, identical_bytes, identical_tokens, near;
    uint64_t clusters; /* kept documents that stand for at least one other */
    uint64_t bad_records, repaired, short_documents, empty_documents, cut_documents;
    uint64_t
        unsigned_documents; /* kept, or all of pairs: those whose signatures are all rejected */
    uint64_t double_ids, ids_remembered; /* where fewer than all: see ids_full */
    int ids_full;
    uint64_t failed_inputs, warnings;
    uint64_t left_out; /* bad records, but for those that max_bad allows */
    uint64_t bytes;    /* uncompressed */
    uint64_t checks, candidates, index_bytes, spool_bytes, peak_bytes;
    uint64_t crowded_documents, crowded_keys; /* see nd_dedup_stats */
    double seconds;
    unsigned threads, bands, rows;
    double unrelated; /* expected candidates a document, were all others unrelated to it */
    int is_verified;  /* 0: recipe says verify = none */
    uint64_t pairs;   /* nd_run_pairs only */
    struct nd_run_cluster largest[ND_RUN_LARGEST];
    size_t n_largest;
    struct nd_run_kind kinds[ND_RUN_KINDS];
    size_t n_kinds;
    uint64_t other_sources; /* of kinds beyond these */
    int partly_published;   /* the run failed when some outputs had got their names already */
    int wrote_in_place;     /* something went to a pipe or a device, and cannot be taken back */
};

/*
 * Deduplicate.  On failure nothing is published: no output that has a name appears or changes (what
 * went to a pipe or a device is gone), unless it is the last step that fails, giving the outputs
 * their names: summary->partly_published then says so.  ND_OK with summary->failed_inputs or
 * summary->left_out > 0: outputs are published, but some inputs or records were left out.
 * ND_EINVAL (an output is what the run reads, among others), ND_EINPUT (strict; no record could be
 * read; more bad records than max_bad; an empty result would replace a file; CSV headers that
 * differ; documents mixed with records), ND_EIO, ND_ECHANGED (an input was: it is not replaced),
 * ND_ENOMEM, ND_ECANCELLED.
 */
ND_API enum nd_status nd_run_dedup(const struct nd_run_options *options,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err);

/*
 * Every verified pair, one TSV line each, to options->output: id and id (the earlier first),
 * resemblance, shared, union; with options->site a column more, "same" or "other": the host.
 */
ND_API enum nd_status nd_run_pairs(const struct nd_run_options *options,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err);

/* The sketches of every document, one JSON object a line, to options->output. */
ND_API enum nd_status nd_run_sketch(const struct nd_run_options *options,
                                    const struct nd_run_events *events,
                                    struct nd_run_summary *summary, struct nd_error *err);

/* A distinct term of a document as it stands in the text, and how often in each of the two. */
struct nd_term {
    char *text; /* UTF-8, zero-terminated */
    uint64_t in_a, in_b;
};

/* Two documents beside each other. */
struct nd_explanation {
    char *id[2]; /* as printed: the record's id or its place */
    char *at[2];
    uint64_t bytes[2], tokens[2];
    struct nd_overlap overlap; /* of their shingles */
    unsigned distance;         /* Hamming, of the simhashes */
    unsigned equal_minima;     /* of ND_MINHASH_COUNT */
    struct {
        char name[ND_METHOD_NAME_MAX + 1];
        struct nd_agreement agreement; /* a = b = 0: one of them is rejected */
    } signature[ND_METHOD_SIGNATURES];
    unsigned n_signatures;
    enum nd_identical identical;
    int is_short[2];
    unsigned bands, rows;
    double band_chance; /* that a pair of this resemblance is looked at; -1: not by bands */
    int is_duplicate;
    char why[384];
    struct nd_term *terms; /* shared first, then only in a, then only in b; each by first place */
    size_t n_shared, n_only_a, n_only_b;
};
ND_API void nd_explanation_release(struct nd_explanation *e);

/*
 * Explain two documents.  With no options->paths, a and b are files that hold one document each;
 * else the first documents of the corpus with these ids.  ND_EINPUT: not found, or a file holds
 * another number of documents.
 */
ND_API enum nd_status nd_run_explain(const struct nd_run_options *options, const char *a,
                                     const char *b, const struct nd_run_events *events,
                                     struct nd_explanation *out, struct nd_error *err);

/*
 * Remove the temporary files of all runs in this process.  Safe in a signal handler, after which
 * the process must end (_exit or raise).
 */
ND_API void nd_run_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
