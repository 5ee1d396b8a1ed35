/* read_answers.h - what the service answered, read from its JSON */
#ifndef CLI_SERVICE_READ_ANSWERS_H
#define CLI_SERVICE_READ_ANSWERS_H

#include <stdbool.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "service/http.h"
#include "service/objects.h"

/* Members of an answer (docs/http.md).  data NULL: it has none. */
struct answer {
    struct nd_view verdict, stored;
    struct nd_view error_status, error_detail;   /* of a line of NDJSON that was refused */
    struct nd_view status, detail, title;        /* of a problem document */
    struct nd_view id, documents, is_due;        /* `documents` is JSON */
    struct nd_view security;                     /* one label a line */
    struct nd_view version, recipe, fingerprint; /* of stats; `recipe` is JSON */
};

/* A reader of answers: object_reader_free. */
struct object_reader *answer_reader_new(struct nd_error *err);

/* Read an object of JSON, behind which 64 bytes are readable.  The answer points into the object and
 * the reader, until its next call.  ND_EINPUT: it is none; ND_ENOMEM. */
enum nd_status answer_read(struct object_reader *reader, struct nd_view json, struct answer *out,
                           struct nd_error *err);

/* Put a problem document into words: "what: detail (404)".  Returns ND_EINPUT. */
enum nd_status answer_problem(struct object_reader *reader, const struct http_request *request,
                              const char *what, struct nd_error *err);

#endif
