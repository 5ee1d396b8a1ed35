/* test_hamming_index.c - every kind of index against comparing with all */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/hamming.h>

#include "base/hash.h"
#include "base/thread/pool.h"

#include "sized.h"

enum { WORDS = ND_HAMMING_WORDS_MAX };

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

/* The contents that an index should have: fingerprints with ids, some removed again. */
struct set {
    unsigned bits;
    size_t words, n;
    uint64_t *row;
    uint32_t *id;
    bool *is_in;
};

static uint64_t *row(const struct set *s, size_t i)
{
    return s->row + i * s->words;
}

static void random_fingerprint(unsigned bits, uint64_t *x)
{
    for (size_t w = 0; w < nd_hamming_words(bits); w++)
        x[w] = any();
    if (bits % 64)
        x[bits / 64] &= (UINT64_C(1) << bits % 64) - 1;
}

static void flip(uint64_t *x, unsigned bits, unsigned n)
{
    while (n--) {
        unsigned at = (unsigned)(any() % bits);

        x[at / 64] ^= UINT64_C(1) << at % 64;
    }
}

enum shape {
    UNIFORM,   /* with neighbours planted */
    SKEWED,    /* half of them equal to one of three, or near it */
    SAME_LOW,  /* all agree in the lower half of their bits */
    SAME_HIGH, /* or in the upper */
    SHAPES
};

static void fill(struct set *s, unsigned bits, unsigned distance, enum shape shape, size_t n)
{
    s->bits = bits;
    s->words = nd_hamming_words(bits);
    s->n = n;
    s->row = calloc(n * s->words, sizeof *s->row);
    s->id = calloc(n, sizeof *s->id);
    s->is_in = calloc(n, sizeof *s->is_in);
    assert_true(s->row && s->id && s->is_in);
    for (size_t i = 0; i < n; i++) {
        uint64_t *x = row(s, i), first[WORDS];

        random_fingerprint(bits, x);
        memcpy(first, row(s, 0), sizeof first[0] * s->words);
        for (unsigned b = 0; i && b < bits; b++) {
            bool low = b < bits / 2;

            if ((shape == SAME_LOW && low) || (shape == SAME_HIGH && !low)) {
                x[b / 64] &= ~(UINT64_C(1) << b % 64);
                x[b / 64] |= first[b / 64] & UINT64_C(1) << b % 64;
            }
        }
        if (i > 3 && shape == SKEWED && any() % 2) {
            memcpy(x, row(s, any() % 3), s->words * sizeof *x);
            flip(x, bits, any() % 2 ? 0 : (unsigned)(any() % (distance + 2)));
        } else if (i && any() % 4 == 0) {
            memcpy(x, row(s, any() % i), s->words * sizeof *x);
            flip(x, bits, (unsigned)(any() % (distance + 3)));
        }
        s->id[i] = (uint32_t)any();
        s->is_in[i] = true;
    }
}

static void release(struct set *s)
{
    free(s->row);
    free(s->id);
    free(s->is_in);
}

static void brute(const struct set *s, const uint64_t *query, uint32_t number, unsigned distance,
                  struct nd_hamming_matches *out)
{
    for (size_t i = 0; i < s->n; i++) {
        unsigned bits = 0;

        for (size_t w = 0; w < s->words; w++)
            bits += (unsigned)__builtin_popcountll(row(s, i)[w] ^ query[w]);
        if (!s->is_in[i] || bits > distance)
            continue;
        if (out->count == out->capacity) {
            out->capacity = out->capacity * 2 + 100;
            out->items = realloc(out->items, out->capacity * sizeof *out->items);
            assert_non_null(out->items);
        }
        out->items[out->count++] = (struct nd_hamming_match){number, s->id[i], bits};
    }
}

/* A batch of queries, near what is in and anywhere, asked within `distance`. */
static void check(const struct nd_hamming *index, const struct set *s, unsigned distance)
{
    enum { QUERIES = 37 };
    struct nd_hamming_matches expected = {.items = NULL}, got = {.items = NULL};
    uint64_t *query = calloc(QUERIES * s->words, sizeof *query), count[QUERIES];

    assert_non_null(query);
    for (size_t i = 0; i < QUERIES; i++) {
        uint64_t *x = query + i * s->words;

        random_fingerprint(s->bits, x);
        if (i % 4) {
            memcpy(x, row(s, any() % s->n), s->words * sizeof *x);
            flip(x, s->bits, (unsigned)(any() % (distance + 2)));
        }
        brute(s, x, (uint32_t)i, distance, &expected);
    }
    assert_int_equal(nd_hamming_query(index, query, QUERIES, distance, &got, NULL), ND_OK);
    nd_hamming_matches_sort(&expected);
    nd_hamming_matches_sort(&got);
    assert_int_equal(got.count, expected.count);
    if (got.count)
        assert_memory_equal(got.items, expected.items, got.count * sizeof *got.items);
    assert_int_equal(nd_hamming_query_count(index, query, QUERIES, distance, count, NULL), ND_OK);
    for (size_t i = 0, sum = 0; i < QUERIES; i++) {
        size_t before = sum;

        while (sum < expected.count && expected.items[sum].query == i)
            sum++;
        assert_int_equal(count[i], sum - before);
    }
    nd_hamming_matches_release(&got);
    nd_hamming_matches_release(&expected);
    free(query);
}

/* Add in two goes, query, remove a third, query, add again. */
static void go_through(const struct nd_hamming_plan *plan, enum shape shape, size_t n)
{
    struct nd_hamming *index;
    struct set s;
    size_t half = n / 2, in = n;
    uint32_t first = (uint32_t)any() >> 4;

    fill(&s, plan->problem.bits, plan->problem.distance, shape, n);
    for (size_t i = half; i < n; i++)
        s.id[i] = first + (uint32_t)(i - half);
    assert_int_equal(nd_hamming_new(&index, plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_add(index, s.row, s.id, 0, half, NULL), ND_OK);
    assert_int_equal(nd_hamming_add(index, row(&s, half), NULL, first, n - half, NULL), ND_OK);
    assert_int_equal(nd_hamming_count(index), n);
    assert_true(nd_hamming_bytes(index) > n * s.words * 8);
    check(index, &s, plan->problem.distance);
    for (size_t i = 0; i < n; i += 3) {
        assert_int_equal(nd_hamming_remove(index, row(&s, i), s.id[i], NULL), ND_OK);
        s.is_in[i] = false;
        in--;
    }
    assert_int_equal(nd_hamming_count(index), in);
    check(index, &s, plan->problem.distance);
    check(index, &s, plan->problem.distance / 2);
    for (size_t i = 0; i < n; i += 6) {
        assert_int_equal(nd_hamming_add(index, row(&s, i), &s.id[i], 0, 1, NULL), ND_OK);
        s.is_in[i] = true;
    }
    check(index, &s, plan->problem.distance);
    nd_hamming_free(index);
    release(&s);
}

/* How many sets each family has met: the shapes take turns. */
static unsigned met[ND_HAMMING_FAMILY_COUNT];

/* Every plan for a problem; made for fewer than come, so that tables grow. */
static void every_plan(unsigned bits, unsigned distance, size_t n)
{
    struct nd_hamming_problem problem = {bits, distance, n / 8};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    size_t plans;

    assert_int_equal(nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &plans, NULL),
                     ND_OK);
    for (size_t i = 0; i < plans; i++)
        if (plan[i].tables <= 140 || plan[i].family == ND_HAMMING_POPCOUNT) {
            enum shape shape = (enum shape)(met[plan[i].family]++ % SHAPES);

            go_through(&plan[i], shape, n);
        }
}

static void each_design_finds_what_a_scan_finds(void **state)
{
    static const unsigned bits[] = {32, 48, 64, 65, 100, 128, 256, 384, 512};

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (unsigned distance = 0; distance <= 10; distance++)
            every_plan(bits[i], distance, 500);
    every_plan(384, 12, 2000);
    every_plan(512, 16, 1000);
    for (int family = 0; family < ND_HAMMING_FAMILY_COUNT; family++)
        assert_true(met[family] >= SHAPES);
}

static void the_named_designs_find_all_in_every_shape(void **state)
{
    static const struct {
        enum nd_hamming_family family;
        unsigned bits, distance, tables;
    } known[] = {
        {ND_HAMMING_HALVES, 64, 0, 0},    {ND_HAMMING_HALVES, 64, 1, 0},
        {ND_HAMMING_HALVES, 64, 2, 0},    {ND_HAMMING_HALVES, 64, 3, 0},
        {ND_HAMMING_BLOCKS, 64, 3, 20},   {ND_HAMMING_BLOCKS, 64, 3, 4},
        {ND_HAMMING_COVERING, 64, 3, 8},  {ND_HAMMING_COVERING, 64, 3, 14},
        {ND_HAMMING_BLOCKS, 384, 11, 12}, {ND_HAMMING_SCAN, 64, 3, 0},
        {ND_HAMMING_POPCOUNT, 64, 3, 0},  {ND_HAMMING_WINDOWS, 64, 0, 6},
        {ND_HAMMING_WINDOWS, 64, 1, 6},   {ND_HAMMING_WINDOWS, 64, 2, 6},
        {ND_HAMMING_WINDOWS, 64, 3, 4},   {ND_HAMMING_WINDOWS, 64, 3, 6},
        {ND_HAMMING_WINDOWS, 64, 3, 8},
    };
    unsigned families = 0;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int shape = 0; shape < SHAPES; shape++) {
            struct nd_hamming_problem problem = {known[i].bits, known[i].distance, 100};
            struct nd_hamming_plan plan;

            assert_int_equal(
                nd_hamming_design(&problem, NULL, known[i].family, 0, known[i].tables, &plan, NULL),
                ND_OK);
            go_through(&plan, (enum shape)shape, 6000);
            families |= 1u << plan.family;
        }
    assert_int_equal(families, (1u << ND_HAMMING_FAMILY_COUNT) - 1); /* the list names each */
}

/*
 * More than the first lines hold, so that buckets split; nearly every bucket with a chain; windows
 * beyond one line for each, up to the most there are.
 */
static void tables_grow_line_by_line(void **state)
{
    static const struct {
        enum nd_hamming_family family;
        unsigned tables;
        double fill;
        enum shape shape;
        size_t n;
    } run[] = {
        {ND_HAMMING_HALVES, 0, 0.67, UNIFORM, 1000000},
        {ND_HAMMING_HALVES, 0, 0.67, SKEWED, 100000},
        {ND_HAMMING_HALVES, 0, 1.5, UNIFORM, 1300000},
        {ND_HAMMING_HALVES, 0, 1.05, SAME_HIGH, 20000},
        {ND_HAMMING_WINDOWS, 4, 0.25, UNIFORM, 1400000},
        {ND_HAMMING_WINDOWS, 4, 1.6, UNIFORM, 1300000},
        {ND_HAMMING_WINDOWS, 4, 1.6, SKEWED, 100000},
        {ND_HAMMING_WINDOWS, 6, 0.67, UNIFORM, 500000},
        {ND_HAMMING_WINDOWS, 6, 1.05, SAME_HIGH, 20000},
        {ND_HAMMING_WINDOWS, 8, 0.5, UNIFORM, 400000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        struct nd_hamming_problem problem = {64, 3, 0};
        struct nd_hamming_plan plan;

        assert_int_equal(
            nd_hamming_design(&problem, NULL, run[i].family, 0, run[i].tables, &plan, NULL), ND_OK);
        plan.fill = run[i].fill;
        go_through(&plan, run[i].shape,
                   run[i].n > 100000 ? sized(run[i].n, run[i].n / 5) : run[i].n);
    }
}

/* Each error of 0 … 3 bits in each of the 64 places, around one fingerprint. */
static void every_error_pattern_is_found(void **state)
{
    struct nd_hamming_problem problem = {64, 3, 1};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    size_t plans, n = 0;
    uint64_t *query = malloc(43745 * sizeof *query), *count = malloc(43745 * sizeof *count);
    const uint64_t x = any();

    (void)state;
    assert_true(query && count);
    query[n++] = x;
    for (int a = 0; a < 64; a++) {
        query[n++] = x ^ UINT64_C(1) << a;
        for (int b = a + 1; b < 64; b++) {
            query[n++] = x ^ UINT64_C(1) << a ^ UINT64_C(1) << b;
            for (int c = b + 1; c < 64; c++)
                query[n++] = x ^ UINT64_C(1) << a ^ UINT64_C(1) << b ^ UINT64_C(1) << c;
        }
    }
    assert_int_equal(n, 43745);
    assert_int_equal(nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &plans, NULL),
                     ND_OK);
    for (size_t i = 0; i < plans; i++) {
        struct nd_hamming *index;

        assert_int_equal(nd_hamming_new(&index, &plan[i], NULL), ND_OK);
        assert_int_equal(nd_hamming_add(index, &x, NULL, 7, 1, NULL), ND_OK);
        assert_int_equal(nd_hamming_query_count(index, query, n, 3, count, NULL), ND_OK);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(count[j], 1);
        nd_hamming_free(index);
    }
    free(query);
    free(count);
}

/* Many times the same: every id comes back, and nobody else's query meets them. */
static void many_equal_ones_are_all_returned(void **state)
{
    const size_t n = sized(1000000, 100000);
    static const enum nd_hamming_family family[] = {ND_HAMMING_HALVES, ND_HAMMING_COVERING,
                                                    ND_HAMMING_WINDOWS};
    uint64_t *same = malloc(n * sizeof *same), x = any();
    bool *seen = malloc(n);

    (void)state;
    assert_true(same && seen);
    for (size_t i = 0; i < n; i++)
        same[i] = x;
    for (size_t f = 0; f < sizeof family / sizeof *family; f++) {
        struct nd_hamming_problem problem = {64, 3, n};
        struct nd_hamming_plan plan;
        struct nd_hamming *index;
        struct nd_hamming_matches out = {.items = NULL};
        uint64_t query = x ^ 0x8000000000000101;

        assert_int_equal(nd_hamming_design(&problem, NULL, family[f], 0, 8, &plan, NULL), ND_OK);
        assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
        assert_int_equal(nd_hamming_add(index, same, NULL, 0, n, NULL), ND_OK);
        assert_int_equal(nd_hamming_query(index, &query, 1, 3, &out, NULL), ND_OK);
        assert_int_equal(out.count, n);
        memset(seen, 0, n);
        for (size_t i = 0; i < n; i++) {
            assert_false(seen[out.items[i].id]);
            seen[out.items[i].id] = true;
            assert_int_equal(out.items[i].distance, 3);
        }
        out.count = 0;
        query ^= 0x8000;
        assert_int_equal(nd_hamming_query(index, &query, 1, 3, &out, NULL), ND_OK);
        assert_int_equal(out.count, 0);
        nd_hamming_matches_release(&out);
        nd_hamming_free(index);
    }
    free(same);
    free(seen);
}

static void what_is_not_there_cannot_be_removed(void **state)
{
    uint64_t x = any(), other = x ^ 1;

    (void)state;
    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++) {
        struct nd_hamming_problem problem = {64, 3, 10};
        struct nd_hamming_plan plan;
        struct nd_hamming *index;
        uint64_t count;

        assert_int_equal(
            nd_hamming_design(&problem, NULL, (enum nd_hamming_family)f, 0, 10, &plan, NULL),
            ND_OK);
        assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
        for (uint32_t id = 1; id <= 3; id++)
            assert_int_equal(nd_hamming_add(index, &x, &id, 0, 1, NULL), ND_OK);
        assert_int_equal(nd_hamming_remove(index, &x, 4, NULL), ND_EINVAL);
        assert_int_equal(nd_hamming_remove(index, &other, 1, NULL), ND_EINVAL);
        for (uint32_t id = 1; id <= 3; id++) {
            assert_int_equal(nd_hamming_remove(index, &x, id, NULL), ND_OK);
            assert_int_equal(nd_hamming_remove(index, &x, id, NULL), ND_EINVAL);
            assert_int_equal(nd_hamming_query_count(index, &other, 1, 3, &count, NULL), ND_OK);
            assert_int_equal(count, 3 - id);
        }
        assert_int_equal(nd_hamming_count(index), 0);
        assert_int_equal(nd_hamming_query_count(index, &x, 1, 4, &count, NULL), ND_EINVAL);
        assert_int_equal(nd_hamming_query_count(index, NULL, 0, 3, NULL, NULL), ND_OK);
        nd_hamming_free(index);
    }
}

/* The data that the readers and the writer of one index share. */
struct crowd {
    struct nd_hamming *index;
    uint64_t *row;
    size_t n;
    atomic_size_t added;
    atomic_uint wrong;
};

/* Task 0 adds and removes again every fourth; the others ask for what must be there, and is near.
 */
static void take_part(void *context, size_t task, unsigned worker)
{
    struct crowd *c = context;

    (void)worker;
    for (size_t i = 0; task == 0 && i < c->n; i += 100) {
        if (nd_hamming_add(c->index, c->row + i, NULL, (uint32_t)i, 100, NULL) != ND_OK)
            atomic_fetch_add(&c->wrong, 1);
        for (size_t j = i; j < i + 100; j += 4)
            if (nd_hamming_remove(c->index, c->row + j, (uint32_t)j, NULL) != ND_OK)
                atomic_fetch_add(&c->wrong, 1);
        atomic_store(&c->added, i + 100);
    }
    for (uint64_t q = task << 32; task && atomic_load(&c->added) < c->n; q++) {
        size_t added = atomic_load(&c->added), at;
        uint64_t query, count;

        if (added == 0)
            continue;
        at = nd_mix64(q) % added;
        query = c->row[at] ^ UINT64_C(1) << q % 64 ^ UINT64_C(1) << q / 64 % 64;
        if (nd_hamming_query_count(c->index, &query, 1, 3, &count, NULL) != ND_OK ||
            count != (at % 4 != 0))
            atomic_fetch_add(&c->wrong, 1);
    }
}

static void readers_see_what_was_added_while_more_is_added(void **state)
{
    static const enum nd_hamming_family family[] = {ND_HAMMING_HALVES, ND_HAMMING_COVERING,
                                                    ND_HAMMING_SCAN, ND_HAMMING_WINDOWS};

    (void)state;
    for (size_t f = 0; f < sizeof family / sizeof *family; f++) {
        struct nd_hamming_problem problem = {64, 3, 100};
        struct nd_hamming_plan plan;
        struct nd_pool *pool = nd_pool_new(4, NULL);
        struct crowd c = {.n = family[f] == ND_HAMMING_SCAN ? 2000 : 40000};

        assert_non_null(pool);
        c.row = malloc(c.n * sizeof *c.row);
        assert_non_null(c.row);
        for (size_t i = 0; i < c.n; i++)
            c.row[i] = any();
        assert_int_equal(nd_hamming_design(&problem, NULL, family[f], 0, 8, &plan, NULL), ND_OK);
        assert_int_equal(nd_hamming_new(&c.index, &plan, NULL), ND_OK);
        nd_pool_run(pool, 4, take_part, &c);
        assert_int_equal(atomic_load(&c.wrong), 0);
        assert_int_equal(nd_hamming_count(c.index), c.n - c.n / 4);
        nd_hamming_free(c.index);
        free(c.row);
        nd_pool_free(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_design_finds_what_a_scan_finds),
        cmocka_unit_test(the_named_designs_find_all_in_every_shape),
        cmocka_unit_test(tables_grow_line_by_line),
        cmocka_unit_test(every_error_pattern_is_found),
        cmocka_unit_test(many_equal_ones_are_all_returned),
        cmocka_unit_test(what_is_not_there_cannot_be_removed),
        cmocka_unit_test(readers_see_what_was_added_while_more_is_added),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
