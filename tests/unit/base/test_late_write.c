/* test_late_write.c - bytes that are written late stand where they would if they were written at once
 */
#include "input_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/file/late_write.h"
#include "base/file/spool.h"

enum { WRITES = 40, PIECES = 3000 };

static void pieces_are_joined_where_they_touch(void **state)
{
    static const char text[] = "abcdef";
    struct nd_late_write w = {.n_pieces = 0};

    (void)state;
    assert_int_equal(nd_late_write_add(&w, text, 2, NULL), ND_OK);
    assert_int_equal(nd_late_write_add(&w, text + 2, 1, NULL), ND_OK);
    assert_int_equal(nd_late_write_add(&w, text, 0, NULL), ND_OK);
    assert_int_equal(nd_late_write_add(&w, text + 4, 2, NULL), ND_OK);
    assert_int_equal(w.n_pieces, 2);
    assert_int_equal(w.bytes, 5);
    nd_late_write_release(&w);
}

/* More than a system call takes, each apart from the next. */
static void many_pieces_are_written_in_order(void **state)
{
    static char text[2 * PIECES];
    struct nd_late_write w = {.n_pieces = 0};
    char *got;
    size_t len;

    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 23);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(nd_late_write_add(&w, text + 2 * i, 1, NULL), ND_OK);
    w.fd = open("many", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    w.offset = 5;
    assert_int_equal(nd_late_write_do(&w), ND_OK);
    assert_int_equal(w.n_pieces, 0);
    (void)close(w.fd);
    got = slurp("many", &len);
    assert_int_equal(len, 5 + PIECES);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(got[5 + i], text[2 * i]);
    free(got);
    nd_late_write_release(&w);
}

static void a_spool_has_the_same_bytes_in_any_order_of_writing(void **state)
{
    struct nd_spool *s = nd_spool_new(".", NULL);
    struct nd_late_write late[WRITES] = {{.n_pieces = 0}};
    struct nd_buffer all = {0};
    char text[WRITES];

    (void)state;
    assert_non_null(s);
    for (size_t i = 0; i < WRITES; i++) {
        text[i] = (char)('A' + i);
        if (i % 5 == 0)
            assert_int_equal(nd_spool_append(s, &text[i], 1, NULL, NULL), ND_OK);
        else
            assert_int_equal(nd_spool_append_late(s, &text[i], 1, &late[i], NULL, NULL), ND_OK);
    }
    for (size_t i = 0; i < WRITES; i++) { /* those that are not written are read all the same */
        assert_int_equal(nd_spool_read(s, i, 1, &all, NULL), ND_OK);
        assert_int_equal(all.data[0], text[i]);
    }
    for (size_t i = WRITES; i-- > 0;) {
        assert_int_equal(nd_spool_write_late(s, &late[i], NULL), ND_OK);
        nd_late_write_release(&late[i]);
    }
    assert_int_equal(nd_spool_bytes(s), WRITES);
    assert_int_equal(nd_spool_read(s, 0, WRITES, &all, NULL), ND_OK);
    assert_memory_equal(all.data, text, WRITES);
    nd_buffer_release(&all);
    nd_spool_free(s);
}

static void records_behind_one_another_are_read_before_they_are_written(void **state)
{
    static const char text[] = "one, two, three: and four";
    const struct nd_view record[] = {
        {text, 3}, {text + 5, 3}, {text + 8, 7}, {text, 0}, {text + 17, 8}};
    const size_t n = sizeof record / sizeof *record;
    struct nd_spool *s = nd_spool_new(".", NULL);
    struct nd_late_write late = {.n_pieces = 0};
    struct nd_buffer got = {0};
    uint64_t offset[5];

    (void)state;
    assert_non_null(s);
    for (unsigned written = 0; written < 3; written++) {
        for (size_t i = 0; i < n; i++)
            assert_int_equal(
                nd_spool_append_late(s, record[i].data, record[i].len, &late, &offset[i], NULL),
                ND_OK);
        for (unsigned twice = 0; twice < 2; twice++) {
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(nd_spool_read(s, offset[i], record[i].len, &got, NULL), ND_OK);
                assert_int_equal(got.len, record[i].len);
                assert_memory_equal(got.data, record[i].data, got.len);
            }
            assert_int_equal(nd_spool_write_late(s, &late, NULL), ND_OK);
        }
    }
    nd_late_write_release(&late);
    nd_buffer_release(&got);
    nd_spool_free(s);
}

static void a_spool_that_cannot_be_written_says_so(void **state)
{
    const struct rlimit small = {1 << 10, RLIM_INFINITY};
    static char text[1 << 12];
    struct nd_spool *s = nd_spool_new(".", NULL);
    struct nd_late_write late = {.n_pieces = 0};
    struct rlimit before;
    struct nd_error err;

    (void)state;
    assert_non_null(s);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_int_equal(nd_spool_append_late(s, text, sizeof text, &late, NULL, &err), ND_OK);
    assert_int_equal(nd_spool_write_late(s, &late, &err), ND_EIO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(err.message, "cannot be written: File too large"));
    nd_late_write_release(&late);
    nd_spool_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined_where_they_touch),
        cmocka_unit_test(many_pieces_are_written_in_order),
        cmocka_unit_test(a_spool_has_the_same_bytes_in_any_order_of_writing),
        cmocka_unit_test(records_behind_one_another_are_read_before_they_are_written),
        cmocka_unit_test(a_spool_that_cannot_be_written_says_so),
    };

    return cmocka_run_group_tests(tests, fixture_enter, fixture_leave);
}
