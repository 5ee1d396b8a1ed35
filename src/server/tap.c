/* tap.c - recv and gnutls_record_recv, for libmicrohttpd */
#define _DEFAULT_SOURCE
#undef _FORTIFY_SOURCE /* which makes recv an inline function */
#include "server/tap.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "server/state.h"

/* ---- The connections by their descriptors ---- */

enum { PAGE = 1024, PAGES = 1024, READ_BYTES = 16 << 10 };

typedef _Atomic(struct nd_peer *) entry;

/* A page is made when its first descriptor is used, and stays. */
static _Atomic(entry *) page_of[PAGES];

static entry *find_entry(int fd, bool make)
{
    size_t i = (size_t)fd / PAGE;
    entry *page, *expected = NULL;

    if (fd < 0 || i >= PAGES)
        return NULL;
    page = atomic_load(&page_of[i]);
    if (!page && make) {
        page = calloc(PAGE, sizeof *page);
        if (page && !atomic_compare_exchange_strong(&page_of[i], &expected, page)) {
            free(page);
            page = expected;
        }
    }
    return page ? &page[fd % PAGE] : NULL;
}

static struct nd_peer *find_peer(int fd)
{
    entry *at = find_entry(fd, false);

    return at ? atomic_load(at) : NULL;
}

bool nd_tap_add(struct nd_peer *peer)
{
    entry *at = find_entry(peer->fd, true);

    if (at)
        atomic_store(at, peer);
    return at != NULL;
}

void nd_tap_remove(const struct nd_peer *peer)
{
    entry *at = find_entry(peer->fd, false);

    if (at)
        atomic_store(at, NULL);
}

/* ---- Receiving ---- */

/* The deadline of a request counts from its line on, though libmicrohttpd sees it with its head. */
static void note_line(struct nd_peer *peer)
{
    const struct nd_server *server = nd_peers_owner(peer->all);

    if (peer->line_us || !nd_framing_has_line(&peer->framing))
        return;
    peer->line_us = nd_now_us();
    if (atomic_load(&peer->phase) == ND_PHASE_WAITING)
        (void)nd_peer_enter(peer, ND_PHASE_READING, nd_monotonic_ms() + server->options.request_ms);
}

/*
 * Give what has passed, up to `len` bytes.  Fewer are given only when nothing more has arrived, since
 * libmicrohttpd then waits for the socket.  `receive` has the results of recv.
 */
static ssize_t give(struct nd_peer *peer, void *out, size_t len,
                    ssize_t (*receive)(void *from, char *data, size_t len, bool *is_drained),
                    void *from)
{
    struct nd_framing *f = &peer->framing;
    char data[READ_BYTES];
    bool is_drained = false;

    while (f->ready < len && !is_drained && f->state != ND_FRAMING_REFUSED) {
        ssize_t n = receive(from, data, sizeof data, &is_drained);

        if (n <= 0 && f->ready == 0)
            return n;
        if (n <= 0)
            break;
        if (!nd_framing_put(f, data, (size_t)n)) {
            errno = ECONNRESET;
            return -1;
        }
        note_line(peer);
    }
    if (f->ready)
        return (ssize_t)nd_framing_take(f, out, len);
    errno = EAGAIN;
    return -1;
}

struct plain {
    int fd, flags;
};

static ssize_t receive_plain(void *from, char *data, size_t len, bool *is_drained)
{
    const struct plain *p = from;
    ssize_t n = recvfrom(p->fd, data, len, p->flags, NULL, NULL);

    *is_drained = n < (ssize_t)len;
    return n;
}

#define ND_TAP __attribute__((visibility("default"), used))

ND_TAP ssize_t recv(int fd, void *out, size_t len, int flags)
{
    struct nd_peer *peer = flags & MSG_PEEK ? NULL : find_peer(fd);
    struct plain from = {fd, flags};

    return peer && peer->is_plain ? give(peer, out, len, receive_plain, &from)
                                  : recvfrom(fd, out, len, flags, NULL, NULL);
}

static ssize_t receive_record(gnutls_session_t session, void *data, size_t len)
{
    unsigned char number[8];

    return gnutls_record_recv_seq(session, data, len, number);
}

static ssize_t receive_secure(void *from, char *data, size_t len, bool *is_drained)
{
    *is_drained = false;
    return receive_record(from, data, len);
}

ND_TAP ssize_t gnutls_record_recv(gnutls_session_t session, void *out, size_t len)
{
    struct nd_peer *peer = find_peer(gnutls_transport_get_int(session));
    ssize_t n;

    if (!peer || peer->is_plain)
        return receive_record(session, out, len);
    errno = 0;
    n = give(peer, out, len, receive_secure, session);
    return n == -1 && errno ? GNUTLS_E_AGAIN : n;
}
