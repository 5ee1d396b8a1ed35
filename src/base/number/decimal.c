/* decimal.c - decimal numbers of any length, compared exactly */

/*
 * --keep max:FIELD compares numbers that may have more digits than a double holds. A number stays a
 * view of its text and is compared digit by digit; most pairs are decided by a 64-bit key that
 * orders numbers of up to 15 digits exactly.
 */
#include "base/number/decimal.h"

#include <string.h>

enum { EXPONENT_DIGITS = 17, KEY_DIGITS = 15, KEY_EXPONENT_MAX = 1000 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void trim(const char **text, const char **end)
{
    while (*text < *end && memchr(" \t\r\n", **text, 4))
        ++*text;
    while (*end > *text && memchr(" \t\r\n", (*end)[-1], 4))
        --*end;
}

/* Read the exponent after the "e". */
static bool read_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool is_negative = at < end && *at == '-';
    int64_t value = 0;

    at += at < end && (*at == '-' || *at == '+');
    if (at == end)
        return false;
    while (at < end && *at == '0')
        at++;
    if (end - at > EXPONENT_DIGITS)
        return false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return false;
        value = value * 10 + (*at - '0');
    }
    *exponent = is_negative ? -value : value;
    return true;
}

bool nd_decimal_read(const char *bytes, size_t len, struct nd_decimal *out)
{
    const char *text = len ? bytes : "", *end = text + len, *first = NULL, *last = NULL, *at;
    int64_t before = 0, leading = 0, exponent = 0; /* digits before the point; zeroes after it */
    size_t digits = 0;
    bool has_point = false;

    trim(&text, &end);
    *out = (struct nd_decimal){.is_negative = text < end && *text == '-'};
    text += text < end && (*text == '-' || *text == '+');
    for (at = text; at < end && (is_digit(*at) || (*at == '.' && !has_point)); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        digits++;
        if (*at != '0') {
            first = first ? first : at;
            last = at;
        }
        before += first && !has_point;
        leading += !first && has_point;
    }
    if (!digits || (at < end && *at != 'e' && *at != 'E') ||
        (at < end && !read_exponent(at + 1, end, &exponent)))
        return false;
    if (!first) {
        out->is_negative = false;
        return true;
    }
    out->digits = first;
    out->len = (size_t)(last - first) + 1;
    out->exponent = exponent + before - leading;
    return true;
}

/* Take the first digit off *d; 0 if none is left. */
static int next_digit(struct nd_decimal *d)
{
    if (d->len && *d->digits == '.') {
        d->digits++;
        d->len--;
    }
    if (!d->len)
        return 0;
    d->len--;
    return *d->digits++ - '0';
}

static int sign_of(const struct nd_decimal *d)
{
    return d->len == 0 ? 0 : d->is_negative ? -1 : 1;
}

int nd_decimal_compare(const struct nd_decimal *a, const struct nd_decimal *b)
{
    int sign = sign_of(a);
    struct nd_decimal x = *a, y = *b;

    if (sign != sign_of(b))
        return sign < sign_of(b) ? -1 : 1;
    if (sign == 0)
        return 0;
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent ? -sign : sign;
    while (x.len || y.len) {
        int p = next_digit(&x), q = next_digit(&y);

        if (p != q)
            return p < q ? -sign : sign;
    }
    return 0;
}

/*
 * Pack the exponent into 11 bits, 15 digits into 50, and one bit for whether more digits follow: in
 * the order of magnitude, and never 0.
 */
static uint64_t size_key(const struct nd_decimal *d)
{
    struct nd_decimal rest = *d;
    uint64_t value = 0;

    if (d->exponent < -KEY_EXPONENT_MAX)
        return 1;
    if (d->exponent > KEY_EXPONENT_MAX)
        return (UINT64_C(1) << 62) - 1;
    for (unsigned i = 0; i < KEY_DIGITS; i++)
        value = value * 10 + (uint64_t)next_digit(&rest);
    return (uint64_t)(d->exponent + KEY_EXPONENT_MAX + 1) << 51 | value << 1 | (rest.len > 0);
}

uint64_t nd_decimal_key(const struct nd_decimal *d)
{
    const uint64_t middle = UINT64_C(1) << 62;

    if (d->len == 0)
        return middle;
    return d->is_negative ? middle - size_key(d) : middle + size_key(d);
}

bool nd_decimal_floor(const struct nd_decimal *d, unsigned power, int64_t *out)
{
    struct nd_decimal rest = *d;
    int64_t n = d->len ? d->exponent + (int64_t)power : 0; /* digits before the point */
    int64_t value = 0;

    if (n > 19)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, next_digit(&rest), &value))
            return false;
    *out = d->is_negative ? -value : value;
    if (d->is_negative && rest.len)
        --*out;
    return true;
}
