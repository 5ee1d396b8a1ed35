/* json_out.c - writing JSON and TSV into a buffer that grows */
#include "base/json_out.h"

#include "base/number/number.h"
#include "base/utf8.h"
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

/* Reserve this many bytes, which the caller writes; NULL: out of memory. */
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

/* The JSON escape of an ASCII character; NULL: it needs none. */
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

static const char *csv_escape(unsigned char c, char out[8])
{
    (void)out;
    return c == '"' ? "\"\"" : NULL;
}

/* Needs no escape in JSON and TSV: nearly every byte. */
static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/*
 * TSV: the escape of a control character, "\xNN" for each byte; those with names were handled
 * before.
 */
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

/* Append with escapes; `bad` is the printf format for a byte that is not valid UTF-8. */
static void append_escaped(struct nd_json *j, struct nd_view value,
                           const char *(*escape)(unsigned char c, char out[8]), const char *bad)
{
    const unsigned char *s = (const unsigned char *)value.data;
    size_t plain = 0, i = 0;

    while (i < value.len) {
        const char *instead = NULL;
        char capacity[16];
        int n;
        size_t len;

        if (is_plain(s[i])) {
            i++;
            continue;
        }
        n = nd_utf8_sequence(s + i, value.len - i);
        len = n < 0 ? 0 : (size_t)n;
        if (len == 1)
            instead = escape(s[i], capacity);
        if (len && !instead && escape == tsv_escape)
            instead = control_escape(value.data + i, len, capacity);
        if (len >= 1 && !instead) {
            i += len;
            continue;
        }
        if (!len) {
            snprintf(capacity, sizeof capacity, bad, s[i]);
            instead = capacity;
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

void nd_json_put_uint(struct nd_json *j, const char *key, uint64_t value)
{
    nd_json_key(j, key);
    nd_json_uint(j, value);
}

void nd_json_put_double(struct nd_json *j, const char *key, double value)
{
    nd_json_key(j, key);
    nd_json_double(j, value);
}

void nd_json_put_bool(struct nd_json *j, const char *key, bool value)
{
    nd_json_key(j, key);
    nd_json_bool(j, value);
}

void nd_json_put_text(struct nd_json *j, const char *key, const char *value)
{
    nd_json_key(j, key);
    nd_json_text(j, value);
}

void nd_json_put_string(struct nd_json *j, const char *key, struct nd_view value)
{
    nd_json_key(j, key);
    nd_json_string(j, value);
}

void nd_json_put_hex(struct nd_json *j, const char *key, uint64_t value)
{
    nd_json_key(j, key);
    nd_json_hex(j, value);
}

enum nd_status nd_json_take(struct nd_json *j, char **text, size_t *len, struct nd_error *err)
{
    if (j->failed) {
        nd_json_release(j);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    *text = j->text.data;
    *len = j->text.len;
    *j = (struct nd_json){0};
    return ND_OK;
}

void nd_tsv_field(struct nd_json *j, struct nd_view value)
{
    append_escaped(j, value, tsv_escape, "\\x%02X");
}

void nd_csv_cell(struct nd_json *j, struct nd_view value)
{
    bool needs_quotes = value.len && (value.data[0] == ' ' || value.data[value.len - 1] == ' ');

    for (size_t i = 0; !needs_quotes && i < value.len; i++)
        needs_quotes = value.data[i] && strchr(",\"\r\n", value.data[i]);
    if (needs_quotes)
        nd_json_bytes(j, "\"", 1);
    append_escaped(j, value, csv_escape, "\\x%02X");
    if (needs_quotes)
        nd_json_bytes(j, "\"", 1);
}
