/* feed_cut.h - feeds and files of stories cut into their items, and what stands around these */
#ifndef ND_INPUT_FORMATS_FEED_CUT_H
#define ND_INPUT_FORMATS_FEED_CUT_H

#include "base/memory.h"
#include "input/formats/cut.h"
#include "input/formats/xml_scan.h"

/* A record is an <item> or <entry>, from its first byte to its last.  What stands before the first
 * one is the header (nd_source.header). */
extern const struct nd_cut nd_cut_feed;

/* A record is a story, an element that is a document of a tag set; all else is as in a feed. */
extern const struct nd_cut nd_cut_news;

/* Find the last tag of a record.  False: there is none, or it does not end. */
bool nd_feed_last_tag(struct nd_view record, struct nd_xml_piece *last);

/* Append the end tags of what is open at the end of a header.  False: out of memory. */
bool nd_feed_end(struct nd_view header, struct nd_buffer *out);

/* Whether items of one feed may stand in the other: their root elements have the same tag. */
bool nd_feed_is_like(struct nd_view header, struct nd_view other);

/* Find the tag of the root element.  False: it is not there. */
bool nd_feed_root(const char *bytes, size_t len, struct nd_xml_piece *root);

/* The root element of a file that begins with a tag, and its name without a prefix: what tells one
 * format in XML from another.  False: it does not, or it has none. */
bool nd_feed_looks(const char *head, size_t len, struct nd_xml_piece *root, struct nd_view *name);

#endif
