/* hamming_segment.h - index files: one segment, opened, searched, written */
#ifndef ND_INDEX_HAMMING_SEGMENT_H
#define ND_INDEX_HAMMING_SEGMENT_H

#include "index/hamming_groups.h"
#include "index/hamming_index.h"
#include "index/hamming_layout.h"
#include "index/hamming_values.h"

/* What all segments of a file have in common. */
struct nd_hamming_scheme {
    unsigned bits, tables;
    size_t words;
    enum nd_hamming_codec codec;
    const struct nd_hamming_order *order; /* one a table */
};

struct nd_hamming_segment {
    uint64_t count, distinct;
    bool has_texts;
    const uint32_t *id;            /* NULL with texts */
    struct nd_hamming_texts texts; /* with them */
    struct nd_hamming_groups groups;
    const uint64_t *row; /* wide: the distinct fingerprints in the order of table 0; else NULL */
    struct nd_hamming_table {
        struct nd_hamming_values values;
        const uint64_t *number; /* wide, all tables but 0: number_bits each, of a row */
    } * table;
    unsigned number_bits;
};

/*
 * Check all of a segment's bytes (aligned to 8), and point at them.  They are `place->bytes`.
 * ND_EINPUT, ND_ENOMEM; where it fails there is nothing to close.
 */
enum nd_status nd_hamming_segment_open(struct nd_hamming_segment *segment,
                                       const struct nd_hamming_scheme *scheme,
                                       const struct nd_hamming_place *place,
                                       const unsigned char *data, struct nd_error *err);
void nd_hamming_segment_close(struct nd_hamming_segment *segment, unsigned tables);

/* Only that its bytes are those that were written.  ND_EINPUT. */
enum nd_status nd_hamming_segment_check_sums(const struct nd_hamming_place *place, unsigned tables,
                                             const unsigned char *data, struct nd_error *err);

/* The fingerprints of n entries from number `first` on. */
void nd_hamming_segment_rows(const struct nd_hamming_segment *segment,
                             const struct nd_hamming_scheme *scheme, uint64_t first, size_t n,
                             uint64_t *row);

/* Everything within the distance; entries are numbered from `base` on where ids are to be those. */
struct nd_hamming_search {
    const struct nd_hamming_scheme *scheme;
    const uint64_t *query;
    uint32_t number, base;
    bool entries; /* report the numbers of entries, not ids */
    unsigned distance;
    struct nd_hamming_sink sink;
};
void nd_hamming_segment_search(const struct nd_hamming_segment *segment,
                               struct nd_hamming_search *search);

/* What is to be written: entries whose ids are all numbers or all texts. */
struct nd_hamming_source {
    const uint64_t *row;
    const uint32_t *id;      /* NULL with texts */
    const char *const *text; /* NULL with numbers */
    size_t n;                /* 1 … 2^32 - 1 */
};

/*
 * Write a segment at place->offset of a file, and fill in the rest of *place.  ND_ENOMEM, ND_EIO
 * (of `name`).  The file may then hold part of it.
 */
enum nd_status nd_hamming_segment_write(const struct nd_hamming_scheme *scheme,
                                        const struct nd_hamming_source *source, int fd,
                                        const char *name, struct nd_hamming_place *place,
                                        struct nd_error *err);

/* Write all of it, at a place of a file; ND_EIO. */
enum nd_status nd_hamming_write_at(int fd, const char *name, const void *data, size_t bytes,
                                   uint64_t offset, struct nd_error *err);

/* Bits that numbers below n take. */
static inline unsigned nd_hamming_number_bits(uint64_t n)
{
    return n < 2 ? 1 : 64 - (unsigned)__builtin_clzll(n - 1);
}
/* Words of n such numbers: one more, so that any is read with two loads. */
static inline uint64_t nd_hamming_number_words(uint64_t n, unsigned bits)
{
    return (n * bits + 63) / 64 + 1;
}
static inline uint64_t nd_hamming_number_get(const uint64_t *number, unsigned bits, uint64_t i)
{
    uint64_t at = i * bits, shift = at % 64;
    const uint64_t *word = number + at / 64;

    return (word[0] >> shift | word[1] << (63 - shift) << 1) & ((UINT64_C(1) << bits) - 1);
}

#endif
