/* run_parts.h - one run over files: its parts, how it begins and how it ends */
#ifndef ND_RUN_RUN_PARTS_H
#define ND_RUN_RUN_PARTS_H

#include <stdbool.h>

#include <neardup/run.h>

#include "base/thread/pool.h"
#include "engine/engine.h"
#include "evidence/quoted.h"
#include "evidence/rows.h"
#include "input/formats/field_list.h"
#include "loads/budget.h"
#include "reading/comparable.h"
#include "reading/fields.h"
#include "reading/lookup.h"
#include "reading/names.h"
#include "reading/reading.h"
#include "reading/record_fields.h"
#include "reading/reporter.h"
#include "reading/request.h"
#include "reading/run_options.h"
#include "recipe/keep.h"
#include "recipe/recipe_struct.h"
#include "report/examples.h"
#include "report/outputs.h"
#include "report/summary.h"
#include "run/df_tables.h"
#include "sketches/sketches.h"

/* Whoever works on one part is given that part; only what joins them is given the run. */
struct nd_run {
    const struct nd_run_options *options;
    const struct nd_run_request *request;
    struct nd_run_summary *summary;

    struct nd_recipe *recipe; /* a copy of the caller's, with its df tables open */
    struct nd_df_tables tables;
    struct nd_keep keep;           /* the recipe's keep policy */
    struct nd_input_options input; /* the caller's, and the fields wanted: */
    struct nd_field_set fields;
    struct nd_field_list first; /* the fields of the first document, where it has an `id_at` too: */
    bool has_first;             /* it has been met */
    char id_at[256]; /* its place, if it has no id but a field that could be one; or "" */
    int keep_index, prefer_index; /* indexes of fields, or -1 */
    size_t n_needed_fields;       /* the first ones, which options name */
    struct nd_record_fields record;
    int asked[ND_RUN_ASKED]; /* likewise, of request->fields */

    struct nd_sketches *sketches;        /* that are read in place of documents, or NULL */
    struct nd_sketches *sketches_beside; /* likewise, of request->reads */

    struct nd_pool *pool;
    struct nd_reporter reporter;
    struct nd_slice *slice;     /* of a sample, what is in it, or NULL */
    struct nd_reading *reading; /* documents in input order, … */
    struct nd_lookup *lookup;   /* … and again by their places: */
    struct nd_places places;    /* of kept documents; in several passes, of all records */
    struct nd_comparable comparable;
    struct nd_against *against;       /* NULL: there are no old documents */
    double against_seconds;           /* of a processor, that looking through them took */
    struct nd_known_rows *known;      /* rows of texts that need not be sketched, or NULL */
    struct nd_checkpoint *checkpoint; /* where rows are kept as they are made, or NULL */
    struct nd_dedup *dedup;           /* NULL for a use that has no engine */
    bool expects;                     /* documents are announced to it (nd_dedup_expect) */
    struct nd_budget budget;          /* of options->memory; total 0: none */
    struct nd_dedup_stats past;       /* of engines that are gone */
    struct nd_dedup_stats old;        /* of old documents, which are no records of the run */
    bool has_past;

    struct nd_outputs outputs;
    struct nd_id_check ids;
    struct nd_cluster_sizes sizes;
    uint64_t clusters[ND_CLUSTER_STEPS]; /* how many there are, by their size; */
    struct nd_examples *examples;        /* for the page of options->report, or NULL */
    struct nd_quoted quoted;             /* of each file or value, how many documents match */
    uint64_t measured[ND_MEASURED];      /* nd_measured_count */
};

/* Whether who stands for a cluster of so many members is removed with the others. */
static inline bool nd_run_removes_leader(const struct nd_run *run, uint32_t members)
{
    return run->keep.by == ND_KEEP_NONE && members > 1;
}

/* Everything that a run needs before its first batch.  Undo with nd_run_end, whatever the status. */
enum nd_status nd_run_begin(struct nd_run *run, const struct nd_run_options *options,
                            const struct nd_run_request *request,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err);
void nd_run_end(struct nd_run *run);
/* Begin a run for a use that reads documents by itself: take only the options, the recipe and
 * the reporter, and count a df table if that is asked for.  summary may be NULL where nothing is
 * reported. */
enum nd_status nd_run_begin_recipe(struct nd_run *run, const struct nd_run_options *options,
                                   const struct nd_run_request *request,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err);
/* Open the df tables of run->recipe, and ask the reader for what its signatures read. */
enum nd_status nd_run_open_recipe(struct nd_run *run, struct nd_error *err);
/* Ask the reader for the markup, links and elements that signatures read. */
void nd_run_want_markup(struct nd_input_options *input, const struct nd_method *method);

/*
 * Go through all batches of the inputs: `each` does its part, then progress is told.  What a batch
 * holds is counted in the summary before.
 */
typedef enum nd_status nd_run_batch(void *context, const struct nd_reading_batch *batch,
                                    struct nd_error *err);
enum nd_status nd_run_each_batch(struct nd_run *run, nd_run_batch *each, void *context,
                                 struct nd_error *err);
/* Called with a document of a batch. */
typedef enum nd_status nd_run_take(void *context, const struct nd_parsed *parsed,
                                   struct nd_error *err);
/* In order: report the bad records of a batch, and `take` each document (NULL: nothing more).
 * ND_EINPUT where the run is strict. */
enum nd_status nd_run_each_document(struct nd_run *run, const struct nd_reading_batch *batch,
                                    nd_run_take *take, void *context, struct nd_error *err);
/* All has been read: nd_run_judge, and warnings of what was odd in all of it. */
enum nd_status nd_run_conclude(struct nd_run *run, struct nd_error *err);

/* Open the files of `against`, where options name some; and, once all is published, add to the last one
 * what the run keeps. */
enum nd_status nd_run_open_against(struct nd_run *run, struct nd_error *err);
enum nd_status nd_run_append(struct nd_run *run, struct nd_error *err);
/* Whether some documents come with their texts. */
bool nd_run_reads_texts(const struct nd_run *run);
/* Open the inputs if they are sketch files; then check that the run can do without texts, and take
 * what made the sketches into run->recipe (sketch_run.c). */
enum nd_status nd_run_take_sketches(struct nd_run *run, struct nd_error *err);

/* Make the engine, on the run's pool. */
enum nd_status nd_run_make_dedup(struct nd_run *run, enum nd_cluster cluster,
                                 const struct nd_text_source *source, struct nd_error *err);
/* Make the engine with room for n documents, where their number is known. */
enum nd_status nd_run_make_dedup_for(struct nd_run *run, enum nd_cluster cluster, size_t n,
                                     const struct nd_text_source *source, struct nd_error *err);

/* The `keep` of a text source whose documents have places before they are pushed. */
enum nd_status nd_run_keep_nothing(void *context, uint64_t document, size_t item,
                                   struct nd_error *err);

/* Give the rows that the engine made of a worker's batch of n documents to the checkpoint, if there
 * is one; one thread at a time. */
enum nd_status nd_run_keep_rows(struct nd_run *run, unsigned worker, size_t n,
                                struct nd_error *err);

/* The value of request->fields[i]; data NULL where the document has none. */
struct nd_view nd_run_asked(const struct nd_run *run, const struct nd_document *document,
                            unsigned i);

/* Note a document, in the order of the records; of the first one also what fields it has. */
void nd_run_meet_first(struct nd_run *run, const struct nd_parsed *parsed);
/* Start over for documents of other inputs. */
void nd_run_forget_first(struct nd_run *run);
/* Say that documents are named by their places, if the first one has a field that could be its id. */
void nd_run_tell_of_places(struct nd_run *run);
static inline void nd_run_meet(struct nd_run *run, const struct nd_parsed *parsed)
{
    nd_reporter_meet(&run->reporter);
    if (!run->has_first)
        nd_run_meet_first(run, parsed);
    nd_field_set_meet(&run->fields, &parsed->document);
}

/* Warn where no document pushed has a signature; `what` they are, "document". */
void nd_run_warn_unsigned(struct nd_run *run, const struct nd_dedup *dedup, const char *what);
/* Warn where more than one document in a hundred was repaired: the charset is to be named. */
void nd_run_warn_of_repairs(struct nd_run *run, const struct nd_reading *reading,
                            uint64_t documents, const char *what);

/* All documents are decided: complete the files, then publish them, and `out` (NULL: none), which
 * is used up whatever the result. */
enum nd_status nd_run_finish(struct nd_run *run, struct nd_output *out, struct nd_error *err);
/* Return the status that a run hands back.  ND_OK stays; otherwise it is that of *err, which knows
 * best what failed, and which says something afterwards whatever it was. */
enum nd_status nd_run_status(enum nd_status status, struct nd_error *err);

/* judge.c */
/* Note files and folders that are read beside the inputs, so that no output may be one of them. */
enum nd_status nd_run_note_reads(struct nd_run *run, const char *const *paths, size_t n,
                                 struct nd_error *err);
/* Before anything is read: no output is one of the files that are. */
enum nd_status nd_run_claim(struct nd_run *run, struct nd_error *err);
/* All has been read: ND_EINPUT where it may not be published. */
enum nd_status nd_run_judge(struct nd_run *run, struct nd_error *err);
/* Check each input that a mirror replaces, once it has all of them: ND_EINPUT where it may not be
 * replaced. */
enum nd_status nd_run_judge_mirror(const struct nd_run *run, struct nd_error *err);

/* All outputs of records are whole: count in run->summary what inputs that are replaced lose, and ask
 * whether that may be.  ND_ECANCELLED: it may not. */
enum nd_status nd_run_ask(struct nd_run *run, struct nd_error *err);

/* count_df.c, where a run counts its own df table by another run: */
/* A hash of which files the inputs are, how large and how old. */
uint64_t nd_run_inputs_state(const struct nd_run *run);
/* Count options->df_auto, where that is asked for, into run->tables, so that nd_run_open_recipe
 * finds it open; it is published with the other outputs.  ND_EINVAL: an input cannot be read twice,
 * or another table or file has its name. */
enum nd_status nd_run_make_table(struct nd_run *run, struct nd_error *err);
/* The inputs have been listed again: ND_ECHANGED where they are not those that were counted. */
enum nd_status nd_run_check_counted(const struct nd_run *run, struct nd_error *err);

/* Whether a removal is to be remembered for the page of options->report, so that the texts are
 * needed.  removed_at and kept_at are scratch. */
struct nd_noted_removal {
    const struct nd_party *removed, *kept;
    const struct nd_decision *decision;
    struct nd_json *removed_at, *kept_at;
};
bool nd_run_wants_example(struct nd_run *run, const struct nd_noted_removal *noted,
                          struct nd_example *example);
/* Count of n places, which are those of run->sizes, the clusters by their size. */
void nd_run_count_clusters(struct nd_run *run, size_t n);

/* The engine is used up: add its counts to run->past, and free it. */
void nd_run_retire_dedup(struct nd_run *run);

/* The ways to go through the documents: one_pass.c; ordered.c; bounded_run.c, where there is a budget. */
enum nd_status nd_run_one_pass(struct nd_run *run, struct nd_error *err);
enum nd_status nd_run_bounded(struct nd_run *run, struct nd_error *err);
enum { ND_BOUNDED_PASSES = 4 }; /* of a run where there is a budget */
enum nd_status nd_run_ordered(struct nd_run *run, struct nd_error *err);
/* The `parsed` hook of nd_run_ordered, with the run as its context. */
void nd_ordered_make_key(void *run, struct nd_parsed *parsed, unsigned worker);

/* preference.c */

/* The index of the document's value in the list of preferences; after all of them if it is not
 * listed; 0 where there is no list. */
uint32_t nd_preference(const struct nd_run *run, const struct nd_document *document);

#endif
