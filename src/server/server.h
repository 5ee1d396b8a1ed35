/*
 * server.h - HTTP in front of a store: started, reloaded, stopped
 *
 *     struct nd_server_options options = nd_server_options_default();
 *     struct nd_server *server = nd_server_start(store, &options, &err);
 *
 *     printf("http://%s/\n", nd_server_address(server));
 *     // until SIGTERM; on SIGHUP nd_server_reload(server, &err)
 *     nd_server_stop(server);
 *     nd_store_close(store, &err);
 *
 * docs/http.md says what it answers.  The server handles no signals: its threads block them, and
 * whoever started it calls the functions below.
 */
#ifndef ND_SERVER_SERVER_H
#define ND_SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "store/store.h"

struct nd_server;

/* Events that the server tells, for the log of whoever runs it. */
enum nd_server_event {
    ND_SERVER_REQUEST, /* a request was answered (if log_requests is set) */
    ND_SERVER_NOTE     /* something that an operator should know */
};

/* Start from nd_server_options_default().  Everything that it points to is copied. */
struct nd_server_options {
    /* ADDRESS:PORT: "127.0.0.1:8080", "[::1]:8080", "localhost:8080"; port 0 is any free one.
     * Without keys the address must be a loopback address. */
    const char *listen;
    /* One key a line (docs/http.md).  NULL: no keys.  Whoever reaches the server is then its
     * administrator, who sees every label. */
    const char *keys_file;
    /* PEM: the chain of certificates, and its private key.  Both, or NULL: no TLS. */
    const char *certificate_file, *certificate_key_file;
    /* Names in the field Host that the server answers for, beside loopback names and addresses:
     * without a port.  With keys and without any names, every Host is answered. */
    const char *const *hosts;
    size_t n_hosts;

    size_t body_bytes;       /* of a request, or of a line of NDJSON (64 MiB) */
    uint64_t stream_bytes;   /* of a request in NDJSON (16 GiB) */
    size_t buffered_bytes;   /* of all bodies in memory at once: beyond it 503 (1 GiB) */
    size_t head_bytes;       /* of a request line with its header fields: each connection has this
                                much memory, and 8 KiB (16 KiB; at least 2 KiB) */
    unsigned request_ms;     /* from a request's first line to its last byte (30,000) */
    unsigned stream_bytes_s; /* NDJSON has a second more for each so many bytes (64 KiB) */
    unsigned idle_ms;        /* until a connection has sent the head of its next request (60,000) */
    unsigned drain_ms;       /* how long nd_server_stop waits for requests that run (30,000) */
    unsigned connections;    /* at once: beyond it 503 (12,000, or what open files allow) */
    unsigned threads;        /* that speak HTTP; 0: one for each processor */
    unsigned workers;        /* for long requests; 0: twice as many */

    const char *temporary_folder; /* for answers to NDJSON that do not fit into memory (/tmp) */
    /* Seconds since 1970, for what "/v1/crawl" calls now; NULL: the system's clock. */
    uint64_t (*now)(void *context);
    void *now_context;

    bool only_reads; /* the store takes no writes: they are refused with 403 */
    bool log_requests;
    /* A line without a newline, of ASCII without control characters; from any thread. */
    void (*log)(void *context, enum nd_server_event event, const char *line);
    void *log_context;
};
struct nd_server_options nd_server_options_default(void);

/*
 * Listen and answer.  The store is the caller's, and outlives the server.  The soft limit of open
 * files is raised as far as the connections need it.  NULL: ND_EINVAL (an address that is none, one
 * that is not loopback without keys, an option out of range), ND_EINPUT (the keys file or a
 * certificate is malformed; the message names the file and the line), ND_EIO (the address is in
 * use, a file cannot be read), ND_ENOMEM.
 */
struct nd_server *nd_server_start(struct nd_store *store, const struct nd_server_options *options,
                                  struct nd_error *err);

/* The address that it listens on, with the port that it got: "127.0.0.1:8080". */
const char *nd_server_address(const struct nd_server *server);
unsigned nd_server_port(const struct nd_server *server);

/* Read the keys file and the certificates again.  On failure all of the old ones stay in use. */
enum nd_status nd_server_reload(struct nd_server *server, struct nd_error *err);

/* Accept no more connections, answer new requests with 503, wait for those that run, and free the
 * server.  Every write that it handed to the store is done when it returns.  NULL is allowed. */
void nd_server_stop(struct nd_server *server);

/*
 * Make a key: 256 random bits, as text that is shown once, and the line for the keys file, which
 * has only its hash.  labels: those that its owner sees; an administrator sees all.  Both results are
 * the caller's to free.  ND_EINVAL (a name that is empty or has white space or control characters,
 * a label that is none), ND_EIO (no random bits), ND_ENOMEM.
 */
enum nd_status nd_server_key_new(const char *name, const struct nd_view *labels, size_t n_labels,
                                 bool is_administrator, char **key, char **line,
                                 struct nd_error *err);

#endif
