/* test_store_check.c - a store in order has no findings, and each damage is found */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>

#include "store/read/store_state.h"
#include "store_content.h"

struct findings {
    size_t n;
    const char *expected;
    bool is_found;
    char last[512];
};

static void note(void *context, const char *finding)
{
    struct findings *f = context;

    f->n++;
    (void)snprintf(f->last, sizeof f->last, "%s", finding);
    if (f->expected && strstr(finding, f->expected))
        f->is_found = true;
}

static struct findings check(struct nd_store *store, const char *expected)
{
    struct findings f = {.expected = expected};
    struct nd_error err = {0};
    enum nd_status status = nd_store_check(store, note, &f, &err);

    if (status != (f.n ? ND_EINPUT : ND_OK))
        fail_msg("%s: %s", nd_status_name(status), err.message);
    return f;
}

static void assert_in_order(struct fixture *f)
{
    struct findings found = check(f->store, NULL);

    if (found.n)
        fail_msg("%zu findings: %s", found.n, found.last);
}

static void a_store_in_order_has_no_findings(void **state)
{
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    assert_in_order(&f);
    content_fill(&f, 150);
    assert_in_order(&f);
    fixture_close(&f);
    fixture_open(&f);
    assert_in_order(&f);
    fixture_close(&f);
    f.options.read_only = true;
    f.options.create = false;
    fixture_open(&f);
    assert_in_order(&f);
    fixture_close(&f);
    fixture_end(&f);
}

static void recipes_by_distance_are_checked(void **state)
{
    struct fixture f;
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);

    (void)state;
    if (nd_recipe_by_name(recipe, "manku-2007", &err) != ND_OK)
        fail_msg("%s", err.message);
    fixture_begin(&f);
    f.options.recipe = recipe;
    fixture_open(&f);
    content_fill(&f, 60);
    assert_in_order(&f);
    fixture_close(&f);
    fixture_end(&f);
    nd_recipe_free(recipe);
}

/* ---- Damages ---- */

/* The first entry from a number on. */
static uint32_t entry_at(struct nd_txn *txn, uint32_t number, struct nd_entry *entry)
{
    assert_int_equal(nd_catalog_next_entry(txn, &number, entry, NULL), 1);
    return number;
}

static void change_row(struct nd_txn *txn, int what)
{
    struct nd_entry e;
    uint32_t number = entry_at(txn, 20, &e);

    switch (what) {
    case 0: e.row.low[127] ^= 1; break;
    case 1: e.row.simhash ^= 2; break;
    case 2: e.row.identity ^= 2; break;
    case 3: e.n_tokens++; break;
    case 4: e.row.n_shingles--; break;
    case 5: e.row.is_short = !e.row.is_short; break;
    case 6: e.row.identity_only = !e.row.identity_only; break;
    case 7: e.text.bytes++; break;
    default: {
        struct nd_entry other;

        (void)entry_at(txn, number + 1, &other);
        e.text = other.text;
    }
    }
    assert_int_equal(nd_catalog_put_entry(txn, number, &e, NULL), ND_OK);
}

/* The first pair of all. */
static void change_pair(struct nd_txn *txn, int what)
{
    struct nd_entry a, b;
    struct nd_pair_row row;
    uint32_t number = 0, set = 0, other = 0;

    for (;; number++) {
        number = entry_at(txn, number, &a);
        set = other = 0;
        if (nd_catalog_next_pair(txn, number, &set, &other, &row, NULL) == 1)
            break;
    }
    assert_int_equal(nd_catalog_get_entry(txn, other, &b, NULL), 1);
    if (what == 0)
        row.shared--;
    else if (what == 1)
        row.distance ^= 1;
    else if (what == 2)
        row.identical = (uint8_t)(row.identical == 0);
    if (what < 3) {
        assert_int_equal(
            nd_catalog_put_pair(txn, number, a.label_set, other, b.label_set, &row, NULL), ND_OK);
        return;
    }
    number = entry_at(txn, number + 1, &a); /* not near the other */
    while (nd_catalog_next_pair(txn, number, &set, &other, &row, NULL) == 1 ||
           (other = entry_at(txn, number + 3, &b)) == number)
        number = entry_at(txn, number + 1, &a);
    row = (struct nd_pair_row){0};
    assert_int_equal(nd_catalog_put_pair(txn, number, a.label_set, other, b.label_set, &row, NULL),
                     ND_OK);
}

static void change_database(struct fixture *f, void (*change)(struct nd_txn *txn, int what),
                            int what)
{
    struct nd_error err;
    struct nd_txn *txn;

    if (nd_catalog_begin(f->store->catalog, true, &txn, &err) != ND_OK)
        fail_msg("%s", err.message);
    change(txn, what);
    if (nd_catalog_commit(txn, NULL, &err) != ND_OK)
        fail_msg("%s", err.message);
}

static const struct {
    void (*change)(struct nd_txn *txn, int what);
    int what;
    const char *finding;
} damages[] = {
    {change_row, 0, "the minima of its text is not what its row says"},
    {change_row, 1, "the simhash of its text is not what its row says"},
    {change_row, 1, "the index does not have it"},
    {change_row, 2, "the identity of its text is not what its row says"},
    {change_row, 3, "the number of tokens of its text is not what its row says"},
    {change_row, 4, "the number of shingles of its text is not what its row says"},
    {change_row, 5, "the shortness of its text is not what its row says"},
    {change_row, 6, "the way of being found of its text is not what its row says"},
    {change_row, 7, "bytes of texts, and there are"},
    {change_row, 8, "the hash of its text is not what its row says"},
    {change_pair, 0, "are a pair that is not as its row says"},
    {change_pair, 1, "are a pair that is not as its row says"},
    {change_pair, 2, "are a pair that is not as its row says"},
    {change_pair, 3, "are a pair, and not within the threshold"},
};

static void each_damage_of_a_row_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct findings found;
        struct fixture f;

        fixture_begin(&f);
        fixture_open(&f);
        content_fill(&f, 60);
        change_database(&f, damages[i].change, damages[i].what);
        found = check(f.store, damages[i].finding);
        if (!found.is_found)
            fail_msg("damage %zu: none of %zu findings is '%s'; the last is '%s'", i, found.n,
                     damages[i].finding, found.last);
        fixture_close(&f);
        fixture_end(&f);
    }
}

/* The place of an entry's text. */
static struct nd_text_place place_at(struct fixture *f, uint32_t number)
{
    struct nd_entry entry;
    struct nd_txn *txn;

    assert_int_equal(nd_catalog_begin(f->store->catalog, false, &txn, NULL), ND_OK);
    (void)entry_at(txn, number, &entry);
    nd_catalog_abort(txn);
    return entry.text;
}

static void a_byte_of_a_text_is_found(void **state)
{
    struct nd_text_place place;
    struct fixture f;
    char path[512];
    uint8_t byte;
    off_t at;
    int fd;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 30);
    place = place_at(&f, 10);
    at = (off_t)place.offset + place.stored / 2;
    fixture_path(&f, "segments/00000001.seg", path, sizeof path);
    fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= 4;
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    assert_true(check(f.store, "00000001.seg").is_found);
    assert_int_equal(ftruncate(fd, 600), 0);
    assert_true(check(f.store, "the file has 600 bytes, and its row counts").is_found);
    assert_true(check(f.store, NULL).n > 10);
    assert_int_equal(close(fd), 0);
    fixture_close(&f);
    fixture_end(&f);
}

/* While others write, what they write is no finding. */
static void check_again_and_again(void *context)
{
    struct fixture *f = context;

    for (int i = 0; i < 5; i++)
        assert_in_order(f);
}

static void a_store_is_checked_while_it_is_written_to(void **state)
{
    struct nd_thread checker;
    struct fixture f;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 40);
    assert_true(nd_thread_start(&checker, check_again_and_again, &f));
    content_fill(&f, 200);
    nd_thread_join(&checker);
    assert_in_order(&f);
    fixture_close(&f);
    fixture_end(&f);
}

/* Remove the versions of the first document. */
static void lose_versions(struct nd_txn *txn, int what)
{
    uint64_t n;

    (void)what;
    assert_int_equal(nd_catalog_delete_versions(txn, 0, &n, NULL), ND_OK);
    assert_true(n > 0);
}

static void versions_that_are_missing_are_no_answer(void **state)
{
    const struct nd_document_query query = {.id = view("https://example.org/0/0"),
                                            .any_labels = true};
    const struct nd_version *versions;
    struct nd_stored stored;
    struct nd_error err;
    struct fixture f;
    size_t n;

    (void)state;
    fixture_begin(&f);
    fixture_open(&f);
    content_fill(&f, 9);
    assert_int_equal(
        nd_session_versions(f.session, f.admin, &query, 100, &stored, &versions, &n, &err),
        ND_STORE_OK);
    change_database(&f, lose_versions, 0);
    assert_int_equal(
        nd_session_versions(f.session, f.admin, &query, 100, &stored, &versions, &n, &err),
        ND_STORE_FAILED);
    assert_non_null(strstr(err.message, "are missing"));
    fixture_close(&f);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_in_order_has_no_findings),
        cmocka_unit_test(recipes_by_distance_are_checked),
        cmocka_unit_test(each_damage_of_a_row_is_found),
        cmocka_unit_test(a_byte_of_a_text_is_found),
        cmocka_unit_test(versions_that_are_missing_are_no_answer),
        cmocka_unit_test(a_store_is_checked_while_it_is_written_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
