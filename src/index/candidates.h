/* candidates.h - lists of documents met, in the order in which they are looked at */
#ifndef ND_INDEX_CANDIDATES_H
#define ND_INDEX_CANDIDATES_H

#include <stdbool.h>

#include <neardup/index.h>

/* False: out of memory, the list as it was. */
bool nd_candidates_add(struct nd_candidates *list, struct nd_candidate candidate);

/* Most equal minima first, or least distance of simhashes first; then by number. */
void nd_candidates_sort(struct nd_candidates *list, bool by_simhash);

#endif
