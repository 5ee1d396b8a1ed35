/* mail.h - a message of mail taken apart: its header fields and its texts, by GMime */
#ifndef ND_INPUT_FORMATS_MAIL_H
#define ND_INPUT_FORMATS_MAIL_H

#include <neardup/types.h>

#include <stdbool.h>

/*
 * Why mail cannot be read: this build or this machine has no GMime, which is opened by the first
 * call of any of these functions. NULL: mail can be read.
 */
const char *nd_mail_missing(void);

/* "GMime 3.2.13", because the text of a message depends on it; "none": mail cannot be read. */
enum { ND_MAIL_VERSION_BYTES = 48 };
const char *nd_mail_parser_version(char out[ND_MAIL_VERSION_BYTES]);

/*
 * Whether a message may be opened: 1; 0: GMime would recurse too deeply, take too long, or need
 * more memory than is available, and *reason says which; ND_ENOMEM.
 */
int nd_mail_check(struct nd_view message, const char **reason);

/*
 * An upper bound of the memory that GMime takes for an acceptable message: for its bytes, header
 * lines, parts, and words in header fields.
 */
size_t nd_mail_peak(size_t bytes, size_t header_lines, size_t parts, size_t words);

/*
 * A message, which borrows the bytes it was opened from. GLib ends the program when memory runs
 * out.
 */
struct nd_mail;

/*
 * Open a message, which is a header and a body (RFC 5322, RFC 2045) without the envelope line of an
 * mbox: 1, *mail is open; 0: it is not a message, or mail cannot be read; ND_ENOMEM.
 */
int nd_mail_open(struct nd_view message, struct nd_mail **mail);
void nd_mail_close(struct nd_mail *mail);

/*
 * The value of the first field with this name, ignoring case: unfolded, with encoded words decoded
 * (RFC 2047), without the white space around it; valid until the message is closed. It may contain
 * invalid UTF-8. data NULL: there is none.
 */
struct nd_view nd_mail_field(struct nd_mail *mail, struct nd_view name);

/* A text in the message, with its transfer encoding decoded; valid during the call. */
struct nd_mail_text {
    bool is_html;
    bool is_subject;     /* of an attached message; UTF-8 */
    const char *charset; /* charset as declared; NULL: none */
    struct nd_view bytes;
};

enum { ND_MAIL_DEPTH_MAX = 100, ND_MAIL_TOO_DEEP = 2 };

/*
 * Give `take` the texts in the order in which a reader sees them: parts of type text, including
 * those of attached messages; of a multipart/alternative the last part that has any text. `take`
 * returns 1 if there was something to read in the text, 0 if not, < 0 to stop with this. Returns 0,
 * what `take` stopped with, or ND_MAIL_TOO_DEEP.
 */
int nd_mail_texts(struct nd_mail *mail, int (*take)(void *context, const struct nd_mail_text *text),
                  void *context);

#endif
