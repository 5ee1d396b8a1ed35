/* manku.c - the block code of Manku 2007, §3.2: XOR, Huffman, 1024 bytes
 *
 * manku.h draws a block.  The order of this file: the lengths of the codes; the codes; encoding;
 * decoding; finding a value.
 *
 * Lengths.  Huffman's algorithm may give a rare h a very long code.  Here none has more than 24
 * bits.  While one is longer, all counts are halved, rounded up.  That makes them more alike and
 * the tree flatter; at the latest when all counts are 1, no code has more than 6 bits.  The loss is
 * too small to measure.
 *
 * Codes.  A table stores the lengths only.  The codes follow from them, as in any canonical Huffman
 * code: they are numbered in the order of length, then of h, so that each begins where the one
 * before ended.  Such a number has its first bit highest, but a block is filled from the lowest bit
 * of its first byte on.  The codes are therefore reversed, and the next 12 bits of a block are an
 * index into `look`, which knows every code of up to 12 bits.  Longer ones are rare and are searched
 * for one by one.
 *
 * Decoding.  A value is the one before XOR (1 at place h, and the h bits that follow the code).
 * The bytes come from a file: every step checks that it stays within the block, and
 * nd_manku_check decodes each block once and compares the last value with its key.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hamming/file/manku.h"

enum { PLACES = 64, BLOCK_BITS = 8 * ND_MANKU_BLOCK, FIRST_BITS = 64 };

static unsigned highest(uint64_t x)
{
    return 63 - (unsigned)__builtin_clzll(x);
}

/* Huffman's code: join the two rarest symbols until one is left.  64 symbols need no heap.  Returns
 * the longest length. */
static unsigned huffman(const uint64_t *count, uint8_t *length)
{
    uint64_t weight[2 * PLACES];
    int parent[2 * PLACES], n = PLACES;
    bool is_root[2 * PLACES];
    unsigned longest = 0;

    for (int i = 0; i < PLACES; i++) {
        weight[i] = count[i];
        is_root[i] = count[i] != 0;
        parent[i] = -1;
    }
    for (;;) {
        int a = -1, b = -1;

        for (int i = 0; i < n; i++)
            if (is_root[i] && (a < 0 || weight[i] < weight[a])) {
                b = a;
                a = i;
            } else if (is_root[i] && (b < 0 || weight[i] < weight[b])) {
                b = i;
            }
        if (b < 0)
            break;
        weight[n] = weight[a] + weight[b];
        is_root[a] = is_root[b] = false;
        is_root[n] = true;
        parent[n] = -1;
        parent[a] = parent[b] = n++;
    }
    for (int i = 0; i < PLACES; i++) {
        unsigned l = 0;

        for (int j = i; parent[j] >= 0; j = parent[j])
            l++;
        length[i] = (uint8_t)(count[i] && l == 0 ? 1 : l); /* the only one still needs a bit */
        longest = length[i] > longest ? length[i] : longest;
    }
    return longest;
}

void nd_manku_lengths(const uint64_t *value, size_t n, uint8_t *length)
{
    uint64_t count[PLACES] = {0};

    for (size_t i = 1; i < n; i++)
        count[highest(value[i] ^ value[i - 1])]++;
    while (huffman(count, length) > ND_MANKU_LENGTH_MAX)
        for (int i = 0; i < PLACES; i++)
            count[i] = (count[i] + 1) / 2;
}

static uint32_t reversed(uint32_t code, unsigned length)
{
    uint32_t r = 0;

    for (unsigned i = 0; i < length; i++)
        r |= (code >> i & 1) << (length - 1 - i);
    return r;
}

static void fill_look(struct nd_manku_code *c, unsigned place)
{
    for (uint32_t i = c->code[place]; i < 1u << ND_MANKU_LOOK_BITS; i += 1u << c->length[place]) {
        c->look[i].place = (uint8_t)place;
        c->look[i].length = c->length[place];
    }
}

/* `used` is the part of all words of ND_MANKU_LENGTH_MAX bits that begin with a code so far. */
enum nd_status nd_manku_code_init(struct nd_manku_code *code, const uint8_t *length,
                                  struct nd_error *err)
{
    uint64_t all_codes = UINT64_C(1) << ND_MANKU_LENGTH_MAX, used = 0;

    memset(code, 0, sizeof *code);
    for (unsigned l = 1; l <= ND_MANKU_LENGTH_MAX; l++)
        for (unsigned place = 0; place < PLACES; place++) {
            if (length[place] != l)
                continue;
            if (used + (all_codes >> l) > all_codes)
                return nd_fail(err, ND_EINPUT, "no prefix code has these lengths");
            code->length[place] = (uint8_t)l;
            code->code[place] = reversed((uint32_t)(used >> (ND_MANKU_LENGTH_MAX - l)), l);
            used += all_codes >> l;
            if (l <= ND_MANKU_LOOK_BITS)
                fill_look(code, place);
        }
    for (unsigned place = 0; place < PLACES; place++)
        if (length[place] > ND_MANKU_LENGTH_MAX)
            return nd_fail(err, ND_EINPUT, "a code has %u bits, more than %u", length[place],
                           ND_MANKU_LENGTH_MAX);
    return ND_OK;
}

/* Bits into a block, the first ones lowest. */
static void put_bits(unsigned char *data, unsigned *at, uint64_t value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, (*at)++)
        data[*at / 8] = (unsigned char)(data[*at / 8] | (value >> i & 1) << *at % 8);
}

size_t nd_manku_encode(const struct nd_manku_code *code, const uint64_t *value, size_t n,
                       struct nd_manku_block *block, unsigned char *data)
{
    size_t blocks = 0, i = 0;

    while (i < n) {
        unsigned char *to = data + (block ? blocks * ND_MANKU_BLOCK : 0);
        unsigned at = FIRST_BITS;
        size_t first = i++;

        if (block) {
            memset(to, 0, ND_MANKU_BLOCK);
            memcpy(to, &value[first], sizeof *value);
        }
        for (; i < n; i++) {
            uint64_t differ = value[i] ^ value[i - 1];
            unsigned place = highest(differ);

            if (at + code->length[place] + place > BLOCK_BITS)
                break;
            if (block) {
                put_bits(to, &at, code->code[place], code->length[place]);
                put_bits(to, &at, differ, place);
            } else {
                at += code->length[place] + place;
            }
        }
        if (block)
            block[blocks] = (struct nd_manku_block){value[i - 1], first};
        blocks++;
    }
    return blocks;
}

/* 64 bits from a place of the block on; beyond its end zeroes. */
static inline uint64_t bits_at(const unsigned char *data, unsigned at)
{
    uint64_t word = 0;
    unsigned byte = at / 8, shift = at % 8;

    if (byte + 9 <= ND_MANKU_BLOCK) {
        memcpy(&word, data + byte, sizeof word);
        word >>= shift;
        return shift ? word | (uint64_t)data[byte + 8] << (64 - shift) : word;
    }
    for (unsigned i = 0; i < 9 && byte + i < ND_MANKU_BLOCK; i++) {
        int left = (int)(8 * i) - (int)shift;

        word |= left < 0    ? (uint64_t)data[byte] >> shift
                : left < 64 ? (uint64_t)data[byte + i] << left
                            : 0;
    }
    return word;
}

/* The place whose code these bits begin with; PLACES: none. */
static inline unsigned next_place(const struct nd_manku_code *c, uint64_t bits)
{
    unsigned i = (unsigned)bits & ((1u << ND_MANKU_LOOK_BITS) - 1);

    if (c->look[i].length)
        return c->look[i].place;
    for (unsigned place = 0; place < PLACES; place++) {
        unsigned l = c->length[place];

        if (l > ND_MANKU_LOOK_BITS && (bits & ((UINT64_C(1) << l) - 1)) == c->code[place])
            return place;
    }
    return PLACES;
}

static size_t values_in(const struct nd_manku *m, size_t block)
{
    uint64_t end = block + 1 < m->n_blocks ? m->block[block + 1].first : m->n;

    return (size_t)(end - m->block[block].first);
}

/* Decode the next value.  False: these bits are not the code of one. */
static inline bool decode_next(const struct nd_manku_code *c, const unsigned char *data,
                               unsigned *at, uint64_t *value)
{
    unsigned place = next_place(c, bits_at(data, *at)), length;
    uint64_t below;

    if (place == PLACES || *at + c->length[place] + place > BLOCK_BITS)
        return false;
    length = c->length[place];
    below = place ? bits_at(data, *at + length) << (64 - place) >> (64 - place) : 0;
    *at += length + place;
    *value ^= UINT64_C(1) << place | below;
    return true;
}

/* Decode `count` values; fewer where the bits are not those of ascending values. */
static size_t decode(const struct nd_manku_code *c, const unsigned char *data, size_t count,
                     uint64_t *out)
{
    unsigned at = FIRST_BITS;

    memcpy(out, data, sizeof *out);
    for (size_t i = 1; i < count; i++) {
        out[i] = out[i - 1];
        if (!decode_next(c, data, &at, &out[i]) || out[i] < out[i - 1])
            return i;
    }
    return count;
}

size_t nd_manku_decode(const struct nd_manku *m, size_t block, uint64_t *out)
{
    return decode(&m->code, m->data + block * ND_MANKU_BLOCK, values_in(m, block), out);
}

enum nd_status nd_manku_check(const struct nd_manku *m, struct nd_error *err)
{
    uint64_t *value = malloc(ND_MANKU_BLOCK_VALUES * sizeof *value), before = 0;
    enum nd_status status = ND_OK;

    if (!value)
        return nd_fail(err, ND_ENOMEM, "out of memory for a block");
    if ((m->n == 0) != (m->n_blocks == 0) || (m->n_blocks && m->block[0].first != 0))
        status = nd_fail(err, ND_EINPUT, "the blocks do not begin with the first value");
    for (size_t b = 0; b < m->n_blocks && status == ND_OK; b++) {
        uint64_t end = b + 1 < m->n_blocks ? m->block[b + 1].first : m->n;
        uint64_t n = end - m->block[b].first; /* huge where they do not ascend */

        if (n == 0 || n > ND_MANKU_BLOCK_VALUES || nd_manku_decode(m, b, value) != n ||
            value[n - 1] != m->block[b].key || (b && value[0] <= before))
            status = nd_fail(err, ND_EINPUT, "block %zu is damaged", b);
        else
            before = value[n - 1];
    }
    free(value);
    return status;
}

/*
 * Interpolation search (Manku 2007, §3.2; Yao 1976): keys of uniform fingerprints are where their
 * value says, give or take a little.  Clusters can make it creep, so every fourth step halves.
 */
size_t nd_manku_find(const struct nd_manku *m, uint64_t x)
{
    size_t from = 0, to = m->n_blocks; /* keys before `from` are below x, those from `to` on not */

    for (unsigned step = 0; from < to; step++) {
        size_t middle = from + (to - from) / 2;
        uint64_t low = from ? m->block[from - 1].key : 0;
        uint64_t high = to < m->n_blocks ? m->block[to].key : UINT64_MAX;

        if (step % 4 != 3 && x >= low && x <= high && high > low)
            middle = from + (size_t)((unsigned __int128)(x - low) * (to - from) / (high - low));
        if (middle >= to)
            middle = to - 1;
        if (m->block[middle].key < x)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct nd_manku_cursor nd_manku_enter(const struct nd_manku *m, size_t block)
{
    struct nd_manku_cursor c = {.at = m->block[block].first, .block = block, .bit = FIRST_BITS};

    c.end = c.at + values_in(m, block);
    memcpy(&c.value, m->data + block * ND_MANKU_BLOCK, sizeof c.value);
    return c;
}

void nd_manku_step(const struct nd_manku *m, struct nd_manku_cursor *c)
{
    if (++c->at < c->end)
        decode_next(&m->code, m->data + c->block * ND_MANKU_BLOCK, &c->bit, &c->value);
    else if (++c->block < m->n_blocks)
        *c = nd_manku_enter(m, c->block);
}

struct nd_manku_cursor nd_manku_seek(const struct nd_manku *m, uint64_t x)
{
    size_t block = nd_manku_find(m, x);
    struct nd_manku_cursor c = {.at = m->n, .block = block};

    if (block < m->n_blocks)
        c = nd_manku_enter(m, block);
    while (c.at < m->n && c.value < x)
        nd_manku_step(m, &c);
    return c;
}
