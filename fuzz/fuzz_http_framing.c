/* fuzz_http_framing.c - bytes of a connection: what passes is the same however they arrive, and is
 * well-formed */
#include "server/wire/framing.h"
#include "server/wire/head.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds)
{
    if (!holds)
        abort();
}

enum { HEAD_BYTES = 300, STEPS = 3 };

/* Return what passes of bytes that arrive so many at a time. */
static struct nd_buffer pass(struct nd_framing *f, const char *data, size_t size, size_t step)
{
    struct nd_buffer out = {0};
    char part[37];
    size_t n;

    nd_framing_init(f, HEAD_BYTES);
    for (size_t at = 0; at < size; at += step) {
        require(nd_framing_put(f, data + at, step < size - at ? step : size - at));
        require(f->ready <= f->bytes.len && f->seen <= f->bytes.len);
        require(f->bytes.len - f->ready <= HEAD_BYTES + ND_FRAMING_LINE + step);
        while ((n = nd_framing_take(f, part, sizeof part)) > 0)
            require(nd_buffer_append(&out, part, n));
    }
    nd_framing_release(f);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t step[STEPS] = {1, 7, size ? size : 1};
    struct nd_framing f[STEPS], again;
    struct nd_buffer out[STEPS], twice;

    for (int i = 0; i < STEPS; i++) {
        out[i] = pass(&f[i], (const char *)data, size, step[i]);
        require(f[i].refused == f[0].refused && f[i].refusal == f[0].refusal &&
                f[i].heads == f[0].heads && out[i].len == out[0].len);
        require(!out[i].len || memcmp(out[i].data, out[0].data, out[i].len) == 0);
        require((f[i].refused > 0) == (f[i].state == ND_FRAMING_REFUSED) &&
                f[i].refused <= f[i].heads && !f[i].refused == !f[i].refusal);
    }
    /* The bytes that have passed pass again. */
    twice = pass(&again, out[0].data, out[0].len, 11);
    require(again.refused == 0 && again.heads == f[0].heads && twice.len == out[0].len);
    nd_buffer_release(&twice);
    for (int i = 0; i < STEPS; i++)
        nd_buffer_release(&out[i]);
    return 0;
}
