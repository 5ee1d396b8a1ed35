/* table_row.c - the cells of a row of CSV (RFC 4180) or TSV */
#include "input/formats/table_row.h"

#include <string.h>

/*
 * The end of the quoted part that begins at data[0]: behind its closing quote, or that of the data.
 */
static size_t quoted_end(const char *data, size_t len)
{
    size_t i = 1;

    while (i < len) {
        const char *quote = memchr(data + i, '"', len - i);

        if (!quote)
            return len;
        i = (size_t)(quote - data) + 1;
        if (i == len || data[i] != '"')
            return i;
        i++;
    }
    return len;
}

int nd_row_next(enum nd_format format, struct nd_view *rest, struct nd_view *raw)
{
    char separator = format == ND_FORMAT_TSV ? '\t' : ',';
    size_t from = 0;
    const char *stop;

    if (!rest->data)
        return 0;
    if (format == ND_FORMAT_CSV && rest->len && rest->data[0] == '"')
        from = quoted_end(rest->data, rest->len);
    stop = memchr(rest->data + from, separator, rest->len - from);
    raw->data = rest->data;
    raw->len = stop ? (size_t)(stop - rest->data) : rest->len;
    rest->len = stop ? rest->len - raw->len - 1 : 0;
    rest->data = stop ? stop + 1 : NULL;
    return 1;
}

/* Doubled quotes become one; what stands behind the closing quote is kept as it is. */
static size_t unquote(const char *data, size_t len, char *out)
{
    size_t end = quoted_end(data, len), n = 0, i = 1;
    size_t inside_end = end > 1 && data[end - 1] == '"' ? end - 1 : end;

    while (i < inside_end) {
        const char *quote = memchr(data + i, '"', inside_end - i);
        size_t run = quote ? (size_t)(quote - data) + 1 - i : inside_end - i;

        memcpy(out + n, data + i, run);
        n += run;
        i += run + 1; /* and the second of the two quotes */
    }
    memcpy(out + n, data + end, len - end);
    return n + len - end;
}

static size_t unescape(const char *data, size_t len, char *out)
{
    const char *end = data + len;
    size_t n = 0;

    while (data < end) {
        const char *stop = memchr(data, '\\', (size_t)(end - data));
        size_t run = (size_t)((stop ? stop : end) - data);
        char next = stop && stop + 1 < end ? stop[1] : 0;

        memcpy(out + n, data, run);
        n += run;
        if (!stop)
            break;
        data = stop + 2;
        switch (next) {
        case 't': out[n++] = '\t'; break;
        case 'n': out[n++] = '\n'; break;
        case 'r': out[n++] = '\r'; break;
        case '\\': out[n++] = '\\'; break;
        default: /* not one of them: it stands for itself */ out[n++] = '\\'; data = stop + 1;
        }
    }
    return n;
}

bool nd_cell_value(enum nd_format format, struct nd_view raw, struct nd_arena *arena,
                   struct nd_view *value)
{
    bool is_quoted = format == ND_FORMAT_CSV && raw.len && raw.data[0] == '"';
    char *made;

    *value = raw;
    if (is_quoted && raw.len >= 2 && raw.data[raw.len - 1] == '"' &&
        !memchr(raw.data + 1, '"', raw.len - 2)) {
        *value = (struct nd_view){raw.data + 1, raw.len - 2};
        return true;
    }
    if (!is_quoted && (format != ND_FORMAT_TSV || !memchr(raw.data, '\\', raw.len)))
        return true;
    made = nd_arena_alloc(arena, raw.len + ND_BUFFER_PADDING);
    if (!made)
        return false;
    value->len = is_quoted ? unquote(raw.data, raw.len, made) : unescape(raw.data, raw.len, made);
    value->data = made;
    memset(made + value->len, 0, ND_BUFFER_PADDING);
    return true;
}
