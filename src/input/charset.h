/* charset.h - what characters the bytes of an HTML page, or of a text in a message, are */
#ifndef ND_INPUT_CHARSET_H
#define ND_INPUT_CHARSET_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"

/* The converter last used, kept for the next page.  Start from zeroes. */
struct nd_charset {
    void *converter; /* iconv_t, valid where name is not empty */
    char name[48];
};
void nd_charset_release(struct nd_charset *c);

/*
 * The page as valid UTF-8 without a byte order mark: the page itself, or made in the arena.  In
 * this order: the mark; the charset that a meta tag or an XML declaration in the first 1024 bytes
 * names, where the system knows it; UTF-8 where it is valid; windows-1252.  *repaired is increased
 * by what had to be replaced.  False: out of memory.
 */
bool nd_charset_to_utf8(struct nd_charset *c, struct nd_view page, struct nd_arena *arena,
                        struct nd_view *out, uint64_t *repaired);

/*
 * The same of a text whose charset a message names beside it: that, where the system knows it and
 * it says more than ASCII; else as above.  label NULL: none is named.
 */
bool nd_charset_named_to_utf8(struct nd_charset *c, const char *label, struct nd_view text,
                              struct nd_arena *arena, struct nd_view *out, uint64_t *repaired);

#endif
