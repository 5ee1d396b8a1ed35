/* ratio.c - reading an exact ratio, independent of the locale */
#include <neardup/ratio.h>

#include <stdbool.h>

enum { WHOLE_DIGITS = 10, DECIMALS = 9 }; /* so that p and q stay below 2^64 */

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Take digits from *at. Returns how many, or -1 if there are more than `max`. */
static int take_digits(const char **at, const char *end, int max, uint64_t *value)
{
    int n = 0;

    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        if (++n > max)
            return -1;
        *value = *value * 10 + (uint64_t)(**at - '0');
    }
    return n;
}

static int parse(const char *at, const char *end, uint64_t *p, uint64_t *q)
{
    const bool is_percent = end > at && end[-1] == '%';
    int before = take_digits(&at, end, WHOLE_DIGITS, p), after = 0;

    *q = is_percent ? 100 : 1;
    end -= is_percent;
    if (before > 0 && at < end && *at == '/' && !is_percent) {
        at++;
        *q = 0;
        after = take_digits(&at, end, WHOLE_DIGITS, q);
        return after > 0 && at == end && *q > 0;
    }
    if (before >= 0 && at < end && *at == '.') {
        at++;
        after = take_digits(&at, end, DECIMALS, p);
        for (int i = 0; i < after; i++)
            *q *= 10;
    }
    return before >= 0 && after >= 0 && before + after > 0 && at == end;
}

enum nd_status nd_ratio_parse(const char *text, size_t len, struct nd_ratio *out,
                              struct nd_error *err)
{
    const int shown = len < 40 ? (int)len : 40;
    uint64_t p = 0, q = 0, divisor;

    if (!len || !parse(text, text + len, &p, &q))
        return nd_fail(err, ND_EINVAL, "'%.*s' is not a ratio such as 0.8, 4/5 or 80%%", shown,
                       len ? text : "");
    divisor = greatest_common_divisor(p, q);
    p /= divisor;
    q /= divisor;
    if (p > UINT32_MAX || q > UINT32_MAX)
        return nd_fail(err, ND_EINVAL,
                       "the ratio '%.*s', in lowest terms, has a number above 4294967295", shown,
                       text);
    *out = (struct nd_ratio){(uint32_t)p, (uint32_t)q};
    return ND_OK;
}
