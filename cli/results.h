/* results.h - where a command writes its lines: the standard output, or a file that appears whole
 */
#ifndef CLI_RESULTS_H
#define CLI_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct nd_result_file;

struct results {
    FILE *file;
    struct nd_result_file *output; /* NULL: the standard output */
    const char *name;              /* as messages call it */
    bool is_terminal;
};

/*
 * name NULL or "-": the standard output.  `others`, NULLs among them: what is read ("-": the
 * standard input), and other outputs; the file must be none of them.  False: it was said why.
 */
bool results_open(struct results *r, const char *name, const char *const *others, size_t n);

/*
 * Publish, unless `status` is 2, which leaves what stood there.  Returns the exit status: that, or
 * 2 where the results could not be written.
 */
int results_close(struct results *r, int status);

/* Whether writing has failed, so that it is of no use to go on. */
bool results_failed(const struct results *r);

/* An id, as docs/format/outputs.md says of TSV: nothing in it steers a terminal. */
void results_put_id(struct results *r, const char *text, size_t len);
/* Fields that have their escapes, and tabs between them; on a terminal nothing that steers it. */
void results_put_row(struct results *r, const char *text, size_t len);
void results_put_number(struct results *r, uint64_t number);

#endif
