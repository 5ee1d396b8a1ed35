/* post.h - documents that go to the service in batches, and their answers */
#ifndef CLI_SERVICE_POST_H
#define CLI_SERVICE_POST_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/input.h>

#include "base/json_out.h"
#include "report.h"
#include "service/client.h"

/* A source of records, which is told when they are done. */
struct post_source {
    void *context;
    /* The next record, which stays until the next call: 1; 0: there is none; a failure. */
    int (*next)(void *context, struct nd_record *record, const struct nd_source **source,
                struct nd_error *err);
    /* The answers for the first `records` records have been written; the last is from `at`.  NULL:
     * nobody wants to know. */
    enum nd_status (*written)(void *context, uint64_t records, const char *at,
                              struct nd_error *err);
};

/* Numbers of documents so far, by what became of them. */
struct post_counts {
    uint64_t answered, news, duplicates, near_duplicates, left_out;
};

/* A way to the service for documents; `stores`: they are posted, otherwise only asked about. */
struct post;
struct post *post_new(struct client *client, bool stores, struct nd_error *err);
void post_free(struct post *post); /* NULL is allowed */

/* How records are read, with the fields that posting needs. */
const struct nd_input_options *post_input_options(const struct post *post);
/* Return the functions that are told of problems, progress and bad records. */
const struct nd_run_events *post_events(const struct post *post);
const struct post_counts *post_counts(const struct post *post);
/* Report how it went, with the counts unless --quiet, and return the exit status. */
int post_finish(struct post *post, enum nd_status status, const struct nd_error *err);

/* Post all records of a source, and write an answer for each. */
enum nd_status post_run(struct post *post, const struct post_source *source, struct nd_error *err);

/* "file:line", "archive!entry" or "file": allocated; NULL: out of memory. */
char *post_place(const struct nd_source *source, const struct nd_record *record);

#endif
