/* mail.h - a message of mail taken apart: its header fields and its texts, by GMime */
#ifndef ND_INPUT_MAIL_H
#define ND_INPUT_MAIL_H

#include <neardup/types.h>

#include <stdbool.h>

/* Why no mail can be read: this build, or the machine, has no GMime, which is opened at the first
 * call of any of these.  NULL: it can be. */
const char *nd_mail_missing(void);

/* "GMime 3.2.13": the text of a message depends on it; "none": mail cannot be read. */
enum { ND_MAIL_VERSION_BYTES = 48 };
const char *nd_mail_parser_version(char out[ND_MAIL_VERSION_BYTES]);

/* Whether a message may be opened: 1; 0: it would take GMime too deep, too long, or more memory
 * than there is now, *reason says it; ND_ENOMEM. */
int nd_mail_check(struct nd_view message, const char **reason);

/* What GMime takes at most for a message that is not too far: for its bytes, for lines in headers,
 * for parts, and for words in the fields of headers. */
size_t nd_mail_peak(size_t bytes, size_t header_lines, size_t parts, size_t words);

/* A message; borrows the bytes it was opened from.  GLib ends the program where memory ends. */
struct nd_mail;

/* A header and a body (RFC 5322, RFC 2045), without the line of an mbox: 1, *mail is open; 0: it is
 * none, or mail cannot be read; ND_ENOMEM. */
int nd_mail_open(struct nd_view message, struct nd_mail **mail);
void nd_mail_close(struct nd_mail *mail);

/*
 * The value of the first field of this name, capitals being the same: unfolded, encoded words
 * decoded (RFC 2047), without the white space around it; until the message is closed.  It may hold
 * invalid UTF-8.  data NULL: there is none.
 */
struct nd_view nd_mail_field(struct nd_mail *mail, struct nd_view name);

/* A text in the message, its transfer encoding undone; valid during the call. */
struct nd_mail_text {
    bool is_html;
    bool is_subject;     /* of an attached message; UTF-8 */
    const char *charset; /* as named; NULL: not */
    struct nd_view bytes;
};

enum { ND_MAIL_DEPTH_MAX = 100, ND_MAIL_TOO_DEEP = 2 };

/*
 * The texts as a reader sees them, in order: parts of the type text, of a multipart/alternative the
 * last one that has any text, those of attached messages too.  `take` answers 1: there was
 * something to read in it; 0: there was not; < 0: stop with this.  0, what `take` stopped with, or
 * ND_MAIL_TOO_DEEP.
 */
int nd_mail_texts(struct nd_mail *mail, int (*take)(void *context, const struct nd_mail_text *text),
                  void *context);

#endif
