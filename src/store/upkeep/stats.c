/* stats.c - figures of the whole store, for its administrator */
#include <stdlib.h>

#include "store/read/store_state.h"
#include "store/write/snapshots.h"

static void add_segments(struct nd_store *store, struct nd_txn *txn, struct nd_store_stats *out)
{
    struct nd_segment_row row;
    uint32_t *numbers, segment = 0;
    size_t n;

    for (; nd_catalog_next_segment(txn, &segment, &row, NULL) == 1; segment++) {
        out->garbage_bytes += row.dead_bytes;
        if (row.dead_since && (!out->oldest_garbage || row.dead_since < out->oldest_garbage))
            out->oldest_garbage = row.dead_since;
    }
    if (nd_segments_list(store->segments, &numbers, &n, NULL) != ND_OK)
        return;
    for (size_t i = 0; i < n; i++)
        out->segment_bytes += nd_segments_bytes(store->segments, numbers[i]);
    out->segments = n;
    free(numbers);
}

static void add_rows(struct nd_store *store, struct nd_store_stats *out)
{
    struct nd_catalog_state state;
    struct nd_txn *txn;

    if (nd_catalog_begin(store->catalog, false, &txn, NULL) != ND_OK)
        return;
    if (nd_catalog_get_state(txn, &state, NULL) == ND_OK) {
        out->documents = state.n_documents;
        out->versions = state.n_versions;
        out->contents = state.n_entries;
        out->pairs = state.n_pairs;
        out->label_sets = state.n_label_sets;
        out->text_bytes = state.text_bytes;
    }
    add_segments(store, txn, out);
    nd_catalog_abort(txn);
}

void nd_store_stats(struct nd_store *store, struct nd_store_stats *out)
{
    *out = (struct nd_store_stats){.open_seconds = store->open_seconds,
                                   .opened_from_snapshot = store->opened_from_snapshot,
                                   .last_snapshot = nd_snapshots_time(store),
                                   .database_bytes = nd_catalog_bytes(store->catalog)};
    add_rows(store, out);
    if (store->index) {
        nd_rwlock_read(store->index_lock);
        out->index_bytes = nd_index_bytes(store->index) + nd_contained_bytes(&store->contained);
        out->index_documents = nd_index_count(store->index);
        nd_rwlock_unlock(store->index_lock);
    }
    nd_monitor_enter(&store->queue.monitor);
    out->commits = store->queue.commits;
    out->writes = store->queue.writes;
    out->syncs = store->queue.syncs;
    out->queue_documents = store->queue.documents;
    out->queue_bytes = store->queue.bytes;
    nd_monitor_leave(&store->queue.monitor);
}
