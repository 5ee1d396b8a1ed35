/* cmd_reproduce.c - neardup reproduce: results of papers run again, the paper's numbers beside ours */
#include "figure_file.h"
#include "lab/lab_page.h"
#include "lab/lab_run.h"
#include "lab/lab_verdict.h"
#include "results.h"
#include "settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, CELL = 8 };

/* The numbers of reproductions by how they ended. */
struct lab_tally {
    size_t done, skipped, failed, unexpected;
};

/* ---- The report ------------------------------------------------------------------------------ */

static void put_wrapped(FILE *out, const char *indent, const char *text)
{
    size_t used = WIDTH;

    for (const char *at = text; *at;) {
        const size_t len = strcspn(at, " ");

        if (used + 1 + len > WIDTH - strlen(indent)) {
            fprintf(out, "%s%s", used == WIDTH ? "" : "\n", indent);
            used = 0;
        }
        fprintf(out, "%s%.*s", used ? " " : "", (int)len, at);
        used += len + (used != 0);
        at += len;
        at += strspn(at, " ");
    }
    fputc('\n', out);
}

static void put_number(FILE *out, double value)
{
    char text[LAB_NUMBER_TEXT];

    lab_number_text(value, text);
    fprintf(out, " %*s", CELL, text);
}

/* The columns of a series, from one label to another. */
static void put_columns(FILE *out, const struct lab_series *s, const double *value, size_t from,
                        size_t to)
{
    bool all_expected = true;

    fputs("            ", out);
    for (size_t i = from; i < to; i++)
        fprintf(out, " %*s", CELL, s->label[i]);
    if (s->n_paper) {
        fputs("\n    paper   ", out);
        for (size_t i = from; i < to; i++)
            put_number(out, s->paper[i]);
    }
    fputs("\n    here    ", out);
    for (size_t i = from; i < to; i++) {
        put_number(out, value[i]);
        all_expected = all_expected && lab_is_expected(s, i, value[i]);
    }
    if (!all_expected) {
        fputs("\n    expected", out);
        for (size_t i = from; i < to; i++)
            put_number(out, s->expect[i]);
    }
    fputc('\n', out);
}

/* Labels that are long make a line each. */
static bool has_long_labels(const struct lab_series *s)
{
    for (size_t i = 0; i < s->n_labels; i++)
        if (strlen(s->label[i]) > CELL)
            return true;
    return false;
}

static void put_lines(FILE *out, const struct lab_series *s, const double *value)
{
    fprintf(out, "    %-40s %*s %*s\n", "", CELL, s->n_paper ? "paper" : "", CELL, "here");
    for (size_t i = 0; i < s->n_labels; i++) {
        fprintf(out, "    %-40s", s->label[i]);
        if (s->n_paper)
            put_number(out, s->paper[i]);
        else
            fprintf(out, " %*s", CELL, "");
        put_number(out, value[i]);
        if (!lab_is_expected(s, i, value[i])) {
            fputs("  expected:", out);
            put_number(out, s->expect[i]);
        }
        fputc('\n', out);
    }
}

static void put_series(FILE *out, const struct lab_run *run, size_t i)
{
    const struct lab_series *s = &run->lab->series[i];
    const struct lab_outcome *o = &run->series[i];
    const size_t step = (WIDTH - 12) / (CELL + 1);

    fprintf(out, "  %s\n", s->about ? s->about : s->name);
    if (o->state != LAB_DONE) {
        fprintf(out, "    %s: %s\n", o->state == LAB_SKIPPED ? "skipped" : "failed",
                o->reason ? o->reason : "");
        return;
    }
    if (has_long_labels(s))
        put_lines(out, s, run->value[i]);
    else
        for (size_t from = 0; from < s->n_labels; from += step)
            put_columns(out, s, run->value[i], from,
                        from + step < s->n_labels ? from + step : s->n_labels);
    if (lab_has_verdict(s, run->value[i])) {
        fputs("    ", out);
        lab_put_verdict(out, s, run->value[i]);
    }
}

static void put_report(FILE *out, const struct lab_run *run)
{
    const struct lab *lab = run->lab;

    fprintf(out, "%s: %s\n", lab->name, lab->title);
    put_wrapped(out, "  ", lab->paper);
    if (lab->corpus) {
        fputs("  Here:", out);
        put_wrapped(out, " ", lab->corpus);
    }
    for (size_t i = 0; i < lab->n_parts; i++)
        if (run->part[i].state == LAB_FAILED)
            fprintf(out, "  step %s failed: %s\n", lab->part[i].name,
                    run->part[i].reason ? run->part[i].reason : "");
    for (size_t i = 0; i < lab->n_series; i++)
        put_series(out, run, i);
    for (size_t i = 0; i < lab->n_remarks; i++)
        put_wrapped(out, "  ", lab->remark[i]);
    for (size_t i = 0; i < lab->n_cannot; i++) {
        fputs("  Not reproduced:\n", out);
        put_wrapped(out, "    ", lab->cannot[i]);
    }
    fputc('\n', out);
}

/* A line for each number. */
static void put_rows(FILE *out, const struct lab_run *run)
{
    for (size_t i = 0; i < run->lab->n_series; i++) {
        const struct lab_series *s = &run->lab->series[i];

        for (size_t k = 0; k < s->n_labels; k++) {
            const double three[] = {k < s->n_paper ? s->paper[k] : NAN, run->value[i][k],
                                    k < s->n_expect ? s->expect[k] : NAN};

            fprintf(out, "%s\t%s\t%s", run->lab->name, s->name, s->label[k]);
            for (size_t v = 0; v < 3; v++)
                if (isnan(three[v]))
                    fputs("\t-", out);
                else
                    fprintf(out, "\t%.6g", three[v]);
            fprintf(out, "\t%s\n",
                    run->series[i].state == LAB_SKIPPED  ? "skipped"
                    : run->series[i].state == LAB_FAILED ? "failed"
                    : k >= s->n_expect                   ? "-"
                    : lab_is_expected(s, k, three[1])    ? "yes"
                                                         : "no");
        }
    }
}

/* ---- The command ----------------------------------------------------------------------------- */

static void count(struct lab_tally *tally, const struct lab_run *run)
{
    const struct lab *lab = run->lab;

    for (size_t i = 0; i < lab->n_parts; i++)
        tally->failed += run->part[i].state == LAB_FAILED;
    for (size_t i = 0; i < lab->n_series; i++) {
        const struct lab_series *s = &lab->series[i];
        bool all = true;

        if (run->series[i].state != LAB_DONE) {
            tally->skipped += run->series[i].state == LAB_SKIPPED;
            tally->failed += run->series[i].state == LAB_FAILED;
            continue;
        }
        for (size_t k = 0; k < s->n_labels; k++)
            all = all && lab_is_expected(s, k, run->value[i][k]);
        tally->done++;
        tally->unexpected += !all;
    }
}

/* Write the report to `to`, and to `page` if it is open. */
static bool reproduce(const struct settings *s, const char *name, struct results *to,
                      struct results *page, struct lab_tally *tally)
{
    struct nd_error err;
    struct lab *lab = lab_read(name, &err);
    struct lab_run run;
    enum nd_status status;

    if (!lab) {
        say("%s", err.message);
        return false;
    }
    status = lab_run_all(&run, lab, &s->use.lab_places, s->use.lab_files, &err);
    if (status == ND_OK) {
        s->use.lab_tsv ? put_rows(to->file, &run) : put_report(to->file, &run);
        (void)fflush(to->file);
        if (page->file)
            lab_page_put(page->file, &run);
        count(tally, &run);
    } else {
        say("%s", err.message);
    }
    lab_run_release(&run);
    lab_free(lab);
    return status == ND_OK;
}

static int list_labs(const struct settings *s, struct results *to)
{
    for (size_t i = 0; lab_name(i); i++) {
        struct nd_error err;
        struct lab *lab = lab_read(lab_name(i), &err);
        char *missing = lab ? lab_missing(lab, &s->use.lab_places) : NULL;

        if (!lab) {
            say("%s", err.message);
            return 2;
        }
        fprintf(to->file, "%-20s %s\n%20s %s\n", lab->name, lab->title, "", lab->paper);
        if (missing)
            fprintf(to->file, "%20s %s%s%s\n", "", missing,
                    lab->package ? "; from the packages: " : "", lab->package ? lab->package : "");
        free(missing);
        lab_free(lab);
    }
    return 0;
}

static int reproduce_all(const struct settings *s, struct results *to, struct results *page)
{
    const bool is_all = s->paths.count == 1 && strcmp(s->paths.at[0], "all") == 0;
    struct lab_tally tally = {.done = 0};
    bool good = true;

    if (s->use.lab_tsv)
        fputs("reproduction\tseries\tlabel\tpaper\there\texpected\tas_expected\n", to->file);
    if (page->file)
        lab_page_begin(page->file);
    for (size_t i = 0; good && (is_all ? lab_name(i) != NULL : i < s->paths.count); i++)
        good = reproduce(s, is_all ? lab_name(i) : s->paths.at[i], to, page, &tally);
    if (page->file)
        lab_page_end(page->file);
    if (good && !s->quiet)
        inform("%zu series of numbers, %zu of them not as expected; %zu skipped, %zu failures",
               tally.done, tally.unexpected, tally.skipped, tally.failed);
    if (!good || tally.failed)
        return 2;
    return tally.unexpected ? 1 : tally.skipped && !is_all ? 3 : 0;
}

static bool fits(const struct settings *s, bool is_list)
{
    if (!s->paths.count)
        say("reproduce needs list, all, or names of reproductions; see neardup reproduce list");
    else if (is_list && s->use.lab_page)
        say("--report needs all, or names of reproductions; list runs none");
    else
        return true;
    return false;
}

int cmd_reproduce(struct settings *s)
{
    const bool is_list = s->paths.count == 1 && strcmp(s->paths.at[0], "list") == 0;
    struct words reads = s->paths;
    struct results to, page;
    int status;

    if (!fits(s, is_list) || !open_figure(&page, s->use.lab_page, s, &reads))
        return 2;
    if (s->use.lab_page && run_option(s, "output") &&
        strcmp(s->use.lab_page, run_option(s, "output")) == 0) {
        say("%s: the page and the report cannot be one file", s->use.lab_page);
        return page.file ? results_close(&page, 2) : 2;
    }
    if (!results_open(&to, run_option(s, "output"), s->paths.at, s->paths.count))
        return page.file ? results_close(&page, 2) : 2;
    status = is_list ? list_labs(s, &to) : reproduce_all(s, &to, &page);
    status = results_close(&to, status);
    if (!page.file)
        return status;
    /* Numbers that are not as expected, and steps that failed, are what the page tells. */
    return results_close(&page, status == 2 ? 1 : status) == 2 ? 2 : status;
}
