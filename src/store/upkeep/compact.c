/* compact.c - segments are rewritten, so that the texts of deleted documents leave the disk */

/*
 * A segment that has dead texts is given up: it is not appended to any more, its live records are
 * copied to the segment that is, and it is removed.  Copying goes in small steps of the store's
 * writer, between two batches of writes, and each step is a commit: texts synced, then the rows that
 * name their new places.  So a crash at any moment leaves a text in its old place or in its new one.
 *
 * The file may be removed only when nobody can look into it any more.  A reader reads the rows of
 * one moment, and then the places that they name; so the file stays until every transaction that
 * began before the last step has ended, in this process and in others.  Where one takes too long, as
 * an export or a backup may, a later run removes it.
 */
#include "store/upkeep/compact.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread/thread.h"
#include "store/read/store_state.h"

enum {
    STEP_BYTES = 256 << 10, /* copied between two batches */
    STEP_ENTRIES = 500,
    READERS_WAIT_MS = 10000, /* for readers of an earlier moment */
    READERS_LOOK_MS = 5
};

struct nd_compactor {
    struct nd_store *store;
    unsigned period_ms;
    struct nd_monitor monitor; /* of what follows */
    bool is_running;           /* one thread at a time compacts */
    atomic_bool is_stopping;
    struct nd_thread thread;
    bool has_thread;
};

/* The work on one segment. */
struct compaction {
    struct nd_store *store;
    struct nd_compactor *compactor;
    uint32_t segment;
    uint32_t *entry; /* whose texts it has */
    size_t n, capacity;
    size_t next; /* of them, to be copied */
    uint64_t copied;
    struct nd_buffer record;
};

/* ---- Rows ---- */

/* 1: the segment has a row; 0: it has none. */
static int get_row(struct nd_txn *txn, uint32_t segment, struct nd_segment_row *row,
                   struct nd_error *err)
{
    uint32_t number = segment;
    int found = nd_catalog_next_segment(txn, &number, row, err);

    return found > 0 && number != segment ? 0 : found;
}

static enum nd_status count_live(struct nd_txn *txn, uint32_t segment, int64_t bytes,
                                 struct nd_error *err)
{
    struct nd_segment_row row = {0};
    int found = get_row(txn, segment, &row, err);

    if (found < 0)
        return (enum nd_status)found;
    row.live_bytes += (uint64_t)bytes;
    if (bytes < 0)
        row.dead_bytes += (uint64_t)-bytes;
    return nd_catalog_put_segment(txn, segment, &row, err);
}

/* ---- Steps of the writer ---- */

/* Refuse after a commit that failed: nothing is written until the store is opened again. */
static enum nd_status check_unbroken(struct nd_store *store, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    nd_monitor_enter(&store->queue.monitor);
    if (store->queue.broken != ND_STORE_OK)
        status = nd_fail(err, ND_EIO, "the store takes no writes until it is opened again: %s",
                         store->queue.why.message);
    nd_monitor_leave(&store->queue.monitor);
    return status;
}

/* The texts, then the rows: as the writer commits a batch.  After a sync that failed, what the disk
 * has is not known. */
static enum nd_status commit(struct nd_store *store, struct nd_txn *txn, struct nd_error *err)
{
    struct nd_catalog_state state;
    bool no_space = false;
    enum nd_status status = nd_catalog_get_state(txn, &state, err);

    state.segments = nd_segments_end(store->segments);
    if (status == ND_OK)
        status = nd_catalog_put_state(txn, &state, err);
    if (status != ND_OK) {
        nd_catalog_abort(txn);
        return status;
    }
    status = nd_segments_sync(store->segments, &no_space, err);
    if (status == ND_OK)
        status = nd_catalog_commit(txn, &no_space, err);
    else
        nd_catalog_abort(txn);
    if (status != ND_OK && !no_space)
        nd_store_break(store, err);
    return status;
}

/* A step, in a transaction of its own. */
static enum nd_status step(struct nd_store *store,
                           enum nd_status (*change)(struct compaction *run, struct nd_txn *txn,
                                                    struct nd_error *err),
                           struct compaction *run, struct nd_error *err)
{
    struct nd_segments_end begin = nd_segments_end(store->segments);
    struct nd_txn *txn;
    enum nd_status status = check_unbroken(store, err);

    if (status == ND_OK)
        status = nd_catalog_begin(store->catalog, true, &txn, err);
    if (status != ND_OK)
        return status;
    status = change(run, txn, err);
    if (status == ND_OK)
        status = commit(store, txn, err);
    else
        nd_catalog_abort(txn);
    if (status != ND_OK)
        nd_segments_rewind(store->segments, begin);
    return status;
}

static enum nd_status change_nothing(struct compaction *run, struct nd_txn *txn,
                                     struct nd_error *err)
{
    (void)run;
    (void)txn;
    (void)err;
    return ND_OK;
}

/* If the segment is appended to, another one is begun. */
static enum nd_status leave_segment(struct nd_store *store, void *context, struct nd_error *err)
{
    struct compaction *run = context;

    if (nd_segments_end(store->segments).segment != run->segment)
        return ND_OK;
    nd_segments_turn(store->segments);
    return step(store, change_nothing, run, err);
}

/* Copy the text of an entry that is still in the segment. */
static enum nd_status copy_text(struct compaction *run, struct nd_txn *txn, uint32_t number,
                                struct nd_error *err)
{
    struct nd_entry entry;
    struct nd_text_place place;
    bool no_space;
    int found = nd_catalog_get_entry(txn, number, &entry, err);
    enum nd_status status;

    if (found <= 0 || entry.text.segment != run->segment)
        return found < 0 ? (enum nd_status)found : ND_OK;
    status = nd_segments_read_record(run->store->segments, &entry.text, &run->record, err);
    if (status == ND_OK)
        status = nd_segments_append(run->store->segments,
                                    (struct nd_view){run->record.data, run->record.len}, &place,
                                    &no_space, err);
    if (status != ND_OK)
        return status;
    run->copied += place.stored;
    entry.text = place;
    status = nd_catalog_put_entry(txn, number, &entry, err);
    if (status == ND_OK)
        status = count_live(txn, run->segment, -(int64_t)place.stored, err);
    return status == ND_OK ? count_live(txn, place.segment, place.stored, err) : status;
}

static enum nd_status copy_some(struct compaction *run, struct nd_txn *txn, struct nd_error *err)
{
    uint64_t before = run->copied;
    size_t end = run->next + STEP_ENTRIES < run->n ? run->next + STEP_ENTRIES : run->n;
    enum nd_status status = ND_OK;

    while (status == ND_OK && run->next < end && run->copied - before < STEP_BYTES)
        status = copy_text(run, txn, run->entry[run->next++], err);
    return status;
}

static enum nd_status copy_step(struct nd_store *store, void *context, struct nd_error *err)
{
    return step(store, copy_some, context, err);
}

/* The segment is no more. */
static enum nd_status delete_row(struct compaction *run, struct nd_txn *txn, struct nd_error *err)
{
    return nd_catalog_delete_segment(txn, run->segment, err);
}

static enum nd_status forget_segment(struct nd_store *store, void *context, struct nd_error *err)
{
    return step(store, delete_row, context, err);
}

/* ---- One segment ---- */

static enum nd_status is_stopped(const struct compaction *run, struct nd_error *err)
{
    if (atomic_load(&run->compactor->is_stopping))
        return nd_fail(err, ND_ECANCELLED, "the store is being closed");
    return ND_OK;
}

/* The entries whose texts are in the segment, of which there will be only fewer. */
static enum nd_status find_entries(struct compaction *run, struct nd_error *err)
{
    struct nd_txn *txn;
    struct nd_entry entry;
    uint32_t number = 0;
    int found;
    enum nd_status status = nd_catalog_begin(run->store->catalog, false, &txn, err);

    if (status != ND_OK)
        return status;
    while ((found = nd_catalog_next_entry(txn, &number, &entry, err)) > 0) {
        if (entry.text.segment == run->segment) {
            if (!ND_RESERVE(run->entry, &run->capacity, run->n + 1)) {
                found = nd_fail(err, ND_ENOMEM, "out of memory");
                break;
            }
            run->entry[run->n++] = number;
        }
        if (number++ == UINT32_MAX || is_stopped(run, err) != ND_OK) {
            found = number ? ND_ECANCELLED : 0;
            break;
        }
    }
    nd_catalog_abort(txn);
    return found < 0 ? (enum nd_status)found : ND_OK;
}

static enum nd_status copy_all(struct compaction *run, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    while (status == ND_OK && run->next < run->n) {
        status = is_stopped(run, err);
        if (status == ND_OK)
            status = nd_store_run(run->store, copy_step, run, err);
    }
    return status;
}

/* Nothing may be removed that the rows call live.  *moment: nobody who begins to read from now on
 * finds the segment named. */
static enum nd_status check_dead(const struct compaction *run, uint64_t *moment,
                                 struct nd_error *err)
{
    struct nd_segment_row row;
    struct nd_txn *txn;
    int found;
    enum nd_status status = nd_catalog_begin(run->store->catalog, false, &txn, err);

    if (status != ND_OK)
        return status;
    *moment = nd_catalog_moment(txn);
    found = get_row(txn, run->segment, &row, err);
    nd_catalog_abort(txn);
    if (found < 0)
        return (enum nd_status)found;
    if (!found || row.live_bytes)
        return nd_fail(err, ND_EINPUT,
                       "segment %" PRIu32 ": all its texts were copied, and still %" PRIu64
                       " bytes of it count as live: check the store",
                       run->segment, found ? row.live_bytes : 0);
    return ND_OK;
}

/* False: somebody reads on. */
static bool wait_for_readers(const struct compaction *run, uint64_t moment)
{
    struct nd_monitor *monitor = &run->compactor->monitor;
    uint64_t until = nd_monotonic_ms() + READERS_WAIT_MS;
    bool reads = nd_catalog_is_read_before(run->store->catalog, moment);

    nd_monitor_enter(monitor);
    while (reads && nd_monotonic_ms() < until && !atomic_load(&run->compactor->is_stopping)) {
        (void)nd_monitor_wait_until(monitor, nd_monotonic_ms() + READERS_LOOK_MS);
        reads = nd_catalog_is_read_before(run->store->catalog, moment);
    }
    nd_monitor_leave(monitor);
    return !reads;
}

static enum nd_status rewrite(struct compaction *run, uint64_t *freed, struct nd_error *err)
{
    struct nd_store *store = run->store;
    uint64_t bytes, moment = 0;
    enum nd_status status = nd_store_run(store, leave_segment, run, err);

    if (status == ND_OK)
        status = find_entries(run, err);
    if (status == ND_OK)
        status = copy_all(run, err);
    if (status == ND_OK)
        status = check_dead(run, &moment, err);
    if (status != ND_OK || !wait_for_readers(run, moment))
        return status;
    bytes = nd_segments_bytes(store->segments, run->segment);
    status = nd_segments_remove(store->segments, run->segment, err);
    if (status == ND_OK)
        status = nd_store_run(store, forget_segment, run, err);
    if (status == ND_OK && bytes > run->copied)
        *freed += bytes - run->copied;
    return status;
}

/* ---- All of them ---- */

struct segment_list {
    uint32_t *segment;
    size_t n, capacity;
};

/* Segments with dead texts: all, or those where they have been dead for long enough. */
static enum nd_status find_segments(struct nd_store *store, bool all, struct segment_list *list,
                                    struct nd_error *err)
{
    uint64_t now = nd_store_now(store), after = store->options.compact_after_s;
    struct nd_segment_row row;
    struct nd_txn *txn;
    uint32_t number = 0;
    int found;
    enum nd_status status = nd_catalog_begin(store->catalog, false, &txn, err);

    if (status != ND_OK)
        return status;
    while ((found = nd_catalog_next_segment(txn, &number, &row, err)) > 0) {
        bool is_due = now >= row.dead_since && now - row.dead_since >= after;

        if (row.dead_bytes && (all || is_due)) {
            if (!ND_RESERVE(list->segment, &list->capacity, list->n + 1)) {
                found = nd_fail(err, ND_ENOMEM, "out of memory");
                break;
            }
            list->segment[list->n++] = number;
        }
        if (number++ == UINT32_MAX)
            break;
    }
    nd_catalog_abort(txn);
    return found < 0 ? (enum nd_status)found : ND_OK;
}

static enum nd_status compact(struct nd_compactor *c, bool all, uint64_t *freed,
                              struct nd_error *err)
{
    struct segment_list list = {0};
    enum nd_status status = find_segments(c->store, all, &list, err);

    for (size_t i = 0; status == ND_OK && i < list.n; i++) {
        struct compaction run = {.store = c->store, .compactor = c, .segment = list.segment[i]};

        status = rewrite(&run, freed, err);
        nd_buffer_release(&run.record);
        free(run.entry);
    }
    free(list.segment);
    return status;
}

/* One thread at a time. */
static enum nd_status compact_alone(struct nd_compactor *c, bool all, uint64_t *freed,
                                    struct nd_error *err)
{
    enum nd_status status;

    nd_monitor_enter(&c->monitor);
    while (c->is_running)
        nd_monitor_wait(&c->monitor);
    c->is_running = true;
    nd_monitor_leave(&c->monitor);
    status = compact(c, all, freed, err);
    nd_monitor_enter(&c->monitor);
    c->is_running = false;
    nd_monitor_notify(&c->monitor);
    nd_monitor_leave(&c->monitor);
    return status;
}

enum nd_status nd_store_compact(struct nd_store *store, bool all, uint64_t *bytes_freed,
                                struct nd_error *err)
{
    uint64_t freed = 0;
    enum nd_status status;

    if (!store->compactor)
        return nd_fail(err, ND_EINVAL, "%s: the store was opened to be read only", store->folder);
    status = compact_alone(store->compactor, all, &freed, err);
    if (status == ND_OK)
        *bytes_freed = freed;
    return status;
}

/* ---- By the clock ---- */

/*
 * Look for work from time to time. A failure is tried again at the next look: a writer says why it
 * fails, to those who write.
 */
static void look_now_and_then(void *context)
{
    struct nd_compactor *c = context;
    uint64_t next = nd_monotonic_ms() + c->period_ms, freed = 0;

    while (!atomic_load(&c->is_stopping)) {
        nd_monitor_enter(&c->monitor);
        while (!atomic_load(&c->is_stopping) && nd_monotonic_ms() < next)
            (void)nd_monitor_wait_until(&c->monitor, next);
        nd_monitor_leave(&c->monitor);
        if (!atomic_load(&c->is_stopping))
            (void)compact_alone(c, false, &freed, NULL);
        next = nd_monotonic_ms() + c->period_ms;
    }
}

struct nd_compactor *nd_compactor_start(struct nd_store *store, unsigned period_ms,
                                        struct nd_error *err)
{
    struct nd_compactor *c = calloc(1, sizeof *c);

    if (!c) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    nd_monitor_init(&c->monitor);
    c->store = store;
    c->period_ms = period_ms;
    c->has_thread = nd_thread_start(&c->thread, look_now_and_then, c);
    if (c->has_thread)
        return c;
    nd_fail(err, ND_ENOMEM, "the thread that compacts a store cannot be started");
    nd_compactor_stop(c);
    return NULL;
}

void nd_compactor_stop(struct nd_compactor *c)
{
    if (!c)
        return;
    nd_monitor_enter(&c->monitor);
    atomic_store(&c->is_stopping, true);
    nd_monitor_notify(&c->monitor);
    nd_monitor_leave(&c->monitor);
    if (c->has_thread)
        nd_thread_join(&c->thread);
    nd_monitor_release(&c->monitor);
    free(c);
}
