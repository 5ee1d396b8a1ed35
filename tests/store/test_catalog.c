/* test_catalog.c - the tables of the database: what is put is found, in order, after each reopening */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "catalog_fixture.h"
#include "store/store.h"

#define OK(call) assert_int_equal(call, ND_OK)
#define FOUND(call) assert_int_equal(call, 1)
#define NONE(call) assert_int_equal(call, 0)

/* ---- Each table ---- */

static void the_state_of_a_new_database_is_zero(void **state)
{
    struct catalog_fixture f;
    struct nd_catalog_state s, zero;
    struct nd_view text;
    struct nd_txn *txn;

    (void)state;
    memset(&zero, 0, sizeof zero);
    memset(&s, 7, sizeof s);
    fixture_make(&f);
    txn = begin(&f, false);
    OK(nd_catalog_get_state(txn, &s, NULL));
    assert_int_equal(s.commit + s.next_document + s.next_entry + s.n_label_sets + s.next_order, 0);
    assert_int_equal(s.segments.segment + s.segments.offset, 0);
    assert_int_equal(s.n_documents + s.n_entries + s.n_versions + s.n_pairs + s.text_bytes, 0);
    NONE(nd_catalog_get_meta(txn, "recipe", &text, NULL));
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void the_state_and_texts_by_name_are_kept(void **state)
{
    const struct nd_catalog_state s = {1, 2, 3, 4, 5, {6, UINT64_C(7) << 40}, 8, 9, 10, 11, 12};
    struct catalog_fixture f;
    struct nd_catalog_state got;
    struct nd_view text;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_state(txn, &s, NULL));
    OK(nd_catalog_put_meta(txn, "recipe", view("threshold = 0.8"), NULL));
    assert_int_equal(nd_catalog_put_meta(txn, "state", view("x"), NULL), ND_EINVAL);
    assert_int_equal(nd_catalog_put_meta(txn, "format", view("x"), NULL), ND_EINVAL);
    assert_int_equal(nd_catalog_put_meta(txn, "", view("x"), NULL), ND_EINVAL);
    commit(txn);
    nd_catalog_close(f.catalog);
    fixture_open(&f);
    txn = begin(&f, false);
    OK(nd_catalog_get_state(txn, &got, NULL));
    assert_int_equal(got.commit, 1);
    assert_int_equal(got.next_document, 2);
    assert_int_equal(got.next_entry, 3);
    assert_int_equal(got.n_label_sets, 4);
    assert_int_equal(got.next_order, 5);
    assert_int_equal(got.segments.segment, 6);
    assert_int_equal(got.segments.offset, UINT64_C(7) << 40);
    assert_int_equal(got.n_documents, 8);
    assert_int_equal(got.n_entries, 9);
    assert_int_equal(got.n_versions, 10);
    assert_int_equal(got.n_pairs, 11);
    assert_int_equal(got.text_bytes, 12);
    FOUND(nd_catalog_get_meta(txn, "recipe", &text, NULL));
    assert_int_equal(text.len, 15);
    assert_memory_equal(text.data, "threshold = 0.8", 15);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void label_sets_are_found_by_number(void **state)
{
    struct catalog_fixture f;
    struct nd_view bytes;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_label_set(txn, 0, view(""), NULL));
    OK(nd_catalog_put_label_set(txn, 1, bytes_view("blue\0red\0", 9), NULL));
    OK(nd_catalog_put_label_set(txn, 2, bytes_view("red\0blue\0", 9), NULL));
    FOUND(nd_catalog_get_label_set(txn, 0, &bytes, NULL));
    assert_int_equal(bytes.len, 0);
    FOUND(nd_catalog_get_label_set(txn, 1, &bytes, NULL));
    assert_int_equal(bytes.len, 9);
    assert_memory_equal(bytes.data, "blue\0red\0", 9);
    /* Its labels are not in order. */
    assert_int_equal(nd_catalog_get_label_set(txn, 2, &bytes, NULL), ND_EINPUT);
    NONE(nd_catalog_get_label_set(txn, 3, &bytes, NULL));
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void assert_entry(const struct nd_entry *a, const struct nd_entry *b)
{
    assert_int_equal(a->label_set, b->label_set);
    assert_int_equal(a->n_documents, b->n_documents);
    assert_memory_equal(&a->hash, &b->hash, sizeof a->hash);
    assert_int_equal(a->text.segment, b->text.segment);
    assert_int_equal(a->text.stored, b->text.stored);
    assert_int_equal(a->text.offset, b->text.offset);
    assert_int_equal(a->text.bytes, b->text.bytes);
    assert_int_equal(a->n_tokens, b->n_tokens);
    assert_int_equal(a->is_empty, b->is_empty);
    assert_memory_equal(a->row.low, b->row.low, sizeof a->row.low);
    assert_int_equal(a->row.simhash, b->row.simhash);
    assert_int_equal(a->row.identity, b->row.identity);
    assert_int_equal(a->row.group, b->row.group);
    assert_int_equal(a->row.n_shingles, b->row.n_shingles);
    assert_int_equal(a->row.is_short, b->row.is_short);
    assert_int_equal(a->row.identity_only, b->row.identity_only);
    assert_ptr_equal(a->row.key, b->row.key);
    assert_memory_equal(&a->row.left_out, &b->row.left_out, sizeof a->row.left_out);
}

static void entries_are_found_by_number_and_by_text(void **state)
{
    enum { N = 1000 };
    struct catalog_fixture f;
    struct nd_entry entry, expected;
    struct nd_txn *txn;
    uint32_t number;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (uint32_t i = 0; i < N; i++) {
        entry = entry_of(3 * i, i % 3);
        OK(nd_catalog_put_entry(txn, 3 * i, &entry, NULL));
    }
    for (uint32_t i = 0; i < N; i += 2) { /* again, changed */
        entry = entry_of(3 * i, i % 3);
        entry.n_documents = 77;
        OK(nd_catalog_put_entry(txn, 3 * i, &entry, NULL));
    }
    commit(txn);
    txn = begin(&f, false);
    number = 0;
    for (uint32_t i = 0; i < N; i++, number++) {
        expected = entry_of(3 * i, i % 3);
        if (i % 2 == 0)
            expected.n_documents = 77;
        FOUND(nd_catalog_get_entry(txn, 3 * i, &entry, NULL));
        assert_entry(&entry, &expected);
        NONE(nd_catalog_get_entry(txn, 3 * i + 1, &entry, NULL));
        FOUND(nd_catalog_next_entry(txn, &number, &entry, NULL));
        assert_int_equal(number, 3 * i);
        assert_entry(&entry, &expected);
        FOUND(nd_catalog_find_entry(txn, i % 3, expected.hash, &number, NULL));
        assert_int_equal(number, 3 * i);
        NONE(nd_catalog_find_entry(txn, i % 3 + 1, expected.hash, &number, NULL));
    }
    NONE(nd_catalog_next_entry(txn, &number, &entry, NULL));
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void a_text_has_one_entry_of_a_label_set(void **state)
{
    struct catalog_fixture f;
    struct nd_entry entry = entry_of(1, 0), other = entry;
    struct nd_error err;
    struct nd_txn *txn;
    bool no_space = true;
    uint32_t number;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_entry(txn, 1, &entry, NULL));
    other.label_set = other.row.group = 1;
    OK(nd_catalog_put_entry(txn, 2, &other, NULL));
    OK(nd_catalog_delete_entry(txn, 1, &entry, NULL));
    NONE(nd_catalog_get_entry(txn, 1, &other, NULL));
    NONE(nd_catalog_find_entry(txn, 0, entry.hash, &number, NULL));
    FOUND(nd_catalog_find_entry(txn, 1, entry.hash, &number, NULL));
    OK(nd_catalog_put_entry(txn, 3, &entry, NULL));
    assert_int_equal(nd_catalog_put_entry(txn, 4, &entry, &err), ND_EINPUT);
    assert_non_null(strstr(err.message, "table texts, key 00000000"));
    /* From now on nothing of it can be committed. */
    assert_int_equal(nd_catalog_commit(txn, &no_space, &err), ND_EINPUT);
    assert_false(no_space);
    txn = begin(&f, false);
    NONE(nd_catalog_get_entry(txn, 2, &other, NULL));
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void assert_document(const struct nd_document_row *a, const struct nd_document_row *b)
{
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->order, b->order);
    assert_int_equal(a->entry, b->entry);
    assert_int_equal(a->label_set, b->label_set);
    assert_int_equal(a->version, b->version);
    assert_int_equal(a->created, b->created);
    assert_int_equal(a->updated, b->updated);
    assert_int_equal(a->visited, b->visited);
    assert_int_equal(a->due, b->due);
    assert_int_equal(a->visits.simhash, b->visits.simhash);
    assert_int_equal(a->visits.visits, b->visits.visits);
    assert_int_equal(a->visits.changes, b->visits.changes);
    assert_int_equal(a->visits.interval, b->visits.interval);
    assert_int_equal(a->visits.equal, b->visits.equal);
    assert_int_equal(a->visits.changed, b->visits.changed);
    assert_int_equal(a->visits.priority, b->visits.priority);
    assert_int_equal(a->visits.changed_by, b->visits.changed_by);
    assert_int_equal(a->visits.in_time, b->visits.in_time);
    assert_int_equal(a->title.len, b->title.len);
    assert_memory_equal(a->title.text, b->title.text, a->title.len);
}

/* An id of this length: those of two lengths begin with the same bytes. */
static struct nd_view long_id(size_t len, char last)
{
    static char id[ND_STORE_ID_MAX + 1];

    memset(id, 'i', len);
    id[len - 1] = last;
    return (struct nd_view){id, len};
}

static void documents_are_found_by_label_set_and_id_of_any_length(void **state)
{
    static const size_t len[] = {1, 2, 111, 112, 127, 128, 129, 130, 500, 512, 2000, 4095, 4096};
    enum { N = sizeof len / sizeof *len };
    struct catalog_fixture f;
    struct nd_document_row row, expected;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (size_t i = 0; i < N; i++)
        for (uint32_t set = 0; set < 2; set++)
            for (char last = 'a'; last <= 'c'; last++) {
                row = document_of(len[i] * 8 + set * 4 + (uint64_t)last - 'a', set);
                OK(nd_catalog_put_document(txn, long_id(len[i], last), &row, NULL));
            }
    commit(txn);
    txn = begin(&f, true);
    for (size_t i = 0; i < N; i++)
        for (uint32_t set = 0; set < 2; set++)
            for (char last = 'a'; last <= 'd'; last++) {
                expected = document_of(len[i] * 8 + set * 4 + (uint64_t)last - 'a', set);
                if (last == 'd') {
                    NONE(nd_catalog_get_document(txn, set, long_id(len[i], last), &row, NULL));
                    continue;
                }
                FOUND(nd_catalog_get_document(txn, set, long_id(len[i], last), &row, NULL));
                assert_document(&row, &expected);
                NONE(nd_catalog_get_document(txn, 2, long_id(len[i], last), &row, NULL));
                OK(nd_catalog_delete_document(txn, long_id(len[i], last), &row, NULL));
                NONE(nd_catalog_get_document(txn, set, long_id(len[i], last), &row, NULL));
            }
    assert_int_equal(nd_catalog_put_document(txn, view(""), &row, NULL), ND_EINVAL);
    assert_int_equal(nd_catalog_put_document(txn, long_id(4096, 'a'), &row, NULL), ND_OK);
    assert_int_equal(
        nd_catalog_put_document(txn, (struct nd_view){long_id(4096, 'a').data, 4097}, &row, NULL),
        ND_EINVAL);
    commit(txn);
    fixture_remove(&f);
}

/* The key of a long id, byte for byte, is no id that can be. */
static void the_key_of_a_long_id_is_no_short_id(void **state)
{
    struct catalog_fixture f;
    struct nd_document_row row = document_of(1, 0), other = document_of(2, 0), got;
    struct nd_key key = {0};
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_document(txn, long_id(129, 'a'), &row, NULL));
    nd_key_add_id(&key, long_id(129, 'a'));
    assert_int_equal(key.len, 129);
    NONE(nd_catalog_get_document(txn, 0, bytes_view(key.bytes, 128), &got, NULL));
    NONE(nd_catalog_get_document(txn, 0, bytes_view(key.bytes, 129), &got, NULL));
    OK(nd_catalog_put_document(txn, bytes_view(key.bytes, 128), &other, NULL));
    FOUND(nd_catalog_get_document(txn, 0, long_id(129, 'a'), &got, NULL));
    assert_document(&got, &row);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

/* No two ids with one hash are known, so the row of another id is put under the key. */
static void a_collision_of_long_ids_is_an_error(void **state)
{
    struct catalog_fixture f;
    struct nd_document_row row = document_of(1, 0), got;
    struct nd_key key = {0};
    uint8_t bytes[ND_ROW_DOCUMENT + ND_STORE_TITLE_MAX + 300];
    size_t len;
    struct nd_error err;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    nd_key_add_32(&key, 0);
    nd_key_add_id(&key, long_id(300, 'a'));
    len = nd_row_put_document(bytes, &row);
    memcpy(bytes + len, long_id(300, 'b').data, 300);
    len += 300;
    OK(nd_catalog_put(txn, ND_TABLE_DOCUMENTS, &key, bytes_view(bytes, len), NULL));
    assert_int_equal(nd_catalog_get_document(txn, 0, long_id(300, 'a'), &got, &err), ND_EINPUT);
    assert_non_null(strstr(err.message, "two ids have this hash"));
    nd_catalog_abort(txn);
    txn = begin(&f, true);
    OK(nd_catalog_put(txn, ND_TABLE_DOCUMENTS, &key, bytes_view(bytes, len), NULL));
    assert_int_equal(nd_catalog_put_document(txn, long_id(300, 'a'), &row, &err), ND_EINPUT);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void holders_come_in_their_order(void **state)
{
    static const uint64_t order[] = {UINT64_C(1) << 40, 3, 256, 255, 1, UINT64_MAX};
    static const uint64_t sorted[] = {1, 3, 255, 256, UINT64_C(1) << 40, UINT64_MAX};
    struct catalog_fixture f;
    struct nd_txn *txn;
    struct nd_view id;
    uint64_t at = 0;
    char name[32];

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (size_t i = 0; i < 6; i++) {
        (void)snprintf(name, sizeof name, "d%llu", (unsigned long long)order[i]);
        OK(nd_catalog_put_holder(txn, 256, order[i], view(name), NULL));
        OK(nd_catalog_put_holder(txn, 255, order[i], view("before"), NULL));
        OK(nd_catalog_put_holder(txn, 257, order[i], view("behind"), NULL));
    }
    assert_int_equal(nd_catalog_put_holder(txn, 256, 9, view(""), NULL), ND_EINVAL);
    for (size_t i = 0; i < 6; i++) {
        FOUND(nd_catalog_next_holder(txn, 256, &at, &id, NULL));
        (void)snprintf(name, sizeof name, "d%llu", (unsigned long long)sorted[i]);
        assert_int_equal(id.len, strlen(name));
        assert_memory_equal(id.data, name, id.len);
        assert_int_equal(at++, sorted[i]);
    }
    OK(nd_catalog_delete_holder(txn, 256, UINT64_MAX, NULL));
    at = sorted[4] + 1;
    NONE(nd_catalog_next_holder(txn, 256, &at, &id, NULL));
    OK(nd_catalog_delete_holder(txn, 257, 1, NULL));
    at = 0;
    FOUND(nd_catalog_next_holder(txn, 257, &at, &id, NULL));
    assert_int_equal(at, 3);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void versions_come_in_order_and_go_together(void **state)
{
    struct catalog_fixture f;
    struct nd_version_row row, expected;
    struct nd_txn *txn;
    uint32_t version = 0;
    uint64_t n;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (uint32_t v = 300; v > 0; v--)
        for (uint64_t d = 254; d < 258; d++) {
            row = version_of(d * 1000 + v);
            OK(nd_catalog_put_version(txn, d, v, &row, NULL));
        }
    for (uint32_t v = 1; v <= 300; v++, version++) {
        FOUND(nd_catalog_next_version(txn, 256, &version, &row, NULL));
        assert_int_equal(version, v);
        expected = version_of(256000 + v);
        assert_memory_equal(&row.hash, &expected.hash, sizeof row.hash);
        assert_int_equal(row.time, expected.time);
        assert_int_equal(row.visited, expected.visited);
        assert_int_equal(row.simhash, expected.simhash);
        assert_int_equal(row.identity, expected.identity);
        assert_int_equal(row.n_tokens, expected.n_tokens);
        assert_int_equal(row.n_shingles, expected.n_shingles);
        assert_int_equal(row.text_bytes, expected.text_bytes);
        assert_int_equal(row.distance, expected.distance);
    }
    NONE(nd_catalog_next_version(txn, 256, &version, &row, NULL));
    OK(nd_catalog_delete_versions(txn, 256, &n, NULL));
    assert_int_equal(n, 300);
    OK(nd_catalog_delete_versions(txn, 256, &n, NULL));
    assert_int_equal(n, 0);
    version = 0;
    NONE(nd_catalog_next_version(txn, 256, &version, &row, NULL));
    for (uint64_t d = 254; d < 258; d++) {
        OK(nd_catalog_delete_versions(txn, d, &n, NULL));
        assert_int_equal(n, d == 256 ? 0 : 300);
    }
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void pairs_are_found_from_both_entries_by_set(void **state)
{
    const struct nd_pair_row near = {UINT32_MAX, 64, 0}, equal = {5, 0, 2};
    struct catalog_fixture f;
    struct nd_pair_row row;
    struct nd_txn *txn;
    uint32_t set = 0, other = 0;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_pair(txn, 7, 1, 300, 0, &near, NULL));
    OK(nd_catalog_put_pair(txn, 2, 256, 7, 1, &equal, NULL));
    OK(nd_catalog_put_pair(txn, 7, 1, 4, 1, &near, NULL));
    assert_int_equal(nd_catalog_put_pair(txn, 7, 1, 7, 1, &near, NULL), ND_EINVAL);
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(set, 0);
    assert_int_equal(other++, 300);
    assert_int_equal(row.shared, UINT32_MAX);
    assert_int_equal(row.distance, 64);
    assert_int_equal(row.identical, 0);
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(set, 1);
    assert_int_equal(other++, 4);
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(set, 256);
    assert_int_equal(other++, 2);
    assert_int_equal(row.identical, 2);
    NONE(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    set = other = 0;
    FOUND(nd_catalog_next_pair(txn, 300, &set, &other, &row, NULL));
    assert_int_equal(set, 1);
    assert_int_equal(other, 7);
    OK(nd_catalog_delete_pair(txn, 300, 0, 7, 1, NULL));
    set = other = 0;
    NONE(nd_catalog_next_pair(txn, 300, &set, &other, &row, NULL));
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(other, 4);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void a_gap_stands_behind_the_pairs_of_its_set(void **state)
{
    const struct nd_pair_row near = {5, 0, 0};
    struct catalog_fixture f;
    struct nd_pair_row row;
    struct nd_txn *txn;
    uint32_t set = 0, other = 0;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_note_gap(txn, 7, 1, 12, NULL));
    OK(nd_catalog_note_gap(txn, 7, 1, 20, NULL)); /* the first one stays */
    OK(nd_catalog_put_pair(txn, 7, 1, 300, 1, &near, NULL));
    OK(nd_catalog_put_pair(txn, 7, 1, 8, 2, &near, NULL));
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(other++, 300);
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(set, 1);
    assert_int_equal(other, UINT32_MAX);
    assert_int_equal(row.identical, ND_PAIR_GAP);
    assert_int_equal(row.shared, 12);
    set = 2;
    other = 0;
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(other, 8);
    OK(nd_catalog_delete_gap(txn, 7, 1, NULL));
    set = other = 0;
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(other++, 300);
    FOUND(nd_catalog_next_pair(txn, 7, &set, &other, &row, NULL));
    assert_int_equal(set, 2);
    assert_int_equal(nd_catalog_delete_gap(txn, 7, 1, NULL), ND_EINPUT);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void what_is_due_comes_in_order_of_a_label_set(void **state)
{
    static const uint64_t due[] = {500, 255, 256, 0, UINT64_C(1) << 33};
    struct catalog_fixture f;
    struct nd_txn *txn;
    struct nd_view id;
    uint64_t at = 0, document = 0;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (uint64_t i = 0; i < 5; i++)
        for (uint32_t set = 0; set < 3; set++)
            for (uint64_t d = 2; d > 0; d--)
                OK(nd_catalog_put_due(txn, set, due[i], d, view("an id"), NULL));
    for (uint64_t i = 0; i < 10; i++, document++) {
        static const uint64_t sorted[] = {0, 255, 256, 500, UINT64_C(1) << 33};

        FOUND(nd_catalog_next_due(txn, 1, &at, &document, &id, NULL));
        assert_int_equal(at, sorted[i / 2]);
        assert_int_equal(document, i % 2 + 1);
        assert_int_equal(id.len, 5);
    }
    NONE(nd_catalog_next_due(txn, 1, &at, &document, &id, NULL));
    OK(nd_catalog_delete_due(txn, 1, 0, 1, NULL));
    at = document = 0;
    FOUND(nd_catalog_next_due(txn, 1, &at, &document, &id, NULL));
    assert_int_equal(document, 2);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void counts_segments_and_removals_are_kept(void **state)
{
    const struct nd_set_counts counts = {1, UINT64_C(2) << 40, 3, 4};
    const struct nd_segment_row segment = {10, 20, 30};
    struct catalog_fixture f;
    struct nd_set_counts c;
    struct nd_segment_row s;
    struct nd_txn *txn;
    uint32_t number = 0, entry = 0;
    uint64_t at = 0;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_counts(txn, 9, &counts, NULL));
    FOUND(nd_catalog_get_counts(txn, 9, &c, NULL));
    assert_memory_equal(&c, &counts, sizeof c);
    NONE(nd_catalog_get_counts(txn, 8, &c, NULL));
    OK(nd_catalog_put_segment(txn, 256, &segment, NULL));
    OK(nd_catalog_put_segment(txn, 1, &segment, NULL));
    FOUND(nd_catalog_next_segment(txn, &number, &s, NULL));
    assert_int_equal(number++, 1);
    assert_memory_equal(&s, &segment, sizeof s);
    FOUND(nd_catalog_next_segment(txn, &number, &s, NULL));
    assert_int_equal(number++, 256);
    NONE(nd_catalog_next_segment(txn, &number, &s, NULL));
    OK(nd_catalog_delete_segment(txn, 256, NULL));
    number = 2;
    NONE(nd_catalog_next_segment(txn, &number, &s, NULL));
    for (uint64_t i = 300; i > 0; i--)
        OK(nd_catalog_put_removal(txn, i, (uint32_t)i * 2, NULL));
    OK(nd_catalog_trim_removals(txn, 256, NULL));
    for (uint64_t i = 256; i <= 300; i++, entry++) {
        FOUND(nd_catalog_next_removal(txn, &at, &entry, NULL));
        assert_int_equal(at, i);
        assert_int_equal(entry, 2 * i);
    }
    NONE(nd_catalog_next_removal(txn, &at, &entry, NULL));
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void deleting_what_is_not_there_is_an_error(void **state)
{
    struct nd_entry entry = entry_of(1, 0);
    struct nd_document_row document = document_of(1, 0);
    struct catalog_fixture f;
    struct nd_error err;

    (void)state;
    fixture_make(&f);
    for (int i = 0; i < 6; i++) {
        struct nd_txn *txn = begin(&f, true);

        assert_int_equal(i == 0   ? nd_catalog_delete_entry(txn, 1, &entry, &err)
                         : i == 1 ? nd_catalog_delete_document(txn, view("a"), &document, &err)
                         : i == 2 ? nd_catalog_delete_holder(txn, 1, 2, &err)
                         : i == 3 ? nd_catalog_delete_pair(txn, 1, 2, 3, 4, &err)
                         : i == 4 ? nd_catalog_delete_due(txn, 1, 2, 3, &err)
                                  : nd_catalog_delete_segment(txn, 1, &err),
                         ND_EINPUT);
        assert_non_null(strstr(err.message, "there is no such row to delete"));
        nd_catalog_abort(txn);
    }
    fixture_remove(&f);
}

/* ---- Transactions ---- */

/* Store the bytes of a row as they are. */
static void put_bytes(struct nd_txn *txn, enum nd_catalog_table table, const struct nd_key *key,
                      const void *bytes, size_t len)
{
    MDB_val k = {key->len, (void *)(uintptr_t)key->bytes}, v = {len, (void *)(uintptr_t)bytes};

    assert_int_equal(mdb_put(txn->txn, txn->catalog->table[table], &k, &v, 0), 0);
}

static void assert_is_damaged(struct nd_txn *txn, enum nd_catalog_table table,
                              const struct nd_key *key)
{
    struct nd_key next = *key;
    struct nd_view row;
    struct nd_error err;

    assert_int_equal(nd_catalog_get(txn, table, key, &row, &err), ND_EINPUT);
    assert_non_null(strstr(err.message, "the checksum of the row is wrong"));
    assert_int_equal(nd_catalog_seek(txn, table, &next, 0, &row, &err), ND_EINPUT);
    assert_non_null(strstr(err.message, "the checksum of the row is wrong"));
}

static void no_row_with_another_byte_key_or_table_is_read(void **state)
{
    const struct nd_key key = {3, "key"}, other = {3, "kez"};
    struct catalog_fixture f;
    uint8_t bytes[64];
    MDB_val k = {3, "key"}, v;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put(txn, ND_TABLE_META, &key, view("a row of some length"), NULL));
    OK(mdb_get(txn->txn, f.catalog->table[ND_TABLE_META], &k, &v));
    assert_int_equal(v.mv_size, 24);
    memcpy(bytes, v.mv_data, 24);
    for (unsigned bit = 0; bit < 24 * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        put_bytes(txn, ND_TABLE_META, &key, bytes, 24);
        assert_is_damaged(txn, ND_TABLE_META, &key);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t len = 0; len < 24; len++) {
        put_bytes(txn, ND_TABLE_META, &key, bytes, len);
        assert_is_damaged(txn, ND_TABLE_META, &key);
    }
    put_bytes(txn, ND_TABLE_META, &other, bytes, 24);
    assert_is_damaged(txn, ND_TABLE_META, &other);
    put_bytes(txn, ND_TABLE_TEXTS, &key, bytes, 24);
    assert_is_damaged(txn, ND_TABLE_TEXTS, &key);
    put_bytes(txn, ND_TABLE_META, &key, bytes, 24);
    {
        struct nd_view row;

        assert_int_equal(nd_catalog_get(txn, ND_TABLE_META, &key, &row, NULL), 1);
        assert_int_equal(row.len, 20);
    }
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

static void readers_see_what_was_committed_when_they_began(void **state)
{
    struct catalog_fixture f;
    struct nd_entry entry = entry_of(1, 0), got;
    struct nd_txn *before, *writer, *after;
    uint32_t number = 0;

    (void)state;
    fixture_make(&f);
    before = begin(&f, false);
    NONE(nd_catalog_next_entry(before, &number, &got, NULL));
    writer = begin(&f, true);
    OK(nd_catalog_put_entry(writer, 1, &entry, NULL));
    after = begin(&f, false);
    NONE(nd_catalog_get_entry(after, 1, &got, NULL));
    commit(writer);
    NONE(nd_catalog_get_entry(before, 1, &got, NULL));
    NONE(nd_catalog_get_entry(after, 1, &got, NULL));
    NONE(nd_catalog_next_entry(before, &number, &got, NULL));
    nd_catalog_pause(before);
    OK(nd_catalog_renew(before, NULL));
    FOUND(nd_catalog_get_entry(before, 1, &got, NULL));
    FOUND(nd_catalog_next_entry(before, &number, &got, NULL));
    nd_catalog_abort(before);
    nd_catalog_abort(after);
    fixture_remove(&f);
}

static void an_aborted_transaction_leaves_no_trace(void **state)
{
    struct catalog_fixture f;
    struct nd_entry entry = entry_of(1, 0), got;
    struct nd_catalog_state s = {.commit = 9};
    struct nd_txn *txn;
    uint32_t number;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put_entry(txn, 1, &entry, NULL));
    OK(nd_catalog_put_state(txn, &s, NULL));
    nd_catalog_abort(txn);
    txn = begin(&f, false);
    NONE(nd_catalog_get_entry(txn, 1, &got, NULL));
    NONE(nd_catalog_find_entry(txn, 0, entry.hash, &number, NULL));
    OK(nd_catalog_get_state(txn, &s, NULL));
    assert_int_equal(s.commit, 0);
    nd_catalog_abort(txn);
    nd_catalog_abort(NULL);
    fixture_remove(&f);
}

static void reading_only_refuses_to_write(void **state)
{
    struct catalog_fixture f;
    struct nd_error err;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    nd_catalog_close(f.catalog);
    f.catalog = nd_catalog_open(f.folder, false, true, &err);
    assert_non_null(f.catalog);
    assert_int_equal(nd_catalog_begin(f.catalog, true, &txn, &err), ND_EINVAL);
    txn = begin(&f, false);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

/* Fill it with entries until no more fit: the failure says so, and what was committed is there. */
static uint32_t fill(struct catalog_fixture *f)
{
    struct nd_error err;
    bool no_space = false;

    for (uint32_t i = 0;; i++) {
        struct nd_txn *txn = begin(f, true);
        enum nd_status status = ND_OK;

        for (uint32_t j = 0; j < 100 && status == ND_OK; j++) {
            struct nd_entry entry = entry_of(100 * i + j, 0);

            status = nd_catalog_put_entry(txn, 100 * i + j, &entry, &err);
        }
        status = nd_catalog_commit(txn, &no_space, &err);
        if (status == ND_OK) {
            assert_false(no_space);
            continue;
        }
        assert_int_equal(status, ND_EIO);
        assert_true(no_space);
        return 100 * i;
    }
}

static void assert_holds(struct catalog_fixture *f, uint32_t n)
{
    struct nd_txn *txn = begin(f, false);
    struct nd_entry entry, expected;
    uint32_t number = 0;

    for (uint32_t i = 0; i < n; i++, number++) {
        FOUND(nd_catalog_next_entry(txn, &number, &entry, NULL));
        assert_int_equal(number, i);
        expected = entry_of(i, 0);
        assert_entry(&entry, &expected);
    }
    NONE(nd_catalog_next_entry(txn, &number, &entry, NULL));
    nd_catalog_abort(txn);
}

static void a_full_map_is_no_space(void **state)
{
    struct catalog_fixture f;
    uint32_t n;

    (void)state;
    fixture_make_sized(&f, 1 << 20);
    n = fill(&f);
    assert_true(n > 500);
    assert_holds(&f, n);
    nd_catalog_close(f.catalog);
    fixture_open(&f); /* with more room it goes on */
    assert_holds(&f, n);
    for (uint32_t i = n; i < n + 5000; i++) {
        struct nd_entry entry = entry_of(i, 0);
        struct nd_txn *txn;

        if (i % 1000 != 0)
            continue;
        txn = begin(&f, true);
        OK(nd_catalog_put_entry(txn, i, &entry, NULL));
        commit(txn);
    }
    fixture_remove(&f);
}

static void a_full_disk_is_no_space(void **state)
{
    struct catalog_fixture f = {.catalog = NULL};
    uint32_t n;

    (void)state;
    (void)strcpy(f.folder, "/tmp/neardup-test-catalog-XXXXXX");
    assert_non_null(mkdtemp(f.folder));
    if (mount("tmpfs", f.folder, "tmpfs", 0, "size=2m") != 0) {
        (void)rmdir(f.folder);
        skip();
    }
    f.catalog = nd_catalog_open(f.folder, true, false, NULL);
    assert_non_null(f.catalog);
    n = fill(&f);
    assert_true(n > 500);
    assert_holds(&f, n);
    for (int i = 0; i < 3; i++) { /* it still answers, and refuses again */
        uint32_t more = fill(&f);

        n = more > n ? more : n; /* pages of the failed commit may have had a place left */
        assert_holds(&f, n);
    }
    nd_catalog_close(f.catalog);
    fixture_open(&f);
    assert_holds(&f, n);
    nd_catalog_close(f.catalog);
    f.catalog = NULL;
    assert_int_equal(umount(f.folder), 0);
    assert_int_equal(rmdir(f.folder), 0);
}

/* ---- Opening ---- */

static void assert_refused(struct catalog_fixture *f, enum nd_status status, const char *reason)
{
    for (int read_only = 0; read_only < 2; read_only++) {
        struct nd_error err;
        struct nd_catalog *c = nd_catalog_open(f->folder, false, read_only, &err);

        assert_null(c);
        assert_int_equal(err.status, status);
        if (!strstr(err.message, reason) || !strstr(err.message, ND_CATALOG_FILE))
            fail_msg("'%s' does not say '%s'", err.message, reason);
    }
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, len), len);
    assert_int_equal(close(fd), 0);
}

static void what_is_no_database_is_refused(void **state)
{
    static const char zeroes[8192];
    struct catalog_fixture f;
    struct nd_error err;

    (void)state;
    fixture_make(&f);
    assert_null(nd_catalog_open(f.folder, true, false, &err));
    assert_non_null(strstr(err.message, "it is there already"));
    nd_catalog_close(f.catalog);
    f.catalog = NULL;
    assert_int_equal(unlink(fixture_path(&f, ND_CATALOG_FILE)), 0);
    assert_refused(&f, ND_EINPUT, "there is no such file");
    write_file(fixture_path(&f, ND_CATALOG_FILE), "", 0);
    assert_refused(&f, ND_EINPUT, "it is no database");
    write_file(fixture_path(&f, ND_CATALOG_FILE), zeroes, sizeof zeroes);
    assert_refused(&f, ND_EINPUT, "MDB_INVALID");
    assert_null(nd_catalog_open("/nowhere/at/all", true, false, &err));
    assert_int_equal(err.status, ND_EIO);
    fixture_remove(&f);
}

static void another_version_is_refused(void **state)
{
    struct nd_key key = {6, "format"};
    struct catalog_fixture f;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    OK(nd_catalog_put(txn, ND_TABLE_META, &key, bytes_view("\2\0\0\0", 4), NULL));
    commit(txn);
    nd_catalog_close(f.catalog);
    f.catalog = NULL;
    assert_refused(&f, ND_EINPUT, "version 2 of the format, and this program reads 1");
    fixture_remove(&f);
}

static void a_file_that_was_cut_short_is_refused(void **state)
{
    struct catalog_fixture f;
    struct nd_txn *txn;
    uint64_t bytes;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (uint32_t i = 0; i < 1000; i++) {
        struct nd_entry entry = entry_of(i, 0);

        OK(nd_catalog_put_entry(txn, i, &entry, NULL));
    }
    commit(txn);
    bytes = nd_catalog_bytes(f.catalog);
    assert_true(bytes > 200000);
    nd_catalog_close(f.catalog);
    f.catalog = NULL;
    for (uint64_t kept = bytes - 4096; kept > 16384; kept = kept / 2 & ~UINT64_C(4095)) {
        assert_int_equal(truncate(fixture_path(&f, ND_CATALOG_FILE), (off_t)kept), 0);
        assert_null(nd_catalog_open(f.folder, false, false, NULL));
    }
    fixture_remove(&f);
}

/* A killed process leaves files of the database that it was making, which do not disturb. */
static void what_was_being_made_is_made_anew(void **state)
{
    struct catalog_fixture f;

    (void)state;
    fixture_make(&f);
    nd_catalog_close(f.catalog);
    assert_int_equal(unlink(fixture_path(&f, ND_CATALOG_FILE)), 0);
    write_file(fixture_path(&f, ND_CATALOG_FILE ".new"), "half", 4);
    f.catalog = nd_catalog_open(f.folder, true, false, NULL);
    assert_non_null(f.catalog);
    assert_int_equal(access(fixture_path(&f, ND_CATALOG_FILE ".new"), F_OK), -1);
    assert_int_equal(access(fixture_path(&f, ND_CATALOG_FILE ".new-lock"), F_OK), -1);
    fixture_remove(&f);
}

static void a_copy_is_what_was_committed(void **state)
{
    struct catalog_fixture f, copy = {.catalog = NULL};
    struct nd_error err;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    for (uint32_t i = 0; i < 500; i++) {
        struct nd_entry entry = entry_of(i, 0);

        OK(nd_catalog_put_entry(txn, i, &entry, NULL));
    }
    commit(txn);
    (void)strcpy(copy.folder, "/tmp/neardup-test-catalog-XXXXXX");
    assert_non_null(mkdtemp(copy.folder));
    OK(nd_catalog_copy(f.catalog, copy.folder, NULL));
    assert_int_equal(nd_catalog_copy(f.catalog, copy.folder, &err), ND_EIO);
    fixture_open(&copy);
    assert_holds(&copy, 500);
    assert_holds(&f, 500);
    fixture_remove(&copy);
    assert_int_equal(nd_catalog_copy(f.catalog, copy.folder, &err), ND_EIO);
    fixture_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_of_a_new_database_is_zero),
        cmocka_unit_test(the_state_and_texts_by_name_are_kept),
        cmocka_unit_test(label_sets_are_found_by_number),
        cmocka_unit_test(entries_are_found_by_number_and_by_text),
        cmocka_unit_test(a_text_has_one_entry_of_a_label_set),
        cmocka_unit_test(documents_are_found_by_label_set_and_id_of_any_length),
        cmocka_unit_test(the_key_of_a_long_id_is_no_short_id),
        cmocka_unit_test(a_collision_of_long_ids_is_an_error),
        cmocka_unit_test(holders_come_in_their_order),
        cmocka_unit_test(versions_come_in_order_and_go_together),
        cmocka_unit_test(pairs_are_found_from_both_entries_by_set),
        cmocka_unit_test(a_gap_stands_behind_the_pairs_of_its_set),
        cmocka_unit_test(what_is_due_comes_in_order_of_a_label_set),
        cmocka_unit_test(counts_segments_and_removals_are_kept),
        cmocka_unit_test(deleting_what_is_not_there_is_an_error),
        cmocka_unit_test(no_row_with_another_byte_key_or_table_is_read),
        cmocka_unit_test(readers_see_what_was_committed_when_they_began),
        cmocka_unit_test(an_aborted_transaction_leaves_no_trace),
        cmocka_unit_test(reading_only_refuses_to_write),
        cmocka_unit_test(a_full_map_is_no_space),
        cmocka_unit_test(a_full_disk_is_no_space),
        cmocka_unit_test(what_is_no_database_is_refused),
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(a_file_that_was_cut_short_is_refused),
        cmocka_unit_test(what_was_being_made_is_made_anew),
        cmocka_unit_test(a_copy_is_what_was_committed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
