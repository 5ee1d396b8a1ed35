/* test_columns.c - columns that are made side by side are each their own */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

enum { COLUMNS = 7, PAGE = 4096, SMALL = 1 << 16, HUGE = 2 << 20 };

/* None, less than a page, less than a huge page, one to be shared with nobody, and a last one. */
static const size_t wished[COLUMNS] = {100,  0, 3 * SMALL + 1, (64 << 20) + 5, 5 * HUGE / 2,
                                       8000, 0};

static void make(struct nd_column *column, size_t part)
{
    struct nd_column_request wish[COLUMNS];

    memset(column, 0, COLUMNS * sizeof *column);
    for (size_t i = 0; i < COLUMNS; i++)
        wish[i] = (struct nd_column_request){&column[i], wished[i] / part};
    assert_true(nd_columns_make(wish, COLUMNS));
}

/* Each page of a column, a long one at intervals, and its last byte. */
static void write_marks(const struct nd_column *column, size_t bytes, unsigned char mark)
{
    unsigned char *data = column->data;

    for (size_t at = 0; at<bytes; at += bytes> HUGE ? SMALL + PAGE : PAGE)
        data[at] = mark;
    data[bytes - 1] = mark;
}

static void expect_marks(const struct nd_column *column, size_t bytes, unsigned char mark)
{
    const unsigned char *data = column->data;

    for (size_t at = 0; at<bytes; at += bytes> HUGE ? SMALL + PAGE : PAGE)
        assert_int_equal(data[at], mark);
    assert_int_equal(data[bytes - 1], mark);
}

static void columns_have_what_they_wish_and_do_not_overlap(void **state)
{
    (void)state;
    for (size_t part = 1; part <= 64; part *= 4) {
        struct nd_column column[COLUMNS];

        make(column, part);
        for (size_t i = 0; i < COLUMNS; i++) {
            assert_true(column[i].bytes >= wished[i] / part);
            assert_int_equal(column[i].data != NULL, wished[i] != 0);
            if (column[i].bytes >= 64 << 20)
                assert_int_equal((uintptr_t)column[i].data % HUGE, 0);
        }
        for (unsigned char mark = 1; mark <= COLUMNS; mark++)
            if (column[mark - 1].bytes) {
                expect_marks(&column[mark - 1], column[mark - 1].bytes, 0);
                write_marks(&column[mark - 1], column[mark - 1].bytes, mark);
            }
        for (unsigned char mark = 1; mark <= COLUMNS; mark++) {
            if (column[mark - 1].bytes)
                expect_marks(&column[mark - 1], column[mark - 1].bytes, mark);
            nd_column_release(&column[mark - 1]);
        }
    }
}

/* In any order: what another column holds stays, and what is new is zero. */
static void each_grows_and_is_released_by_itself(void **state)
{
    static const unsigned char order[] = {5, 0, 4, 2, 3, 0, 5, 4, 3, 2};
    struct nd_column column[COLUMNS];
    size_t before[COLUMNS];

    (void)state;
    make(column, 1);
    for (unsigned char i = 0; i < COLUMNS; i++)
        if ((before[i] = column[i].bytes) != 0)
            write_marks(&column[i], before[i], i + 1);
    for (size_t turn = 0; turn < sizeof order; turn++) {
        struct nd_column *c = &column[order[turn]];
        size_t bytes = c->bytes;

        assert_true(nd_column_reserve(c, bytes + 1, 1));
        assert_true(c->bytes > bytes && c->bytes <= bytes + bytes / 8 + HUGE);
        for (size_t at = bytes; at < c->bytes; at += PAGE)
            assert_int_equal(((unsigned char *)c->data)[at], 0);
        for (unsigned char i = 0; i < COLUMNS; i++)
            if (before[i])
                expect_marks(&column[i], before[i], i + 1);
    }
    for (unsigned char i = COLUMNS; i-- > 0;) {
        nd_column_release(&column[i]);
        for (unsigned char j = 0; j < i; j++)
            if (before[j])
                expect_marks(&column[j], before[j], j + 1);
    }
}

static void what_is_too_much_makes_none(void **state)
{
    struct nd_column column[2] = {{.data = NULL}, {.data = NULL}};
    const struct nd_column_request wish[2] = {{&column[0], 1000}, {&column[1], SIZE_MAX / 2}};
    const struct nd_column_request large[2] = {{&column[0], 1000}, {&column[1], SIZE_MAX / 5}};

    (void)state;
    assert_false(nd_columns_make(wish, 2));
    assert_false(nd_columns_make(large, 2));
    assert_true(nd_columns_make(wish, 0));
    for (int i = 0; i < 2; i++)
        assert_true(column[i].data == NULL && column[i].bytes == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_what_they_wish_and_do_not_overlap),
        cmocka_unit_test(each_grows_and_is_released_by_itself),
        cmocka_unit_test(what_is_too_much_makes_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
