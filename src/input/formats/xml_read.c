/* xml_read.c - texts of elements for the documents of feeds and news */
#include "input/formats/xml_read.h"

#include <string.h>

#include "base/view.h"

static struct nd_view trimmed(struct nd_view v)
{
    while (v.len && strchr(" \t\r\n", *v.data) && *v.data) {
        v.data++;
        v.len--;
    }
    while (v.len && strchr(" \t\r\n", v.data[v.len - 1]) && v.data[v.len - 1])
        v.len--;
    return v;
}

int nd_xml_keep(struct nd_parsing *p, struct nd_view v, struct nd_view *text)
{
    v = v.len ? trimmed(v) : (struct nd_view){"", 0};
    *text = (struct nd_view){nd_arena_copy(&p->parser->arena, v.data, v.len), v.len};
    return text->data ? 1 : ND_ENOMEM;
}

int nd_xml_read(struct nd_parsing *p, struct nd_view raw, struct nd_view *text)
{
    struct nd_buffer *said = &p->parser->mail_body;

    said->len = 0;
    if (!nd_buffer_reserve(said, raw.len) || !nd_xml_text(raw, said))
        return ND_ENOMEM;
    return nd_xml_keep(p, (struct nd_view){said->data, said->len}, text);
}

int nd_xml_read_page(struct nd_parsing *p, struct nd_view raw, bool is_escaped,
                     struct nd_view *text)
{
    struct nd_view page = raw;
    int status = is_escaped ? nd_xml_read(p, raw, &page) : 1;

    if (status == 1 &&
        (!is_escaped || memchr(page.data, '<', page.len) || memchr(page.data, '&', page.len))) {
        status = nd_html_read(p, page, (struct nd_page_wanted){.marks = false});
        page = (struct nd_view){p->parser->page.text.data, p->parser->page.text.len};
        if (status == 1)
            return nd_xml_keep(p, page, text);
    }
    *text = page;
    return status;
}

int nd_xml_join(struct nd_parsing *p, struct nd_view title, struct nd_view body,
                struct nd_view *text)
{
    size_t gap = title.len && body.len ? 1 : 0, len = title.len + gap + body.len;
    char *made = nd_arena_alloc(&p->parser->arena, len + ND_BUFFER_PADDING);

    if (!made)
        return ND_ENOMEM;
    if (title.len)
        memcpy(made, title.data, title.len);
    if (gap)
        made[title.len] = '\n';
    if (body.len)
        memcpy(made + title.len + gap, body.data, body.len);
    memset(made + len, 0, ND_BUFFER_PADDING);
    *text = (struct nd_view){made, len};
    return 1;
}

/* The charset that the header declares, or NULL; after UTF-16 it is UTF-8. */
static const char *charset_of(const struct nd_source *source, char *label, size_t capacity)
{
    struct nd_xml_piece first;
    struct nd_view name;

    if (source->is_unicode)
        return "utf-8";
    if (!nd_xml_next(source->header.data, source->header.len, &first))
        return NULL;
    first.inside = first.all;
    name = nd_xml_attribute(&first, "encoding");
    if (first.kind != ND_XML_OTHER || !name.data || name.len >= capacity)
        return NULL;
    memcpy(label, name.data, name.len);
    label[name.len] = 0;
    return label;
}

int nd_xml_begin(struct nd_parsing *p, struct nd_view record, struct nd_view *v)
{
    struct nd_parser *parser = p->parser;
    char label[48];

    nd_parsing_clear(p);
    p->document->text_replaced = 0;
    return nd_charset_named_to_utf8(&parser->charset, charset_of(p->source, label, sizeof label),
                                    record, &parser->arena, v, &parser->replaced)
               ? 1
               : ND_ENOMEM;
}

void nd_xml_set(struct nd_parsing *p, size_t i, struct nd_view text)
{
    struct nd_parser *parser = p->parser;
    struct nd_json_value *to = &parser->value[i];

    if (!text.data)
        return;
    *to = (struct nd_json_value){.kind = ND_JSON_STRING, .bytes = text};
    to->replaced = nd_replaced_count(text) ? nd_replaced_value(&parser->replaced, 0) : 0;
    if (i < parser->options.n_text_fields)
        p->document->text_replaced |= to->replaced;
}
