/* own_tokens.h - documents that are given as tokens: the text whose tokens they are */
#ifndef ND_PYTHON_OWN_TOKENS_H
#define ND_PYTHON_OWN_TOKENS_H

#include "native.h"

#include "base/memory.h"

/*
 * Append the word of a token (docs/format/own-tokens.md) to a text, behind a space unless it is the
 * first.  A token may be any bytes, none too.  False: out of memory.
 */
bool nd_py_put_token(struct nd_buffer *text, const char *token, size_t len, bool is_first);

/*
 * Write the text of a list or tuple of str, bytes and int to a buffer, in place of what it holds.
 * False: an exception is set, which names `row`.
 */
bool nd_py_put_tokens(struct nd_buffer *text, PyObject *tokens, size_t row);

#endif
