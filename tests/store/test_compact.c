/* test_compact.c - texts of deleted documents leave the disk, and nothing else does */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/hash.h"
#include "store/read/store_state.h"
#include "store/segments/segments_files.h"
#include "store/upkeep/compact.h"
#include "store_fixture.h"

enum { DOCUMENTS = 60, SMALL = 6000, DAY = 86400 };

/* Words that no other text has; the caller frees it. */
static char *text_of(unsigned number)
{
    char *text = malloc(4000);
    size_t len = 0;

    assert_non_null(text);
    for (unsigned i = 0; i < 60 + number % 40; i++)
        len += (size_t)snprintf(text + len, 4000 - len, "w%llx ",
                                (unsigned long long)nd_mix64(number * 1000 + i));
    return text;
}

static const char *id_of(unsigned number)
{
    static char id[32];

    snprintf(id, sizeof id, "d%u", number);
    return id;
}

static void post_number(struct fixture *f, unsigned id, unsigned text)
{
    char *words = text_of(text);
    struct nd_write *write = post(f, id_of(id), words);

    assert_int_equal(nd_write_result(write)->result, ND_STORE_OK);
    nd_write_free(write);
    free(words);
}

static void delete_number(struct fixture *f, unsigned id)
{
    const struct nd_write_request request = {.id = view(id_of(id)), .is_deletion = true};
    struct nd_write *write = write_one(f, f->admin, &request);

    assert_int_equal(nd_write_result(write)->result, ND_STORE_OK);
    nd_write_free(write);
}

/* All in one commit. */
static void post_all(struct fixture *f)
{
    struct nd_write *write[DOCUMENTS];
    struct nd_error err;

    for (unsigned i = 0; i < DOCUMENTS; i++) {
        char *words = text_of(i);
        const struct nd_write_request request = {.id = view(id_of(i)), .text = view(words)};

        assert_int_equal(nd_write_new(f->session, f->admin, &request, &write[i], &err),
                         ND_STORE_OK);
        free(words);
    }
    assert_int_equal(submit_and_wait(f->store, write, DOCUMENTS, &err), ND_STORE_OK);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        assert_int_equal(nd_write_result(write[i])->result, ND_STORE_OK);
        nd_write_free(write[i]);
    }
}

static void begin(struct fixture *f)
{
    fixture_begin(f);
    f->options.segment_bytes = SMALL;
    fixture_open(f);
    post_all(f);
}

static void end(struct fixture *f)
{
    fixture_close(f);
    fixture_end(f);
}

static uint64_t compact(struct fixture *f, bool all)
{
    struct nd_error err;
    uint64_t freed = UINT64_MAX;

    if (nd_store_compact(f->store, all, &freed, &err) != ND_OK)
        fail_msg("%s", err.message);
    return freed;
}

static void check_document(struct fixture *f, unsigned id, unsigned text)
{
    const struct nd_document_query query = {.id = view(id_of(id))};
    char *words = text_of(text);
    struct nd_stored found;
    struct nd_error err;

    if (nd_session_get(f->session, f->admin, &query, &found, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    assert_int_equal(found.text.len, strlen(words));
    assert_memory_equal(found.text.data, words, found.text.len);
    free(words);
}

static void report(void *context, const char *finding)
{
    (void)context;
    print_error("%s\n", finding);
}

static void check_rows(struct fixture *f)
{
    struct nd_txn *txn;
    uint64_t n_findings;

    assert_int_equal(nd_catalog_begin(f->store->catalog, false, &txn, NULL), ND_OK);
    assert_int_equal(nd_catalog_check(txn, report, NULL, &n_findings, NULL), ND_OK);
    assert_int_equal(n_findings, 0);
    nd_catalog_abort(txn);
}

/* ---- What the files have, by reading them from front to back ---- */

static void segment_path(const struct fixture *f, uint32_t segment, char *path, size_t size)
{
    snprintf(path, size, "%s/segments/%08u.seg", f->folder, segment);
}

static bool is_there(const struct fixture *f, uint32_t segment)
{
    char path[256];
    struct stat st;

    segment_path(f, segment, path, sizeof path);
    return stat(path, &st) == 0;
}

static bool file_has(int fd, struct nd_compressor *c, const char *words)
{
    struct nd_text_place place = {1, 0, ND_SEGMENT_HEADER, 0};
    struct nd_record_header header;
    bool has = false;

    while (!has && pread(fd, &header, sizeof header, (off_t)place.offset) == sizeof header) {
        struct nd_buffer record = {0}, text = {0};
        size_t bytes = sizeof header + header.packed;

        assert_true(nd_buffer_reserve(&record, bytes));
        assert_int_equal(pread(fd, record.data, bytes, (off_t)place.offset), bytes);
        assert_int_equal(
            nd_record_unpack(c, (struct nd_view){record.data, bytes}, NULL, &place, &text, NULL),
            ND_OK);
        has = text.len == strlen(words) && memcmp(text.data, words, text.len) == 0;
        nd_buffer_release(&record);
        nd_buffer_release(&text);
        place.offset += bytes;
    }
    return has;
}

static bool disk_has(const struct fixture *f, unsigned number)
{
    struct nd_compressor *c = nd_compressor_new();
    char *words = text_of(number);
    bool has = false;

    for (uint32_t segment = 1; segment < 200 && !has; segment++) {
        char path[256];
        int fd;

        segment_path(f, segment, path, sizeof path);
        fd = open(path, O_RDONLY);
        if (fd < 0)
            continue;
        has = file_has(fd, c, words);
        close(fd);
    }
    free(words);
    nd_compressor_free(c);
    return has;
}

static bool is_deleted(unsigned number)
{
    return number % 3 == 0;
}

/* Check that what is left is there, and what was deleted is not. */
static void check_all(struct fixture *f)
{
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        if (!is_deleted(i))
            check_document(f, i, i);
        assert_int_equal(disk_has(f, i), !is_deleted(i));
    }
    check_rows(f);
}

/* ---- Claims ---- */

static void a_deleted_text_leaves_the_disk_when_it_is_due(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        if (is_deleted(i))
            delete_number(&f, i);
    f.now += DAY - 1;
    assert_int_equal(compact(&f, false), 0);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        assert_true(disk_has(&f, i));
    f.now++;
    assert_true(compact(&f, false) > 0);
    check_all(&f);
    assert_int_equal(compact(&f, true), 0);
    fixture_close(&f);
    fixture_open(&f);
    check_all(&f);
    end(&f);
}

static void a_replaced_text_leaves_the_disk(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        if (is_deleted(i))
            post_number(&f, i, 1000 + i);
    assert_true(compact(&f, true) > 0);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        check_document(&f, i, is_deleted(i) ? 1000 + i : i);
        assert_int_equal(disk_has(&f, i), !is_deleted(i));
    }
    check_rows(&f);
    end(&f);
}

/* The segment that is appended to is no exception, and numbers are not used again. */
static void a_store_without_documents_has_no_texts(void **state)
{
    struct fixture f;
    uint32_t last = 0;

    (void)state;
    begin(&f);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        delete_number(&f, i);
    for (uint32_t segment = 1; segment < 200; segment++)
        last = is_there(&f, segment) ? segment : last;
    assert_true(last > 3);
    assert_true(compact(&f, true) > 0);
    for (uint32_t segment = 1; segment < 200; segment++)
        assert_false(is_there(&f, segment));
    fixture_close(&f);
    fixture_open(&f);
    post_number(&f, 1, 1);
    assert_true(is_there(&f, last + 1));
    check_document(&f, 1, 1);
    check_rows(&f);
    end(&f);
}

static void equal_texts_of_others_stay(void **state)
{
    struct fixture f;

    (void)state;
    begin(&f);
    post_number(&f, 100, 0);
    post_number(&f, 101, 3);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        if (is_deleted(i))
            delete_number(&f, i);
    assert_true(compact(&f, true) > 0);
    check_document(&f, 100, 0);
    check_document(&f, 101, 3);
    assert_true(disk_has(&f, 0));
    assert_false(disk_has(&f, 6));
    check_rows(&f);
    end(&f);
}

/* A text that cannot be read is not thrown away, and is no reason to lose others. */
static void a_damaged_text_is_reported_and_kept(void **state)
{
    struct fixture f;
    struct nd_error err;
    uint64_t freed = 77;
    char path[256];
    int fd;

    (void)state;
    begin(&f);
    delete_number(&f, 0);
    segment_path(&f, 1, path, sizeof path);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, -5, SEEK_END) > 0, 1);
    assert_int_equal(write(fd, "xxx", 3), 3);
    close(fd);
    assert_int_equal(nd_store_compact(f.store, true, &freed, &err), ND_EINPUT);
    assert_non_null(strstr(err.message, "00000001.seg: the record at byte "));
    assert_int_equal(freed, 77);
    assert_true(is_there(&f, 1));
    check_document(&f, 1, 1);
    check_document(&f, 30, 30);
    post_number(&f, 200, 200);
    check_document(&f, 200, 200);
    check_rows(&f);
    end(&f);
}

/* ---- Readers of an earlier moment ---- */

struct compacting {
    struct fixture *fixture;
    struct nd_thread thread;
    enum nd_status status;
};

static void compact_beside(void *context)
{
    struct compacting *c = context;
    uint64_t freed;

    c->status = nd_store_compact(c->fixture->store, true, &freed, NULL);
}

/* Until no row names the first segment any more. */
static void wait_until_copied(struct fixture *f)
{
    bool is_named = true;

    while (is_named) {
        struct nd_txn *txn;
        struct nd_entry entry;

        assert_int_equal(nd_catalog_begin(f->store->catalog, false, &txn, NULL), ND_OK);
        is_named = false;
        for (uint32_t n = 0; nd_catalog_next_entry(txn, &n, &entry, NULL) > 0; n++)
            is_named |= entry.text.segment == 1;
        nd_catalog_abort(txn);
    }
}

static void a_reader_of_an_earlier_moment_still_finds_texts(void **state)
{
    struct fixture f;
    struct compacting c = {.fixture = &f};
    struct nd_compressor *compressor = nd_compressor_new();
    struct nd_buffer text = {0};
    struct nd_entry entry;
    struct nd_txn *txn;
    char *words = text_of(1);

    (void)state;
    begin(&f);
    assert_int_equal(nd_catalog_begin(f.store->catalog, false, &txn, NULL), ND_OK);
    delete_number(&f, 0);
    assert_true(nd_thread_start(&c.thread, compact_beside, &c));
    wait_until_copied(&f);
    assert_int_equal(nd_catalog_get_entry(txn, 1, &entry, NULL), 1);
    assert_int_equal(entry.text.segment, 1);
    assert_int_equal(nd_segments_read(f.store->segments, compressor, &entry.text, &text, NULL),
                     ND_OK);
    assert_memory_equal(text.data, words, text.len);
    nd_catalog_abort(txn);
    nd_thread_join(&c.thread);
    assert_int_equal(c.status, ND_OK);
    assert_false(is_there(&f, 1));
    check_document(&f, 1, 1);
    nd_buffer_release(&text);
    nd_compressor_free(compressor);
    free(words);
    end(&f);
}

/* Another process reads until it is killed. */
static void a_reader_in_another_process_holds_the_file_while_it_lives(void **state)
{
    struct fixture f;
    struct compacting c = {.fixture = &f};
    int is_reading[2];
    pid_t reader;
    char byte;

    (void)state;
    begin(&f);
    fixture_close(&f);
    assert_int_equal(pipe(is_reading), 0);
    reader = fork();
    assert_true(reader >= 0);
    if (reader == 0) {
        struct nd_catalog *catalog = nd_catalog_open(f.folder, false, true, NULL);
        struct nd_txn *txn;

        if (!catalog || nd_catalog_begin(catalog, false, &txn, NULL) != ND_OK ||
            write(is_reading[1], "r", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(is_reading[0], &byte, 1), 1);
    fixture_open(&f);
    delete_number(&f, 0);
    assert_true(nd_thread_start(&c.thread, compact_beside, &c));
    wait_until_copied(&f);
    assert_true(is_there(&f, 1));
    assert_int_equal(kill(reader, SIGKILL), 0);
    assert_int_equal(waitpid(reader, NULL, 0), reader);
    nd_thread_join(&c.thread);
    assert_int_equal(c.status, ND_OK);
    assert_false(is_there(&f, 1));
    close(is_reading[0]);
    close(is_reading[1]);
    end(&f);
}

/* ---- Beside others ---- */

static void read_beside(void *context)
{
    struct compacting *c = context;
    struct nd_error err;
    struct nd_session *session = nd_session_new(c->fixture->store, &err);
    unsigned n = 0;

    c->status = session ? ND_OK : ND_ENOMEM;
    for (unsigned round = 0; c->status == ND_OK && round < 2000; round++) {
        struct nd_document_query query;
        struct nd_stored found;
        char id[32];

        n = (n + 7) % DOCUMENTS;
        snprintf(id, sizeof id, "d%u", n);
        query = (struct nd_document_query){.id = view(id)};
        if (!is_deleted(n) &&
            nd_session_get(session, c->fixture->admin, &query, &found, &err) != ND_STORE_OK)
            c->status = ND_EIO;
    }
    nd_session_free(session);
}

static void others_read_and_write_while_segments_are_rewritten(void **state)
{
    struct fixture f;
    struct compacting reader[2] = {{.fixture = &f}, {.fixture = &f}};

    (void)state;
    begin(&f);
    for (size_t i = 0; i < 2; i++)
        assert_true(nd_thread_start(&reader[i].thread, read_beside, &reader[i]));
    for (unsigned round = 0; round < 10; round++) {
        struct compacting c = {.fixture = &f};

        for (unsigned i = 0; i < DOCUMENTS; i += 3)
            post_number(&f, i, 1000 * (round + 1) + i);
        assert_true(nd_thread_start(&c.thread, compact_beside, &c));
        for (unsigned i = 0; i < 20; i++)
            post_number(&f, 100 + i, 100000 * (round + 1) + i);
        nd_thread_join(&c.thread);
        assert_int_equal(c.status, ND_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        nd_thread_join(&reader[i].thread);
        assert_int_equal(reader[i].status, ND_OK);
    }
    /* The last compaction may have found all that was replaced so far. */
    post_number(&f, 100, 7);
    post_number(&f, 100, 1000000);
    assert_true(compact(&f, true) > 0);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        check_document(&f, i, is_deleted(i) ? 10000 + i : i);
    for (unsigned i = 0; i < 20; i++)
        check_document(&f, 100 + i, 1000000 + i);
    check_rows(&f);
    end(&f);
}

static void the_clock_has_it_done(void **state)
{
    struct fixture f;
    struct nd_compactor *own;

    (void)state;
    begin(&f);
    delete_number(&f, 0);
    f.now += DAY;
    nd_compactor_stop(f.store->compactor);
    own = nd_compactor_start(f.store, 1, NULL);
    assert_non_null(own);
    f.store->compactor = own;
    while (is_there(&f, 1))
        check_document(&f, 1, 1);
    check_document(&f, 1, 1);
    assert_false(disk_has(&f, 0));
    end(&f);
}

static void a_store_that_is_read_only_is_not_compacted(void **state)
{
    struct fixture f;
    struct nd_error err;
    uint64_t freed;

    (void)state;
    begin(&f);
    fixture_close(&f);
    f.options.read_only = true;
    f.store = nd_store_open(f.folder, &f.options, &err);
    assert_non_null(f.store);
    assert_int_equal(nd_store_compact(f.store, true, &freed, &err), ND_EINVAL);
    assert_int_equal(nd_store_close(f.store, NULL), ND_OK);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_text_leaves_the_disk_when_it_is_due),
        cmocka_unit_test(a_replaced_text_leaves_the_disk),
        cmocka_unit_test(a_store_without_documents_has_no_texts),
        cmocka_unit_test(equal_texts_of_others_stay),
        cmocka_unit_test(a_damaged_text_is_reported_and_kept),
        cmocka_unit_test(a_reader_of_an_earlier_moment_still_finds_texts),
        cmocka_unit_test(a_reader_in_another_process_holds_the_file_while_it_lives),
        cmocka_unit_test(others_read_and_write_while_segments_are_rewritten),
        cmocka_unit_test(the_clock_has_it_done),
        cmocka_unit_test(a_store_that_is_read_only_is_not_compacted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
