/* test_hamming_memory.c - every allocation of the Hamming index in memory fails once: ND_ENOMEM,
 * and what was there is still there
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include <neardup/hamming.h>

#include "base/hash.h"
#include "hamming_ids_fixture.h"
#define FAILING_ALIGNED
#define FAILING_MAPS
#include "failing_wraps.h"

/* From here on allocation n fails; _off says whether it came to that. */
static void failure_on(long n)
{
    countdown = n;
}

static bool failure_off(void)
{
    bool came = countdown < 0;

    countdown = -1;
    return came;
}

static uint64_t seed;

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

enum { N = 1300, STEP = 65 };
static uint64_t row[N];

/* Uniform ones; 100 times the same; and, so that a bucket is refined, 600 that share a half. */
static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        row[i] = any();
        if (i > 100 && i < 200)
            row[i] = row[100];
        if (i >= 400 && i < 1000)
            row[i] = row[400] >> 32 << 32 | (row[i] & UINT32_MAX);
    }
}

/* Near some of the first n, against a scan. */
static void check(const struct nd_hamming *index, size_t n)
{
    assert_int_equal(nd_hamming_count(index), n);
    for (size_t q = 0; q < 20 && n; q++) {
        uint64_t x = row[any() % n] ^ UINT64_C(1) << q ^ UINT64_C(1) << 3 * q, count;
        size_t expected = 0;

        for (size_t i = 0; i < n; i++)
            expected += __builtin_popcountll(row[i] ^ x) <= 3;
        assert_int_equal(nd_hamming_query_count(index, &x, 1, 3, &count, NULL), ND_OK);
        assert_int_equal(count, expected);
    }
}

/* Add in steps, one of which may fail; what the step left out goes in afterwards. */
static void add_all(struct nd_hamming *index, struct nd_error *err)
{
    for (size_t i = 0; i < N;) {
        size_t some = N - i < STEP ? N - i : STEP;
        enum nd_status status = nd_hamming_add(index, row + i, NULL, (uint32_t)i, some, err);
        long left = countdown;

        countdown = -1;
        i += some;
        if (status != ND_OK) {
            assert_int_equal(status, ND_ENOMEM);
            assert_true(err->message[0]);
            assert_true(nd_hamming_count(index) < i);
            i = nd_hamming_count(index);
            check(index, i);
        }
        countdown = left;
    }
}

/* Returns whether the failure came to pass. */
static bool live_with_failure(const struct nd_hamming_plan *plan, long n)
{
    struct nd_hamming_matches out = {.items = NULL};
    struct nd_hamming *index;
    struct nd_error err;
    enum nd_status status;
    bool came;

    failure_on(n);
    status = nd_hamming_new(&index, plan, &err);
    if (status != ND_OK) {
        assert_true(failure_off());
        assert_int_equal(status, ND_ENOMEM);
        return true;
    }
    add_all(index, &err);
    status = nd_hamming_query(index, row, N, 3, &out, &err);
    assert_true(status == ND_OK || status == ND_ENOMEM);
    for (size_t i = 0; i < N; i++)
        if (i % 3 == 0) /* takes no memory */
            assert_int_equal(nd_hamming_remove(index, &row[i], (uint32_t)i, &err), ND_OK);
    came = failure_off();
    for (size_t i = 0; i < N; i++)
        if (i % 3 == 0)
            assert_int_equal(nd_hamming_add(index, &row[i], NULL, (uint32_t)i, 1, NULL), ND_OK);
    check(index, N);
    nd_hamming_matches_release(&out);
    nd_hamming_free(index);
    return came;
}

static void an_index_outlives_each_failure(void **state)
{
    static const struct {
        enum nd_hamming_family family;
        unsigned tables;
    } design[] = {{ND_HAMMING_SCAN, 0},   {ND_HAMMING_BLOCKS, 8},   {ND_HAMMING_COVERING, 8},
                  {ND_HAMMING_HALVES, 0}, {ND_HAMMING_POPCOUNT, 0}, {ND_HAMMING_WINDOWS, 4},
                  {ND_HAMMING_WINDOWS, 8}};
    unsigned families = 0;

    (void)state;
    fill();
    for (size_t d = 0; d < sizeof design / sizeof *design; d++) {
        struct nd_hamming_problem problem = {64, 3, 100};
        struct nd_hamming_plan plan;
        long n = 0;

        assert_int_equal(
            nd_hamming_design(&problem, NULL, design[d].family, 0, design[d].tables, &plan, NULL),
            ND_OK);
        while (live_with_failure(&plan, n))
            n++;
        print_message("%s: %ld allocations\n", nd_hamming_family_name(design[d].family), n);
        assert_true(n > 4);
        families |= 1u << plan.family;
    }
    assert_int_equal(families, (1u << ND_HAMMING_FAMILY_COUNT) - 1); /* the list names each */
}

/* Lists that grow through all sizes, when a longer one has so many lines.  Returns whether the
 * failure came to pass. */
static bool lengthen_with_failure(uint32_t lines, long n)
{
    enum { LISTS = 40, LENGTH = 120 };
    static struct list list[LISTS];
    struct nd_hamming_ids ids = {.n_lines = 0};
    uint32_t longer = 0;
    bool came;

    memset(list, 0, sizeof list);
    for (uint32_t id = 0; ids.n_lines < lines; id++) {
        longer = nd_hamming_ids_add(&ids, longer, id);
        assert_true(longer);
    }
    failure_on(n);
    for (uint32_t i = 0; i < LISTS * LENGTH; i++)
        while (!list_add(&ids, &list[i % LISTS], i / LISTS))
            list_check(&ids, &list[i % LISTS]);
    came = failure_off();
    for (int i = 0; i < LISTS; i++)
        list_check(&ids, &list[i]);
    nd_hamming_ids_release(&ids);
    return came;
}

/* Memory grows by 1024 lines first: at every step of every list, sooner or later. */
static void lists_outlive_each_failure(void **state)
{
    (void)state;
    for (uint32_t lines = 0; lines < 1024; lines += lines ? 3 : 400)
        for (long n = 0; lengthen_with_failure(lines, n);)
            n++;
}

static int count_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    (void)pair;
    *(size_t *)context += n;
    return 0;
}

/* Fingerprints enough for partitions, and buckets of more than 4096, which are joined once more. */
static void a_join_fails_or_is_whole(void **state)
{
    enum { MANY = 20000 };
    static uint64_t many[MANY];
    size_t expected = 0;
    bool came = true;
    long n;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        many[i] = any();
        if (i % 3 == 0)
            many[i] = many[0] >> 32 << 32 | (many[i] & UINT32_MAX);
    }
    assert_int_equal(nd_hamming_pairs(many, MANY, 64, 3, 1, count_pairs, &expected, NULL), ND_OK);
    for (n = 0; came; n += 1 + n / 16) {
        size_t found = 0;
        struct nd_error err;
        enum nd_status status;

        failure_on(n);
        status = nd_hamming_pairs(many, MANY, 64, 3, 1, count_pairs, &found, &err);
        came = failure_off();
        assert_int_equal(status, came ? ND_ENOMEM : ND_OK);
        assert_true(came || found == expected);
    }
    assert_true(n > 20);
}

/* Too few for tables: all with all. */
static void a_scanning_join_fails_or_is_whole(void **state)
{
    size_t expected = 0;
    bool came = true;

    (void)state;
    fill();
    assert_int_equal(nd_hamming_pairs(row, 300, 64, 3, 1, count_pairs, &expected, NULL), ND_OK);
    for (long n = 0; came; n++) {
        size_t found = 0;
        enum nd_status status;

        failure_on(n);
        status = nd_hamming_pairs(row, 300, 64, 3, 1, count_pairs, &found, NULL);
        came = failure_off();
        assert_int_equal(status, came ? ND_ENOMEM : ND_OK);
        assert_true(came || found == expected);
    }
}

/* Queries of which some are crowded, with a filter; and of 100 bits, with an index alone. */
static void a_batch_fails_or_is_whole(void **state)
{
    (void)state;
    fill();
    for (unsigned bits = 64; bits <= 100; bits += 36) {
        size_t count = bits == 64 ? N : N / 4, expected = 0;
        bool came = true;
        uint64_t wide[N];

        memcpy(wide, row, sizeof wide);
        for (size_t i = 1; bits == 100 && i < N; i += 2)
            wide[i] >>= 28;
        for (long n = -1; came; n++) {
            struct nd_hamming_batch *batch;
            size_t found = 0;
            enum nd_status status;

            failure_on(n);
            status = nd_hamming_batch_new(&batch, wide, count, bits, 3, NULL);
            if (status == ND_OK) {
                status = nd_hamming_batch_feed(batch, wide, count, 0, count_pairs, &found, NULL);
                nd_hamming_batch_free(batch);
            }
            came = failure_off();
            if (n == -1) {
                expected = found;
                assert_true(came && status == ND_OK && expected >= count);
                continue;
            }
            assert_true(status == ND_OK ? found == expected : came && status == ND_ENOMEM);
        }
    }
}

static void a_plan_fails_or_is_whole(void **state)
{
    struct nd_hamming_problem problem = {128, 6, 1000000};
    static struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    bool came = true;

    (void)state;
    for (long n = 0; came; n++) {
        uint64_t keys[2 * 4096];
        struct nd_hamming_machine machine;
        enum nd_status status;
        size_t plans;

        failure_on(n);
        status = nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &plans, NULL);
        if (status == ND_OK)
            status = nd_hamming_design(&problem, NULL, ND_HAMMING_BLOCKS, 0, 40, plan, NULL);
        if (status == ND_OK)
            status = nd_hamming_plan_keys(plan, keys, NULL);
        if (status == ND_OK && n < 3)
            status = nd_hamming_calibrate(&machine, NULL);
        came = failure_off();
        assert_int_equal(status, came ? ND_ENOMEM : ND_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_index_outlives_each_failure),
        cmocka_unit_test(lists_outlive_each_failure),
        cmocka_unit_test(a_join_fails_or_is_whole),
        cmocka_unit_test(a_scanning_join_fails_or_is_whole),
        cmocka_unit_test(a_batch_fails_or_is_whole),
        cmocka_unit_test(a_plan_fails_or_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
