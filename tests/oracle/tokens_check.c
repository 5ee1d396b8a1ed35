/* tokens_check.c - the tokeniser beside the tokens that the oracle found */

/*
 * Standard input: lines of hexadecimal text, a tab, and hexadecimal tokens with a space between.
 * Status 1, and the first few of them, where the tokeniser gives others; 2 where a line is none.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/cpu.h>
#include <neardup/text.h>

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode in place up to a character that is no digit; returns where that is. */
static char *from_hex(char *text, size_t *len)
{
    char *in = text, *out = text;

    for (; digit_of(in[0]) >= 0 && digit_of(in[1]) >= 0; in += 2)
        *out++ = (char)(digit_of(in[0]) * 16 + digit_of(in[1]));
    *len = (size_t)(out - text);
    return in;
}

/* The hashes of the tokens that should come. */
static size_t wanted_hashes(char *in, uint64_t *hash)
{
    size_t count = 0, len;

    while (*in && *in != '\n') {
        char *end = from_hex(in, &len);

        hash[count++] = nd_token_hash(in, len);
        in = end + (*end == ' ');
    }
    return count;
}

static int same_tokens(struct nd_tokeniser *t, const char *text, size_t len, const uint64_t *want,
                       size_t n_want)
{
    const uint64_t *hash;
    size_t count, seen = 0;
    int status;

    nd_tokeniser_start(t, text, len);
    while ((status = nd_tokeniser_next(t, &hash, &count)) == 1) {
        if (count > n_want - seen || memcmp(hash, want + seen, count * sizeof *hash) != 0)
            return 0;
        seen += count;
    }
    return status == 0 && seen == n_want;
}

static void complain(size_t line, const char *text, size_t len)
{
    fprintf(stderr, "line %zu: other tokens than the oracle's, of %zu bytes:", line, len);
    for (size_t i = 0; i < len && i < 100; i++)
        fprintf(stderr, " %02x", (unsigned)(unsigned char)text[i]);
    fputc('\n', stderr);
}

int main(void)
{
    struct nd_tokeniser *t = nd_tokeniser_new();
    char *line = NULL;
    size_t capacity = 0, lines = 0, tokens = 0, wrong = 0;

    if (!t)
        return 2;
    while (getline(&line, &capacity, stdin) > 0) {
        size_t len, count;
        char *tab = from_hex(line, &len);
        uint64_t *want = malloc((strlen(tab) + 1) * sizeof *want);
        char *text = malloc(len + 1); /* exactly as long, so that a sanitizer sees what reads on */

        if (!want || !text || *tab != '\t')
            return 2;
        memcpy(text, line, len);
        count = wanted_hashes(tab + 1, want);
        lines++;
        tokens += count;
        if (!same_tokens(t, text, len, want, count) && ++wrong <= 5)
            complain(lines, text, len);
        free(text);
        free(want);
    }
    free(line);
    nd_tokeniser_free(t);
    printf("%zu texts, %zu tokens, %zu texts with other tokens (%s)\n", lines, tokens, wrong,
           nd_cpu_name());
    return lines == 0 ? 2 : wrong > 0;
}
