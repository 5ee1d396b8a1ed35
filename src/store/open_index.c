/* open_index.c - the index of an open store: from its snapshot, or from the rows of the database
 *
 * An entry's number is its number in the index.  A number without an entry (the entry was deleted, or
 * its transaction failed) is that of a deleted document in the index.
 */
#include "store/open_index.h"

#include <stdlib.h>

#include "base/pool.h"
#include "store/search.h"

/* Rows that are listed together: the tables are filled in parallel. */
enum { ROWS_TOGETHER = 1 << 16 };

struct rebuilding {
    struct nd_store *store;
    struct nd_pool *pool;
    struct nd_index_row *row; /* ROWS_TOGETHER */
    const struct nd_index_row **listed;
    uint32_t *number;
    size_t n;
    uint32_t next; /* the next number of the index */
};

static enum nd_status list_rows(struct rebuilding *r, struct nd_error *err)
{
    enum nd_status status =
        nd_index_list(r->store->index, r->number, r->listed, r->n, r->pool, err);

    r->n = 0;
    return status;
}

static enum nd_status add_row(struct rebuilding *r, uint32_t number, const struct nd_entry *entry,
                              struct nd_error *err)
{
    enum nd_status status = ND_OK;
    uint32_t given;

    if (number > r->next)
        status = nd_index_append_deleted(r->store->index, number - r->next, err);
    if (status == ND_OK)
        status = nd_index_append(r->store->index, &entry->row, &given, err);
    r->next = number + 1;
    if (status != ND_OK || !nd_row_is_listed(&r->store->sketching, &entry->row))
        return status;
    r->row[r->n] = entry->row;
    r->row[r->n].key = NULL;
    r->listed[r->n] = &r->row[r->n];
    r->number[r->n++] = number;
    return r->n == ROWS_TOGETHER ? list_rows(r, err) : ND_OK;
}

static enum nd_status add_rows(struct rebuilding *r, struct nd_txn *txn,
                               const struct nd_catalog_state *state, struct nd_error *err)
{
    struct nd_entry entry;
    uint32_t number = r->next;
    enum nd_status status = ND_OK;
    int found;

    while (status == ND_OK && (found = nd_catalog_next_entry(txn, &number, &entry, err)) != 0) {
        status = found < 0 ? (enum nd_status)found : add_row(r, number, &entry, err);
        number++;
    }
    if (status == ND_OK && r->next < state->next_entry)
        status = nd_index_append_deleted(r->store->index, state->next_entry - r->next, err);
    return status == ND_OK ? list_rows(r, err) : status;
}

static enum nd_status rebuild(struct nd_store *store, struct nd_txn *txn,
                              const struct nd_catalog_state *state, uint32_t first,
                              struct nd_error *err)
{
    struct rebuilding r = {.store = store,
                           .pool = nd_pool_new(store->options.threads, err),
                           .row = nd_alloc_array(ROWS_TOGETHER, sizeof *r.row),
                           .listed = nd_alloc_array(ROWS_TOGETHER, sizeof *r.listed),
                           .number = nd_alloc_array(ROWS_TOGETHER, sizeof *r.number),
                           .next = first};
    size_t n = state->n_entries > first ? (size_t)state->n_entries - first : 0;
    enum nd_status status = ND_ENOMEM;

    if (r.pool && r.row && r.listed && r.number) {
        status = n ? nd_index_reserve(store->index, n, err) : ND_OK;
        if (status == ND_OK)
            status = add_rows(&r, txn, state, err);
    } else if (r.pool) {
        nd_fail(err, ND_ENOMEM, "out of memory to rebuild an index");
    }
    nd_pool_free(r.pool);
    free(r.row);
    free(r.listed);
    free(r.number);
    return status;
}

enum nd_status nd_store_open_index(struct nd_store *store, struct nd_txn *txn,
                                   const struct nd_catalog_state *state, struct nd_error *err)
{
    enum nd_status status;

    store->index = nd_index_new(&store->sketching.index, err);
    if (!store->index)
        return ND_ENOMEM;
    status = nd_index_back_columns(store->index, store->folder, err);
    return status == ND_OK ? rebuild(store, txn, state, 0, err) : status;
}
