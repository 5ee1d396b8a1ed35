/* warc_dump.c - the records of a web archive on standard input, a line each, for
 * tests/oracle/warc.py: type, length of the content, its bytes in hexadecimal if -x is given
 *
 * usage: warc_dump warc|arc [-x] < FILE
 */
#include <neardup/types.h>

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "input/formats/web_record.h"

static const char *word_of(enum nd_web_kind kind)
{
    static const char *const word[] = {
        [ND_WEB_DAMAGE] = "damage",     [ND_WEB_INFO] = "warcinfo",
        [ND_WEB_REQUEST] = "request",   [ND_WEB_METADATA] = "metadata",
        [ND_WEB_RESPONSE] = "response", [ND_WEB_RESOURCE] = "resource",
        [ND_WEB_REVISIT] = "revisit",   [ND_WEB_CONVERSION] = "conversion",
        [ND_WEB_OTHER] = "unknown"};

    return word[kind];
}

static void dump(const struct nd_web_record *r, bool has_bytes)
{
    printf("%s%s\t%zu", word_of(r->kind), r->is_cut ? " cut" : "",
           r->kind == ND_WEB_DAMAGE ? r->len : r->content.len);
    if (has_bytes)
        putchar('\t');
    for (size_t i = 0; has_bytes && i < r->content.len; i++)
        printf("%02x", (unsigned char)r->content.data[i]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    enum nd_web_dialect dialect =
        argc > 1 && strcmp(argv[1], "arc") == 0 ? ND_WEB_ARC : ND_WEB_WARC;
    struct nd_buffer all = {0};
    char piece[1 << 16];
    size_t n, at = 0;

    while ((n = fread(piece, 1, sizeof piece, stdin)) > 0)
        if (!nd_buffer_append(&all, piece, n))
            return 2;
    while (at < all.len) {
        struct nd_web_record r;

        nd_web_read(dialect, all.data + at, all.len - at, &r);
        dump(&r, argc > 2);
        at += r.len;
    }
    nd_buffer_release(&all);
    return 0;
}
