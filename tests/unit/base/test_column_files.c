/* test_column_files.c - columns in files hold what they were given, and views of them what they saw */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"

enum { SMALL = 1 << 16 };

static int new_file(void)
{
    int fd = memfd_create("column", 0);

    assert_true(fd >= 0);
    return fd;
}

static uint64_t value_of(size_t i, uint64_t seed)
{
    return nd_mix64(i + (seed << 32));
}

/* Append values up to n, as far as the column has room by asking for it. */
static void fill(struct nd_column *column, size_t from, size_t n, uint64_t seed)
{
    for (size_t i = from; i < n; i++) {
        assert_true(nd_column_reserve(column, i + 1, sizeof(uint64_t)));
        ((uint64_t *)column->data)[i] = value_of(i, seed);
    }
}

static void expect(const struct nd_column *column, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(((const uint64_t *)column->data)[i], value_of(i, seed));
}

/* Its content goes to the file, whatever there was before, and both grow. */
static void a_column_goes_on_in_its_file(void **state)
{
    (void)state;
    for (size_t before = 0; before < 2000000; before = before * 5 + 1) {
        struct nd_column column = {0}, view = {0};
        size_t after = before + 600000;
        uint64_t first;
        int fd = new_file();

        fill(&column, 0, before, 1);
        assert_true(nd_column_back(&column, fd, before * sizeof(uint64_t)));
        expect(&column, before, 1);
        fill(&column, before, after, 1);
        assert_int_equal(pread(fd, &first, sizeof first, 0), sizeof first);
        assert_int_equal(first, value_of(0, 1));
        assert_true(nd_column_view(&view, &column, -1, 0, after * sizeof(uint64_t)));
        fill(&column, after, 2 * after, 1); /* perhaps elsewhere in memory */
        expect(&view, after, 1);
        expect(&column, 2 * after, 1);
        nd_column_restart(&column);
        assert_null(column.data);
        fill(&column, 0, 1000, 2);
        expect(&column, 1000, 2);
        nd_column_release(&column);
        nd_column_release(&view);
        assert_int_equal(fcntl(fd, F_GETFD), -1); /* it was the column's */
    }
}

/* The part that is mapped stays where it is, but for its last page, which may have been written to. */
static void a_column_that_began_with_a_file_goes_on_in_another(void **state)
{
    (void)state;
    for (size_t n = 1; n < 3000000; n = n * 9 + SMALL / 8) {
        struct nd_column written = {0}, column = {0}, view = {0};
        const size_t bytes = n * sizeof(uint64_t);
        int from = new_file();

        fill(&written, 0, n, 3);
        assert_int_equal(pwrite(from, written.data, bytes, SMALL), (ssize_t)bytes);
        assert_int_equal(ftruncate(from, (off_t)(SMALL + bytes + 3 * SMALL)), 0);
        assert_true(nd_column_map(&column, from, SMALL, bytes, 1000));
        fill(&column, n, n + 100, 3);
        assert_true(nd_column_back(&column, new_file(), (n + 100) * sizeof(uint64_t)));
        assert_true(column.mapped % SMALL == 0 && column.mapped <= bytes);
        expect(&column, n + 100, 3);
        fill(&column, n + 100, 2 * n + 9000, 3);
        assert_true(nd_column_view(&view, &column, from, SMALL, (n + 50) * sizeof(uint64_t)));
        fill(&column, 2 * n + 9000, 3 * n + 9000, 3);
        expect(&column, 3 * n + 9000, 3);
        expect(&view, n + 50, 3);
        nd_column_release(&view);
        nd_column_release(&column);
        nd_column_release(&written);
        close(from);
    }
}

static void a_file_that_cannot_be_written_changes_nothing(void **state)
{
    struct nd_column column = {0};
    int fd = open("/dev/null", O_RDONLY);

    (void)state;
    assert_true(fd >= 0);
    fill(&column, 0, 10000, 4);
    assert_false(nd_column_back(&column, fd, 10000 * sizeof(uint64_t)));
    assert_int_not_equal(errno, 0);
    expect(&column, 10000, 4);
    assert_int_equal(column.file, 0);
    fill(&column, 10000, 50000, 4);
    expect(&column, 50000, 4);
    nd_column_release(&column);
    assert_true(nd_column_back(&column, fd, 0)); /* nothing is written yet */
    assert_false(nd_column_reserve(&column, 1, 8));
    assert_null(column.data);
    nd_column_release(&column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_goes_on_in_its_file),
        cmocka_unit_test(a_column_that_began_with_a_file_goes_on_in_another),
        cmocka_unit_test(a_file_that_cannot_be_written_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
