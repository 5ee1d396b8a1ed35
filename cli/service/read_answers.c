/* read_answers.c - what the service answered, read from its JSON */
#include "service/read_answers.h"

#include "service/objects.h"

#include <stdio.h>

static const char *const names[] = {
    "verdict", "stored", "error.status",      "error.detail", "status",
    "detail",  "title",  "documents",         "is_due",       "id",
    "version", "recipe", "recipe.fingerprint"};
static const char *const security[] = {"security.*"};

struct object_reader *answer_reader_new(struct nd_error *err)
{
    return object_reader_new(names, sizeof names / sizeof *names, security, err);
}

enum nd_status answer_read(struct object_reader *reader, struct nd_view json, struct answer *out,
                           struct nd_error *err)
{
    struct nd_view value[sizeof names / sizeof *names], text;
    struct nd_error reason;
    enum nd_status status;

    object_reader_reset(reader);
    status = object_read(reader, json, value, &text, &reason);
    if (status != ND_OK)
        return nd_fail(err, status, "the answer is none of neardup's: %s", reason.message);
    *out = (struct answer){.verdict = value[0],
                           .stored = value[1],
                           .error_status = value[2],
                           .error_detail = value[3],
                           .status = value[4],
                           .detail = value[5],
                           .title = value[6],
                           .documents = value[7],
                           .is_due = value[8],
                           .id = value[9],
                           .version = value[10],
                           .recipe = value[11],
                           .fingerprint = value[12],
                           .security = text};
    return ND_OK;
}

enum nd_status answer_problem(struct object_reader *reader, const struct http_request *request,
                              const char *what, struct nd_error *err)
{
    const struct nd_view json = {request->answer.data, request->answer.len};
    struct answer answer = {.detail = {NULL, 0}};
    struct nd_view detail;

    if (json.len == 0 || answer_read(reader, json, &answer, NULL) != ND_OK)
        return nd_fail(err, ND_EINPUT, "%s: the service answered %ld", what, request->status);
    detail = answer.detail.len ? answer.detail : answer.title;
    return nd_fail(err, ND_EINPUT, "%s: %.*s (%ld)", what, (int)detail.len, detail.data,
                   request->status);
}
