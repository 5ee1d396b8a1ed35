/* fuzz_hamming_file.c - any bytes as an index file, their checksums made right: what opens answers
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "hamming/file/file.h"

static void require(int holds)
{
    if (!holds)
        abort();
}

/* A fuzzer would not find checksums; what they cannot protect from is what is looked for. */
static void make_sums_right(unsigned char *data, size_t size)
{
    struct nd_hamming_header header;

    memcpy(&header, data, sizeof header);
    if (header.tables > 64 || header.segments > ND_HAMMING_SEGMENTS_MAX)
        return;
    for (uint32_t i = 0; i < header.segments; i++) {
        uint64_t offset = header.segment[i].offset, head;
        struct nd_hamming_chunk *chunk;

        head = nd_hamming_chunks(header.tables) * sizeof *chunk;
        if (offset > size || offset % 8 || size - offset < head)
            return;
        chunk = (struct nd_hamming_chunk *)(void *)(data + offset);
        for (size_t c = 0; c < nd_hamming_chunks(header.tables); c++)
            if (chunk[c].offset <= size - offset &&
                chunk[c].bytes <= size - offset - chunk[c].offset)
                chunk[c].hash =
                    nd_hash_bytes(data + offset + chunk[c].offset, (size_t)chunk[c].bytes);
        header.segment[i].hash = nd_hash_bytes(chunk, (size_t)head);
    }
    nd_hamming_header_write(&header, data);
}

static void read_back(const struct nd_hamming_file *file)
{
    uint64_t count = nd_hamming_file_design(file)->problem.count, row[ND_HAMMING_WORDS_MAX];
    unsigned bits = nd_hamming_file_design(file)->problem.bits;
    uint64_t step = count / 50 + 1;

    require(nd_hamming_file_sizes(file).parts <= ND_HAMMING_FILE_PARTS_MAX);
    for (uint64_t i = 0; i < count; i += step) {
        struct nd_hamming_matches out = {.items = NULL};
        struct nd_hamming_file_matches found = {.items = NULL};
        char number[ND_HAMMING_NUMBER_MAX];
        uint32_t id;
        size_t len;

        nd_hamming_file_entries(file, i, 1, row, &id);
        require(bits % 64 == 0 || row[nd_hamming_words(bits) - 1] >> bits % 64 == 0);
        if (nd_hamming_file_has_texts(file)) {
            const char *text = nd_hamming_file_text(file, id, number, &len);

            require(nd_hamming_text_is_id(text, len));
        }
        require(nd_hamming_file_query(file, row, 1, 0, &out, NULL) == ND_OK);
        require(out.count <= count);
        require(nd_hamming_file_find(file, row, 1, 0, &found, NULL) == ND_OK);
        require(found.count == out.count);
        for (size_t j = 0; j < found.count; j++)
            require(found.items[j].entry < count);
        free(found.items);
        nd_hamming_matches_release(&out);
    }
}

static void ask(const struct nd_hamming_file *file, uint64_t seed)
{
    const struct nd_hamming_problem *problem = &nd_hamming_file_design(file)->problem;
    uint64_t query[ND_HAMMING_WORDS_MAX];
    size_t words = nd_hamming_words(problem->bits);
    struct nd_hamming_matches out = {.items = NULL};

    for (int i = 0; i < 4; i++, out.count = 0) {
        for (size_t w = 0; w < words; w++)
            query[w] = seed = nd_mix64(seed);
        if (problem->bits % 64)
            query[words - 1] &= ~UINT64_C(0) >> (64 - problem->bits % 64);
        require(nd_hamming_file_query(file, query, 1, problem->distance, &out, NULL) == ND_OK);
        for (size_t j = 0; j < out.count; j++)
            require(out.items[j].distance <= problem->distance);
    }
    nd_hamming_matches_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_hamming_file *file;
    unsigned char *copy;

    if (size < ND_HAMMING_HEADERS * ND_HAMMING_PAGE || size > 100000)
        return 0;
    copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, data, size);
    make_sums_right(copy, size);
    if (nd_hamming_file_init(&file, copy, size, NULL) == ND_OK) {
        read_back(file);
        ask(file, size);
        nd_hamming_file_close(file);
    }
    free(copy);
    return 0;
}
