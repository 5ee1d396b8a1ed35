/* field_values.c - a field's value, or the values of a JSON array */
#include <string.h>

#include "base/utf8.h"
#include "feature/field_values.h"

/* Make a value of the bytes since the last one, unless there are none.  1; 0: no memory. */
static int end_value(struct nd_text_list *v)
{
    return v->bytes.len == nd_text_list_begin(v) || nd_text_list_end(v);
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* Four hexadecimal digits; -1: they are none. */
static int32_t hex(const char *p, const char *end)
{
    int32_t value = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdef0123456789ABCDEF";
        const char *digit = p[i] ? strchr(digits, p[i]) : NULL;

        if (!digit)
            return -1;
        value = value * 16 + (int32_t)((digit - digits) % 16);
    }
    return value;
}

/* The code point of \uXXXX, *p behind the u; half a pair is U+FFFD.  -1: it is none. */
static int32_t read_code(const char **p, const char *end)
{
    int32_t code = hex(*p, end), low;

    if (code < 0)
        return -1;
    *p += 4;
    if (code < 0xD800 || code > 0xDFFF)
        return code;
    if (code > 0xDBFF || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
        return 0xFFFD;
    low = hex(*p + 2, end);
    if (low < 0xDC00 || low > 0xDFFF)
        return 0xFFFD;
    *p += 6;
    return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

/* An escape, *p behind the backslash, to bytes; their number, -1: it is none. */
static int read_escape(const char **p, const char *end, char out[4])
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const char *name;
    int32_t code;

    if (*p == end)
        return -1;
    if (**p == 'u') {
        ++*p;
        code = read_code(p, end);
        return code < 0 ? -1 : (int)nd_utf8_put(out, (uint32_t)code);
    }
    name = **p ? strchr(names, **p) : NULL;
    if (!name)
        return -1;
    ++*p;
    out[0] = values[name - names];
    return 1;
}

/* A string, *p behind its first quotation mark.  1; 0: it is none; -1: no memory. */
static int read_string(struct nd_text_list *v, const char **p, const char *end)
{
    while (*p < end && **p != '"') {
        const char *from = *p;
        char bytes[4];
        int n;

        while (*p < end && **p != '"' && **p != '\\')
            ++*p;
        if (!nd_buffer_append(&v->bytes, from, (size_t)(*p - from)))
            return -1;
        if (*p == end || **p == '"')
            continue;
        ++*p;
        n = read_escape(p, end, bytes);
        if (n < 0)
            return 0;
        if (!nd_buffer_append(&v->bytes, bytes, (size_t)n))
            return -1;
    }
    if (*p == end)
        return 0;
    ++*p;
    return 1;
}

/* A number or a word; null is no value. */
static int read_word(struct nd_text_list *v, const char **p, const char *end)
{
    const char *from = *p;
    size_t len;

    while (*p < end && **p && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", **p))
        ++*p;
    len = (size_t)(*p - from);
    if (len == 0)
        return 0;
    if (len == 4 && memcmp(from, "null", 4) == 0)
        return 1;
    return nd_buffer_append(&v->bytes, from, len) ? 1 : -1;
}

/* The whole array.  1; 0: it is none that can be taken apart; -1: no memory. */
static int read_array(struct nd_text_list *v, const char *p, const char *end)
{
    p = skip_space(p, end);
    if (p == end || *p++ != '[')
        return 0;
    p = skip_space(p, end);
    if (p < end && *p == ']')
        return skip_space(p + 1, end) == end;
    for (;;) {
        int status;

        if (p < end && *p == '"') {
            p++;
            status = read_string(v, &p, end);
        } else {
            status = read_word(v, &p, end);
        }
        if (status <= 0)
            return status;
        if (!end_value(v))
            return -1;
        p = skip_space(p, end);
        if (p == end)
            return 0;
        if (*p == ']')
            return skip_space(p + 1, end) == end;
        if (*p != ',')
            return 0;
        p = skip_space(p + 1, end);
    }
}

/* A key and its number.  1; 0: they are none; -1: no memory. */
static int read_pair(struct nd_text_list *v, const char **p, const char *end)
{
    size_t count = v->count, len = v->bytes.len;
    int status = *p < end && **p == '"' ? (++*p, read_string(v, p, end)) : 0;

    if (status > 0 && !end_value(v))
        return -1;
    *p = skip_space(*p, end);
    if (status <= 0 || *p == end || *(*p)++ != ':')
        return status < 0 ? status : 0;
    *p = skip_space(*p, end);
    status = read_word(v, p, end);
    if (status > 0 && !end_value(v))
        return -1;
    *p = skip_space(*p, end);
    if (v->count != count + 2) {
        v->count = count;
        v->bytes.len = len;
    }
    return status;
}

static int read_object(struct nd_text_list *v, const char *p, const char *end)
{
    p = skip_space(p, end);
    if (p == end || *p++ != '{')
        return 0;
    p = skip_space(p, end);
    if (p < end && *p == '}')
        return skip_space(p + 1, end) == end;
    for (;;) {
        int status = read_pair(v, &p, end);

        if (status <= 0)
            return status;
        if (p == end)
            return 0;
        if (*p == '}')
            return skip_space(p + 1, end) == end;
        if (*p != ',')
            return 0;
        p = skip_space(p + 1, end);
    }
}

bool nd_field_values_read_pairs(struct nd_text_list *v, struct nd_view value)
{
    int status;

    v->bytes.len = 0;
    v->count = 0;
    status = value.len ? read_object(v, value.data, value.data + value.len) : 0;
    if (status == 0)
        v->count = 0;
    return status >= 0;
}

bool nd_field_values_read(struct nd_text_list *v, struct nd_view value)
{
    int status;

    v->bytes.len = 0;
    v->count = 0;
    if (!value.len)
        return true;
    status = read_array(v, value.data, value.data + value.len);
    if (status != 0)
        return status > 0;
    v->bytes.len = 0;
    v->count = 0;
    return nd_buffer_append(&v->bytes, value.data, value.len) && end_value(v);
}
