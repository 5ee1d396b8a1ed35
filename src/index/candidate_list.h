/* candidate_list.h - lists of documents met, in the order in which they are looked at */
#ifndef ND_INDEX_CANDIDATE_LIST_H
#define ND_INDEX_CANDIDATE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/index.h>

/* False: out of memory, the list as it was. */
bool nd_candidates_add(struct nd_candidates *list, struct nd_candidate candidate);

/* Most equal minima first, or least distance of simhashes first; then by number. */
void nd_candidates_sort(struct nd_candidates *list, bool by_simhash);

/* A look-up counts how many keys a number stands under, up to this less one. */
enum { ND_NUMBERS_COUNTS = 8 };

/*
 * Numbers that grow; start from zeroes.  met[number] is lookups * ND_NUMBERS_COUNTS plus the count
 * of this look-up, or less where this look-up has not met the number: so nothing is cleared between
 * look-ups.
 */
struct nd_numbers {
    uint32_t *items;
    size_t count, capacity;
    uint32_t *met;
    size_t met_capacity;
    uint32_t lookups;
};
void nd_numbers_release(struct nd_numbers *list);
/* Begin a look-up among the numbers below n: nothing is met.  False: out of memory. */
bool nd_numbers_begin(struct nd_numbers *list, size_t n);
/* False: out of memory. */
bool nd_numbers_append(struct nd_numbers *list, uint32_t number);

#endif
