/* framing.c - heads, lengths, chunks and trailers, by the rules of head.c for their lines */
#include "server/wire/framing.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/view.h"
#include "server/wire/head.h"

/* libmicrohttpd gets these in place of a malformed head, and of the rest of a body. */
static const char any_request[] = "GET / HTTP/1.0\r\n\r\n", last_chunk[] = "\r\n0\r\n\r\n";

void nd_framing_init(struct nd_framing *f, size_t head_bytes)
{
    memset(f, 0, sizeof *f);
    f->head_bytes = head_bytes;
}

void nd_framing_release(struct nd_framing *f)
{
    nd_buffer_release(&f->bytes);
}

/* ---- Refusing ---- */

/* Put something else in place of all that has not passed. */
static bool replace(struct nd_framing *f, const char *text)
{
    f->bytes.len = f->seen = f->ready;
    f->state = ND_FRAMING_REFUSED;
    if (!nd_buffer_append(&f->bytes, text, strlen(text)))
        return false;
    f->ready = f->seen = f->bytes.len;
    return true;
}

static bool refuse_head(struct nd_framing *f, enum nd_refusal refusal, const char *detail)
{
    f->refusal = refusal;
    f->refused = ++f->heads;
    (void)snprintf(f->detail, sizeof f->detail, "%.*s", (int)sizeof f->detail - 1, detail);
    return replace(f, any_request);
}

static bool refuse_chunk(struct nd_framing *f)
{
    f->refusal = ND_REFUSAL_MALFORMED;
    f->refused = f->heads;
    (void)snprintf(f->detail, sizeof f->detail, "%s",
                   f->state == ND_FRAMING_TRAILERS
                       ? "the trailers of the body are malformed or too long"
                       : "the body has a chunk that is malformed");
    return replace(f, f->state == ND_FRAMING_BEHIND ? last_chunk : last_chunk + 2);
}

/* The result of taking a part by refusing it. */
static int done(bool has_memory)
{
    return has_memory ? 1 : -1;
}

/* ---- Lines ---- */

/* The bytes that have not passed. */
static struct nd_view waiting(const struct nd_framing *f)
{
    return (struct nd_view){f->bytes.data + f->ready, f->bytes.len - f->ready};
}

static void pass(struct nd_framing *f, size_t len, enum nd_framing_state next)
{
    f->ready += len;
    f->seen = f->ready;
    f->state = next;
}

/* Find the end of the lines that wait, which an empty one ends: 1 and their length, with it; 0: it
 * has not arrived; -1: a line ends with LF alone. */
static int find_empty_line(struct nd_framing *f, size_t *len)
{
    struct nd_view v = waiting(f);
    const char *at = f->bytes.data + f->seen, *end = v.data + v.len, *lf;

    for (; at < end && (lf = memchr(at, '\n', (size_t)(end - at))); at = lf + 1) {
        if (lf == v.data || lf[-1] != '\r')
            return -1;
        *len = (size_t)(lf + 1 - v.data);
        if (*len == 2 || (*len >= 4 && lf[-2] == '\n'))
            return 1;
    }
    f->seen = f->bytes.len;
    return 0;
}

/* ---- Heads ---- */

static bool has_lf(struct nd_view v)
{
    return v.len && memchr(v.data, '\n', v.len) != NULL;
}

static bool refuse_long_head(struct nd_framing *f)
{
    struct nd_view v = waiting(f);
    char detail[sizeof f->detail];

    if (v.len > f->head_bytes / 2)
        v.len = f->head_bytes / 2;
    if (has_lf(v)) { /* fewer fields would do */
        (void)snprintf(detail, sizeof detail, "the head has more than %zu bytes, or than %d fields",
                       f->head_bytes, ND_FRAMING_FIELDS);
        return refuse_head(f, ND_REFUSAL_LONG_HEAD, detail);
    }
    (void)snprintf(detail, sizeof detail, "the request line with its head has more than %zu bytes",
                   f->head_bytes);
    return refuse_head(f, ND_REFUSAL_LONG_ADDRESS, detail);
}

/* Give fields for cookies, which nobody reads, another name: libmicrohttpd makes a copy of each, for
 * which its memory has no room. */
static void rename_cookies(char *head, size_t len)
{
    static const char name[] = "\ncookie:";

    for (size_t i = 0; i + sizeof name <= len; i++)
        if (head[i] == '\n' && strncasecmp(head + i, name, sizeof name - 1) == 0)
            head[i + 1] = 'X';
}

/* Take a head that waits, if it is whole.  1; 0: it is not; -1: out of memory. */
static int take_head(struct nd_framing *f)
{
    struct nd_error err = {.message = ""};
    struct nd_head head;
    enum nd_refusal refusal;
    size_t len = 0;
    int found;

    if (waiting(f).len == 0)
        return 0;
    found = find_empty_line(f, &len);
    if (found < 0)
        return done(refuse_head(f, ND_REFUSAL_MALFORMED, "a line of the head ends with LF alone"));
    if (found == 1 && len == 2) { /* an empty line between requests (RFC 9112, 2.2) */
        pass(f, 2, ND_FRAMING_HEAD);
        return 1;
    }
    if (found == 0 && waiting(f).len <= f->head_bytes)
        return 0;
    if (found == 0 || len > f->head_bytes)
        return done(refuse_long_head(f));
    refusal = nd_head_parse(f->bytes.data + f->ready, len, &head, &f->fields, &err);
    if (refusal != ND_REFUSAL_NONE)
        return done(refuse_head(f, refusal, err.message));
    if (f->fields > ND_FRAMING_FIELDS)
        return done(refuse_long_head(f));
    rename_cookies(f->bytes.data + f->ready, len);
    f->heads++;
    f->left = head.length;
    pass(f, len,
         head.is_chunked ? ND_FRAMING_SIZE
         : head.length   ? ND_FRAMING_BODY
                         : ND_FRAMING_HEAD);
    return 1;
}

/* ---- Bodies ---- */

static int take_bytes(struct nd_framing *f, enum nd_framing_state next)
{
    size_t n = waiting(f).len;

    if (n == 0)
        return 0;
    if (n > f->left)
        n = (size_t)f->left;
    f->left -= n;
    pass(f, n, f->left ? f->state : next);
    return 1;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read 1*HEXDIG [";" extensions] CR LF (RFC 9112, 7.1), without white space before the semicolon. */
static bool read_size(struct nd_view line, uint64_t *size)
{
    size_t i = 0;

    for (*size = 0; i < line.len && hex_digit(line.data[i]) >= 0; i++) {
        if (*size >> 56)
            return false;
        *size = *size << 4 | (uint64_t)hex_digit(line.data[i]);
    }
    if (i == 0 || line.len < i + 2 || line.data[line.len - 2] != '\r')
        return false;
    line = (struct nd_view){line.data + i, line.len - i - 2};
    return line.len == 0 || (*line.data == ';' && nd_head_is_printable(line));
}

static int take_size(struct nd_framing *f)
{
    struct nd_view line = waiting(f);
    const char *lf = line.len ? memchr(line.data, '\n', line.len) : NULL;

    if (!lf && line.len <= ND_FRAMING_LINE)
        return 0;
    line.len = lf ? (size_t)(lf + 1 - line.data) : line.len;
    if (line.len > ND_FRAMING_LINE || !read_size(line, &f->left))
        return done(refuse_chunk(f));
    if (f->left > 0)
        pass(f, line.len, ND_FRAMING_CHUNK);
    else
        f->state = ND_FRAMING_TRAILERS; /* the line waits for them */
    return 1;
}

static int take_line_end(struct nd_framing *f)
{
    struct nd_view v = waiting(f);

    if (v.len && (v.data[0] != '\r' || (v.len > 1 && v.data[1] != '\n')))
        return done(refuse_chunk(f));
    if (v.len < 2)
        return 0;
    pass(f, 2, ND_FRAMING_SIZE);
    return 1;
}

/* Take the line of the last chunk, which was read before, with the trailers and the empty line. */
static int take_trailers(struct nd_framing *f)
{
    unsigned fields = 0;
    size_t len = 0;
    int found = find_empty_line(f, &len);

    if (found == 0 && waiting(f).len <= ND_FRAMING_LINE)
        return 0;
    if (found != 1 || len > ND_FRAMING_LINE ||
        nd_trailers_check(f->bytes.data + f->ready, len, &fields, NULL) != ND_REFUSAL_NONE ||
        f->fields + fields > ND_FRAMING_FIELDS)
        return done(refuse_chunk(f));
    pass(f, len, ND_FRAMING_HEAD);
    return 1;
}

/* ---- All of it ---- */

/* Take the next part that is whole.  1; 0: it is not there; -1: out of memory. */
static int take_part(struct nd_framing *f)
{
    switch (f->state) {
    case ND_FRAMING_HEAD: return take_head(f);
    case ND_FRAMING_BODY: return take_bytes(f, ND_FRAMING_HEAD);
    case ND_FRAMING_SIZE: return take_size(f);
    case ND_FRAMING_CHUNK: return take_bytes(f, ND_FRAMING_BEHIND);
    case ND_FRAMING_BEHIND: return take_line_end(f);
    case ND_FRAMING_TRAILERS: return take_trailers(f);
    case ND_FRAMING_REFUSED: break;
    }
    return 0;
}

bool nd_framing_put(struct nd_framing *f, const char *data, size_t len)
{
    int taken;

    if (f->state == ND_FRAMING_REFUSED)
        return true;
    if (len && !nd_buffer_append(&f->bytes, data, len))
        return false;
    while ((taken = take_part(f)) > 0)
        ;
    return taken == 0;
}

size_t nd_framing_take(struct nd_framing *f, char *out, size_t capacity)
{
    size_t n = f->ready < capacity ? f->ready : capacity;

    if (n == 0)
        return 0;
    memcpy(out, f->bytes.data, n);
    f->bytes.len -= n;
    memmove(f->bytes.data, f->bytes.data + n, f->bytes.len);
    f->ready -= n;
    f->seen = f->seen > n ? f->seen - n : 0;
    if (f->bytes.len == 0)
        nd_buffer_release(&f->bytes);
    return n;
}

bool nd_framing_has_line(const struct nd_framing *f)
{
    return f->state == ND_FRAMING_HEAD && has_lf(waiting(f));
}
