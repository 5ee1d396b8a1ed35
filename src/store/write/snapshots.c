/* snapshots.c - snapshots of the index, written beside the writer and checked beside the readers
 *
 * The writer's thread freezes the index, which takes as long as copying a byte for each entry, and
 * goes on; another thread writes the file.  So a snapshot is of one commit, whatever comes after it.
 */
#include "store/write/snapshots.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "index/live.h"

struct nd_snapshots {
    struct nd_store *store;
    uint64_t begun_ms; /* when the last one was begun */

    struct nd_thread writing;
    bool has_writing; /* the thread is to be joined */
    struct nd_index *frozen;
    struct nd_snapshot_note note;

    struct nd_thread checking;
    bool has_checking;
    enum nd_status (*renew)(struct nd_store *store, void *context, struct nd_error *err);

    struct nd_monitor monitor; /* of: */
    bool is_writing, is_closing;
    uint64_t saved; /* the commit of the newest snapshot */
};

struct nd_snapshots *nd_snapshots_new(struct nd_store *store)
{
    struct nd_snapshots *snapshots = calloc(1, sizeof *snapshots);

    if (!snapshots)
        return NULL;
    snapshots->store = store;
    snapshots->begun_ms = nd_monotonic_ms();
    nd_monitor_init(&snapshots->monitor);
    return snapshots;
}

static void join_writing(struct nd_snapshots *snapshots)
{
    if (snapshots->has_writing)
        nd_thread_join(&snapshots->writing);
    snapshots->has_writing = false;
}

void nd_snapshots_free(struct nd_snapshots *snapshots)
{
    if (!snapshots)
        return;
    nd_monitor_enter(&snapshots->monitor);
    snapshots->is_closing = true;
    nd_monitor_leave(&snapshots->monitor);
    join_writing(snapshots);
    if (snapshots->has_checking)
        nd_thread_join(&snapshots->checking);
    nd_monitor_release(&snapshots->monitor);
    free(snapshots);
}

/* ---- Writing ---- */

static enum nd_status save(struct nd_snapshots *snapshots, const struct nd_index *index,
                           const struct nd_snapshot_note *note, struct nd_error *err)
{
    char *path = nd_store_path(snapshots->store, ND_SNAPSHOT_FILE, err);
    enum nd_status status = path ? nd_index_save(index, path, note, sizeof *note, err) : ND_ENOMEM;

    free(path);
    nd_monitor_enter(&snapshots->monitor);
    if (status == ND_OK)
        snapshots->saved = note->commit;
    snapshots->is_writing = false;
    nd_monitor_leave(&snapshots->monitor);
    return status;
}

/* A snapshot that cannot be written is tried again at its next time. */
static void write_frozen(void *context)
{
    struct nd_snapshots *snapshots = context;

    (void)save(snapshots, snapshots->frozen, &snapshots->note, NULL);
    nd_index_free(snapshots->frozen);
    snapshots->frozen = NULL;
}

static struct nd_snapshot_note note_of(const struct nd_snapshots *snapshots, uint64_t commit,
                                       uint32_t next_entry)
{
    return (struct nd_snapshot_note){.commit = commit,
                                     .recipe = snapshots->store->sketching.fingerprint,
                                     .next_entry = next_entry,
                                     .version = ND_SNAPSHOT_NOTE_VERSION};
}

static bool is_writing(struct nd_snapshots *snapshots)
{
    bool is_writing;

    nd_monitor_enter(&snapshots->monitor);
    is_writing = snapshots->is_writing;
    nd_monitor_leave(&snapshots->monitor);
    return is_writing;
}

uint64_t nd_snapshots_saved(struct nd_snapshots *snapshots)
{
    uint64_t saved;

    nd_monitor_enter(&snapshots->monitor);
    saved = snapshots->saved;
    nd_monitor_leave(&snapshots->monitor);
    return saved;
}

uint64_t nd_snapshots_next(const struct nd_snapshots *snapshots, uint64_t commit)
{
    uint64_t every = snapshots->store->options.snapshot_every_s;

    if (every == 0 || commit == snapshots->note.commit)
        return 0;
    return snapshots->begun_ms + every * 1000;
}

void nd_snapshots_put_off(struct nd_snapshots *snapshots)
{
    snapshots->begun_ms = nd_monotonic_ms();
}

void nd_snapshots_begin(struct nd_snapshots *snapshots, uint64_t commit, uint32_t next_entry)
{
    nd_snapshots_put_off(snapshots);
    if (is_writing(snapshots))
        return;
    join_writing(snapshots);
    snapshots->frozen = nd_index_freeze(snapshots->store->index, NULL);
    if (!snapshots->frozen)
        return;
    snapshots->note = note_of(snapshots, commit, next_entry);
    snapshots->is_writing = true;
    snapshots->has_writing = nd_thread_start(&snapshots->writing, write_frozen, snapshots);
    if (snapshots->has_writing)
        return;
    nd_index_free(snapshots->frozen);
    snapshots->frozen = NULL;
    snapshots->is_writing = false;
    snapshots->note.commit = 0;
}

enum nd_status nd_snapshots_save(struct nd_snapshots *snapshots, uint64_t commit,
                                 uint32_t next_entry, struct nd_error *err)
{
    struct nd_snapshot_note note = note_of(snapshots, commit, next_entry);

    join_writing(snapshots);
    if (snapshots->saved == commit)
        return ND_OK;
    return save(snapshots, snapshots->store->index, &note, err);
}

void nd_snapshots_was_opened(struct nd_snapshots *snapshots, uint64_t commit)
{
    snapshots->note.commit = commit;
    nd_monitor_enter(&snapshots->monitor);
    snapshots->saved = commit;
    nd_monitor_leave(&snapshots->monitor);
}

uint64_t nd_snapshots_time(const struct nd_store *store)
{
    char *path = nd_store_path(store, ND_SNAPSHOT_FILE, NULL);
    struct stat about;
    bool is_there = path && stat(path, &about) == 0;

    free(path);
    return is_there ? (uint64_t)about.st_mtime : 0;
}

/* ---- Checking ---- */

static bool is_closing(struct nd_snapshots *snapshots)
{
    bool is_closing;

    nd_monitor_enter(&snapshots->monitor);
    is_closing = snapshots->is_closing;
    nd_monitor_leave(&snapshots->monitor);
    return is_closing;
}

/* Chunk by chunk, until the store is closed. */
static void check_chunks(void *context)
{
    struct nd_snapshots *snapshots = context;
    enum nd_status status = ND_OK;
    size_t n_left = 1;

    while (n_left && status == ND_OK && !is_closing(snapshots))
        status = nd_index_check(snapshots->store->index, 1, &n_left, NULL);
    if (status != ND_OK && !is_closing(snapshots))
        (void)nd_store_run(snapshots->store, snapshots->renew, NULL, NULL);
}

void nd_snapshots_check(struct nd_snapshots *snapshots,
                        enum nd_status (*renew)(struct nd_store *store, void *context,
                                                struct nd_error *err))
{
    snapshots->renew = renew;
    snapshots->has_checking = nd_thread_start(&snapshots->checking, check_chunks, snapshots);
}
