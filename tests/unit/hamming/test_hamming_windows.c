/* test_hamming_windows.c - windows of the halves: which there are, and how few bytes they take */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <neardup/hamming.h>

#include "base/hash.h"
#include "hamming/memory/halves.h"
#include "hamming/plan/family.h"
#include "hamming/plan/predict.h"

static void windows_have_four_to_eight_tables(void **state)
{
    /* asked for: key, tables; got: tables (0: refused), key */
    static const unsigned known[][4] = {
        {0, 4, 4, 16},  {0, 5, 4, 16},  {0, 6, 6, 21},  {0, 8, 8, 24},  {0, 99, 8, 24},
        {0, 3, 0, 0},   {0, 0, 0, 0},   {10, 0, 4, 16}, {16, 0, 4, 16}, {17, 0, 6, 21},
        {22, 0, 8, 24}, {24, 0, 8, 24}, {25, 0, 0, 0}};
    struct nd_hamming_problem problem = {64, 3, 1000};
    struct nd_hamming_plan plan;

    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        enum nd_status status = nd_hamming_design(&problem, NULL, ND_HAMMING_WINDOWS, known[i][0],
                                                  known[i][1], &plan, NULL);

        assert_int_equal(status, known[i][2] ? ND_OK : ND_EINVAL);
        if (status != ND_OK)
            continue;
        assert_int_equal(plan.tables, known[i][2]);
        assert_int_equal(plan.key_bits, known[i][3]);
        assert_int_equal(plan.key_bits_max, known[i][3]);
    }
    problem.distance = 4;
    assert_int_equal(nd_hamming_design(&problem, NULL, ND_HAMMING_WINDOWS, 0, 4, &plan, NULL),
                     ND_EINVAL);
    assert_string_equal(nd_hamming_family_name(ND_HAMMING_WINDOWS), "windows");
}

/* A million fit in 43 bytes each, made for as many or grown from nothing. */
static void four_windows_of_a_million_take_43_bytes(void **state)
{
    enum { N = 1000000 };
    uint64_t *row = malloc(N * sizeof *row);

    (void)state;
    assert_non_null(row);
    for (size_t i = 0; i < N; i++)
        row[i] = nd_mix64(i);
    for (int grown = 0; grown < 2; grown++) {
        struct nd_hamming_problem problem = {64, 3, N};
        struct nd_hamming_plan plan;
        struct nd_hamming *index;

        assert_int_equal(nd_hamming_choose(&problem, NULL, 43.0 * N, &plan, NULL), ND_OK);
        assert_int_equal(plan.family, ND_HAMMING_WINDOWS);
        assert_int_equal(plan.tables, 4);
        plan.problem.count = grown ? 0 : N;
        assert_int_equal(nd_hamming_new(&index, &plan, NULL), ND_OK);
        assert_int_equal(nd_hamming_add(index, row, NULL, 0, N, NULL), ND_OK);
        assert_true(nd_hamming_bytes(index) <= (size_t)43 * N);
        nd_hamming_free(index);
    }
    free(row);
}

/* Whatever the fill of a table by linear hashing: chains of divided buckets, and of others. */
static void chains_of_divided_buckets_are_as_chance_makes_them(void **state)
{
    static const double lines[] = {65536, 70000, 100000, 131071, 131072};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct nd_hamming_chain chain = nd_hamming_linear_chain(600000, lines[i], 10);
        static unsigned entries[131072];
        double chained = 0, looks = 0;

        for (size_t j = 0; j < 131072; j++)
            entries[j] = 0;
        for (uint64_t j = 0; j < 600000; j++) {
            uint32_t a = (uint32_t)nd_mix64(j) & 131071;

            entries[a < lines[i] ? a : a & 65535]++;
        }
        for (uint32_t a = 0; a < 131072; a++) {
            unsigned n = entries[a < lines[i] ? a : a & 65535], own = n > 10 ? (n + 9) / 10 : 1;

            chained += a < lines[i] ? own : 0;
            looks += own;
        }
        assert_true(fabs(chain.size / (chained / lines[i]) - 1) < 0.01);
        assert_true(fabs(chain.look_up / (looks / 131072) - 1) < 0.01);
    }
}

/* A slot and its address give the fingerprint back, in any table of any size. */
static void a_fingerprint_is_rebuilt_from_where_it_stands(void **state)
{
    static const unsigned tables[] = {0, 4, 6, 8};

    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct nd_hamming_problem problem = {64, 3, 700000};
        struct nd_hamming_plan plan;
        struct nd_halves *s;

        assert_int_equal(nd_hamming_design(&problem, NULL,
                                           tables[i] ? ND_HAMMING_WINDOWS : ND_HAMMING_HALVES, 0,
                                           tables[i], &plan, NULL),
                         ND_OK);
        s = nd_hamming_family_row(ND_HAMMING_HALVES)->make(&plan);
        assert_non_null(s);
        for (uint64_t j = 0; j < 10000; j++) {
            uint64_t x = nd_mix64(j);

            for (unsigned t = 0; t < s->n_tables; t++) {
                struct nd_halves_place p = nd_halves_place(s, x, t);
                struct nd_hamming_entry e = {.word = p.word, .rest = p.rest};
                uint32_t address = nd_halves_address(nd_halves_group(s, t), p.data);

                assert_true(p.rest <= s->table[t].in_rest);
                if (t == 0)
                    e.rest |= ND_HALVES_MANY;
                assert_true(nd_halves_fingerprint(s, &s->table[t], address, &e) == x);
                assert_true(address < nd_halves_group(s, t)->size);
            }
        }
        nd_hamming_family_row(ND_HAMMING_HALVES)->destroy(s);
    }
}

/* Any one bit of a half is outside of one of its windows, and the windows are as long as said. */
static void each_wrong_bit_leaves_a_window(void **state)
{
    (void)state;
    for (unsigned tables = 4; tables <= ND_HALVES_TABLES; tables += 2) {
        struct nd_hamming_problem problem = {64, 3, 0};
        struct nd_hamming_plan plan;
        struct nd_halves *s;

        assert_int_equal(
            nd_hamming_design(&problem, NULL, ND_HAMMING_WINDOWS, 0, tables, &plan, NULL), ND_OK);
        s = nd_hamming_family_row(ND_HAMMING_HALVES)->make(&plan);
        assert_non_null(s);
        for (unsigned bit = 0; bit < 64; bit++) {
            unsigned left = 0;

            for (unsigned t = 0; t < tables; t++)
                left += s->table[t].half == bit / 32 && !(s->table[t].window >> bit & 1);
            assert_true(left >= 1);
        }
        for (unsigned t = 0; t < tables; t++) {
            uint64_t x = nd_mix64(t), low = (UINT64_C(1) << plan.key_bits) - 1;

            assert_int_equal(__builtin_popcountll(s->table[t].window), plan.key_bits);
            /* the key is the low bits of the data */
            assert_int_equal(nd_halves_place(s, x, t).data & low,
                             nd_halves_place(s, x & s->table[t].window, t).data);
        }
        nd_hamming_family_row(ND_HAMMING_HALVES)->destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_have_four_to_eight_tables),
        cmocka_unit_test(four_windows_of_a_million_take_43_bytes),
        cmocka_unit_test(chains_of_divided_buckets_are_as_chance_makes_them),
        cmocka_unit_test(a_fingerprint_is_rebuilt_from_where_it_stands),
        cmocka_unit_test(each_wrong_bit_leaves_a_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
