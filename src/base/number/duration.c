/* duration.c - reading a time that passes, such as 30m or 12h */
#include "base/number/duration.h"

#include <stddef.h>

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

bool nd_duration_read(struct nd_view text, uint64_t *seconds)
{
    uint64_t n = 0, unit = 1;
    size_t at = 0;

    for (; at < text.len && text.data[at] >= '0' && text.data[at] <= '9'; at++) {
        n = 10 * n + (uint64_t)(text.data[at] - '0');
        if (n > UINT32_MAX)
            return false;
    }
    if (at == 0 || text.len - at > 1)
        return false;
    if (at < text.len)
        unit = seconds_of(text.data[at]);
    if (unit == 0 || n == 0 || n > UINT32_MAX / unit)
        return false;
    *seconds = n * unit;
    return true;
}
