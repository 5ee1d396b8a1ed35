/* multimap.h - from 64-bit keys to document numbers, many of one key: a table of cache lines */
#ifndef ND_INDEX_MULTIMAP_H
#define ND_INDEX_MULTIMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd/match_bytes.h"

/*
 * A line is one cache line:
 *
 *     tag[12]  n  passed[3]  number[12]        12 + 1 + 3 + 12 * 4 = 64 bytes
 *
 * A key's line is floor(key * lines / 2^64), which takes its upper bits and serves any number of
 * lines; its tag is the key's lowest byte.  So keys must be well mixed.
 *
 * The keys themselves are not stored: a number leads to the columns from which the key was made, and
 * whoever looks up compares these anyway.  A tag of 8 bits suffices to keep false numbers rare: a
 * line at full load returns 12 * 0.8 / 256 of them, so a query of 21 tables looks at one in vain.
 * Sixteen bytes are compared with a tag in one instruction, which is why the tags come first.
 *
 * A full line overflows into the next one, and counts the numbers that passed it: those whose key's
 * line it is or comes before it, and which stand behind it.  A look-up ends at the first line that
 * none passed, so it stays short however often documents come and go.  There are no chains: at a
 * load of 80% few lines are full, and the next line is what the processor fetches by itself.  Where
 * very many documents share a key, a look-up takes time in proportion to what it finds.
 */
enum { ND_MULTIMAP_SLOTS = 12 };
struct nd_multimap_line {
    uint8_t tag[ND_MULTIMAP_SLOTS]; /* compared sixteen at once, with what follows */
    uint8_t n;
    uint8_t passed[3]; /* the lowest byte first; ND_MULTIMAP_PASSED_MAX: so many or more */
    uint32_t number[ND_MULTIMAP_SLOTS];
};

enum { ND_MULTIMAP_PASSED_MAX = (1 << 24) - 1 };

static inline uint32_t nd_multimap_passed(const struct nd_multimap_line *line)
{
    return line->passed[0] | (uint32_t)line->passed[1] << 8 | (uint32_t)line->passed[2] << 16;
}

struct nd_multimap {
    struct nd_multimap_line *line;
    size_t n_lines;
    size_t count;
};

/* Start from zeroes. */
void nd_multimap_release(struct nd_multimap *s);
size_t nd_multimap_bytes(const struct nd_multimap *s);

/* Whether `more` numbers still fit at a load of 80%. */
bool nd_multimap_fits(const struct nd_multimap *s, size_t more);

/* How many lines to grow to, so that `count` + more fit. */
size_t nd_multimap_lines_for(const struct nd_multimap *s, size_t more);

/* The fewest lines in which so many numbers fit. */
size_t nd_multimap_lines_of(size_t count);

/* Whether it holds 90%, more than it should. */
bool nd_multimap_is_full(const struct nd_multimap *s);

/*
 * Grow by a quarter at least, so that `count` + more fit, and forget what stood there: the owner
 * adds every number again, from the keys that it has.  False: out of memory, the table as it was.
 */
bool nd_multimap_grow(struct nd_multimap *s, size_t more);

/* Add a number; it must fit. */
void nd_multimap_add(struct nd_multimap *s, uint64_t key, uint32_t number);

/* Remove one (key, number).  False: there is none. */
bool nd_multimap_remove(struct nd_multimap *s, uint64_t key, uint32_t number);

/* Clear the lines in which a key stands, whoever else does; `count` is the owner's to set. */
void nd_multimap_empty(struct nd_multimap *s, uint64_t key);

static inline size_t nd_multimap_place(const struct nd_multimap *s, uint64_t key)
{
    return (size_t)(((unsigned __int128)key * s->n_lines) >> 64);
}

static inline void nd_multimap_prefetch(const struct nd_multimap *s, uint64_t key)
{
    if (s->n_lines)
        __builtin_prefetch(&s->line[nd_multimap_place(s, key)]);
}

/*
 * Many additions: each waits for some others, while its line comes from memory.
 *
 *     struct nd_multimap_adder adder = {.map = s};
 *     … nd_multimap_add_soon(&adder, key, number) …
 *     nd_multimap_add_rest(&adder);
 */
enum { ND_MULTIMAP_AHEAD = 16 };
struct nd_multimap_adder {
    struct nd_multimap *map;
    size_t n;
    uint64_t key[ND_MULTIMAP_AHEAD];
    uint32_t number[ND_MULTIMAP_AHEAD];
};

static inline void nd_multimap_add_soon(struct nd_multimap_adder *adder, uint64_t key,
                                        uint32_t number)
{
    size_t at = adder->n % ND_MULTIMAP_AHEAD;

    if (adder->n >= ND_MULTIMAP_AHEAD)
        nd_multimap_add(adder->map, adder->key[at], adder->number[at]);
    nd_multimap_prefetch(adder->map, key);
    adder->key[at] = key;
    adder->number[at] = number;
    adder->n++;
}

/* The ones still waiting, in the order in which they came. */
static inline void nd_multimap_add_rest(struct nd_multimap_adder *adder)
{
    size_t first = adder->n < ND_MULTIMAP_AHEAD ? 0 : adder->n - ND_MULTIMAP_AHEAD;

    for (; first < adder->n; first++)
        nd_multimap_add(adder->map, adder->key[first % ND_MULTIMAP_AHEAD],
                        adder->number[first % ND_MULTIMAP_AHEAD]);
    adder->n = 0;
}

/*
 * The numbers whose tag is the key's, one after the other:
 *
 *     struct nd_multimap_scan scan = nd_multimap_find(s, key);
 *     while (nd_multimap_next(s, &scan, &number)) …
 */
struct nd_multimap_scan {
    size_t first;   /* the key's line, where a scan that went round ends */
    size_t line;    /* the present one */
    unsigned match; /* bit i: slot i of the line has the tag and was not returned yet */
    uint8_t tag;
};

static inline unsigned nd_multimap_match(const struct nd_multimap_line *line, uint8_t tag)
{
    return nd_match_16(line->tag, tag) & ((1u << line->n) - 1);
}

static inline struct nd_multimap_scan nd_multimap_find(const struct nd_multimap *s, uint64_t key)
{
    struct nd_multimap_scan scan = {0, 0, 0, (uint8_t)key};

    if (s->n_lines) {
        scan.first = scan.line = nd_multimap_place(s, key);
        scan.match = nd_multimap_match(&s->line[scan.line], scan.tag);
    }
    return scan;
}

static inline bool nd_multimap_next(const struct nd_multimap *s, struct nd_multimap_scan *scan,
                                    uint32_t *number)
{
    if (!s->n_lines)
        return false;
    while (!scan->match) {
        size_t next = scan->line + 1 == s->n_lines ? 0 : scan->line + 1;

        if (!nd_multimap_passed(&s->line[scan->line]) || next == scan->first)
            return false;
        scan->line = next;
        scan->match = nd_multimap_match(&s->line[scan->line], scan->tag);
    }
    *number = s->line[scan->line].number[__builtin_ctz(scan->match)];
    scan->match &= scan->match - 1;
    return true;
}

/* ---- Tables that grow together, side by side in one piece of memory ---- */

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

/* Make n tables of n_lines[i] lines each, all zero, from an empty block.  The pages of large tables
 * are made now if the last table has a count of 0, and otherwise as they are used.  False: no
 * memory. */
bool nd_multimap_block_make(struct nd_multimap_block *block, struct nd_multimap *map, unsigned n,
                            const size_t *n_lines);

/* The tables are as from the start. */
void nd_multimap_block_release(struct nd_multimap_block *block, struct nd_multimap *map,
                               unsigned n);

#endif
