/* live.c - the live index of sketches: insert, query, delete */
#include "index/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/candidates.h"
#include "index/multimap_block.h"
#include "index/table_keys.h"
#include "simd/sketch_kernels.h"

enum { LISTED = 1, DELETED = 2, SHORT = 4 };
enum { TABLES_MAX = ND_MINHASH_COUNT + ND_SIMHASH_BITS_MAX + 2 };

/* What decides, without a look at the bytes, that two documents cannot meet: one word. */
struct gate {
    uint32_t group, n_shingles;
};

/* Columns by number, and a table of numbers for every band and block. */
struct nd_index {
    struct nd_index_params params;
    const struct nd_sketch_kernels *kernels;
    unsigned n_tables;
    struct nd_equal_bytes band_starts; /* the bit of each band's first row */
    uint32_t n;                        /* numbers given */
    uint32_t n_deleted;                /* of them */
    struct nd_column low, simhash, identity, gate, flags;
    struct nd_multimap table[TABLES_MAX]; /* all of one size, as every number stands in each */
    struct nd_multimap_block block;
};

static const uint8_t *low_of(const struct nd_index *index, uint32_t number)
{
    return (const uint8_t *)index->low.data + (size_t)number * ND_MINHASH_COUNT;
}

static unsigned char *flags_of(const struct nd_index *index, uint32_t number)
{
    return (unsigned char *)index->flags.data + number;
}

uint64_t nd_index_simhash(const struct nd_index *index, uint32_t number)
{
    return ((const uint64_t *)index->simhash.data)[number];
}

static struct gate gate_of(const struct nd_index *index, uint32_t number)
{
    return ((const struct gate *)index->gate.data)[number];
}

uint32_t nd_index_group(const struct nd_index *index, uint32_t number)
{
    return gate_of(index, number).group;
}

uint32_t nd_index_shingles(const struct nd_index *index, uint32_t number)
{
    return gate_of(index, number).n_shingles;
}

bool nd_index_is_short(const struct nd_index *index, uint32_t number)
{
    return (*flags_of(index, number) & SHORT) != 0;
}

static uint64_t identity_of(const struct nd_index *index, uint32_t number)
{
    return ((const uint64_t *)index->identity.data)[number];
}

static void row_of(const struct nd_index *index, uint32_t number, struct nd_index_row *row)
{
    memcpy(row->low, low_of(index, number), ND_MINHASH_COUNT);
    row->simhash = nd_index_simhash(index, number);
    row->identity = identity_of(index, number);
    row->group = gate_of(index, number).group;
    row->n_shingles = gate_of(index, number).n_shingles;
    row->is_short = nd_index_is_short(index, number);
    row->key = NULL;
}

struct nd_index *nd_index_new(const struct nd_index_params *params, struct nd_error *err)
{
    struct nd_index *index;

    if (params->bands && (params->rows == 0 || params->rows > ND_MINHASH_COUNT / params->bands)) {
        nd_fail(err, ND_EINVAL, "%u bands of %u rows need more than %d minima, or none",
                params->bands, params->rows, ND_MINHASH_COUNT);
        return NULL;
    }
    if (params->simhash_bits != ND_NO_SIMHASH && params->simhash_bits > ND_SIMHASH_BITS_MAX) {
        nd_fail(err, ND_EINVAL, "simhashes are looked up within 0 to %u bits, not %u",
                ND_SIMHASH_BITS_MAX, params->simhash_bits);
        return NULL;
    }
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
    free(index);
}

size_t nd_index_count(const struct nd_index *index)
{
    return index->n - index->n_deleted;
}

size_t nd_index_bytes(const struct nd_index *index)
{
    return sizeof *index + index->low.bytes + index->simhash.bytes + index->identity.bytes +
           index->gate.bytes + index->flags.bytes + index->block.bytes;
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
}

enum nd_status nd_index_append(struct nd_index *index, const struct nd_index_row *row,
                               uint32_t *number, struct nd_error *err)
{
    size_t n = (size_t)index->n + 1;

    if (index->n >= UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "an index holds at most %u documents", UINT32_MAX - 1);
    if (!nd_column_reserve(&index->low, n + 1, ND_MINHASH_COUNT) || /* one more: the padding */
        !nd_column_reserve(&index->simhash, n, sizeof row->simhash) ||
        !nd_column_reserve(&index->identity, n, sizeof row->identity) ||
        !nd_column_reserve(&index->gate, n, sizeof(struct gate)) ||
        !nd_column_reserve(&index->flags, n, 1))
        return nd_fail(err, ND_ENOMEM, "out of memory for an index of %zu documents", n);
    memcpy((uint8_t *)index->low.data + (n - 1) * ND_MINHASH_COUNT, row->low, ND_MINHASH_COUNT);
    ((uint64_t *)index->simhash.data)[n - 1] = row->simhash;
    ((uint64_t *)index->identity.data)[n - 1] = row->identity;
    ((struct gate *)index->gate.data)[n - 1] = (struct gate){row->group, row->n_shingles};
    *flags_of(index, index->n) = row->is_short ? SHORT : 0;
    *number = index->n++;
    return ND_OK;
}

/* The key under which a number stands in a table; bands, the many, without a copy of the row. */
static uint64_t key_of(const struct nd_index *index, unsigned t, uint32_t number)
{
    struct nd_index_row row;

    if (t < index->params.bands)
        return nd_band_key(&index->params, t, low_of(index, number), nd_index_group(index, number));
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
}

/* Make room in the tables for n more; *emptied: they grew, and each is to be filled again. */
static bool make_room(struct nd_index *index, size_t n, bool *emptied)
{
    *emptied = !nd_multimap_fits(&index->table[0], n);
    return !*emptied || nd_multimap_block_grow(&index->block, index->table, index->n_tables, n);
}

/* Add all that was listed again, in order. */
static void fill_again(struct nd_index *index, unsigned t)
{
    struct nd_multimap_adder adder = {.map = &index->table[t]};

    for (uint32_t i = 0; i < index->n; i++)
        if (*flags_of(index, i) & LISTED)
            nd_multimap_add_soon(&adder, key_of(index, t, i), i);
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
        fill_again(job->index, (unsigned)task);
    for (size_t i = 0; i < job->n; i++)
        nd_multimap_add_soon(&adder, row_key(&job->index->params, (unsigned)task, job->row[i]),
                             job->number[i]);
    nd_multimap_add_rest(&adder);
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
    if (!make_room(index, n, &job.emptied))
        return no_memory(index, err);
    if (pool)
        nd_pool_run(pool, index->n_tables, list_in_table, &job);
    else
        for (unsigned t = 0; t < index->n_tables; t++)
            list_in_table(&job, t, 0);
    for (size_t i = 0; i < n; i++)
        *flags_of(index, number[i]) |= LISTED;
    return ND_OK;
}

enum nd_status nd_index_reserve(struct nd_index *index, size_t n, struct nd_error *err)
{
    bool emptied;

    if (!make_room(index, n, &emptied))
        return no_memory(index, err);
    for (unsigned t = 0; emptied && t < index->n_tables; t++)
        fill_again(index, t);
    return ND_OK;
}

enum nd_status nd_index_add(struct nd_index *index, const struct nd_index_row *row,
                            uint32_t *number, struct nd_error *err)
{
    enum nd_status status = nd_index_reserve(index, 1, err);

    if (status == ND_OK)
        status = nd_index_append(index, row, number, err);
    if (status)
        return status;
    for (unsigned t = 0; t < index->n_tables; t++)
        nd_multimap_add(&index->table[t], row_key(&index->params, t, row), *number);
    *flags_of(index, *number) |= LISTED;
    return ND_OK;
}

void nd_index_remove(struct nd_index *index, const struct nd_index_row *row, uint32_t number)
{
    if (*flags_of(index, number) & LISTED)
        for (unsigned t = 0; t < index->n_tables; t++)
            nd_multimap_remove(&index->table[t], row_key(&index->params, t, row), number);
    *flags_of(index, number) = DELETED;
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

    if (number >= index->n || *flags_of(index, number) & DELETED)
        return nd_fail(err, ND_EINVAL, "the index has no document %u", number);
    row_of(index, number, &row);
    nd_index_remove(index, &row, number);
    return ND_OK;
}

static bool passes(const struct nd_index *index, const struct nd_index_row *row,
                   struct nd_index_filter filter, uint32_t number)
{
    struct gate gate = gate_of(index, number);

    return gate.group == row->group && gate.n_shingles >= filter.least &&
           gate.n_shingles <= filter.most;
}

static struct nd_candidate describe(uint32_t number, struct nd_equal_bytes equal,
                                    uint64_t difference)
{
    return (struct nd_candidate){
        .number = number,
        .equal = (uint16_t)(nd_count_ones(equal.word[0]) + nd_count_ones(equal.word[1])),
        .distance = (uint16_t)nd_count_ones(difference)};
}

static struct nd_equal_bytes equal_bytes(const struct nd_index *index,
                                         const struct nd_index_row *row, uint32_t number)
{
    struct nd_equal_bytes equal;

    index->kernels->bytes_equal(row->low, low_of(index, number), equal.word);
    return equal;
}

/* A number that a table proposed: whether this is the first table in which it meets the row, and
 * how nearly. */
static bool meets(const struct nd_index *index, const struct nd_index_row *row, unsigned table,
                  uint32_t number, struct nd_candidate *found)
{
    struct nd_equal_bytes equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_index_simhash(index, number);

    if (table == nd_table_identity(&index->params)
            ? row->identity != identity_of(index, number)
            : nd_table_first_common(&index->params, index->band_starts, equal, difference) != table)
        return false;
    *found = describe(number, equal, difference);
    return true;
}

/* The row's keys, made if need be, and the tables asked for: their lines are on the way. */
static const uint64_t *prefetch_keys(const struct nd_index *index, const struct nd_index_row *row,
                                     uint64_t own[TABLES_MAX], struct nd_table_range *asked)
{
    const uint64_t *key = row->key;

    if (!key) {
        nd_index_keys(&index->params, row, own);
        key = own;
    }
    *asked = nd_table_asked(&index->params);
    for (unsigned t = asked->first; t < asked->end; t++)
        nd_multimap_prefetch(&index->table[t], key[t]);
    return key;
}

void nd_index_expect(const struct nd_index *index, const struct nd_index_row *row)
{
    uint64_t own[TABLES_MAX];
    struct nd_table_range asked;

    (void)prefetch_keys(index, row, own, &asked);
}

/*
 * What the tables propose, before it is looked at: so the columns of all of it are on their way at
 * once.  A number already found may be proposed by further tables; `seen` remembers the last ones.
 */
enum { PROPOSALS = 64, SEEN = 64 };
struct proposals {
    size_t n;
    uint32_t number[PROPOSALS];
    uint8_t table[PROPOSALS];
    uint32_t seen[SEEN]; /* by the low bits: number + 1 */
};
_Static_assert(TABLES_MAX <= UINT8_MAX, "a table's number is a byte");

static void propose(const struct nd_index *index, struct proposals *p, unsigned table,
                    uint32_t number)
{
    const uint8_t *low = low_of(index, number);

    __builtin_prefetch((const struct gate *)index->gate.data + number);
    __builtin_prefetch(low);
    __builtin_prefetch(low + ND_MINHASH_COUNT / 2);
    p->number[p->n] = number;
    p->table[p->n++] = (uint8_t)table;
}

static bool take_proposals(const struct nd_index *index, const struct nd_index_row *row,
                           struct nd_index_filter filter, struct proposals *p,
                           struct nd_candidates *out)
{
    struct nd_candidate found;

    for (size_t i = 0; i < p->n; i++) {
        uint32_t number = p->number[i], *seen = &p->seen[number % SEEN];

        if (*seen == number + 1 || !passes(index, row, filter, number) ||
            !meets(index, row, p->table[i], number, &found))
            continue;
        *seen = number + 1;
        if (!nd_candidates_add(out, found))
            return false;
    }
    p->n = 0;
    return true;
}

enum nd_status nd_index_query_row(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_index_filter filter, struct nd_candidates *out)
{
    uint64_t own[TABLES_MAX];
    struct nd_table_range asked;
    const uint64_t *key = prefetch_keys(index, row, own, &asked);
    struct proposals p;
    uint32_t number;

    out->count = 0;
    p.n = 0;
    memset(p.seen, 0, sizeof p.seen);
    for (unsigned t = asked.first; t < asked.end; t++) {
        struct nd_multimap_scan scan = nd_multimap_find(&index->table[t], key[t]);

        while (nd_multimap_next(&index->table[t], &scan, &number)) {
            propose(index, &p, t, number);
            if (p.n == PROPOSALS && !take_proposals(index, row, filter, &p, out))
                return ND_ENOMEM;
        }
    }
    if (!take_proposals(index, row, filter, &p, out))
        return ND_ENOMEM;
    nd_candidates_sort(out, index->params.bands == 0);
    return ND_OK;
}

bool nd_index_meets_any(const struct nd_index *index, const struct nd_index_row *row,
                        uint32_t below)
{
    uint64_t own[TABLES_MAX];
    struct nd_table_range asked;
    const uint64_t *key = prefetch_keys(index, row, own, &asked);
    struct nd_candidate found;
    uint32_t number;

    for (unsigned t = asked.first; t < asked.end; t++) {
        struct nd_multimap_scan scan = nd_multimap_find(&index->table[t], key[t]);

        while (nd_multimap_next(&index->table[t], &scan, &number))
            if (number < below && passes(index, row, ND_INDEX_ALL, number) &&
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

void nd_index_expect_identity(const struct nd_index *index, uint64_t identity, uint32_t group)
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
    struct nd_multimap_scan at = {scan->line, scan->match,
                                  (uint8_t)identity_key(index, scan->identity, scan->group)};
    bool found;

    while ((found = nd_multimap_next(s, &at, number)) &&
           (identity_of(index, *number) != scan->identity ||
            nd_index_group(index, *number) != scan->group))
        ;
    scan->line = at.line;
    scan->match = at.match;
    return found;
}

enum nd_status nd_index_query_all(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_index_filter filter, struct nd_candidates *out)
{
    out->count = 0;
    for (uint32_t number = 0; number < index->n; number++) {
        if (!(*flags_of(index, number) & LISTED) || !passes(index, row, filter, number))
            continue;
        if (!nd_candidates_add(out, describe(number, equal_bytes(index, row, number),
                                             row->simhash ^ nd_index_simhash(index, number))))
            return ND_ENOMEM;
    }
    nd_candidates_sort(out, false);
    return ND_OK;
}

enum nd_status nd_index_query(const struct nd_index *index, const struct nd_sketch *sketch,
                              uint32_t group, struct nd_candidates *out)
{
    struct nd_index_row row;

    nd_index_row_from_sketch(&row, sketch, group);
    return nd_index_query_row(index, &row, ND_INDEX_ALL, out);
}
