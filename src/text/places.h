/* places.h - where the tokens and the code points of a normalised text stand in the original */
#ifndef ND_TEXT_PLACES_H
#define ND_TEXT_PLACES_H

#include <neardup/text.h>

#include <stddef.h>
#include <stdint.h>

/* The places that nd_text_tokens gives, faster where the text is ASCII; hashes are not made.  *tokens
 * is the caller's, to free().  ND_ENOMEM. */
ND_API enum nd_status nd_token_places(const char *text, size_t len, struct nd_token **tokens,
                                      size_t *n_tokens);

/* Do what nd_text_tokens does, hashes included, and return the same; faster where the text is ASCII. */
ND_API enum nd_status nd_tokens_in_place(const char *text, size_t len, struct nd_token **tokens,
                                         size_t *n_tokens, struct nd_error *err);

/*
 * A text may be cut where an ASCII separator stands before an ASCII character: nothing composes
 * across, and no token goes across.  From such a place on, or from the start: the last one before
 * the first byte that is not ASCII, and the first one behind a byte that is not ASCII; or the end.
 */
size_t nd_ascii_end(const char *text, size_t len, size_t from);
size_t nd_ascii_next(const char *text, size_t len, size_t from);

/* Find the place of each code point of the normalised text, in order: the bytes of the piece that
 * it is of (text.md).  Slow, by the plain algorithm. */
enum nd_status nd_code_places(const char *text, size_t len, struct nd_token **codes,
                              size_t *n_codes);

#endif
