/* hamming_kernels.c - the definition of the Hamming kernels, and the choice of a table of them */
#include "simd/hamming/hamming_kernels.h"

#include <string.h>

static void places(const struct nd_linear_hash *table, uint64_t key, unsigned rotation,
                   const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = nd_hamming_hash_end(nd_hamming_hash_word(0, x[i] & key));

        place[i] = nd_hamming_place(table, hash);
        fold[i] = nd_hamming_fold(x[i], rotation);
    }
}

static size_t ball(const uint32_t *mask, uint32_t data, uint32_t level, uint32_t n_lines,
                   uint32_t *place)
{
    size_t count = 0;

    for (unsigned i = 0; i < 16; i++) {
        uint32_t at = (data ^ mask[i]) & (2 * level - 1);

        at = at < n_lines ? at : at & (level - 1);
        if (count == 0 || at != place[count - 1])
            place[count++] = at;
    }
    return count;
}

static struct nd_hamming_seen lines(const struct nd_hamming_look *now,
                                    const struct nd_hamming_look *next, unsigned distance,
                                    struct nd_hamming_found *found, uint32_t *more)
{
    struct nd_hamming_seen seen = {0, 0};

    for (size_t i = 0; i < now->n; i++) {
        const uint32_t *word = now->line[i]->word;
        unsigned slots = 0;

        for (unsigned j = 0; j < (word[15] & 15); j++)
            slots |= (unsigned)((unsigned)__builtin_popcount(word[j] ^ now->value[i]) <= distance)
                     << j;
        if (i < next->n)
            __builtin_prefetch(next->line[i], 0, 2);
        found[seen.found] = (struct nd_hamming_found){(uint32_t)i, slots};
        seen.found += slots != 0;
        more[seen.more] = (uint32_t)i;
        seen.more += word[15] > 15;
    }
    for (size_t i = now->n; i < next->n; i++)
        __builtin_prefetch(next->line[i], 0, 2);
    return seen;
}

static size_t rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                   unsigned distance, uint32_t *found)
{
    return nd_hamming_count_rows(row, n, words, query, distance, found);
}

static size_t next(const uint64_t *value, size_t n, size_t end, size_t gap, unsigned distance,
                   struct nd_hamming_found *found)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned slots = 0;

        for (unsigned b = 0; b < 8 && i + 1 + gap + b < end; b++) {
            uint64_t differ = value[i] ^ value[i + 1 + gap + b];

            slots |= (unsigned)((unsigned)__builtin_popcountll(differ) <= distance) << b;
        }
        found[count] = (struct nd_hamming_found){(uint32_t)i, slots};
        count += slots != 0;
    }
    return count;
}

/* Written so that a compiler can make vectors of it, whatever the processor. */
static inline uint32_t count_bits(uint32_t x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    x = (x + (x >> 4)) & 0x0F0F0F0Fu;
    x += x >> 8;
    return (x + (x >> 16)) & 63;
}

/* Which of 16 words differ from v in at most `distance` bits, as 16 bits. */
static unsigned sixteen_within(const uint32_t *word, uint32_t v, uint32_t distance)
{
    static const uint32_t bit[ND_HAMMING_WINDOW] = {1,   2,   4,    8,    16,   32,   64,    128,
                                                    256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    uint32_t slots = 0;

    for (unsigned b = 0; b < ND_HAMMING_WINDOW; b++)
        slots |= count_bits(word[b] ^ v) <= distance ? bit[b] : 0;
    return slots;
}

/* The slots of a block from `first` on that are before word n. */
static unsigned taken_slots(size_t first, size_t n)
{
    return first + ND_HAMMING_WINDOW > n ? (1u << (n - first)) - 1 : 0xFFFFu;
}

static size_t words_next(const uint32_t *word, size_t n, size_t end, unsigned reach,
                         unsigned distance, struct nd_hamming_words *pair)
{
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 < end; i++) {
        unsigned slots = sixteen_within(word + i + 1, word[i], distance) & taken_slots(i + 1, end);

        count += nd_hamming_add_next(i, slots, reach, pair + count);
    }
    return count;
}

static size_t words_in(const uint32_t *word, size_t from, size_t n_rows, size_t n, size_t gap,
                       unsigned distance, struct nd_hamming_near *near)
{
    size_t count = 0, end = from + n_rows;

    for (size_t g = from; g < end; g += ND_HAMMING_GROUP)
        for (size_t first = g + 1 + gap, more = 0; first < n; first += ND_HAMMING_WINDOW, more++)
            for (size_t i = g; i < g + ND_HAMMING_GROUP && i < n; i++) {
                unsigned slots =
                    sixteen_within(word + first, word[i], distance) & taken_slots(first, n);

                if (more == 0)
                    slots &= ~0u << (i - g);
                near[count] =
                    (struct nd_hamming_near){(uint32_t)i, (uint16_t)slots, (uint16_t)more};
                count += slots != 0;
            }
    return count;
}

void nd_plain_join_parts(const struct nd_record_code *code, const uint64_t *x, size_t n,
                         uint32_t *part)
{
    nd_record_parts(code, x, n, part);
}

void nd_plain_join_places(const struct nd_record_code *code, const uint64_t *x, size_t n,
                          uint64_t *place)
{
    nd_record_places(code, x, n, place);
}

void nd_plain_join_words(const uint64_t *record, size_t n, uint32_t *word)
{
    nd_record_words(record, n, word);
}

static inline void write_group(const struct nd_move_group *g, uint64_t *value, uint32_t *position)
{
    for (int i = 0; i < ND_MOVE_GROUP; i++) {
        value[i] = g->record[i].value;
        position[i] = (uint32_t)g->record[i].position;
    }
}

void nd_plain_join_move(const struct nd_move *move, const uint32_t *part, const uint64_t *value,
                        uint32_t position, size_t n)
{
    nd_move_records(move, part, value, position, n, write_group);
}

void nd_plain_fence(void)
{
}

const struct nd_hamming_kernels nd_hamming_scalar = {
    .next_ns = 16.0,
    .word_ns = 1.0,
    .reach = ND_HAMMING_NEXT,
    .places = places,
    .ball = ball,
    .lines = lines,
    .rows = rows,
    .next = next,
    .words_next = words_next,
    .words_in = words_in,
    .join_parts = nd_plain_join_parts,
    .join_places = nd_plain_join_places,
    .join_words = nd_plain_join_words,
    .join_move = nd_plain_join_move,
    .fence = nd_plain_fence,
};

const struct nd_hamming_kernels *nd_hamming_kernels_of(enum nd_isa isa)
{
    switch (isa) {
    case ND_ISA_SCALAR: return &nd_hamming_scalar;
#if defined(__x86_64__)
    case ND_ISA_AVX2: return &nd_hamming_avx2;
    case ND_ISA_AVX512: return &nd_hamming_avx512;
#elif defined(__aarch64__)
    case ND_ISA_NEON: return &nd_hamming_neon;
#endif
    default: return NULL;
    }
}

const struct nd_hamming_kernels *nd_hamming_kernels(void)
{
    enum nd_isa isa = nd_isa();

    if (isa == ND_ISA_AVX512 && !nd_isa_has_vpopcntdq())
        isa = ND_ISA_AVX2;
    return nd_hamming_kernels_of(isa);
}
