/* hamming_join_code.c - which bits of a table's key choose the part and the place, and doing so */
#include <math.h>

#include "index/hamming_join.h"

enum {
    PART_ROOTS = 5,  /* records of a part for each of a root of all: as many places as parts */
    PART_BITS = 12,  /* no more parts than this */
    BUCKET = 4,      /* records that share a place: the next few are compared in any case */
    PLACE_BITS = 20, /* no more places in a part than this */
    FILTER_BITS = 32,
    HASH_BITS = 32 /* of the key of many words */
};

/* What a filter may let pass by chance: a look at the value costs as much as so many others. */
#define WEAK (1.0 / 256)

unsigned nd_join_bits(size_t n, size_t each, unsigned most)
{
    unsigned bits = 0;

    while (bits < most && n >> bits > each)
        bits++;
    return bits;
}

bool nd_join_is_weak(unsigned distance)
{
    double ways = 1, sum = 1;

    for (unsigned d = 1; d <= distance; d++) {
        ways *= (double)(FILTER_BITS - d + 1) / d;
        sum += ways;
    }
    return ldexp(sum, -FILTER_BITS) > WEAK;
}

static void find_runs(struct nd_record_code *code, uint64_t key)
{
    for (unsigned bit = 0; bit < 64; code->n_runs++) {
        unsigned first, len = 0;

        while (bit < 64 && !(key >> bit & 1))
            bit++;
        if (bit == 64)
            return;
        for (first = bit; bit < 64 && key >> bit & 1; bit++)
            len++;
        code->shift[code->n_runs] = first - code->key_bits;
        code->mask[code->n_runs] = (UINT64_MAX >> (64 - len)) << code->key_bits;
        code->key_bits += len;
    }
}

unsigned nd_join_part_bits(size_t n)
{
    return nd_join_bits(n, (size_t)(PART_ROOTS * sqrt((double)n)), PART_BITS);
}

static void code_of(struct nd_record_code *code, size_t words, uint64_t key)
{
    *code = (struct nd_record_code){.key_bits = words == 1 ? 0 : HASH_BITS};
    if (words == 1)
        find_runs(code, key);
}

static unsigned at_most(unsigned bits, unsigned most)
{
    return bits < most ? bits : most;
}

void nd_join_pass_code(struct nd_join_pass *pass, size_t words, unsigned part_bits)
{
    code_of(&pass->code, words, pass->mask);
    pass->code.part_bits = at_most(part_bits, pass->code.key_bits);
}

void nd_join_table_code(struct nd_record_code *code, size_t words, const uint64_t *key,
                        const struct nd_join_pass *pass, size_t n)
{
    uint64_t rest = words == 1 && pass ? key[0] & ~pass->mask : 0;
    bool is_all = pass && pass->code.part_bits == pass->code.key_bits; /* that a part's mask says */

    code_of(code, words, rest && is_all ? rest : key[0]);
    if (pass && !rest)
        code->part_bits = pass->code.part_bits;
    code->place_bits =
        nd_join_bits(n, BUCKET, at_most(code->key_bits - code->part_bits, PLACE_BITS));
}

/* Of many words: the hash of the key above the filter. */
static uint64_t value_of(const uint64_t *x, size_t words, const uint64_t *key)
{
    uint64_t hash = 0;

    for (size_t w = 0; w < words; w++) {
        hash = (hash ^ (x[w] & key[w])) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 32;
    }
    return hash << 32 | nd_record_filter(nd_join_fold(x, words));
}

void nd_join_values(const struct nd_join *j, const uint64_t *key, const uint64_t *row, size_t n,
                    uint64_t *value)
{
    for (size_t i = 0; i < n; i++)
        value[i] = value_of(row + i * j->words, j->words, key);
}

void nd_join_parts(const struct nd_join *j, const struct nd_record_code *code,
                   const uint64_t *value, size_t n, uint32_t *part)
{
    if (j->words == 1)
        nd_hamming_kernels()->join_parts(code, value, n, part);
    else
        for (size_t i = 0; i < n; i++)
            part[i] = nd_record_high(value[i], code->part_bits);
}

void nd_join_places(const struct nd_join *j, const struct nd_record_code *code,
                    const uint64_t *value, size_t n, uint64_t *place)
{
    if (j->words == 1)
        nd_hamming_kernels()->join_places(code, value, n, place);
    else
        for (size_t i = 0; i < n; i++)
            place[i] = nd_record_place(code, value[i], (uint32_t)value[i]);
}
