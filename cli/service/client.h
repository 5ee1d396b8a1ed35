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

/* Begin a request for what is below /v1/documents/ and an id: "", "/near" …  False: out of memory. */
bool client_document(struct client *c, struct http_request *request, const char *id,
                     const char *below);
/* Report an error: 2. */
int client_failed(const struct nd_error *err);

#endif
