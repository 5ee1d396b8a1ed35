/* test_external_sort.c - records sorted through temporary files, against qsort; a full disk, no memory */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file/external_sort.h"
#include "base/hash.h"

#include "failing_malloc.h"

struct record {
    uint64_t key;
    uint32_t tie, number;
};

static int by_tie(const void *a, const void *b, void *context)
{
    const struct record *x = a, *y = b;

    (void)context;
    return (x->tie > y->tie) - (x->tie < y->tie);
}

static int by_all(const void *a, const void *b)
{
    const struct record *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->tie != y->tie)
        return x->tie < y->tie ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Fill in records of few or many different keys. */
static void fill(struct record *record, size_t n, uint64_t keys, bool has_ties)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t any = nd_mix64(i + 1);

        record[i] = (struct record){.key = keys ? any % keys : any,
                                    .tie = has_ties ? (uint32_t)(any >> 40) % 3 : 0,
                                    .number = (uint32_t)i};
    }
}

static void check(size_t n, uint64_t keys, bool has_ties, size_t memory, bool spills)
{
    const struct nd_external_sort_options options = {.tmp = "/tmp",
                                                     .record_bytes = sizeof(struct record),
                                                     .memory_bytes = memory,
                                                     .compare = has_ties ? by_tie : NULL};
    struct nd_external_sort *s = nd_external_sort_new(&options, NULL);
    struct record *expected = malloc((n + 1) * sizeof *expected);
    const void *record;

    assert_non_null(s);
    assert_non_null(expected);
    fill(expected, n, keys, has_ties);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(nd_external_sort_add(s, &expected[i], NULL), ND_OK);
    qsort(expected, n, sizeof *expected, by_all);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(nd_external_sort_next(s, &record, NULL), 1);
        assert_memory_equal(record, &expected[i], sizeof *expected);
    }
    assert_int_equal(nd_external_sort_next(s, &record, NULL), 0);
    assert_int_equal(nd_external_sort_next(s, &record, NULL), 0);
    assert_int_equal(nd_external_sort_spilled(s) > 0, spills);
    nd_external_sort_free(s);
    free(expected);
}

static void records_come_back_in_order(void **state)
{
    (void)state;
    for (unsigned has_ties = 0; has_ties < 2; has_ties++)
        for (uint64_t keys = 0; keys < 1000; keys = keys * 30 + 1) {
            check(0, keys, has_ties, 1 << 16, false);
            check(1, keys, has_ties, 1 << 16, false);
            check(1000, keys, has_ties, 1 << 16, false);
            check(5000, keys, has_ties, 1 << 16, true);
            check(5000, keys, has_ties, 1 << 20, false);
        }
}

/* 64 KB are buffers for 16 runs of 1365 records each: 300,000 are 220 runs, which become 14. */
static void many_runs_are_merged_in_several_passes(void **state)
{
    (void)state;
    check(300000, 0, false, 0, true);
    check(300000, 7, true, 0, true);
}

static enum nd_status sort_all(struct nd_error *err)
{
    const struct nd_external_sort_options options = {.tmp = "/tmp",
                                                     .record_bytes = sizeof(struct record)};
    struct nd_external_sort *s = nd_external_sort_new(&options, err);
    enum nd_status status = s ? ND_OK : err->status;
    const void *record;
    int got = 1;

    for (uint32_t i = 0; status == ND_OK && i < 100000; i++) {
        const struct record r = {.key = nd_mix64(i), .number = i};

        status = nd_external_sort_add(s, &r, err);
    }
    while (status == ND_OK && got > 0) {
        got = nd_external_sort_next(s, &record, err);
        if (got < 0)
            status = (enum nd_status)got;
    }
    nd_external_sort_free(s);
    return status;
}

static void memory_that_runs_out_is_reported(void **state)
{
#if HAS_OWN_MALLOC
    (void)state;
    skip();
#else
    enum nd_status status = ND_ENOMEM;

    (void)state;
    for (long at = 1; status != ND_OK; at++) {
        struct nd_error err = {0};

        atomic_store(&until_failure, at);
        status = sort_all(&err);
        atomic_store(&until_failure, 0);
        if (status != ND_OK) {
            assert_int_equal(status, ND_ENOMEM);
            assert_string_equal(err.message, "out of memory");
        }
        assert_true(at < 10000);
    }
#endif
}

/* A limit on the size of files stands for a full disk. */
static void a_full_disk_is_reported(void **state)
{
    struct rlimit before, small;
    struct nd_error err = {0};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){1 << 16, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(sort_all(&err), ND_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_non_null(strstr(err.message, "/tmp: the temporary file in it cannot be written: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back_in_order),
        cmocka_unit_test(many_runs_are_merged_in_several_passes),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(a_full_disk_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
