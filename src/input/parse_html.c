/* parse_html.c - a document from a page: its title and its visible text, by libxml2 */
#include "input/parser_state.h"

#include "input/libxml_load.h"
#include "input/page_guard.h"

#include <limits.h>
#include <string.h>

enum { DEPTH_MAX = 5000 };

struct page {
    struct nd_parser *parser;
    htmlParserCtxtPtr context;
    struct nd_buffer *text, *title;
    struct nd_page_marks *marks; /* NULL: nobody asks for them */
    struct nd_page_tree *tree;   /* the same */
    char text_gap, title_gap;    /* white space owed before the next character: ' ', '\n' or 0 */
    unsigned hidden;             /* elements open whose text is not seen */
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

static void out_of_memory(struct page *page)
{
    page->no_memory = true;
    nd_libxml.xmlStopParser(page->context);
}

static void begin_marks(struct page *page, const xmlChar *name, const xmlChar **attributes)
{
    const char *href = NULL;
    /* Where the text goes on: of an empty anchor at the start of a line that is the line. */
    size_t at = page->text->len + (page->text_gap == '\n' && page->text->len > 0);

    for (; attributes && attributes[0]; attributes += 2)
        if (!href && attributes[1] && strcmp((const char *)attributes[0], "href") == 0)
            href = (const char *)attributes[1];
    if (!nd_page_marks_begin(page->marks, (const char *)name, href, at, &page->parser->arena))
        out_of_memory(page);
}

/* libxml2 has put it on the stack of open elements by now. */
static void begin_in_tree(struct page *page, const xmlChar *name)
{
    size_t depth = page->context->nameNr > 0 ? (size_t)page->context->nameNr - 1 : 0;

    if (!nd_page_tree_begin(page->tree, (const char *)name, depth, &page->parser->arena))
        out_of_memory(page);
}

static void start_element(void *context, const xmlChar *name, const xmlChar **attributes)
{
    struct page *page = context;
    enum element kind = kind_of(name);

    if (page->marks && page->hidden == 0)
        begin_marks(page, name, attributes);
    if (page->tree)
        begin_in_tree(page, name);
    if (page->context->nameNr > DEPTH_MAX && !page->is_too_deep) {
        page->is_too_deep = true;
        nd_libxml.xmlStopParser(page->context);
    }
    if (kind == HIDDEN)
        page->hidden++;
    else if (kind == HEAD)
        page->in_head = true;
    else if (kind == BODY)
        page->in_head = false;
    else if (kind == TITLE)
        page->in_title = true;
    else if (kind == PRE)
        page->in_pre = true;
    if (kind != INLINE)
        page->text_gap = '\n';
}

static void end_element(void *context, const xmlChar *name)
{
    struct page *page = context;
    enum element kind = kind_of(name);

    if (kind == HIDDEN && page->hidden > 0)
        page->hidden--;
    else if (kind == HEAD)
        page->in_head = false;
    else if (kind == INLINE || kind == BLOCK) {
        if (page->marks && page->hidden == 0)
            nd_page_marks_end(page->marks, (const char *)name);
    } else if (kind == TITLE) {
        page->in_title = false;
        page->has_title = page->title->len > 0;
    } else if (kind == PRE)
        page->in_pre = false;
    if (kind != INLINE)
        page->text_gap = '\n';
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

/* What is seen of a page, with its marks. */
static bool append_text(struct page *page, const char *text, size_t len)
{
    struct nd_buffer *b = page->text;
    size_t from = b->len;

    if (!append(b, &page->text_gap, text, len, page->in_pre))
        return false;
    if (!page->marks || b->len == from)
        return true;
    from += is_white(b->data[from]); /* the gap before it is of no element */
    return nd_page_marks_add(page->marks, from, b->len);
}

static void characters(void *context, const xmlChar *text, int len)
{
    struct page *page = context;
    bool ok = true;

    if (len <= 0 || page->hidden > 0)
        return;
    if (page->in_title) {
        if (!page->has_title)
            ok = append(page->title, &page->title_gap, (const char *)text, (size_t)len, false);
    } else if (!page->in_head) {
        ok = append_text(page, (const char *)text, (size_t)len);
    }
    if (!ok)
        out_of_memory(page);
}

static void note_error(void *context, xmlErrorPtr error)
{
    if (error && error->code == XML_ERR_NO_MEMORY)
        ((struct page *)context)->no_memory = true;
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
static bool read_page(struct page *page, struct nd_view v)
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
    page->context = context;
    *context->sax = sax;
    context->userData = page;
    (void)nd_libxml.htmlCtxtUseOptions(context, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                                                    HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                                    HTML_PARSE_IGNORE_ENC);
    context->sax->serror = note_error;
    (void)nd_libxml.xmlSwitchEncoding(context, XML_CHAR_ENCODING_UTF8);
    (void)nd_libxml.htmlParseDocument(context);
    nd_libxml.htmlFreeParserCtxt(context);
    return !page->no_memory;
}

/* The title is the first line of the text, and a field where the record has none of this name. */
static int compose(struct nd_parsing *p, const struct nd_page_marks *marks,
                   const struct nd_page_tree *tree)
{
    struct nd_parser *parser = p->parser;
    size_t title = parser->page_title.len, text = parser->page_text.len, gap = title && text;
    size_t len = title + gap + text;
    char *made = nd_arena_alloc(&parser->arena, len + ND_BUFFER_PADDING);

    if (!made)
        return ND_ENOMEM;
    if (title)
        memcpy(made, parser->page_title.data, title);
    if (gap)
        made[title] = '\n';
    if (text)
        memcpy(made + title + gap, parser->page_text.data, text);
    memset(made + len, 0, ND_BUFFER_PADDING);
    p->document->text = (struct nd_view){made, len};
    if (marks && !nd_page_marks_take(marks, title, title + gap, text, &parser->arena, p->document))
        return ND_ENOMEM;
    if (tree && !nd_page_tree_take(tree, &parser->arena, p->document))
        return ND_ENOMEM;
    for (size_t i = parser->options.n_text_fields + 1; i < parser->n_paths; i++)
        if (title && parser->path[i].len == 5 && memcmp(parser->path[i].data, "title", 5) == 0 &&
            parser->value[i].kind <= ND_JSON_NULL)
            parser->value[i] = (struct nd_json_value){ND_JSON_STRING, {made, title}};
    return 1;
}

int nd_html_read(struct nd_parsing *p, struct nd_view v, struct nd_page_marks *marks,
                 struct nd_page_tree *tree)
{
    struct nd_parser *parser = p->parser;
    struct page page = {.parser = parser,
                        .text = &parser->page_text,
                        .title = &parser->page_title,
                        .marks = marks,
                        .tree = tree};

    if (nd_libxml_load())
        return nd_parsing_refuse(p, "%s", nd_libxml_load());
    if (!make_safe(&parser->arena, &v))
        return ND_ENOMEM;
    if (v.len > INT_MAX)
        return nd_parsing_refuse(p, "page is 2 GB or longer");
    if (nd_page_has_crowded_element(v))
        return nd_parsing_refuse(p, "page has an element with more than %d attributes",
                                 ND_ATTRIBUTES_MAX);
    page.text->len = page.title->len = 0;
    if (marks)
        nd_page_marks_clear(marks);
    if (tree)
        nd_page_tree_clear(tree);
    if (v.len > 0 && !read_page(&page, v))
        return ND_ENOMEM;
    if (page.is_too_deep)
        return nd_parsing_refuse(p, "page has elements nested deeper than %d", DEPTH_MAX);
    return 1;
}

static int read_and_compose(struct nd_parsing *p, struct nd_view page)
{
    struct nd_parser *parser = p->parser;
    struct nd_page_marks *marks = parser->options.markup ? &parser->page_marks : NULL;
    struct nd_page_tree *tree = parser->options.elements ? &parser->page_tree : NULL;
    int status = nd_html_read(p, page, marks, tree);

    return status == 1 ? compose(p, marks, tree) : status;
}

int nd_html_of_text(struct nd_parsing *p)
{
    return read_and_compose(p, p->document->text);
}

int nd_parse_html(struct nd_parsing *p, struct nd_view record)
{
    struct nd_parser *parser = p->parser;
    struct nd_view v;
    int status;

    if (!nd_charset_to_utf8(&parser->charset, record, &parser->arena, &v, &p->repaired))
        return ND_ENOMEM;
    nd_parsing_clear(p);
    status = read_and_compose(p, v);
    return status == 1 ? nd_parsing_take_fields(p) : status;
}
