/* test_table_growth.c - tables grow within little more address space than they are to have */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"

static bool is_zero(const unsigned char *table, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (table[i])
            return false;
    return true;
}

static void grown_and_all_zero(void **state)
{
    static const size_t size[] = {100, 5000, 3 << 20, (4 << 20) + 1, 40 << 20, 41 << 20, 300 << 20};
    void *table = NULL;
    size_t bytes = 0;

    (void)state;
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        assert_true(nd_table_renew(&table, bytes, size[i]));
        bytes = size[i];
        assert_true(is_zero(table, bytes));
        memset(table, 1, bytes);
        if (bytes >= 4 << 20)
            assert_int_equal((uintptr_t)table % (2 << 20), 0);
    }
    nd_table_free(table, bytes);
}

static size_t address_space(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Grow a table that keeps its content, within the limit, where something else is in its way. */
static int keep_within_limit(void)
{
    const size_t mb = 1 << 20, bytes = 256 * mb;
    void *table = nd_table_alloc(bytes);
    struct rlimit limit;

    if (!table || getrlimit(RLIMIT_AS, &limit))
        return 1;
    memset(table, 1, bytes);
    if (mmap((char *)table + bytes, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
        MAP_FAILED)
        return 2;
    limit.rlim_cur = address_space() + 120 * mb;
    if (setrlimit(RLIMIT_AS, &limit))
        return 3;
    for (size_t more = 40; more <= 80; more += 40) {
        size_t old = bytes + (more - 40) * mb;

        if (!nd_table_grow(&table, old, bytes + more * mb))
            return 4;
        if (((unsigned char *)table)[bytes - 1] != 1 ||
            !is_zero((unsigned char *)table + bytes, more * mb))
            return 5;
    }
    return 0;
}

/* 256 MB become 320 where there is room for 80 more, and not where there is room for 40. */
static int grow_within_limit(void)
{
    const size_t mb = 1 << 20, bytes = 256 * mb;
    void *table = NULL, *before;
    struct rlimit limit;

    if (!nd_table_renew(&table, 0, bytes) || getrlimit(RLIMIT_AS, &limit))
        return 1;
    memset(table, 1, bytes);
    before = table;
    limit.rlim_cur = address_space() + 40 * mb;
    if (setrlimit(RLIMIT_AS, &limit))
        return 2;
    if (nd_table_renew(&table, bytes, 320 * mb))
        return 3;
    if (table != before || ((unsigned char *)table)[bytes - 1] != 1)
        return 4;
    limit.rlim_cur += 40 * mb;
    if (setrlimit(RLIMIT_AS, &limit))
        return 5;
    return nd_table_renew(&table, bytes, 320 * mb) && is_zero(table, 320 * mb) ? 0 : 6;
}

static void in_a_child(int (*grow)(void))
{
    int status;
    pid_t child;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    print_message("skipped: a sanitizer takes address space of its own\n");
    skip();
#endif
    child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(grow());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void renewed_within_little_more(void **state)
{
    (void)state;
    in_a_child(grow_within_limit);
}

static void grown_within_little_more(void **state)
{
    (void)state;
    in_a_child(keep_within_limit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grown_and_all_zero),
        cmocka_unit_test(renewed_within_little_more),
        cmocka_unit_test(grown_within_little_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
