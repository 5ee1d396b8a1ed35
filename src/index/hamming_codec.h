/* hamming_codec.h - sorted values of up to 64 bits in little space: Elias-Fano, and the block code
 * of 002 */
#ifndef ND_INDEX_HAMMING_CODEC_H
#define ND_INDEX_HAMMING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/*
 * Elias-Fano (Elias 1974, Fano 1971): the low bits of each value as they are, the high ones as a
 * bit string in which value i with high part h is a 1 at place h + i.  2 + log2(2^f / n) bits a
 * value of f bits, and every 4096th high part the number of values below it, to find a place. Equal
 * values may follow one another.  Memory, from `low` on, in this order, each part a multiple of 8
 * bytes:
 *
 *     low      n * low_bits bits, and 8 bytes of 0 behind, so that any value is one load
 *     high     n + 2^(f - low_bits) bits
 *     sample   2^(f - low_bits) / 4096 + 1 numbers of 64 bits
 */
struct nd_hamming_ef {
    uint64_t n;
    unsigned bits, low_bits; /* f; those kept as they are */
    size_t low_words, high_words, samples;
    const uint64_t *low, *high, *sample; /* of whoever holds the bytes */
};

/* The shape that n values of 64 bits have, or of `bits`, 1 to 64; pointers NULL. */
struct nd_hamming_ef nd_hamming_ef_shape(uint64_t n);
struct nd_hamming_ef nd_hamming_ef_shape_of(uint64_t n, unsigned bits);
size_t nd_hamming_ef_bytes(const struct nd_hamming_ef *ef);

/* Write n ascending values to nd_hamming_ef_bytes bytes of zeroes, aligned to 8. */
void nd_hamming_ef_encode(const struct nd_hamming_ef *shape, const uint64_t *value, void *out);

/*
 * Point at encoded bytes (aligned to 8) and check them: reading is safe afterwards, and the values
 * ascend.  ND_EINPUT.
 */
enum nd_status nd_hamming_ef_open(struct nd_hamming_ef *ef, uint64_t n, const void *data,
                                  size_t len, struct nd_error *err);
enum nd_status nd_hamming_ef_open_of(struct nd_hamming_ef *ef, uint64_t n, unsigned bits,
                                     const void *data, size_t len, struct nd_error *err);

/* out[i] = value first + i, i < count; first + count <= n. */
void nd_hamming_ef_decode(const struct nd_hamming_ef *ef, uint64_t first, size_t count,
                          uint64_t *out);

/* How many values are below x, a number of `bits` bits. */
uint64_t nd_hamming_ef_rank(const struct nd_hamming_ef *ef, uint64_t x);

/*
 * The block code of 002, section 3.2.  A block of 1024 bytes holds its first value whole, then for
 * each next one the Huffman code of the place of the highest 1 in its XOR with the one before, and
 * the bits below that.  Values are distinct and ascend.  A block's key is its last value.
 */
enum {
    ND_MANKU_BLOCK = 1024,
    ND_MANKU_LENGTH_MAX = 24,
    ND_MANKU_LOOK_BITS = 12,
    ND_MANKU_BLOCK_VALUES = 8 * ND_MANKU_BLOCK /* more cannot be in one */
};

struct nd_manku_block {
    uint64_t key;   /* the last value */
    uint64_t first; /* the number of the block's first value */
};

/* The code: lengths by place, and the tables made of them. */
struct nd_manku_code {
    uint8_t length[64];
    uint32_t code[64]; /* its first bit lowest */
    struct {
        uint8_t place, length; /* length 0: longer than ND_MANKU_LOOK_BITS */
    } look[1 << ND_MANKU_LOOK_BITS];
};

struct nd_manku {
    struct nd_manku_code code;
    uint64_t n;
    size_t n_blocks;
    const struct nd_manku_block *block;
    const unsigned char *data; /* n_blocks * ND_MANKU_BLOCK bytes */
};

/* Lengths for n ascending distinct values; no code is longer than ND_MANKU_LENGTH_MAX bits. */
void nd_manku_lengths(const uint64_t *value, size_t n, uint8_t *length);

/* ND_EINPUT: the lengths are those of no prefix code. */
enum nd_status nd_manku_code_init(struct nd_manku_code *code, const uint8_t *length,
                                  struct nd_error *err);

/*
 * Encode into blocks.  block NULL: only count them.  Else both arrays have room for that many.
 * Returns the number of blocks.
 */
size_t nd_manku_encode(const struct nd_manku_code *code, const uint64_t *value, size_t n,
                       struct nd_manku_block *block, unsigned char *data);

/* Check that every block decodes to values that ascend and end with its key.  ND_EINPUT. */
enum nd_status nd_manku_check(const struct nd_manku *m, struct nd_error *err);

/* Decode one block that was checked to at most ND_MANKU_BLOCK_VALUES values; returns how many. */
size_t nd_manku_decode(const struct nd_manku *m, size_t block, uint64_t *out);

/* The first block whose key is not below x, by interpolation search; n_blocks: there is none. */
size_t nd_manku_find(const struct nd_manku *m, uint64_t x);

/* A place among the values: value number `at`, if at < n. */
struct nd_manku_cursor {
    uint64_t at, value;
    uint64_t end; /* the number of the first value behind this block */
    size_t block;
    unsigned bit; /* of the block, where the next value's code begins */
};
/* The first value of a block. */
struct nd_manku_cursor nd_manku_enter(const struct nd_manku *m, size_t block);
/* The first value that is not below x. */
struct nd_manku_cursor nd_manku_seek(const struct nd_manku *m, uint64_t x);
/* The next value; at < n before. */
void nd_manku_step(const struct nd_manku *m, struct nd_manku_cursor *cursor);

#endif
