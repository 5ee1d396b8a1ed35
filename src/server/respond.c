/* respond.c - responses of libmicrohttpd */
#define _POSIX_C_SOURCE 200809L
#include "server/respond.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/view.h"
#include "server/ndjson.h"
#include "server/wire/web_files.h"

enum { BLOCK_BYTES = 64 << 10 };

/* Answers of the interface are for programs: a browser shows none as a page. */
static const char nothing_allowed[] = "default-src 'none'; frame-ancestors 'none'";

static bool add(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

/* ---- Bodies ---- */

static ssize_t read_stream(void *context, uint64_t at, char *out, size_t capacity)
{
    long n = nd_ndjson_read(context, at, out, capacity);

    return n > 0 ? (ssize_t)n : MHD_CONTENT_READER_END_WITH_ERROR;
}

static struct MHD_Response *make_stream(struct nd_exchange *x)
{
    uint64_t bytes = nd_ndjson_bytes(x->stream);

    x->bytes = bytes;
    x->type = "application/x-ndjson";
    if (bytes == 0)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    return MHD_create_response_from_callback(bytes, BLOCK_BYTES, read_stream, x->stream, NULL);
}

static struct MHD_Response *make_json(struct nd_exchange *x)
{
    struct MHD_Response *response;

    if (x->out.failed)
        return NULL;
    x->bytes = x->out.text.len;
    response =
        MHD_create_response_from_buffer(x->out.text.len, x->out.text.data, MHD_RESPMEM_MUST_FREE);
    if (response)
        memset(&x->out, 0, sizeof x->out);
    return response;
}

static struct MHD_Response *make_refusal(struct nd_exchange *x)
{
    nd_json_release(&x->out);
    x->status = nd_refusal_status(x->refusal);
    x->type = "application/problem+json";
    nd_refusal_json(&x->out, x->refusal, nd_detail_for(x, x->refusal, x->err.message));
    nd_json_line(&x->out);
    return make_json(x);
}

static bool has_etag(struct nd_view list, const char *etag)
{
    size_t len = strlen(etag);

    for (size_t i = 0; i + len <= list.len; i++)
        if (memcmp(list.data + i, etag, len) == 0)
            return true;
    return false;
}

static struct MHD_Response *make_file(struct nd_exchange *x)
{
    x->file = nd_web_file_find(x->target.path);
    x->type = x->file->type;
    if (x->head.if_none_match.data && has_etag(x->head.if_none_match, x->file->etag)) {
        x->status = 304;
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    x->bytes = x->file->len;
    return MHD_create_response_from_buffer(x->file->len, (void *)(uintptr_t)x->file->bytes,
                                           MHD_RESPMEM_PERSISTENT);
}

/* libmicrohttpd closes the file when it has been sent. */
static struct MHD_Response *make_answer_file(struct nd_exchange *x)
{
    struct MHD_Response *response = MHD_create_response_from_fd64(x->answer.bytes, x->answer.fd);

    x->bytes = x->answer.bytes;
    x->answer.is_open = response == NULL;
    return response;
}

static struct MHD_Response *make_body(struct nd_exchange *x)
{
    if (x->refusal != ND_REFUSAL_NONE)
        return make_refusal(x);
    if (x->method == ND_VERB_OPTIONS)
        x->status = 204;
    if (x->status == 204)
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (x->target.route == ND_ROUTE_FILE)
        return make_file(x);
    if (x->stream)
        return make_stream(x);
    if (x->answer.is_open)
        return make_answer_file(x);
    if (!x->type)
        x->type = "application/json";
    return make_json(x);
}

/* ---- Fields ---- */

static bool add_refusal_fields(struct MHD_Response *response, const struct nd_exchange *x)
{
    char seconds[16];

    switch (x->refusal) {
    case ND_REFUSAL_NO_KEY: return add(response, "WWW-Authenticate", "Bearer realm=\"neardup\"");
    case ND_REFUSAL_METHOD: return add(response, "Allow", nd_route_allow(x->target.route));
    case ND_REFUSAL_TYPE:
        return !nd_head_is_encoded(&x->head) || add(response, "Accept-Encoding", "identity");
    case ND_REFUSAL_RATE:
        (void)snprintf(seconds, sizeof seconds, "%u", x->retry_s);
        return add(response, "Retry-After", seconds);
    case ND_REFUSAL_QUEUE_FULL:
    case ND_REFUSAL_BUSY:
    case ND_REFUSAL_NOT_READY:
    case ND_REFUSAL_ENDING: return add(response, "Retry-After", "1");
    default: return true;
    }
}

static bool add_fields(struct MHD_Response *response, const struct nd_exchange *x)
{
    bool ok = (!x->type || x->status == 204 || add(response, "Content-Type", x->type)) &&
              add(response, "X-Content-Type-Options", "nosniff") &&
              add(response, "Referrer-Policy", "no-referrer") &&
              add(response, "Cross-Origin-Resource-Policy", "same-origin");

    if (x->file)
        ok = ok && add(response, "ETag", x->file->etag) &&
             add(response, "Cache-Control", "no-cache") &&
             add(response, "Content-Security-Policy", nd_web_policy);
    else
        ok = ok && add(response, "Cache-Control", "no-store") &&
             add(response, "Content-Security-Policy", nothing_allowed);
    if (x->method == ND_VERB_OPTIONS && x->refusal == ND_REFUSAL_NONE)
        ok = ok && add(response, "Allow", nd_route_allow(x->target.route));
    ok = ok && add(response, "X-Request-Id", x->id);
    if (x->closes || atomic_load(&x->server->is_ending))
        ok = ok && add(response, "Connection", "close");
    return ok && add_refusal_fields(response, x);
}

/* A long answer has as much longer as a body of NDJSON. */
static uint64_t answer_deadline(const struct nd_exchange *x)
{
    const struct nd_server_options *options = &x->server->options;
    uint64_t bytes = x->stream           ? nd_ndjson_bytes(x->stream)
                     : x->answer.is_open ? x->answer.bytes
                                         : x->out.text.len;

    return nd_monotonic_ms() + options->request_ms + bytes * 1000 / options->stream_bytes_s;
}

bool nd_respond(struct nd_exchange *x)
{
    uint64_t deadline = answer_deadline(x);
    struct MHD_Response *response = make_body(x);
    bool ok = response && add_fields(response, x) &&
              nd_peer_enter(x->peer, ND_PHASE_ANSWERING, deadline) &&
              MHD_queue_response(x->connection, x->status, response) == MHD_YES;

    if (response)
        MHD_destroy_response(response);
    if (ok)
        x->stage = ND_STAGE_SENT;
    return ok;
}

/* ---- The log ---- */

/* The target without what could break a line or a terminal. */
static void show_target(const struct nd_exchange *x, char *out, size_t size)
{
    size_t used = 0;

    for (const char *p = x->shown ? x->shown : ""; *p && used + 1 < size; p++)
        out[used++] = (char)(*p > ' ' && *p < 0x7F ? *p : '?');
    out[used] = 0;
}

/* The address of the client, or "-". */
static void show_client(const struct nd_exchange *x, char *out, size_t size)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    const void *bytes = NULL;

    if (address && address->sa_family == AF_INET)
        bytes = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    else if (address && address->sa_family == AF_INET6)
        bytes = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (!bytes || !inet_ntop(address->sa_family, bytes, out, (socklen_t)size))
        (void)snprintf(out, size, "-");
}

/* The time as RFC 3339 has it, in UTC. */
static void show_time(char out[static 32])
{
    struct timespec now;
    struct tm parts;
    size_t n;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    n = gmtime_r(&now.tv_sec, &parts) ? strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &parts) : 0;
    (void)snprintf(out + n, 32 - n, ".%03ldZ", now.tv_nsec / 1000000);
}

static const char *verb_name(enum nd_verb verb)
{
    switch (verb) {
    case ND_VERB_GET: return "GET";
    case ND_VERB_POST: return "POST";
    case ND_VERB_DELETE: return "DELETE";
    case ND_VERB_OPTIONS: return "OPTIONS";
    default: return "-";
    }
}

void nd_respond_log(struct nd_exchange *x, bool is_answered)
{
    const struct nd_server_options *options = &x->server->options;
    uint64_t taken = nd_now_us() - x->begun_us;
    unsigned status = is_answered && x->stage == ND_STAGE_SENT ? x->status : 0;
    const struct nd_view key = x->key && x->key->name.len ? x->key->name : (struct nd_view){"-", 1};
    char line[768], target[256], client[64], now[32];

    nd_metrics_count(&x->server->metrics, x->target.route, status, taken);
    if (!options->log_requests || !options->log)
        return;
    show_target(x, target, sizeof target);
    show_client(x, client, sizeof client);
    show_time(now);
    (void)snprintf(line, sizeof line,
                   "%s %u %s %s %" PRIu64 "us in=%" PRIu64 " out=%" PRIu64
                   " client=%s key=%.*s id=%s",
                   now, status, verb_name(x->method), target, taken, x->received + x->discarded,
                   x->bytes, client, (int)key.len, key.data, x->id);
    options->log(options->log_context, ND_SERVER_REQUEST, line);
}
