/* head.h - the header fields of a request: well-formed, of one length, for this host */
#ifndef ND_SERVER_WIRE_HEAD_H
#define ND_SERVER_WIRE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "server/wire/problem.h"

struct MHD_Connection;

/* The fields that the server reads.  data NULL: it was not sent. */
struct nd_head {
    struct nd_view host, origin, fetch_site, authorization, content_type, if_none_match;
    struct nd_view length_text, coding, encoding, request_id;
    bool has_length, is_chunked, expects_continue;
    uint64_t length; /* of the body; 0 if it is chunked */
};

/*
 * Parse a head, from its request line to its empty line, and count its fields.  MALFORMED, after
 * which the connection must be closed, for everything that another program on the way may have read
 * in another way: two lengths, a length beside a coding, any coding but "chunked", white space before
 * a colon, a field over several lines, lines that end otherwise than with CR LF, control characters,
 * two hosts.
 */
enum nd_refusal nd_head_parse(const char *text, size_t len, struct nd_head *out, unsigned *n_fields,
                              struct nd_error *err);
/* Check the fields behind a body's last chunk, as above, from its line to the empty line. */
enum nd_refusal nd_trailers_check(const char *text, size_t len, unsigned *n_fields,
                                  struct nd_error *err);
/* Whether there are no control characters but tabs. */
bool nd_head_is_printable(struct nd_view text);

/* Take the fields of a head that was parsed from libmicrohttpd's memory, where they stay. */
enum nd_refusal nd_head_read(struct MHD_Connection *connection, struct nd_head *out,
                             struct nd_error *err);

/* Take one field into the head; the checks of nd_head_parse that one field allows. */
enum nd_refusal nd_head_take(struct nd_head *head, struct nd_view name, struct nd_view value,
                             struct nd_error *err);
/* The checks that all fields allow; is_new: the version is HTTP/1.1. */
enum nd_refusal nd_head_check(struct nd_head *head, bool is_new, struct nd_error *err);

/* Whether the field Content-Encoding names one, so that the body is not what Content-Type says. */
bool nd_head_is_encoded(const struct nd_head *head);

/* Whether a field Host names localhost, a loopback address, or one of the names; without its port
 * and whatever its case. */
bool nd_host_is_known(struct nd_view host, const char *const *names, size_t n_names);
/* Whether a field Host names an address, and no name; without its port. */
bool nd_host_is_address(struct nd_view host);
/* Whether a field Origin is of a page of this host; whichever the scheme, since a proxy may have
 * taken off TLS. */
bool nd_origin_is_same(struct nd_view origin, struct nd_view host);

/* The types of bodies. */
enum nd_media {
    ND_MEDIA_NONE,
    ND_MEDIA_JSON,
    ND_MEDIA_TEXT,
    ND_MEDIA_HTML,
    ND_MEDIA_NDJSON,
    ND_MEDIA_OTHER
};
/* The type that a field Content-Type names; *charset (data NULL: none) points into it. */
enum nd_media nd_media_parse(struct nd_view type, struct nd_view *charset);

/* The key in "Bearer KEY"; data NULL: the field has none. */
struct nd_view nd_bearer(struct nd_view authorization);

#endif
