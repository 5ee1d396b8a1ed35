/* json_text.h - the scalars of JSON (RFC 8259): strings, numbers, words */
#ifndef ND_INPUT_JSON_TEXT_H
#define ND_INPUT_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether every escape between the quotes is one. */
bool nd_json_escapes_valid(const char *p, size_t len);

/*
 * Bytes between quotes to text.  `p` is readable and `out` writable 64 bytes beyond len.  Returns
 * the text's length; SIZE_MAX where an escape is none.
 */
size_t nd_json_unescape(const char *p, size_t len, char *out);

bool nd_json_number_valid(const char *p, size_t len);

#endif
