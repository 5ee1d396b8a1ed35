/* daemon.h - libmicrohttpd: its threads, and what it calls */
#ifndef ND_SERVER_DAEMON_H
#define ND_SERVER_DAEMON_H

#include <sys/socket.h>

#include "server/state.h"

/* Start its threads for connections that nd_daemon_add gives them.  NULL: ND_EIO. */
struct MHD_Daemon *nd_daemon_start(struct nd_server *server, unsigned threads,
                                   struct nd_error *err);
/* No connection is suspended. */
void nd_daemon_stop(struct MHD_Daemon *daemon);
/* A connection; its descriptor is the daemon's, whatever happens. */
void nd_daemon_add(struct MHD_Daemon *daemon, int fd, const struct sockaddr *address,
                   socklen_t len);

#endif
