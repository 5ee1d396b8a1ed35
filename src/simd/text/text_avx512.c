/* text_avx512.c - the kernels of the text layer, 64 bytes at a time */
#include "simd/mask_bits.h"
#include "simd/text/text_edges.h"
#include "simd/text/text_plain.h"
#include "simd/text/utf8_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,popcnt")))
#define VBMI2                                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,bmi,bmi2,popcnt")))

/* The first n bytes (all 64 if more) of a block; the others are zero and not touched. */
AVX512 static inline __m512i load(const uint8_t *in, size_t n)
{
    return n >= 64 ? _mm512_loadu_si512(in)
                   : _mm512_maskz_loadu_epi8(_bzhi_u64(~UINT64_C(0), (unsigned)n), in);
}

AVX512 static inline __mmask64 in_range(__m512i v, char first, char count)
{
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(v, _mm512_set1_epi8(first)),
                                  _mm512_set1_epi8(count));
}

AVX512 static inline __m512i lower(__m512i v)
{
    return _mm512_mask_add_epi8(v, in_range(v, 'A', 26), v, _mm512_set1_epi8(32));
}

AVX512 static inline __m512i fold_ascii(__m512i v, bool words)
{
    __m512i low = lower(v);

    return words ? _mm512_maskz_mov_epi8(in_range(low, 'a', 26) | in_range(v, '0', 10), low) : low;
}

/* Without VBMI2: characters of two bytes are folded one by one; a block of ASCII at once. */
AVX512 static inline size_t fold(const uint8_t *in, size_t len, uint8_t *out,
                                 const struct nd_fold_tables *tables, bool words)
{
    size_t i = 0, n;

    while (i < len) {
        __m512i v = load(in + i, len - i);
        uint64_t other = _mm512_movepi8_mask(v);

        _mm512_storeu_si512(out + i, fold_ascii(v, words));
        if (!other && len - i >= 64) { /* a branch: a sum would wait for the comparison */
            i += 64;
            continue;
        }
        n = other ? _tzcnt_u64(other) : 64;
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

AVX512 static size_t fold_words(const uint8_t *in, size_t len, uint8_t *out,
                                const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, true);
}

AVX512 static size_t fold_text(const uint8_t *in, size_t len, uint8_t *out,
                               const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, false);
}

/* The entries of 16 code points of two bytes; *hard: a bit for each that must be left to others. */
VBMI2 static inline __m256i look_up_pairs(__m256i codes, const uint32_t *pairs, bool words,
                                          uint64_t *hard)
{
    __m512i pair = _mm512_i32gather_epi32(_mm512_cvtepu16_epi32(codes), pairs, 4);

    *hard = _mm512_movepi32_mask(pair);
    if (words)
        pair = _mm512_mask_mov_epi32(
            pair, _mm512_test_epi32_mask(pair, _mm512_set1_epi32((int)ND_PAIR_SEPARATOR)),
            _mm512_setzero_si512());
    return _mm512_cvtepi32_epi16(pair);
}

/* Fold 16 code points of three bytes; *hard as above; separators are 0 with `words`. */
VBMI2 static inline __m256i look_up_triples(__m256i codes, const struct nd_fold_tables *tables,
                                            bool words, uint64_t *hard)
{
    __m512i c = _mm512_cvtepu16_epi32(codes);
    __m512i block =
        _mm512_and_si512(_mm512_i32gather_epi32(_mm512_srli_epi32(c, 6), tables->block, 2),
                         _mm512_set1_epi32(0xFFFF));
    __m512i place =
        _mm512_or_si512(_mm512_slli_epi32(block, 6), _mm512_and_si512(c, _mm512_set1_epi32(63)));
    __m512i e = _mm512_i32gather_epi32(place, tables->entry, 4);

    c = _mm512_add_epi32(c, _mm512_srai_epi32(e, 12));
    *hard = (uint64_t)_mm512_test_epi32_mask(e, _mm512_set1_epi32(14)) | /* BIGRAM, not SINGLE */
            _mm512_cmpge_epu32_mask(_mm512_sub_epi32(c, _mm512_set1_epi32(0x800)),
                                    _mm512_set1_epi32(0x10000 - 0x800));
    if (words)
        c = _mm512_maskz_mov_epi32(_mm512_test_epi32_mask(e, _mm512_set1_epi32(3)), c);
    return _mm512_cvtepi32_epi16(c);
}

/* The bytes of v at `places`, moved together and widened, without the bits outside the mask. */
VBMI2 static inline __m512i together(__m512i v, uint64_t places, short mask)
{
    __m256i bytes = _mm512_castsi512_si256(_mm512_maskz_compress_epi8(places, v));

    return _mm512_and_si512(_mm512_cvtepu8_epi16(bytes), _mm512_set1_epi16(mask));
}

/* The reverse: the low bytes of `codes` to the places, in order. */
VBMI2 static inline __m512i apart(__m512i folded, uint64_t places, __m512i codes)
{
    return _mm512_mask_expand_epi8(folded, places,
                                   _mm512_castsi256_si512(_mm512_cvtepi16_epi8(codes)));
}

/*
 * Fold the characters of two bytes in v, whose first bytes are the bits of `leads`: all first bytes
 * and all second bytes are moved together, looked up, and moved back.  *hard: a bit for each that
 * must be left to others, in order.
 */
VBMI2 static inline __m512i fold_pairs(__m512i v, __m512i folded, uint64_t leads,
                                       const uint32_t *pairs, bool words, uint64_t *hard)
{
    __m512i codes =
        _mm512_or_si512(_mm512_slli_epi16(together(v, leads, 31), 6), together(v, leads << 1, 63));
    uint64_t low, high = 0;
    __m512i made =
        _mm512_castsi256_si512(look_up_pairs(_mm512_castsi512_si256(codes), pairs, words, &low));

    if (_mm_popcnt_u64(leads) > 16)
        made = _mm512_inserti64x4(
            made, look_up_pairs(_mm512_extracti64x4_epi64(codes, 1), pairs, words, &high), 1);
    *hard = low | high << 16;
    folded = apart(folded, leads, made);
    return apart(folded, leads << 1, _mm512_srli_epi16(made, 8));
}

/* Fold characters of three bytes. */
VBMI2 static inline __m512i fold_triples(__m512i v, __m512i folded, uint64_t leads,
                                         const struct nd_fold_tables *tables, bool words,
                                         uint64_t *hard)
{
    const __m512i six = _mm512_set1_epi16(63), more = _mm512_set1_epi16(0x80);
    __m512i codes =
        _mm512_or_si512(_mm512_or_si512(_mm512_slli_epi16(together(v, leads, 15), 12),
                                        _mm512_slli_epi16(together(v, leads << 1, 63), 6)),
                        together(v, leads << 2, 63));
    uint64_t low, high = 0;
    __m512i made =
        _mm512_castsi256_si512(look_up_triples(_mm512_castsi512_si256(codes), tables, words, &low));
    __m512i first, second, third;
    __mmask32 keep;

    if (_mm_popcnt_u64(leads) > 16)
        made = _mm512_inserti64x4(
            made, look_up_triples(_mm512_extracti64x4_epi64(codes, 1), tables, words, &high), 1);
    *hard = low | high << 16;
    keep = _mm512_test_epi16_mask(made, made);
    first = _mm512_or_si512(_mm512_srli_epi16(made, 12), _mm512_set1_epi16(0xE0));
    second = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(made, 6), six), more);
    third = _mm512_or_si512(_mm512_and_si512(made, six), more);
    folded = apart(folded, leads, _mm512_maskz_mov_epi16(keep, first));
    folded = apart(folded, leads << 1, _mm512_maskz_mov_epi16(keep, second));
    return apart(folded, leads << 2, _mm512_maskz_mov_epi16(keep, third));
}

/*
 * The folded form of a block of `size` bytes that is not all ASCII: *good of its bytes, up to a
 * character that must be left to others or is cut by the end of the block.
 */
VBMI2 static inline __m512i fold_block(__m512i v, size_t size, const struct nd_fold_tables *tables,
                                       bool words, size_t *good)
{
    __m512i folded = fold_ascii(v, words);
    uint64_t two = in_range(v, (char)0xC0, 32);
    uint64_t three = in_range(v, (char)0xE0, 16) & ~in_range(v, (char)0xE3, 7);
    uint64_t last = UINT64_C(1) << (size - 1), stop, hard;

    two &= ~last;
    three &= ~(last | last >> 1);
    stop = _mm512_movepi8_mask(v) & ~(two | two << 1 | three | three << 1 | three << 2);
    if (stop) {
        two = _bzhi_u64(two, (unsigned)_tzcnt_u64(stop));
        three = _bzhi_u64(three, (unsigned)_tzcnt_u64(stop));
    }
    if (two) {
        folded = fold_pairs(v, folded, two, tables->pairs, words, &hard);
        stop |= _pdep_u64(hard, two);
    }
    if (three) {
        folded = fold_triples(v, folded, three, tables, words, &hard);
        stop |= _pdep_u64(hard, three);
    }
    *good = stop ? _tzcnt_u64(stop) : size;
    return folded;
}

VBMI2 static inline size_t fold_vbmi2(const uint8_t *in, size_t len, uint8_t *out,
                                      const struct nd_fold_tables *tables, bool words)
{
    enum { PREFETCH_DISTANCE = 2048 }; /* bytes; a document stands before the next, as a rule */
    size_t i = 0, good;

    for (; i < len; i += good) {
        size_t size = len - i < 64 ? len - i : 64;
        __m512i v = load(in + i, size);

        _mm_prefetch((const char *)((uintptr_t)in + i + PREFETCH_DISTANCE), _MM_HINT_T0);
        good = size;
        if (_mm512_movepi8_mask(v))
            v = fold_block(v, size, tables, words, &good);
        else
            v = fold_ascii(v, words);
        _mm512_storeu_si512(out + i, v);
        if (good == 0 || good + 2 < size) /* nearer to the end it may have been cut: look again */
            return i + good;
    }
    return i;
}

VBMI2 static size_t fold_words_vbmi2(const uint8_t *in, size_t len, uint8_t *out,
                                     const struct nd_fold_tables *tables)
{
    return fold_vbmi2(in, len, out, tables, true);
}

VBMI2 static size_t fold_text_vbmi2(const uint8_t *in, size_t len, uint8_t *out,
                                    const struct nd_fold_tables *tables)
{
    return fold_vbmi2(in, len, out, tables, false);
}

/* A bit for each byte at which a run begins or ends; *inside: whether the block ends in one. */
AVX512 static inline uint64_t edge_bits(__m512i v, uint64_t *inside)
{
    uint64_t word = _mm512_test_epi8_mask(v, v);
    uint64_t bits = word ^ (word << 1 | *inside);

    *inside = word >> 63;
    return bits;
}

AVX512 static size_t edges(const uint8_t *stream, size_t len, uint16_t *edge)
{
    uint64_t inside = 0;
    size_t count = 0;

    for (size_t i = 0; i < len; i += 64) {
        uint64_t bits = edge_bits(load(stream + i, len - i), &inside);

        count += nd_write_edges(bits, i, edge + count);
    }
    return count;
}

VBMI2 static size_t edges_vbmi2(const uint8_t *stream, size_t len, uint16_t *edge)
{
    const __m512i iota = _mm512_set_epi64(
        0x3F3E3D3C3B3A3938, 0x3736353433323130, 0x2F2E2D2C2B2A2928, 0x2726252423222120,
        0x1F1E1D1C1B1A1918, 0x1716151413121110, 0x0F0E0D0C0B0A0908, 0x0706050403020100);
    uint64_t inside = 0;
    size_t count = 0;

    for (size_t i = 0; i < len; i += 64) {
        uint64_t bits = edge_bits(load(stream + i, len - i), &inside);
        size_t n = (size_t)_mm_popcnt_u64(bits);
        __m512i place = _mm512_maskz_compress_epi8(bits, iota);
        __m512i base = _mm512_set1_epi16((short)i);

        _mm512_storeu_si512(
            edge + count,
            _mm512_add_epi16(base, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(place))));
        if (n > 32)
            _mm512_storeu_si512(
                edge + count + 32,
                _mm512_add_epi16(base, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(place, 1))));
        count += n;
    }
    return count;
}

AVX512 static inline __m512i table(const uint8_t *bytes)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)bytes));
}

/* Each byte of v replaced by the one `n` before it; `carry` holds the last 16 bytes before v. */
#define BEFORE(v, carry, n) _mm512_alignr_epi8(v, carry, 16 - (n))

/* A non-zero byte where v, with `prev` before it, is wrong: utf8_tables.h. */
AVX512 static inline __m512i wrong(__m512i v, __m512i prev)
{
    const __m512i half = _mm512_set1_epi8(0x0F);
    __m512i carry =
        _mm512_permutex2var_epi64(prev, _mm512_setr_epi64(6, 7, 8, 9, 10, 11, 12, 13), v);
    __m512i first = BEFORE(v, carry, 1);
    __m512i high = _mm512_and_si512(_mm512_srli_epi16(first, 4), half);
    __m512i second = _mm512_and_si512(_mm512_srli_epi16(v, 4), half);
    __m512i bad =
        _mm512_and_si512(_mm512_and_si512(_mm512_shuffle_epi8(table(nd_utf8_first_high), high),
                                          _mm512_shuffle_epi8(table(nd_utf8_first_low),
                                                              _mm512_and_si512(first, half))),
                         _mm512_shuffle_epi8(table(nd_utf8_second_high), second));
    __m512i third = _mm512_subs_epu8(BEFORE(v, carry, 2), _mm512_set1_epi8(0xE0 - 0x80));
    __m512i fourth = _mm512_subs_epu8(BEFORE(v, carry, 3), _mm512_set1_epi8(0xF0 - 0x80));
    __m512i must = _mm512_and_si512(_mm512_or_si512(third, fourth), _mm512_set1_epi8((char)0x80));

    return _mm512_xor_si512(must, bad);
}

AVX512 static bool valid(const uint8_t *text, size_t len)
{
    __m512i prev = _mm512_setzero_si512(), bad = prev;
    bool was_ascii = true;

    for (size_t i = 0; i <= len; i += 64) { /* the last block ends in zeroes, or is empty */
        __m512i v = load(text + i, len - i);
        bool is_ascii = _mm512_movepi8_mask(v) == 0;

        if (!is_ascii || !was_ascii)
            bad = _mm512_or_si512(bad, wrong(v, prev));
        was_ascii = is_ascii;
        prev = v;
    }
    return _mm512_test_epi8_mask(bad, bad) == 0;
}

/* nd_token_hash_words of 8 pairs: the product of 64 bits out of four of 32. */
AVX512 static inline __m512i hash_words(__m512i x, __m512i y)
{
    const __m512i low32 = _mm512_set1_epi64(UINT32_MAX);
    __m512i x1 = _mm512_srli_epi64(x, 32), y1 = _mm512_srli_epi64(y, 32);
    __m512i low = _mm512_mul_epu32(x, y), h;
    __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(x1, y), _mm512_srli_epi64(low, 32));
    __m512i other = _mm512_add_epi64(_mm512_mul_epu32(x, y1), _mm512_and_si512(middle, low32));
    __m512i high =
        _mm512_add_epi64(_mm512_add_epi64(_mm512_mul_epu32(x1, y1), _mm512_srli_epi64(middle, 32)),
                         _mm512_srli_epi64(other, 32));

    low = _mm512_mask_blend_epi32(0xAAAA, low, _mm512_slli_epi64(other, 32));
    h = _mm512_xor_si512(_mm512_ternarylogic_epi64(low, high, x, 0x96), y);
    h = _mm512_mullo_epi64(_mm512_xor_si512(h, _mm512_srli_epi64(h, 32)),
                           _mm512_set1_epi64((long long)ND_TOKEN_HASH_MULTIPLIER));
    return _mm512_xor_si512(h, _mm512_srli_epi64(h, 29));
}

/* The 16 bytes at four of the tokens. */
AVX512 static inline __m512i load_four(const uint8_t *stream, const uint16_t *edge)
{
    __m512i four = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(stream + edge[0])));

    four = _mm512_inserti64x2(four, _mm_loadu_si128((const __m128i *)(stream + edge[4])), 1);
    four = _mm512_inserti64x2(four, _mm_loadu_si128((const __m128i *)(stream + edge[8])), 2);
    return _mm512_inserti64x2(four, _mm_loadu_si128((const __m128i *)(stream + edge[12])), 3);
}

/* 8 tokens at a time as if all were short; then those that are not.  Loads, not gathers: as fast
 * here, and faster on processors that guard gathers. */
AVX512 static void hash(const uint8_t *stream, const uint16_t *edge, size_t count, uint64_t *out)
{
    const __m512i ones = _mm512_set1_epi64(-1), word = _mm512_set1_epi64(64);
    size_t i = 0;

    for (; i + 8 <= count; i += 8) {
        __m512i even = load_four(stream, edge + 2 * i), odd = load_four(stream, edge + 2 * i + 2);
        __m512i edges = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const __m256i *)(edge + 2 * i)));
        __m512i len = _mm512_sub_epi64(_mm512_srli_epi64(edges, 16),
                                       _mm512_and_si512(edges, _mm512_set1_epi64(0xFFFF)));
        __m512i bits = _mm512_slli_epi64(len, 3);
        __m512i more = _mm512_sub_epi64(_mm512_max_epi64(bits, word), word);
        __m512i x =
            _mm512_andnot_si512(_mm512_sllv_epi64(ones, bits), _mm512_unpacklo_epi64(even, odd));
        __m512i y =
            _mm512_andnot_si512(_mm512_sllv_epi64(ones, more), _mm512_unpackhi_epi64(even, odd));
        __m512i key =
            _mm512_mullo_epi64(len, _mm512_set1_epi64((long long)ND_TOKEN_HASH_KEY_LENGTH));
        unsigned is_long =
            nd_mask_bits(_mm512_cmpgt_epi64_mask(len, _mm512_set1_epi64(ND_TOKEN_HASH_SHORT)));

        x = _mm512_ternarylogic_epi64(x, key, _mm512_set1_epi64((long long)ND_TOKEN_HASH_KEY_A),
                                      0x96);
        y = _mm512_xor_si512(y, _mm512_set1_epi64((long long)ND_TOKEN_HASH_KEY_B));
        _mm512_storeu_si512(out + i, hash_words(x, y));
        for (; is_long; is_long = _blsr_u32(is_long)) {
            size_t k = i + _tzcnt_u32(is_long);

            nd_plain_hash(stream, edge + 2 * k, 1, out + k);
        }
    }
    nd_plain_hash(stream, edge + 2 * i, count - i, out + i);
}

const struct nd_text_kernels nd_text_kernels_avx512 = {
    .name = "avx512",
    .fold_words = fold_words,
    .fold_text = fold_text,
    .edges = edges,
    .hash = hash,
    .valid = valid,
};

const struct nd_text_kernels nd_text_kernels_vbmi2 = {
    .name = "avx512 with vbmi2",
    .fold_words = fold_words_vbmi2,
    .fold_text = fold_text_vbmi2,
    .edges = edges_vbmi2,
    .hash = hash,
    .valid = valid,
};
#endif
