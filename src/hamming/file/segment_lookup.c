/* segment_lookup.c - what a segment has near to some queries
 *
 * Searching a table (Manku 2007, §3.1): all fingerprints that agree with a query in the key stand
 * side by side, as a list.  One query alone reads the place of each list, then the list, and waits
 * for memory twice a table.  So a batch goes through one table after the other:
 *
 *     sort     the queries by their key in this table, so that they meet the table from its beginning
 *              to its end, and those of the same key meet their list together (Manku 2007, §3.3);
 *     ahead    of each list, the sample of its place is asked for AHEAD queries before it is read,
 *              and its front NEXT lists before;
 *     compare  the front where it is, a block of the list with up to four queries of the group at a
 *              time (nd_hamming_ef_near).  The block code is decoded first, once for the group;
 *     review   candidates, of which the front is near, LATER candidates later, when their other low
 *              bits have come from memory;
 *     check    what is near in all low bits: the high part makes it whole.  The first table whose
 *              key agrees reports it;
 *     settle   what was found through other tables than 0 is looked up there for its ids, in steps:
 *              sample, high part, front, ids.  Each step is done when STEP more were found, since
 *              the step before asked memory for what it reads.
 */
#include "hamming/file/fast.h"
#include "hamming/file/packed_numbers.h"
#include "hamming/file/segment.h"

#include <stdlib.h>

#include "base/memory.h"
#include "hamming/plan/fingerprint.h"
#include "simd/hamming/hamming_kernels.h"

enum {
    BLOCK = 1 << 17, /* queries that are sorted together */
    AT_ONCE = 512,   /* values of a list */
    AHEAD = 32,
    NEXT = 16,  /* a power of 2 */
    RING = 64,  /* candidates, and hits, a power of 2 */
    LATER = 16, /* candidates after which one is reviewed */
    STEP = 12,  /* hits after which one goes a step on */
    STEPS = 4,
    MANY = 16, /* of so many values, if one is near, the block is decoded */
    SORTED_BITS = 24,
    DIGIT_BITS = 8, /* of those, in one pass */
    DIGITS = 1 << DIGIT_BITS,
    PASSES = SORTED_BITS / DIGIT_BITS,
    FEW = 16 /* are sorted by insertion */
};

/* A query, and how it leads in the table. */
struct probe {
    uint64_t lead;
    uint32_t query, unused;
};

/* Queries of one key, numbers from `from` to before `to` of those sorted. */
struct probe_group {
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

/* A fingerprint near to a query, number `number` of table 0, or not known yet; its entries begin at
 * `start`. */
struct segment_hit {
    struct nd_hamming_ef_list list;
    uint64_t first_lead, number, start;
    uint32_t query;
    unsigned distance;
    bool is_known, is_lost; /* lost: what would say its entries is damaged */
};

struct segment_lookup {
    const struct nd_hamming_segment *segment;
    struct nd_hamming_search *search;
    const uint64_t *queries; /* of this block */
    struct probe *probe, *other;
    size_t n;
    unsigned t, free_bits; /* the table; bits behind its key */
    uint64_t rest;         /* so many ones */
    int more;              /* of a table by number of ones: how many more than the query has */
    struct nd_checked_stretch sample, front; /* read in order, and known to be sound */
    struct probe_group ring[NEXT];
    struct candidate candidate[RING];
    struct segment_hit hit[RING];
    size_t n_candidates, n_reviewed, n_hits; /* since the block began */
};

static const uint64_t *query_of(const struct segment_lookup *l, uint32_t query)
{
    return l->queries + query * l->segment->scheme->words;
}

/* Something that was read is not what was written. */
static void give_up(struct segment_lookup *l)
{
    l->search->sink.is_damaged = true;
}

/* Every id of a fingerprint.  Ids are checked for entries, too, as they will be asked for later. */
static void emit(struct segment_lookup *l, const struct segment_hit *hit)
{
    const struct nd_hamming_segment *s = l->segment;
    struct nd_hamming_search *q = l->search;
    uint64_t at = hit->start, end = nd_hamming_groups_end(&s->groups, at);

    if (s->id && !nd_hamming_is_sound(s, &s->id[at], (size_t)(end - at) * sizeof *s->id)) {
        give_up(l);
        return;
    }
    for (; at < end; at++)
        nd_hamming_sink_id(&q->sink, hit->query,
                           q->entries || !s->id ? q->base + (uint32_t)at : s->id[at],
                           hit->distance);
}

/* Find the place in table 0 at which the values of a hit's high part begin. */
static void locate_high(const struct nd_hamming_segment *s, struct segment_hit *hit)
{
    if (nd_hamming_ef_find_high(&s->table[0].values.ef, hit->first_lead, &hit->list))
        nd_hamming_groups_prefetch(&s->groups, hit->list.rank);
    else
        hit->is_lost = true;
}

/* Find the place of a hit in table 0, and so of its entries. */
static void locate(const struct nd_hamming_segment *s, struct segment_hit *hit)
{
    const struct nd_hamming_values *first = &s->table[0].values;

    if (!hit->is_known && first->codec != ND_HAMMING_EF)
        hit->number = nd_hamming_values_range(first, hit->first_lead, hit->first_lead).at;
    else if (!hit->is_known)
        hit->is_lost = !nd_hamming_ef_find(&first->ef, &hit->list, hit->first_lead, &hit->number);
    if (hit->is_lost || hit->number >= s->distinct) {
        hit->is_lost = true;
        return;
    }
    hit->start = nd_hamming_groups_start(&s->groups, hit->number);
    if (s->id)
        __builtin_prefetch(&s->id[hit->start]);
}

/* One of STEPS steps of a hit. */
static void take_step(struct segment_lookup *l, unsigned step, struct segment_hit *hit)
{
    const struct nd_hamming_values *first = &l->segment->table[0].values;
    bool is_sought = first->codec == ND_HAMMING_EF && !hit->is_known;

    if (hit->is_lost)
        give_up(l);
    else if (step == 0 && is_sought)
        nd_hamming_ef_prefetch_high(&first->ef, hit->first_lead);
    else if (step == 1 && is_sought)
        locate_high(l->segment, hit);
    else if (step == 2)
        locate(l->segment, hit);
    else if (step == 3)
        emit(l, hit);
}

/* When there are n hits, each that is STEP, 2 STEP … hits old takes a step. */
static void settle(struct segment_lookup *l)
{
    for (unsigned step = 0; step < STEPS && l->n_hits >= (step + 1) * STEP; step++)
        take_step(l, step, &l->hit[(l->n_hits - (step + 1) * STEP) % RING]);
}

/* All steps that are left. */
static void settle_rest(struct segment_lookup *l)
{
    for (unsigned step = 0; step < STEPS; step++) {
        size_t age = (step + 1) * STEP, i = l->n_hits < age ? 0 : l->n_hits - age + 1;

        for (; i < l->n_hits; i++)
            take_step(l, step, &l->hit[i % RING]);
    }
    l->n_hits = 0;
}

/* The hit is reported by the first table whose key agrees; differ: the bits in which it differs from
 * the query. */
static bool is_first(const struct segment_lookup *l, const uint64_t *differ)
{
    static const uint64_t none[ND_HAMMING_WORDS_MAX];
    const struct nd_hamming_scheme *scheme = l->segment->scheme;

    if (!nd_hamming_agree(scheme->order[l->t].key, differ, none, scheme->words))
        return false;
    for (unsigned before = 0; before < l->t; before++)
        if (nd_hamming_agree(scheme->order[before].key, differ, none, scheme->words))
            return false;
    return true;
}

static void add_hit(struct segment_lookup *l, const struct segment_hit *hit)
{
    const struct nd_hamming_values *first = &l->segment->table[0].values;

    if (!hit->is_known && first->codec == ND_HAMMING_EF)
        nd_hamming_ef_prefetch_sample(&first->ef, hit->first_lead);
    l->hit[l->n_hits++ % RING] = *hit;
    settle(l);
}

/* Find the number of the row of value number `at` in table t.  False: it is damaged. */
static bool get_number(const struct nd_hamming_segment *s, unsigned t, uint64_t at,
                       uint64_t *number)
{
    const uint64_t *packed = s->table[t].number, bit = at * s->number_bits;

    *number = nd_packed_get(packed, s->number_bits, at);
    return *number < s->distinct && nd_hamming_is_sound(s, packed + bit / 64, 2 * sizeof *packed);
}

/* Value number `at` of table t, of a fingerprint whose other bits are elsewhere. */
static void check_wide(struct segment_lookup *l, const struct probe *p, uint64_t at)
{
    const struct nd_hamming_segment *s = l->segment;
    const uint64_t *x = query_of(l, p->query), *row;
    const size_t words = s->scheme->words;
    struct segment_hit hit = {.number = at, .query = p->query, .is_known = true};
    uint64_t differ[ND_HAMMING_WORDS_MAX];

    if (l->t && !get_number(s, l->t, at, &hit.number)) {
        give_up(l);
        return;
    }
    row = s->row + hit.number * words;
    if (!nd_hamming_is_sound(s, row, words * sizeof *row)) {
        give_up(l);
        return;
    }
    hit.distance = nd_hamming_distance(row, x, words);
    if (hit.distance > l->search->distance)
        return;
    for (size_t i = 0; i < words; i++)
        differ[i] = row[i] ^ x[i];
    if (s->scheme->order->ones_at
            ? nd_hamming_ones(row, words) == p->lead >> s->scheme->order->ones_at
            : is_first(l, differ))
        add_hit(l, &hit);
}

/* Value number `at` of table t is `value`, and perhaps near.  Where it is a fingerprint, the probe is
 * the query, so that the latter is not read. */
static void check(struct segment_lookup *l, const struct probe *p, uint64_t at, uint64_t value)
{
    const struct nd_hamming_segment *s = l->segment;
    const struct nd_hamming_order *order = &s->scheme->order[l->t];
    struct segment_hit hit = {.number = at, .query = p->query, .is_known = l->t == 0};
    uint64_t differ = value ^ p->lead, row;

    if (s->row) {
        check_wide(l, p, at);
        return;
    }
    hit.distance = nd_count_ones(differ);
    if (hit.distance > l->search->distance)
        return;
    differ = nd_hamming_restore(order, differ);
    if (!is_first(l, &differ))
        return;
    row = nd_hamming_restore(order, value);
    if (!hit.is_known)
        hit.first_lead = nd_hamming_lead(&s->scheme->order[0], &row);
    add_hit(l, &hit);
}

/* Review candidates until all but `left` of them are: those whose low bits are all near. */
static void review(struct segment_lookup *l, size_t left)
{
    const struct nd_hamming_ef *ef = &l->segment->table[l->t].values.ef;
    const uint64_t mask = (UINT64_C(1) << ef->low_bits) - 1;

    for (; l->n_reviewed + left < l->n_candidates; l->n_reviewed++) {
        const struct candidate *c = &l->candidate[l->n_reviewed % RING];
        const struct probe *p = &l->probe[c->probe];
        uint64_t low, value;

        if (!nd_hamming_ef_low(ef, c->at, &low))
            give_up(l);
        else if (nd_count_ones((low ^ p->lead) & mask) > l->search->distance)
            continue;
        else if (nd_hamming_ef_value(ef, &c->list, c->at, low, &value))
            check(l, p, c->at, value);
        else
            give_up(l);
    }
}

static void add_candidate(struct segment_lookup *l, const struct probe_group *g, size_t probe,
                          uint64_t at)
{
    nd_hamming_ef_prefetch_back(&l->segment->table[l->t].values.ef, at);
    l->candidate[l->n_candidates++ % RING] = (struct candidate){g->list, at, probe};
    review(l, LATER);
}

/* One block of a list, with up to ND_ELIAS_FANO_PROBES queries of the group, from number `from` on. */
static void compare_block(struct segment_lookup *l, const struct probe_group *g, size_t from,
                          uint64_t first, size_t n)
{
    const struct nd_hamming_ef *ef = &l->segment->table[l->t].values.ef;
    size_t left = g->to - from, count;
    struct nd_elias_fano_probes probes = {.distance = l->search->distance};
    uint32_t near[AT_ONCE * ND_ELIAS_FANO_PROBES];
    uint64_t value[AT_ONCE];
    bool decoded;

    probes.n = left < ND_ELIAS_FANO_PROBES ? (unsigned)left : ND_ELIAS_FANO_PROBES;
    for (unsigned i = 0; i < probes.n; i++)
        probes.value[i] = l->probe[from + i].lead;
    count = nd_hamming_ef_near(ef, first, n, &probes, near);
    decoded = count > MANY && count * MANY > n * probes.n;
    if (decoded && !nd_hamming_ef_decode(ef, first, n, value)) {
        give_up(l);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t j = near[i] / ND_ELIAS_FANO_PROBES;
        size_t probe = from + near[i] % ND_ELIAS_FANO_PROBES;

        if (decoded)
            check(l, &l->probe[probe], first + j, value[j]);
        else
            add_candidate(l, g, probe, first + j);
    }
}

/* The list of a group in a code that must be decoded. */
static void decode_list(struct segment_lookup *l, const struct probe_group *g)
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
                check(l, &l->probe[i], at + near[j], value[near[j]]);
        }
}

static void compare(struct segment_lookup *l, const struct probe_group *g)
{
    if (l->segment->table[l->t].values.codec != ND_HAMMING_EF) {
        decode_list(l, g);
        return;
    }
    if (!nd_hamming_ef_fronts_are_sound(&l->segment->table[l->t].values.ef, &g->list, &l->front)) {
        give_up(l);
        return;
    }
    for (uint64_t first = g->list.first; first < g->list.end; first += AT_ONCE) {
        uint64_t left = g->list.end - first;

        for (size_t i = g->from; i < g->to; i += ND_ELIAS_FANO_PROBES)
            compare_block(l, g, i, first, left < AT_ONCE ? (size_t)left : AT_ONCE);
    }
}

/* The group that begins with probe number `from`: those whose keys agree, as far as probes hold
 * them. */
static void find_group(const struct segment_lookup *l, size_t from, struct probe_group *g)
{
    const struct probe *probe = l->probe;
    const uint64_t rest = l->rest, low = probe[from].lead & ~rest;
    size_t to = from + 1;

    while (to < l->n && probe[to].lead - low <= rest)
        to++;
    *g = (struct probe_group){.from = from, .to = to, .low = low, .high = low | rest};
}

/* Find the list of a group, and ask for it; and ask for the samples of groups behind it.  A list that
 * is damaged is taken for an empty one. */
static void find_list(struct segment_lookup *l, struct probe_group *g)
{
    const struct nd_hamming_ef *ef = &l->segment->table[l->t].values.ef;

    for (size_t i = g->from + AHEAD; i < g->to + AHEAD && i < l->n; i++)
        nd_hamming_ef_prefetch_sample(ef, l->probe[i].lead);
    if (nd_hamming_ef_key_list(ef, g->low, l->free_bits, &l->sample, &g->list)) {
        nd_hamming_ef_prefetch_list(ef, &g->list);
        return;
    }
    g->list = (struct nd_hamming_ef_list){.first = 0};
    give_up(l);
}

static void sort_few(struct segment_lookup *l)
{
    for (size_t i = 1; i < l->n; i++) {
        struct probe p = l->probe[i];
        size_t at = i;

        for (; at > 0 && l->probe[at - 1].lead > p.lead; at--)
            l->probe[at] = l->probe[at - 1];
        l->probe[at] = p;
    }
}

/* By the bits of a digit of the lead; end[d] is where those of digit d begin, and then where they
 * end. */
static void sort_digit(struct segment_lookup *l, unsigned shift, uint32_t *end)
{
    struct probe *sorted = l->other;

    for (size_t i = 0; i < l->n; i++)
        sorted[end[l->probe[i].lead >> shift & (DIGITS - 1)]++] = l->probe[i];
    l->other = l->probe;
    l->probe = sorted;
}

/* Sort by the first `sorted` bits of the lead, or a few more, the others being left as they are. */
static void sort_many(struct segment_lookup *l, unsigned sorted)
{
    const unsigned bits = nd_hamming_lead_bits(l->segment->scheme->plan.problem.bits);
    unsigned passes = (sorted + DIGIT_BITS - 1) / DIGIT_BITS, shift = bits - passes * DIGIT_BITS;
    uint32_t count[PASSES][DIGITS] = {{0}};

    for (size_t i = 0; i < l->n; i++)
        for (unsigned p = 0; p < passes; p++)
            count[p][l->probe[i].lead >> (shift + p * DIGIT_BITS) & (DIGITS - 1)]++;
    for (unsigned p = 0; p < passes; p++) {
        for (uint32_t digit = 0, sum = 0, some; digit < DIGITS; digit++, sum += some) {
            some = count[p][digit];
            count[p][digit] = sum;
        }
        sort_digit(l, shift + p * DIGIT_BITS, count[p]);
    }
}

/* How a query leads in the table.  A number of ones that no fingerprint has, such as -1, finds none. */
static uint64_t lead_of(const struct segment_lookup *l, const uint64_t *query)
{
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];
    const uint64_t all = (UINT64_C(1) << ND_HAMMING_ONES_BITS) - 1;
    uint64_t lead = nd_hamming_lead(order, query), ones;

    if (!order->ones_at)
        return lead;
    ones = (lead >> order->ones_at) + (uint64_t)(int64_t)l->more;
    return (lead & ((UINT64_C(1) << order->ones_at) - 1)) | (ones & all) << order->ones_at;
}

/* Sort the queries of the block by the first bits of their keys in table t: where keys are longer,
 * lists are short and near to one another. */
static void sort_probes(struct segment_lookup *l)
{
    const struct nd_hamming_order *order = &l->segment->scheme->order[l->t];

    for (size_t i = 0; i < l->n; i++)
        l->probe[i] = (struct probe){lead_of(l, query_of(l, (uint32_t)i)), (uint32_t)i, 0};
    if (l->n <= FEW)
        sort_few(l);
    else
        sort_many(l, order->key_bits < SORTED_BITS ? order->key_bits : SORTED_BITS);
}

static void search_table(struct segment_lookup *l)
{
    const unsigned bits = nd_hamming_lead_bits(l->segment->scheme->plan.problem.bits);
    bool is_ef = l->segment->table[l->t].values.codec == ND_HAMMING_EF;
    size_t found = 0, done = 0, next = 0;

    l->free_bits = bits - l->segment->scheme->order[l->t].key_bits;
    l->rest = l->free_bits ? ~UINT64_C(0) >> (64 - l->free_bits) : 0;
    sort_probes(l);
    while ((next < l->n || done < found) && !l->search->sink.is_damaged) {
        for (; next < l->n && found - done < NEXT; found++) {
            struct probe_group *g = &l->ring[found % NEXT];

            find_group(l, next, g);
            if (is_ef)
                find_list(l, g);
            next = g->to;
        }
        compare(l, &l->ring[done++ % NEXT]);
    }
    review(l, 0);
}

/* Search the shards of all near numbers of ones, or the tables of keys. */
static void search_tables(struct segment_lookup *l)
{
    const int k = l->segment->scheme->order->ones_at ? (int)l->search->distance : 0;

    for (l->t = 0; l->t < l->segment->scheme->plan.tables; l->t++)
        for (l->more = -k; l->more <= k; l->more++)
            search_table(l);
}

void nd_hamming_segment_search(const struct nd_hamming_segment *segment,
                               struct nd_hamming_search *search)
{
    size_t words = segment->scheme->words, room = search->n < BLOCK ? search->n : BLOCK;
    struct segment_lookup l = {.segment = segment, .search = search};
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
    for (size_t start = 0;
         start < search->n && !search->sink.out_of_memory && !search->sink.is_damaged;
         start += l.n) {
        l.queries = search->queries + start * words;
        l.n = search->n - start < room ? search->n - start : room;
        search->sink.first = (uint32_t)start;
        search_tables(&l);
        settle_rest(&l);
    }
    if (probes != few)
        free(probes);
}
