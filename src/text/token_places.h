/* token_places.h - where the tokens of a text stand in it, without their hashes */
#ifndef ND_TEXT_TOKEN_PLACES_H
#define ND_TEXT_TOKEN_PLACES_H

#include <neardup/text.h>

/* The places that nd_text_tokens gives, faster where the text is ASCII; the hashes are 0.  *tokens
 * is the caller's, to free().  ND_ENOMEM. */
enum nd_status nd_token_places(const char *text, size_t len, struct nd_token **tokens,
                               size_t *n_tokens);

/*
 * A text may be cut where an ASCII separator stands before an ASCII character: nothing composes
 * across, and no token goes across.  From such a place on, or from the start: the last one before
 * the first byte that is not ASCII, and the first one behind a byte that is not ASCII; or the end.
 */
size_t nd_ascii_end(const char *text, size_t len, size_t from);
size_t nd_ascii_next(const char *text, size_t len, size_t from);

#endif
