/*
 * ndjson.h - a body of NDJSON on its way through: lines in, answers out in their order
 *
 * The thread that receives cuts the body into chunks of whole lines; a job takes them one after the
 * other, hands documents to the store in groups, and appends the answers.  At most a few chunks and
 * groups are in memory: whoever sends faster than the store writes is held.  Answers wait for the
 * end of the body, since libmicrohttpd sends nothing before it; those that are many wait in a
 * nameless file.
 */
#ifndef ND_SERVER_NDJSON_H
#define ND_SERVER_NDJSON_H

#include "server/state.h"

/* NULL: out of memory. */
struct nd_ndjson *nd_ndjson_new(struct nd_exchange *x);
/* Its job has ended, or never began. */
void nd_ndjson_free(struct nd_ndjson *s);

/*
 * Take bytes of the body: all of them, or none, and the connection is suspended until they can be.
 * BUSY: there is no memory, and none of its own will be given back.
 */
enum nd_refusal nd_ndjson_take(struct nd_ndjson *s, const char *data, size_t len, bool *is_held,
                               struct nd_error *err);
/* Give up the groups that were not begun: the request is refused. */
void nd_ndjson_abandon(struct nd_ndjson *s);
/* The body has ended.  True: all is answered; false: the connection is suspended until it is. */
bool nd_ndjson_end(struct nd_ndjson *s);

/* Why all of it is refused; NONE: it is not. */
enum nd_refusal nd_ndjson_refusal(const struct nd_ndjson *s, struct nd_error *err);
/* The answers, once all are there. */
uint64_t nd_ndjson_bytes(const struct nd_ndjson *s);
/* Copy some of them, from a place on; returns how many, or < 0: the file cannot be read. */
long nd_ndjson_read(struct nd_ndjson *s, uint64_t at, char *out, size_t capacity);

#endif
