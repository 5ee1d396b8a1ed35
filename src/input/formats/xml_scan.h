/* xml_scan.h - the tags, texts and sections of an XML file, one after the other, whatever they say */
#ifndef ND_INPUT_FORMATS_XML_SCAN_H
#define ND_INPUT_FORMATS_XML_SCAN_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"

enum nd_xml_kind {
    ND_XML_TEXT,
    ND_XML_CDATA,
    ND_XML_START, /* also of an empty element: is_empty */
    ND_XML_END,
    ND_XML_OTHER /* a comment, an instruction, a declaration */
};

struct nd_xml_piece {
    enum nd_xml_kind kind;
    struct nd_view all;    /* its bytes */
    struct nd_view name;   /* of a tag, with its prefix */
    struct nd_view inside; /* of a start tag: the attributes; of CDATA: what it holds */
    bool is_empty;
};

/*
 * Find the piece that the bytes begin with.  False: they end before it does (of a text: before the
 * next tag), and *piece is what there is.  Nothing is checked: a "<" that begins no tag is text, and
 * end tags need not match.
 */
bool nd_xml_next(const char *bytes, size_t len, struct nd_xml_piece *piece);

/* The value of an attribute as it is written; data NULL: there is none. */
struct nd_view nd_xml_attribute(const struct nd_xml_piece *start, const char *name);

/* Whether a name is the given one: "title", "dc:date". */
bool nd_xml_is(struct nd_view name, const char *wanted);
/* The part behind the prefix. */
struct nd_view nd_xml_local(struct nd_view name);

/*
 * Append what a stretch of XML says to `out`: markup is left out, CDATA stands as it is, and
 * references to characters are resolved: the five of XML, and numbers.  Other references stay, and
 * those to control characters are spaces.  False: out of memory.
 */
bool nd_xml_text(struct nd_view raw, struct nd_buffer *out);

#endif
