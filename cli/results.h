/* results.h - where a command writes its lines: the standard output, or a file that appears whole
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <neardup/run.h>

struct nd_result_file;

struct results {
    FILE *file;
    struct nd_result_file *output; /* NULL: the standard output */
    const char *name;              /* its name in messages */
    bool is_terminal;
};

/*
 * Open the output; name NULL or "-": the standard output. `others`, which may contain NULLs, are
 * the inputs ("-": the standard input) and other outputs: the file must not be one of them. False:
 * an error was reported.
 */
bool results_open(struct results *r, const char *name, const char *const *others, size_t n);

/*
 * Publish the file, unless `status` is 2: then an existing file stays. Returns the exit status:
 * `status`, or 2 if the results could not be written.
 */
int results_close(struct results *r, int status);

/* Whether writing has failed, so that there is no point in continuing. */
bool results_failed(const struct results *r);

/* Write an id as a field of TSV (docs/format/outputs.md), which cannot control a terminal. */
void results_put_id(struct results *r, const char *text, size_t len);
/* "A: id (place): ", as explain and compare name a document. */
void results_put_document(struct results *r, char letter, const struct nd_document_name *name);
/*
 * Write fields that are already escaped, with tabs between them; on a terminal, without characters
 * that could control it.
 */
void results_put_row(struct results *r, const char *text, size_t len);
void results_put_number(struct results *r, uint64_t number);

#endif
