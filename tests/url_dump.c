/* url_dump.c - for the oracle: canonical forms of addresses
 *
 * Reads lines of hexadecimal bytes; writes the canonical form of each, in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>

#include "text/canonical_url.h"

enum { LONGEST = 1 << 20 };

int main(void)
{
    struct nd_url_room room = {.parameters = 0};
    struct nd_buffer out = {.len = 0};
    char *line = malloc(LONGEST), *url = malloc(LONGEST / 2);
    bool good = line && url;

    while (good && fgets(line, LONGEST, stdin)) {
        struct nd_view view = {url, 0};
        unsigned byte;

        for (const char *p = line; sscanf(p, "%2x", &byte) == 1; p += 2)
            url[view.len++] = (char)byte;
        good = nd_url_write_canonical(&room, view, &out);
        for (size_t i = 0; good && i < out.len; i++)
            printf("%02x", (unsigned)(unsigned char)out.data[i]);
        putchar('\n');
    }
    nd_url_room_release(&room);
    nd_buffer_release(&out);
    free(line);
    free(url);
    return good ? 0 : 2;
}
