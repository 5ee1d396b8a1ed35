/* sketcher.c - from a text to its sketch, one window of tokens at a time */
#include "sketch/sketcher.h"

#include <stdlib.h>

#include <neardup/text.h>

#include "base/hash.h"
#include "sketch/shingler.h"
#include "text/text_stream.h"
#include "text/tokeniser.h"

struct nd_sketcher {
    struct nd_sketch_params params;
    struct nd_tokeniser *tokeniser; /* for word shingles, else NULL */
    struct nd_text_stream *stream;  /* for character shingles, else NULL */
    struct nd_shingler shingler;
};

struct nd_sketch_params nd_sketch_params_default(void)
{
    return (struct nd_sketch_params){.unit = ND_SHINGLE_WORDS, .w = 3};
}

enum nd_status nd_sketch_params_check(const struct nd_sketch_params *params, struct nd_error *err)
{
    if (params->w < 1 || params->w > ND_SHINGLE_MAX)
        return nd_fail(err, ND_EINVAL, "shingles of %u tokens: 1 to %d are possible", params->w,
                       ND_SHINGLE_MAX);
    if (params->unit != ND_SHINGLE_WORDS && params->unit != ND_SHINGLE_CHARACTERS)
        return nd_fail(err, ND_EINVAL, "shingles of unit %u: they are of words or of characters",
                       params->unit);
    return ND_OK;
}

struct nd_sketcher *nd_sketcher_new(const struct nd_sketch_params *params, struct nd_error *err)
{
    struct nd_sketcher *s;

    if (nd_sketch_params_check(params, err) != ND_OK)
        return NULL;
    s = calloc(1, sizeof *s);
    if (s) {
        s->params = *params;
        if (params->unit == ND_SHINGLE_WORDS)
            s->tokeniser = nd_tokeniser_new();
        else
            s->stream = nd_text_stream_new();
    }
    if (!s || (!s->tokeniser && !s->stream)) {
        free(s);
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    return s;
}

void nd_sketcher_free(struct nd_sketcher *s)
{
    if (!s)
        return;
    nd_tokeniser_free(s->tokeniser);
    nd_text_stream_free(s->stream);
    nd_shingler_release(&s->shingler);
    free(s);
}

const struct nd_shingle_set *nd_sketcher_shingles(const struct nd_sketcher *s)
{
    return &s->shingler.set;
}

void nd_sketcher_swap_shingles(struct nd_sketcher *s, struct nd_shingle_set *set)
{
    struct nd_shingle_set own = s->shingler.set;

    s->shingler.set = *set;
    *set = own;
}

static enum nd_status read_words(struct nd_sketcher *s, const char *text, size_t len)
{
    const uint64_t *token;
    size_t count;
    int more;

    nd_tokeniser_begin(s->tokeniser, text, len);
    while ((more = nd_tokeniser_next(s->tokeniser, &token, &count)) == 1)
        if (!nd_shingler_feed(&s->shingler, token, count))
            return ND_ENOMEM;
    return more < 0 ? (enum nd_status)more : ND_OK;
}

/* One code point of valid UTF-8; *p moves behind it. */
static uint32_t decode(const unsigned char **p)
{
    const unsigned char *b = *p;
    unsigned len = b[0] < 0x80 ? 1 : b[0] < 0xE0 ? 2 : b[0] < 0xF0 ? 3 : 4;
    uint32_t c = len == 1 ? b[0] : b[0] & (0xFFu >> (len + 1));

    for (unsigned i = 1; i < len; i++)
        c = c << 6 | (b[i] & 0x3F);
    *p = b + len;
    return c;
}

/* A window of normalised text: whole code points. */
static bool feed_characters(struct nd_shingler *shingler, const char *bytes, size_t len)
{
    enum { BATCH = 512 };
    uint64_t batch[BATCH];
    size_t n = 0;

    for (const unsigned char *p = (const unsigned char *)bytes, *end = p + len; p < end;) {
        batch[n++] = nd_mix64(decode(&p));
        if (n < BATCH && p < end)
            continue;
        if (!nd_shingler_feed(shingler, batch, n))
            return false;
        n = 0;
    }
    return true;
}

static enum nd_status read_characters(struct nd_sketcher *s, const char *text, size_t len)
{
    const char *bytes;
    size_t n;
    int more;

    nd_text_stream_start(s->stream, text, len);
    while ((more = nd_text_stream_next(s->stream, &bytes, &n)) == 1)
        if (!feed_characters(&s->shingler, bytes, n))
            return ND_ENOMEM;
    return more < 0 ? (enum nd_status)more : ND_OK;
}

enum nd_status nd_sketcher_read_valid(struct nd_sketcher *s, const char *text, size_t len,
                                      struct nd_sketch *out)
{
    enum nd_status status;

    nd_shingler_begin(&s->shingler, s->params.w);
    status = s->params.unit == ND_SHINGLE_WORDS ? read_words(s, text, len)
                                                : read_characters(s, text, len);
    if (status != ND_OK)
        return status;
    return nd_shingler_end(&s->shingler, out) ? ND_OK : ND_ENOMEM;
}

enum nd_status nd_sketcher_read(struct nd_sketcher *s, const char *text, size_t len,
                                struct nd_sketch *out)
{
    return nd_utf8_valid(text, len) ? nd_sketcher_read_valid(s, text, len, out) : ND_EINVAL;
}

enum nd_status nd_sketcher_run(struct nd_sketcher *s, const char *text, size_t len, unsigned parts,
                               struct nd_sketch *out)
{
    enum nd_status status = nd_sketcher_read(s, text, len, out);

    if (status == ND_OK)
        nd_sketch_finish(out, parts);
    return status;
}
