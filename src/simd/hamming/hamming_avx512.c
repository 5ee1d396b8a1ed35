/* hamming_avx512.c - the Hamming kernels for AVX-512 F, BW, DQ, VL and VPOPCNTDQ */
#include "simd/hamming/hamming_kernels.h"
#include "simd/mask_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi2,popcnt")))

TARGET static inline __m512i hash_step(__m512i hash, uint64_t factor)
{
    hash = _mm512_mullo_epi64(hash, _mm512_set1_epi64((long long)factor));
    return _mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32));
}

/* nd_hamming_place */
TARGET static inline __m512i places_of(const struct nd_linear_hash *table, __m512i hash)
{
    const __m512i first = _mm512_set1_epi64(table->first);
    const __m512i mask = _mm512_set1_epi64(2 * (long long)table->groups - 1);
    const __m512i half = _mm512_set1_epi64((long long)table->groups * table->first);
    __m512i place = _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hash, 32), first), 32);
    __mmask8 beyond;

    place = _mm512_add_epi64(place, _mm512_mul_epu32(_mm512_and_si512(hash, mask), first));
    beyond = _mm512_cmpge_epu64_mask(place, _mm512_set1_epi64((long long)table->lines));
    return _mm512_mask_sub_epi64(place, beyond, place, half);
}

TARGET static void places(const struct nd_linear_hash *table, uint64_t key, unsigned rotation,
                          const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold)
{
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 in = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xFFu);
        __m512i y = _mm512_maskz_loadu_epi64(in, x + i);
        __m512i hash = hash_step(_mm512_and_si512(y, _mm512_set1_epi64((long long)key)),
                                 UINT64_C(0x9E3779B97F4A7C15));
        __m256i high = _mm512_cvtepi64_epi32(_mm512_srli_epi64(y, 32));

        high = _mm256_rolv_epi32(high, _mm256_set1_epi32((int)rotation));
        hash = hash_step(hash, UINT64_C(0xD6E8FEB86659FD93));
        _mm256_mask_storeu_epi32(place + i, in, _mm512_cvtepi64_epi32(places_of(table, hash)));
        _mm256_mask_storeu_epi32(fold + i, in, _mm256_xor_si256(_mm512_cvtepi64_epi32(y), high));
    }
}

TARGET static size_t ball(const uint32_t *mask, uint32_t data, uint32_t level, uint32_t n_lines,
                          uint32_t *place)
{
    __m512i at = _mm512_xor_si512(_mm512_loadu_si512(mask), _mm512_set1_epi32((int)data));
    __m512i before;
    __mmask16 beyond, keep;

    at = _mm512_and_si512(at, _mm512_set1_epi32((int)(2 * level - 1)));
    beyond = _mm512_cmpge_epu32_mask(at, _mm512_set1_epi32((int)n_lines));
    at = _mm512_mask_and_epi32(at, beyond, at, _mm512_set1_epi32((int)(level - 1)));
    before = _mm512_alignr_epi32(at, _mm512_set1_epi32(-1), 15); /* no place is 2^32 - 1 */
    keep = _mm512_cmpneq_epu32_mask(at, before);
    _mm512_storeu_si512(place, _mm512_maskz_compress_epi32(keep, at));
    return (size_t)_mm_popcnt_u32(nd_mask_bits(keep));
}

TARGET static struct nd_hamming_seen lines(const struct nd_hamming_look *now,
                                           const struct nd_hamming_look *next, unsigned distance,
                                           struct nd_hamming_found *found, uint32_t *more)
{
    const __m512i most = _mm512_set1_epi32((int)distance);
    struct nd_hamming_seen seen = {0, 0};

    for (size_t i = 0; i < now->n; i++) {
        __m512i differ = _mm512_xor_si512(_mm512_load_si512(now->line[i]),
                                          _mm512_set1_epi32((int)now->value[i]));
        uint32_t last = now->line[i]->word[15];
        unsigned taken = (1u << (last & 15)) - 1;
        unsigned slots =
            nd_mask_bits(_mm512_cmple_epu32_mask(_mm512_popcnt_epi32(differ), most)) & taken;

        if (i < next->n)
            __builtin_prefetch(next->line[i], 0, 2);
        found[seen.found] = (struct nd_hamming_found){(uint32_t)i, slots};
        seen.found += slots != 0;
        more[seen.more] = (uint32_t)i;
        seen.more += last > 15;
    }
    for (size_t i = now->n; i < next->n; i++)
        __builtin_prefetch(next->line[i], 0, 2);
    return seen;
}

/* Rows of one word, eight at a time, 32 a step: near ones are rare. */
TARGET static size_t words_near(const uint64_t *row, size_t n, uint64_t query, unsigned distance,
                                uint32_t *found)
{
    const __m512i q = _mm512_set1_epi64((long long)query), most = _mm512_set1_epi64(distance);
    size_t count = 0, i = 0;

    for (; i < n; i += 32) {
        uint32_t near = 0;

        for (unsigned j = 0; j < 32 && i + j < n; j += 8) {
            size_t left = n - i - j;
            __mmask8 m = (__mmask8)(left < 8 ? (1u << left) - 1 : 0xFFu);
            __m512i x = _mm512_xor_si512(_mm512_maskz_loadu_epi64(m, row + i + j), q);

            near |= nd_mask_bits(_mm512_mask_cmple_epu64_mask(m, _mm512_popcnt_epi64(x), most))
                    << j;
        }
        for (; near; near &= near - 1)
            found[count++] = (uint32_t)i + (uint32_t)__builtin_ctz(near);
    }
    return count;
}

TARGET static size_t rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                          unsigned distance, uint32_t *found)
{
    return words == 1 ? words_near(row, n, query[0], distance, found)
                      : nd_hamming_count_rows(row, n, words, query, distance, found);
}

TARGET static size_t next(const uint64_t *value, size_t n, size_t end, size_t gap,
                          unsigned distance, struct nd_hamming_found *found)
{
    const __m512i most = _mm512_set1_epi64(distance);
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 + gap < end; i++) {
        size_t first = i + 1 + gap;
        __m512i x = _mm512_xor_si512(_mm512_loadu_si512(value + first),
                                     _mm512_set1_epi64((long long)value[i]));
        unsigned slots = nd_mask_bits(_mm512_cmple_epu64_mask(_mm512_popcnt_epi64(x), most));

        if (first + 8 > end)
            slots &= (1u << (end - first)) - 1;
        found[count] = (struct nd_hamming_found){(uint32_t)i, slots};
        count += slots != 0;
    }
    return count;
}

enum { GROUP = ND_HAMMING_GROUP, GROUPS = 64 };

/* In how many bits a block differs from each word of a group. */
TARGET static inline void differing(const uint32_t *word, const uint32_t *block, __m512i *bits)
{
    __m512i words = _mm512_loadu_si512(block);

    for (unsigned i = 0; i < GROUP; i++)
        bits[i] = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_set1_epi32((int)word[i]), words));
}

/* Word i of a group meets the first block from slot i on: it is not its own neighbour. */
TARGET static inline __m512i min_of_first(const __m512i *bits)
{
    __m512i least = _mm512_mask_min_epu32(bits[0], 0xFFFE, bits[0], bits[1]);

    least = _mm512_mask_min_epu32(least, 0xFFFC, least, bits[2]);
    return _mm512_mask_min_epu32(least, 0xFFF8, least, bits[3]);
}

/* Bit 16 r + k: word g + r, of those before word n, is near word g + 1 + k, before word `end` and
 * within its reach. */
TARGET static inline uint64_t group_within(const uint32_t *word, size_t g, size_t n, size_t end,
                                           unsigned reach, __m512i most)
{
    const unsigned taken = g + 1 + ND_HAMMING_WINDOW > end ? (1u << (end - g - 1)) - 1 : 0xFFFFu;
    __m512i bits[GROUP];
    uint64_t near = 0;

    differing(word + g, word + g + 1, bits);
    for (unsigned r = 0; r < GROUP; r++) {
        uint64_t slots = nd_mask_bits(_mm512_cmple_epu32_mask(bits[r], most)) & taken;

        near |= (slots & ((1u << reach) - 1) << r) << (ND_HAMMING_WINDOW * r);
    }
    return g + GROUP > n ? near & ((UINT64_C(1) << (ND_HAMMING_WINDOW * (n - g))) - 1) : near;
}

/* First, without a branch, which groups have something near; then what it is. */
TARGET static size_t words_next(const uint32_t *word, size_t n, size_t end, unsigned reach,
                                unsigned distance, struct nd_hamming_words *pair)
{
    const __m512i most = _mm512_set1_epi32((int)distance);
    size_t count = 0;

    for (size_t from = 0; from < n && from + 1 < end; from += GROUP * GROUPS) {
        uint64_t groups = 0;

        for (size_t g = from, t = 0; g < n && g + 1 < end && t < GROUPS; g += GROUP, t++) {
            __m512i bits[GROUP];

            differing(word + g, word + g + 1, bits);
            groups |= (uint64_t)(_mm512_cmple_epu32_mask(min_of_first(bits), most) != 0) << t;
        }
        for (; groups; groups &= groups - 1) {
            size_t g = from + GROUP * (size_t)__builtin_ctzll(groups);
            uint64_t near = group_within(word, g, n, end, reach, most);

            for (; near; near &= near - 1) {
                unsigned bit = (unsigned)__builtin_ctzll(near);

                pair[count++] =
                    (struct nd_hamming_words){(uint32_t)g + bit / ND_HAMMING_WINDOW,
                                              (uint32_t)g + 1 + bit % ND_HAMMING_WINDOW};
            }
        }
    }
    return count;
}

/* Add what a group, from word g on, has found in block `more`, of which `taken` slots hold words.
 */
TARGET static size_t add_found(const __m512i *bits, __m512i most, size_t g, size_t more,
                               unsigned taken, struct nd_hamming_near *near)
{
    size_t count = 0;

    for (unsigned i = 0; i < GROUP; i++) {
        unsigned slots = nd_mask_bits(_mm512_cmple_epu32_mask(bits[i], most)) & taken;

        if (more == 0)
            slots &= ~0u << i;
        near[count] = (struct nd_hamming_near){(uint32_t)(g + i), (uint16_t)slots, (uint16_t)more};
        count += slots != 0;
    }
    return count;
}

static inline unsigned taken_slots(size_t first, size_t n)
{
    return first + ND_HAMMING_WINDOW > n ? (1u << (n - first)) - 1 : 0xFFFFu;
}

TARGET static size_t words_in(const uint32_t *word, size_t from, size_t n_rows, size_t n,
                              size_t gap, unsigned distance, struct nd_hamming_near *near)
{
    const __m512i most = _mm512_set1_epi32((int)distance);
    size_t count = 0, end = from + n_rows;

    for (size_t g = from; g < end && g + 1 + gap < n; g += GROUP) {
        size_t first = g + 1 + gap;
        __m512i bits[GROUP];

        differing(word + g, word + first, bits);
        if (_mm512_cmple_epu32_mask(min_of_first(bits), most))
            count += add_found(bits, most, g, 0, taken_slots(first, n), near + count);
        for (size_t more = 1; (first += ND_HAMMING_WINDOW) < n; more++) {
            __m512i least;

            differing(word + g, word + first, bits);
            least = _mm512_min_epu32(_mm512_min_epu32(bits[0], bits[1]),
                                     _mm512_min_epu32(bits[2], bits[3]));
            if (_mm512_cmple_epu32_mask(least, most))
                count += add_found(bits, most, g, more, taken_slots(first, n), near + count);
        }
    }
    return count;
}

/* The constants of nd_record_hash, in every lane. */
struct lanes_avx512 {
    __m512i shift[2], mask[2], factor, up;
};

TARGET static inline struct lanes_avx512 lanes_of(const struct nd_record_code *code,
                                                  unsigned n_runs, unsigned up)
{
    struct lanes_avx512 l = {.factor = _mm512_set1_epi64((long long)ND_RECORD_FACTOR),
                             .up = _mm512_set1_epi64(64 - code->key_bits + up)};

    for (unsigned r = 0; r < n_runs; r++) {
        l.shift[r] = _mm512_set1_epi64(code->shift[r]);
        l.mask[r] = _mm512_set1_epi64((long long)code->mask[r]);
    }
    return l;
}

/* nd_record_hash << up of a key of 32 bits at most: of the product as many are wanted. */
TARGET static inline __m512i short_hash(const struct lanes_avx512 *l, unsigned n_runs, __m512i x)
{
    __m512i bits = _mm512_and_si512(_mm512_srlv_epi64(x, l->shift[0]), l->mask[0]);

    if (n_runs == 2)
        bits =
            _mm512_or_si512(bits, _mm512_and_si512(_mm512_srlv_epi64(x, l->shift[1]), l->mask[1]));
    return _mm512_sllv_epi64(_mm512_mul_epu32(bits, l->factor), l->up);
}

TARGET static inline __attribute__((always_inline)) void
short_parts(const struct nd_record_code *code, unsigned n_runs, const uint64_t *x, size_t n,
            uint32_t *part)
{
    const struct lanes_avx512 l = lanes_of(code, n_runs, 0);
    const __m512i down = _mm512_set1_epi64(64 - code->part_bits);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i hash = short_hash(&l, n_runs, _mm512_loadu_si512(x + i));

        _mm256_storeu_si256((__m256i *)(void *)(part + i),
                            _mm512_cvtepi64_epi32(_mm512_srlv_epi64(hash, down)));
    }
    nd_record_parts(code, x + i, n - i, part + i);
}

TARGET static inline __attribute__((always_inline)) void
short_places(const struct nd_record_code *code, unsigned n_runs, const uint64_t *x, size_t n,
             uint64_t *place)
{
    const struct lanes_avx512 l = lanes_of(code, n_runs, code->part_bits);
    const __m512i down = _mm512_set1_epi64(32 - code->place_bits);
    const __m512i high = _mm512_set1_epi64((long long)0xFFFFE000);
    const __m512i low = _mm512_set1_epi64(UINT32_MAX);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        __m512i v = _mm512_loadu_si512(x + i);
        __m512i at = _mm512_srlv_epi64(short_hash(&l, n_runs, v), down);
        __m512i filter = _mm512_and_si512(_mm512_srli_epi64(v, 19), high);

        filter = _mm512_xor_si512(_mm512_xor_si512(v, filter), _mm512_srli_epi64(v, 51));
        at = _mm512_or_si512(_mm512_andnot_si512(low, at), _mm512_and_si512(low, filter));
        _mm512_storeu_si512(place + i, at);
    }
    nd_record_places(code, x + i, n - i, place + i);
}

TARGET static void join_parts(const struct nd_record_code *code, const uint64_t *x, size_t n,
                              uint32_t *part)
{
    if (code->n_runs == 1 && code->key_bits <= 32)
        short_parts(code, 1, x, n, part);
    else if (code->n_runs == 2 && code->key_bits <= 32)
        short_parts(code, 2, x, n, part);
    else
        nd_record_parts(code, x, n, part);
}

TARGET static void join_places(const struct nd_record_code *code, const uint64_t *x, size_t n,
                               uint64_t *place)
{
    if (code->n_runs == 1 && code->key_bits <= 32)
        short_places(code, 1, x, n, place);
    else if (code->n_runs == 2 && code->key_bits <= 32)
        short_places(code, 2, x, n, place);
    else
        nd_record_places(code, x, n, place);
}

TARGET static void join_words(const uint64_t *record, size_t n, uint32_t *word)
{
    nd_record_words(record, n, word);
}

/* Past the caches: whoever reads it does so later. */
TARGET static inline void write_group(const struct nd_move_group *g, uint64_t *value,
                                      uint32_t *position)
{
    const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
    __m256i half[2];

    for (int i = 0; i < 2; i++) {
        __m512i a = _mm512_load_si512(&g->record[8 * i]);
        __m512i b = _mm512_load_si512(&g->record[8 * i + 4]);

        _mm512_stream_si512((__m512i *)(void *)(value + 8 * i),
                            _mm512_permutex2var_epi64(a, even, b));
        half[i] = _mm512_cvtepi64_epi32(_mm512_permutex2var_epi64(a, odd, b));
    }
    _mm512_stream_si512((__m512i *)(void *)position,
                        _mm512_inserti64x4(_mm512_castsi256_si512(half[0]), half[1], 1));
}

TARGET static void join_move(const struct nd_move *move, const uint32_t *part,
                             const uint64_t *value, uint32_t position, size_t n)
{
    nd_move_records(move, part, value, position, n, write_group);
}

static void fence(void)
{
    _mm_sfence();
}

const struct nd_hamming_kernels nd_hamming_avx512 = {
    .next_ns = 1.0,
    .word_ns = 0.05,
    .reach = ND_HAMMING_NEXT,
    .places = places,
    .ball = ball,
    .lines = lines,
    .rows = rows,
    .next = next,
    .words_next = words_next,
    .words_in = words_in,
    .join_parts = join_parts,
    .join_places = join_places,
    .join_words = join_words,
    .join_move = join_move,
    .fence = fence,
};
#endif
