/* charset.h - what characters the bytes of a text are, and what was replaced by U+FFFD */
#ifndef ND_INPUT_FORMATS_CHARSET_H
#define ND_INPUT_FORMATS_CHARSET_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"
#include "base/replaced_hash.h"

/*
 * The values that were replaced by U+FFFD: one element for each U+FFFD, in order. Starts from
 * zeroes; empty where nothing was replaced.
 */
struct nd_replaced {
    uint32_t *at;
    size_t n, capacity;
    uint64_t count; /* of sequences of bytes that the functions below have replaced */
};
void nd_replaced_release(struct nd_replaced *r);

/* False: out of memory. */
bool nd_replaced_add(struct nd_replaced *r, uint32_t packed);
/* Add an element for each invalid sequence of a UTF-8 text, and for each U+FFFD in it. */
bool nd_replaced_add_text(struct nd_replaced *r, struct nd_view text);

/* A hash of the list from the element `first` on; 0: nothing was replaced. */
uint64_t nd_replaced_value(const struct nd_replaced *r, size_t first);

/* How often U+FFFD occurs in a valid text. */
size_t nd_replaced_count(struct nd_view text);

/* The converter last used, kept for the next page. Starts from zeroes. */
struct nd_charset {
    struct nd_converter *converter; /* valid where name is not empty */
    char name[48];
};
void nd_charset_release(struct nd_charset *c);

/*
 * Convert the page to valid UTF-8 without a byte order mark; the result is the page itself, or in
 * the arena. The charset is, in this order: that of the byte order mark; the one that a meta tag or
 * an XML declaration in the first 1024 bytes names, if the system knows it; UTF-8 if the page is
 * valid; windows-1252. False: out of memory.
 */
bool nd_charset_to_utf8(struct nd_charset *c, struct nd_view page, struct nd_arena *arena,
                        struct nd_view *out, struct nd_replaced *replaced);

/*
 * Convert a text whose charset a message names: use that if the system knows it and it is more than
 * ASCII; otherwise as above. label NULL: none is named.
 */
bool nd_charset_named_to_utf8(struct nd_charset *c, const char *label, struct nd_view text,
                              struct nd_arena *arena, struct nd_view *out,
                              struct nd_replaced *replaced);

/*
 * Check that records in this charset can be split at line ends, quotes and separators before they
 * are decoded: every byte of ASCII must stand for itself. ND_EINVAL: they cannot, or the charset is
 * unknown here.
 */
enum nd_status nd_charset_check(const char *label, struct nd_error *err);

/* Whether it is UTF-8, under any of its names. */
bool nd_charset_is_utf8(const char *label);

/* Convert a text from a charset that was checked, whatever the text itself declares. */
bool nd_charset_decode(struct nd_charset *c, const char *label, struct nd_view text,
                       struct nd_arena *arena, struct nd_view *out, struct nd_replaced *replaced);

#endif
