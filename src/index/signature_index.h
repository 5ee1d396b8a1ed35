/* signature_index.h - signatures by document, and a table that finds those which may match */
#ifndef ND_INDEX_SIGNATURE_INDEX_H
#define ND_INDEX_SIGNATURE_INDEX_H

#include <stdbool.h>

#include <neardup/signature.h>

#include "index/candidate_list.h"

/* How one of the signatures is stored: its form, and words of each, 0 where that varies. */
struct nd_signature_shape {
    enum nd_signature_form form;
    size_t words;
    uint64_t mask[8]; /* bits: those that count */
};

/* By what documents are found: table keys are made of a signature in one of these ways. */
enum nd_lookup_way {
    ND_LOOKUP_BLOCKS,      /* bits: n blocks of those that count, one of which must be equal */
    ND_LOOKUP_COORDINATES, /* of n coordinates, of which r must be equal, the first n - r + 1 */
    ND_LOOKUP_VALUES,      /* values, of which two sets must share the given part */
};
struct nd_signature_lookup {
    unsigned signature;
    enum nd_lookup_way way;
    unsigned blocks;       /* bits: n */
    unsigned equal;        /* coordinates: r */
    struct nd_ratio share; /* values: of either set's values so many are shared at least; 0: one */
    size_t least;          /* values: so many are shared in any case; 0: one */
    bool of_lesser;        /* of the lesser set's values only */
};

/*
 * A bit for each value of a set, by its hash: sets of a and b values whose bits differ in d places
 * share at most (a + b - d) / 2.
 */
struct nd_value_bloom {
    uint64_t word[4];
};
struct nd_value_bloom nd_value_bloom_of(const struct nd_signature *values);
size_t nd_value_bloom_max_shared(const struct nd_value_bloom *x, size_t a,
                                 const struct nd_value_bloom *y, size_t b);

/* The stored signature of one document. */
struct nd_signature_row {
    const struct nd_signature *signature; /* as many as there are shapes */
    uint32_t group;                       /* only documents of an equal group meet */
    uint64_t length;                      /* tokens */
};

/*
 * Numbers are given in order, 0, 1, 2 …  Signatures stand in columns; the table has one entry for
 * each key of a document.  One writer and no reader, or any number of readers.
 *
 * Sets of n values of which s must be shared are listed under the n - s + 1 rarest of them only,
 * and looked up by as many: the rarest of the values that two sets share is among these of both
 * (prefix filtering: Chaudhuri 2006).  So what every document has, as a news agency's name, is hardly
 * ever looked up.  Rarity is by counts of the table's keys when the table last grew: then all sets
 * are listed anew.
 */
struct nd_signature_index;

/* shape and lookup are copied.  NULL: out of memory. */
struct nd_signature_index *nd_signature_index_new(const struct nd_signature_shape *shape,
                                                  unsigned n_shapes,
                                                  const struct nd_signature_lookup *lookup,
                                                  unsigned n_lookups);
void nd_signature_index_free(struct nd_signature_index *s);
size_t nd_signature_index_bytes(const struct nd_signature_index *s);

/* Give a row the next number; list: let look-ups find a number.  False: out of memory. */
bool nd_signature_index_append(struct nd_signature_index *s, const struct nd_signature_row *row);
bool nd_signature_index_list(struct nd_signature_index *s, uint32_t number);
/* No look-up finds it any more. */
void nd_signature_index_remove(struct nd_signature_index *s, uint32_t number);
/* Forget all and keep the memory. */
void nd_signature_index_clear(struct nd_signature_index *s);

/* A stored signature, valid until the next append. */
struct nd_signature nd_signature_index_get(const struct nd_signature_index *s, unsigned signature,
                                           uint32_t number);
/* The bloom of a signature of values. */
struct nd_value_bloom nd_signature_index_bloom(const struct nd_signature_index *s,
                                               unsigned signature, uint32_t number);
uint64_t nd_signature_index_length(const struct nd_signature_index *s, uint32_t number);
uint32_t nd_signature_index_group(const struct nd_signature_index *s, uint32_t number);

/* Keys that grow; start from zeroes. */
enum { ND_SIGNATURE_LOOKUPS = 8 };
struct nd_key_list {
    uint64_t *items;
    size_t count, capacity;
    size_t end[ND_SIGNATURE_LOOKUPS]; /* of each lookup's */
};
void nd_key_list_release(struct nd_key_list *list);

/*
 * The table keys of a row, for an index of these shapes and lookups; row->length does not count.
 * Replaces what the list held.  False: out of memory.
 */
bool nd_signature_index_row_keys(const struct nd_signature_shape *shape,
                                 const struct nd_signature_lookup *lookup, unsigned n_lookups,
                                 const struct nd_signature_row *row, struct nd_key_list *out);

/*
 * Keys of which two rows that match share at least one, whatever an index has counted: of a set of
 * values those that are first in the order of the keys, as many as must be (prefix filtering).
 * Replaces what the list held.  False: out of memory.
 */
bool nd_signature_index_shared_keys(const struct nd_signature_shape *shape,
                                    const struct nd_signature_lookup *lookup, unsigned n_lookups,
                                    const struct nd_signature_row *row, struct nd_key_list *out);

/*
 * The listed documents that share a table key (up to chance) with these signatures, of which the
 * keys are: each once, in no order.  By blocks of bits only those are met that differ in fewer bits
 * than there are blocks.  A superset of those that match.  Replaces what the list held.  False: out
 * of memory.
 */
bool nd_signature_index_query(const struct nd_signature_index *s,
                              const struct nd_signature *signature, const struct nd_key_list *keys,
                              struct nd_key_list *scratch, struct nd_numbers *out);

#endif
