/* hamming_layout.h - index files: the header, where a segment has what, the order of bits */
#ifndef ND_INDEX_HAMMING_LAYOUT_H
#define ND_INDEX_HAMMING_LAYOUT_H

#include <neardup/hamming_file.h>

#include <stdbool.h>

/* docs/format/hamming.md */
#define ND_HAMMING_MAGIC "NDHAMM\r\n"
enum {
    ND_HAMMING_VERSION = 2,
    ND_HAMMING_PAGE = 4096, /* of a header, and what segments begin at */
    ND_HAMMING_HEADERS = 2,
    ND_HAMMING_SEGMENTS_MAX = 64,
};

/* Where a segment is, and what it holds. */
struct nd_hamming_place {
    uint64_t offset, bytes, count, distinct;
    uint64_t hash;      /* of its list of chunks */
    uint32_t has_texts; /* 1: its ids are texts */
    uint32_t unused;
};
struct nd_hamming_header {
    char magic[8];
    uint32_t version, bits, distance, family, tables, key_bits, codec;
    uint32_t wish; /* the greatest number of tables that was asked for; 0: none */
    uint32_t segments, unused;
    uint64_t generation, file_bytes, hash;
    struct nd_hamming_place segment[ND_HAMMING_SEGMENTS_MAX];
};
struct nd_hamming_chunk {
    uint64_t offset, bytes, hash; /* offset from the segment's beginning */
};

/* The chunks of a segment, in their order; of table t: ND_HAMMING_TABLES + 2 t. */
enum { ND_HAMMING_IDS, ND_HAMMING_GROUPS, ND_HAMMING_ROWS, ND_HAMMING_TABLES };
static inline size_t nd_hamming_chunks(unsigned tables)
{
    return ND_HAMMING_TABLES + 2 * (size_t)tables;
}
static inline size_t nd_hamming_values_chunk(unsigned table)
{
    return ND_HAMMING_TABLES + 2 * (size_t)table;
}
static inline size_t nd_hamming_numbers_chunk(unsigned table)
{
    return nd_hamming_values_chunk(table) + 1;
}

/* Of wide fingerprints 64 bits lead in a table, and the rest stands elsewhere. */
static inline bool nd_hamming_is_wide(unsigned bits)
{
    return bits > 64;
}
static inline unsigned nd_hamming_lead_bits(unsigned bits)
{
    return bits > 64 ? 64 : bits;
}

static inline uint64_t nd_hamming_page_up(uint64_t offset)
{
    return (offset + ND_HAMMING_PAGE - 1) / ND_HAMMING_PAGE * ND_HAMMING_PAGE;
}

/* A page with the header, its hash made; and back. */
void nd_hamming_header_write(const struct nd_hamming_header *header, unsigned char *page);
/* ND_EINPUT, ND_EUNSUPPORTED: not one, or damaged; where segments are is checked too. */
enum nd_status nd_hamming_header_read(struct nd_hamming_header *header, const unsigned char *page,
                                      struct nd_error *err);
/* The newer one of two pages: which it is, and how many pages say the same. */
struct nd_hamming_copies {
    unsigned current, sound;
};
enum nd_status nd_hamming_headers_read(struct nd_hamming_header *header, const unsigned char *pages,
                                       struct nd_hamming_copies *copies, struct nd_error *err);
/* Bytes that no segment of the header has: headers and padding are not among them. */
uint64_t nd_hamming_header_dead(const struct nd_hamming_header *header);
/* The entries of all segments. */
uint64_t nd_hamming_header_count(const struct nd_hamming_header *header);

/* The design again, from its name.  ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_hamming_header_plan(const struct nd_hamming_header *header,
                                      struct nd_hamming_plan *plan, struct nd_error *err);

/* How a table orders bits: runs of bits that stay together, the key's first, 64 at most. */
struct nd_hamming_order {
    uint64_t key[ND_HAMMING_WORDS_MAX]; /* its bits in a fingerprint, as far as they lead */
    unsigned key_bits, words, n_runs;
    struct {
        uint64_t mask;          /* as many low bits as the run has */
        uint8_t word, from, to; /* of its lowest bit, in the fingerprint and in the table */
    } run[64];
};
void nd_hamming_order_init(struct nd_hamming_order *order, const uint64_t *key, unsigned bits);
/* Those of all tables of a plan, from malloc.  ND_ENOMEM. */
enum nd_status nd_hamming_orders_new(struct nd_hamming_order **orders,
                                     const struct nd_hamming_plan *plan, struct nd_error *err);

/* The leading bits, as a number. */
static inline uint64_t nd_hamming_lead(const struct nd_hamming_order *o, const uint64_t *row)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < o->n_runs; i++)
        y |= (row[o->run[i].word] >> o->run[i].from & o->run[i].mask) << o->run[i].to;
    return y;
}

/* The fingerprint of up to 64 bits again. */
static inline uint64_t nd_hamming_restore(const struct nd_hamming_order *o, uint64_t y)
{
    uint64_t x = 0;

    for (unsigned i = 0; i < o->n_runs; i++)
        x |= (y >> o->run[i].to & o->run[i].mask) << o->run[i].from;
    return x;
}

/* Whether two fingerprints agree in the key. */
static inline bool nd_hamming_agree(const struct nd_hamming_order *o, const uint64_t *a,
                                    const uint64_t *b)
{
    uint64_t differ = 0;

    for (unsigned w = 0; w < o->words; w++)
        differ |= (a[w] ^ b[w]) & o->key[w];
    return differ == 0;
}

#endif
