/* test_hamming_join.c - the self-join against comparing all with all */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/cpu.h>
#include <neardup/hamming.h>

#include "base/hash.h"
#include "hamming/memory/query_filter.h"

#include "sized.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

struct pairs {
    struct nd_hamming_pair *at;
    size_t n, capacity;
    size_t most; /* stop after so many */
};

static int collect(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    struct pairs *p = context;

    if (p->n + n > p->capacity) {
        p->capacity = 2 * p->capacity + n;
        p->at = realloc(p->at, p->capacity * sizeof *p->at);
        assert_non_null(p->at);
    }
    if (n)
        memcpy(p->at + p->n, pair, n * sizeof *pair);
    p->n += n;
    return p->n >= p->most;
}

static int by_position(const void *a, const void *b)
{
    const struct nd_hamming_pair *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static void brute(const uint64_t *row, size_t n, size_t words, unsigned distance, struct pairs *out)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            struct nd_hamming_pair pair = {a, b, 0};

            for (size_t w = 0; w < words && pair.distance <= distance; w++)
                pair.distance +=
                    (unsigned)__builtin_popcountll(row[a * words + w] ^ row[b * words + w]);
            if (pair.distance <= distance)
                collect(out, &pair, 1);
        }
}

static void check(const uint64_t *row, size_t n, unsigned bits, unsigned distance)
{
    struct pairs expected = {.most = SIZE_MAX};

    brute(row, n, nd_hamming_words(bits), distance, &expected);
    if (expected.n)
        qsort(expected.at, expected.n, sizeof *expected.at, by_position);
    for (unsigned threads = 1; threads <= 8; threads += threads == 2 ? 6 : 1) {
        struct pairs got = {.most = SIZE_MAX};

        assert_int_equal(nd_hamming_pairs(row, n, bits, distance, threads, collect, &got, NULL),
                         ND_OK);
        assert_int_equal(got.n, expected.n);
        if (got.n)
            qsort(got.at, got.n, sizeof *got.at, by_position);
        for (size_t i = 0; i < got.n; i++) {
            assert_int_equal(got.at[i].a, expected.at[i].a);
            assert_int_equal(got.at[i].b, expected.at[i].b);
            assert_int_equal(got.at[i].distance, expected.at[i].distance);
        }
        free(got.at);
    }
    free(expected.at);
}

/*
 * Make fingerprints that all agree with the first in `same` bits; a third is near or equal to
 * another one.
 */
static uint64_t *make(size_t n, unsigned bits, unsigned distance, unsigned same)
{
    size_t words = nd_hamming_words(bits);
    uint64_t *row = calloc(n * words + 1, sizeof *row);

    assert_non_null(row);
    for (size_t i = 0; i < n; i++)
        for (unsigned b = 0; b < bits; b++) {
            uint64_t bit = i && b < same ? row[b / 64] >> b % 64 & 1 : any() & 1;

            row[i * words + b / 64] |= bit << b % 64;
        }
    for (size_t i = 1; i < n; i += 1 + any() % 5) {
        memcpy(row + i * words, row + any() % i * words, words * sizeof *row);
        for (uint64_t flips = any() % (distance + 2); flips; flips--) {
            unsigned at = (unsigned)(any() % bits);

            row[i * words + at / 64] ^= UINT64_C(1) << at % 64;
        }
    }
    return row;
}

static void the_join_finds_what_comparing_all_finds(void **state)
{
    static const unsigned bits[] = {32, 50, 64, 128, 384, 512};

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (unsigned distance = 0; distance <= 16;
             distance += 1 + distance / (unsigned)sized(4, 2))
            for (size_t n = 0; n < 3000; n = n * 7 + 1) {
                uint64_t *row = make(n, bits[i], distance, 0);

                check(row, n, bits[i], distance);
                free(row);
            }
}

/* Large enough for parts and tables, and with clusters that agree in whole keys. */
static void clusters_that_share_a_key_are_joined_by_the_rest(void **state)
{
    static const unsigned same[] = {0, 16, 32, 45, 60};

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        uint64_t *row = make(12000, 64, 3, same[i]);

        /* 2^(64 - 60) distinct ones would pair with all */
        check(row, same[i] == 60 ? 1500 : 12000, 64, same[i] == 60 ? 1 : 3);
        free(row);
    }
    for (unsigned distance = 2; distance <= 6; distance += 2) {
        uint64_t *row = make(9000, 128, distance, 70);

        check(row, 9000, 128, distance);
        free(row);
    }
}

/* Distances at which 32 bits tell too little, by tables. */
static void far_neighbours_are_found_by_tables(void **state)
{
    uint64_t *row = make(16000, 64, 9, 0);

    (void)state;
    check(row, 16000, 64, 7);
    check(row, 16000, 64, 9);
    free(row);
    row = make(8000, 256, 16, 0);
    check(row, 8000, 256, 13);
    free(row);
}

/* One half says what the other is, so that the filter, a fold of the two, is the same for all. */
static void a_filter_that_passes_all_hides_nothing(void **state)
{
    enum { N = 12000 };
    uint64_t *row = make(N, 32, 1, 0);

    (void)state;
    for (size_t i = 0; i < N; i++) {
        uint32_t high = (uint32_t)row[i], low = high << 13 | high >> 19;

        row[i] = (uint64_t)high << 32 | low;
        if (i % 4 == 0)
            row[i] ^= UINT64_C(1) << any() % 64;
    }
    check(row, N, 64, 3);
    free(row);
}

struct sum {
    uint64_t n, of;
};

static int add_up(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    struct sum *sum = context;

    sum->n += n;
    for (size_t i = 0; i < n; i++)
        sum->of += nd_mix64(pair[i].a << 40 ^ pair[i].b << 8 ^ pair[i].distance);
    return 0;
}

/* 6000 equal ones among others, and near them 3 with 4 copies each: all pairs, and nothing twice.
 */
static void equal_fingerprints_are_paired_each_with_each(void **state)
{
    enum { N = 20000, SAME = 6000, NEAR = 3, COPIES = 4 };
    uint64_t *row = calloc((size_t)2 * N, sizeof *row);

    (void)state;
    assert_non_null(row);
    for (size_t words = 1; words <= 2; words++) {
        struct sum got = {0, 0};

        for (size_t i = 0; i < words * N; i++)
            row[i] = any();
        for (size_t i = 0; i < SAME + NEAR * COPIES; i++)
            memset(row + 3 * i * words, 0, words * sizeof *row);
        for (size_t i = 0; i < (size_t)NEAR * COPIES; i++)
            row[3 * (SAME + i) * words] = UINT64_C(1) << 20 * (i % NEAR);
        assert_int_equal(nd_hamming_pairs(row, N, (unsigned)(64 * words), 3, 2, add_up, &got, NULL),
                         ND_OK);
        assert_int_equal(got.n, SAME * (SAME - 1) / 2 + SAME * NEAR * COPIES +
                                    NEAR * COPIES * (COPIES - 1) / 2 +
                                    NEAR * (NEAR - 1) / 2 * COPIES * COPIES);
    }
    free(row);
}

/* Ask an index about each of its own fingerprints; the answers as pairs. */
static struct sum ask_an_index(const uint64_t *row, size_t n, unsigned distance)
{
    const struct nd_hamming_problem problem = {64, distance, n};
    struct nd_hamming_matches found = {.items = NULL};
    struct nd_hamming_plan plan;
    struct nd_hamming *index;
    struct sum sum = {0, 0};

    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_BLOCKS, 0, 10, &plan, NULL),
                     ND_OK);
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_add(index, row, NULL, 0, n, NULL), ND_OK);
    assert_int_equal(nd_hamming_query(index, row, n, distance, &found, NULL), ND_OK);
    for (size_t i = 0; i < found.count; i++)
        if (found.items[i].query < found.items[i].id)
            add_up(&sum,
                   &(struct nd_hamming_pair){found.items[i].query, found.items[i].id,
                                             found.items[i].distance},
                   1);
    nd_hamming_matches_release(&found);
    nd_hamming_free(index);
    return sum;
}

/* Parts and places enough that tables share partitions, with every instruction set. */
static void a_large_join_finds_what_an_index_finds(void **state)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512", "neon"};
    enum { N = 300000 };
    uint64_t *row = make(N, 64, 4, 0);

    (void)state;
    for (unsigned distance = 1; distance <= 4; distance += (unsigned)sized(1, 2)) {
        struct sum expected = ask_an_index(row, N, distance);

        for (size_t i = 0; i < sizeof isa / sizeof *isa; i++) {
            struct sum got = {0, 0};

            if (nd_cpu_force(isa[i], NULL) != ND_OK)
                continue;
            assert_int_equal(nd_hamming_pairs(row, N, 64, distance, 3, add_up, &got, NULL), ND_OK);
            assert_int_equal(got.n, expected.n);
            assert_int_equal(got.of, expected.of);
        }
    }
    free(row);
}

static void a_join_stops_when_it_is_told_to(void **state)
{
    enum { N = 20000 };
    uint64_t *same = calloc(N, sizeof *same);
    struct pairs some = {.most = 1};

    (void)state;
    assert_non_null(same);
    assert_int_equal(nd_hamming_pairs(same, N, 64, 3, 2, collect, &some, NULL), ND_ECANCELLED);
    assert_true(some.n < 10000);
    assert_int_equal(nd_hamming_pairs(same, N, 64, 17, 2, collect, &some, NULL), ND_EINVAL);
    free(some.at);
    free(same);
}

static int stop_if_asked(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    (void)pair;
    *(size_t *)context += n;
    return n == 0;
}

static void a_join_that_finds_nothing_asks_whether_to_stop(void **state)
{
    enum { N = 20000 };
    uint64_t *row = calloc(N, sizeof *row);
    size_t found = 0;

    (void)state;
    assert_non_null(row);
    for (uint64_t i = 0; i < N; i++)
        row[i] = nd_mix64(i);
    assert_int_equal(nd_hamming_pairs(row, N, 64, 3, 2, stop_if_asked, &found, NULL),
                     ND_ECANCELLED);
    assert_int_equal(found, 0);
    assert_int_equal(nd_hamming_pairs(row, 100, 64, 3, 1, stop_if_asked, &found, NULL),
                     ND_ECANCELLED);
    free(row);
}

/* Queries near and far against fingerprints fed in two goes. */
static void check_batch(size_t queries, size_t n, unsigned bits, unsigned distance)
{
    size_t words = nd_hamming_words(bits), half = n / 3;
    uint64_t *row = make(n + queries, bits, distance, 0), *query = row + n * words;
    struct pairs expected = {.most = SIZE_MAX}, got = {.most = SIZE_MAX};
    struct nd_hamming_batch *batch;

    for (size_t b = 0; b < n; b++)
        for (size_t a = 0; a < queries; a++) {
            struct nd_hamming_pair pair = {a, b + 1000, 0};

            for (size_t w = 0; w < words; w++)
                pair.distance +=
                    (unsigned)__builtin_popcountll(row[b * words + w] ^ query[a * words + w]);
            if (pair.distance <= distance)
                collect(&expected, &pair, 1);
        }
    assert_int_equal(nd_hamming_batch_new(&batch, query, queries, bits, distance, NULL), ND_OK);
    assert_int_equal(nd_hamming_batch_feed(batch, row, half, 1000, collect, &got, NULL), ND_OK);
    assert_int_equal(nd_hamming_batch_feed(batch, row + half * words, n - half, 1000 + half,
                                           collect, &got, NULL),
                     ND_OK);
    assert_int_equal(got.n, expected.n);
    for (size_t i = 1; i < got.n; i++)
        assert_true(got.at[i - 1].b <= got.at[i].b);
    if (got.n) {
        qsort(got.at, got.n, sizeof *got.at, by_position);
        qsort(expected.at, expected.n, sizeof *expected.at, by_position);
    }
    for (size_t i = 0; i < got.n; i++) {
        assert_int_equal(got.at[i].a, expected.at[i].a);
        assert_int_equal(got.at[i].b, expected.at[i].b);
        assert_int_equal(got.at[i].distance, expected.at[i].distance);
    }
    nd_hamming_batch_free(batch);
    free(got.at);
    free(expected.at);
    free(row);
}

static void a_stream_meets_what_comparing_all_meets(void **state)
{
    (void)state;
    for (unsigned distance = 0; distance <= 5; distance += (unsigned)sized(1, 2)) {
        check_batch(0, 100, 64, distance);
        check_batch(300, 20000, 64, distance);
        check_batch(300, 5000, 40, distance);
        check_batch(100, 3000, 384, 2 * distance);
    }
}

/* Every query meets itself, turned by bits: queries enough that some places share their lines. */
static void each_of_many_queries_meets_its_neighbour(void **state)
{
    enum { N = 140000 };
    uint64_t *row = malloc(N * sizeof *row);

    (void)state;
    assert_non_null(row);
    for (unsigned distance = 0; distance <= 3; distance++) {
        struct pairs got = {.most = SIZE_MAX};
        struct nd_hamming_batch *batch;

        for (size_t i = 0; i < N; i++)
            row[i] = any();
        assert_int_equal(nd_hamming_batch_new(&batch, row, N, 64, distance, NULL), ND_OK);
        for (size_t i = 0; i < N; i++)
            for (unsigned flips = 0; flips < distance; flips++)
                row[i] ^= UINT64_C(1) << (any() % (64 / distance) + flips * (64 / distance));
        assert_int_equal(nd_hamming_batch_feed(batch, row, N, 0, collect, &got, NULL), ND_OK);
        assert_int_equal(got.n, N);
        for (size_t i = 0; i < N; i++)
            assert_true(got.at[i].a == i && got.at[i].b == i && got.at[i].distance == distance);
        nd_hamming_batch_free(batch);
        free(got.at);
    }
    free(row);
}

/* The sets of all values of a half, for millions of queries, let pass all that is near. */
static void the_full_filter_asks_about_all_that_is_near(void **state)
{
    enum { N = 3000 };
    static uint64_t query[N], x[N];
    static uint32_t open[N];
    struct nd_hamming_matches out = {.items = NULL};

    (void)state;
    for (unsigned distance = 0; distance <= 3; distance++) {
        struct nd_hamming_filter f = {.place_bits = 0};
        size_t next = 0, n_open;

        for (size_t i = 0; i < N; i++) {
            query[i] = x[i] = any();
            for (unsigned flips = 0; flips < distance; flips++)
                x[i] ^= UINT64_C(1) << (any() % (64 / distance) + flips * (64 / distance));
            if (i % 2)
                x[i] = any();
        }
        assert_true(nd_hamming_filter_make(&f, query, N, distance, true));
        assert_true(nd_hamming_filter_block(&f, x, N, &out, open, &n_open));
        assert_int_equal(out.count, 0);
        for (uint32_t i = 0; i < N; i += 2) {
            while (next < n_open && open[next] < i)
                next++;
            assert_true(next < n_open && open[next] == i);
        }
        assert_true(n_open < N / 2 + N / 100); /* of the others one in 65,000 */
        nd_hamming_filter_release(&f);
    }
}

/* Equal queries, and clusters that share a half, and near ones: more than any line holds. */
static void crowded_queries_are_all_met(void **state)
{
    enum { QUERIES = 3000, N = 600 };
    uint64_t *query = malloc(QUERIES * sizeof *query), row[N];

    (void)state;
    assert_non_null(query);
    for (unsigned distance = 0; distance <= 3; distance++)
        for (int shape = 0; shape < 4; shape++) {
            struct pairs expected = {.most = SIZE_MAX}, got = {.most = SIZE_MAX};
            struct nd_hamming_batch *batch;

            query[0] = any();
            for (size_t i = 1; i < QUERIES; i++) {
                uint64_t half = shape == 2 ? UINT32_MAX : ~(uint64_t)UINT32_MAX;

                query[i] = query[0];
                if (shape == 1 || any() % 2)
                    query[i] ^= UINT64_C(1) << any() % 64 ^ (any() & UINT64_C(1) << any() % 64);
                if (shape >= 2)
                    query[i] ^= any() & half;
            }
            for (size_t i = 0; i < N; i++) {
                row[i] = any() % 8 ? query[any() % QUERIES] : any();
                for (uint64_t flips = any() % 4; flips; flips--)
                    row[i] ^= UINT64_C(1) << any() % 64;
            }
            for (size_t b = 0; b < N; b++)
                for (size_t a = 0; a < QUERIES; a++) {
                    unsigned far = (unsigned)__builtin_popcountll(query[a] ^ row[b]);

                    if (far <= distance)
                        collect(&expected, &(struct nd_hamming_pair){a, b, far}, 1);
                }
            assert_int_equal(nd_hamming_batch_new(&batch, query, QUERIES, 64, distance, NULL),
                             ND_OK);
            assert_int_equal(nd_hamming_batch_feed(batch, row, N, 0, collect, &got, NULL), ND_OK);
            assert_int_equal(got.n, expected.n);
            qsort(got.at, got.n, sizeof *got.at, by_position);
            qsort(expected.at, expected.n, sizeof *expected.at, by_position);
            for (size_t i = 0; i < got.n; i++)
                assert_true(got.at[i].a == expected.at[i].a && got.at[i].b == expected.at[i].b &&
                            got.at[i].distance == expected.at[i].distance);
            nd_hamming_batch_free(batch);
            free(got.at);
            free(expected.at);
        }
    free(query);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_join_finds_what_comparing_all_finds),
        cmocka_unit_test(clusters_that_share_a_key_are_joined_by_the_rest),
        cmocka_unit_test(far_neighbours_are_found_by_tables),
        cmocka_unit_test(a_filter_that_passes_all_hides_nothing),
        cmocka_unit_test(equal_fingerprints_are_paired_each_with_each),
        cmocka_unit_test(a_large_join_finds_what_an_index_finds),
        cmocka_unit_test(a_join_stops_when_it_is_told_to),
        cmocka_unit_test(a_join_that_finds_nothing_asks_whether_to_stop),
        cmocka_unit_test(a_stream_meets_what_comparing_all_meets),
        cmocka_unit_test(each_of_many_queries_meets_its_neighbour),
        cmocka_unit_test(the_full_filter_asks_about_all_that_is_near),
        cmocka_unit_test(crowded_queries_are_all_met),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
