/* request.h - what one command asks of its run */
#ifndef ND_READING_REQUEST_H
#define ND_READING_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "evidence/first_line.h"
#include "reading/reading.h"
#include "reading/watch.h"

/*
 * The options say what the user wants; the request says which of them this command heeds, and what
 * else it needs.  Starts from zeroes: nothing is heeded but how the documents are read, and nothing
 * is written.  It must outlive the run.
 */
enum { ND_RUN_ASKED = 2 };
struct nd_run_request {
    struct nd_reading_hooks reading;  /* as far as batches and documents go */
    const char *fields[ND_RUN_ASKED]; /* fields to read of every document (nd_run_asked) */
    bool reads_markup;                /* and its links and elements */
    const char *const *reads;         /* files and folders that are read beside the inputs */
    size_t n_reads;
    bool reads_documents;    /* they are documents, or sketch files */
    bool ignores_signatures; /* the recipe's signatures are not made, and need no df table */
    bool is_rehearsal;       /* what is wrong with the inputs ends nothing: another run judges it */
    const struct nd_run_watch *watch; /* of a sample; NULL: everything is read */
    unsigned passes;                  /* over the documents, for the progress; 0: one */

    bool takes_sketches;   /* sketch files may be read in place of documents */
    const char *texts_for; /* unless this option, for messages, needs the texts; NULL: none does */
    bool compares;         /* `verify` is heeded */
    bool bounds_memory;    /* what it holds fits into `memory`, so that it need not be measured */
    bool heeds_keep;       /* the recipe's `keep` is */
    bool takes_recipe;     /* all of the recipe comes from sketch files, where it is the default */

    bool heeds_within, heeds_security, heeds_prefer; /* the options of these names */

    bool hands_on_bad; /* an input of nothing but bad records is no mistake: they are written too */

    bool writes_output;    /* one file, options->output */
    bool writes_records;   /* which is a sketch file */
    bool writes_survivors; /* records, to wherever the options send them (nd_outputs_open) */
    bool writes_summary;   /* options->summary */
    bool writes_evidence;  /* options->manifest, clusters and removed */
    bool writes_manifest;  /* of these the manifest alone, which names these: */
    const struct nd_first_line_prototypes *prototypes;
    const struct nd_first_line_repeats *repeats;
    bool may_replace; /* the output may take the place of the only input: it holds its records */
    bool is_dry;      /* of all these only the summary is written, and no df table */
};

#endif
