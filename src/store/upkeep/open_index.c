/* open_index.c - the index of a store that is opened: from its snapshot, or from the database
 *
 * An entry's number is its number in the index.  A number without an entry (the entry was deleted, or
 * its transaction failed) is that of a deleted document in the index.
 *
 * A snapshot is of one commit.  Entries that came after it are inserted, those that were removed
 * after it are deleted.  Without one, or with one that does not fit, all rows are read.
 */
#include "store/upkeep/open_index.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/thread/pool.h"
#include "store/search/search.h"
#include "store/write/snapshots.h"
#include "store/write/writer.h"

/* Rows that are listed together: the tables are filled in parallel. */
enum { ROWS_TOGETHER = 1 << 16 };

struct index_filling {
    const struct nd_store *store;
    struct nd_index *index;
    uint32_t next; /* the next number of the index */
    struct nd_pool *pool;
    struct nd_index_row *row; /* ROWS_TOGETHER of each */
    const struct nd_index_row **listed;
    uint32_t *number;
    size_t n;
};

static enum nd_status filling_begin(struct index_filling *f, struct nd_error *err)
{
    f->row = nd_alloc_array(ROWS_TOGETHER, sizeof *f->row);
    f->listed = nd_alloc_array(ROWS_TOGETHER, sizeof *f->listed);
    f->number = nd_alloc_array(ROWS_TOGETHER, sizeof *f->number);
    if (!f->row || !f->listed || !f->number)
        return nd_fail(err, ND_ENOMEM, "out of memory for the index of a store");
    f->pool = nd_pool_new(f->store->options.threads, err);
    return f->pool ? ND_OK : ND_ENOMEM;
}

static void filling_end(struct index_filling *f)
{
    if (f->pool)
        nd_pool_free(f->pool);
    free(f->row);
    free(f->listed);
    free(f->number);
}

static enum nd_status list_rows(struct index_filling *f, struct nd_error *err)
{
    size_t n = f->n;

    f->n = 0;
    return nd_index_list(f->index, f->number, f->listed, n, f->pool, err);
}

static enum nd_status add_row(struct index_filling *f, uint32_t number,
                              const struct nd_index_row *row, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    uint32_t given;

    if (number > f->next)
        status = nd_index_append_deleted(f->index, number - f->next, err);
    if (status == ND_OK)
        status = nd_index_append(f->index, row, &given, err);
    f->next = number + 1;
    if (status != ND_OK || !nd_row_is_listed(&f->store->sketching, row))
        return status;
    f->row[f->n] = *row;
    f->row[f->n].key = NULL;
    f->listed[f->n] = &f->row[f->n];
    f->number[f->n++] = number;
    return f->n == ROWS_TOGETHER ? list_rows(f, err) : ND_OK;
}

/* The entries from the next number on. */
static enum nd_status add_rows(struct index_filling *f, struct nd_txn *txn,
                               const struct nd_catalog_state *state, struct nd_error *err)
{
    struct nd_entry entry;
    uint32_t number = f->next;
    enum nd_status status = filling_begin(f, err);
    int found;

    while (status == ND_OK && (found = nd_catalog_next_entry(txn, &number, &entry, err)) != 0) {
        status = found < 0 ? (enum nd_status)found : add_row(f, number, &entry.row, err);
        number++;
    }
    if (status == ND_OK)
        status = list_rows(f, err);
    if (status == ND_OK && f->next < state->next_entry) {
        status = nd_index_append_deleted(f->index, state->next_entry - f->next, err);
        f->next = state->next_entry;
    }
    filling_end(f);
    return status;
}

/* ---- From the rows ---- */

/* Keep the columns in files of the folder; in memory if nothing may be written there. */
static enum nd_status back_columns(const struct nd_store *store, struct nd_index *index,
                                   struct nd_error *err)
{
    return store->options.read_only ? ND_OK : nd_index_back_columns(index, store->folder, err);
}

static struct nd_index *new_index(const struct nd_store *store, struct nd_error *err)
{
    struct nd_index *index = nd_index_new(&store->sketching.index, err);

    if (index && back_columns(store, index, err) == ND_OK)
        return index;
    nd_index_free(index);
    return NULL;
}

static enum nd_status rebuild(struct nd_store *store, struct nd_txn *txn,
                              const struct nd_catalog_state *state, struct nd_index **index,
                              uint32_t *next, struct nd_error *err)
{
    struct index_filling f = {.store = store, .index = new_index(store, err)};
    enum nd_status status = f.index ? ND_OK : ND_EIO;

    if (status == ND_OK && state->n_entries)
        status = nd_index_reserve(f.index, (size_t)state->n_entries, err);
    if (status == ND_OK)
        status = add_rows(&f, txn, state, err);
    if (status != ND_OK) {
        nd_index_free(f.index);
        return status;
    }
    *index = f.index;
    *next = f.next;
    return ND_OK;
}

/* ---- From a snapshot ---- */

static bool fits(const struct nd_store *store, const struct nd_catalog_state *state,
                 const struct nd_snapshot_note *note, size_t len)
{
    return len == sizeof *note && note->version == ND_SNAPSHOT_NOTE_VERSION &&
           note->recipe == store->sketching.fingerprint && note->commit <= state->commit &&
           note->next_entry <= state->next_entry;
}

/* NULL: there is none that fits. */
static struct nd_index *open_snapshot(const struct nd_store *store, const char *path,
                                      const struct nd_catalog_state *state,
                                      struct nd_snapshot_note *note)
{
    unsigned char bytes[ND_INDEX_NOTE_MAX];
    size_t len;
    struct nd_index *index = store->options.read_only
                                 ? nd_index_open(path, bytes, &len, NULL)
                                 : nd_index_open_unchecked(path, bytes, &len, NULL);

    if (!index)
        return NULL;
    memcpy(note, bytes, sizeof *note);
    if (fits(store, state, note, len) && back_columns(store, index, NULL) == ND_OK)
        return index;
    nd_index_free(index);
    return NULL;
}

/* Delete what was removed after the snapshot, of what it has. */
static enum nd_status remove_rows(struct nd_index *index, struct nd_txn *txn,
                                  const struct nd_snapshot_note *note, struct nd_error *err)
{
    uint64_t commit = note->commit + 1;
    uint32_t entry = 0;
    int found;

    for (; (found = nd_catalog_next_removal(txn, &commit, &entry, err)) == 1; entry++) {
        if (entry >= note->next_entry)
            continue;
        if (nd_index_delete(index, entry, err) != ND_OK)
            return ND_EINPUT;
    }
    return (enum nd_status)found;
}

static bool bring_up(struct nd_store *store, struct nd_index *index, struct nd_txn *txn,
                     const struct nd_catalog_state *state, const struct nd_snapshot_note *note,
                     uint32_t *next)
{
    struct index_filling f = {.store = store, .index = index, .next = note->next_entry};
    bool is_up =
        remove_rows(index, txn, note, NULL) == ND_OK && add_rows(&f, txn, state, NULL) == ND_OK;

    *next = f.next;
    return is_up;
}

/* A snapshot that does not serve is not to be taken for a later one. */
static void remove_snapshot(const struct nd_store *store)
{
    char *path = store->options.read_only ? NULL : nd_store_path(store, ND_SNAPSHOT_FILE, NULL);

    if (path)
        (void)unlink(path);
    free(path);
}

/* False: there is none that serves. */
static bool from_snapshot(struct nd_store *store, struct nd_txn *txn,
                          const struct nd_catalog_state *state, uint32_t *next)
{
    struct nd_snapshot_note note;
    char *path = nd_store_path(store, ND_SNAPSHOT_FILE, NULL);
    struct nd_index *index = path ? open_snapshot(store, path, state, &note) : NULL;

    if (index && !bring_up(store, index, txn, state, &note, next)) {
        nd_index_free(index);
        index = NULL;
    }
    if (index) {
        store->index = index;
        store->opened_from_snapshot = true;
        if (store->snapshots)
            nd_snapshots_was_opened(store->snapshots, note.commit);
    } else {
        remove_snapshot(store);
    }
    free(path);
    return index != NULL;
}

/* ---- Signatures ---- */

static enum nd_status add_signed(struct nd_store *store, struct nd_txn *txn, uint32_t number,
                                 const struct nd_index_row *row, struct nd_buffer *buffer,
                                 struct nd_error *err)
{
    const struct nd_matching *matching = store->sketching.rows.plan.matching;
    struct nd_document_signatures x;
    struct nd_view packed;
    enum nd_status status;
    int found = nd_catalog_get_signatures(txn, number, &packed, err);

    if (found < 0)
        return (enum nd_status)found;
    if (!found)
        return nd_fail(err, ND_EINPUT, "%s: entry %lu has no signatures", store->folder,
                       (unsigned long)number);
    status = nd_signatures_unpack_row(matching, packed, buffer, &x, err);
    return status == ND_OK
               ? nd_signed_entries_add(&store->signatures, matching, number, &x, row->group,
                                       nd_row_is_signed(&store->sketching, row), err)
               : status;
}

/* Their index has no snapshot: all rows are read. */
static enum nd_status open_signatures(struct nd_store *store, struct nd_txn *txn,
                                      struct nd_error *err)
{
    struct nd_buffer buffer = {0};
    struct nd_entry entry;
    uint32_t number = 0;
    enum nd_status status =
        nd_signed_entries_init(&store->signatures, store->sketching.rows.plan.matching, err);
    int found;

    while (status == ND_OK && (found = nd_catalog_next_entry(txn, &number, &entry, err)) != 0) {
        status = found < 0 ? (enum nd_status)found
                           : add_signed(store, txn, number, &entry.row, &buffer, err);
        number++;
    }
    nd_buffer_release(&buffer);
    return status;
}

/* ---- Containment ---- */

struct filling_contained {
    struct nd_store *store;
    struct nd_sketch_maker maker;
    struct nd_reader reader;
};

static enum nd_status add_contained(struct filling_contained *f, uint32_t number,
                                    const struct nd_entry *entry, struct nd_error *err)
{
    struct nd_sketched text;
    struct nd_view content;
    enum nd_status status = nd_reader_text(&f->reader, entry, &content, err);

    if (status == ND_OK)
        status = nd_sketch_text(&f->maker, content, &text, err);
    return status == ND_OK
               ? nd_contained_add(&f->store->contained, entry->label_set, number, &text, err)
               : status;
}

static enum nd_status add_all_contained(struct filling_contained *f, struct nd_error *err)
{
    struct nd_entry entry;
    uint32_t number = 0;
    enum nd_status status = ND_OK;
    int found;

    while (status == ND_OK &&
           (found = nd_catalog_next_entry(f->reader.txn, &number, &entry, err)) != 0) {
        status = found < 0 ? (enum nd_status)found : add_contained(f, number, &entry, err);
        number++;
    }
    return status;
}

/* The shingles are in no snapshot: all texts are read. */
static enum nd_status open_contained(struct nd_store *store, struct nd_txn *txn,
                                     struct nd_error *err)
{
    struct filling_contained f = {.store = store};
    enum nd_status status = ND_ENOMEM;

    if (nd_sketch_maker_init(&f.maker, &store->sketching, err)) {
        if (nd_reader_init(&f.reader, store->segments)) {
            f.reader.txn = txn;
            status = add_all_contained(&f, err);
        } else {
            nd_fail(err, ND_ENOMEM, "out of memory for the shingles of a store");
        }
        nd_reader_release(&f.reader);
    }
    nd_sketch_maker_release(&f.maker);
    return status;
}

enum nd_status nd_store_open_index(struct nd_store *store, struct nd_txn *txn,
                                   const struct nd_catalog_state *state, uint32_t *next,
                                   struct nd_error *err)
{
    if (nd_sketching_signs(&store->sketching)) {
        enum nd_status status = open_signatures(store, txn, err);

        if (status != ND_OK)
            return status;
    }
    if (store->contained.params.sample) {
        enum nd_status status = open_contained(store, txn, err);

        if (status != ND_OK)
            return status;
    }
    if (from_snapshot(store, txn, state, next))
        return ND_OK;
    return rebuild(store, txn, state, &store->index, next, err);
}

/* ---- Anew, in a store that is open ---- */

/* The snapshot was damaged: between two transactions the rows are read, and another index takes the
 * place of the one at hand, which answers until then. */
enum nd_status nd_store_renew_index(struct nd_store *store, void *context, struct nd_error *err)
{
    struct nd_catalog_state state;
    struct nd_index *index, *old;
    struct nd_txn *txn;
    uint32_t next;
    enum nd_status status = nd_catalog_begin(store->catalog, false, &txn, err);

    (void)context;
    if (status != ND_OK)
        return status;
    status = nd_catalog_get_state(txn, &state, err);
    if (status == ND_OK)
        status = rebuild(store, txn, &state, &index, &next, err);
    nd_catalog_abort(txn);
    if (status != ND_OK)
        return status;
    nd_rwlock_write(store->index_lock);
    old = store->index;
    store->index = index;
    nd_rwlock_unlock(store->index_lock);
    nd_index_free(old);
    store->writer->next_entry = next;
    nd_snapshots_was_opened(store->snapshots, 0);
    remove_snapshot(store);
    return ND_OK;
}
