/* test_http_faults.c - a store that fails, and memory that runs out, behind HTTP */
#define _GNU_SOURCE
#include "server/server.h"

#include "../unit/failing_malloc.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

/* ---- A store that gives what it is told to ---- */

static enum nd_store_result forced; /* ND_STORE_OK: what the store itself gives */
static bool is_forced_late;         /* by the write, not by the call */

enum nd_store_result __real_nd_session_query(struct nd_session *session,
                                             const struct nd_caller *caller, struct nd_view text,
                                             const struct nd_document_key *own,
                                             const struct nd_asked *asked, struct nd_verdict *out,
                                             struct nd_error *err);
enum nd_store_result __wrap_nd_session_query(struct nd_session *session,
                                             const struct nd_caller *caller, struct nd_view text,
                                             const struct nd_document_key *own,
                                             const struct nd_asked *asked, struct nd_verdict *out,
                                             struct nd_error *err);
enum nd_store_result __wrap_nd_session_query(struct nd_session *session,
                                             const struct nd_caller *caller, struct nd_view text,
                                             const struct nd_document_key *own,
                                             const struct nd_asked *asked, struct nd_verdict *out,
                                             struct nd_error *err)
{
    if (forced == ND_STORE_OK)
        return __real_nd_session_query(session, caller, text, own, asked, out, err);
    nd_fail(err, ND_EIO, "forced");
    return forced;
}

enum nd_store_result __real_nd_store_submit(struct nd_store *store, struct nd_write *const *writes,
                                            size_t n, void (*done)(void *context), void *context,
                                            struct nd_error *err);
enum nd_store_result __wrap_nd_store_submit(struct nd_store *store, struct nd_write *const *writes,
                                            size_t n, void (*done)(void *context), void *context,
                                            struct nd_error *err);
enum nd_store_result __wrap_nd_store_submit(struct nd_store *store, struct nd_write *const *writes,
                                            size_t n, void (*done)(void *context), void *context,
                                            struct nd_error *err)
{
    if (forced == ND_STORE_OK || is_forced_late)
        return __real_nd_store_submit(store, writes, n, done, context, err);
    nd_fail(err, ND_EIO, "forced");
    return forced;
}

const struct nd_written *__real_nd_write_result(const struct nd_write *write);
const struct nd_written *__wrap_nd_write_result(const struct nd_write *write);
const struct nd_written *__wrap_nd_write_result(const struct nd_write *write)
{
    static struct nd_written failed = {.message = "forced"};

    if (forced == ND_STORE_OK || !is_forced_late)
        return __real_nd_write_result(write);
    failed.result = forced;
    return &failed;
}

/* ---- A server and a client ---- */

struct fixture {
    char folder[64], keys[80];
    char authorization[120]; /* a field of requests */
    struct nd_store *store;
    struct nd_server *server;
};

/* A keys file with one key, of a caller who is no administrator. */
static int write_keys(struct fixture *f)
{
    const struct nd_view label = {"a", 1};
    char *key = NULL, *line = NULL;
    FILE *file;

    snprintf(f->keys, sizeof f->keys, "%s.keys", f->folder);
    file = fopen(f->keys, "w");
    if (!file || nd_server_key_new("one", &label, 1, false, &key, &line, NULL) != ND_OK)
        return -1;
    fprintf(file, "%s\n", line);
    snprintf(f->authorization, sizeof f->authorization, "Authorization: Bearer %s\r\n", key);
    free(key);
    free(line);
    return fclose(file);
}

static int start_server(void **state, bool has_keys)
{
    static struct fixture f;
    struct nd_store_options store = nd_store_options_default();
    struct nd_server_options options = nd_server_options_default();
    struct nd_error err;

    snprintf(f.folder, sizeof f.folder, "/tmp/neardup-faults-XXXXXX");
    if (!mkdtemp(f.folder))
        return -1;
    strcat(f.folder, "/store");
    store.create = true;
    f.store = nd_store_open(f.folder, &store, &err);
    options.listen = "127.0.0.1:0";
    options.threads = 2;
    f.authorization[0] = 0;
    if (has_keys && write_keys(&f) != 0)
        return -1;
    options.keys_file = has_keys ? f.keys : NULL;
    f.server = f.store ? nd_server_start(f.store, &options, &err) : NULL;
    if (!f.server)
        fprintf(stderr, "%s\n", err.message);
    *state = &f;
    return f.server ? 0 : -1;
}

static int start(void **state)
{
    return start_server(state, false);
}

static int start_with_keys(void **state)
{
    return start_server(state, true);
}

static int remove_one(const char *path, const struct stat *stat, int kind, struct FTW *at)
{
    (void)stat, (void)kind, (void)at;
    return remove(path);
}

static int stop(void **state)
{
    struct fixture *f = *state;
    struct nd_error err;

    nd_server_stop(f->server);
    if (nd_store_close(f->store, &err) != ND_OK)
        return -1;
    *strrchr(f->folder, '/') = 0;
    return nftw(f->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The first bytes of the answer, until the server closes; returns the status, 0: there is none. */
static int ask(const struct fixture *f, const char *method, const char *target, const char *type,
               const char *body, char *answer, size_t size)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)nd_server_port(f->server)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status = 0;
    char request[4096];
    size_t used = 0;
    ssize_t n;
    int len = snprintf(request, sizeof request,
                       "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nConnection: "
                       "close\r\n%sContent-Length: %zu\r\n\r\n%s",
                       method, target, type, f->authorization, strlen(body), body);

    assert_true(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    assert_int_equal(send(fd, request, (size_t)len, MSG_NOSIGNAL), len);
    while (used + 1 < size && (n = recv(fd, answer + used, size - 1 - used, 0)) > 0)
        used += (size_t)n;
    answer[used] = 0;
    close(fd);
    (void)sscanf(answer, "HTTP/1.1 %d", &status);
    return status;
}

static int post(const struct fixture *f, const char *target, const char *type, const char *body,
                char *answer, size_t size)
{
    return ask(f, "POST", target, type, body, answer, size);
}

/* ---- The claims ---- */

static void failures_of_the_store_have_their_statuses(void **state)
{
    static const int status[] = {0, 404, 409, 403, 422, 429, 507, 503, 500};
    const struct fixture *f = *state;
    char answer[4096];

    for (forced = ND_STORE_NOT_FOUND; forced <= ND_STORE_FAILED; forced++) {
        is_forced_late = false;
        assert_int_equal(post(f, "/v1/query", "text/plain", "x", answer, sizeof answer),
                         status[forced]);
        assert_non_null(strstr(answer, "\"detail\":\"forced\""));
        assert_int_equal(post(f, "/v1/documents", "text/plain", "x", answer, sizeof answer),
                         status[forced]);
        assert_non_null(strstr(answer, "application/problem+json"));
        assert_int_equal(strstr(answer, "Retry-After: 1") != NULL,
                         status[forced] == 429 || status[forced] == 503);
        is_forced_late = true;
        assert_int_equal(post(f, "/v1/documents", "text/plain", "x", answer, sizeof answer),
                         status[forced]);
    }
    forced = ND_STORE_OK;
}

static void failures_are_those_of_their_lines(void **state)
{
    const struct fixture *f = *state;
    char answer[4096];

    forced = ND_STORE_NO_SPACE;
    for (int late = 0; late < 2; late++) {
        is_forced_late = late;
        assert_int_equal(post(f, "/v1/documents", "application/x-ndjson",
                              "{\"text\":\"a\"}\n{}\n{\"text\":\"b\"}\n", answer, sizeof answer),
                         200);
        assert_non_null(strstr(answer, "{\"line\":1,\"error\":{\"type\":\"/problems/disk-full\""));
        assert_non_null(strstr(answer, "{\"line\":2,\"error\":{\"type\":\"/problems/document\""));
        assert_non_null(strstr(answer, "{\"line\":3,\"error\":{\"type\":\"/problems/disk-full\""));
    }
    forced = ND_STORE_OK;
}

static void a_full_queue_refuses_a_whole_body(void **state)
{
    const struct fixture *f = *state;
    char answer[4096];

    forced = ND_STORE_BUSY;
    is_forced_late = false;
    assert_int_equal(post(f, "/v1/documents", "application/x-ndjson",
                          "{\"text\":\"a\"}\n{\"text\":\"b\"}\n", answer, sizeof answer),
                     429);
    assert_non_null(strstr(answer, "Retry-After: 1"));
    forced = ND_STORE_OK;
}

static void where_a_store_is_broken_is_not_told_to_all(void **state)
{
    const struct fixture *f = *state;
    char answer[4096];

    is_forced_late = false;
    for (forced = ND_STORE_NO_SPACE; forced <= ND_STORE_FAILED; forced++) {
        bool is_hidden = forced != ND_STORE_NO_MEMORY;

        assert_true(post(f, "/v1/query", "text/plain", "x", answer, sizeof answer) >= 500);
        assert_int_equal(strstr(answer, "forced") == NULL, is_hidden);
        assert_int_equal(post(f, "/v1/documents", "application/x-ndjson", "{\"text\":\"a\"}",
                              answer, sizeof answer),
                         200);
        assert_int_equal(strstr(answer, "forced") == NULL, is_hidden);
    }
    forced = ND_STORE_OK;
}

/* Fail each allocation in turn, whoever makes it: there is an answer or none, and the next request
 * is answered. */
static void memory_may_run_out(void **state)
{
#if !HAS_OWN_MALLOC
    static const struct {
        const char *target, *type, *body;
    } request[] = {
        {"/v1/documents", "text/plain", "a text that is stored"},
        {"/v1/query", "text/html", "<p>a page"},
        {"/v1/documents", "application/x-ndjson", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n"},
        {"/v1/query", "application/json", "{\"html\":\"a\",\"security\":[\"b\"]}"}};
    const struct fixture *f = *state;
    char answer[4096];

    for (size_t r = 0; r < sizeof request / sizeof *request; r++) {
        bool all_served = false;

        for (long n = 1; !all_served && n < 400; n++) {
            atomic_store(&until_failure, n);
            (void)post(f, request[r].target, request[r].type, request[r].body, answer,
                       sizeof answer);
            all_served = atomic_exchange(&until_failure, 0) > 0;
            assert_int_equal(ask(f, "GET", "/healthz", "text/plain", "", answer, sizeof answer),
                             200);
        }
        assert_int_equal(
            post(f, request[r].target, request[r].type, request[r].body, answer, sizeof answer) /
                100,
            2);
    }
#else
    (void)state;
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(failures_of_the_store_have_their_statuses, start, stop),
        cmocka_unit_test_setup_teardown(failures_are_those_of_their_lines, start, stop),
        cmocka_unit_test_setup_teardown(a_full_queue_refuses_a_whole_body, start, stop),
        cmocka_unit_test_setup_teardown(where_a_store_is_broken_is_not_told_to_all, start_with_keys,
                                        stop),
        cmocka_unit_test_setup_teardown(memory_may_run_out, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
