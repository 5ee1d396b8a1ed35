/* scan.h - passing over the bytes of a text that do not matter, eight at a time */
#ifndef ND_FEATURE_WORD_SCAN_H
#define ND_FEATURE_WORD_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define ND_SCAN_ONES UINT64_C(0x0101010101010101)

/* Not 0 where one of eight bytes is c; bytes behind such a one may seem to be c as well. */
static inline uint64_t nd_scan_has(uint64_t eight, unsigned char c)
{
    uint64_t x = eight ^ ND_SCAN_ONES * c;

    return (x - ND_SCAN_ONES) & ~x & ND_SCAN_ONES << 7;
}

/* Whether one of eight bytes is not ASCII. */
static inline bool nd_scan_is_wide(uint64_t eight)
{
    return (eight & ND_SCAN_ONES << 7) != 0;
}

static inline uint64_t nd_scan_load(const char *p)
{
    uint64_t eight;

    memcpy(&eight, p, sizeof eight);
    return eight;
}

#endif
