/* hamming_lines.h - buckets of one cache line each, the overflow in chained lines */
#ifndef ND_INDEX_HAMMING_LINES_H
#define ND_INDEX_HAMMING_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "simd/hamming_kernels.h"

/*
 * A bucket is a line; when it is full, its first overflow line takes what comes, and when that is
 * full, a new one goes before it.  So all lines behind the first two are full, adding looks at two
 * lines however long the chain is, and what is removed leaves no hole.  Three layouts of 16 words:
 *
 *     IDS    word[6]   rest[6] (16 bits each)   id[6]    last
 *     OTHER  word[10]  rest[10] (16 bits each)           last
 *     ROWS   word[7]   id[7]            (1 unused)       last
 *
 * last = slots taken (4 bits) and the number of the next line of the chain + 1 (28 bits).
 */
enum nd_hamming_layout { ND_HAMMING_LAYOUT_IDS, ND_HAMMING_LAYOUT_OTHER, ND_HAMMING_LAYOUT_ROWS };

/*
 * Of `rest` 16 bits are kept.  All are words, and entries are handed on by address: what is written
 * in parts and read whole must wait until the cache has it, behind lines that are not there yet.
 */
struct nd_hamming_entry {
    uint32_t word, id, rest;
};

struct nd_hamming_lines {
    enum nd_hamming_layout layout;
    struct nd_column main, over;
    size_t n_main, n_over;
    uint32_t free_line; /* number + 1 of the first free overflow line */
};

static inline unsigned nd_hamming_slots(enum nd_hamming_layout layout)
{
    return layout == ND_HAMMING_LAYOUT_IDS ? 6 : layout == ND_HAMMING_LAYOUT_OTHER ? 10 : 7;
}

static inline struct nd_hamming_line *nd_hamming_lines_at(const struct nd_hamming_lines *s,
                                                          size_t bucket)
{
    return (struct nd_hamming_line *)s->main.data + bucket;
}

/* The next line of a bucket, or NULL. */
static inline struct nd_hamming_line *nd_hamming_lines_next(const struct nd_hamming_lines *s,
                                                            const struct nd_hamming_line *line)
{
    uint32_t next = line->word[15] >> 4;

    return next ? (struct nd_hamming_line *)s->over.data + (next - 1) : NULL;
}

static inline unsigned nd_hamming_line_taken(const struct nd_hamming_line *line)
{
    return line->word[15] & 15;
}

/* Where the ids begin; the layout OTHER has none. */
static inline unsigned nd_hamming_first_id(enum nd_hamming_layout layout)
{
    return layout == ND_HAMMING_LAYOUT_IDS ? 9 : 7;
}

static inline struct nd_hamming_entry nd_hamming_line_get(enum nd_hamming_layout layout,
                                                          const struct nd_hamming_line *line,
                                                          unsigned slot)
{
    struct nd_hamming_entry e = {.word = line->word[slot]};
    uint16_t rest;

    if (layout != ND_HAMMING_LAYOUT_ROWS) {
        memcpy(&rest, (const char *)(line->word + nd_hamming_slots(layout)) + slot * sizeof rest,
               sizeof rest);
        e.rest = rest;
    }
    if (layout != ND_HAMMING_LAYOUT_OTHER)
        e.id = line->word[nd_hamming_first_id(layout) + slot];
    return e;
}

void nd_hamming_line_set(enum nd_hamming_layout layout, struct nd_hamming_line *line, unsigned slot,
                         const struct nd_hamming_entry *entry);

/* Make room for n buckets, the new ones empty.  False: out of memory, nothing changed. */
bool nd_hamming_lines_resize(struct nd_hamming_lines *s, size_t n);
/*
 * For nd_columns_make: n empty buckets, and room for so many overflow lines, so that they are not
 * moved before there are more.  What is made of it is to be released also where that fails.
 */
void nd_hamming_lines_wish(struct nd_hamming_lines *s, size_t n, size_t n_over,
                           struct nd_column_wish wish[2]);
void nd_hamming_lines_release(struct nd_hamming_lines *s);
size_t nd_hamming_lines_bytes(const struct nd_hamming_lines *s);

/* Make sure that the next n of nd_hamming_lines_put succeed. */
bool nd_hamming_lines_ready(struct nd_hamming_lines *s, size_t n);

/* Add to a bucket.  nd_hamming_lines_ready was called before, or an entry's room was given back. */
void nd_hamming_lines_put(struct nd_hamming_lines *s, size_t bucket,
                          const struct nd_hamming_entry *entry);

/* Remove the slot of a line of the bucket. */
void nd_hamming_lines_take(struct nd_hamming_lines *s, size_t bucket, struct nd_hamming_line *line,
                           unsigned slot);

/* Give a line of a chain back; it belongs to nobody any more. */
void nd_hamming_lines_give_back(struct nd_hamming_lines *s, struct nd_hamming_line *line);

#endif
