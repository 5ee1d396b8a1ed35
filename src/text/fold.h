/* fold.h - the fast path: a text in windows of normalised bytes */
#ifndef ND_TEXT_FOLD_H
#define ND_TEXT_FOLD_H

#include "simd/text/text_kernels.h"
#include "text/normal.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads a text and appends its normalised form to `buffer`, from which the reader drops what it has
 * used.  There are two modes:
 *
 *   words  tokens, each followed by at least one zero byte.  Separators are zero bytes, and a run
 *          of a script without spaces is written as its bigrams, so the reader sees words only.
 *   text   the normalised text as it is.
 *
 * The last few bytes are not final: a combining mark may yet change the last character, and then
 * all is written again from `mark` on.  At the end of the text everything is final.
 */
struct nd_folder {
    const struct nd_text_kernels *kernels;
    const uint8_t *text, *in, *end; /* the text, the next byte to read, its end */

    uint8_t *buffer;
    size_t capacity; /* and ND_FOLDER_MARGIN bytes more */
    size_t len;      /* bytes written */
    uint64_t run;    /* of a script without spaces: see fold.c */

    /* The last boundary (fold_table.h): where it was read, and the state before it was written. */
    const uint8_t *mark_in;
    size_t mark;
    uint64_t mark_run;

    struct nd_normal normal; /* for pieces that need the plain algorithm */
};

enum {
    ND_FOLDER_WINDOW = 16384, /* bytes that are made at a time: the first cache holds them */
    ND_FOLDER_MARGIN = 512,   /* any one step writes less beyond the limit */
};

/* False: out of memory. */
bool nd_folder_init(struct nd_folder *f);
void nd_folder_release(struct nd_folder *f);

void nd_folder_start(struct nd_folder *f, const char *text, size_t len);

/* Write on until `len` reaches the limit or the text ends.  False: out of memory. */
bool nd_folder_words(struct nd_folder *f, size_t limit);
bool nd_folder_text(struct nd_folder *f, size_t limit);

/* Take away the first n bytes, which must be final. */
void nd_folder_drop(struct nd_folder *f, size_t n);

/* Behind it, too: where the text is no valid UTF-8 after all, a sequence may be cut. */
static inline bool nd_folder_at_end(const struct nd_folder *f)
{
    return f->in >= f->end;
}

#endif
