/* fold_table.h - what each code point becomes when it stands alone */
/* Written by tools/make_unicode_tables.py from Unicode 15.0.0. */
/* clang-format off */

#ifndef ND_TEXT_FOLD_TABLE_H
#define ND_TEXT_FOLD_TABLE_H

#include "simd/text/fold_entry.h"

extern const uint16_t nd_fold_entry_block[];
extern const uint32_t nd_fold_entry[];
extern const uint32_t nd_fold_pool[];  /* the length, then the code points */
extern const uint32_t nd_fold_pairs[]; /* code points of two bytes */

#endif
