/* test_store_lists.c - lists of documents and of clusters: their order, their places, their bounds */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store_content.h"

static void put_named(struct content *c, const char *id, struct nd_view label, const char *text)
{
    const struct nd_write_request request = {.id = view(id),
                                             .labels = &label,
                                             .n_labels = label.len > 0,
                                             .text = view(text),
                                             .title = view(id)};

    content_write(c, &request);
}

static bool is_called(void *context, struct nd_view id, struct nd_view title)
{
    const char *name = context;

    assert_int_equal(id.len, title.len);
    return id.len == strlen(name) && memcmp(id.data, name, id.len) == 0;
}

static struct nd_recent list(struct fixture *f, const struct nd_recent_query *query)
{
    struct nd_recent recent;
    struct nd_error err;

    if (nd_session_recent(f->session, f->admin, query, &recent, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    return recent;
}

/* Document and label set of a page with one document, as "id label|". */
static const char *only_one(const struct nd_recent *recent)
{
    static char said[64];
    const struct nd_document_key *key = &recent->document->key;

    assert_int_equal(recent->n, 1);
    (void)snprintf(said, sizeof said, "%.*s %.*s|", (int)key->id.len, key->id.data,
                   key->n_labels ? (int)key->labels[0].len : 0,
                   key->n_labels ? key->labels[0].data : "");
    return said;
}

/* Documents of one second, and of one id in several label sets, come once each, page after page. */
static void documents_of_one_second_come_once_each(void **state)
{
    static const char *const labels[] = {"", "a", "b", "c", "d"};
    struct fixture f;
    struct content c = {.f = &f};
    struct nd_place after;
    struct nd_recent_query query = {.limit = 1};
    char last[64] = "~", seen[512] = "";

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    for (int id = 'z'; id >= 'w'; id--)
        for (size_t i = 0; i < 5; i++)
            put_named(&c, (char[]){(char)id, '\0'}, view(labels[i]), "one text for all");
    content_submit(&c);
    for (size_t i = 0; i < 20; i++) {
        const struct nd_recent recent = list(&f, &query);
        const char *said = only_one(&recent);

        assert_true(*said <= *last);
        assert_null(strstr(seen, said));
        (void)strcat(seen, said);
        (void)strcpy(last, said);
        assert_int_equal(recent.has_more, i < 19);
        after = recent.next;
        query.after = &after;
    }
    assert_int_equal(list(&f, &query).n, 0);
    fixture_close(&f);
    fixture_end(&f);
}

static void a_place_that_is_none_is_refused(void **state)
{
    struct fixture f;
    const struct nd_place none[] = {{.len = 0}, {.len = 24}, {.len = ND_STORE_PLACE_MAX}};
    struct nd_recent_query query = {.limit = 1};
    struct nd_recent recent;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    for (size_t i = 0; i < 3; i++) {
        query.after = &none[i];
        assert_int_equal(nd_session_recent(f.session, f.admin, &query, &recent, NULL),
                         ND_STORE_INVALID);
    }
    fixture_close(&f);
    fixture_end(&f);
}

/* Documents far behind others are found by going on. */
static void so_many_documents_are_looked_at_for_one_answer(void **state)
{
    enum { BEHIND = 500 };
    struct fixture f;
    struct content c = {.f = &f};
    struct nd_place after;
    struct nd_recent_query query = {.limit = 5, .takes = is_called, .context = (char[]){"first"}};
    struct nd_cluster_query clusters = {.limit = 2};
    struct nd_clusters told;
    struct nd_recent recent;
    char id[32];

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    put_named(&c, "first", view(""), "the first of many documents with one and the same text");
    content_submit(&c);
    for (int i = 0; i < ND_STORE_SCANNED + BEHIND; i++) {
        (void)snprintf(id, sizeof id, "later %d", i);
        put_named(&c, id, view(""), "the first of many documents with one and the same text");
    }
    content_submit(&c);
    recent = list(&f, &query);
    assert_int_equal(recent.n, 0);
    assert_true(recent.has_more);
    after = recent.next;
    query.after = &after;
    recent = list(&f, &query);
    assert_string_equal(only_one(&recent), "first |");
    assert_false(recent.has_more);
    assert_int_equal(nd_session_clusters(f.session, f.admin, &clusters, &told, NULL), ND_STORE_OK);
    assert_true(told.was_cut);
    assert_int_equal(told.documents, ND_STORE_SCANNED);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.cluster->size, ND_STORE_SCANNED);
    assert_int_equal(told.cluster->leader.key.id.len, 5); /* it was not looked at itself */
    assert_false(told.has_more);
    fixture_close(&f);
    fixture_end(&f);
}

/* A document that is stored again stays where it is; one that is deleted and comes back is new. */
static void documents_come_by_their_first_version(void **state)
{
    struct fixture f;
    struct content c = {.f = &f};
    const struct nd_recent_query query = {.limit = 1};
    const struct nd_write_request deletion = {.id = view("a"), .is_deletion = true};
    struct nd_recent recent;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    put_named(&c, "a", view(""), "a text of some words");
    content_submit(&c);
    put_named(&c, "b", view(""), "another text of some words");
    content_submit(&c);
    put_named(&c, "a", view(""), "yet another text of some words");
    content_submit(&c);
    recent = list(&f, &query);
    assert_string_equal(only_one(&recent), "b |");
    content_write(&c, &deletion);
    content_submit(&c);
    put_named(&c, "a", view(""), "yet another text of some words");
    content_submit(&c);
    recent = list(&f, &query);
    assert_string_equal(only_one(&recent), "a |");
    fixture_close(&f);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(documents_of_one_second_come_once_each),
        cmocka_unit_test(a_place_that_is_none_is_refused),
        cmocka_unit_test(so_many_documents_are_looked_at_for_one_answer),
        cmocka_unit_test(documents_come_by_their_first_version),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
