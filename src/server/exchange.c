/* exchange.c - who may ask, what is received, who answers */
#define _POSIX_C_SOURCE 200809L
#include "server/exchange.h"

#include <ctype.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/view.h"
#include "server/handlers.h"
#include "server/ndjson.h"
#include "server/respond.h"
#include "server/wire/web_files.h"

enum { DISCARD_BYTES = 1 << 20 }; /* of a body that will be refused, to keep the connection */

/* An id for a request.  It does not show how many requests there were: they may be hidden ones. */
static uint64_t next_id(struct nd_server *server)
{
    const uint64_t n = atomic_fetch_add(&server->n_requests, 1);
    uint64_t low, high;

    nd_hash_bytes_128((const uint64_t[]){n, server->secret[0], server->secret[1]}, 3 * sizeof n,
                      &low, &high);
    return low;
}

struct nd_exchange *nd_exchange_begin(struct nd_server *server, struct nd_peer *peer,
                                      struct MHD_Connection *connection, const char *target)
{
    struct nd_exchange *x = calloc(1, sizeof *x);

    if (!x)
        return NULL;
    x->uri = strdup(target ? target : "");
    if (!x->uri) {
        free(x);
        return NULL;
    }
    if (server->options.log_requests)
        x->shown = strdup(x->uri);
    x->server = server;
    x->peer = peer;
    x->connection = connection;
    x->uri_len = strlen(x->uri);
    x->begun_us = peer->line_us ? peer->line_us : nd_now_us();
    peer->line_us = 0;
    x->number = ++peer->requests;
    x->status = 200;
    (void)snprintf(x->id, sizeof x->id, "%016" PRIx64, next_id(server));
    atomic_fetch_add(&server->n_active, 1);
    (void)nd_peer_enter(peer, ND_PHASE_READING, x->begun_us / 1000 + server->options.request_ms);
    return x;
}

void nd_exchange_end(struct nd_exchange *x, bool is_answered)
{
    struct nd_server *server = x->server;

    nd_respond_log(x, is_answered);
    x->peer->is_fresh = false;
    (void)nd_peer_enter(x->peer, ND_PHASE_WAITING, nd_monotonic_ms() + server->options.idle_ms);
    nd_ndjson_free(x->stream);
    nd_write_free(x->write);
    if (x->answer.is_open)
        (void)close(x->answer.fd);
    nd_keys_release(x->keys);
    nd_json_release(&x->out);
    nd_server_unbuffer(server, x->n_buffered);
    nd_buffer_release(&x->body);
    free(x->shown);
    free(x->uri);
    free(x);
    atomic_fetch_sub(&server->n_active, 1);
}

/* ---- Whether the request is taken ---- */

static enum nd_refusal refuse(struct nd_exchange *x, enum nd_refusal refusal, const char *detail)
{
    return nd_refuse(&x->err, refusal, "%s", detail);
}

/* Whether a program that watches the service asks, by an address or in HTTP/1.0 without a Host: no
 * name of another site can lead a browser to that. */
static bool is_watched_by_address(const struct nd_exchange *x)
{
    return nd_route_is_watched(x->target.route) &&
           (!x->head.host.data || nd_host_is_address(x->head.host));
}

/*
 * A page of another site must reach nothing here: neither by a name that resolves to this address,
 * nor by a request that a browser sends for it.
 */
static enum nd_refusal check_site(struct nd_exchange *x)
{
    const struct nd_server_options *options = &x->server->options;
    const struct nd_head *head = &x->head;

    if ((!nd_keys_are_needed(x->keys) || options->n_hosts > 0) && !is_watched_by_address(x) &&
        !nd_host_is_known(head->host, options->hosts, options->n_hosts))
        return refuse(x, ND_REFUSAL_HOST, "Host is not a name that this service answers for");
    if (head->origin.data && !nd_origin_is_same(head->origin, head->host))
        return refuse(x, ND_REFUSAL_ORIGIN, "Origin is another site");
    if (x->target.route != ND_ROUTE_FILE &&
        (nd_view_is(head->fetch_site, "cross-site") || nd_view_is(head->fetch_site, "same-site")))
        return refuse(x, ND_REFUSAL_ORIGIN, "Sec-Fetch-Site says that another site asks");
    return ND_REFUSAL_NONE;
}

static enum nd_refusal check_key(struct nd_exchange *x)
{
    if (nd_route_is_open(x->target.route))
        return ND_REFUSAL_NONE;
    x->key = nd_keys_find(x->keys, nd_bearer(x->head.authorization));
    if (!x->key)
        return refuse(x, ND_REFUSAL_NO_KEY, "Authorization has no key that is valid here");
    return nd_key_may_ask(x->key, nd_now_us(), &x->retry_s)
               ? ND_REFUSAL_NONE
               : nd_refuse(&x->err, ND_REFUSAL_RATE, "the key may ask %u times a second",
                           x->key->rate);
}

static enum nd_refusal check_method(struct nd_exchange *x)
{
    if (x->method == ND_VERB_OPTIONS)
        return ND_REFUSAL_NONE;
    if (x->target.route == ND_ROUTE_NONE)
        return refuse(x, ND_REFUSAL_NO_PATH, "there is no such path");
    if (!(nd_route_methods(x->target.route) & x->method))
        return nd_refuse(&x->err, ND_REFUSAL_METHOD, "%s has only %s",
                         nd_route_name(x->target.route), nd_route_allow(x->target.route));
    return ND_REFUSAL_NONE;
}

/* The type and the length of the body, where the route has one. */
static enum nd_refusal check_body(struct nd_exchange *x)
{
    const struct nd_server_options *options = &x->server->options;
    uint64_t most = options->body_bytes;
    bool names_one = x->target.has[ND_PARAMETER_ID] || x->target.has[ND_PARAMETER_SECURITY] ||
                     x->target.has[ND_PARAMETER_TITLE];

    if (x->method != ND_VERB_POST)
        return x->head.length || x->head.is_chunked
                   ? refuse(x, ND_REFUSAL_MALFORMED, "a request with this method has no body")
                   : ND_REFUSAL_NONE;
    x->media = nd_media_parse(x->head.content_type, &x->charset);
    if (x->media == ND_MEDIA_NONE || x->media == ND_MEDIA_OTHER)
        return refuse(x, ND_REFUSAL_TYPE,
                      "Content-Type is none of application/json, text/plain, text/html and "
                      "application/x-ndjson");
    if (nd_head_is_encoded(&x->head))
        return refuse(x, ND_REFUSAL_TYPE,
                      "Content-Encoding is not identity: a body is sent as it is");
    if (!x->head.has_length && !x->head.is_chunked)
        return refuse(x, ND_REFUSAL_NO_LENGTH, "the request has no Content-Length");
    if (x->media == ND_MEDIA_NDJSON && x->target.route == ND_ROUTE_COMPARE)
        return refuse(x, ND_REFUSAL_TYPE, "one document is compared: send it as application/json");
    if (x->media == ND_MEDIA_NDJSON)
        most = options->stream_bytes;
    if (x->head.length > most)
        return nd_refuse(&x->err, ND_REFUSAL_TOO_LARGE, "the body has more than %llu bytes",
                         (unsigned long long)most);
    if (names_one && (x->media == ND_MEDIA_JSON || x->media == ND_MEDIA_NDJSON))
        return refuse(x, ND_REFUSAL_MALFORMED, "in JSON, id, security and title stand in the body");
    return ND_REFUSAL_NONE;
}

static struct nd_keys *current_keys(struct nd_server *server)
{
    struct nd_keys *keys;

    nd_monitor_enter(&server->monitor);
    keys = nd_keys_hold(server->keys);
    nd_monitor_leave(&server->monitor);
    return keys;
}

/* Whether what this request consists of has not passed framing.c, or did not come that way. */
static bool is_misframed(const struct nd_exchange *x)
{
    const struct nd_framing *f = &x->peer->framing;

    return x->number > f->heads || x->number == f->refused;
}

static enum nd_refusal refuse_misframed(struct nd_exchange *x)
{
    const struct nd_framing *f = &x->peer->framing;

    x->closes = true;
    return x->number == f->refused
               ? refuse(x, f->refusal, f->detail)
               : refuse(x, ND_REFUSAL_FAILED, "the bytes of the request were not seen");
}

/* Call the request as its caller does, if that is a name for a line of the log. */
static void take_id(struct nd_exchange *x)
{
    const struct nd_view id = x->head.request_id;

    if (id.len == 0 || id.len >= sizeof x->id)
        return;
    for (size_t i = 0; i < id.len; i++)
        if (!isalnum((unsigned char)id.data[i]) && !strchr("-._~:+/=", id.data[i]))
            return;
    memcpy(x->id, id.data, id.len);
    x->id[id.len] = '\0';
}

static bool writes(const struct nd_exchange *x, bool is_dry)
{
    return x->method == ND_VERB_DELETE ||
           (x->method == ND_VERB_POST && x->target.route == ND_ROUTE_DOCUMENTS && !is_dry);
}

/* Check that the store can find what at= asks for. */
static enum nd_refusal check_at(struct nd_exchange *x)
{
    struct nd_ratio at;
    enum nd_refusal refusal = nd_target_at(&x->target, &at, &x->err);
    struct nd_error why;

    if (refusal != ND_REFUSAL_NONE || at.q == 0 ||
        nd_store_check_at(x->server->store, at, &why) == ND_OK)
        return refusal;
    return nd_refuse(&x->err, ND_REFUSAL_MALFORMED, "at=: %s", why.message);
}

static enum nd_refusal admit(struct nd_exchange *x, const char *method)
{
    enum nd_refusal refusal;
    uint64_t max_age;
    size_t unused;
    bool is_dry, differs;

    x->keys = current_keys(x->server);
    x->method = nd_verb_parse(method);
    if (is_misframed(x))
        return refuse_misframed(x);
    refusal = nd_head_read(x->connection, &x->head, &x->err);
    if (refusal != ND_REFUSAL_NONE) {
        x->closes = true;
        return refusal;
    }
    take_id(x);
    if (atomic_load(&x->server->is_ending)) {
        x->closes = true;
        return refuse(x, ND_REFUSAL_ENDING, "the service is ending");
    }
    refusal = nd_target_parse(x->uri, x->uri_len, &x->target, &x->err);
    x->target.verb = x->method;
    if (refusal == ND_REFUSAL_NONE)
        refusal = check_site(x);
    if (refusal == ND_REFUSAL_NONE)
        refusal = check_method(x);
    if (refusal == ND_REFUSAL_NONE && x->method != ND_VERB_OPTIONS)
        refusal = check_key(x);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_check(&x->target, &x->err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_limit(&x->target, 1, &unused, &x->err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_max_age(&x->target, &max_age, &x->err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_flag(&x->target, ND_PARAMETER_DRY, &is_dry, &x->err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = nd_target_flag(&x->target, ND_PARAMETER_DIFFERS, &differs, &x->err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = check_at(x);
    if (refusal == ND_REFUSAL_NONE && x->server->options.only_reads && writes(x, is_dry))
        refusal = refuse(x, ND_REFUSAL_READ_ONLY, "the service takes and deletes no documents");
    return refusal == ND_REFUSAL_NONE ? check_body(x) : refusal;
}

/* The head has arrived. */
static bool begin(struct nd_exchange *x, const char *method)
{
    bool has_body;

    x->refusal = admit(x, method);
    has_body = x->head.length > 0 || x->head.is_chunked;
    if (x->refusal == ND_REFUSAL_NONE && x->media == ND_MEDIA_NDJSON) {
        x->stream = nd_ndjson_new(x);
        if (!x->stream)
            x->refusal = refuse(x, ND_REFUSAL_BUSY, "out of memory");
    }
    x->stage = x->refusal == ND_REFUSAL_NONE ? ND_STAGE_BODY : ND_STAGE_DISCARD;
    if (x->stage == ND_STAGE_BODY || (!has_body && !x->closes))
        return true;
    if (!x->closes && !x->head.expects_continue && !x->head.is_chunked &&
        x->head.length <= DISCARD_BYTES)
        return true;
    x->closes = true; /* what follows is not read */
    return nd_respond(x);
}

/* ---- The body ---- */

static bool discard(struct nd_exchange *x, enum nd_refusal refusal, const char *detail)
{
    if (refusal != ND_REFUSAL_NONE)
        x->refusal = refuse(x, refusal, detail);
    x->stage = ND_STAGE_DISCARD;
    if (x->stream)
        nd_ndjson_abandon(x->stream);
    nd_server_unbuffer(x->server, x->n_buffered);
    x->n_buffered = 0;
    nd_buffer_release(&x->body);
    return true;
}

/* How long the body may take: NDJSON as much longer as it has been longer, and as it was held. */
static uint64_t body_deadline(const struct nd_exchange *x)
{
    const struct nd_server_options *options = &x->server->options;
    uint64_t deadline = x->begun_us / 1000 + options->request_ms;

    if (x->stream)
        deadline += x->received * 1000 / options->stream_bytes_s + x->held_ms;
    return deadline;
}

static bool receive_stream(struct nd_exchange *x, const char *data, size_t *len)
{
    size_t n = *len;
    bool is_held;

    x->received += n;
    *len = 0;
    if (x->received > x->server->options.stream_bytes)
        return discard(x, ND_REFUSAL_TOO_LARGE, "the body is too large");
    x->refusal = nd_ndjson_take(x->stream, data, n, &is_held, &x->err);
    if (x->refusal != ND_REFUSAL_NONE)
        return discard(x, ND_REFUSAL_NONE, "");
    if (is_held) { /* nothing was taken */
        x->held_since_ms = nd_monotonic_ms();
        x->received -= n;
        *len = n;
    }
    return true;
}

static bool receive_body(struct nd_exchange *x, const char *data, size_t *len)
{
    size_t n = *len;

    *len = 0;
    x->received += n;
    if (x->received > x->server->options.body_bytes)
        return discard(x, ND_REFUSAL_TOO_LARGE, "the body is too large");
    if (!nd_server_buffer(x->server, n))
        return discard(x, ND_REFUSAL_BUSY, "too many bodies are in memory");
    x->n_buffered += n;
    if (x->body.capacity == 0 && x->head.length <= DISCARD_BYTES)
        (void)nd_buffer_reserve(&x->body, (size_t)x->head.length);
    if (!nd_buffer_append(&x->body, data, n))
        return discard(x, ND_REFUSAL_BUSY, "out of memory");
    return true;
}

/* The rest of a body that is refused; one without end is cut off. */
static bool receive_discarded(struct nd_exchange *x, size_t *len)
{
    x->discarded += *len;
    *len = 0;
    if (x->discarded <= x->server->options.body_bytes + DISCARD_BYTES)
        return true;
    if (nd_peer_enter(x->peer, ND_PHASE_ANSWERING, UINT64_MAX) && x->peer->is_plain)
        nd_peer_reply(x->peer->fd, x->refusal, 0); /* unless its deadline has been answered */
    return false;
}

static bool receive(struct nd_exchange *x, const char *data, size_t *len)
{
    atomic_fetch_add_explicit(&x->server->metrics.received_bytes, *len, memory_order_relaxed);
    if (x->held_since_ms) {
        x->held_ms += nd_monotonic_ms() - x->held_since_ms;
        x->held_since_ms = 0;
    }
    if (!nd_peer_enter(x->peer, ND_PHASE_READING, body_deadline(x)))
        return false;
    if (x->stage == ND_STAGE_DISCARD)
        return receive_discarded(x, len);
    return x->stream ? receive_stream(x, data, len) : receive_body(x, data, len);
}

/* ---- The answer ---- */

/* Tell that what was asked for is there; from any thread, which then leaves the exchange alone. */
static void make_ready(void *context)
{
    struct nd_exchange *x = context;

    x->stage = ND_STAGE_READY;
    MHD_resume_connection(x->connection);
}

/* Hand the write to the store; the connection is suspended. */
static void submit(struct nd_exchange *x)
{
    struct nd_error err = {.message = ""};
    enum nd_store_result result =
        nd_store_submit(x->server->store, &x->write, 1, make_ready, x, &err);

    if (result == ND_STORE_OK)
        return;
    x->refusal = refuse(x, nd_refusal_of_store(result), err.message);
    make_ready(x);
}

static void suspend(struct nd_exchange *x)
{
    x->stage = ND_STAGE_WORK;
    (void)nd_peer_enter(x->peer, ND_PHASE_HELD, UINT64_MAX);
    MHD_suspend_connection(x->connection);
}

static void run_job(void *context, struct nd_workspace *w)
{
    struct nd_exchange *x = context;

    x->refusal = nd_handle(x, w, &x->err);
    if (x->refusal == ND_REFUSAL_NONE && x->write)
        submit(x);
    else
        make_ready(x);
}

static bool answer_now(struct nd_exchange *x)
{
    struct nd_workspace *w = nd_workspace_borrow(x->server->workspaces);

    if (!w) {
        x->refusal = refuse(x, ND_REFUSAL_BUSY, "out of memory");
        return nd_respond(x);
    }
    x->refusal = nd_handle(x, w, &x->err);
    nd_workspace_return(x->server->workspaces, w);
    if (x->refusal != ND_REFUSAL_NONE || !x->write)
        return nd_respond(x);
    suspend(x);
    submit(x);
    return true;
}

/* A discarded stream may have a job, which must end before the answer. */
static bool finish_discarded(struct nd_exchange *x)
{
    if (x->stream && !nd_ndjson_end(x->stream))
        return true;
    x->closes |= is_misframed(x);
    return nd_respond(x);
}

/* The whole request is there. */
static bool finish(struct nd_exchange *x)
{
    if (is_misframed(x)) {
        x->refusal = refuse_misframed(x);
        (void)discard(x, ND_REFUSAL_NONE, "");
        return finish_discarded(x);
    }
    if (x->stream) {
        if (!nd_ndjson_end(x->stream))
            return true;
        x->refusal = nd_ndjson_refusal(x->stream, &x->err);
        return nd_respond(x);
    }
    if (x->method == ND_VERB_OPTIONS || x->target.route == ND_ROUTE_FILE)
        return nd_respond(x);
    if (!nd_handler_is_long(x))
        return answer_now(x);
    x->job = (struct nd_job){run_job, x, NULL};
    suspend(x);
    nd_jobs_add(x->server->jobs, &x->job);
    return true;
}

static bool finish_ready(struct nd_exchange *x)
{
    if (x->refusal == ND_REFUSAL_NONE && x->write)
        x->refusal = nd_handle_written(x, &x->err);
    return nd_respond(x);
}

bool nd_exchange_call(struct nd_exchange *x, const char *method, const char *data, size_t *len)
{
    switch (x->stage) {
    case ND_STAGE_LINE: return begin(x, method);
    case ND_STAGE_BODY: return *len ? receive(x, data, len) : finish(x);
    case ND_STAGE_DISCARD: return *len ? receive(x, data, len) : finish_discarded(x);
    case ND_STAGE_READY: return finish_ready(x);
    default: return true;
    }
}
