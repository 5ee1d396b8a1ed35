/* json_scalar.c - the kernels that read JSON in plain C: the definition */
#include "simd/json/json_kernels.h"

#include <string.h>

/*
 * Copy 16 bytes at a time until one of them is a backslash, and return how many come before it.
 * Escapes stand every 60 bytes or so in real texts: a call of memchr and one of memcpy for each
 * took twice as long.
 */
static size_t copy_run(const uint8_t *p, size_t len, uint8_t *out)
{
    typedef unsigned char block __attribute__((vector_size(16)));
    const block backslash = {'\\', '\\', '\\', '\\', '\\', '\\', '\\', '\\',
                             '\\', '\\', '\\', '\\', '\\', '\\', '\\', '\\'};
    size_t n = 0;

    for (; n < len; n += 16) {
        block bytes, equal;
        uint64_t half[2];

        memcpy(&bytes, p + n, 16);
        memcpy(out + n, &bytes, 16);
        equal = (block)(bytes == backslash);
        memcpy(half, &equal, 16);
        if (half[0])
            return n + (unsigned)__builtin_ctzll(half[0]) / 8;
        if (half[1])
            return n + 8 + (unsigned)__builtin_ctzll(half[1]) / 8;
    }
    return len;
}

static size_t unescape(const uint8_t *in, size_t len, uint8_t *out, size_t *made)
{
    size_t i = 0, o = 0;

    while (i < len) {
        size_t run = copy_run(in + i, len - i, out + o);
        uint8_t c;

        if (run > len - i) /* a backslash may stand behind the end */
            run = len - i;
        i += run;
        o += run;
        if (len - i < 2 || in[i + 1] >= 128 || (c = nd_json_escape[in[i + 1]]) == 0)
            break;
        out[o++] = c;
        i += 2;
    }
    *made = o;
    return i;
}

const struct nd_json_kernels nd_json_scalar = {
    .name = "scalar", .escape = nd_json_escape, .unescape = unescape};
