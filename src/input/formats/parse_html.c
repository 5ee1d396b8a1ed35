/* parse_html.c - a document from a page: its title and its visible text, by libxml2 */

/*
 * libxml2 parses the page and calls back for every element and every piece of text (SAX). The text
 * that a reader would see is collected: the content of scripts, styles and the like is left out,
 * white space is collapsed as in a browser, and block elements begin a new line. Marked-up
 * stretches, links and the tree of elements are recorded on the way if a recipe needs them
 * (page.h).
 */
#include "base/view.h"
#include "input/formats/formats.h"
#include "input/formats/parser.h"

#include "base/system/c_functions.h"
#include "input/formats/page_guard.h"
#include "input/library/libxml_load.h"

#include <limits.h>
#include <string.h>

enum { DEPTH_MAX = 5000 };

/* How far libxml2 has come. */
struct html_reading {
    struct nd_html_page *page;
    struct nd_arena *arena;
    htmlParserCtxtPtr context;
    char text_gap, title_gap; /* white space owed before the next character: ' ', '\n' or 0 */
    unsigned hidden;          /* elements open whose text is not seen */
    bool in_head, in_title, has_title, in_pre;
    bool is_too_deep, no_memory;
};

enum element { INLINE, BLOCK, HIDDEN, HEAD, TITLE, BODY, PRE };

/* Elements that are not inline, sorted by name. */
static const struct {
    const char *name;
    enum element element;
} ELEMENT[] = {
    {"address", BLOCK},   {"article", BLOCK},    {"aside", BLOCK},     {"blockquote", BLOCK},
    {"body", BODY},       {"br", BLOCK},         {"button", BLOCK},    {"caption", BLOCK},
    {"center", BLOCK},    {"dd", BLOCK},         {"details", BLOCK},   {"dialog", BLOCK},
    {"dir", BLOCK},       {"div", BLOCK},        {"dl", BLOCK},        {"dt", BLOCK},
    {"fieldset", BLOCK},  {"figcaption", BLOCK}, {"figure", BLOCK},    {"footer", BLOCK},
    {"form", BLOCK},      {"h1", BLOCK},         {"h2", BLOCK},        {"h3", BLOCK},
    {"h4", BLOCK},        {"h5", BLOCK},         {"h6", BLOCK},        {"head", HEAD},
    {"header", BLOCK},    {"hr", BLOCK},         {"html", BLOCK},      {"iframe", HIDDEN},
    {"legend", BLOCK},    {"li", BLOCK},         {"main", BLOCK},      {"menu", BLOCK},
    {"nav", BLOCK},       {"noframes", HIDDEN},  {"noscript", HIDDEN}, {"ol", BLOCK},
    {"optgroup", BLOCK},  {"option", BLOCK},     {"p", BLOCK},         {"pre", PRE},
    {"script", HIDDEN},   {"section", BLOCK},    {"select", BLOCK},    {"style", HIDDEN},
    {"summary", BLOCK},   {"table", BLOCK},      {"tbody", BLOCK},     {"td", BLOCK},
    {"template", HIDDEN}, {"textarea", BLOCK},   {"tfoot", BLOCK},     {"th", BLOCK},
    {"thead", BLOCK},     {"title", TITLE},      {"tr", BLOCK},        {"ul", BLOCK},
};

static enum element kind_of(const xmlChar *name)
{
    size_t low = 0, high = sizeof ELEMENT / sizeof *ELEMENT;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp((const char *)name, ELEMENT[middle].name);

        if (order == 0)
            return ELEMENT[middle].element;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return INLINE;
}

static void out_of_memory(struct html_reading *r)
{
    r->no_memory = true;
    nd_libxml.xmlStopParser(r->context);
}

static void begin_marks(struct html_reading *r, const xmlChar *name, const xmlChar **attributes)
{
    const char *href = NULL;
    /* The text goes on here: for an empty anchor at the start of a line, in that line. */
    size_t at = r->page->text.len + (r->text_gap == '\n' && r->page->text.len > 0);

    for (; attributes && attributes[0]; attributes += 2)
        if (!href && attributes[1] && strcmp((const char *)attributes[0], "href") == 0)
            href = (const char *)attributes[1];
    if (!nd_page_marks_begin(r->page, (const char *)name, href, at, r->arena))
        out_of_memory(r);
}

static bool has_href(const xmlChar **attributes)
{
    for (; attributes && attributes[0]; attributes += 2)
        if (attributes[1] && strcmp((const char *)attributes[0], "href") == 0)
            return true;
    return false;
}

/* Anchors do not nest: one without a href ends a link. */
static void begin_in_blocks(struct html_reading *r, const xmlChar *name, enum element kind,
                            const xmlChar **attributes)
{
    if (kind != INLINE)
        nd_page_blocks_edge(&r->page->blocks);
    else if (name[0] == 'a' && !name[1])
        nd_page_blocks_link(&r->page->blocks, has_href(attributes));
}

static void end_in_blocks(struct html_reading *r, const xmlChar *name, enum element kind)
{
    if (kind != INLINE)
        nd_page_blocks_edge(&r->page->blocks);
    else if (name[0] == 'a' && !name[1])
        nd_page_blocks_link(&r->page->blocks, false);
}

/* libxml2 has put it on the stack of open elements by now. */
static void begin_in_tree(struct html_reading *r, const xmlChar *name)
{
    size_t depth = r->context->nameNr > 0 ? (size_t)r->context->nameNr - 1 : 0;

    if (!nd_page_tree_begin(r->page, (const char *)name, depth, r->arena))
        out_of_memory(r);
}

static void start_element(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct html_reading *r = context;
    enum element kind = kind_of(name);

    if (r->page->wants.marks && r->hidden == 0)
        begin_marks(r, name, attributes);
    if (r->page->wants.content)
        begin_in_blocks(r, name, kind, attributes);
    if (r->page->wants.head && r->hidden == 0 &&
        !nd_page_head_element(&r->page->head, (const char *)name, (const char **)attributes,
                              r->arena))
        out_of_memory(r);
    if (r->page->wants.tree)
        begin_in_tree(r, name);
    if (r->context->nameNr > DEPTH_MAX && !r->is_too_deep) {
        r->is_too_deep = true;
        nd_libxml.xmlStopParser(r->context);
    }
    if (kind == HIDDEN)
        r->hidden++;
    else if (kind == HEAD)
        r->in_head = true;
    else if (kind == BODY)
        r->in_head = false;
    else if (kind == TITLE)
        r->in_title = true;
    else if (kind == PRE)
        r->in_pre = true;
    if (kind != INLINE)
        r->text_gap = '\n';
}

static void end_element(void *context, const xmlChar *name)
{
    struct html_reading *r = context;
    enum element kind = kind_of(name);

    if (r->page->wants.content)
        end_in_blocks(r, name, kind);
    if (kind == HIDDEN && r->hidden > 0)
        r->hidden--;
    else if (kind == HEAD)
        r->in_head = false;
    else if (kind == INLINE || kind == BLOCK) {
        if (r->page->wants.marks && r->hidden == 0)
            nd_page_marks_end(r->page, (const char *)name);
    } else if (kind == TITLE) {
        r->in_title = false;
        r->has_title = r->page->title.len > 0;
    } else if (kind == PRE)
        r->in_pre = false;
    if (kind != INLINE)
        r->text_gap = '\n';
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Runs of white space become one space, a line end in a pre or a block's edge one line end. */
static bool append(struct nd_buffer *b, char *gap, const char *text, size_t len, bool in_pre)
{
    size_t i = 0;

    while (i < len) {
        size_t from = i;

        while (i < len && !is_white(text[i]))
            i++;
        if (i > from) {
            if (*gap && b->len > 0 && !nd_buffer_append(b, gap, 1))
                return false;
            *gap = 0;
            if (!nd_buffer_append(b, text + from, i - from))
                return false;
        }
        for (; i < len && is_white(text[i]); i++)
            if (*gap != '\n')
                *gap = in_pre && text[i] == '\n' ? '\n' : ' ';
    }
    return true;
}

/* Append text that is seen of a page, with its marks. */
static bool append_text(struct html_reading *r, const char *text, size_t len)
{
    struct nd_buffer *b = &r->page->text;
    size_t from = b->len;

    if (!append(b, &r->text_gap, text, len, r->in_pre))
        return false;
    if (b->len == from)
        return true;
    from += is_white(b->data[from]); /* the gap before it is of no element */
    if (r->page->wants.content && !nd_page_blocks_add(&r->page->blocks, from, b->len, r->in_pre))
        return false;
    return !r->page->wants.marks || nd_page_marks_add(r->page, from, b->len);
}

static void characters(void *context, const xmlChar *text, int len)
{
    struct html_reading *r = context;
    bool ok = true;

    if (len <= 0 || r->hidden > 0)
        return;
    if (r->in_title) {
        if (!r->has_title)
            ok = append(&r->page->title, &r->title_gap, (const char *)text, (size_t)len, false);
    } else if (!r->in_head) {
        ok = append_text(r, (const char *)text, (size_t)len);
    }
    if (!ok)
        out_of_memory(r);
}

static void note_error(void *context, xmlErrorPtr error)
{
    if (error && error->code == XML_ERR_NO_MEMORY)
        ((struct html_reading *)context)->no_memory = true;
}

static bool contains(struct nd_view v, const char *part)
{
    size_t n = strlen(part);

    for (const char *p = v.data, *end = v.data + v.len;
         (p = memchr(p, part[0], (size_t)(end - p))) && (size_t)(end - p) >= n; p++)
        if (memcmp(p, part, n) == 0)
            return true;
    return false;
}

/*
 * libxml2 stops at a NUL byte, and takes the empty comments <!--> and <!---> for the start of one
 * that goes on to the next "-->", or to the end of the page.  Both become spaces.
 */
static bool make_safe(struct nd_arena *arena, struct nd_view *v)
{
    char *copy;

    if (!memchr(v->data, 0, v->len) && !contains(*v, "<!-->") && !contains(*v, "<!--->"))
        return true;
    copy = nd_arena_copy(arena, v->data, v->len);
    if (!copy)
        return false;
    for (size_t i = 0; i < v->len; i++) {
        if (copy[i] == 0)
            copy[i] = ' ';
        else if (copy[i] == '<' && memcmp(copy + i, "<!-->", 5) == 0)
            memset(copy + i, ' ', 5);
        else if (copy[i] == '<' && memcmp(copy + i, "<!--->", 6) == 0)
            memset(copy + i, ' ', 6);
    }
    v->data = copy;
    return true;
}

/* One call for the whole page: fed in pieces, libxml2 gives other text.  False: out of memory. */
static bool read_page(struct html_reading *r, struct nd_view v)
{
    htmlSAXHandler sax = {
        .startElement = start_element,
        .endElement = end_element,
        .characters = characters,
        .ignorableWhitespace = characters,
        .serror = note_error,
        .initialized = XML_SAX2_MAGIC,
    };
    htmlParserCtxtPtr context = nd_libxml.htmlCreateMemoryParserCtxt(v.data, (int)v.len);

    if (!context)
        return false;
    r->context = context;
    *context->sax = sax;
    context->userData = r;
    (void)nd_libxml.htmlCtxtUseOptions(context, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                                    HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                                    HTML_PARSE_IGNORE_ENC);
    context->sax->serror = note_error;
    (void)nd_libxml.xmlSwitchEncoding(context, XML_CHAR_ENCODING_UTF8);
    (void)nd_libxml.htmlParseDocument(context);
    nd_libxml.htmlFreeParserCtxt(context);
    return !r->no_memory;
}

/* The hash of all that was replaced in the page counts for a part of it that has U+FFFD. */
static uint64_t replaced_in(const char *text, size_t len, uint64_t in_page)
{
    return in_page && nd_replaced_count((struct nd_view){text, len}) ? in_page : 0;
}

/* The title is the first line of the text, and a field where the record has none of this name. */
static int compose(struct nd_parsing *p)
{
    struct nd_parser *parser = p->parser;
    const struct nd_html_page *page = &parser->page;
    size_t title = page->title.len, text = page->text.len, gap = title && text;
    size_t len = title + gap + text;
    uint64_t in_page = p->document->text_replaced;
    char *made = nd_arena_alloc(&parser->arena, len + ND_BUFFER_PADDING);

    if (!made)
        return ND_ENOMEM;
    if (title)
        memcpy(made, page->title.data, title);
    if (gap)
        made[title] = '\n';
    if (text)
        memcpy(made + title + gap, page->text.data, text);
    memset(made + len, 0, ND_BUFFER_PADDING);
    p->document->text = (struct nd_view){made, len};
    if (!nd_page_take(page, title, title + gap, &parser->arena, p->document))
        return ND_ENOMEM;
    for (size_t i = parser->options.n_text_fields + 1; i < parser->n_paths; i++)
        if (title && nd_view_is(parser->path[i], "title") && parser->value[i].kind <= ND_JSON_NULL)
            parser->value[i] =
                (struct nd_json_value){.kind = ND_JSON_STRING,
                                       .bytes = {made, title},
                                       .replaced = replaced_in(made, title, in_page)};
    p->document->text_replaced = replaced_in(made, len, in_page);
    return 1;
}

int nd_html_read(struct nd_parsing *p, struct nd_view v, struct nd_page_wanted wants)
{
    struct nd_parser *parser = p->parser;
    struct html_reading r = {.page = &parser->page, .arena = &parser->arena};

    if (nd_libxml_load())
        return nd_parsing_refuse(p, "%s", nd_libxml_load());
    if (!make_safe(&parser->arena, &v))
        return ND_ENOMEM;
    if (v.len > INT_MAX)
        return nd_parsing_refuse(p, "page is 2 GB or longer");
    if (nd_page_has_crowded_element(v))
        return nd_parsing_refuse(p, "page has an element with more than %d attributes",
                                 ND_ATTRIBUTES_MAX);
    nd_page_clear(r.page, wants);
    if (v.len > 0 && !read_page(&r, v))
        return ND_ENOMEM;
    if (r.is_too_deep)
        return nd_parsing_refuse(p, "page has elements nested deeper than %d", DEPTH_MAX);
    if (wants.content)
        nd_page_drop_boilerplate(r.page);
    return 1;
}

/* Whether somebody asks for a field that the head of a page may have. */
static bool wants_head(const struct nd_input_options *o)
{
    return o->n_fields > 0 || strcmp(o->id_field, "id") != 0;
}

static int read_and_compose(struct nd_parsing *p, struct nd_view page)
{
    struct nd_parser *parser = p->parser;
    const struct nd_input_options *o = &parser->options;
    struct nd_page_wanted wants = {
        .marks = o->markup,
        .tree = o->elements,
        .content = o->boilerplate == ND_BOILERPLATE_DROP,
        .head = wants_head(o),
    };
    int status;

    if (wants.head)
        nd_page_head_begin(&parser->page.head, parser->path + o->n_text_fields, 1 + o->n_fields);
    status = nd_html_read(p, page, wants);
    if (status == 1)
        status = compose(p);
    if (status == 1 && o->page_source) {
        p->document->text = page;
        p->document->is_page = 1;
    }
    return status;
}

int nd_html_of_text(struct nd_parsing *p)
{
    return read_and_compose(p, p->document->text);
}

int nd_html_take_head(struct nd_parsing *p, struct nd_view address)
{
    struct nd_parser *parser = p->parser;
    struct nd_page_head *head = &parser->page.head;
    struct nd_json_value *value = parser->value + parser->options.n_text_fields;
    uint64_t in_page = nd_replaced_value(&parser->replaced, 0);

    if (!wants_head(&parser->options))
        return 1;
    if (!nd_page_head_resolve(head, address, &parser->arena))
        return ND_ENOMEM;
    for (size_t i = 0; i < head->n; i++) {
        struct nd_view v = head->value[i];

        if (v.data && value[i].kind <= ND_JSON_NULL)
            value[i] = (struct nd_json_value){.kind = ND_JSON_STRING,
                                              .bytes = v,
                                              .replaced = replaced_in(v.data, v.len, in_page)};
    }
    return 1;
}

static int parse_html(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    struct nd_view v;
    int status;

    if (!nd_charset_to_utf8(&parser->charset, record, &parser->arena, &v, &parser->replaced))
        return ND_ENOMEM;
    p->document->text_replaced = nd_replaced_value(&parser->replaced, 0);
    nd_parsing_clear(p);
    status = read_and_compose(p, v);
    if (status == 1)
        status = nd_html_take_head(p, (struct nd_view){"", 0});
    return status == 1 ? nd_parsing_take_others(p) : status;
}

static bool looks_like(const char *p, size_t len)
{
    static const char *const start[] = {"<!doctype html", "<html", "<head", "<body", "<title"};

    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        if (len >= strlen(start[i]) && nd_compare_caseless_n(p, start[i], strlen(start[i])) == 0)
            return true;
    if ((len >= 5 && memcmp(p, "<?xml", 5) == 0) || (len >= 4 && memcmp(p, "<!--", 4) == 0))
        for (size_t i = 0; i + 5 < len && i < 4096; i++)
            if (p[i] == '<' && nd_compare_caseless_n(p + i, "<html", 5) == 0)
                return true;
    return false;
}

const struct nd_format_row nd_format_html = {
    .word = "html",
    .name = "HTML",
    .suffixes = "html htm xhtml xht shtml",
    .cut = &nd_cut_whole,
    .parse = parse_html,
    .looks_like = looks_like,
    .find_missing = nd_libxml_load,
    .names_charset = true,
};
