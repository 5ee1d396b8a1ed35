/* coverings.h - covering designs found by search (tools/find_coverings.c) */
#ifndef ND_HAMMING_PLAN_COVERINGS_H
#define ND_HAMMING_PLAN_COVERINGS_H

#include <stddef.h>
#include <stdint.h>

/*
 * `tables` sets of `dropped` out of `blocks` blocks: every `distance` blocks lie in one of the
 * sets. The blocks of a set are those that the table's key leaves out; the rest are its key.
 */
struct nd_hamming_covering {
    uint8_t distance, blocks, dropped, tables;
    uint16_t first; /* of its sets in nd_hamming_covering_sets */
};

extern const struct nd_hamming_covering nd_hamming_coverings[];
extern const size_t nd_hamming_n_coverings;
extern const uint16_t nd_hamming_covering_sets[];

#endif
