/* test_hamming_skew.c - equal and clustered fingerprints cost what their answers cost */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/hamming.h>

#include "base/hash.h"
#include "hamming/memory/memory_index.h"

#include "sized.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static void shuffle(uint32_t *number, size_t n)
{
    for (size_t i = 0; i < n; i++)
        number[i] = (uint32_t)i;
    for (size_t i = n; i > 1; i--) {
        size_t j = any() % i;
        uint32_t swap = number[i - 1];

        number[i - 1] = number[j];
        number[j] = swap;
    }
}

static struct nd_hamming *make(enum nd_hamming_family family, unsigned bits, unsigned distance,
                               unsigned tables, size_t expected)
{
    struct nd_hamming_problem problem = {bits, distance, expected};
    struct nd_hamming_plan plan;
    struct nd_hamming *index;

    assert_int_equal(nd_hamming_design(&problem, NULL, family, 0, tables, &plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
    return index;
}

/* Check that an index has each of the ids of one fingerprint once, and no other. */
static void check_ids(const struct nd_hamming *index, uint64_t x, const uint32_t *id, size_t n,
                      bool *is_in)
{
    struct nd_hamming_matches out = {.items = NULL};

    for (size_t i = 0; i < n; i++)
        is_in[id[i]] = true;
    assert_int_equal(nd_hamming_query(index, &x, 1, 3, &out, NULL), ND_OK);
    assert_int_equal(out.count, n);
    for (size_t i = 0; i < out.count; i++) {
        assert_true(is_in[out.items[i].id]);
        is_in[out.items[i].id] = false;
    }
    nd_hamming_matches_release(&out);
}

/* Many ids of one fingerprint go one by one: walking the list would take days. */
static void many_equal_ones_are_removed_in_any_order(void **state)
{
    const size_t n = sized(1000000, 100000);
    static const enum nd_hamming_family family[] = {ND_HAMMING_HALVES, ND_HAMMING_COVERING,
                                                    ND_HAMMING_WINDOWS};
    uint32_t *order = malloc(n * sizeof *order);
    bool *is_in = calloc(n, sizeof *is_in);
    const uint64_t x = any();

    (void)state;
    assert_true(order && is_in);
    for (size_t f = 0; f < sizeof family / sizeof *family; f++) {
        struct nd_hamming *index = make(family[f], 64, 3, 8, 10);
        uint64_t count;

        shuffle(order, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(nd_hamming_add(index, &x, &order[i], 0, 1, NULL), ND_OK);
        assert_true(nd_hamming_query_lines(index, &x, 1, 3) <= 32);
        shuffle(order, n);
        for (size_t i = 0; i < n; i++) {
            if (i % (n / 10) == 0)
                check_ids(index, x, order + i, n - i, is_in);
            assert_int_equal(nd_hamming_remove(index, &x, order[i], NULL), ND_OK);
        }
        assert_int_equal(nd_hamming_count(index), 0);
        /* the same pair each time */
        for (size_t i = 0; i < n; i++)
            assert_int_equal(nd_hamming_add(index, &x, order, 0, 1, NULL), ND_OK);
        assert_int_equal(nd_hamming_query_count(index, &x, 1, 3, &count, NULL), ND_OK);
        assert_int_equal(count, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(nd_hamming_remove(index, &x, order[0], NULL), ND_OK);
        assert_int_equal(nd_hamming_remove(index, &x, order[0], NULL), ND_EINVAL);
        nd_hamming_free(index);
    }
    free(order);
    free(is_in);
}

/* 600 fingerprints next to one another, each with 1 to 100 ids, of which every seventh is there
 * twice: all of those that a few queries meet. */
static void all_ids_of_many_lists_come_back(void **state)
{
    enum { LISTS = 600, IDS = 100, TWICE = 7 };
    static const enum nd_hamming_family family[] = {ND_HAMMING_HALVES, ND_HAMMING_COVERING,
                                                    ND_HAMMING_WINDOWS};
    const uint64_t base = any(), query[3] = {base, base ^ 6, base ^ UINT64_C(1) << 63};

    (void)state;
    for (size_t f = 0; f < sizeof family / sizeof *family; f++) {
        struct nd_hamming *index = make(family[f], 64, 3, 8, LISTS);
        struct nd_hamming_matches out = {.items = NULL};
        size_t expected = 0;

        for (uint32_t id = 0; id < LISTS * IDS; id++) {
            uint32_t list = id % LISTS, times = id / LISTS > list % IDS ? 0 : id % TWICE ? 1 : 2;
            uint64_t x = base ^ UINT64_C(1) << list % 64 ^ UINT64_C(1) << list / 64 * 5;

            for (uint32_t t = 0; t < times; t++)
                assert_int_equal(nd_hamming_add(index, &x, &id, 0, 1, NULL), ND_OK);
            for (uint32_t q = 0; q < 3; q++)
                expected += times * (__builtin_popcountll(x ^ query[q]) <= 3);
        }
        assert_int_equal(nd_hamming_query(index, query, 3, 3, &out, NULL), ND_OK);
        nd_hamming_matches_sort(&out);
        assert_int_equal(out.count, expected);
        for (size_t i = 0, n; i < out.count; i += n) {
            uint32_t list = out.items[i].id % LISTS;
            uint64_t x = base ^ UINT64_C(1) << list % 64 ^ UINT64_C(1) << list / 64 * 5;

            for (n = 1;
                 i + n < out.count && !memcmp(&out.items[i], &out.items[i + n], sizeof *out.items);
                 n++)
                ;
            assert_int_equal(n, out.items[i].id % TWICE ? 1 : 2);
            assert_int_equal(out.items[i].distance,
                             __builtin_popcountll(x ^ query[out.items[i].query]));
        }
        nd_hamming_matches_release(&out);
        nd_hamming_free(index);
    }
}

struct crowd {
    enum nd_hamming_family family;
    unsigned bits, distance, tables;
    uint64_t shared[2]; /* bits in which all agree */
    size_t lines;       /* a query may look at */
};

enum { CROWD = 100000, QUERIES = 200 };

/* All that is in (is_in NULL: all), against a scan. */
static void check(const struct nd_hamming *index, const struct crowd *c, const uint64_t *row,
                  const bool *is_in)
{
    size_t words = nd_hamming_words(c->bits), worst = 0;

    for (size_t q = 0; q < QUERIES; q++) {
        uint64_t x[2] = {any(), any()}, got;
        size_t expected = 0, lines;

        memcpy(x, row + any() % CROWD * words, words * sizeof *x);
        for (uint64_t flips = any() % (c->distance + 2); flips; flips--) {
            unsigned at = (unsigned)(any() % c->bits);

            x[at / 64] ^= UINT64_C(1) << at % 64;
        }
        for (size_t i = 0; i < CROWD; i++) {
            unsigned far = 0;

            for (size_t w = 0; w < words; w++)
                far += (unsigned)__builtin_popcountll(x[w] ^ row[i * words + w]);
            expected += far <= c->distance && (!is_in || is_in[i]);
        }
        assert_int_equal(nd_hamming_query_count(index, x, 1, c->distance, &got, NULL), ND_OK);
        assert_int_equal(got, expected);
        lines = nd_hamming_query_lines(index, x, 1, c->distance);
        worst = lines > worst ? lines : worst;
    }
    print_message("%s, %u bits: at most %zu lines a query\n", nd_hamming_family_name(c->family),
                  c->bits, worst);
    assert_true(worst <= c->lines);
}

/* Distinct ones that fill one bucket: added, a part of them removed, added again. */
static void check_crowd(const struct crowd *c)
{
    size_t words = nd_hamming_words(c->bits);
    uint64_t *row = malloc(CROWD * words * sizeof *row);
    bool *is_in = malloc(CROWD);
    struct nd_hamming *index = make(c->family, c->bits, c->distance, c->tables, 1000);
    const uint64_t base[2] = {any(), any()};

    assert_true(row && is_in);
    for (size_t i = 0; i < CROWD * words; i++)
        row[i] = (base[i % words] & c->shared[i % words]) | (any() & ~c->shared[i % words]);
    for (size_t i = 0; i < CROWD; i++)
        is_in[i] = true;
    assert_int_equal(nd_hamming_add(index, row, NULL, 0, CROWD, NULL), ND_OK);
    check(index, c, row, NULL);
    for (size_t i = 0; i < CROWD; i++)
        if (i % 8) {
            assert_int_equal(nd_hamming_remove(index, row + i * words, (uint32_t)i, NULL), ND_OK);
            is_in[i] = false;
        }
    check(index, c, row, is_in);
    for (size_t i = 0; i < CROWD; i += 2)
        if (!is_in[i]) {
            assert_int_equal(nd_hamming_add(index, row + i * words, NULL, (uint32_t)i, 1, NULL),
                             ND_OK);
            is_in[i] = true;
        }
    check(index, c, row, is_in);
    for (size_t i = 0; i < CROWD; i++)
        if (is_in[i])
            assert_int_equal(nd_hamming_remove(index, row + i * words, (uint32_t)i, NULL), ND_OK);
    assert_int_equal(nd_hamming_count(index), 0);
    nd_hamming_free(index);
    free(row);
    free(is_in);
}

static void a_crowded_bucket_is_refined(void **state)
{
    static const struct crowd crowd[] = {
        {ND_HAMMING_HALVES, 64, 3, 0, {UINT32_MAX}, 500},
        {ND_HAMMING_HALVES, 64, 3, 0, {~(uint64_t)UINT32_MAX}, 500},
        {ND_HAMMING_HALVES, 64, 3, 0, {0x1FFFF}, 500}, /* what the address is made of */
        {ND_HAMMING_HALVES, 64, 1, 0, {UINT32_MAX}, 500},
        {ND_HAMMING_WINDOWS, 64, 3, 4, {UINT32_MAX}, 500},
        {ND_HAMMING_WINDOWS, 64, 3, 4, {UINT64_C(0xFFFF) << 48}, 500},
        {ND_HAMMING_WINDOWS, 64, 1, 4, {UINT32_MAX}, 500},
        {ND_HAMMING_WINDOWS, 64, 3, 6, {UINT32_MAX}, 500},
        {ND_HAMMING_WINDOWS, 64, 3, 8, {~(uint64_t)UINT32_MAX}, 500},
        {ND_HAMMING_COVERING, 64, 3, 8, {UINT32_MAX}, 500},
        {ND_HAMMING_COVERING, 64, 3, 8, {0xFFFFFF}, 500},
        {ND_HAMMING_COVERING, 64, 2, 14, {0xFFFF00000000FFFF}, 500},
        {ND_HAMMING_BLOCKS, 64, 3, 4, {0xFFFF}, 500},
        {ND_HAMMING_BLOCKS, 128, 3, 4, {UINT64_MAX, 0}, 500},
        {ND_HAMMING_COVERING, 128, 6, 30, {0xFFFFFFFFFF, 0xFF}, 500},
    };

    (void)state;
    for (size_t i = 0; i < sizeof crowd / sizeof *crowd; i += sized(1, 4))
        check_crowd(&crowd[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_equal_ones_are_removed_in_any_order),
        cmocka_unit_test(all_ids_of_many_lists_come_back),
        cmocka_unit_test(a_crowded_bucket_is_refined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
