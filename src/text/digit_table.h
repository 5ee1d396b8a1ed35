/* digit_table.h - the decimal digits */
/* Written by tools/make_unicode_tables.py from Unicode 15.0.0. */
/* clang-format off */

#ifndef ND_TEXT_DIGIT_TABLE_H
#define ND_TEXT_DIGIT_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* Code points of general category Nd come in runs of ten; the first of each, in order. */
extern const size_t nd_digit_runs_count;
extern const uint32_t nd_digit_runs[];

#endif
