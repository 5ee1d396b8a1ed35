/* manku.h - sorted values in little space: the block code of Manku 2007, §3.2 */
#ifndef ND_HAMMING_FILE_MANKU_H
#define ND_HAMMING_FILE_MANKU_H

#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

/*
 * The block code of Manku 2007, §3.2.  Neighbours in a sorted table of 2^d values agree in about
 * their top d bits, so most of a value is in the one before.  A block of 1024 bytes:
 *
 *     | first value, 64 bits | code of h | h bits | code of h | h bits | … | padding |
 *
 * For each value after the first, h is the place of the highest 1 in its XOR with the one before;
 * it is written by a Huffman code, and the h bits below it follow as they are in the XOR.  Values
 * are distinct, so there is an h.  A value that does not fit begins the next block.  A block's key
 * is its last value: the keys are searched, and one block is decoded.
 *
 * The paper says that the first value takes 8f bits; f are enough.
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
 * Encode into blocks.  block NULL: only count them.  Else both arrays hold that many.
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
