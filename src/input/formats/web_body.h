/* web_body.h - what a record of a web archive holds: a page, plain text, or no text */
#ifndef ND_INPUT_FORMATS_WEB_BODY_H
#define ND_INPUT_FORMATS_WEB_BODY_H

#include "base/memory.h"
#include "input/formats/web_record.h"

enum nd_web_text {
    ND_WEB_NOT_TEXT, /* images, scripts, styles …; records of unknown types */
    ND_WEB_NO_BODY,  /* redirects, revisits */
    ND_WEB_PLAIN,
    ND_WEB_PAGE,
    ND_WEB_UNKNOWN /* its type does not say, and its bytes are compressed */
};

/* The body of a record and what is said of it.  The views point into the record. */
struct nd_web_body {
    enum nd_web_text text;
    struct nd_view http;  /* the head of the answer; empty: there is none */
    struct nd_view bytes; /* as they are stored */
    struct nd_view type;  /* "text/html; charset=utf-8" */
    struct nd_view status;
    bool is_chunked;
    struct nd_view encoding; /* "gzip", "br" … */
};

/* Find the body.  The first ND_WEB_LOOK_AHEAD bytes of the content, or all, are enough to know what it is
 * (text). */
void nd_web_body_find(const struct nd_web_record *r, struct nd_web_body *body);

/*
 * Find the record of a group that has the body.  False: there is none, or what is found in its place,
 * *r, is damage (r->kind) or cut short (r->is_cut).
 */
bool nd_web_find_main(enum nd_web_dialect dialect, struct nd_view group, struct nd_web_record *r,
                      struct nd_web_body *body);

/* Tell what bytes are whose type is not known. */
enum nd_web_text nd_web_sniff(const char *bytes, size_t len);

/* A body of more bytes than this is refused when they are decompressed. */
enum { ND_WEB_BODY_MAX = 1 << 26 };

/* The memory for decompressing, kept from body to body.  Starts from zeroes. */
struct nd_web_unpacker {
    struct nd_buffer out, chunks;
    void *inflater;
};
void nd_web_unpacker_release(struct nd_web_unpacker *u);

/*
 * Put the chunks of a body together and decompress it, as far as its bytes go and if they are what
 * the head says: crawlers store many bodies plain, and keep the head.
 *
 * 1: *out is the body, in the record or in `u` until its next use.  0: *reason says why not.
 * ND_ENOMEM.
 */
int nd_web_unpack(struct nd_web_unpacker *u, const struct nd_web_body *body, struct nd_view *out,
                  const char **reason);

#endif
