/* test_bands.c - the bands chosen find what they promise, by simulation with the shipped sketches
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "index/live.h"
#include "simd/sketch/sketch_kernels.h"

static uint64_t seed;

static void add_random(uint64_t *set, size_t *n)
{
    set[(*n)++] = nd_mix64(++seed ^ UINT64_C(0x5851F42D4C957F2D));
}

/* The low bytes of two random sets, `shared` of `size` in both. */
static void make_pair(unsigned size, unsigned shared, uint8_t low[2][ND_MINIMA])
{
    static uint64_t set[2][10000];
    struct nd_sketch sketch[2];
    size_t n[2] = {0, 0};

    for (unsigned i = 0; i < shared; i++) {
        add_random(set[0], &n[0]);
        set[1][n[1]++] = set[0][i];
    }
    for (unsigned i = shared; i < size; i++)
        add_random(set[i % 2], &n[i % 2]);
    for (int k = 0; k < 2; k++) {
        sketch[k].shingle = set[k];
        sketch[k].n_shingles = n[k];
        nd_sketch_finish(&sketch[k], ND_SKETCH_MINHASH);
        nd_sketch_kernels()->low_bytes(sketch[k].minhash, low[k]);
    }
}

/* Whether they share a band. */
static int pair_meets(unsigned size, unsigned shared, unsigned bands, unsigned rows)
{
    uint8_t low[2][ND_MINIMA];

    make_pair(size, shared, low);
    for (unsigned band = 0; band < bands; band++)
        if (!memcmp(low[0] + band * rows, low[1] + band * rows, rows))
            return 1;
    return 0;
}

/* How many agree. */
static unsigned bytes_of_pair(unsigned size, unsigned shared)
{
    uint8_t low[2][ND_MINIMA];
    unsigned n = 0;

    make_pair(size, shared, low);
    for (unsigned i = 0; i < ND_MINIMA; i++)
        n += low[0][i] == low[1][i];
    return n;
}

/*
 * At the threshold itself, the hardest case.  Were the true recall just the promised p, the share
 * found in n trials would have a standard deviation of sqrt(p (1 - p) / n); three of them are
 * allowed.  The numbers are not drawn anew: the same share comes out at every run.
 */
static void the_default_finds_what_it_promises(void **state)
{
    static const unsigned size[] = {10, 30, 100, 300, 1000, 3000, 10000};
    static const unsigned trials[] = {20000, 10000, 6000, 6000, 4000, 2000, 1000};
    const double promised = .995;
    unsigned bands, rows;

    (void)state;
    assert_int_equal(nd_bands_choose((struct nd_ratio){4, 5}, promised, &bands, &rows, NULL),
                     ND_OK);
    assert_int_equal(bands, 21);
    assert_int_equal(rows, 6);
    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        double allowed = 3 * sqrt(promised * (1 - promised) / trials[s]), recall;
        unsigned met = 0;

        for (unsigned trial = 0; trial < trials[s]; trial++)
            met += (unsigned)pair_meets(size[s], size[s] * 4 / 5, bands, rows);
        recall = (double)met / trials[s];
        print_message("union %u: recall %.4f of %u pairs\n", size[s], recall, trials[s]);
        assert_true(recall >= promised - allowed);
    }
}

/* A choice that is too sparse must be seen by the same simulation: 16 bands of 8 rows. */
static void the_simulation_sees_bands_that_are_too_few(void **state)
{
    unsigned met = 0;

    (void)state;
    for (unsigned trial = 0; trial < 4000; trial++)
        met += (unsigned)pair_meets(100, 80, 16, 8);
    assert_true(met < .98 * 4000);
    assert_true(met > .9 * 4000);
}

static void a_choice_uses_the_minima_and_keeps_its_promise_by_the_formula(void **state)
{
    static const double recall[] = {.5, .9, .99, .995, .999};

    (void)state;
    for (unsigned r = 0; r < sizeof recall / sizeof *recall; r++) {
        unsigned rows_before = 1;

        for (uint32_t p = 200; p <= 1000; p++) {
            unsigned bands, rows;

            assert_int_equal(
                nd_bands_choose((struct nd_ratio){p, 1000}, recall[r], &bands, &rows, NULL), ND_OK);
            assert_int_equal(bands, ND_MINHASH_COUNT / rows);
            assert_true(nd_bands_recall(p / 1000., bands, rows) >= recall[r]);
            assert_true(rows >= rows_before);
            rows_before = rows;
        }
    }
}

static void what_cannot_be_reached_is_refused(void **state)
{
    struct nd_error err;
    unsigned bands = 7, rows = 7;

    (void)state;
    assert_int_equal(nd_bands_choose((struct nd_ratio){1, 100}, .995, &bands, &rows, &err),
                     ND_EINVAL);
    assert_string_equal(err.message, "128 minima cannot find pairs at 1/100 with recall 0.995");
    assert_int_equal(nd_bands_choose((struct nd_ratio){0, 5}, .9, &bands, &rows, &err), ND_EINVAL);
    assert_int_equal(nd_bands_choose((struct nd_ratio){6, 5}, .9, &bands, &rows, &err), ND_EINVAL);
    assert_int_equal(nd_bands_choose((struct nd_ratio){0, 0}, .9, &bands, &rows, &err), ND_EINVAL);
    assert_int_equal(nd_bands_choose((struct nd_ratio){4, 5}, -.1, &bands, &rows, &err), ND_EINVAL);
    assert_int_equal(nd_bands_choose((struct nd_ratio){4, 5}, 1, &bands, &rows, &err), ND_EINVAL);
    assert_int_equal(nd_bands_choose((struct nd_ratio){4, 5}, NAN, &bands, &rows, &err), ND_EINVAL);
    assert_int_equal(bands, 7);
    assert_int_equal(rows, 7);
}

/* A pair at the threshold has as many equal low bytes as are asked of candidates, in all trials. */
static void no_pair_at_the_threshold_has_too_few_bytes(void **state)
{
    (void)state;
    assert_int_equal(nd_low_bytes_agreeing(0, 1), 0);
    assert_int_equal(nd_low_bytes_agreeing(1, 2), 21);
    assert_int_equal(nd_low_bytes_agreeing(4, 5), 62);
    assert_int_equal(nd_low_bytes_agreeing(81, 90), 82);
    assert_int_equal(nd_low_bytes_agreeing(1, 1), 128);
    for (unsigned percent = 30; percent < 100; percent += 5)
        for (unsigned trial = 0; trial < 2000; trial++)
            assert_true(bytes_of_pair(20, (20 * percent + 99) / 100) >=
                        nd_low_bytes_agreeing(percent, 100));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_finds_what_it_promises),
        cmocka_unit_test(the_simulation_sees_bands_that_are_too_few),
        cmocka_unit_test(a_choice_uses_the_minima_and_keeps_its_promise_by_the_formula),
        cmocka_unit_test(what_cannot_be_reached_is_refused),
        cmocka_unit_test(no_pair_at_the_threshold_has_too_few_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
