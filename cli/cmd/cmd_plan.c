/* cmd_plan.c - neardup plan: what dedup would take and find, predicted from a sample */
#include "figure_file.h"
#include "print_figures.h"
#include "report.h"
#include "svg.h"

#include <neardup/plan.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 24, VALUE_WIDTH = 14, TEXT = FIGURE_TEXT };

/* ---- The table ------------------------------------------------------------------------------- */

static void print_sample(FILE *out, const struct nd_plan *p)
{
    char sample[TEXT], all[TEXT], documents[TEXT], time[TEXT];

    bytes_text((double)p->sample_bytes, sample);
    bytes_text((double)p->stored_bytes, all);
    fprintf(out, "Sample\n  %s%s%s", p->is_whole ? "all of " : "", p->is_whole ? all : sample,
            p->is_whole ? "" : " of ");
    if (!p->is_whole)
        fprintf(out, "%s (%.2g%%)", all, 100 * (double)p->sample_bytes / (double)p->stored_bytes);
    fprintf(out, ": %s documents", grouped_text((double)p->sample_documents, documents));
    if (p->read_documents > p->sample_documents)
        fprintf(out, " of %s that were read", grouped_text((double)p->read_documents, documents));
    fprintf(out, ", in %s\n", seconds_text(p->seconds, time));
    if (p->beginnings)
        fprintf(out,
                "  of %llu input%s (%s) only the beginning was read; if it is not like the rest, "
                "the plan is wrong\n",
                (unsigned long long)p->beginnings, p->beginnings == 1 ? "" : "s",
                bytes_text((double)p->beginning_bytes, sample));
}

static void print_figure(FILE *out, enum nd_figure figure, const struct nd_forecast *f)
{
    char value[TEXT], low[TEXT], high[TEXT];

    fprintf(out, "  %-*s %*s", NAME_WIDTH, figure_label(figure), VALUE_WIDTH,
            figure_text(figure, f->value, value));
    if (f->low < f->high)
        fprintf(out, "   %s to %s", figure_text(figure, f->low, low),
                figure_text(figure, f->high, high));
    fputc('\n', out);
}

static void print_figures(FILE *out, const struct nd_plan *p)
{
    fprintf(out, "Prediction for %u thread%s%s\n", p->sample.threads,
            p->sample.threads == 1 ? "" : "s",
            p->is_whole ? "" : ", and where the truth lies in nine cases of ten");
    for (int i = 0; i < ND_FIGURES; i++)
        if (p->n_memory || !is_of_limits((enum nd_figure)i))
            print_figure(out, (enum nd_figure)i, &p->figure[i]);
    if (p->sketching > 0)
        fprintf(out, "  of the processor time: reading %.0f%%, sketching %.0f%%, deciding %.0f%%\n",
                100 * p->reading, 100 * p->sketching, 100 * p->deciding);
}

static void print_steps(FILE *out, const struct nd_plan *p)
{
    if (!p->n_steps)
        return;
    fputs("Thresholds\n  threshold      bands   found at it   candidates a document\n", out);
    for (size_t i = 0; i < p->n_steps; i++) {
        const struct nd_plan_step *s = &p->step[i];
        char bands[TEXT];

        snprintf(bands, sizeof bands, "%u of %u", s->bands, s->rows);
        if (s->bands)
            fprintf(out, "  %9.2f %10s %13.4f %23.4g\n", s->threshold, bands, s->recall,
                    s->candidates);
        else
            fprintf(out, "  %9.2f %10s\n", s->threshold, "none");
    }
}

static void print_limit(FILE *out, const char *limit, const struct nd_plan_memory *row)
{
    char peak[TEXT], spilled[TEXT], processor[TEXT], time[TEXT];

    fprintf(out, "  %10s %6.0f %12s %13s %14s %10s\n", limit, row->loads,
            bytes_text(row->peak_bytes, peak), bytes_text(row->spilled_bytes, spilled),
            seconds_text(row->processor_seconds, processor), seconds_text(row->seconds, time));
}

static void print_limits(FILE *out, const struct nd_plan *p)
{
    const struct nd_plan_memory none = {.peak_bytes = p->unlimited_peak_bytes,
                                        .processor_seconds = p->unlimited_processor_seconds,
                                        .seconds = p->unlimited_seconds};

    if (!p->n_memory)
        return;
    fprintf(out,
            "Memory: from %.0fM on all documents are decided in one load\n"
            "    --memory  loads  peak memory  files in tmp processor time       time\n",
            ceil((double)p->one_load_bytes / (1 << 20)));
    for (size_t i = 0; i < p->n_memory; i++) {
        char limit[TEXT];

        snprintf(limit, sizeof limit, "%.0fM", ceil((double)p->memory[i].memory_bytes / (1 << 20)));
        print_limit(out, limit, &p->memory[i]);
    }
    print_limit(out, "none", &none);
}

static void print_stage(FILE *out, const struct nd_spark_stage *stage, double text_bytes)
{
    char shuffled[TEXT], memory[TEXT], processor[TEXT], time[TEXT];

    fprintf(out, "  %-12s %12s %7.3f %14s %12s %14s\n", stage->name,
            bytes_text(stage->shuffled_bytes, shuffled), stage->shuffled_bytes / text_bytes,
            seconds_text(stage->processor_seconds, processor), seconds_text(stage->seconds, time),
            bytes_text(stage->memory_bytes, memory));
}

static void print_spark(FILE *out, const struct nd_plan *p)
{
    const struct nd_spark_job *job = &p->spark;
    const double text_bytes = fmax(job->documents * job->bytes, 1), n = job->executors * job->cores;
    struct nd_spark_stage all = {.name = "in all"};
    char documents[TEXT], bytes[TEXT], cores[TEXT], disk[TEXT];

    if (job->executors <= 0)
        return;
    fprintf(out,
            "Spark: %s documents (%s) on %s cores, %.0f%% of them in components\n"
            "  stage            shuffled of text processor time         time  memory a core\n",
            grouped_text(job->documents, documents), bytes_text(text_bytes, bytes),
            grouped_text(n, cores), 100 * job->matching);
    for (size_t i = 0; i < ND_SPARK_STAGES; i++) {
        const struct nd_spark_stage *stage = &p->spark_stage[i];

        print_stage(out, stage, text_bytes);
        all.shuffled_bytes += stage->shuffled_bytes;
        all.processor_seconds += stage->processor_seconds;
        all.seconds += stage->seconds;
        all.memory_bytes = fmax(all.memory_bytes, stage->memory_bytes);
    }
    print_stage(out, &all, text_bytes);
    fprintf(out, "  local disk of each core: %s\n", bytes_text(p->spark_disk_bytes / n, disk));
}

static void print_plan(FILE *out, const struct nd_plan *p)
{
    print_sample(out, p);
    print_figures(out, p);
    print_limits(out, p);
    print_spark(out, p);
    print_curve(out, &p->sample);
    print_steps(out, p);
}

static enum nd_status print(const struct settings *s, const struct nd_plan *plan,
                            struct nd_error *err)
{
    char *text = NULL;
    size_t len = 0;
    enum nd_status status;

    if (!s->use.json) {
        print_plan(stdout, plan);
        return ND_OK;
    }
    status = nd_plan_json(plan, &text, &len, err);
    if (status == ND_OK)
        (void)fwrite(text, 1, len, stdout);
    free(text);
    return status;
}

static int make_plan(struct settings *s, struct results *figure)
{
    const char *output = run_option(s, "output");
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_plan plan;
    struct nd_error err;
    enum nd_status status = nd_run_plan(s->run, &s->use.plan, &events, &plan, &err);
    int printed = 0, exit_status;

    report_end(&report);
    if (status == ND_OK && (!output || strcmp(output, "-") != 0)) {
        status = print(s, &plan, &err);
        printed = close_output();
    }
    if (status == ND_OK && figure->file)
        draw_plan(figure->file, &plan);
    exit_status = report_run(s, status, &err, &plan.sample, true);
    return exit_status ? exit_status : printed;
}

int cmd_plan(struct settings *s)
{
    struct results figure;
    int status;

    if (!s->paths.count) {
        say("plan needs files or folders: it reads a sample of them");
        return 2;
    }
    if (!run_reads(s->run, s->paths.at, s->paths.count) ||
        !open_figure(&figure, s->use.plan_svg, s, &s->paths))
        return 2;
    status = make_plan(s, &figure);
    return figure.file ? results_close(&figure, status) : status;
}
