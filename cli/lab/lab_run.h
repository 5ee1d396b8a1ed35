/* lab_run.h - the steps of a reproduction, each a process of its own, and the numbers they give */
#ifndef CLI_LAB_RUN_H
#define CLI_LAB_RUN_H

#include "lab/lab_file.h"
#include "settings.h"

enum lab_state { LAB_DONE, LAB_SKIPPED, LAB_FAILED };

/* The end of a step or a series, with a reason unless it is done; the reason is owned. */
struct lab_outcome {
    enum lab_state state;
    char *reason;
};

struct lab_run {
    const struct lab *lab;
    struct lab_outcome part[LAB_PARTS], series[LAB_PARTS];
    double value[LAB_PARTS][LAB_NUMBERS]; /* of each series, by label; NAN: not known */
};

/*
 * Run all steps, in their order. output: a folder in which the files of steps stay; NULL: they are
 * temporary. A step whose files are not there
 * is skipped, and so is what needs it. ND_EIO, ND_ENOMEM: nothing could be run. Undo with
 * lab_run_release.
 */
enum nd_status lab_run_all(struct lab_run *run, const struct lab *lab,
                           const struct lab_places *places, const char *output,
                           struct nd_error *err);
void lab_run_release(struct lab_run *run);

/* The first file that is not there: allocated; NULL: all are there, or out of memory. */
char *lab_missing(const struct lab *lab, const struct lab_places *places);

#endif
