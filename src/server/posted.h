/* posted.h - the document in the body of a request, or in a line of NDJSON */
#ifndef ND_SERVER_POSTED_H
#define ND_SERVER_POSTED_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/types.h>

#include "server/wire/head.h"
#include "server/workspace.h"

/* It points into the body and into the workspace: until the next document is read there. */
struct nd_posted {
    struct nd_view id;            /* empty: none was given */
    const struct nd_view *labels; /* from "security" */
    size_t n_labels;
    bool has_labels;
    struct nd_view text;  /* as nd_session_content gives it */
    struct nd_view title; /* valid UTF-8; empty: none was given */
    uint64_t replaced;    /* characters that had to be, by U+FFFD */
    uint64_t max_age_s;   /* of "max_age"; 0: none was given */
};

/*
 * Read a JSON object with "text" or "html", "title", "max_age", and "id" and "security" if has_key, or
 * else they are ignored; 64 bytes behind it are readable.
 * MALFORMED: it is no JSON, or not UTF-8; INVALID: it is no document; BUSY: out of memory.
 */
enum nd_refusal nd_posted_json(struct nd_workspace *w, struct nd_view body, bool has_key,
                               struct nd_posted *out, struct nd_error *err);
/* Read a text, or a page, in the charset that its type names (data NULL: none).  TYPE: a charset
 * that this system does not know; INVALID, BUSY. */
enum nd_refusal nd_posted_text(struct nd_workspace *w, enum nd_media media, struct nd_view charset,
                               struct nd_view body, struct nd_posted *out, struct nd_error *err);

#endif
