/* class_table.h - which code points stand in tokens */
/* Written by tools/make_unicode_tables.py from Unicode 15.0.0. */
/* clang-format off */

#ifndef ND_TEXT_CLASS_TABLE_H
#define ND_TEXT_CLASS_TABLE_H

#include <stdint.h>

enum nd_class {
    ND_CLASS_SEPARATOR, /* not of general category L, M or N */
    ND_CLASS_WORD,
    ND_CLASS_BIGRAM,  /* L, M or N of a script without spaces */
    ND_CLASS_IGNORED, /* default-ignorable: not in normalised text */
};

extern const uint16_t nd_class_block[];
extern const uint8_t nd_class_value[];

#endif
