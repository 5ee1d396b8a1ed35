/* test_sort.c - sorting of values against qsort, and logarithms against repeated multiplication */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/number/bits.h"
#include "base/sort.h"

enum { MOST = 20000 };

static uint64_t value[MOST], expected[MOST], scratch[MOST + 1];
static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Hashes, few different ones, crowded at both ends, in order, and one far from all others. */
static void fill(size_t n, unsigned kind)
{
    for (size_t i = 0; i < n; i++)
        switch (kind) {
        case 0: value[i] = any(); break;
        case 1: value[i] = any() % 40; break;
        case 2: value[i] = any() % 2 ? any() % 5000 : UINT64_MAX - any() % 5000; break;
        case 3: value[i] = i; break;
        case 4: value[i] = n - i; break;
        case 5: value[i] = i ? UINT64_C(1) << any() % 64 : UINT64_MAX; break;
        case 6: value[i] = 7; break;
        default: value[i] = any() >> any() % 64; break;
        }
}

static void values_are_sorted(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 8; kind++)
        for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : n) {
            size_t distinct = 0;

            fill(n, kind);
            memcpy(expected, value, n * sizeof *value);
            qsort(expected, n, sizeof *expected, by_value);
            scratch[n] = seed;
            nd_sort_values(value, n, scratch);
            assert_true(!n || !memcmp(value, expected, n * sizeof *value));
            assert_int_equal(scratch[n], seed); /* nothing beyond */
            fill(n, kind);
            memcpy(expected, value, n * sizeof *value);
            qsort(expected, n, sizeof *expected, by_value);
            for (size_t i = 0; i < n; i++)
                if (i == 0 || expected[i] != expected[i - 1])
                    expected[distinct++] = expected[i];
            assert_int_equal(nd_sort_distinct(value, n, scratch), distinct);
            assert_true(!n || !memcmp(value, expected, distinct * sizeof *value));
        }
}

static int by_value_and_number(const void *a, const void *b)
{
    const struct nd_numbered_value *x = a, *y = b;

    return x->value != y->value ? (x->value > y->value) - (x->value < y->value)
                                : (x->number > y->number) - (x->number < y->number);
}

/* Entries of equal value stay in their order, which is that of their numbers. */
static void numbered_values_are_sorted_stably(void **state)
{
    static struct nd_numbered_value first[MOST + 1], second[MOST + 1], sorted[MOST];

    (void)state;
    for (unsigned kind = 0; kind < 8; kind++)
        for (size_t n = 0; n <= MOST; n += n < 70 ? 1 : n) {
            struct nd_numbered_value *entry = first, *other = second;
            uint64_t mark = any();

            fill(n, kind);
            for (size_t i = 0; i < n; i++)
                first[i] = sorted[i] = (struct nd_numbered_value){value[i], (uint32_t)i, 9};
            first[n].value = second[n].value = mark;
            qsort(sorted, n, sizeof *sorted, by_value_and_number);
            nd_sort_numbered(&entry, &other, n);
            assert_true(entry == first ? other == second : entry == second && other == first);
            assert_true(!n || !memcmp(entry, sorted, n * sizeof *entry));
            assert_true(first[n].value == mark && second[n].value == mark); /* nothing beyond */
        }
}

/* x^64 against 2^(whole number): six places of log2 x, in numbers of 64 words. */
static unsigned bits_of_power(uint64_t x)
{
    uint64_t power[65] = {1};
    unsigned words = 1;

    for (int i = 0; i < 64; i++) {
        uint64_t carry = 0;

        for (unsigned w = 0; w < words; w++) {
            unsigned __int128 product = (unsigned __int128)power[w] * x + carry;

            power[w] = (uint64_t)product;
            carry = (uint64_t)(product >> 64);
        }
        if (carry)
            power[words++] = carry;
    }
    return 64 * words - 1 - (unsigned)__builtin_clzll(power[words - 1]);
}

static void logarithms_are_exact(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 64; i++)
        for (unsigned bits = 0; bits <= ND_LOG2_BITS_MAX; bits++)
            assert_int_equal(nd_log2_fixed(UINT64_C(1) << i, bits), (uint64_t)i << bits);
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t x = (any() >> any() % 64) | 1, log = nd_log2_fixed(x, ND_LOG2_BITS_MAX);

        assert_int_equal(nd_log2_fixed(x, 6), bits_of_power(x));
        for (unsigned bits = 0; bits < ND_LOG2_BITS_MAX; bits += 7)
            assert_int_equal(nd_log2_fixed(x, bits), log >> (ND_LOG2_BITS_MAX - bits));
    }
    /* log2(3) to 48 places: 1.58496250072115618 */
    assert_int_equal(nd_log2_fixed(3, 48), UINT64_C(446127282977750));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_sorted),
        cmocka_unit_test(numbered_values_are_sorted_stably),
        cmocka_unit_test(logarithms_are_exact),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
