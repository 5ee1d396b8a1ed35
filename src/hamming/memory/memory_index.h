/* memory_index.h - an index in memory, whatever its family */
#ifndef ND_HAMMING_MEMORY_MEMORY_INDEX_H
#define ND_HAMMING_MEMORY_MEMORY_INDEX_H

#include <neardup/hamming.h>

/* How many lines of its tables an index looks at for the queries; 0: out of memory. */
uint64_t nd_hamming_query_lines(const struct nd_hamming *index, const uint64_t *queries, size_t n,
                                unsigned distance);

#endif
