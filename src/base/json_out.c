/* json_out.c - writing JSON and TSV into a buffer that grows */
#include "base/json_out.h"

#include "base/share_text.h"
#include <neardup/terminal.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nd_json_release(struct nd_json *j)
{
    nd_buffer_release(&j->text);
    *j = (struct nd_json){0};
}

void nd_json_bytes(struct nd_json *j, const void *data, size_t len)
{
    if (!nd_buffer_append(&j->text, data, len))
        j->failed = true;
}

/* So many bytes more, to be written at once; NULL: out of memory. */
static char *claim(struct nd_json *j, size_t len)
{
    struct nd_buffer *text = &j->text;

    if (!nd_buffer_reserve(text, text->len + len)) {
        j->failed = true;
        return NULL;
    }
    text->len += len;
    return text->data + text->len - len;
}

static void value_begins(struct nd_json *j)
{
    if (j->after_value)
        nd_json_bytes(j, ",", 1);
    j->after_value = true;
}

void nd_json_open(struct nd_json *j, char bracket)
{
    value_begins(j);
    nd_json_bytes(j, &bracket, 1);
    j->after_value = false;
}

void nd_json_close(struct nd_json *j, char bracket)
{
    nd_json_bytes(j, &bracket, 1);
    j->after_value = true;
}

void nd_json_key(struct nd_json *j, const char *key)
{
    size_t len = strlen(key), comma = j->after_value;
    char *at = claim(j, comma + len + 3);

    j->after_value = false;
    if (!at)
        return;
    if (comma)
        *at++ = ',';
    *at++ = '"';
    memcpy(at, key, len);
    memcpy(at + len, "\":", 2);
}

void nd_json_line(struct nd_json *j)
{
    nd_json_bytes(j, "\n", 1);
    j->after_value = false;
}

/*
 * Length of the well-formed UTF-8 sequence at s, or 0 (Unicode 15.0, table 3-7).  Base may not ask
 * src/text, which sits above it.
 */
static size_t sequence_len(const unsigned char *s, size_t left)
{
    static const struct {
        unsigned char first, last, second_from, second_to, len;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (s[0] < forms[i].first || s[0] > forms[i].last)
            continue;
        if (left < forms[i].len)
            return 0;
        if (forms[i].len > 1 && (s[1] < forms[i].second_from || s[1] > forms[i].second_to))
            return 0;
        for (size_t k = 2; k < forms[i].len; k++)
            if ((s[k] & 0xC0) != 0x80)
                return 0;
        return forms[i].len;
    }
    return 0;
}

/* The JSON escape of an ASCII character, or NULL where it stands for itself. */
static const char *json_escape(unsigned char c, char out[8])
{
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    default: break;
    }
    if (c >= 0x20 && c != 0x7F)
        return NULL;
    snprintf(out, 8, "\\u%04x", c);
    return out;
}

static const char *tsv_escape(unsigned char c, char out[8])
{
    (void)out;
    switch (c) {
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

/* Stands for itself in JSON and in TSV: nearly every byte. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* TSV: the escape of a control, "\xNN" for each byte; the named ones were met before. */
static const char *control_escape(const char *s, size_t len, char out[16])
{
    int is_control;
    size_t n = nd_terminal_character(s, len, &is_control);

    if (!is_control)
        return NULL;
    for (size_t i = 0; i < n; i++)
        snprintf(out + 4 * i, 5, "\\x%02X", (unsigned char)s[i]);
    return out;
}

/* Append with escapes; `bad` is printf's format of a byte that is no UTF-8. */
static void append_escaped(struct nd_json *j, struct nd_view value,
                           const char *(*escape)(unsigned char c, char out[8]), const char *bad)
{
    const unsigned char *s = (const unsigned char *)value.data;
    size_t plain = 0, i = 0;

    while (i < value.len) {
        const char *instead = NULL;
        char room[16];
        size_t len;

        if (is_plain(s[i])) {
            i++;
            continue;
        }
        len = s[i] < 0x80 ? 1 : sequence_len(s + i, value.len - i);
        if (len == 1)
            instead = escape(s[i], room);
        if (len && !instead && escape == tsv_escape)
            instead = control_escape(value.data + i, len, room);
        if (len >= 1 && !instead) {
            i += len;
            continue;
        }
        if (!len) {
            snprintf(room, sizeof room, bad, s[i]);
            instead = room;
        }
        nd_json_bytes(j, s + plain, i - plain);
        nd_json_bytes(j, instead, strlen(instead));
        plain = i += len ? len : 1;
    }
    if (value.len)
        nd_json_bytes(j, s + plain, value.len - plain);
}

void nd_json_string(struct nd_json *j, struct nd_view value)
{
    value_begins(j);
    nd_json_bytes(j, "\"", 1);
    append_escaped(j, value, json_escape, "\\\\x%02X");
    nd_json_bytes(j, "\"", 1);
}

void nd_json_name(struct nd_json *j, struct nd_view key)
{
    nd_json_string(j, key);
    nd_json_bytes(j, ":", 1);
    j->after_value = false;
}

void nd_json_text(struct nd_json *j, const char *value)
{
    nd_json_string(j, (struct nd_view){value, strlen(value)});
}

void nd_json_uint(struct nd_json *j, uint64_t value)
{
    char text[ND_UINT_TEXT];

    value_begins(j);
    nd_json_bytes(j, text, nd_uint_text(value, text));
}

size_t nd_uint_text(uint64_t value, char out[ND_UINT_TEXT])
{
    char digit[ND_UINT_TEXT];
    size_t at = sizeof digit;

    do {
        digit[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memcpy(out, digit + at, sizeof digit - at);
    return sizeof digit - at;
}

int nd_double_text(double value, char out[32])
{
    int len = nd_share_text(value, out);

    if (len > 0)
        return len;
    for (int digits = 1; digits <= 17; digits += digits < 15 ? 14 : 1) {
        len = snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    for (int i = 0; i < len; i++)
        if (out[i] == ',')
            out[i] = '.';
    return len;
}

void nd_json_double(struct nd_json *j, double value)
{
    char text[32];

    value_begins(j);
    if (isfinite(value))
        nd_json_bytes(j, text, (size_t)nd_double_text(value, text));
    else
        nd_json_bytes(j, "null", 4);
}

void nd_json_bool(struct nd_json *j, bool value)
{
    value_begins(j);
    nd_json_bytes(j, value ? "true" : "false", value ? 4 : 5);
}

void nd_json_null(struct nd_json *j)
{
    value_begins(j);
    nd_json_bytes(j, "null", 4);
}

void nd_json_raw(struct nd_json *j, struct nd_view value)
{
    value_begins(j);
    nd_json_bytes(j, value.data, value.len);
}

void nd_json_hex(struct nd_json *j, uint64_t value)
{
    char text[24];

    value_begins(j);
    nd_json_bytes(j, text, (size_t)snprintf(text, sizeof text, "\"%016" PRIx64 "\"", value));
}

void nd_tsv_field(struct nd_json *j, struct nd_view value)
{
    append_escaped(j, value, tsv_escape, "\\x%02X");
}
