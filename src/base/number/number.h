/* number.h - numbers in text: read, and written as the shortest that reads back; in any locale */
#ifndef ND_BASE_NUMBER_NUMBER_H
#define ND_BASE_NUMBER_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/*
 * strtod with a decimal point in any locale, because a program that uses the library may have set
 * another one.
 */
double nd_number_read(const char *text, char **end);

/* The digits, without a zero behind them; returns how many. */
enum { ND_UINT_TEXT = 20 };
size_t nd_uint_text(uint64_t value, char out[ND_UINT_TEXT]);

/* The shortest decimal that reads back as the same double; returns its length. */
int nd_double_text(double value, char out[32]);

/*
 * Convert a number from 0 to 1, ten times as fast: the text that "%.*g" gives with 1, 15, 16
 * or 17 digits, whichever first reads back to the value.  0: the value is below 1/1000 or above 1,
 * or lies where only the library's own conversion can be trusted.
 */
int nd_fraction_text(double value, char out[32]);

#endif
