/* multimap_block.h - tables that grow together, side by side in one piece of memory */
#ifndef ND_INDEX_MULTIMAP_BLOCK_H
#define ND_INDEX_MULTIMAP_BLOCK_H

#include "index/multimap.h"

/*
 * A look-up by bands asks one line of each of some twenty tables.  Where every table has memory of
 * its own, small ones are without huge pages, and most of the lines cost a walk of the page tables.
 * Starts from zeroes, and so do the tables.
 */
struct nd_multimap_block {
    void *lines; /* of all the tables, one table behind the other */
    size_t bytes;
};

/*
 * Make each of n tables, which have equally many lines and of which the last has the most numbers,
 * hold `more` numbers more, and forget what stands in them: the owner adds every number again, as
 * after nd_multimap_grow.  The old size is given back before the new one is written to.  False: no
 * memory, all as it was.
 */
bool nd_multimap_block_grow(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n,
                            size_t more);

/* The tables are as from the start. */
void nd_multimap_block_release(struct nd_multimap_block *block, struct nd_multimap *map,
                               unsigned n);

#endif
