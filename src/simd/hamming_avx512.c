/* hamming_avx512.c - the Hamming kernels for AVX-512 F, BW, DQ, VL and VPOPCNTDQ */
#include "simd/hamming_kernels.h"
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
TARGET static inline __m512i places_of(const struct nd_hamming_spread *spread, __m512i hash)
{
    const __m512i first = _mm512_set1_epi64(spread->first);
    const __m512i mask = _mm512_set1_epi64(2 * (long long)spread->groups - 1);
    const __m512i half = _mm512_set1_epi64((long long)spread->groups * spread->first);
    __m512i place = _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hash, 32), first), 32);
    __mmask8 beyond;

    place = _mm512_add_epi64(place, _mm512_mul_epu32(_mm512_and_si512(hash, mask), first));
    beyond = _mm512_cmpge_epu64_mask(place, _mm512_set1_epi64((long long)spread->lines));
    return _mm512_mask_sub_epi64(place, beyond, place, half);
}

TARGET static void places(const struct nd_hamming_spread *spread, uint64_t key, unsigned turn,
                          const uint64_t *x, size_t n, uint32_t *place, uint32_t *fold)
{
    for (size_t i = 0; i < n; i += 8) {
        __mmask8 in = (__mmask8)(n - i < 8 ? (1u << (n - i)) - 1 : 0xFFu);
        __m512i y = _mm512_maskz_loadu_epi64(in, x + i);
        __m512i hash = hash_step(_mm512_and_si512(y, _mm512_set1_epi64((long long)key)),
                                 UINT64_C(0x9E3779B97F4A7C15));
        __m256i high = _mm512_cvtepi64_epi32(_mm512_srli_epi64(y, 32));

        high = _mm256_rolv_epi32(high, _mm256_set1_epi32((int)turn));
        hash = hash_step(hash, UINT64_C(0xD6E8FEB86659FD93));
        _mm256_mask_storeu_epi32(place + i, in, _mm512_cvtepi64_epi32(places_of(spread, hash)));
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

/* Rows of one word, eight at a time, 32 a turn: near ones are rare. */
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
    size_t count = 0;

    if (words == 1)
        return words_near(row, n, query[0], distance, found);
    for (size_t i = 0; i < n; i++, row += words) {
        unsigned bits = 0;

        for (size_t w = 0; w < words; w++)
            bits += (unsigned)__builtin_popcountll(row[w] ^ query[w]);
        found[count] = (uint32_t)i;
        count += bits <= distance;
    }
    return count;
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

TARGET static size_t words_next(const uint32_t *word, size_t n, size_t end, unsigned distance,
                                struct nd_hamming_found *found)
{
    const __m512i most = _mm512_set1_epi32((int)distance);
    size_t count = 0;

    for (size_t i = 0; i < n && i + 1 < end; i++) {
        __m512i x =
            _mm512_xor_si512(_mm512_loadu_si512(word + i + 1), _mm512_set1_epi32((int)word[i]));
        unsigned slots = nd_mask_bits(_mm512_cmple_epu32_mask(_mm512_popcnt_epi32(x), most));

        if (i + 1 + ND_HAMMING_WINDOW > end)
            slots &= (1u << (end - i - 1)) - 1;
        found[count] = (struct nd_hamming_found){(uint32_t)i, slots};
        count += slots != 0;
    }
    return count;
}

enum { TURN = ND_HAMMING_TURN };

/* In how many bits a block differs from each word of a turn. */
TARGET static inline void differing(const uint32_t *word, const uint32_t *block, __m512i *bits)
{
    __m512i words = _mm512_loadu_si512(block);

    for (unsigned i = 0; i < TURN; i++)
        bits[i] = _mm512_popcnt_epi32(_mm512_xor_si512(_mm512_set1_epi32((int)word[i]), words));
}

/* Word i of a turn meets the first block from slot i on: it is not its own neighbour. */
TARGET static inline __m512i least_of_first(const __m512i *bits)
{
    __m512i least = _mm512_mask_min_epu32(bits[0], 0xFFFE, bits[0], bits[1]);

    least = _mm512_mask_min_epu32(least, 0xFFFC, least, bits[2]);
    return _mm512_mask_min_epu32(least, 0xFFF8, least, bits[3]);
}

/* What a turn, from word g on, has found in block `more`, of which `taken` slots hold words. */
TARGET static size_t add_found(const __m512i *bits, __m512i most, size_t g, size_t more,
                               unsigned taken, struct nd_hamming_near *near)
{
    size_t count = 0;

    for (unsigned i = 0; i < TURN; i++) {
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

    for (size_t g = from; g < end && g + 1 + gap < n; g += TURN) {
        size_t first = g + 1 + gap;
        __m512i bits[TURN];

        differing(word + g, word + first, bits);
        if (_mm512_cmple_epu32_mask(least_of_first(bits), most))
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

TARGET static void join_parts(const struct nd_record_code *code, const uint64_t *x, size_t n,
                              uint32_t *part)
{
    nd_record_parts(code, x, n, part);
}

TARGET static void join_places(const struct nd_record_code *code, const uint64_t *x, size_t n,
                               uint32_t *place, uint32_t *filter)
{
    nd_record_places(code, x, n, place, filter);
}

TARGET static void store_line(void *to, const void *from)
{
    _mm512_stream_si512(to, _mm512_loadu_si512(from));
}

static void fence(void)
{
    _mm_sfence();
}

const struct nd_hamming_kernels nd_hamming_avx512 = {
    .next_ns = 1.5,
    .word_ns = 0.04,
    .places = places,
    .ball = ball,
    .lines = lines,
    .rows = rows,
    .next = next,
    .words_next = words_next,
    .words_in = words_in,
    .join_parts = join_parts,
    .join_places = join_places,
    .store_line = store_line,
    .fence = fence,
};
#endif
