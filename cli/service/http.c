/* http.c - requests to a service: several at a time, repeated while it cannot answer (libcurl) */
#define _GNU_SOURCE
#include "service/http.h"

#include "base/thread/thread.h"
#include "settings.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONNECT_S = 10,      /* to connect */
    SILENCE_S = 300,     /* without a byte, after which a connection counts as lost */
    LONGEST_WAIT_S = 60, /* between two attempts */
    FIRST_WAIT_MS = 100  /* before the second attempt; then twice as long each time */
};

/* A request under way: on a connection, or waiting for its next attempt. */
struct http_transfer {
    struct http_request *request;
    struct http_transfer *next;
    CURL *easy;
    struct curl_slist *fields; /* of its head */
    bool is_active;
    unsigned attempts;
    uint64_t first_failure_ms; /* 0: it has not failed */
    uint64_t not_before_ms;
    char reason[CURL_ERROR_SIZE];
};

struct http {
    CURLM *multi;
    struct http_options options;
    char *base;
    struct http_transfer *first; /* all that are under way */
    bool has_answered, has_complained;
    unsigned retry_after;
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- A service ------------------------------------------------------------------------------- */

/* A key must not cross a network in plain text without anybody's knowing. */
static void warn_of_plain_text(const struct http_options *options)
{
    const char *host = options->url + strlen("http://");

    if (!options->key || strncmp(options->url, "http://", strlen("http://")) != 0 ||
        strncmp(host, "127.", 4) == 0 || strncmp(host, "[::1]", 5) == 0 ||
        (strncmp(host, "localhost", 9) == 0 && (!host[9] || strchr(":/", host[9]))))
        return;
    if (!options->quiet)
        caution("warning: the key is sent to %s without encryption", options->url);
}

struct http *http_new(const struct http_options *options, struct nd_error *err)
{
    size_t len = strlen(options->url);
    struct http *h;

    if (strncmp(options->url, "http://", 7) != 0 && strncmp(options->url, "https://", 8) != 0) {
        nd_fail(err, ND_EINVAL, "%s: an address begins with http:// or https://", options->url);
        return NULL;
    }
    warn_of_plain_text(options);
    h = calloc(1, sizeof *h);
    if (!h || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        out_of_memory(err);
        free(h);
        return NULL;
    }
    h->options = *options;
    while (len && options->url[len - 1] == '/')
        len--;
    h->base = strndup(options->url, len);
    h->multi = curl_multi_init();
    if (!h->base || !h->multi) {
        out_of_memory(err);
        http_free(h);
        return NULL;
    }
    curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, (long)options->connections);
    return h;
}

static void end_transfer(struct http *h, struct http_transfer *t)
{
    struct http_transfer **at = &h->first;

    while (*at && *at != t)
        at = &(*at)->next;
    if (*at)
        *at = t->next;
    if (t->is_active)
        curl_multi_remove_handle(h->multi, t->easy);
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->fields);
    t->request->transfer = NULL;
    free(t);
}

void http_abandon(struct http *h)
{
    while (h->first)
        end_transfer(h, h->first);
}

void http_free(struct http *h)
{
    if (!h)
        return;
    http_abandon(h);
    curl_multi_cleanup(h->multi);
    free(h->base);
    free(h);
    curl_global_cleanup();
}

/* ---- A request ------------------------------------------------------------------------------- */

void http_request_release(struct http_request *r)
{
    nd_buffer_release(&r->target);
    nd_buffer_release(&r->body);
    nd_buffer_release(&r->answer);
    *r = (struct http_request){.method = NULL};
}

/* Append to the target, which keeps a zero behind it. */
static bool append(struct http_request *r, const char *data, size_t len)
{
    if (r->target.len)
        r->target.len--;
    return nd_buffer_append(&r->target, data, len) && nd_buffer_append(&r->target, "", 1);
}

static bool append_escaped(struct http_request *r, const char *data, size_t len)
{
    char *escaped = len ? curl_easy_escape(NULL, data, (int)len) : NULL;
    bool fine = len == 0 || (escaped && append(r, escaped, strlen(escaped)));

    curl_free(escaped);
    return fine;
}

bool http_target(struct http_request *r, const char *path)
{
    return append(r, path, strlen(path));
}

bool http_target_id(struct http_request *r, struct nd_view id)
{
    return append_escaped(r, id.data, id.len);
}

bool http_target_parameter(struct http_request *r, const char *name, const char *value)
{
    const char *before = memchr(r->target.data, '?', r->target.len) ? "&" : "?";

    return !value || (append(r, before, 1) && append(r, name, strlen(name)) && append(r, "=", 1) &&
                      append_escaped(r, value, strlen(value)));
}

static size_t take_bytes(char *data, size_t size, size_t n, void *context)
{
    struct http_request *r = context;

    return nd_buffer_append(&r->answer, data, size * n) ? size * n : 0;
}

/* ---- Attempts -------------------------------------------------------------------------------- */

/* Add a field to the head, unless the value is NULL. */
static bool add_field(struct curl_slist **list, const char *name, const char *value)
{
    struct curl_slist *longer;
    char *field;

    if (!value)
        return true;
    if (asprintf(&field, "%s%s", name, value) < 0)
        return false;
    longer = curl_slist_append(*list, field);
    free(field);
    if (longer)
        *list = longer;
    return longer != NULL;
}

static bool set_up(struct http *h, struct http_transfer *t)
{
    const struct http_request *r = t->request;
    char *url;

    if (!add_field(&t->fields, "Authorization: Bearer ", h->options.key) ||
        !add_field(&t->fields, "Content-Type: ", r->type) ||
        /* "Expect: 100-continue" would cost a round trip for each batch. */
        !add_field(&t->fields, "Expect:", "") ||
        asprintf(&url, "%s%s", h->base, r->target.data) < 0)
        return false;
    curl_easy_setopt(t->easy, CURLOPT_URL, url); /* which it copies */
    free(url);
    curl_easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, r->method);
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->fields);
    curl_easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
    curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(t->easy, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->reason);
    curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t->request);
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    if (h->options.ca_file)
        curl_easy_setopt(t->easy, CURLOPT_CAINFO, h->options.ca_file);
    if (r->type) {
        curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        curl_easy_setopt(t->easy, CURLOPT_POSTFIELDS, r->body.len ? r->body.data : "");
    }
    return true;
}

enum nd_status http_start(struct http *h, struct http_request *r, unsigned delay_s,
                          struct nd_error *err)
{
    struct http_transfer *t = calloc(1, sizeof *t);

    if (!t)
        return out_of_memory(err);
    t->request = r;
    t->easy = curl_easy_init();
    if (!t->easy || !set_up(h, t)) {
        curl_easy_cleanup(t->easy);
        curl_slist_free_all(t->fields);
        free(t);
        return out_of_memory(err);
    }
    t->not_before_ms = delay_s ? nd_monotonic_ms() + delay_s * (uint64_t)1000 : 0;
    t->next = h->first;
    h->first = t;
    r->transfer = t;
    return ND_OK;
}

static bool is_stopping(const struct http *h)
{
    return h->options.is_stopping && h->options.is_stopping();
}

static bool has_active(const struct http *h)
{
    for (const struct http_transfer *t = h->first; t; t = t->next)
        if (t->is_active)
            return true;
    return false;
}

/* Begin the attempts whose time has come.  Returns when the next one is due; UINT64_MAX: none. */
static uint64_t begin_due(struct http *h)
{
    uint64_t now = nd_monotonic_ms(), next = UINT64_MAX;

    if (is_stopping(h))
        return next;

    for (struct http_transfer *t = h->first; t; t = t->next) {
        if (t->is_active)
            continue;
        if (t->not_before_ms > now) {
            next = t->not_before_ms < next ? t->not_before_ms : next;
            continue;
        }
        t->request->answer.len = 0;
        t->request->status = 0;
        t->is_active = curl_multi_add_handle(h->multi, t->easy) == CURLM_OK;
    }
    return next;
}

/* Whether the next attempt may do better. */
static bool is_temporary(const struct http *h, CURLcode code, long status)
{
    if (is_stopping(h))
        return false;
    switch (code) {
    case CURLE_OK: return status == 429 || status == 503;
    case CURLE_COULDNT_RESOLVE_HOST: return h->options.waits;
    case CURLE_COULDNT_CONNECT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT: return h->has_answered || h->options.waits;
    default: return false;
    }
}

static void complain_once(struct http *h, const struct http_transfer *t, CURLcode code, long status)
{
    if (h->has_complained || h->options.quiet)
        return;
    h->has_complained = true;
    if (code == CURLE_OK)
        inform("%s is busy (%ld); trying again", h->base, status);
    else
        inform("%s: %s; trying again", h->base, *t->reason ? t->reason : curl_easy_strerror(code));
}

/* Set the time of the next attempt.  False: it has been tried for long enough. */
static bool try_again(struct http *h, struct http_transfer *t, CURLcode code, long status)
{
    uint64_t now = nd_monotonic_ms(), wait = (uint64_t)FIRST_WAIT_MS << (t->attempts & 15);

    if (!t->first_failure_ms)
        t->first_failure_ms = now;
    if (h->retry_after)
        wait = h->retry_after * (uint64_t)1000;
    if (wait > LONGEST_WAIT_S * 1000)
        wait = LONGEST_WAIT_S * 1000;
    t->attempts += t->attempts < 15;
    t->not_before_ms = now + wait;
    if (t->not_before_ms - t->first_failure_ms > h->options.retry_s * 1000)
        return false;
    complain_once(h, t, code, status);
    return true;
}

/* An attempt has ended.  1: so has the request; 0: it will be repeated; ND_EIO. */
static int end_attempt(struct http *h, struct http_transfer *t, CURLcode code,
                       struct http_request **ended, struct nd_error *err)
{
    curl_off_t after = 0;
    long status = 0;

    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &after);
    curl_multi_remove_handle(h->multi, t->easy);
    t->is_active = false;
    h->retry_after = after > 0 && after < LONGEST_WAIT_S ? (unsigned)after
                     : after                             ? LONGEST_WAIT_S
                                                         : 0;
    if (is_temporary(h, code, status) && try_again(h, t, code, status))
        return 0;
    if (code != CURLE_OK)
        return nd_fail(err, ND_EIO, "%s: %s%s", h->base,
                       *t->reason ? t->reason : curl_easy_strerror(code),
                       code == CURLE_COULDNT_CONNECT
                           ? "; start a service with neardup serve, or name another by --url"
                           : "");
    h->has_answered = true;
    h->has_complained = h->has_complained && (status == 429 || status == 503);
    t->request->status = status;
    *ended = t->request;
    end_transfer(h, t);
    return 1;
}

int http_next(struct http *h, struct http_request **ended, struct nd_error *err)
{
    while (h->first) {
        uint64_t due = begin_due(h), now = nd_monotonic_ms();
        const struct CURLMsg *message;
        int left, result;

        if (is_stopping(h) && !has_active(h))
            return nd_fail(err, ND_EIO, "%s: stopped before it answered", h->base);
        if (curl_multi_perform(h->multi, &left) != CURLM_OK)
            return out_of_memory(err);
        while ((message = curl_multi_info_read(h->multi, &left)) != NULL) {
            struct http_transfer *t = NULL;

            if (message->msg != CURLMSG_DONE)
                continue;
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t);
            result = end_attempt(h, t, message->data.result, ended, err);
            if (result)
                return result;
        }
        if (due > now)
            curl_multi_poll(h->multi, NULL, 0, due - now < 1000 ? (int)(due - now) : 1000, NULL);
    }
    return 0;
}

enum nd_status http_do(struct http *h, struct http_request *r, struct nd_error *err)
{
    struct http_request *ended;
    enum nd_status status = http_start(h, r, 0, err);
    int result;

    if (status != ND_OK)
        return status;
    do
        result = http_next(h, &ended, err);
    while (result == 1 && ended != r);
    return result < 0 ? (enum nd_status)result : ND_OK;
}

unsigned http_retry_after(const struct http *h)
{
    return h->retry_after;
}
