/* test_repeat_cuts.c - which windows are cut, held against a search of all earlier ones */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/hash.h"
#include "uses/repeats/repeat_cuts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 60, UNITS_MAX = 90, WINDOWS_MAX = TEXTS * UNITS_MAX, UNIT_BYTES = 3 };

/* Texts of units, each of three bytes of which the last lies between it and the next. */
struct corpus {
    unsigned char unit[TEXTS][UNITS_MAX];
    size_t n_units[TEXTS];
    size_t width;
    uint64_t occurrences;
};

/* A window of all texts, in order. */
struct plain_window {
    uint32_t document, unit, from, to;
    uint64_t hash, equal; /* how many windows are */
};

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    return nd_mix64(++state) % below;
}

/* Make texts that share long pieces, by copying from earlier ones. */
static void make_corpus(struct corpus *c, uint64_t seed)
{
    state = seed << 32;
    c->width = 1 + draw(5);
    c->occurrences = 2 + draw(2);
    for (size_t i = 0; i < TEXTS; i++) {
        const size_t from = draw(i + 1), at = draw(UNITS_MAX / 2);

        c->n_units[i] = draw(UNITS_MAX + 1);
        for (size_t k = 0; k < c->n_units[i]; k++)
            c->unit[i][k] = k % 31 < 24 && i % 3 ? c->unit[from][(at + k) % UNITS_MAX]
                                                 : (unsigned char)draw(3 + i % 40);
    }
}

static uint64_t hash_at(const struct corpus *c, size_t document, size_t unit)
{
    return nd_hash_bytes(&c->unit[document][unit], c->width);
}

static bool has_window(const struct corpus *c, size_t document, size_t unit)
{
    return unit + c->width <= c->n_units[document];
}

/* ---- By searching ---------------------------------------------------------------------------- */

static size_t list_all(const struct corpus *c, struct plain_window *w)
{
    size_t n = 0;

    for (uint32_t d = 0; d < TEXTS; d++)
        for (uint32_t u = 0; has_window(c, d, u); u++)
            w[n++] = (struct plain_window){.document = d,
                                           .unit = u,
                                           .from = u * UNIT_BYTES,
                                           .to = (uint32_t)(u + c->width) * UNIT_BYTES - 1,
                                           .hash = hash_at(c, d, u)};
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            w[i].equal += w[i].hash == w[k].hash;
    return n;
}

static bool is_touched(const struct plain_window *w, const struct nd_repeat_cut *cut, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cut[i].document == w->document && cut[i].from < w->to && w->from < cut[i].to)
            return true;
    return false;
}

/* Cut windows one by one, each a row. */
static size_t search(const struct corpus *c, const struct plain_window *w, size_t n,
                     struct nd_repeat_cut *cut)
{
    size_t n_cuts = 0;

    for (size_t i = 0; i < n; i++) {
        if (w[i].equal < c->occurrences)
            continue;
        for (size_t k = 0; k < i; k++)
            if (w[k].hash == w[i].hash && (w[k].document < w[i].document || w[k].to <= w[i].from) &&
                !is_touched(&w[k], cut, n_cuts)) {
                cut[n_cuts++] = (struct nd_repeat_cut){w[i].document, w[k].document, w[i].from,
                                                       w[i].to,       w[k].from,     w[k].to};
                break;
            }
    }
    return n_cuts;
}

/* Join rows that go on in both texts, one unit further. */
static size_t join_rows(struct nd_repeat_cut *cut, size_t n, size_t width)
{
    const uint32_t step = UNIT_BYTES;
    size_t last = 0;

    for (size_t i = 1; i < n; i++) {
        struct nd_repeat_cut *x = &cut[last], *y = &cut[i];

        if (width > 1 && y->document == x->document && y->source == x->source &&
            y->to == x->to + step && y->source_to == x->source_to + step) {
            x->to = y->to;
            x->source_to = y->source_to;
        } else {
            cut[++last] = *y;
        }
    }
    return n ? last + 1 : 0;
}

/* ---- By the library -------------------------------------------------------------------------- */

static size_t find(const struct corpus *c, const struct nd_repeat_cuts_options *options,
                   struct nd_repeat_cut *cut)
{
    struct nd_repeat_cuts *cuts = nd_repeat_cuts_new(options, NULL);
    struct nd_window_list list = {.n = 0};
    const struct nd_repeat_cut *row;
    size_t n = 0;
    int got;

    assert_non_null(cuts);
    list.item = calloc(UNITS_MAX, sizeof *list.item);
    assert_non_null(list.item);
    for (uint32_t d = 0; d < TEXTS; d++) {
        list.n = 0;
        for (uint32_t u = 0; has_window(c, d, u); u++) {
            const uint64_t hash = hash_at(c, d, u);

            /* Hashes that differ only in their second half. */
            list.item[list.n++] = (struct nd_text_window){
                {hash & 7, hash}, u, u * UNIT_BYTES, (uint32_t)(u + c->width) * UNIT_BYTES - 1, 0};
        }
        assert_int_equal(nd_repeat_cuts_add(cuts, d, &list, NULL), ND_OK);
    }
    assert_int_equal(nd_repeat_cuts_decide(cuts, NULL), ND_OK);
    while ((got = nd_repeat_cuts_next(cuts, &row, NULL)) > 0)
        cut[n++] = *row;
    assert_int_equal(got, 0);
    free(list.item);
    nd_repeat_cuts_free(cuts);
    return n;
}

static void cuts_are_those_of_a_search_in_any_memory(void **unused)
{
    static struct plain_window window[WINDOWS_MAX];
    static struct nd_repeat_cut expected[WINDOWS_MAX], found[WINDOWS_MAX];
    struct corpus *c = calloc(1, sizeof *c);
    size_t n_cuts = 0;

    (void)unused;
    assert_non_null(c);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        size_t n;

        memset(window, 0, sizeof window);
        make_corpus(c, seed);
        n = search(c, window, list_all(c, window), expected);
        n = join_rows(expected, n, c->width);
        for (int small = 0; small < 2; small++) {
            const struct nd_repeat_cuts_options options = {
                .tmp = "/tmp",
                .sort_bytes = small ? 1 : 1 << 26,
                .order_bytes = small ? 1 : 1 << 26,
                .group_bytes = small ? 0 : 1 << 26,
                .occurrences = c->occurrences,
            };

            assert_int_equal(find(c, &options, found), n);
            assert_memory_equal(found, expected, n * sizeof *found);
        }
        n_cuts += n;
    }
    assert_true(n_cuts > 1000);
    free(c);
}

static void nothing_is_cut_of_nothing(void **unused)
{
    const struct nd_repeat_cuts_options options = {.tmp = "/tmp", .occurrences = 2};
    struct corpus *c = calloc(1, sizeof *c);
    struct nd_repeat_cut none;

    (void)unused;
    assert_non_null(c);
    c->width = 1;
    assert_int_equal(find(c, &options, &none), 0);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_those_of_a_search_in_any_memory),
        cmocka_unit_test(nothing_is_cut_of_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
