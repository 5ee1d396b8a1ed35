/* keep.c - who stands for a cluster: the order in which documents are offered */
#include "pipeline/keep.h"

#include "base/number.h"

#include <neardup/text.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A field's value with a zero behind it, white space around it taken away; false: too long. */
static bool copy_value(struct nd_view value, char *out, size_t room)
{
    while (value.len && strchr(" \t\r\n", value.data[0])) {
        value.data++;
        value.len--;
    }
    while (value.len && strchr(" \t\r\n", value.data[value.len - 1]))
        value.len--;
    if (!value.data || !value.len || value.len >= room)
        return false;
    memcpy(out, value.data, value.len);
    out[value.len] = '\0';
    return true;
}

static bool parse_number(struct nd_view value, double *number)
{
    char text[128], *end;

    if (!copy_value(value, text, sizeof text) || strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    *number = nd_number_read(text, &end);
    return end != text && !*end && isfinite(*number);
}

/* Order-preserving: a lesser number has a lesser key. */
static uint64_t key_of_number(double number)
{
    union {
        double number;
        uint64_t bits;
    } as = {number + 0.0}; /* -0 becomes 0 */

    return as.bits >> 63 ? ~as.bits : as.bits | UINT64_C(1) << 63;
}

bool nd_keep_key(const struct nd_keep *keep, struct nd_view text, struct nd_view value,
                 uint64_t *key)
{
    double number;
    int64_t date, length;

    *key = 0;
    switch (keep->by) {
    case ND_KEEP_FIRST:
    case ND_KEEP_LAST: return true;
    case ND_KEEP_LONGEST:
    case ND_KEEP_SHORTEST:
        *key = ND_KEEP_WITHOUT;
        if (keep->field && !value.len)
            return true;
        text = keep->field ? value : text;
        length = nd_text_length(text.data, text.len);
        if (length < 0)
            return false;
        *key = keep->by == ND_KEEP_SHORTEST ? (uint64_t)length : UINT64_MAX - (uint64_t)length;
        return true;
    case ND_KEEP_NEWEST:
        *key =
            nd_date_parse(value, &date) ? ~((uint64_t)date ^ UINT64_C(1) << 63) : ND_KEEP_WITHOUT;
        return true;
    case ND_KEEP_GREATEST:
        *key = parse_number(value, &number) ? ~key_of_number(number) : ND_KEEP_WITHOUT;
        return true;
    case ND_KEEP_LEAST:
        *key = parse_number(value, &number) ? key_of_number(number) : ND_KEEP_WITHOUT;
        return true;
    }
    return true;
}
