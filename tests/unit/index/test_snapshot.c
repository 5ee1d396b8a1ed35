/* test_snapshot.c - an index that was saved and opened is the index; a damaged file is none */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "index/live.h"
#include "index/live_state.h"
#include "index/snapshot.h"

static char folder[] = "/tmp/test_snapshot-XXXXXX";
static char path[64];

static struct nd_sketch sketch_of(unsigned i)
{
    struct nd_sketch s = {
        .simhash = nd_mix64(i % 97), .identity = nd_mix64(i) | 1, .n_shingles = 100};

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++) {
        uint64_t own = nd_mix64((uint64_t)i << 8 | m);

        s.minhash[m] = (uint32_t)(own % 100 < 15 ? own >> 8 : nd_mix64((i % 997) << 8 | m));
    }
    return s;
}

static void insert(struct nd_index *index, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct nd_sketch s = sketch_of(i);
        uint32_t number;

        assert_int_equal(nd_index_insert(index, &s, i % 3, &number, NULL), ND_OK);
        assert_int_equal(number, i);
    }
}

static void delete_some(struct nd_index *index, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i += 7)
        (void)nd_index_delete(index, i, NULL);
}

static void expect_same(const struct nd_index *a, const struct nd_index *b, unsigned n)
{
    assert_int_equal(nd_index_count(a), nd_index_count(b));
    for (unsigned i = 0; i < n; i += 17) {
        struct nd_candidates of_a = {0}, of_b = {0};
        struct nd_sketch s = sketch_of(i);

        assert_int_equal(nd_index_query(a, &s, i % 3, &of_a), ND_OK);
        assert_int_equal(nd_index_query(b, &s, i % 3, &of_b), ND_OK);
        assert_int_equal(of_a.count, of_b.count);
        if (of_a.count)
            assert_memory_equal(of_a.items, of_b.items, of_a.count * sizeof *of_a.items);
        nd_candidates_release(&of_a);
        nd_candidates_release(&of_b);
    }
}

static struct nd_index *new_index(void)
{
    struct nd_index_params params = {12, 6, 3};
    struct nd_index *index = nd_index_new(&params, NULL);

    assert_non_null(index);
    return index;
}

static struct nd_index *reopened(const struct nd_index *index)
{
    unsigned char note[ND_INDEX_NOTE_MAX];
    struct nd_error err = {0};
    struct nd_index *opened;
    size_t len, n_left;

    assert_int_equal(nd_index_save(index, path, "change 17", 9, &err), ND_OK);
    opened = nd_index_open_unchecked(path, note, &len, &err);
    if (!opened)
        fail_msg("%s", err.message);
    assert_int_equal(len, 9);
    assert_memory_equal(note, "change 17", 9);
    assert_int_equal(nd_index_check(opened, 1, &n_left, &err), ND_OK);
    assert_int_equal(nd_index_check(opened, SIZE_MAX, &n_left, &err), ND_OK);
    assert_int_equal(n_left, 0);
    return opened;
}

/* Large enough that columns grow beyond the file, and tables twice more. */
static void what_was_opened_goes_on_as_the_original(void **state)
{
    struct nd_index *index = new_index(), *opened;
    uint32_t *new_numbers;
    size_t n, other;

    (void)state;
    insert(index, 0, 20000);
    delete_some(index, 0, 20000);
    opened = reopened(index);
    expect_same(index, opened, 20000);
    assert_int_equal(unlink(path), 0); /* what is mapped stays */
    insert(index, 20000, 60000);
    insert(opened, 20000, 60000);
    delete_some(index, 3, 60000);
    delete_some(opened, 3, 60000);
    expect_same(index, opened, 60000);
    assert_int_equal(nd_index_compact(index, &new_numbers, &n, NULL), ND_OK);
    free(new_numbers);
    assert_int_equal(nd_index_compact(opened, NULL, &other, NULL), ND_OK);
    assert_int_equal(n, other);
    expect_same(index, opened, 60000);
    nd_index_free(opened);
    opened = reopened(index);
    nd_index_clear(opened);
    assert_int_equal(nd_index_count(opened), 0);
    insert(opened, 0, 100);
    nd_index_free(opened);
    nd_index_free(index);
}

static void an_index_is_saved_while_its_tables_grow(void **state)
{
    struct nd_index *index = new_index(), *opened;
    unsigned n = 0;

    (void)state;
    for (; !index->growth || n % 1000 != 999; n++)
        insert(index, n, n + 1);
    opened = reopened(index);
    expect_same(index, opened, n);
    insert(opened, n, n + 3000);
    insert(index, n, n + 3000);
    expect_same(index, opened, n + 3000);
    nd_index_free(opened);
    nd_index_free(index);
}

static void an_empty_index_is_saved(void **state)
{
    struct nd_index *index = new_index(), *opened = reopened(index);

    (void)state;
    insert(opened, 0, 10);
    assert_int_equal(nd_index_count(opened), 10);
    nd_index_free(opened);
    nd_index_free(index);
}

/* Documents that an engine leaves out of full tables. */
static void sets_of_tables_are_saved(void **state)
{
    struct nd_index *index = new_index(), *opened;
    uint64_t n_keys;

    (void)state;
    for (unsigned i = 0; i < 500; i++) {
        struct nd_sketch s = sketch_of(i);
        struct nd_index_row row;
        uint32_t number;

        nd_index_row_from_sketch(&row, &s, i % 3);
        row.left_out.word[0] = i % 5 ? 0 : 0x2B;
        assert_int_equal(nd_index_add(index, &row, &number, NULL), ND_OK);
    }
    opened = reopened(index);
    assert_int_equal(nd_index_crowded(opened, &n_keys), 100);
    assert_int_equal(n_keys, 400);
    expect_same(index, opened, 500);
    nd_index_free(opened);
    nd_index_free(index);
}

static unsigned char *contents(size_t *size)
{
    struct stat st;
    unsigned char *data;
    int fd = open(path, O_RDONLY);

    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    *size = (size_t)st.st_size;
    data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(read(fd, data, *size), (ssize_t)*size);
    close(fd);
    return data;
}

static void put(const unsigned char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CREAT, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

/* Whether the file opens and is right: said at once, or by the check that comes later. */
static enum nd_status verdict(struct nd_error *err)
{
    struct nd_index *index = nd_index_open(path, NULL, NULL, err);
    enum nd_status status = index ? ND_OK : err->status;

    nd_index_free(index);
    index = nd_index_open_unchecked(path, NULL, NULL, err);
    if (index)
        assert_int_equal(nd_index_check(index, SIZE_MAX, NULL, err), status);
    else
        assert_int_equal(err->status, status);
    nd_index_free(index);
    return status;
}

static void every_damaged_byte_is_found(void **state)
{
    struct nd_snapshot_header header;
    struct nd_snapshot_place place[ND_SNAPSHOT_SECTIONS];
    struct nd_index *index = new_index();
    struct nd_error err = {0};
    unsigned char *data;
    uint64_t n_chunks;
    size_t size;

    (void)state;
    insert(index, 0, 700);
    assert_int_equal(nd_index_save(index, path, NULL, 0, &err), ND_OK);
    nd_index_free(index);
    data = contents(&size);
    memcpy(&header, data, sizeof header);
    assert_int_equal(nd_snapshot_lay_out(&header, place, &n_chunks), size);
    for (unsigned s = 0; s <= ND_SNAPSHOT_SECTIONS + 1; s++) {
        size_t at = s < ND_SNAPSHOT_SECTIONS    ? (size_t)(place[s].offset + place[s].bytes / 2)
                    : s == ND_SNAPSHOT_SECTIONS ? 100
                                                : ND_SNAPSHOT_PAGE + 9;

        if (s < ND_SNAPSHOT_SECTIONS && !place[s].bytes)
            continue;
        data[at] ^= 4;
        put(data, size);
        assert_int_equal(verdict(&err), ND_EINPUT);
        assert_non_null(strstr(err.message, path));
        data[at] ^= 4;
    }
    put(data, size);
    assert_int_equal(verdict(&err), ND_OK);
    for (size_t cut = 0; cut < size; cut += cut < 8192 ? 1000 : size / 20) {
        put(data, cut);
        assert_int_equal(verdict(&err), ND_EINPUT);
    }
    free(data);
}

static void what_is_no_snapshot_is_refused(void **state)
{
    static const unsigned char text[8192] = "a text";
    struct nd_error err = {0};
    struct nd_index *index = new_index();
    unsigned char *data;
    size_t size;

    (void)state;
    put(text, sizeof text);
    assert_int_equal(verdict(&err), ND_EINPUT);
    assert_non_null(strstr(err.message, "not a snapshot"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(verdict(&err), ND_EIO);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(verdict(&err), ND_EINPUT);
    assert_int_equal(unlink(path), 0);
    assert_null(nd_index_open(folder, NULL, NULL, &err));
    assert_int_equal(nd_index_save(index, path, text, ND_INDEX_NOTE_MAX + 1, &err), ND_EINVAL);
    assert_int_equal(nd_index_save(index, "/no/such/folder/x", NULL, 0, &err), ND_EIO);
    assert_int_equal(nd_index_save(index, path, text, ND_INDEX_NOTE_MAX, &err), ND_OK);
    data = contents(&size);
    data[8] = 3;
    put(data, size);
    assert_int_equal(verdict(&err), ND_EINPUT);
    assert_non_null(strstr(err.message, "version 3"));
    free(data);
    nd_index_free(index);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/x", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_opened_goes_on_as_the_original),
        cmocka_unit_test(an_index_is_saved_while_its_tables_grow),
        cmocka_unit_test(an_empty_index_is_saved),
        cmocka_unit_test(sets_of_tables_are_saved),
        cmocka_unit_test(every_damaged_byte_is_found),
        cmocka_unit_test(what_is_no_snapshot_is_refused),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
