/* address.c - the host and the path of a page's address */
#include "pipeline/address.h"

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

/* Bytes up to the first of some characters. */
static size_t span(struct nd_view v, const char *ends)
{
    size_t n = 0;

    while (n < v.len && (v.data[n] == '\0' || !strchr(ends, v.data[n])))
        n++;
    return n;
}

/* Behind "scheme://" or "//"; *port: the scheme's own. */
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
