/* client.h - what the parts of neardup client share */
#ifndef CLI_SERVICE_CLIENT_H
#define CLI_SERVICE_CLIENT_H

#include <stdio.h>

#include "report.h"
#include "results.h"
#include "service/http.h"
#include "service/read_answers.h"
#include "settings.h"

struct client {
    struct settings *settings;
    const struct service_settings *options;
    struct http *http;
    struct object_reader *reader;
    struct results results;
};

/* Each returns the exit status; the results are closed by the caller. */
int client_post(struct client *c); /* post and query */
int client_crawl(struct client *c);
int client_compare(struct client *c);
int client_fingerprint(struct client *c);
int client_watch(struct client *c);

/* Whether a signal has told a watch to end. */
bool watch_is_stopping(void);

/* Begin a request for what is below /v1/documents/ and an id: "", "/near" …  False: out of memory. */
bool client_document(struct client *c, struct http_request *request, const char *id,
                     const char *below);
/* Send a request and write its answer; `what` it was about stands before a problem.  Returns the exit
 * status: 404 is 1, since nothing was found. */
int client_show(struct client *c, struct http_request *request, const char *what);
/* The media type of a page or text, as browsers tell it, roughly: a page begins with an element or a
 * comment. */
const char *client_type_of(const struct nd_buffer *page);
/* Report an error: 2. */
int client_failed(const struct nd_error *err);

#endif
