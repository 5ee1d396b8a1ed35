/* text_cut.h - a text without some parts */
#ifndef ND_USES_REPEATS_TEXT_CUT_H
#define ND_USES_REPEATS_TEXT_CUT_H

#include <neardup/error.h>
#include <neardup/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

/* Bytes of a text. */
struct nd_text_range {
    uint32_t from, to;
};

/* Ranges in order, disjoint.  Starts from zeroes; freed by its owner. */
struct nd_text_ranges {
    struct nd_text_range *item;
    size_t n, capacity;
};

/* Add a range that does not begin before the last one; those that meet become one.  False: out of
 * memory. */
bool nd_text_ranges_add(struct nd_text_ranges *ranges, uint32_t from, uint32_t to);
/* How many bytes they have. */
uint64_t nd_text_ranges_bytes(const struct nd_text_ranges *ranges);

/* Check whether what stands before and behind a range could become one token.  Negative: out of
 * memory. */
int nd_text_joins(struct nd_view text, const struct nd_text_range *range);

/* Write the text without the ranges to *left, in place of what was there: one space takes the place
 * of a range if its neighbours could otherwise become one token.  False: out of memory. */
bool nd_text_cut(struct nd_view text, const struct nd_text_ranges *ranges, struct nd_buffer *left);

#endif
