/* live.h - the live index from within: many rows at once, tables filled in parallel */
#ifndef ND_INDEX_LIVE_H
#define ND_INDEX_LIVE_H

#include <stdbool.h>

#include <neardup/index.h>

#include "base/thread/pool.h"
#include "index/index_row.h"

/*
 * At least so many low bytes agree in two documents of resemblance num / den or more: fewer do with
 * probability below 1e-15, if the minima are independent.
 */
unsigned nd_low_bytes_agreeing(uint64_t num, uint64_t den);

/* Give the next number to a row that no look-up finds yet.  ND_ENOMEM, ND_EUNSUPPORTED: nothing
 * changed. */
enum nd_status nd_index_append(struct nd_index *index, const struct nd_index_row *row,
                               uint32_t *number, struct nd_error *err);

/*
 * Let look-ups find these appended numbers; row[i] is what was appended as number[i].  The tables
 * are filled in parallel, each in the order given, so that the result is the same on any number of
 * threads; pool NULL: by the caller alone.  ND_ENOMEM: none of them is found.
 */
enum nd_status nd_index_list(struct nd_index *index, const uint32_t *number,
                             const struct nd_index_row *const *row, size_t n, struct nd_pool *pool,
                             struct nd_error *err);

/*
 * Both for a batch of rows, and for those of them that are listed: the first gets *first, the others
 * the numbers that follow.  Columns and tables are filled in tasks of one run of the pool, together
 * with n_beside tasks of the caller's, which have nothing to do with the index.  ND_ENOMEM,
 * ND_EUNSUPPORTED: nothing changed, and none of the caller's tasks ran.
 */
struct nd_index_batch {
    const struct nd_index_row *const *row;
    const bool *is_listed;
    size_t n;
    void (*beside)(void *context, size_t task);
    size_t n_beside;
    void *context;
};
enum nd_status nd_index_add_batch(struct nd_index *index, const struct nd_index_batch *batch,
                                  struct nd_pool *pool, uint32_t *first, struct nd_error *err);

/* Have the lines that a query of the row reads brought into the processor's caches, and the one of
 * an identity. */
void nd_index_prefetch(const struct nd_index *index, const struct nd_index_row *row);
void nd_index_prefetch_identity(const struct nd_index *index, uint64_t identity, uint32_t group);

/* As nd_index_query, of a row, and only documents that the row reaches.  *most: no table lists more
 * documents under the row's key; NULL is allowed. */
enum nd_status nd_index_query_row(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_reach reach, struct nd_candidates *out, uint32_t *most);

/*
 * Add to full[t], for each table that is queried for candidates, how many documents stand in it under
 * the row's key and are reached; it stops at `max`.
 */
void nd_index_count_keys(const struct nd_index *index, const struct nd_index_row *row,
                         struct nd_reach reach, uint32_t max, uint32_t *full);

/* Whether so many documents of the row's group stand in a table under the row's key, near or not. */
bool nd_index_lists(const struct nd_index *index, const struct nd_index_row *row, unsigned table,
                    uint32_t n);

/* Whether a row that is yet to be listed will stand in the table under the other row's key. */
bool nd_index_will_stand(const struct nd_index_params *params, const struct nd_index_row *listed,
                         const struct nd_index_row *row, unsigned table);

/* Documents that are left out of some table, and from how many tables altogether. */
uint64_t nd_index_crowded(const struct nd_index *index, uint64_t *n_keys);

/* The tables in which a listed document of the row's group stands under the row's key. */
struct nd_table_set nd_index_keys_shared(const struct nd_index *index,
                                         const struct nd_index_row *row, uint32_t number);

/* Whether a stored document, listed or not, would be a candidate of the row under some key. */
bool nd_index_is_candidate(const struct nd_index *index, const struct nd_index_row *row,
                           struct nd_reach reach, uint32_t number);

/* Whether nd_index_query_row would find any number less than `below`. */
bool nd_index_meets_any(const struct nd_index *index, const struct nd_index_row *row,
                        uint32_t below);

/* Append and list one row, and take it out again; row is what was added. */
enum nd_status nd_index_add(struct nd_index *index, const struct nd_index_row *row,
                            uint32_t *number, struct nd_error *err);
void nd_index_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number);

/* The listed numbers with this identity, one after the other in no particular order; both stop at
 * false. */
struct nd_identity_scan {
    uint64_t identity;
    uint32_t group;
    size_t line;
    unsigned match;
};
struct nd_identity_scan nd_index_find_identity(const struct nd_index *index, uint64_t identity,
                                               uint32_t group);
bool nd_index_next_identity(const struct nd_index *index, struct nd_identity_scan *scan,
                            uint32_t *number);

/* Every number that is listed and deleted nor of another group. */
enum nd_status nd_index_query_all(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_reach reach, struct nd_candidates *out);

/*
 * Mark the rows of a batch that share a table key with others of it: linked[i], zero before, says
 * whether with an earlier and whether with a later one.  A mark made by chance costs time; a row
 * without one meets no other. row[i] NULL: takes no part.  pool NULL: without others' help.
 */
enum { ND_LINKED_EARLIER = 1, ND_LINKED_LATER = 2 };
enum nd_status nd_index_link_rows(const struct nd_index_params *params,
                                  const struct nd_index_row *const *row, size_t n,
                                  unsigned char *linked, struct nd_pool *pool,
                                  struct nd_error *err);

/* Make columns and tables large enough for n documents more.  ND_ENOMEM: nothing is lost. */
enum nd_status nd_index_reserve(struct nd_index *index, size_t n, struct nd_error *err);

/* Forget all documents and keep the memory. */
void nd_index_clear(struct nd_index *index);

/* ---- An index of very many documents, beside a store that has their rows ---- */

/*
 * From here on, columns lie in files without names in this folder, mapped and shared: 152 bytes a
 * document that are page cache, and not anonymous memory.  About 7 bytes a document and table stay
 * anonymous.  What a snapshot has that the index was opened from stays mapped from there.  A child
 * process must not change such an index.  ND_EIO: such files cannot be made, or the disk is full;
 * ND_ENOMEM; ND_EINVAL: it was done before.  Later, where the disk has no room for one document
 * more, adding it is ND_EIO, and nothing has changed.
 */
enum nd_status nd_index_back_columns(struct nd_index *index, const char *folder,
                                     struct nd_error *err);

/* As nd_index_insert, of a row: the tables grow a little with each call. */
enum nd_status nd_index_insert_row(struct nd_index *index, const struct nd_index_row *row,
                                   uint32_t *number, struct nd_error *err);

/* Give the next n numbers to documents that are deleted already.  As nd_index_append. */
enum nd_status nd_index_append_deleted(struct nd_index *index, size_t n, struct nd_error *err);

/*
 * The index as it is now, for nd_index_save: the writer goes on, while another thread saves what this
 * returns, and frees it with nd_index_free; no other function may be called with it.  It takes as
 * long as copying a byte for each document.  Saving then makes the tables anew, one after the other,
 * in the memory of one.  NULL: ND_EINVAL: its columns lie in memory; ND_ENOMEM.
 */
struct nd_index *nd_index_freeze(const struct nd_index *index, struct nd_error *err);

/* Whether it has these parameters and the numbers 0 … n - 1, of which none is deleted. */
bool nd_index_is_whole(const struct nd_index *index, const struct nd_index_params *params,
                       uint32_t n);

/* Whether of two documents, or of one and a row, all but the group is the same: identity, simhash,
 * number of shingles and low bytes. */
bool nd_index_same_sketch(const struct nd_index *index, uint32_t a, uint32_t b);
bool nd_index_has_sketch(const struct nd_index *index, uint32_t number,
                         const struct nd_index_row *row);

uint64_t nd_index_simhash(const struct nd_index *index, uint32_t number);
uint64_t nd_index_identity(const struct nd_index *index, uint32_t number);
uint32_t nd_index_group(const struct nd_index *index, uint32_t number);
uint32_t nd_index_shingles(const struct nd_index *index, uint32_t number);
bool nd_index_is_short(const struct nd_index *index, uint32_t number);

#endif
