/* digit.h - whether a code point is a decimal digit */
#ifndef ND_TEXT_DIGIT_H
#define ND_TEXT_DIGIT_H

#include "text/digit_table.h"

#include <stdbool.h>

/* General category Nd. */
static inline bool nd_is_digit(uint32_t c)
{
    size_t n = 0;

    if (c < 0x80)
        return c - '0' < 10;
    while (n < nd_digit_runs_count && nd_digit_runs[n] <= c)
        n++;
    return n > 0 && c - nd_digit_runs[n - 1] < 10;
}

#endif
