/* compare_show.c - the parts of a comparison that show text: terms, passages, edits */
#define _GNU_SOURCE
#include "compare_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TERMS_SHOWN = 30, AROUND = 8 };

#define RED "\033[31m"
#define GREEN "\033[32m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* https://no-color.org: any value that is not empty. */
static bool use_color(enum color color)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    if (color != COLOR_AUTO)
        return color == COLOR_ALWAYS;
    return !(no && *no) && isatty(STDOUT_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

/* Text of a document in one line: runs of space and of what could steer a terminal become one
 * space; the text is UTF-8. */
static void put_text(const char *text, size_t len)
{
    bool space = false;

    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool c1 = c == 0xC2 && i + 1 < len && (unsigned char)text[i + 1] < 0xA0;

        if (c <= 0x20 || c == 0x7F || c1) {
            space = true;
            i += c1;
            continue;
        }
        if (space)
            putchar(' ');
        space = false;
        putchar(c);
    }
}

/* Tokens at … at + count of a document, as they stand there. */
static void put_tokens(const struct nd_comparison *c, unsigned which, size_t at, size_t count)
{
    const struct nd_token *first = &c->token[which][at], *last = &c->token[which][at + count - 1];

    put_text(c->text[which] + first->offset, last->offset + last->len - first->offset);
}

/* Greatest difference of counts first, then in the order of the texts. */
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
    for (size_t i = 0; i < kept && i < TERMS_SHOWN; i++)
        printf("  %6" PRIu64 " %6" PRIu64 "  %s\n", list[i]->in_a, list[i]->in_b, list[i]->text);
    if (kept > TERMS_SHOWN)
        printf("  … (%zu more)\n", kept - TERMS_SHOWN);
    free(list);
}

void show_terms(const struct nd_comparison *c)
{
    printf("terms in both: %zu\n", c->n_shared);
    put_terms("of them with another count (in A, in B, term)", c->term, c->n_shared, true);
    put_terms("terms only in A", c->term + c->n_shared, c->n_only_a, false);
    put_terms("terms only in B", c->term + c->n_shared + c->n_only_a, c->n_only_b, false);
}

void show_weights(const struct nd_comparison *c)
{
    size_t other = 0;

    while (other < c->n_weights && c->weight[other].in_a != c->weight[other].in_b)
        other++;
    printf("features of %s: %zu, of them with another weight (in A, in B): %zu\n", c->signature,
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

void show_passages(const struct nd_comparison *c, enum color color)
{
    bool is_colored = use_color(color);

    printf("passages of A in B: %zu; they are %" PRIu64 " of B's %zu tokens (%.1f%%), %" PRIu64
           " of A's %zu (%.1f%%)\n",
           c->n_passages, c->covered[1], c->tokens[1], percent(c->covered[1], c->tokens[1]),
           c->covered[0], c->tokens[0], percent(c->covered[0], c->tokens[0]));
    for (size_t i = 0; i < c->n_passages; i++) {
        const struct nd_passage *p = &c->passage[i];

        fputs(is_colored ? BOLD : "", stdout);
        printf("%zu tokens: ", p->count_b);
        put_span(c, 1, p->at_b, p->count_b);
        fputs(", ", stdout);
        put_span(c, 0, p->at_a, p->count_a);
        if (p->equal != p->count_b)
            printf(", %zu equal", p->equal);
        fputs(is_colored ? PLAIN "\n  " : "\n  ", stdout);
        put_tokens(c, 1, p->at_b, p->count_b);
        putchar('\n');
    }
}

static void put_marked(const struct nd_comparison *c, unsigned which, size_t at, size_t count,
                       bool is_colored)
{
    static const char *const mark[2][2] = {{"[-", "-]"}, {"{+", "+}"}};

    fputs(is_colored ? which ? GREEN : RED : mark[which][0], stdout);
    put_tokens(c, which, at, count);
    fputs(is_colored ? PLAIN : mark[which][1], stdout);
}

/* What was kept, its middle left out where it is long. */
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

/* The edits from the i-th on up to the next that keeps, as one: what went, then what came. */
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

void show_edits(const struct nd_comparison *c, enum color color)
{
    bool is_colored = use_color(color);

    if (c->edit_distance == ND_EDIT_BEYOND) {
        printf("edits: they cost more than %" PRIu64 "; see --limit\n", c->edit_limit);
        return;
    }
    printf("edits that make B of A: they cost %" PRIu64 "\n", c->edit_distance);
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
