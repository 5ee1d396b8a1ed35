/* hamming_join_compare.c - comparing the records of buckets, and what comes of those that are near
 *
 * What the filter lets pass is looked up among the rows, which are asked for early.  Where very
 * much passes, all fingerprints at hand are fetched, and it is decided there and then.
 */
#include "index/hamming_join.h"

/* Without a call, where the processor at hand is not known to have an instruction for it. */
static inline unsigned count_bits(uint64_t x)
{
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
}

bool nd_join_is_first(const struct nd_join *j, const struct nd_join_level *level,
                      const uint64_t *differ)
{
    for (; level; level = level->parent) {
        const uint64_t *key = level->design.keys;

        if (level->design.tables == 0)
            continue; /* all were compared with all */
        for (unsigned t = 0; t <= level->table; t++) {
            uint64_t differ_in_key = 0;

            for (size_t w = 0; w < j->words; w++)
                differ_in_key |= differ[w] & *key++;
            if ((differ_in_key == 0) != (t == level->table))
                return false;
        }
    }
    return true;
}

void nd_join_report_pair(const struct nd_join_site *site, size_t a, size_t b, unsigned distance)
{
    struct nd_join_buffer *out = &site->worker->out;

    out->pair[out->n++] = (struct nd_hamming_pair){a < b ? a : b, a < b ? b : a, distance};
    if (out->n == ND_JOIN_PAIRS)
        nd_join_flush(&site->join->out, out);
}

static void add_pair(const struct nd_join_site *site, uint32_t a, uint32_t b, unsigned distance)
{
    if (site->equals)
        nd_join_report_copies(site, a, b, distance);
    else
        nd_join_report_pair(site, a, b, distance);
}

/* Two rows of many words that have passed. */
static void look_up(const struct nd_join_site *site, uint32_t a, uint32_t b)
{
    const struct nd_join *j = site->join;
    const uint64_t *x = j->row + a * j->words, *y = j->row + b * j->words;
    uint64_t differ[ND_HAMMING_WORDS_MAX];
    unsigned distance = 0;

    for (size_t w = 0; w < j->words; w++) {
        differ[w] = x[w] ^ y[w];
        distance += count_bits(differ[w]);
    }
    if (distance <= j->distance && nd_join_is_first(j, site->level, differ))
        add_pair(site, a, b, distance);
}

void nd_join_settle(const struct nd_join_site *site)
{
    const uint32_t *position = site->part.position;
    struct nd_join_hits *hits = &site->worker->hits;

    for (size_t h = 0; h < hits->n; h++) {
        uint32_t a = position[hits->a[h]], b = position[hits->b[h]];

        if (site->join->words > 1)
            look_up(site, a, b);
        else
            add_pair(site, a, b, hits->distance[h]);
    }
    hits->n = 0;
}

/* Records first and second have passed: of one word, what decides is at hand. */
static void pass(const struct nd_join_site *site, size_t first, size_t second)
{
    const struct nd_join *j = site->join;
    struct nd_join_hits *hits = &site->worker->hits;
    uint32_t a = site->s->index[first], b = site->s->index[second];

    if (j->words == 1) {
        uint64_t differ = site->part.value[a] ^ site->part.value[b];
        unsigned distance = count_bits(differ);

        if (distance > j->distance || !nd_join_is_first(j, site->level, &differ))
            return;
        hits->distance[hits->n] = (uint8_t)distance;
    }
    hits->a[hits->n] = a;
    hits->b[hits->n++] = b;
    if (hits->n == ND_JOIN_HITS)
        nd_join_settle(site);
}

void nd_join_fetch(const struct nd_join_site *site, size_t first, size_t last)
{
    const struct nd_join *j = site->join;
    const uint32_t *index = site->s->index;

    for (size_t i = first; i < last; i++)
        site->s->value[i] =
            j->words == 1
                ? site->part.value[index[i]]
                : nd_join_fold(j->row + site->part.position[index[i]] * j->words, j->words);
}

/* Compare each of `some` records from `from` on with the eight that come `gap` after the next. */
static void compare_values(const struct nd_join_site *site, size_t from, size_t some, size_t last,
                           size_t gap)
{
    struct nd_hamming_found *found = site->worker->found;
    size_t n = nd_hamming_kernels()->next(site->s->value + from, some, last - from, gap,
                                          site->join->distance, found);

    for (size_t f = 0; f < n; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
            size_t i = from + found[f].line;

            pass(site, i, i + 1 + gap + (unsigned)__builtin_ctz(slots));
        }
}

void nd_join_compare_rest(const struct nd_join_site *site, size_t from, size_t last)
{
    size_t some = last - from < ND_JOIN_CHUNK ? last - from : ND_JOIN_CHUNK;

    for (size_t gap = 0; from + gap + 1 < last && !nd_join_is_over(site->join); gap += 8)
        compare_values(site, from, some, last, gap);
}

/* Each of some words from `from` on with the sixteen that follow. */
static void compare_words(const struct nd_join_site *site, size_t from, size_t some, size_t last)
{
    struct nd_hamming_found *found = site->worker->found;
    size_t n = nd_hamming_kernels()->words_next(site->s->word + from, some, last - from,
                                                site->join->distance, found);

    for (size_t f = 0; f < n; f++)
        for (unsigned slots = found[f].slots; slots; slots &= slots - 1) {
            size_t i = from + found[f].line;

            pass(site, i, i + 1 + (unsigned)__builtin_ctz(slots));
        }
}

void nd_join_compare_next(const struct nd_join_site *site, size_t first, size_t last)
{
    for (; first + 1 < last && !nd_join_is_over(site->join); first += ND_JOIN_CHUNK) {
        size_t some = last - first < ND_JOIN_CHUNK ? last - first : ND_JOIN_CHUNK;

        if (!site->join->is_weak) {
            compare_words(site, first, some, last);
            continue;
        }
        compare_values(site, first, some, last, 0);
        compare_values(site, first, some, last, 8);
    }
}

static void compare_bucket_values(const struct nd_join_site *site, size_t first, size_t last,
                                  size_t gap)
{
    for (; first + gap + 1 < last; gap += 8)
        for (size_t from = first; from + gap + 1 < last; from += ND_JOIN_CHUNK) {
            size_t some = last - from < ND_JOIN_CHUNK ? last - from : ND_JOIN_CHUNK;

            if (nd_join_is_over(site->join))
                return;
            compare_values(site, from, some, last, gap);
        }
}

void nd_join_compare_bucket(const struct nd_join_site *site, size_t first, size_t last, size_t gap)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    struct nd_hamming_near *near = site->worker->near;
    const uint32_t *word = site->s->word + first;
    size_t size = last - first, rows = size <= ND_JOIN_WHOLE ? ND_JOIN_WHOLE : ND_JOIN_ROWS;

    if (site->join->is_weak) {
        compare_bucket_values(site, first, last, gap);
        return;
    }
    for (size_t from = 0; from + gap + 1 < size; from += rows) {
        size_t n = kernels->words_in(word, from, rows, size, gap, site->join->distance, near);

        if (n && nd_join_is_over(site->join))
            return;
        for (size_t f = 0; f < n; f++)
            for (unsigned slots = near[f].slots; slots; slots &= slots - 1) {
                size_t i = near[f].line, k = i / ND_HAMMING_TURN * ND_HAMMING_TURN + 1 + gap +
                                             near[f].more * (size_t)ND_HAMMING_WINDOW;

                pass(site, first + i, first + k + (unsigned)__builtin_ctz(slots));
            }
    }
}
