/* test_catalog_faults.c - a database made, opened and copied where calls of the system fail */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "../unit/failing_wraps.h"
#include "catalog_fixture.h"

int __real_open(const char *name, int flags, ...);
int __wrap_open(const char *name, int flags, ...);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_fallocate(int fd, int mode, off_t offset, off_t bytes);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes);

enum call { OPEN, FSYNC, RENAME, FALLOCATE, CALLS };
static enum call failing = CALLS;
static int calls_left; /* until the failing one */
static bool was_reached;

static bool call_fails(enum call call)
{
    if (call != failing || calls_left-- > 0)
        return false;
    was_reached = true;
    errno = EIO;
    return true;
}

int __wrap_open(const char *name, int flags, ...)
{
    return call_fails(OPEN) ? -1 : __real_open(name, flags, 0600);
}

int __wrap_fsync(int fd)
{
    return call_fails(FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return call_fails(RENAME) ? -1 : __real_rename(from, to);
}

int __wrap_fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    return call_fails(FALLOCATE) ? -1 : __real_fallocate(fd, mode, offset, bytes);
}

static void make_folder(struct catalog_fixture *f)
{
    f->catalog = NULL;
    (void)strcpy(f->folder, "/tmp/neardup-test-catalog-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
}

static size_t files_in(const char *folder)
{
    DIR *open_folder = opendir(folder);
    size_t n = 0;

    assert_non_null(open_folder);
    while (readdir(open_folder))
        n++;
    (void)closedir(open_folder);
    return n - 2;
}

/* ---- Making, opening, copying ---- */

static enum nd_status make_one(struct catalog_fixture *f, struct nd_error *err)
{
    f->catalog = nd_catalog_open(f->folder, true, false, err);
    return f->catalog ? ND_OK : err->status;
}

static void what_could_not_be_made_is_not_there(void **state)
{
    struct catalog_fixture f;
    struct nd_error err = {0};

    (void)state;
    for (enum call call = OPEN; call <= RENAME; call++)
        for (int n = 0;; n++) {
            make_folder(&f);
            failing = call;
            calls_left = n;
            was_reached = false;
            if (make_one(&f, &err) != ND_OK) {
                assert_int_equal(err.status, ND_EIO);
                assert_non_null(strstr(err.message, strerror(EIO)));
            }
            failing = CALLS;
            if (!was_reached) {
                assert_true(n > 0);
                fixture_remove(&f);
                break;
            }
            assert_null(f.catalog);
            /* After its name was given, all that was left was to sync the folder: it is whole. */
            if (files_in(f.folder) > 0)
                fixture_open(&f);
            fixture_remove(&f);
        }
}

static void without_memory_none_is_made_or_opened(void **state)
{
    struct catalog_fixture f;
    struct nd_error err = {0};
    long n = 0;

    (void)state;
    for (;; n++) {
        enum nd_status status;

        make_folder(&f);
        atomic_store(&has_failed, 0);
        atomic_store(&countdown, n);
        status = make_one(&f, &err);
        atomic_store(&countdown, -1);
        if (!atomic_load(&has_failed))
            break;
        if (status != ND_OK) {
            assert_int_equal(err.status, ND_ENOMEM);
            if (files_in(f.folder) > 0)
                fixture_open(&f);
        }
        fixture_remove(&f);
    }
    assert_true(n > 5);
    fixture_remove(&f);
}

static void without_memory_no_transaction_begins(void **state)
{
    struct catalog_fixture f;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    atomic_store(&countdown, 0);
    assert_int_equal(nd_catalog_begin(f.catalog, true, &txn, NULL), ND_ENOMEM);
    atomic_store(&countdown, -1);
    txn = begin(&f, true);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void a_copy_that_failed_is_not_there(void **state)
{
    struct catalog_fixture f, copy;
    struct nd_error err;

    (void)state;
    fixture_make(&f);
    make_folder(&copy);
    for (enum call call = OPEN; call <= FSYNC; call++)
        for (int n = 0;; n++) {
            enum nd_status status;

            failing = call;
            calls_left = n;
            was_reached = false;
            status = nd_catalog_copy(f.catalog, copy.folder, &err);
            failing = CALLS;
            if (!was_reached) {
                assert_int_equal(status, ND_OK);
                assert_int_equal(unlink(fixture_path(&copy, ND_CATALOG_FILE)), 0);
                break;
            }
            assert_int_equal(status, ND_EIO);
            assert_int_equal(files_in(copy.folder), 0);
        }
    fixture_remove(&f);
    fixture_remove(&copy);
}

/* ---- A file that ends before its last page ---- */

static void put_sets(struct catalog_fixture *f, uint32_t first, uint32_t n)
{
    static char bytes[8000];
    struct nd_txn *txn = begin(f, true);

    for (uint32_t i = first; i < first + n; i++)
        assert_int_equal(
            nd_catalog_put_label_set(txn, i, (struct nd_view){bytes, sizeof bytes}, NULL), ND_OK);
    commit(txn);
}

static void delete_sets(struct catalog_fixture *f, uint32_t first, uint32_t n)
{
    struct nd_txn *txn = begin(f, true);

    for (uint32_t i = first; i < first + n; i++) {
        struct nd_key key = {0};

        nd_key_add_32(&key, i);
        assert_int_equal(nd_catalog_delete(txn, ND_TABLE_LABEL_SETS, &key, NULL), ND_OK);
    }
    commit(txn);
}

static void assert_sets(struct catalog_fixture *f, uint32_t n)
{
    struct nd_txn *txn = begin(f, false);
    struct nd_key key;
    struct nd_view row;

    for (uint32_t i = 0; i < n; i++) {
        key = (struct nd_key){0};
        nd_key_add_32(&key, i);
        assert_int_equal(nd_catalog_get(txn, ND_TABLE_LABEL_SETS, &key, &row, NULL), 1);
        assert_int_equal(row.len, 8000);
        for (size_t at = 0; at < row.len; at++)
            assert_int_equal(row.data[at], 0);
    }
    nd_catalog_abort(txn);
}

/* As many pages as are free at the end may be missing: LMDB does not write pages that it has freed in
 * the transaction that made them. */
static void a_file_may_lack_free_pages_only(void **state)
{
    struct catalog_fixture f;
    struct nd_error err;
    uint64_t bytes;
    size_t n_opened = 0, n_refused = 0;

    (void)state;
    fixture_make(&f);
    put_sets(&f, 0, 5);
    put_sets(&f, 5, 40);
    delete_sets(&f, 5, 40);
    for (int i = 0; i < 8; i++) /* what is in use, the list of free pages too, moves forward */
        put_sets(&f, 5, 1);
    bytes = nd_catalog_bytes(f.catalog);
    nd_catalog_close(f.catalog);
    for (uint64_t kept = bytes - 4096; kept > bytes / 2; kept -= 4096) {
        int read_only = (int)(kept / 4096 % 2);

        assert_int_equal(truncate(fixture_path(&f, ND_CATALOG_FILE), (off_t)kept), 0);
        f.catalog = nd_catalog_open(f.folder, false, read_only, &err);
        if (!f.catalog) {
            assert_int_equal(err.status, ND_EINPUT);
            n_refused++;
            continue;
        }
        assert_int_equal(n_refused, 0);
        n_opened++;
        assert_sets(&f, 6);
        nd_catalog_close(f.catalog);
    }
    assert_true(n_opened > 0);
    f.catalog = NULL;
    fixture_remove(&f);
}

static void a_short_file_that_cannot_be_extended_is_refused(void **state)
{
    struct catalog_fixture f;
    struct nd_error err;

    (void)state;
    fixture_make(&f);
    put_sets(&f, 0, 40);
    delete_sets(&f, 0, 40);
    nd_catalog_close(f.catalog);
    f.catalog = NULL;
    assert_int_equal(truncate(fixture_path(&f, ND_CATALOG_FILE), 5 * 4096), 0);
    failing = FALLOCATE;
    calls_left = 0;
    assert_null(nd_catalog_open(f.folder, false, false, &err));
    failing = CALLS;
    assert_int_equal(err.status, ND_EINPUT);
    assert_non_null(strstr(err.message, "cannot be extended"));
    fixture_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_not_be_made_is_not_there),
        cmocka_unit_test(without_memory_none_is_made_or_opened),
        cmocka_unit_test(without_memory_no_transaction_begins),
        cmocka_unit_test(a_copy_that_failed_is_not_there),
        cmocka_unit_test(a_file_may_lack_free_pages_only),
        cmocka_unit_test(a_short_file_that_cannot_be_extended_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
