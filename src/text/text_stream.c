/* text_stream.c - the normalised text in windows: for character n-grams and lengths */
#include "text/text_stream.h"

#include "text/fold.h"

#include <neardup/text.h>

#include <stdlib.h>

struct nd_text_stream {
    struct nd_folder fold;
    size_t done; /* bytes of the buffer that have been given */
};

struct nd_text_stream *nd_text_stream_new(void)
{
    struct nd_text_stream *s = malloc(sizeof *s);

    if (!s)
        return NULL;
    if (!nd_folder_init(&s->fold)) {
        free(s);
        return NULL;
    }
    nd_text_stream_start(s, NULL, 0);
    return s;
}

void nd_text_stream_free(struct nd_text_stream *s)
{
    if (!s)
        return;
    nd_folder_release(&s->fold);
    free(s);
}

void nd_text_stream_start(struct nd_text_stream *s, const char *text, size_t len)
{
    nd_folder_start(&s->fold, text, len);
    s->done = 0;
}

int nd_text_stream_next(struct nd_text_stream *s, const char **bytes, size_t *n)
{
    struct nd_folder *f = &s->fold;

    nd_folder_drop(f, s->done);
    s->done = 0;
    while (!nd_folder_at_end(f) && f->mark == 0)
        if (!nd_folder_text(f, f->len < ND_FOLDER_WINDOW / 2 ? ND_FOLDER_WINDOW : 2 * f->len))
            return ND_ENOMEM;
    s->done = nd_folder_at_end(f) ? f->len : f->mark;
    *bytes = (const char *)f->buffer;
    *n = s->done;
    return s->done > 0;
}

int64_t nd_text_length(const char *text, size_t len)
{
    struct nd_text_stream *s;
    const char *bytes;
    int64_t codes = 0;
    size_t n;
    int status;

    if (!nd_utf8_valid(text, len))
        return ND_EINVAL;
    s = nd_text_stream_new();
    if (!s)
        return ND_ENOMEM;
    nd_text_stream_start(s, text, len);
    while ((status = nd_text_stream_next(s, &bytes, &n)) == 1)
        for (size_t i = 0; i < n; i++) /* every byte but those that continue a code point */
            codes += ((uint8_t)bytes[i] & 0xC0) != 0x80;
    nd_text_stream_free(s);
    return status < 0 ? status : codes;
}
