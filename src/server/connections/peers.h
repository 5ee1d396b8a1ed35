/* peers.h - the connections, and how long each may take */
#ifndef ND_SERVER_CONNECTIONS_PEERS_H
#define ND_SERVER_CONNECTIONS_PEERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>

#include "server/wire/framing.h"
#include "server/wire/problem.h"

/*
 * libmicrohttpd's time-out counts from the last byte, so that a client that sends a byte a second
 * would be served for ever.  Here every connection has a deadline, and a thread that ends those
 * beyond theirs: by shutting down the socket, which libmicrohttpd then finds closed.
 */
enum nd_phase {
    ND_PHASE_WAITING,   /* for the head of a request */
    ND_PHASE_READING,   /* the request line is there */
    ND_PHASE_ANSWERING, /* the request is there */
    ND_PHASE_HELD,      /* the server works, and the deadline does not count */
    ND_PHASE_EXPIRED    /* for ever */
};

struct nd_peers;
struct nd_peer {
    struct nd_peers *all;
    struct nd_peer *before, *after;
    int fd;
    bool is_plain;             /* not TLS: an answer can be written to the socket itself */
    bool is_fresh;             /* it has not sent a whole head yet */
    struct nd_framing framing; /* of what it has sent; of the thread that receives, as these are */
    uint64_t line_us;          /* since when a request has its line, and its head not; 0: none */
    uint64_t requests;         /* that have begun */
    atomic_uint phase;
    atomic_uint_least64_t deadline; /* by nd_monotonic_ms */
};

/* Start the thread.  NULL: ND_ENOMEM. */
struct nd_peers *nd_peers_new(void *owner, struct nd_error *err);
void *nd_peers_owner(const struct nd_peers *all);
/* No peer is left. */
void nd_peers_free(struct nd_peers *all);

/* A connection begins: NULL: out of memory.  It ends before its descriptor is closed. */
struct nd_peer *nd_peer_begin(struct nd_peers *all, int fd, bool is_plain, size_t head_bytes,
                              uint64_t deadline);
void nd_peer_end(struct nd_peer *peer);

/* Go to another phase.  False: it has expired, and nothing more may be sent. */
bool nd_peer_enter(struct nd_peer *peer, enum nd_phase phase, uint64_t deadline);

size_t nd_peers_count(const struct nd_peers *all);
/* End the connections that wait for a request; and all others at a deadline. */
void nd_peers_end_all(struct nd_peers *all, uint64_t deadline);

/* Write a whole answer, with a problem document, to a socket that is then closed; what the socket
 * does not take at once is lost. */
void nd_peer_reply(int fd, enum nd_refusal refusal, unsigned retry_after_s);

#endif
