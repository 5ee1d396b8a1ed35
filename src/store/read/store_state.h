/* store_state.h - an open store, and how its threads share it */
#ifndef ND_STORE_READ_STORE_STATE_H
#define ND_STORE_READ_STORE_STATE_H

#include <stdatomic.h>

#include "base/system/threads.h"
#include "base/thread/pool.h"
#include "base/thread/thread.h"
#include "index/live.h"
#include "store/catalog/catalog.h"
#include "store/catalog/label_sets.h"
#include "store/search/quotes.h"
#include "store/search/signed_entries.h"
#include "store/search/sketching.h"
#include "store/segments/segments.h"
#include "store/store.h"

struct nd_snapshots;
struct nd_writer;
struct nd_compactor;
struct nd_store_tables;

/* Writes that were submitted together, or a job. */
struct nd_submission {
    struct nd_submission *next;
    struct nd_write **write; /* a copy of the list */
    size_t n, bytes;
    void (*done)(void *context);
    enum nd_status (*job)(struct nd_store *store, void *context, struct nd_error *err);
    void *context;
};

/*
 * The work that waits for the writer's thread. Everything is read and written within the monitor.
 */
struct nd_write_queue {
    struct nd_monitor monitor;
    struct nd_submission *first, **end;
    size_t documents, bytes; /* that wait or are being written */
    bool is_closing;
    enum nd_store_result broken; /* ND_STORE_OK: it is not; else no write is taken any more */
    struct nd_error why;
    uint64_t commits, writes, syncs; /* since it was opened */
    bool is_full;                    /* the last write found no space on the disk … */
    uint64_t free_bytes;             /* … where so many bytes were free */
};

struct nd_store {
    char *folder;
    int folder_lock; /* a file; -1: none */
    struct nd_store_options options;
    struct nd_recipe *recipe;
    struct nd_store_tables *tables; /* that it needs */
    struct nd_sketching sketching;
    struct nd_store_reads reads;
    struct nd_catalog *catalog;
    struct nd_segments *segments;
    struct nd_label_sets *sets; /* those of the database, and new ones that are not committed */

    /*
     * Readers query the index under the lock; the writer's thread, the only one that changes it,
     * takes the lock to write only where it does.  An entry is inserted before the commit that has
     * it, and removed after the commit that has not: `commit` is the last one that was removed for.
     */
    struct nd_rwlock *index_lock;
    struct nd_index *index;              /* NULL: the store was opened to be read only */
    struct nd_signed_entries signatures; /* of the same entries, under the same lock */
    struct nd_contained contained;       /* the same; nothing without containment */
    uint64_t commit;

    struct nd_write_queue queue;
    struct nd_writer *writer;
    struct nd_thread thread;
    bool has_thread;
    struct nd_compactor *compactor; /* NULL: the store was opened to be read only */
    struct nd_snapshots *snapshots;
    double open_seconds;
    bool opened_from_snapshot;
};

/* By the store's clock, in seconds since 1970. */
uint64_t nd_store_now(const struct nd_store *store);
/* The path of a file in the store's folder; the caller frees it.  NULL: out of memory. */
char *nd_store_path(const struct nd_store *store, const char *name, struct nd_error *err);

/* As a result, for whoever called. */
enum nd_store_result nd_store_result_of(enum nd_status status);
/* Fill *err, which may be NULL, and return the result. */
enum nd_store_result nd_store_fail(struct nd_error *err, enum nd_store_result result,
                                   const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Take no writes any more, until the store is opened again: what the disk has is not known. */
void nd_store_break(struct nd_store *store, const struct nd_error *why);

/*
 * Have the writer's thread call job(store, context, err), between two batches: nothing is being
 * written, and it may begin a transaction of its own.  Returns what it returns, once it has.
 */
enum nd_status nd_store_run(struct nd_store *store,
                            enum nd_status (*job)(struct nd_store *store, void *context,
                                                  struct nd_error *err),
                            void *context, struct nd_error *err);

#endif
