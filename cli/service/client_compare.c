/* client_compare.c - neardup client compare and fingerprint */
#define _GNU_SOURCE
#include "service/client.h"

#include "base/json_out.h"
#include "base/view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 64 << 20 };

/* ---- Two documents --------------------------------------------------------------------------- */

/* Read a file, or the standard input.  False: an error was reported. */
static bool read_file(const char *name, struct nd_buffer *out)
{
    bool is_standard = strcmp(name, "-") == 0, fine = true;
    FILE *file = is_standard ? stdin : fopen(name, "re");
    char piece[16384];
    size_t n;

    if (!file) {
        say("%s: %s", name, strerror(errno));
        return false;
    }
    while (fine && (n = fread(piece, 1, sizeof piece, file)) > 0)
        fine = out->len + n <= FILE_MAX && nd_buffer_append(out, piece, n);
    if (!fine)
        say("%s: is larger than %d MiB, or there is no memory", name, FILE_MAX >> 20);
    else if (ferror(file))
        say("%s: %s", name, strerror(errno));
    fine = fine && !ferror(file);
    if (!is_standard)
        fclose(file);
    return fine;
}

/* The service sees only bytes: what they are is told by how they begin. */
static bool put_file(struct http_request *r, const char *name)
{
    if (!read_file(name, &r->body))
        return false;
    r->method = "POST";
    r->type = client_type_of(&r->body);
    return true;
}

static bool compare_target(const struct client *c, struct http_request *r, const char *a,
                           const char *b)
{
    const char *security = c->options->security;

    return http_target(r, "/v1/compare") && http_target_parameter(r, "a", a) &&
           http_target_parameter(r, "a_security", security) && http_target_parameter(r, "b", b) &&
           http_target_parameter(r, "b_security", b ? security : NULL);
}

int client_compare(struct client *c)
{
    const struct words *ids = &c->settings->paths; /* the first is the part of the command */
    const char *file = c->options->with;
    struct http_request r = {.method = "GET"};
    int status = 2;

    if (ids->count != (file ? 2 : 3))
        say("client compare takes two ids, or one and --with FILE; see neardup help client "
            "compare");
    else if (file && !put_file(&r, file))
        ; /* which was reported */
    else if (!compare_target(c, &r, ids->at[1], file ? NULL : ids->at[2]))
        say("out of memory");
    else
        status = client_show(c, &r, "compare");
    http_request_release(&r);
    return status;
}

/* ---- What the store is ----------------------------------------------------------------------- */

/* Write the recipe as the service gives it, with the version of the service before it. */
static bool put_fingerprint(struct client *c, const struct answer *answer)
{
    struct nd_json out = {.failed = false};
    bool fine;

    nd_json_open(&out, '{');
    nd_json_put_string(&out, "version", answer->version);
    nd_json_key(&out, "recipe");
    nd_json_raw(&out, answer->recipe);
    nd_json_close(&out, '}');
    nd_json_line(&out);
    fine = !out.failed;
    if (fine)
        results_put_row(&c->results, out.text.data, out.text.len);
    nd_json_release(&out);
    return fine;
}

static int compare_fingerprint(const char *expected, struct nd_view found)
{
    if (!expected || (strlen(expected) == found.len && nd_view_is(found, expected)))
        return 0;
    say("the store's fingerprint is %.*s, not %s", (int)found.len, found.data, expected);
    return 1;
}

int client_fingerprint(struct client *c)
{
    struct http_request r = {.method = "GET"};
    struct nd_error err = {.status = ND_OK};
    struct answer answer;
    int status = 2;

    if (!http_target(&r, "/v1/stats"))
        nd_fail(&err, ND_ENOMEM, "out of memory");
    else if (http_do(c->http, &r, &err) == ND_OK && r.status != 200)
        answer_problem(c->reader, &r, "fingerprint", &err);
    else if (err.status == ND_OK &&
             answer_read(c->reader, (struct nd_view){r.answer.data, r.answer.len}, &answer, &err) ==
                 ND_OK) {
        if (!answer.recipe.len || !answer.fingerprint.len || !answer.version.data)
            nd_fail(&err, ND_EINPUT, "%s: the answer has no recipe with a fingerprint",
                    c->options->url);
        else if (!put_fingerprint(c, &answer))
            nd_fail(&err, ND_ENOMEM, "out of memory");
        else
            status = compare_fingerprint(c->options->expect, answer.fingerprint);
    }
    if (err.status != ND_OK)
        status = client_failed(&err);
    http_request_release(&r);
    return status;
}
