/* ids.h - the ids of a fingerprint that has several */
#ifndef ND_HAMMING_MEMORY_IDS_H
#define ND_HAMMING_MEMORY_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/*
 * Lists of ids, in memory cut into lines of 16 words.  A list is a quarter of a line, a half, or a
 * chain of whole lines:
 *
 *     QUARTER   | head | id ×3 |
 *     HALF      | head | id ×7 |
 *     LINES     | head | id ×15 |   -> next line
 *     LONG      | head | id ×14 | counted |   -> next line
 *
 *     head      | next line of the chain (28 bits) | ids taken (4 bits) |
 *
 * So reading a list of 25 meets two cache lines.  As with buckets (bucket_lines.h), all lines but
 * the first two are full.  Words are numbered from 16 on, and a list's number is that of its first
 * word with its kind in the low 2 bits, which are free as blocks begin at multiples of 4.
 *
 * An id stands in a list as often as it was added, so adding need not look for it.  From 61 ids on
 * that would make removing slow, and the list becomes LONG: each id once, with its place and how
 * often it was added in a hash table by list and id.  Word 15 of a line says whether any id in it
 * was ever there more than once; where none was, readers need not look into the hash table.
 */
enum nd_hamming_ids_kind {
    ND_HAMMING_IDS_QUARTER,
    ND_HAMMING_IDS_HALF,
    ND_HAMMING_IDS_LINES,
    ND_HAMMING_IDS_LONG
};

struct nd_hamming_ids {
    struct nd_column lines;
    uint32_t n_lines;
    uint32_t free_block[ND_HAMMING_IDS_LONG]; /* of each size; its first word is the next one */
    struct nd_hamming_id_slot *slot; /* a power of 2 of them, or none; half are free at least */
    size_t slots, taken;
};

/* place 0: free. */
struct nd_hamming_id_slot {
    uint32_t place, list, times;
};

void nd_hamming_ids_release(struct nd_hamming_ids *s);
size_t nd_hamming_ids_bytes(const struct nd_hamming_ids *s);

/*
 * Add to a list; 0: a new one.  The list, which may have another number from now on; or 0, and
 * nothing has changed: out of memory, or 2^28 lines are in use, or the id is there 2^32 - 1 times.
 */
uint32_t nd_hamming_ids_add(struct nd_hamming_ids *s, uint32_t list, uint32_t id);

/*
 * Remove one occurrence from a list of two at least.  *only: whether one is left.  False: it is not
 * there.
 */
bool nd_hamming_ids_remove(struct nd_hamming_ids *s, uint32_t list, uint32_t id, bool *only);

/* Give back a list of one, and return its id. */
uint32_t nd_hamming_ids_end(struct nd_hamming_ids *s, uint32_t list);

/* The ids of a fingerprint: its only id, or the number of a list of them. */
struct nd_hamming_id {
    uint32_t number;
    uint32_t is_list;
};
/* One id more, which makes a list of an only id.  False: as nd_hamming_ids_add. */
bool nd_hamming_id_add(struct nd_hamming_ids *s, struct nd_hamming_id *own, uint32_t id);
/* One id less of a list, which becomes an only id when one is left.  False: it is not there. */
bool nd_hamming_id_remove(struct nd_hamming_ids *s, struct nd_hamming_id *own, uint32_t id);

/* How often an id was added to a list where nd_hamming_ids_is_counted. */
uint32_t nd_hamming_ids_times(const struct nd_hamming_ids *s, uint32_t list, uint32_t id);

/* A block of a list, which begins at `list`: its ids follow the first word. */
static inline uint32_t *nd_hamming_ids_block(const struct nd_hamming_ids *s, uint32_t block)
{
    return (uint32_t *)s->lines.data + (block & ~(uint32_t)3) - 16;
}

static inline unsigned nd_hamming_ids_taken(const uint32_t *at)
{
    return at[0] & 15;
}

static inline bool nd_hamming_ids_is_counted(uint32_t block, const uint32_t *at)
{
    return (block & 3) == ND_HAMMING_IDS_LONG && at[15];
}

/* The block that follows; 0: none. */
static inline uint32_t nd_hamming_ids_next(uint32_t block, const uint32_t *at)
{
    return at[0] > 15 ? (at[0] & ~(uint32_t)15) | (block & 3) : 0;
}

#endif
