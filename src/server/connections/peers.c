/* peers.c - connections in a list, and the thread that watches their deadlines */
#define _DEFAULT_SOURCE
#include "server/connections/peers.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/thread/thread.h"

/* How often connections are looked at; whether a client has gone in one look of so many. */
enum { LOOK_EVERY_MS = 100, LOOKS_READING = 10, LOOKS_WAITING = 100 };

struct nd_peers {
    void *owner;
    struct nd_monitor monitor; /* of the list */
    struct nd_peer *first;
    atomic_size_t n;
    bool is_ending;
    struct nd_thread thread;
};

/* ---- Ending a connection ---- */

void nd_peer_reply(int fd, enum nd_refusal refusal, unsigned retry_after_s)
{
    struct nd_json body = {0};
    char head[512], retry[48] = "";
    int len;

    nd_refusal_json(&body, refusal, NULL);
    nd_json_line(&body);
    if (retry_after_s)
        (void)snprintf(retry, sizeof retry, "Retry-After: %u\r\n", retry_after_s);
    len = snprintf(head, sizeof head,
                   "HTTP/1.1 %u Refused\r\nContent-Type: application/problem+json\r\n"
                   "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s"
                   "Connection: close\r\nContent-Length: %zu\r\n\r\n",
                   nd_refusal_status(refusal), retry, body.text.len);
    if (!body.failed && len > 0 && (size_t)len < sizeof head) {
        struct iovec part[2] = {{head, (size_t)len}, {body.text.data, body.text.len}};
        struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};

        (void)!sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    nd_json_release(&body);
}

/* Whether anything of a request has arrived. */
static bool has_received(const struct nd_peer *peer)
{
    struct tcp_info info;
    socklen_t len = sizeof info;

    memset(&info, 0, sizeof info);
    return peer->is_fresh && getsockopt(peer->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
           info.tcpi_bytes_received > 0;
}

/* The connection is beyond its deadline in this phase. */
static void expire(struct nd_peer *peer, unsigned phase)
{
    if (!atomic_compare_exchange_strong(&peer->phase, &phase, ND_PHASE_EXPIRED))
        return;
    if (peer->is_plain &&
        (phase == ND_PHASE_READING || (phase == ND_PHASE_WAITING && has_received(peer))))
        nd_peer_reply(peer->fd, ND_REFUSAL_DEADLINE, 0);
    (void)shutdown(peer->fd, SHUT_RDWR);
}

/*
 * Whether the client has closed, and all that it sent was read.  libmicrohttpd does not notice where
 * the end arrives together with the last bytes.
 */
static bool has_gone(const struct nd_peer *peer, unsigned phase, unsigned n)
{
    char byte;

    return ((phase == ND_PHASE_READING && n % LOOKS_READING == 0) ||
            (phase == ND_PHASE_WAITING && n % LOOKS_WAITING == 0)) &&
           recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* End the connections beyond their deadlines, and those whose client has gone: the n-th look. */
static void look(struct nd_peers *all, uint64_t now, unsigned n)
{
    for (struct nd_peer *peer = all->first; peer; peer = peer->after) {
        unsigned phase = atomic_load(&peer->phase);

        if (phase != ND_PHASE_HELD && phase != ND_PHASE_EXPIRED &&
            (now >= atomic_load(&peer->deadline) || has_gone(peer, phase, n)))
            expire(peer, phase);
    }
}

static void watch(void *context)
{
    struct nd_peers *all = context;

    nd_monitor_enter(&all->monitor);
    for (unsigned n = 1; !all->is_ending; n++) {
        uint64_t now = nd_monotonic_ms();

        look(all, now, n);
        (void)nd_monitor_wait_until(&all->monitor, now + LOOK_EVERY_MS);
    }
    nd_monitor_leave(&all->monitor);
}

/* ---- The list ---- */

struct nd_peers *nd_peers_new(void *owner, struct nd_error *err)
{
    struct nd_peers *all = calloc(1, sizeof *all);

    if (all) {
        nd_monitor_init(&all->monitor);
        all->owner = owner;
        if (nd_thread_start(&all->thread, watch, all))
            return all;
        nd_monitor_release(&all->monitor);
    }
    free(all);
    nd_fail(err, ND_ENOMEM, "out of memory");
    return NULL;
}

void *nd_peers_owner(const struct nd_peers *all)
{
    return all->owner;
}

void nd_peers_free(struct nd_peers *all)
{
    if (!all)
        return;
    nd_monitor_enter(&all->monitor);
    all->is_ending = true;
    nd_monitor_notify(&all->monitor);
    nd_monitor_leave(&all->monitor);
    nd_thread_join(&all->thread);
    nd_monitor_release(&all->monitor);
    free(all);
}

struct nd_peer *nd_peer_begin(struct nd_peers *all, int fd, bool is_plain, size_t head_bytes,
                              uint64_t deadline)
{
    struct nd_peer *peer = calloc(1, sizeof *peer);

    if (!peer)
        return NULL;
    peer->all = all;
    peer->fd = fd;
    peer->is_plain = is_plain;
    peer->is_fresh = true;
    nd_framing_init(&peer->framing, head_bytes);
    atomic_init(&peer->phase, ND_PHASE_WAITING);
    atomic_init(&peer->deadline, deadline);
    nd_monitor_enter(&all->monitor);
    peer->after = all->first;
    if (all->first)
        all->first->before = peer;
    all->first = peer;
    nd_monitor_leave(&all->monitor);
    atomic_fetch_add(&all->n, 1);
    return peer;
}

void nd_peer_end(struct nd_peer *peer)
{
    struct nd_peers *all;

    if (!peer)
        return;
    all = peer->all;
    nd_monitor_enter(&all->monitor);
    if (peer->before)
        peer->before->after = peer->after;
    else
        all->first = peer->after;
    if (peer->after)
        peer->after->before = peer->before;
    nd_monitor_leave(&all->monitor);
    atomic_fetch_sub(&all->n, 1);
    nd_framing_release(&peer->framing);
    free(peer);
}

bool nd_peer_enter(struct nd_peer *peer, enum nd_phase phase, uint64_t deadline)
{
    unsigned before = atomic_load(&peer->phase);

    /* The thread reads the phase first: it never meets a new phase with an old deadline. */
    atomic_store(&peer->deadline, deadline);
    while (before != ND_PHASE_EXPIRED)
        if (atomic_compare_exchange_weak(&peer->phase, &before, phase))
            return true;
    return false;
}

size_t nd_peers_count(const struct nd_peers *all)
{
    return atomic_load(&all->n);
}

void nd_peers_end_all(struct nd_peers *all, uint64_t deadline)
{
    nd_monitor_enter(&all->monitor);
    for (struct nd_peer *peer = all->first; peer; peer = peer->after) {
        unsigned phase = atomic_load(&peer->phase);

        if (phase == ND_PHASE_WAITING)
            expire(peer, phase);
        else if (atomic_load(&peer->deadline) > deadline)
            atomic_store(&peer->deadline, deadline);
    }
    nd_monitor_leave(&all->monitor);
}
