/* cursor.h - the end of a list as text: its place in base64url (RFC 4648, section 5), without padding */
#ifndef ND_SERVER_WIRE_CURSOR_H
#define ND_SERVER_WIRE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

#include <neardup/types.h>

#include "store/store.h"

enum { ND_CURSOR_MAX = (ND_STORE_PLACE_MAX * 4 + 2) / 3 };

/* Write a place; returns the length. */
size_t nd_cursor_write(const struct nd_place *place, char text[ND_CURSOR_MAX]);
/* Read one.  False: it is none, or nd_cursor_write would write it in another way. */
bool nd_cursor_read(struct nd_view text, struct nd_place *place);

#endif
