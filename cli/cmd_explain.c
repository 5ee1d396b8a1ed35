/* cmd_explain.c - neardup explain: two documents beside each other */
#include "report.h"

#include <stdio.h>
#include <string.h>

enum { TERMS_SHOWN = 30 };

static void print_terms(const char *what, const struct nd_term *term, size_t n)
{
    printf("%s: %zu%s", what, n, n ? "\n " : "");
    for (size_t i = 0; i < n && i < TERMS_SHOWN; i++)
        printf(" %s", term[i].text);
    if (n > TERMS_SHOWN)
        printf(" … (%zu more)", n - TERMS_SHOWN);
    putchar('\n');
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
        puts("none, at least of one");
    else if (x->a == x->b)
        printf("%llu of %llu agree\n", (unsigned long long)x->shared, (unsigned long long)x->a);
    else
        printf("%llu shared, of %llu and %llu\n", (unsigned long long)x->shared,
               (unsigned long long)x->a, (unsigned long long)x->b);
}

static void print_explanation(const struct nd_explanation *e)
{
    static const char *const identical[] = {"no", "bytes", "words"};
    const struct nd_overlap *o = &e->overlap;

    for (int i = 0; i < 2; i++)
        printf("%c: %s (%s): %llu bytes, %llu tokens, %llu distinct shingles%s\n", 'A' + i,
               e->id[i], e->at[i], (unsigned long long)e->bytes[i],
               (unsigned long long)e->tokens[i], (unsigned long long)(i ? o->b : o->a),
               e->is_short[i] ? ", shorter than a shingle" : "");
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
        printf("chance of meeting:   %.6f with %u bands of %u\n", e->band_chance, e->bands,
               e->rows);
    print_terms("terms in both", e->terms, e->n_shared);
    print_terms("terms only in A", e->terms + e->n_shared, e->n_only_a);
    print_terms("terms only in B", e->terms + e->n_shared + e->n_only_a, e->n_only_b);
    printf("verdict: %s: %s\n", e->is_duplicate ? "duplicates" : "different", e->why);
}

int cmd_explain(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_explanation explanation;
    struct nd_error err;
    int status;

    if (s->paths.count != 2) {
        say("explain takes two %s; see neardup help explain",
            s->corpus.count ? "ids" : "files, or --corpus FILE and two ids");
        return 2;
    }
    s->run.paths = s->corpus.at;
    s->run.n_paths = s->corpus.count;
    if (nd_run_explain(&s->run, s->paths.at[0], s->paths.at[1], &events, &explanation, &err) !=
        ND_OK) {
        say("%s", err.message);
        return 2;
    }
    print_explanation(&explanation);
    status = close_output();
    if (!status && !explanation.is_duplicate)
        status = 1;
    nd_explanation_release(&explanation);
    return status;
}
