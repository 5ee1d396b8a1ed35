/* text_scalar.c - the kernels of the text layer in plain C: the definition */
#include "simd/text/text_plain.h"

static inline size_t fold(const uint8_t *in, size_t len, uint8_t *out,
                          const struct nd_fold_tables *tables, bool words)
{
    size_t i = 0, n;

    for (; i < len && (n = nd_plain_step(in + i, len - i, out + i, tables, words)) != 0; i += n)
        ;
    return i;
}

static size_t fold_words(const uint8_t *in, size_t len, uint8_t *out,
                         const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, true);
}

static size_t fold_text(const uint8_t *in, size_t len, uint8_t *out,
                        const struct nd_fold_tables *tables)
{
    return fold(in, len, out, tables, false);
}

static size_t edges(const uint8_t *stream, size_t len, uint16_t *edge)
{
    size_t count = 0;
    bool inside = false;

    for (size_t i = 0; i < len; i++) {
        if ((stream[i] != 0) != inside)
            edge[count++] = (uint16_t)i;
        inside = stream[i] != 0;
    }
    return count;
}

/* Bytes of the well-formed sequence at p, or 0: Unicode 15.0, table 3-7. */
static size_t sequence(const uint8_t *p, size_t len)
{
    uint8_t low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    uint8_t high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;
    size_t need = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4 || need > len || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < need; i++)
        if ((p[i] & 0xC0) != 0x80)
            return 0;
    return need;
}

static bool valid(const uint8_t *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint64_t word;
        size_t n;

        if (i + 8 <= len) {
            memcpy(&word, text + i, 8);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                i += 8;
                continue;
            }
        }
        n = sequence(text + i, len - i);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

static void hash(const uint8_t *stream, const uint16_t *edge, size_t count, uint64_t *out)
{
    nd_plain_hash(stream, edge, count, out);
}

const struct nd_text_kernels nd_text_kernels_scalar = {
    .name = "scalar",
    .fold_words = fold_words,
    .fold_text = fold_text,
    .edges = edges,
    .hash = hash,
    .valid = valid,
};
