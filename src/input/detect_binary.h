/* detect_binary.h - files that are not text: what they are, and what to do with them instead */
#ifndef ND_INPUT_DETECT_BINARY_H
#define ND_INPUT_DETECT_BINARY_H

#include <stddef.h>

struct nd_binary_kind {
    const char *what;   /* "is a PDF file" */
    const char *advice; /* "convert it to text first …"; NULL: there is none */
};

/* By the first bytes; NULL: none of the kinds that are known, which need not be text. */
const struct nd_binary_kind *nd_detect_binary(const char *head, size_t len);

/* Of a zip: an office document or a book, whose files mean nothing by themselves; else NULL. */
const struct nd_binary_kind *nd_detect_office_zip(const char *head, size_t len);

/* By a NUL within the first 8 KiB, which no text in UTF-8 or an 8-bit charset has; else NULL. */
const struct nd_binary_kind *nd_detect_early_nul(const char *head, size_t len);

#endif
