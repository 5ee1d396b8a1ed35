/* utf8_tables.h - the three lookups by which vector kernels validate UTF-8 */
#ifndef ND_SIMD_TEXT_UTF8_TABLES_H
#define ND_SIMD_TEXT_UTF8_TABLES_H

#include <stdint.h>

/*
 * Keiser 2021, §4.  Each bit stands for one way in which a byte and the one after it can be wrong.
 * Three tables of 16, looked up by the first byte's high and low half and by the second byte's high
 * half, say which ways each half allows; the AND of the three leaves the ways that are the case.
 * Whether a third and a fourth byte must be continuations is found by comparing with the leading
 * bytes two and three places before, and ND_UTF8_TWO must agree with that.
 */
enum {
    ND_UTF8_SHORT = 1,       /* a leading byte without its continuation */
    ND_UTF8_LONG = 2,        /* a continuation after ASCII */
    ND_UTF8_OVERLONG_3 = 4,  /* E0 and less than A0 */
    ND_UTF8_LARGE = 8,       /* F4 and more than 8F, or F5 and up */
    ND_UTF8_SURROGATE = 16,  /* ED and more than 9F */
    ND_UTF8_OVERLONG_2 = 32, /* C0, C1 */
    ND_UTF8_OVERLONG_4 = 64, /* F0 and less than 90; also F5 and up, and 80 to 8F */
    ND_UTF8_TWO = 128,       /* two continuations: right or wrong, seen from two bytes before */

    ND_UTF8_CARRY = ND_UTF8_SHORT | ND_UTF8_LONG | ND_UTF8_TWO,
    ND_UTF8_OVER = ND_UTF8_CARRY | ND_UTF8_LARGE | ND_UTF8_OVERLONG_4,
    ND_UTF8_AFTER = ND_UTF8_LONG | ND_UTF8_OVERLONG_2 | ND_UTF8_TWO,
};

static const uint8_t nd_utf8_first_high[16] = {
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_LONG,
    ND_UTF8_TWO,
    ND_UTF8_TWO,
    ND_UTF8_TWO,
    ND_UTF8_TWO,
    ND_UTF8_SHORT | ND_UTF8_OVERLONG_2,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT | ND_UTF8_OVERLONG_3 | ND_UTF8_SURROGATE,
    ND_UTF8_SHORT | ND_UTF8_LARGE | ND_UTF8_OVERLONG_4,
};
static const uint8_t nd_utf8_first_low[16] = {
    ND_UTF8_CARRY | ND_UTF8_OVERLONG_3 | ND_UTF8_OVERLONG_2 | ND_UTF8_OVERLONG_4,
    ND_UTF8_CARRY | ND_UTF8_OVERLONG_2,
    ND_UTF8_CARRY,
    ND_UTF8_CARRY,
    ND_UTF8_CARRY | ND_UTF8_LARGE,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
    ND_UTF8_OVER | ND_UTF8_SURROGATE,
    ND_UTF8_OVER,
    ND_UTF8_OVER,
};
static const uint8_t nd_utf8_second_high[16] = {
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_AFTER | ND_UTF8_OVERLONG_3 | ND_UTF8_OVERLONG_4,
    ND_UTF8_AFTER | ND_UTF8_OVERLONG_3 | ND_UTF8_LARGE,
    ND_UTF8_AFTER | ND_UTF8_SURROGATE | ND_UTF8_LARGE,
    ND_UTF8_AFTER | ND_UTF8_SURROGATE | ND_UTF8_LARGE,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
    ND_UTF8_SHORT,
};

#endif
