/* cmd_eval.c - neardup eval: results measured against the truth */
#include "report.h"
#include "results.h"

#include <neardup/eval.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The files that are read, of which the output must be none.  False: out of memory, reported. */
static bool list_reads(const struct settings *s, struct words *reads)
{
    bool good = words_add(reads, s->use.eval.truth);

    for (size_t i = 0; good && i < s->paths.count; i++)
        good = words_add(reads, s->paths.at[i]);
    for (size_t i = 0; good && i < s->use.documents.count; i++)
        good = words_add(reads, s->use.documents.at[i]);
    return good;
}

static bool fits(struct settings *s)
{
    if (!s->use.eval.truth) {
        say("eval needs --truth FILE; see neardup help eval");
        return false;
    }
    if (!s->paths.count && isatty(STDIN_FILENO)) {
        say("no result: name files, or - for standard input");
        return false;
    }
    return s->paths.count || words_add(&s->paths, "-");
}

static int evaluate(struct settings *s, const struct words *reads)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = s->paths.count};
    struct results to;
    struct nd_error err;
    enum nd_status status;

    if (!results_open(&to, run_option(s, "output"), reads->at, reads->count))
        return 2;
    status = nd_run_eval(s->run, &s->use.eval, &events, to.file, &err);
    report_end(&report);
    return results_close(&to, report_use(s, status, &err, &summary));
}

int cmd_eval(struct settings *s)
{
    struct nd_eval_params *p = &s->use.eval;
    struct words reads = {NULL, 0};
    int status = 2;

    if (!fits(s))
        return 2;
    p->results = s->paths.at;
    p->n_results = s->paths.count;
    p->positive = s->use.positive.at;
    p->n_positive = s->use.positive.count;
    if ((!s->use.documents.count ||
         run_reads(s->run, s->use.documents.at, s->use.documents.count)) &&
        list_reads(s, &reads))
        status = evaluate(s, &reads);
    free(reads.at);
    return status;
}
