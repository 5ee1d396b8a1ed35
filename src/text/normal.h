/* normal.h - the normal form of a piece of text, by the plain algorithm */
#ifndef ND_TEXT_NORMAL_H
#define ND_TEXT_NORMAL_H

#include "text/class_table.h"
#include "text/normal_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Code points that grow.  Starts from zeroes. */
struct nd_codes {
    uint32_t *code;
    size_t count, capacity;
};
bool nd_codes_append(struct nd_codes *codes, uint32_t code);
void nd_codes_release(struct nd_codes *codes);

/* A piece of text, its normal form, and scratch.  Starts from zeroes. */
struct nd_normal {
    struct nd_codes piece, out, work;
};
void nd_normal_release(struct nd_normal *n);

/*
 * n->out becomes NFKC(casefold(NFKC(in))) without default-ignorable code points, step by step as
 * Unicode 15.0 defines them (section 3.11; casefold is toCasefold of section 3.13, full folding).
 * False: out of memory.
 */
bool nd_normal_run(struct nd_normal *n, const uint32_t *in, size_t count);

/*
 * Nothing that stands before code point c has an effect on what c and its followers become, nor
 * the reverse: a text may be normalised piece by piece, cut before such code points.
 */
bool nd_normal_is_boundary(uint32_t c);

/*
 * The normal form of the next piece of text, from one boundary to the next: its code points become
 * n->piece, their normal form n->out, *len counts its bytes.  The text is valid UTF-8 and not empty.
 * False: out of memory.
 */
bool nd_normal_piece(struct nd_normal *n, const char *text, size_t text_len, size_t *len);

/* Which code points of normalised text stand in tokens. */
static inline enum nd_class nd_class_of(uint32_t c)
{
    if (c >= ND_UNICODE_LIMIT)
        return c - 0xE0000 < 0x1000 ? ND_CLASS_IGNORED : ND_CLASS_SEPARATOR;
    return (enum nd_class)nd_class_value[nd_class_block[c / 64] * 64 + c % 64];
}

#endif
