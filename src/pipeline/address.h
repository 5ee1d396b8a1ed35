/* address.h - the host and the path of a page's address */
#ifndef ND_PIPELINE_ADDRESS_H
#define ND_PIPELINE_ADDRESS_H

#include <stdbool.h>

#include <neardup/types.h>

#define ND_HOST_MAX 300

/*
 * "http://user@WWW.Example.org:80/a/b?c#d" is host "www.example.org" and path "/a/b?c": the host in
 * lower case, with its port where that is not the scheme's own; the path with the query, without
 * the fragment, "/" where there is none; it lies in the address.  "//host/path" does as well.
 * False: it names no host, or one of more than ND_HOST_MAX bytes.
 */
bool nd_address_split(struct nd_view address, char host[ND_HOST_MAX + 1], size_t *host_len,
                      struct nd_view *path);

#endif
