/* head.c - what is read of the header fields, and what is refused in them */
#include "server/wire/head.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/view.h"

static bool is_word(struct nd_view v, const char *word)
{
    return v.len == strlen(word) && strncasecmp(v.data, word, v.len) == 0;
}

/* A character of a field's name, or of a method (RFC 9110, 5.6.2). */
static bool is_token_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct nd_view v)
{
    for (size_t i = 0; i < v.len; i++)
        if (!is_token_character(v.data[i]))
            return false;
    return v.len > 0;
}

bool nd_head_is_printable(struct nd_view v)
{
    for (size_t i = 0; i < v.len; i++)
        if (((unsigned char)v.data[i] < ' ' && v.data[i] != '\t') || v.data[i] == 0x7F)
            return false;
    return true;
}

static struct nd_view trimmed(struct nd_view v)
{
    return v.data ? nd_view_trim(v.data, v.data + v.len) : v;
}

/* ---- One field ---- */

static enum nd_refusal take_once(struct nd_view *field, struct nd_view value, const char *name,
                                 struct nd_error *err)
{
    if (field->data)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the field %s occurs twice", name);
    *field = trimmed(value);
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_head_take(struct nd_head *head, struct nd_view name, struct nd_view value,
                             struct nd_error *err)
{
    const struct {
        const char *name;
        struct nd_view *field;
    } known[] = {
        {"Host", &head->host},
        {"Origin", &head->origin},
        {"Sec-Fetch-Site", &head->fetch_site},
        {"Authorization", &head->authorization},
        {"Content-Type", &head->content_type},
        {"If-None-Match", &head->if_none_match},
        {"Content-Length", &head->length_text},
        {"Transfer-Encoding", &head->coding},
        {"Content-Encoding", &head->encoding},
    };

    if (!is_token(name))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the name of a header field is malformed");
    if (!nd_head_is_printable(value))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "a header field has a control character");
    if (is_word(name, "X-Request-Id") && !head->request_id.data)
        head->request_id = nd_view_trim(value.data, value.data + value.len);
    if (is_word(name, "Expect")) {
        head->expects_continue = true;
        return ND_REFUSAL_NONE;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_word(name, known[i].name))
            return take_once(known[i].field, value, known[i].name, err);
    return ND_REFUSAL_NONE;
}

static enum nd_refusal read_length(struct nd_head *head, struct nd_error *err)
{
    head->has_length = true;
    if (head->length_text.len == 0)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "Content-Length is no number");
    for (size_t i = 0; i < head->length_text.len; i++) {
        char c = head->length_text.data[i];

        if (c < '0' || c > '9')
            return nd_refuse(err, ND_REFUSAL_MALFORMED, "Content-Length is no number");
        if (head->length > UINT64_MAX / 100)
            return nd_refuse(err, ND_REFUSAL_TOO_LARGE, "Content-Length is too large");
        head->length = head->length * 10 + (uint64_t)(c - '0');
    }
    return ND_REFUSAL_NONE;
}

/* Return the host without its port, of an address in brackets what is in them.  *rest is what
 * follows: nothing, or a colon and the port. */
static struct nd_view without_port(struct nd_view host, struct nd_view *rest)
{
    bool is_bracketed = host.len && host.data[0] == '[';
    const char *end = host.len ? memchr(host.data, is_bracketed ? ']' : ':', host.len) : NULL;
    size_t len = end ? (size_t)(end - host.data) : host.len;

    *rest = (struct nd_view){host.data + len, host.len - len};
    if (!end || !is_bracketed)
        return (struct nd_view){host.data, len};
    *rest = (struct nd_view){end + 1, host.len - len - 1};
    return (struct nd_view){host.data + 1, len - 1};
}

static bool has_port_or_none(struct nd_view host)
{
    struct nd_view rest;
    uint32_t port = 0;

    if (!host.data)
        return true;
    (void)without_port(host, &rest);
    if (rest.len == 0)
        return true;
    for (size_t i = 1; i < rest.len; i++) {
        if (rest.data[i] < '0' || rest.data[i] > '9')
            return false;
        port = port * 10 + (uint32_t)(rest.data[i] - '0');
        if (port > 65535)
            return false;
    }
    return rest.data[0] == ':' && rest.len > 1;
}

enum nd_refusal nd_head_check(struct nd_head *head, bool is_new, struct nd_error *err)
{
    if (head->coding.data && head->length_text.data)
        return nd_refuse(err, ND_REFUSAL_MALFORMED,
                         "the request has both Content-Length and Transfer-Encoding");
    if (head->coding.data && (!is_new || !is_word(head->coding, "chunked")))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the only Transfer-Encoding is chunked");
    head->is_chunked = head->coding.data != NULL;
    if (is_new && !head->host.data)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the field Host is missing");
    if (!has_port_or_none(head->host))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "Host has a port that is not 0 to 65535");
    return head->length_text.data ? read_length(head, err) : ND_REFUSAL_NONE;
}

/* ---- All fields ---- */

/* Take a line off the text, without its CR LF.  False: there is none. */
static bool take_line(struct nd_view *text, struct nd_view *line)
{
    const char *lf = text->len ? memchr(text->data, '\n', text->len) : NULL;

    if (!lf || lf == text->data || lf[-1] != '\r')
        return false;
    *line = (struct nd_view){text->data, (size_t)(lf - text->data) - 1};
    *text = (struct nd_view){lf + 1, text->len - line->len - 2};
    return true;
}

/* Take the lines "name: value" up to the empty one, into a head if there is one. */
static enum nd_refusal take_fields(struct nd_view text, struct nd_head *head, unsigned *n,
                                   struct nd_error *err)
{
    enum nd_refusal refusal = ND_REFUSAL_NONE;
    struct nd_view line;

    for (*n = 0; refusal == ND_REFUSAL_NONE; (*n)++) {
        const char *colon;
        size_t len;

        if (!take_line(&text, &line))
            return nd_refuse(err, ND_REFUSAL_MALFORMED, "a header field does not end with CR LF");
        if (line.len == 0)
            return ND_REFUSAL_NONE;
        colon = memchr(line.data, ':', line.len);
        if (!colon)
            return nd_refuse(err, ND_REFUSAL_MALFORMED, "a header field has no colon");
        len = (size_t)(colon - line.data);
        refusal = nd_head_take(head, (struct nd_view){line.data, len},
                               (struct nd_view){colon + 1, line.len - len - 1}, err);
    }
    return refusal;
}

/* method SP target SP version */
static bool is_request_line(struct nd_view line, bool *is_new)
{
    const char *first = line.len ? memchr(line.data, ' ', line.len) : NULL;
    size_t method_len = first ? (size_t)(first - line.data) : 0;
    struct nd_view version = {line.data + line.len - 9, 9};

    if (!first || line.len < method_len + 11 ||
        !is_token((struct nd_view){line.data, method_len}) || !nd_head_is_printable(line))
        return false;
    *is_new = nd_view_is(version, " HTTP/1.1");
    return (*is_new || nd_view_is(version, " HTTP/1.0")) &&
           memchr(first + 1, ' ', line.len - method_len - 1) == version.data &&
           !memchr(line.data, '\t', line.len);
}

enum nd_refusal nd_head_parse(const char *text, size_t len, struct nd_head *out, unsigned *n,
                              struct nd_error *err)
{
    struct nd_view rest = {text, len}, line;
    enum nd_refusal refusal;
    bool is_new;

    memset(out, 0, sizeof *out);
    *n = 0;
    if (!take_line(&rest, &line) || !is_request_line(line, &is_new))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the request line is malformed");
    refusal = take_fields(rest, out, n, err);
    return refusal == ND_REFUSAL_NONE ? nd_head_check(out, is_new, err) : refusal;
}

enum nd_refusal nd_trailers_check(const char *text, size_t len, unsigned *n, struct nd_error *err)
{
    struct nd_view rest = {text, len}, line;
    struct nd_head ignored = {.length = 0};

    *n = 0;
    if (!take_line(&rest, &line))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the last chunk does not end with CR LF");
    return take_fields(rest, &ignored, n, err);
}

static enum MHD_Result take_field(void *context, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    return nd_head_take(context, (struct nd_view){name, name_len},
                        (struct nd_view){value, value ? value_len : 0}, NULL) == ND_REFUSAL_NONE
               ? MHD_YES
               : MHD_NO;
}

enum nd_refusal nd_head_read(struct MHD_Connection *connection, struct nd_head *out,
                             struct nd_error *err)
{
    memset(out, 0, sizeof *out);
    (void)MHD_get_connection_values_n(connection, MHD_HEADER_KIND, take_field, out);
    /* nd_head_parse has compared the version with the fields: only HTTP/1.1 has a coding. */
    return nd_head_check(out, out->coding.data != NULL, err);
}

/* ---- Host and Origin ---- */

/* Return the family of an address, whose bytes these are; 0: it is none. */
static int read_address(struct nd_view host, unsigned char bytes[16])
{
    char text[64];

    if (host.len >= sizeof text)
        return 0;
    memcpy(text, host.data, host.len);
    text[host.len] = 0;
    return inet_pton(AF_INET, text, bytes) == 1    ? AF_INET
           : inet_pton(AF_INET6, text, bytes) == 1 ? AF_INET6
                                                   : 0;
}

static bool is_loopback(struct nd_view host)
{
    static const unsigned char loopback[16] = {[15] = 1};
    unsigned char bytes[16];

    if (is_word(host, "localhost"))
        return true;
    switch (read_address(host, bytes)) {
    case AF_INET: return bytes[0] == 127;
    case AF_INET6: return memcmp(bytes, loopback, sizeof loopback) == 0;
    default: return false;
    }
}

bool nd_host_is_address(struct nd_view host)
{
    unsigned char bytes[16];
    struct nd_view rest;

    return host.data && read_address(without_port(host, &rest), bytes) != 0;
}

bool nd_host_is_known(struct nd_view host, const char *const *names, size_t n_names)
{
    struct nd_view rest, name;

    if (!host.data)
        return false;
    name = without_port(host, &rest);
    if (name.len == 0)
        return false;
    for (size_t i = 0; i < n_names; i++)
        if (is_word(name, names[i]))
            return true;
    return is_loopback(name);
}

static struct nd_view without_default_port(struct nd_view host)
{
    if (host.len > 3 && memcmp(host.data + host.len - 3, ":80", 3) == 0)
        host.len -= 3;
    else if (host.len > 4 && memcmp(host.data + host.len - 4, ":443", 4) == 0)
        host.len -= 4;
    return host;
}

bool nd_origin_is_same(struct nd_view origin, struct nd_view host)
{
    size_t scheme = origin.len > 7 && strncasecmp(origin.data, "http://", 7) == 0    ? 7
                    : origin.len > 8 && strncasecmp(origin.data, "https://", 8) == 0 ? 8
                                                                                     : 0;
    struct nd_view of;

    if (!scheme || !host.data)
        return false;
    of = without_default_port((struct nd_view){origin.data + scheme, origin.len - scheme});
    host = without_default_port(host);
    return of.len == host.len && strncasecmp(of.data, host.data, of.len) == 0;
}

/* ---- Content-Encoding, Content-Type and Authorization ---- */

bool nd_head_is_encoded(const struct nd_head *head)
{
    return head->encoding.len > 0 && !is_word(head->encoding, "identity");
}

/* The value of charset= among the parameters behind a type. */
static struct nd_view find_charset(struct nd_view rest)
{
    while (rest.len) {
        const char *end = memchr(rest.data, ';', rest.len);
        size_t len = end ? (size_t)(end - rest.data) : rest.len;
        struct nd_view part = nd_view_trim(rest.data, rest.data + len);

        if (part.len > 8 && strncasecmp(part.data, "charset=", 8) == 0) {
            struct nd_view value = {part.data + 8, part.len - 8};

            if (value.len >= 2 && value.data[0] == '"' && value.data[value.len - 1] == '"')
                value = (struct nd_view){value.data + 1, value.len - 2};
            return value;
        }
        rest.data += len + (end != NULL);
        rest.len -= len + (end != NULL);
    }
    return (struct nd_view){NULL, 0};
}

enum nd_media nd_media_parse(struct nd_view type, struct nd_view *charset)
{
    static const struct {
        const char *name;
        enum nd_media media;
    } known[] = {{"application/json", ND_MEDIA_JSON},
                 {"text/plain", ND_MEDIA_TEXT},
                 {"text/html", ND_MEDIA_HTML},
                 {"application/x-ndjson", ND_MEDIA_NDJSON}};
    const char *end = type.len ? memchr(type.data, ';', type.len) : NULL;
    size_t len = end ? (size_t)(end - type.data) : type.len;
    struct nd_view name;

    *charset = (struct nd_view){NULL, 0};
    if (!type.data)
        return ND_MEDIA_NONE;
    name = nd_view_trim(type.data, type.data + len);
    if (end)
        *charset = find_charset((struct nd_view){end + 1, type.len - len - 1});
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_word(name, known[i].name))
            return known[i].media;
    return ND_MEDIA_OTHER;
}

struct nd_view nd_bearer(struct nd_view authorization)
{
    static const size_t scheme = sizeof "Bearer " - 1;

    if (!authorization.data || authorization.len <= scheme ||
        strncasecmp(authorization.data, "Bearer ", scheme) != 0)
        return (struct nd_view){NULL, 0};
    return nd_view_trim(authorization.data + scheme, authorization.data + authorization.len);
}
