/* text_avx2.c - the kernels of the text layer, 32 bytes at a time */
#include "simd/text/text_edges.h"
#include "simd/text/text_plain.h"
#include "simd/text/utf8_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* The first n < 32 bytes of a block; the others are zero and not touched. */
AVX2 __attribute__((noinline)) static __m256i load_part(const uint8_t *in, size_t n)
{
    uint8_t block[32] = {0};

    if (n)
        memcpy(block, in, n);
    return _mm256_loadu_si256((const __m256i *)block);
}

AVX2 static inline __m256i load(const uint8_t *in, size_t n)
{
    return __builtin_expect(n >= 32, 1) ? _mm256_loadu_si256((const __m256i *)in)
                                        : load_part(in, n);
}

/* 0xFF where a byte is one of `count` from `first` on. */
AVX2 static inline __m256i in_range(__m256i v, char first, char count)
{
    __m256i from = _mm256_sub_epi8(v, _mm256_set1_epi8(first));

    return _mm256_cmpeq_epi8(_mm256_min_epu8(from, _mm256_set1_epi8((char)(count - 1))), from);
}

AVX2 static inline __m256i lower(__m256i v)
{
    return _mm256_add_epi8(v, _mm256_and_si256(in_range(v, 'A', 26), _mm256_set1_epi8(32)));
}

/* Characters of two bytes are folded one by one; a block of ASCII at once. */
AVX2 static inline size_t fold(const uint8_t *in, size_t len, uint8_t *out,
                               const struct nd_fold_tables *tables, bool words)
{
    size_t i = 0, n;

    while (i < len) {
        __m256i v = load(in + i, len - i), low = lower(v);
        __m256i word = _mm256_or_si256(in_range(low, 'a', 26), in_range(v, '0', 10));
        unsigned other = (unsigned)_mm256_movemask_epi8(v);

        _mm256_storeu_si256((__m256i *)(out + i), words ? _mm256_and_si256(word, low) : low);
        if (!other && len - i >= 32) { /* a branch: a sum would wait for the comparison */
            i += 32;
            continue;
        }
        n = other ? _tzcnt_u32(other) : 32;
        i += n < len - i ? n : len - i;
        while (i < len && in[i] >= 0x80) {
            n = nd_plain_step(in + i, len - i, out + i, tables, words);
            if (n == 0)
                return i;
            i += n;
        }
    }
    return i;
}

AVX2 static size_t fold_words(const uint8_t *in, size_t len, uint8_t *out,
                              const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, true);
}

AVX2 static size_t fold_text(const uint8_t *in, size_t len, uint8_t *out,
                             const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, false);
}

/* A bit for each byte that is not zero. */
AVX2 static inline uint64_t word_bits(__m256i v)
{
    return ~(unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()));
}

AVX2 static size_t edges(const uint8_t *stream, size_t len, uint16_t *edge)
{
    uint64_t inside = 0;
    size_t count = 0;

    for (size_t i = 0; i < len; i += 64) {
        uint64_t word = word_bits(load(stream + i, len - i));
        uint64_t bits;

        if (len - i > 32)
            word |= word_bits(load(stream + i + 32, len - i - 32)) << 32;
        bits = word ^ (word << 1 | inside);
        inside = word >> 63;
        count += nd_write_edges(bits, i, edge + count);
    }
    return count;
}

AVX2 static inline __m256i table(const uint8_t *bytes)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)bytes));
}

/* Each byte of v replaced by the one `n` before it; `carry` holds the 16 bytes before each lane. */
#define BEFORE(v, carry, n) _mm256_alignr_epi8(v, carry, 16 - (n))

/* A non-zero byte where v, with `prev` before it, is wrong: utf8_tables.h. */
AVX2 static inline __m256i wrong(__m256i v, __m256i prev)
{
    const __m256i half = _mm256_set1_epi8(0x0F);
    __m256i carry = _mm256_permute2x128_si256(prev, v, 0x21);
    __m256i first = BEFORE(v, carry, 1);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(first, 4), half);
    __m256i second = _mm256_and_si256(_mm256_srli_epi16(v, 4), half);
    __m256i bad =
        _mm256_and_si256(_mm256_and_si256(_mm256_shuffle_epi8(table(nd_utf8_first_high), high),
                                          _mm256_shuffle_epi8(table(nd_utf8_first_low),
                                                              _mm256_and_si256(first, half))),
                         _mm256_shuffle_epi8(table(nd_utf8_second_high), second));
    __m256i third = _mm256_subs_epu8(BEFORE(v, carry, 2), _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(BEFORE(v, carry, 3), _mm256_set1_epi8(0xF0 - 0x80));
    __m256i must = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));

    return _mm256_xor_si256(must, bad);
}

AVX2 static bool valid(const uint8_t *text, size_t len)
{
    __m256i prev = _mm256_setzero_si256(), bad = prev;
    bool was_ascii = true;

    for (size_t i = 0; i <= len; i += 32) { /* the last block ends in zeroes, or is empty */
        __m256i v = load(text + i, len - i);
        bool is_ascii = _mm256_movemask_epi8(v) == 0;

        if (!is_ascii || !was_ascii)
            bad = _mm256_or_si256(bad, wrong(v, prev));
        was_ascii = is_ascii;
        prev = v;
    }
    return _mm256_testz_si256(bad, bad);
}

AVX2 static void hash(const uint8_t *stream, const uint16_t *edge, size_t count, uint64_t *out)
{
    nd_plain_hash(stream, edge, count, out);
}

const struct nd_text_kernels nd_text_kernels_avx2 = {
    .name = "avx2",
    .fold_words = fold_words,
    .fold_text = fold_text,
    .edges = edges,
    .hash = hash,
    .valid = valid,
};
#endif
