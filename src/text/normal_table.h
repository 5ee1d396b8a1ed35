/* normal_table.h - combining classes, decompositions, folds, composites */
/* Written by tools/make_unicode_tables.py from Unicode 15.0.0. */
/* clang-format off */

#ifndef ND_TEXT_NORMAL_TABLE_H
#define ND_TEXT_NORMAL_TABLE_H

#include <stdint.h>

#define ND_UNICODE_LIMIT 0x32400 /* code points from here on have no property of ours */
#define ND_UNICODE_BLOCK 64

struct nd_composite {
    uint32_t first, second, composite;
};
#define ND_N_COMPOSITES 941
#define ND_N_COMPOSITE_SECONDS 63

/* Two stages: value[block[c / 64] * 64 + c % 64].  A decomposition (compatibility, full) or fold
 * (C + F) is a place in the pool: the length, then the code points; place 0: none. */
extern const uint8_t nd_ccc_block[];
extern const uint8_t nd_ccc_value[];
extern const uint8_t nd_decompose_block[];
extern const uint16_t nd_decompose_value[];
extern const uint8_t nd_fold_block[];
extern const uint16_t nd_fold_value[];
extern const uint32_t nd_sequence_pool[];
extern const struct nd_composite nd_composites[]; /* by first, then second; Hangul is computed */
extern const uint32_t nd_composite_seconds[];      /* each once, in order */

#endif
