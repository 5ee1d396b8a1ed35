/* writer.c - the thread that decides and commits: writes of many callers in one transaction
 *
 * It takes what waits, up to a bound, decides it in order, syncs the texts, commits the rows, removes
 * deleted entries from the index, and calls `done`.  So many writers share the syncs.  Nothing is
 * acknowledged before the commit, unless the store was opened with an interval: then writes are
 * acknowledged once they are decided, and the transaction stays open until the interval is over.
 */
#include "store/write/writer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "index/live.h"
#include "store/write/snapshots.h"

enum {
    BATCH_DOCUMENTS = 1000,
    /* With waiting durability, a transaction is committed at this size even before its time. */
    BYTES_OPEN_MAX = 64 << 20
};

bool nd_writer_init(struct nd_writer *w, struct nd_store *store, struct nd_error *err)
{
    *w = (struct nd_writer){.store = store};
    if (!nd_sketch_maker_init(&w->maker, &store->sketching, err))
        return false;
    if (nd_search_init(&w->search, &w->maker) && nd_reader_init(&w->reader, store->segments))
        return true;
    nd_fail(err, ND_ENOMEM, "out of memory for the writer of a store");
    return false;
}

void nd_writer_release(struct nd_writer *w)
{
    nd_leaders_release(&w->leaders);
    nd_search_release(&w->search);
    nd_reader_release(&w->reader);
    nd_arena_release(&w->answer);
    nd_sketch_maker_release(&w->maker);
    free(w->pair);
    free(w->all.number);
    free(w->visible.number);
    free(w->added.number);
    free(w->gone.number);
    free(w->crowd.number);
}

/* ---- A transaction ---- */

static enum nd_status begin(struct nd_writer *w, struct nd_error *err)
{
    enum nd_status status = nd_catalog_begin(w->store->catalog, true, &w->reader.txn, err);

    if (status != ND_OK)
        return status;
    w->is_open = true;
    w->has_changed = w->has_text = false;
    w->begin = nd_segments_end(w->store->segments);
    w->now = nd_store_now(w->store);
    w->n_writes = w->n_bytes = 0;
    w->added.n = w->gone.n = w->crowd.n = 0;
    w->n_counts = w->n_segments = 0;
    w->deadline = nd_monotonic_ms() + w->store->options.durability_interval_ms;
    return nd_catalog_get_state(w->reader.txn, &w->state, err);
}

/* The lock is held. */
static void forget(struct nd_store *store, uint32_t number)
{
    (void)nd_index_delete(store->index, number, NULL);
    nd_signed_entries_remove(&store->signatures, number);
    nd_contained_remove(&store->contained, number);
}

/* Nothing of the transaction is to be seen any more. */
static void give_up(struct nd_writer *w)
{
    if (!w->is_open)
        return;
    if (w->reader.txn)
        nd_catalog_abort(w->reader.txn);
    w->reader.txn = NULL;
    if (w->has_text)
        nd_segments_rewind(w->store->segments, w->begin);
    nd_rwlock_write(w->store->index_lock);
    for (size_t i = 0; i < w->added.n; i++)
        forget(w->store, w->added.number[i]);
    nd_rwlock_unlock(w->store->index_lock);
    w->is_open = false;
}

/* Forget the removals that the newest snapshot has seen. */
static enum nd_status trim(struct nd_writer *w, struct nd_error *err)
{
    uint64_t saved = nd_snapshots_saved(w->store->snapshots);
    enum nd_status status = ND_OK;

    if (saved > w->trimmed)
        status = nd_catalog_trim_removals(w->reader.txn, saved + 1, err);
    w->trimmed = saved;
    return status;
}

static enum nd_status put_state(struct nd_writer *w, struct nd_error *err)
{
    uint32_t n_sets = nd_label_sets_count(w->store->sets);
    enum nd_status status = nd_writer_flush(w, err);

    if (status == ND_OK)
        status = trim(w, err);
    for (uint32_t set = w->state.n_label_sets; status == ND_OK && set < n_sets; set++)
        status = nd_catalog_put_label_set(w->reader.txn, set,
                                          nd_label_sets_bytes(w->store->sets, set), err);
    w->state.n_label_sets = n_sets;
    w->state.commit++;
    w->state.next_entry = w->next_entry;
    w->state.segments = nd_segments_end(w->store->segments);
    return status == ND_OK ? nd_catalog_put_state(w->reader.txn, &w->state, err) : status;
}

/* Take deleted entries out of the index; readers of the new commit find the index at it. */
static void apply_removals(struct nd_writer *w)
{
    nd_rwlock_write(w->store->index_lock);
    for (size_t i = 0; i < w->gone.n; i++)
        forget(w->store, w->gone.number[i]);
    w->store->commit = w->state.commit;
    nd_rwlock_unlock(w->store->index_lock);
}

/* *is_lost: after a sync that failed, what the disk has is not known. */
static enum nd_status commit(struct nd_writer *w, bool *no_space, bool *is_lost,
                             struct nd_error *err)
{
    enum nd_status status = put_state(w, err);

    *no_space = *is_lost = false;
    if (status == ND_OK && w->has_text) {
        status = nd_segments_sync(w->store->segments, no_space, err);
        *is_lost = status != ND_OK && !*no_space;
    }
    if (status == ND_OK) {
        status = nd_catalog_commit(w->reader.txn, no_space, err);
        w->reader.txn = NULL;
        *is_lost = status != ND_OK && !*no_space;
    }
    if (status != ND_OK) {
        give_up(w);
        return status;
    }
    apply_removals(w);
    w->is_open = false;
    w->committed_entry = w->state.next_entry;
    nd_monitor_enter(&w->store->queue.monitor);
    w->store->queue.commits++;
    w->store->queue.is_full = false;
    w->store->queue.syncs += 1 + w->has_text;
    nd_monitor_leave(&w->store->queue.monitor);
    return ND_OK;
}

/* Commit what is open, if it has changed anything. */
static enum nd_status end(struct nd_writer *w, bool *no_space, bool *is_lost, struct nd_error *err)
{
    *no_space = *is_lost = false;
    if (w->has_changed)
        return commit(w, no_space, is_lost, err);
    give_up(w);
    return ND_OK;
}

/* ---- Snapshots of the index ---- */

/* The database knows of all numbers of the index; after a transaction that failed, it needs to be
 * told. */
static enum nd_status commit_numbers(struct nd_writer *w, struct nd_error *err)
{
    bool no_space, is_lost;
    enum nd_status status;

    if (w->next_entry == w->committed_entry)
        return ND_OK;
    status = begin(w, err);
    if (status == ND_OK)
        return commit(w, &no_space, &is_lost, err);
    give_up(w);
    return status;
}

enum nd_status nd_writer_save_index(struct nd_writer *w, struct nd_error *err)
{
    enum nd_status status = commit_numbers(w, err);

    return status == ND_OK
               ? nd_snapshots_save(w->store->snapshots, w->store->commit, w->next_entry, err)
               : status;
}

/* When the next one is due; 0: none. */
static uint64_t next_snapshot(const struct nd_writer *w)
{
    return nd_snapshots_next(w->store->snapshots, w->store->commit);
}

static void save_at_its_time(struct nd_writer *w)
{
    uint64_t next = next_snapshot(w);

    if (w->is_open || !next || nd_monotonic_ms() < next)
        return;
    if (commit_numbers(w, NULL) == ND_OK)
        nd_snapshots_begin(w->store->snapshots, w->store->commit, w->next_entry);
    else
        nd_snapshots_put_off(w->store->snapshots);
}

/* ---- The queue ---- */

void nd_store_break(struct nd_store *store, const struct nd_error *why)
{
    nd_monitor_enter(&store->queue.monitor);
    store->queue.broken = ND_STORE_FAILED;
    store->queue.why = *why;
    nd_monitor_leave(&store->queue.monitor);
}

/* Take what waits, up to a bound; NULL: nothing came before the deadline, 0: none. */
static struct nd_submission *take(struct nd_write_queue *queue, uint64_t deadline, bool *is_closing)
{
    struct nd_submission *first;
    size_t n = 0;

    nd_monitor_enter(&queue->monitor);
    while (!queue->first && !queue->is_closing) {
        if (!deadline)
            nd_monitor_wait(&queue->monitor);
        else if (!nd_monitor_wait_until(&queue->monitor, deadline))
            break;
    }
    *is_closing = queue->is_closing && !queue->first;
    first = queue->first;
    for (struct nd_submission *s = first; s; s = s->next) {
        bool is_alone = s->job || (s->next && s->next->job);

        n += s->n;
        if (n >= BATCH_DOCUMENTS || is_alone) {
            queue->first = s->next;
            s->next = NULL;
        } else if (!s->next) {
            queue->first = NULL;
        }
    }
    if (!queue->first)
        queue->end = &queue->first;
    nd_monitor_leave(&queue->monitor);
    return first;
}

/* Call back, and forget the submissions. */
static void finish(struct nd_store *store, struct nd_submission *s)
{
    size_t documents = 0, bytes = 0;

    for (const struct nd_submission *x = s; x; x = x->next) {
        documents += x->n;
        bytes += x->bytes;
    }
    nd_monitor_enter(&store->queue.monitor);
    store->queue.documents -= documents;
    store->queue.bytes -= bytes;
    store->queue.writes += documents;
    nd_monitor_leave(&store->queue.monitor);
    while (s) {
        struct nd_submission *next = s->next;

        s->done(s->context);
        free(s->write);
        free(s);
        s = next;
    }
}

static void fail_all(struct nd_submission *s, enum nd_store_result result,
                     const struct nd_error *why)
{
    for (; s; s = s->next)
        for (size_t i = 0; i < s->n; i++)
            nd_write_fail(s->write[i], result, why);
}

static void mark_durable(struct nd_submission *s)
{
    for (; s; s = s->next)
        for (size_t i = 0; i < s->n; i++)
            s->write[i]->result.is_durable = s->write[i]->result.result == ND_STORE_OK;
}

static enum nd_status decide_all(struct nd_writer *w, struct nd_submission *s, bool *no_space,
                                 struct nd_error *err)
{
    enum nd_status status = w->is_open ? ND_OK : begin(w, err);

    for (; s; s = s->next)
        for (size_t i = 0; status == ND_OK && i < s->n; i++) {
            w->n_writes++;
            w->n_bytes += nd_write_bytes(s->write[i]);
            status = nd_writer_decide(w, s->write[i], no_space, err);
        }
    return status;
}

static uint64_t free_bytes_of(const struct nd_store *store)
{
    struct statvfs disk;

    return statvfs(store->folder, &disk) == 0 ? (uint64_t)disk.f_bavail * disk.f_frsize : 0;
}

static void note_full(struct nd_store *store)
{
    const uint64_t bytes = free_bytes_of(store);

    nd_monitor_enter(&store->queue.monitor);
    store->queue.is_full = true;
    store->queue.free_bytes = bytes;
    nd_monitor_leave(&store->queue.monitor);
}

/* A transaction that failed: its writes are told; what was acknowledged before is lost, and so is
 * the store until it is opened again. */
static void fail_batch(struct nd_writer *w, struct nd_submission *s, enum nd_status status,
                       bool no_space, bool is_lost, bool had_acknowledged,
                       const struct nd_error *why)
{
    enum nd_store_result result = no_space ? ND_STORE_NO_SPACE : nd_store_result_of(status);

    if (result == ND_STORE_INVALID)
        result = ND_STORE_FAILED;
    if (no_space)
        note_full(w->store);
    if (is_lost || had_acknowledged)
        nd_store_break(w->store, why);
    fail_all(s, result, why);
}

/* Writes that are acknowledged once they are on disk. */
static void write_durably(struct nd_writer *w, struct nd_submission *s)
{
    bool no_space = false, is_lost = false;
    struct nd_error err = {.status = ND_EIO};
    enum nd_status status = decide_all(w, s, &no_space, &err);

    if (status == ND_OK)
        status = end(w, &no_space, &is_lost, &err);
    else
        give_up(w);
    if (status != ND_OK)
        fail_batch(w, s, status, no_space, is_lost, false, &err);
    else
        mark_durable(s);
}

/* Commit what is open at its time. */
static void end_open(struct nd_writer *w)
{
    bool no_space, is_lost;
    struct nd_error err = {.status = ND_EIO};
    enum nd_status status;

    if (!w->is_open)
        return;
    status = end(w, &no_space, &is_lost, &err);
    if (status != ND_OK)
        fail_batch(w, NULL, status, no_space, is_lost, true, &err);
}

/* Writes that are acknowledged at once. */
static void write_soon(struct nd_writer *w, struct nd_submission *s)
{
    bool no_space = false, had_acknowledged = w->is_open && w->has_changed;
    struct nd_error err = {.status = ND_EIO};
    enum nd_status status = decide_all(w, s, &no_space, &err);

    if (status != ND_OK) {
        give_up(w);
        fail_batch(w, s, status, no_space, false, had_acknowledged, &err);
    } else if (nd_monotonic_ms() >= w->deadline || w->n_bytes >= BYTES_OPEN_MAX) {
        end_open(w);
    }
}

static bool is_broken(struct nd_write_queue *queue, struct nd_error *why)
{
    bool broken;

    nd_monitor_enter(&queue->monitor);
    broken = queue->broken != ND_STORE_OK;
    *why = queue->why;
    nd_monitor_leave(&queue->monitor);
    return broken;
}

static void work_on(struct nd_writer *w, struct nd_submission *s)
{
    struct nd_error why;

    if (s->job) {
        end_open(w);
        (void)s->job(w->store, s->context, NULL);
    } else if (is_broken(&w->store->queue, &why)) {
        fail_all(s, ND_STORE_FAILED, &why);
    } else if (w->store->options.durability_interval_ms) {
        write_soon(w, s);
    } else {
        write_durably(w, s);
    }
}

void nd_writer_run(void *context)
{
    struct nd_store *store = context;
    struct nd_writer *w = store->writer;
    bool is_closing = false;

    while (!is_closing) {
        struct nd_submission *s =
            take(&store->queue, w->is_open ? w->deadline : next_snapshot(w), &is_closing);

        if (s) {
            work_on(w, s);
            finish(store, s);
        }
        if (w->is_open && (is_closing || nd_monotonic_ms() >= w->deadline))
            end_open(w);
        save_at_its_time(w);
    }
}

/* ---- For other threads ---- */

static enum nd_store_result enqueue(struct nd_store *store, struct nd_submission *s,
                                    struct nd_error *err)
{
    struct nd_write_queue *queue = &store->queue;
    enum nd_store_result result = ND_STORE_OK;

    nd_monitor_enter(&queue->monitor);
    if (queue->is_closing)
        result = nd_store_fail(err, ND_STORE_FAILED, "the store is being closed");
    else if (queue->broken != ND_STORE_OK && !s->job)
        result = nd_store_fail(err, queue->broken,
                               "the store takes no writes until it is opened again: %s",
                               queue->why.message);
    else if (queue->documents && (queue->documents + s->n > store->options.queue_documents ||
                                  queue->bytes + s->bytes > store->options.queue_bytes))
        result =
            nd_store_fail(err, ND_STORE_BUSY, "%zu documents wait to be written", queue->documents);
    if (result == ND_STORE_OK) {
        *queue->end = s;
        queue->end = &s->next;
        queue->documents += s->n;
        queue->bytes += s->bytes;
        nd_monitor_notify(&queue->monitor);
    }
    nd_monitor_leave(&queue->monitor);
    return result;
}

enum nd_store_result nd_store_ready(struct nd_store *store, struct nd_error *err)
{
    const uint64_t free_now = free_bytes_of(store);
    struct nd_write_queue *queue = &store->queue;
    enum nd_store_result result = ND_STORE_OK;

    if (store->options.read_only)
        return ND_STORE_OK;
    nd_monitor_enter(&queue->monitor);
    if (queue->broken != ND_STORE_OK)
        result = nd_store_fail(err, queue->broken, "%s", queue->why.message);
    else if (queue->is_full && free_now <= queue->free_bytes)
        result = nd_store_fail(err, ND_STORE_NO_SPACE, "the disk of the store is full");
    else if (queue->documents >= store->options.queue_documents ||
             queue->bytes >= store->options.queue_bytes)
        result =
            nd_store_fail(err, ND_STORE_BUSY, "%zu documents wait to be written", queue->documents);
    nd_monitor_leave(&queue->monitor);
    return result;
}

enum nd_store_result nd_store_submit(struct nd_store *store, struct nd_write *const *writes,
                                     size_t n, void (*done)(void *context), void *context,
                                     struct nd_error *err)
{
    struct nd_submission *s = calloc(1, sizeof *s);
    enum nd_store_result result;

    if (!store->has_thread) {
        free(s);
        return nd_store_fail(err, ND_STORE_INVALID, "the store was opened to be read only");
    }
    if (s)
        s->write = nd_alloc_array(n + 1, sizeof(struct nd_write *));
    if (!s || !s->write) {
        free(s);
        return nd_store_fail(err, ND_STORE_NO_MEMORY, "out of memory for %zu writes", n);
    }
    for (size_t i = 0; i < n; i++) {
        s->write[i] = writes[i];
        s->bytes += nd_write_bytes(writes[i]);
    }
    s->n = n;
    s->done = done;
    s->context = context;
    result = enqueue(store, s, err);
    if (result != ND_STORE_OK) {
        free(s->write);
        free(s);
    }
    return result;
}

/* A job, and who waits for it. */
struct waiting {
    enum nd_status (*job)(struct nd_store *store, void *context, struct nd_error *err);
    void *context;
    struct nd_monitor monitor;
    bool is_done;
    enum nd_status status;
    struct nd_error err;
};

static enum nd_status run_job(struct nd_store *store, void *context, struct nd_error *err)
{
    struct waiting *waiting = context;

    (void)err;
    waiting->status = waiting->job(store, waiting->context, &waiting->err);
    return waiting->status;
}

static void job_is_done(void *context)
{
    struct waiting *waiting = context;

    nd_monitor_enter(&waiting->monitor);
    waiting->is_done = true;
    nd_monitor_notify(&waiting->monitor);
    nd_monitor_leave(&waiting->monitor);
}

static enum nd_status submit_job(struct nd_store *store, struct waiting *waiting,
                                 struct nd_error *err)
{
    struct nd_submission *s = calloc(1, sizeof *s);

    if (!s)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    s->job = run_job;
    s->done = job_is_done;
    s->context = waiting;
    if (enqueue(store, s, err) == ND_STORE_OK)
        return ND_OK;
    free(s);
    return ND_EIO;
}

enum nd_status nd_store_run(struct nd_store *store,
                            enum nd_status (*job)(struct nd_store *store, void *context,
                                                  struct nd_error *err),
                            void *context, struct nd_error *err)
{
    struct waiting waiting = {.job = job, .context = context};
    enum nd_status status;

    nd_monitor_init(&waiting.monitor);
    status = submit_job(store, &waiting, err);
    if (status == ND_OK) {
        nd_monitor_enter(&waiting.monitor);
        while (!waiting.is_done)
            nd_monitor_wait(&waiting.monitor);
        nd_monitor_leave(&waiting.monitor);
        status = waiting.status;
        if (status != ND_OK && err)
            *err = waiting.err;
    }
    nd_monitor_release(&waiting.monitor);
    return status;
}
