/* tokeniser.c - the token hashes of a text */
#include "base/memory.h"

#include <neardup/text.h>

#include <stdlib.h>

struct nd_tokeniser {
    const char *text;
    size_t len;
    uint64_t *hash;
    size_t capacity;
    bool is_done;
};

struct nd_tokeniser *nd_tokeniser_new(void)
{
    return calloc(1, sizeof(struct nd_tokeniser));
}

void nd_tokeniser_free(struct nd_tokeniser *t)
{
    if (!t)
        return;
    free(t->hash);
    free(t);
}

void nd_tokeniser_start(struct nd_tokeniser *t, const char *text, size_t len)
{
    t->text = text;
    t->len = len;
    t->is_done = false;
}

int nd_tokeniser_next(struct nd_tokeniser *t, const uint64_t **hash, size_t *count)
{
    struct nd_token *token;
    void *array = t->hash;
    size_t n;

    if (t->is_done)
        return 0;
    if (nd_text_tokens(t->text, t->len, &token, &n, NULL) != ND_OK)
        return ND_ENOMEM;
    if (!nd_array_reserve(&array, &t->capacity, n, sizeof *t->hash)) {
        free(token);
        return ND_ENOMEM;
    }
    t->hash = array;
    for (size_t i = 0; i < n; i++)
        t->hash[i] = token[i].hash;
    free(token);
    t->is_done = true;
    *hash = t->hash;
    *count = n;
    return n > 0;
}

int64_t nd_text_length(const char *text, size_t len)
{
    char *normal;
    size_t n;
    int64_t codes = 0;

    if (nd_text_normalise(text, len, &normal, &n, NULL) != ND_OK)
        return ND_ENOMEM;
    for (size_t i = 0; i < n; i++)
        codes += ((unsigned char)normal[i] & 0xC0) != 0x80;
    free(normal);
    return codes;
}
