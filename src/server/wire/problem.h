/* problem.h - what is answered in place of what was asked for: problem documents (RFC 9457) */
#ifndef ND_SERVER_WIRE_PROBLEM_H
#define ND_SERVER_WIRE_PROBLEM_H

#include <neardup/error.h>

#include "base/json_out.h"
#include "store/store.h"

/* Why a request, or a line of NDJSON, is refused. */
enum nd_refusal {
    ND_REFUSAL_NONE,
    ND_REFUSAL_MALFORMED,
    ND_REFUSAL_NO_KEY,
    ND_REFUSAL_FORBIDDEN,
    ND_REFUSAL_ORIGIN,
    ND_REFUSAL_ADMINISTRATOR,
    ND_REFUSAL_READ_ONLY,
    ND_REFUSAL_NOT_FOUND,
    ND_REFUSAL_NO_PATH,
    ND_REFUSAL_METHOD,
    ND_REFUSAL_DEADLINE,
    ND_REFUSAL_AMBIGUOUS,
    ND_REFUSAL_NO_LENGTH,
    ND_REFUSAL_TOO_LARGE,
    ND_REFUSAL_LONG_ADDRESS,
    ND_REFUSAL_TYPE,
    ND_REFUSAL_HOST,
    ND_REFUSAL_INVALID,
    ND_REFUSAL_LONG_HEAD,
    ND_REFUSAL_QUEUE_FULL,
    ND_REFUSAL_FAILED,
    ND_REFUSAL_BUSY,
    ND_REFUSAL_ENDING,
    ND_REFUSAL_NOT_READY,
    ND_REFUSAL_RATE,
    ND_REFUSAL_NO_SPACE
};
#define ND_REFUSAL_COUNT (ND_REFUSAL_NO_SPACE + 1)

/* The status of HTTP; 200 for ND_REFUSAL_NONE. */
unsigned nd_refusal_status(enum nd_refusal refusal);
/* Append the problem document: {"type", "title", "status", "detail"}. */
void nd_refusal_json(struct nd_json *out, enum nd_refusal refusal, const char *detail);
/* The refusal, or ND_REFUSAL_NONE, that a result of the store means. */
enum nd_refusal nd_refusal_of_store(enum nd_store_result result);
/* The refusal for a status of the library: a wrong argument is a wrong request. */
enum nd_refusal nd_refusal_of_status(enum nd_status status);

/* Fill *err with the detail, unless it is NULL, and return the refusal. */
enum nd_refusal nd_refuse(struct nd_error *err, enum nd_refusal refusal, const char *format, ...)
    ND_PRINTF(3, 4);

#endif
