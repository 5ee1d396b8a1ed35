/* page_guard.c - elements with so many attributes that libxml2 would take quadratic time */
#include "input/formats/page_guard.h"
#include "base/system/c_functions.h"

#include <libxml/xmlversion.h>
#include <string.h>

/*
 * libxml2 compares each attribute with all others of its element: n attributes take n^2 / 2
 * comparisons, which a page of a few megabytes can make 10^12.  The guard finds such an element in
 * one pass.  It follows the same rules as libxml2 about where a tag begins
 * and ends (comments, quoted values, raw text of scripts and styles), because otherwise a page
 * could hide the element from one of the two.  Where the rules leave a doubt it counts too many.
 */

/* The rest of a page, passed over as libxml2's parser for HTML does. */
struct page_rest {
    const char *at, *end;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_white(char c)
{
    return (unsigned char)c <= ' ' &&
           (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f');
}

static bool begins(struct page_rest r, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(r.end - r.at) >= n && nd_compare_caseless_n(r.at, with, n) == 0;
}

static bool is_tag(struct page_rest r, const char *name)
{
    size_t n = strlen(name);

    return (size_t)(r.end - r.at) > n && begins(r, name) &&
           (is_white(r.at[n]) || r.at[n] == '/' || r.at[n] == '>');
}

/* To behind the first `c`, or to the end. */
static void pass(struct page_rest *r, char c)
{
    const char *found = memchr(r->at, c, (size_t)(r->end - r->at));

    r->at = found ? found + 1 : r->end;
}

static void pass_comment(struct page_rest *r)
{
    for (r->at += 4; r->at < r->end; pass(r, '-'))
        if (r->at[-1] == '-' && (begins(*r, "->") || begins(*r, "-!>")))
            return;
}

/* The text of a script or style, which goes on to the end tag of the same name. */
static void pass_raw(struct page_rest *r, const char *end_tag)
{
    for (pass(r, '<'); r->at < r->end; pass(r, '<')) {
        if (begins(*r, end_tag + 1)) {
            r->at--; /* the tag is for the caller */
            return;
        }
    }
}

static void pass_value(struct page_rest *r)
{
    if (r->at < r->end && (*r->at == '"' || *r->at == '\'')) {
        r->at++;
        pass(r, r->at[-1]);
        return;
    }
    while (r->at < r->end && !is_white(*r->at) && *r->at != '>')
        r->at++;
}

static void pass_white(struct page_rest *r)
{
    while (r->at < r->end && is_white(*r->at))
        r->at++;
}

static bool is_name_end(char c)
{
    switch (c) {
    case '=':
    case '>':
    case '/':
    case '"':
    case '\'':
    case '<': return true;
    }
    return is_white(c);
}

/* One attribute, or what is none up to the next white space. */
static void pass_attribute(struct page_rest *r)
{
    const char *from = r->at;

    while (r->at < r->end && !is_name_end(*r->at))
        r->at++;
    if (r->at == from) {
        while (r->at < r->end && !is_white(*r->at) && *r->at != '>')
            r->at++;
        return;
    }
    pass_white(r);
    if (r->at < r->end && *r->at == '=') {
        r->at++;
        pass_white(r);
        pass_value(r);
    }
}

/* Most tags are short and end at the first '>', having no quote before it. */
static bool pass_short_tag(struct page_rest *r)
{
    size_t left = (size_t)(r->end - r->at),
           max = left < ND_ATTRIBUTES_MAX ? left : ND_ATTRIBUTES_MAX;

    for (size_t i = 0; i < max; i++) {
        if (r->at[i] == '>') {
            r->at += i + 1;
            return true;
        }
        if (r->at[i] == '"' || r->at[i] == '\'')
            return false;
    }
    return false;
}

/* The rest of a start tag; how many attributes it has at most. */
static size_t pass_tag(struct page_rest *r)
{
    size_t n = 0;

    if (pass_short_tag(r))
        return 0;
    while (r->at < r->end && !is_white(*r->at) && *r->at != '>' && *r->at != '/')
        r->at++;
    for (;;) {
        while (r->at < r->end && (is_white(*r->at) || *r->at == '/'))
            r->at++;
        if (r->at == r->end)
            return n;
        if (*r->at == '>') {
            r->at++;
            return n;
        }
        pass_attribute(r);
        n++;
    }
}

bool nd_page_has_crowded_element(struct nd_view page)
{
    struct page_rest r = {page.data, page.data + page.len};

    if (page.len <= ND_ATTRIBUTES_MAX)
        return false;
    for (pass(&r, '<'); r.at < r.end; pass(&r, '<')) {
        struct page_rest tag = {r.at - 1, r.end};

        if (begins(tag, "<!--")) {
            pass_comment(&tag);
        } else if (is_letter(*r.at)) {
            tag = r;
            if (pass_tag(&tag) > ND_ATTRIBUTES_MAX)
                return true;
            if (is_tag(r, "script"))
                pass_raw(&tag, "</script");
            else if (is_tag(r, "style"))
                pass_raw(&tag, "</style");
        } else if (*r.at == '?' || *r.at == '!' || *r.at == '/') {
            pass(&tag, '>');
        } else {
            continue;
        }
        r.at = tag.at;
    }
    return false;
}

const char *nd_html_parser_version(void)
{
    return "libxml2 " LIBXML_DOTTED_VERSION;
}
