/* cmd_eval.c - neardup eval: results measured against the truth */
#include "base/system/descriptor.h"
#include "figure_file.h"
#include "svg.h"

#include <neardup/eval.h>
#include <neardup/judging.h>

#include <stdlib.h>
#include <string.h>

/* The files that are read, of which the output must be none.  False: out of memory, reported. */
static bool list_reads(const struct settings *s, struct words *reads)
{
    bool good = s->use.judged || words_add(reads, s->use.eval.truth);

    for (size_t i = 0; good && i < s->paths.count; i++)
        good = words_add(reads, s->paths.at[i]);
    for (size_t i = 0; good && i < s->use.documents.count; i++)
        good = words_add(reads, s->use.documents.at[i]);
    return good;
}

static bool fits(struct settings *s)
{
    const struct nd_eval_params *p = &s->use.eval;

    if (!p->truth && !s->use.judged) {
        say("eval needs --truth FILE, or --judged; see neardup help eval");
        return false;
    }
    if (s->use.eval_svg && !p->curve) {
        say("--svg draws a --curve");
        return false;
    }
    if (s->use.judged && (p->truth || p->curve || p->closes || p->counts_lost ||
                          s->use.documents.count || (p->by && strcmp(p->by, "stratum") != 0))) {
        say("with --judged, eval takes no truth or documents, and only --by stratum");
        return false;
    }
    if (!s->paths.count && nd_descriptor_is_terminal(0)) {
        say("no result: name files, or - for standard input");
        return false;
    }
    return s->paths.count || words_add(&s->paths, "-");
}

/* Give the figures of judgements. */
static int evaluate_judged(struct settings *s, const struct words *reads)
{
    const struct nd_judged_params params = {.files = s->paths.at,
                                            .n_files = s->paths.count,
                                            .by_stratum = s->use.eval.by != NULL,
                                            .resamplings = s->use.eval.resamplings,
                                            .seed = s->use.eval.seed,
                                            .json = s->use.eval.json};
    struct nd_use_summary summary = {.found = s->paths.count};
    struct results to;
    struct nd_error err;

    if (!results_open(&to, run_option(s, "output"), reads->at, reads->count))
        return 2;
    return results_close(&to, report_use(s, nd_run_judged(&params, to.file, &err), &err, &summary));
}

/* The steps of all curves, to be drawn. */
struct points {
    struct nd_eval_point *at;
    size_t n, capacity;
    bool has_failed;
};

static void take_point(void *context, const struct nd_eval_point *point)
{
    struct points *p = context;

    if (p->n == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : 64;
        struct nd_eval_point *grown = realloc(p->at, capacity * sizeof *grown);

        if (!grown) {
            p->has_failed = true;
            return;
        }
        p->at = grown;
        p->capacity = capacity;
    }
    p->at[p->n++] = *point;
}

/* Draw the curves.  Returns the exit status. */
static int draw_points(const struct settings *s, struct results *figure,
                       const struct points *points, int status)
{
    if (points->has_failed) {
        say("out of memory for the figure");
        status = 2;
    }
    if (status != 2)
        draw_curves(figure->file, s->use.eval.curve, points->at, points->n);
    return results_close(figure, status);
}

static int evaluate(struct settings *s, struct words *reads)
{
    struct points points = {.n = 0};
    struct results figure;
    int exit_status;
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = s->paths.count};
    struct results to;
    struct nd_error err;
    enum nd_status status;

    if (!open_figure(&figure, s->use.eval_svg, s, reads))
        return 2;
    if ((s->use.eval_svg && !words_add(reads, s->use.eval_svg)) ||
        !results_open(&to, run_option(s, "output"), reads->at, reads->count)) {
        if (figure.file)
            (void)results_close(&figure, 2);
        return 2;
    }
    if (figure.file) {
        s->use.eval.each_point = take_point;
        s->use.eval.context = &points;
    }
    status = nd_run_eval(s->run, &s->use.eval, &events, to.file, &err);
    report_end(&report);
    exit_status = results_close(&to, report_use(s, status, &err, &summary));
    if (figure.file)
        exit_status = draw_points(s, &figure, &points, exit_status);
    free(points.at);
    return exit_status;
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
        status = s->use.judged ? evaluate_judged(s, &reads) : evaluate(s, &reads);
    free(reads.at);
    return status;
}
