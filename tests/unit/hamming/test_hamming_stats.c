/* test_hamming_stats.c - the distributions, counted again with sorted strings of bits */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <neardup/hamming_stats.h>

#include "base/hash.h"

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Ones and zeroes, the highest first. */
static char *text_of(const uint64_t *row, unsigned bits)
{
    char *text = malloc(bits + 1);

    assert_non_null(text);
    for (unsigned i = 0; i < bits; i++)
        text[bits - 1 - i] = (char)('0' + (row[i / 64] >> i % 64 & 1));
    text[bits] = '\0';
    return text;
}

/* floor(x * buckets / 2^20) of the 20 highest bits, for powers of two */
static unsigned bucket_of(const char *text, unsigned buckets)
{
    unsigned high = 0;

    for (int i = 0; i < 20; i++)
        high = 2 * high + (unsigned)(text[i] - '0');
    return (unsigned)((uint64_t)high * buckets >> 20);
}

static void check(size_t n, unsigned bits, unsigned buckets)
{
    size_t words = nd_hamming_words(bits);
    uint64_t *row = calloc((n + 1) * words, sizeof *row);
    uint64_t leading[ND_HAMMING_BITS_MAX] = {0}, bucket[ND_HAMMING_BUCKETS_MAX] = {0}, equal = 0;
    struct nd_hamming_stats *stats = malloc(sizeof *stats);
    char **text = calloc(n + 1, sizeof *text);

    assert_true(row && stats && text);
    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < words; w++)
            row[i * words + w] = any();
        if (bits % 64)
            row[(i + 1) * words - 1] &= ~UINT64_C(0) >> (64 - bits % 64);
        if (i && any() % 2) {
            memcpy(row + i * words, row + any() % i * words, words * sizeof *row);
            row[i * words + any() % words] ^=
                any() % 3 ? 0 : UINT64_C(1) << any() % (bits % 64 + 1);
            if (bits % 64)
                row[(i + 1) * words - 1] &= ~UINT64_C(0) >> (64 - bits % 64);
        }
        text[i] = text_of(row + i * words, bits);
        bucket[bucket_of(text[i], buckets)]++;
    }
    qsort(text, n, sizeof *text, by_text);
    for (size_t i = 1; i < n; i++) {
        unsigned at = 0;

        while (at < bits && text[i][at] == text[i - 1][at])
            at++;
        if (at == bits)
            equal++;
        else
            leading[bits - 1 - at]++;
    }
    assert_int_equal(nd_hamming_stats_make(row, n, bits, buckets, stats, NULL), ND_OK);
    assert_int_equal(stats->count, n);
    assert_int_equal(stats->equal, equal);
    assert_int_equal(stats->distinct, n - equal);
    assert_memory_equal(stats->leading, leading, sizeof leading);
    assert_memory_equal(stats->bucket, bucket, sizeof bucket);
    for (size_t i = 0; i < n; i++)
        free(text[i]);
    free(text);
    free(row);
    free(stats);
}

static void the_distributions_are_those_of_sorted_strings(void **state)
{
    static const unsigned bits[] = {32, 45, 64, 65, 128, 200, 384, 512};

    (void)state;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (size_t n = 0; n < 2000; n = n * 5 + 1)
            check(n, bits[i], n % 2 ? 128 : 256);
}

/* Uniform fingerprints come near to what is expected of them; all places add up to n - 1. */
static void uniform_fingerprints_are_as_expected(void **state)
{
    enum { N = 1 << 18 };
    uint64_t *row = malloc(N * sizeof *row);
    struct nd_hamming_stats *stats = malloc(sizeof *stats);
    double sum = 0;

    (void)state;
    assert_true(row && stats);
    for (size_t i = 0; i < N; i++)
        row[i] = any();
    assert_int_equal(nd_hamming_stats_make(row, N, 64, 128, stats, NULL), ND_OK);
    for (unsigned place = 0; place < 64; place++) {
        double expected = nd_hamming_stats_uniform(stats, place);

        sum += expected;
        assert_true(fabs((double)stats->leading[place] - expected) < 5 * sqrt(expected) + 5);
    }
    assert_true(fabs(sum - (N - 1)) < 0.01);
    free(row);
    free(stats);
}

static void what_cannot_be_counted_is_refused(void **state)
{
    struct nd_hamming_stats stats;
    uint64_t row = UINT64_C(1) << 40;

    (void)state;
    assert_int_equal(nd_hamming_stats_make(&row, 1, 64, 1, &stats, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_stats_make(&row, 1, 64, 1025, &stats, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_stats_make(&row, 1, 31, 128, &stats, NULL), ND_EINVAL);
    assert_int_equal(nd_hamming_stats_make(&row, 1, 40, 128, &stats, NULL), ND_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_distributions_are_those_of_sorted_strings),
        cmocka_unit_test(uniform_fingerprints_are_as_expected),
        cmocka_unit_test(what_cannot_be_counted_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
