/* listener.c - an address, a socket, and who comes */
#define _GNU_SOURCE
#include "server/connections/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/thread/thread.h"
#include "server/connections/peers.h"

enum { BACKLOG = 4096, REST_MS = 100 };

struct nd_listener {
    struct nd_listener_options options;
    int fd, stop, spare;
    bool is_running;
    struct nd_thread thread;
    unsigned port;
    char address[80];
};

/* ---- The address ---- */

static bool take_port(const char *text, uint16_t *port)
{
    unsigned value = 0;

    for (const char *p = text; *p; p++) {
        if (*p < '0' || *p > '9' || value > 65535)
            return false;
        value = value * 10 + (unsigned)(*p - '0');
    }
    *port = (uint16_t)value;
    return *text && value <= 65535;
}

static bool set_v4(const char *host, uint16_t port, struct nd_listen_address *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&out->socket;

    if (inet_pton(AF_INET, host, &v4->sin_addr) != 1)
        return false;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out->len = sizeof *v4;
    out->is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    return true;
}

static bool set_v6(const char *host, uint16_t port, struct nd_listen_address *out)
{
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out->socket;

    if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
        return false;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out->len = sizeof *v6;
    out->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    return true;
}

enum nd_status nd_listen_address_parse(const char *text, struct nd_listen_address *out,
                                       struct nd_error *err)
{
    const char *colon = strrchr(text, ':');
    char host[64];
    size_t len = colon ? (size_t)(colon - text) : 0;
    uint16_t port;
    bool ok = false;

    memset(out, 0, sizeof *out);
    if (!colon || len == 0 || len >= sizeof host || !take_port(colon + 1, &port))
        return nd_fail(err, ND_EINVAL,
                       "'%.80s' is not ADDRESS:PORT, such as 127.0.0.1:8080 or [::1]:8080", text);
    memcpy(host, text, len);
    host[len] = 0;
    if (strcmp(host, "localhost") == 0) {
        ok = set_v4("127.0.0.1", port, out);
    } else if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = 0;
        ok = set_v6(host + 1, port, out);
    } else {
        ok = set_v4(host, port, out);
    }
    if (!ok)
        return nd_fail(err, ND_EINVAL, "'%.80s' has no address of IPv4 or [IPv6] before its port",
                       text);
    return ND_OK;
}

/* ---- The socket ---- */

static void name_address(struct nd_listener *l, const struct sockaddr_storage *address)
{
    char host[INET6_ADDRSTRLEN] = "?";

    if (address->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;

        l->port = ntohs(v6->sin6_port);
        (void)inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        (void)snprintf(l->address, sizeof l->address, "[%s]:%u", host, l->port);
    } else {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;

        l->port = ntohs(v4->sin_port);
        (void)inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        (void)snprintf(l->address, sizeof l->address, "%s:%u", host, l->port);
    }
}

/* With the port that the system chose, if it was to. */
static void name_bound(struct nd_listener *l)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;

    memset(&bound, 0, sizeof bound);
    (void)getsockname(l->fd, (struct sockaddr *)&bound, &len);
    name_address(l, &bound);
}

static enum nd_status open_socket(struct nd_listener *l, const struct nd_listen_address *address,
                                  struct nd_error *err)
{
    const int on = 1;
    int family = address->socket.ss_family;

    l->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return nd_fail(err, ND_EIO, "no socket: %s", strerror(errno));
    (void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* inherited */
    if (family == AF_INET6)
        (void)setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (bind(l->fd, (const struct sockaddr *)&address->socket, address->len) != 0 ||
        listen(l->fd, BACKLOG) != 0) {
        int reason = errno;

        name_address(l, &address->socket);
        return nd_fail(err, ND_EIO, "%s: cannot listen: %s", l->address, strerror(reason));
    }
    name_bound(l);
    return ND_OK;
}

static int open_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

struct nd_listener *nd_listener_new(const struct nd_listen_address *address,
                                    const struct nd_listener_options *options, struct nd_error *err)
{
    struct nd_listener *l = calloc(1, sizeof *l);

    if (!l) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    l->options = *options;
    l->fd = -1;
    l->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->spare = open_spare();
    if (l->stop < 0 || l->spare < 0)
        nd_fail(err, ND_EIO, "no more files can be opened: %s", strerror(errno));
    else if (open_socket(l, address, err) == ND_OK)
        return l;
    nd_listener_free(l);
    return NULL;
}

/* ---- Accepting ---- */

static void refuse(const struct nd_listener *l, int fd)
{
    if (l->options.is_plain)
        nd_peer_reply(fd, ND_REFUSAL_BUSY, 1);
    (void)shutdown(fd, SHUT_WR);
    close(fd);
}

/* Files have run out: take whoever waits with the spare one, and refuse them.  False: not even
 * that. */
static bool refuse_one(struct nd_listener *l)
{
    int fd;

    if (l->spare < 0)
        l->spare = open_spare();
    if (l->spare < 0)
        return false;
    close(l->spare);
    fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0)
        refuse(l, fd);
    l->spare = open_spare();
    return fd >= 0;
}

/* Accept one.  False: nobody waits, or nobody can be accepted now. */
static bool accept_one(struct nd_listener *l, bool *is_exhausted)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    int fd = accept4(l->fd, (struct sockaddr *)&address, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE) {
            *is_exhausted = !refuse_one(l);
            return !*is_exhausted;
        }
        *is_exhausted = errno == ENOMEM || errno == ENOBUFS;
        return errno == ECONNABORTED || errno == EINTR;
    }
    if (l->options.has_room(l->options.context))
        l->options.accepted(l->options.context, fd, (struct sockaddr *)&address, len);
    else
        refuse(l, fd);
    return true;
}

static void run(void *context)
{
    struct nd_listener *l = context;
    struct pollfd ready[2] = {{l->stop, POLLIN, 0}, {l->fd, POLLIN, 0}};

    for (;;) {
        bool is_exhausted = false;

        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            return;
        if (ready[0].revents)
            return;
        while (accept_one(l, &is_exhausted))
            ;
        if (is_exhausted) /* rather than spin */
            (void)poll(ready, 1, REST_MS);
    }
}

enum nd_status nd_listener_start(struct nd_listener *listener, struct nd_error *err)
{
    listener->is_running = nd_thread_start(&listener->thread, run, listener);
    return listener->is_running ? ND_OK : nd_fail(err, ND_ENOMEM, "no thread can be started");
}

void nd_listener_stop(struct nd_listener *listener)
{
    if (listener->is_running) {
        const uint64_t one = 1;

        (void)!write(listener->stop, &one, sizeof one);
        nd_thread_join(&listener->thread);
        listener->is_running = false;
    }
    if (listener->fd >= 0)
        close(listener->fd);
    listener->fd = -1;
}

void nd_listener_free(struct nd_listener *listener)
{
    if (!listener)
        return;
    nd_listener_stop(listener);
    if (listener->stop >= 0)
        close(listener->stop);
    if (listener->spare >= 0)
        close(listener->spare);
    free(listener);
}

const char *nd_listener_address(const struct nd_listener *listener)
{
    return listener->address;
}

unsigned nd_listener_port(const struct nd_listener *listener)
{
    return listener->port;
}
