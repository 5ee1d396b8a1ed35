/* duration.c - reading a time that passes, such as 30m or 12h */
#include <neardup/duration.h>

enum { QUOTED_MOST = 40 };

/* The seconds of a unit; 0: there is no such unit. */
static uint64_t seconds_of(char unit)
{
    switch (unit) {
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 86400;
    case 'w': return 604800;
    default: return 0;
    }
}

/* The seconds that a text stands for; 0: it is no time, or too long a one. */
static uint64_t read_seconds(const char *text, size_t len)
{
    uint64_t n = 0, unit = 1;
    size_t at = 0;

    for (; at < len && text[at] >= '0' && text[at] <= '9'; at++) {
        n = 10 * n + (uint64_t)(text[at] - '0');
        if (n > UINT32_MAX)
            return 0;
    }
    if (at == 0 || len - at > 1)
        return 0;
    if (at < len)
        unit = seconds_of(text[at]);
    return unit == 0 || n > UINT32_MAX / unit ? 0 : n * unit;
}

enum nd_status nd_duration_parse(const char *text, size_t len, uint64_t *seconds,
                                 struct nd_error *err)
{
    uint64_t n = read_seconds(text, len);

    if (n == 0)
        return nd_fail(err, ND_EINVAL,
                       "'%.*s' is not a time such as 90s, 30m, 12h, 90d or 2w, of 1 to %u seconds",
                       (int)(len < QUOTED_MOST ? len : QUOTED_MOST), len ? text : "", UINT32_MAX);
    *seconds = n;
    return ND_OK;
}
