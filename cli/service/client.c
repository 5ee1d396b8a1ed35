/* client.c - neardup client: a service is given documents, and asked about them */
#define _GNU_SOURCE
#include "service/client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 1024, LOOKED_AT = 1024 };

int client_failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

static int out_of_memory(void)
{
    say("out of memory");
    return 2;
}

const char *client_type_of(const struct nd_buffer *page)
{
    size_t at = 0;

    while (at < page->len && at < LOOKED_AT && strchr(" \t\r\n\xef\xbb\xbf", page->data[at]))
        at++;
    return at < page->len && page->data[at] == '<' ? "text/html" : "text/plain";
}

/* ---- Requests about one document ------------------------------------------------------------- */

bool client_document(struct client *c, struct http_request *r, const char *id, const char *below)
{
    r->method = "GET";
    return http_target(r, "/v1/documents/") &&
           http_target_id(r, (struct nd_view){id, strlen(id)}) && http_target(r, below) &&
           http_target_parameter(r, "security", c->options->security);
}

int client_show(struct client *c, struct http_request *r, const char *what)
{
    struct nd_error err;

    if (http_do(c->http, r, &err) != ND_OK)
        return client_failed(&err);
    if (r->status >= 200 && r->status < 300) {
        if (r->answer.len) /* a deletion has no answer */
            results_put_row(&c->results, r->answer.data, r->answer.len);
        return 0;
    }
    answer_problem(c->reader, r, what, &err);
    say("%s", err.message);
    return r->status == 404 ? 1 : 2;
}

/* The greatest status of some ids; 2 ends it. */
static int each_id(struct client *c, const char *method, const char *below, bool has_limit)
{
    const struct words *ids = &c->settings->paths;
    char limit[16];
    int status = 0;

    (void)snprintf(limit, sizeof limit, "%u", c->options->limit);
    if (ids->count < 2) {
        say("name the id of a document; see neardup help client %s", ids->at[0]);
        return 2;
    }
    for (size_t i = 1; i < ids->count && status < 2; i++) {
        struct http_request r = {.method = NULL};
        int one;

        if (client_document(c, &r, ids->at[i], below) &&
            http_target_parameter(&r, "limit", has_limit && c->options->limit ? limit : NULL)) {
            r.method = method;
            one = client_show(c, &r, ids->at[i]);
        } else {
            one = out_of_memory();
        }
        http_request_release(&r);
        status = one > status ? one : status;
    }
    return status;
}

static int client_get(struct client *c)
{
    return each_id(c, "GET", "", false);
}

static int client_delete(struct client *c)
{
    return each_id(c, "DELETE", "", false);
}

static int client_near(struct client *c)
{
    return each_id(c, "GET", "/near", true);
}

static int client_cluster(struct client *c)
{
    return each_id(c, "GET", "/cluster", true);
}

static int client_versions(struct client *c)
{
    return each_id(c, "GET", "/versions", true);
}

static int client_stats(struct client *c)
{
    struct http_request r = {.method = "GET"};
    int status = http_target(&r, "/v1/stats") ? client_show(c, &r, "stats") : out_of_memory();

    http_request_release(&r);
    return status;
}

/* ---- The command ----------------------------------------------------------------------------- */

static const struct part {
    const char *name;
    int (*run)(struct client *c);
    bool takes_files, takes_ids;
} parts[] = {
    {"post", client_post, true, false},         {"query", client_post, true, false},
    {"get", client_get, false, true},           {"delete", client_delete, false, true},
    {"near", client_near, false, true},         {"cluster", client_cluster, false, true},
    {"versions", client_versions, false, true}, {"compare", client_compare, false, true},
    {"crawl", client_crawl, false, false},      {"watch", client_watch, true, false},
    {"stats", client_stats, false, false},      {"fingerprint", client_fingerprint, false, false},
};

static const struct part *find_part(const struct settings *s)
{
    for (size_t i = 0; s->paths.count && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(parts[i].name, s->paths.at[0]) == 0)
            return &parts[i];
    say("client takes post, query, get, delete, near, cluster, versions, compare, crawl, watch, "
        "stats or fingerprint; see neardup help client");
    return NULL;
}

/* Read the key: the first line of the file.  False: an error was reported. */
static bool read_key(const char *name, char key[KEY_MAX])
{
    FILE *file = fopen(name, "re");
    size_t len;

    if (!file || !fgets(key, KEY_MAX, file)) {
        say("%s: %s", name, !file || ferror(file) ? strerror(errno) : "has no key");
        if (file)
            fclose(file);
        return false;
    }
    fclose(file);
    len = strcspn(key, " \t\r\n");
    key[len] = '\0';
    if (len == 0 || len == KEY_MAX - 1)
        say("%s: its first line is no key", name);
    return len > 0 && len < KEY_MAX - 1;
}

static int run_part(const struct part *part, struct settings *s, const char *key)
{
    const struct service_settings *o = &s->service;
    const bool watches = part->run == client_watch;
    const struct http_options options = {.url = o->url,
                                         .key = key,
                                         .ca_file = o->ca_file,
                                         .connections = o->connections,
                                         .retry_s = o->retry_s,
                                         .quiet = s->quiet,
                                         .waits = watches,
                                         .is_stopping = watches ? watch_is_stopping : NULL};
    struct client c = {.settings = s, .options = o};
    struct nd_error err;
    int status;

    c.http = http_new(&options, &err);
    c.reader = c.http ? answer_reader_new(&err) : NULL;
    if (!c.reader) {
        http_free(c.http);
        return client_failed(&err);
    }
    status = 2;
    if (results_open(&c.results, run_option(s, "output"), s->paths.at + 1,
                     part->takes_files ? s->paths.count - 1 : 0))
        status = results_close(&c.results, part->run(&c));
    object_reader_free(c.reader);
    http_free(c.http);
    return status;
}

int cmd_client(struct settings *s)
{
    const struct part *part = find_part(s);
    char key[KEY_MAX];

    if (!part)
        return 2;
    if (!part->takes_files && !part->takes_ids && s->paths.count > 1) {
        say("client %s: there is nothing to name; see neardup help client %s", part->name,
            part->name);
        return 2;
    }
    if (part->run == client_watch && !is_given(s, "retry-for"))
        s->service.retry_s = UINT32_MAX; /* whoever watches waits for the service to come back */
    if (s->service.key_file && !read_key(s->service.key_file, key))
        return 2;
    return run_part(part, s, s->service.key_file ? key : NULL);
}
