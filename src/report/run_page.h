/* run_page.h - what a run removed, as a page for people */
#ifndef ND_REPORT_RUN_PAGE_H
#define ND_REPORT_RUN_PAGE_H

#include <neardup/error.h>
#include <neardup/run.h>

#include "base/json_out.h"
#include "evidence/counts.h"
#include "report/examples.h"
#include "report/output.h"

/* A number that is not known is not shown. */
#define ND_PAGE_UNKNOWN UINT64_MAX

/* The contents of the page.  Nothing in it depends on time, threads or memory, so that equal runs make
 * equal pages. */
struct nd_run_page {
    uint64_t documents, kept, removed, identical_bytes, identical_tokens, near, n_clusters,
        bad_records;
    /* The canonical recipe; data NULL: it is not known. */
    struct nd_view recipe;
    /* How many clusters have a size of each step of nd_cluster_step. */
    const uint64_t *clusters;
    /* As in struct nd_run_summary; n_measured 0: the steps are not known, or there are none. */
    const char *measured_by;
    const struct nd_run_step *measured;
    size_t n_measured;
    const struct nd_run_cluster *largest;
    size_t n_largest;
    /* Examples that nd_examples_end has ended. */
    const struct nd_examples *examples;
    /* Sentences about what the page does not have. */
    const struct nd_json *note;
    size_t n_notes;
};

/* Return the contents that a summary has; all others are still to be set. */
struct nd_run_page nd_run_page_of(const struct nd_run_summary *summary);

/* Write the page (docs/format/outputs.md).  Any failure of nd_output_write; ND_ENOMEM. */
enum nd_status nd_run_page_write(const struct nd_run_page *p, struct nd_output *out,
                                 struct nd_error *err);

#endif
