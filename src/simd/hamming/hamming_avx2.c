/* hamming_avx2.c - the Hamming kernels for AVX2 and POPCNT */
#include "simd/hamming/hamming_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "simd/near_words.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

enum { EIGHT = 8, EIGHTS = 64 };

/* Which of 8 words have at most `most` bits, as 8 bits. */
TARGET static inline unsigned words_within(__m256i x, __m256i most)
{
    __m256i pairs = _mm256_maddubs_epi16(nd_byte_counts(x), _mm256_set1_epi8(1));
    __m256i bits = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    __m256i above = _mm256_cmpgt_epi32(bits, most);

    return ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(above)) & 0xFFu;
}

/* hash * factor, then XOR its upper half. */
TARGET static inline __m256i hash_step(__m256i hash, uint64_t factor)
{
    const __m256i low = _mm256_set1_epi64x((long long)(factor & UINT32_MAX));
    const __m256i high = _mm256_set1_epi64x((long long)(factor >> 32));
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hash, 32), low),
                                     _mm256_mul_epu32(hash, high));

    hash = _mm256_add_epi64(_mm256_mul_epu32(hash, low), _mm256_slli_epi64(cross, 32));
    return _mm256_xor_si256(hash, _mm256_srli_epi64(hash, 32));
}

/* nd_hamming_place: what is compared is below 2^32, so that the sign does not matter. */
TARGET static inline __m256i places_of(const struct nd_linear_hash *table, __m256i hash)
{
    const __m256i first = _mm256_set1_epi64x(table->first);
    const __m256i mask = _mm256_set1_epi64x(2 * (long long)table->groups - 1);
    const __m256i half = _mm256_set1_epi64x((long long)table->groups * table->first);
    const __m256i last = _mm256_set1_epi64x((long long)table->lines - 1);
    __m256i place = _mm256_srli_epi64(_mm256_mul_epu32(_mm256_srli_epi64(hash, 32), first), 32);

    place = _mm256_add_epi64(place, _mm256_mul_epu32(_mm256_and_si256(hash, mask), first));
    return _mm256_sub_epi64(place, _mm256_and_si256(_mm256_cmpgt_epi64(place, last), half));
}

/* The low halves of four values. */
TARGET static inline __m128i low_halves(__m256i x)
{
    const __m256i pick = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);

    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(x, pick));
}

TARGET static void places(const struct nd_linear_hash *table, uint64_t key, unsigned rotation,
                          const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold)
{
    const __m128i left = _mm_cvtsi32_si128((int)rotation),
                  right = _mm_cvtsi32_si128((int)(32 - rotation));
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256i y = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        __m256i hash = hash_step(_mm256_and_si256(y, _mm256_set1_epi64x((long long)key)),
                                 UINT64_C(0x9E3779B97F4A7C15));
        __m128i high = low_halves(_mm256_srli_epi64(y, 32));

        high = _mm_or_si128(_mm_sll_epi32(high, left), _mm_srl_epi32(high, right));
        hash = hash_step(hash, UINT64_C(0xD6E8FEB86659FD93));
        _mm_storeu_si128((__m128i *)(void *)(place + i), low_halves(places_of(table, hash)));
        _mm_storeu_si128((__m128i *)(void *)(fold + i), _mm_xor_si128(low_halves(y), high));
    }
    nd_hamming_scalar.places(table, key, rotation, x + i, n - i, place + i, fold + i);
}

/* The compared values are below 2^31, so that the sign does not matter. */
TARGET static size_t ball(const uint32_t *mask, uint32_t data, uint32_t level, uint32_t n_lines,
                          uint32_t *place)
{
    const __m256i last = _mm256_set1_epi32((int)n_lines - 1), high = _mm256_set1_epi32((int)level);
    const __m256i bits = _mm256_set1_epi32((int)(2 * level - 1));
    uint32_t all[16];
    size_t count = 1;

    for (unsigned i = 0; i < 16; i += 8) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(mask + i));

        at = _mm256_and_si256(_mm256_xor_si256(at, _mm256_set1_epi32((int)data)), bits);
        at = _mm256_andnot_si256(_mm256_and_si256(_mm256_cmpgt_epi32(at, last), high), at);
        _mm256_storeu_si256((__m256i *)(void *)(all + i), at);
    }
    place[0] = all[0];
    for (unsigned i = 1; i < 16; i++) {
        place[count] = all[i];
        count += all[i] != all[i - 1];
    }
    return count;
}

TARGET static struct nd_hamming_seen lines(const struct nd_hamming_look *now,
                                           const struct nd_hamming_look *next, unsigned distance,
                                           struct nd_hamming_found *found, uint32_t *more)
{
    const __m256i most = _mm256_set1_epi32((int)distance);
    struct nd_hamming_seen seen = {0, 0};

    for (size_t i = 0; i < now->n; i++) {
        const __m256i *half = (const __m256i *)(const void *)now->line[i];
        __m256i v = _mm256_set1_epi32((int)now->value[i]);
        uint32_t last = now->line[i]->word[15];
        unsigned taken = (1u << (last & 15)) - 1;
        unsigned slots = words_within(_mm256_xor_si256(_mm256_load_si256(half), v), most);

        slots |= words_within(_mm256_xor_si256(_mm256_load_si256(half + 1), v), most) << 8;
        slots &= taken;
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

TARGET static size_t rows(const uint64_t *row, size_t n, size_t words, const uint64_t *query,
                          unsigned distance, uint32_t *found)
{
    return nd_hamming_count_rows(row, n, words, query, distance, found);
}

/* Which of 4 values differ from v in at most `most` bits, as 4 bits. */
TARGET static inline unsigned values_within(const uint64_t *value, __m256i v, __m256i most)
{
    __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)value), v);
    __m256i bits = _mm256_sad_epu8(nd_byte_counts(x), _mm256_setzero_si256());
    __m256i above = _mm256_cmpgt_epi64(bits, most);

    return ~(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(above)) & 15u;
}

TARGET static size_t next(const uint64_t *value, size_t n, size_t end, size_t gap,
                          unsigned distance, struct nd_hamming_found *found)
{
    const __m256i most = _mm256_set1_epi64x(distance);
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 + gap < end; i++) {
        size_t first = i + 1 + gap;
        __m256i v = _mm256_set1_epi64x((long long)value[i]);
        unsigned slots =
            values_within(value + first, v, most) | values_within(value + first + 4, v, most) << 4;

        if (first + 8 > end)
            slots &= (1u << (end - first)) - 1;
        found[count] = (struct nd_hamming_found){(uint32_t)i, slots};
        count += slots != 0;
    }
    return count;
}

/* Eight words XOR one. */
TARGET static inline __m256i differing(const uint32_t *words, const uint32_t *word)
{
    return _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(const void *)words),
                            _mm256_set1_epi32((int)*word));
}

/* Return the answer of nd_near_words for four rows of eight words: bit 8 r + k is word k of row r.
 */
TARGET static inline uint32_t bits_of(const __m256i *near)
{
    __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(near[0], near[1]),
                                       _mm256_packs_epi32(near[2], near[3]));

    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

/* Bit 8 r + k: word[r] is near word[r + 1 + k]. */
TARGET static inline __attribute__((always_inline)) uint32_t
four_within(const uint32_t *word, unsigned distance, __m256i most)
{
    __m256i near[ND_HAMMING_GROUP];

#pragma GCC unroll 4
    for (unsigned r = 0; r < ND_HAMMING_GROUP; r++)
        near[r] = nd_near_words(differing(word + r + 1, word + r), distance, most);
    return bits_of(near);
}

/* Bit 8 r + k: word[r] is near block[k]. */
TARGET static inline __attribute__((always_inline)) uint32_t
block_within(const uint32_t *word, const uint32_t *block, unsigned distance, __m256i most)
{
    __m256i near[ND_HAMMING_GROUP];

#pragma GCC unroll 4
    for (unsigned r = 0; r < ND_HAMMING_GROUP; r++)
        near[r] = nd_near_words(differing(block, word + r), distance, most);
    return bits_of(near);
}

/* Keep the bits of the rows from number g on that are before row n, and of the words before word
 * `end`. */
static inline uint64_t within_bounds(uint64_t near, size_t g, size_t n, size_t end)
{
    if (g + EIGHT > n)
        near &= (UINT64_C(1) << (EIGHT * (n - g))) - 1;
    for (unsigned r = 0; g + 2 * EIGHT > end && r < EIGHT; r++) {
        size_t first = g + r + 1, left = end > first ? end - first : 0;

        if (left < EIGHT)
            near &= ~((UINT64_C(0xFF) << left & 0xFF) << (EIGHT * r));
    }
    return near;
}

/* First, without a branch, what is near in eight rows each; then those where something is. */
TARGET static inline __attribute__((always_inline)) size_t
next_within(const uint32_t *word, size_t n, size_t end, unsigned reach, unsigned distance,
            struct nd_hamming_words *pair)
{
    const __m256i most = _mm256_set1_epi32((int)distance + 1);
    const uint64_t reached = UINT64_C(0x0101010101010101) * ((1u << reach) - 1);
    uint64_t near[EIGHTS];
    size_t count = 0;

    for (size_t from = 0; from < n && from + 1 < end; from += EIGHT * EIGHTS) {
        uint64_t some = 0;

        for (size_t g = from, t = 0; g < n && t < EIGHTS; g += EIGHT, t++) {
            near[t] = four_within(word + g, distance, most) |
                      (uint64_t)four_within(word + g + 4, distance, most) << 32;
            near[t] &= reached;
            some |= (uint64_t)(near[t] != 0) << t;
        }
        for (; some; some &= some - 1) {
            unsigned t = (unsigned)__builtin_ctzll(some);
            size_t g = from + EIGHT * (size_t)t;

            for (uint64_t left = within_bounds(near[t], g, n, end); left; left &= left - 1) {
                unsigned bit = (unsigned)__builtin_ctzll(left);

                pair[count++] = (struct nd_hamming_words){
                    (uint32_t)g + bit / EIGHT, (uint32_t)g + 1 + bit / EIGHT + bit % EIGHT};
            }
        }
    }
    return count;
}

TARGET static size_t words_next(const uint32_t *word, size_t n, size_t end, unsigned reach,
                                unsigned distance, struct nd_hamming_words *pair)
{
    if (reach > EIGHT)
        return nd_hamming_scalar.words_next(word, n, end, reach, distance, pair);
    switch (distance) { /* the cheap ones, each compiled for itself */
    case 1: return next_within(word, n, end, reach, 1, pair);
    case 2: return next_within(word, n, end, reach, 2, pair);
    case 3: return next_within(word, n, end, reach, 3, pair);
    default: return next_within(word, n, end, reach, distance, pair);
    }
}
/* Add what a group, from word g on, has near it in block `more`, of which `taken` slots hold words.
 */
static size_t add_found(uint32_t low, uint32_t high, size_t g, size_t more, unsigned taken,
                        struct nd_hamming_near *near)
{
    size_t count = 0;

    for (unsigned i = 0; i < ND_HAMMING_GROUP; i++, low >>= EIGHT, high >>= EIGHT) {
        unsigned slots = ((low & 0xFF) | (high & 0xFF) << EIGHT) & taken;

        if (more == 0)
            slots &= ~0u << i;
        near[count] = (struct nd_hamming_near){(uint32_t)(g + i), (uint16_t)slots, (uint16_t)more};
        count += slots != 0;
    }
    return count;
}

TARGET static inline __attribute__((always_inline)) size_t
in_within(const uint32_t *word, size_t from, size_t end, size_t n, size_t gap, unsigned distance,
          struct nd_hamming_near *near)
{
    const __m256i most = _mm256_set1_epi32((int)distance + 1);
    size_t count = 0;

    for (size_t g = from; g < end && g + 1 + gap < n; g += ND_HAMMING_GROUP)
        for (size_t first = g + 1 + gap, more = 0; first < n; first += ND_HAMMING_WINDOW, more++) {
            unsigned taken = first + ND_HAMMING_WINDOW > n ? (1u << (n - first)) - 1 : 0xFFFFu;
            uint32_t low = block_within(word + g, word + first, distance, most), high = 0;

            if (first + EIGHT < n)
                high = block_within(word + g, word + first + EIGHT, distance, most);
            if (low | high)
                count += add_found(low, high, g, more, taken, near + count);
        }
    return count;
}

TARGET static size_t words_in(const uint32_t *word, size_t from, size_t n_rows, size_t n,
                              size_t gap, unsigned distance, struct nd_hamming_near *near)
{
    switch (distance) {
    case 1: return in_within(word, from, from + n_rows, n, gap, 1, near);
    case 2: return in_within(word, from, from + n_rows, n, gap, 2, near);
    case 3: return in_within(word, from, from + n_rows, n, gap, 3, near);
    default: return in_within(word, from, from + n_rows, n, gap, distance, near);
    }
}

/* The constants of nd_record_hash, in every lane. */
struct lanes_avx2 {
    __m256i shift[2], mask[2], factor, up;
};

TARGET static inline struct lanes_avx2 lanes_of(const struct nd_record_code *code, unsigned n_runs,
                                                unsigned up)
{
    struct lanes_avx2 l = {.factor = _mm256_set1_epi64x((long long)ND_RECORD_FACTOR),
                           .up = _mm256_set1_epi64x(64 - code->key_bits + up)};

    for (unsigned r = 0; r < n_runs; r++) {
        l.shift[r] = _mm256_set1_epi64x(code->shift[r]);
        l.mask[r] = _mm256_set1_epi64x((long long)code->mask[r]);
    }
    return l;
}

/* nd_record_hash << up of a key of 32 bits at most: of the product as many are wanted. */
TARGET static inline __m256i short_hash(const struct lanes_avx2 *l, unsigned n_runs, __m256i x)
{
    __m256i bits = _mm256_and_si256(_mm256_srlv_epi64(x, l->shift[0]), l->mask[0]);

    if (n_runs == 2)
        bits =
            _mm256_or_si256(bits, _mm256_and_si256(_mm256_srlv_epi64(x, l->shift[1]), l->mask[1]));
    return _mm256_sllv_epi64(_mm256_mul_epu32(bits, l->factor), l->up);
}

TARGET static inline __attribute__((always_inline)) void
short_parts(const struct nd_record_code *code, unsigned n_runs, const uint64_t *x, size_t n,
            uint32_t *part)
{
    const struct lanes_avx2 l = lanes_of(code, n_runs, 0);
    const __m256i down = _mm256_set1_epi64x(64 - code->part_bits);
    size_t i = 0;

    for (; i + 8 <= n; i += 8) {
        const __m256i *from = (const __m256i *)(const void *)(x + i);
        __m256i a = _mm256_srlv_epi64(short_hash(&l, n_runs, _mm256_loadu_si256(from)), down);
        __m256i b = _mm256_srlv_epi64(short_hash(&l, n_runs, _mm256_loadu_si256(from + 1)), down);
        __m256 low = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);

        _mm256_storeu_si256((__m256i *)(void *)(part + i),
                            _mm256_permute4x64_epi64(_mm256_castps_si256(low), 0xD8));
    }
    nd_record_parts(code, x + i, n - i, part + i);
}

TARGET static inline __attribute__((always_inline)) void
short_places(const struct nd_record_code *code, unsigned n_runs, const uint64_t *x, size_t n,
             uint64_t *place)
{
    const struct lanes_avx2 l = lanes_of(code, n_runs, code->part_bits);
    const __m256i down = _mm256_set1_epi64x(32 - code->place_bits);
    const __m256i high = _mm256_set1_epi64x((long long)0xFFFFE000);
    size_t i = 0;

    for (; i + 4 <= n; i += 4) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        __m256i at = _mm256_srlv_epi64(short_hash(&l, n_runs, v), down);
        __m256i filter = _mm256_and_si256(_mm256_srli_epi64(v, 19), high);

        filter = _mm256_xor_si256(_mm256_xor_si256(v, filter), _mm256_srli_epi64(v, 51));
        _mm256_storeu_si256((__m256i *)(void *)(place + i), _mm256_blend_epi32(filter, at, 0xAA));
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
    for (int i = 0; i < ND_MOVE_GROUP; i += 8) {
        __m256 high[2], mixed;

        for (int k = 0; k < 2; k++) {
            const __m256i *at = (const __m256i *)(const void *)&g->record[i + 4 * k];
            __m256i a = _mm256_load_si256(at), b = _mm256_load_si256(at + 1);

            _mm256_stream_si256((__m256i *)(void *)(value + i + 4 * k),
                                _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xD8));
            a = _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xD8);
            high[k] = _mm256_castsi256_ps(a);
        }
        mixed = _mm256_shuffle_ps(high[0], high[1], 0x88);
        _mm256_stream_si256((__m256i *)(void *)(position + i),
                            _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xD8));
    }
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

const struct nd_hamming_kernels nd_hamming_avx2 = {
    .next_ns = 1.0,
    .word_ns = 0.08,
    .reach = EIGHT,
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
