/* values.c - the sorted values of a table, in whichever code
 *
 * A range is found by two ranks with Elias-Fano.  The block code knows no numbers of values but
 * that of each block's first, so its range is a cursor that goes on until a value is too high.
 */
#include "hamming/file/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LENGTHS = 64, BLOCK_BYTES = ND_MANKU_BLOCK + sizeof(struct nd_manku_block) };

const char *nd_hamming_codec_name(enum nd_hamming_codec codec)
{
    switch (codec) {
    case ND_HAMMING_EF: return "ef";
    case ND_HAMMING_MANKU: return "manku";
    }
    return NULL;
}

static enum nd_status out_of_memory(size_t bytes, struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for a table of %zu bytes", bytes);
}

static enum nd_status encode_ef(unsigned bits, struct nd_hamming_ef_kind kind,
                                const uint64_t *value, size_t n, void **data, size_t *bytes,
                                struct nd_error *err)
{
    struct nd_hamming_ef ef = nd_hamming_ef_shape(n, bits, kind);

    *bytes = nd_hamming_ef_bytes(&ef);
    *data = nd_table_alloc(*bytes);
    if (!*data)
        return out_of_memory(*bytes, err);
    nd_hamming_ef_encode(&ef, value, *data);
    return ND_OK;
}

static enum nd_status encode_manku(const uint64_t *value, size_t n, void **data, size_t *bytes,
                                   struct nd_error *err)
{
    struct nd_manku_code *code = malloc(sizeof *code);
    uint8_t length[LENGTHS];
    size_t blocks;
    unsigned char *at;

    if (!code)
        return out_of_memory(sizeof *code, err);
    nd_manku_lengths(value, n, length);
    (void)nd_manku_code_init(code, length, NULL); /* Huffman's are those of a code */
    blocks = nd_manku_encode(code, value, n, NULL, NULL);
    *bytes = LENGTHS + blocks * BLOCK_BYTES;
    *data = at = nd_table_alloc(*bytes);
    if (at) {
        memcpy(at, length, LENGTHS);
        nd_manku_encode(code, value, n, (struct nd_manku_block *)(void *)(at + LENGTHS),
                        at + LENGTHS + blocks * sizeof(struct nd_manku_block));
    }
    free(code);
    return at ? ND_OK : out_of_memory(*bytes, err);
}

enum nd_status nd_hamming_values_encode(enum nd_hamming_codec codec, unsigned bits,
                                        struct nd_hamming_ef_kind kind, const uint64_t *value,
                                        size_t n, void **data, size_t *bytes, struct nd_error *err)
{
    return codec == ND_HAMMING_EF ? encode_ef(bits, kind, value, n, data, bytes, err)
                                  : encode_manku(value, n, data, bytes, err);
}

static enum nd_status open_manku(struct nd_manku *m, unsigned bits, uint64_t n,
                                 const unsigned char *data, size_t len, struct nd_error *err)
{
    enum nd_status status;

    if (len < LENGTHS || (len - LENGTHS) % BLOCK_BYTES)
        return nd_fail(err, ND_EINPUT, "%zu bytes are not a whole number of blocks", len);
    m->n = n;
    m->n_blocks = (len - LENGTHS) / BLOCK_BYTES;
    m->block = (const struct nd_manku_block *)(const void *)(data + LENGTHS);
    m->data = data + LENGTHS + m->n_blocks * sizeof *m->block;
    status = nd_manku_code_init(&m->code, data, err);
    if (status == ND_OK)
        status = nd_manku_check(m, err);
    if (status == ND_OK && bits < 64 && n && m->block[m->n_blocks - 1].key >> bits)
        status = nd_fail(err, ND_EINPUT, "a value has too many bits");
    return status;
}

enum nd_status nd_hamming_values_point(struct nd_hamming_values *values,
                                       enum nd_hamming_codec codec, unsigned bits,
                                       struct nd_hamming_ef_kind kind, uint64_t n, const void *data,
                                       size_t len, struct nd_checked *checked, struct nd_error *err)
{
    struct nd_hamming_values made = {.n = n, .bits = bits, .codec = codec};
    enum nd_status status;

    if (codec == ND_HAMMING_EF) {
        status = nd_hamming_ef_point(&made.ef, n, bits, kind, data, len, err);
        made.ef.checked = checked;
    } else {
        made.manku = malloc(sizeof *made.manku);
        if (!made.manku)
            return out_of_memory(sizeof *made.manku, err);
        status = open_manku(made.manku, bits, n, data, len, err);
    }
    if (status == ND_OK)
        *values = made;
    else
        free(made.manku);
    return status;
}

enum nd_status nd_hamming_values_check(const struct nd_hamming_values *values, struct nd_error *err)
{
    return values->codec == ND_HAMMING_EF ? nd_hamming_ef_check(&values->ef, err) : ND_OK;
}

enum nd_status nd_hamming_values_open(struct nd_hamming_values *values, enum nd_hamming_codec codec,
                                      unsigned bits, struct nd_hamming_ef_kind kind, uint64_t n,
                                      const void *data, size_t len, struct nd_error *err)
{
    struct nd_hamming_values made;
    enum nd_status status =
        nd_hamming_values_point(&made, codec, bits, kind, n, data, len, NULL, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_values_check(&made, err);
    if (status == ND_OK)
        *values = made;
    else
        nd_hamming_values_close(&made);
    return status;
}

void nd_hamming_values_close(struct nd_hamming_values *values)
{
    free(values->manku);
    values->manku = NULL;
}

struct nd_hamming_range nd_hamming_values_range(const struct nd_hamming_values *values,
                                                uint64_t low, uint64_t high)
{
    struct nd_hamming_range range = {.high = high};
    uint64_t max = ~UINT64_C(0) >> (64 - values->bits);

    if (values->codec == ND_HAMMING_EF) {
        range.end = values->n;
        if (!nd_hamming_ef_rank(&values->ef, low, &range.at) ||
            (high != max && !nd_hamming_ef_rank(&values->ef, high + 1, &range.end)) ||
            range.end < range.at)
            range.at = range.end = 0;
    } else {
        range.cursor = nd_manku_seek(values->manku, low);
        range.at = range.cursor.at;
    }
    return range;
}

size_t nd_hamming_values_next(const struct nd_hamming_values *values,
                              struct nd_hamming_range *range, size_t max, uint64_t *out)
{
    struct nd_manku_cursor *c = &range->cursor;
    size_t n = 0;

    if (values->codec == ND_HAMMING_EF) {
        n = range->end - range->at < max ? (size_t)(range->end - range->at) : max;
        if (!nd_hamming_ef_decode(&values->ef, range->at, n, out))
            n = 0;
    } else {
        for (; n < max && c->at < values->n && c->value <= range->high; n++) {
            out[n] = c->value;
            nd_manku_step(values->manku, c);
        }
    }
    range->at += n;
    return n;
}

static void decode_manku(const struct nd_manku *m, uint64_t first, size_t count, uint64_t *out)
{
    size_t from = 0, to = m->n_blocks;
    struct nd_manku_cursor c;

    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (m->block[middle].first <= first)
            from = middle;
        else
            to = middle;
    }
    c = nd_manku_enter(m, from);
    while (c.at < first)
        nd_manku_step(m, &c);
    for (size_t i = 0; i < count; i++) {
        out[i] = c.value;
        nd_manku_step(m, &c);
    }
}

bool nd_hamming_values_decode(const struct nd_hamming_values *values, uint64_t first, size_t count,
                              uint64_t *out)
{
    if (values->codec == ND_HAMMING_EF)
        return nd_hamming_ef_decode(&values->ef, first, count, out);
    if (count)
        decode_manku(values->manku, first, count, out);
    return true;
}
