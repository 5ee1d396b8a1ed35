/* mail_head.h - what a message of mail begins with: told from its bytes alone */
#ifndef ND_INPUT_FORMATS_MAIL_HEAD_H
#define ND_INPUT_FORMATS_MAIL_HEAD_H

#include <neardup/types.h>

#include <stdbool.h>

/*
 * Whether a line separates messages of an mbox (RFC 4155): "From ", followed by a time of day and a
 * year, so that a sentence that begins with "From" does not.
 */
bool nd_mail_is_envelope(const char *line, size_t len);

/* The number of bytes before the header: blank lines, then the envelope line of an mbox. */
size_t nd_mail_before_header(struct nd_view message);

/* Whether the first line is a header field (RFC 5322, section 2.2). */
bool nd_mail_has_header(struct nd_view message);

/*
 * Whether these are the first bytes of a message: a header of fields only, with From and Date,
 * which every message has (RFC 5322, section 3.6), and a field that only programs write. For an
 * mbox: an envelope line, then a header field.
 */
bool nd_mail_looks_like_message(const char *head, size_t len);
bool nd_mail_looks_like_mbox(const char *head, size_t len);

/* Whether the path is a message in a Maildir: cur/ or new/, then SECONDS.UNIQUE.HOST. */
bool nd_mail_is_in_maildir(const char *path);

#endif
