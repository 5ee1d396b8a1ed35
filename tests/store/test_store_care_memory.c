/* test_store_care_memory.c - each allocation of a check, a backup, an export and an import fails once */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/failing_wraps.h"
#include "store_content.h"

static void ignore(void *context, const char *finding)
{
    (void)finding;
    ++*(size_t *)context;
}

static int count(void *context, const struct nd_stored *document, const struct nd_version *versions,
                 size_t n)
{
    (void)document;
    (void)versions;
    (void)n;
    ++*(size_t *)context;
    return 0;
}

static enum nd_status check(struct fixture *f, struct fixture *copy)
{
    size_t n = 0;
    enum nd_status status = nd_store_check(f->store, ignore, &n, NULL);

    (void)copy;
    assert_int_equal(n, 0);
    return status;
}

static enum nd_status back_up(struct fixture *f, struct fixture *copy)
{
    return nd_store_backup(f->store, copy->folder, NULL);
}

static enum nd_status export(struct fixture *f, struct fixture *copy) {
    size_t n = 0;
    enum nd_store_result result = nd_session_each(f->session, f->admin, count, &n, NULL);

    (void)copy;
    assert_true(result == ND_STORE_OK || result == ND_STORE_NO_MEMORY);
    return result == ND_STORE_OK ? ND_OK : ND_ENOMEM;
}

/* A store that is only read has no thread whose allocations would fail, too. */
static void each_allocation_fails_once(enum nd_status (*act)(struct fixture *f,
                                                             struct fixture *copy))
{
    struct fixture f, copy;
    long n = 0;

    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 15);
    fixture_close(&f);
    f.options.read_only = true;
    fixture_open(&f);
    fixture_begin(&copy);
    for (;; n++) {
        enum nd_status status;

        atomic_store(&has_failed, 0);
        atomic_store(&countdown, n);
        status = act(&f, &copy);
        atomic_store(&countdown, -1);
        if (!atomic_load(&has_failed))
            break;
        if (status == ND_OK) { /* it did without, such as stdio without a buffer */
            fixture_end(&copy);
            fixture_begin(&copy);
        } else {
            assert_int_equal(status, ND_ENOMEM);
        }
    }
    assert_true(n > 3);
    fixture_close(&f);
    fixture_end(&f);
    fixture_end(&copy);
}

static void a_check_without_memory_says_so(void **state)
{
    (void)state;
    each_allocation_fails_once(check);
}

static void a_backup_without_memory_leaves_nothing(void **state)
{
    (void)state;
    each_allocation_fails_once(back_up);
}

static void an_export_without_memory_says_so(void **state)
{
    (void)state;
    each_allocation_fails_once(export);
}

/* The store's thread allocates, too: a document that it could not store is not there. */
static void an_import_without_memory_says_so(void **state)
{
    const struct nd_version version = {.number = 1, .text_bytes = 9};
    struct fixture f;
    size_t n_documents = 0, stored = 0;
    long n = 0;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    for (;; n++) {
        char id[16];
        struct nd_import document = {
            .text = {"some text", 9}, .versions = &version, .n_versions = 1};
        enum nd_store_result result;

        document.key.id = (struct nd_view){id, (size_t)snprintf(id, sizeof id, "%ld", n)};
        atomic_store(&has_failed, 0);
        atomic_store(&countdown, n);
        result = nd_store_import(f.session, &document, 1, NULL);
        atomic_store(&countdown, -1);
        stored += result == ND_STORE_OK;
        if (!atomic_load(&has_failed))
            break;
        assert_true(result == ND_STORE_OK || result == ND_STORE_NO_MEMORY ||
                    result == ND_STORE_FAILED);
    }
    assert_true(n > 3);
    assert_int_equal(nd_session_each(f.session, f.admin, count, &n_documents, NULL), ND_STORE_OK);
    assert_int_equal(n_documents, stored);
    fixture_close(&f);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_check_without_memory_says_so),
        cmocka_unit_test(a_backup_without_memory_leaves_nothing),
        cmocka_unit_test(an_export_without_memory_says_so),
        cmocka_unit_test(an_import_without_memory_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
