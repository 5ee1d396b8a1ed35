/* cmd_compare.c - neardup compare: two documents by every measure */
#include "compare_show.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two documents without shingles are the same: a distance of 0. */
static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1.0;
}

static double resemblance(const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles;

    return share(o->shared, o->a + o->b - o->shared);
}

/* x / sqrt(y z), 0 where there is nothing in common. */
static double cosine(uint64_t x, uint64_t y, uint64_t z)
{
    return x ? (double)x / sqrt((double)y * (double)z) : 0;
}

enum metric {
    RESEMBLANCE,
    DISTANCE,
    CONTAINMENT_A,
    CONTAINMENT_B,
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
static const char *const metric_names[METRICS] = {
    "resemblance", "resemblance-distance", "containment-a", "containment-b", "cosine",
    "cosine-tf",   "cosine-weights",       "inner",         "inner-weights", "edit",
    "hamming",     "conrad-schriber"};

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
    case RESEMBLANCE: printf("%.6f", resemblance(c)); break;
    case DISTANCE: printf("%.6f", 1 - resemblance(c)); break;
    case CONTAINMENT_A: printf("%.6f", share(o->shared, o->a)); break;
    case CONTAINMENT_B: printf("%.6f", share(o->shared, o->b)); break;
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

/* METRICS: there is none of this name, it was said. */
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

static void print_all(const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles, *t = &c->terms.distinct;

    for (unsigned i = 0; i < 2; i++)
        printf("%c: %s (%s): %zu bytes, %zu tokens, %" PRIu64 " distinct terms, %" PRIu64
               " distinct shingles\n",
               'A' + (char)i, c->id[i], c->at[i], c->bytes[i], c->tokens[i], i ? t->b : t->a,
               i ? o->b : o->a);
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
    printf("Conrad and Schriber:  %s: terms in common %.1f%% of A's, %.1f%% of B's; the shorter "
           "has %.1f%% of the longer's length\n",
           c->conrad_schriber ? "duplicates" : "different", 100 * share(t->shared, t->a),
           100 * share(t->shared, t->b),
           100 * share(c->tokens[0] < c->tokens[1] ? c->tokens[0] : c->tokens[1],
                       c->tokens[0] < c->tokens[1] ? c->tokens[1] : c->tokens[0]));
}

/* The parts that options ask for. */
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
        show_passages(c, u->color);
    if (u->show & ND_COMPARE_SCRIPT)
        show_edits(c, u->color);
    return 0;
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
    if (nd_run_compare(&s->run, &params, s->paths.at[0], s->paths.at[1], &events, &c, &err) !=
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
    s->run.paths = s->corpus.at;
    s->run.n_paths = s->corpus.count;
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
