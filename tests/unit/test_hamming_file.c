/* test_hamming_file.c - index files: what was written is found, what was damaged is refused */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/hamming_file.h>

#include "base/hash.h"
#include "index/hamming_file.h"

static uint64_t seed;
static char path[] = "/tmp/test_hamming_file.XXXXXX";

static uint64_t any(void)
{
    return nd_mix64(++seed);
}

static int make_path(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    if (fd >= 0)
        close(fd);
    return fd < 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* Half of them equal or near to another one. */
static uint64_t *make(size_t n, unsigned bits, unsigned distance)
{
    uint64_t *row = malloc((n + 1) * sizeof *row), all = ~UINT64_C(0) >> (64 - bits);

    assert_non_null(row);
    for (size_t i = 0; i < n; i++) {
        row[i] = any() & all;
        if (i && any() % 2)
            row[i] = row[any() % i];
        for (uint64_t flips = any() % 3 ? any() % (distance + 2) : 0; flips; flips--)
            row[i] ^= UINT64_C(1) << any() % bits;
    }
    row[n] = 0;
    return row;
}

static void check(const struct nd_hamming_file *file, const uint64_t *row, const uint32_t *id,
                  size_t n, unsigned bits, unsigned distance)
{
    for (int q = 0; q < 40; q++) {
        uint64_t query = n && q % 4 ? row[any() % n] : any() & ~UINT64_C(0) >> (64 - bits);
        struct nd_hamming_matches got = {.at = NULL};
        size_t expected = 0;

        for (uint64_t flips = any() % (distance + 1); flips; flips--)
            query ^= UINT64_C(1) << any() % bits;
        assert_int_equal(nd_hamming_file_query(file, &query, 1, distance, &got, NULL), ND_OK);
        nd_hamming_matches_sort(&got);
        for (size_t i = 0; i < n; i++) {
            unsigned away = (unsigned)__builtin_popcountll(row[i] ^ query);
            bool found = false;

            expected += away <= distance;
            for (size_t j = 0; away <= distance && j < got.count; j++)
                found |= got.at[j].id == (id ? id[i] : i) && got.at[j].distance == away;
            assert_true(found || away > distance);
        }
        assert_int_equal(got.count, expected);
        nd_hamming_matches_release(&got);
    }
}

static void go_through(size_t n, unsigned bits, unsigned distance, unsigned tables, bool with_ids)
{
    struct nd_hamming_problem problem = {bits, distance, n};
    struct nd_hamming_plan plan;
    struct nd_hamming_file *file;
    uint64_t *row = make(n, bits, distance);
    uint32_t *id = malloc((n + 1) * sizeof *id);

    assert_non_null(id);
    for (size_t i = 0; i < n; i++)
        id[i] = (uint32_t)any();
    assert_int_equal(nd_hamming_file_plan(&problem, tables, &plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_write(path, &plan, row, with_ids ? id : NULL, n, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_design(file)->problem.count, n);
    assert_int_equal(nd_hamming_file_design(file)->tables, plan.tables);
    assert_true(nd_hamming_file_distinct(file) <= n);
    check(file, row, with_ids ? id : NULL, n, bits, distance);
    check(file, row, with_ids ? id : NULL, n, bits, distance / 2);
    nd_hamming_file_close(file);
    free(row);
    free(id);
}

static void what_was_written_is_found(void **state)
{
    static const unsigned bits[] = {32, 45, 63, 64};

    (void)state;
    for (size_t i = 0; i < 4; i++)
        for (unsigned distance = 0; distance <= 6; distance++)
            for (size_t n = 0; n < 3000; n = n * 9 + 1)
                go_through(n, bits[i], distance, 0, distance % 2);
    go_through(5000, 64, 3, 10, true);
    go_through(5000, 64, 3, 14, false);
}

static unsigned char *read_whole(size_t *len)
{
    FILE *in = fopen(path, "rb");
    unsigned char *data;

    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    *len = (size_t)ftell(in);
    rewind(in);
    data = malloc(*len);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *len, in), *len);
    fclose(in);
    return data;
}

/* Every length and, of each byte, one bit. */
static void a_damaged_file_is_refused(void **state)
{
    struct nd_hamming_file *file;
    unsigned char *data;
    size_t len;

    (void)state;
    go_through(100, 64, 3, 0, true);
    data = read_whole(&len);
    assert_int_equal(nd_hamming_file_init(&file, data, len, NULL), ND_OK);
    nd_hamming_file_close(file);
    for (size_t cut = 0; cut < len; cut++)
        assert_int_not_equal(nd_hamming_file_init(&file, data, cut, NULL), ND_OK);
    for (size_t i = 0; i < len; i++) {
        unsigned char bit = (unsigned char)(1u << any() % 8);

        data[i] ^= bit;
        assert_int_not_equal(nd_hamming_file_init(&file, data, len, NULL), ND_OK);
        data[i] ^= bit;
    }
    free(data);
}

static void what_cannot_be_written_leaves_the_old_file(void **state)
{
    struct nd_hamming_problem problem = {64, 3, 10};
    struct nd_hamming_plan plan;
    struct nd_hamming_file *file;
    uint64_t row[2] = {1, UINT64_C(1) << 50};
    struct nd_error err;

    (void)state;
    go_through(50, 64, 3, 0, false);
    problem.bits = 40;
    assert_int_equal(nd_hamming_file_plan(&problem, 0, &plan, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_write(path, &plan, row, NULL, 2, &err), ND_EINVAL);
    assert_int_equal(nd_hamming_file_write("/nonexistent/file", &plan, row, NULL, 1, &err), ND_EIO);
    assert_int_equal(nd_hamming_file_open(&file, "/nonexistent/file", &err), ND_EIO);
    problem.bits = 65;
    assert_int_equal(nd_hamming_file_plan(&problem, 0, &plan, NULL), ND_EUNSUPPORTED);
    assert_int_equal(nd_hamming_file_open(&file, path, NULL), ND_OK);
    assert_int_equal(nd_hamming_file_design(file)->problem.count, 50);
    assert_int_equal(nd_hamming_file_query(file, row, 1, 4, NULL, NULL), ND_EINVAL);
    nd_hamming_file_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_found),
        cmocka_unit_test(a_damaged_file_is_refused),
        cmocka_unit_test(what_cannot_be_written_leaves_the_old_file),
    };

    return cmocka_run_group_tests(tests, make_path, remove_path);
}
