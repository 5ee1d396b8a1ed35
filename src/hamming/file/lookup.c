/* lookup.c - what a segment has near to some queries
 *
 * Searching a table (Manku 2007, §3.1): all fingerprints that agree with a query in the key stand
 * side by side, as a list.  One query alone reads the place of each list, then the list, and waits
 * for memory twice a table.  So a batch goes through one table after the other:
 *
 *     sort     the queries by their key in this table, so that they meet the table from its beginning
 *              to its end, and those of the same key meet their list together (Manku 2007, §3.3);
 *     ahead    of each list, the sample of its place is asked for AHEAD queries before it is read,
 *              and its front NEXT lists before;
 *     compare  the front where it is, a block of the list with one query of the group after the
 *              other (nd_hamming_ef_near).  The block code is decoded first, once for the group;
 *     review   candidates, of which the front is near, some twenty at a time, when their other low
 *              bits have come from memory;
 *     check    what is near in all low bits: the high part makes it whole.  The first table whose
 *              key agrees reports it;
 *     settle   what was found through other tables than 0 is looked up there for its ids.  That is
 *              done some twenty at a time, so that they wait for memory together.
 */
#include "hamming/file/fast.h"
#include "hamming/file/packed.h"
#include "hamming/file/segment.h"

#include <stdlib.h>

#include "base/memory.h"
#include "hamming/plan/fingerprint.h"
#include "simd/hamming_kernels.h"

enum {
    BLOCK = 1 << 17, /* queries that are sorted together */
    AT_ONCE = 512,   /* values of a list */
    AHEAD = 32,
    NEXT = 16, /* a power of 2 */
    CANDIDATES = 24,
    HITS = 24,
    MANY = 16, /* of so many values, if one is near, the block is decoded */
    SORTED_BITS = 22,
    DIGIT_BITS = 11, /* of those, in one pass */
    FEW = 16         /* are sorted by insertion */
};

/* A query, and how it leads in the table. */
struct probe {
    uint64_t lead;
    uint32_t query, unused;
};

/* Queries of one key, numbers from `from` to before `to` of those sorted. */
struct group {
    size_t from, to;
    uint64_t low, high; /* what leads like the key */
    struct nd_hamming_ef_list list;
};

/* Value number `at` of the table, whose front is near to that of a query, one of those sorted. */
struct candidate {
    struct nd_hamming_ef_list list;
    uint64_t at;
    size_t probe;
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
    const uint64_t *queries; /* of this block */
    struct probe *probe, *other;
    size_t n;
    unsigned t;
    struct group ring[NEXT];
    struct candidate candidate[CANDIDATES];
    struct hit hit[HITS];
    size_t n_candidates, n_hits;
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
        nd_hamming_sink_id(&q->sink, hit->query,
                           q->entries || !s->id ? q->base + (uint32_t)at : s->id[at],
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

/* The candidates whose low bits are all near. */
static void review(struct lookup *l)
{
    const struct nd_hamming_ef *ef = &l->segment->table[l->t].values.ef;
    const uint64_t mask = (UINT64_C(1) << ef->low_bits) - 1;

    for (size_t i = 0; i < l->n_candidates; i++) {
        const struct candidate *c = &l->candidate[i];
        uint64_t differ = (nd_hamming_ef_low(ef, c->at) ^ l->probe[c->probe].lead) & mask;

        if (nd_count_ones(differ) <= l->search->distance)
            check(l, l->probe[c->probe].query, c->at, nd_hamming_ef_value(ef, &c->list, c->at));
    }
    l->n_candidates = 0;
}

static void add_candidate(struct lookup *l, const struct group *g, size_t probe, uint64_t at)
{
    nd_hamming_ef_prefetch_back(&l->segment->table[l->t].values.ef, at);
    l->candidate[l->n_candidates++] = (struct candidate){g->list, at, probe};
    if (l->n_candidates == CANDIDATES)
        review(l);
}

/* One block of a list, with every query of the group. */
static void compare_block(struct lookup *l, const struct group *g, uint64_t first, size_t n)
{
    const struct nd_hamming_ef *ef = &l->segment->table[l->t].values.ef;
    uint32_t near[AT_ONCE];
    uint64_t value[AT_ONCE];
    bool decoded = false;

    for (size_t i = g->from; i < g->to; i++) {
        size_t count =
            nd_hamming_ef_near(ef, first, n, l->probe[i].lead, l->search->distance, near);

        if (count > MANY && count * MANY > n && !decoded) {
            nd_hamming_ef_decode(ef, first, n, value);
            decoded = true;
        }
        for (size_t j = 0; j < count; j++)
            if (decoded)
                check(l, l->probe[i].query, first + near[j], value[near[j]]);
            else
                add_candidate(l, g, i, first + near[j]);
    }
}

/* The list of a group in a code that must be decoded. */
static void decode_list(struct lookup *l, const struct group *g)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct nd_hamming_values *values = &l->segment->table[l->t].values;
    struct nd_hamming_range range = nd_hamming_values_range(values, g->low, g->high);
    uint64_t value[AT_ONCE], at;
    uint32_t near[AT_ONCE];

    for (size_t n; at = range.at, (n = nd_hamming_values_next(values, &range, AT_ONCE, value));)
        for (size_t i = g->from; i < g->to; i++) {
            size_t count = kernels->rows(value, n, 1, &l->probe[i].lead, l->search->distance, near);

            for (size_t j = 0; j < count; j++)
                check(l, l->probe[i].query, at + near[j], value[near[j]]);
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
    struct group g = {.from = from,
                      .to = from + 1,
                      .low = l->probe[from].lead & ~rest,
                      .high = l->probe[from].lead | rest};

    while (g.to < l->n && l->probe[g.to].lead - g.low <= rest)
        g.to++;
    return g;
}

/* Ask for the samples of the probes from *asked to before `to`. */
static void ask_ahead(const struct lookup *l, size_t *asked, size_t to)
{
    const struct nd_hamming_values *values = &l->segment->table[l->t].values;

    for (; values->codec == ND_HAMMING_EF && *asked < to && *asked < l->n; ++*asked)
        nd_hamming_ef_prefetch_sample(&values->ef, l->probe[*asked].lead);
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

static void sort_few(struct lookup *l)
{
    for (size_t i = 1; i < l->n; i++) {
        struct probe p = l->probe[i];
        size_t at = i;

        for (; at > 0 && l->probe[at - 1].lead > p.lead; at--)
            l->probe[at] = l->probe[at - 1];
        l->probe[at] = p;
    }
}

/* By so many bits of the lead from bit `shift` on. */
static void sort_digit(struct lookup *l, unsigned shift, unsigned bits)
{
    uint32_t end[1 << DIGIT_BITS] = {0}, sum = 0;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    struct probe *sorted = l->other;

    for (size_t i = 0; i < l->n; i++)
        end[l->probe[i].lead >> shift & mask]++;
    for (uint64_t digit = 0; digit <= mask; digit++) {
        uint32_t count = end[digit];

        end[digit] = sum;
        sum += count;
    }
    for (size_t i = 0; i < l->n; i++)
        sorted[end[l->probe[i].lead >> shift & mask]++] = l->probe[i];
    l->other = l->probe;
    l->probe = sorted;
}

/* Sort the queries of the block by the first bits of their keys in table t: where keys are longer,
 * lists are short and near to one another. */
static void sort_probes(struct lookup *l)
{
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];
    unsigned bits = nd_hamming_lead_bits(l->segment->scheme->plan.problem.bits);
    unsigned shift = bits - (order->key_bits < SORTED_BITS ? order->key_bits : SORTED_BITS);

    for (size_t i = 0; i < l->n; i++)
        l->probe[i] =
            (struct probe){nd_hamming_lead(order, query_of(l, (uint32_t)i)), (uint32_t)i, 0};
    if (l->n <= FEW) {
        sort_few(l);
        return;
    }
    for (unsigned digit; shift < bits; shift += digit) {
        digit = bits - shift < DIGIT_BITS ? bits - shift : DIGIT_BITS;
        sort_digit(l, shift, digit);
    }
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
    review(l);
    settle(l);
}

void nd_hamming_segment_search(const struct nd_hamming_segment *segment,
                               struct nd_hamming_search *search)
{
    size_t words = segment->scheme->words, room = search->n < BLOCK ? search->n : BLOCK;
    struct lookup l = {.segment = segment, .search = search};
    struct probe *probes;
    struct probe few[2 * FEW];

    if (segment->halves) {
        nd_hamming_fast_search(segment, search);
        return;
    }
    l.probe = room <= FEW ? few : nd_alloc_array(2 * room, sizeof *l.probe);
    search->sink.out_of_memory |= !l.probe;
    if (!l.probe)
        return;
    probes = l.probe;
    l.other = l.probe + room;
    for (size_t start = 0; start < search->n && !search->sink.out_of_memory; start += l.n) {
        l.queries = search->queries + start * words;
        l.n = search->n - start < room ? search->n - start : room;
        search->sink.first = (uint32_t)start;
        for (l.t = 0; l.t < segment->scheme->plan.tables; l.t++)
            search_table(&l);
    }
    if (probes != few)
        free(probes);
}
