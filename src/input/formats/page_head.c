/* page_head.c - what the head of a page says about it, as fields */

/*
 * A field has several sources: the elements and names of meta by which pages say the same thing, in
 * the order in which they count. Any other field is the meta of its own name. Only fields that
 * somebody asks for are kept, so a page with a million of them costs a comparison for each.
 */
#include "input/formats/page_head.h"

#include "base/address.h"
#include "base/system/c_functions.h"
#include "base/view.h"

#include <string.h>

/* Addresses that are longer stay as they are written. */
enum { ADDRESS_MAX = 8192, SOURCES_MAX = 10 };

/* The sources that are no names of meta. */
#define LINK_CANONICAL "<link rel=canonical>"
#define HTML_LANG "<html lang>"

/* The sources of a field, best first. */
static const struct {
    const char *field;
    const char *source[SOURCES_MAX];
} SOURCE[] = {
    {"canonical", {LINK_CANONICAL, "og:url"}},
    {"title", {"og:title", "dc.title", "dcterms.title"}},
    {"description", {"description", "og:description", "dc.description", "dcterms.description"}},
    {"author", {"author", "article:author", "dc.creator", "dcterms.creator"}},
    {"date",
     {"article:published_time", "datepublished", "date", "dc.date", "dcterms.date",
      "dcterms.created", "pubdate", "article:modified_time", "datemodified", "last-modified"}},
    {"language", {HTML_LANG, "content-language", "language", "dc.language", "og:locale"}},
};

void nd_page_head_begin(struct nd_page_head *head, const struct nd_view *name, size_t n)
{
    head->name = name;
    head->n = n < ND_JSON_PATHS_MAX ? n : ND_JSON_PATHS_MAX;
    for (size_t i = 0; i < head->n; i++) {
        head->value[i] = (struct nd_view){NULL, 0};
        head->rank[i] = 0;
    }
    head->base = (struct nd_view){NULL, 0};
}

void nd_page_head_release(struct nd_page_head *head)
{
    nd_buffer_release(&head->resolved);
}

/* The rank of a source for a field, from 1; 0: it is none. */
static unsigned rank_of(struct nd_view field, const char *source)
{
    for (size_t i = 0; i < sizeof SOURCE / sizeof *SOURCE; i++) {
        if (!nd_view_is(field, SOURCE[i].field))
            continue;
        for (unsigned j = 0; j < SOURCES_MAX && SOURCE[i].source[j]; j++)
            if (nd_compare_caseless(SOURCE[i].source[j], source) == 0)
                return j + 1;
        return 0;
    }
    /* An id is what a document is named by: no page names itself so by accident. */
    return !nd_view_is(field, "id") && strlen(source) == field.len &&
                   nd_compare_caseless_n(source, field.data, field.len) == 0
               ? 1
               : 0;
}

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* Copy a value without white space at its ends, runs of which become a space. */
static bool copy(struct nd_arena *arena, const char *value, struct nd_view *out)
{
    char *made = nd_arena_alloc(arena, strlen(value) + 1);
    size_t n = 0;

    if (!made)
        return false;
    for (const char *at = value; *at; at++)
        if (!is_white(*at))
            made[n++] = *at;
        else if (n && made[n - 1] != ' ')
            made[n++] = ' ';
    n -= n && made[n - 1] == ' ';
    *out = (struct nd_view){made, n};
    return true;
}

/* A source says a value: keep it for each field of which no better one was found. */
static bool take(struct nd_page_head *head, const char *source, const char *value,
                 struct nd_arena *arena)
{
    for (size_t i = 0; i < head->n; i++) {
        unsigned rank = rank_of(head->name[i], source);
        struct nd_view made;

        if (!rank || (head->rank[i] && head->rank[i] <= rank))
            continue;
        if (!copy(arena, value, &made))
            return false;
        if (!made.len)
            continue;
        head->value[i] = made;
        head->rank[i] = rank;
    }
    return true;
}

static const char *attribute(const char **attributes, const char *name)
{
    for (; attributes && attributes[0]; attributes += 2)
        if (attributes[1] && strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static bool take_meta(struct nd_page_head *head, const char **attributes, struct nd_arena *arena)
{
    static const char *const key[] = {"name", "property", "itemprop", "http-equiv"};
    const char *content = attribute(attributes, "content");

    for (size_t i = 0; content && i < sizeof key / sizeof *key; i++) {
        const char *source = attribute(attributes, key[i]);

        if (source && !take(head, source, content, arena))
            return false;
    }
    return true;
}

/* Whether a list of words, as that of rel, has this one. */
static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);

    while (*list) {
        size_t n = strcspn(list, " \t\n\r\f");

        if (n == len && nd_compare_caseless_n(list, word, len) == 0)
            return true;
        list += n;
        list += strspn(list, " \t\n\r\f");
    }
    return false;
}

static bool take_link(struct nd_page_head *head, const char **attributes, struct nd_arena *arena)
{
    const char *rel = attribute(attributes, "rel"), *href = attribute(attributes, "href");

    return !rel || !href || !has_word(rel, "canonical") || take(head, LINK_CANONICAL, href, arena);
}

bool nd_page_head_element(struct nd_page_head *head, const char *name, const char **attributes,
                          struct nd_arena *arena)
{
    const char *value;

    if (strcmp(name, "meta") == 0)
        return take_meta(head, attributes, arena);
    if (strcmp(name, "link") == 0)
        return take_link(head, attributes, arena);
    if (strcmp(name, "html") == 0) {
        value = attribute(attributes, "lang");
        value = value ? value : attribute(attributes, "xml:lang");
        return !value || take(head, HTML_LANG, value, arena);
    }
    if (strcmp(name, "base") == 0 && !head->base.data) {
        value = attribute(attributes, "href");
        return !value || copy(arena, value, &head->base);
    }
    return true;
}

/* ---- Addresses ---- */

/* Make *address absolute, if `base` is. */
static bool join(struct nd_page_head *head, struct nd_view base, struct nd_arena *arena,
                 struct nd_view *address)
{
    if (base.len > ADDRESS_MAX || address->len > ADDRESS_MAX)
        return true;
    if (!nd_address_join(base, *address, &head->resolved))
        return false;
    address->len = head->resolved.len;
    address->data = nd_arena_copy(arena, head->resolved.data, head->resolved.len);
    return address->data != NULL;
}

bool nd_page_head_resolve(struct nd_page_head *head, struct nd_view address, struct nd_arena *arena)
{
    struct nd_view base = address;

    if (head->base.data) {
        base = head->base;
        if (!join(head, address, arena, &base))
            return false;
    }
    for (size_t i = 0; i < head->n; i++)
        if (head->value[i].data && nd_view_is(head->name[i], "canonical") &&
            !join(head, base, arena, &head->value[i]))
            return false;
    return true;
}
