/* report.h - what a run tells its user meanwhile and at the end */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "settings.h"

/* Start from zeroes. */
struct report {
    const struct settings *settings;
    unsigned long long bad_records;
    unsigned long long problems[ND_PROBLEM_NOTE + 1]; /* by their kinds */
    double next; /* seconds after which progress is shown again */
};

struct nd_run_events report_events(struct report *r);
/* To standard error, without what could steer a terminal: names come from elsewhere. */
void put_name(const char *text);

/* Take the progress line away; say how many bad records there were. */
void report_end(struct report *r);

/* The summary for people, on standard error (summary_table.c). */
void print_summary(const struct nd_run_summary *s);
/* "12.3 MB" in out[32]. */
const char *bytes_text(double bytes, char out[32]);

/* Without a name the input is the standard input; false: a terminal is (cmd_dedup.c). */
bool use_standard_input(struct settings *s);

/* What became of a run. */
struct outcome {
    uint64_t left_out, failed_inputs; /* bad records, inputs */
    bool partly_published, wrote_in_place, found;
};

/* The exit status (neardup(1)), with its message: 0; 1: nothing was found; 2: nothing is published;
 * 3: something is left out. */
int report_outcome(const struct settings *s, enum nd_status status, const struct nd_error *err,
                   const struct outcome *o);
int report_run(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_run_summary *summary, bool found);
int report_use(const struct settings *s, enum nd_status status, const struct nd_error *err,
               const struct nd_use_summary *summary, uint64_t found);

#endif
