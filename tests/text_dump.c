/* text_dump.c - for oracles in other languages: what the library makes of texts
 *
 * Reads lines of hexadecimal UTF-8; writes for each the normalised text in hexadecimal, a tab, and
 * the token hashes in hexadecimal, separated by spaces.
 */
#include "text/text_stream.h"

#include <neardup/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 20 };

static void dump(struct nd_tokeniser *t, struct nd_text_stream *s, const char *text, size_t len)
{
    const uint64_t *hash;
    const char *bytes;
    size_t n;

    nd_text_stream_start(s, text, len);
    while (nd_text_stream_next(s, &bytes, &n) == 1)
        for (size_t i = 0; i < n; i++)
            printf("%02x", (unsigned)(uint8_t)bytes[i]);
    putchar('\t');
    nd_tokeniser_start(t, text, len);
    for (int first = 1; nd_tokeniser_next(t, &hash, &n) == 1; first = 0)
        for (size_t i = 0; i < n; i++)
            printf("%s%016" PRIx64, first && i == 0 ? "" : " ", hash[i]);
    putchar('\n');
}

/* All lines; `line` has LONGEST bytes, `text` half as many. */
static void dump_all(struct nd_tokeniser *t, struct nd_text_stream *s, char *line, char *text)
{
    while (fgets(line, LONGEST, stdin)) {
        size_t len = 0;
        unsigned byte;

        for (const char *p = line; sscanf(p, "%2x", &byte) == 1; p += 2)
            text[len++] = (char)byte;
        dump(t, s, text, len);
    }
}

int main(void)
{
    struct nd_tokeniser *t = nd_tokeniser_new();
    struct nd_text_stream *s = nd_text_stream_new();
    char *line = malloc(LONGEST), *text = malloc(LONGEST / 2);
    int status = t && s && line && text ? 0 : 2;

    if (status == 0)
        dump_all(t, s, line, text);
    free(line);
    free(text);
    nd_tokeniser_free(t);
    nd_text_stream_free(s);
    return status;
}
