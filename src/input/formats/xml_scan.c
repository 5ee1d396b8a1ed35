/* xml_scan.c - the tags, texts and sections of an XML file, one after the other, whatever they say */
#include "input/formats/xml_scan.h"

#include <string.h>

#include "base/utf8.h"
#include "base/view.h"

/* ---- Pieces ------------------------------------------------------------------------------------ */

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           ((unsigned char)c & 0x80);
}

static bool is_in_name(char c)
{
    return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static bool starts(const char *bytes, size_t len, const char *with)
{
    size_t n = strlen(with);

    return len >= n && memcmp(bytes, with, n) == 0;
}

/* The place behind the first `end` from `from` on; 0: there is none. */
static size_t behind(const char *bytes, size_t len, size_t from, const char *end)
{
    const char *p = bytes + (from < len ? from : len), *stop = bytes + len;
    size_t n = strlen(end);

    while ((size_t)(stop - p) >= n && (p = memchr(p, *end, (size_t)(stop - p) - n + 1))) {
        if (memcmp(p, end, n) == 0)
            return (size_t)(p - bytes) + n;
        p++;
    }
    return 0;
}

/* The place behind a tag, whose values may have ">" in quotes; 0: it does not end, or another "<"
 * comes first, which no tag may have. */
static size_t tag_end(const char *bytes, size_t len)
{
    char quote = 0;

    for (size_t i = 1; i < len; i++) {
        char c = bytes[i];

        if (c == '<')
            return 0;
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i + 1;
    }
    return 0;
}

/* The place behind "<!DOCTYPE …>", which may have declarations in brackets. */
static size_t declaration_end(const char *bytes, size_t len)
{
    size_t end = behind(bytes, len, 2, ">");
    const char *bracket = memchr(bytes, '[', end ? end : len);
    size_t close;

    if (!bracket)
        return end;
    close = behind(bytes, len, (size_t)(bracket - bytes), "]");
    return close ? behind(bytes, len, close, ">") : 0;
}

static void take_tag(const char *bytes, size_t end, struct nd_xml_piece *piece)
{
    const char *name = bytes + 1, *stop = bytes + end - 1, *p;

    piece->kind = *name == '/' ? ND_XML_END : ND_XML_START;
    name += *name == '/';
    for (p = name; p < stop && is_in_name(*p);)
        p++;
    piece->name = (struct nd_view){name, (size_t)(p - name)};
    piece->is_empty = piece->kind == ND_XML_START && stop > p && stop[-1] == '/';
    piece->inside = (struct nd_view){p, (size_t)(stop - p) - (piece->is_empty ? 1 : 0)};
}

/* A "<" that begins no tag is text up to the next one. */
static bool take_text(const char *bytes, size_t len, struct nd_xml_piece *piece)
{
    const char *next = len > 1 ? memchr(bytes + 1, '<', len - 1) : NULL;

    piece->kind = ND_XML_TEXT;
    piece->all.len = next ? (size_t)(next - bytes) : len;
    return next != NULL;
}

/* Whether "<" begins markup; -1: the next byte will say. */
static int is_markup(const char *bytes, size_t len)
{
    if (len < 2)
        return -1;
    if (bytes[1] == '/')
        return len < 3 ? -1 : begins_name(bytes[2]);
    return bytes[1] == '!' || bytes[1] == '?' || begins_name(bytes[1]);
}

bool nd_xml_next(const char *bytes, size_t len, struct nd_xml_piece *piece)
{
    static const char cdata[] = "<![CDATA[";
    int markup = len && *bytes == '<' ? is_markup(bytes, len) : 0;
    size_t end;

    *piece = (struct nd_xml_piece){.kind = ND_XML_OTHER, .all = {bytes, len}};
    if (markup < 0)
        return false;
    if (!markup)
        return take_text(bytes, len, piece);
    if (starts(bytes, len, "<!--"))
        end = behind(bytes, len, 4, "-->");
    else if (starts(bytes, len, cdata))
        end = behind(bytes, len, sizeof cdata - 1, "]]>");
    else if (bytes[1] == '?')
        end = behind(bytes, len, 2, "?>");
    else if (bytes[1] == '!')
        end = declaration_end(bytes, len);
    else
        end = tag_end(bytes, len);
    if (!end && bytes[1] != '!' && bytes[1] != '?' && memchr(bytes + 1, '<', len - 1))
        return take_text(bytes, len, piece);
    piece->all.len = end ? end : len;
    if (starts(bytes, len, cdata)) {
        piece->kind = ND_XML_CDATA;
        piece->inside = (struct nd_view){bytes + 9, piece->all.len - 9 - (end ? 3 : 0)};
    } else if (bytes[1] != '!' && bytes[1] != '?' && end) {
        take_tag(bytes, end, piece);
    }
    return end != 0;
}

struct nd_view nd_xml_attribute(const struct nd_xml_piece *start, const char *name)
{
    const char *p = start->inside.data, *end = p + start->inside.len;

    while (p < end) {
        struct nd_view key, value = {NULL, 0};
        const char *from;

        while (p < end && !begins_name(*p))
            p++;
        for (from = p; p < end && is_in_name(*p);)
            p++;
        key = (struct nd_view){from, (size_t)(p - from)};
        while (p < end && is_white(*p))
            p++;
        if (p == end || *p != '=')
            continue;
        for (p++; p < end && is_white(*p);)
            p++;
        if (p < end && (*p == '"' || *p == '\'')) {
            const char *close = memchr(p + 1, *p, (size_t)(end - p - 1));

            close = close ? close : end;
            value = (struct nd_view){p + 1, (size_t)(close - p - 1)};
            p = close < end ? close + 1 : end;
        }
        if (value.data && nd_xml_is(key, name))
            return value;
    }
    return (struct nd_view){NULL, 0};
}

bool nd_xml_is(struct nd_view name, const char *wanted)
{
    return nd_view_is(name, wanted);
}

struct nd_view nd_xml_local(struct nd_view name)
{
    const char *colon = name.len ? memchr(name.data, ':', name.len) : NULL;

    if (!colon)
        return name;
    return (struct nd_view){colon + 1, (size_t)(name.data + name.len - colon - 1)};
}

/* ---- What they say ------------------------------------------------------------------------------ */

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

/* The character of "#160" or "#xA0"; 0: it is no number.  What is no character is U+FFFD, and what
 * only controls is a space: SGML of news has such. */
static uint32_t number_of(struct nd_view name)
{
    int base = name.len > 1 && (name.data[1] == 'x' || name.data[1] == 'X') ? 16 : 10;
    size_t i = base == 16 ? 2 : 1;
    uint32_t code = 0;

    if (i >= name.len)
        return 0;
    for (; i < name.len; i++) {
        int digit = digit_of(name.data[i]);

        if (digit >= base)
            return 0;
        code = code > 0x10FFFF ? code : code * (uint32_t)base + (uint32_t)digit;
    }
    if (code && code < 0x20 && code != '\t' && code != '\n' && code != '\r')
        return ' ';
    return code == 0 || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0xFFFD : code;
}

static uint32_t reference(struct nd_view name)
{
    static const struct {
        const char *name;
        uint32_t code;
    } known[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};

    if (name.len && *name.data == '#')
        return number_of(name);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (nd_view_is(name, known[i].name))
            return known[i].code;
    return 0;
}

static bool resolve(struct nd_view raw, struct nd_buffer *out)
{
    enum { LONGEST = 12 };
    const char *p = raw.data, *end = p + raw.len, *from = p;

    while (p < end && (p = memchr(p, '&', (size_t)(end - p)))) {
        size_t room = (size_t)(end - p) < LONGEST ? (size_t)(end - p) : LONGEST;
        const char *semicolon = memchr(p, ';', room);
        uint32_t code =
            semicolon ? reference((struct nd_view){p + 1, (size_t)(semicolon - p - 1)}) : 0;
        char bytes[4];

        if (!code) {
            p++;
            continue;
        }
        if (!nd_buffer_append(out, from, (size_t)(p - from)) ||
            !nd_buffer_append(out, bytes, nd_utf8_put(bytes, code)))
            return false;
        p = from = semicolon + 1;
    }
    return nd_buffer_append(out, from, (size_t)(end - from));
}

bool nd_xml_text(struct nd_view raw, struct nd_buffer *out)
{
    struct nd_xml_piece piece;
    bool good = true;

    for (size_t at = 0; good && at < raw.len; at += piece.all.len) {
        (void)nd_xml_next(raw.data + at, raw.len - at, &piece);
        if (piece.kind == ND_XML_CDATA)
            good = nd_buffer_append(out, piece.inside.data, piece.inside.len);
        else if (piece.kind == ND_XML_TEXT)
            good = resolve(piece.all, out);
    }
    return good;
}
