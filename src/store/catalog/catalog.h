/*
 * catalog.h - the database: rows of contents, documents, versions, pairs; the truth of a store (LMDB)
 *
 *     nd_catalog_begin(catalog, true, &txn, &err);
 *     nd_catalog_put_entry(txn, number, &entry, &err);
 *     nd_catalog_commit(txn, &err);
 *
 * An entry is a content of a label set: the text that all documents of the set with equal bytes
 * share.  Its number is its number in the index.  Numbers ascend and are not used again.  A document
 * has a number too, which is never used again, and an order: the commit that gave it its present
 * text.  Neither is ever shown (docs/format/store.md).
 */
#ifndef ND_STORE_CATALOG_CATALOG_H
#define ND_STORE_CATALOG_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/sketch.h>
#include <neardup/types.h>
#include <neardup/visits.h>

#include "index/index_row.h"
#include "store/segments/segments.h"
#include "store/store.h"

struct nd_catalog;
struct nd_txn;

/* The database in the folder of a store; LMDB keeps its locks beside it, in ND_CATALOG_FILE-lock. */
#define ND_CATALOG_FILE "catalog.mdb"
/* The version of the format of a store.  A store of another one is refused. */
enum { ND_STORE_FORMAT = 1 };

/*
 * Open the database in a folder; `create`: it does not exist, make it whole under its name or not at
 * all.  The folder exists.  A process must not open a database twice at the same time: closing
 * either one would drop the locks of both (LMDB).  NULL: ND_EINPUT (damaged, or of another version),
 * ND_EIO, ND_ENOMEM.
 */
struct nd_catalog *nd_catalog_open(const char *folder, bool create, bool read_only,
                                   struct nd_error *err);
/* Open it to read, without a lock: nobody may write meanwhile, and nothing is written at all. */
struct nd_catalog *nd_catalog_open_alone(const char *folder, struct nd_error *err);
void nd_catalog_close(struct nd_catalog *catalog);

/*
 * One transaction that writes, by one thread at a time; any number that read, each of what was
 * committed when it began.  A reading one can be used again: nd_catalog_pause, then _renew; between
 * the two it holds no old rows back.  If a call of a writing transaction fails, other than by
 * ND_EINVAL, nothing of it can be committed.
 */
enum nd_status nd_catalog_begin(struct nd_catalog *catalog, bool writes, struct nd_txn **txn,
                                struct nd_error *err);
void nd_catalog_pause(struct nd_txn *txn);
enum nd_status nd_catalog_renew(struct nd_txn *txn, struct nd_error *err);
/* On disk when it returns ND_OK; otherwise nothing of it is there, and *no_space (unless NULL) says
 * whether the disk is full, now or in an earlier call of the transaction.  Either way the
 * transaction is gone. */
enum nd_status nd_catalog_commit(struct nd_txn *txn, bool *no_space, struct nd_error *err);
void nd_catalog_abort(struct nd_txn *txn);
/* The moment that a transaction reads, and whether any transaction of any process, this one left
 * out, still reads an earlier one.  What rows of earlier moments name can be removed once none does.
 */
uint64_t nd_catalog_moment(const struct nd_txn *txn);
bool nd_catalog_is_read_before(struct nd_catalog *catalog, uint64_t moment);

/*
 * All functions below return ND_EIO, ND_ENOMEM or ND_EINPUT (a row that cannot be right, or one to be
 * deleted that is not there: the message names the table and the key).  Those that look something up
 * return 1: found, 0: not, or < 0.  Views that they give are valid until the transaction is paused,
 * ends or writes.
 */

/* ---- The state of the whole store: one row ---- */

struct nd_catalog_state {
    uint64_t commit;        /* how many there were */
    uint64_t next_document; /* numbers */
    uint32_t next_entry;
    uint32_t n_label_sets;
    uint64_t next_order;
    struct nd_segments_end segments; /* where the next text goes */
    uint64_t n_documents, n_entries, n_versions, n_pairs, text_bytes;
};
enum nd_status nd_catalog_get_state(struct nd_txn *txn, struct nd_catalog_state *state,
                                    struct nd_error *err);
enum nd_status nd_catalog_put_state(struct nd_txn *txn, const struct nd_catalog_state *state,
                                    struct nd_error *err);
/* Text by name, such as the recipe; found: a view into the transaction. */
int nd_catalog_get_meta(struct nd_txn *txn, const char *name, struct nd_view *value,
                        struct nd_error *err);
enum nd_status nd_catalog_put_meta(struct nd_txn *txn, const char *name, struct nd_view value,
                                   struct nd_error *err);

/* ---- Label sets, by number ---- */

enum nd_status nd_catalog_put_label_set(struct nd_txn *txn, uint32_t number, struct nd_view bytes,
                                        struct nd_error *err);
int nd_catalog_get_label_set(struct nd_txn *txn, uint32_t number, struct nd_view *bytes,
                             struct nd_error *err);

/* ---- Entries, by number; and by label set and hash of the text ---- */

/* 128 bits: XXH3 of the text's bytes. */
struct nd_text_hash {
    uint64_t low, high;
};
struct nd_text_hash nd_text_hash(struct nd_view text);
struct nd_entry {
    uint32_t label_set;
    uint32_t n_documents; /* whose text it is */
    struct nd_text_hash hash;
    struct nd_text_place text;
    uint64_t n_tokens;
    bool is_empty;
    bool has_led;            /* when it was stored, no entry of its label set near it had led */
    struct nd_index_row row; /* without keys; row.group is the label set */
};
enum nd_status nd_catalog_put_entry(struct nd_txn *txn, uint32_t number,
                                    const struct nd_entry *entry, struct nd_error *err);
int nd_catalog_get_entry(struct nd_txn *txn, uint32_t number, struct nd_entry *entry,
                         struct nd_error *err);
enum nd_status nd_catalog_delete_entry(struct nd_txn *txn, uint32_t number,
                                       const struct nd_entry *entry, struct nd_error *err);
int nd_catalog_find_entry(struct nd_txn *txn, uint32_t label_set, struct nd_text_hash hash,
                          uint32_t *number, struct nd_error *err);
/* Entries in order, from `number` on: 1: *number and *entry are the next one.  ND_EINPUT: *number is
 * that of the row that cannot be right.  For a scan of all. */
int nd_catalog_next_entry(struct nd_txn *txn, uint32_t *number, struct nd_entry *entry,
                          struct nd_error *err);

/* ---- Signatures of entries, by number: only where the recipe decides by them ---- */

enum nd_status nd_catalog_put_signatures(struct nd_txn *txn, uint32_t entry, struct nd_view packed,
                                         struct nd_error *err);
/* `packed` points into the transaction, and is not aligned. */
int nd_catalog_get_signatures(struct nd_txn *txn, uint32_t entry, struct nd_view *packed,
                              struct nd_error *err);
enum nd_status nd_catalog_delete_signatures(struct nd_txn *txn, uint32_t entry,
                                            struct nd_error *err);

/* ---- Documents, by label set and id ---- */

/* The title of a document: one line of valid UTF-8 without control characters.  Empty: it has no
 * title. */
struct nd_title {
    uint16_t len;
    char text[ND_STORE_TITLE_MAX];
};
/*
 * Make one line of a text in valid UTF-8: each run of white space and control characters (those of
 * ASCII, U+0080 to U+009F, U+2028, U+2029) becomes a space, and none stands at either end.  A line
 * of more than ND_STORE_TITLE_MAX bytes is cut behind a whole character.
 */
void nd_title_make(struct nd_view text, struct nd_title *title);
static inline struct nd_view nd_title_view(const struct nd_title *title)
{
    return (struct nd_view){title->text, title->len};
}

struct nd_document_row {
    uint64_t number;
    uint64_t order; /* of its present text */
    uint32_t entry;
    uint32_t label_set;
    uint32_t version;
    uint64_t created, updated, visited, due;
    struct nd_visits visits;
    struct nd_title title;
};
enum nd_status nd_catalog_put_document(struct nd_txn *txn, struct nd_view id,
                                       const struct nd_document_row *row, struct nd_error *err);
int nd_catalog_get_document(struct nd_txn *txn, uint32_t label_set, struct nd_view id,
                            struct nd_document_row *row, struct nd_error *err);
enum nd_status nd_catalog_delete_document(struct nd_txn *txn, struct nd_view id,
                                          const struct nd_document_row *row, struct nd_error *err);

/* ---- Which documents have an entry's text, in their order ---- */

enum nd_status nd_catalog_put_holder(struct nd_txn *txn, uint32_t entry, uint64_t order,
                                     struct nd_view id, struct nd_error *err);
enum nd_status nd_catalog_delete_holder(struct nd_txn *txn, uint32_t entry, uint64_t order,
                                        struct nd_error *err);
/* The first holder of an order of at least *order; `id` points into the transaction. */
int nd_catalog_next_holder(struct nd_txn *txn, uint32_t entry, uint64_t *order, struct nd_view *id,
                           struct nd_error *err);

/* ---- Versions, by document number and version ---- */

struct nd_version_row {
    uint64_t time, visited;
    struct nd_text_hash hash;
    uint64_t simhash, identity, n_tokens, n_shingles, text_bytes;
    uint32_t distance;
};
enum nd_status nd_catalog_put_version(struct nd_txn *txn, uint64_t document, uint32_t version,
                                      const struct nd_version_row *row, struct nd_error *err);
/* The first one of at least *version. */
int nd_catalog_next_version(struct nd_txn *txn, uint64_t document, uint32_t *version,
                            struct nd_version_row *row, struct nd_error *err);
enum nd_status nd_catalog_delete_versions(struct nd_txn *txn, uint64_t document, uint64_t *n,
                                          struct nd_error *err);

/* ---- Verified pairs: each is found from both of its entries ---- */

/* A pair, or a gap: of the pairs of an entry with those of a label set, some were not stored. */
struct nd_pair_row {
    uint32_t
        shared; /* shingles; of a gap, the least number of an entry whose pair was not stored */
    uint16_t distance;
    uint8_t identical; /* enum nd_identical, or ND_PAIR_GAP */
};
enum { ND_PAIR_GAP = 3 };
enum nd_status nd_catalog_put_pair(struct nd_txn *txn, uint32_t a, uint32_t set_of_a, uint32_t b,
                                   uint32_t set_of_b, const struct nd_pair_row *row,
                                   struct nd_error *err);
enum nd_status nd_catalog_delete_pair(struct nd_txn *txn, uint32_t a, uint32_t set_of_a, uint32_t b,
                                      uint32_t set_of_b, struct nd_error *err);
/* The first pair of entry a with one of at least (*set, *b), in order of sets, then numbers.  A gap
 * comes behind the pairs of its set, with the number UINT32_MAX. */
int nd_catalog_next_pair(struct nd_txn *txn, uint32_t a, uint32_t *set, uint32_t *b,
                         struct nd_pair_row *row, struct nd_error *err);
/* Note a gap: pairs of entry a with entries of a set, of which `least` is the first, are not stored.
 * A gap that is there stays as it is, since numbers ascend. */
enum nd_status nd_catalog_note_gap(struct nd_txn *txn, uint32_t a, uint32_t set, uint32_t least,
                                   struct nd_error *err);
enum nd_status nd_catalog_delete_gap(struct nd_txn *txn, uint32_t a, uint32_t set,
                                     struct nd_error *err);

/* ---- What to visit, by label set, then when it is due, then document number ---- */

enum nd_status nd_catalog_put_due(struct nd_txn *txn, uint32_t label_set, uint64_t due,
                                  uint64_t document, struct nd_view id, struct nd_error *err);
enum nd_status nd_catalog_delete_due(struct nd_txn *txn, uint32_t label_set, uint64_t due,
                                     uint64_t document, struct nd_error *err);
/* The first one of at least (*due, *document) in a label set. */
int nd_catalog_next_due(struct nd_txn *txn, uint32_t label_set, uint64_t *due, uint64_t *document,
                        struct nd_view *id, struct nd_error *err);

/* ---- The newest documents, by label set, then by when their first version was posted, then id ---- */

enum nd_status nd_catalog_put_recent(struct nd_txn *txn, uint32_t label_set, uint64_t created,
                                     struct nd_view id, struct nd_error *err);
enum nd_status nd_catalog_delete_recent(struct nd_txn *txn, uint32_t label_set, uint64_t created,
                                        struct nd_view id, struct nd_error *err);

/* ---- Counts of a label set ---- */

struct nd_set_counts {
    uint64_t documents, versions, entries, text_bytes;
};
enum nd_status nd_catalog_put_counts(struct nd_txn *txn, uint32_t label_set,
                                     const struct nd_set_counts *counts, struct nd_error *err);
int nd_catalog_get_counts(struct nd_txn *txn, uint32_t label_set, struct nd_set_counts *counts,
                          struct nd_error *err);

/* ---- Entries that were removed, by commit: what a snapshot of the index lacks ---- */

enum nd_status nd_catalog_put_removal(struct nd_txn *txn, uint64_t commit, uint32_t entry,
                                      struct nd_error *err);
int nd_catalog_next_removal(struct nd_txn *txn, uint64_t *commit, uint32_t *entry,
                            struct nd_error *err);
/* Forget those of commits below this one. */
enum nd_status nd_catalog_trim_removals(struct nd_txn *txn, uint64_t commit, struct nd_error *err);

/* ---- Segments: what of each is live, and since when it has texts that are not ---- */

struct nd_segment_row {
    uint64_t live_bytes, dead_bytes;
    uint64_t dead_since; /* seconds since 1970, of the oldest dead text; 0: none */
};
enum nd_status nd_catalog_put_segment(struct nd_txn *txn, uint32_t segment,
                                      const struct nd_segment_row *row, struct nd_error *err);
int nd_catalog_next_segment(struct nd_txn *txn, uint32_t *segment, struct nd_segment_row *row,
                            struct nd_error *err);
enum nd_status nd_catalog_delete_segment(struct nd_txn *txn, uint32_t segment,
                                         struct nd_error *err);

/* ---- All of it ---- */

/* A copy of the database as it is at one moment during the call, compacted, into a folder that has
 * none; the state in the copy says at which.  It is on disk when this returns, its name too. */
enum nd_status nd_catalog_copy(struct nd_catalog *catalog, const char *folder,
                               struct nd_error *err);
uint64_t nd_catalog_bytes(struct nd_catalog *catalog);
/* Read every row of every table once: whether it has its checksum, stands in order and is found by its
 * key, and whether as many are there as the table says.  What passes can be read without leading LMDB
 * astray.  The transaction must be one that reads. */
enum nd_status nd_catalog_check_rows(struct nd_txn *txn,
                                     void (*report)(void *context, const char *finding),
                                     void *context, uint64_t *n_findings, struct nd_error *err);
/* Read every table, and check every row on its own and against the rows of other tables.
 * *n_findings: how many findings were reported. */
enum nd_status nd_catalog_check(struct nd_txn *txn,
                                void (*report)(void *context, const char *finding), void *context,
                                uint64_t *n_findings, struct nd_error *err);

#endif
