/* test_store_import.c - what a store has is told in order, and put into another one it is the same */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "store_content.h"

/* ---- A store as text ---- */

static void put(struct nd_buffer *out, const char *name, const void *data, size_t len)
{
    char head[64];
    int n = snprintf(head, sizeof head, "%s %zu ", name, len);

    assert_true(nd_buffer_append(out, head, (size_t)n));
    assert_true(nd_buffer_append(out, data, len));
}

static void put_number(struct nd_buffer *out, const char *name, uint64_t value)
{
    char text[24];

    put(out, name, text, (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

static void put_version(struct nd_buffer *out, const struct nd_version *v)
{
    put_number(out, "version", v->number);
    put_number(out, "time", v->time);
    put_number(out, "visited", v->visited);
    put_number(out, "simhash", v->simhash);
    put_number(out, "identity", v->identity);
    put_number(out, "tokens", v->tokens);
    put_number(out, "shingles", v->shingles);
    put_number(out, "bytes", v->text_bytes);
    put_number(out, "distance", v->distance);
}

static int put_document(void *context, const struct nd_stored *d, const struct nd_version *versions,
                        size_t n)
{
    struct nd_buffer *out = context;
    const struct nd_visits *v = &d->visits;
    const uint64_t numbers[] = {d->created,  d->updated, d->visited,    d->version, d->tokens,
                                d->shingles, d->simhash, d->text_bytes, d->due,     v->simhash,
                                v->visits,   v->changes, v->interval,   v->equal,   v->changed,
                                v->priority, v->in_time, v->changed_by};

    put(out, "\nid", d->key.id.data, d->key.id.len);
    for (size_t i = 0; i < d->key.n_labels; i++)
        put(out, "label", d->key.labels[i].data, d->key.labels[i].len);
    put(out, "title", d->title.data, d->title.len);
    put(out, "text", d->text.data, d->text.len);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_number(out, "is", numbers[i]);
    for (size_t i = 0; i < n; i++)
        put_version(out, &versions[i]);
    return 0;
}

static struct nd_buffer text_of(struct fixture *f, const struct nd_caller *caller)
{
    struct nd_buffer out = {0};
    struct nd_error err;

    if (nd_session_each(f->session, caller, put_document, &out, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    return out;
}

/* ---- Documents kept for an import ---- */

struct kept {
    struct nd_arena arena;
    struct nd_import document[500];
    size_t n;
};

static struct nd_view keep_view(struct kept *k, struct nd_view v)
{
    return (struct nd_view){nd_arena_copy(&k->arena, v.data, v.len), v.len};
}

static int keep_document(void *context, const struct nd_stored *d,
                         const struct nd_version *versions, size_t n)
{
    struct kept *k = context;
    struct nd_view *labels = nd_arena_alloc(&k->arena, (d->key.n_labels + 1) * sizeof *labels);
    struct nd_version *copy = nd_arena_alloc(&k->arena, n * sizeof *copy);

    assert_true(k->n < 500);
    memcpy(copy, versions, n * sizeof *copy);
    for (size_t i = 0; i < d->key.n_labels; i++)
        labels[i] = keep_view(k, d->key.labels[i]);
    k->document[k->n++] =
        (struct nd_import){.key = {keep_view(k, d->key.id), labels, d->key.n_labels},
                           .text = keep_view(k, d->text),
                           .title = keep_view(k, d->title),
                           .created = d->created,
                           .updated = d->updated,
                           .visited = d->visited,
                           .due = d->due,
                           .visits = d->visits,
                           .versions = copy,
                           .n_versions = n};
    return 0;
}

static void keep_all(struct fixture *f, struct kept *k)
{
    k->n = 0;
    assert_int_equal(nd_session_each(f->session, f->admin, keep_document, k, NULL), ND_STORE_OK);
}

static void begin_filled(struct fixture *f, unsigned n)
{
    fixture_begin(f);
    fixture_open(f);
    content_fill(f, n);
}

static void end(struct fixture *f)
{
    fixture_close(f);
    fixture_end(f);
}

/* ---- Claims ---- */

static void no_finding(void *context, const char *finding)
{
    (void)context;
    fail_msg("%s", finding);
}

static void an_import_into_a_new_store_exports_the_same(void **state)
{
    static struct kept k;
    struct fixture from, to;
    struct nd_buffer expected, found;
    struct nd_error err;

    (void)state;
    begin_filled(&from, 120);
    keep_all(&from, &k);
    assert_true(k.n > 90);
    fixture_begin(&to);
    to.now = 77; /* the times are those of the import */
    fixture_open(&to);
    for (size_t i = 0; i < k.n; i += 50) {
        size_t n = k.n - i < 50 ? k.n - i : 50;

        if (nd_store_import(to.session, k.document + i, n, &err) != ND_STORE_OK)
            fail_msg("%s", err.message);
    }
    expected = text_of(&from, from.admin);
    for (int i = 0; i < 2; i++) {
        found = text_of(&to, to.admin);
        assert_int_equal(found.len, expected.len);
        assert_memory_equal(found.data, expected.data, expected.len);
        nd_buffer_release(&found);
        assert_int_equal(nd_store_check(to.store, no_finding, NULL, NULL), ND_OK);
        fixture_close(&to);
        fixture_open(&to);
    }
    nd_buffer_release(&expected);
    nd_arena_release(&k.arena);
    memset(&k, 0, sizeof k);
    end(&to);
    end(&from);
}

struct expected_order {
    const char *id[3];
    size_t n;
};

static int compare_id(void *context, const struct nd_stored *document,
                      const struct nd_version *versions, size_t n)
{
    struct expected_order *order = context;

    (void)versions;
    (void)n;
    assert_int_equal(document->key.id.len, 1);
    assert_int_equal(document->key.id.data[0], *order->id[order->n]);
    order->n++;
    return 0;
}

/* By the commits of their present texts: a text that is posted again leaves a document in its place,
 * another one moves it to the end. */
static void documents_come_in_order_of_their_commits(void **state)
{
    struct expected_order order = {{"a", "c", "b"}, 0};
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    nd_write_free(post(&f, "a", content_text(0)));
    nd_write_free(post(&f, "b", content_text(3)));
    nd_write_free(post(&f, "c", content_text(8)));
    nd_write_free(post(&f, "a", content_text(0)));
    nd_write_free(post(&f, "b", content_text(0)));
    assert_int_equal(nd_session_each(f.session, f.admin, compare_id, &order, NULL), ND_STORE_OK);
    assert_int_equal(order.n, 3);
    end(&f);
}

static int stop_at_third(void *context, const struct nd_stored *document,
                         const struct nd_version *versions, size_t n)
{
    (void)document;
    (void)versions;
    (void)n;
    return ++*(int *)context == 3;
}

static void who_is_told_can_stop(void **state)
{
    struct fixture f;
    int n = 0;

    (void)state;
    begin_filled(&f, 20);
    assert_int_equal(nd_session_each(f.session, f.admin, stop_at_third, &n, NULL), ND_STORE_OK);
    assert_int_equal(n, 3);
    end(&f);
}

static int count_labels(void *context, const struct nd_stored *document,
                        const struct nd_version *versions, size_t n)
{
    (void)versions;
    (void)n;
    for (size_t i = 0; i < document->key.n_labels; i++)
        assert_int_equal(document->key.labels[i].len, 5); /* press, not secret */
    ++*(size_t *)context;
    return 0;
}

static void callers_are_told_of_what_they_see(void **state)
{
    const struct nd_view press = view("press");
    struct nd_caller *caller;
    struct fixture f;
    size_t all = 0, seen = 0;

    (void)state;
    begin_filled(&f, 60);
    caller = nd_caller_new(f.store, &press, 1, false, NULL);
    assert_non_null(caller);
    assert_int_equal(nd_session_each(f.session, caller, count_labels, &seen, NULL), ND_STORE_OK);
    {
        static struct kept k;

        keep_all(&f, &k);
        for (size_t i = 0; i < k.n; i++)
            all += k.document[i].key.n_labels == 0 || k.document[i].key.labels[0].len == 5;
        assert_int_equal(seen, all);
        assert_true(k.n > all);
        nd_arena_release(&k.arena);
    }
    nd_caller_free(caller);
    end(&f);
}

static void what_cannot_be_imported_is_named(void **state)
{
    const struct nd_version version[] = {
        {.number = 1, .text_bytes = 9}, {.number = 2, .text_bytes = 9},
        {.number = 2, .text_bytes = 9}, {.number = 3, .text_bytes = 8},
        {.number = 0, .text_bytes = 9}, {.number = 4, .text_bytes = 9, .distance = 65}};
    const struct {
        const char *id, *text, *says;
        size_t first, n;
    } bad[] = {{"", "some text", "no id", 0, 1},
               {"a", "some text", "has no versions", 0, 0},
               {"a", "some text", "do not ascend", 1, 2},
               {"a", "some text", "do not ascend", 4, 1},
               {"a", "some text", "distance is above 64", 5, 1},
               {"a", "some text", "not that of its last version", 3, 1},
               {"a", "some te\xFFt", "UTF-8", 0, 1},
               {"\xFF", "some text", "UTF-8", 0, 1},
               {"there", "some text", "'there': the store has this document already", 0, 2}};
    struct nd_view label = view("a,b");
    struct nd_error err;
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    nd_write_free(post(&f, "there", "some text"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const struct nd_import document = {.key = {.id = view(bad[i].id)},
                                           .text = view(bad[i].text),
                                           .versions = version + bad[i].first,
                                           .n_versions = bad[i].n};

        assert_int_equal(nd_store_import(f.session, &document, 1, &err), ND_STORE_INVALID);
        if (!strstr(err.message, bad[i].says))
            fail_msg("'%s' does not say '%s'", err.message, bad[i].says);
    }
    {
        const struct nd_import document = {.key = {view("a"), &label, 1},
                                           .text = view("some text"),
                                           .versions = version,
                                           .n_versions = 1};

        assert_int_equal(nd_store_import(f.session, &document, 1, &err), ND_STORE_INVALID);
        assert_non_null(strstr(err.message, "'a'"));
    }
    assert_int_equal(nd_store_import(f.session, NULL, 0, &err), ND_STORE_OK);
    assert_int_equal(nd_store_check(f.store, no_finding, NULL, NULL), ND_OK);
    end(&f);
}

/* All documents of a batch are kept that can be. */
static void one_that_is_there_does_not_keep_the_others_out(void **state)
{
    const struct nd_version version = {.number = 1, .text_bytes = 9};
    struct nd_import documents[3];
    struct nd_error err;
    struct fixture f;
    int n = -1000;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    nd_write_free(post(&f, "b", "some text"));
    for (int i = 0; i < 3; i++)
        documents[i] = (struct nd_import){.key = {.id = view(i == 0   ? "a"
                                                             : i == 1 ? "b"
                                                                      : "c")},
                                          .text = view("some text"),
                                          .versions = &version,
                                          .n_versions = 1};
    assert_int_equal(nd_store_import(f.session, documents, 3, &err), ND_STORE_INVALID);
    assert_non_null(strstr(err.message, "'b'"));
    assert_int_equal(nd_session_each(f.session, f.admin, stop_at_third, &n, NULL), ND_STORE_OK);
    assert_int_equal(n, -997);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_import_into_a_new_store_exports_the_same),
        cmocka_unit_test(documents_come_in_order_of_their_commits),
        cmocka_unit_test(who_is_told_can_stop),
        cmocka_unit_test(callers_are_told_of_what_they_see),
        cmocka_unit_test(what_cannot_be_imported_is_named),
        cmocka_unit_test(one_that_is_there_does_not_keep_the_others_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
