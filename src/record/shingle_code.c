/* shingle_code.c - the shingles of a document in the code of Elias and Fano (Elias 1974) */
#include "record/sketch_file_layout.h"

#include <string.h>

#include "base/hash.h"
#include "simd/elias_fano/elias_fano_kernels.h"

/* How many low bits of a shingle are written as they are. */
static unsigned low_bits(uint64_t n)
{
    return n == 1 ? 63 : (unsigned)__builtin_clzll(n - 1);
}

static uint64_t low_words(uint64_t n)
{
    return (n * low_bits(n) + 63) / 64;
}

static uint64_t high_words(uint64_t n)
{
    return (n + (UINT64_C(1) << (64 - low_bits(n))) + 63) / 64;
}

uint64_t nd_shingle_code_bytes(uint64_t n)
{
    return n ? 8 * (low_words(n) + high_words(n)) : 0;
}

uint32_t nd_shingle_code_check(const void *code, uint64_t n)
{
    return n ? (uint32_t)nd_hash_bytes(code, (size_t)nd_shingle_code_bytes(n)) : 0;
}

void nd_shingle_code_write(const uint64_t *shingle, size_t n, uint64_t *out)
{
    unsigned bits = low_bits(n);
    uint64_t *high = out + low_words(n), place = 0;

    for (size_t i = 0; i < n; i++, place += bits) {
        uint64_t low = shingle[i] & ((UINT64_C(1) << bits) - 1);
        uint64_t one = (shingle[i] >> bits) + i;

        out[place / 64] |= low << place % 64;
        if (place % 64 + bits > 64)
            out[place / 64 + 1] |= low >> (64 - place % 64);
        high[one / 64] |= UINT64_C(1) << one % 64;
    }
}

bool nd_shingle_code_read(const uint64_t *code, size_t n, uint64_t *shingle)
{
    uint64_t words = high_words(n), ones = 0, most = n + (UINT64_C(1) << (64 - low_bits(n)));
    const uint64_t *high = code + low_words(n);
    struct nd_elias_fano_run run = {.low = code, .high = high, .low_bits = low_bits(n), .count = n};

    for (uint64_t i = 0; i < words; i++)
        ones += (unsigned)__builtin_popcountll(high[i]);
    if (ones != n || (most % 64 && high[words - 1] >> most % 64))
        return false;
    nd_elias_fano()(&run, shingle);
    for (size_t i = 1; i < n; i++)
        if (shingle[i] <= shingle[i - 1])
            return false;
    return true;
}
