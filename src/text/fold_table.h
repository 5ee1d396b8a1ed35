/* fold_table.h - what each code point becomes when it stands alone */
/* Written by tools/make_unicode_tables.py from Unicode 15.0.0. */
/* clang-format off */

#ifndef ND_TEXT_FOLD_TABLE_H
#define ND_TEXT_FOLD_TABLE_H

#include <stdint.h>

/*
 * One word a code point c, nd_fold_entry[nd_fold_entry_block[c / 64] * 64 + c % 64]:
 *
 *   bits 0-1    class of what it becomes (enum nd_class); unused for ND_FOLD_STRING
 *   bits 2-3    kind
 *   bit  4      its last code point, or what that is composed of, may compose with what follows
 *   bit  5      of ND_FOLD_HARD: becomes itself unless it composes with what stands before it
 *   bits 6-11   rank of the combining class, 0 for class 0; of ND_FOLD_STRING: the greater of the
 *               last ones after the first NFKC and in the end
 *   bits 12-31  ND_FOLD_SINGLE: what to add to c, signed; ND_FOLD_STRING: place in the pool
 *
 * Nothing that stands before a SINGLE or STRING changes what it becomes.
 */
enum nd_fold_kind {
    ND_FOLD_SINGLE, /* becomes one code point of combining class 0 */
    ND_FOLD_STRING, /* becomes none or several */
    ND_FOLD_MARK,   /* combines, composes with nothing: stays if the classes stand in order */
    ND_FOLD_HARD,   /* anything else */
};
#define ND_FOLD_CLASS(e) ((e)&3)
#define ND_FOLD_KIND(e) ((e) >> 2 & 3)
#define ND_FOLD_FORWARD (1u << 4)
#define ND_FOLD_ALONE (1u << 5)
#define ND_FOLD_RANK(e) ((e) >> 6 & 63)

extern const uint16_t nd_fold_entry_block[];
extern const uint32_t nd_fold_entry[];
extern const uint32_t nd_fold_pool[];  /* the length, then the code points */
extern const uint32_t nd_fold_pairs[]; /* code points of two bytes: simd/text_kernels.h */

#endif
