/* containers.c - documents found by the shingles that they contain, or that contain theirs */
#include "index/containers.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "index/candidate_list.h"
#include "index/live.h"

enum { MORE_VALUES = 3 };

/* Facts about a document, by its number. */
struct container_fact {
    uint64_t from; /* its values */
    uint32_t n_values;
    uint32_t n_shingles;
    uint32_t group;
    uint32_t overflow; /* 1 + its place among those that are left out of full values; 0: of none */
    bool is_sparse; /* full lists left fewer values of its sample than it would be listed under */
};

/* The values of a document under which it is listed, where these are not all. */
struct overflow {
    uint64_t from;
    uint32_t n_values;
};

struct nd_containers {
    struct nd_container_params params;
    uint32_t room;                    /* documents that a table lists under a value at most */
    const struct nd_containers *base; /* what stands there counts too; NULL: nothing */
    struct nd_column value;           /* uint32_t: of the documents, one after the other */
    struct nd_column fact;            /* struct container_fact */
    struct nd_column overflowing;     /* struct overflow */
    uint64_t n_words, n_left_out;
    uint32_t n, n_overflowing, n_crowded;
    struct nd_postings table[ND_CONTAINER_TABLES];
    uint32_t longest[ND_CONTAINER_TABLES]; /* how many documents the longest list of a table has */
    struct nd_container_scratch scratch;
};

static struct container_fact *fact_of(const struct nd_containers *c, uint32_t number)
{
    return (struct container_fact *)c->fact.data + number;
}

static const uint32_t *stored_at(const struct nd_containers *c, uint64_t from)
{
    return (const uint32_t *)c->value.data + from;
}

static uint32_t sample_size(const struct nd_container_params *p, uint32_t n_values)
{
    return n_values < p->sample ? n_values : p->sample;
}

/*
 * How many values of a document's sample must be in another: where that is all of the document, as
 * the threshold asks, less those of its shingles whose values agree by chance.
 */
static uint32_t min_shared(const struct nd_container_params *p, uint32_t n_values,
                           uint32_t n_shingles)
{
    uint64_t need, alike = n_shingles - n_values;

    if (n_values >= p->sample)
        return p->min_shared;
    need = ((uint64_t)n_shingles * p->threshold.p + p->threshold.q - 1) / p->threshold.q;
    return need > alike + 1 ? (uint32_t)(need - alike) : 1;
}

/* How many values more than need be are looked up, or listed: so many more are shared then. */
static uint32_t more_values(uint32_t need)
{
    return need - 1 < MORE_VALUES ? need - 1 : MORE_VALUES;
}

/* Return how many values are stored for a document: all, or only its sample if it can only be the
 * contained one. */
static uint32_t stored_count(const struct nd_container_params *p, uint32_t n_values)
{
    return p->way == ND_CONTAINERS_OF_KEPT ? sample_size(p, n_values) : n_values;
}

static bool is_left_out(const struct nd_container_row *row, uint32_t i)
{
    return row->left_out && row->left_out[i / 64] >> i % 64 & 1;
}

/* Have the values ordered by how many stand under them, the fewest first: the place of the i-th is
 * the lower half of s->order[i], and the upper how many.  False: out of memory. */
static bool order_by_rarity(const struct nd_containers *c, enum nd_container_table table,
                            struct nd_container_scratch *s, const uint32_t *value, uint32_t n);

/* The values under which a document is listed, or was stored to be. */
static const uint32_t *listed_values(const struct nd_containers *c, uint32_t number, uint32_t *n);

static uint32_t value_of(uint64_t shingle, uint32_t group)
{
    uint64_t hash = nd_mix64(shingle + group * UINT64_C(0x9E3779B97F4A7C15)) >> 32;

    return hash ? (uint32_t)hash : 1;
}

size_t nd_container_values(const uint64_t *shingle, size_t n, uint32_t group,
                           const struct nd_value_set *expected, uint32_t *value, uint64_t *scratch)
{
    size_t taken = 0;

    for (size_t i = 0; i < n; i++) {
        scratch[taken] = value_of(shingle[i], group);
        taken += !expected || nd_value_set_has(expected, (uint32_t)scratch[taken]);
    }
    n = nd_sort_distinct(scratch, taken, scratch + taken);
    for (size_t i = 0; i < n; i++)
        value[i] = (uint32_t)scratch[i];
    return n;
}

/* Keep the `most` least distinct values, ascending; returns how many there are. */
static uint32_t keep_least(uint32_t *least, uint32_t n, uint32_t most, uint32_t value)
{
    uint32_t at = n;

    if (n == most && value >= least[n - 1])
        return n;
    while (at && least[at - 1] > value)
        at--;
    if (at && least[at - 1] == value)
        return n;
    n -= n == most;
    memmove(least + at + 1, least + at, (n - at) * sizeof *least);
    least[at] = value;
    return n + 1;
}

bool nd_container_expect(const struct nd_container_params *p, const uint64_t *shingle, size_t n,
                         struct nd_value_set *expected)
{
    uint32_t least[ND_SAMPLE_OF_ALL];
    uint32_t n_least = 0;

    for (size_t i = 0; i < n; i++)
        n_least = keep_least(least, n_least, p->sample, value_of(shingle[i], 0));
    for (uint32_t i = 0; i < n_least; i++)
        if (!nd_value_set_add(expected, least[i]))
            return false;
    return true;
}

struct nd_containers *nd_containers_new(const struct nd_container_params *params)
{
    struct nd_containers *c = calloc(1, sizeof *c);

    if (c) {
        c->params = *params;
        c->room = UINT32_MAX;
    }
    return c;
}

void nd_containers_free(struct nd_containers *c)
{
    if (!c)
        return;
    nd_column_release(&c->value);
    nd_column_release(&c->fact);
    nd_column_release(&c->overflowing);
    for (unsigned t = 0; t < ND_CONTAINER_TABLES; t++)
        nd_postings_release(&c->table[t]);
    nd_container_scratch_release(&c->scratch);
    free(c);
}

size_t nd_containers_bytes(const struct nd_containers *c)
{
    size_t bytes = sizeof *c + c->value.bytes + c->fact.bytes + c->overflowing.bytes;

    for (unsigned t = 0; t < ND_CONTAINER_TABLES; t++)
        bytes += nd_postings_bytes(&c->table[t]);
    return bytes;
}

void nd_containers_clear(struct nd_containers *c)
{
    for (unsigned t = 0; t < ND_CONTAINER_TABLES; t++)
        nd_postings_clear(&c->table[t]);
    memset(c->longest, 0, sizeof c->longest);
    c->n = c->n_overflowing = c->n_crowded = 0;
    c->n_words = c->n_left_out = 0;
    nd_containers_bound(c, UINT32_MAX, NULL);
}

void nd_containers_bound(struct nd_containers *c, uint32_t room, const struct nd_containers *base)
{
    c->room = room;
    c->base = base;
}

uint32_t nd_containers_longest(const struct nd_containers *c, enum nd_container_table table)
{
    return c->longest[table];
}

uint32_t nd_container_sample(const struct nd_container_params *p,
                             const struct nd_container_row *row, uint32_t *need)
{
    *need = row->n_values ? min_shared(p, row->n_values, row->n_shingles) : 1;
    return sample_size(p, row->n_values);
}

uint64_t nd_containers_crowded(const struct nd_containers *c, uint64_t *n_values)
{
    *n_values = c->n_left_out;
    return (uint64_t)c->n_overflowing + c->n_crowded;
}

bool nd_containers_append(struct nd_containers *c, const struct nd_container_row *row)
{
    uint32_t stored = stored_count(&c->params, row->n_values);

    if (c->n >= ND_POSTING_NUMBERS_MAX ||
        !nd_column_reserve(&c->value, c->n_words + stored + 1, sizeof(uint32_t)) ||
        !nd_column_reserve(&c->fact, (size_t)c->n + 1, sizeof(struct container_fact)))
        return false;
    if (stored)
        memcpy((uint32_t *)c->value.data + c->n_words, row->value, stored * sizeof *row->value);
    *fact_of(c, c->n++) =
        (struct container_fact){c->n_words, row->n_values, row->n_shingles, row->group, 0, false};
    c->n_words += stored;
    return true;
}

static bool reserve_scratch(struct nd_container_scratch *s, size_t n)
{
    size_t capacity = n + n / 2;
    struct nd_posting *posting;
    uint64_t *order;

    if (n <= s->capacity)
        return true;
    posting = nd_alloc_array(capacity, sizeof *posting);
    order = nd_alloc_array(capacity, 2 * sizeof *order);
    if (!posting || !order) {
        free(posting);
        free(order);
        return false;
    }
    free(s->posting);
    free(s->order);
    s->posting = posting;
    s->order = order;
    s->capacity = capacity;
    return true;
}

void nd_container_scratch_release(struct nd_container_scratch *s)
{
    nd_numbers_release(&s->met);
    free(s->posting);
    free(s->order);
    *s = (struct nd_container_scratch){0};
}

/* How many documents of the base stand under a value. */
static uint32_t count_in_base(const struct nd_containers *c, enum nd_container_table table,
                              uint32_t value)
{
    return c->base ? nd_postings_find(&c->base->table[table], value).n : 0;
}

static bool order_by_rarity(const struct nd_containers *c, enum nd_container_table table,
                            struct nd_container_scratch *s, const uint32_t *value, uint32_t n)
{
    const struct nd_postings *p = &c->table[table];

    if (!reserve_scratch(s, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        nd_postings_prefetch(p, value[i]);
    for (uint32_t i = 0; i < n; i++) {
        s->posting[i] = nd_postings_find(p, value[i]);
        s->order[i] = (uint64_t)(s->posting[i].n + count_in_base(c, table, value[i])) << 32 | i;
    }
    nd_sort_values(s->order, n, s->order + n);
    return true;
}

/* How many of n ordered values have `room` documents or more: the last ones. */
static uint32_t count_full(const struct nd_container_scratch *s, uint32_t n, uint32_t room)
{
    uint32_t full = 0;

    while (full < n && s->order[n - 1 - full] >> 32 >= room)
        full++;
    return full;
}

/* List a number under a value, unless that is full, which *is_full says.  False: out of memory. */
static bool add_under(struct nd_containers *c, enum nd_container_table table, uint32_t value,
                      uint32_t number, bool *is_full)
{
    uint32_t in_base = count_in_base(c, table, value),
             room = c->room > in_base ? c->room - in_base : 0, n;

    if (!nd_postings_add(&c->table[table], value, number, room, &n))
        return false;
    *is_full = n >= room;
    if (!*is_full && n >= c->longest[table])
        c->longest[table] = n + 1;
    return true;
}

/* Under all of n values that are not full; add to *n_full those of the first k that are. */
static bool add_all(struct nd_containers *c, enum nd_container_table table, const uint32_t *value,
                    uint32_t n, uint32_t number, uint32_t k, uint32_t *n_full)
{
    enum { AHEAD = 16 };
    bool is_full;

    for (uint32_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            nd_postings_prefetch(&c->table[table], value[i + AHEAD]);
        if (!add_under(c, table, value[i], number, &is_full))
            return false;
        *n_full += is_full && i < k;
    }
    return true;
}

/* Under the rarest values of the sample that must have enough of what is shared; *n_full: how many
 * values of the sample are full. */
static bool list_sample(struct nd_containers *c, uint32_t number, const uint32_t *value,
                        uint32_t *n_full)
{
    struct container_fact *fact = fact_of(c, number);
    uint32_t k = sample_size(&c->params, fact->n_values),
             need = min_shared(&c->params, fact->n_values, fact->n_shingles),
             n = k - need + 1 + more_values(need);
    bool is_full;

    if (!order_by_rarity(c, ND_CONTAINERS_SAMPLE, &c->scratch, value, k))
        return false;
    *n_full = count_full(&c->scratch, k, c->room);
    fact->is_sparse = k - *n_full < n;
    n = fact->is_sparse ? k - *n_full : n;
    for (uint32_t i = 0; i < n; i++)
        if (!add_under(c, ND_CONTAINERS_SAMPLE, value[(uint32_t)c->scratch.order[i]], number,
                       &is_full))
            return false;
    return true;
}

/* Under the values that are not full. */
static bool list_overflowing(struct nd_containers *c, uint32_t number,
                             const struct nd_container_row *row)
{
    uint32_t stored = stored_count(&c->params, row->n_values), n = 0, full = 0;
    uint32_t *value;

    if (!nd_column_reserve(&c->value, c->n_words + stored + 1, sizeof *value) ||
        !nd_column_reserve(&c->overflowing, (size_t)c->n_overflowing + 1, sizeof(struct overflow)))
        return false;
    value = (uint32_t *)c->value.data + c->n_words;
    for (uint32_t i = 0; i < stored; i++)
        if (!is_left_out(row, i))
            value[n++] = row->value[i];
    ((struct overflow *)c->overflowing.data)[c->n_overflowing++] = (struct overflow){c->n_words, n};
    fact_of(c, number)->overflow = c->n_overflowing;
    c->n_words += n;
    c->n_left_out += stored - n;
    return add_all(c, ND_CONTAINERS_OVERFLOW, value, n, number, 0, &full);
}

bool nd_containers_list(struct nd_containers *c, uint32_t number,
                        const struct nd_container_row *row)
{
    uint32_t k, need, full = 0, full_for_sample = 0;

    if (row->n_values == 0)
        return true;
    if (row->left_out)
        return list_overflowing(c, number, row);
    k = nd_container_sample(&c->params, row, &need);
    if ((c->params.way != ND_CONTAINERS_OF_KEPT &&
         !add_all(c, ND_CONTAINERS_WHOLE, row->value, row->n_values, number, k, &full)) ||
        (c->params.way != ND_CONTAINERS_IN_KEPT &&
         !list_sample(c, number, row->value, &full_for_sample)))
        return false;
    full = full > full_for_sample ? full : full_for_sample;
    if (full >= need) {
        c->n_crowded++;
        c->n_left_out += full;
    }
    return true;
}

static const uint32_t *listed_values(const struct nd_containers *c, uint32_t number, uint32_t *n)
{
    const struct container_fact *fact = fact_of(c, number);

    if (fact->overflow) {
        const struct overflow *overflow =
            (const struct overflow *)c->overflowing.data + (fact->overflow - 1);

        *n = overflow->n_values;
        return stored_at(c, overflow->from);
    }
    *n = stored_count(&c->params, fact->n_values);
    return stored_at(c, fact->from);
}

/* Under which values of its sample it was listed depends on what stood there: all are tried. */
void nd_containers_remove(struct nd_containers *c, uint32_t number)
{
    uint32_t n, k = sample_size(&c->params, fact_of(c, number)->n_values);
    const uint32_t *value = listed_values(c, number, &n);
    bool is_overflowing = fact_of(c, number)->overflow != 0;

    for (uint32_t i = 0; i < n; i++) {
        if (is_overflowing)
            nd_postings_remove(&c->table[ND_CONTAINERS_OVERFLOW], value[i], number);
        else if (c->params.way != ND_CONTAINERS_OF_KEPT)
            nd_postings_remove(&c->table[ND_CONTAINERS_WHOLE], value[i], number);
        if (!is_overflowing && i < k && c->params.way != ND_CONTAINERS_IN_KEPT)
            nd_postings_remove(&c->table[ND_CONTAINERS_SAMPLE], value[i], number);
    }
}

/* ---- Queries ---- */

enum { SCORE_MOST = 65000 };
_Static_assert(MORE_VALUES + 1 < ND_NUMBERS_COUNTS, "what is shared is counted in three bits");

/* Count a posting's numbers; each is listed once `enough` values have had it. */
static bool take_posting(struct nd_numbers *out, struct nd_posting posting, uint32_t enough)
{
    const uint32_t begun = out->lookups * ND_NUMBERS_COUNTS, last = begun + ND_NUMBERS_COUNTS - 1;

    for (uint32_t i = 0; i < posting.n; i++) {
        uint32_t *met = &out->met[posting.number[i]];

        if (*met < begun)
            *met = begun;
        if (*met != last && ++*met == begun + enough && !nd_numbers_append(out, posting.number[i]))
            return false;
    }
    return true;
}

/* Take the documents that stand under any of the values. */
static bool take_all(const struct nd_postings *p, const uint32_t *value, uint32_t n,
                     struct nd_numbers *out)
{
    enum { AHEAD = 16 };

    for (uint32_t i = 0; p->count && i < n; i++) {
        if (i + AHEAD < n)
            nd_postings_prefetch(p, value[i + AHEAD]);
        if (!take_posting(out, nd_postings_find(p, value[i]), 1))
            return false;
    }
    return true;
}

/*
 * Take the documents that may have enough of the values of the row's sample: those that have some
 * of the rarest.  A document is not listed under a full value if it came later, so only the others
 * count.  Where as many are full as must be shared, all values are looked up, and one suffices: it
 * may be the only one under which a document is listed.
 */
static bool take_sample(const struct nd_containers *c, struct nd_container_scratch *s,
                        const struct nd_container_row *row)
{
    uint32_t need, k = nd_container_sample(&c->params, row, &need), more = more_values(need),
                   n = k - need + 1 + more, enough = more + 1, n_free;

    if (c->table[ND_CONTAINERS_WHOLE].count == 0)
        return true;
    if (!order_by_rarity(c, ND_CONTAINERS_WHOLE, s, row->value, k))
        return false;
    n_free = k - count_full(s, k, c->room);
    s->n_common = count_full(s, k, c->room / 2);
    if (c->base || n_free + need <= k) {
        n = k;
        enough = 1;
    } else if (n_free < n) {
        n = n_free;
        enough = n_free + need - k < enough ? n_free + need - k : enough;
    }
    for (uint32_t i = 0; i < n; i++)
        if (!take_posting(&s->met, s->posting[(uint32_t)s->order[i]], enough))
            return false;
    return true;
}

/* The first place from `from` on whose value is not less. */
static uint32_t lower_bound(const uint32_t *value, uint32_t from, uint32_t n, uint32_t wanted)
{
    uint32_t step = 1, low = from;

    while (from + step < n && value[from + step] < wanted) {
        low = from + step;
        step *= 2;
    }
    n = from + step < n ? from + step : n;
    while (low < n) {
        uint32_t middle = low + (n - low) / 2;

        if (value[middle] < wanted)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* How many of n values are among m others; both ascend. */
static uint32_t count_in(const uint32_t *value, uint32_t n, const uint32_t *other, uint32_t m)
{
    enum { MANY_MORE = 16 };
    uint32_t shared = 0, j = 0;

    if (m / MANY_MORE > n) {
        for (uint32_t i = 0; i < n && j < m; i++) {
            j = lower_bound(other, j, m, value[i]);
            shared += j < m && other[j] == value[i];
        }
        return shared;
    }
    for (uint32_t i = 0; i < n && j < m;) {
        uint32_t x = value[i], y = other[j];

        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return shared;
}

static uint64_t square_root(uint64_t x)
{
    uint64_t root = 0;

    for (int bit = 31; bit >= 0; bit--) {
        uint64_t with = root | UINT64_C(1) << bit;

        if (with * with <= x)
            root = with;
    }
    return root;
}

/* An estimate of the measure, in 65000ths: shared / k, and for the cosine the root of the share of
 * the sizes times that; at need 1. */
static uint16_t score_of(const struct nd_container_params *p, uint32_t shared, uint32_t k,
                         uint32_t smaller, uint32_t larger)
{
    uint64_t score = (uint64_t)shared * SCORE_MOST / k;

    if (p->is_cosine)
        score = square_root((uint64_t)((unsigned __int128)(score * score) * smaller / larger));
    return score ? (uint16_t)score : 1;
}

/* Whether the row's sample is looked for in the listed document, not the other way round. */
static bool looks_in_kept(const struct nd_container_params *p, const struct nd_container_row *row,
                          const struct container_fact *fact)
{
    return p->way == ND_CONTAINERS_IN_KEPT ||
           (p->way == ND_CONTAINERS_BY_SMALLER && row->n_shingles <= fact->n_shingles);
}

/* Whether a listed document is a candidate, and how near. */
static bool is_candidate(const struct nd_containers *c, const struct nd_container_row *row,
                         struct nd_reach reach, uint32_t number, struct nd_candidate *found)
{
    const struct nd_container_params *p = &c->params;
    const struct container_fact *fact = fact_of(c, number);
    const uint32_t *stored = stored_at(c, fact->from);
    bool in_kept = looks_in_kept(p, row, fact);
    uint32_t shared, k, need;

    if (fact->group != row->group || !nd_reaches_count(reach, fact->n_shingles))
        return false;
    k = sample_size(p, in_kept ? row->n_values : fact->n_values);
    need = in_kept ? min_shared(p, row->n_values, row->n_shingles)
                   : min_shared(p, fact->n_values, fact->n_shingles);
    shared = in_kept ? count_in(row->value, k, stored, fact->n_values)
                     : count_in(stored, k, row->value, row->n_values);
    if (shared < need)
        return false;
    *found = (struct nd_candidate){
        .number = number,
        .equal = in_kept ? score_of(p, shared, k, row->n_shingles, fact->n_shingles)
                         : score_of(p, shared, k, fact->n_shingles, row->n_shingles)};
    return true;
}

/*
 * A look-up goes through the three tables one after the other.  A document may stand in two of
 * them, but its size says in which it counts, so that it is found once.
 */
static bool take_proposals(const struct nd_containers *c, struct nd_container_scratch *s,
                           const struct nd_container_row *row, enum nd_container_table table)
{
    if (!nd_numbers_begin(&s->met, c->n))
        return false;
    return table == ND_CONTAINERS_WHOLE
               ? take_sample(c, s, row)
               : take_all(&c->table[table], row->value, row->n_values, &s->met);
}

/* Whether a number counts in the table that proposed it, and was met by enough values. */
static bool counts(const struct nd_containers *c, const struct nd_container_scratch *s,
                   const struct nd_container_row *row, enum nd_container_table table,
                   uint32_t number)
{
    const struct container_fact *fact = fact_of(c, number);
    uint32_t met = s->met.met[number] - s->met.lookups * ND_NUMBERS_COUNTS;

    if (table == ND_CONTAINERS_WHOLE)
        return looks_in_kept(&c->params, row, fact);
    return table == ND_CONTAINERS_OVERFLOW ||
           (!looks_in_kept(&c->params, row, fact) &&
            (fact->is_sparse ||
             met > more_values(min_shared(&c->params, fact->n_values, fact->n_shingles))));
}

/* Count the values of the row's sample under which half as many stand as a list has room for, where
 * take_sample did not. */
static bool count_common(const struct nd_containers *c, struct nd_container_scratch *s,
                         const struct nd_container_row *row)
{
    uint32_t k = sample_size(&c->params, row->n_values);

    if (c->params.way != ND_CONTAINERS_OF_KEPT || c->longest[ND_CONTAINERS_SAMPLE] < c->room / 2)
        return true;
    if (!order_by_rarity(c, ND_CONTAINERS_SAMPLE, s, row->value, k))
        return false;
    s->n_common = count_full(s, k, c->room / 2);
    return true;
}

enum nd_status nd_containers_query(const struct nd_containers *c, struct nd_container_scratch *s,
                                   const struct nd_container_row *row, struct nd_reach reach,
                                   struct nd_candidates *out)
{
    struct nd_candidate found;

    out->count = s->n_common = 0;
    for (enum nd_container_table t = 0; row->n_values && c->n && t < ND_CONTAINER_TABLES; t++) {
        if (!take_proposals(c, s, row, t))
            return ND_ENOMEM;
        s->n_met += s->met.count;
        for (size_t i = 0; i < s->met.count; i++)
            if (counts(c, s, row, t, s->met.items[i]) &&
                is_candidate(c, row, reach, s->met.items[i], &found) &&
                !nd_candidates_add(out, found))
                return ND_ENOMEM;
    }
    nd_candidates_sort(out, false);
    return count_common(c, s, row) ? ND_OK : ND_ENOMEM;
}

bool nd_containers_meets_any(const struct nd_containers *c, struct nd_container_scratch *s,
                             const struct nd_container_row *row, struct nd_reach reach,
                             uint32_t below)
{
    struct nd_candidate found;

    for (enum nd_container_table t = 0; row->n_values && c->n && t < ND_CONTAINER_TABLES; t++) {
        if (!take_proposals(c, s, row, t))
            return true; /* so that it waits: the next look-up says that memory is out */
        for (size_t i = 0; i < s->met.count; i++)
            if (s->met.items[i] < below && counts(c, s, row, t, s->met.items[i]) &&
                is_candidate(c, row, reach, s->met.items[i], &found))
                return true;
    }
    return false;
}

void nd_containers_count(const struct nd_containers *c, const struct nd_container_row *row,
                         uint32_t number, uint32_t *full)
{
    uint32_t n, m = stored_count(&c->params, row->n_values);
    const uint32_t *listed = listed_values(c, number, &n);

    for (uint32_t i = 0, j = 0; i < m && j < n;) {
        uint32_t x = row->value[i], y = listed[j];

        full[i] += x == y;
        i += x <= y;
        j += y <= x;
    }
}

void nd_container_row_count(const struct nd_container_params *params,
                            const struct nd_container_row *row,
                            const struct nd_container_row *listed, uint32_t *full)
{
    uint32_t m = stored_count(params, row->n_values), n = stored_count(params, listed->n_values);

    for (uint32_t i = 0, j = 0; i < m && j < n;) {
        uint32_t x = row->value[i], y = listed->value[j];

        full[i] += x == y && !is_left_out(listed, j);
        i += x <= y;
        j += y <= x;
    }
}

/*
 * One row against those before it.  Of very many only so many are looked at: a mark too many costs
 * time, and nothing else.
 */
static bool link_row(const struct nd_containers *c, struct nd_container_scratch *s,
                     const struct nd_container_row *row, const size_t *place, size_t own,
                     unsigned char *linked)
{
    enum { LOOKED_AT = 64 };
    const struct nd_reach all = ND_REACH_ALL;
    struct nd_candidate found;

    for (enum nd_container_table t = 0; c->n && t < ND_CONTAINER_TABLES; t++) {
        if (!take_proposals(c, s, row, t))
            return false;
        for (size_t i = 0; i < s->met.count; i++) {
            if (i < LOOKED_AT && (!counts(c, s, row, t, s->met.items[i]) ||
                                  !is_candidate(c, row, all, s->met.items[i], &found)))
                continue;
            linked[place[s->met.items[i]]] |= ND_LINKED_LATER;
            linked[own] |= ND_LINKED_EARLIER;
        }
    }
    return true;
}

bool nd_containers_link(const struct nd_container_params *params,
                        const struct nd_container_row *const *row, size_t n, unsigned char *linked)
{
    struct nd_containers *c = nd_containers_new(params);
    struct nd_container_scratch s = {0};
    size_t *place = nd_alloc_array(n, sizeof *place);
    bool ok = c && place;

    for (size_t i = 0; ok && i < n; i++) {
        if (!row[i] || !row[i]->n_values)
            continue;
        place[c->n] = i;
        ok = link_row(c, &s, row[i], place, i, linked) && nd_containers_append(c, row[i]) &&
             nd_containers_list(c, c->n - 1, row[i]);
    }
    nd_container_scratch_release(&s);
    nd_containers_free(c);
    free(place);
    return ok;
}
