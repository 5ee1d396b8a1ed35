/* part.h - which stored bytes of an input are one machine's part (nd_input_part) */
#ifndef ND_INPUT_STREAMS_PART_H
#define ND_INPUT_STREAMS_PART_H

#include <stdbool.h>

#include <neardup/input.h>

/* The bytes of all files, one file behind the other: from … to - 1. */
struct nd_part_bytes {
    uint64_t from, to;
};

/* floor(bytes * i / n), without a product that overflows. */
static inline uint64_t nd_part_border(uint64_t bytes, unsigned i, unsigned n)
{
    return bytes / n * i + bytes % n * i / n;
}

/* Without a division, and of the last part, there is no end: a file may have grown. */
static inline struct nd_part_bytes nd_part_bytes(struct nd_input_part part, uint64_t bytes)
{
    if (!part.of)
        return (struct nd_part_bytes){0, UINT64_MAX};
    return (struct nd_part_bytes){
        nd_part_border(bytes, part.number - 1, part.of),
        part.number == part.of ? UINT64_MAX : nd_part_border(bytes, part.number, part.of)};
}

static inline bool nd_part_has(struct nd_part_bytes part, uint64_t at)
{
    return at >= part.from && at < part.to;
}

/* Whether a file of so many bytes that begins there has any in the part; an empty one has its place.
 */
static inline bool nd_part_touches(struct nd_part_bytes part, uint64_t start, uint64_t bytes)
{
    return nd_part_has(part, start) || (start < part.from && bytes > part.from - start);
}

#endif
