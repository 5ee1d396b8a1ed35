/* sketcher.c - from a text to its sketch, in two steps: shingles, then simhash and minima */
#include "sketch/sketcher.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "simd/sketch/sketch_kernels.h"
#include "sketch/shingler.h"
#include "text/fold.h"
#include "text/mail_quotes.h"
#include "text/text_stream.h"
#include "text/tokeniser.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

_Static_assert(ND_MINIMA == ND_MINHASH_COUNT, "the kernels make the minima of a sketch");

struct nd_sketcher {
    struct nd_sketch_params params;
    struct nd_tokeniser *tokeniser; /* for word shingles, else NULL */
    struct nd_text_stream *stream;  /* for character shingles, else NULL */
    struct nd_shingler shingler;
    struct nd_mail_quotes quotes;
};

struct nd_sketch_params nd_sketch_params_default(void)
{
    return (struct nd_sketch_params){.unit = ND_SHINGLE_WORDS, .w = 3};
}

enum nd_status nd_sketch_params_check(const struct nd_sketch_params *params, struct nd_error *err)
{
    if (params->w < 1 || params->w > ND_SHINGLE_MAX)
        return nd_fail(err, ND_EINVAL, "shingles of %u tokens: must be from 1 to %d", params->w,
                       ND_SHINGLE_MAX);
    if (params->unit != ND_SHINGLE_WORDS && params->unit != ND_SHINGLE_CHARACTERS)
        return nd_fail(err, ND_EINVAL, "shingles of unit %u: the unit must be words or characters",
                       params->unit);
    if (params->mail_quotes != ND_QUOTES_KEEP && params->mail_quotes != ND_QUOTES_DROP)
        return nd_fail(err, ND_EINVAL, "mail_quotes: %u is neither keep nor drop",
                       params->mail_quotes);
    if (params->boilerplate != ND_BOILERPLATE_KEEP && params->boilerplate != ND_BOILERPLATE_DROP)
        return nd_fail(err, ND_EINVAL, "boilerplate: %u is neither keep nor drop",
                       params->boilerplate);
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
    nd_mail_quotes_release(&s->quotes);
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

/*
 * The table of shingles doubles when a window does not fit, so the tables of a text of many windows
 * would together take twice the work of the last.  Words of European languages take about six bytes
 * with the space.  A wrong guess costs time alone, and at most a megabyte.
 */
static bool expect_words(struct nd_sketcher *s, size_t len)
{
    enum { BYTES_A_WORD = 6, MOST = 1 << 15 };
    size_t n = len / BYTES_A_WORD;

    return len <= ND_FOLDER_WINDOW || nd_shingle_set_reserve(&s->shingler.set, n < MOST ? n : MOST);
}

static enum nd_status read_words(struct nd_sketcher *s, const char *text, size_t len)
{
    const uint64_t *token;
    size_t count;
    int more;

    if (!expect_words(s, len))
        return ND_ENOMEM;
    nd_tokeniser_begin(s->tokeniser, text, len);
    while ((more = nd_tokeniser_next(s->tokeniser, &token, &count)) == 1)
        if (!nd_shingler_feed(&s->shingler, token, count))
            return ND_ENOMEM;
    return more < 0 ? (enum nd_status)more : ND_OK;
}

/* A window of normalised text: whole code points. */
static bool feed_characters(struct nd_shingler *shingler, const char *bytes, size_t len)
{
    enum { BATCH = 512 };
    uint64_t batch[BATCH];
    size_t n = 0;

    for (size_t i = 0, bytes_of; i < len;) {
        batch[n++] = nd_mix64(nd_utf8_decode(bytes + i, &bytes_of));
        i += bytes_of;
        if (n < BATCH && i < len)
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
    struct nd_view own = {text, len};
    enum nd_status status;

    if (s->params.mail_quotes == ND_QUOTES_DROP && !nd_mail_quotes_drop(&s->quotes, &own))
        return ND_ENOMEM;
    nd_shingler_begin(&s->shingler, s->params.w);
    status = s->params.unit == ND_SHINGLE_WORDS ? read_words(s, own.data, own.len)
                                                : read_characters(s, own.data, own.len);
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

void nd_sketch_finish(struct nd_sketch *sketch, unsigned parts)
{
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();

    if (parts & ND_SKETCH_SIMHASH) {
        int64_t sum[ND_SIMHASH_WIDTH] = {0};

        kernels->simhash(sketch->shingle, sketch->n_shingles, sum);
        sketch->simhash = kernels->positive(sum);
    }
    if (parts & ND_SKETCH_MINHASH) {
        memset(sketch->minhash, 0xFF, sizeof sketch->minhash);
        kernels->minhash(sketch->shingle, sketch->n_shingles, sketch->minhash);
    }
}

unsigned nd_minhash_equal(const uint32_t *a, const uint32_t *b)
{
    return nd_sketch_kernels()->minima_equal(a, b);
}

enum nd_status nd_shingles_overlap(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
                                   struct nd_overlap *out)
{
    struct nd_shingle_set set = {0};
    bool a_is_smaller = n_a < n_b;

    if (!nd_shingle_set_build_distinct(&set, a_is_smaller ? a : b, a_is_smaller ? n_a : n_b))
        return ND_ENOMEM;
    out->a = n_a;
    out->b = n_b;
    out->shared = nd_shingle_set_shared(&set, a_is_smaller ? b : a, a_is_smaller ? n_b : n_a, 0);
    nd_shingle_set_release(&set);
    return ND_OK;
}
