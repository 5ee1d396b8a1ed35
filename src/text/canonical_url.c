/* canonical_url.c - the form in which addresses of pages are compared: docs/format/urls.md */

/*
 * RFC 3986, section 6.2, as far as it leaves the meaning of any address alone, and two steps beyond
 * it: parameters are sorted by their names, and those that only say how somebody came to the page
 * are left out.
 */
#include "text/canonical_url.h"

#include <neardup/text.h>

#include "base/system/c_functions.h"
#include "base/view.h"

#include <stdlib.h>
#include <string.h>

/* One parameter of a query, in what was written of it. */
struct nd_url_parameter {
    size_t at, len, name_len;
    size_t order;
};

void nd_url_room_release(struct nd_url_room *room)
{
    nd_buffer_release(&room->address);
    nd_buffer_release(&room->path);
    free(room->parameter);
    *room = (struct nd_url_room){.parameters = 0};
}

static bool put(struct nd_buffer *out, const char *data, size_t len)
{
    return !len || nd_buffer_append(out, data, len);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

static bool put_lower(struct nd_buffer *out, struct nd_view text)
{
    size_t from = out->len;

    if (!put(out, text.data, text.len))
        return false;
    for (size_t i = from; i < out->len; i++)
        out->data[i] = to_lower(out->data[i]);
    return true;
}

/* ---- Percent-encoding (RFC 3986, 2.1 to 2.4 and 6.2.2) ---- */

static int hex_of(char c)
{
    if (is_digit(c))
        return c - '0';
    c = to_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_unreserved(char c)
{
    return is_letter(c) || is_digit(c) || (c && strchr("-._~", c));
}

/* Whether a byte stands for itself: it is unreserved, or has a meaning in a path or a query. */
static bool stands_plain(char c, bool in_query)
{
    return is_unreserved(c) || (c && strchr("!$&'()*+,;=:@/", c)) || (in_query && c == '?');
}

static bool put_encoded(struct nd_buffer *out, char c)
{
    static const char hex[] = "0123456789ABCDEF";
    const unsigned char byte = (unsigned char)c;
    const char code[] = {'%', hex[byte >> 4], hex[byte & 15]};

    return nd_buffer_append(out, code, sizeof code);
}

/* Put one byte, or the byte that %XX stands for; *i is the index of its last character. */
static bool put_byte(struct nd_buffer *out, struct nd_view text, size_t *i, bool in_query)
{
    char c = text.data[*i];
    int high, low;

    if (c != '%')
        return stands_plain(c, in_query) ? nd_buffer_append(out, &c, 1) : put_encoded(out, c);
    high = *i + 2 < text.len ? hex_of(text.data[*i + 1]) : -1;
    low = high >= 0 ? hex_of(text.data[*i + 2]) : -1;
    if (low < 0)
        return put_encoded(out, c);
    *i += 2;
    c = (char)(high << 4 | low);
    return is_unreserved(c) ? nd_buffer_append(out, &c, 1) : put_encoded(out, c);
}

static bool put_normal(struct nd_buffer *out, struct nd_view text, bool in_query)
{
    for (size_t i = 0; i < text.len; i++)
        if (!put_byte(out, text, &i, in_query))
            return false;
    return true;
}

/* ---- The path (RFC 3986, 5.2.4) ---- */

static bool is_segment(struct nd_view segment, const char *word)
{
    return nd_view_is(segment, word);
}

/* Leave out the last segment behind `from`, and its slash. */
static void drop_segment(struct nd_buffer *out, size_t from)
{
    while (out->len > from && out->data[out->len - 1] != '/')
        out->len--;
    if (out->len > from)
        out->len--;
}

/* Put a path that begins with a slash, without "." and "..". */
static bool put_without_dots(struct nd_buffer *out, struct nd_view path)
{
    const size_t from = out->len;
    size_t i = 0;

    while (i < path.len) {
        const char *end = memchr(path.data + i + 1, '/', path.len - i - 1);
        struct nd_view segment = {path.data + i + 1,
                                  (end ? (size_t)(end - path.data) : path.len) - i - 1};
        bool is_dots = is_segment(segment, "..");

        if (is_dots)
            drop_segment(out, from);
        if (!is_dots && !is_segment(segment, ".") && !put(out, path.data + i, segment.len + 1))
            return false;
        if ((is_dots || is_segment(segment, ".")) && !end && !put(out, "/", 1))
            return false;
        i += segment.len + 1;
    }
    return true;
}

static bool put_path(struct nd_url_room *room, struct nd_view path, struct nd_buffer *out)
{
    room->path.len = 0;
    if (!path.len)
        return put(out, "/", 1);
    return put_normal(&room->path, path, false) &&
           put_without_dots(out, (struct nd_view){room->path.data, room->path.len});
}

/* ---- The query ---- */

/* Whether a parameter only says how somebody came to the page. */
static bool is_tracking(const char *name, size_t len)
{
    static const char *const names[] = {
        "fbclid",    "gclid",       "gclsrc",     "dclid",  "gbraid",   "wbraid",    "msclkid",
        "twclid",    "ttclid",      "yclid",      "ysclid", "igshid",   "igsh",      "mc_cid",
        "mc_eid",    "_ga",         "_gl",        "_hsenc", "_hsmi",    "mkt_tok",   "vero_id",
        "vero_conv", "oly_anon_id", "oly_enc_id", "s_cid",  "wickedid", "li_fat_id", "srsltid"};

    if (len > 4 && nd_compare_caseless_n(name, "utm_", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (len == strlen(names[i]) && nd_compare_caseless_n(name, names[i], len) == 0)
            return true;
    return false;
}

static int by_name(const struct nd_url_parameter *a, const struct nd_url_parameter *b,
                   const char *bytes)
{
    int order = nd_view_compare((struct nd_view){bytes + a->at, a->name_len},
                                (struct nd_view){bytes + b->at, b->name_len});

    return order ? order : (a->order > b->order) - (a->order < b->order);
}

/* Sort by names, so that parameters of one name stay in their order: heaps need no memory. */
static void sift(struct nd_url_parameter *p, size_t at, size_t n, const char *bytes)
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        struct nd_url_parameter swapped = p[at];

        if (child + 1 < n && by_name(&p[child], &p[child + 1], bytes) < 0)
            child++;
        if (by_name(&p[at], &p[child], bytes) >= 0)
            return;
        p[at] = p[child];
        p[child] = swapped;
    }
}

static void sort(struct nd_url_parameter *p, size_t n, const char *bytes)
{
    for (size_t i = n / 2; i-- > 0;)
        sift(p, i, n, bytes);
    for (size_t i = n; i-- > 1;) {
        struct nd_url_parameter last = p[i];

        p[i] = p[0];
        p[0] = last;
        sift(p, 0, i, bytes);
    }
}

/* Write a parameter to the room, and list it unless it is empty or left out. */
static bool take_parameter(struct nd_url_room *room, struct nd_view parameter, size_t *n)
{
    struct nd_url_parameter p = {.at = room->path.len, .order = *n};
    const char *sign;

    if (!parameter.len)
        return true;
    if (!put_normal(&room->path, parameter, true) ||
        !ND_RESERVE(room->parameter, &room->parameters, *n + 1))
        return false;
    p.len = room->path.len - p.at;
    sign = memchr(room->path.data + p.at, '=', p.len);
    p.name_len = sign ? (size_t)(sign - (room->path.data + p.at)) : p.len;
    if (!is_tracking(room->path.data + p.at, p.name_len))
        room->parameter[(*n)++] = p;
    return true;
}

static bool put_query(struct nd_url_room *room, struct nd_view query, struct nd_buffer *out)
{
    size_t n = 0;

    room->path.len = 0;
    for (size_t i = 0; i < query.len;) {
        const char *end = memchr(query.data + i, '&', query.len - i);
        size_t len = end ? (size_t)(end - query.data) - i : query.len - i;

        if (!take_parameter(room, (struct nd_view){query.data + i, len}, &n))
            return false;
        i += len + 1;
    }
    if (n)
        sort(room->parameter, n, room->path.data);
    for (size_t i = 0; i < n; i++)
        if (!put(out, i ? "&" : "?", 1) ||
            !put(out, room->path.data + room->parameter[i].at, room->parameter[i].len))
            return false;
    return true;
}

/* ---- The whole ---- */

/* Copy an address without blanks and control characters around it, and without line ends and tabs
 * in it. */
static bool tidy(struct nd_view url, struct nd_buffer *to)
{
    to->len = 0;
    while (url.len && (unsigned char)url.data[0] <= ' ') {
        url.data++;
        url.len--;
    }
    while (url.len && (unsigned char)url.data[url.len - 1] <= ' ')
        url.len--;
    for (size_t i = 0; i < url.len; i++)
        if (!url.data[i] || !strchr("\t\r\n", url.data[i]))
            if (!nd_buffer_append(to, url.data + i, 1))
                return false;
    return true;
}

/* The length of the scheme of "scheme://"; 0: it has none. */
static size_t scheme_len(struct nd_view url)
{
    size_t n = 0;

    while (n < url.len && (is_letter(url.data[n]) ||
                           (n > 0 && (is_digit(url.data[n]) || memchr("+-.", url.data[n], 3)))))
        n++;
    return n > 0 && n + 3 <= url.len && memcmp(url.data + n, "://", 3) == 0 ? n : 0;
}

static bool is_default_port(struct nd_view scheme, struct nd_view port)
{
    static const struct {
        const char *scheme, *port;
    } defaults[] = {{"http", "80"}, {"https", "443"}, {"ftp", "21"}, {"ws", "80"}, {"wss", "443"}};

    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
        if (scheme.len == strlen(defaults[i].scheme) &&
            nd_compare_caseless_n(scheme.data, defaults[i].scheme, scheme.len) == 0)
            return nd_view_is(port, defaults[i].port);
    return false;
}

/* Return what follows the first colon of a host behind its last bracket, if that is all digits; data
 * NULL: there is no port. */
static struct nd_view port_of(struct nd_view host)
{
    const char *end = host.data + host.len, *from = end, *colon;

    while (from > host.data && from[-1] != ']')
        from--;
    colon = from < end ? memchr(from, ':', (size_t)(end - from)) : NULL;
    for (const char *p = colon ? colon + 1 : end; p < end; p++)
        if (!is_digit(*p))
            return (struct nd_view){NULL, 0};
    return colon ? (struct nd_view){colon + 1, (size_t)(end - colon) - 1}
                 : (struct nd_view){NULL, 0};
}

/* Put a host in small letters, and its port unless that is the scheme's. */
static bool put_host(struct nd_view scheme, struct nd_view host, struct nd_buffer *out)
{
    struct nd_view port = port_of(host);

    if (port.data)
        host.len -= port.len + 1;
    while (port.len > 1 && *port.data == '0') {
        port.data++;
        port.len--;
    }
    if (!put_lower(out, host))
        return false;
    return !port.len || is_default_port(scheme, port) ||
           (put(out, ":", 1) && put(out, port.data, port.len));
}

static bool put_authority(struct nd_view scheme, struct nd_view authority, struct nd_buffer *out)
{
    size_t user = authority.len;

    while (user > 0 && authority.data[user - 1] != '@')
        user--;
    return put(out, authority.data, user) &&
           put_host(scheme, (struct nd_view){authority.data + user, authority.len - user}, out);
}

/* Take the bytes before the first of `stops` from the front of what is left. */
static struct nd_view take_until(struct nd_view *rest, const char *stops)
{
    struct nd_view part = {rest->data, 0};

    while (part.len < rest->len && !(part.data[part.len] && strchr(stops, part.data[part.len])))
        part.len++;
    rest->data += part.len;
    rest->len -= part.len;
    return part;
}

bool nd_url_write_canonical(struct nd_url_room *room, struct nd_view url, struct nd_buffer *out)
{
    struct nd_view rest, scheme, path;

    out->len = 0;
    if (!tidy(url, &room->address))
        return false;
    rest = (struct nd_view){room->address.data, room->address.len};
    scheme = (struct nd_view){rest.data, scheme_len(rest)};
    if (!scheme.len)
        return put(out, rest.data, rest.len);
    rest.data += scheme.len + 3;
    rest.len -= scheme.len + 3;
    if (!put_lower(out, scheme) || !put(out, "://", 3) ||
        !put_authority(scheme, take_until(&rest, "/?#"), out))
        return false;
    path = take_until(&rest, "?#");
    if (!put_path(room, path, out))
        return false;
    if (rest.len && *rest.data == '?') {
        rest.data++;
        rest.len--;
        return put_query(room, take_until(&rest, "#"), out);
    }
    return true;
}

enum nd_status nd_url_canonical(const char *url, size_t len, char **canonical,
                                size_t *canonical_len, struct nd_error *err)
{
    struct nd_url_room room = {.parameters = 0};
    struct nd_buffer out = {.len = 0};
    bool good = nd_url_write_canonical(&room, (struct nd_view){url, len}, &out) &&
                nd_buffer_append(&out, "", 1);

    nd_url_room_release(&room);
    if (good) {
        *canonical = out.data;
        *canonical_len = out.len - 1;
        return ND_OK;
    }
    nd_buffer_release(&out);
    return nd_fail(err, ND_ENOMEM, "out of memory");
}
