/* charset.c - what characters the bytes of a text are, and what was replaced by U+FFFD */

/*
 * Three sources of charsets: the option, the page or message itself, and detection by validity.
 * Each text is converted to valid UTF-8 by the system (iconv) or by the built-in table of windows-1252. Nothing
 * is refused: what cannot be decoded becomes U+FFFD, and what each U+FFFD replaced is recorded, so
 * that texts which differ only there are not taken for equal.
 */
#include "input/formats/charset.h"

#include <neardup/text.h>

#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/characters.h"
#include "base/utf8.h"
#include "input/formats/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What was replaced by U+FFFD in the record that is being parsed ---- */

void nd_replaced_release(struct nd_replaced *r)
{
    free(r->at);
    *r = (struct nd_replaced){0};
}

bool nd_replaced_add(struct nd_replaced *r, uint32_t packed)
{
    if (!ND_RESERVE(r->at, &r->capacity, r->n + 1))
        return false;
    r->at[r->n++] = packed;
    return true;
}

bool nd_replaced_add_text(struct nd_replaced *r, struct nd_view text)
{
    size_t at = 0, n;

    while ((n = nd_utf8_next_replaced(text.data, text.len, &at)) > 0)
        if (!nd_replaced_add(r, nd_replaced_pack(text.data + at - n, (unsigned)n)))
            return false;
    return true;
}

uint64_t nd_replaced_value(const struct nd_replaced *r, size_t first)
{
    struct nd_replaced_hash hash = {0};

    for (size_t i = first; i < r->n; i++)
        nd_replaced_hash_add(&hash, r->at[i]);
    return nd_replaced_hash_value(&hash);
}

size_t nd_replaced_count(struct nd_view text)
{
    const char *p = text.len ? text.data : "", *end = p + text.len;
    size_t n = 0;

    while (p < end && (p = memchr(p, 0xEF, (size_t)(end - p)))) {
        bool is = end - p >= 3 && memcmp(p, "\xEF\xBF\xBD", 3) == 0;

        n += is;
        p += is ? 3 : 1;
    }
    return n;
}

/* ---- What characters the bytes of an HTML page, or of a text in a message, are ---- */

/*
 * Text that is not valid in its charset is repaired and never refused: each sequence of bytes that
 * stands for no character becomes one U+FFFD.  Two texts that differ only in such bytes would then
 * look equal.  So the list above keeps which bytes each U+FFFD replaced, and a hash of that list
 * goes into the hash of the text (base/replaced_hash.h).
 */

enum { PRESCAN = 1024 };

void nd_charset_release(struct nd_charset *c)
{
    if (c->name[0])
        nd_converter_close(c->converter);
    c->name[0] = 0;
}

static bool is_label(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == ':';
}

/* Find the label after `key` ("charset") in head[0 … len), in lower case; false: none. */
static bool label_behind(const char *head, size_t len, const char *key, char *label,
                         size_t capacity)
{
    size_t n = strlen(key), out = 0;

    for (size_t i = 0; i + n < len; i++) {
        size_t j = i + n;

        if (nd_compare_caseless_n(head + i, key, n) != 0)
            continue;
        while (j < len && (head[j] == ' ' || head[j] == '\t'))
            j++;
        if (j >= len || head[j] != '=')
            continue;
        for (j++; j < len && (head[j] == ' ' || head[j] == '"' || head[j] == '\''); j++)
            ;
        for (; j < len && out + 1 < capacity && is_label(head[j]); j++)
            label[out++] = (char)(head[j] >= 'A' && head[j] <= 'Z' ? head[j] + 32 : head[j]);
        label[out] = 0;
        return out > 0;
    }
    return false;
}

/* Find the charset that the page declares in a meta tag or an XML declaration. */
static bool declared(struct nd_view page, char *label, size_t capacity)
{
    size_t len = page.len < PRESCAN ? page.len : PRESCAN;
    const char *end;

    if (len >= 5 && memcmp(page.data, "<?xml", 5) == 0) {
        end = memchr(page.data, '>', len);
        if (end && label_behind(page.data, (size_t)(end - page.data), "encoding", label, capacity))
            return true;
    }
    for (size_t i = 0; i + 5 < len; i++) {
        if (page.data[i] != '<' || nd_compare_caseless_n(page.data + i, "<meta", 5) != 0)
            continue;
        end = memchr(page.data + i, '>', len - i);
        if (!end)
            return false;
        if (label_behind(page.data + i, (size_t)(end - page.data) - i, "charset", label, capacity))
            return true;
    }
    return false;
}

/* Labels that browsers read as another charset than they name (WHATWG Encoding). */
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
                   struct nd_replaced *replaced)
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
    if (!replaced || !out->data)
        return out->data != NULL;
    replaced->count += (uint64_t)count;
    return nd_replaced_add_text(replaced, page);
}

/* windows-1252; the five undefined bytes become the control characters with the same number. */
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

        n += nd_utf8_put(made + n, c);
    }
    memset(made + n, 0, ND_BUFFER_PADDING);
    *out = (struct nd_view){made, n};
    return true;
}

/* Whether the system can read the charset; if so, the converter is open afterwards. */
static bool open_converter(struct nd_charset *c, const char *name)
{
    struct nd_converter *converter;

    if (strcmp(c->name, name) == 0)
        return true;
    converter = nd_converter_open(name);
    if (!converter)
        return false;
    nd_charset_release(c);
    c->converter = converter;
    (void)snprintf(c->name, sizeof c->name, "%s", name);
    return true;
}

/* Note U+FFFD that the text itself has, after the last one that was inserted. */
static bool note_own_marks(struct nd_replaced *replaced, const struct nd_buffer *made, size_t from)
{
    size_t n = 0;

    if (replaced && made->len > from)
        n = nd_replaced_count((struct nd_view){made->data + from, made->len - from});
    for (; n > 0; n--)
        if (!nd_replaced_add(replaced, ND_REPLACED_NOTHING))
            return false;
    return true;
}

/* The byte at `in` is invalid: replace it. */
static bool replace_byte(struct nd_buffer *made, size_t *from, const char *in,
                         struct nd_replaced *replaced)
{
    if (replaced) {
        replaced->count++;
        if (!note_own_marks(replaced, made, *from) ||
            !nd_replaced_add(replaced, nd_replaced_pack(in, 1)))
            return false;
    }
    if (!nd_buffer_append(made, "\xEF\xBF\xBD", 3))
        return false;
    *from = made->len;
    return true;
}

/* Convert; each byte that cannot be read becomes U+FFFD. */
static bool convert(struct nd_charset *c, struct nd_view page, struct nd_arena *arena,
                    struct nd_view *out, struct nd_replaced *replaced)
{
    struct nd_converter *converter = c->converter;
    const char *in = page.data;
    size_t left = page.len, from = 0;
    struct nd_buffer made = {0};
    bool ok = true;

    nd_converter_restart(converter);
    while (ok && left > 0) {
        ok = nd_buffer_reserve(&made, made.len + 2 * left + 64);
        if (!ok)
            break;
        char *to = made.data + made.len;
        size_t capacity = made.capacity - ND_BUFFER_PADDING - made.len;
        size_t code = nd_converter_convert(converter, &in, &left, &to, &capacity);

        made.len = (size_t)(to - made.data);
        if (code == (size_t)-1 && errno != E2BIG) {
            ok = replace_byte(&made, &from, in, replaced);
            in++;
            left--;
            nd_converter_restart(converter);
        }
    }
    if (from > 0)
        ok = ok && note_own_marks(replaced, &made, from);
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

/* Convert from a charset for which is_readable is true. */
static bool read_as(struct nd_charset *c, const char *name, struct nd_view page,
                    struct nd_arena *arena, struct nd_view *out, struct nd_replaced *replaced)
{
    if (strcmp(name, "utf-8") == 0)
        return repair(page, arena, out, replaced);
    if (strcmp(name, "windows-1252") == 0)
        return from_windows_1252(page, arena, out);
    return convert(c, page, arena, out, replaced);
}

bool nd_charset_to_utf8(struct nd_charset *c, struct nd_view page, struct nd_arena *arena,
                        struct nd_view *out, struct nd_replaced *replaced)
{
    char label[48];
    const char *name;

    if (nd_mark_len(page.data, page.len))
        return repair(nd_without_mark(page), arena, out, replaced);
    if (declared(page, label, sizeof label) && is_readable(c, name = true_name(label)))
        return read_as(c, name, page, arena, out, replaced);
    *out = page;
    return nd_utf8_valid(page.data, page.len) || from_windows_1252(page, arena, out);
}

/* The name in lower case; false: not a name. */
static bool tidy_name(const char *named, char *label, size_t capacity)
{
    size_t n = named ? strlen(named) : 0;

    if (n == 0 || n >= capacity)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!is_label(named[i]))
            return false;
        label[i] = (char)(named[i] >= 'A' && named[i] <= 'Z' ? named[i] + 32 : named[i]);
    }
    label[n] = 0;
    return true;
}

/* As tidy_name; false also if the name says no more than that the text consists of bytes. */
static bool tidy_label(const char *named, char *label, size_t capacity)
{
    return tidy_name(named, label, capacity) && strcmp(label, "us-ascii") != 0 &&
           strcmp(label, "ascii") != 0;
}

/* A page in UTF-16 cannot declare itself UTF-16 in ASCII; a declaration beside the text can. */
static const char *plain_name(const char *label)
{
    return strncmp(label, "utf-16", 6) == 0 ? label : true_name(label);
}

bool nd_charset_named_to_utf8(struct nd_charset *c, const char *label, struct nd_view text,
                              struct nd_arena *arena, struct nd_view *out,
                              struct nd_replaced *replaced)
{
    bool has_mark = nd_mark_len(text.data, text.len) > 0;
    char tidy[48];
    const char *name;

    if (has_mark || !tidy_label(label, tidy, sizeof tidy))
        return nd_charset_to_utf8(c, text, arena, out, replaced);
    name = plain_name(tidy);
    if (!is_readable(c, name))
        return nd_charset_to_utf8(c, text, arena, out, replaced);
    return read_as(c, name, text, arena, out, replaced);
}

bool nd_charset_is_utf8(const char *label)
{
    char tidy[48];

    return tidy_name(label, tidy, sizeof tidy) && strcmp(plain_name(tidy), "utf-8") == 0;
}

/* Whether each byte of ASCII stands for itself and never begins a longer sequence. */
static bool holds_ascii(struct nd_charset *c)
{
    struct nd_converter *converter = c->converter;

    for (unsigned i = 0; i < 128; i++) {
        char byte = (char)i, made[8], *to = made;
        const char *in = &byte;
        size_t left = 1, capacity = sizeof made;

        nd_converter_restart(converter);
        if (nd_converter_convert(converter, &in, &left, &to, &capacity) == (size_t)-1 ||
            to != made + 1 || made[0] != byte)
            return false;
    }
    return true;
}

enum nd_status nd_charset_check(const char *label, struct nd_error *err)
{
    struct nd_charset c = {.name = ""};
    char tidy[48];
    const char *name;
    enum nd_status status = ND_OK;

    if (!tidy_name(label, tidy, sizeof tidy) || !is_readable(&c, name = plain_name(tidy)))
        return nd_fail(err, ND_EINVAL,
                       "charset: '%.40s' is unknown to this system (iconv -l lists those it knows)",
                       label);
    if (c.name[0] && !holds_ascii(&c))
        status = nd_fail(err, ND_EINVAL,
                         "charset: %s cannot be split into records before it is decoded: convert "
                         "it first (iconv -f %s -t UTF-8)%s",
                         name, name,
                         strncmp(name, "utf-16", 6) == 0
                             ? "; files with a byte order mark are read as they are"
                             : "");
    nd_charset_release(&c);
    return status;
}

static bool is_ascii(struct nd_view text)
{
    unsigned char all = 0;

    for (size_t i = 0; i < text.len; i++)
        all |= (unsigned char)text.data[i];
    return all < 0x80;
}

bool nd_charset_decode(struct nd_charset *c, const char *label, struct nd_view text,
                       struct nd_arena *arena, struct nd_view *out, struct nd_replaced *replaced)
{
    char tidy[48];
    const char *name;

    *out = text;
    if (is_ascii(text))
        return true;
    if (!tidy_name(label, tidy, sizeof tidy) || !is_readable(c, name = plain_name(tidy)))
        return false;
    return read_as(c, name, text, arena, out, replaced);
}
