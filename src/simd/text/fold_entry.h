/* fold_entry.h - the tables by which text is folded: what each code point becomes when it stands
 * alone
 */
#ifndef ND_SIMD_TEXT_FOLD_ENTRY_H
#define ND_SIMD_TEXT_FOLD_ENTRY_H

#include <stdint.h>

/*
 * One word a code point c, entry[block[c / 64] * 64 + c % 64]:
 *
 *   bits 0-1    class of what it becomes (enum nd_fold_class); unused for ND_FOLD_STRING
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
#define ND_FOLD_SHIFT(e) ((uint32_t)((int32_t)(e) >> 12)) /* modulo 2^32 */
#define ND_FOLD_FORWARD (1u << 4)
#define ND_FOLD_ALONE (1u << 5)
#define ND_FOLD_RANK(e) ((e) >> 6 & 63)

enum nd_fold_class {
    ND_FOLD_SEPARATOR,
    ND_FOLD_WORD,
    ND_FOLD_BIGRAM, /* of a script without spaces */
};

/*
 * One number for each code point of two bytes, at its place: its two bytes folded, in memory order
 * from bit 0 on, and two flags.  Hard: not of kind SINGLE, or of another length when folded.
 */
#define ND_PAIR_SEPARATOR (UINT32_C(1) << 16)
#define ND_PAIR_HARD (UINT32_C(1) << 31)

/* The tables that the kernels are given. */
struct nd_fold_tables {
    const uint32_t *pairs;
    const uint16_t *block;
    const uint32_t *entry;
};

#endif
