/* start.c - a server put together, changed while it runs, and taken apart */
#define _GNU_SOURCE
#include "server/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/thread/pool.h"
#include "server/connections/listener.h"
#include "server/daemon.h"
#include "server/state.h"

enum {
    OTHER_FILES = 256, /* that the store and the process have open */
    HEAD_BYTES_MIN = 2048,
    THREADS_MAX = 256,
    LOOK_MS = 10
};

struct nd_server_options nd_server_options_default(void)
{
    return (struct nd_server_options){
        .listen = "127.0.0.1:8080",
        .body_bytes = (size_t)64 << 20,
        .stream_bytes = UINT64_C(16) << 30,
        .buffered_bytes = (size_t)1 << 30,
        .head_bytes = 16 << 10,
        .request_ms = 30000,
        .stream_bytes_s = 64 << 10,
        .idle_ms = 60000,
        .drain_ms = 30000,
        .connections = 12000,
        .temporary_folder = "/tmp",
    };
}

/* ---- Options ---- */

/* Replace *text by a copy that the server keeps. */
static bool keep_text(struct nd_server *server, const char **text)
{
    size_t len;
    char *copy;

    if (!*text)
        return true;
    len = strlen(*text);
    copy = nd_arena_alloc(&server->texts, len + 1);
    if (!copy)
        return false;
    memcpy(copy, *text, len + 1);
    *text = copy;
    return true;
}

static bool keep_hosts(struct nd_server *server)
{
    size_t n = server->options.n_hosts;
    const char **copy = nd_arena_alloc(&server->texts, (n + 1) * sizeof *copy);
    bool ok = copy != NULL;

    for (size_t i = 0; ok && i < n; i++) {
        copy[i] = server->options.hosts[i];
        ok = keep_text(server, &copy[i]);
    }
    server->options.hosts = copy;
    return ok;
}

static enum nd_status keep_options(struct nd_server *server, const struct nd_server_options *given,
                                   struct nd_error *err)
{
    struct nd_server_options *o = &server->options;

    *o = *given;
    if (!o->listen)
        return nd_fail(err, ND_EINVAL, "there is no address to listen on");
    if (!o->certificate_file != !o->certificate_key_file)
        return nd_fail(err, ND_EINVAL, "a certificate and its key are given together or not");
    if (o->head_bytes < HEAD_BYTES_MIN || o->body_bytes == 0 || o->stream_bytes_s == 0 ||
        o->request_ms == 0 || o->idle_ms == 0 || o->connections == 0 || o->threads > THREADS_MAX ||
        o->workers > THREADS_MAX)
        return nd_fail(err, ND_EINVAL, "a limit of the server is out of range");
    if (!o->temporary_folder)
        o->temporary_folder = "/tmp";
    server->has_tls = o->certificate_file != NULL;
    if (keep_text(server, &o->listen) && keep_text(server, &o->keys_file) &&
        keep_text(server, &o->certificate_file) && keep_text(server, &o->certificate_key_file) &&
        keep_text(server, &o->temporary_folder) && keep_hosts(server))
        return ND_OK;
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Return how many processors this process may use. */
static unsigned count_processors(void)
{
    struct nd_pool *pool = nd_pool_new(0, NULL);
    unsigned n = pool ? nd_pool_threads(pool) : 1;

    nd_pool_free(pool);
    return n;
}

/* Have room for the connections, or take fewer of them. */
static void raise_files(struct nd_server *server)
{
    rlim_t need = (rlim_t)server->options.connections + OTHER_FILES;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return;
    limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return;
    server->options.connections =
        (unsigned)(limit.rlim_cur > 2 * OTHER_FILES ? limit.rlim_cur - OTHER_FILES
                                                    : limit.rlim_cur / 2 + 1);
    nd_server_note(server, "this process may open %llu files, so %u connections are accepted",
                   (unsigned long long)limit.rlim_cur, server->options.connections);
}

/* ---- Keys and certificates ---- */

/* Whoever can change the keys file can become the administrator. */
static void warn_of_writers(const struct nd_server *server, const char *path)
{
    struct stat file;

    if (stat(path, &file) == 0 && file.st_mode & (S_IWGRP | S_IWOTH))
        nd_server_note(server,
                       "%.300s can be changed by %s: they could give themselves any key "
                       "(chmod go-w)",
                       path, file.st_mode & S_IWOTH ? "everybody on this machine" : "its group");
}

static enum nd_status read_files(const struct nd_server *server, struct nd_keys **keys,
                                 struct nd_certificate **certificate, struct nd_error *err)
{
    const struct nd_server_options *o = &server->options;

    *certificate = NULL;
    *keys = o->keys_file ? nd_keys_read(server->store, o->keys_file, err)
                         : nd_keys_none(server->store, err);
    if (!*keys)
        return err->status;
    if (o->keys_file)
        warn_of_writers(server, o->keys_file);
    if (server->has_tls)
        *certificate = nd_certificate_read(o->certificate_file, o->certificate_key_file, err);
    if (*certificate || !server->has_tls)
        return ND_OK;
    nd_keys_release(*keys);
    *keys = NULL; /* whoever stops what did not start frees what is there */
    return err->status;
}

enum nd_status nd_server_reload(struct nd_server *server, struct nd_error *err)
{
    struct nd_certificate *certificate;
    struct nd_keys *keys, *old;
    struct nd_error own = {.message = ""};
    enum nd_status status = read_files(server, &keys, &certificate, &own);

    if (status != ND_OK)
        return nd_fail(err, status, "%s", own.message);
    nd_monitor_enter(&server->monitor);
    old = server->keys;
    server->keys = keys;
    if (certificate) {
        certificate->older = server->certificate;
        server->certificate = certificate;
    }
    nd_monitor_leave(&server->monitor);
    nd_keys_release(old);
    return ND_OK;
}

/* ---- Starting ---- */

static bool has_room(void *context)
{
    struct nd_server *server = context;

    return nd_peers_count(server->peers) < server->options.connections;
}

static void accepted(void *context, int fd, const struct sockaddr *address, socklen_t len)
{
    nd_daemon_add(((struct nd_server *)context)->daemon, fd, address, len);
}

static enum nd_status find_simhash(struct nd_server *server, struct nd_error *err)
{
    struct nd_workspace *w = nd_workspace_borrow(server->workspaces);
    const struct nd_document document = {.text = {"a", 1}};
    struct nd_fingerprint fingerprint = {.has_simhash = false};
    struct nd_view text;
    enum nd_store_result result;

    if (!w)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    result = nd_session_content(w->session, &document, &text, err);
    if (result == ND_STORE_OK)
        result = nd_session_fingerprint(w->session, text, &fingerprint, err);
    server->has_simhash = result == ND_STORE_OK && fingerprint.has_simhash;
    nd_workspace_return(server->workspaces, w);
    return result == ND_STORE_OK ? ND_OK : ND_EIO;
}

static enum nd_status start_parts(struct nd_server *server, struct nd_error *err)
{
    struct nd_server_options *o = &server->options;
    const struct nd_listener_options listening = {has_room, accepted, server, !server->has_tls};
    struct nd_listen_address address;
    enum nd_status status = nd_listen_address_parse(o->listen, &address, err);

    if (status != ND_OK)
        return status;
    if (!o->keys_file && !address.is_loopback)
        return nd_fail(err, ND_EINVAL,
                       "%s is no loopback address: whoever reaches it could read and delete "
                       "everything; give the server a keys file",
                       o->listen);
    status = read_files(server, &server->keys, &server->certificate, err);
    if (status != ND_OK)
        return status;
    raise_files(server);
    server->listener = nd_listener_new(&address, &listening, err);
    if (!server->listener)
        return err->status;
    server->workspaces = nd_workspaces_new(server->store, o->threads + o->workers, err);
    if (!server->workspaces)
        return ND_ENOMEM;
    status = find_simhash(server, err);
    if (status != ND_OK)
        return status;
    if (!(server->peers = nd_peers_new(server, err)) ||
        !(server->jobs = nd_jobs_new(server->workspaces, o->workers, err)))
        return ND_ENOMEM;
    server->daemon = nd_daemon_start(server, o->threads, err);
    return server->daemon ? nd_listener_start(server->listener, err) : ND_EIO;
}

struct nd_server *nd_server_start(struct nd_store *store, const struct nd_server_options *options,
                                  struct nd_error *err)
{
    struct nd_server *server = calloc(1, sizeof *server);
    struct nd_error own = {.message = ""};

    if (!server) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    nd_monitor_init(&server->monitor);
    server->store = store;
    (void)!getrandom(server->secret, sizeof server->secret, 0);
    own.status = keep_options(server, options, &own);
    if (own.status == ND_OK) {
        if (server->options.threads == 0)
            server->options.threads = count_processors();
        if (server->options.workers == 0)
            server->options.workers = 2 * server->options.threads;
        own.status = start_parts(server, &own);
    }
    if (own.status == ND_OK)
        return server;
    nd_server_stop(server);
    nd_fail(err, own.status, "%s", own.message);
    return NULL;
}

const char *nd_server_address(const struct nd_server *server)
{
    return nd_listener_address(server->listener);
}

unsigned nd_server_port(const struct nd_server *server)
{
    return nd_listener_port(server->listener);
}

/* ---- Stopping ---- */

/* Wait until no request is under way.  The deadline ends those that a client holds up; what the
 * server itself works on is waited for. */
static void drain(struct nd_server *server)
{
    uint64_t deadline = nd_monotonic_ms() + server->options.drain_ms;
    const struct timespec pause = {0, LOOK_MS * 1000000};

    nd_peers_end_all(server->peers, deadline);
    while (atomic_load(&server->n_active) > 0) {
        (void)nanosleep(&pause, NULL);
        nd_peers_end_all(server->peers, deadline);
    }
}

void nd_server_stop(struct nd_server *server)
{
    if (!server)
        return;
    atomic_store(&server->is_ending, true);
    if (server->listener)
        nd_listener_stop(server->listener);
    if (server->daemon) {
        drain(server);
        nd_daemon_stop(server->daemon);
    }
    nd_listener_free(server->listener);
    nd_jobs_free(server->jobs);
    nd_peers_free(server->peers);
    nd_workspaces_free(server->workspaces);
    nd_keys_release(server->keys);
    nd_certificate_free(server->certificate);
    nd_monitor_release(&server->monitor);
    nd_arena_release(&server->texts);
    free(server);
}
