/*
 * apostrophes.h - a text whose apostrophes within words are taken out (Seshasai 2009, §6.4.2:
 * "japans")
 */
#ifndef ND_FEATURE_WORD_APOSTROPHES_H
#define ND_FEATURE_WORD_APOSTROPHES_H

#include "base/memory.h"

#include <neardup/types.h>

#include <stdbool.h>

/*
 * *joined becomes the text without each U+0027, U+2019 and U+FF07 that stands directly between two
 * code points of class word; it lies in `buffer`, or is the text itself where there are none.
 * False: out of memory.
 */
bool nd_apostrophes_join(struct nd_buffer *buffer, struct nd_view text, struct nd_view *joined);

/* Places in the joined text become places in the text, of tokens in order. */
void nd_apostrophes_restore(struct nd_view text, struct nd_token *token, size_t n);

#endif
