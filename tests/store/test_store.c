/* test_store.c - a store: what is written is found, by whom it may be found, and after it was closed */
#define _DEFAULT_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <neardup/evidence.h>

#include "index/snapshot.h"
#include "store_fixture.h"

static const char *const moby =
    "call me ishmael some years ago never mind how long precisely having little or no money in my "
    "purse and nothing particular to interest me on shore i thought i would sail about a little "
    "and see the watery part of the world";
static const char *const moby_near =
    "call me ishmael some years ago never mind how long precisely having little or no money in my "
    "purse and nothing particular to interest me on shore i thought i would sail about a little "
    "and see the watery part of this world";
static const char *const other =
    "it was the best of times it was the worst of times it was the age of wisdom it was the age of "
    "foolishness it was the epoch of belief it was the epoch of incredulity";

static void assert_view(struct nd_view x, const char *text)
{
    assert_int_equal(x.len, strlen(text));
    assert_memory_equal(x.data, text, x.len);
}

static struct nd_verdict query(struct fixture *f, const struct nd_caller *caller, const char *text)
{
    struct nd_error err = {0};
    struct nd_verdict verdict;

    if (nd_session_query(f->session, caller, view(text), NULL, NULL, &verdict, &err) != ND_STORE_OK)
        fail_msg("%s", err.message);
    return verdict;
}

static void near_and_equal_documents_are_found(void **state)
{
    struct fixture f;
    struct nd_write *a, *b, *c;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    a = post(&f, "a", moby);
    assert_int_equal(nd_write_result(a)->result, ND_STORE_OK);
    assert_int_equal(nd_write_result(a)->verdict.kind, ND_VERDICT_NEW);
    assert_true(nd_write_result(a)->is_durable);
    b = post(&f, "b", moby_near);
    assert_int_equal(nd_write_result(b)->verdict.kind, ND_VERDICT_NEAR_DUPLICATE);
    assert_view(nd_write_result(b)->verdict.nearest[0].key.id, "a");
    c = post(&f, "c", moby);
    assert_int_equal(nd_write_result(c)->verdict.kind, ND_VERDICT_DUPLICATE);
    assert_view(nd_write_result(c)->verdict.nearest[0].key.id, "a");
    assert_view(nd_write_result(c)->verdict.nearest[1].key.id, "b");
    assert_int_equal(query(&f, f.admin, other).kind, ND_VERDICT_NEW);
    assert_int_equal(query(&f, f.admin, moby_near).kind, ND_VERDICT_DUPLICATE);
    for (int i = 0; i < 2; i++) {
        fixture_close(&f);
        fixture_open(&f);
        assert_int_equal(query(&f, f.admin, moby).kind, ND_VERDICT_DUPLICATE);
        assert_int_equal(query(&f, f.admin, moby_near).kind, ND_VERDICT_DUPLICATE);
        assert_view(query(&f, f.admin, moby_near).nearest[0].key.id, "b");
        assert_view(query(&f, f.admin, moby_near).cluster.key.id, "a");
    }
    nd_write_free(a);
    nd_write_free(b);
    nd_write_free(c);
    fixture_close(&f);
    fixture_end(&f);
}

static void assert_differs(const struct nd_nearest *document, enum nd_differs by,
                           const char *only_a, const char *only_b)
{
    const struct nd_difference *d = document->differs;

    assert_non_null(d);
    assert_int_equal(d->by, by);
    assert_int_equal(d->only[0], only_a != NULL);
    assert_int_equal(d->only[1], only_b != NULL);
    if (only_a)
        assert_view(d->word[0][0], only_a);
    if (only_b)
        assert_view(d->word[1][0], only_b);
}

static void each_of_the_nearest_says_what_differs(void **state)
{
    struct nd_write_request request = {.id = view("c"), .asked = {.differs = true}};
    char shorter[400], longer[400];
    struct nd_verdict verdict;
    struct nd_write *write;
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    snprintf(shorter, sizeof shorter, "%s 12", moby);
    snprintf(longer, sizeof longer, "%s 13", moby);
    nd_write_free(post(&f, "a", shorter));
    nd_write_free(post(&f, "b", shorter));
    nd_write_free(post(&f, "d", longer));
    assert_int_equal(
        nd_session_query(f.session, f.admin, view(longer), NULL, &request.asked, &verdict, NULL),
        ND_STORE_OK);
    assert_int_equal(verdict.n_nearest, 3);
    assert_differs(&verdict.nearest[0], ND_DIFFERS_NOTHING, NULL, NULL);
    for (unsigned i = 1; i < 3; i++)
        assert_differs(&verdict.nearest[i], ND_DIFFERS_NUMBERS, "13", "12");
    assert_null(verdict.cluster.differs);
    request.text = view(moby);
    write = write_one(&f, f.admin, &request);
    assert_int_equal(nd_write_result(write)->verdict.n_nearest, 3);
    for (unsigned i = 0; i < 3; i++)
        assert_differs(&nd_write_result(write)->verdict.nearest[i], ND_DIFFERS_NUMBERS, NULL,
                       i < 2 ? "12" : "13");
    nd_write_free(write);
    assert_null(query(&f, f.admin, longer).nearest[0].differs);
    fixture_close(&f);
    fixture_end(&f);
}

static const char *const moby_half =
    "call me ishmael some years ago never mind how long precisely having little or no money in my "
    "purse and nothing more to tell of him who sailed from nantucket in the winter of that year";

static struct nd_verdict query_at(struct fixture *f, const char *text, struct nd_ratio at)
{
    const struct nd_asked asked = {.at = at};
    struct nd_verdict verdict = {.kind = ND_VERDICT_NEW};
    struct nd_error err = {0};

    if (nd_session_query(f->session, f->admin, view(text), NULL, &asked, &verdict, &err) !=
        ND_STORE_OK)
        fail_msg("%s", err.message);
    return verdict;
}

static void a_store_that_was_made_for_it_finds_neighbours_below_the_threshold(void **state)
{
    const struct nd_ratio least = {3, 10}, third = {1, 3};
    struct fixture f;
    struct nd_verdict verdict;
    struct nd_store_stats stats;

    (void)state;
    fixture_begin(&f);
    f.options.least = least;
    fixture_open(&f);
    nd_write_free(post(&f, "a", moby));
    nd_write_free(post(&f, "b", moby_near));
    nd_write_free(post(&f, "c", other));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(query(&f, f.admin, moby_half).n_nearest, 0);
        verdict = query_at(&f, moby_half, third);
        assert_int_equal(verdict.kind, ND_VERDICT_NEW);
        assert_false(verdict.has_cluster);
        assert_int_equal(verdict.n_nearest, 2);
        assert_view(verdict.nearest[0].key.id, "a");
        assert_true(verdict.nearest[0].likeness.overlap.shared > 15);
        verdict = query_at(&f, moby_near, third);
        assert_int_equal(verdict.kind, ND_VERDICT_DUPLICATE);
        assert_view(verdict.cluster.key.id, "a");
        fixture_close(&f);
        f.options.least = i ? least : (struct nd_ratio){0, 0};
        fixture_open(&f);
        assert_int_equal(nd_store_least(f.store).p, 3);
        assert_int_equal(nd_store_least(f.store).q, 10);
    }
    nd_write_free(post(&f, "d", moby_half));
    nd_store_stats(f.store, &stats);
    assert_int_equal(stats.pairs, 1);
    fixture_close(&f);
    fixture_end(&f);
}

static void a_store_with_containment_names_what_quotes_a_text(void **state)
{
    char both[900];
    struct nd_write_request request = {.id = view("both")};
    struct nd_verdict verdict;
    struct nd_write *write;
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    f.options.containment = (struct nd_ratio){4, 5};
    fixture_open(&f);
    snprintf(both, sizeof both, "%s %s", moby, other);
    nd_write_free(post(&f, "a", moby));
    nd_write_free(post(&f, "o", other));
    request.text = view(both);
    write = write_one(&f, f.admin, &request);
    for (int i = 0; i < 2; i++) {
        verdict = i ? query(&f, f.admin, both) : nd_write_result(write)->verdict;
        assert_true(verdict.has_containment);
        assert_int_equal(verdict.n_contains, 2 + i);
        assert_view(verdict.contains[0].key.id, "a");
        assert_view(verdict.contains[1].key.id, "o");
        assert_int_equal(verdict.contains[0].likeness.overlap.shared,
                         verdict.contains[0].likeness.overlap.b);
        assert_int_equal(verdict.n_contained_in, i);
    }
    assert_int_equal(nd_write_result(write)->verdict.kind, ND_VERDICT_NEW);
    nd_write_free(write);
    for (int i = 0; i < 2; i++) {
        verdict = query(&f, f.admin, other);
        assert_int_equal(verdict.n_contained_in, 2);
        assert_view(verdict.contained_in[0].key.id, "o");
        assert_int_equal(verdict.contained_in[0].likeness.identical, ND_IDENTICAL_BYTES);
        assert_view(verdict.contained_in[1].key.id, "both");
        fixture_close(&f);
        f.options.containment = (struct nd_ratio){0, 0};
        fixture_open(&f);
    }
    assert_int_equal(nd_store_containment(f.store).p, 4);
    request.id = view("o");
    request.is_deletion = true;
    nd_write_free(write_one(&f, f.admin, &request));
    assert_int_equal(query(&f, f.admin, both).n_contains, 2);
    assert_int_equal(query(&f, f.admin, "too short").n_contained_in, 0);
    fixture_close(&f);
    f.options.containment = (struct nd_ratio){1, 2};
    assert_null(nd_store_open(f.folder, &f.options, NULL));
    fixture_end(&f);
}

static void assert_not_opened(struct fixture *f, struct nd_ratio least, const char *why)
{
    struct nd_error err = {0};

    f->options.least = least;
    assert_null(nd_store_open(f->folder, &f->options, &err));
    if (!strstr(err.message, why))
        fail_msg("%s", err.message);
}

static void least_is_fixed_when_a_store_is_made(void **state)
{
    const struct nd_ratio half = {1, 2}, third = {1, 3};
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_error err = {0};
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    assert_not_opened(&f, (struct nd_ratio){4, 5}, "below the threshold of the recipe");
    assert_not_opened(&f, (struct nd_ratio){0, 1}, "above 0");
    assert_int_equal(nd_recipe_by_name(recipe, "manku-2007", NULL), ND_OK);
    f.options.recipe = recipe;
    assert_not_opened(&f, half, "candidates = minhash");
    f.options.recipe = NULL;
    f.options.least = half;
    fixture_open(&f);
    assert_int_equal(nd_store_check_at(f.store, half, NULL), ND_OK);
    assert_int_equal(nd_store_check_at(f.store, (struct nd_ratio){4, 5}, NULL), ND_OK);
    assert_int_equal(nd_store_check_at(f.store, (struct nd_ratio){9, 10}, NULL), ND_EINVAL);
    assert_int_equal(nd_store_check_at(f.store, third, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "from 1/2, its least, to 4/5, its threshold"));
    fixture_close(&f);
    assert_not_opened(&f, third, "was made with least = 1/2");
    fixture_end(&f);
    fixture_begin(&f);
    fixture_open(&f);
    assert_int_equal(nd_store_check_at(f.store, half, &err), ND_EINVAL);
    assert_non_null(strstr(err.message, "neardup serve --least 0.5"));
    fixture_close(&f);
    assert_not_opened(&f, half, "was made without least");
    fixture_end(&f);
    nd_recipe_free(recipe);
}

/* One word of many differs from one to the next: max_checks of them fill all their keys. */
static void equal_bytes_are_found_in_a_crowd(void **state)
{
    enum { CROWD = 40 };
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    char text[CROWD][300], name[16];
    struct fixture f;
    struct nd_verdict verdict;
    bool was_cut = false;

    (void)state;
    assert_int_equal(nd_recipe_set(recipe, "max_checks=4", NULL), ND_OK);
    fixture_begin(&f);
    f.options.recipe = recipe;
    fixture_open(&f);
    for (int i = 0; i < CROWD; i++) {
        snprintf(text[i], sizeof text[i], "%s %d", moby, i);
        snprintf(name, sizeof name, "id%d", i);
        nd_write_free(post(&f, name, text[i]));
    }
    for (int i = 0; i < CROWD; i++) {
        snprintf(name, sizeof name, "id%d", i);
        verdict = query(&f, f.admin, text[i]);
        assert_int_equal(verdict.kind, ND_VERDICT_DUPLICATE);
        assert_view(verdict.nearest[0].key.id, name);
        assert_int_equal(verdict.nearest[0].likeness.identical, ND_IDENTICAL_BYTES);
        assert_true(verdict.n_nearest <= 3 && verdict.work.comparisons <= 5);
        was_cut |= verdict.was_cut;
    }
    assert_true(was_cut);
    fixture_close(&f);
    fixture_end(&f);
    nd_recipe_free(recipe);
}

/* The smallest leak: what is secret is near both, and they are not near each other … for a caller who
 * sees the two, the later one is new. */
static void a_hidden_document_changes_no_answer(void **state)
{
    const struct nd_view secret = view("secret");
    struct fixture f;
    struct nd_caller *public, *cleared;
    struct nd_write *a, *b;
    struct nd_verdict verdict;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    public = nd_caller_new(f.store, NULL, 0, false, NULL);
    cleared = nd_caller_new(f.store, &secret, 1, false, NULL);
    a = write_one(&f, cleared,
                  &(struct nd_write_request){
                      .id = view("a"), .labels = &secret, .n_labels = 1, .text = view(moby)});
    b = write_one(&f, public, &(struct nd_write_request){.id = view("b"), .text = view(moby_near)});
    verdict = nd_write_result(b)->verdict;
    assert_int_equal(verdict.kind, ND_VERDICT_NEW);
    assert_int_equal(verdict.work.label_sets, 1);
    assert_int_equal(verdict.work.candidates, 0);
    assert_int_equal(query(&f, public, moby).kind, ND_VERDICT_NEAR_DUPLICATE);
    assert_view(query(&f, public, moby).nearest[0].key.id, "b");
    assert_int_equal(query(&f, cleared, moby).kind, ND_VERDICT_DUPLICATE);
    assert_view(query(&f, cleared, moby_near).nearest[0].key.id, "b");
    assert_view(query(&f, cleared, moby_near).cluster.key.id, "a");
    nd_write_free(a);
    nd_write_free(b);
    nd_caller_free(public);
    nd_caller_free(cleared);
    fixture_close(&f);
    fixture_end(&f);
}

static struct nd_store_stats stats_of(struct fixture *f)
{
    struct nd_store_stats stats;

    nd_store_stats(f->store, &stats);
    return stats;
}

/* Change a byte of the snapshot: of its header, which is read when it is opened, or of a column,
 * which is read by a check beside everything else. */
static void damage_snapshot(const struct fixture *f, bool in_column)
{
    struct nd_snapshot_place place[ND_SNAPSHOT_SECTIONS];
    struct nd_snapshot_header header;
    uint64_t n_chunks;
    char path[512];
    FILE *file;
    long at;
    int byte;

    fixture_path(f, "index.snapshot", path, sizeof path);
    file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    (void)nd_snapshot_lay_out(&header, place, &n_chunks);
    at = in_column ? (long)place[ND_SNAPSHOT_LOW].offset : 16;
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    byte = fgetc(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_not_equal(fputc(byte ^ 1, file), EOF);
    assert_int_equal(fclose(file), 0);
}

static void a_damaged_snapshot_is_not_believed(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    nd_write_free(post(&f, "a", moby));
    fixture_close(&f);
    fixture_open(&f);
    assert_true(stats_of(&f).opened_from_snapshot);
    fixture_close(&f);
    for (int in_column = 0; in_column < 2; in_column++) {
        damage_snapshot(&f, in_column);
        fixture_open(&f);
        assert_int_equal(stats_of(&f).opened_from_snapshot, in_column);
        while (stats_of(&f).last_snapshot) /* until the check has found it, and removed it */
            ;
        assert_int_equal(query(&f, f.admin, moby_near).kind, ND_VERDICT_NEAR_DUPLICATE);
        nd_write_free(post(&f, in_column ? "b" : "c", other));
        assert_int_equal(query(&f, f.admin, other).kind, ND_VERDICT_DUPLICATE);
        fixture_close(&f);
    }
    fixture_open(&f);
    assert_true(stats_of(&f).opened_from_snapshot);
    assert_int_equal(query(&f, f.admin, other).kind, ND_VERDICT_DUPLICATE);
    fixture_close(&f);
    fixture_end(&f);
}

/* Beside writes, which go on until it is there; then a store that was killed opens from it. */
static void a_snapshot_is_written_at_its_time(void **state)
{
    struct fixture f;
    char snapshot[512], before[512], id[32], text[64];
    unsigned n = 0;

    (void)state;
    fixture_begin(&f);
    f.options.snapshot_every_s = 1;
    fixture_open(&f);
    while (stats_of(&f).last_snapshot == 0) {
        snprintf(id, sizeof id, "%u", n);
        snprintf(text, sizeof text, "the words of number %u are %u and %u", n, n * 7, n * 13);
        nd_write_free(post(&f, id, text));
        n++;
    }
    nd_write_free(post(&f, "last", moby));
    fixture_path(&f, "index.snapshot", snapshot, sizeof snapshot);
    fixture_path(&f, "before.snapshot", before, sizeof before);
    assert_int_equal(link(snapshot, before), 0);
    fixture_close(&f);
    assert_int_equal(rename(before, snapshot), 0);
    fixture_open(&f);
    assert_true(stats_of(&f).opened_from_snapshot);
    assert_int_equal(stats_of(&f).index_documents, n + 1);
    assert_int_equal(query(&f, f.admin, moby_near).kind, ND_VERDICT_NEAR_DUPLICATE);
    fixture_close(&f);
    fixture_end(&f);
}

static void two_processes_cannot_both_write(void **state)
{
    struct fixture f;
    struct nd_error err;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    assert_null(nd_store_open(f.folder, &f.options, &err));
    assert_int_equal(err.status, ND_EINVAL);
    assert_non_null(strstr(err.message, "another process"));
    fixture_close(&f);
    fixture_end(&f);
}

static void recipes_that_are_not_served_are_refused_by_key(void **state)
{
    static const char *const refused[][2] = {{"candidates=all", "candidates: "},
                                             {"candidates=identity", "candidates: "},
                                             {"verify=containment", "verify: "},
                                             {"verify=none", "verify: "},
                                             {"keep=last", "keep: "},
                                             {NULL, NULL}};

    (void)state;
    for (size_t i = 0; refused[i][0]; i++) {
        struct nd_recipe *recipe = nd_recipe_new(NULL);
        struct nd_error err = {0};

        assert_int_equal(nd_recipe_set(recipe, refused[i][0], &err), ND_OK);
        if (nd_store_recipe_check(recipe, &err) == ND_OK)
            fail_msg("%s is served", refused[i][0]);
        if (strncmp(err.message, refused[i][1], strlen(refused[i][1])) != 0)
            fail_msg("%s: %s", refused[i][0], err.message);
        nd_recipe_free(recipe);
    }
}

/* But for the one that keeps the longest document, whenever it comes. */
static void every_shipped_recipe_is_served(void **state)
{
    const char *name;

    (void)state;
    for (size_t i = 0; (name = nd_recipe_name(i)); i++) {
        struct nd_recipe *recipe = nd_recipe_new(NULL);
        struct nd_error err = {0};

        assert_int_equal(nd_recipe_by_name(recipe, name, &err), ND_OK);
        if (strcmp(name, "lossless") == 0)
            assert_int_equal(nd_store_recipe_check(recipe, &err), ND_EUNSUPPORTED);
        else if (nd_store_recipe_check(recipe, &err) != ND_OK)
            fail_msg("%s: %s", name, err.message);
        nd_recipe_free(recipe);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_and_equal_documents_are_found),
        cmocka_unit_test(each_of_the_nearest_says_what_differs),
        cmocka_unit_test(a_store_that_was_made_for_it_finds_neighbours_below_the_threshold),
        cmocka_unit_test(least_is_fixed_when_a_store_is_made),
        cmocka_unit_test(a_store_with_containment_names_what_quotes_a_text),
        cmocka_unit_test(equal_bytes_are_found_in_a_crowd),
        cmocka_unit_test(a_hidden_document_changes_no_answer),
        cmocka_unit_test(a_damaged_snapshot_is_not_believed),
        cmocka_unit_test(a_snapshot_is_written_at_its_time),
        cmocka_unit_test(two_processes_cannot_both_write),
        cmocka_unit_test(recipes_that_are_not_served_are_refused_by_key),
        cmocka_unit_test(every_shipped_recipe_is_served),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
