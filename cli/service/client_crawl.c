/* client_crawl.c - neardup client crawl: what to visit next, printed, or visited by a command */
#define _GNU_SOURCE
#include "service/client.h"

#include "base/json_out.h"
#include "base/view.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE_MAX = 64 << 20 };

/* ---- Fetching a page by the user's command --------------------------------------------------- */

/* Start sh -c COMMAND neardup ID: its id is "$1".  Its output comes from *from.  -1: errno. */
static pid_t start_command(const char *command, const char *id, int *from)
{
    char *const argument[] = {
        "sh", "-c", (char *)(uintptr_t)command, "neardup", (char *)(uintptr_t)id, NULL};
    posix_spawn_file_actions_t actions;
    int end[2], failed;
    pid_t child = -1;

    if (pipe2(end, O_CLOEXEC) != 0)
        return -1;
    failed = posix_spawn_file_actions_init(&actions);
    if (!failed) {
        failed = posix_spawn_file_actions_adddup2(&actions, end[1], STDOUT_FILENO);
        failed = failed ? failed
                        : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                                           O_RDONLY, 0);
        failed =
            failed ? failed : posix_spawn(&child, "/bin/sh", &actions, NULL, argument, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(end[1]);
    *from = end[0];
    if (!failed)
        return child;
    close(end[0]);
    errno = failed;
    return -1;
}

static bool read_all(int from, struct nd_buffer *page)
{
    char piece[16384];
    ssize_t n;

    while ((n = read(from, piece, sizeof piece)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || page->len + (size_t)n > PAGE_MAX || !nd_buffer_append(page, piece, (size_t)n))
            return false;
    }
    return true;
}

/* Run the command for an id.  False: it failed, which was reported. */
static bool fetch(const char *command, const char *id, struct nd_buffer *page)
{
    int from, status = -1;
    pid_t child = start_command(command, id, &from);
    bool whole;

    if (child < 0) {
        say("%s: sh cannot be run: %s", id, strerror(errno));
        return false;
    }
    whole = read_all(from, page);
    close(from);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!whole)
        say("%s: the page is larger than %d MiB, or there is no memory", id, PAGE_MAX >> 20);
    else if (status != 0)
        say("%s: the command failed (status %d)", id,
            WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return whole && status == 0;
}

/* ---- A visit --------------------------------------------------------------------------------- */

/* A document of the list: its id and its security labels, as they stand in an address. */
struct visit {
    char *id, *security;
};

static bool visit_of(struct visit *v, const struct answer *row)
{
    v->id = strndup(row->id.len ? row->id.data : "", row->id.len);
    v->security = strndup(row->security.len ? row->security.data : "", row->security.len);
    for (char *c = v->security; c && *c; c++)
        *c = *c == '\n' ? ',' : *c;
    return v->id && v->security;
}

static void visit_release(struct visit *v)
{
    free(v->id);
    free(v->security);
}

/* Post what was fetched, and write the answer.  0; 3: it was left out; 2: nothing can be posted. */
static int post_page(struct client *c, const struct visit *v, const struct nd_buffer *page)
{
    struct http_request r = {.method = "POST", .type = client_type_of(page)};
    struct nd_error err = {.status = ND_OK};
    int status = 2;

    if (!http_target(&r, "/v1/documents") || !http_target_parameter(&r, "id", v->id) ||
        !http_target_parameter(&r, "security", v->security) ||
        !nd_buffer_append(&r.body, page->data, page->len))
        nd_fail(&err, ND_ENOMEM, "out of memory");
    else if (http_do(c->http, &r, &err) == ND_OK && (r.status == 200 || r.status == 201))
        status = 0;
    else if (err.status == ND_OK)
        status = answer_problem(c->reader, &r, v->id, &err) && r.status != 413 && r.status != 422
                     ? 2
                     : 3;
    if (status)
        say("%s", err.message);
    else if (r.answer.len)
        results_put_row(&c->results, r.answer.data, r.answer.len);
    http_request_release(&r);
    return status;
}

static int visit(struct client *c, const struct visit *v)
{
    struct nd_buffer page = {.data = NULL};
    int status = fetch(c->options->follow, v->id, &page) ? post_page(c, v, &page) : 3;

    nd_buffer_release(&page);
    return status;
}

/* ---- The list -------------------------------------------------------------------------------- */

/* Visit what is due, one after the other. */
static int follow(struct client *c, struct nd_view list)
{
    struct nd_view element;
    struct nd_error err;
    int status = 0;

    while (status != 2 && object_element(&list, &element)) {
        struct visit v = {.id = NULL};
        struct answer row;

        if (answer_read(c->reader, element, &row, &err) != ND_OK)
            return client_failed(&err);
        if (!nd_view_is(row.is_due, "true"))
            continue;
        int one = visit_of(&v, &row) ? visit(c, &v) : 2;

        visit_release(&v);
        status = one ? one : status;
    }
    if (status == 3)
        caution("done, but some documents could not be visited");
    return status;
}

static int print_list(struct client *c, struct nd_view list)
{
    struct nd_view element;
    size_t n = 0;

    for (; object_element(&list, &element); n++) {
        results_put_row(&c->results, element.data, element.len);
        fputc('\n', c->results.file);
    }
    return n ? 0 : 1;
}

int client_crawl(struct client *c)
{
    struct http_request r = {.method = "GET"};
    struct nd_error err = {.status = ND_OK};
    struct answer answer;
    char limit[16], gap[16];
    int status;

    (void)snprintf(limit, sizeof limit, "%u", c->options->limit);
    (void)snprintf(gap, sizeof gap, "%u", c->options->gap);
    if (!http_target(&r, "/v1/crawl") ||
        !http_target_parameter(&r, "expect", c->options->gap ? gap : NULL) ||
        !http_target_parameter(&r, "limit", c->options->limit ? limit : NULL))
        nd_fail(&err, ND_ENOMEM, "out of memory");
    else if (http_do(c->http, &r, &err) == ND_OK && r.status != 200)
        answer_problem(c->reader, &r, "crawl", &err);
    else if (err.status == ND_OK)
        answer_read(c->reader, (struct nd_view){r.answer.data, r.answer.len}, &answer, &err);
    if (err.status != ND_OK)
        status = client_failed(&err);
    else
        status = c->options->follow ? follow(c, answer.documents) : print_list(c, answer.documents);
    http_request_release(&r);
    return status;
}
