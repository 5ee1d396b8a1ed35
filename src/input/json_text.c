/* json_text.c - the scalars of JSON (RFC 8259): strings, numbers, words */
#include "input/json_text.h"

#include "simd/json_kernels.h"

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

/* One escape at p (its backslash) into *c; returns what follows, or NULL. */
static const char *escape(const char *p, const char *end, uint32_t *c)
{
    if (end - p < 2)
        return NULL;
    if (p[1] == 'u')
        return unicode_escape(p + 2, end, c);
    *c = (unsigned char)p[1] < 128 ? nd_json_kernels()->escape[(unsigned char)p[1]] : 0;
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

/* The kernels leave \u to the loop within, and what is wrong. */
size_t nd_json_unescape(const char *p, size_t len, char *out)
{
    const struct nd_json_kernels *kernels = nd_json_kernels();
    const char *end = p + len;
    char *o = out;

    for (;;) {
        size_t made;

        p += kernels->unescape((const uint8_t *)p, (size_t)(end - p), (uint8_t *)o, &made);
        o += made;
        if (p == end)
            return (size_t)(o - out);
        do {
            uint32_t c;

            p = escape(p, end, &c);
            if (!p)
                return SIZE_MAX;
            o += put_utf8(o, c);
        } while (p < end && *p == '\\');
    }
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
