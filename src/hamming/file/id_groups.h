/* id_groups.h - index files: which ids belong to the same fingerprint, and ids that are texts */
#ifndef ND_HAMMING_FILE_ID_GROUPS_H
#define ND_HAMMING_FILE_ID_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "simd/elias_fano/elias_fano_kernels.h"

/*
 * n entries in m groups.  Bit i is 1 if entry i begins a group: n bits, padded to a word.  Then the
 * number of ones before bit 0, 512, 1024 … up to n, 4 bytes each, padded to a word.  If n = m there
 * are no bytes at all.
 */
struct nd_hamming_groups {
    uint64_t n, m;
    const uint64_t *bit;  /* NULL: n = m */
    const uint32_t *ones; /* before each 512th bit */
    nd_elias_fano_select *select;
};
size_t nd_hamming_groups_bytes(uint64_t n, uint64_t m);
/* Count the ones before each 512th bit; the bits are there.  `out` has the bytes above. */
void nd_hamming_groups_finish(uint64_t n, void *out);
/* Point at bytes and check them.  False: damaged. */
bool nd_hamming_groups_open(struct nd_hamming_groups *groups, uint64_t n, uint64_t m,
                            const void *data, size_t len);
/* The group of an entry. */
uint64_t nd_hamming_groups_number(const struct nd_hamming_groups *groups, uint64_t entry);
/* The first entry of group j, and of the one behind it. */
uint64_t nd_hamming_groups_start(const struct nd_hamming_groups *groups, uint64_t j);
uint64_t nd_hamming_groups_end(const struct nd_hamming_groups *groups, uint64_t start);
/* Ask memory for what tells where group j begins, where few groups have more than one entry. */
static inline void nd_hamming_groups_prefetch(const struct nd_hamming_groups *groups, uint64_t j)
{
    if (groups->bit)
        __builtin_prefetch(&groups->bit[j / 64]);
}

/*
 * n texts.  First the places of text 0, 16, 32 … and of the end, 8 bytes each, counted from behind
 * these numbers.  Then the texts, each after its length as LEB128, padded to a word.
 */
struct nd_hamming_texts {
    uint64_t n;
    const uint64_t *place;
    const unsigned char *bytes;
};
#define ND_HAMMING_TEXT_MAX (UINT32_C(1) << 28)
size_t nd_hamming_texts_bytes(uint64_t n, uint64_t sum, uint64_t lengths);
/* How many bytes the length of a text takes. */
size_t nd_hamming_text_length_bytes(size_t len);
/* Append text number i at *place, which becomes the place behind it. */
void nd_hamming_texts_add(uint64_t n, uint64_t i, const char *text, size_t len, uint64_t *place,
                          void *out);
/* False: damaged. */
bool nd_hamming_texts_open(struct nd_hamming_texts *texts, uint64_t n, const void *data,
                           size_t len);
const char *nd_hamming_texts_get(const struct nd_hamming_texts *texts, uint64_t i, size_t *len);
/* Whether a text can be an id: no tab, no newline, no 0. */
bool nd_hamming_text_is_id(const char *text, size_t len);

/* A text as a number below 2^32, if it is written like one. */
bool nd_hamming_text_number(const char *text, uint32_t *number);
/* The decimal digits of a number at the end of out[ND_HAMMING_NUMBER_MAX]; returns where. */
char *nd_hamming_number_text(uint32_t number, char *out, size_t *len);

#endif
