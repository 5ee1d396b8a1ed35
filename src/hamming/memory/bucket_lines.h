/* bucket_lines.h - buckets of one cache line each, the overflow in chained lines */
#ifndef ND_HAMMING_MEMORY_BUCKET_LINES_H
#define ND_HAMMING_MEMORY_BUCKET_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "simd/hamming/hamming_kernels.h"

/*
 * A bucket is one cache line of 16 words, so that a look-up costs one miss.  The last word links to
 * further lines; each layout fills the other 60 bytes with as many slots as go into them:
 *
 *     IDS      6 slots of 10 bytes: a word, 16 bits of rest, an id
 *     OTHER   10 slots of  6 bytes: a word, 16 bits of rest
 *     ROWS     7 slots of  8 bytes: a word, an id; and one word for the owner of the bucket
 *
 *     words   0       5 6     8 9       14 15
 *     IDS    | word ×6 | rest  | id ×6   | last |    rest: 6 × 16 bits
 *
 *     words   0           9 10      14 15
 *     OTHER  | word ×10    | rest      | last |      rest: 10 × 16 bits
 *
 *     words   0         6 7        13 14  15
 *     ROWS   | word ×7   | id ×7     | own | last |  own: for the owner of the bucket
 *
 *     last   | next (28 bits) | taken (4 bits) |     next: number + 1 of a chained line; 0: none
 *
 * The words of a line stand side by side, since a query compares its own with all of them at once:
 * one XOR, one population count and one comparison of a vector, whatever the layout.  The kernel
 * learns from the last word how many of them are taken, at most 10, and whether lines follow.
 *
 * IDS and OTHER hold fingerprints of 64 bits, 48 bits of them in the slot and the others in the
 * address (halves.h).  One table keeps the ids, so that the others have room for ten slots: a query
 * reads all tables, but the ids of what it finds only.  ROWS holds numbers of rows (tables.h).
 *
 * When a bucket is full, its first overflow line takes what comes, and when that is full too, a new
 * one goes before it.  So all lines but the first two are full: adding looks at two lines however
 * long the chain is, and removing fills the hole from the first overflow line.
 */
enum nd_hamming_layout { ND_HAMMING_LAYOUT_IDS, ND_HAMMING_LAYOUT_OTHER, ND_HAMMING_LAYOUT_ROWS };

/*
 * A line keeps 16 bits of `rest`. All three are whole words here, and entries are handed on by
 * address: a struct that is written in parts and read as a whole would wait until its parts have
 * reached the cache, behind lines that are not there yet.
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

/* The word at which the ids begin; the layout OTHER has none. */
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

/* Grow to n buckets, the new ones empty.  False: out of memory, nothing changed. */
bool nd_hamming_lines_resize(struct nd_hamming_lines *s, size_t n);
/*
 * For nd_columns_make: n empty buckets, and capacity for so many overflow lines, so that they are
 * not moved before there are more.  What is made of it is to be released also where that fails.
 */
void nd_hamming_lines_request(struct nd_hamming_lines *s, size_t n, size_t n_over,
                              struct nd_column_request request[2]);
void nd_hamming_lines_release(struct nd_hamming_lines *s);
size_t nd_hamming_lines_bytes(const struct nd_hamming_lines *s);

/* Make sure that the next n of nd_hamming_lines_put succeed. */
bool nd_hamming_lines_ready(struct nd_hamming_lines *s, size_t n);

/* Add to a bucket.  nd_hamming_lines_ready was called before, or a line was given back. */
void nd_hamming_lines_put(struct nd_hamming_lines *s, size_t bucket,
                          const struct nd_hamming_entry *entry);

/* Remove the slot of a line of the bucket. */
void nd_hamming_lines_take(struct nd_hamming_lines *s, size_t bucket, struct nd_hamming_line *line,
                           unsigned slot);

/* Give a line of a chain back; it belongs to nobody any more. */
void nd_hamming_lines_give_back(struct nd_hamming_lines *s, struct nd_hamming_line *line);

/*
 * For dividing a bucket in two: when the entries of *copy have been put where they go, *copy becomes
 * a copy of the line that was chained to it, and that line is given back.  So the entries of a chain
 * go to lines that the chain itself gave back, and dividing cannot fail.  False: the chain ends.
 */
bool nd_hamming_lines_unchain(struct nd_hamming_lines *s, struct nd_hamming_line *copy);

#endif
