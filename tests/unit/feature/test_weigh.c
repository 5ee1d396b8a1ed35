/* test_weigh.c - weights: the papers' examples, what must not change, what is refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "feature/document_terms.h"
#include "feature/weigh.h"

enum { N = 50 };
static struct nd_term_stat stat[N];

/* Counts 1 … N, df 1. */
static void fill(void)
{
    for (size_t i = 0; i < N; i++)
        stat[i] = (struct nd_term_stat){.hash = i * 7 % N, .tf = (uint32_t)i + 1, .df = 1};
}

static void weigh_beside(bool has_fields, const struct nd_weight_params *p,
                         const struct nd_term_stat *s, size_t n, uint64_t words, int32_t *weight,
                         uint64_t *unit)
{
    struct nd_error err = {.message = ""};
    struct nd_weigh_scratch scratch = {0};
    struct nd_weigher *w = nd_weigher_new(p, NULL, has_fields, &err);

    assert_string_equal(err.message, "");
    assert_non_null(w);
    assert_int_equal(nd_weigher_run(w, &scratch, s, n, words, weight, unit), ND_OK);
    nd_weigh_scratch_release(&scratch);
    nd_weigher_free(w);
}

static void weigh(const struct nd_weight_params *p, const struct nd_term_stat *s, size_t n,
                  uint64_t words, int32_t *weight, uint64_t *unit)
{
    weigh_beside(false, p, s, n, words, weight, unit);
}

/*
 * Seshasai 2009, Table 3.1: weights .09 .01 .06 .05 .04, hashes of four bits, the sums, and 1001.
 */
static void the_worked_example_of_seshasai_2009(void **state)
{
    static const struct nd_term_stat words[] = {
        {.hash = 0x9, .tf = 9}, {.hash = 0xE, .tf = 1}, {.hash = 0x2, .tf = 6},
        {.hash = 0x5, .tf = 5}, {.hash = 0xD, .tf = 4},
    };
    static const int sums[] = {3, -5, -11, 11}; /* hundredths */
    struct nd_weight_params p = nd_weight_params_default();
    int32_t weight[5];
    unsigned signature = 0;

    (void)state;
    weigh(&p, words, 5, 25, weight, NULL);
    for (int bit = 0; bit < 4; bit++) {
        int64_t sum = 0;

        for (size_t i = 0; i < 5; i++)
            sum += words[i].hash >> (3 - bit) & 1 ? weight[i] : -weight[i];
        assert_int_equal(sum, (int64_t)sums[bit] * 2048); /* 9 becomes 18432 */
        signature = signature * 2 + (sum > 0);
    }
    assert_int_equal(signature, 0x9);
}

static void length_normalisation_changes_the_unit_alone(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    int32_t with[N], without[N];
    uint64_t unit_with, unit_without;

    (void)state;
    fill();
    weigh(&p, stat, N, 1000, without, &unit_without);
    p.normalise_length = 1;
    weigh(&p, stat, N, 1000, with, &unit_with);
    assert_memory_equal(with, without, sizeof with);
    assert_true(unit_without == UINT64_C(64) << 32); /* 50 becomes 25600 */
    assert_true(unit_with == unit_without / 1000);
}

static void equal_counts_weigh_the_same_and_the_greatest_is_one(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    int32_t weight[N];

    (void)state;
    fill();
    for (int tf = ND_TF_COUNT; tf <= ND_TF_BINARY; tf++) {
        p.tf = (enum nd_tf)tf;
        weigh(&p, stat, N, 100, weight, NULL);
        assert_int_equal(weight[N - 1], tf == ND_TF_COUNT ? N << 9 : ND_WEIGHT_ONE);
        for (size_t i = 1; i < N; i++)
            assert_true(tf == ND_TF_BINARY ? weight[i] == weight[0] : weight[i] > weight[i - 1]);
    }
}

/* Counts are multiplied by one power of two, so sums of them are exact. */
static void whole_weights_keep_their_proportions(void **state)
{
    static const uint32_t counts[][3] = {{1, 2, 3},     {7, 1, 16384},     {32768, 3, 5},
                                         {32769, 1, 2}, {INT32_MAX, 9, 1}, {UINT32_MAX, 1, 70000}};
    static const int32_t scale[] = {8192, 2, 1, 1, 1, 1};
    struct nd_weight_params p = nd_weight_params_default();
    int32_t weight[3];
    uint64_t unit;

    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        struct nd_term_stat words[3];

        for (size_t i = 0; i < 3; i++)
            words[i] = (struct nd_term_stat){.hash = i, .tf = counts[k][i]};
        weigh(&p, words, 3, 100, weight, &unit);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(weight[i], counts[k][i] < INT32_MAX
                                            ? (int64_t)counts[k][i] * scale[k]
                                            : INT32_MAX); /* as far as a weight goes */
        assert_true(unit == (uint64_t)(ND_WEIGHT_ONE / scale[k]) << 32);
    }
}

/* Beside fields, which have fractions of ND_WEIGHT_ONE, the greatest weight is that. */
static void beside_fields_the_greatest_weight_is_one(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    int32_t weight[N];

    (void)state;
    fill();
    weigh_beside(true, &p, stat, N, 100, weight, NULL);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(weight[i], ((i + 1) * 2 * ND_WEIGHT_ONE + N) / (2 * N));
}

static void very_large_counts_weigh_like_small_ones(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    int32_t small[N], large[N];
    uint64_t unit, large_unit;

    (void)state;
    fill();
    weigh_beside(true, &p, stat, N, 100, small, &unit);
    for (unsigned shift = 1; shift < 26; shift++) {
        for (size_t i = 0; i < N; i++)
            stat[i].tf = (uint32_t)(i + 1) << shift;
        weigh_beside(true, &p, stat, N, 100, large, &large_unit);
        assert_memory_equal(small, large, sizeof small);
        assert_true(large_unit == unit << shift);
    }
}

static size_t count_of(const int32_t *weight)
{
    size_t count = 0;

    for (size_t i = 0; i < N; i++)
        count += weight[i] > 0;
    return count;
}

static void thresholds_keep_what_they_say(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    int32_t weight[N];

    (void)state;
    fill();
    p.high = 0.5; /* 25 … 50 */
    weigh(&p, stat, N, 100, weight, NULL);
    assert_int_equal(count_of(weight), 26);
    p.high = 0;
    p.top = 20;
    weigh(&p, stat, N, 100, weight, NULL);
    assert_int_equal(count_of(weight), 20);
    assert_int_equal(weight[29], 0);
    assert_true(weight[30] > 0);
    p.top_share = 0.1;
    weigh(&p, stat, N, 100, weight, NULL);
    assert_int_equal(count_of(weight), 5);
    p = nd_weight_params_default();
    p.band_low = 0.2; /* 10 … 40 */
    p.band_high = 0.8;
    weigh(&p, stat, N, 100, weight, NULL);
    assert_int_equal(count_of(weight), 31);
    assert_int_equal(weight[39], 40 << 9);
    p = nd_weight_params_default();
    p.clip_rank = 5;
    weigh(&p, stat, N, 100, weight, NULL);
    for (size_t i = 45; i < N; i++)
        assert_int_equal(weight[i], 46 << 9);
    assert_int_equal(weight[44], 45 << 9);
    p = nd_weight_params_default();
    p.clip_quantile = 0.5; /* at 25 */
    weigh(&p, stat, N, 100, weight, NULL);
    assert_int_equal(weight[24], 25 << 10);
    assert_int_equal(weight[23], 24 << 10);
}

static void of_equal_weights_the_least_hashes_are_kept(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    int32_t weight[N], again[N];
    struct nd_term_stat turned[N];

    (void)state;
    for (size_t i = 0; i < N; i++)
        stat[i] = (struct nd_term_stat){.hash = (i * 7 + 3) % N, .tf = 2};
    p.top = 10;
    weigh(&p, stat, N, 100, weight, NULL);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(weight[i] > 0, stat[i].hash < 10);
        turned[i] = stat[N - 1 - i];
    }
    weigh(&p, turned, N, 100, again, NULL);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(again[i], weight[N - 1 - i]);
}

static void what_cannot_be_is_refused(void **state)
{
    static const char *const tables[] = {
        "",          "0",         "0:",          "0:1:2",     ":1",
        "2:1",       "0:256",     "0.5:1 0.5:2", "0.6:1 0:2", "0:0 1:0",
        "0:1 1:one", "0:1 1 : 2", "-0.5:1 1:1",
    };
    struct nd_weight_params bad[24];
    struct nd_error err;
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < 24; i++)
        bad[i] = nd_weight_params_default();
    bad[n++].idf = ND_IDF_LOG; /* no table */
    bad[n++].low = 1.5;
    bad[n++].high = -0.1;
    bad[n++].clip_quantile = 2;
    bad[n++].top_share = 1e300;
    bad[n++].band_low = (double)(0.0F / 0.0F);
    bad[n].band_low = 0.5;
    bad[n++].band_high = 0.4;
    bad[n++].markup_boost = 256;
    bad[n++].markup_boost = -1;
    bad[n++].tf = (enum nd_tf)3;
    bad[n++].position = (enum nd_position)6;
    for (size_t i = 0; i < n; i++) {
        err.message[0] = 0;
        assert_null(nd_weigher_new(&bad[i], NULL, false, &err));
        assert_int_equal(err.status, ND_EINVAL);
        assert_true(err.message[0]);
    }
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        struct nd_weight_params p = nd_weight_params_default();

        p.position = ND_POSITION_TABLE;
        memcpy(p.position_table, tables[i], strlen(tables[i]) + 1);
        err.message[0] = 0;
        assert_null(nd_weigher_new(&p, NULL, false, &err));
        assert_int_equal(err.status, ND_EINVAL);
        assert_non_null(strstr(err.message, "position_table"));
    }
}

static void a_document_without_features_has_no_weights(void **state)
{
    struct nd_weight_params p = nd_weight_params_default();
    uint64_t unit = 1;

    (void)state;
    p.top = 3;
    p.clip_rank = 2;
    p.low = 0.1;
    weigh(&p, stat, 0, 0, NULL, &unit);
    assert_int_equal(unit, 0);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void the_value_of_each_rank_is_found(void **state)
{
    uint64_t value[N], sorted[N], seed = 1;

    (void)state;
    for (unsigned bits = 0; bits <= 64; bits += 4)
        for (size_t n = 1; n <= N; n++) {
            for (size_t i = 0; i < n; i++) {
                seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
                sorted[i] = bits ? seed >> (64 - bits) : 9;
            }
            for (size_t rank = 0; rank < n; rank += n / 5 + 1) {
                memcpy(value, sorted, sizeof value);
                uint64_t found = nd_rank_select(value, n, rank);

                qsort(value, n, sizeof *value, by_value);
                assert_true(found == value[rank]);
            }
        }
}

/* "a bb ccc dd e ff": tokens at 0, 2, 5, 9, 12, 14. */
static void words_are_marked_once_however_deep(void **state)
{
    static const struct nd_token token[] = {{0, 0, 1}, {0, 2, 2},  {0, 5, 3},
                                            {0, 9, 2}, {0, 12, 1}, {0, 14, 2}};
    static const struct nd_markup markup[] = {{3, 3}, {12, 1}};
    static const struct nd_link link[] = {{.offset = 5, .len = 3}, {.offset = 14, .len = 0}};
    struct nd_document d = {.markup = markup, .n_markup = 2};
    uint16_t mark[6];

    (void)state;
    nd_marks_fill(&d, 0, token, 6, mark);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(mark[i], i == 1 || i == 2 || i == 4 ? ND_MARK_FULL : 0);
    d = (struct nd_document){.links = link, .n_links = 1};
    nd_marks_fill(&d, 0, token, 6, mark);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(mark[i], 0);
    nd_marks_fill(&d, 3, token, 6, mark);
    assert_int_equal(mark[2], 256);
    assert_int_equal(mark[1], 192);
    assert_int_equal(mark[3], 192);
    assert_int_equal(mark[0], 128);
    assert_int_equal(mark[4], 128);
    assert_int_equal(mark[5], 64);
    d.n_links = 2; /* an image: no word is its anchor, those beside it are its window */
    nd_marks_fill(&d, 1, token, 6, mark);
    assert_int_equal(mark[0], 0);
    assert_int_equal(mark[2], 256);
    assert_int_equal(mark[4], 128);
    assert_int_equal(mark[5], 128);
    nd_marks_fill(&d, 1, token, 0, mark);
    nd_marks_fill(&d, 1000000, token, 6, mark);
    assert_true(mark[0] > 250);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_worked_example_of_seshasai_2009),
        cmocka_unit_test(length_normalisation_changes_the_unit_alone),
        cmocka_unit_test(equal_counts_weigh_the_same_and_the_greatest_is_one),
        cmocka_unit_test(whole_weights_keep_their_proportions),
        cmocka_unit_test(beside_fields_the_greatest_weight_is_one),
        cmocka_unit_test(very_large_counts_weigh_like_small_ones),
        cmocka_unit_test(thresholds_keep_what_they_say),
        cmocka_unit_test(of_equal_weights_the_least_hashes_are_kept),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_document_without_features_has_no_weights),
        cmocka_unit_test(the_value_of_each_rank_is_found),
        cmocka_unit_test(words_are_marked_once_however_deep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
