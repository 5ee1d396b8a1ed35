/* json_feed.h - JSON Feed cut into its items, and what stands around these */
#ifndef ND_INPUT_FORMATS_JSON_FEED_H
#define ND_INPUT_FORMATS_JSON_FEED_H

#include "base/memory.h"
#include "input/formats/cut.h"

/* A record is an element of the array "items" of the outermost object.  What stands before the first
 * one is the header (nd_source.header). */
extern const struct nd_cut nd_cut_json_feed;

/* The address of its version, as it is written, if the outermost object has that in these bytes;
 * otherwise of no bytes. */
struct nd_view nd_json_feed_version(struct nd_view head);

/* Append what ends a feed that begins with this header, so that it is one.  False: out of memory. */
bool nd_json_feed_end(struct nd_view header, struct nd_buffer *out);

#endif
