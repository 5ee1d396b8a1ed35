/* tag_sets.c - the built-in tag sets, sets looked up, and their one spelling */
#include "input/formats/tag_sets.h"

#include <string.h>

#include "base/view.h"

/* ---- The built-in sets: docs/format/tags.md shows them as files ---------------------------------- */

#define PARTS(...)                                                                                 \
    (const struct nd_tag_part[]){__VA_ARGS__},                                                     \
        sizeof((const struct nd_tag_part[]){__VA_ARGS__}) / sizeof(struct nd_tag_part)
#define LIST_OF(name, items)                                                                       \
    {name, items, NULL, false, ND_TAG_PLAIN},                                                      \
    {                                                                                              \
        .element = (name)                                                                          \
    }
#define PAGE_OF(name)                                                                              \
    {                                                                                              \
        .element = (name), .reading = ND_TAG_PAGE                                                  \
    }

static const struct nd_tag_field sgml[] = {
    {"id", PARTS({.element = "docno"}, {.element = "docid"}, {.attribute = "NEWID"},
                 {.attribute = "id"})},
    {"title",
     PARTS({.element = "hl1"}, {.element = "headline"}, {.element = "hl"}, {.element = "head"},
           {.element = "ttl"}, {.element = "title"}, {.element = "ti"})},
    {"body", PARTS({.element = "body"}, {.element = "text"})},
    {"date", PARTS({.element = "date"}, {.element = "date1"}, {.element = "date_time"},
                   {.element = "datetime"})},
    {"author", PARTS({.element = "byline"}, {.element = "author"}, {.element = "by"})},
    {"topics", PARTS(LIST_OF("topics", "d"))},
    {"places", PARTS(LIST_OF("places", "d"))},
    {"people", PARTS(LIST_OF("people", "d"))},
    {"orgs", PARTS(LIST_OF("orgs", "d"))},
    {"exchanges", PARTS(LIST_OF("exchanges", "d"))},
    {"companies", PARTS(LIST_OF("companies", "d"))},
};

static const struct nd_tag_field agencies[] = {
    {"id", PARTS({.attribute = "guid"}, {.element = "doc-id", .attribute = "id-string"},
                 {.attribute = "id"})},
    {"title", PARTS({.element = "hl1"}, {.element = "headline"}, {.element = "title"})},
    {"body",
     PARTS(PAGE_OF("body.content"), PAGE_OF("inlineXML"), PAGE_OF("inlineData"), PAGE_OF("body"))},
    {"date", PARTS({.element = "date.issue", .attribute = "norm"}, {.element = "contentCreated"},
                   {.element = "versionCreated"}, {.element = "date"})},
    {"author", PARTS({.element = "byline"}, {.element = "author"}, {.element = "by"})},
};

static const char *const sgml_documents[] = {"REUTERS", "DOC"};
static const char *const agency_documents[] = {"nitf", "newsItem"};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

static const struct nd_tag_set built_in[] = {
    {sgml_documents, COUNT_OF(sgml_documents), sgml, COUNT_OF(sgml)},
    {agency_documents, COUNT_OF(agency_documents), agencies, COUNT_OF(agencies)},
};

const struct nd_tags nd_built_in_tags = {.set = built_in, .n_sets = COUNT_OF(built_in)};

/* ---- Look-ups ------------------------------------------------------------------------------------ */

static const struct nd_tag_set *find_set(const struct nd_tags *tags, struct nd_view name)
{
    for (size_t i = 0; i < tags->n_sets; i++)
        for (size_t d = 0; d < tags->set[i].n_documents; d++)
            if (nd_view_is(name, tags->set[i].document[d]))
                return &tags->set[i];
    return NULL;
}

const struct nd_tag_set *nd_tags_of_document(const struct nd_tags *tags,
                                             const struct nd_xml_piece *piece)
{
    const struct nd_tag_set *set = NULL;

    if (piece->kind != ND_XML_START || piece->is_empty)
        return NULL;
    if (tags)
        set = find_set(tags, nd_xml_local(piece->name));
    return set ? set : find_set(&nd_built_in_tags, nd_xml_local(piece->name));
}

const struct nd_tag_field *nd_tag_set_field(const struct nd_tag_set *set, const char *name)
{
    for (size_t i = 0; i < set->n_fields; i++)
        if (strcmp(set->field[i].name, name) == 0)
            return &set->field[i];
    return NULL;
}

bool nd_tags_look_like(const struct nd_tags *tags, const char *head, size_t len)
{
    struct nd_xml_piece piece;

    if (!len || *head != '<')
        return false;
    for (size_t at = 0; at < len; at += piece.all.len) {
        if (!nd_xml_next(head + at, len - at, &piece))
            return false;
        if (piece.kind == ND_XML_START && !piece.is_empty &&
            find_set(tags, nd_xml_local(piece.name)))
            return true;
    }
    return false;
}

const char *nd_tags_text(const struct nd_tags *tags)
{
    return tags->text;
}

/* ---- The one spelling ---------------------------------------------------------------------------- */

static bool put(struct nd_buffer *out, const char *text)
{
    return nd_buffer_append(out, text, strlen(text));
}

static bool write_part(const struct nd_tag_part *part, bool is_first, struct nd_buffer *out)
{
    static const char *const reading[] = {"", " as page", " as escaped page"};
    bool is_own = !part->element && !part->attribute;

    return put(out, part->joins ? " + "
                    : is_first  ? ""
                                : ", ") &&
           put(out, part->element ? part->element
                    : is_own      ? "."
                                  : "") &&
           (!part->items || (put(out, "/") && put(out, part->items))) &&
           (!part->attribute || (put(out, "@") && put(out, part->attribute))) &&
           put(out, reading[part->reading]);
}

static bool write_set(const struct nd_tag_set *set, struct nd_buffer *out)
{
    bool good = put(out, "[document ");

    for (size_t d = 0; good && d < set->n_documents; d++)
        good = put(out, d ? ", " : "") && put(out, set->document[d]);
    good = good && put(out, "]\n");
    for (size_t f = 0; good && f < set->n_fields; f++) {
        good = put(out, set->field[f].name) && put(out, " = ");
        for (size_t i = 0; good && i < set->field[f].n; i++)
            good = write_part(&set->field[f].part[i], i == 0, out);
        good = good && put(out, "\n");
    }
    return good;
}

bool nd_tags_write(const struct nd_tags *tags, struct nd_buffer *out)
{
    bool good = true;

    for (size_t i = 0; good && i < tags->n_sets; i++)
        good = write_set(&tags->set[i], out);
    return good;
}
