/* exchange.h - a request from its first line to its answer */
#ifndef ND_SERVER_EXCHANGE_H
#define ND_SERVER_EXCHANGE_H

#include <stddef.h>

#include "server/state.h"

/* The request line has arrived; target may be NULL.  NULL: out of memory. */
struct nd_exchange *nd_exchange_begin(struct nd_server *server, struct nd_peer *peer,
                                      struct MHD_Connection *connection, const char *target);
/* It is over, with an answer or without one; nothing works for it any more. */
void nd_exchange_end(struct nd_exchange *x, bool is_answered);

/*
 * libmicrohttpd calls: the head has arrived; then bytes of the body, if there are any, of which
 * those that are not taken are counted in *len; then nothing, for the answer, as often as the
 * connection was suspended.  False: the connection must be closed at once.
 */
bool nd_exchange_call(struct nd_exchange *x, const char *method, const char *data, size_t *len);

#endif
