/* cursor.c - the end of a list as text: its place in base64url (RFC 4648, section 5), without padding */
#include "server/wire/cursor.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

size_t nd_cursor_write(const struct nd_place *place, char text[ND_CURSOR_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < place->len; i += 3) {
        size_t n_bytes = place->len - i < 3 ? place->len - i : 3;
        uint32_t bits = 0;

        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n_bytes ? place->bytes[i + k] : 0u);
        for (size_t k = 0; k <= n_bytes; k++)
            text[n++] = digits[bits >> (18 - 6 * k) & 63];
    }
    return n;
}

bool nd_cursor_read(struct nd_view text, struct nd_place *place)
{
    uint32_t bits = 0;
    unsigned n = 0;

    place->len = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char *digit = text.data[i] ? strchr(digits, text.data[i]) : NULL;

        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        n += 6;
        if (n < 8)
            continue;
        n -= 8;
        if (place->len == ND_STORE_PLACE_MAX)
            return false;
        place->bytes[place->len++] = (uint8_t)(bits >> n);
        bits &= (1u << n) - 1;
    }
    return place->len > 0 && n < 6 && bits == 0;
}
