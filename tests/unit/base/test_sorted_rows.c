/* test_sorted_rows.c - texts read in the order of their keys, against a stable sort; a full disk */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file/sorted_rows.h"
#include "base/hash.h"
#include "base/memory.h"

#include "failing_malloc.h"

/* Text i is of its key; it is written anew where it is needed.  Every hundredth is long. */
static uint64_t key_of(uint32_t i, uint64_t keys)
{
    return nd_mix64(i / 3 + 1) % keys;
}

static size_t write_text(uint32_t i, char *text)
{
    size_t len = (size_t)sprintf(text, "%u ", i), more = nd_mix64(i + 7) % 40;

    if (i % 1000 == 999)
        more = i % 2000 == 999 ? 5000 : 300000;
    memset(text + len, 'x', more);
    text[len + more] = '\n';
    return len + more + 1;
}

static void expect(uint32_t n, uint64_t keys, struct nd_buffer *all)
{
    char *text = malloc(400000);

    assert_non_null(text);
    all->len = 0;
    for (uint64_t key = 0; key < keys; key++)
        for (uint32_t i = 0; i < n; i++)
            if (key_of(i, keys) == key)
                assert_true(nd_buffer_append(all, text, write_text(i, text)));
    free(text);
}

static enum nd_status sort_all(uint32_t n, uint64_t keys, size_t memory, struct nd_buffer *all,
                               struct nd_error *err)
{
    static char text[400000];
    struct nd_sorted_rows *r = nd_sorted_rows_new("/tmp", memory, err);
    enum nd_status status = r ? ND_OK : err->status;
    struct nd_view texts;
    int got = 1;

    for (uint32_t i = 0; status == ND_OK && i < n; i++)
        status = nd_sorted_rows_add(r, key_of(i, keys), text, write_text(i, text), err);
    while (status == ND_OK && (got = nd_sorted_rows_next(r, &texts, err)) > 0)
        if (!nd_buffer_append(all, texts.data, texts.len))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK) {
        assert_true(nd_sorted_rows_spilled(r) >= all->len);
        assert_int_equal(nd_sorted_rows_next(r, &texts, err), 0);
    }
    nd_sorted_rows_free(r);
    return status;
}

static void texts_come_back_in_the_order_of_their_keys(void **state)
{
    static const uint32_t count[] = {0, 1, 2, 100, 6000};
    static const uint64_t keys[] = {1, 2, 500};

    (void)state;
    for (unsigned i = 0; i < 5; i++)
        for (unsigned k = 0; k < 3; k++)
            for (size_t memory = 0; memory <= 1 << 20; memory += 1 << 20) {
                struct nd_buffer got = {0}, expected = {0};
                struct nd_error err = {0};

                expect(count[i], keys[k], &expected);
                assert_int_equal(sort_all(count[i], keys[k], memory, &got, &err), ND_OK);
                assert_int_equal(got.len, expected.len);
                if (got.len)
                    assert_memory_equal(got.data, expected.data, got.len);
                nd_buffer_release(&got);
                nd_buffer_release(&expected);
            }
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
        struct nd_buffer all = {0};
        struct nd_error err = {0};

        atomic_store(&until_failure, at);
        status = sort_all(6000, 100, 0, &all, &err);
        atomic_store(&until_failure, 0);
        nd_buffer_release(&all);
        if (status != ND_OK)
            assert_string_equal(err.message, "out of memory");
        assert_true(at < 10000);
    }
#endif
}

/* A limit on the size of files stands for a full disk. */
static void a_full_disk_is_reported(void **state)
{
    struct rlimit before, small;
    struct nd_buffer all = {0};
    struct nd_error err = {0};
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){1 << 16, before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(sort_all(6000, 100, 0, &all, &err), ND_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    nd_buffer_release(&all);
    assert_non_null(strstr(err.message, "/tmp: the temporary file in it cannot be written: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back_in_the_order_of_their_keys),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(a_full_disk_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
