/* layout.h - index files: the header, where a segment has what, the order of bits */
#ifndef ND_HAMMING_FILE_LAYOUT_H
#define ND_HAMMING_FILE_LAYOUT_H

#include <neardup/hamming_file.h>

#include <stdbool.h>

#include "hamming/file/elias_fano.h"
#include "hamming/plan/fingerprint.h"

/*
 * docs/format/hamming.md defines each byte.  A file:
 *
 *     | header | header | recipe | segment | segment | … |      each at a multiple of 4096
 *
 * A segment, whose chunks follow one another:
 *
 *     | list of chunks | ids | groups | rows | table 0: values, numbers | table 1: … | … | sums |
 *
 * sums: the checksums of these chunks in units (base/file/checked.h).
 *
 * ids and groups: of each distinct fingerprint its ids (id_groups.h).  values: the leading bits of
 * all fingerprints in the table's order of bits, ascending and coded (values.h).  Fingerprints of
 * up to 64 bits are whole in their values; of wider ones rows has the fingerprints, and numbers
 * which row each value is of.
 */
#define ND_HAMMING_MAGIC "NDHAMM\r\n"
enum {
    ND_HAMMING_VERSION = 6,
    ND_HAMMING_PAGE = 4096, /* of a header, and what segments begin at */
    ND_HAMMING_HEADERS = 2,
    ND_HAMMING_SEGMENTS_MAX = 64,
};

/* The place of a segment, and its contents. */
struct nd_hamming_place {
    uint64_t offset, bytes, count, distinct;
    uint64_t hash;      /* of its list of chunks */
    uint32_t has_texts; /* 1: its ids are texts */
    uint32_t part;      /* the number of its part, from 0 */
};
struct nd_hamming_header {
    char magic[8];
    uint32_t version, bits, distance, family, tables, key_bits, codec;
    uint32_t requested; /* the greatest number of tables that was requested; 0: none */
    uint32_t segments;
    uint32_t layout; /* of enum nd_hamming_file_layout */
    uint64_t generation, file_bytes, hash;
    struct nd_hamming_place segment[ND_HAMMING_SEGMENTS_MAX];
    uint64_t recipe_fingerprint,
        recipe_hash;       /* the latter of its text, which follows the headers */
    uint32_t recipe_bytes; /* 0: there is none */
    uint32_t part_max;     /* the most entries of a part; 0: there is one part */
    uint32_t fill;         /* layout fast: plan->fill in thousandths */
};
struct nd_hamming_chunk {
    uint64_t offset, bytes, hash; /* offset from the segment's beginning */
};

/* The chunks of a segment, in their order; of table t: ND_HAMMING_TABLES + 2 t. */
enum { ND_HAMMING_IDS, ND_HAMMING_GROUPS, ND_HAMMING_ROWS, ND_HAMMING_TABLES };
static inline size_t nd_hamming_values_chunk(unsigned table)
{
    return ND_HAMMING_TABLES + 2 * (size_t)table;
}
static inline size_t nd_hamming_numbers_chunk(unsigned table)
{
    return nd_hamming_values_chunk(table) + 1;
}
/* The chunk behind all tables: the checksums of the others. */
static inline size_t nd_hamming_sums_chunk(unsigned tables)
{
    return nd_hamming_values_chunk(tables);
}
static inline size_t nd_hamming_chunks(unsigned tables)
{
    return nd_hamming_sums_chunk(tables) + 1;
}

/* A table holds only the 64 leading bits of wide fingerprints; the whole is in the rows. */
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

/* The first byte at which segments may begin: behind the headers and the recipe. */
static inline uint64_t nd_hamming_head_bytes(const struct nd_hamming_header *header)
{
    return ND_HAMMING_HEADERS * ND_HAMMING_PAGE + nd_hamming_page_up(header->recipe_bytes);
}

/* Write a page with the header and its checksum. */
void nd_hamming_header_write(const struct nd_hamming_header *header, unsigned char *page);
/*
 * Read the newer one of two pages.  Bit i of *holders: page i holds it.  ND_EINPUT: no page is that
 * of an index file, or both are damaged, or segments are not where they can be.  ND_EUNSUPPORTED.
 */
enum nd_status nd_hamming_headers_read(struct nd_hamming_header *header, const unsigned char *pages,
                                       unsigned *holders, struct nd_error *err);
/* Bytes of the file that belong to no segment, nor to headers or padding. */
uint64_t nd_hamming_header_dead(const struct nd_hamming_header *header);
/* The entries of all segments, and of those from number `first` on. */
uint64_t nd_hamming_header_count(const struct nd_hamming_header *header);
uint64_t nd_hamming_header_count_from(const struct nd_hamming_header *header, unsigned first);
/* The first segment of the last part; 0: there is none. */
unsigned nd_hamming_header_last_part(const struct nd_hamming_header *header);

/* The most entries of a part, where so many were requested. */
static inline uint64_t nd_hamming_part_max(uint32_t requested)
{
    return requested ? requested : ND_HAMMING_FILE_MAX;
}

/* Bits that the number of ones takes at the front of a lead, where it is the key: with 512 ones, and
 * with 16 more or fewer than a fingerprint can have, it is told apart. */
enum { ND_HAMMING_ONES_BITS = 10 };

/* How a table permutes the bits of a fingerprint: the key first, then the others, 64 at most.  Runs
 * of neighbouring bits stay together, so a permutation is a few shifts.  Shards by number of ones
 * are one table, in which that number comes first. */
struct nd_hamming_order {
    unsigned ones_at; /* place of the number of ones in the lead; 0: it is not there */
    uint64_t key[ND_HAMMING_WORDS_MAX]; /* its bits in a fingerprint, as far as they lead */
    unsigned key_bits, words, n_runs;
    struct {
        uint64_t mask;          /* as many low bits as the run has */
        uint8_t word, from, to; /* of its lowest bit, in the fingerprint and in the table */
    } run[64];
};

/* The design of a file, which all its segments share. */
struct nd_hamming_scheme {
    enum nd_hamming_file_layout layout;
    struct nd_hamming_plan plan; /* its count is that of all entries */
    size_t words;                /* of a fingerprint */
    enum nd_hamming_codec codec;
    struct nd_hamming_ef_kind ef;   /* how Elias-Fano codes are made */
    struct nd_hamming_order *order; /* of each table; layout fast: NULL */
};
/* Change a design to what a file holds of it: shards by number of ones become one table. */
void nd_hamming_plan_to_file(struct nd_hamming_plan *plan);
/* Make the design again that a header names.  ND_EINPUT, ND_ENOMEM. */
enum nd_status nd_hamming_scheme_make(struct nd_hamming_scheme *scheme,
                                      const struct nd_hamming_header *header, struct nd_error *err);
void nd_hamming_scheme_release(struct nd_hamming_scheme *scheme);

/* Whether a segment has the fingerprints as they are, as its rows. */
static inline bool nd_hamming_has_rows(const struct nd_hamming_scheme *scheme)
{
    return scheme->layout == ND_HAMMING_FAST || scheme->plan.family == ND_HAMMING_POPCOUNT ||
           nd_hamming_is_wide(scheme->plan.problem.bits);
}

/* The leading bits, as a number. */
static inline uint64_t nd_hamming_lead(const struct nd_hamming_order *o, const uint64_t *row)
{
    uint64_t y = 0;

    for (unsigned i = 0; i < o->n_runs; i++)
        y |= (row[o->run[i].word] >> o->run[i].from & o->run[i].mask) << o->run[i].to;
    if (o->ones_at)
        y |= (uint64_t)nd_hamming_ones(row, o->words) << o->ones_at;
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

#endif
