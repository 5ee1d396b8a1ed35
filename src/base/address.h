/* address.h - the host and the path of a page's address */
#ifndef ND_BASE_ADDRESS_H
#define ND_BASE_ADDRESS_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"

#define ND_HOST_MAX 300

/*
 * "http://user@WWW.Example.org:80/a/b?c#d" is host "www.example.org" and path "/a/b?c". The host is
 * in lower case and has its port unless that is the default of the scheme. The path has the query
 * but not the fragment, and is "/" if there is none; it points into the address. "//host/path" is
 * accepted as well. False: there is no host, or it has more than ND_HOST_MAX bytes.
 */
bool nd_address_split(struct nd_view address, char host[ND_HOST_MAX + 1], size_t *host_len,
                      struct nd_view *path);

/*
 * Resolve a link (RFC 3986, section 5): `target`, as it is written, on the page `base`.
 * Addresses of pages are compared in one form, which `base` has and *out gets: host and path as
 * above, without scheme and "//", or the path alone if there is no host, as for files; no "." or
 * ".." in the path; %XX decoded except for /, ?, #, % and control characters; and no "index.html"
 * or the like at the end. Returns 1, or 0 with *out empty if the link leads to the page itself or
 * to no page (mailto:, javascript:), or < 0 if out of memory.
 */
int nd_address_resolve(struct nd_view base, struct nd_view target, struct nd_buffer *out);

/*
 * Make a link absolute (RFC 3986, section 5.2): `target`, as it is written, on the page `base`.  *out
 * is "scheme://host/path?query", each part as it is written, without a fragment; or `target` if that
 * has a scheme, or if `base` has none or no host.  False: out of memory.
 */
bool nd_address_join(struct nd_view base, struct nd_view target, struct nd_buffer *out);

#endif
