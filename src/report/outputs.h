/* outputs.h - the files that a run writes, from opening to publishing */
#ifndef ND_REPORT_OUTPUTS_H
#define ND_REPORT_OUTPUTS_H

#include <stdbool.h>

#include <neardup/run.h>

#include "base/file/publish.h"
#include "base/file/spool.h"
#include "evidence/rows.h"
#include "reading/reading.h"
#include "reading/request.h"
#include "reading/run_options.h"
#include "recipe/recipe_struct.h"
#include "report/output.h"
#include "report/survivors.h"

/*
 * Nothing that has a name is seen before nd_outputs_publish: each output is written to a file that
 * nobody sees, and handed to the publisher once it is whole.  The publisher gives all of them their
 * names, evidence (manifest, clusters, summary, removed records, a df table) before results.
 *
 * The records go out in the order of the input.  The manifest's first line holds the hashes of the
 * inputs, which are known last, so its rows wait in a spool.
 */
struct nd_outputs {
    const struct nd_run_options *options;
    const struct nd_run_request *request;
    const struct nd_reading *reading; /* knows the sources; set before anything is written */
    const struct nd_recipe *recipe;   /* of sketches that are written */
    const struct nd_method *method;   /* of which annotations say what signatures share */

    struct nd_publisher publisher;
    struct nd_file_mark
        replaced;             /* the only input, in whose place the output goes; inode 0: none */
    bool hands_on_bad;        /* bad records are written too, so none is lost */
    bool annotates;           /* all records are survivors, each with an annotation */
    const char *copies_field; /* that survivors get; NULL: none */
    const struct nd_source *checked; /* the last one that was found to take it */

    struct nd_survivors *survivors; /* NULL: none asked for */
    struct nd_survivors *removed;   /* likewise: the other records */
    uint32_t sources_given[2];      /* to the survivors, to the removed */
    struct nd_output *clusters, *manifest, *summary, *report;
    struct nd_output *revisits;
    bool has_revisit;      /* one has been written, and the warcinfo before it */
    uint64_t fingerprint;  /* of the recipe, where revisits are written */
    struct nd_spool *rows; /* of the manifest */
};

/* Whether it writes options->output. */
static inline bool nd_outputs_has_output(const struct nd_outputs *o)
{
    return o->request->writes_output && !o->request->is_dry;
}

/* Whether documents are called by their names in some output. */
static inline bool nd_outputs_has_names(const struct nd_outputs *o)
{
    return o->rows || o->clusters || o->annotates || o->report || o->revisits;
}

/* Open what the options name, as far as the request heeds it.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_outputs_open(struct nd_outputs *o, struct nd_error *err);
/* Open only the summary or the manifest of these. */
enum nd_status nd_outputs_open_summary(struct nd_outputs *o, struct nd_error *err);
enum nd_status nd_outputs_open_manifest(struct nd_outputs *o, struct nd_error *err);
/* Open only the files of these to which the records go. */
enum nd_status nd_outputs_open_survivors(struct nd_outputs *o, struct nd_error *err);
/* options->output as a single file, for whoever writes something else than records; NULL: failed. */
struct nd_output *nd_outputs_open_one(struct nd_outputs *o, struct nd_error *err);

/* All sources up to that of the record, then, unless bytes.data is NULL, the record, which survives
 * in the form `bytes`. */
enum nd_status nd_outputs_survive(struct nd_outputs *o, const struct nd_record *record,
                                  struct nd_view bytes, struct nd_error *err);
/* As nd_outputs_survive, for a record that does not survive, where those are asked for. */
enum nd_status nd_outputs_remove(struct nd_outputs *o, const struct nd_record *record,
                                 struct nd_error *err);
/* Write the rows of a batch, and empty them. */
enum nd_status nd_outputs_put_rows(struct nd_outputs *o, struct nd_rows *rows,
                                   struct nd_error *err);

/*
 * Writes of a batch with little done in its turn: between nd_outputs_borrow and nd_outputs_return
 * its records are given, and stay where they are, as its rows do. Files that nobody sees yet only
 * get places for them then; the bytes are written by nd_outputs_write_late, in any thread, after
 * which the rows are empty.
 */
struct nd_late_writes {
    struct nd_late_write survivors, removed, clusters, rows;
};
void nd_outputs_borrow(struct nd_outputs *o, struct nd_late_writes *late);
enum nd_status nd_outputs_return(struct nd_outputs *o, struct nd_rows *rows,
                                 struct nd_late_writes *late, struct nd_error *err);
enum nd_status nd_outputs_write_late(const struct nd_outputs *o, struct nd_rows *rows,
                                     struct nd_late_writes *late, struct nd_error *err);
void nd_late_writes_release(struct nd_late_writes *late);

/* All records have been given: complete the files of survivors and of removed records. */
enum nd_status nd_outputs_finish_records(struct nd_outputs *o, struct nd_error *err);
/* Complete the manifest below its first line, which has been written. */
enum nd_status nd_outputs_copy_rows(struct nd_outputs *o, struct nd_error *err);
/* Give all files their names; summary->partly_published says whether only some got them. */
enum nd_status nd_outputs_publish(struct nd_outputs *o, struct nd_run_summary *summary,
                                  struct nd_error *err);

/* Remove what was not published. */
void nd_outputs_release(struct nd_outputs *o);

#endif
