/* canonical_url.h - the form in which addresses of pages are compared: docs/format/urls.md */
#ifndef ND_TEXT_CANONICAL_URL_H
#define ND_TEXT_CANONICAL_URL_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"

/* Memory for one thread, kept from address to address.  Starts from zeroes. */
struct nd_url_room {
    struct nd_buffer address, path;
    struct nd_url_parameter *parameter;
    size_t parameters; /* capacity */
};
void nd_url_room_release(struct nd_url_room *room);

/* Replace what `out` holds by the canonical form of an address, which is no part of `out` or the
 * room.  False: out of memory. */
bool nd_url_write_canonical(struct nd_url_room *room, struct nd_view url, struct nd_buffer *out);

#endif
