/* test_store_faults.c - a store without memory, on a full disk, and after a sync that failed */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <cmocka.h>

#include "../unit/failing_malloc.h"
#include "store_fixture.h"

ssize_t __real_pwrite(int fd, const void *data, size_t bytes, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __wrap_statvfs(const char *path, struct statvfs *out);

static atomic_bool disk_is_full, sync_fails;
static atomic_uint bytes_freed; /* on the disk, since it was full */

int __wrap_statvfs(const char *path, struct statvfs *out)
{
    (void)path;
    *out = (struct statvfs){.f_bsize = 1, .f_frsize = 1, .f_bavail = atomic_load(&bytes_freed)};
    return 0;
}

ssize_t __wrap_pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    if (atomic_load(&disk_is_full)) {
        errno = ENOSPC;
        return -1;
    }
    return __real_pwrite(fd, data, bytes, offset);
}

int __wrap_fdatasync(int fd)
{
    if (atomic_load(&sync_fails)) {
        errno = EIO;
        return -1;
    }
    return __real_fdatasync(fd);
}

static void fail_finding(void *context, const char *finding)
{
    (void)context;
    fail_msg("%s", finding);
}

static void check(struct fixture *f)
{
    struct nd_error err = {0};

    if (nd_store_check(f->store, fail_finding, NULL, &err) != ND_OK)
        fail_msg("%s", err.message);
}

static void text_of(unsigned number, char text[256])
{
    size_t len = 0;

    for (unsigned i = 0; i < 30; i++)
        len += (size_t)snprintf(text + len, 256 - len, "w%u ", number * 7 + i * i % 91);
}

enum { WRITES = 6 };

/* A new document, one with another text, one with the same, an equal text, a deletion, a new label
 * set; made before anything fails. */
static void make_writes(struct fixture *f, unsigned round, struct nd_write *write[WRITES])
{
    static const char *const ids[WRITES] = {"new",   "changed", "same",
                                            "equal", "deleted", "labelled"};
    char label[16], text[256];
    struct nd_view labels = {label, (size_t)snprintf(label, sizeof label, "label%u", round)};

    for (unsigned i = 0; i < WRITES; i++) {
        struct nd_write_request request = {.id = view(ids[i]), .is_deletion = i == 4};

        text_of(i == 2 ? 2 : i == 3 ? 1000 + round * 10 : 1000 + round * 10 + i, text);
        if (!request.is_deletion)
            request.text = view(text);
        if (i == 5) {
            request.labels = &labels;
            request.n_labels = 1;
        }
        assert_int_equal(nd_write_new(f->session, f->admin, &request, &write[i], NULL),
                         ND_STORE_OK);
    }
}

static void make_first(struct fixture *f)
{
    static const char *const ids[] = {"changed", "same", "deleted"};
    char text[256];

    for (unsigned i = 0; i < 3; i++) {
        text_of(i == 1 ? 2 : 500 + i, text);
        nd_write_free(post(f, ids[i], text));
    }
}

static uint64_t count_documents(struct fixture *f)
{
    struct nd_visible_stats stats;

    assert_int_equal(nd_session_visible_stats(f->session, f->admin, &stats, NULL), ND_STORE_OK);
    return stats.documents;
}

/* All writes of a transaction have this result. */
static void check_results(struct nd_write *const *write, enum nd_store_result expected)
{
    for (unsigned i = 0; i < WRITES; i++)
        if (nd_write_result(write[i])->result != expected)
            fail_msg("write %u: %d, %s", i, nd_write_result(write[i])->result,
                     nd_write_result(write[i])->message);
}

static void free_writes(struct nd_write *const *write)
{
    for (unsigned i = 0; i < WRITES; i++)
        nd_write_free(write[i]);
}

/* Each allocation of a transaction fails once: nothing of it is there. */
static void a_transaction_without_memory_changes_nothing(void **state)
{
#if HAS_OWN_MALLOC
    (void)state;
    skip();
#else
    struct nd_write *write[WRITES];
    struct fixture f;
    unsigned round = 0;
    bool is_done = false;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    make_first(&f);
    for (long step = 1; !is_done; step++) {
        struct nd_error err = {0};
        enum nd_store_result result;

        make_writes(&f, round, write);
        atomic_store(&until_failure, step);
        result = submit_and_wait(f.store, write, WRITES, &err);
        is_done = atomic_exchange(&until_failure, 0) > 0;
        if (result == ND_STORE_OK && nd_write_result(write[0])->result == ND_STORE_OK) {
            check_results(write, ND_STORE_OK);
            free_writes(write);
            round++;
            nd_write_free(post(&f, "deleted", "another document that is to be deleted"));
        } else {
            if (result == ND_STORE_OK)
                check_results(write, ND_STORE_NO_MEMORY);
            else
                assert_int_equal(result, ND_STORE_NO_MEMORY);
            free_writes(write);
        }
        assert_int_equal(count_documents(&f), round ? 5 + round : 3);
        check(&f);
    }
    assert_true(round > 0);
    fixture_close(&f);
    fixture_open(&f);
    check(&f);
    fixture_close(&f);
    fixture_end(&f);
#endif
}

static void a_full_disk_takes_nothing_and_later_everything(void **state)
{
    struct nd_write *write[WRITES];
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    make_first(&f);
    for (unsigned i = 0; i < 3; i++) {
        make_writes(&f, 0, write);
        atomic_store(&disk_is_full, true);
        assert_int_equal(submit_and_wait(f.store, write, WRITES, NULL), ND_STORE_OK);
        atomic_store(&disk_is_full, false);
        check_results(write, ND_STORE_NO_SPACE);
        free_writes(write);
        assert_int_equal(nd_store_ready(f.store, NULL), ND_STORE_NO_SPACE);
        bytes_freed = 1 << 20;
        assert_int_equal(nd_store_ready(f.store, NULL), ND_STORE_OK);
        bytes_freed = 0;
        assert_int_equal(count_documents(&f), 3);
        check(&f);
    }
    make_writes(&f, 0, write);
    assert_int_equal(submit_and_wait(f.store, write, WRITES, NULL), ND_STORE_OK);
    check_results(write, ND_STORE_OK);
    assert_int_equal(nd_store_ready(f.store, NULL), ND_STORE_OK);
    free_writes(write);
    assert_int_equal(count_documents(&f), 5);
    check(&f);
    /* The numbers that failed are in the snapshot, and in the database. */
    fixture_close(&f);
    fixture_open(&f);
    check(&f);
    fixture_close(&f);
    fixture_end(&f);
}

static void after_a_sync_that_failed_nothing_is_taken_until_it_is_opened_again(void **state)
{
    struct nd_write *write[WRITES];
    struct fixture f;
    struct nd_error err = {0};
    struct nd_verdict verdict;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    make_first(&f);
    make_writes(&f, 0, write);
    atomic_store(&sync_fails, true);
    assert_int_equal(submit_and_wait(f.store, write, WRITES, NULL), ND_STORE_OK);
    atomic_store(&sync_fails, false);
    check_results(write, ND_STORE_FAILED);
    assert_int_equal(submit_and_wait(f.store, write, WRITES, &err), ND_STORE_FAILED);
    assert_non_null(strstr(err.message, "opened again"));
    assert_int_equal(nd_store_ready(f.store, &err), ND_STORE_FAILED);
    free_writes(write);
    assert_int_equal(count_documents(&f), 3);
    assert_int_equal(nd_session_query(f.session, f.admin, view("some text to look for"), NULL, NULL,
                                      &verdict, NULL),
                     ND_STORE_OK);
    nd_caller_free(f.admin);
    nd_session_free(f.session);
    assert_int_equal(nd_store_close(f.store, &err), ND_EIO);
    fixture_open(&f);
    assert_int_equal(count_documents(&f), 3);
    make_writes(&f, 0, write);
    assert_int_equal(submit_and_wait(f.store, write, WRITES, NULL), ND_STORE_OK);
    check_results(write, ND_STORE_OK);
    free_writes(write);
    check(&f);
    fixture_close(&f);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_without_memory_changes_nothing),
        cmocka_unit_test(a_full_disk_takes_nothing_and_later_everything),
        cmocka_unit_test(after_a_sync_that_failed_nothing_is_taken_until_it_is_opened_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
