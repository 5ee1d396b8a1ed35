/* respond.h - an answer handed to libmicrohttpd, with the fields that every answer has */
#ifndef ND_SERVER_RESPOND_H
#define ND_SERVER_RESPOND_H

#include "server/state.h"

/* Send what the exchange has: its refusal, its file, its stream or its JSON.  False: the connection
 * must be closed instead. */
bool nd_respond(struct nd_exchange *x);
/* Count the exchange, and log it. */
void nd_respond_log(struct nd_exchange *x, bool is_answered);

#endif
