/* run_page.h - what a run removed, as a page for people */
#ifndef ND_REPORT_RUN_PAGE_H
#define ND_REPORT_RUN_PAGE_H

#include <neardup/error.h>
#include <neardup/run.h>

#include "evidence/counts.h"
#include "report/examples.h"
#include "report/output.h"

/* The contents of the page.  Nothing in it depends on time, threads or memory, so that equal runs make
 * equal pages. */
struct nd_run_page {
    const struct nd_run_summary *summary;
    const struct nd_recipe *recipe;
    /* How many clusters have a size of each step of nd_cluster_step. */
    const uint64_t *clusters;
    /* Joined by nd_examples_end. */
    const struct nd_examples *examples;
};

/* Write the page (docs/format/outputs.md).  Any failure of nd_output_write; ND_ENOMEM. */
enum nd_status nd_run_page_write(const struct nd_run_page *p, struct nd_output *out,
                                 struct nd_error *err);

#endif
