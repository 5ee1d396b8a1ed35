/* charset.c - what characters the bytes of an HTML page, or of a text in a message, are */
#include "input/charset.h"

#include <neardup/text.h>

#include <errno.h>
#include <iconv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PRESCAN = 1024 };

void nd_charset_release(struct nd_charset *c)
{
    if (c->name[0])
        (void)iconv_close((iconv_t)c->converter);
    c->name[0] = 0;
}

static bool is_label(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == ':';
}

/* The label behind `key` ("charset") in head[0 … len), in lower case; false: none. */
static bool label_behind(const char *head, size_t len, const char *key, char *label, size_t room)
{
    size_t n = strlen(key), out = 0;

    for (size_t i = 0; i + n < len; i++) {
        size_t j = i + n;

        if (strncasecmp(head + i, key, n) != 0)
            continue;
        while (j < len && (head[j] == ' ' || head[j] == '\t'))
            j++;
        if (j >= len || head[j] != '=')
            continue;
        for (j++; j < len && (head[j] == ' ' || head[j] == '"' || head[j] == '\''); j++)
            ;
        for (; j < len && out + 1 < room && is_label(head[j]); j++)
            label[out++] = (char)(head[j] >= 'A' && head[j] <= 'Z' ? head[j] + 32 : head[j]);
        label[out] = 0;
        return out > 0;
    }
    return false;
}

/* The charset that the page names for itself, in a meta tag or an XML declaration. */
static bool declared(struct nd_view page, char *label, size_t room)
{
    size_t len = page.len < PRESCAN ? page.len : PRESCAN;
    const char *end;

    if (len >= 5 && memcmp(page.data, "<?xml", 5) == 0) {
        end = memchr(page.data, '>', len);
        if (end && label_behind(page.data, (size_t)(end - page.data), "encoding", label, room))
            return true;
    }
    for (size_t i = 0; i + 5 < len; i++) {
        if (page.data[i] != '<' || strncasecmp(page.data + i, "<meta", 5) != 0)
            continue;
        end = memchr(page.data + i, '>', len - i);
        if (!end)
            return false;
        if (label_behind(page.data + i, (size_t)(end - page.data) - i, "charset", label, room))
            return true;
    }
    return false;
}

/* Labels that mean another charset than they say, as all browsers read them (WHATWG Encoding). */
static const char *true_name(const char *label)
{
    static const char *const other[][2] = {
        {"utf8", "utf-8"},
        {"unicode", "utf-8"},
        {"utf-16", "utf-8"},
        {"utf-16le", "utf-8"},
        {"utf-16be", "utf-8"},
        {"iso-8859-1", "windows-1252"},
        {"latin1", "windows-1252"},
        {"latin-1", "windows-1252"},
        {"iso8859-1", "windows-1252"},
        {"ascii", "windows-1252"},
        {"us-ascii", "windows-1252"},
        {"cp1252", "windows-1252"},
        {"iso-8859-9", "cp1254"},
        {"iso-8859-11", "cp874"},
        {"tis-620", "cp874"},
        {"gb2312", "gb18030"},
        {"gbk", "gb18030"},
        {"x-gbk", "gb18030"},
        {"shift_jis", "cp932"},
        {"sjis", "cp932"},
        {"x-sjis", "cp932"},
        {"euc-kr", "cp949"},
        {"ks_c_5601-1987", "cp949"},
        {"big5", "big5-hkscs"},
    };

    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(label, other[i][0]) == 0)
            return other[i][1];
    return label;
}

static bool repair(struct nd_view page, struct nd_arena *arena, struct nd_view *out,
                   uint64_t *repaired)
{
    char *made;
    size_t len;
    int64_t count = nd_utf8_repair(page.data, page.len, &made, &len);

    *out = page;
    if (count < 0)
        return false;
    if (count == 0)
        return true;
    out->data = nd_arena_copy(arena, made, len);
    out->len = len;
    free(made);
    *repaired += (uint64_t)count;
    return out->data != NULL;
}

/* windows-1252, the five bytes that it leaves open being the control characters of that number. */
static bool from_windows_1252(struct nd_view page, struct nd_arena *arena, struct nd_view *out)
{
    static const uint16_t high[32] = {
        0x20AC, 0x81,   0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D,   0x017D, 0x8F,   0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,   0x017E, 0x0178};
    char *made = page.len > (SIZE_MAX - ND_BUFFER_PADDING) / 3
                     ? NULL
                     : nd_arena_alloc(arena, 3 * page.len + ND_BUFFER_PADDING);
    size_t n = 0;

    if (!made)
        return false;
    for (size_t i = 0; i < page.len; i++) {
        unsigned char byte = (unsigned char)page.data[i];
        unsigned c = byte >= 0x80 && byte < 0xA0 ? high[byte - 0x80] : byte;

        if (c < 0x80) {
            made[n++] = (char)c;
        } else if (c < 0x800) {
            made[n++] = (char)(0xC0 | c >> 6);
            made[n++] = (char)(0x80 | (c & 0x3F));
        } else {
            made[n++] = (char)(0xE0 | c >> 12);
            made[n++] = (char)(0x80 | (c >> 6 & 0x3F));
            made[n++] = (char)(0x80 | (c & 0x3F));
        }
    }
    memset(made + n, 0, ND_BUFFER_PADDING);
    *out = (struct nd_view){made, n};
    return true;
}

/* Whether the system can read that charset; the converter is then open. */
static bool open_converter(struct nd_charset *c, const char *name)
{
    iconv_t converter;

    if (strcmp(c->name, name) == 0)
        return true;
    converter = iconv_open("UTF-8", name);
    if (converter == (iconv_t)-1)
        return false;
    nd_charset_release(c);
    c->converter = converter;
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    return true;
}

/* What cannot be read, byte by byte, becomes U+FFFD. */
static bool convert(struct nd_charset *c, struct nd_view page, struct nd_arena *arena,
                    struct nd_view *out, uint64_t *repaired)
{
    iconv_t converter = (iconv_t)c->converter;
    char *in = (char *)(uintptr_t)page.data; /* iconv reads only */
    size_t left = page.len;
    struct nd_buffer made = {0};
    bool ok = true;

    (void)iconv(converter, NULL, NULL, NULL, NULL);
    while (ok && left > 0) {
        ok = nd_buffer_reserve(&made, made.len + 2 * left + 64);
        if (!ok)
            break;
        char *to = made.data + made.len;
        size_t room = made.capacity - ND_BUFFER_PADDING - made.len;
        size_t code = iconv(converter, &in, &left, &to, &room);

        made.len = (size_t)(to - made.data);
        if (code == (size_t)-1 && errno != E2BIG) {
            ok = nd_buffer_append(&made, "\xEF\xBF\xBD", 3);
            in++;
            left--;
            ++*repaired;
            (void)iconv(converter, NULL, NULL, NULL, NULL);
        }
    }
    if (ok) {
        out->data = nd_arena_copy(arena, made.data, made.len);
        out->len = made.len;
        ok = out->data != NULL;
    }
    nd_buffer_release(&made);
    return ok;
}

static bool is_readable(struct nd_charset *c, const char *name)
{
    return strcmp(name, "utf-8") == 0 || strcmp(name, "windows-1252") == 0 ||
           open_converter(c, name);
}

/* By a charset that is_readable. */
static bool read_as(struct nd_charset *c, const char *name, struct nd_view page,
                    struct nd_arena *arena, struct nd_view *out, uint64_t *repaired)
{
    if (strcmp(name, "utf-8") == 0)
        return repair(page, arena, out, repaired);
    if (strcmp(name, "windows-1252") == 0)
        return from_windows_1252(page, arena, out);
    return convert(c, page, arena, out, repaired);
}

bool nd_charset_to_utf8(struct nd_charset *c, struct nd_view page, struct nd_arena *arena,
                        struct nd_view *out, uint64_t *repaired)
{
    char label[48];
    const char *name;

    if (page.len >= 3 && memcmp(page.data, "\xEF\xBB\xBF", 3) == 0)
        return repair((struct nd_view){page.data + 3, page.len - 3}, arena, out, repaired);
    if (declared(page, label, sizeof label) && is_readable(c, name = true_name(label)))
        return read_as(c, name, page, arena, out, repaired);
    *out = page;
    return nd_utf8_valid(page.data, page.len) || from_windows_1252(page, arena, out);
}

/* The label in small letters; false: it is none, or says no more than that these are bytes. */
static bool tidy_label(const char *named, char *label, size_t room)
{
    size_t n = named ? strlen(named) : 0;

    if (n == 0 || n >= room)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_label(named[i]))
            return false;
        label[i] = (char)(named[i] >= 'A' && named[i] <= 'Z' ? named[i] + 32 : named[i]);
    }
    label[n] = 0;
    return strcmp(label, "us-ascii") != 0 && strcmp(label, "ascii") != 0;
}

bool nd_charset_named_to_utf8(struct nd_charset *c, const char *label, struct nd_view text,
                              struct nd_arena *arena, struct nd_view *out, uint64_t *repaired)
{
    bool has_mark = text.len >= 3 && memcmp(text.data, "\xEF\xBB\xBF", 3) == 0;
    char tidy[48];
    const char *name;

    if (has_mark || !tidy_label(label, tidy, sizeof tidy))
        return nd_charset_to_utf8(c, text, arena, out, repaired);
    /* A page cannot say in UTF-16 that it is UTF-16, a message can say it of a text. */
    name = strncmp(tidy, "utf-16", 6) == 0 ? tidy : true_name(tidy);
    if (!is_readable(c, name))
        return nd_charset_to_utf8(c, text, arena, out, repaired);
    return read_as(c, name, text, arena, out, repaired);
}
