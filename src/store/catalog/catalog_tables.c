/* catalog_tables.c - the tables of the database: rows read, written and walked by their bytes (LMDB) */
#include "store/catalog/catalog_tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

const char *nd_catalog_table_name(enum nd_catalog_table table)
{
    static const char *const name[] = {
        "meta",  "label_sets", "entries", "texts",    "documents", "holders", "versions",
        "pairs", "due",        "counts",  "removals", "segments",  "recent",  "signatures"};

    _Static_assert(sizeof name / sizeof *name == ND_CATALOG_TABLES, "a name for each table");
    return name[table];
}

const char nd_catalog_wrong_checksum[] = "the checksum of the row is wrong";

/* ---- Failures ---- */

/* LMDB says EIO, too, where the disk took a part of what it was to write. */
static bool is_full(const struct nd_catalog *catalog, int code)
{
    struct statvfs disk;

    if (code == ENOSPC || code == EDQUOT || code == MDB_MAP_FULL)
        return true;
    return code == EIO && statvfs(catalog->path, &disk) == 0 &&
           (uint64_t)disk.f_bavail * disk.f_frsize < (UINT64_C(1) << 20);
}

static enum nd_status status_of(int code)
{
    switch (code) {
    case ENOMEM: return ND_ENOMEM;
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
    case MDB_NOTFOUND: return ND_EINPUT;
    default: return ND_EIO;
    }
}

enum { SHOWN_BYTES = 24, SHOWN_MAX = 2 * SHOWN_BYTES + 4 };

/* The first bytes of a key as hexadecimal digits. */
static void show_key(const struct nd_key *key, char shown[SHOWN_MAX])
{
    size_t n = key->len < SHOWN_BYTES ? key->len : SHOWN_BYTES;

    for (size_t i = 0; i < n; i++)
        (void)snprintf(shown + 2 * i, 3, "%02x", key->bytes[i]);
    (void)snprintf(shown + 2 * n, 4, "%s", key->len > n ? "..." : "");
}

static enum nd_status fail_at(struct nd_txn *txn, enum nd_catalog_table table,
                              const struct nd_key *key, enum nd_status status, const char *reason,
                              struct nd_error *err)
{
    const char *path = txn->catalog->path;
    char shown[SHOWN_MAX];

    if (txn->writes && txn->failed == ND_OK)
        txn->failed = status;
    if (table == ND_CATALOG_TABLES)
        return nd_fail(err, status, "%s: %s", path, reason);
    if (!key)
        return nd_fail(err, status, "%s: table %s: %s", path, nd_catalog_table_name(table), reason);
    show_key(key, shown);
    return nd_fail(err, status, "%s: table %s, key %s: %s", path, nd_catalog_table_name(table),
                   shown, reason);
}

enum nd_status nd_catalog_fail(struct nd_txn *txn, enum nd_catalog_table table,
                               const struct nd_key *key, int code, struct nd_error *err)
{
    txn->no_space |= is_full(txn->catalog, code);
    return fail_at(txn, table, key, status_of(code), mdb_strerror(code), err);
}

enum nd_status nd_catalog_fail_row(struct nd_txn *txn, enum nd_catalog_table table,
                                   const struct nd_key *key, const char *reason,
                                   struct nd_error *err)
{
    return fail_at(txn, table, key, ND_EINPUT, reason, err);
}

/* ---- One row ---- */

static MDB_val key_value(const struct nd_key *key)
{
    return (MDB_val){key->len, (void *)(uintptr_t)key->bytes};
}

bool nd_catalog_open_row(enum nd_catalog_table table, const struct nd_key *key,
                         struct nd_view stored, struct nd_view *row)
{
    uint32_t checksum;

    if (stored.len < ND_ROW_CHECKSUM)
        return false;
    *row = (struct nd_view){stored.data, stored.len - ND_ROW_CHECKSUM};
    (void)nd_row_get_32((struct nd_view){row->data + row->len, ND_ROW_CHECKSUM}, &checksum);
    return checksum == nd_row_checksum(table, key, *row);
}

/* 1, where the row has its checksum. */
static int open_row(struct nd_txn *txn, enum nd_catalog_table table, const struct nd_key *key,
                    MDB_val stored, struct nd_view *row, struct nd_error *err)
{
    if (nd_catalog_open_row(table, key, (struct nd_view){stored.mv_data, stored.mv_size}, row))
        return 1;
    return nd_catalog_fail_row(txn, table, key, nd_catalog_wrong_checksum, err);
}

int nd_catalog_get(struct nd_txn *txn, enum nd_catalog_table table, const struct nd_key *key,
                   struct nd_view *row, struct nd_error *err)
{
    MDB_val k = key_value(key), v;
    int code = mdb_get(txn->txn, txn->catalog->table[table], &k, &v);

    txn->n_rows++;
    if (code == MDB_NOTFOUND)
        return 0;
    if (code)
        return nd_catalog_fail(txn, table, key, code, err);
    return open_row(txn, table, key, v, row, err);
}

enum nd_status nd_catalog_delete(struct nd_txn *txn, enum nd_catalog_table table,
                                 const struct nd_key *key, struct nd_error *err)
{
    MDB_val k = key_value(key);
    int code = mdb_del(txn->txn, txn->catalog->table[table], &k, NULL);

    if (code == MDB_NOTFOUND)
        return nd_catalog_fail_row(txn, table, key, "there is no such row to delete", err);
    return code ? nd_catalog_fail(txn, table, key, code, err) : ND_OK;
}

/* ---- Rows in order ---- */

static int open_cursor(struct nd_txn *txn, enum nd_catalog_table table)
{
    MDB_cursor **cursor = &txn->cursor[table];

    if (!*cursor)
        return mdb_cursor_open(txn->txn, txn->catalog->table[table], cursor);
    if (!txn->is_stale[table])
        return 0;
    txn->is_stale[table] = false;
    return mdb_cursor_renew(txn->txn, *cursor);
}

void nd_catalog_close_cursors(struct nd_txn *txn)
{
    for (int i = 0; i < ND_CATALOG_TABLES; i++) {
        if (txn->cursor[i])
            mdb_cursor_close(txn->cursor[i]);
        txn->cursor[i] = NULL;
    }
}

static bool is_behind(const struct nd_key *a, const struct nd_key *b)
{
    size_t n = a->len < b->len ? a->len : b->len;
    int order = n ? memcmp(a->bytes, b->bytes, n) : 0;

    return order > 0 || (order == 0 && a->len > b->len);
}

/* Whether a key is the one that its table found last, plus 1: who walks looks for that. */
static bool follows(const struct nd_key *key, const struct nd_key *last)
{
    size_t begins = key->len - 4;
    uint32_t number;

    if (key->len < 4 || key->len != last->len)
        return false;
    number = nd_key_get_32(last->bytes + begins);
    return number < UINT32_MAX && nd_key_get_32(key->bytes + begins) == number + 1 &&
           memcmp(key->bytes, last->bytes, begins) == 0;
}

static bool is_before(const MDB_val *k, const struct nd_key *key)
{
    size_t n = k->mv_size < key->len ? k->mv_size : key->len;
    int order = memcmp(k->mv_data, key->bytes, n);

    return order < 0 || (order == 0 && k->mv_size < key->len);
}

/* The first row of at least a key.  Behind the row that was found last it is the next one, which
 * takes less time than a search.  A cursor of a writing transaction may have been moved. */
static int step_or_search(struct nd_txn *txn, enum nd_catalog_table table, const struct nd_key *key,
                          MDB_val *k, MDB_val *v)
{
    MDB_cursor *cursor = txn->cursor[table];

    if (!txn->writes && txn->is_found[table] && follows(key, &txn->last[table])) {
        int code = mdb_cursor_get(cursor, k, v, MDB_NEXT);

        if (code || !is_before(k, key))
            return code;
        *k = key_value(key);
    }
    return mdb_cursor_get(cursor, k, v, MDB_SET_RANGE);
}

/* Take the row that LMDB found, unless its key differs in the first `same` bytes. */
static int take_found(struct nd_txn *txn, enum nd_catalog_table table, int code, MDB_val k,
                      MDB_val v, struct nd_key *key, size_t same, struct nd_view *row,
                      struct nd_error *err)
{
    if (code == MDB_NOTFOUND)
        return 0;
    if (code)
        return nd_catalog_fail(txn, table, key, code, err);
    if (k.mv_size > ND_KEY_MAX)
        return nd_catalog_fail_row(txn, table, key, "the next key is too long", err);
    if (k.mv_size < same || memcmp(k.mv_data, key->bytes, same) != 0)
        return 0;
    key->len = k.mv_size;
    memcpy(key->bytes, k.mv_data, k.mv_size);
    return open_row(txn, table, key, v, row, err);
}

int nd_catalog_seek(struct nd_txn *txn, enum nd_catalog_table table, struct nd_key *key,
                    size_t same, struct nd_view *row, struct nd_error *err)
{
    MDB_val k = key_value(key), v = {0, NULL};
    int code = open_cursor(txn, table), found;

    if (code == 0)
        code = step_or_search(txn, table, key, &k, &v);
    txn->is_found[table] = false;
    found = take_found(txn, table, code, k, v, key, same, row, err);
    if (found == 1 && !txn->writes) {
        txn->last[table] = *key;
        txn->is_found[table] = true;
    }
    return found;
}

int nd_catalog_seek_before(struct nd_txn *txn, enum nd_catalog_table table, struct nd_key *key,
                           size_t same, struct nd_view *row, struct nd_error *err)
{
    MDB_val k = key_value(key), v = {0, NULL};
    int code = open_cursor(txn, table);

    txn->n_rows++;
    txn->is_found[table] = false;
    if (code == 0) {
        code = mdb_cursor_get(txn->cursor[table], &k, &v, MDB_SET_RANGE);
        if (code == 0)
            code = mdb_cursor_get(txn->cursor[table], &k, &v, MDB_PREV);
        else if (code == MDB_NOTFOUND)
            code = mdb_cursor_get(txn->cursor[table], &k, &v, MDB_LAST);
    }
    return take_found(txn, table, code, k, v, key, same, row, err);
}

/* Find the last key of a table, which rows that come may be behind. */
static int learn_last(struct nd_txn *txn, enum nd_catalog_table table)
{
    struct nd_key *last = &txn->last[table];
    MDB_val k, v;
    int code = open_cursor(txn, table);

    last->len = 0;
    if (code == 0)
        code = mdb_cursor_get(txn->cursor[table], &k, &v, MDB_LAST);
    if (code == 0 && k.mv_size <= ND_KEY_MAX) {
        last->len = k.mv_size;
        memcpy(last->bytes, k.mv_data, k.mv_size);
    }
    txn->knows_last[table] = code == 0 || code == MDB_NOTFOUND;
    return code == MDB_NOTFOUND ? 0 : code;
}

/* Write a row with its checksum. */
static void close_row(enum nd_catalog_table table, const struct nd_key *key, struct nd_view row,
                      uint8_t *stored)
{
    if (row.len)
        memcpy(stored, row.data, row.len);
    nd_row_put_32(stored + row.len, nd_row_checksum(table, key, row));
}

enum nd_status nd_catalog_put(struct nd_txn *txn, enum nd_catalog_table table,
                              const struct nd_key *key, struct nd_view row, struct nd_error *err)
{
    MDB_val k = key_value(key), v = {row.len + ND_ROW_CHECKSUM, NULL};
    unsigned flags = MDB_RESERVE;
    int code = txn->knows_last[table] ? 0 : learn_last(txn, table);

    if (code == 0) {
        if (is_behind(key, &txn->last[table])) {
            flags |= MDB_APPEND;
            txn->last[table] = *key;
        }
        code = mdb_put(txn->txn, txn->catalog->table[table], &k, &v, flags);
    }
    if (code == 0)
        close_row(table, key, row, v.mv_data);
    return code ? nd_catalog_fail(txn, table, key, code, err) : ND_OK;
}
