/* test_store_crowd.c - a crowd of near copies: the work of an answer is bounded, by rows that are read */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/catalog/catalog_tables.h"
#include "store/read/session_state.h"
#include "store_fixture.h"

enum { WORDS = 100, BYTES = WORDS * 8, STEP = 1500, AT_ONCE = 500 };

/* A template with one word of its own. */
static void write_copy(unsigned i, char *text)
{
    size_t len = 0;

    for (unsigned w = 0; w < WORDS; w++)
        len +=
            (size_t)snprintf(text + len, BYTES - len, w == 50 ? "u%u " : "t%u ", w == 50 ? i : w);
}

static void post_copies(struct fixture *f, unsigned from, unsigned to)
{
    struct nd_write *write[AT_ONCE];
    struct nd_error err = {0};

    for (; from < to; from += AT_ONCE) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            char id[16], text[BYTES];
            struct nd_write_request request = {.text = {text, 0}};

            (void)snprintf(id, sizeof id, "d%u", from + i);
            write_copy(from + i, text);
            request.id = view(id);
            request.text = view(text);
            assert_int_equal(nd_write_new(f->session, f->admin, &request, &write[i], &err),
                             ND_STORE_OK);
        }
        assert_int_equal(submit_and_wait(f->store, write, AT_ONCE, &err), ND_STORE_OK);
        for (unsigned i = 0; i < AT_ONCE; i++)
            nd_write_free(write[i]);
    }
}

struct asked {
    struct nd_neighbours found;
    uint64_t rows;
};

static struct asked ask(struct fixture *f, bool for_cluster, const char *id, size_t limit)
{
    const struct nd_document_query query = {.id = view(id), .any_labels = true};
    struct nd_txn *txn = f->session->reader.txn;
    uint64_t before = txn->n_rows;
    struct asked asked;
    struct nd_error err = {0};

    if ((for_cluster ? nd_session_cluster : nd_session_near)(f->session, f->admin, &query, limit,
                                                             &asked.found, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    asked.rows = txn->n_rows - before;
    return asked;
}

/* Ask about a crowd of n: answers are cut beyond 1,000 pairs. */
static void check_answers(struct fixture *f, unsigned n, uint64_t rows[6])
{
    static const struct {
        const char *id;
        bool for_cluster;
        size_t limit;
    } question[] = {{"d0", false, 5},   {"d0", true, 1},   {"d1400", false, 5},
                    {"d1400", true, 1}, {"d9", true, 100}, {"d9", true, 10000}};

    for (size_t i = 0; i < 6; i++) {
        const struct asked asked =
            ask(f, question[i].for_cluster, question[i].id, question[i].limit);
        bool is_whole = question[i].limit == 10000;
        size_t most = is_whole ? n : 1001;

        rows[i] = asked.rows;
        assert_true(asked.found.was_cut);
        assert_true(asked.found.n == question[i].limit || is_whole);
        assert_in_range(asked.found.total, question[i].limit < most ? question[i].limit : 17, most);
        assert_true(asked.found.work.pairs <= ND_STORE_PAIRS);
        if (is_whole)
            assert_int_equal(asked.found.n, n);
    }
}

static void answers_about_a_crowd_read_as_many_rows_however_large_it_is(void **state)
{
    uint64_t few[6], many[6];
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    post_copies(&f, 0, STEP);
    check_answers(&f, STEP, few);
    post_copies(&f, STEP, 2 * STEP);
    check_answers(&f, 2 * STEP, many);
    for (size_t i = 0; i < 5; i++) /* the last one is asked for all */
        assert_true(many[i] <= few[i] + 10);
    assert_true(many[0] < 3000 && many[1] < 25000 && many[2] < 100);
    fixture_close(&f);
    fixture_end(&f);
}

/* Equal texts are counted by their entry. */
static void copies_of_one_text_are_counted_unread(void **state)
{
    struct fixture f;
    struct asked asked;
    char text[BYTES];
    struct nd_write *write[AT_ONCE];
    struct nd_error err = {0};

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    write_copy(1, text);
    for (unsigned from = 0; from < STEP; from += AT_ONCE) {
        for (unsigned i = 0; i < AT_ONCE; i++) {
            char id[16];
            struct nd_write_request request = {.text = view(text)};

            (void)snprintf(id, sizeof id, "e%u", from + i);
            request.id = view(id);
            assert_int_equal(nd_write_new(f.session, f.admin, &request, &write[i], &err),
                             ND_STORE_OK);
        }
        assert_int_equal(submit_and_wait(f.store, write, AT_ONCE, &err), ND_STORE_OK);
        for (unsigned i = 0; i < AT_ONCE; i++)
            nd_write_free(write[i]);
    }
    asked = ask(&f, false, "e7", 3);
    assert_int_equal(asked.found.total, STEP - 1);
    assert_false(asked.found.was_cut);
    assert_true(asked.rows < 30);
    asked = ask(&f, true, "e7", 3);
    assert_int_equal(asked.found.total, STEP);
    assert_true(asked.rows < 30);
    fixture_close(&f);
    fixture_end(&f);
}

/* The shingles of texts that were compared are kept, so that their rows are not read again. */
static void texts_that_are_compared_often_are_read_once(void **state)
{
    uint64_t rows[2], shared = 0;
    struct fixture f;
    char text[BYTES];

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    post_copies(&f, 0, AT_ONCE);
    write_copy(AT_ONCE, text);
    for (size_t i = 0; i < 2; i++) {
        struct nd_txn *txn = f.session->reader.txn;
        uint64_t before = txn->n_rows;
        struct nd_verdict verdict;

        assert_int_equal(
            nd_session_query(f.session, f.admin, view(text), NULL, NULL, &verdict, NULL),
            ND_STORE_OK);
        rows[i] = txn->n_rows - before;
        assert_int_equal(verdict.kind, ND_VERDICT_NEAR_DUPLICATE);
        assert_int_equal(verdict.work.comparisons, 256);
        assert_true(i == 0 || verdict.nearest[0].likeness.overlap.shared == shared);
        shared = verdict.nearest[0].likeness.overlap.shared;
    }
    assert_int_equal(rows[0] - rows[1], 256);
    fixture_close(&f);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_about_a_crowd_read_as_many_rows_however_large_it_is),
        cmocka_unit_test(copies_of_one_text_are_counted_unread),
        cmocka_unit_test(texts_that_are_compared_often_are_read_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
