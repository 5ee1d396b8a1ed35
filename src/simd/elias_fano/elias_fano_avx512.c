/* elias_fano_avx512.c - reading an Elias-Fano code with AVX-512 F and BW
 *
 * The places of the ones of 16 bits are their numbers, compressed by the bits as a mask.  The low
 * parts of 8 values are low_bits bytes, so eight after eight they lie alike: one permutation of 16
 * bits each brings a word to its lane, and one shift its low bit to bit 0.
 */
#include "simd/elias_fano/elias_fano_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt")))

/* A lane is 64 bits, of which the shift takes up to 15. */
enum { LOW_MAX = 49, FEW = 12, PLACES = 512, FAR = 1 << 12 };

/* Places of ones, as seen from bit 0 of the word `base`. */
struct places_avx512 {
    uint64_t base, word; /* the next word to read */
    uint64_t from;       /* which of its bits count: all, but of the first word */
    size_t n;
    uint32_t at[PLACES + 64 + 16];
};

/* Read words until there are `wanted` places, or until the next one is very far away. */
TARGET static void find_places(struct places_avx512 *p, const uint64_t *high, size_t wanted)
{
    const __m512i iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i at = iota;
    size_t n = 0;

    p->base = p->word;
    while (n < wanted && p->word - p->base < FAR) {
        uint64_t bits = high[p->word++] & p->from;

        p->from = ~UINT64_C(0);
        for (unsigned i = 0; i < 4; i++, bits >>= 16) {
            unsigned part = (unsigned)bits & 0xFFFFu;

            _mm512_storeu_si512(p->at + n, _mm512_maskz_compress_epi32((__mmask16)part, at));
            n += (size_t)__builtin_popcount(part);
            at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        }
    }
    p->n = n;
}

/* How eight low parts lie from a bit on. */
struct low_parts_avx512 {
    __m512i word, shift, mask;
    const unsigned char *byte;
    unsigned bit, bits;
};

TARGET static struct low_parts_avx512 low_parts(const struct nd_elias_fano_run *run, size_t i)
{
    uint64_t bit = (run->first + i) * run->low_bits;
    struct low_parts_avx512 l = {.byte = (const unsigned char *)run->low + bit / 8,
                                 .bit = (unsigned)(bit % 8),
                                 .bits = run->low_bits};
    uint64_t shift[8];
    uint16_t word[32];

    for (unsigned lane = 0; lane < 8; lane++) {
        unsigned at = l.bit + lane * l.bits;

        shift[lane] = at % 16;
        for (unsigned w = 0; w < 4; w++)
            word[4 * lane + w] = (uint16_t)(at / 16 + w);
    }
    l.word = _mm512_loadu_si512(word);
    l.shift = _mm512_loadu_si512(shift);
    l.mask = _mm512_set1_epi64((long long)((UINT64_C(1) << l.bits) - 1));
    return l;
}

/* The bytes that n <= 8 low parts are made of; no more than 8 from where the last one begins. */
TARGET static __mmask64 bytes_of(const struct low_parts_avx512 *l, unsigned n)
{
    unsigned bytes = (l->bit + (n - 1) * l->bits) / 16 * 2 + 8;

    return ~UINT64_C(0) >> (64 - bytes);
}

TARGET static inline __m512i join(const struct low_parts_avx512 *l, const unsigned char *byte,
                                  __mmask64 bytes, __m512i high)
{
    __m512i low = _mm512_maskz_loadu_epi8(bytes, byte);

    low = _mm512_srlv_epi64(_mm512_permutexvar_epi16(l->word, low), l->shift);
    high = _mm512_sll_epi64(high, _mm_cvtsi32_si128((int)l->bits));
    return _mm512_ternarylogic_epi64(low, l->mask, high, 0xEA); /* (low & mask) | high */
}

/* The values of n places, the first of them being number i of the run. */
TARGET static void join_places(const struct nd_elias_fano_run *run, const struct places_avx512 *p,
                               size_t i, size_t n, uint64_t *out)
{
    struct low_parts_avx512 l = low_parts(run, i);
    const __mmask64 bytes = bytes_of(&l, 8);
    const unsigned char *byte = l.byte;
    const __m512i lane = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
    __m512i less =
        _mm512_sub_epi64(_mm512_set1_epi64((long long)(p->base * 64 - run->first - i)), lane);
    size_t j = 0;

    for (; j + 8 <= n; j += 8, byte += l.bits) {
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(p->at + j));
        __m512i high = _mm512_add_epi64(_mm512_cvtepu32_epi64(at), less);

        _mm512_storeu_si512(out + j, join(&l, byte, bytes, high));
        less = _mm512_sub_epi64(less, _mm512_set1_epi64(8));
    }
    if (j < n) {
        unsigned left = (unsigned)(n - j);
        __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(p->at + j));
        __m512i high = _mm512_add_epi64(_mm512_cvtepu32_epi64(at), less);

        _mm512_mask_storeu_epi64(out + j, (__mmask8)((1u << left) - 1),
                                 join(&l, byte, bytes_of(&l, left), high));
    }
}

void nd_elias_fano_avx512(const struct nd_elias_fano_run *run, uint64_t *out)
{
    struct places_avx512 p = {.word = run->place / 64, .from = ~UINT64_C(0) << run->place % 64};
    size_t i = 0;

    if (run->low_bits > LOW_MAX || run->count < FEW) {
        /* A shuffle of bytes leaves more of a lane to the value than one of words. */
        nd_elias_fano_avx2(run, out);
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
