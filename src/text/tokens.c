/* tokens.c - tokens with their places in the original, and normalised text: the plain algorithm */
#include "base/memory.h"
#include "simd/token_hash.h"
#include "text/normal.h"
#include "text/utf8.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

const char *nd_unicode_version(void)
{
    return "15.0";
}

uint64_t nd_token_hash(const char *normalised, size_t len)
{
    char padded[ND_TOKEN_HASH_SHORT] = {0};

    if (len > ND_TOKEN_HASH_SHORT)
        return nd_hash_bytes(normalised, len);
    if (len)
        memcpy(padded, normalised, len);
    return nd_token_hash_padded(padded, len);
}

#define NOT_UTF8 "the text is no valid UTF-8; nd_utf8_repair makes it so"

enum nd_status nd_text_normalise(const char *text, size_t len, char **out, size_t *out_len,
                                 struct nd_error *err)
{
    struct nd_codes piece = {0};
    struct nd_normal normal = {0};
    struct nd_buffer made = {0};
    bool good;
    size_t n;

    if (!nd_utf8_valid(text, len))
        return nd_fail(err, ND_EINVAL, NOT_UTF8);
    good = nd_buffer_reserve(&made, len);
    for (size_t at = 0; good && at < len; at += n) {
        good = nd_normal_piece(&piece, text + at, len - at, &n) &&
               nd_normal_run(&normal, piece.code, piece.count);
        for (size_t i = 0; good && i < normal.out.count; i++) {
            char bytes[4];

            good = nd_buffer_append(&made, bytes, nd_utf8_encode(normal.out.code[i], bytes));
        }
    }
    nd_codes_release(&piece);
    nd_normal_release(&normal);
    if (!good) {
        nd_buffer_release(&made);
        return nd_fail(err, ND_ENOMEM, "out of memory while normalising a text of %zu bytes", len);
    }
    *out = made.data;
    *out_len = made.len;
    return ND_OK;
}

/* The token being made, and those that are done. */
struct builder {
    struct nd_token *token;
    size_t count, capacity;

    struct nd_buffer form; /* the normalised form so far; of a run of bigrams its last character */
    enum nd_class class;   /* ND_CLASS_SEPARATOR: between tokens */
    size_t run;            /* characters of a run of bigrams */
    uint64_t from, to;     /* in the original: of the token, or of the last character */
};

static bool emit(struct builder *b, uint64_t from, uint64_t to)
{
    void *array = b->token;
    uint64_t len = to - from;

    if (!nd_array_reserve(&array, &b->capacity, b->count + 1, sizeof *b->token))
        return false;
    b->token = array;
    b->token[b->count++] = (struct nd_token){
        .hash = nd_token_hash(b->form.data, b->form.len),
        .offset = from,
        .len = len > UINT32_MAX ? UINT32_MAX : (uint32_t)len,
    };
    return true;
}

/* End the run; bigrams have been emitted one by one, but a character that is alone has not. */
static bool end_run(struct builder *b)
{
    bool alone = b->class == ND_CLASS_BIGRAM && b->run == 1;
    bool good = (b->class != ND_CLASS_WORD && !alone) || emit(b, b->from, b->to);

    b->class = ND_CLASS_SEPARATOR;
    b->form.len = 0;
    b->run = 0;
    return good;
}

/* One code point of normalised text that stands for bytes from … to of the original. */
static bool add(struct builder *b, uint32_t c, uint64_t from, uint64_t to)
{
    enum nd_class class = nd_class_of(c);
    char bytes[4];
    size_t n = nd_utf8_encode(c, bytes);

    if (class != b->class && !end_run(b))
        return false;
    if (class == ND_CLASS_SEPARATOR)
        return true;
    if (!nd_buffer_append(&b->form, bytes, n))
        return false;
    if (class == ND_CLASS_BIGRAM && b->run > 0) {
        if (!emit(b, b->from, to))
            return false;
        memcpy(b->form.data, bytes, n);
        b->form.len = n;
    }
    if (b->class != ND_CLASS_WORD)
        b->from = from;
    b->class = class;
    b->to = to;
    b->run++;
    return true;
}

enum nd_status nd_text_tokens(const char *text, size_t len, struct nd_token **tokens,
                              size_t *n_tokens, struct nd_error *err)
{
    struct nd_codes piece = {0};
    struct nd_normal normal = {0};
    struct builder b = {.class = ND_CLASS_SEPARATOR};
    bool good = true;
    size_t n;

    if (!nd_utf8_valid(text, len))
        return nd_fail(err, ND_EINVAL, NOT_UTF8);
    for (size_t at = 0; good && at < len; at += n) {
        good = nd_normal_piece(&piece, text + at, len - at, &n) &&
               nd_normal_run(&normal, piece.code, piece.count);
        for (size_t i = 0; good && i < normal.out.count; i++)
            good = add(&b, normal.out.code[i], at, at + n);
    }
    good =
        good && end_run(&b) && (b.token || (b.token = nd_alloc_array(1, sizeof *b.token)) != NULL);
    nd_codes_release(&piece);
    nd_normal_release(&normal);
    nd_buffer_release(&b.form);
    if (!good) {
        free(b.token);
        return nd_fail(err, ND_ENOMEM, "out of memory while tokenising a text of %zu bytes", len);
    }
    *tokens = b.token;
    *n_tokens = b.count;
    return ND_OK;
}
