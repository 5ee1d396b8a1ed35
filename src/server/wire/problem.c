/* problem.c - the kinds of problems, a row each */
#include "server/wire/problem.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
    unsigned status;
    const char *name, *title;
} KIND[ND_REFUSAL_COUNT] = {
    [ND_REFUSAL_NONE] = {200, "none", "Done"},
    [ND_REFUSAL_MALFORMED] = {400, "malformed", "The request is malformed"},
    [ND_REFUSAL_NO_KEY] = {401, "key", "A key is needed"},
    [ND_REFUSAL_FORBIDDEN] = {403, "security",
                              "The security labels are not among those of the key"},
    [ND_REFUSAL_ORIGIN] = {403, "origin", "Pages of other sites may not ask"},
    [ND_REFUSAL_ADMINISTRATOR] = {403, "administrator", "Only the administrator may ask this"},
    [ND_REFUSAL_READ_ONLY] = {403, "read-only", "The service only reads"},
    [ND_REFUSAL_NOT_FOUND] = {404, "no-document", "There is no such document"},
    [ND_REFUSAL_NO_PATH] = {404, "no-path", "There is no such path"},
    [ND_REFUSAL_METHOD] = {405, "method", "The path does not have this method"},
    [ND_REFUSAL_DEADLINE] = {408, "deadline", "The request took too long"},
    [ND_REFUSAL_AMBIGUOUS] = {409, "ambiguous", "Several documents have this id"},
    [ND_REFUSAL_NO_LENGTH] = {411, "no-length", "The length of the body is needed"},
    [ND_REFUSAL_TOO_LARGE] = {413, "too-large", "The body is too large"},
    [ND_REFUSAL_LONG_ADDRESS] = {414, "long-address", "The address is too long"},
    [ND_REFUSAL_TYPE] = {415, "type", "Bodies of this type are not read"},
    [ND_REFUSAL_HOST] = {421, "host", "The service does not answer for this host"},
    [ND_REFUSAL_INVALID] = {422, "document", "This cannot be a document"},
    [ND_REFUSAL_LONG_HEAD] = {431, "long-head", "The header fields are too long"},
    [ND_REFUSAL_QUEUE_FULL] = {429, "queue-full", "Too many writes wait"},
    [ND_REFUSAL_FAILED] = {500, "failed", "The store has failed"},
    [ND_REFUSAL_BUSY] = {503, "busy", "The service has too much to do"},
    [ND_REFUSAL_ENDING] = {503, "ending", "The service is ending"},
    [ND_REFUSAL_NOT_READY] = {503, "not-ready", "The service takes no documents"},
    [ND_REFUSAL_RATE] = {429, "rate", "The key has asked too often"},
    [ND_REFUSAL_NO_SPACE] = {507, "disk-full", "The disk is full"},
};

unsigned nd_refusal_status(enum nd_refusal refusal)
{
    return KIND[refusal].status;
}

void nd_refusal_json(struct nd_json *out, enum nd_refusal refusal, const char *detail)
{
    char type[64];

    (void)snprintf(type, sizeof type, "/problems/%s", KIND[refusal].name);
    nd_json_open(out, '{');
    nd_json_put_text(out, "type", type);
    nd_json_put_text(out, "title", KIND[refusal].title);
    nd_json_put_uint(out, "status", KIND[refusal].status);
    nd_json_put_text(out, "detail", detail && *detail ? detail : KIND[refusal].title);
    nd_json_close(out, '}');
}

enum nd_refusal nd_refusal_of_store(enum nd_store_result result)
{
    switch (result) {
    case ND_STORE_OK: return ND_REFUSAL_NONE;
    case ND_STORE_NOT_FOUND: return ND_REFUSAL_NOT_FOUND;
    case ND_STORE_AMBIGUOUS: return ND_REFUSAL_AMBIGUOUS;
    case ND_STORE_FORBIDDEN: return ND_REFUSAL_FORBIDDEN;
    case ND_STORE_INVALID: return ND_REFUSAL_INVALID;
    case ND_STORE_BUSY: return ND_REFUSAL_QUEUE_FULL;
    case ND_STORE_NO_SPACE: return ND_REFUSAL_NO_SPACE;
    case ND_STORE_NO_MEMORY: return ND_REFUSAL_BUSY;
    case ND_STORE_FAILED: return ND_REFUSAL_FAILED;
    }
    return ND_REFUSAL_FAILED;
}

enum nd_refusal nd_refusal_of_status(enum nd_status status)
{
    switch (status) {
    case ND_OK: return ND_REFUSAL_NONE;
    case ND_ENOMEM: return ND_REFUSAL_BUSY;
    case ND_EINVAL:
    case ND_EINPUT:
    case ND_EUNSUPPORTED: return ND_REFUSAL_INVALID;
    default: return ND_REFUSAL_FAILED;
    }
}

enum nd_refusal nd_refuse(struct nd_error *err, enum nd_refusal refusal, const char *format, ...)
{
    va_list args;

    if (!err)
        return refusal;
    err->status = refusal == ND_REFUSAL_NONE ? ND_OK : ND_EINVAL;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof err->message, format, args);
    va_end(args);
    return refusal;
}
