/* mail_quotes.h - the lines of a mail that its writer did not write, left out of a text */
#ifndef ND_TEXT_MAIL_QUOTES_H
#define ND_TEXT_MAIL_QUOTES_H

#include <stdbool.h>

#include <neardup/types.h>

#include "base/memory.h"

/* Nine bytes of working memory for each line, and the text that is left.  Starts from zeroes. */
struct nd_mail_quotes {
    size_t *from; /* where each line begins; behind the last, the length of the text */
    unsigned char *flags;
    size_t from_capacity, flags_capacity;
    struct nd_buffer own;
};

/*
 * Leave quoted lines, attributions, signatures, footers of lists and earlier messages out of a text
 * (docs/format/mail-quotes.md).  *text becomes what is left, in quotes->own until the next call, or
 * stays as it is if nothing is left out.  False: out of memory.
 */
bool nd_mail_quotes_drop(struct nd_mail_quotes *quotes, struct nd_view *text);

/* Put a space in place of every byte that is left out, except line ends, so that the places and
 * the number of bytes stay. */
bool nd_mail_quotes_blank(struct nd_mail_quotes *quotes, struct nd_view *text);

void nd_mail_quotes_release(struct nd_mail_quotes *quotes);

#endif
