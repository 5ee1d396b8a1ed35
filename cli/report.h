/* report.h - what a run tells its user meanwhile and at the end */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "settings.h"

#include <stdio.h>

/* Start from zeroes. */
struct report {
    const struct settings *settings;
    unsigned long long bad_records;
    unsigned long long problems[ND_PROBLEM_NOTE + 1]; /* counts by kind */
    double next; /* time in seconds when progress is shown next */
};

struct nd_run_events report_events(struct report *r);
/*
 * Print a message to standard error, without characters that could control a terminal: names come
 * from outside.
 */
void put_name(const char *text);

/* Remove the progress line, and report how many messages were not shown. */
void report_end(struct report *r);

/* Print the summary in readable form, on standard error. */
void print_summary(const struct nd_run_summary *s);
/* Say which inputs a command without a summary replaced, unless --quiet. */
void report_replaced(const struct settings *s, const struct nd_use_summary *summary);
/* Print how likely a pair is to be compared, by the measure that finds candidates. */
void print_curve(FILE *out, const struct nd_run_summary *s);
/* "12.3 MB" in out[32]. */
const char *bytes_text(double bytes, char out[32]);

/* Without a path, read the standard input; false: it is a terminal (commands.c). */
bool use_standard_input(struct settings *s);

/*
 * Report the outcome and return the exit status (neardup(1)): 0; 1: nothing was found; 2: nothing
 * is published; 3: something was left out.
 */
int report_use(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_use_summary *summary);
int report_run(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_run_summary *summary, bool found);
/* Return what the exit status needs of the summary. */
struct nd_use_summary summary_of_run(const struct nd_run_summary *summary, bool found);

#endif
