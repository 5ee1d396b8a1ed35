/* test_store_hidden.c - two worlds that differ in hidden documents only give the same answers
 *
 * One store takes random operations of two callers.  Another one takes those on documents that the
 * lesser caller sees, and no others.  Every answer to that caller is compared, with the work that is
 * counted in it.  What the two stores do besides, such as numbering, batches, snapshots and
 * compaction, differs.
 */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <neardup/evidence.h>

#include "../unit/sized.h"
#include "store_fixture.h"
#include "store_texts.h"

enum { LABELS = 3, IDS = 10, ANSWER = 1 << 16 };
static const char *const label_name[LABELS] = {"a", "b", "secret"};

/* A store, and the caller who does not have the last label. */
struct world {
    struct fixture f;
    struct nd_caller *lesser;
    char answer[ANSWER];
    size_t len;
};
static struct world worlds[2]; /* all operations; those that the lesser caller sees */

/* ---- Answers as text ---- */

static void say(struct world *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct world *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    w->len += (size_t)vsnprintf(w->answer + w->len, ANSWER - w->len, format, arguments);
    va_end(arguments);
    assert_true(w->len < ANSWER);
}

static void say_number(struct world *w, const char *name, uint64_t number)
{
    say(w, " %s %llu", name, (unsigned long long)number);
}

static void say_key(struct world *w, const struct nd_document_key *key)
{
    say(w, " %.*s(", (int)key->id.len, key->id.data);
    for (size_t i = 0; i < key->n_labels; i++)
        say(w, "%.*s,", (int)key->labels[i].len, key->labels[i].data);
    say(w, ")");
}

static void say_likeness(struct world *w, const struct nd_likeness *x)
{
    say_number(w, "identical", x->identical);
    say_number(w, "a", x->overlap.a);
    say_number(w, "b", x->overlap.b);
    say_number(w, "shared", x->overlap.shared);
    say_number(w, "distance", x->distance);
}

static void say_nearest(struct world *w, const struct nd_nearest *x)
{
    say_key(w, &x->key);
    say_number(w, "visited", x->visited);
    say_likeness(w, &x->likeness);
    for (unsigned k = 0; x->differs && k < 2; k++)
        for (size_t i = 0; i < x->differs->only[k] && i < ND_DIFFERENCE_WORDS_MAX; i++)
            say(w, "%.*s", (int)x->differs->word[k][i].len, x->differs->word[k][i].data);
}

static void say_verdict(struct world *w, const struct nd_verdict *v)
{
    say_number(w, "kind", v->kind);
    say_number(w, "cut", v->was_cut);
    say_number(w, "label sets", v->work.label_sets);
    say_number(w, "candidates", v->work.candidates);
    say_number(w, "comparisons", v->work.comparisons);
    say_number(w, "pairs", v->work.pairs);
    for (size_t i = 0; i < v->n_nearest; i++)
        say_nearest(w, &v->nearest[i]);
    for (size_t i = 0; i < v->n_contained_in; i++)
        say_nearest(w, &v->contained_in[i]);
    for (size_t i = 0; i < v->n_contains; i++)
        say_nearest(w, &v->contains[i]);
    say_number(w, "cluster", v->has_cluster);
    if (v->has_cluster)
        say_nearest(w, &v->cluster);
}

static void say_stored(struct world *w, const struct nd_stored *x)
{
    say_key(w, &x->key);
    say_number(w, "created", x->created);
    say_number(w, "updated", x->updated);
    say_number(w, "visited", x->visited);
    say_number(w, "version", x->version);
    say_number(w, "due", x->due);
    say_number(w, "changes", x->visits.changes);
}

static void say_neighbours(struct world *w, const struct nd_neighbours *x)
{
    say_number(w, "total", x->total);
    say_number(w, "cut", x->was_cut);
    say_number(w, "pairs", x->work.pairs);
    for (size_t i = 0; i < x->n; i++) {
        say_stored(w, &x->document[i].document);
        say_likeness(w, &x->document[i].likeness);
        say_number(w, "leads", x->document[i].leads);
    }
}

/* ---- Operations ---- */

struct operation {
    unsigned kind, set, id, text, limit;
    bool by_lesser;
};

static unsigned labels_of(unsigned set, struct nd_view *labels)
{
    unsigned n = 0;

    for (unsigned l = 0; l < LABELS; l++)
        if (set >> l & 1)
            labels[n++] = view(label_name[l]);
    return n;
}

/* Ask for recent documents alone with two of three operations. */
static struct nd_asked asked_by(const struct operation *o)
{
    return (struct nd_asked){.limit = 1 + o->limit % 5,
                             .max_age_s = o->limit % 3 ? 0 : 3000 * o->limit,
                             .differs = o->limit % 2,
                             .at = o->limit % 4 ? (struct nd_ratio){0, 0}
                                                : worlds[0].f.options.least};
}

static void do_write(struct world *w, const struct operation *o, struct nd_document_key key)
{
    const struct nd_write_request request = {.id = key.id,
                                             .labels = key.labels,
                                             .n_labels = key.n_labels,
                                             .text = {text[o->text].bytes, text[o->text].len},
                                             .asked = asked_by(o),
                                             .is_deletion = o->kind == 0};
    struct nd_write *write = write_one(&w->f, o->by_lesser ? w->lesser : w->f.admin, &request);
    const struct nd_written *done = nd_write_result(write);

    say_number(w, "result", done->result);
    if (done->result == ND_STORE_OK && !request.is_deletion) {
        say_number(w, "version", done->version);
        say_number(w, "distance", done->distance);
        say_number(w, "is new", done->is_new_version);
        say_verdict(w, &done->verdict);
    }
    nd_write_free(write);
}

static void do_query(struct world *w, const struct operation *o, struct nd_document_key key)
{
    const struct nd_asked asked = asked_by(o);
    struct nd_verdict verdict;

    assert_int_equal(nd_session_query(w->f.session, w->lesser,
                                      (struct nd_view){text[o->text].bytes, text[o->text].len},
                                      o->by_lesser ? &key : NULL, &asked, &verdict, NULL),
                     ND_STORE_OK);
    say_verdict(w, &verdict);
}

static void do_list(struct world *w, const struct operation *o, struct nd_document_key key)
{
    const struct nd_document_query query = {.id = key.id,
                                            .labels = key.labels,
                                            .n_labels = key.n_labels,
                                            .any_labels = o->limit % 2 == 0};
    struct nd_neighbours x = {.document = NULL};
    struct nd_stored stored;
    struct nd_error err = {0};
    enum nd_store_result result =
        o->kind == 2   ? nd_session_near(w->f.session, w->lesser, &query, o->limit, &x, &err)
        : o->kind == 3 ? nd_session_cluster(w->f.session, w->lesser, &query, o->limit, &x, &err)
                       : nd_session_get(w->f.session, w->lesser, &query, &stored, &err);

    say_number(w, "result", result);
    if (result != ND_STORE_OK)
        say(w, "%s", err.message);
    else if (x.document)
        say_neighbours(w, &x);
    else
        say_stored(w, &stored);
}

static void do_crawl(struct world *w, const struct operation *o)
{
    const struct nd_crawl_row *row;
    struct nd_visible_stats stats;
    size_t n;

    assert_int_equal(nd_session_crawl(w->f.session, w->lesser, 0, o->limit, &row, &n, NULL),
                     ND_STORE_OK);
    for (size_t i = 0; i < n; i++)
        say_stored(w, &row[i].document);
    assert_int_equal(nd_session_visible_stats(w->f.session, w->lesser, &stats, NULL), ND_STORE_OK);
    say_number(w, "documents", stats.documents);
    say_number(w, "versions", stats.versions);
    say_number(w, "contents", stats.contents);
    say_number(w, "text bytes", stats.text_bytes);
    say_number(w, "label sets", stats.label_sets);
    say_number(w, "due", stats.due);
}

static void apply(struct world *w, const struct operation *o)
{
    struct nd_view labels[LABELS];
    char name[8];
    struct nd_document_key key = {.labels = labels, .n_labels = labels_of(o->set, labels)};

    snprintf(name, sizeof name, "id%u", o->id);
    key.id = view(name);
    w->len = 0;
    switch (o->kind) {
    case 1: do_query(w, o, key); break;
    case 2:
    case 3:
    case 4: do_list(w, o, key); break;
    case 5: do_crawl(w, o); break;
    default: do_write(w, o, key);
    }
}

/* ---- Runs ---- */

static void open_world(struct world *w)
{
    struct nd_view labels[LABELS];

    fixture_open(&w->f);
    w->lesser = nd_caller_new(w->f.store, labels, labels_of(3, labels), false, NULL);
    assert_non_null(w->lesser);
}

static void close_world(struct world *w)
{
    nd_caller_free(w->lesser);
    fixture_close(&w->f);
}

/* Half of what is written is hidden; the lesser caller asks, and writes as well. */
static struct operation any_operation(void)
{
    struct operation o = {.kind = (unsigned)below(16),
                          .id = (unsigned)below(IDS),
                          .text = (unsigned)below(TEXTS),
                          .limit = 1 + (unsigned)below(20),
                          .by_lesser = below(2)};

    o.set = (unsigned)below(o.by_lesser ? 4 : 8);
    return o;
}

static void run(const char *const *keys, unsigned pairs_stored, struct nd_ratio least,
                uint64_t seed)
{
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    unsigned n = (unsigned)sized(30000, 1500);

    random_state = seed;
    for (; *keys; keys++)
        assert_int_equal(nd_recipe_set(recipe, *keys, NULL), ND_OK);
    make_texts();
    for (unsigned i = 0; i < 2; i++) {
        fixture_begin(&worlds[i].f);
        worlds[i].f.options.recipe = recipe;
        worlds[i].f.options.pairs_stored = pairs_stored;
        worlds[i].f.options.least = least;
        worlds[i].f.options.containment = least; /* with the same runs */
        open_world(&worlds[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        struct operation o = any_operation();
        bool is_seen = (o.set & 4) == 0;

        worlds[0].f.now += below(4000);
        worlds[1].f.now = worlds[0].f.now;
        if (o.kind >= 1 && o.kind <= 5)
            is_seen =
                true; /* a question of the lesser caller, perhaps about what they do not see */
        apply(&worlds[0], &o);
        if (is_seen)
            apply(&worlds[1], &o);
        /* The lesser caller's view alone must be the same for what the other caller writes. */
        if (is_seen && (o.by_lesser || (o.kind >= 1 && o.kind <= 5)))
            assert_string_equal(worlds[0].answer, worlds[1].answer);
        if (i % 100 == 99) {
            close_world(&worlds[i / 100 % 2]);
            open_world(&worlds[i / 100 % 2]);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        close_world(&worlds[i]);
        fixture_end(&worlds[i].f);
    }
    nd_recipe_free(recipe);
}

static void hidden_documents_change_no_answer(void **state)
{
    const struct nd_ratio none = {0, 0};

    (void)state;
    run((const char *const[]){"threshold=0.8", NULL}, 8, none, 11);
    run((const char *const[]){"bands=128", "rows=1", "max_checks=2", NULL}, 1, none, 12);
    run((const char *const[]){"candidates=simhash", "verify=none", "simhash_bits=7", NULL}, 2, none,
        13);
    run((const char *const[]){"short=tokens", "max_checks=3", NULL}, 8, none, 14);
    run((const char *const[]){"threshold=0.8", "max_checks=3", NULL}, 8, (struct nd_ratio){1, 4},
        17);
    text_families = 1; /* a crowd */
    run((const char *const[]){"bands=128", "rows=1", "threshold=0.4", NULL}, 1, none, 15);
    run((const char *const[]){"bands=128", "rows=1", "threshold=0.4", NULL}, 2, none, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hidden_documents_change_no_answer)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
