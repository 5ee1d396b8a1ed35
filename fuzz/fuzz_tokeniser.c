/* fuzz_tokeniser.c - any bytes: repaired to valid UTF-8, and the fast path gives what the plain one
 * gives, on every set of kernels */
#include "text/places.h"
#include "text/text_stream.h"

#include <neardup/cpu.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

/* The tokens that the plain algorithm makes of a text. */
struct plain {
    struct nd_token *token;
    size_t n_tokens;
    char *normal;
    size_t normal_len;
};

/* The tokens' places lie in the text, in order; the normalised text is valid. */
static struct plain by_the_plain_algorithm(const char *text, size_t len)
{
    struct plain p;
    uint64_t from = 0;

    require(nd_text_tokens(text, len, &p.token, &p.n_tokens, NULL) == ND_OK);
    require(nd_text_normalise(text, len, &p.normal, &p.normal_len, NULL) == ND_OK);
    require(nd_utf8_valid(p.normal, p.normal_len));
    for (size_t i = 0; i < p.n_tokens; i++) {
        require(p.token[i].offset >= from && p.token[i].offset + p.token[i].len <= len);
        from = p.token[i].offset;
    }
    return p;
}

/* The tokeniser's hashes are those of the tokens. */
static void same_tokens(struct nd_tokeniser *t, const char *text, size_t len,
                        const struct plain *plain)
{
    const uint64_t *hash;
    size_t count, seen = 0;

    nd_tokeniser_start(t, text, len);
    while (nd_tokeniser_next(t, &hash, &count) == 1)
        for (size_t i = 0; i < count; i++, seen++)
            require(seen < plain->n_tokens && hash[i] == plain->token[seen].hash);
    require(seen == plain->n_tokens);
}

/* The places of tokens that are found faster are the same. */
static void same_places(const char *text, size_t len, const struct plain *plain)
{
    struct nd_token *token;
    size_t n;

    require(nd_token_places(text, len, &token, &n) == ND_OK && n == plain->n_tokens);
    for (size_t i = 0; i < n; i++)
        require(token[i].offset == plain->token[i].offset && token[i].len == plain->token[i].len);
    free(token);
    require(nd_tokens_in_place(text, len, &token, &n, NULL) == ND_OK && n == plain->n_tokens);
    for (size_t i = 0; i < n; i++)
        require(token[i].offset == plain->token[i].offset && token[i].len == plain->token[i].len &&
                token[i].hash == plain->token[i].hash);
    free(token);
}

/* The stream's windows are the normalised text, and its length is told. */
static void same_text(struct nd_text_stream *s, const char *text, size_t len,
                      const struct plain *plain)
{
    const char *bytes;
    size_t n, seen = 0;
    int64_t codes = 0;

    nd_text_stream_start(s, text, len);
    for (; nd_text_stream_next(s, &bytes, &n) == 1; seen += n)
        require(seen + n <= plain->normal_len && memcmp(bytes, plain->normal + seen, n) == 0);
    require(seen == plain->normal_len);
    for (size_t i = 0; i < seen; i++)
        codes += ((uint8_t)plain->normal[i] & 0xC0) != 0x80;
    require(nd_text_length(text, len) == codes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512", "neon"};
    static struct nd_tokeniser *t;
    static struct nd_text_stream *s;
    char *text = malloc(size ? size : 1), *repaired;
    struct plain plain;
    int64_t n;

    if (!t)
        t = nd_tokeniser_new();
    if (!s)
        s = nd_text_stream_new();
    require(t && s && text);
    if (size)
        memcpy(text, data, size);
    n = nd_utf8_repair(text, size, &repaired, &size);
    require(n >= 0);
    if (n > 0) {
        free(text);
        text = repaired;
    }
    plain = by_the_plain_algorithm(text, size);
    same_places(text, size, &plain);
    for (size_t i = 0; i < sizeof isa / sizeof *isa; i++) {
        if (nd_cpu_force(isa[i], NULL) != ND_OK)
            continue;
        require(nd_utf8_valid(text, size));
        same_tokens(t, text, size, &plain);
        same_text(s, text, size, &plain);
    }
    free(plain.token);
    free(plain.normal);
    free(text);
    return 0;
}
