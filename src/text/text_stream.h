/* text_stream.h - the normalised text in windows: for character n-grams and lengths */
#ifndef ND_TEXT_TEXT_STREAM_H
#define ND_TEXT_TEXT_STREAM_H

#include <stddef.h>
#include <stdint.h>

/*
 * The working memory of one thread, about 20 KB.
 *
 *     nd_text_stream_start(s, text, len);
 *     while ((status = nd_text_stream_next(s, &bytes, &n)) == 1)
 *         ... n bytes of normalised text, whole code points ...
 */
struct nd_text_stream;

struct nd_text_stream *nd_text_stream_new(void); /* NULL: out of memory */
void nd_text_stream_free(struct nd_text_stream *s);

/* Begin a text: valid UTF-8, borrowed until the last nd_text_stream_next. */
void nd_text_stream_start(struct nd_text_stream *s, const char *text, size_t len);

/* 1: *bytes points to *n > 0 bytes, borrowed until the next call; 0: the end; ND_ENOMEM. */
int nd_text_stream_next(struct nd_text_stream *s, const char **bytes, size_t *n);

#endif
