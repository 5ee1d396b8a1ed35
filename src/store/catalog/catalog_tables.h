/* catalog_tables.h - the tables of the database: rows read, written and walked by their bytes (LMDB) */
#ifndef ND_STORE_CATALOG_CATALOG_TABLES_H
#define ND_STORE_CATALOG_CATALOG_TABLES_H

#include <lmdb.h>

#include "store/catalog/catalog.h"
#include "store/catalog/catalog_rows.h"

/* Their numbers are those of docs/format/store.md. */
enum nd_catalog_table {
    ND_TABLE_META,
    ND_TABLE_LABEL_SETS,
    ND_TABLE_ENTRIES,
    ND_TABLE_TEXTS,
    ND_TABLE_DOCUMENTS,
    ND_TABLE_HOLDERS,
    ND_TABLE_VERSIONS,
    ND_TABLE_PAIRS,
    ND_TABLE_DUE,
    ND_TABLE_COUNTS,
    ND_TABLE_REMOVALS,
    ND_TABLE_SEGMENTS,
    ND_TABLE_RECENT,
    ND_TABLE_SIGNATURES,
    ND_CATALOG_TABLES
};
const char *nd_catalog_table_name(enum nd_catalog_table table);

struct nd_catalog {
    MDB_env *env;
    MDB_dbi table[ND_CATALOG_TABLES];
    char *path; /* of the file, for messages */
    bool is_read_only;
    unsigned begun; /* writing transactions, since dead readers were looked for */
};

struct nd_txn {
    struct nd_catalog *catalog;
    MDB_txn *txn;
    bool writes;
    bool no_space;
    uint64_t n_rows;       /* that were looked for */
    enum nd_status failed; /* a call of a writing transaction */
    MDB_cursor *cursor[ND_CATALOG_TABLES];
    bool is_stale[ND_CATALOG_TABLES]; /* its cursor is of the time before a pause */
    /* No row of a table has a greater key; a new row behind it is appended, so that the pages of
     * tables whose numbers ascend are full. */
    struct nd_key last[ND_CATALOG_TABLES];
    bool knows_last[ND_CATALOG_TABLES];
    /*
     * in a reading transaction: the cursor of a table is at the row of this key, which was found
     * last
     */
    bool is_found[ND_CATALOG_TABLES];
};

/* Fail with what LMDB says of a table (ND_CATALOG_TABLES: of none) and a key (NULL: of none). */
enum nd_status nd_catalog_fail(struct nd_txn *txn, enum nd_catalog_table table,
                               const struct nd_key *key, int code, struct nd_error *err);
/* Fail because a row cannot be right. */
enum nd_status nd_catalog_fail_row(struct nd_txn *txn, enum nd_catalog_table table,
                                   const struct nd_key *key, const char *reason,
                                   struct nd_error *err);

/* The message about a row that has changed since it was written. */
extern const char nd_catalog_wrong_checksum[];
/* Take the checksum off the bytes of a row.  False: they are not those that were written. */
bool nd_catalog_open_row(enum nd_catalog_table table, const struct nd_key *key,
                         struct nd_view stored, struct nd_view *row);

/* 1: found, 0: not, < 0.  ND_EINPUT where the checksum of the row is wrong. */
int nd_catalog_get(struct nd_txn *txn, enum nd_catalog_table table, const struct nd_key *key,
                   struct nd_view *row, struct nd_error *err);
enum nd_status nd_catalog_put(struct nd_txn *txn, enum nd_catalog_table table,
                              const struct nd_key *key, struct nd_view row, struct nd_error *err);
/* ND_EINPUT: it is not there. */
enum nd_status nd_catalog_delete(struct nd_txn *txn, enum nd_catalog_table table,
                                 const struct nd_key *key, struct nd_error *err);
/* Find the first row at or after *key whose key shares its first `same` bytes, and set *key to the key
 * found.  ND_EINPUT: the checksum of that row is wrong. */
int nd_catalog_seek(struct nd_txn *txn, enum nd_catalog_table table, struct nd_key *key,
                    size_t same, struct nd_view *row, struct nd_error *err);
/* Find the last row before *key whose key shares its first `same` bytes, and set *key to the key found.
 * ND_EINPUT: the checksum of that row is wrong. */
int nd_catalog_seek_before(struct nd_txn *txn, enum nd_catalog_table table, struct nd_key *key,
                           size_t same, struct nd_view *row, struct nd_error *err);
/* Read the row of a key of `recent`; or find the last one before *key in its label set, and set *key to
 * it.  `id` points into *key or into the transaction. */
int nd_catalog_get_recent(struct nd_txn *txn, const struct nd_key *key, uint64_t *created,
                          struct nd_view *id, struct nd_error *err);
int nd_catalog_recent_before(struct nd_txn *txn, struct nd_key *key, uint64_t *created,
                             struct nd_view *id, struct nd_error *err);
void nd_catalog_close_cursors(struct nd_txn *txn);

/* nd_catalog_open, with a map of at most so many bytes: what tests fill. */
struct nd_catalog *nd_catalog_open_sized(const char *folder, bool create, bool read_only,
                                         size_t map_bytes, struct nd_error *err);

#endif
