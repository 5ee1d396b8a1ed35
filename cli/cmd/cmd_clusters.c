/* cmd_clusters.c - neardup clusters: sizes of clusters, and near duplicates of a document */
#include "report.h"
#include "results.h"

#include <neardup/eval.h>

#include <stdlib.h>
#include <unistd.h>

static bool fits(struct settings *s)
{
    if (s->total && s->use.documents.count) {
        say("only one of --total and --documents can be given");
        return false;
    }
    if (!s->paths.count && isatty(STDIN_FILENO)) {
        say("no result: name files, or - for standard input");
        return false;
    }
    return s->paths.count || words_add(&s->paths, "-");
}

static int count(struct settings *s, const struct words *reads)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = s->paths.count};
    struct results to;
    struct nd_error err;
    enum nd_status status;

    if (!results_open(&to, run_option(s, "output"), reads->at, reads->count))
        return 2;
    status = nd_run_clusters(s->run, &s->use.clusters, &events, to.file, &err);
    report_end(&report);
    return results_close(&to, report_use(s, status, &err, &summary));
}

int cmd_clusters(struct settings *s)
{
    struct nd_clusters_params *p = &s->use.clusters;
    struct words reads = {NULL, 0};
    bool good = fits(s);
    int status = 2;

    p->results = s->paths.at;
    p->n_results = s->paths.count;
    p->result_form = s->use.eval.result_form;
    p->total = s->total;
    for (size_t i = 0; good && i < s->paths.count; i++)
        good = words_add(&reads, s->paths.at[i]);
    for (size_t i = 0; good && i < s->use.documents.count; i++)
        good = words_add(&reads, s->use.documents.at[i]);
    if (good && s->use.documents.count)
        good = run_reads(s->run, s->use.documents.at, s->use.documents.count);
    if (good)
        status = count(s, &reads);
    free(reads.at);
    return status;
}
