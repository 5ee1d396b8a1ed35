/* fuzz_address.c - the host and path of an address: in it, clean, and the same when split again;
 * where it leads, read as a link
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* To a path without steps up, from any page; what stands before the first line end is the page. */
static void resolve(const char *data, size_t len)
{
    const char *end = len ? memchr(data, '\n', len) : NULL;
    size_t n = end ? (size_t)(end - data) : 0;
    struct nd_view page = {"host/a/b", 8}, target = {data + n, len - n};
    struct nd_buffer base = {0}, out = {0};
    const char *path;

    if (nd_address_resolve(page, (struct nd_view){data, n}, &base) == 1)
        page = (struct nd_view){base.data, base.len};
    if (nd_address_resolve(page, target, &out) == 1) {
        path = memchr(out.data, '/', out.len);
        require(path != NULL && !memchr(out.data, '#', out.len));
        for (; path && !memchr(out.data, '?', (size_t)(path - out.data));
             path = memchr(path + 1, '/', out.len - (size_t)(path + 1 - out.data))) {
            size_t left = out.len - (size_t)(path - out.data);

            require(left < 3 || memcmp(path, "/..", 3) != 0 ||
                    (left > 3 && path[3] != '/' && path[3] != '?'));
        }
    }
    nd_buffer_release(&base);
    nd_buffer_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    const struct nd_view address = {(const char *)data, len};
    char host[ND_HOST_MAX + 1], again[ND_HOST_MAX + 1], written[ND_HOST_MAX + 16];
    struct nd_view path, rest;
    size_t host_len, again_len;
    int n;

    resolve((const char *)data, len);
    if (!nd_address_split(address, host, &host_len, &path))
        return 0;
    require(host_len > 0 && host_len <= ND_HOST_MAX && host[host_len] == '\0');
    require(path.len > 0);
    require(path.data[0] == '/' || path.data[0] == '?');
    for (size_t i = 0; i < host_len; i++)
        require((unsigned char)host[i] > ' ' && !strchr("/?#@", host[i]) &&
                !(host[i] >= 'A' && host[i] <= 'Z'));
    require(!memchr(path.data, '#', path.len));
    require((path.data >= address.data && path.data + path.len <= address.data + len) ||
            (path.len == 1 && path.data[0] == '/'));
    n = snprintf(written, sizeof written, "//%s/", host);
    require(n > 0 && (size_t)n < sizeof written);
    if (host[host_len - 1] == '.') /* two dots at the end: one goes each time */
        return 0;
    require(nd_address_split((struct nd_view){written, (size_t)n}, again, &again_len, &rest));
    require(again_len == host_len && memcmp(again, host, host_len) == 0 && rest.len == 1);
    return 0;
}
