/* text_cut.c - a text without some parts */
#include "uses/repeats/text_cut.h"

#include <neardup/text.h>

#include <stdlib.h>

bool nd_text_ranges_add(struct nd_text_ranges *ranges, uint32_t from, uint32_t to)
{
    struct nd_text_range *last = ranges->n ? &ranges->item[ranges->n - 1] : NULL;

    if (last && from <= last->to) {
        last->to = to > last->to ? to : last->to;
        return true;
    }
    if (!ND_RESERVE(ranges->item, &ranges->capacity, ranges->n + 1))
        return false;
    ranges->item[ranges->n++] = (struct nd_text_range){from, to};
    return true;
}

uint64_t nd_text_ranges_bytes(const struct nd_text_ranges *ranges)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < ranges->n; i++)
        bytes += ranges->item[i].to - ranges->item[i].from;
    return bytes;
}

/* Check that no token can have this code point, nor go on across it.  Negative: out of memory. */
static int is_separator(const char *code, size_t len)
{
    struct nd_token *token = NULL;
    size_t n = 0;
    int is_none;

    if (len == 1 && (unsigned char)*code < 0x80)
        return !((*code >= '0' && *code <= '9') || ((*code | 32) >= 'a' && (*code | 32) <= 'z'));
    if (nd_text_tokens(code, len, &token, &n, NULL) != ND_OK)
        return ND_ENOMEM;
    is_none = n == 0;
    free(token);
    /* Code points that are ignored separate nothing. */
    return is_none && nd_text_length(code, len) > 0;
}

int nd_text_joins(struct nd_view text, const struct nd_text_range *range)
{
    size_t before = range->from, after = range->to;
    int left, right;

    if (range->from == 0 || range->to == text.len)
        return 0;
    do
        before--;
    while (before > 0 && (text.data[before] & 0xC0) == 0x80);
    do
        after++;
    while (after < text.len && (text.data[after] & 0xC0) == 0x80);
    left = is_separator(text.data + before, range->from - before);
    right = left == 0 ? is_separator(text.data + range->to, after - range->to) : 1;
    return left < 0 || right < 0 ? ND_ENOMEM : !left && !right;
}

bool nd_text_cut(struct nd_view text, const struct nd_text_ranges *ranges, struct nd_buffer *left)
{
    size_t from = 0;

    left->len = 0;
    for (size_t i = 0; i < ranges->n; i++) {
        const struct nd_text_range *range = &ranges->item[i];
        const int joins = nd_text_joins(text, range);

        if (joins < 0 || !nd_buffer_append(left, text.data + from, range->from - from) ||
            (joins && !nd_buffer_append(left, " ", 1)))
            return false;
        from = range->to;
    }
    return nd_buffer_append(left, text.data + from, text.len - from);
}
