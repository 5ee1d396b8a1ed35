/* fuzz_tokeniser.c - any bytes: repaired to valid UTF-8, and the fast path gives what the plain one
 * gives, on every set of kernels */
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

/* The tokeniser's hashes are those of the tokens, whose places lie in the text, in order. */
static void same_tokens(struct nd_tokeniser *t, const char *text, size_t len)
{
    struct nd_token *token;
    const uint64_t *hash;
    size_t n_tokens, count, seen = 0;
    uint64_t from = 0;

    require(nd_text_tokens(text, len, &token, &n_tokens, NULL) == ND_OK);
    nd_tokeniser_start(t, text, len);
    while (nd_tokeniser_next(t, &hash, &count) == 1)
        for (size_t i = 0; i < count; i++, seen++)
            require(seen < n_tokens && hash[i] == token[seen].hash);
    require(seen == n_tokens);
    for (size_t i = 0; i < n_tokens; i++) {
        require(token[i].offset >= from && token[i].offset + token[i].len <= len);
        from = token[i].offset;
    }
    free(token);
}

/* The stream's windows are the normalised text, valid UTF-8, of the length that is told. */
static void same_text(struct nd_text_stream *s, const char *text, size_t len)
{
    const char *bytes;
    char *normal;
    size_t normal_len, n, seen = 0;
    int64_t codes = 0;

    require(nd_text_normalise(text, len, &normal, &normal_len, NULL) == ND_OK);
    require(nd_utf8_valid(normal, normal_len));
    nd_text_stream_start(s, text, len);
    for (; nd_text_stream_next(s, &bytes, &n) == 1; seen += n)
        require(seen + n <= normal_len && memcmp(bytes, normal + seen, n) == 0);
    require(seen == normal_len);
    for (size_t i = 0; i < normal_len; i++)
        codes += ((uint8_t)normal[i] & 0xC0) != 0x80;
    require(nd_text_length(text, len) == codes);
    free(normal);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512", "neon"};
    static struct nd_tokeniser *t;
    static struct nd_text_stream *s;
    char *text = malloc(size ? size : 1), *repaired;
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
    for (size_t i = 0; i < sizeof isa / sizeof *isa; i++) {
        if (nd_cpu_force(isa[i], NULL) != ND_OK)
            continue;
        require(nd_utf8_valid(text, size));
        same_tokens(t, text, size);
        same_text(s, text, size);
    }
    free(text);
    return 0;
}
