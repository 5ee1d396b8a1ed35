/* test_catalog_model.c - random transactions against sorted arrays that are obviously right */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../unit/sized.h"
#include "base/hash.h"
#include "catalog_fixture.h"

/* A row: its key, and the number that its fields are made of. */
struct item {
    uint64_t key[3];
    uint64_t seed;
};

enum kind { ENTRIES, HOLDERS, VERSIONS, PAIRS, DUE, REMOVALS, SEGMENTS, KINDS };
/* How many numbers of a key the next row must share with what was asked for. */
static const int same[KINDS] = {0, 1, 1, 1, 1, 0, 0};

enum { ITEMS_MAX = 1000 };
struct model {
    struct {
        struct item item[ITEMS_MAX];
        size_t n;
    } table[KINDS];
};

static uint64_t state_of_random;
static uint64_t below(uint64_t n)
{
    return nd_mix64(++state_of_random) % n;
}

/* ---- The model ---- */

static int compare(const uint64_t *a, const uint64_t *b)
{
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* The first item of at least this key. */
static size_t place(const struct model *m, enum kind kind, const uint64_t *key)
{
    size_t i = 0;

    while (i < m->table[kind].n && compare(m->table[kind].item[i].key, key) < 0)
        i++;
    return i;
}

static bool has(const struct model *m, enum kind kind, const uint64_t *key)
{
    size_t i = place(m, kind, key);

    return i < m->table[kind].n && compare(m->table[kind].item[i].key, key) == 0;
}

static void put_item(struct model *m, enum kind kind, const struct item *item)
{
    size_t i = place(m, kind, item->key), n = m->table[kind].n;
    struct item *at = &m->table[kind].item[i];

    if (!has(m, kind, item->key)) {
        assert_true(n < ITEMS_MAX);
        memmove(at + 1, at, (n - i) * sizeof *at);
        m->table[kind].n++;
    }
    *at = *item;
}

static void delete_item(struct model *m, enum kind kind, const uint64_t *key)
{
    size_t i = place(m, kind, key);
    struct item *at = &m->table[kind].item[i];

    m->table[kind].n--;
    memmove(at, at + 1, (m->table[kind].n - i) * sizeof *at);
}

/* ---- The database ---- */

/* Entries of the model have the label set of their number. */
static uint32_t set_of(uint64_t entry)
{
    return (uint32_t)entry % 3;
}

static struct nd_entry entry_at(const struct item *item)
{
    struct nd_entry e = entry_of((uint32_t)item->key[0], set_of(item->key[0]));

    e.n_documents = (uint32_t)item->seed;
    return e;
}

static struct nd_view name_of(uint64_t seed)
{
    static char name[24];

    (void)snprintf(name, sizeof name, "n%llu", (unsigned long long)seed);
    return view(name);
}

static enum nd_status put(struct nd_txn *txn, enum kind kind, const struct item *item)
{
    const uint64_t *k = item->key;
    const struct nd_pair_row pair = {(uint32_t)item->seed, 5, 1};
    const struct nd_segment_row segment = {item->seed, 1, 2};
    struct nd_entry entry = entry_at(item);
    struct nd_version_row version = version_of(item->seed);

    switch (kind) {
    case ENTRIES: return nd_catalog_put_entry(txn, (uint32_t)k[0], &entry, NULL);
    case HOLDERS:
        return nd_catalog_put_holder(txn, (uint32_t)k[0], k[1], name_of(item->seed), NULL);
    case VERSIONS: return nd_catalog_put_version(txn, k[0], (uint32_t)k[1], &version, NULL);
    case PAIRS:
        return nd_catalog_put_pair(txn, (uint32_t)k[0], set_of(k[0]), (uint32_t)k[2],
                                   (uint32_t)k[1], &pair, NULL);
    case DUE: return nd_catalog_put_due(txn, (uint32_t)k[0], k[1], k[2], name_of(item->seed), NULL);
    case REMOVALS: return nd_catalog_put_removal(txn, k[0], (uint32_t)k[1], NULL);
    case SEGMENTS: return nd_catalog_put_segment(txn, (uint32_t)k[0], &segment, NULL);
    default: return ND_EINVAL;
    }
}

static enum nd_status delete (struct nd_txn *txn, enum kind kind, const uint64_t *k) {
    struct nd_entry entry = entry_at(&(struct item){{k[0], 0, 0}, 1}); uint64_t n;

    switch (kind){
        case ENTRIES : return nd_catalog_delete_entry(txn, (uint32_t)k[0], &entry, NULL);
        case HOLDERS : return nd_catalog_delete_holder(txn, (uint32_t)k[0], k[1], NULL);
        case VERSIONS : return nd_catalog_delete_versions(txn, k[0], &n, NULL);
        case PAIRS : return nd_catalog_delete_pair(txn, (uint32_t)k[0], set_of(k[0]),
                                                   (uint32_t)k[2], (uint32_t)k[1], NULL);
        case DUE : return nd_catalog_delete_due(txn, (uint32_t)k[0], k[1], k[2], NULL);
        case REMOVALS : return nd_catalog_trim_removals(txn, k[0], NULL);
        case SEGMENTS : return nd_catalog_delete_segment(txn, (uint32_t)k[0], NULL);
        default : return ND_EINVAL;
    }
}

static bool is_name(struct nd_view id, uint64_t seed)
{
    struct nd_view name = name_of(seed);

    return id.len == name.len && memcmp(id.data, name.data, id.len) == 0;
}

/* The next row of at least *key, which it becomes; `seed` is what its fields must be made of. */
static int next(struct nd_txn *txn, enum kind kind, uint64_t *k, uint64_t seed, bool *is_right)
{
    struct nd_version_row version = {0}, expected = version_of(seed);
    struct nd_segment_row segment = {0};
    struct nd_pair_row pair = {0};
    struct nd_entry entry;
    struct nd_view id = {0};
    uint32_t a = (uint32_t)k[0], b = (uint32_t)k[1], c = (uint32_t)k[2];
    int found = 0;

    *is_right = true;
    switch (kind) {
    case ENTRIES:
        found = nd_catalog_next_entry(txn, &a, &entry, NULL);
        *is_right = found <= 0 || entry.n_documents == seed;
        k[0] = a;
        break;
    case HOLDERS:
        found = nd_catalog_next_holder(txn, a, &k[1], &id, NULL);
        *is_right = is_name(id, seed);
        break;
    case VERSIONS:
        found = nd_catalog_next_version(txn, k[0], &b, &version, NULL);
        *is_right = memcmp(&version.hash, &expected.hash, sizeof version.hash) == 0;
        k[1] = b;
        break;
    case PAIRS:
        found = nd_catalog_next_pair(txn, a, &b, &c, &pair, NULL);
        *is_right = pair.shared == (uint32_t)seed;
        k[1] = b;
        k[2] = c;
        break;
    case DUE:
        found = nd_catalog_next_due(txn, a, &k[1], &k[2], &id, NULL);
        *is_right = is_name(id, seed);
        break;
    case REMOVALS:
        found = nd_catalog_next_removal(txn, &k[0], &b, NULL);
        k[1] = b;
        break;
    case SEGMENTS:
        found = nd_catalog_next_segment(txn, &a, &segment, NULL);
        *is_right = segment.live_bytes == seed;
        k[0] = a;
        break;
    default: break;
    }
    return found;
}

/* ---- Both ---- */

static void random_key(enum kind kind, uint64_t *k)
{
    memset(k, 0, 3 * sizeof *k);
    k[0] = below(kind == ENTRIES || kind == REMOVALS ? 400 : 25);
    if (kind == HOLDERS || kind == VERSIONS || kind == DUE || kind == REMOVALS)
        k[1] = below(300) << below(24);
    if (kind == VERSIONS || kind == REMOVALS)
        k[1] = (uint32_t)k[1];
    if (kind == DUE)
        k[2] = below(4);
    if (kind == PAIRS) {
        k[2] = (k[0] + 1 + below(24)) % 25;
        k[1] = set_of(k[2]);
    }
}

static void look_up(struct nd_txn *txn, const struct model *m, enum kind kind)
{
    uint64_t k[3], found_key[3];
    const struct item *item;
    bool expected, is_right;
    size_t i;

    random_key(kind, k);
    i = place(m, kind, k);
    item = &m->table[kind].item[i];
    expected = i < m->table[kind].n && memcmp(item->key, k, (size_t)same[kind] * sizeof *k) == 0;
    memcpy(found_key, k, sizeof k);
    assert_int_equal(next(txn, kind, found_key, expected ? item->seed : 0, &is_right), expected);
    if (expected) {
        assert_memory_equal(found_key, item->key, sizeof k);
        assert_true(is_right);
    }
}

/* Row after row from a random one on, as who walks looks for them. */
static void walk(struct nd_txn *txn, const struct model *m, enum kind kind)
{
    uint64_t k[3];
    bool is_right;

    random_key(kind, k);
    for (size_t i = place(m, kind, k), steps = below(20); steps > 0; steps--, i++) {
        const struct item *item = &m->table[kind].item[i];
        bool expected =
            i < m->table[kind].n && memcmp(item->key, k, (size_t)same[kind] * sizeof *k) == 0;

        assert_int_equal(next(txn, kind, k, expected ? item->seed : 0, &is_right), expected);
        if (!expected)
            return;
        assert_memory_equal(k, item->key, sizeof k);
        assert_true(is_right);
        k[kind == ENTRIES || kind == SEGMENTS                       ? 0
          : kind == HOLDERS || kind == VERSIONS || kind == REMOVALS ? 1
                                                                    : 2]++;
    }
}

/* Row before row from a random key on. */
static void walk_back(struct nd_txn *txn, const struct model *m)
{
    struct nd_key key = {0};
    struct nd_view row;
    uint64_t k[3];

    random_key(DUE, k);
    nd_key_add_32(&key, (uint32_t)k[0]);
    nd_key_add_64(&key, k[1]);
    nd_key_add_64(&key, k[2]);
    for (size_t i = place(m, DUE, k), steps = below(20); steps > 0; steps--) {
        bool expected = i > 0 && m->table[DUE].item[i - 1].key[0] == k[0];

        assert_int_equal(nd_catalog_seek_before(txn, ND_TABLE_DUE, &key, 4, &row, NULL), expected);
        if (!expected)
            return;
        assert_int_equal(nd_key_get_64(key.bytes + 4), m->table[DUE].item[--i].key[1]);
        assert_int_equal(nd_key_get_64(key.bytes + 12), m->table[DUE].item[i].key[2]);
        assert_true(is_name(row, m->table[DUE].item[i].seed));
    }
}

/* The other row of a pair. */
static struct item turned(const struct item *pair)
{
    return (struct item){{pair->key[2], set_of(pair->key[0]), pair->key[0]}, pair->seed};
}

static void change(struct nd_txn *txn, struct model *m, enum kind kind)
{
    struct item item = {.seed = below(1000000)};

    random_key(kind, item.key);
    if (below(3) > 0 && m->table[kind].n < ITEMS_MAX / 2) {
        item.seed = kind == REMOVALS ? 0 : item.seed;
        assert_int_equal(put(txn, kind, &item), ND_OK);
        put_item(m, kind, &item);
        if (kind == PAIRS) {
            item = turned(&item);
            put_item(m, kind, &item);
        }
        return;
    }
    if (kind == VERSIONS || kind == REMOVALS) { /* of a whole document; of all commits before */
        assert_int_equal(delete (txn, kind, item.key), ND_OK);
        for (size_t i = m->table[kind].n; i-- > 0;) {
            const uint64_t *k = m->table[kind].item[i].key;

            if (kind == VERSIONS ? k[0] == item.key[0] : k[0] < item.key[0])
                delete_item(m, kind, k);
        }
        return;
    }
    if (m->table[kind].n == 0)
        return;
    item = m->table[kind].item[below(m->table[kind].n)];
    assert_int_equal(delete (txn, kind, item.key), ND_OK);
    delete_item(m, kind, item.key);
    if (kind == PAIRS)
        delete_item(m, kind, turned(&item).key);
}

static void random_transactions_are_those_of_the_model(void **state)
{
    struct model *now = calloc(1, sizeof *now), *changed = calloc(1, sizeof *now),
                 *old = calloc(1, sizeof *now);
    struct catalog_fixture f;
    struct nd_txn *reader;

    (void)state;
    assert_true(now && changed && old);
    state_of_random = 17;
    fixture_make(&f);
    reader = begin(&f, false);
    for (size_t turn = 0; turn < sized(3000, 150); turn++) {
        struct nd_txn *txn = begin(&f, true);

        memcpy(changed, now, sizeof *now);
        for (uint64_t n = below(150); n > 0; n--) {
            change(txn, changed, (enum kind)below(KINDS));
            look_up(txn, changed, (enum kind)below(KINDS));
            look_up(reader, old, (enum kind)below(KINDS));
            walk(reader, old, (enum kind)below(KINDS));
            walk(txn, changed, (enum kind)below(KINDS));
            walk_back(reader, old);
            walk_back(txn, changed);
        }
        if (below(4) == 0) {
            nd_catalog_abort(txn);
        } else {
            commit(txn);
            memcpy(now, changed, sizeof *now);
        }
        if (below(5) == 0) {
            nd_catalog_pause(reader);
            assert_int_equal(nd_catalog_renew(reader, NULL), ND_OK);
            memcpy(old, now, sizeof *now);
        }
        if (below(40) == 0) {
            nd_catalog_abort(reader);
            nd_catalog_close(f.catalog);
            fixture_open(&f);
            reader = begin(&f, false);
            memcpy(old, now, sizeof *now);
        }
    }
    nd_catalog_abort(reader);
    fixture_remove(&f);
    free(now);
    free(changed);
    free(old);
}

/* ---- Rows of any bytes ---- */

/* Each table read by a key under which there is a row of random bytes: an answer, or ND_EINPUT. */
static int read_damaged(struct nd_txn *txn, enum nd_catalog_table table, struct nd_error *err)
{
    struct nd_entry entry;
    struct nd_document_row document;
    struct nd_key last = {.len = ND_KEY_MAX};
    struct nd_version_row version;
    struct nd_pair_row pair;
    struct nd_set_counts counts;
    struct nd_segment_row segment;
    struct nd_catalog_state state;
    struct nd_view view_of_row;
    uint32_t a = 0, b = 0;
    uint64_t c = 0, d = 0;

    switch (table) {
    case ND_TABLE_META: return nd_catalog_get_state(txn, &state, err) ? ND_EINPUT : 1;
    case ND_TABLE_LABEL_SETS: return nd_catalog_get_label_set(txn, 0, &view_of_row, err);
    case ND_TABLE_ENTRIES: return nd_catalog_next_entry(txn, &a, &entry, err);
    case ND_TABLE_TEXTS: return nd_catalog_find_entry(txn, 0, (struct nd_text_hash){0, 0}, &a, err);
    case ND_TABLE_DOCUMENTS: return nd_catalog_get_document(txn, 0, view("id"), &document, err);
    case ND_TABLE_HOLDERS: return nd_catalog_next_holder(txn, 0, &c, &view_of_row, err);
    case ND_TABLE_VERSIONS: return nd_catalog_next_version(txn, 0, &a, &version, err);
    case ND_TABLE_PAIRS: return nd_catalog_next_pair(txn, 0, &a, &b, &pair, err);
    case ND_TABLE_DUE: return nd_catalog_next_due(txn, 0, &c, &d, &view_of_row, err);
    case ND_TABLE_COUNTS: return nd_catalog_get_counts(txn, 0, &counts, err);
    case ND_TABLE_REMOVALS: return nd_catalog_next_removal(txn, &c, &a, err);
    case ND_TABLE_SEGMENTS: return nd_catalog_next_segment(txn, &a, &segment, err);
    case ND_TABLE_RECENT:
        memset(last.bytes, 0xFF, sizeof last.bytes);
        memset(last.bytes, 0, 4);
        return nd_catalog_recent_before(txn, &last, &c, &view_of_row, err);
    case ND_TABLE_SIGNATURES: return nd_catalog_get_signatures(txn, 0, &view_of_row, err);
    default: return 0;
    }
}

/* A key of a table as it should be. */
static struct nd_key key_of(enum nd_catalog_table table)
{
    static const size_t len[ND_CATALOG_TABLES] = {5, 4, 4, 20, 4, 12, 12, 12, 20, 4, 12, 4, 14, 4};
    struct nd_key key = {.len = len[table]};

    if (table == ND_TABLE_META)
        memcpy(key.bytes, "state", 5);
    if (table == ND_TABLE_DOCUMENTS)
        nd_key_add_id(&key, view("id"));
    if (table == ND_TABLE_RECENT)
        memcpy(key.bytes + ND_KEY_RECENT_ID, "id", 2);
    return key;
}

static void rows_of_any_bytes_are_refused_or_read(void **state)
{
    static const size_t len_of[] = {0,  1,   3,   4,   7,   8,   24,  32,        76,
                                    88, 118, 119, 201, 225, 226, 300, 118 + 129, 5000};
    size_t n_refused = 0, n_read = 0;
    struct catalog_fixture f;
    uint8_t row[5000];

    (void)state;
    state_of_random = 3;
    fixture_make(&f);
    for (size_t turn = 0; turn < sized(40000, 4000); turn++) {
        enum nd_catalog_table table = (enum nd_catalog_table)below(ND_CATALOG_TABLES);
        size_t len = len_of[below(sizeof len_of / sizeof *len_of)];
        struct nd_key key = key_of(table);
        struct nd_txn *txn = begin(&f, true);
        struct nd_error err = {0};
        int found;

        if (below(8) == 0 && table != ND_TABLE_META) /* the key itself is longer, or shorter */
            key.len = 4 + below(ND_KEY_MAX - 3);
        for (size_t i = 0; i < len; i++)
            row[i] = below(3) ? 0 : (uint8_t)below(256);
        assert_int_equal(nd_catalog_put(txn, table, &key, bytes_view(row, len), NULL), ND_OK);
        found = read_damaged(txn, table, &err);
        if (found < 0) {
            assert_int_equal(found, ND_EINPUT);
            assert_non_null(strstr(err.message, nd_catalog_table_name(table)));
            n_refused++;
        }
        n_read += found == 1;
        nd_catalog_abort(txn);
    }
    assert_true(n_refused > 100 && n_read > 100);
    fixture_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_transactions_are_those_of_the_model),
        cmocka_unit_test(rows_of_any_bytes_are_refused_or_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
