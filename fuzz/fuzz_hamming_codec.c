/* fuzz_hamming_codec.c - any bytes as a table of an index file: what is accepted ascends
 *
 * Byte 0: bits of a value, less 1; byte 1: the codec; from 8 on the number of values, 8 bytes; then
 * the table as it stands in a file.
 */
#include <stdlib.h>
#include <string.h>

#include "hamming/file/values.h"

enum { AT_ONCE = 100, HEAD = 16, SIZE_MAX_HERE = 100000 };

static void require(int holds)
{
    if (!holds)
        abort();
}

/* All values by range; they ascend, and each is found again. */
static void check(const struct nd_hamming_values *v, unsigned bits)
{
    uint64_t most = ~UINT64_C(0) >> (64 - bits), value[AT_ONCE], again, before = 0, at = 0;
    struct nd_hamming_range range = nd_hamming_values_range(v, 0, most);

    for (size_t n; (n = nd_hamming_values_next(v, &range, AT_ONCE, value)); at += n)
        for (size_t i = 0; i < n; before = value[i++]) {
            require(at + i == 0 || before < value[i] ||
                    (v->codec == ND_HAMMING_EF && before == value[i]));
            require(value[i] <= most);
            require(nd_hamming_values_range(v, value[i], value[i]).at <= at + i);
            if (i % 16)
                continue;
            nd_hamming_values_decode(v, at + i, 1, &again);
            require(again == value[i]);
        }
    require(at == v->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_hamming_values values;
    uint64_t n, *copy;
    unsigned bits;

    if (size < HEAD || size > SIZE_MAX_HERE)
        return 0;
    memcpy(&n, data + 8, sizeof n);
    bits = data[0] % 64 + 1;
    copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data + HEAD, size - HEAD);
    if (nd_hamming_values_open(&values, data[1] % 2 ? ND_HAMMING_MANKU : ND_HAMMING_EF, bits,
                               nd_hamming_ef_kind(data[2] % 17), n, copy, size - HEAD,
                               NULL) == ND_OK) {
        check(&values, bits);
        nd_hamming_values_close(&values);
    }
    free(copy);
    return 0;
}
