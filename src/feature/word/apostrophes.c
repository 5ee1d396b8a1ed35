/*
 * apostrophes.c - a text whose apostrophes within words are taken out (Seshasai 2009, §6.4.2:
 * "japans")
 */
#include "feature/word/apostrophes.h"

#include "base/utf8.h"
#include "feature/word/scan.h"
#include "text/normal.h"

#include <string.h>

static bool is_word_at(const char *p)
{
    size_t n;

    return nd_class_of(nd_utf8_decode(p, &n)) == ND_CLASS_WORD;
}

static bool is_word_before(const char *text, const char *p)
{
    if (p == text)
        return false;
    do
        p--;
    while ((*p & 0xC0) == 0x80);
    return is_word_at(p);
}

/* The bytes of the apostrophe at p: 0 where there is none. */
static size_t apostrophe_at(const char *p, const char *end)
{
    if (*p == '\'')
        return 1;
    if (end - p >= 3 && (memcmp(p, "\xE2\x80\x99", 3) == 0 || memcmp(p, "\xEF\xBC\x87", 3) == 0))
        return 3;
    return 0;
}

/* The next apostrophe that goes, and its bytes; `end` where there is none. */
static const char *next_joint(const char *text, const char *p, const char *end, size_t *len)
{
    for (; p < end; p++) {
        while (end - p >= 8 && !nd_scan_is_wide(nd_scan_load(p)) &&
               !nd_scan_has(nd_scan_load(p), '\''))
            p += 8;
        if (p == end)
            break;
        if (*p != '\'' && *p != '\xE2' && *p != '\xEF')
            continue;
        *len = apostrophe_at(p, end);
        if (*len > 0 && p + *len < end && is_word_before(text, p) && is_word_at(p + *len))
            return p;
    }
    return end;
}

bool nd_apostrophes_join(struct nd_buffer *buffer, struct nd_view text, struct nd_view *joined)
{
    const char *end = text.len ? text.data + text.len : text.data, *from = text.data, *p;
    size_t len = 0;

    *joined = text;
    p = next_joint(text.data, from, end, &len);
    if (p == end)
        return true;
    buffer->len = 0;
    if (!nd_buffer_reserve(buffer, text.len))
        return false;
    for (; p < end; p = next_joint(text.data, from, end, &len)) {
        if (!nd_buffer_append(buffer, from, (size_t)(p - from)))
            return false;
        from = p + len;
    }
    if (!nd_buffer_append(buffer, from, (size_t)(end - from)))
        return false;
    *joined = (struct nd_view){buffer->data, buffer->len};
    return true;
}

/* How many bytes of apostrophes stand before a place in the joined text; moves on from *joint. */
static uint64_t removed_before(struct nd_view text, uint64_t joined, uint64_t removed,
                               const char **joint, size_t *len)
{
    const char *end = text.data + text.len;

    while (*joint < end && joined + removed >= (uint64_t)(*joint - text.data)) {
        removed += *len;
        *joint = next_joint(text.data, *joint + *len, end, len);
    }
    return removed;
}

void nd_apostrophes_restore(struct nd_view text, struct nd_token *token, size_t n)
{
    uint64_t before = 0;
    size_t len = 0, end_len;
    const char *joint, *end_joint;

    if (n == 0)
        return;
    joint = next_joint(text.data, text.data, text.data + text.len, &len);
    for (size_t i = 0; i < n; i++) {
        uint64_t last = token[i].offset + token[i].len - 1;

        before = removed_before(text, token[i].offset, before, &joint, &len);
        token[i].offset += before;
        end_joint = joint;
        end_len = len;
        token[i].len +=
            (uint32_t)(removed_before(text, last, before, &end_joint, &end_len) - before);
    }
}
