/* mail_quotes_dump.c - for the oracle: what is left of texts without what a mail quotes
 *
 * Reads lines of hexadecimal bytes; writes for each what is left, and what is left with its places,
 * in hexadecimal with a tab between them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "text/mail_quotes.h"

enum { LONGEST = 1 << 22 };

static void put(struct nd_view text)
{
    for (size_t i = 0; i < text.len; i++)
        printf("%02x", (unsigned)(unsigned char)text.data[i]);
}

/* A line of hexadecimal digits; false: out of memory. */
static bool dump(struct nd_mail_quotes *quotes, const char *line, char *text)
{
    struct nd_view own = {text, 0}, spaced;
    unsigned byte;

    for (const char *p = line; sscanf(p, "%2x", &byte) == 1; p += 2)
        text[own.len++] = (char)byte;
    spaced = own;
    if (!nd_mail_quotes_drop(quotes, &own))
        return false;
    put(own);
    putchar('\t');
    if (!nd_mail_quotes_blank(quotes, &spaced))
        return false;
    put(spaced);
    putchar('\n');
    return true;
}

int main(void)
{
    struct nd_mail_quotes quotes = {0};
    char *line = malloc(LONGEST), *text = malloc(LONGEST / 2);
    bool good = line && text;

    while (good && fgets(line, LONGEST, stdin))
        good = dump(&quotes, line, text);
    nd_mail_quotes_release(&quotes);
    free(line);
    free(text);
    return good ? 0 : 2;
}
