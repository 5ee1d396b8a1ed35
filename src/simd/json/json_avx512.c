/* json_avx512.c - the kernels that read JSON for AVX-512 with VBMI and VBMI2 */
#include "simd/json/json_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")))

/*
 * The bytes that begin an escape, and those behind them, of a block that does not begin within one:
 * of a run of backslashes every other one escapes the next byte.  Runs that begin at an odd place
 * are told from others by the carry of one subtraction (Langdale and Lemire, "Parsing gigabytes of
 * JSON per second", 2019, section 3.1.1, in its later form).
 */
static inline uint64_t escapes_of(uint64_t backslash)
{
    const uint64_t odd = UINT64_C(0xAAAAAAAAAAAAAAAA);
    uint64_t maybe = backslash << 1;

    if ((maybe & backslash) == 0)
        return backslash;
    return (((maybe | odd) - backslash) ^ odd) & backslash;
}

/* A block of `size` bytes at a time: escaped bytes are translated, and what escapes them left out.
 */
TARGET static size_t unescape(const uint8_t *in, size_t len, uint8_t *out, size_t *made)
{
    const __m512i low = _mm512_loadu_si512(nd_json_escape);
    const __m512i high = _mm512_loadu_si512(nd_json_escape + 64);
    size_t i = 0, o = 0;

    while (i < len) {
        size_t size = len - i < 64 ? len - i : 64;
        uint64_t all = _bzhi_u64(UINT64_MAX, (unsigned)size), escape, escaped, hard;
        __m512i v = _mm512_loadu_si512(in + i), meant;
        uint64_t backslash = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\')) & all;

        if (!backslash) {
            _mm512_storeu_si512(out + o, v);
            i += size;
            o += size;
            continue;
        }
        escape = escapes_of(backslash);
        escaped = escape << 1;
        meant = _mm512_permutex2var_epi8(low, v, high);
        hard = escaped & (_mm512_testn_epi8_mask(meant, meant) | _mm512_movepi8_mask(v));
        hard = hard >> 1 | (escape & ~(all >> 1)); /* the last byte's comes with the next block */
        if (hard)
            size = (size_t)_tzcnt_u64(hard);
        v = _mm512_mask_mov_epi8(v, escaped, meant);
        escape = ~escape & _bzhi_u64(UINT64_MAX, (unsigned)size);
        _mm512_storeu_si512(out + o, _mm512_maskz_compress_epi8(escape, v));
        i += size;
        o += (size_t)_mm_popcnt_u64(escape);
        if (size < 63)
            break;
    }
    *made = o;
    return i;
}

const struct nd_json_kernels nd_json_vbmi2 = {
    .name = "vbmi2", .escape = nd_json_escape, .unescape = unescape};
#endif
