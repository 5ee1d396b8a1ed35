/* same_tokens.h - whether two texts are the same sequence of tokens */
#ifndef ND_MATCH_SAME_TOKENS_H
#define ND_MATCH_SAME_TOKENS_H

#include <neardup/text.h>

/* 1: they are, 0: they are not, ND_ENOMEM.  Reads both texts side by side, each with a tokeniser of
 * its own. */
int nd_same_tokens(struct nd_tokeniser *left, struct nd_view a, struct nd_tokeniser *right,
                   struct nd_view b);

/* Compare their normalised texts, code point by code point. */
int nd_same_characters(struct nd_view a, struct nd_view b);

#endif
