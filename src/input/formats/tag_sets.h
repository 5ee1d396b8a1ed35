/* tag_sets.h - which elements of tagged text are documents, and which are their fields */
#ifndef ND_INPUT_FORMATS_TAG_SETS_H
#define ND_INPUT_FORMATS_TAG_SETS_H

#include <neardup/input.h>

#include "base/memory.h"
#include "input/formats/xml_scan.h"

/* The way to read what an element or an attribute says. */
enum nd_tag_reading {
    ND_TAG_PLAIN,       /* tags are left out, lines stay */
    ND_TAG_PAGE,        /* a page: paragraphs are elements */
    ND_TAG_ESCAPED_PAGE /* the text is the source of a page */
};

/* A part of a document: "LP", "TOPICS/D", "doc-id@id-string", "@NEWID", ".". */
struct nd_tag_part {
    const char *element;   /* NULL: the document's own */
    const char *items;     /* elements within it, whose texts are a list; NULL: its own text */
    const char *attribute; /* NULL: what the element says */
    bool joins; /* "+ LP": it belongs to the part before it, else it is used in its place */
    enum nd_tag_reading reading;
};

struct nd_tag_field {
    const char *name;
    const struct nd_tag_part *part;
    size_t n;
};

/* Documents that are tagged alike. */
struct nd_tag_set {
    const char *const *document; /* names of their elements, spelled as in the file */
    size_t n_documents;
    const struct nd_tag_field *field;
    size_t n_fields;
};

/* Tag sets of a file (struct nd_tags of neardup/input.h). */
struct nd_tags {
    const struct nd_tag_set *set;
    size_t n_sets;
    const char *text; /* in the one spelling, with which nd_tags_parse makes them again */
    struct nd_arena arena;
};

/* The sets that are always there: Reuters-21578 and TREC, NITF and NewsML-G2. */
extern const struct nd_tags nd_built_in_tags;

/* The set of documents with this tag: of `tags` (NULL: there are none), else a built-in one.  NULL:
 * it begins no document. */
const struct nd_tag_set *nd_tags_of_document(const struct nd_tags *tags,
                                             const struct nd_xml_piece *piece);

/* A field of the set; NULL: it does not name it. */
const struct nd_tag_field *nd_tag_set_field(const struct nd_tag_set *set, const char *name);

/* Whether the first bytes of a file have a document of these sets, and begin with a tag. */
bool nd_tags_look_like(const struct nd_tags *tags, const char *head, size_t len);

/* Append the sets in their one spelling.  False: out of memory. */
bool nd_tags_write(const struct nd_tags *tags, struct nd_buffer *out);

/* Bounds of a file of sets, and of the names in it. */
enum {
    ND_TAGS_BYTES_MAX = 1 << 16,
    ND_TAGS_SETS_MAX = 64,
    ND_TAGS_DOCUMENTS_MAX = 16,
    ND_TAGS_FIELDS_MAX = 64,
    ND_TAGS_PARTS_MAX = 16,
    ND_TAG_NAME_MAX = 63
};

#endif
