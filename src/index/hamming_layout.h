/* hamming_layout.h - index files: the header, and the order of bits in a table */
#ifndef ND_INDEX_HAMMING_LAYOUT_H
#define ND_INDEX_HAMMING_LAYOUT_H

#include <neardup/hamming_file.h>

#include "index/hamming_codec.h"

/* docs/format/hamming.md */
struct nd_hamming_header {
    char magic[8];
    uint32_t version, bits, distance, family, tables, key_bits;
    uint64_t count, distinct, file_bytes, hash;
};
struct nd_hamming_chunk {
    uint64_t offset, bytes, hash;
};
#define ND_HAMMING_MAGIC "NDHAMM\r\n"
enum { ND_HAMMING_VERSION = 1 };

/* Which chunk is which: table 0, the ids, table 1, table 2 … */
static inline size_t nd_hamming_table_chunk(unsigned table)
{
    return table ? table + 1u : 0;
}
enum { ND_HAMMING_IDS_CHUNK = 1 };

/* The hash that stands in the header, of it and its chunks.  0: out of memory. */
uint64_t nd_hamming_header_hash(const struct nd_hamming_header *header,
                                const struct nd_hamming_chunk *chunk);

/* ND_EINVAL, ND_EUNSUPPORTED where files cannot have this design. */
enum nd_status nd_hamming_layout_check(const struct nd_hamming_plan *plan, struct nd_error *err);

/* How a table orders bits: runs of bits that stay together, the key's first. */
struct nd_hamming_order {
    uint64_t key; /* its bits in a fingerprint */
    unsigned key_bits, n_runs;
    struct {
        uint64_t mask;    /* as many low bits as the run has */
        uint8_t from, to; /* of its lowest bit, in the fingerprint and in the table */
    } run[64];
};
void nd_hamming_order_init(struct nd_hamming_order *order, uint64_t key, unsigned bits);

static inline uint64_t nd_hamming_permute(const struct nd_hamming_order *o, uint64_t x)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < o->n_runs; i++)
        y |= (x >> o->run[i].from & o->run[i].mask) << o->run[i].to;
    return y;
}

static inline uint64_t nd_hamming_restore(const struct nd_hamming_order *o, uint64_t y)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < o->n_runs; i++)
        x |= (y >> o->run[i].to & o->run[i].mask) << o->run[i].from;
    return x;
}

#endif
