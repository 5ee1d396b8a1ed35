/* places.h - where the documents stand that may be asked for again */
#ifndef ND_PIPELINE_PLACES_H
#define ND_PIPELINE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The place of one record: in its source, or in the spool where that cannot be read again. */
struct nd_place {
    uint64_t offset; /* in the source's file or in the spool */
    uint64_t len;    /* bytes, below 2^48 */
    uint64_t line;   /* below 2^48; 0: the record is a whole file */
    uint32_t source; /* number of the nd_source */
};

/*
 * The places of some of the documents 0, 1, 2 …: 24 bytes for each of those, one bit and a little
 * for every other.  Starts from zeroes.
 *
 *     bit    0 1 1 0 1 …     one a document: has it a place?
 *     rank   every 512 bits, how many set bits come before: where its place stands in `at`
 */
struct nd_places {
    struct nd_packed_place *at;
    size_t count, capacity;
    uint64_t *bit, *rank;
    size_t bit_capacity, rank_capacity;
    uint64_t documents;
};
void nd_places_release(struct nd_places *p);

/* The next document, with its place (or NULL: it has none).  False: out of memory. */
bool nd_places_add(struct nd_places *p, const struct nd_place *place);

/* How many of the documents before this one have a place: its own number among those. */
size_t nd_places_rank(const struct nd_places *p, uint64_t document);

/* The place of a document that has one. */
struct nd_place nd_places_get(const struct nd_places *p, uint64_t document);

/* The n-th place. */
struct nd_place nd_places_at(const struct nd_places *p, size_t n);

#endif
