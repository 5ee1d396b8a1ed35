/* cmd_explain.c - neardup explain: two documents beside each other, one by itself, or many */

/*
 * One command with three tasks: explain two documents (or the rows of a manifest), list the
 * features of one document, or show how the hashes of many are distributed. The library computes
 * each; this file chooses the task, checks which options apply to it, and prints the result as
 * text, JSON or SVG.
 */
#include "figure_file.h"
#include "report.h"
#include "results.h"
#include "svg.h"

#include <neardup/explain.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text ------------------------------------------------------------------------------------ */

static void show_head(const struct nd_explained_signature *s)
{
    printf("%s: %zu features, %zu with a weight", s->name, s->n_features, s->n_weighted);
    if (s->is_set)
        fputs(" (a set: their weights do not matter)", stdout);
    if (s->n_forced)
        printf("; and %zu of fields that are forced, whose weight depends on the sums",
               s->n_forced);
    puts(s->n_features ? "\n  position    weight   share  hash              feature" : "\n");
}

static void show_feature(struct results *to, const struct nd_explained_signature *s, size_t i)
{
    const struct nd_explained_feature *f = &s->feature[i];
    double most = s->feature[s->by_weight[0]].weight;

    printf("  %8zu  %8.4g  %6.4f  %016" PRIx64 "  ", i + 1, f->weight,
           most > 0 ? f->weight / most : 0, f->hash);
    results_put_id(to, f->text, strlen(f->text));
    if (s->has_df && !f->from_field)
        printf("  (df %" PRIu32 ")", f->df);
    puts(f->from_field ? "  (of a field)" : "");
}

static void show_features(struct results *to, const struct nd_document_features *d,
                          bool by_position, size_t top)
{
    results_put_document(to, 'A', &d->name);
    printf("%" PRIu64 " bytes, %" PRIu64 " tokens\n", d->bytes, d->tokens);
    for (unsigned k = 0; k < d->n_signatures; k++) {
        const struct nd_explained_signature *s = &d->signature[k];
        size_t n = top && top < s->n_features ? top : s->n_features;

        show_head(s);
        for (size_t i = 0; i < n; i++)
            show_feature(to, s, by_position ? i : s->by_weight[i]);
        if (n < s->n_features)
            printf("  … (%zu more; see --top)\n", s->n_features - n);
    }
}

static void show_histograms(FILE *out, const struct nd_hash_histogram *h, unsigned n)
{
    fputs("signature\tbucket\tfeatures\tdistinct\tuniform\n", out);
    for (unsigned k = 0; k < n; k++) {
        fprintf(out, "%s\tall\t%" PRIu64 "\t%s%" PRIu64 "\t-\n", h[k].name, h[k].features,
                h[k].is_lower_bound ? ">=" : "", h[k].distinct);
        fprintf(out, "%s\tdeviation\t-\t%.4g\t1\n", h[k].name, nd_hash_histogram_deviation(&h[k]));
        for (unsigned i = 0; i < h[k].buckets; i++)
            fprintf(out, "%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t%.1f\n", h[k].name, i, h[k].all[i],
                    h[k].bucket[i], (double)h[k].distinct / h[k].buckets);
    }
}

/* ---- Two documents, and the rows of a manifest ----------------------------------------------- */

enum { TERMS_SHOWN = 30 };

/* The words have the hue. */
static void print_terms(struct results *to, const char *what, enum hue hue,
                        const struct nd_term *term, size_t n)
{
    printf("%s: %zu%s%s", what, n, n ? "\n " : "",
           n && hue != HUE_PLAIN ? color_code(to->file, hue) : "");
    for (size_t i = 0; i < n && i < TERMS_SHOWN; i++) {
        putchar(' ');
        results_put_id(to, term[i].text, strlen(term[i].text));
    }
    if (n > TERMS_SHOWN)
        printf(" … (%zu more)", n - TERMS_SHOWN);
    puts(n && hue != HUE_PLAIN ? color_code(to->file, HUE_PLAIN) : "");
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

/* "signature B:         4 agree of 6 and 6" */
static void print_signature(const char *name, const struct nd_agreement *x)
{
    int width = 9 - (int)strlen(name);

    printf("signature %s:%*s ", name, width > 0 ? width : 0, "");
    if (x->a == 0 || x->b == 0)
        puts("missing for at least one");
    else if (x->a == x->b)
        printf("%llu of %llu agree\n", (unsigned long long)x->shared, (unsigned long long)x->a);
    else
        printf("%llu shared, of %llu and %llu\n", (unsigned long long)x->shared,
               (unsigned long long)x->a, (unsigned long long)x->b);
}

static void print_explanation(struct results *to, const struct nd_explanation *e)
{
    static const char *const identical[] = {"no", "bytes", "words"};
    const struct nd_overlap *o = &e->overlap;

    for (int i = 0; i < 2; i++) {
        results_put_document(to, i ? 'B' : 'A', &e->name[i]);
        printf("%llu bytes, %llu tokens, %llu distinct shingles%s\n",
               (unsigned long long)e->bytes[i], (unsigned long long)e->tokens[i],
               (unsigned long long)(i ? o->b : o->a),
               e->is_short[i] ? ", shorter than a shingle" : "");
    }
    printf("identical:           %s\n", identical[e->identical]);
    printf("resemblance:         %.6f = %llu shared / %llu in either\n",
           share(o->shared, o->a + o->b - o->shared), (unsigned long long)o->shared,
           (unsigned long long)(o->a + o->b - o->shared));
    printf("containment of A:    %.6f\n", share(o->shared, o->a));
    printf("containment of B:    %.6f\n", share(o->shared, o->b));
    printf("Hamming distance:    %u of 64\n", e->distance);
    printf("equal minima:        %u of %d\n", e->equal_minima, ND_MINHASH_COUNT);
    for (unsigned i = 0; i < e->n_signatures; i++)
        print_signature(e->signature[i].name, &e->signature[i].agreement);
    if (e->band_chance >= 0)
        printf("candidate chance:    %.6f with %u bands of %u\n", e->band_chance, e->bands,
               e->rows);
    printf("they differ in:      %s\n", nd_differs_name(e->differs_in));
    print_terms(to, "terms in both", HUE_PLAIN, e->terms, e->n_shared);
    print_terms(to, "terms only in A", HUE_RED, e->terms + e->n_shared, e->n_only_a);
    print_terms(to, "terms only in B", HUE_GREEN, e->terms + e->n_shared + e->n_only_a,
                e->n_only_b);
    printf("verdict: %s%s%s: %s\n", color_code(to->file, HUE_BOLD),
           e->is_duplicate ? "duplicates" : "different", color_code(to->file, HUE_PLAIN), e->why);
}

/* Print JSON if it was made; otherwise print the error and return false. */
static bool put_json(enum nd_status status, char *text, size_t len, const struct nd_error *err)
{
    if (status != ND_OK || !text) {
        say("%s", err->message);
        return false;
    }
    fwrite(text, 1, len, stdout);
    free(text);
    return true;
}

static bool print_pair(const struct settings *s, struct results *to, const struct nd_explanation *e)
{
    struct nd_error err;
    enum nd_status made;
    char *text = NULL;
    size_t len = 0;

    if (!s->use.json) {
        print_explanation(to, e);
        return true;
    }
    made = nd_explanation_json(e, &text, &len, &err);
    return put_json(made, text, len, &err);
}

static int explain_pair(const struct settings *s, const struct nd_run_events *events)
{
    struct nd_explanation explanation;
    struct results to;
    struct nd_error err;
    int status = 2;

    if (nd_run_explain(s->run, s->paths.at[0], s->paths.at[1], events, &explanation, &err) !=
        ND_OK) {
        say("%s", err.message);
        return 2;
    }
    if (results_open(&to, NULL, NULL, 0) && print_pair(s, &to, &explanation))
        status = results_close(&to, explanation.is_duplicate ? 0 : 1);
    nd_explanation_release(&explanation);
    return status;
}

struct explained_rows {
    const struct settings *settings;
    struct results to;
    bool is_next; /* a row was printed before */
};

static int print_row_json(const struct nd_explained_row *row)
{
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;
    const enum nd_status made = nd_explained_row_json(row, &text, &len, &err);

    return !put_json(made, text, len, &err);
}

static int print_row(void *context, const struct nd_explained_row *row)
{
    struct explained_rows *r = context;

    if (!row->explanation)
        say("row %llu: %s: this document was not found", (unsigned long long)row->number,
            row->missing);
    if (r->settings->use.json)
        return print_row_json(row);
    if (!row->explanation)
        return 0;
    printf("%srow %llu: B was removed, A was kept", r->is_next ? "\n" : "",
           (unsigned long long)row->number);
    if (row->resemblance >= 0)
        printf("; resemblance %.6f", row->resemblance);
    puts(row->has_changed ? "; it has changed: the texts are different now" : "");
    print_explanation(&r->to, row->explanation);
    r->is_next = true;
    return results_failed(&r->to);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

/*
 * The manifest determines how documents are read and, unless another recipe is named, how they are
 * compared.
 */
static bool check_rows(const struct settings *s)
{
    static const char *const with[] = {"rows", "lowest", "json", "corpus", "recipe", NULL};
    static const char *const changes_recipe[] = {
        "threshold", "shingle", "characters", "method",     "bits",   "short", "set",
        "df",        "recall",  "bands",      "candidates", "verify", NULL};

    for (size_t i = 0; i < s->given.count; i++) {
        const char *name = s->given.at[i];

        if (is_among(name, with) || (is_given(s, "recipe") && is_among(name, changes_recipe)))
            continue;
        if (is_among(name, changes_recipe))
            say("--%s: the manifest has its own recipe; --recipe replaces it", name);
        else
            say("--%s: the manifest says how its documents are read; see neardup help explain",
                name);
        return false;
    }
    if (s->paths.count)
        say("%s: with --rows the manifest names the documents; see --corpus", s->paths.at[0]);
    return !s->paths.count;
}

static int explain_rows(const struct settings *s)
{
    struct explained_rows rows = {.settings = s};
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    const struct nd_explain_rows_params params = {.manifest = s->explain.rows,
                                                  .lowest = s->explain.lowest,
                                                  .own_recipe = is_given(s, "recipe"),
                                                  .each = print_row,
                                                  .context = &rows};
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!check_rows(s) || !run_reads(s->run, s->corpus.at, s->corpus.count) ||
        !results_open(&rows.to, NULL, NULL, 0))
        return 2;
    status = nd_run_explain_rows(s->run, &params, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && summary.left_out)
        say("%sthe documents of %llu row%s were not found; see --corpus",
            summary.found ? "done, but " : "", (unsigned long long)summary.left_out,
            summary.left_out == 1 ? "" : "s");
    if (status != ND_OK && status != ND_ECANCELLED)
        say("%s", err.message);
    if (status == ND_OK && summary.found)
        return results_close(&rows.to, summary.left_out ? 3 : 0);
    return results_close(&rows.to, status == ND_OK && !summary.left_out ? 1 : 2);
}

/* ---- One document, and the hashes of many ---------------------------------------------------- */

static int close_figure(struct results *figure, int status)
{
    return figure->file ? results_close(figure, status) : status;
}

static int draw(struct results *figure, const struct nd_document_features *d, unsigned buckets)
{
    struct nd_hash_histogram *h = calloc(ND_RECIPE_SIGNATURES, sizeof *h);
    int status = h ? 0 : 2;
    struct nd_error err;

    if (!h)
        say("out of memory");
    for (unsigned i = 0; i < d->n_signatures && !status; i++)
        if (nd_hash_histogram_of(&d->signature[i], buckets, &h[i], &err) != ND_OK) {
            say("%s", err.message);
            status = 2;
        }
    if (!status)
        draw_features(figure->file, d, h);
    free(h);
    return status;
}

static int show(const struct settings *s, const struct nd_document_features *d)
{
    const struct explain_settings *e = &s->explain;
    struct nd_error err;
    struct results to;
    char *text = NULL;
    size_t len = 0;

    if (s->use.json) {
        const enum nd_status made = nd_document_features_json(
            d, e->order == BY_POSITION, is_given(s, "top") ? e->top : 0, &text, &len, &err);

        return put_json(made, text, len, &err) ? 0 : 2;
    }
    if (!results_open(&to, NULL, NULL, 0))
        return 2;
    show_features(&to, d, e->order == BY_POSITION, e->top);
    return 0;
}

static int explain_document(const struct settings *s, const struct nd_run_events *events)
{
    struct nd_document_features d;
    struct results figure;
    struct nd_error err;
    int status = 0;

    if (!open_figure(&figure, s->explain.svg, s, s->corpus.count ? &s->corpus : &s->paths))
        return 2;
    if (nd_run_features(s->run, s->paths.at[0], events, &d, &err) != ND_OK) {
        say("%s", err.message);
        return close_figure(&figure, 2);
    }
    if (figure.file)
        status = draw(&figure, &d, s->explain.buckets);
    if (!status)
        status = show(s, &d);
    nd_document_features_release(&d);
    status = close_figure(&figure, status);
    return status ? status : close_output() ? 2 : 0;
}

static int show_all(const struct settings *s, const struct nd_hash_histogram *h, unsigned n)
{
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;

    if (s->use.json) {
        const enum nd_status made = nd_hash_histograms_json(h, n, &text, &len, &err);

        return put_json(made, text, len, &err) ? 0 : 2;
    }
    show_histograms(stdout, h, n);
    return 0;
}

static int count(const struct settings *s, struct report *report, struct results *figure,
                 struct nd_hash_histogram *h)
{
    const struct nd_run_events events = report_events(report);
    struct nd_run_summary summary;
    struct nd_error err;
    unsigned n = 0;
    enum nd_status ran =
        nd_run_hash_histograms(s->run, s->explain.buckets, &events, h, &n, &summary, &err);
    int status;

    report_end(report);
    if (ran == ND_OK && figure->file)
        draw_histograms(figure->file, h, n);
    if (ran == ND_OK && show_all(s, h, n))
        return 2;
    status = report_run(s, ran, &err, &summary, true);
    return status != 2 && close_output() ? 2 : status;
}

static int explain_histogram(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_hash_histogram *h;
    struct results figure;
    int status;

    if (!use_standard_input(s))
        return 2;
    if (!open_figure(&figure, s->explain.svg, s, &s->paths))
        return 2;
    h = calloc(ND_RECIPE_SIGNATURES, sizeof *h);
    if (!h)
        say("out of memory");
    status = h ? count(s, &report, &figure, h) : 2;
    free(h);
    return close_figure(&figure, status);
}

/* ---- Which of these -------------------------------------------------------------------------- */

/* Report options that apply only to one document or to the histogram. */
static bool check_options(const struct settings *s)
{
    const struct explain_settings *e = &s->explain;
    bool is_one = !e->histogram && s->paths.count == 1;
    const char *wrong = !is_one && is_given(s, "order")                                  ? "order"
                        : !is_one && is_given(s, "top")                                  ? "top"
                        : !is_one && !e->histogram && e->svg                             ? "svg"
                        : !e->histogram && !(is_one && e->svg) && is_given(s, "buckets") ? "buckets"
                        : e->histogram && s->corpus.count                                ? "corpus"
                                                                                         : NULL;

    if (e->rows)
        return true; /* it checks its own options */
    if (is_given(s, "lowest")) {
        say("--lowest requires --rows MANIFEST");
        return false;
    }
    if (!wrong)
        return true;
    say("--%s does not apply to %s; see neardup help explain", wrong,
        e->histogram ? "a histogram"
        : is_one     ? "one document without --svg"
                     : "two documents");
    return false;
}

int cmd_explain(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);

    if (!s->explain.histogram && !s->explain.rows && s->paths.count != 1 && s->paths.count != 2) {
        say("explain takes one or two %s; see neardup help explain",
            s->corpus.count ? "ids" : "files, or --corpus FILE and ids");
        return 2;
    }
    if (!check_options(s))
        return 2;
    if (!s->explain.histogram && !s->explain.rows)
        find_places(s);
    if (s->explain.rows)
        return explain_rows(s);
    if (s->explain.histogram)
        return explain_histogram(s);
    if (!run_reads(s->run, s->corpus.at, s->corpus.count))
        return 2;
    return s->paths.count == 1 ? explain_document(s, &events) : explain_pair(s, &events);
}
