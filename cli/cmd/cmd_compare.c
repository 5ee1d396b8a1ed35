/* cmd_compare.c - neardup compare: two documents by every measure */
#include "color.h"
#include "report.h"
#include "results.h"

#include <neardup/terminal.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What shows text: terms, passages, edits ------------------------------------------------- */

enum { TERMS_SHOWN = 30, AROUND = 8 };

/*
 * Print text of a document on one line. The text is UTF-8; runs of white space and of characters
 * that could control a terminal become one space.
 */
static void put_text(const char *text, size_t len)
{
    bool space = false;

    for (size_t i = 0, n; i < len; i += n) {
        int is_control;

        n = nd_terminal_character(text + i, len - i, &is_control);
        if (is_control || text[i] == ' ') {
            space = true;
            continue;
        }
        if (space)
            putchar(' ');
        space = false;
        fwrite(text + i, 1, n, stdout);
    }
}

/* Print tokens at to at + count of a document as they occur in its text. */
static void put_tokens(const struct nd_comparison *c, unsigned which, size_t at, size_t count)
{
    const struct nd_token *first = &c->token[which][at], *last = &c->token[which][at + count - 1];

    put_text(c->text[which] + first->offset, last->offset + last->len - first->offset);
}

/* Order by difference of counts, greatest first, then by position in the texts. */
static uint64_t difference(const struct nd_term *t)
{
    return t->in_a > t->in_b ? t->in_a - t->in_b : t->in_b - t->in_a;
}

static int by_difference(const void *left, const void *right)
{
    const struct nd_term *const *x = left, *const *y = right;
    uint64_t a = difference(*x), b = difference(*y);

    if (a != b)
        return a > b ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static void put_terms(const char *what, const struct nd_term *term, size_t n, bool both)
{
    const struct nd_term **list = malloc((n + 1) * sizeof *list);
    size_t kept = 0;

    for (size_t i = 0; list && i < n; i++)
        if (!both || term[i].in_a != term[i].in_b)
            list[kept++] = &term[i];
    if (!list) {
        say("out of memory");
        return;
    }
    if (kept)
        qsort(list, kept, sizeof *list, by_difference);
    printf("%s: %zu\n", what, kept);
    for (size_t i = 0; i < kept && i < TERMS_SHOWN; i++) {
        printf("  %6" PRIu64 " %6" PRIu64 "  ", list[i]->in_a, list[i]->in_b);
        put_text(list[i]->text, strlen(list[i]->text));
        putchar('\n');
    }
    if (kept > TERMS_SHOWN)
        printf("  … (%zu more)\n", kept - TERMS_SHOWN);
    free(list);
}

static void show_terms(const struct nd_comparison *c)
{
    printf("terms in both: %zu\n", c->n_shared);
    put_terms("of these with different counts (in A, in B, term)", c->term, c->n_shared, true);
    put_terms("terms only in A", c->term + c->n_shared, c->n_only_a, false);
    put_terms("terms only in B", c->term + c->n_shared + c->n_only_a, c->n_only_b, false);
}

static void show_weights(const struct nd_comparison *c)
{
    size_t other = 0;

    while (other < c->n_weights && c->weight[other].in_a != c->weight[other].in_b)
        other++;
    printf("features of %s: %zu, of these with different weights (in A, in B): %zu\n", c->signature,
           c->n_weights, other);
    for (size_t i = 0; i < other && i < TERMS_SHOWN; i++) {
        printf("  %8" PRId64 " %8" PRId64 "  ", c->weight[i].in_a, c->weight[i].in_b);
        put_text(c->weight[i].text, strlen(c->weight[i].text));
        putchar('\n');
    }
    if (other > TERMS_SHOWN)
        printf("  … (%zu more)\n", other - TERMS_SHOWN);
}

static double percent(uint64_t part, size_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_span(const struct nd_comparison *c, unsigned which, size_t at, size_t count)
{
    const struct nd_token *first = &c->token[which][at], *last = &c->token[which][at + count - 1];

    printf("%c bytes %" PRIu64 "-%" PRIu64, 'A' + (char)which, first->offset,
           last->offset + last->len);
}

static void show_passages(const struct nd_comparison *c)
{
    printf("passages of A in B: %zu; they cover %" PRIu64 " of B's %zu tokens (%.1f%%), %" PRIu64
           " of A's %zu (%.1f%%)\n",
           c->n_passages, c->covered[1], c->tokens[1], percent(c->covered[1], c->tokens[1]),
           c->covered[0], c->tokens[0], percent(c->covered[0], c->tokens[0]));
    for (size_t i = 0; i < c->n_passages; i++) {
        const struct nd_passage *p = &c->passage[i];

        fputs(color_code(stdout, HUE_BOLD), stdout);
        printf("%zu tokens: ", p->count_b);
        put_span(c, 1, p->at_b, p->count_b);
        fputs(", ", stdout);
        put_span(c, 0, p->at_a, p->count_a);
        if (p->equal != p->count_b)
            printf(", %zu equal", p->equal);
        printf("%s\n  ", color_code(stdout, HUE_PLAIN));
        put_tokens(c, 1, p->at_b, p->count_b);
        putchar('\n');
    }
}

static void put_marked(const struct nd_comparison *c, unsigned which, size_t at, size_t count,
                       bool is_colored)
{
    static const char *const mark[2][2] = {{"[-", "-]"}, {"{+", "+}"}};

    fputs(is_colored ? color_code(stdout, which ? HUE_GREEN : HUE_RED) : mark[which][0], stdout);
    put_tokens(c, which, at, count);
    fputs(is_colored ? color_code(stdout, HUE_PLAIN) : mark[which][1], stdout);
}

/* Print kept tokens; the middle of a long run is left out. */
static void put_kept(const struct nd_comparison *c, const struct nd_edit *e, bool is_first,
                     bool is_last)
{
    size_t before = is_first ? 0 : AROUND, after = is_last ? 0 : AROUND;

    if (e->count <= before + after + 1) {
        put_tokens(c, 1, e->at_b, e->count);
        return;
    }
    if (before) {
        put_tokens(c, 1, e->at_b, before);
        putchar(' ');
    }
    printf("… (%zu)", e->count - before - after);
    if (after) {
        putchar(' ');
        put_tokens(c, 1, e->at_b + e->count - after, after);
    }
}

/*
 * Print the edits from the i-th up to the next kept token as one change: what was removed, then
 * what was inserted.
 */
static size_t put_changes(const struct nd_comparison *c, size_t i, bool is_colored)
{
    const struct nd_edit *first = &c->edit[i];
    size_t removed = 0, inserted = 0;

    for (; i < c->n_edits && c->edit[i].kind != ND_EDIT_KEEP; i++) {
        removed += c->edit[i].kind != ND_EDIT_INSERT ? c->edit[i].count : 0;
        inserted += c->edit[i].kind != ND_EDIT_REMOVE ? c->edit[i].count : 0;
    }
    if (removed)
        put_marked(c, 0, first->at_a, removed, is_colored);
    if (removed && inserted)
        putchar(' ');
    if (inserted)
        put_marked(c, 1, first->at_b, inserted, is_colored);
    return i;
}

static void show_edits(const struct nd_comparison *c)
{
    bool is_colored = color_is_on(stdout);

    if (c->edit_distance == ND_EDIT_BEYOND) {
        printf("edits from A to B: the cost is more than %" PRIu64 "; see --limit\n",
               c->edit_limit);
        return;
    }
    printf("edits from A to B (cost %" PRIu64 ")\n", c->edit_distance);
    for (size_t i = 0; i < c->n_edits;) {
        if (i)
            putchar(' ');
        if (c->edit[i].kind == ND_EDIT_KEEP) {
            put_kept(c, &c->edit[i], i == 0, i + 1 == c->n_edits);
            i++;
        } else {
            i = put_changes(c, i, is_colored);
        }
    }
    if (c->n_edits)
        putchar('\n');
}

/* ---- Measures -------------------------------------------------------------------------------- */

/* Two documents without shingles are equal: distance 0. */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

static double resemblance(const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles;

    return share(o->shared, o->a + o->b - o->shared);
}

/* x / sqrt(y z); 0 if nothing is in common. */
static double cosine(uint64_t x, uint64_t y, uint64_t z)
{
    return x ? (double)x / sqrt((double)y * (double)z) : 0;
}

enum metric {
    RESEMBLANCE,
    DISTANCE,
    CONTAINMENT_A,
    CONTAINMENT_B,
    JACCARD,
    CONTAINMENT,
    CONTAINMENT_OF_KEPT,
    CONTAINMENT_EITHER,
    COSINE_SHINGLES,
    COSINE,
    COSINE_TF,
    COSINE_WEIGHTS,
    INNER,
    INNER_WEIGHTS,
    EDIT,
    HAMMING,
    CONRAD_SCHRIBER,
    METRICS
};
static const char *const metric_names[METRICS] = {"resemblance",
                                                  "resemblance-distance",
                                                  "containment-a",
                                                  "containment-b",
                                                  "jaccard",
                                                  "containment",
                                                  "containment-of-kept",
                                                  "containment-either",
                                                  "cosine-shingles",
                                                  "cosine",
                                                  "cosine-tf",
                                                  "cosine-weights",
                                                  "inner",
                                                  "inner-weights",
                                                  "edit",
                                                  "hamming",
                                                  "conrad-schriber"};

static void print_edit(const struct nd_comparison *c)
{
    if (c->edit_distance == ND_EDIT_BEYOND)
        printf("more than %" PRIu64, c->edit_limit);
    else
        printf("%" PRIu64, c->edit_distance);
}

static void print_metric(const struct nd_comparison *c, enum metric metric)
{
    const struct nd_overlap *o = &c->shingles, *t = &c->terms.distinct;

    switch (metric) {
    case JACCARD:
    case RESEMBLANCE: printf("%.6f", resemblance(c)); break;
    case DISTANCE: printf("%.6f", 1 - resemblance(c)); break;
    case CONTAINMENT_OF_KEPT:
    case CONTAINMENT_A: printf("%.6f", share(o->shared, o->a)); break;
    case CONTAINMENT:
    case CONTAINMENT_B: printf("%.6f", share(o->shared, o->b)); break;
    case CONTAINMENT_EITHER: printf("%.6f", share(o->shared, o->a < o->b ? o->a : o->b)); break;
    case COSINE_SHINGLES: printf("%.6f", cosine(o->shared, o->a, o->b)); break;
    case COSINE: printf("%.6f", cosine(t->shared, t->a, t->b)); break;
    case COSINE_TF:
        printf("%.6f", cosine(c->terms.inner, c->terms.squares_a, c->terms.squares_b));
        break;
    case COSINE_WEIGHTS: {
        double product = c->weights_squares[0] * c->weights_squares[1];

        printf("%.6f", product > 0 ? c->weights_inner / sqrt(product) : 0);
        break;
    }
    case INNER: printf("%" PRIu64, c->terms.inner); break;
    case INNER_WEIGHTS:
        printf("%.6g", c->weights_inner * c->weights_unit[0] * c->weights_unit[1]);
        break;
    case EDIT: print_edit(c); break;
    case HAMMING: printf("%u", c->hamming); break;
    case CONRAD_SCHRIBER: fputs(c->conrad_schriber ? "yes" : "no", stdout); break;
    case METRICS: break;
    }
}

/* The metric of this name; METRICS if there is none, which was reported. */
static enum metric metric_of(const char *name)
{
    const char *nearest;
    enum metric m = 0;

    while (m < METRICS && strcmp(metric_names[m], name) != 0)
        m++;
    if (m < METRICS)
        return m;
    nearest = nd_name_nearest(name, strlen(name), metric_names, METRICS);
    say("--metric: there is no metric '%s'%s%s%s; see neardup help compare", name,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return METRICS;
}

static void print_documents(const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles, *t = &c->terms.distinct;
    struct results to;

    if (!results_open(&to, NULL, NULL, 0))
        return;
    for (unsigned i = 0; i < 2; i++) {
        results_put_document(&to, i ? 'B' : 'A', &c->name[i]);
        printf("%zu bytes, %zu tokens, %" PRIu64 " distinct terms, %" PRIu64 " distinct shingles\n",
               c->bytes[i], c->tokens[i], i ? t->b : t->a, i ? o->b : o->a);
    }
}

static void print_all(const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles, *t = &c->terms.distinct;

    print_documents(c);
    printf("identical:            %s\n", c->same_bytes ? "bytes" : c->same_words ? "words" : "no");
    printf("resemblance:          %.6f = %" PRIu64 " shared shingles / %" PRIu64 " in either\n",
           resemblance(c), o->shared, o->a + o->b - o->shared);
    printf("resemblance distance: %.6f\n", 1 - resemblance(c));
    printf("containment of A:     %.6f\n", share(o->shared, o->a));
    printf("containment of B:     %.6f\n", share(o->shared, o->b));
    printf("cosine:               %.6f = %" PRIu64 " shared terms / sqrt(%" PRIu64 " * %" PRIu64
           ")\n",
           cosine(t->shared, t->a, t->b), t->shared, t->a, t->b);
    printf("cosine of counts:     %.6f, inner product %" PRIu64 "\n",
           cosine(c->terms.inner, c->terms.squares_a, c->terms.squares_b), c->terms.inner);
    fputs("edit distance:        ", stdout);
    print_edit(c);
    puts(" tokens");
    printf("Hamming distance:     %u of 64\n", c->hamming);
    printf("they differ in:       %s\n", nd_differs_name(c->differs_in));
    printf("Conrad and Schriber:  %s: terms in common %.1f%% of A's, %.1f%% of B's; the shorter "
           "has %.1f%% of the longer's length\n",
           c->conrad_schriber ? "duplicates" : "different", 100 * share(t->shared, t->a),
           100 * share(t->shared, t->b),
           100 * share(c->tokens[0] < c->tokens[1] ? c->tokens[0] : c->tokens[1],
                       c->tokens[0] < c->tokens[1] ? c->tokens[1] : c->tokens[0]));
}

/* The parts of a comparison that the options request. */
static unsigned parts_of(const struct use_settings *u, const enum metric *metric)
{
    unsigned parts = u->show | (u->metrics.count || u->show ? 0 : ND_COMPARE_EDIT);

    for (size_t i = 0; i < u->metrics.count; i++)
        parts |= metric[i] == EDIT                                           ? ND_COMPARE_EDIT
                 : metric[i] == COSINE_WEIGHTS || metric[i] == INNER_WEIGHTS ? ND_COMPARE_WEIGHTS
                                                                             : 0u;
    return u->json ? parts | ND_COMPARE_EDIT : parts;
}

static int print_json(const struct nd_comparison *c)
{
    struct nd_error err;
    char *text;
    size_t len;

    if (nd_comparison_json(c, &text, &len, &err) != ND_OK) {
        say("%s", err.message);
        return 2;
    }
    fwrite(text, 1, len, stdout);
    free(text);
    return 0;
}

static int print(const struct settings *s, const struct nd_comparison *c, const enum metric *metric)
{
    const struct use_settings *u = &s->use;

    if (u->json)
        return print_json(c);
    for (size_t i = 0; i < u->metrics.count; i++) {
        print_metric(c, metric[i]);
        putchar('\n');
    }
    if (!u->metrics.count && !u->show)
        print_all(c);
    if (u->show & ND_COMPARE_TERMS)
        show_terms(c);
    if (u->show & ND_COMPARE_WEIGHTS)
        show_weights(c);
    if (u->show & ND_COMPARE_PASSAGES)
        show_passages(c);
    if (u->show & ND_COMPARE_SCRIPT)
        show_edits(c);
    return 0;
}

/*
 * Check for an option about something that is not shown. False: there is one, which was reported.
 */
static bool check_options(const struct settings *s, unsigned parts)
{
    static const struct {
        const char *option, *partner;
        unsigned parts; /* it applies to these */
    } known[] = {
        {"least", "--show passages", ND_COMPARE_PASSAGES},
        {"gap", "--show passages", ND_COMPARE_PASSAGES},
        {"limit", "--show edits and --metric edit", ND_COMPARE_EDIT | ND_COMPARE_SCRIPT},
        {"costs", "--show edits and --metric edit", ND_COMPARE_EDIT | ND_COMPARE_SCRIPT},
    };

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_given(s, known[i].option) && !(parts & known[i].parts)) {
            say("--%s applies only to %s; see neardup help compare", known[i].option,
                known[i].partner);
            return false;
        }
    if (s->use.json && s->use.metrics.count) {
        say("--json has every measure, --metric prints one: only one of them can be given");
        return false;
    }
    return true;
}

static int compare(struct settings *s, const enum metric *metric)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_compare_params params = s->use.compare;
    struct nd_comparison c;
    struct nd_error err;
    int status;

    params.parts = parts_of(&s->use, metric);
    if (!check_options(s, params.parts))
        return 2;
    if (nd_run_compare(s->run, &params, s->paths.at[0], s->paths.at[1], &events, &c, &err) !=
        ND_OK) {
        say("%s", err.message);
        return 2;
    }
    status = print(s, &c, metric);
    if (!status)
        status = close_output();
    if (!status && !c.same_words)
        status = 1;
    nd_comparison_release(&c);
    return status;
}

int cmd_compare(struct settings *s)
{
    enum metric *metric;
    int status = 0;

    if (s->paths.count != 2) {
        say("compare takes two %s; see neardup help compare",
            s->corpus.count ? "ids" : "files, or --corpus FILE and two ids");
        return 2;
    }
    find_places(s);
    if (!run_reads(s->run, s->corpus.at, s->corpus.count))
        return 2;
    metric = calloc(s->use.metrics.count + 1, sizeof *metric);
    if (!metric) {
        say("out of memory");
        return 2;
    }
    for (size_t i = 0; i < s->use.metrics.count; i++) {
        metric[i] = metric_of(s->use.metrics.at[i]);
        if (metric[i] == METRICS)
            status = 2;
    }
    if (!status)
        status = compare(s, metric);
    free(metric);
    return status;
}
