/* featurer_read.c - from the text to the numbers of its words, sentence by sentence if asked for */
#include "feature/featurer.h"

#include "feature/apostrophes.h"
#include "feature/sentences.h"

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

/* Tokens are terms. */
static enum nd_status read_plain(struct nd_featurer *f, const char *text, size_t len)
{
    const uint64_t *hash;
    size_t n;
    int more;

    nd_tokeniser_start(f->tokeniser, text, len);
    while ((more = nd_tokeniser_next(f->tokeniser, &hash, &n)) == 1) {
        if (f->n_terms + n > UINT32_MAX || !nd_featurer_reserve_terms(f, f->n_terms + n))
            return ND_ENOMEM;
        memcpy(f->term + f->n_terms, hash, n * sizeof *hash);
        f->n_terms += n;
    }
    return (enum nd_status)more;
}

static enum nd_status read_words(struct nd_featurer *f, const char *text, size_t len)
{
    struct nd_token_window window;
    int more;

    nd_tokeniser_start(f->tokeniser, text, len);
    while ((more = nd_tokeniser_window(f->tokeniser, &window)) == 1) {
        if (!nd_numbers_reserve(&f->word, window.count) ||
            !nd_words_find(&f->words, &window, f->word.at + f->word.count))
            return ND_ENOMEM;
        f->word.count += window.count;
    }
    return (enum nd_status)more;
}

static enum nd_status read_part(struct nd_featurer *f, const char *text, size_t len)
{
    return f->is_plain ? read_plain(f, text, len) : read_words(f, text, len);
}

/* How many tokens there are so far. */
static size_t tokens_of(const struct nd_featurer *f)
{
    return f->is_plain ? f->n_terms : f->word.count;
}

static enum nd_status read_sentences(struct nd_featurer *f, const char *text, size_t len)
{
    enum nd_status status = ND_OK;

    for (size_t at = 0, end; at < len && status == ND_OK; at = end) {
        size_t first = tokens_of(f);

        end = nd_sentence_end(text, len, at);
        status = read_part(f, text + at, end - at);
        if (status == ND_OK && tokens_of(f) > first) {
            if (!nd_numbers_reserve(&f->sentence, 1))
                return ND_ENOMEM;
            f->sentence.at[f->sentence.count++] = (uint32_t)first;
        }
    }
    return status;
}

enum nd_status nd_featurer_read(struct nd_featurer *f, struct nd_view text)
{
    enum nd_status status;

    nd_words_begin(&f->words);
    f->word.count = f->sentence.count = f->n_terms = 0;
    if (f->params.join_apostrophes && !nd_apostrophes_join(&f->joined, text, &text))
        return ND_ENOMEM;
    status = f->has_sentences ? read_sentences(f, text.data, text.len)
                              : read_part(f, text.data, text.len);
    f->n_words = tokens_of(f);
    return status;
}

enum nd_status nd_featurer_length(struct nd_featurer *f, struct nd_view text, uint64_t *length)
{
    const char *bytes;
    size_t n;
    int more;
    unsigned char any = 0;

    for (size_t i = 0; i < text.len; i++)
        any |= (unsigned char)text.data[i];
    *length = text.len;
    if (any < 0x80)
        return ND_OK;
    *length = 0;
    nd_text_stream_start(f->stream, text.data, text.len);
    while ((more = nd_text_stream_next(f->stream, &bytes, &n)) == 1)
        for (size_t i = 0; i < n; i++)
            *length += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return (enum nd_status)more;
}
