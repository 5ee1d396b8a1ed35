/* address.h - the host and the path of a page's address */
#ifndef ND_PIPELINE_ADDRESS_H
#define ND_PIPELINE_ADDRESS_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"

#define ND_HOST_MAX 300

/*
 * "http://user@WWW.Example.org:80/a/b?c#d" is host "www.example.org" and path "/a/b?c": the host in
 * lower case, with its port where that is not the scheme's own; the path with the query, without
 * the fragment, "/" where there is none; it lies in the address.  "//host/path" does as well.
 * False: it names no host, or one of more than ND_HOST_MAX bytes.
 */
bool nd_address_split(struct nd_view address, char host[ND_HOST_MAX + 1], size_t *host_len,
                      struct nd_view *path);

/*
 * Where a link leads (RFC 3986, section 5): `target` as it is written, on the page `base`.
 * Addresses of pages are compared in one form, which `base` has and *out gets: host and path as
 * above, without scheme and "//"; without a host, as of files, the path alone; no "." and ".." in
 * the path, %XX decoded but for /, ?, #, % and control characters, and without "index.html" and the
 * like at the end.  1; 0: it is the page itself or leads to no page (mailto:, javascript:), *out is
 * empty; < 0: out of memory.
 */
int nd_address_resolve(struct nd_view base, struct nd_view target, struct nd_buffer *out);

#endif
