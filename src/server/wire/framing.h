/* framing.h - where requests begin and end in the bytes of a connection, before anything reads them */
#ifndef ND_SERVER_WIRE_FRAMING_H
#define ND_SERVER_WIRE_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"
#include "server/wire/problem.h"

/*
 * libmicrohttpd 0.9.75 takes LF for CR LF in chunks and trailers, and answers a malformed
 * Content-Length with two heads.  So it gets only what has passed here: heads and trailers once they
 * are whole, lines of chunks likewise, and bytes of bodies as they come.  In place of what is
 * malformed it gets a request, or the end of a body, that is not, and `refused` numbers the request
 * that must be answered with `refusal`.  Nothing behind that is passed on.
 */
enum nd_framing_state {
    ND_FRAMING_HEAD,
    ND_FRAMING_BODY,     /* of a length that the head names */
    ND_FRAMING_SIZE,     /* the line before a chunk */
    ND_FRAMING_CHUNK,    /* its bytes */
    ND_FRAMING_BEHIND,   /* the line end behind them */
    ND_FRAMING_TRAILERS, /* from the line of the last chunk on */
    ND_FRAMING_REFUSED
};

/* The most fields of a head with its trailers, and bytes of trailers or of a chunk's line. */
enum { ND_FRAMING_FIELDS = 64, ND_FRAMING_LINE = 1024 };

struct nd_framing {
    size_t head_bytes; /* the most that a head may have */
    enum nd_framing_state state;
    uint64_t left;    /* of the body, or of a chunk */
    unsigned fields;  /* of the head */
    uint64_t heads;   /* that were passed on */
    uint64_t refused; /* number of the request that is refused, from 1 on; 0: none */
    enum nd_refusal refusal;
    char detail[128]; /* of the refusal */

    struct nd_buffer bytes; /* received, and not taken yet */
    size_t ready;           /* of them, what has passed */
    size_t seen;            /* of them, where no line end is looked for again */
};

void nd_framing_init(struct nd_framing *f, size_t head_bytes);
void nd_framing_release(struct nd_framing *f);

/* Look at bytes that were received.  False: out of memory. */
bool nd_framing_put(struct nd_framing *f, const char *data, size_t len);
/* Take bytes that have passed; returns how many. */
size_t nd_framing_take(struct nd_framing *f, char *out, size_t capacity);
/* Whether a request line has arrived, and the rest of its head has not. */
bool nd_framing_has_line(const struct nd_framing *f);

#endif
