/*
 * neardup/run.h - deduplicate files: what every run over files is told, and what it tells
 *
 * The library is libneardup-files.
 *
 *     struct nd_run_options *options = nd_run_options_new(&err);
 *
 *     nd_run_options_set_recipe(options, recipe);
 *     nd_run_options_set(options, "path", "in.jsonl", &err);
 *     nd_run_options_set(options, "output", "kept.jsonl", &err);
 *     status = nd_run_dedup(options, NULL, &summary, &err);
 */
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
 * The options of a run over files, other than its recipe.  A caller sets it by the names of the
 * options of `neardup dedup`, with the same values.
 *
 * Input (nd_input_options in input.h says more):
 *   path           a file, a folder or "-"; each call adds one
 *   format, unit, missing-text, text-format, binary, charset, id-field
 *   text-field     where the text is; each call adds a field, the first one in place of "text"
 *   glob, exclude  each call adds a pattern
 *   filter         "pdf" or "EXT:COMMAND"; each call adds a filter
 *   filter-limits  "time=60,memory=2G,output=64M", or some of these
 *   tags           a file of tag sets (nd_tags_load), which is read when it is set
 *   no-mail        (a flag)
 *   part           "2/7": only this part of the input (struct nd_input_part)
 *   strict         (a flag) stop at the first bad record or failing file, and publish nothing
 *   max-bad        "5%", "1/20" or "0.05": if more than this share of all records, or of those of
 *                  an input that is replaced, is bad, nothing is published
 *                  (docs/format/outputs.md).  Not set: 1/20 of all, or one record of few; and none
 *                  of an input that is replaced
 *   also-read      a file behind this run, such as the recipe's, which no output may replace; each
 *                  call adds one
 * Which documents are compared, and kept:
 *   within         a field: only documents in which it has the same value are compared
 *   security-field a field: the security labels of a document, a string or a JSON array of strings.
 *                  Whoever has all of its labels may see it; without labels, everybody.  nd_run_dedup
 *                  removes a document only for one all of whose labels it has, so that everyone who
 *                  may see it may see the one that is kept (Seshasai 2009, §7.1.3).  nd_run_pairs
 *                  lists a pair if one of the two may stand for the other.  Clusters must be stars
 *   prefer         "FIELD=A,B,C": documents with an earlier value are kept, before any other keep
 *                  policy
 *   never          "FIELD=A,B,C": documents in which the field has one of these values are
 *                  duplicates of no document, not of equal ones either: they are kept, and nothing
 *                  is removed for them.  nd_run_filter leaves such prototypes out.  Each call adds
 *   df-auto        a df table that is counted from the inputs themselves, before anything else is
 *                  done with them, for those signatures of the recipe that need a table.  It is
 *                  published under this name with the other outputs.  A table that has this name
 *                  already must be the same, and stays
 *   against        nd_run_dedup: a sketch file (neardup/sketch_file.h) of documents that come before
 *                  all others and are not written: only documents of the inputs are removed.  Each
 *                  call adds a file
 *   append         (a flag) when all outputs are written, add the survivors to the last file of
 *                  `against`: all of them or none.  It is created if needed, and locked meanwhile
 *   only-against   (a flag) nd_run_dedup: compare documents of the inputs with those of `against` alone,
 *                  not with one another.  One is removed if it equals or matches any of them, and
 *                  summary->quoted counts by file
 * Outputs ("-" is the standard output; a name that ends in .gz, .zst, .xz, .bz2 or .lz4 is
 * compressed):
 *   output         the survivors: records, or the list of the paths kept; not set: "-"
 *   output-level   how hard outputs are compressed: 1 to 9, for .zst to 19; not set: 4 for .gz, 3 for
 *                  .zst, 6 for .xz, 9 for .bz2, 1 for .lz4
 *   output-dir     in place of `output`: every input under its relative path in this folder
 *   copy-to        in place of `output`: documents that are files are copied into this folder …
 *   link-to        … or linked there, by a hard link where that can be, else by a symbolic one
 *   removed        nd_run_dedup: the records that do not survive, written as `output` is
 *   revisit        nd_run_dedup: WARC, a revisit record for each removed record, all of which must be
 *                  of web archives
 *   manifest       JSON Lines: what was removed, and why
 *   differs        (a flag) nd_run_dedup: list in each row of the manifest the words that only one of
 *                  its two documents has (nd_difference_of)
 *   report         nd_run_dedup: HTML, one page for people: the numbers, the largest clusters, and
 *                  removed documents beside those kept for them
 *   clusters       TSV: the id of every document, and the id of the kept one of its cluster
 *   summary        JSON: the numbers of struct nd_run_summary
 *   annotate       (a flag) nd_run_dedup: write all records, each with what it duplicates added
 *   copies-field   nd_run_dedup: add a field of this name to each survivor, with the number of documents
 *                  of its cluster, itself included: to JSON Lines, CSV and TSV without such a field
 *   dry-run        (a flag) write only the summary
 *   force          (a flag) replace an input by its survivors without a question, although `removed`
 *                  keeps no copy of the others (events->replace)
 *   null           (a flag) in a list of paths each ends in a NUL, not in a line end
 *   predicted      nd_run_dedup: a file that nd_run_plan made, whose figures the summary compares
 *                  with the run's
 * Resources:
 *   threads        1 to 1024; not set: all processors.  If more than eight are requested, at most two
 *                  for each processor are started
 *   pin-threads    (a flag) as in struct nd_dedup_options
 *   tmp            the folder for what cannot be read again from the inputs, and for what exceeds
 *                  `memory`
 *   memory         the most memory to use, at least "64M", such as "2G": anonymous
 *                  memory and buffers, without code and libraries.  What does not fit waits in
 *                  files; the outputs are the same.  A record that is too long for it is a bad one.
 *                  Other runs measure what they hold, and end with ND_ENOMEM where that is more than
 *                  two thirds of it.  Not set: as much as is needed
 *   sketches       (a flag) nd_run_dedup: fail unless every input is a sketch file
 *   known-sketches nd_run_dedup: a sketch file (neardup/sketch_file.h) in which the sketches of some
 *                  texts are, which then are not made again.  The result is the same.  Each call adds
 *                  a file
 *   record-field   nd_run_sketch_file, and nd_run_dedup where `append` makes a file: keep the value of
 *                  this field in the records, so that runs which read them can name it in `within`,
 *                  `never`, `prefer` or the keep policy.  Each call adds a field; at most 8
 *   record-length  (a flag) likewise: keep the length of the text
 *   checkpoint     nd_run_dedup: a folder, made if it does not exist, in which the sketches of texts
 *                  are kept as they are made.  The same run, after it was killed, takes them from
 *                  there
 *
 * Options are used by one thread while they are changed, and by any number of runs while they are
 * not.
 */
struct nd_run_options;

/* New options, none of them set, and no recipe.  NULL: ND_ENOMEM.  To be freed. */
ND_API struct nd_run_options *nd_run_options_new(struct nd_error *err);
/* NULL is allowed. */
ND_API void nd_run_options_free(struct nd_run_options *options);

/*
 * Set one option, or add to it where each call adds.  The value is copied.  A flag takes "yes",
 * "no", or NULL for "yes".  ND_EINVAL: there is no such key, and the message names the nearest; or
 * the value is none that it takes; ND_ENOMEM.  On failure the options are unchanged.
 */
ND_API enum nd_status nd_run_options_set(struct nd_run_options *options, const char *key,
                                         const char *value, struct nd_error *err);

/* Make it as if the option had never been set.  A key that does not exist is ignored. */
ND_API void nd_run_options_clear(struct nd_run_options *options, const char *key);

/*
 * The value of an option as it was set, or else its default; of one to which each call adds, the
 * i-th value.  Borrowed until the options are freed.  NULL: it has no value, or no more than i;
 * there is no such key.
 */
ND_API const char *nd_run_options_get(const struct nd_run_options *options, const char *key,
                                      size_t i);

/* Give the run its recipe: method, threshold, keep policy …  It is borrowed: it outlives the runs.
 */
ND_API void nd_run_options_set_recipe(struct nd_run_options *options,
                                      const struct nd_recipe *recipe);

/* How the inputs are read, for nd_input_open.  Borrowed until the options are changed. */
ND_API const struct nd_input_options *nd_run_options_input(const struct nd_run_options *options);

/* How far a run is. */
struct nd_run_progress {
    uint64_t documents;
    /* Bytes of the stored input; bytes_total 0: not known. */
    uint64_t bytes_done, bytes_total;
    /* Bytes of the records that these bytes of the input held. */
    uint64_t bytes_unpacked;
    /* From 1; each pass goes over all documents. */
    unsigned pass, passes;
    /* Documents of this pass; pass_total 0: the pass is measured in bytes, as above. */
    uint64_t pass_done, pass_total;
    double seconds;
};

/* The records that a run which replaces inputs takes out of them. */
struct nd_run_replaced {
    /* Path of the first one, possibly cut. */
    char first[256];
    /* How many inputs are replaced; the records that they had; those of them that are not written
     * again. */
    uint64_t inputs, records, gone;
};

/*
 * Functions that a run calls while it works; each may be NULL.  All are called by the thread that
 * started the run, whatever the number of threads.
 */
struct nd_run_events {
    void *context;
    /* A problem with an input: what failed, was skipped, or is worth a warning. */
    void (*problem)(void *context, const struct nd_problem *problem);
    /* A record that is no document.  place: "file:line", "file!entry" or "file". */
    void (*bad_record)(void *context, const char *place, const char *reason);
    /* Progress, at most once a batch.  A result other than 0 stops the run: ND_ECANCELLED. */
    int (*progress)(void *context, const struct nd_run_progress *progress);
    /* All is decided, and records of inputs that are to be replaced would be gone: the options have
     * neither `force` nor `removed`.  0: nothing is published, ND_ECANCELLED.  NULL: such a run is
     * refused before it reads anything, ND_EINVAL. */
    int (*replace)(void *context, const struct nd_run_replaced *replaced);
};

#define ND_RUN_LARGEST 10
#define ND_RUN_QUOTED 100
#define ND_RUN_KINDS 24
#define ND_RUN_STEPS 21       /* from 0 to 1 by 1/20 */
#define ND_RUN_UNRELATED 0.05 /* resemblance of documents that share common phrases only */

/* Files that were taken for the same thing. */
struct nd_run_kind {
    enum nd_format format;
    char compression[8], archive[8]; /* "none"; "" */
    char first[256];                 /* path of the first, possibly cut */
    int is_container;
    int is_sketched; /* read from a sketch file; bytes 0 */
    uint64_t sources, records, bytes;
};

/* A cluster: the kept one's id, possibly cut, and all that it stands for, itself counted. */
struct nd_run_cluster {
    char id[256];
    uint64_t documents;
};

/* Documents that are looked for, of one file or with one value of a field, possibly cut: how many
 * they are, and how many documents of the inputs equal or match at least one of them. */
struct nd_run_quoted {
    char name[256];
    uint64_t prototypes, documents;
};

/* Documents of one domain, or with one value of the field that is asked for, possibly cut. */
struct nd_repeats_domain {
    char name[256];
    /* Documents, and those of which something was cut. */
    uint64_t documents, changed;
    /* Bytes of their texts, and of what was cut of them. */
    uint64_t text_bytes, cut_bytes;
};

/* nd_run_repeats: what was cut. */
#define ND_REPEATS_DOMAINS 100
struct nd_repeats_summary {
    /* Documents of which something was cut, and those that have no token since. */
    uint64_t changed, emptied;
    /* Rows of the manifest. */
    uint64_t cuts;
    /* Bytes of all texts, and of what was cut of them. */
    uint64_t text_bytes, cut_bytes;
    /* Domains, those that lost most first, then those that came first.  If there are more, how many
     * are left out: a lower bound above ND_REPEATS_DOMAINS_COUNTED, since only the first so many are
     * counted. */
    struct nd_repeats_domain domain[ND_REPEATS_DOMAINS];
    size_t n_domains;
    uint64_t other_domains;
};
#define ND_REPEATS_DOMAINS_COUNTED (1 << 20)

/* A step of a histogram: what measures so much or more, and less than the step before it. */
struct nd_run_step {
    double from;
    uint64_t documents;
};

/*
 * The turns of a run in one pass (`keep = first`, stars), in which one batch of documents at a time
 * is read, decided, noted (ids and names) and written. Seconds of processor time, without what
 * threads wait: of all of it, in each turn, in work of the turn to decide that waiting threads
 * share, and in the threads that decompress files before they are read, one for each file. However
 * many threads there are, a run takes as long as its longest turn, and as decompressing its largest
 * file.
 */
struct nd_run_turns {
    double processor, read, decide, shared, note, write, unpack;
};

/* The figures that nd_run_plan (plan.h) predicts of a run, and what a run then measures of itself.
 */
enum nd_figure {
    ND_FIGURE_DOCUMENTS,
    /* Bytes of the records, uncompressed. */
    ND_FIGURE_BYTES,
    /* Shares of the documents: removed, and by what. */
    ND_FIGURE_REMOVED,
    ND_FIGURE_IDENTICAL_BYTES,
    ND_FIGURE_IDENTICAL_TOKENS,
    ND_FIGURE_NEAR,
    /* Candidates a document. */
    ND_FIGURE_CANDIDATES,
    /* Processor time of all threads together, and time. */
    ND_FIGURE_PROCESSOR_SECONDS,
    ND_FIGURE_SECONDS,
    ND_FIGURE_PEAK_BYTES,
    ND_FIGURE_SPOOL_BYTES,
    /* Under a limit of memory, what was written to files, and loads; otherwise 0. */
    ND_FIGURE_SPILLED_BYTES,
    ND_FIGURE_LOADS
};
#define ND_FIGURES (ND_FIGURE_LOADS + 1)

/* A figure that is predicted: low and high are the ends of its interval. */
struct nd_forecast {
    double value, low, high;
};

/* The summary of a run. */
struct nd_run_summary {
    uint64_t documents, kept, removed, identical_bytes, identical_tokens, near;
    /* Kept documents that stand for at least one other. */
    uint64_t clusters;
    uint64_t bad_records, repaired, short_documents, empty_documents, cut_documents;
    /* Kept documents, or all where pairs are listed, whose signatures are all rejected. */
    uint64_t unsigned_documents;
    /* Documents of `never`. */
    uint64_t never_documents;
    /* Documents with an id that another has; a lower bound where ids_full, since only so many ids
     * were remembered. */
    uint64_t double_ids, ids_remembered;
    int ids_full;
    uint64_t failed_inputs, warnings;
    /* Bad records, except those that max_bad allows. */
    uint64_t left_out;
    /* nd_run_dedup: documents of the files of `against`, those of them without which a document of
     * the inputs could have been decided otherwise, and survivors that were added. */
    uint64_t seen_documents, seen_met, appended;
    /* Bytes of the records, uncompressed. */
    uint64_t bytes;
    /* Candidates that were compared exactly; 0 where nothing is verified. */
    uint64_t checks;
    /* index_bytes: reserved, used or not. */
    uint64_t candidates, index_bytes, spool_bytes, peak_bytes;
    /* If `memory` is bounded: the bound, bytes written to files in `tmp` for it, and in how many
     * parts the documents were decided, one after the other; else 0. */
    uint64_t memory_bytes, spilled_bytes, loads;
    /* As in struct nd_dedup_stats. */
    uint64_t crowded_documents, crowded_keys;
    double seconds;
    /* Processor time of the whole process since the run began. */
    double processor_seconds;
    /* 0: the run was not in one pass. */
    struct nd_run_turns turns;
    unsigned threads, bands, rows;
    /* nd_sample_choose, where samples are looked up; else 0. */
    unsigned sample, sample_least;
    /* "resemblance", "containment" or "cosine": what nd_run_recall is a function of. */
    const char *curve_of;
    /* Expected candidates a document, if all others were unrelated to it. */
    double unrelated;
    /* 0: the recipe says verify = none. */
    int is_verified;
    /* nd_run_pairs: pairs, and near misses that are listed beside them.  It keeps and removes
     * nothing: where lists_pairs, `kept`, `removed` and what they are divided into are 0. */
    uint64_t near_misses;
    uint64_t pairs;
    int lists_pairs;
    /* nd_run_filter: prototypes; those with equal bytes count once. */
    int filters;
    uint64_t prototypes;
    /* nd_run_apply: nothing was compared. */
    int applies;
    /* nd_run_repeats: parts were cut; borrowed.  NULL: another run. */
    const struct nd_repeats_summary *repeats;
    /* Removed documents are written too, marked as duplicates. */
    int annotates;
    struct nd_run_replaced replaced;
    /*
     * nd_run_dedup, where something is verified: removed documents that are near by the measure that
     * decided, from the step of 1 (exactly 1) down to that of the threshold.  With components it is
     * the measure of the document and the neighbour that it was compared with.  measured_by:
     * "resemblance", "containment", "cosine" …; NULL: there are no steps.
     */
    const char *measured_by;
    struct nd_run_step measured[ND_RUN_STEPS];
    size_t n_measured;
    /* If there are steps: runs of words or characters (shingles) that a removed document has and the
     * kept one has not, added up over all removed documents; 0: nothing that they say is lost. */
    uint64_t lost_runs;
    struct nd_run_cluster largest[ND_RUN_LARGEST];
    size_t n_largest;
    /* nd_run_dedup with only-against: by file of `against`, in their order.  nd_run_filter with a
     * group_field: by its values, in the order in which they came.  If there are more, those
     * that most documents match, and how many are left out. */
    struct nd_run_quoted quoted[ND_RUN_QUOTED];
    size_t n_quoted;
    uint64_t other_quoted;
    struct nd_run_kind kinds[ND_RUN_KINDS];
    size_t n_kinds;
    /* Sources of kinds beyond these. */
    uint64_t other_sources;
    /* The run failed when some outputs had got their names already. */
    int partly_published;
    /* With the option `predicted`: what was predicted of this run. */
    int has_forecast;
    struct nd_forecast forecast[ND_FIGURES];
    /* Something went to a pipe or a device, and cannot be taken back. */
    int wrote_in_place;
};

/* The name that files use, such as "peak_bytes". */
ND_API const char *nd_figure_name(enum nd_figure figure);

/* Return what the run measured of a figure. */
ND_API double nd_run_figure(const struct nd_run_summary *s, enum nd_figure figure);

/* The chance that a pair becomes a candidate, if its s->curve_of is x; 0 where neither bands nor
 * samples choose the candidates. */
ND_API double nd_run_recall(const struct nd_run_summary *s, double x);

/*
 * Deduplicate.
 *
 * On failure nothing is published: no output that has a name appears or changes (what went to a pipe
 * or a device is gone).  The exception is a failure of the last step, which gives the outputs their
 * names: summary->partly_published then says so.
 *
 * ND_OK: the outputs are published; with summary->failed_inputs or summary->left_out some inputs or
 *   records were left out.
 * ND_EINVAL: the options do not fit together; an output is a file that the run reads; it would
 *   replace an input, and there is neither `force`, `removed` nor events->replace.
 * ND_EINPUT: the run is strict and met a problem; no record could be read; more bad records than
 *   max_bad; an empty result would replace a file; CSV headers differ; documents are mixed with
 *   records.
 * ND_ECHANGED: an input changed, and is not replaced.
 * ND_EIO, ND_ENOMEM, ND_ECANCELLED.
 */
ND_API enum nd_status nd_run_dedup(const struct nd_run_options *options,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err);

/*
 * Remove the temporary files of all runs in this process.  Safe in a signal handler, after which
 * the process must end (_exit or raise).  0: outputs are being published, or have been since the last
 * run began; nothing was removed, and the process should go on, so that all of them appear.
 */
ND_API int nd_run_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
