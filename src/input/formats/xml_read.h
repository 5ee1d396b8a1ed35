/* xml_read.h - texts of elements for the documents of feeds and news */
#ifndef ND_INPUT_FORMATS_XML_READ_H
#define ND_INPUT_FORMATS_XML_READ_H

#include "input/formats/parser.h"
#include "input/formats/xml_scan.h"

/* Keep a text in the arena, without white space at its ends: 1, ND_ENOMEM. */
int nd_xml_keep(struct nd_parsing *p, struct nd_view v, struct nd_view *text);

/* Read what a stretch of XML says, as nd_xml_text does, and keep it: 1, ND_ENOMEM. */
int nd_xml_read(struct nd_parsing *p, struct nd_view raw, struct nd_view *text);

/* Read a stretch of XML as a page: escaped, or as it stands.  1, 0 (refused), ND_ENOMEM. */
int nd_xml_read_page(struct nd_parsing *p, struct nd_view raw, bool is_escaped,
                     struct nd_view *text);

/* Make the text of a document: the title, and below it the body.  1, ND_ENOMEM. */
int nd_xml_join(struct nd_parsing *p, struct nd_view title, struct nd_view body,
                struct nd_view *text);

/* Make a record valid UTF-8, by the charset that the header of its source declares, and begin its
 * document: 1, ND_ENOMEM. */
int nd_xml_begin(struct nd_parsing *p, struct nd_view record, struct nd_view *v);

/* Set value i, which `text` is, unless data is NULL; what was replaced in the record counts for what
 * has U+FFFD. */
void nd_xml_set(struct nd_parsing *p, size_t i, struct nd_view text);

#endif
