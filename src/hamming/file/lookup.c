/* lookup.c - what a segment has near to some queries
 *
 * Searching a table (Manku 2007, §3.1): all fingerprints that agree with a query in the key stand
 * side by side, as a list.  One query alone reads the place of each list, then the list, and waits
 * for memory twice a table.  So a batch goes through one table after the other:
 *
 *     sort     the queries by their key in this table, so that they meet the table from its beginning
 *              to its end, and those of the same key meet their list together (Manku 2007, §3.3);
 *     ahead    of each list, the sample of its place is asked for AHEAD lists before it is read, and
 *              its low bits NEXT lists before;
 *     compare  the low bits where they are, a block of the list with one query of the group after
 *              the other (nd_hamming_ef_near).  The block code is decoded first, once for the group;
 *     check    what is near: its high part makes it whole.  The first table whose key agrees
 *              reports it;
 *     settle   what was found through other tables than 0 is looked up there for its ids.  That is
 *              done some twenty at a time, so that they wait for memory together.
 */
#include "hamming/file/packed.h"
#include "hamming/file/segment.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "hamming/plan/fingerprint.h"
#include "simd/hamming_kernels.h"

enum {
    BLOCK = 1 << 16, /* queries that are sorted together */
    AT_ONCE = 512,   /* values of a list */
    AHEAD = 24,
    NEXT = 8, /* a power of 2 */
    HITS = 24,
    MANY = 16, /* of so many values, if one is near, the block is decoded */
    SORTED_BITS = 32
};

/* Queries of one key, numbers from `from` to before `to` of those sorted. */
struct group {
    size_t from, to;
    uint64_t low, high; /* what leads like the key */
    struct nd_hamming_ef_list list;
};

/* A fingerprint near to a query, number `number` of table 0, or not known yet. */
struct hit {
    uint64_t first_lead, number;
    uint32_t query;
    unsigned distance;
    bool is_known;
};

struct lookup {
    const struct nd_hamming_segment *segment;
    struct nd_hamming_search *search;
    const uint64_t *queries;   /* of this block */
    uint64_t *probe, *scratch; /* the first bits of the lead, then the query's number */
    size_t n;
    unsigned t;
    struct group ring[NEXT];
    struct hit hit[HITS];
    size_t n_hits;
};

static const uint64_t *query_of(const struct lookup *l, uint32_t query)
{
    return l->queries + query * l->segment->scheme->words;
}

/* Every id of a fingerprint. */
static void emit(struct lookup *l, const struct hit *hit)
{
    const struct nd_hamming_segment *s = l->segment;
    struct nd_hamming_search *q = l->search;
    uint64_t at = nd_hamming_groups_start(&s->groups, hit->number);
    uint64_t end = nd_hamming_groups_end(&s->groups, at);

    for (; at < end; at++)
        nd_hamming_sink_id(&q->sink, hit->query, q->entries ? q->base + (uint32_t)at : s->id[at],
                           hit->distance);
}

static void settle(struct lookup *l)
{
    const struct nd_hamming_segment *s = l->segment;
    const struct nd_hamming_values *first = &s->table[0].values;
    bool is_ef = first->codec == ND_HAMMING_EF;

    for (size_t i = 0; i < l->n_hits; i++)
        if (is_ef && !l->hit[i].is_known)
            nd_hamming_ef_prefetch_high(&first->ef, l->hit[i].first_lead);
    for (size_t i = 0; i < l->n_hits; i++) {
        struct hit *hit = &l->hit[i];

        if (!hit->is_known)
            hit->number = is_ef
                              ? nd_hamming_ef_rank(&first->ef, hit->first_lead)
                              : nd_hamming_values_range(first, hit->first_lead, hit->first_lead).at;
        if (s->id)
            __builtin_prefetch(&s->id[hit->number]);
    }
    for (size_t i = 0; i < l->n_hits; i++)
        emit(l, &l->hit[i]);
    l->n_hits = 0;
}

/* Value number `at` of table t is `value`, and perhaps near: reported by the first table whose key
 * agrees. */
static void check(struct lookup *l, uint32_t query, uint64_t at, uint64_t value)
{
    const struct nd_hamming_segment *s = l->segment;
    const struct nd_hamming_scheme *scheme = s->scheme;
    const uint64_t *x = query_of(l, query);
    struct hit hit = {.number = at, .query = query, .is_known = s->row || l->t == 0};
    uint64_t narrow;
    const uint64_t *row = &narrow;

    if (s->row && l->t)
        hit.number = nd_packed_get(s->table[l->t].number, s->number_bits, at);
    if (s->row)
        row = s->row + hit.number * scheme->words;
    else
        narrow = nd_hamming_restore(&scheme->order[l->t], value);
    hit.distance = nd_hamming_distance(row, x, scheme->words);
    if (hit.distance > l->search->distance ||
        !nd_hamming_agree(scheme->order[l->t].key, row, x, scheme->words))
        return;
    for (unsigned before = 0; before < l->t; before++)
        if (nd_hamming_agree(scheme->order[before].key, row, x, scheme->words))
            return;
    if (!hit.is_known) {
        hit.first_lead = nd_hamming_lead(&scheme->order[0], row);
        if (s->table[0].values.codec == ND_HAMMING_EF)
            nd_hamming_ef_prefetch_sample(&s->table[0].values.ef, hit.first_lead);
    }
    l->hit[l->n_hits++] = hit;
    if (l->n_hits == HITS)
        settle(l);
}

static uint32_t number_of(uint64_t probe)
{
    return (uint32_t)probe;
}

/* One block of a list, with every query of the group. */
static void compare_block(struct lookup *l, const struct group *g, uint64_t first, size_t n)
{
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];
    const struct nd_hamming_ef *ef = &l->segment->table[l->t].values.ef;
    uint32_t near[AT_ONCE];
    uint64_t value[AT_ONCE];
    bool decoded = false;

    for (size_t i = g->from; i < g->to; i++) {
        uint32_t query = number_of(l->probe[i]);
        uint64_t lead = nd_hamming_lead(order, query_of(l, query));
        size_t count = nd_hamming_ef_near(ef, first, n, lead, l->search->distance, near);

        if (count * MANY > n && !decoded) {
            nd_hamming_ef_decode(ef, first, n, value);
            decoded = true;
        }
        for (size_t j = 0; j < count; j++)
            check(l, query, first + near[j],
                  decoded ? value[near[j]] : nd_hamming_ef_value(ef, &g->list, first + near[j]));
    }
}

/* The list of a group in a code that must be decoded. */
static void decode_list(struct lookup *l, const struct group *g)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct nd_hamming_values *values = &l->segment->table[l->t].values;
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];
    struct nd_hamming_range range = nd_hamming_values_range(values, g->low, g->high);
    uint64_t value[AT_ONCE], at;
    uint32_t near[AT_ONCE];

    for (size_t n; at = range.at, (n = nd_hamming_values_next(values, &range, AT_ONCE, value));)
        for (size_t i = g->from; i < g->to; i++) {
            uint32_t query = number_of(l->probe[i]);
            uint64_t lead = nd_hamming_lead(order, query_of(l, query));
            size_t count = kernels->rows(value, n, 1, &lead, l->search->distance, near);

            for (size_t j = 0; j < count; j++)
                check(l, query, at + near[j], value[near[j]]);
        }
}

static void compare(struct lookup *l, const struct group *g)
{
    if (l->segment->table[l->t].values.codec != ND_HAMMING_EF) {
        decode_list(l, g);
        return;
    }
    for (uint64_t first = g->list.first; first < g->list.end; first += AT_ONCE) {
        uint64_t left = g->list.end - first;

        compare_block(l, g, first, left < AT_ONCE ? (size_t)left : AT_ONCE);
    }
}

/* The group that begins with probe number `from`: those whose keys agree, as far as probes hold
 * them. */
static struct group group_from(const struct lookup *l, size_t from)
{
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];
    unsigned bits = nd_hamming_lead_bits(l->segment->scheme->plan.problem.bits);
    unsigned free_bits = bits - order->key_bits;
    uint64_t rest = free_bits ? ~UINT64_C(0) >> (64 - free_bits) : 0;
    uint64_t lead = nd_hamming_lead(order, query_of(l, number_of(l->probe[from])));
    struct group g = {.from = from, .to = from + 1, .low = lead & ~rest, .high = lead | rest};

    while (order->key_bits <= SORTED_BITS && g.to < l->n &&
           l->probe[g.to] >> SORTED_BITS == l->probe[from] >> SORTED_BITS)
        g.to++;
    return g;
}

/* Ask for the samples of the probes from *asked to before `to`. */
static void ask_ahead(const struct lookup *l, size_t *asked, size_t to)
{
    const struct nd_hamming_values *values = &l->segment->table[l->t].values;

    for (; values->codec == ND_HAMMING_EF && *asked < to && *asked < l->n; ++*asked)
        nd_hamming_ef_prefetch_sample(&values->ef,
                                      nd_hamming_lead(&l->segment->scheme->order[l->t],
                                                      query_of(l, number_of(l->probe[*asked]))));
}

/* Find the list of a group, and ask for it. */
static void find_list(const struct lookup *l, struct group *g)
{
    const struct nd_hamming_values *values = &l->segment->table[l->t].values;

    if (values->codec != ND_HAMMING_EF)
        return;
    g->list = nd_hamming_ef_list(&values->ef, g->low, g->high);
    nd_hamming_ef_prefetch_list(&values->ef, &g->list);
}

/* Sort the queries of the block by their keys in table t. */
static void sort_probes(struct lookup *l)
{
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];
    unsigned bits = nd_hamming_lead_bits(l->segment->scheme->plan.problem.bits);
    unsigned kept = order->key_bits < SORTED_BITS ? order->key_bits : SORTED_BITS;

    for (size_t i = 0; i < l->n; i++)
        l->probe[i] =
            nd_hamming_lead(order, query_of(l, (uint32_t)i)) >> (bits - kept) << SORTED_BITS | i;
    nd_sort_values(l->probe, l->n, l->scratch);
}

static void search_table(struct lookup *l)
{
    size_t found = 0, done = 0, next = 0, asked = 0;

    sort_probes(l);
    while (next < l->n || done < found) {
        for (; next < l->n && found - done < NEXT; found++) {
            struct group *g = &l->ring[found % NEXT];

            ask_ahead(l, &asked, next + AHEAD);
            *g = group_from(l, next);
            find_list(l, g);
            next = g->to;
        }
        compare(l, &l->ring[done++ % NEXT]);
    }
    settle(l);
}

void nd_hamming_segment_search(const struct nd_hamming_segment *segment,
                               struct nd_hamming_search *search)
{
    size_t words = segment->scheme->words, room = search->n < BLOCK ? search->n : BLOCK;
    struct lookup l = {.segment = segment, .search = search};
    uint64_t few[2 * NEXT];

    l.probe = room <= NEXT ? few : nd_alloc_array(2 * room, sizeof *l.probe);
    search->sink.out_of_memory |= !l.probe;
    for (size_t start = 0; start < search->n && !search->sink.out_of_memory; start += l.n) {
        l.scratch = l.probe + room;
        l.queries = search->queries + start * words;
        l.n = search->n - start < room ? search->n - start : room;
        search->sink.first = (uint32_t)start;
        for (l.t = 0; l.t < segment->scheme->plan.tables; l.t++)
            search_table(&l);
    }
    if (l.probe != few)
        free(l.probe);
}
