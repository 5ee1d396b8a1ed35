/* json_text.c - the scalars of JSON (RFC 8259): strings, numbers, words */
#include "input/json_text.h"

#include <stdint.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits behind \u; -1: they are none. */
static int32_t hex4(const char *p, const char *end)
{
    int32_t value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(p[i]);

        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static size_t put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* What stands behind "\u" at p, a surrogate pair as one; a lone surrogate is U+FFFD. */
static const char *unicode_escape(const char *p, const char *end, uint32_t *c)
{
    int32_t high = hex4(p, end), low;

    if (high < 0)
        return NULL;
    p += 4;
    *c = (uint32_t)high;
    if (high < 0xD800 || high > 0xDFFF)
        return p;
    *c = 0xFFFD;
    if (high <= 0xDBFF && end - p >= 6 && p[0] == '\\' && p[1] == 'u') {
        low = hex4(p + 2, end);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            *c = 0x10000 + ((uint32_t)(high - 0xD800) << 10) + (uint32_t)(low - 0xDC00);
            p += 6;
        }
    }
    return p;
}

static char simple_escape(char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    }
    return 0;
}

/* One escape at p (its backslash) into *c; returns what follows, or NULL. */
static const char *escape(const char *p, const char *end, uint32_t *c)
{
    if (end - p < 2)
        return NULL;
    if (p[1] == 'u')
        return unicode_escape(p + 2, end, c);
    *c = (unsigned char)simple_escape(p[1]);
    return *c ? p + 2 : NULL;
}

bool nd_json_escapes_valid(const char *p, size_t len)
{
    const char *end = p + len;
    uint32_t c;

    while (p && p < end && (p = memchr(p, '\\', (size_t)(end - p))))
        if (!(p = escape(p, end, &c)))
            return false;
    return true;
}

/*
 * Copy 16 bytes at a time until one of them is a backslash, and return how many come before it.
 * Escapes stand every 60 bytes or so in real texts: a call of memchr and one of memcpy for each
 * took twice as long.
 */
static size_t copy_run(const char *p, size_t len, char *out)
{
    typedef unsigned char block __attribute__((vector_size(16)));
    const block backslash = {'\\', '\\', '\\', '\\', '\\', '\\', '\\', '\\',
                             '\\', '\\', '\\', '\\', '\\', '\\', '\\', '\\'};
    size_t n = 0;

    for (; n < len; n += 16) {
        block bytes, equal;
        uint64_t half[2];

        memcpy(&bytes, p + n, 16);
        memcpy(out + n, &bytes, 16);
        equal = (block)(bytes == backslash);
        memcpy(half, &equal, 16);
        if (half[0])
            return n + (unsigned)__builtin_ctzll(half[0]) / 8;
        if (half[1])
            return n + 8 + (unsigned)__builtin_ctzll(half[1]) / 8;
    }
    return len;
}

size_t nd_json_unescape(const char *p, size_t len, char *out)
{
    const char *end = p + len;
    char *o = out;

    while (p < end) {
        size_t left = (size_t)(end - p), run = copy_run(p, left, o);
        uint32_t c;

        if (run >= left) /* a backslash may stand behind the end */
            return (size_t)(o - out) + left;
        o += run;
        p = escape(p + run, end, &c);
        if (!p)
            return SIZE_MAX;
        o += put_utf8(o, c);
    }
    return (size_t)(o - out);
}

static size_t digits(const char *p, size_t len)
{
    size_t n = 0;

    while (n < len && p[n] >= '0' && p[n] <= '9')
        n++;
    return n;
}

/* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
bool nd_json_number_valid(const char *p, size_t len)
{
    const char *end = p + len;
    size_t n;

    if (p < end && *p == '-')
        p++;
    n = digits(p, (size_t)(end - p));
    if (n == 0 || (n > 1 && *p == '0'))
        return false;
    p += n;
    if (p < end && *p == '.') {
        n = digits(p + 1, (size_t)(end - p) - 1);
        if (n == 0)
            return false;
        p += n + 1;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-'))
            p++;
        n = digits(p, (size_t)(end - p));
        if (n == 0)
            return false;
        p += n;
    }
    return p == end;
}
