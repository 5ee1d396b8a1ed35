/* content.c - a text, and what signatures read of its document beside it, as one string of bytes
 *
 * Numbers have 7 bits a byte, the lowest first; the upper bit says that more follow.  The string ends
 * with the length of the text in 8 bytes, so that the text stands at its beginning.
 */
#include "record/content.h"

#include <string.h>

enum { LENGTH = 8 };

/* ---- Writing ---- */

struct content_writer {
    struct nd_buffer *out;
    bool failed;
};

static void put_bytes(struct content_writer *w, const void *data, size_t len)
{
    w->failed |= len && !nd_buffer_append(w->out, data, len);
}

static void put_number(struct content_writer *w, uint64_t number)
{
    uint8_t bytes[10];
    size_t n = 0;

    for (; number > 0x7F; number >>= 7)
        bytes[n++] = (uint8_t)(number | 0x80);
    bytes[n++] = (uint8_t)number;
    put_bytes(w, bytes, n);
}

/* 0: there is none; else its length plus 1, and its bytes. */
static void put_view(struct content_writer *w, struct nd_view view)
{
    put_number(w, view.data ? view.len + 1 : 0);
    if (view.data)
        put_bytes(w, view.data, view.len);
}

static struct nd_view field_of(const struct nd_document *document, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < document->n_fields; i++)
        if (document->fields[i].name.len == len &&
            memcmp(document->fields[i].name.data, name, len) == 0)
            return document->fields[i].value;
    return (struct nd_view){NULL, 0};
}

static void put_lists(struct content_writer *w, const struct nd_beside *b,
                      const struct nd_document *document)
{
    if (b->markup) {
        put_number(w, document->n_markup);
        for (size_t i = 0; i < document->n_markup; i++) {
            put_number(w, document->markup[i].offset);
            put_number(w, document->markup[i].len);
        }
    }
    if (b->links) {
        put_view(w, document->base);
        put_number(w, document->n_links);
        for (size_t i = 0; i < document->n_links; i++) {
            put_number(w, document->links[i].offset);
            put_number(w, document->links[i].len);
            put_view(w, document->links[i].target);
        }
    }
    if (b->elements) {
        put_number(w, document->n_elements);
        for (size_t i = 0; i < document->n_elements; i++) {
            put_view(w, document->elements[i].name);
            put_number(w, document->elements[i].parent);
        }
    }
}

enum nd_status nd_content_pack(const struct nd_beside *b, const struct nd_document *document,
                               struct nd_buffer *out, struct nd_error *err)
{
    struct content_writer w = {.out = out};
    const char *name = b->names;
    uint64_t length = document->text.len;
    uint8_t bytes[LENGTH];

    put_bytes(&w, document->text.data, document->text.len);
    if (nd_beside_is_read(b)) {
        for (size_t i = 0; i < b->n_names; i++, name += strlen(name) + 1)
            put_view(&w, field_of(document, name));
        put_lists(&w, b, document);
        for (size_t i = 0; i < LENGTH; i++)
            bytes[i] = (uint8_t)(length >> 8 * i);
        put_bytes(&w, bytes, LENGTH);
    }
    return w.failed ? nd_fail(err, ND_ENOMEM, "out of memory for a document") : ND_OK;
}

/* ---- Reading ---- */

bool nd_content_text(const struct nd_beside *b, struct nd_view content, struct nd_view *text)
{
    uint64_t length = 0;

    *text = content;
    if (!nd_beside_is_read(b))
        return true;
    if (content.len < LENGTH)
        return false;
    for (size_t i = 0; i < LENGTH; i++)
        length |= (uint64_t)(uint8_t)content.data[content.len - LENGTH + i] << 8 * i;
    text->len = (size_t)length;
    return length <= content.len - LENGTH;
}

struct content_reader {
    const char *at, *end;
    struct nd_arena *arena;
    bool is_wrong, no_memory;
};

static uint64_t take_number(struct content_reader *r)
{
    uint64_t number = 0;

    for (unsigned shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        uint8_t byte = (uint8_t)*r->at++;

        number |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return number;
    }
    r->is_wrong = true;
    return 0;
}

static struct nd_view take_view(struct content_reader *r)
{
    uint64_t len = take_number(r);
    struct nd_view view = {NULL, 0};

    if (len == 0)
        return view;
    if (len - 1 > (uint64_t)(r->end - r->at)) {
        r->is_wrong = true;
        return view;
    }
    view = (struct nd_view){r->at, (size_t)len - 1};
    r->at += view.len;
    return view;
}

/* The memory of a list, whose length comes first; each item has at least one byte. */
static void *take_list(struct content_reader *r, size_t size, size_t *n)
{
    uint64_t count = take_number(r);
    void *list;

    *n = 0;
    if (count > (uint64_t)(r->end - r->at))
        r->is_wrong = true;
    if (r->is_wrong)
        return NULL;
    list = nd_arena_alloc(r->arena, ((size_t)count + 1) * size);
    r->no_memory |= !list;
    *n = list ? (size_t)count : 0;
    return list;
}

static void take_fields(struct content_reader *r, const struct nd_beside *b,
                        struct nd_document *out)
{
    struct nd_field *field = nd_arena_alloc(r->arena, (b->n_names + 1) * sizeof *field);
    const char *name = b->names;

    r->no_memory |= !field;
    for (size_t i = 0; field && i < b->n_names; i++, name += strlen(name) + 1)
        field[i] = (struct nd_field){{name, strlen(name)}, take_view(r)};
    out->fields = field;
    out->n_fields = field ? b->n_names : 0;
}

static void take_markup(struct content_reader *r, struct nd_document *out)
{
    struct nd_markup *markup = take_list(r, sizeof *markup, &out->n_markup);

    for (size_t i = 0; i < out->n_markup; i++) {
        markup[i].offset = take_number(r);
        markup[i].len = take_number(r);
        r->is_wrong |=
            markup[i].offset > out->text.len || markup[i].len > out->text.len - markup[i].offset;
    }
    out->markup = markup;
}

static void take_links(struct content_reader *r, struct nd_document *out)
{
    struct nd_link *link;

    out->base = take_view(r);
    link = take_list(r, sizeof *link, &out->n_links);
    for (size_t i = 0; i < out->n_links; i++) {
        link[i].offset = take_number(r);
        link[i].len = take_number(r);
        link[i].target = take_view(r);
        r->is_wrong |=
            link[i].offset > out->text.len || link[i].len > out->text.len - link[i].offset;
    }
    out->links = link;
}

static void take_elements(struct content_reader *r, struct nd_document *out)
{
    struct nd_element *element = take_list(r, sizeof *element, &out->n_elements);

    for (size_t i = 0; i < out->n_elements; i++) {
        uint64_t parent;

        element[i].name = take_view(r);
        parent = take_number(r);
        element[i].parent = (uint32_t)parent;
        r->is_wrong |= parent >= i && parent != ND_ELEMENT_NONE;
    }
    out->elements = element;
}

enum nd_status nd_content_unpack(const struct nd_beside *b, struct nd_view content,
                                 struct nd_arena *arena, struct nd_document *out,
                                 struct nd_error *err)
{
    struct content_reader r = {.arena = arena};
    struct nd_view text;

    *out = (struct nd_document){.text = content};
    if (!nd_beside_is_read(b))
        return ND_OK;
    if (!nd_content_text(b, content, &text))
        return nd_fail(err, ND_EINVAL, "the fields of a document cannot be right");
    out->text = text;
    r.at = content.data + text.len;
    r.end = content.data + content.len - LENGTH;
    take_fields(&r, b, out);
    if (b->markup && !r.is_wrong)
        take_markup(&r, out);
    if (b->links && !r.is_wrong)
        take_links(&r, out);
    if (b->elements && !r.is_wrong)
        take_elements(&r, out);
    if (r.no_memory)
        return nd_fail(err, ND_ENOMEM, "out of memory for the fields of a document");
    if (r.is_wrong || r.at != r.end)
        return nd_fail(err, ND_EINVAL, "the fields of a document cannot be right");
    return ND_OK;
}
