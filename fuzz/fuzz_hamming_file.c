/* fuzz_hamming_file.c - any bytes as an index file, their checksums made right: what opens answers
 *
 * A file of the layout fast takes megabytes.  So an input that is too short for a file is a list of
 * changes to the words of one that is made here: queries of it then answer or say that it is damaged.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "hamming/file/file.h"

enum { PRINTS = 600, CHANGES = 64 };

static void require(int holds)
{
    if (!holds)
        abort();
}

/* The checksums of units, as far as the list of chunks leads to them. */
static void make_units_right(unsigned char *segment, size_t size, uint32_t tables)
{
    const struct nd_hamming_chunk *chunk = (const struct nd_hamming_chunk *)(void *)segment;
    const struct nd_hamming_chunk *sums = &chunk[nd_hamming_sums_chunk(tables)];
    uint64_t from = chunk[0].offset, sum;

    if (sums->offset > size || sums->offset < from || sums->bytes > size - sums->offset)
        return;
    for (uint64_t i = 0; i < sums->bytes / 8 && from < sums->offset; i++, from += ND_CHECKED_UNIT) {
        uint64_t left = sums->offset - from;

        sum =
            nd_hash_bytes(segment + from, left < ND_CHECKED_UNIT ? (size_t)left : ND_CHECKED_UNIT);
        memcpy(segment + sums->offset + 8 * i, &sum, sizeof sum);
    }
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
        make_units_right(data + offset, size - (size_t)offset, header.tables);
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

        require(nd_hamming_file_entries(file, i, 1, row, &id, NULL) == ND_OK);
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

/* Read and ask a file of which nothing was checked but its checksums: there may be no answers. */
static void ask_unchecked(const struct nd_hamming_file *file, uint64_t seed)
{
    const struct nd_hamming_problem *problem = &nd_hamming_file_design(file)->problem;
    const size_t words = nd_hamming_words(problem->bits);
    uint64_t row[3 * ND_HAMMING_WORDS_MAX], step = problem->count / 50 + 1;
    struct nd_hamming_matches out = {.items = NULL};
    enum nd_status status;

    for (uint64_t i = 0; i < problem->count; i += step, out.count = 0) {
        size_t n = problem->count - i < 3 ? (size_t)(problem->count - i) : 3;

        if (nd_hamming_file_entries(file, i, n, row, NULL, NULL) != ND_OK)
            for (size_t w = 0; w < n * words; w++)
                row[w] = seed = nd_mix64(seed);
        for (size_t q = 0; q < n && problem->bits % 64; q++)
            row[(q + 1) * words - 1] &= ~UINT64_C(0) >> (64 - problem->bits % 64);
        status = nd_hamming_file_query(file, row, n, problem->distance, &out, NULL);
        require(status == ND_OK || status == ND_EINPUT);
        for (size_t j = 0; j < out.count; j++)
            require(out.items[j].distance <= problem->distance && out.items[j].query < n);
    }
    nd_hamming_matches_release(&out);
}

/* A fast file, made once, and the words of its tables that are not 0. */
static struct {
    struct nd_hamming_file *file;
    unsigned char *data;
    uint64_t query[PRINTS];
    uint32_t *word, n_words;
} fast;

static void make_fast(void)
{
    char path[] = "/tmp/fuzz_hamming_file.XXXXXX";
    const struct nd_hamming_shape shape = {
        .bits = 64, .distance = 3, .tables = 4, .codec = ND_HAMMING_EF, .layout = ND_HAMMING_FAST};
    const struct nd_hamming_entries entries = {.fingerprints = fast.query, .count = PRINTS};
    int fd = mkstemp(path);
    uint64_t from;
    off_t size;

    for (size_t i = 0; i < PRINTS; i++) /* some are alike, so that lines are chained */
        fast.query[i] = i % 2 ? nd_mix64(i) : (nd_mix64(i) & 0xFFFF) * UINT64_C(0x1000000000001);
    require(fd >= 0 && nd_hamming_file_build(path, &shape, &entries, NULL) == ND_OK);
    close(fd);
    fd = open(path, O_RDONLY);
    size = lseek(fd, 0, SEEK_END);
    fast.data = aligned_alloc(64, ((size_t)size + 63) / 64 * 64);
    fast.word = malloc((size_t)size);
    require(fast.data && fast.word && pread(fd, fast.data, (size_t)size, 0) == size);
    close(fd);
    unlink(path);
    require(nd_hamming_file_init(&fast.file, fast.data, (size_t)size, NULL) == ND_OK);
    atomic_store(&fast.file->segment[0].checked->left, 0); /* compared before they are changed */
    from = fast.file->header.segment[0].offset;
    for (uint64_t at = from + 512; at < (uint64_t)size; at += 4) {
        uint32_t word;

        memcpy(&word, fast.data + at, sizeof word);
        if (word)
            fast.word[fast.n_words++] = (uint32_t)at;
    }
}

/* Eight bytes a change: which word, and what it becomes. */
static void change_fast(const uint8_t *data, size_t size)
{
    uint32_t before[CHANGES], change[2], n = 0;
    struct nd_hamming_matches out = {.items = NULL};
    enum nd_status status;

    if (!fast.file)
        make_fast();
    for (; n < CHANGES && (n + 1) * sizeof change <= size; n++) {
        memcpy(change, data + n * sizeof change, sizeof change);
        memcpy(&before[n], fast.data + fast.word[change[0] % fast.n_words], sizeof *before);
        memcpy(fast.data + fast.word[change[0] % fast.n_words], &change[1], sizeof *before);
    }
    status = nd_hamming_file_query(fast.file, fast.query, PRINTS, 3, &out, NULL);
    require(status == ND_OK || status == ND_EINPUT);
    nd_hamming_matches_release(&out);
    while (n--) {
        memcpy(change, data + n * sizeof change, sizeof change);
        memcpy(fast.data + fast.word[change[0] % fast.n_words], &before[n], sizeof *before);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct nd_hamming_file *file;
    unsigned char *copy;

    if (size < ND_HAMMING_HEADERS * ND_HAMMING_PAGE)
        change_fast(data, size);
    if (size < ND_HAMMING_HEADERS * ND_HAMMING_PAGE || size > 100000)
        return 0;
    copy = aligned_alloc(64, (size + 63) / 64 * 64);
    require(copy != NULL);
    memcpy(copy, data, size);
    make_sums_right(copy, size);
    if (nd_hamming_file_init_lazily(&file, copy, size, NULL) == ND_OK) {
        ask_unchecked(file, size);
        nd_hamming_file_close(file);
    }
    if (nd_hamming_file_init(&file, copy, size, NULL) == ND_OK) {
        read_back(file);
        ask(file, size);
        nd_hamming_file_close(file);
    }
    free(copy);
    return 0;
}
