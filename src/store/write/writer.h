/* writer.h - the thread that decides and commits: one transaction at a time */
#ifndef ND_STORE_WRITE_WRITER_H
#define ND_STORE_WRITE_WRITER_H

#include "store/read/callers.h"
#include "store/read/reader.h"
#include "store/read/store_state.h"
#include "store/search/leaders.h"
#include "store/search/search.h"
#include "store/write/write.h"

/* Rows that many writes change, written at the commit. */
enum { ND_COUNTS_HELD = 32 };
struct nd_held_counts {
    uint32_t set;
    struct nd_set_counts counts;
};
struct nd_held_segment {
    uint32_t segment;
    struct nd_segment_row row;
};

/* The working memory of the writer's thread; no other one uses it. */
struct nd_writer {
    struct nd_store *store;
    struct nd_sketch_maker maker;
    struct nd_search search;
    struct nd_leaders leaders;
    struct nd_reader reader;
    struct nd_arena answer;   /* the verdict at hand */
    struct nd_hit_pair *pair; /* of the entry at hand */
    size_t pair_capacity;
    struct nd_set_list all, visible; /* all label sets; those of the caller at hand */
    uint32_t next_entry;             /* the next number of the index; none is used twice */
    uint32_t committed_entry;        /* the same in the database: less, after a failure */
    uint64_t trimmed;                /* removals up to this commit are forgotten */

    /* The transaction that is open. */
    bool is_open;
    bool has_changed; /* it has something to commit */
    bool has_text;    /* texts were appended */
    struct nd_catalog_state state;
    struct nd_segments_end begin; /* where the texts of this transaction begin */
    uint64_t now;
    uint64_t deadline; /* of nd_monotonic_ms, where durability waits */
    size_t n_writes, n_bytes;
    struct nd_set_list added; /* numbers that were inserted into the index */
    struct nd_set_list gone;  /* entries that were deleted, and are still in the index */
    struct nd_set_list crowd; /* of them, those that are found by more than their identity */
    struct nd_held_counts counts[ND_COUNTS_HELD];
    size_t n_counts;
    struct nd_held_segment segment[ND_COUNTS_HELD];
    size_t n_segments;
};

/* False: *err says why; nd_writer_release frees what was made. */
bool nd_writer_init(struct nd_writer *writer, struct nd_store *store, struct nd_error *err);
void nd_writer_release(struct nd_writer *writer);

/* Decide a write within the open transaction; the write has its result.  Another status than ND_OK
 * is a failure of the whole transaction. */
enum nd_status nd_writer_decide(struct nd_writer *writer, struct nd_write *write, bool *no_space,
                                struct nd_error *err);
/* Store pairs of a new entry with the hits of the search, and say in entry->has_led whether it leads in
 * its label set. */
enum nd_status nd_writer_put_pairs(struct nd_writer *writer, uint32_t number,
                                   struct nd_entry *entry, struct nd_error *err);
/* Write the rows that are held. */
enum nd_status nd_writer_flush(struct nd_writer *writer, struct nd_error *err);

/* Write a snapshot of the index, after the thread has ended. */
enum nd_status nd_writer_save_index(struct nd_writer *writer, struct nd_error *err);

/* The thread, until the queue is closing and empty. */
void nd_writer_run(void *store);

#endif
