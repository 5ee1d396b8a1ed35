/* test_live_backed.c - a live index with its columns in files: the same index; rebuilt from rows;
 * saved while it goes on; the disk full; allocations that fail */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "base/thread/pool.h"
#include "base/thread/thread.h"
#include "failing_malloc.h"
#include "index/live.h"
#include "index/live_state.h"

static char folder[] = "/tmp/test_live_backed-XXXXXX";
static char path[64];

/* Sketches in families, some of whose minima are their own. */
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

static struct nd_index *new_index(void)
{
    struct nd_index *index = nd_index_new(&(struct nd_index_params){12, 6, 3}, NULL);

    assert_non_null(index);
    index->together_max = 0; /* so that few documents suffice for tables that grow in turn */
    return index;
}

static struct nd_index *new_backed(void)
{
    struct nd_index *index = new_index();
    struct nd_error err;

    if (nd_index_back_columns(index, folder, &err) != ND_OK)
        fail_msg("%s", err.message);
    return index;
}

static void insert(struct nd_index *index, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        struct nd_sketch s = sketch_of(i);
        uint32_t number;

        assert_int_equal(nd_index_insert(index, &s, i % 3, &number, NULL), ND_OK);
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

static struct nd_index *opened(void)
{
    struct nd_error err = {0};
    struct nd_index *index = nd_index_open(path, NULL, NULL, &err);

    if (!index)
        fail_msg("%s", err.message);
    index->together_max = 0;
    return index;
}

/* An index whose tables all have room from the start: the slow way. */
static struct nd_index *roomy(unsigned n)
{
    struct nd_index *index = new_index();

    assert_int_equal(nd_index_reserve(index, n, NULL), ND_OK);
    return index;
}

static void columns_in_files_change_nothing(void **state)
{
    enum { DOCUMENTS = 40000 };
    struct nd_index *plain = roomy(DOCUMENTS), *backed = new_backed();

    (void)state;
    assert_int_equal(nd_index_back_columns(backed, folder, NULL), ND_EINVAL);
    for (unsigned n = 0; n < DOCUMENTS; n += 5000) {
        insert(plain, n, n + 5000);
        insert(backed, n, n + 5000);
        delete_some(plain, n % 7, n);
        delete_some(backed, n % 7, n);
        expect_same(plain, backed, n);
    }
    assert_null(plain->growth);
    assert_int_equal(nd_index_compact(plain, NULL, NULL, NULL), ND_OK);
    assert_int_equal(nd_index_compact(backed, NULL, NULL, NULL), ND_OK);
    expect_same(plain, backed, DOCUMENTS);
    nd_index_clear(plain);
    nd_index_clear(backed);
    insert(plain, 0, 1000);
    insert(backed, 0, 1000);
    expect_same(plain, backed, 1000);
    assert_int_equal(nd_index_compact(backed, NULL, NULL, NULL), ND_OK);
    nd_index_free(plain);
    nd_index_free(backed);
}

/* Never are two tables in growth, and never do the tables have much more than they need. */
static void large_tables_grow_in_turn(void **state)
{
    enum { DOCUMENTS = 120000 };
    struct nd_index *index = new_backed(), *same = roomy(DOCUMENTS);
    size_t most = 0;

    (void)state;
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        size_t bytes = nd_live_tables_bytes(index) + nd_live_growth_bytes(index);

        insert(index, i, i + 1);
        insert(same, i, i + 1);
        if (i % 5 == 0) {
            (void)nd_index_delete(index, i / 2, NULL);
            (void)nd_index_delete(same, i / 2, NULL);
        }
        if (i > DOCUMENTS / 2) /* 6.7 bytes an entry at a load of 80% */
            most = bytes / nd_index_count(index) > most ? bytes / nd_index_count(index) : most;
    }
    expect_same(index, same, DOCUMENTS);
    assert_in_range(most, 17 * 6, 17 * 12);
    assert_int_equal(index->block.bytes, 0);
    assert_null(same->growth);
    nd_index_free(index);
    nd_index_free(same);
}

enum { ROWS_MAX = 3000 };

/* Append rows in order of their numbers, every seventh number deleted, and list them together. */
static enum nd_status add_rows(struct nd_index *index, unsigned from, unsigned n,
                               struct nd_pool *pool)
{
    static struct nd_index_row row[ROWS_MAX];
    static const struct nd_index_row *listed[ROWS_MAX];
    static uint32_t number[ROWS_MAX];
    size_t n_listed = 0;

    assert_in_range(n, 0, ROWS_MAX);
    for (unsigned i = from; i < from + n; i++) {
        struct nd_sketch s = sketch_of(i);

        if (i % 7 == 0) {
            if (nd_index_append_deleted(index, 1, NULL) != ND_OK)
                return ND_ENOMEM;
            continue;
        }
        nd_index_row_from_sketch(&row[n_listed], &s, i % 3);
        row[n_listed].left_out.word[0] = i % 101 ? 0 : UINT64_C(1) << i % 12;
        if (nd_index_append(index, &row[n_listed], &number[n_listed], NULL) != ND_OK)
            return ND_ENOMEM;
        assert_int_equal(number[n_listed], i);
        listed[n_listed] = &row[n_listed];
        n_listed++;
    }
    return nd_index_list(index, number, listed, n_listed, pool, NULL);
}

static void an_index_is_rebuilt_from_rows(void **state)
{
    enum { DOCUMENTS = 20000, TOGETHER = 1000 };
    struct nd_index *same = roomy(DOCUMENTS);

    (void)state;
    for (unsigned n = 0; n < DOCUMENTS; n += TOGETHER)
        assert_int_equal(add_rows(same, n, TOGETHER, NULL), ND_OK);
    for (unsigned threads = 0; threads < 4; threads += 3)
        for (unsigned reserved = 300; reserved <= DOCUMENTS; reserved *= 8) {
            struct nd_pool *pool = threads ? nd_pool_new(threads, NULL) : NULL;
            struct nd_index *index = new_backed();

            assert_int_equal(nd_index_append_deleted(index, 0, NULL), ND_OK);
            assert_int_equal(nd_index_reserve(index, reserved, NULL), ND_OK);
            for (unsigned n = 0; n < DOCUMENTS; n += TOGETHER)
                assert_int_equal(add_rows(index, n, TOGETHER, pool), ND_OK);
            assert_int_equal(nd_index_reserve(index, 3 * DOCUMENTS, NULL), ND_OK);
            expect_same(index, same, DOCUMENTS);
            insert(index, DOCUMENTS, DOCUMENTS + 5000);
            for (unsigned i = 0; i < 5000; i++)
                assert_int_equal(nd_index_delete(index, DOCUMENTS + i, NULL), ND_OK);
            expect_same(index, same, DOCUMENTS);
            if (threads) {
                assert_int_equal(nd_index_compact(index, NULL, NULL, NULL), ND_OK);
                assert_int_equal(nd_index_compact(same, NULL, NULL, NULL), ND_OK);
                expect_same(index, same, DOCUMENTS);
            }
            nd_index_free(index);
            nd_pool_free(pool);
            if (threads)
                break;
        }
    nd_index_free(same);
}

static void an_empty_index_is_frozen(void **state)
{
    struct nd_index *index = new_backed(), *frozen;

    (void)state;
    frozen = nd_index_freeze(index, NULL);
    assert_non_null(frozen);
    assert_int_equal(nd_index_save(frozen, path, NULL, 0, NULL), ND_OK);
    nd_index_free(frozen);
    nd_index_free(index);
    index = opened();
    assert_int_equal(nd_index_back_columns(index, folder, NULL), ND_OK);
    insert(index, 0, 100);
    assert_int_equal(nd_index_count(index), 100);
    nd_index_free(index);
}

static void save_frozen(void *context)
{
    struct nd_error err = {0};

    if (nd_index_save(context, path, "5", 1, &err) != ND_OK)
        fail_msg("%s", err.message);
}

/* Save in a thread: it is the index as it was, whatever the writer does meanwhile. */
static struct nd_index *saved_meanwhile(struct nd_index *index, unsigned n)
{
    struct nd_index *frozen = nd_index_freeze(index, NULL);
    struct nd_thread thread;

    assert_non_null(frozen);
    assert_true(nd_thread_start(&thread, save_frozen, frozen));
    insert(index, n, n + 9000);
    delete_some(index, 1, n + 9000);
    nd_thread_join(&thread);
    nd_index_free(frozen);
    return opened();
}

static void an_index_is_saved_while_it_goes_on(void **state)
{
    struct nd_index *index = new_backed(), *same = roomy(60000), *again;

    (void)state;
    for (unsigned n = 0; n <= 36000; n += 9000) {
        again = saved_meanwhile(index, n);
        expect_same(again, same, n);
        insert(same, n, n + 9000);
        delete_some(same, 1, n + 9000);
        expect_same(index, same, n + 9000);
        if (n % 18000) { /* go on with what was saved, a part of which stays in its file */
            nd_index_free(index);
            index = again;
            assert_int_equal(nd_index_back_columns(index, folder, NULL), ND_OK);
            insert(index, n, n + 9000);
            delete_some(index, 1, n + 9000);
        } else {
            nd_index_free(again);
        }
    }
    assert_int_equal(nd_index_compact(index, NULL, NULL, NULL), ND_OK);
    assert_int_equal(nd_index_compact(same, NULL, NULL, NULL), ND_OK);
    again = saved_meanwhile(index, 45000);
    expect_same(again, same, 45000);
    nd_index_clear(again);
    assert_null(nd_index_freeze(again, NULL)); /* in memory */
    nd_index_free(again);
    nd_index_clear(index);
    insert(index, 0, 2000);
    nd_index_clear(same);
    insert(same, 0, 2000);
    again = saved_meanwhile(index, 2000);
    expect_same(again, same, 2000);
    nd_index_free(again);
    nd_index_free(index);
    nd_index_free(same);
}

/* Documents that are left out of some tables. */
static void a_frozen_index_has_its_sets_of_tables(void **state)
{
    struct nd_index *index = new_backed(), *frozen, *again;
    uint64_t n_keys;

    (void)state;
    for (unsigned i = 0; i < 30000; i++) {
        struct nd_sketch s = sketch_of(i);
        struct nd_index_row row;
        uint32_t number;

        nd_index_row_from_sketch(&row, &s, i % 3);
        row.left_out.word[0] = i < 500 && i % 5 == 0 ? 0x2B : 0;
        assert_int_equal(nd_index_insert_row(index, &row, &number, NULL), ND_OK);
    }
    for (unsigned round = 0; round < 3; round++) { /* the second time, of columns that are mapped */
        frozen = nd_index_freeze(index, NULL);
        assert_non_null(frozen);
        save_frozen(frozen);
        again = opened();
        assert_int_equal(nd_index_crowded(again, &n_keys), 100);
        assert_int_equal(n_keys, 400);
        expect_same(index, again, 30000);
        nd_index_free(frozen);
        nd_index_free(index);
        index = again;
        assert_int_equal(nd_index_back_columns(index, folder, NULL), ND_OK);
        insert(index, 30000 + 1000 * round, 31000 + 1000 * round);
    }
    nd_index_free(index);
}

/* Nothing changes where a document has no room, and once there is room it goes on. */
static void a_full_disk_is_an_error(void **state)
{
    struct nd_index *index = new_backed(), *same = roomy(20000);
    struct rlimit before, small;
    struct nd_error err = {0};
    struct nd_sketch s;
    uint32_t number;
    unsigned n = 0;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (enum nd_status status = ND_OK; status == ND_OK; n++) {
        assert_in_range(n, 0, 10000);
        s = sketch_of(n);
        status = nd_index_insert(index, &s, n % 3, &number, &err);
    }
    n--;
    assert_int_equal(err.status, ND_EIO);
    assert_non_null(strstr(err.message, folder));
    assert_int_equal(nd_index_append_deleted(index, 1 << 20, &err), ND_EIO);
    insert(same, 0, n);
    expect_same(index, same, n);
    assert_int_equal(nd_index_compact(index, NULL, NULL, &err), ND_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    insert(index, n, 20000);
    insert(same, n, 20000);
    expect_same(index, same, 20000);
    nd_index_free(index);
    nd_index_free(same);
    index = new_index();
    assert_int_equal(nd_index_back_columns(index, "/no/such/folder", &err), ND_EIO);
    assert_non_null(strstr(err.message, "/no/such/folder"));
    nd_index_free(index);
}

#if !HAS_OWN_MALLOC
/* Grow, rebuild, freeze, save, open and compact, until nothing fails; false: something did. */
static bool go_through(struct nd_index *index, struct nd_index *rebuilt)
{
    struct nd_index *frozen, *again;
    enum nd_status status;
    bool all = true;
    struct nd_error err;

    for (unsigned i = 20000; all && i < 20400; i++) {
        struct nd_sketch s = sketch_of(i);
        uint32_t number;

        status = nd_index_insert(index, &s, i % 3, &number, &err);
        assert_true(status == ND_OK || status == ND_ENOMEM);
        all = status == ND_OK;
    }
    frozen = nd_index_freeze(index, &err);
    if (!frozen || (status = nd_index_save(frozen, path, NULL, 0, &err)) != ND_OK)
        all = false;
    else if ((again = nd_index_open(path, NULL, NULL, &err)) != NULL) {
        all = nd_index_back_columns(again, folder, &err) == ND_OK && all;
        nd_index_free(again);
    } else {
        all = false;
    }
    nd_index_free(frozen);
    all = add_rows(rebuilt, 3000, 3000, NULL) == ND_OK && all;
    return nd_index_compact(index, NULL, NULL, &err) == ND_OK && all;
}

static void allocations_that_fail_change_nothing(void **state)
{
    bool all = false;

    (void)state;
    for (long k = 1; !all; k++) {
        struct nd_index *index = new_backed(), *same = new_index(), *rebuilt = new_backed();
        size_t n;

        assert_in_range(k, 1, 500);
        insert(index, 0, 20000);
        assert_int_equal(add_rows(rebuilt, 0, 3000, NULL), ND_OK);
        until_failure = k;
        all = go_through(index, rebuilt);
        until_failure = 0;
        n = nd_index_count(index);
        insert(same, 0, (unsigned)n);
        expect_same(index, same, (unsigned)n);
        insert(index, (unsigned)n, (unsigned)n + 3000);
        insert(same, (unsigned)n, (unsigned)n + 3000);
        expect_same(index, same, (unsigned)n + 3000);
        nd_index_free(index);
        nd_index_free(same);
        nd_index_free(rebuilt);
    }
}
#endif

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
        cmocka_unit_test(columns_in_files_change_nothing),
        cmocka_unit_test(large_tables_grow_in_turn),
        cmocka_unit_test(an_index_is_rebuilt_from_rows),
        cmocka_unit_test(an_empty_index_is_frozen),
        cmocka_unit_test(an_index_is_saved_while_it_goes_on),
        cmocka_unit_test(a_frozen_index_has_its_sets_of_tables),
        cmocka_unit_test(a_full_disk_is_an_error),
#if !HAS_OWN_MALLOC
        cmocka_unit_test(allocations_that_fail_change_nothing),
#endif
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
