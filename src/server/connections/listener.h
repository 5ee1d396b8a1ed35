/* listener.h - where the server listens, and the thread that accepts connections */
#ifndef ND_SERVER_CONNECTIONS_LISTENER_H
#define ND_SERVER_CONNECTIONS_LISTENER_H

#include <stdbool.h>
#include <sys/socket.h>

#include <neardup/error.h>

/* ADDRESS:PORT taken apart. */
struct nd_listen_address {
    struct sockaddr_storage socket;
    socklen_t len;
    bool is_loopback;
};

/* "127.0.0.1:8080", "[::1]:0", "localhost:80".  ND_EINVAL. */
enum nd_status nd_listen_address_parse(const char *text, struct nd_listen_address *out,
                                       struct nd_error *err);

/*
 * Accepts in a thread of its own.  libmicrohttpd would spin where files have run out and a thread
 * of its has no connection; here a spare descriptor is given up to refuse whoever waits.
 */
struct nd_listener;
struct nd_listener_options {
    /* Whether another connection may come. */
    bool (*has_room)(void *context);
    /* A connection: its descriptor is the callee's. */
    void (*accepted)(void *context, int fd, const struct sockaddr *address, socklen_t len);
    void *context;
    bool is_plain; /* not TLS: who is refused is told so */
};

/* Listen, and accept nobody yet.  NULL: ND_EIO, ND_ENOMEM. */
struct nd_listener *nd_listener_new(const struct nd_listen_address *address,
                                    const struct nd_listener_options *options,
                                    struct nd_error *err);
enum nd_status nd_listener_start(struct nd_listener *listener, struct nd_error *err);
/* Accept no more, and close the socket. */
void nd_listener_stop(struct nd_listener *listener);
void nd_listener_free(struct nd_listener *listener);
/* "127.0.0.1:8080", with the port that it got. */
const char *nd_listener_address(const struct nd_listener *listener);
unsigned nd_listener_port(const struct nd_listener *listener);

#endif
