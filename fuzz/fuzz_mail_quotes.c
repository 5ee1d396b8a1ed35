/* fuzz_mail_quotes.c - any bytes as a mail: what is left are whole lines of it, in order */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text/mail_quotes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static size_t line_len(struct nd_view text, size_t at)
{
    const char *end = memchr(text.data + at, '\n', text.len - at);

    return (end ? (size_t)(end - text.data) + 1 : text.len) - at;
}

/* Each line of the text is the next one of what is left, or blank in what is left with its places. */
static void compare(struct nd_view text, struct nd_view own, struct nd_view spaced)
{
    size_t next = 0;

    require(spaced.len == text.len);
    for (size_t at = 0, n; at < text.len; at += n) {
        n = line_len(text, at);
        if (memcmp(text.data + at, spaced.data + at, n) == 0) {
            if (next + n <= own.len && memcmp(own.data + next, text.data + at, n) == 0) {
                next += n;
                continue;
            }
        }
        for (size_t i = at; i < at + n; i++)
            require(spaced.data[i] == (text.data[i] == '\n' ? '\n' : ' '));
    }
    require(next == own.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_mail_quotes quotes = {0}, with_places = {0};
    char *exact = malloc(size ? size : 1);
    struct nd_view text = {exact, size}, own = text, spaced = text;

    require(exact);
    if (size)
        memcpy(exact, data, size);
    require(nd_mail_quotes_drop(&quotes, &own));
    require(nd_mail_quotes_blank(&with_places, &spaced));
    require(own.len <= size);
    compare(text, own, spaced);
    nd_mail_quotes_release(&quotes);
    nd_mail_quotes_release(&with_places);
    free(exact);
    return 0;
}
