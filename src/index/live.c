/* live.c - the live index of sketches: insert, delete */
#include "index/live_state.h"

#include <stdlib.h>
#include <string.h>

uint64_t nd_index_simhash(const struct nd_index *index, uint32_t number)
{
    return ((const uint64_t *)index->simhash.data)[number];
}

uint32_t nd_index_group(const struct nd_index *index, uint32_t number)
{
    return nd_gate_of(index, number).group;
}

uint64_t nd_index_identity(const struct nd_index *index, uint32_t number)
{
    return nd_identity_of(index, number);
}

uint32_t nd_index_shingles(const struct nd_index *index, uint32_t number)
{
    return nd_gate_of(index, number).n_shingles;
}

bool nd_index_is_short(const struct nd_index *index, uint32_t number)
{
    return (*nd_flags_of(index, number) & ND_SHORT) != 0;
}

static void row_of(const struct nd_index *index, uint32_t number, struct nd_index_row *row)
{
    memcpy(row->low, nd_low_of(index, number), ND_MINHASH_COUNT);
    row->simhash = nd_index_simhash(index, number);
    row->identity = nd_identity_of(index, number);
    row->group = nd_gate_of(index, number).group;
    row->n_shingles = nd_gate_of(index, number).n_shingles;
    row->is_short = nd_index_is_short(index, number);
    row->key = NULL;
    row->left_out = (struct nd_table_set){{0}};
}

struct nd_index_params nd_index_params_default(void)
{
    return (struct nd_index_params){.bands = 21, .rows = 6, .simhash_bits = ND_NO_SIMHASH};
}

static enum nd_status check_params(const struct nd_index_params *p, struct nd_error *err)
{
    if (p->bands && (p->rows == 0 || p->rows > ND_MINHASH_COUNT / p->bands))
        return nd_fail(err, ND_EINVAL, "%u bands of %u rows need more than %d minima, or none",
                       p->bands, p->rows, ND_MINHASH_COUNT);
    if (p->simhash_bits != ND_NO_SIMHASH && p->simhash_bits > ND_SIMHASH_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "simhashes are looked up within 0 to %u bits, not %u",
                       ND_SIMHASH_BITS_MAX, p->simhash_bits);
    return ND_OK;
}

struct nd_index *nd_index_new(const struct nd_index_params *params, struct nd_error *err)
{
    struct nd_index *index;

    if (check_params(params, err) != ND_OK)
        return NULL;
    index = calloc(1, sizeof *index);
    if (!index) {
        nd_fail(err, ND_ENOMEM, "out of memory for an index");
        return NULL;
    }
    index->params = *params;
    index->kernels = nd_sketch_kernels();
    index->n_tables = nd_table_count(params);
    index->band_starts = nd_band_starts(params);
    return index;
}

void nd_index_free(struct nd_index *index)
{
    if (!index)
        return;
    nd_multimap_block_release(&index->block, index->table, index->n_tables);
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

size_t nd_index_bytes(const struct nd_index *index)
{
    return sizeof *index + index->low.bytes + index->simhash.bytes + index->identity.bytes +
           index->gate.bytes + index->flags.bytes + index->left_out.bytes +
           index->left_out_at.bytes + index->block.bytes;
}

void nd_index_row_from_sketch(struct nd_index_row *row, const struct nd_sketch *sketch,
                              uint32_t group)
{
    nd_sketch_kernels()->low_bytes(sketch->minhash, row->low);
    row->simhash = sketch->simhash;
    row->identity = sketch->identity;
    row->group = group;
    row->n_shingles = (uint32_t)sketch->n_shingles;
    row->is_short = false;
    row->key = NULL;
    row->left_out = (struct nd_table_set){{0}};
}

static bool reserve_columns(struct nd_index *index, size_t n)
{
    return nd_column_reserve(&index->low, n + 1, ND_MINHASH_COUNT) && /* one more: the padding */
           nd_column_reserve(&index->simhash, n, sizeof(uint64_t)) &&
           nd_column_reserve(&index->identity, n, sizeof(uint64_t)) &&
           nd_column_reserve(&index->gate, n, sizeof(struct nd_gate)) &&
           nd_column_reserve(&index->flags, n, 1);
}

/* The same for an index that has none yet: side by side, on huge pages. */
static bool make_columns(struct nd_index *index, size_t n)
{
    const struct nd_column_wish wish[] = {{&index->low, (n + 1) * ND_MINHASH_COUNT},
                                          {&index->simhash, n * sizeof(uint64_t)},
                                          {&index->identity, n * sizeof(uint64_t)},
                                          {&index->gate, n * sizeof(struct nd_gate)},
                                          {&index->flags, n}};

    return nd_columns_make(wish, sizeof wish / sizeof *wish);
}

enum nd_status nd_index_append(struct nd_index *index, const struct nd_index_row *row,
                               uint32_t *number, struct nd_error *err)
{
    size_t n = (size_t)index->n + 1;

    if (index->n >= UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "an index holds at most %u documents", UINT32_MAX - 1);
    if (!reserve_columns(index, n))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of %zu documents", n);
    memcpy((uint8_t *)index->low.data + (n - 1) * ND_MINHASH_COUNT, row->low, ND_MINHASH_COUNT);
    ((uint64_t *)index->simhash.data)[n - 1] = row->simhash;
    ((uint64_t *)index->identity.data)[n - 1] = row->identity;
    ((struct nd_gate *)index->gate.data)[n - 1] = (struct nd_gate){row->group, row->n_shingles};
    *nd_flags_of(index, index->n) = row->is_short ? ND_SHORT : 0;
    *number = index->n++;
    return ND_OK;
}

/* The key under which a number stands in a table; bands, the many, without a copy of the row. */
static uint64_t key_of(const struct nd_index *index, unsigned t, uint32_t number)
{
    struct nd_index_row row;

    if (t < index->params.bands)
        return nd_band_key(&index->params, t, nd_low_of(index, number),
                           nd_index_group(index, number));
    row_of(index, number, &row);
    return nd_table_key(&index->params, t, &row);
}

/* Few documents in large tables: only the lines that they stand in are cleared. */
void nd_index_clear(struct nd_index *index)
{
    for (unsigned t = 0; t < index->n_tables; t++) {
        struct nd_multimap *s = &index->table[t];

        if (s->count < s->n_lines / 4)
            for (uint32_t i = 0; i < index->n; i++)
                nd_multimap_empty(s, key_of(index, t, i));
        else if (s->count)
            memset(s->line, 0, nd_multimap_bytes(s));
        s->count = 0;
    }
    index->n = index->n_deleted = 0;
    index->n_left_out = 0;
    index->n_keys_left_out = 0;
}

/* Make room in the tables for n more; *emptied: they grew, and each is to be filled again. */
static bool make_room(struct nd_index *index, size_t n, bool *emptied)
{
    /* The last table, by identity, has every number. */
    *emptied = !nd_multimap_fits(&index->table[index->n_tables - 1], n);
    return !*emptied || nd_multimap_block_grow(&index->block, index->table, index->n_tables, n);
}

void nd_index_fill(struct nd_index *index, unsigned t)
{
    struct nd_multimap_adder adder = {.map = &index->table[t]};
    const struct nd_table_set *left_out = index->left_out.data;

    for (uint32_t i = 0; i < index->n; i++) {
        unsigned char flags = *nd_flags_of(index, i);
        bool is_left_out = flags & ND_LEFT_OUT && nd_table_set_has(left_out++, t);

        if (flags & ND_LISTED && !is_left_out)
            nd_multimap_add_soon(&adder, key_of(index, t, i), i);
    }
    nd_multimap_add_rest(&adder);
}

struct listing {
    struct nd_index *index;
    const uint32_t *number;
    const struct nd_index_row *const *row;
    size_t n;
    bool emptied; /* the tables have just grown */
};

static uint64_t row_key(const struct nd_index_params *params, unsigned t,
                        const struct nd_index_row *row)
{
    return row->key ? row->key[t] : nd_table_key(params, t, row);
}

unsigned nd_index_key_count(const struct nd_index_params *params)
{
    return nd_table_count(params);
}

void nd_index_keys(const struct nd_index_params *params, const struct nd_index_row *row,
                   uint64_t *key)
{
    nd_table_keys(params, row, key);
}

static void list_in_table(void *context, size_t task, unsigned worker)
{
    struct listing *job = context;
    struct nd_multimap_adder adder = {.map = &job->index->table[task]};

    (void)worker;
    if (job->emptied)
        nd_index_fill(job->index, (unsigned)task);
    for (size_t i = 0; i < job->n; i++)
        if (!nd_table_set_has(&job->row[i]->left_out, (unsigned)task))
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
    *nd_flags_of(index, number) |= ND_LEFT_OUT;
}

struct nd_index_left_out nd_index_left_out(const struct nd_index *index)
{
    return (struct nd_index_left_out){index->n_left_out, index->n_keys_left_out};
}

static enum nd_status no_memory(const struct nd_index *index, struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for an index of %u documents", index->n);
}

enum nd_status nd_index_list(struct nd_index *index, const uint32_t *number,
                             const struct nd_index_row *const *row, size_t n, struct nd_pool *pool,
                             struct nd_error *err)
{
    struct listing job = {.index = index, .number = number, .row = row, .n = n};

    if (n == 0)
        return ND_OK;
    if (!reserve_left_out(index, row, n) || !make_room(index, n, &job.emptied))
        return no_memory(index, err);
    for (size_t i = 0; i < n; i++)
        note_left_out(index, number[i], row[i]);
    if (pool)
        nd_pool_run(pool, index->n_tables, list_in_table, &job);
    else
        for (unsigned t = 0; t < index->n_tables; t++)
            list_in_table(&job, t, 0);
    for (size_t i = 0; i < n; i++)
        *nd_flags_of(index, number[i]) |= ND_LISTED;
    return ND_OK;
}

enum nd_status nd_index_reserve(struct nd_index *index, size_t n, struct nd_error *err)
{
    bool emptied;

    /* One at a time, they begin small. */
    if (n > 1 && !index->low.bytes && n < UINT32_MAX && !make_columns(index, n))
        return no_memory(index, err);
    if (!reserve_columns(index, index->n + n) || !make_room(index, n, &emptied))
        return no_memory(index, err);
    for (unsigned t = 0; emptied && t < index->n_tables; t++)
        nd_index_fill(index, t);
    return ND_OK;
}

enum nd_status nd_index_add(struct nd_index *index, const struct nd_index_row *row,
                            uint32_t *number, struct nd_error *err)
{
    enum nd_status status = reserve_left_out(index, &row, 1) ? ND_OK : no_memory(index, err);

    if (status == ND_OK)
        status = nd_index_reserve(index, 1, err);
    if (status == ND_OK)
        status = nd_index_append(index, row, number, err);
    if (status)
        return status;
    note_left_out(index, *number, row);
    for (unsigned t = 0; t < index->n_tables; t++)
        if (!nd_table_set_has(&row->left_out, t))
            nd_multimap_add(&index->table[t], row_key(&index->params, t, row), *number);
    *nd_flags_of(index, *number) |= ND_LISTED;
    return ND_OK;
}

void nd_index_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    if (*nd_flags_of(index, number) & ND_LISTED)
        for (unsigned t = 0; t < index->n_tables; t++)
            nd_multimap_remove(&index->table[t], row_key(&index->params, t, row), number);
    *nd_flags_of(index, number) = (*nd_flags_of(index, number) & ND_LEFT_OUT) | ND_DELETED;
    index->n_deleted++;
}

enum nd_status nd_index_insert(struct nd_index *index, const struct nd_sketch *sketch,
                               uint32_t group, uint32_t *number, struct nd_error *err)
{
    struct nd_index_row row;

    nd_index_row_from_sketch(&row, sketch, group);
    return nd_index_add(index, &row, number, err);
}

enum nd_status nd_index_delete(struct nd_index *index, uint32_t number, struct nd_error *err)
{
    struct nd_index_row row;

    if (number >= index->n || *nd_flags_of(index, number) & ND_DELETED)
        return nd_fail(err, ND_EINVAL, "the index has no document %u", number);
    row_of(index, number, &row);
    nd_index_remove(index, &row, number);
    return ND_OK;
}
