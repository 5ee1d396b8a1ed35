/* run_state.h - what the files of a run share */
#ifndef ND_PIPELINE_RUN_STATE_H
#define ND_PIPELINE_RUN_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

#include <neardup/run.h>
#include <neardup/uses.h>

#include "base/json_out.h"
#include "base/pool.h"
#include "engine/engine.h"
#include "pipeline/groups.h"
#include "pipeline/hash_set.h"
#include "pipeline/keep.h"
#include "pipeline/lookup.h"
#include "pipeline/output.h"
#include "pipeline/places.h"
#include "pipeline/reading.h"
#include "pipeline/spool.h"
#include "pipeline/survivors.h"

/* What a batch leaves to be written while the next one is worked on. */
struct nd_pending {
    struct nd_json manifest, clusters;
};

enum { ND_RUN_FIELDS = 56 };

struct nd_run {
    const struct nd_run_options *options;
    const struct nd_run_events *events;
    struct nd_run_summary *summary;
    double started;

    struct nd_recipe recipe;       /* the caller's, with its df tables open */
    struct nd_input_options input; /* the caller's, and the fields wanted */
    const char *fields[ND_RUN_FIELDS];
    char *field_names;                                 /* those that the recipe's lists name */
    struct nd_df *table[2 * ND_METHOD_SIGNATURES + 1]; /* opened for run->recipe; the last: NULL */
    const char *table_path[2 * ND_METHOD_SIGNATURES];
    int within_at, site_at, keep_at, prefer_at; /* places in `fields`, or -1 */
    struct nd_keep keep;
    unsigned unmet; /* run_fields.c: what was asked for and no document had so far */

    struct nd_pool *pool;
    struct nd_reading *reading;
    struct nd_lookup *lookup;
    struct nd_dedup *dedup;
    struct nd_places places; /* of kept documents; in several passes, of all records */

    struct nd_publisher publisher;
    bool hands_on_bad;              /* bad records are written too, so none is lost */
    bool writes_output;             /* options->output */
    bool may_replace;               /* the output holds records of the inputs, as they came */
    struct nd_file_mark replaced;   /* the only input, in whose place that goes */
    struct nd_survivors *survivors; /* NULL: none asked for */
    struct nd_survivors *removed;   /* likewise: the other records */
    uint32_t sources_given[2];      /* to the survivors, to the removed */
    struct nd_output *clusters, *manifest, *report; /* report: --summary */
    struct nd_spool *rows;     /* of the manifest, whose header is known last */
    struct nd_pending pending; /* in lanes each has its own */

    struct nd_groups groups;
    struct nd_hash_set ids;
    char first_double[512]; /* where an id stood a second time, and which */
    uint32_t *members;      /* of each kept document's cluster, by rank, itself counted */
    size_t members_capacity;
    struct nd_json name_room[2], place_room; /* scratch */
    atomic_bool is_out_of_memory;            /* noted by a worker */
    char failed_input[1024];                 /* the first one's message */
    char first_bad[1024];                    /* the first bad record's place, and its reason */

    bool tells_later;      /* what follows waits for the thread that runs; guarded by the pool */
    struct nd_buffer told; /* run_events.c: problems and bad records */
    struct nd_run_progress progress;
    bool has_progress;
};

/* What a run writes beside the files that its options name, and reads beside its inputs. */
struct nd_run_files {
    bool writes_output;       /* options->output */
    bool may_replace;         /* it holds records of the inputs, as they came */
    const char *const *reads; /* files and folders */
    size_t n_reads;
};

/* run_begin.c: everything that a run needs before its first batch; undo with nd_run_end. */
enum nd_status nd_run_begin(struct nd_run *run, const struct nd_run_options *options,
                            const struct nd_run_files *files, const struct nd_run_events *events,
                            struct nd_run_summary *summary, const struct nd_reading_hooks *hooks,
                            struct nd_error *err);
void nd_run_end(struct nd_run *run);
/* run_recipe.c: open the df tables of run->recipe, and ask the reader for the fields that its
 * features are made of. */
enum nd_status nd_run_open_recipe(struct nd_run *run, struct nd_error *err);
void nd_run_close_recipe(struct nd_run *run);
/* The engine's parameters: the recipe's, with its signatures. */
struct nd_dedup_params nd_run_dedup_params(const struct nd_recipe *recipe);
/* Warn where no document pushed has a signature; `what` they are, "document". */
void nd_run_warn_unsigned(struct nd_run *run, const struct nd_dedup *dedup, const char *what);
/* Ask the reader for the markup, links and elements that signatures read. */
void nd_run_want_markup(struct nd_input_options *input, const struct nd_method *method);

/* Ask the reader for one more field; its place, -1 for NULL; ND_RUN_FIELDS: there are too many. */
int nd_run_want_field(struct nd_run *run, const char *field);
/* The engine on the run's pool. */
enum nd_status nd_run_make_dedup(struct nd_run *run, const struct nd_text_source *source,
                                 struct nd_error *err);
/* A field asked for by `within_at` and the like; data NULL where the document has none. */
struct nd_view nd_run_field(const struct nd_document *document, int at);

/* run_judge.c */
/* Before anything is read: no output is one of the files that are. */
enum nd_status nd_run_claim(struct nd_run *run, const struct nd_run_files *files,
                            struct nd_error *err);
/* All has been read: ND_EINPUT where it may not be published. */
enum nd_status nd_run_judge(struct nd_run *run, struct nd_error *err);
/* The same of each input that a mirror replaces, once it has all of them. */
enum nd_status nd_run_judge_mirror(const struct nd_run *run, struct nd_error *err);

/* run_events.c */
/* What a run hands back: *err knows best what failed, and says something whatever it was. */
enum nd_status nd_run_status(enum nd_status status, struct nd_error *err);
void nd_run_problem(void *context, const struct nd_problem *problem);
/* A bad record: told, counted; ND_EINPUT where the run is strict. */
enum nd_status nd_run_bad_record(struct nd_run *run, const struct nd_source *source, uint64_t line,
                                 const char *reason, struct nd_error *err);
/* ND_EINPUT where a strict run met an input that failed. */
enum nd_status nd_run_check_strict(struct nd_run *run, struct nd_error *err);
/* After each batch: ND_ECANCELLED where the caller wants to stop, ND_EINPUT where a strict run met
 * a failing input. */
enum nd_status nd_run_tell(struct nd_run *run, const struct nd_run_progress *progress,
                           struct nd_error *err);
/* What waited, told by the thread that runs: ND_ECANCELLED as above. */
enum nd_status nd_run_tell_now(struct nd_run *run, struct nd_error *err);
double nd_run_clock(void);
/* Have what nd_run_note_id looks at brought into the processor's caches. */
void nd_run_expect_id(const struct nd_run *run, const struct nd_document *document);
/* Count an id; warned of in nd_run_finish where it stood before. */
void nd_run_note_id(struct nd_run *run, const struct nd_document *document,
                    const struct nd_source *source, uint64_t line);
/* run_fields.c: what names a field (within, prefer, keep, the id) is warned of where no document
 * has it.  `key` is that of nd_keep_key; 0 where none is made. */
void nd_run_watch_fields(struct nd_run *run);
void nd_run_meet_fields(struct nd_run *run, const struct nd_document *document, uint64_t key);
void nd_run_warn_of_fields(struct nd_run *run);
/* All ids have been noted: count them and give their memory back. */
void nd_run_forget_ids(struct nd_run *run);

/* run_outputs.c */
enum nd_status nd_run_open_outputs(struct nd_run *run, struct nd_error *err);
/* The sources up to this one, then a record of it that survives (record.data NULL: none). */
enum nd_status nd_run_survive(struct nd_run *run, uint32_t source, struct nd_view record,
                              struct nd_error *err);
/* The same of one that does not, where those are asked for. */
enum nd_status nd_run_remove(struct nd_run *run, uint32_t source, struct nd_view record,
                             struct nd_error *err);
/* Where the records that `options->output` and its like ask for go. */
enum nd_status nd_run_open_survivors(struct nd_run *run, struct nd_error *err);
/* A single output; its name may be NULL. */
struct nd_output *nd_run_open_output(struct nd_run *run, struct nd_error *err);
/* Write and empty what is pending. */
void nd_pending_release(struct nd_pending *pending);
enum nd_status nd_run_write_pending(struct nd_run *run, struct nd_pending *pending,
                                    struct nd_error *err);
/* All documents are decided: complete the files, then publish them, and `out` (NULL: none), which
 * is used up whatever the result. */
enum nd_status nd_run_finish(struct nd_run *run, struct nd_output *out, struct nd_error *err);
/* What a use tells of its run. */
struct nd_use_summary nd_run_use_summary(const struct nd_run_summary *counts, uint64_t found);
/* Publish all that the publisher has. */
enum nd_status nd_run_publish(struct nd_run *run, struct nd_error *err);

/* rows.c: a document of the outputs, and one row. */
struct nd_party {
    struct nd_name name;
    const struct nd_source *source;
    uint64_t line;
};
struct nd_row_via {
    struct nd_name name;
    double resemblance;
};
/* via: NULL but for components. */
void nd_row_removed(struct nd_json *out, struct nd_json *room, const struct nd_party *removed,
                    const struct nd_party *kept, const struct nd_decision *decision,
                    const struct nd_run_options *options, const struct nd_row_via *via);
void nd_row_skipped(struct nd_json *out, struct nd_json *room, const struct nd_source *source,
                    uint64_t line, const char *reason);
void nd_row_cluster(struct nd_json *out, const struct nd_name *name, const struct nd_name *kept);
enum { ND_DISTANCE_MAX = 512 }; /* bits: greater is none */
double nd_overlap_resemblance(const struct nd_overlap *overlap);

/* manifest.c */
enum nd_status nd_manifest_header(struct nd_run *run, struct nd_error *err);
/* As the option spells it: "jsonl". */
const char *nd_format_word(enum nd_format format);

/* members.c: sizes of clusters, by the rank of their kept document. */
bool nd_members_set(struct nd_run *run, size_t rank, uint32_t count);
void nd_members_shrink(struct nd_run *run, size_t n); /* of n, all there will be */
enum nd_status nd_members_summarise(struct nd_run *run, size_t n, struct nd_error *err);

/* summary.c */
enum nd_status nd_summary_complete(struct nd_run *run, struct nd_error *err);
enum nd_status nd_summary_write(struct nd_run *run, struct nd_error *err);

/* The two ways to go through the documents. */
enum nd_status nd_run_one_pass(struct nd_run *run, struct nd_error *err);
enum nd_status nd_run_ordered(struct nd_run *run, struct nd_error *err);
extern const struct nd_reading_hooks nd_one_pass_hooks, nd_ordered_hooks;

#endif
