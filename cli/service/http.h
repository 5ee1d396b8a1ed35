/* http.h - requests to a service: several at a time, repeated while it cannot answer (libcurl) */
#ifndef CLI_SERVICE_HTTP_H
#define CLI_SERVICE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/memory.h"

struct http;

/* Everything that it points to is borrowed. */
struct http_options {
    const char *url;     /* "http://127.0.0.1:8080"; a slash at its end makes no difference */
    const char *key;     /* sent as a bearer token; NULL: none */
    const char *ca_file; /* certificates that the service's is checked with; NULL: the system's */
    unsigned connections;
    /* A request is repeated for so many seconds while the service is busy (429), is not there (503)
     * or, once it has answered, cannot be reached. */
    uint64_t retry_s;
    bool quiet; /* say nothing about that */
    bool waits; /* repeat a request also while the service has never answered */
    /* Whether nothing new shall be begun: what is on a connection may end, and what waits for its
     * next attempt fails.  Asked at least once a second.  NULL: never. */
    bool (*is_stopping)(void);
};

/* NULL: ND_EINVAL (the address is none of http or https), ND_ENOMEM. */
struct http *http_new(const struct http_options *options, struct nd_error *err);
/* Requests that are under way end without an answer; each is released by whoever made it. */
void http_abandon(struct http *http);
void http_free(struct http *http); /* NULL is allowed */

/* A request, and its answer once it has ended.  Starts from zeroes. */
struct http_request {
    const char *method;
    struct nd_buffer target; /* path and query below the service's address, ended by a zero */
    const char *type;        /* the media type of the body; NULL: there is no body */
    struct nd_buffer body;
    void *context;

    long status;
    struct nd_buffer answer;
    struct http_transfer *transfer; /* of http.c; NULL unless it is under way */
};
void http_request_release(struct http_request *request);

/* Build the target: a path, an id as one segment of a path, a parameter of the query (which is
 * left out if its value is NULL).  False: out of memory. */
bool http_target(struct http_request *request, const char *path);
bool http_target_id(struct http_request *request, struct nd_view id);
bool http_target_parameter(struct http_request *request, const char *name, const char *value);

/* Begin a request, which stays where it is until it has ended; after `delay_s` seconds. */
enum nd_status http_start(struct http *http, struct http_request *request, unsigned delay_s,
                          struct nd_error *err);
/* Wait until one has ended: 1.  0: none is under way.  ND_EIO: the service cannot be reached, or
 * is_stopping; ND_ENOMEM. */
int http_next(struct http *http, struct http_request **ended, struct nd_error *err);
/* Both, for one request. */
enum nd_status http_do(struct http *http, struct http_request *request, struct nd_error *err);

/* The seconds after which the service should be asked again; 0: it gave none. */
unsigned http_retry_after(const struct http *http);

#endif
