/*
 * serve.c - a server for the tests: serve FOLDER [OPTION=VALUE…]
 *
 * Prints its address.  SIGTERM stops it, SIGHUP has it read its files again.
 */
#define _POSIX_C_SOURCE 200809L
#include "server/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

struct settings {
    struct nd_store_options store;
    struct nd_server_options server;
    const char *host;
    struct nd_recipe *recipe;
};

/* The value of NAME=VALUE; NULL: another name. */
static const char *value_of(const char *argument, const char *name)
{
    size_t len = strlen(name);

    return strncmp(argument, name, len) == 0 && argument[len] == '=' ? argument + len + 1 : NULL;
}

static void limit_files(const char *value)
{
    struct rlimit limit = {strtoul(value, NULL, 10), strtoul(value, NULL, 10)};

    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int set(struct settings *s, const char *argument)
{
    const char *v;

    if ((v = value_of(argument, "listen")))
        s->server.listen = v;
    else if ((v = value_of(argument, "keys")))
        s->server.keys_file = v;
    else if ((v = value_of(argument, "certificate")))
        s->server.certificate_file = v;
    else if ((v = value_of(argument, "certificate_key")))
        s->server.certificate_key_file = v;
    else if ((v = value_of(argument, "host")))
        s->host = v;
    else if ((v = value_of(argument, "body_bytes")))
        s->server.body_bytes = strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "stream_bytes")))
        s->server.stream_bytes = strtoull(v, NULL, 10);
    else if ((v = value_of(argument, "buffered_bytes")))
        s->server.buffered_bytes = strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "request_ms")))
        s->server.request_ms = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "stream_bytes_s")))
        s->server.stream_bytes_s = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "idle_ms")))
        s->server.idle_ms = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "drain_ms")))
        s->server.drain_ms = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "connections")))
        s->server.connections = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "threads")))
        s->server.threads = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "head_bytes")))
        s->server.head_bytes = strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "queue")))
        s->store.queue_documents = strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "interval")))
        s->store.durability_interval_ms = (unsigned)strtoul(v, NULL, 10);
    else if ((v = value_of(argument, "log")))
        s->server.log_requests = true;
    else if ((v = value_of(argument, "files")))
        limit_files(v);
    else
        return 0;
    return 1;
}

static void log_line(void *context, enum nd_server_event event, const char *line)
{
    (void)context;
    fprintf(stderr, "%s: %s\n", event == ND_SERVER_REQUEST ? "request" : "note", line);
}

static int serve(struct nd_store *store, const struct settings *s)
{
    struct nd_error err = {.message = ""};
    struct nd_server *server = nd_server_start(store, &s->server, &err);
    sigset_t signals;
    int signal;

    if (!server) {
        fprintf(stderr, "%s: %s\n", nd_status_name(err.status), err.message);
        return 2;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    printf("%s\n", nd_server_address(server));
    fflush(stdout);
    while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) {
        if (nd_server_reload(server, &err) != ND_OK)
            fprintf(stderr, "reload: %s\n", err.message);
        else
            fprintf(stderr, "reloaded\n");
    }
    nd_server_stop(server);
    return 0;
}

int main(int argc, char **argv)
{
    struct settings s = {nd_store_options_default(), nd_server_options_default(), NULL, NULL};
    struct nd_error err = {.message = ""};
    struct nd_store *store;
    sigset_t signals;
    int status;

    s.server.listen = "127.0.0.1:0";
    s.server.log = log_line;
    s.store.create = true;
    for (int i = 2; i < argc; i++)
        if (!set(&s, argv[i])) {
            fprintf(stderr, "%s is no option\n", argv[i]);
            return 2;
        }
    if (s.host) {
        s.server.hosts = &s.host;
        s.server.n_hosts = 1;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    store = argc > 1 ? nd_store_open(argv[1], &s.store, &err) : NULL;
    if (!store) {
        fprintf(stderr, "%s\n", err.message);
        return 2;
    }
    status = serve(store, &s);
    if (nd_store_close(store, &err) != ND_OK) {
        fprintf(stderr, "close: %s\n", err.message);
        status = 2;
    }
    return status;
}
