/* daemon.c - the calls of libmicrohttpd, handed on */
#define _POSIX_C_SOURCE 200809L
#include "server/daemon.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <string.h>

#include "server/exchange.h"
#include "server/tap.h"

/* Beside the bytes of a head, a connection's memory has what libmicrohttpd notes of each field, some
 * of the body, and the head of the answer. */
enum { FIELDS_BYTES = 8 << 10 };

/* ---- Connections ---- */

static struct nd_peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

static struct nd_peer *begin_peer(struct nd_server *server, int fd)
{
    struct nd_peer *peer =
        nd_peer_begin(server->peers, fd, !server->has_tls, server->options.head_bytes,
                      nd_monotonic_ms() + server->options.idle_ms);

    if (peer && nd_tap_add(peer))
        return peer;
    nd_peer_end(peer);
    return NULL;
}

static void notify_connection(void *context, struct MHD_Connection *connection,
                              void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct nd_server *server = context;
    const union MHD_ConnectionInfo *info;

    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*socket_context)
            nd_tap_remove(*socket_context);
        nd_peer_end(*socket_context);
        *socket_context = NULL;
        return;
    }
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *socket_context = info ? begin_peer(server, info->connect_fd) : NULL;
}

/* ---- Requests ---- */

/*
 * libmicrohttpd lists the parameters of a query, which nd_target_parse reads for itself.  Where the
 * list exceeds the connection's memory, as 200 parameters do, libmicrohttpd 0.9.75 never answers.  So
 * the query, which is in memory that the library writes to as well, becomes empty once it is copied.
 */
static void hide_query(const char *target)
{
    char *query = target ? strchr(target, '?') : NULL;

    if (query && query[1])
        query[1] = '\0';
}

/* The request line is there. */
static void *begin_request(void *context, const char *target, struct MHD_Connection *connection)
{
    struct nd_peer *peer = peer_of(connection);
    struct nd_exchange *exchange =
        peer ? nd_exchange_begin(context, peer, connection, target) : NULL;

    hide_query(target);
    return exchange;
}

static enum MHD_Result call_request(void *context, struct MHD_Connection *connection,
                                    const char *target, const char *method, const char *version,
                                    const char *data, size_t *len, void **request)
{
    (void)context, (void)connection, (void)target, (void)version;
    if (!*request)
        return MHD_NO;
    return nd_exchange_call(*request, method, data, len) ? MHD_YES : MHD_NO;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
                        enum MHD_RequestTerminationCode code)
{
    (void)context;
    (void)connection;
    if (*request)
        nd_exchange_end(*request, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    *request = NULL;
}

/* Targets are decoded in nd_target_parse, which sees them whole. */
static size_t leave_escaped(void *context, struct MHD_Connection *connection, char *text)
{
    (void)context;
    (void)connection;
    return strlen(text);
}

static int get_certificate(gnutls_session_t session, const gnutls_datum_t *names, int n_names,
                           const gnutls_pk_algorithm_t *algorithms, int n_algorithms,
                           gnutls_pcert_st **chain, unsigned *n, gnutls_privkey_t *key)
{
    struct nd_peer *peer = peer_of(gnutls_session_get_ptr(session));
    const struct nd_certificate *certificate;
    struct nd_server *server;

    (void)names, (void)n_names, (void)algorithms, (void)n_algorithms;
    if (!peer)
        return -1;
    server = nd_peers_owner(peer->all);
    nd_monitor_enter(&server->monitor);
    certificate = server->certificate;
    nd_monitor_leave(&server->monitor);
    *chain = certificate->chain;
    *n = certificate->n;
    *key = certificate->key;
    return 0;
}

/* ---- The daemon ---- */

/* Whatever libmicrohttpd notes about requests is in the figures by their statuses. */
static void ignore(void *context, const char *format, va_list args)
{
    (void)context, (void)format, (void)args;
}

struct MHD_Daemon *nd_daemon_start(struct nd_server *server, unsigned threads, struct nd_error *err)
{
    static const char tls[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET |
                     MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_ERROR_LOG;
    const struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)get_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    struct MHD_Daemon *daemon;
    sigset_t all, before;

    if (server->has_tls)
        flags |= MHD_USE_TLS;
    sigfillset(&all); /* its threads block what this one does */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, call_request, server, MHD_OPTION_EXTERNAL_LOGGER, ignore, NULL,
        MHD_OPTION_NOTIFY_CONNECTION, notify_connection, server, MHD_OPTION_URI_LOG_CALLBACK,
        begin_request, server, MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
        MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, NULL, MHD_OPTION_THREAD_POOL_SIZE, threads,
        MHD_OPTION_CONNECTION_LIMIT, server->options.connections + 64 * threads,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        server->options.head_bytes + FIELDS_BYTES, MHD_OPTION_ARRAY,
        server->has_tls ? secure : plain, MHD_OPTION_END);
    if (!daemon)
        nd_fail(err, ND_EIO, "libmicrohttpd cannot be started: %s", strerror(errno));
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

void nd_daemon_stop(struct MHD_Daemon *daemon)
{
    if (daemon)
        MHD_stop_daemon(daemon);
}

void nd_daemon_add(struct MHD_Daemon *daemon, int fd, const struct sockaddr *address, socklen_t len)
{
    (void)MHD_add_connection(daemon, fd, address, len);
}
