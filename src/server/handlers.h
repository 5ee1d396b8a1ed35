/* handlers.h - what each route does with the store */
#ifndef ND_SERVER_HANDLERS_H
#define ND_SERVER_HANDLERS_H

#include "server/state.h"

/* Whether the answer may take so long that other requests must not wait for it: it is then made by
 * a job. */
bool nd_handler_is_long(const struct nd_exchange *x);

/*
 * Answer a request whose body is there: x->out and x->status.  What is refused is in `err`.
 * x->write: it must be handed to the store, and the answer is nd_handle_written's.
 */
enum nd_refusal nd_handle(struct nd_exchange *x, struct nd_workspace *w, struct nd_error *err);
/* The write of a single document, or of a deletion, is done. */
enum nd_refusal nd_handle_written(struct nd_exchange *x, struct nd_error *err);

/* ---- One document of a body, or of a line ---- */

/* Make the write; it is the caller's to free. */
enum nd_refusal nd_write_posted(struct nd_exchange *x, struct nd_workspace *w,
                                const struct nd_posted *posted, struct nd_write **write,
                                struct nd_error *err);
/* Append the members of the answer of a route that stores nothing: a query, a fingerprint, a write
 * with dry=1.  On failure `out` may have some of them. */
enum nd_refusal nd_put_reading(struct nd_exchange *x, struct nd_workspace *w,
                               const struct nd_posted *posted, struct nd_json *out,
                               struct nd_error *err);
/* Whether the route stores: without dry=1. */
bool nd_handler_stores(const struct nd_exchange *x);

/* ---- The sketches of all documents, for the administrator (handle_sketches.c) ---- */

/* Make the file of the answer, x->answer.  It takes as long as sketching everything: a job does it, and
 * one at a time.  ADMINISTRATOR, BUSY (another is under way), ENDING, NO_SPACE; what the store says. */
enum nd_refusal nd_handle_sketches(struct nd_exchange *x, struct nd_workspace *w,
                                   struct nd_error *err);

#endif
