/* cmd_sweep.c - neardup sweep: many settings of a recipe, each measured against the truth */
#include "figure_file.h"
#include "svg.h"

#include <stdlib.h>

static bool fits(const struct settings *s)
{
    if (!s->use.eval.truth)
        say("sweep needs --truth FILE; see neardup help sweep");
    else if (!s->use.sets.count)
        say("sweep needs --set KEY=A,B,C: the values to try; see neardup help sweep");
    else if (!s->paths.count)
        say("sweep needs files or folders: it reads them more than once");
    else
        return true;
    return false;
}

static int sweep_all(struct settings *s, struct results *to, struct results *figure)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = s->use.sets.count};
    struct nd_sweep sweep;
    struct nd_error err;
    enum nd_status status = nd_run_sweep(s->run, &s->use.sweep, &events, to->file, &sweep, &err);

    report_end(&report);
    if (status == ND_OK && figure->file)
        draw_sweep(figure->file, &sweep);
    nd_sweep_release(&sweep);
    return report_use(s, status, &err, &summary);
}

/* Open the table and the figure, which must be neither what is read nor each other. */
static bool open_outputs(struct settings *s, struct words *reads, struct results *to,
                         struct results *figure)
{
    const char *svg = s->use.sweep_svg;

    for (size_t i = 0; i < s->paths.count; i++)
        if (!words_add(reads, s->paths.at[i]))
            return false;
    if (!words_add(reads, s->use.eval.truth) || !open_figure(figure, svg, s, reads))
        return false;
    if ((!svg || words_add(reads, svg)) &&
        results_open(to, run_option(s, "output"), reads->at, reads->count))
        return true;
    if (figure->file)
        (void)results_close(figure, 2);
    return false;
}

int cmd_sweep(struct settings *s)
{
    struct nd_sweep_params *p = &s->use.sweep;
    struct words reads = {NULL, 0};
    struct results to, figure;
    int status = 2;

    if (!fits(s) || !run_reads(s->run, s->paths.at, s->paths.count))
        return 2;
    p->sets = s->use.sets.at;
    p->n_sets = s->use.sets.count;
    p->eval = s->use.eval;
    p->eval.positive = s->use.positive.at;
    p->eval.n_positive = s->use.positive.count;
    if (open_outputs(s, &reads, &to, &figure)) {
        status = results_close(&to, sweep_all(s, &to, &figure));
        if (figure.file)
            status = results_close(&figure, status);
    }
    free(reads.at);
    return status;
}
