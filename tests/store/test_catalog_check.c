/* test_catalog_check.c - a database that is in order has no findings; each damage is found */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/sized.h"
#include "base/hash.h"
#include "catalog_fixture.h"

#define OK(call) assert_int_equal(call, ND_OK)

/* ---- A database in order ---- */

enum { SETS = 3, ENTRIES = 30, DOCUMENTS = 50 };

static struct nd_view id_of(uint64_t document)
{
    static char id[400];
    int len = snprintf(id, sizeof id, "document %llu", (unsigned long long)document);

    if (document % 10 == 7) { /* a long one */
        memset(id + len, '.', 300);
        len += 300;
    }
    return (struct nd_view){id, (size_t)len};
}

/* Document d has the text of entry d % ENTRIES; its label set is the entry's. */
static struct nd_document_row row_of(uint64_t d)
{
    struct nd_document_row row = document_of(d, (uint32_t)(d % ENTRIES) % SETS);

    row.entry = (uint32_t)(d % ENTRIES);
    row.version = (uint32_t)(d % 3) + 1;
    return row;
}

static struct nd_entry entry_row(uint32_t number)
{
    struct nd_entry e = entry_of(number, number % SETS);

    e.n_documents = DOCUMENTS / ENTRIES + (number < DOCUMENTS % ENTRIES);
    e.text = (struct nd_text_place){1 + number / 20, 100, 32 + 100 * (number % 20), 50 + number};
    e.n_tokens = 100;
    e.is_empty = false;
    e.row.n_shingles = 90;
    return e;
}

struct world {
    struct nd_catalog_state state;
    struct nd_set_counts counts[SETS];
    struct nd_segment_row segment[3];
};

static void put_document(struct nd_txn *txn, struct world *w, uint64_t d)
{
    struct nd_document_row row = row_of(d);
    struct nd_entry entry = entry_row(row.entry);

    OK(nd_catalog_put_document(txn, id_of(d), &row, NULL));
    OK(nd_catalog_put_holder(txn, row.entry, row.order, id_of(d), NULL));
    OK(nd_catalog_put_due(txn, row.label_set, row.due, d, id_of(d), NULL));
    OK(nd_catalog_put_recent(txn, row.label_set, row.created, id_of(d), NULL));
    for (uint32_t v = 1; v <= row.version; v++) {
        struct nd_version_row version = version_of(d);

        if (v == row.version)
            version.hash = entry.hash;
        OK(nd_catalog_put_version(txn, d, v, &version, NULL));
        w->counts[row.label_set].versions++;
        w->state.n_versions++;
    }
    w->counts[row.label_set].documents++;
}

static void put_world(struct nd_txn *txn)
{
    struct world w = {.state = {.commit = 9,
                                .next_document = DOCUMENTS,
                                .next_entry = ENTRIES + 5,
                                .n_label_sets = SETS,
                                .next_order = 1000,
                                .segments = {2, 1032},
                                .n_documents = DOCUMENTS,
                                .n_entries = ENTRIES,
                                .n_pairs = 3}};
    const struct nd_pair_row pair = {80, 3, 0};

    OK(nd_catalog_put_label_set(txn, 0, view(""), NULL));
    OK(nd_catalog_put_label_set(txn, 1, bytes_view("a\0", 2), NULL));
    OK(nd_catalog_put_label_set(txn, 2, bytes_view("a\0b\0", 4), NULL));
    for (uint32_t i = 0; i < ENTRIES; i++) {
        struct nd_entry e = entry_row(i);

        OK(nd_catalog_put_entry(txn, i, &e, NULL));
        w.counts[e.label_set].entries++;
        w.counts[e.label_set].text_bytes += e.text.bytes;
        w.state.text_bytes += e.text.bytes;
        w.segment[e.text.segment].live_bytes += e.text.stored;
    }
    for (uint64_t d = 0; d < DOCUMENTS; d++)
        put_document(txn, &w, d);
    OK(nd_catalog_put_pair(txn, 1, 1, 2, 2, &pair, NULL));
    OK(nd_catalog_put_pair(txn, 1, 1, 4, 1, &pair, NULL));
    OK(nd_catalog_put_pair(txn, 9, 0, 4, 1, &pair, NULL));
    OK(nd_catalog_note_gap(txn, 4, 2, ENTRIES, NULL)); /* its first one may be gone */
    for (uint32_t i = 0; i < SETS; i++)
        OK(nd_catalog_put_counts(txn, i, &w.counts[i], NULL));
    w.segment[1].dead_bytes = 100;
    w.segment[1].dead_since = 5;
    OK(nd_catalog_put_segment(txn, 1, &w.segment[1], NULL));
    OK(nd_catalog_put_segment(txn, 2, &w.segment[2], NULL));
    OK(nd_catalog_put_removal(txn, 9, ENTRIES + 1, NULL));
    OK(nd_catalog_put_signatures(txn, 4, view("signatures"), NULL));
    OK(nd_catalog_put_state(txn, &w.state, NULL));
}

/* ---- Findings ---- */

struct findings {
    uint64_t n;
    const char *expected; /* a part of one of them; NULL: any */
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

static struct findings check(struct nd_txn *txn, const char *expected)
{
    struct findings f = {.expected = expected};
    struct nd_error err;
    uint64_t n = UINT64_MAX;

    if (nd_catalog_check(txn, note, &f, &n, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_int_equal(n, f.n);
    return f;
}

static void a_database_in_order_has_no_findings(void **state)
{
    struct catalog_fixture f;
    struct findings found;
    struct nd_txn *txn;

    (void)state;
    fixture_make(&f);
    txn = begin(&f, true);
    found = check(txn, NULL);
    assert_int_equal(found.n, 0);
    put_world(txn);
    found = check(txn, NULL);
    if (found.n)
        fail_msg("%llu findings: %s", (unsigned long long)found.n, found.last);
    commit(txn);
    txn = begin(&f, false);
    assert_int_equal(check(txn, NULL).n, 0);
    nd_catalog_abort(txn);
    fixture_remove(&f);
}

/* ---- Damages ---- */

static void change_state(struct nd_txn *txn, int field, int64_t by)
{
    struct nd_catalog_state s;
    uint64_t *const fields[] = {&s.n_documents, &s.n_entries,     &s.n_versions, &s.n_pairs,
                                &s.text_bytes,  &s.next_document, &s.next_order};

    OK(nd_catalog_get_state(txn, &s, NULL));
    if (field < 7)
        *fields[field] += (uint64_t)by;
    else if (field == 7)
        s.next_entry += (uint32_t)by;
    else if (field == 8)
        s.n_label_sets += (uint32_t)by;
    else
        s.segments.offset += (uint64_t)by;
    OK(nd_catalog_put_state(txn, &s, NULL));
}

static void change_entry(struct nd_txn *txn, int field)
{
    struct nd_entry e;

    assert_int_equal(nd_catalog_get_entry(txn, 4, &e, NULL), 1);
    switch (field) {
    case 0: e.n_documents++; break;
    case 1: e.label_set = e.row.group = 77; break;
    case 2: e.hash.low++; break;
    case 3: e.text.segment = 9; break;
    case 4: e.text.bytes++; break;
    case 5: e.text.stored++; break;
    case 6: e.is_empty = true; break;
    case 7: e.row.n_shingles = 101; break;
    default: e.row.n_shingles = 79; break;
    }
    /* Not through nd_catalog_put_entry, which keeps the hashes right. */
    uint8_t row[ND_ROW_ENTRY + ND_ROW_LEFT_OUT];
    struct nd_key key = {0};

    nd_key_add_32(&key, 4);
    OK(nd_catalog_put(txn, ND_TABLE_ENTRIES, &key, bytes_view(row, nd_row_put_entry(row, &e)),
                      NULL));
}

static void change_document(struct nd_txn *txn, int field)
{
    struct nd_document_row d = row_of(7);

    switch (field) {
    case 0: d.order++; break;
    case 1: d.entry = 1; break;
    case 2: d.entry = 99; break;
    case 3: d.version++; break;
    case 4: d.due++; break;
    case 5: d.number = 1000; break;
    default: d.number = 8; break;
    }
    OK(nd_catalog_put_document(txn, id_of(7), &d, NULL));
}

static void change_counts(struct nd_txn *txn, int field)
{
    struct nd_set_counts counts;
    uint64_t *const fields[] = {&counts.documents, &counts.versions, &counts.entries,
                                &counts.text_bytes};

    assert_int_equal(nd_catalog_get_counts(txn, 1, &counts, NULL), 1);
    ++*fields[field];
    OK(nd_catalog_put_counts(txn, 1, &counts, NULL));
}

static void change_segment(struct nd_txn *txn, int field)
{
    const struct nd_segment_row row = {0};
    struct nd_segment_row one;
    uint32_t number = 1;

    assert_int_equal(nd_catalog_next_segment(txn, &number, &one, NULL), 1);
    if (field == 0)
        one.live_bytes++;
    else if (field == 1)
        one.dead_since = 0;
    if (field < 2)
        OK(nd_catalog_put_segment(txn, 1, &one, NULL));
    else if (field == 2)
        OK(nd_catalog_put_segment(txn, 3, &row, NULL));
    else
        OK(nd_catalog_delete_segment(txn, 2, NULL));
}

static void delete_row(struct nd_txn *txn, int table)
{
    struct nd_key key = {0};
    struct nd_view row;

    if (table == ND_TABLE_META) {
        key = (struct nd_key){5, "state"};
    } else if (table == ND_TABLE_REMOVALS || table == ND_TABLE_SEGMENTS) {
        fail();
    } else {
        nd_key_add_32(&key, table == ND_TABLE_VERSIONS ? 0 : 1);
        assert_int_equal(nd_catalog_seek(txn, (enum nd_catalog_table)table, &key, 0, &row, NULL),
                         1);
    }
    OK(nd_catalog_delete(txn, (enum nd_catalog_table)table, &key, NULL));
}

/* A row under a key that no row has. */
static void add_row(struct nd_txn *txn, int what)
{
    const struct nd_version_row version = version_of(1);
    const struct nd_pair_row pair = {1, 2, 0};
    struct nd_key key = {0};

    switch (what) {
    case 0: OK(nd_catalog_put_holder(txn, 4, 999, view("nobody"), NULL)); break;
    case 1: OK(nd_catalog_put_holder(txn, 99, 999, view("nobody"), NULL)); break;
    case 2: OK(nd_catalog_put_version(txn, 999, 1, &version, NULL)); break;
    case 3: OK(nd_catalog_put_due(txn, 0, 1, 1, view("nobody"), NULL)); break;
    case 4: OK(nd_catalog_put_pair(txn, 5, 2, 99, 0, &pair, NULL)); break;
    case 5: OK(nd_catalog_put_pair(txn, 5, 2, 6, 1, &pair, NULL)); break; /* 6 is of set 0 */
    case 6: OK(nd_catalog_put_removal(txn, 8, 4, NULL)); break;
    case 7: OK(nd_catalog_put_removal(txn, 10, 99, NULL)); break;
    case 8: OK(nd_catalog_put_label_set(txn, 4, bytes_view("z\0", 2), NULL)); break;
    case 9: OK(nd_catalog_put_label_set(txn, 3, bytes_view("a\0", 2), NULL)); break;
    case 10: OK(nd_catalog_put_label_set(txn, 2, bytes_view("b\0a\0", 4), NULL)); break;
    case 11: OK(nd_catalog_put_counts(txn, 7, &(struct nd_set_counts){0}, NULL)); break;
    case 12: OK(nd_catalog_put_recent(txn, 0, 1, view("nobody"), NULL)); break;
    case 13: OK(nd_catalog_put_recent(txn, 1, 1, id_of(7), NULL)); break; /* it came later */
    case 14: OK(nd_catalog_put_signatures(txn, 99, view("signatures"), NULL)); break;
    default:
        key.len = 3;
        OK(nd_catalog_put(txn, (enum nd_catalog_table)(what - 15), &key, view("x"), NULL));
    }
}

static void add_gap(struct nd_txn *txn, int what)
{
    switch (what) {
    case 0: OK(nd_catalog_note_gap(txn, 99, 1, 3, NULL)); break;
    case 1: OK(nd_catalog_note_gap(txn, 4, 77, 3, NULL)); break;
    default: OK(nd_catalog_note_gap(txn, 4, 1, UINT32_MAX, NULL));
    }
}

static const struct {
    void (*damage)(struct nd_txn *txn, int what);
    int what;
    const char *finding;
} damages[] = {
    {change_entry, 0, "entry 4: it is said to be the text of 3 documents, and 2 hold it"},
    {change_entry, 1, "entry 4: there is no label set 77"},
    {change_entry, 2, "entry 4: it is not found by the hash of its text"},
    {change_entry, 2, "there is no entry with this text"},
    {change_entry, 2, "document 4: its last version is not of its text"},
    {change_entry, 3, "entry 4: its text is in segment 9, of which there is no row"},
    {change_entry, 3, "entry 4: its text is behind the end of the segments"},
    {change_entry, 4, "the state says that there are 1935 bytes of texts, and there are 1936"},
    {change_entry, 5, "segment 1 is said to have 2000 bytes of texts, and the entries name 2001"},
    {change_entry, 6, "entry 4: 100 tokens with 90 shingles cannot be"},
    {change_entry, 7, "entry 4: 100 tokens with 101 shingles cannot be"},
    {add_gap, 0, "the pairs that it says are not stored cannot be"},
    {add_gap, 1, "the pairs that it says are not stored cannot be"},
    {add_gap, 2, "the pairs that it says are not stored cannot be"},
    {change_entry, 8, "the pair shares more shingles than its entries have"},
    {change_document, 0, "document 7: its text does not say that it holds it"},
    {change_document, 0, "there is no document with this id, text and order"},
    {change_document, 1, "document 7: its text does not say that it holds it"},
    {change_document, 2, "document 7: its label set has no entry 99"},
    {change_document, 3, "document 7: its version is 3, and the last one known is 2"},
    {change_document, 4, "document 7: it is not among those to be visited"},
    {change_document, 4, "there is no document with this id that is due then"},
    {change_document, 5, "document 1000: its number or its order is not below the next one"},
    {change_document, 6, "versions, of which"},
    {change_counts, 0, "label set 1 is said to have 18 documents"},
    {change_counts, 1, "label set 1 is said to have"},
    {change_counts, 2, "label set 1 is said to have"},
    {change_counts, 3, "label set 1 is said to have"},
    {change_segment, 0, "segment 1 is said to have 2001 bytes of texts"},
    {change_segment, 1, "segment 1 has 100 bytes of deleted texts, since the second 0"},
    {change_segment, 2, "segment 3 is behind the end of the store, which is in segment 2"},
    {change_segment, 3, "is in segment 2, of which there is no row"},
    {delete_row, ND_TABLE_META, "table meta, key 7374617465: "},
    {delete_row, ND_TABLE_LABEL_SETS, "label set 2 is there, and 1 is not"},
    {delete_row, ND_TABLE_ENTRIES, "document 1: its label set has no entry 1"},
    {delete_row, ND_TABLE_ENTRIES, "table holders, key 00000001"},
    {delete_row, ND_TABLE_ENTRIES, "there are no such two entries"},
    {delete_row, ND_TABLE_TEXTS, "it is not found by the hash of its text"},
    {delete_row, ND_TABLE_DOCUMENTS, "there is no document with this id, text and order"},
    {delete_row, ND_TABLE_DOCUMENTS, "the state says that there are 50 documents, and"},
    {delete_row, ND_TABLE_HOLDERS, "documents, and 1 hold it"},
    {delete_row, ND_TABLE_VERSIONS, "document 0: its version is 1, and the last one known is 0"},
    {delete_row, ND_TABLE_PAIRS, "the pair is not there from the other side"},
    {delete_row, ND_TABLE_PAIRS,
     "the state says that there are 6 pairs from both sides, and "
     "there are 5"},
    {delete_row, ND_TABLE_DUE, "it is not among those to be visited"},
    {delete_row, ND_TABLE_RECENT, "it is not in the list of the newest"},
    {delete_row, ND_TABLE_COUNTS, "label set 1 has documents, and no row that counts them"},
    {add_row, 0, "there is no document with this id, text and order"},
    {add_row, 1, "table holders, key 0000006300000000000003e7: there is no such entry"},
    {add_row, 2, "versions, of which"},
    {add_row, 3, "there is no document with this id that is due then"},
    {add_row, 4, "there are no such two entries"},
    {add_row, 5, "there are no such two entries"},
    {add_row, 6, "the entry that was removed is there"},
    {add_row, 7, "the commit is still to come"},
    {add_row, 8, "label set 4 is there, and 3 is not"},
    {add_row, 9, "label set 3 has the same labels as another"},
    {add_row, 10, "the row is no label set"},
    {add_row, 11, "counts: there is no label set 7"},
    {add_row, 12, "there is no document with this id that came then"},
    {add_row, 13, "there is no document with this id that came then"},
    {add_row, 14, "entry 99 has signatures, and is missing"},
};

static void each_damage_is_found(void **state)
{
    struct catalog_fixture f;

    (void)state;
    fixture_make(&f);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct nd_txn *txn = begin(&f, true);
        struct findings found;

        put_world(txn);
        damages[i].damage(txn, damages[i].what);
        found = check(txn, damages[i].finding);
        if (!found.is_found)
            fail_msg("damage %zu: among %llu findings there is no '%s'; the last is '%s'", i,
                     (unsigned long long)found.n, damages[i].finding, found.last);
        nd_catalog_abort(txn);
    }
    fixture_remove(&f);
}

/* Change the last byte of the first row of a table, as a disk might. */
static void flip_first_row(struct nd_txn *txn, enum nd_catalog_table table)
{
    MDB_dbi dbi = txn->catalog->table[table];
    MDB_val key, row, changed;
    MDB_cursor *cursor;

    OK(mdb_cursor_open(txn->txn, dbi, &cursor));
    OK(mdb_cursor_get(cursor, &key, &row, MDB_FIRST));
    changed.mv_size = row.mv_size;
    changed.mv_data = malloc(row.mv_size);
    assert_non_null(changed.mv_data);
    memcpy(changed.mv_data, row.mv_data, row.mv_size);
    ((uint8_t *)changed.mv_data)[row.mv_size - 1] ^= 1;
    OK(mdb_put(txn->txn, dbi, &key, &changed, 0));
    free(changed.mv_data);
    mdb_cursor_close(cursor);
}

static void a_row_whose_checksum_is_wrong_is_one_finding_of_its_table(void **state)
{
    struct catalog_fixture f;

    (void)state;
    fixture_make(&f);
    for (int table = 0; table < ND_CATALOG_TABLES; table++) {
        struct nd_txn *txn = begin(&f, true);
        struct findings found;
        char expected[80];

        put_world(txn);
        flip_first_row(txn, (enum nd_catalog_table)table);
        (void)snprintf(expected, sizeof expected, "table %s, key ",
                       nd_catalog_table_name((enum nd_catalog_table)table));
        found = check(txn, "the checksum of the row is wrong");
        assert_true(found.is_found);
        found = check(txn, expected);
        assert_true(found.is_found);
        nd_catalog_abort(txn);
    }
    fixture_remove(&f);
}

/* Check the rows as before a store is served. */
static struct findings check_rows(struct nd_txn *txn, const char *wanted)
{
    struct findings findings = {.expected = wanted};
    uint64_t n = 0;

    OK(nd_catalog_check_rows(txn, note, &findings, &n, NULL));
    assert_int_equal(n, findings.n);
    return findings;
}

static void each_row_is_read_before_a_store_is_served(void **state)
{
    struct catalog_fixture f;

    (void)state;
    for (int table = 0; table <= ND_CATALOG_TABLES; table++) {
        struct nd_txn *txn;
        struct findings found;
        char expected[80];

        fixture_make(&f);
        txn = begin(&f, true);
        put_world(txn);
        if (table < ND_CATALOG_TABLES)
            flip_first_row(txn, (enum nd_catalog_table)table);
        OK(nd_catalog_commit(txn, NULL, NULL));
        txn = begin(&f, false);
        if (table == ND_CATALOG_TABLES) {
            assert_int_equal(check_rows(txn, NULL).n, 0);
        } else {
            (void)snprintf(expected, sizeof expected, "table %s, key ",
                           nd_catalog_table_name((enum nd_catalog_table)table));
            found = check_rows(txn, expected);
            assert_true(found.is_found && found.n == 1);
        }
        nd_catalog_abort(txn);
        fixture_remove(&f);
    }
}

static void every_number_of_the_state_counts(void **state)
{
    struct catalog_fixture f;

    (void)state;
    fixture_make(&f);
    for (int field = 0; field < 10; field++) {
        struct nd_txn *txn = begin(&f, true);

        put_world(txn);
        change_state(txn, field, field == 5 ? -1 : field == 6 ? -900 : field == 7 ? -6 : -100);
        assert_true(check(txn, NULL).n > 0);
        nd_catalog_abort(txn);
    }
    fixture_remove(&f);
}

static void keys_of_a_wrong_length_are_found(void **state)
{
    struct catalog_fixture f;

    (void)state;
    fixture_make(&f);
    for (int table = ND_TABLE_LABEL_SETS; table < ND_CATALOG_TABLES; table++) {
        struct nd_txn *txn = begin(&f, true);
        struct findings found;

        put_world(txn);
        add_row(txn, 15 + table);
        found = check(txn, nd_catalog_table_name((enum nd_catalog_table)table));
        assert_true(found.is_found);
        nd_catalog_abort(txn);
    }
    fixture_remove(&f);
}

/* Whatever the rows are, the check ends. */
static void any_bytes_are_checked(void **state)
{
    struct catalog_fixture f;
    uint64_t random = 5;

    (void)state;
    fixture_make(&f);
    for (size_t turn = 0; turn < sized(20000, 400); turn++) {
        struct nd_txn *txn = begin(&f, true);

        put_world(txn);
        for (int i = 0; i < 3; i++) {
            uint8_t row[ND_ROW_DOCUMENT + ND_STORE_TITLE_MAX + 400];
            enum nd_catalog_table table =
                (enum nd_catalog_table)(nd_mix64(++random) % ND_CATALOG_TABLES);
            struct nd_key key = {0};
            struct nd_view found;
            size_t bit;

            nd_key_add_32(&key, (uint32_t)(nd_mix64(++random) % 30));
            if (nd_catalog_seek(txn, table, &key, 0, &found, NULL) != 1 || found.len > sizeof row ||
                found.len == 0)
                continue;
            memcpy(row, found.data, found.len);
            bit = nd_mix64(++random) % (8 * found.len);
            row[bit / 8] ^= (uint8_t)(1 << bit % 8);
            OK(nd_catalog_put(txn, table, &key, bytes_view(row, found.len), NULL));
        }
        (void)check(txn, NULL);
        nd_catalog_abort(txn);
    }
    fixture_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_database_in_order_has_no_findings),
        cmocka_unit_test(each_damage_is_found),
        cmocka_unit_test(a_row_whose_checksum_is_wrong_is_one_finding_of_its_table),
        cmocka_unit_test(each_row_is_read_before_a_store_is_served),
        cmocka_unit_test(every_number_of_the_state_counts),
        cmocka_unit_test(keys_of_a_wrong_length_are_found),
        cmocka_unit_test(any_bytes_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
