/* elias_fano_avx2.c - reading an Elias-Fano code with AVX2 and POPCNT
 *
 * A table has the places of the ones of each byte, which are written eight at a time, and the next
 * byte's over what is beyond the ones of this one.  The low parts of 8 values are low_bits bytes, so
 * eight after eight they lie alike: a load for each two values, a shuffle that brings each to its
 * lane, and a shift.  There is no gather, which is slow on many processors.
 */
#include "simd/elias_fano/elias_fano_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "simd/elias_fano/bit_places.h"

#define TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* The shift within the first byte takes up to 7 of a lane's 64 bits. */
enum { LOW_MAX = 57, FEW = 12, PLACES = 512, FAR = 1 << 12 };

/* Places of ones, as seen from bit 0 of the word `base`. */
struct places_avx2 {
    uint64_t base, word; /* the next word to read */
    uint64_t from;       /* which of its bits count: all, but of the first word */
    size_t n;
    uint32_t at[PLACES + 64 + 8];
};

/* Read words until there are `wanted` places, or until the next one is very far away. */
TARGET static void find_places(struct places_avx2 *p, const uint64_t *high, size_t wanted)
{
    __m256i base = _mm256_setzero_si256();
    size_t n = 0;

    p->base = p->word;
    while (n < wanted && p->word - p->base < FAR) {
        uint64_t bits = high[p->word++] & p->from;

        p->from = ~UINT64_C(0);
        for (unsigned i = 0; i < 8; i++, bits >>= 8) {
            const void *of_byte = &nd_bit_places[bits & 0xFF];
            __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)of_byte));

            _mm256_storeu_si256((__m256i *)(void *)(p->at + n), _mm256_add_epi32(at, base));
            n += (size_t)_mm_popcnt_u64(bits & 0xFF);
            base = _mm256_add_epi32(base, _mm256_set1_epi32(8));
        }
    }
    p->n = n;
}

/* How four low parts lie from a byte on: two pairs, each in 16 bytes. */
struct low_parts_avx2 {
    size_t pair[2];
    __m256i byte, shift;
};

/* The low parts of values i to i + 3, as seen from `first`, a byte's first bit. */
TARGET static struct low_parts_avx2 low_parts(const struct nd_elias_fano_run *run, uint64_t i,
                                              uint64_t first)
{
    uint64_t bit = i * run->low_bits - first, shift[4];
    struct low_parts_avx2 l;
    uint8_t byte[32];

    for (unsigned lane = 0; lane < 4; lane++, bit += run->low_bits) {
        if (lane % 2 == 0)
            l.pair[lane / 2] = (size_t)(bit / 8);
        shift[lane] = bit % 8;
        for (unsigned k = 0; k < 8; k++)
            byte[8 * lane + k] = (uint8_t)(bit / 8 - l.pair[lane / 2] + k);
    }
    l.byte = _mm256_loadu_si256((const __m256i *)(const void *)byte);
    l.shift = _mm256_loadu_si256((const __m256i *)(const void *)shift);
    return l;
}

/* Four values, whose places are `at` and whose high parts are by `less` less. */
TARGET static inline __m256i join(const struct low_parts_avx2 *l, const unsigned char *byte,
                                  const uint32_t *at, __m256i less, unsigned low_bits)
{
    const __m128i *first = (const __m128i *)(const void *)(byte + l->pair[0]);
    const __m128i *second = (const __m128i *)(const void *)(byte + l->pair[1]);
    const __m256i mask = _mm256_set1_epi64x((long long)((UINT64_C(1) << low_bits) - 1));
    __m256i high = _mm256_cvtepu32_epi64(_mm_loadu_si128((const __m128i *)(const void *)at));
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)),
                                          _mm_loadu_si128(second), 1);

    low = _mm256_srlv_epi64(_mm256_shuffle_epi8(low, l->byte), l->shift);
    high = _mm256_sllv_epi64(_mm256_sub_epi64(high, less), _mm256_set1_epi64x(low_bits));
    return _mm256_or_si256(_mm256_and_si256(low, mask), high);
}

/* One value, whose high part is h. */
TARGET static inline uint64_t join_one(const struct nd_elias_fano_run *run, uint64_t i, uint64_t h)
{
    uint64_t bit = i * run->low_bits;
    const void *byte = (const unsigned char *)run->low + bit / 8;
    uint64_t part = (uint64_t)_mm_cvtsi128_si64(_mm_loadl_epi64((const __m128i *)byte));

    return h << run->low_bits | _bzhi_u64(part >> bit % 8, run->low_bits);
}

/*
 * The values of n places, the first of them being number i of the run.  A pair is loaded as 16
 * bytes.  Only 8 are surely readable from the last value on, so that the loop ends 64 bits before.
 */
TARGET static void join_places(const struct nd_elias_fano_run *run, const struct places_avx2 *p,
                               size_t i, size_t n, uint64_t *out)
{
    const unsigned l = run->low_bits;
    const uint64_t first = run->first + i, less = first - p->base * 64;
    const uint64_t begin = first * l / 8 * 8;
    const struct low_parts_avx2 left = low_parts(run, first, begin),
                                right = low_parts(run, first + 4, begin);
    const unsigned char *byte = (const unsigned char *)run->low + begin / 8;
    const size_t spare = (64 + l - 1) / l;
    __m256i by =
        _mm256_add_epi64(_mm256_set1_epi64x((long long)less), _mm256_setr_epi64x(0, 1, 2, 3));
    size_t j = 0;

    for (; j + 8 + spare <= n; j += 8, byte += l) {
        __m256i *to = (__m256i *)(void *)(out + j);

        _mm256_storeu_si256(to, join(&left, byte, p->at + j, by, l));
        by = _mm256_add_epi64(by, _mm256_set1_epi64x(4));
        _mm256_storeu_si256(to + 1, join(&right, byte, p->at + j + 4, by, l));
        by = _mm256_add_epi64(by, _mm256_set1_epi64x(4));
    }
    for (; j < n; j++)
        out[j] = join_one(run, first + j, p->at[j] - less - j);
}

void nd_elias_fano_avx2(const struct nd_elias_fano_run *run, uint64_t *out)
{
    struct places_avx2 p = {.word = run->place / 64, .from = ~UINT64_C(0) << run->place % 64};
    size_t i = 0;

    if (run->low_bits > LOW_MAX || run->low_bits == 0 || run->count < FEW) {
        nd_elias_fano_scalar(run, out);
        return;
    }
    while (i < run->count) {
        size_t left = run->count - i;

        find_places(&p, run->high, left < PLACES ? left : PLACES);
        if (p.n < left)
            left = p.n;
        join_places(run, &p, i, left, out + i);
        i += left;
    }
}
#endif
