/* featurer_read.c - from the text to the numbers of its words, sentence by sentence if asked for */
#include "feature/featurer.h"

#include "feature/apostrophes.h"
#include "feature/sentences.h"
#include "text/token_places.h"

#include <stdlib.h>
#include <string.h>

bool nd_numbers_reserve(struct nd_numbers *numbers, size_t n)
{
    void *at = numbers->at;

    if (numbers->count + n > UINT32_MAX ||
        !nd_array_reserve(&at, &numbers->capacity, numbers->count + n, sizeof *numbers->at))
        return false;
    numbers->at = at;
    return true;
}

bool nd_featurer_reserve_terms(struct nd_featurer *f, size_t n)
{
    void *term = f->term;

    if (!nd_array_reserve(&term, &f->term_capacity, n, sizeof *f->term))
        return false;
    f->term = term;
    return true;
}

/* Where the tokens of a window stand; the window's text is at `at`, and they are number `first` on.
 */
static bool note_places(struct nd_featurer *f, const struct nd_token_window *w, uint64_t at,
                        size_t first)
{
    void *token = f->token;

    if (!nd_array_reserve(&token, &f->token_capacity, first + w->count, sizeof *f->token))
        return false;
    f->token = token;
    for (size_t i = 0; i < w->count; i++) {
        struct nd_view form = nd_token_form(w, i);

        f->token[first + i] =
            (struct nd_token){.offset = at + w->offset + (uint64_t)(form.data - w->base),
                              .len = form.len > UINT32_MAX ? UINT32_MAX : (uint32_t)form.len};
    }
    return true;
}

/* How many tokens there are so far. */
static size_t tokens_of(const struct nd_featurer *f)
{
    return f->is_plain ? f->n_terms : f->word.count;
}

/* Tokens are terms. */
static bool add_plain(struct nd_featurer *f, const uint64_t *hash, size_t n)
{
    if (f->n_terms + n > UINT32_MAX || !nd_featurer_reserve_terms(f, f->n_terms + n))
        return false;
    memcpy(f->term + f->n_terms, hash, n * sizeof *hash);
    f->n_terms += n;
    return true;
}

static bool add_words(struct nd_featurer *f, const struct nd_token_window *w)
{
    if (!nd_numbers_reserve(&f->word, w->count) ||
        !nd_words_find(&f->words, w, f->word.at + f->word.count))
        return false;
    f->word.count += w->count;
    return true;
}

/* `at` bytes of the text stand before this part of it; with places, it is ASCII. */
static enum nd_status read_tokens(struct nd_featurer *f, const char *text, size_t len, uint64_t at,
                                  bool with_places)
{
    struct nd_token_window w;
    int more;

    nd_tokeniser_start(f->tokeniser, text, len);
    while ((more = nd_tokeniser_window(f->tokeniser, &w)) == 1) {
        if (with_places && !note_places(f, &w, at, tokens_of(f)))
            return ND_ENOMEM;
        if (!(f->is_plain ? add_plain(f, w.hash, w.count) : add_words(f, &w)))
            return ND_ENOMEM;
    }
    return (enum nd_status)more;
}

/* Tokens of a part that is not ASCII, and their places by the plain algorithm. */
static enum nd_status read_others(struct nd_featurer *f, const char *text, size_t len, uint64_t at)
{
    size_t first = tokens_of(f), n;
    struct nd_token *token;
    void *all = f->token;
    enum nd_status status = read_tokens(f, text, len, at, false);

    if (status == ND_OK)
        status = nd_text_tokens(text, len, &token, &n, NULL);
    if (status != ND_OK)
        return status;
    if (nd_array_reserve(&all, &f->token_capacity, first + n, sizeof *f->token)) {
        f->token = all;
        for (size_t i = 0; i < n; i++)
            f->token[first + i] =
                (struct nd_token){.offset = at + token[i].offset, .len = token[i].len};
    } else {
        status = ND_ENOMEM;
    }
    free(token);
    return status;
}

static enum nd_status read_part(struct nd_featurer *f, const char *text, size_t len, uint64_t at)
{
    enum nd_status status = ND_OK;

    if (!f->has_marks)
        return read_tokens(f, text, len, at, false);
    for (size_t from = 0, end; from < len && status == ND_OK; from = end) {
        end = nd_ascii_end(text, len, from);
        if (end > from) {
            status = read_tokens(f, text + from, end - from, at + from, true);
        } else {
            end = nd_ascii_next(text, len, from);
            status = read_others(f, text + from, end - from, at + from);
        }
    }
    return status;
}

static enum nd_status read_sentences(struct nd_featurer *f, const char *text, size_t len)
{
    enum nd_status status = ND_OK;

    for (size_t at = 0, end; at < len && status == ND_OK; at = end) {
        size_t first = tokens_of(f);

        end = nd_sentence_end(text, len, at);
        status = read_part(f, text + at, end - at, at);
        if (status == ND_OK && tokens_of(f) > first) {
            if (!nd_numbers_reserve(&f->sentence, 1))
                return ND_ENOMEM;
            f->sentence.at[f->sentence.count++] = (uint32_t)first;
        }
    }
    return status;
}

static bool is_ascii(struct nd_view text)
{
    unsigned char any = 0;

    for (size_t i = 0; i < text.len; i++)
        any |= (unsigned char)text.data[i];
    return any < 0x80;
}

enum nd_status nd_featurer_read(struct nd_featurer *f, struct nd_view text)
{
    enum nd_status status;

    nd_words_begin(&f->words);
    f->word.count = f->sentence.count = f->n_terms = 0;
    if (f->params.join_apostrophes && !nd_apostrophes_join(&f->joined, text, &text))
        return ND_ENOMEM;
    status = f->has_sentences ? read_sentences(f, text.data, text.len)
                              : read_part(f, text.data, text.len, 0);
    f->n_words = tokens_of(f);
    return status;
}

enum nd_status nd_featurer_length(struct nd_featurer *f, struct nd_view text, uint64_t *length)
{
    const char *bytes;
    size_t n;
    int more;

    *length = text.len;
    if (is_ascii(text))
        return ND_OK;
    *length = 0;
    nd_text_stream_start(f->stream, text.data, text.len);
    while ((more = nd_text_stream_next(f->stream, &bytes, &n)) == 1) {
        size_t codes = 0;

        for (size_t i = 0; i < n; i++)
            codes += ((unsigned char)bytes[i] & 0xC0) != 0x80;
        *length += codes;
    }
    return (enum nd_status)more;
}
