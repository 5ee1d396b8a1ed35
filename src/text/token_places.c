/* token_places.c - where the tokens of a text stand in it, without their hashes */
#include "text/token_places.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

/* What is ASCII between places to cut is read here, the rest by nd_text_tokens. */
struct places {
    struct nd_token *token;
    size_t count, capacity;
};

static bool is_ascii(char c)
{
    return ((unsigned char)c & 0x80) == 0;
}

static bool is_word(char c)
{
    unsigned char letter = (unsigned char)c | 32;

    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9');
}

static bool reserve(struct places *p, size_t n)
{
    void *token = p->token;

    if (!nd_array_reserve(&token, &p->capacity, p->count + n, sizeof *p->token))
        return false;
    p->token = token;
    return true;
}

/* The runs of letters and digits of an ASCII text. */
static bool add_ascii(struct places *p, const char *text, size_t from, size_t to)
{
    if (!reserve(p, (to - from + 1) / 2))
        return false;
    for (size_t at = from; at < to; at++) {
        size_t begin = at;

        while (at < to && is_word(text[at]))
            at++;
        if (at > begin)
            p->token[p->count++] = (struct nd_token){
                .offset = begin,
                .len = at - begin > UINT32_MAX ? UINT32_MAX : (uint32_t)(at - begin)};
    }
    return true;
}

static bool add_others(struct places *p, const char *text, size_t from, size_t to)
{
    struct nd_token *token;
    size_t n;
    bool good;

    if (nd_text_tokens(text + from, to - from, &token, &n, NULL) != ND_OK)
        return false;
    good = reserve(p, n);
    for (size_t i = 0; good && i < n; i++)
        p->token[p->count++] =
            (struct nd_token){.offset = from + token[i].offset, .len = token[i].len};
    free(token);
    return good;
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

enum nd_status nd_token_places(const char *text, size_t len, struct nd_token **tokens,
                               size_t *n_tokens)
{
    struct places p = {0};
    bool good = reserve(&p, 1);

    for (size_t at = 0, end; good && at < len; at = end) {
        end = nd_ascii_end(text, len, at);
        if (end > at)
            good = add_ascii(&p, text, at, end);
        if (good && end < len) {
            at = end;
            end = nd_ascii_next(text, len, at);
            good = add_others(&p, text, at, end);
        }
    }
    if (!good) {
        free(p.token);
        return ND_ENOMEM;
    }
    *tokens = p.token;
    *n_tokens = p.count;
    return ND_OK;
}
