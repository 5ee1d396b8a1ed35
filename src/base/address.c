/* address.c - the host and the path of a page's address, and where its links lead */

/*
 * Addresses are compared as text, so different spellings of the same page must become equal: this
 * file splits an address into host and path, resolves links against the page that contains them,
 * and normalises the result. It follows RFC 3986 as far as pages need it; what it does not know
 * leads to no page.
 */
#include "base/address.h"

#include <string.h>

static bool begins_with(struct nd_view v, const char *what)
{
    size_t len = strlen(what);

    for (size_t i = 0; i < len; i++) {
        char c = i < v.len ? v.data[i] : '\0';

        if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != what[i])
            return false;
    }
    return true;
}

static struct nd_view from(struct nd_view v, size_t at)
{
    return (struct nd_view){v.data + at, v.len - at};
}

/* How many bytes come before the first of these characters. */
static size_t span(struct nd_view v, const char *ends)
{
    size_t n = 0;

    while (n < v.len && (v.data[n] == '\0' || !strchr(ends, v.data[n])))
        n++;
    return n;
}

/* The text after "scheme://" or "//"; *port: the default port of the scheme. */
static bool skip_scheme(struct nd_view *address, const char **port)
{
    size_t at = span(*address, ":/?#");

    *port = begins_with(*address, "https:") ? ":443" : begins_with(*address, "http:") ? ":80" : "";
    if (at < address->len && address->data[at] == ':')
        at++;
    else if (at)
        return false;
    if (!begins_with(from(*address, at), "//"))
        return false;
    *address = from(*address, at + 2);
    return true;
}

static bool ends_with(const char *host, size_t len, const char *what)
{
    size_t n = strlen(what);

    return n && len >= n && memcmp(host + len - n, what, n) == 0;
}

bool nd_address_split(struct nd_view address, char host[ND_HOST_MAX + 1], size_t *host_len,
                      struct nd_view *path)
{
    static const char root[] = "/";
    struct nd_view name;
    const char *port;
    size_t len;

    while (address.len && (unsigned char)address.data[0] <= ' ')
        address = from(address, 1);
    while (address.len && (unsigned char)address.data[address.len - 1] <= ' ')
        address.len--;
    if (!skip_scheme(&address, &port))
        return false;
    name = (struct nd_view){address.data, span(address, "/?#")};
    address = from(address, name.len);
    for (size_t i = name.len; i-- > 0;)
        if (name.data[i] == '@') {
            name = from(name, i + 1);
            break;
        }
    if (name.len == 0 || name.len > ND_HOST_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];

        if ((unsigned char)c <= ' ' || c == 0x7F)
            return false;
        host[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    len = name.len;
    if (ends_with(host, len, port))
        len -= strlen(port);
    if (len && host[len - 1] == '.')
        len--;
    host[len] = '\0';
    *host_len = len;
    address.len = span(address, "#");
    *path = address.len ? address : (struct nd_view){root, 1};
    return len > 0 && host[0] != ':';
}

/* ---- Where a link leads: RFC 3986, section 5, to the form in which addresses are compared ---- */

static struct nd_view view(const char *data, size_t len)
{
    return (struct nd_view){data, len};
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "scheme:" at the start. */
static bool has_scheme(struct nd_view v)
{
    size_t n = span(v, ":/?#");

    return n > 0 && n < v.len && v.data[n] == ':' && is_letter(v.data[0]);
}

/* Without blanks around it and without the fragment. */
static struct nd_view trim(struct nd_view v)
{
    while (v.len && (unsigned char)v.data[0] <= ' ')
        v = view(v.data + 1, v.len - 1);
    v.len = span(v, "#");
    while (v.len && (unsigned char)v.data[v.len - 1] <= ' ')
        v.len--;
    return v;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The byte that %XX at p encodes if it may be decoded; else -1. */
static int decoded(const char *p, size_t left)
{
    int high = left > 2 && *p == '%' ? digit(p[1]) : -1, low = high < 0 ? -1 : digit(p[2]);
    int c = low < 0 ? -1 : high * 16 + low;

    return c <= ' ' ? (c == ' ' ? c : -1) : strchr("/?#%\x7F", c) ? -1 : c;
}

static bool append_decoded(struct nd_buffer *out, struct nd_view path)
{
    for (size_t i = 0; i < path.len; i++) {
        int c = decoded(path.data + i, path.len - i);
        char byte = c < 0 ? path.data[i] : (char)c;

        if (!nd_buffer_append(out, &byte, 1))
            return false;
        i += c < 0 ? 0 : 2;
    }
    return true;
}

static bool is_segment(struct nd_view v, const char *name)
{
    return v.len == strlen(name) && memcmp(v.data, name, v.len) == 0;
}

/* Remove the segments "." and ".." from the path that begins at `from`, in place. */
static void remove_dots(struct nd_buffer *b, size_t from)
{
    size_t to = from, at = from, len;

    for (; at < b->len; at += len) {
        bool is_last;

        len = 1 + span(view(b->data + at + 1, b->len - at - 1), "/");
        is_last = at + len == b->len;
        if (is_segment(view(b->data + at, len), "/..")) {
            while (to > from && b->data[--to] != '/')
                ;
        } else if (!is_segment(view(b->data + at, len), "/.")) {
            memmove(b->data + to, b->data + at, len);
            to += len;
            continue;
        }
        if (is_last)
            b->data[to++] = '/';
    }
    b->len = to;
}

/* "/a/index.html" is "/a/". */
static void remove_index(struct nd_buffer *b, size_t from)
{
    static const char *const names[] = {"index.html", "index.htm", "index.xhtml"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);

        if (b->len - from > len && memcmp(b->data + b->len - len, names[i], len) == 0 &&
            b->data[b->len - len - 1] == '/')
            b->len -= len;
    }
}

/*
 * Join host, folder (both may be empty) and path, which together begin with a slash, and put them
 * into the form in which addresses are compared.
 */
static int put(struct nd_buffer *out, struct nd_view host, struct nd_view folder,
               struct nd_view path)
{
    size_t end = span(path, "?"), from = host.len;

    if (!nd_buffer_append(out, host.data, host.len) ||
        !nd_buffer_append(out, folder.data, folder.len) ||
        (folder.len + end == 0 && !nd_buffer_append(out, "/", 1)) ||
        !append_decoded(out, view(path.data, end)))
        return -1;
    remove_dots(out, from);
    remove_index(out, from);
    return nd_buffer_append(out, path.data + end, path.len - end) ? 1 : -1;
}

int nd_address_resolve(struct nd_view base, struct nd_view target, struct nd_buffer *out)
{
    struct nd_view t = trim(target), path, none = {"", 0};
    struct nd_view host = view(base.data, span(base, "/")), folder;
    char name[ND_HOST_MAX + 1];
    size_t len;

    out->len = 0;
    if (t.len == 0)
        return 0;
    if (has_scheme(t) || (t.len > 1 && t.data[0] == '/' && t.data[1] == '/')) {
        bool is_web =
            t.data[0] == '/' || (t.len > 4 && (t.data[0] | 32) == 'h' && (t.data[1] | 32) == 't' &&
                                 (t.data[2] | 32) == 't' && (t.data[3] | 32) == 'p');

        return is_web && nd_address_split(t, name, &len, &path)
                   ? put(out, view(name, len), none, path)
                   : 0;
    }
    folder = view(base.data + host.len, span(base, "?") - host.len);
    if (t.data[0] == '/')
        folder.len = 0;
    else if (t.data[0] != '?')
        while (folder.len && folder.data[folder.len - 1] != '/')
            folder.len--;
    return put(out, host, folder, t);
}

bool nd_address_join(struct nd_view base, struct nd_view target, struct nd_buffer *out)
{
    struct nd_view t = trim(target), b = trim(base), folder = {"", 0};
    size_t scheme, root, end = span(t, "?"), begin;

    out->len = 0;
    if (has_scheme(t) || !has_scheme(b))
        return nd_buffer_append(out, t.data, t.len);
    scheme = span(b, ":") + 1;
    if (!begins_with(from(b, scheme), "//"))
        return nd_buffer_append(out, t.data, t.len);
    if (t.len > 1 && t.data[0] == '/' && t.data[1] == '/')
        return nd_buffer_append(out, b.data, scheme) && nd_buffer_append(out, t.data, t.len);
    root = scheme + 2 + span(from(b, scheme + 2), "/?");
    if (!t.len || t.data[0] == '?')
        folder = view(b.data + root, t.len ? span(from(b, root), "?") : b.len - root);
    else if (t.data[0] != '/')
        for (folder = view(b.data + root, span(from(b, root), "?"));
             folder.len && folder.data[folder.len - 1] != '/';)
            folder.len--;
    begin = root;
    if (!nd_buffer_append(out, b.data, root) ||
        (!folder.len && (!end || t.data[0] != '/') && !nd_buffer_append(out, "/", 1)) ||
        !nd_buffer_append(out, folder.data, folder.len) || !nd_buffer_append(out, t.data, end))
        return false;
    if (end)
        remove_dots(out, begin);
    return nd_buffer_append(out, t.data + end, t.len - end);
}
