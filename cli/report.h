/* report.h - what a run tells its user meanwhile and at the end */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include "settings.h"

/* Start from zeroes. */
struct report {
    const struct settings *settings;
    unsigned long long bad_records;
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

/* The exit status of a run, with its message. */
int report_failure(const struct nd_error *err);
int report_partial(const struct nd_error *err);
int report_failed_inputs(const struct nd_run_summary *s);
/* The same of a use: 1 where nothing was found. */
int report_use(const struct nd_use_summary *s, uint64_t found);

#endif
