/* serve.c - neardup serve: a store, and HTTP in front of it, until a signal ends it */
#define _GNU_SOURCE
#include "service/apart.h"
#include "service/notify.h"
#include "service/security.h"
#include "settings.h"

#include "server/server.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

/* ---- A new key ------------------------------------------------------------------------------- */

/* Add a line to the keys file, which its group may read if it is new: it has no key, only hashes. */
static bool add_key(const char *name, const char *line)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "a");
    bool fine = file && fprintf(file, "%s\n", line) > 0 && fflush(file) == 0 && fsync(fd) == 0;

    if (!fine)
        say("%s: the key cannot be added: %s", name, strerror(errno));
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return fine;
}

static int make_key(const struct settings *s)
{
    struct security security;
    struct nd_error err;
    char *key = NULL, *line = NULL;
    bool fine;

    if (!security_split(&security, s->service.security)) {
        say("--security has more than %d security labels", ND_STORE_LABELS_MAX);
        return 2;
    }
    if (nd_server_key_new(s->serve.new_key, security.at, security.n, s->serve.administrator, &key,
                          &line, &err) != ND_OK)
        return failed(&err);
    fine = !s->serve.keys || add_key(s->serve.keys, line);
    if (fine)
        puts(key);
    if (fine && !s->serve.keys)
        puts(line);
    free(key);
    free(line);
    return fine ? close_output() : 2;
}

/* ---- The service ----------------------------------------------------------------------------- */

/* One write for a line, since any thread may have something to say, and no character that could
 * control a terminal. */
static void write_line(void *context, enum nd_server_event event, const char *line)
{
    char message[2048];
    int n = snprintf(message, sizeof message, "%s%s\n", event == ND_SERVER_NOTE ? "neardup: " : "",
                     line);

    (void)context;
    if (n >= (int)sizeof message)
        n = sizeof message - 1;
    for (int i = 0; i < n; i++)
        if ((unsigned char)message[i] < ' ' || message[i] == 0x7f)
            message[i] = '?';
    if (n > 0)
        message[n - 1] = '\n';
    if (n > 0)
        (void)!write(STDERR_FILENO, message, (size_t)n);
}

/* Count findings, and say the first ones. */
static void say_finding(void *context, const char *finding)
{
    uint64_t *n = context;

    if (++*n <= 10)
        say("%s", finding);
}

static int check_rows(struct settings *s)
{
    struct nd_error err;
    uint64_t n = 0;
    enum nd_status status =
        nd_store_check_rows(s->paths.at[0], s->serve.read_only, say_finding, &n, &err);

    if (status == ND_OK)
        return 0;
    if (n == 0)
        say("%s", err.message);
    return status == ND_EINPUT && n ? 1 : 2;
}

/* Whether a database can be opened that threads trust: its rows are read by a process of its own. */
static bool is_readable(struct settings *s)
{
    int status = run_apart(check_rows, s, "the reading of its rows", s->paths.at[0]);

    if (status == 1)
        say("%s: the database is damaged, and is not served; see neardup help store about check, "
            "and restore a backup or import what neardup store export still reads",
            s->paths.at[0]);
    return status == 0;
}

static struct nd_store *open_store(struct settings *s, struct nd_error *err)
{
    struct nd_store_options options = nd_store_options_default();

    if (is_given(s, "recipe") || is_given(s, "set"))
        options.recipe = s->recipe;
    options.least = s->serve.least;
    options.containment = s->serve.containment;
    options.create = !s->serve.read_only;
    options.read_only = options.has_answers = s->serve.read_only;
    options.threads = s->serve.threads;
    options.durability_interval_ms = s->serve.durability_ms;
    options.visits = s->use.track.visits;
    if (s->serve.snapshot_s)
        options.snapshot_every_s = (unsigned)s->serve.snapshot_s;
    if (s->serve.compact_s)
        options.compact_after_s = (unsigned)s->serve.compact_s;
    return nd_store_open(s->paths.at[0], &options, err);
}

static struct nd_server *start_server(const struct settings *s, struct nd_store *store,
                                      struct nd_error *err)
{
    const struct serve_settings *o = &s->serve;
    struct nd_server_options options = nd_server_options_default();

    options.listen = o->listen;
    options.keys_file = o->keys;
    options.certificate_file = o->certificate;
    options.certificate_key_file = o->certificate_key;
    options.hosts = o->hosts.at;
    options.n_hosts = o->hosts.count;
    options.threads = o->threads;
    options.only_reads = o->read_only;
    options.log_requests = o->log_requests;
    options.log = write_line;
    if (o->body_bytes)
        options.body_bytes = (size_t)o->body_bytes;
    if (o->deadline_s)
        options.request_ms = o->deadline_s < 1000000 ? (unsigned)o->deadline_s * 1000 : 1000000000;
    return nd_server_start(store, &options, err);
}

/* Print the line that says where it answers, for people and for programs that wait for it. */
static bool announce(const struct settings *s, const struct nd_server *server)
{
    printf("neardup: %s answers at %s://%s/\n", s->paths.at[0],
           s->serve.certificate ? "https" : "http", nd_server_address(server));
    if (close_output() != 0)
        return false;
    notify("READY=1\nSTATUS=Answering");
    return true;
}

static void reload(struct nd_server *server)
{
    char line[sizeof((struct nd_error *)0)->message + 64];
    struct nd_error err;

    notify_reloading();
    if (nd_server_reload(server, &err) == ND_OK)
        (void)snprintf(line, sizeof line, "keys and certificates were read again");
    else
        (void)snprintf(line, sizeof line, "%s; the keys and certificates stay as they were",
                       err.message);
    write_line(NULL, ND_SERVER_NOTE, line);
    notify("READY=1");
}

/* Wait for what ends the service, with the signals held back that it is told by. */
static void wait_for_end(struct nd_server *server, const sigset_t *signals)
{
    int number;

    do {
        number = sigwaitinfo(signals, NULL);
        if (number == SIGHUP)
            reload(server);
    } while (number == SIGHUP || (number < 0 && errno == EINTR));
    notify("STOPPING=1\nSTATUS=Ending");
}

/* A second signal ends the process at once, which costs no document that was acknowledged. */
static void stop_at_next(const sigset_t *signals)
{
    sigset_t ends = *signals;

    sigdelset(&ends, SIGHUP);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

static int serve(const struct settings *s, struct nd_store *store, struct nd_error *err)
{
    struct nd_server *server;
    sigset_t signals;
    bool fine;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    server = start_server(s, store, err);
    if (!server)
        return failed(err);
    fine = announce(s, server);
    if (fine)
        wait_for_end(server, &signals);
    stop_at_next(&signals);
    nd_server_stop(server);
    return fine ? 0 : 2;
}

static bool fits(const struct settings *s)
{
    if (s->serve.new_key && s->paths.count)
        say("--new-key only makes a key: there is no store to name");
    else if (!s->serve.new_key && (is_given(s, "security") || is_given(s, "administrator")))
        say("--security and --administrator require --new-key; see neardup help serve");
    else if (!s->serve.certificate != !s->serve.certificate_key)
        say("--tls-cert and --tls-key must be given together; see neardup help serve");
    else if (s->serve.read_only && (is_given(s, "durability") || is_given(s, "snapshot-every") ||
                                    is_given(s, "compact-after")))
        say("--read-only writes nothing: --durability, --snapshot-every and --compact-after have "
            "no "
            "meaning with it");
    else if (!s->serve.new_key && s->paths.count != 1)
        say("serve takes the folder of one store; see neardup help serve");
    else
        return true;
    return false;
}

int cmd_serve(struct settings *s)
{
    struct nd_store *store;
    struct nd_error err;
    int status;

    if (!fits(s))
        return 2;
    if (s->serve.new_key)
        return make_key(s);
    if (!is_readable(s))
        return 2;
    store = open_store(s, &err);
    if (!store)
        return failed(&err);
    status = serve(s, store, &err);
    if (nd_store_close(store, &err) != ND_OK)
        status = failed(&err);
    return status;
}
