/* edit_bits.h - the last row of the table of unit costs, 64 cells at a time */
#ifndef ND_MATCH_EDIT_BITS_H
#define ND_MATCH_EDIT_BITS_H

#include "match/edit_distance.h"

/* Where a token stands in the first text. */
struct nd_edit_place {
    uint64_t token;
    size_t at;
};

/* Working memory for first texts of up to n tokens: 24 bits and 16 bytes a token. */
struct nd_edit_bits {
    uint64_t *up, *down, *equal; /* a bit a row: the cell is one more, one less than that above */
    struct nd_edit_place *place;
};
/* False: out of memory, nothing to release. */
bool nd_edit_bits_init(struct nd_edit_bits *bits, size_t n);
void nd_edit_bits_release(struct nd_edit_bits *bits);

/* row[j] for costs of 1, as nd_edit_last_row, of all diagonals. */
void nd_edit_bits_last_row(struct nd_edit_bits *bits, const struct nd_edit_pair *pair,
                           uint32_t *row);

/* Whether that is less work than a band of so many diagonals; 0: it cannot be used. */
bool nd_edit_bits_pay(const struct nd_edit_costs *costs, size_t n_b, uint64_t diagonals);

#endif
