/* keep.c - who stands for a cluster: the order in which documents are offered */
#include "recipe/keep.h"

#include <neardup/text.h>

#include "base/number/decimal.h"

bool nd_keep_is_by_length(const struct nd_keep *keep)
{
    return (keep->by == ND_KEEP_LONGEST || keep->by == ND_KEEP_SHORTEST) && !keep->field;
}

uint64_t nd_keep_key_of_length(const struct nd_keep *keep, uint64_t length)
{
    return keep->by == ND_KEEP_SHORTEST ? length : UINT64_MAX - length;
}

bool nd_keep_key(const struct nd_keep *keep, struct nd_view text, struct nd_view value,
                 uint64_t *key)
{
    struct nd_decimal number;
    int64_t date, length;

    *key = 0;
    switch (keep->by) {
    case ND_KEEP_FIRST:
    case ND_KEEP_LAST:
    case ND_KEEP_NONE: return true;
    case ND_KEEP_LONGEST:
    case ND_KEEP_SHORTEST:
        *key = ND_KEEP_WITHOUT;
        if (keep->field && !value.len)
            return true;
        text = keep->field ? value : text;
        length = nd_text_length(text.data, text.len);
        if (length < 0)
            return false;
        *key = nd_keep_key_of_length(keep, (uint64_t)length);
        return true;
    case ND_KEEP_NEWEST:
        *key =
            nd_date_parse(value, &date) ? ~((uint64_t)date ^ UINT64_C(1) << 63) : ND_KEEP_WITHOUT;
        return true;
    case ND_KEEP_GREATEST:
        *key = nd_decimal_read(value.data, value.len, &number)
                   ? UINT64_MAX - 1 - nd_decimal_key(&number)
                   : ND_KEEP_WITHOUT;
        return true;
    case ND_KEEP_LEAST:
        *key = nd_decimal_read(value.data, value.len, &number) ? nd_decimal_key(&number)
                                                               : ND_KEEP_WITHOUT;
        return true;
    }
    return true;
}

bool nd_keep_is_rough(const struct nd_keep *keep, uint64_t key)
{
    return (keep->by == ND_KEEP_GREATEST || keep->by == ND_KEEP_LEAST) && key != ND_KEEP_WITHOUT &&
           key % 2 != 0;
}

int nd_keep_compare(const struct nd_keep *keep, struct nd_view a, struct nd_view b)
{
    struct nd_decimal x, y;
    int order;

    if (!nd_decimal_read(a.data, a.len, &x) || !nd_decimal_read(b.data, b.len, &y))
        return 0;
    order = nd_decimal_compare(&x, &y);
    return keep->by == ND_KEEP_GREATEST ? -order : order;
}
