/* hamming_sort.h - numbered values in order */
#ifndef ND_INDEX_HAMMING_SORT_H
#define ND_INDEX_HAMMING_SORT_H

#include <stddef.h>
#include <stdint.h>

struct nd_hamming_entry {
    uint64_t value;
    uint32_t number, unused;
};

/* By value; equal ones keep their order.  The two arrays of n change places as often as needed:
 * *entry is the sorted one. */
void nd_hamming_entries_sort(struct nd_hamming_entry **entry, struct nd_hamming_entry **other,
                             size_t n);

#endif
