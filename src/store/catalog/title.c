/* title.c - what a document is called: one line */
#include "store/catalog/catalog.h"

#include <string.h>

#include "base/utf8.h"

/* Whether a character ends a word of a title, or could break a line or a terminal. */
static bool is_gap(uint32_t c)
{
    return c <= ' ' || (c >= 0x7F && c <= 0xA0) || c == 0x2028 || c == 0x2029;
}

void nd_title_make(struct nd_view text, struct nd_title *title)
{
    bool has_gap = false;
    size_t used = 0, len;

    *title = (struct nd_title){0};
    for (size_t at = 0; at < text.len; at += len) {
        uint32_t c = nd_utf8_decode(text.data + at, &len);
        size_t gap = has_gap && used ? 1 : 0;

        if (is_gap(c)) {
            has_gap = true;
            continue;
        }
        if (used + gap + len > ND_STORE_TITLE_MAX)
            break;
        if (gap)
            title->text[used++] = ' ';
        memcpy(title->text + used, text.data + at, len);
        used += len;
        has_gap = false;
    }
    title->len = (uint16_t)used;
}
