/* live.c - the live index of sketches: insert, delete, query, compact */
#include "index/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "index/candidate_list.h"
#include "index/live_state.h"
#include "simd/sketch/sketch_kernels.h"

uint64_t nd_index_simhash(const struct nd_index *index, uint32_t number)
{
    return nd_live_simhash(index, number);
}

uint32_t nd_index_group(const struct nd_index *index, uint32_t number)
{
    return nd_live_gate(index, number).group;
}

uint64_t nd_index_identity(const struct nd_index *index, uint32_t number)
{
    return nd_live_identity(index, number);
}

uint32_t nd_index_shingles(const struct nd_index *index, uint32_t number)
{
    return nd_live_gate(index, number).n_shingles;
}

bool nd_index_has_sketch(const struct nd_index *index, uint32_t number,
                         const struct nd_index_row *row)
{
    struct nd_index_row own;

    nd_live_row(index, number, &own);
    return nd_index_rows_same_sketch(&own, row);
}

bool nd_index_same_sketch(const struct nd_index *index, uint32_t a, uint32_t b)
{
    struct nd_index_row row;

    nd_live_row(index, b, &row);
    return nd_index_has_sketch(index, a, &row);
}

bool nd_index_is_short(const struct nd_index *index, uint32_t number)
{
    return (*nd_live_flags(index, number) & ND_LIVE_SHORT) != 0;
}

struct nd_index_params nd_index_params_default(void)
{
    return (struct nd_index_params){.bands = 21, .rows = 6, .simhash_bits = ND_NO_SIMHASH};
}

enum nd_status nd_live_check_params(const struct nd_index_params *p, struct nd_error *err)
{
    if (p->bands && (p->rows == 0 || p->rows > ND_MINHASH_COUNT / p->bands))
        return nd_fail(err, ND_EINVAL, "%u bands of %u rows: the product must be from 1 to %d",
                       p->bands, p->rows, ND_MINHASH_COUNT);
    if (p->simhash_bits != ND_NO_SIMHASH && p->simhash_bits > ND_SIMHASH_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "simhashes are looked up within 0 to %u bits, not %u",
                       ND_SIMHASH_BITS_MAX, p->simhash_bits);
    return ND_OK;
}

struct nd_index *nd_index_new(const struct nd_index_params *params, struct nd_error *err)
{
    struct nd_index *index;

    if (nd_live_check_params(params, err) != ND_OK)
        return NULL;
    index = calloc(1, sizeof *index);
    if (!index) {
        nd_fail(err, ND_ENOMEM, "out of memory for an index");
        return NULL;
    }
    index->params = *params;
    index->kernels = nd_sketch_kernels();
    index->n_tables = nd_table_count(params);
    index->n_queried = nd_table_queried(params);
    index->band_starts = nd_band_starts(params);
    index->together_max = ND_LIVE_TOGETHER_MAX;
    return index;
}

void nd_index_free(struct nd_index *index)
{
    if (!index)
        return;
    nd_live_growth_drop(index);
    nd_live_file_close(index->file);
    nd_live_tables_release(index);
    free(index->folder);
    nd_column_release(&index->low);
    nd_column_release(&index->simhash);
    nd_column_release(&index->identity);
    nd_column_release(&index->gate);
    nd_column_release(&index->flags);
    nd_column_release(&index->left_out);
    nd_column_release(&index->left_out_at);
    free(index);
}

size_t nd_index_count(const struct nd_index *index)
{
    return index->n - index->n_deleted;
}

bool nd_index_is_whole(const struct nd_index *index, const struct nd_index_params *params,
                       uint32_t n)
{
    return index->n == n && index->n_deleted == 0 && index->params.bands == params->bands &&
           index->params.rows == params->rows && index->params.simhash_bits == params->simhash_bits;
}

size_t nd_index_bytes(const struct nd_index *index)
{
    return sizeof *index + index->low.bytes + index->simhash.bytes + index->identity.bytes +
           index->gate.bytes + index->flags.bytes + index->left_out.bytes +
           index->left_out_at.bytes + nd_live_tables_bytes(index) + nd_live_growth_bytes(index);
}

static bool reserve_columns(struct nd_index *index, size_t n)
{
    return nd_column_reserve(&index->low, n + 1, ND_MINHASH_COUNT) && /* one more: the padding */
           nd_column_reserve(&index->simhash, n, sizeof(uint64_t)) &&
           nd_column_reserve(&index->identity, n, sizeof(uint64_t)) &&
           nd_column_reserve(&index->gate, n, sizeof(struct nd_live_gate)) &&
           nd_column_reserve(&index->flags, n, 1) &&
           (!index->n_left_out || nd_column_reserve(&index->left_out_at, n, sizeof(uint32_t)));
}

/* Make the columns of an index that has none yet: side by side, on huge pages. */
static bool make_columns(struct nd_index *index, size_t n)
{
    const struct nd_column_request wish[] = {{&index->low, (n + 1) * ND_MINHASH_COUNT},
                                             {&index->simhash, n * sizeof(uint64_t)},
                                             {&index->identity, n * sizeof(uint64_t)},
                                             {&index->gate, n * sizeof(struct nd_live_gate)},
                                             {&index->flags, n}};

    return nd_columns_make(wish, sizeof wish / sizeof *wish);
}

/* No memory; or the disk is full on which the columns lie. */
static enum nd_status no_memory(const struct nd_index *index, struct nd_error *err)
{
    return index->folder && errno != ENOMEM
               ? nd_fail(err, ND_EIO, "%s: no room for the columns of an index of %u documents: %s",
                         index->folder, index->n, strerror(errno))
               : nd_fail(err, ND_ENOMEM, "out of memory for an index of %u documents", index->n);
}

static enum nd_status make_room_in_columns(struct nd_index *index, size_t n, struct nd_error *err)
{
    if (n >= UINT32_MAX)
        return nd_fail(err, ND_EUNSUPPORTED, "an index holds at most %u documents", UINT32_MAX - 1);
    return reserve_columns(index, n) ? ND_OK : no_memory(index, err);
}

static void put_in_columns(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    memcpy((uint8_t *)index->low.data + (size_t)number * ND_MINHASH_COUNT, row->low,
           ND_MINHASH_COUNT);
    ((uint64_t *)index->simhash.data)[number] = row->simhash;
    ((uint64_t *)index->identity.data)[number] = row->identity;
    ((struct nd_live_gate *)index->gate.data)[number] =
        (struct nd_live_gate){row->group, row->n_shingles};
    *nd_live_flags(index, number) = row->is_short ? ND_LIVE_SHORT : 0;
}

enum nd_status nd_index_append(struct nd_index *index, const struct nd_index_row *row,
                               uint32_t *number, struct nd_error *err)
{
    size_t n = (size_t)index->n + 1;
    enum nd_status status = make_room_in_columns(index, n, err);

    if (status != ND_OK)
        return status;
    put_in_columns(index, row, index->n);
    *number = index->n++;
    return ND_OK;
}

enum nd_status nd_index_append_deleted(struct nd_index *index, size_t n, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (n == 0)
        return ND_OK;
    status = make_room_in_columns(index, n > UINT32_MAX ? n : index->n + n, err);
    if (status != ND_OK)
        return status;
    memset(nd_live_flags(index, index->n), ND_LIVE_DELETED, n);
    index->n += (uint32_t)n;
    index->n_deleted += (uint32_t)n;
    return ND_OK;
}

/* If few documents stand in large tables, as after a batch that was small, only the lines in which
 * they stand are cleared: time in proportion to the documents, not to the table. */
void nd_index_clear(struct nd_index *index)
{
    nd_live_growth_drop(index);
    for (unsigned t = 0; t < index->n_tables; t++) {
        struct nd_multimap *s = &index->table[t];

        if (s->count < s->n_lines / 4)
            for (uint32_t i = 0; i < index->n; i++)
                nd_multimap_empty(s, nd_live_key(index, t, i));
        else if (s->count)
            memset(s->line, 0, nd_multimap_bytes(s));
        s->count = 0;
    }
    index->n = index->n_deleted = 0;
    index->n_left_out = 0;
    index->n_keys_left_out = 0;
    if (index->folder)
        nd_live_restart_columns(index);
}

/* Make room in the tables for n more; *emptied: they grew, and each is to be filled again. */
static bool make_room(struct nd_index *index, size_t n, bool *emptied)
{
    *emptied = !nd_live_fits(index, n);
    if (*emptied)
        nd_live_growth_drop(index);
    return !*emptied || nd_live_tables_grow(index, n);
}

struct row_listing {
    struct nd_index *index;
    const uint32_t *number;
    const struct nd_index_row *const *row;
    size_t n;
    bool emptied;  /* the tables have just grown: … */
    uint32_t n_in; /* … so many numbers, where they are listed, are to be added again */
};

static uint64_t row_key(const struct nd_index_params *params, unsigned t,
                        const struct nd_index_row *row)
{
    return row->key ? row->key[t] : nd_table_key(params, t, row);
}

static void list_in_table(void *context, size_t task, unsigned worker)
{
    struct row_listing *job = context;
    struct nd_multimap_adder adder = {.map = &job->index->table[task]};

    (void)worker;
    if (job->emptied)
        nd_live_fill_range(job->index, (unsigned)task, 0, job->n_in, adder.map);
    for (size_t i = 0; i < job->n; i++)
        if (!nd_table_set_has(&job->row[i]->left_out, (unsigned)task) &&
            nd_live_stands_in(job->index, (unsigned)task, job->row[i]->identity_only))
            nd_multimap_add_soon(&adder, row_key(&job->index->params, (unsigned)task, job->row[i]),
                                 job->number[i]);
    nd_multimap_add_rest(&adder);
}

static unsigned count_left_out(const struct nd_index_row *row)
{
    unsigned n = 0;

    for (unsigned i = 0; i < ND_TABLE_SET_WORDS; i++)
        n += nd_count_ones(row->left_out.word[i]);
    return n;
}

/* Make room for what note_left_out writes; false: out of memory. */
static bool reserve_left_out(struct nd_index *index, const struct nd_index_row *const *row,
                             size_t n)
{
    size_t more = 0;

    for (size_t i = 0; i < n; i++)
        more += count_left_out(row[i]) > 0;
    return more == 0 ||
           (nd_column_reserve(&index->left_out, index->n_left_out + more,
                              sizeof(struct nd_table_set)) &&
            nd_column_reserve(&index->left_out_at, (size_t)index->n + 1, sizeof(uint32_t)));
}

/* Note from which tables a row is left out; numbers ascend. */
static void note_left_out(struct nd_index *index, uint32_t number, const struct nd_index_row *row)
{
    unsigned keys = count_left_out(row);

    if (keys == 0)
        return;
    ((struct nd_table_set *)index->left_out.data)[index->n_left_out++] = row->left_out;
    ((uint32_t *)index->left_out_at.data)[number] = (uint32_t)(index->n_left_out - 1);
    index->n_keys_left_out += keys;
    *nd_live_flags(index, number) |= ND_LIVE_LEFT_OUT;
}

uint64_t nd_index_crowded(const struct nd_index *index, uint64_t *n_keys)
{
    *n_keys = index->n_keys_left_out;
    return index->n_left_out;
}

static void note_listed(struct nd_index *index, uint32_t number, const struct nd_index_row *row)
{
    unsigned flags = ND_LIVE_LISTED | (row->identity_only ? ND_LIVE_IDENTITY_ONLY : 0u);

    *nd_live_flags(index, number) |= (unsigned char)flags;
}

static void put_in_tables(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    for (unsigned t = 0; t < index->n_tables; t++)
        if (!nd_table_set_has(&row->left_out, t) && nd_live_stands_in(index, t, row->identity_only))
            nd_multimap_add(&index->table[t], row_key(&index->params, t, row), number);
}

static void take_from_tables(struct nd_index *index, const struct nd_index_row *row,
                             uint32_t number)
{
    nd_live_growth_remove(index, row, number);
    for (unsigned t = 0; t < index->n_tables; t++)
        nd_multimap_remove(&index->table[t], row_key(&index->params, t, row), number);
}

/* The last one that was listed is not any more. */
static void unlist(struct nd_index *index, uint32_t number, const struct nd_index_row *row)
{
    unsigned char *flags = nd_live_flags(index, number);

    take_from_tables(index, row, number);
    if (*flags & ND_LIVE_LEFT_OUT) {
        index->n_left_out--;
        index->n_keys_left_out -= count_left_out(row);
    }
    *flags &= ND_LIVE_SHORT;
}

/* As they are inserted, while the tables grow in turn. */
static enum nd_status list_one_by_one(struct nd_index *index, const struct row_listing *job,
                                      struct nd_error *err)
{
    size_t i = 0;

    for (; i < job->n && nd_live_grow(index); i++) {
        note_left_out(index, job->number[i], job->row[i]);
        put_in_tables(index, job->row[i], job->number[i]);
        nd_live_growth_add(index, job->row[i], job->number[i]);
        note_listed(index, job->number[i], job->row[i]);
    }
    if (i == job->n)
        return ND_OK;
    while (i-- > 0)
        unlist(index, job->number[i], job->row[i]);
    return no_memory(index, err);
}

enum nd_status nd_index_list(struct nd_index *index, const uint32_t *number,
                             const struct nd_index_row *const *row, size_t n, struct nd_pool *pool,
                             struct nd_error *err)
{
    struct row_listing job = {
        .index = index, .number = number, .row = row, .n = n, .n_in = index->n};

    if (n == 0)
        return ND_OK;
    if (!reserve_left_out(index, row, n))
        return no_memory(index, err);
    if (index->folder && (index->growth || !nd_live_fits(index, n)))
        return list_one_by_one(index, &job, err);
    if (!make_room(index, n, &job.emptied))
        return no_memory(index, err);
    nd_live_growth_drop(index); /* it may have passed these numbers, which were not listed */
    for (size_t i = 0; i < n; i++)
        note_left_out(index, number[i], row[i]);
    if (pool)
        nd_pool_run(pool, index->n_tables, list_in_table, &job);
    else
        for (unsigned t = 0; t < index->n_tables; t++)
            list_in_table(&job, t, 0);
    for (size_t i = 0; i < n; i++)
        note_listed(index, number[i], row[i]);
    return ND_OK;
}

/* The tasks of a batch: the tables, the columns of so many rows each, and the caller's. */
enum { COLUMN_ROWS = 64 };
struct insertion {
    struct row_listing listing;
    const struct nd_index_batch *batch;
    uint32_t first;
    size_t n_column_tasks;
};

static void add_task(void *context, size_t task, unsigned worker)
{
    struct insertion *job = context;
    const struct nd_index_batch *batch = job->batch;
    const size_t n_tables = job->listing.index->n_tables;
    size_t from, to;

    if (task < n_tables) {
        list_in_table(&job->listing, task, worker);
        return;
    }
    if (task >= n_tables + job->n_column_tasks) {
        batch->beside(batch->context, task - n_tables - job->n_column_tasks);
        return;
    }
    from = (task - n_tables) * COLUMN_ROWS;
    to = from + COLUMN_ROWS < batch->n ? from + COLUMN_ROWS : batch->n;
    for (; from < to; from++)
        put_in_columns(job->listing.index, batch->row[from], job->first + (uint32_t)from);
}

/* Room for the batch, and its numbers; nothing has changed where that fails. */
static enum nd_status begin_adding(struct insertion *job, struct nd_error *err)
{
    struct nd_index *index = job->listing.index;
    enum nd_status status = make_room_in_columns(index, index->n + job->batch->n, err);

    if (status != ND_OK)
        return status;
    index->n += (uint32_t)job->batch->n; /* for the places of sets of tables */
    if (!reserve_left_out(index, job->listing.row, job->listing.n) ||
        !make_room(index, job->listing.n, &job->listing.emptied)) {
        index->n = job->first;
        return no_memory(index, err);
    }
    nd_live_growth_drop(index);
    return ND_OK;
}

static enum nd_status add_batch(struct insertion *job, struct nd_pool *pool, struct nd_error *err)
{
    struct nd_index *index = job->listing.index;
    const struct nd_index_batch *batch = job->batch;
    enum nd_status status = begin_adding(job, err);

    if (status != ND_OK)
        return status;
    job->n_column_tasks = (batch->n + COLUMN_ROWS - 1) / COLUMN_ROWS;
    nd_pool_run(pool, index->n_tables + job->n_column_tasks + batch->n_beside, add_task, job);
    for (size_t i = 0; i < job->listing.n; i++) {
        note_left_out(index, job->listing.number[i], job->listing.row[i]);
        note_listed(index, job->listing.number[i], job->listing.row[i]);
    }
    return ND_OK;
}

enum nd_status nd_index_add_batch(struct nd_index *index, const struct nd_index_batch *batch,
                                  struct nd_pool *pool, uint32_t *first, struct nd_error *err)
{
    const struct nd_index_row **row = nd_alloc_array(batch->n, sizeof *row);
    uint32_t *number = nd_alloc_array(batch->n, sizeof *number);
    struct insertion job = {.listing = {.index = index, .number = number, .row = row},
                            .batch = batch,
                            .first = index->n};
    enum nd_status status;

    *first = job.listing.n_in = index->n;
    for (size_t i = 0; row && number && i < batch->n; i++) {
        if (!batch->is_listed[i])
            continue;
        number[job.listing.n] = index->n + (uint32_t)i;
        row[job.listing.n++] = batch->row[i];
    }
    status = row && number ? add_batch(&job, pool, err) : no_memory(index, err);
    free(row);
    free(number);
    return status;
}

enum nd_status nd_index_reserve(struct nd_index *index, size_t n, struct nd_error *err)
{
    enum nd_status status;
    bool emptied;

    /* One at a time, they begin small. */
    if (n > 1 && !index->low.bytes && !index->folder && n < UINT32_MAX && !make_columns(index, n))
        return no_memory(index, err);
    status = make_room_in_columns(index, index->n + n, err);
    if (status != ND_OK)
        return status;
    if (index->folder && index->table[index->n_tables - 1].n_lines)
        return ND_OK; /* they grow in turn */
    if (index->folder)
        return nd_live_tables_renew(index, n) ? ND_OK : no_memory(index, err);
    if (!make_room(index, n, &emptied))
        return no_memory(index, err);
    for (unsigned t = 0; emptied && t < index->n_tables; t++)
        nd_live_fill_table(index, t);
    return ND_OK;
}

/* Append and list a row for which the tables and columns have room. */
static enum nd_status put_row(struct nd_index *index, const struct nd_index_row *row,
                              uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_index_append(index, row, number, err);

    if (status)
        return status;
    note_left_out(index, *number, row);
    put_in_tables(index, row, *number);
    note_listed(index, *number, row);
    return ND_OK;
}

enum nd_status nd_index_add(struct nd_index *index, const struct nd_index_row *row,
                            uint32_t *number, struct nd_error *err)
{
    enum nd_status status = reserve_left_out(index, &row, 1) ? ND_OK : no_memory(index, err);

    if (status == ND_OK)
        status = nd_index_reserve(index, 1, err);
    return status == ND_OK ? put_row(index, row, number, err) : status;
}

void nd_index_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    if (*nd_live_flags(index, number) & ND_LIVE_LISTED)
        take_from_tables(index, row, number);
    *nd_live_flags(index, number) =
        (*nd_live_flags(index, number) & ND_LIVE_LEFT_OUT) | ND_LIVE_DELETED;
    index->n_deleted++;
}

enum nd_status nd_index_insert_row(struct nd_index *index, const struct nd_index_row *row,
                                   uint32_t *number, struct nd_error *err)
{
    if (!reserve_left_out(index, &row, 1) || !nd_live_grow(index))
        return no_memory(index, err);
    return put_row(index, row, number, err);
}

enum nd_status nd_index_insert(struct nd_index *index, const struct nd_sketch *sketch,
                               uint32_t group, uint32_t *number, struct nd_error *err)
{
    struct nd_index_row row;

    nd_index_row_from_sketch(&row, sketch, group);
    return nd_index_insert_row(index, &row, number, err);
}

enum nd_status nd_index_delete(struct nd_index *index, uint32_t number, struct nd_error *err)
{
    struct nd_index_row row;

    if (number >= index->n || *nd_live_flags(index, number) & ND_LIVE_DELETED)
        return nd_fail(err, ND_EINVAL, "the index has no document %u", number);
    nd_live_row(index, number, &row);
    nd_index_remove(index, &row, number);
    return ND_OK;
}

/* ---- Queries ---- */

/* Return whether the row reaches a document of its group by its count of shingles … */
static bool reaches_count(const struct nd_index *index, const struct nd_index_row *row,
                          struct nd_reach reach, uint32_t number)
{
    struct nd_live_gate gate = nd_live_gate(index, number);

    return gate.group == row->group && nd_reaches_count(reach, gate.n_shingles);
}

static nd_equal_minima equal_bytes(const struct nd_index *index, const struct nd_index_row *row,
                                   uint32_t number)
{
    uint64_t word[2];

    index->kernels->bytes_equal(row->low, nd_live_low(index, number), word);
    return (nd_equal_minima)word[1] << 64 | word[0];
}

static unsigned count_equal(nd_equal_minima equal)
{
    return nd_count_ones((uint64_t)equal) + nd_count_ones((uint64_t)(equal >> 64));
}

static inline struct nd_candidate describe(uint32_t number, nd_equal_minima equal,
                                           uint64_t difference)
{
    return (struct nd_candidate){.number = number,
                                 .equal = (uint16_t)count_equal(equal),
                                 .distance = (uint16_t)nd_count_ones(difference)};
}

/* … and by their distance. */
static bool reaches_found(const struct nd_index *index, struct nd_reach reach,
                          const struct nd_candidate *found)
{
    return nd_reaches_distance(reach, index->params.bands ? ND_MINHASH_COUNT - found->equal
                                                          : found->distance);
}

/*
 * Whether a table is the first in which the row meets a number that stands there: the first table
 * that they have in common, unless the number is left out of that one.
 */
static bool is_first_common(const struct nd_index *index, unsigned table, uint32_t number,
                            nd_equal_minima equal, uint64_t difference)
{
    unsigned first = nd_table_first_common(&index->params, index->band_starts, equal, difference);
    const struct nd_table_set *left_out;

    if (first >= table || !(*nd_live_flags(index, number) & ND_LIVE_LEFT_OUT))
        return first == table;
    left_out = nd_live_left_out(index, number);
    for (unsigned t = first; t < table; t++)
        if (!nd_table_set_has(left_out, t) &&
            nd_table_is_common(&index->params, t, equal, difference))
            return false;
    return nd_table_is_common(&index->params, table, equal, difference);
}

/* A number that a table proposed: whether this is the first table in which it meets the row, and
 * how nearly. */
static bool meets(const struct nd_index *index, const struct nd_index_row *row, unsigned table,
                  uint32_t number, struct nd_candidate *found)
{
    nd_equal_minima equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_live_simhash(index, number);

    if (table == nd_table_identity(&index->params)
            ? row->identity != nd_live_identity(index, number)
            : !is_first_common(index, table, number, equal, difference))
        return false;
    *found = describe(number, equal, difference);
    return true;
}

/* The row's keys, made if need be; the lines that a query reads are prefetched, so that the waits
 * for memory overlap. */
static const uint64_t *prefetch_keys(const struct nd_index *index, const struct nd_index_row *row,
                                     uint64_t own[ND_LIVE_TABLES_MAX])
{
    const uint64_t *key = row->key;

    if (!key) {
        nd_table_keys(&index->params, row, own);
        key = own;
    }
    for (unsigned t = 0; t < index->n_queried; t++)
        nd_multimap_prefetch(&index->table[t], key[t]);
    return key;
}

void nd_index_prefetch(const struct nd_index *index, const struct nd_index_row *row)
{
    uint64_t own[ND_LIVE_TABLES_MAX];

    (void)prefetch_keys(index, row, own);
}

/*
 * The numbers that the tables propose are collected first, and their columns prefetched; then all of
 * them are looked at, so that the waits for memory overlap.  A number that was found already may be
 * proposed by further tables; `seen` remembers the last ones, which saves a look at their bytes.
 */
enum { PROPOSALS = 64, SEEN = 64 };
struct proposals {
    size_t n;
    uint32_t number[PROPOSALS];
    uint8_t table[PROPOSALS];
    uint32_t seen[SEEN]; /* by the low bits: number + 1 */
};
_Static_assert(ND_LIVE_TABLES_MAX <= UINT8_MAX, "a table's number is a byte");

static void propose(const struct nd_index *index, struct proposals *p, unsigned table,
                    uint32_t number)
{
    const uint8_t *low = nd_live_low(index, number);

    __builtin_prefetch((const struct nd_live_gate *)index->gate.data + number);
    __builtin_prefetch(low);
    __builtin_prefetch(low + ND_MINHASH_COUNT / 2);
    p->number[p->n] = number;
    p->table[p->n++] = (uint8_t)table;
}

static bool take_proposals(const struct nd_index *index, const struct nd_index_row *row,
                           struct nd_reach reach, struct proposals *p, struct nd_candidates *out)
{
    struct nd_candidate found;

    for (size_t i = 0; i < p->n; i++) {
        uint32_t number = p->number[i], *seen = &p->seen[number % SEEN];

        if (*seen == number + 1 || !reaches_count(index, row, reach, number) ||
            !meets(index, row, p->table[i], number, &found))
            continue;
        *seen = number + 1;
        if (reaches_found(index, reach, &found) && !nd_candidates_add(out, found))
            return false;
    }
    p->n = 0;
    return true;
}

enum nd_status nd_index_query_row(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_reach reach, struct nd_candidates *out, uint32_t *most)
{
    uint64_t own[ND_LIVE_TABLES_MAX];
    const uint64_t *key = prefetch_keys(index, row, own);
    struct proposals p;
    uint32_t number, room;

    most = most ? most : &room;
    *most = 0;
    out->count = 0;
    if (row->identity_only)
        return ND_OK;
    p.n = 0;
    memset(p.seen, 0, sizeof p.seen);
    for (unsigned t = 0; t < index->n_queried; t++) {
        struct nd_multimap_scan scan = nd_multimap_find(&index->table[t], key[t]);
        uint32_t n = 0;

        for (; nd_multimap_next(&index->table[t], &scan, &number); n++) {
            propose(index, &p, t, number);
            if (p.n == PROPOSALS && !take_proposals(index, row, reach, &p, out))
                return ND_ENOMEM;
        }
        *most = n > *most ? n : *most;
    }
    if (!take_proposals(index, row, reach, &p, out))
        return ND_ENOMEM;
    nd_candidates_sort(out, index->params.bands == 0);
    return ND_OK;
}

/* Count the documents under a table's key that may meet the row, up to `max`. */
static uint32_t count_key(const struct nd_index *index, const struct nd_index_row *row,
                          struct nd_reach reach, unsigned table, uint64_t key, uint32_t max)
{
    struct nd_multimap_scan scan = nd_multimap_find(&index->table[table], key);
    uint32_t number, n = 0;

    while (n < max && nd_multimap_next(&index->table[table], &scan, &number)) {
        nd_equal_minima equal;
        struct nd_candidate found;
        uint64_t difference;

        if (!reaches_count(index, row, reach, number))
            continue;
        equal = equal_bytes(index, row, number);
        difference = row->simhash ^ nd_live_simhash(index, number);
        found = describe(number, equal, difference);
        n += nd_table_is_common(&index->params, table, equal, difference) &&
             reaches_found(index, reach, &found);
    }
    return n;
}

void nd_index_count_keys(const struct nd_index *index, const struct nd_index_row *row,
                         struct nd_reach reach, uint32_t max, uint32_t *full)
{
    uint64_t own[ND_LIVE_TABLES_MAX];
    const uint64_t *key = prefetch_keys(index, row, own);

    for (unsigned t = 0; t < nd_table_identity(&index->params) && !row->identity_only; t++)
        if (full[t] < max)
            full[t] += count_key(index, row, reach, t, key[t], max - full[t]);
}

/* Count all documents of a table that have the key's tag: no fewer than have the key. */
static uint32_t count_tag(const struct nd_multimap *table, uint64_t key)
{
    struct nd_multimap_scan scan = nd_multimap_find(table, key);
    uint32_t number, n = 0;

    while (nd_multimap_next(table, &scan, &number))
        n++;
    return n;
}

bool nd_index_lists(const struct nd_index *index, const struct nd_index_row *row, unsigned table,
                    uint32_t n)
{
    uint64_t key = row_key(&index->params, table, row);

    return count_tag(&index->table[table], key) >= n &&
           count_key(index, row, ND_REACH_ALL, table, key, n) >= n;
}

bool nd_index_will_stand(const struct nd_index_params *params, const struct nd_index_row *listed,
                         const struct nd_index_row *row, unsigned table)
{
    return !listed->identity_only && !nd_table_set_has(&listed->left_out, table) &&
           row_key(params, table, listed) == row_key(params, table, row);
}

struct nd_table_set nd_index_keys_shared(const struct nd_index *index,
                                         const struct nd_index_row *row, uint32_t number)
{
    nd_equal_minima equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_live_simhash(index, number);
    const struct nd_table_set none = {{0}},
                              *left_out = *nd_live_flags(index, number) & ND_LIVE_LEFT_OUT
                                              ? nd_live_left_out(index, number)
                                              : &none;
    struct nd_table_set shared = none;

    for (unsigned t = 0; t < nd_table_identity(&index->params); t++)
        if (!nd_table_set_has(left_out, t) &&
            nd_table_is_common(&index->params, t, equal, difference))
            shared.word[t / 64] |= UINT64_C(1) << t % 64;
    return shared;
}

bool nd_index_is_candidate(const struct nd_index *index, const struct nd_index_row *row,
                           struct nd_reach reach, uint32_t number)
{
    nd_equal_minima equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_live_simhash(index, number);
    const struct nd_candidate found = describe(number, equal, difference);
    unsigned identity = nd_table_identity(&index->params);

    if (!reaches_count(index, row, reach, number) || !reaches_found(index, reach, &found))
        return false;
    if (identity == 0)
        return row->identity == nd_live_identity(index, number);
    return nd_table_first_common(&index->params, index->band_starts, equal, difference) < identity;
}

bool nd_index_meets_any(const struct nd_index *index, const struct nd_index_row *row,
                        uint32_t below)
{
    uint64_t own[ND_LIVE_TABLES_MAX];
    const uint64_t *key = prefetch_keys(index, row, own);
    struct nd_candidate found;
    uint32_t number;

    for (unsigned t = 0; t < index->n_queried && !row->identity_only; t++) {
        struct nd_multimap_scan scan = nd_multimap_find(&index->table[t], key[t]);

        while (nd_multimap_next(&index->table[t], &scan, &number))
            if (number < below && reaches_count(index, row, ND_REACH_ALL, number) &&
                meets(index, row, t, number, &found))
                return true;
    }
    return false;
}

static uint64_t identity_key(const struct nd_index *index, uint64_t identity, uint32_t group)
{
    struct nd_index_row row = {.identity = identity, .group = group};

    return nd_table_key(&index->params, nd_table_identity(&index->params), &row);
}

void nd_index_prefetch_identity(const struct nd_index *index, uint64_t identity, uint32_t group)
{
    nd_multimap_prefetch(&index->table[nd_table_identity(&index->params)],
                         identity_key(index, identity, group));
}

struct nd_identity_scan nd_index_find_identity(const struct nd_index *index, uint64_t identity,
                                               uint32_t group)
{
    const struct nd_multimap *s = &index->table[nd_table_identity(&index->params)];
    struct nd_multimap_scan scan = nd_multimap_find(s, identity_key(index, identity, group));

    return (struct nd_identity_scan){identity, group, scan.line, scan.match};
}

bool nd_index_next_identity(const struct nd_index *index, struct nd_identity_scan *scan,
                            uint32_t *number)
{
    const struct nd_multimap *s = &index->table[nd_table_identity(&index->params)];
    uint64_t key = identity_key(index, scan->identity, scan->group);
    struct nd_multimap_scan at = {nd_multimap_place(s, key), scan->line, scan->match, (uint8_t)key};
    bool found;

    while ((found = nd_multimap_next(s, &at, number)) &&
           (nd_live_identity(index, *number) != scan->identity ||
            nd_index_group(index, *number) != scan->group))
        ;
    scan->line = at.line;
    scan->match = at.match;
    return found;
}

enum nd_status nd_index_query_all(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_reach reach, struct nd_candidates *out)
{
    out->count = 0;
    for (uint32_t number = 0; number < index->n && !row->identity_only; number++) {
        unsigned flags = *nd_live_flags(index, number) & (ND_LIVE_LISTED | ND_LIVE_IDENTITY_ONLY);

        if (flags != ND_LIVE_LISTED || !reaches_count(index, row, reach, number))
            continue;
        if (!nd_candidates_add(out, describe(number, equal_bytes(index, row, number),
                                             row->simhash ^ nd_live_simhash(index, number))))
            return ND_ENOMEM;
    }
    nd_candidates_sort(out, false);
    return ND_OK;
}

enum nd_status nd_index_query(const struct nd_index *index, const struct nd_sketch *sketch,
                              uint32_t group, struct nd_candidates *out)
{
    struct nd_index_row row;

    enum nd_status status;

    nd_index_row_from_sketch(&row, sketch, group);
    status = nd_index_query_row(index, &row, ND_REACH_ALL, out, NULL);
    if (status != ND_OK)
        out->count = 0;
    return status;
}

/* ---- Compaction ---- */

/* Each number's new one, from 0 on in the same order; ND_INDEX_GONE: it was deleted. */
static void renumber(const struct nd_index *index, uint32_t *to)
{
    uint32_t next = 0;

    for (uint32_t i = 0; i < index->n; i++)
        to[i] = *nd_live_flags(index, i) & ND_LIVE_DELETED ? ND_INDEX_GONE : next++;
}

/* Move what is left to the front of a column, which keeps `extra` elements more. */
static void move_up(struct nd_column *column, size_t size, const uint32_t *to, uint32_t n,
                    size_t n_left, size_t extra)
{
    char *data = column->data;

    for (uint32_t i = 0; i < n; i++)
        if (to[i] != ND_INDEX_GONE && to[i] != i)
            memcpy(data + to[i] * size, data + i * size, size);
    nd_column_shrink(column, n_left ? n_left + extra : 0, size);
}

enum nd_status nd_index_compact(struct nd_index *index, uint32_t **new_numbers, size_t *n_numbers,
                                struct nd_error *err)
{
    struct nd_multimap table[ND_LIVE_TABLES_MAX] = {{0}};
    struct nd_multimap_block block = {0};
    uint32_t n = index->n, n_left = n - index->n_deleted;
    uint32_t *to = nd_alloc_array(n, sizeof *to);
    enum nd_status status;

    if (!to || (n_left && !nd_multimap_block_grow(&block, table, index->n_tables, n_left))) {
        free(to);
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of %u documents", n_left);
    }
    renumber(index, to);
    if (index->folder) {
        status = nd_live_copy_columns(index, to, n_left, err);
        if (status != ND_OK) {
            nd_multimap_block_release(&block, table, index->n_tables);
            free(to);
            return status;
        }
    } else {
        move_up(&index->low, ND_MINHASH_COUNT, to, n, n_left, 1);
        move_up(&index->simhash, sizeof(uint64_t), to, n, n_left, 0);
        move_up(&index->identity, sizeof(uint64_t), to, n, n_left, 0);
        move_up(&index->gate, sizeof(struct nd_live_gate), to, n, n_left, 0);
        if (index->n_left_out)
            move_up(&index->left_out_at, sizeof(uint32_t), to, n, n_left, 0);
    }
    move_up(&index->flags, 1, to, n, n_left, 0);
    nd_live_growth_drop(index);
    nd_live_tables_release(index);
    index->block = block;
    memcpy(index->table, table, sizeof table);
    index->n = n_left;
    index->n_deleted = 0;
    for (unsigned t = 0; n_left && t < index->n_tables; t++)
        nd_live_fill_table(index, t);
    if (n_numbers)
        *n_numbers = n;
    if (new_numbers)
        *new_numbers = to;
    else
        free(to);
    return ND_OK;
}
