/* fuzz_hamming_file.c - any bytes as an index file, their checksums made right: what opens answers
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "index/hamming_file.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

/* A fuzzer would not find checksums; what they cannot protect from is what is looked for. */
static void make_sums_right(unsigned char *data, size_t size)
{
    struct nd_hamming_header header;
    struct nd_hamming_chunk *chunk = (void *)(data + sizeof header);
    size_t n;

    memcpy(&header, data, sizeof header);
    memcpy(header.magic, ND_HAMMING_MAGIC, sizeof header.magic);
    header.version = ND_HAMMING_VERSION;
    header.file_bytes = size;
    n = (size_t)header.tables + 1;
    if (header.tables > 64 || sizeof header + n * sizeof *chunk > size)
        return;
    for (size_t i = 0; i < n; i++) {
        if (chunk[i].offset <= size && chunk[i].bytes <= size - chunk[i].offset)
            chunk[i].hash = nd_hash_bytes(data + chunk[i].offset, chunk[i].bytes);
    }
    header.hash = nd_hamming_header_hash(&header, chunk);
    memcpy(data, &header, sizeof header);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_hamming_matches out = {.at = NULL};
    struct nd_hamming_file *file;
    unsigned char *copy;

    if (size < sizeof(struct nd_hamming_header) || size > 100000)
        return 0;
    copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data, size);
    make_sums_right(copy, size);
    if (nd_hamming_file_init(&file, copy, size, NULL) == ND_OK) {
        const struct nd_hamming_plan *plan = nd_hamming_file_design(file);
        uint64_t query = size, most = ~UINT64_C(0) >> (64 - plan->problem.bits);

        for (int i = 0; i < 4; i++, query = nd_mix64(query)) {
            uint64_t x = query & most;

            require(nd_hamming_file_query(file, &x, 1, plan->problem.distance, &out, NULL) ==
                    ND_OK);
            for (size_t j = 0; j < out.count; j++)
                require(out.at[j].distance <= plan->problem.distance);
            require(out.count <= plan->problem.count);
            out.count = 0;
        }
        nd_hamming_matches_release(&out);
        nd_hamming_file_close(file);
    }
    free(copy);
    return 0;
}
