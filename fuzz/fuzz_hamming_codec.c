/* fuzz_hamming_codec.c - any bytes as Elias-Fano or as blocks: what is accepted ascends */
#include <stdlib.h>
#include <string.h>

#include "index/hamming_codec.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_ef(const uint64_t *data, size_t len, uint64_t n)
{
    struct nd_hamming_ef ef;
    uint64_t *out;

    if (nd_hamming_ef_open(&ef, n, data, len, NULL) != ND_OK)
        return;
    out = malloc((n + 1) * sizeof *out);
    require(out != NULL);
    nd_hamming_ef_decode(&ef, 0, n, out);
    for (uint64_t i = 0; i < n; i++) {
        require(i == 0 || out[i - 1] <= out[i]);
        require(nd_hamming_ef_rank(&ef, out[i]) <= i);
    }
    free(out);
}

/* 64 lengths, then blocks, then as many bytes as are left for their keys and numbers. */
static void check_manku(const uint8_t *data, size_t len, uint64_t n)
{
    static uint64_t out[ND_MANKU_BLOCK_VALUES];
    size_t each = ND_MANKU_BLOCK + sizeof(struct nd_manku_block);
    size_t blocks = len > 64 ? (len - 64) / each : 0;
    struct nd_manku_block *block = calloc(blocks + 1, sizeof *block);
    struct nd_manku m = {.n = n, .n_blocks = blocks, .block = block};
    uint64_t before = 0;

    require(block != NULL);
    if (len > 64 && nd_manku_code_init(&m.code, data, NULL) == ND_OK) {
        m.data = data + 64;
        memcpy(block, m.data + blocks * ND_MANKU_BLOCK, blocks * sizeof *block);
        for (size_t b = 0; nd_manku_check(&m, NULL) == ND_OK && b < blocks; b++) {
            size_t count = nd_manku_decode(&m, b, out);

            for (size_t i = 0; i < count; i++) {
                require((b == 0 && i == 0) || before < out[i]);
                before = out[i];
            }
            require(nd_manku_find(&m, before) == b);
        }
    }
    free(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t n, *copy;

    if (size < 8 || size > 100000)
        return 0;
    memcpy(&n, data, sizeof n);
    copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data + 8, size - 8);
    check_ef(copy, (size - 8) / 8 * 8, n);
    check_manku((const uint8_t *)copy, size - 8, n);
    free(copy);
    return 0;
}
