/* live_query.c - the live index asked: who shares a band, a block, the identity */
#include <string.h>

#include "index/candidates.h"
#include "index/live_state.h"

static bool passes(const struct nd_index *index, const struct nd_index_row *row,
                   struct nd_index_filter filter, uint32_t number)
{
    struct nd_gate gate = nd_gate_of(index, number);

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

    index->kernels->bytes_equal(row->low, nd_low_of(index, number), equal.word);
    return equal;
}

/* What a document is left out of, which has the flag. */
static const struct nd_table_set *left_out_of(const struct nd_index *index, uint32_t number)
{
    const struct nd_table_set *all = index->left_out.data;

    return &all[((const uint32_t *)index->left_out_at.data)[number]];
}

/*
 * Whether a table is the first in which the row meets a number that stands there: the first table
 * that they have in common, unless the number is left out of that one.
 */
static bool is_first_common(const struct nd_index *index, unsigned table, uint32_t number,
                            struct nd_equal_bytes equal, uint64_t difference)
{
    unsigned first = nd_table_first_common(&index->params, index->band_starts, equal, difference);
    const struct nd_table_set *left_out;

    if (first >= table || !(*nd_flags_of(index, number) & ND_LEFT_OUT))
        return first == table;
    left_out = left_out_of(index, number);
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
    struct nd_equal_bytes equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_index_simhash(index, number);

    if (table == nd_table_identity(&index->params)
            ? row->identity != nd_identity_of(index, number)
            : !is_first_common(index, table, number, equal, difference))
        return false;
    *found = describe(number, equal, difference);
    return true;
}

/* The row's keys, made if need be, and the tables asked for: their lines are on the way. */
static const uint64_t *prefetch_keys(const struct nd_index *index, const struct nd_index_row *row,
                                     uint64_t own[ND_INDEX_TABLES_MAX],
                                     struct nd_table_range *asked)
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
    uint64_t own[ND_INDEX_TABLES_MAX];
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
_Static_assert(ND_INDEX_TABLES_MAX <= UINT8_MAX, "a table's number is a byte");

static void propose(const struct nd_index *index, struct proposals *p, unsigned table,
                    uint32_t number)
{
    const uint8_t *low = nd_low_of(index, number);

    __builtin_prefetch((const struct nd_gate *)index->gate.data + number);
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
        if (found.equal < filter.equal)
            continue;
        if (!nd_candidates_add(out, found))
            return false;
    }
    p->n = 0;
    return true;
}

enum nd_status nd_index_query_row(const struct nd_index *index, const struct nd_index_row *row,
                                  struct nd_index_filter filter, struct nd_candidates *out)
{
    uint64_t own[ND_INDEX_TABLES_MAX];
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

/* Of a table, up to `most`. */
static uint32_t count_key(const struct nd_index *index, const struct nd_index_row *row,
                          struct nd_index_filter filter, unsigned table, uint64_t key,
                          uint32_t most)
{
    struct nd_multimap_scan scan = nd_multimap_find(&index->table[table], key);
    uint32_t number, n = 0;

    while (n < most && nd_multimap_next(&index->table[table], &scan, &number)) {
        struct nd_equal_bytes equal;

        if (!passes(index, row, filter, number))
            continue;
        equal = equal_bytes(index, row, number);
        n += nd_table_is_common(&index->params, table, equal,
                                row->simhash ^ nd_index_simhash(index, number)) &&
             nd_count_ones(equal.word[0]) + nd_count_ones(equal.word[1]) >= filter.equal;
    }
    return n;
}

void nd_index_count_keys(const struct nd_index *index, const struct nd_index_row *row,
                         struct nd_index_filter filter, uint32_t most, uint32_t *full)
{
    uint64_t own[ND_INDEX_TABLES_MAX];
    struct nd_table_range asked;
    const uint64_t *key = prefetch_keys(index, row, own, &asked);

    for (unsigned t = 0; t < nd_table_identity(&index->params); t++)
        if (full[t] < most)
            full[t] += count_key(index, row, filter, t, key[t], most - full[t]);
}

bool nd_index_will_stand(const struct nd_index_params *params, const struct nd_index_row *listed,
                         const struct nd_index_row *row, unsigned table)
{
    return !nd_table_set_has(&listed->left_out, table) &&
           nd_table_key(params, table, listed) == nd_table_key(params, table, row);
}

struct nd_table_set nd_index_keys_shared(const struct nd_index *index,
                                         const struct nd_index_row *row, uint32_t number)
{
    struct nd_equal_bytes equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_index_simhash(index, number);
    const struct nd_table_set none = {{0}}, *left_out = *nd_flags_of(index, number) & ND_LEFT_OUT
                                                            ? left_out_of(index, number)
                                                            : &none;
    struct nd_table_set shared = none;

    for (unsigned t = 0; t < nd_table_identity(&index->params); t++)
        if (!nd_table_set_has(left_out, t) &&
            nd_table_is_common(&index->params, t, equal, difference))
            shared.word[t / 64] |= UINT64_C(1) << t % 64;
    return shared;
}

bool nd_index_is_candidate(const struct nd_index *index, const struct nd_index_row *row,
                           struct nd_index_filter filter, uint32_t number)
{
    struct nd_equal_bytes equal = equal_bytes(index, row, number);
    uint64_t difference = row->simhash ^ nd_index_simhash(index, number);
    unsigned identity = nd_table_identity(&index->params);

    if (!passes(index, row, filter, number) ||
        nd_count_ones(equal.word[0]) + nd_count_ones(equal.word[1]) < filter.equal)
        return false;
    if (identity == 0)
        return row->identity == nd_identity_of(index, number);
    return nd_table_first_common(&index->params, index->band_starts, equal, difference) < identity;
}

bool nd_index_meets_any(const struct nd_index *index, const struct nd_index_row *row,
                        uint32_t below)
{
    uint64_t own[ND_INDEX_TABLES_MAX];
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
           (nd_identity_of(index, *number) != scan->identity ||
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
        if (!(*nd_flags_of(index, number) & ND_LISTED) || !passes(index, row, filter, number))
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

    enum nd_status status;

    nd_index_row_from_sketch(&row, sketch, group);
    status = nd_index_query_row(index, &row, ND_INDEX_ALL, out);
    if (status != ND_OK)
        out->count = 0;
    return status;
}
