/* decimal.h - decimal numbers of any length, compared exactly */
#ifndef ND_BASE_NUMBER_DECIMAL_H
#define ND_BASE_NUMBER_DECIMAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number as a view of its text: 0.d1d2d3… times ten to the power of `exponent`. */
struct nd_decimal {
    /* From the first digit that is not 0 to the last; a point may lie among them. */
    const char *digits;
    size_t len; /* 0: the number is 0 */
    int64_t exponent;
    bool is_negative;
};

/*
 * Parse "-12.5e+7", ".5" or "5."; white space around it is ignored. False: not a number, or its
 * exponent has more than 17 digits.
 */
bool nd_decimal_read(const char *bytes, size_t len, struct nd_decimal *out);

/* Negative, 0 or positive as a is less than, equal to or greater than b. */
int nd_decimal_compare(const struct nd_decimal *a, const struct nd_decimal *b);

/*
 * A key in the order of the numbers, above 0 and below 2^63. Numbers of more than 15 digits, or
 * with exponents beyond ±1000, may share a key; such keys are odd, all others even.
 */
uint64_t nd_decimal_key(const struct nd_decimal *d);

/* The greatest integer not above the number times 10^power. False: it does not fit. */
bool nd_decimal_floor(const struct nd_decimal *d, unsigned power, int64_t *out);

#endif
