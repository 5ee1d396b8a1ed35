/* snapshots.h - snapshots of the index, written beside the writer and checked beside the readers */
#ifndef ND_STORE_WRITE_SNAPSHOTS_H
#define ND_STORE_WRITE_SNAPSHOTS_H

#include "store/read/store_state.h"

#define ND_SNAPSHOT_FILE "index.snapshot"

/* The note of a snapshot, which has every entry below `next_entry` as of this commit. */
struct nd_snapshot_note {
    uint64_t commit;
    uint64_t recipe; /* the fingerprint of its sketches */
    uint32_t next_entry, version;
};
enum { ND_SNAPSHOT_NOTE_VERSION = 1 };

/* The threads of a store that write and check snapshots: at most one of each. */
struct nd_snapshots;
struct nd_snapshots *nd_snapshots_new(struct nd_store *store); /* NULL: out of memory */
/* Waits for both. */
void nd_snapshots_free(struct nd_snapshots *snapshots);

/* Compare the checksums of the snapshot that the index was opened from, beside everything else.  If
 * one is wrong, have the writer's thread renew the index. */
void nd_snapshots_check(struct nd_snapshots *snapshots,
                        enum nd_status (*renew)(struct nd_store *store, void *context,
                                                struct nd_error *err));

/*
 * ---- For the writer's thread, between two transactions ----
 */
/* When the next snapshot is to be begun, by nd_monotonic_ms; 0: never. */
uint64_t nd_snapshots_next(const struct nd_snapshots *snapshots, uint64_t commit);
/* Begin one, of this commit, if it is time and none is being written. */
void nd_snapshots_begin(struct nd_snapshots *snapshots, uint64_t commit, uint32_t next_entry);
/* Wait for the next time. */
void nd_snapshots_put_off(struct nd_snapshots *snapshots);
/* The commit of the newest snapshot that is whole; 0: there is none. */
uint64_t nd_snapshots_saved(struct nd_snapshots *snapshots);
/* Write one now, unless the newest one has this commit. */
enum nd_status nd_snapshots_save(struct nd_snapshots *snapshots, uint64_t commit,
                                 uint32_t next_entry, struct nd_error *err);
/* A snapshot of this commit was opened; 0: there is none any more. */
void nd_snapshots_was_opened(struct nd_snapshots *snapshots, uint64_t commit);

/* When the newest one was written, in seconds since 1970; 0: there is none. */
uint64_t nd_snapshots_time(const struct nd_store *store);

#endif
