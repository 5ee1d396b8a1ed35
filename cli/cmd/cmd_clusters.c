/* cmd_clusters.c - neardup clusters: sizes of clusters, and near duplicates of a document */
#include "base/system/descriptor.h"
#include "figure_file.h"
#include "svg.h"

#include <neardup/eval.h>

#include <stdlib.h>

static bool fits(struct settings *s)
{
    if (s->total && s->use.documents.count) {
        say("only one of --total and --documents can be given");
        return false;
    }
    if (s->use.clusters_svg && s->use.clusters.curve) {
        say("--svg draws one histogram, and --curve has one for each value");
        return false;
    }
    if (!s->paths.count && nd_descriptor_is_terminal(0)) {
        say("no result: name files, or - for standard input");
        return false;
    }
    return s->paths.count || words_add(&s->paths, "-");
}

/* The sizes of all results, to be drawn. */
struct counted_sizes {
    struct nd_cluster_count *at;
    size_t n, capacity;
    bool has_failed;
};

static void take_size(void *context, const struct nd_cluster_count *count)
{
    struct counted_sizes *c = context;

    if (c->n == c->capacity) {
        const size_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct nd_cluster_count *grown = realloc(c->at, capacity * sizeof *grown);

        if (!grown) {
            c->has_failed = true;
            return;
        }
        c->at = grown;
        c->capacity = capacity;
    }
    c->at[c->n++] = *count;
}

/* Draw the sizes.  Returns the exit status. */
static int draw_sizes(struct results *figure, const struct counted_sizes *sizes, int status)
{
    if (sizes->has_failed) {
        say("out of memory for the figure");
        status = 2;
    }
    if (status != 2)
        draw_cluster_sizes(figure->file, sizes->at, sizes->n);
    return results_close(figure, status);
}

static int count(struct settings *s, struct words *reads)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = s->paths.count};
    struct counted_sizes sizes = {.n = 0};
    struct results to, figure;
    struct nd_error err;
    enum nd_status status;
    int exit_status;

    if (!open_figure(&figure, s->use.clusters_svg, s, reads))
        return 2;
    if ((s->use.clusters_svg && !words_add(reads, s->use.clusters_svg)) ||
        !results_open(&to, run_option(s, "output"), reads->at, reads->count)) {
        if (figure.file)
            (void)results_close(&figure, 2);
        return 2;
    }
    if (figure.file) {
        s->use.clusters.each_size = take_size;
        s->use.clusters.context = &sizes;
    }
    status = nd_run_clusters(s->run, &s->use.clusters, &events, to.file, &err);
    report_end(&report);
    exit_status = results_close(&to, report_use(s, status, &err, &summary));
    if (figure.file)
        exit_status = draw_sizes(&figure, &sizes, exit_status);
    free(sizes.at);
    return exit_status;
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
