/* tokens.c - tokens and code points with their places in the original: the plain algorithm
 *
 * A text is cut into pieces from one boundary to the next, and each piece is normalised as Unicode
 * describes it, step by step (normal.c).  A normalised code point cannot be traced to single code
 * points of the original, since several may have been reordered or composed; its place is that of
 * its whole piece, which is nearly always one character with its marks.
 */
#include "text/places.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "simd/text/token_hash.h"
#include "text/normal.h"

#include <neardup/text.h>

#include <stdbool.h>
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
    struct nd_normal normal = {0};
    struct nd_buffer made = {0};
    bool good;
    size_t n;

    if (!nd_utf8_valid(text, len))
        return nd_fail(err, ND_EINVAL, NOT_UTF8);
    good = nd_buffer_reserve(&made, len);
    for (size_t at = 0; good && at < len; at += n) {
        good = nd_normal_piece(&normal, text + at, len - at, &n);
        for (size_t i = 0; good && i < normal.out.count; i++) {
            char bytes[4];

            good = nd_buffer_append(&made, bytes, nd_utf8_put(bytes, normal.out.code[i]));
        }
    }
    nd_normal_release(&normal);
    if (!good) {
        nd_buffer_release(&made);
        return nd_fail(err, ND_ENOMEM, "out of memory while normalising a text of %zu bytes", len);
    }
    *out = made.data;
    *out_len = made.len;
    return ND_OK;
}

/* Bytes from … to - 1 of the original, without a hash. */
static struct nd_token place_of(uint64_t from, uint64_t to)
{
    return (struct nd_token){.offset = from,
                             .len = to - from > UINT32_MAX ? UINT32_MAX : (uint32_t)(to - from)};
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
    if (!ND_RESERVE(b->token, &b->capacity, b->count + 1))
        return false;
    b->token[b->count] = place_of(from, to);
    b->token[b->count++].hash = nd_token_hash(b->form.data, b->form.len);
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
    size_t n = nd_utf8_put(bytes, c);

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

/* The tokens of bytes from … to - 1 of a text, by the plain algorithm. */
static bool add_text(struct builder *b, const char *text, size_t from, size_t to)
{
    struct nd_normal normal = {0};
    bool good = true;
    size_t n;

    for (size_t at = from; good && at < to; at += n) {
        good = nd_normal_piece(&normal, text + at, to - at, &n);
        for (size_t i = 0; good && i < normal.out.count; i++)
            good = add(b, normal.out.code[i], at, at + n);
    }
    good = good && end_run(b);
    nd_normal_release(&normal);
    return good;
}

/* Hand the tokens over where all is good, or free them. */
static bool give(struct builder *b, bool good, struct nd_token **tokens, size_t *n_tokens)
{
    good = good && ND_RESERVE(b->token, &b->capacity, 1); /* no tokens are no NULL */
    nd_buffer_release(&b->form);
    if (!good) {
        free(b->token);
        return false;
    }
    *tokens = b->token;
    *n_tokens = b->count;
    return true;
}

enum nd_status nd_text_tokens(const char *text, size_t len, struct nd_token **tokens,
                              size_t *n_tokens, struct nd_error *err)
{
    struct builder b = {.class = ND_CLASS_SEPARATOR};

    if (!nd_utf8_valid(text, len))
        return nd_fail(err, ND_EINVAL, NOT_UTF8);
    if (!give(&b, add_text(&b, text, 0, len), tokens, n_tokens))
        return nd_fail(err, ND_ENOMEM, "out of memory while tokenising a text of %zu bytes", len);
    return ND_OK;
}

enum nd_status nd_code_places(const char *text, size_t len, struct nd_token **codes,
                              size_t *n_codes)
{
    struct nd_normal normal = {0};
    struct builder b = {0};
    bool good = true;
    size_t n;

    for (size_t at = 0; good && at < len; at += n) {
        good = nd_normal_piece(&normal, text + at, len - at, &n) &&
               ND_RESERVE(b.token, &b.capacity, b.count + normal.out.count);
        for (size_t i = 0; good && i < normal.out.count; i++)
            b.token[b.count++] = place_of(at, at + n);
    }
    nd_normal_release(&normal);
    return give(&b, good, codes, n_codes) ? ND_OK : ND_ENOMEM;
}

static bool is_ascii(char c)
{
    return ((unsigned char)c & 0x80) == 0;
}

static bool is_word(char c)
{
    unsigned char letter = (unsigned char)c | 32;

    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9');
}

/* Hash a token of ASCII letters and digits: its normalised form is that in lower case. */
static bool hash_ascii(struct builder *b, const char *word, size_t len, uint64_t *hash)
{
    char padded[ND_TOKEN_HASH_SHORT] = {0}, *form = padded;

    if (len > ND_TOKEN_HASH_SHORT) {
        b->form.len = 0;
        if (!nd_buffer_append(&b->form, word, len))
            return false;
        form = b->form.data;
        b->form.len = 0;
    }
    for (size_t i = 0; i < len; i++)
        form[i] = (char)(word[i] | 32); /* which all digits have */
    *hash = form == padded ? nd_token_hash_padded(padded, len) : nd_hash_bytes(form, len);
    return true;
}

/* The runs of letters and digits of an ASCII text. */
static bool add_ascii(struct builder *b, const char *text, size_t from, size_t to, bool hashes)
{
    if (!ND_RESERVE(b->token, &b->capacity, b->count + (to - from + 1) / 2))
        return false;
    for (size_t at = from; at < to; at++) {
        size_t begin = at;

        while (at < to && is_word(text[at]))
            at++;
        if (at == begin)
            continue;
        b->token[b->count] = place_of(begin, at);
        if (hashes && !hash_ascii(b, text + begin, at - begin, &b->token[b->count].hash))
            return false;
        b->count++;
    }
    return true;
}

size_t nd_ascii_end(const char *text, size_t len, size_t from)
{
    size_t at = from;

    while (at < len && is_ascii(text[at]))
        at++;
    if (at == len)
        return len;
    if (at > from)
        at--; /* the last ASCII character may compose with what follows */
    while (at > from && is_word(text[at - 1]))
        at--;
    return at;
}

size_t nd_ascii_next(const char *text, size_t len, size_t from)
{
    size_t at = from;

    while (at < len && is_ascii(text[at]))
        at++;
    for (at++; at < len; at++)
        if (is_ascii(text[at]) && is_ascii(text[at - 1]) && !is_word(text[at - 1]))
            return at;
    return len;
}

static enum nd_status find_tokens(const char *text, size_t len, bool hashes,
                                  struct nd_token **tokens, size_t *n_tokens)
{
    struct builder b = {.class = ND_CLASS_SEPARATOR};
    bool good = true;

    for (size_t at = 0, end; good && at < len; at = end) {
        end = nd_ascii_end(text, len, at);
        if (end > at)
            good = add_ascii(&b, text, at, end, hashes);
        if (good && end < len) {
            at = end;
            end = nd_ascii_next(text, len, at);
            good = add_text(&b, text, at, end);
        }
    }
    return give(&b, good, tokens, n_tokens) ? ND_OK : ND_ENOMEM;
}

enum nd_status nd_token_places(const char *text, size_t len, struct nd_token **tokens,
                               size_t *n_tokens)
{
    return find_tokens(text, len, false, tokens, n_tokens);
}

enum nd_status nd_tokens_in_place(const char *text, size_t len, struct nd_token **tokens,
                                  size_t *n_tokens, struct nd_error *err)
{
    if (!nd_utf8_valid(text, len))
        return nd_fail(err, ND_EINVAL, NOT_UTF8);
    if (find_tokens(text, len, true, tokens, n_tokens) != ND_OK)
        return nd_fail(err, ND_ENOMEM, "out of memory while tokenising a text of %zu bytes", len);
    return ND_OK;
}
