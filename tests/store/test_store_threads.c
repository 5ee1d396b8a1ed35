/* test_store_threads.c - many threads write, delete and query at once (also under TSan) */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/sized.h"
#include "base/hash.h"
#include "store_fixture.h"

enum { WRITERS = 3, READERS = 2, WORDS = 60 };

static struct {
    struct fixture f;
    unsigned n_texts;
    atomic_uint n_new[4096]; /* by text: how many posts of it were new */
    atomic_uint n_running;
} shared;

/* Texts that are not near one another. */
static size_t write_text(char *to, size_t size, unsigned text)
{
    size_t len = 0;

    for (unsigned i = 0; i < WORDS; i++)
        len += (size_t)snprintf(to + len, size - len, "w%llu ",
                                (unsigned long long)(nd_mix64(text * 1000 + i) % 100000));
    return len;
}

/* Each writer posts every text, in an order of its own, under ids of its own; and deletes some of
 * what it posted. */
static void write_texts(void *context)
{
    unsigned number = *(const unsigned *)context;
    struct nd_session *session = nd_session_new(shared.f.store, NULL);

    for (unsigned i = 0; i < shared.n_texts; i++) {
        unsigned text = (i + number * shared.n_texts / WRITERS) % shared.n_texts;
        char id[32], bytes[WORDS * 8];
        struct nd_write_request request = {.id = {id, 0}, .text = {bytes, 0}};
        struct nd_write *write = NULL;

        request.id.len = (size_t)snprintf(id, sizeof id, "%u-%u", number, text);
        request.text.len = write_text(bytes, sizeof bytes, text);
        assert_int_equal(nd_write_new(session, shared.f.admin, &request, &write, NULL),
                         ND_STORE_OK);
        assert_int_equal(submit_and_wait(shared.f.store, &write, 1, NULL), ND_STORE_OK);
        assert_int_equal(nd_write_result(write)->result, ND_STORE_OK);
        if (nd_write_result(write)->verdict.kind == ND_VERDICT_NEW)
            atomic_fetch_add(&shared.n_new[text], 1);
        else
            assert_int_equal(nd_write_result(write)->verdict.kind, ND_VERDICT_DUPLICATE);
        nd_write_free(write);
    }
    nd_session_free(session);
    atomic_fetch_sub(&shared.n_running, 1);
}

/* Read texts: one that was found once is found from then on. */
static void read_texts(void *context)
{
    unsigned number = *(const unsigned *)context;
    struct nd_session *session = nd_session_new(shared.f.store, NULL);
    unsigned char *found = calloc(shared.n_texts, 1);
    uint64_t random = number;

    while (atomic_load(&shared.n_running)) {
        unsigned text = (unsigned)(nd_mix64(random++) % shared.n_texts);
        char bytes[WORDS * 8];
        size_t len = write_text(bytes, sizeof bytes, text);
        struct nd_verdict verdict;
        const struct nd_crawl_row *row;
        size_t n;

        assert_int_equal(nd_session_query(session, shared.f.admin, (struct nd_view){bytes, len},
                                          NULL, NULL, &verdict, NULL),
                         ND_STORE_OK);
        assert_true(verdict.kind == ND_VERDICT_DUPLICATE || !found[text]);
        found[text] |= verdict.kind == ND_VERDICT_DUPLICATE;
        if (random % 16 == 0)
            assert_int_equal(nd_session_crawl(session, shared.f.admin, 0, 5, &row, &n, NULL),
                             ND_STORE_OK);
    }
    free(found);
    nd_session_free(session);
}

static void run_threads(unsigned n_texts, unsigned interval_ms)
{
    struct nd_thread writer[WRITERS], reader[READERS];
    unsigned number[WRITERS + READERS];
    struct nd_store_stats stats;

    shared.n_texts = n_texts;
    fixture_begin(&shared.f);
    shared.f.options.durability_interval_ms = interval_ms;
    fixture_open(&shared.f);
    atomic_store(&shared.n_running, WRITERS);
    for (unsigned i = 0; i < n_texts; i++)
        atomic_store(&shared.n_new[i], 0);
    for (unsigned i = 0; i < WRITERS; i++) {
        number[i] = i;
        assert_true(nd_thread_start(&writer[i], write_texts, &number[i]));
    }
    for (unsigned i = 0; i < READERS; i++) {
        number[WRITERS + i] = i;
        assert_true(nd_thread_start(&reader[i], read_texts, &number[WRITERS + i]));
    }
    for (unsigned i = 0; i < WRITERS; i++)
        nd_thread_join(&writer[i]);
    for (unsigned i = 0; i < READERS; i++)
        nd_thread_join(&reader[i]);
    for (unsigned i = 0; i < n_texts; i++)
        assert_int_equal(atomic_load(&shared.n_new[i]), 1);
    fixture_close(&shared.f);
    fixture_open(&shared.f);
    nd_store_stats(shared.f.store, &stats);
    assert_int_equal(stats.documents, n_texts * WRITERS);
    assert_int_equal(stats.contents, n_texts);
    assert_int_equal(stats.index_documents, n_texts);
    fixture_close(&shared.f);
    fixture_end(&shared.f);
}

/* Whoever commits first is new, and whoever comes later finds it: in the order of commits. */
static void of_equal_texts_one_is_new(void **state)
{
    (void)state;
    run_threads((unsigned)sized(3000, 150), 0);
}

static void the_same_where_durability_waits(void **state)
{
    (void)state;
    run_threads((unsigned)sized(3000, 300), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_equal_texts_one_is_new),
        cmocka_unit_test(the_same_where_durability_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
