/* tap.h - what libmicrohttpd receives passes framing.c first */
#ifndef ND_SERVER_TAP_H
#define ND_SERVER_TAP_H

#include <stdbool.h>

struct nd_peer;

/*
 * libmicrohttpd has no call for the bytes that it receives.  It gets them from recv and
 * gnutls_record_recv, which tap.c defines, as a program may: for connections that were added they
 * give what has passed, and for all others what they always give.  A request that did not come this
 * way is refused (nd_exchange_begin).
 */
bool nd_tap_add(struct nd_peer *peer); /* false: out of memory, or the descriptor is too high */
void nd_tap_remove(const struct nd_peer *peer);

#endif
