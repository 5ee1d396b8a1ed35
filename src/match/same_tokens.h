/* same_tokens.h - whether two texts are the same sequence of tokens */
#ifndef ND_MATCH_SAME_TOKENS_H
#define ND_MATCH_SAME_TOKENS_H

#include <neardup/sketch.h>
#include <neardup/text.h>

/*
 * Compare what sketches with these parameters are made of: the tokens, or for shingles of
 * characters the normalised texts, without quoted mail if the parameters say so.  1: equal, 0: not,
 * ND_ENOMEM.  Reads both texts side by side, each with a tokeniser of its own.
 */
int nd_same_as_sketched(const struct nd_sketch_params *params,
                        struct nd_tokeniser *const tokeniser[2], struct nd_view a,
                        struct nd_view b);

#endif
