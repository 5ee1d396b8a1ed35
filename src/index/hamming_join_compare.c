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

/* Whether two rows agree in a key. */
static inline bool is_clean(const uint64_t *key, const uint64_t *differ, size_t words)
{
    uint64_t differ_in_key = 0;

    for (size_t w = 0; w < words; w++)
        differ_in_key |= differ[w] & key[w];
    return differ_in_key == 0;
}

enum { FEW = 8 };

/* Whether the level's table is the first of its design to see them.  A few tables are looked at in
 * any case: a branch would be a coin. */
static inline bool is_first_here(const struct nd_join_level *level, const uint64_t *differ,
                                 size_t words)
{
    const uint64_t *key = level->design.keys;
    bool is_earlier = false;

    for (unsigned t = 0; t < level->table && !(t >= FEW && is_earlier); t++, key += words)
        is_earlier |= is_clean(key, differ, words);
    return !is_earlier & is_clean(level->design.keys + level->table * words, differ, words);
}

bool nd_join_is_first(const struct nd_join *j, const struct nd_join_level *level,
                      const uint64_t *differ)
{
    for (; level; level = level->parent)
        if (level->design.tables && /* else all were compared with all */
            !is_first_here(level, differ, j->words))
            return false;
    return true;
}

/* The same of rows of one word. */
static inline bool is_first_of_word(const struct nd_join *j, const struct nd_join_level *level,
                                    uint64_t differ)
{
    bool is_first = level->design.tables == 0 || is_first_here(level, &differ, 1);

    return level->parent ? is_first && nd_join_is_first(j, level->parent, &differ) : is_first;
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
    uint32_t a = nd_join_number(site->s, first), b = nd_join_number(site->s, second);
    bool is_hit = true;

    __builtin_prefetch(site->part.position + a);
    __builtin_prefetch(site->part.position + b);
    hits->a[hits->n] = a;
    hits->b[hits->n] = b;
    if (j->words == 1) {
        uint64_t differ = site->part.value[a] ^ site->part.value[b];
        unsigned distance = count_bits(differ);

        hits->distance[hits->n] = (uint8_t)distance;
        is_hit = (distance <= j->distance) & is_first_of_word(j, site->level, differ);
    }
    hits->n += is_hit; /* a branch would be a coin */
    if (hits->n == ND_JOIN_HITS)
        nd_join_settle(site);
}

void nd_join_fetch(const struct nd_join_site *site, size_t first, size_t last)
{
    const struct nd_join *j = site->join;

    for (size_t i = first; i < last; i++) {
        uint32_t number = nd_join_number(site->s, i);

        site->s->value[i] =
            j->words == 1 ? site->part.value[number]
                          : nd_join_fold(j->row + site->part.position[number] * j->words, j->words);
    }
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

/* Each of some words from `from` on with the ND_HAMMING_NEXT that follow. */
static void compare_words(const struct nd_join_site *site, size_t from, size_t some, size_t last)
{
    struct nd_hamming_words *pair = site->worker->pair;
    size_t n = nd_hamming_kernels()->words_next(site->s->word + from, some, last - from,
                                                site->join->distance, pair);

    for (size_t i = 0; i < n; i++)
        pass(site, from + pair[i].a, from + pair[i].b);
}

size_t nd_join_compare_next(const struct nd_join_site *site, size_t first, size_t last)
{
    const bool is_weak = site->join->is_weak;

    for (; first + 1 < last && !nd_join_is_over(site->join); first += ND_JOIN_CHUNK) {
        size_t some = last - first < ND_JOIN_CHUNK ? last - first : ND_JOIN_CHUNK;

        if (!is_weak) {
            compare_words(site, first, some, last);
            continue;
        }
        compare_values(site, first, some, last, 0);
        compare_values(site, first, some, last, 8);
    }
    return is_weak ? 16 : ND_HAMMING_NEXT;
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
