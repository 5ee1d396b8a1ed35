/* hamming_segment_write.c - index files: sort for each table, compress, write */
#define _GNU_SOURCE
#include "index/hamming_segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/hamming_sort.h"

struct writer {
    const struct nd_hamming_scheme *scheme;
    const struct nd_hamming_source *source;
    int fd;
    const char *name;
    uint64_t begin, at; /* of the segment in the file; where the next chunk begins, from there */
    struct nd_hamming_chunk *chunk;
    struct nd_hamming_entry *entry, *other;
    size_t n, distinct;
    uint64_t *row; /* distinct fingerprints in the order of table 0 */
};

enum nd_status nd_hamming_write_at(int fd, const char *name, const void *data, size_t bytes,
                                   uint64_t offset, struct nd_error *err)
{
    const char *at = data;

    while (bytes) {
        ssize_t n = pwrite(fd, at, bytes < (1u << 30) ? bytes : 1u << 30, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return nd_fail(err, ND_EIO, "%s: cannot be written: %s", name, strerror(errno));
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return ND_OK;
}

static enum nd_status write_chunk(struct writer *w, size_t chunk, const void *data, size_t bytes,
                                  struct nd_error *err)
{
    enum nd_status status = nd_hamming_write_at(w->fd, w->name, data, bytes, w->begin + w->at, err);

    w->chunk[chunk] = (struct nd_hamming_chunk){w->at, bytes, nd_hash_bytes(data, bytes)};
    w->at += bytes;
    return status;
}

static int compare_rows(const uint64_t *a, const uint64_t *b, size_t words)
{
    for (size_t w = 0; w < words; w++)
        if (a[w] != b[w])
            return a[w] < b[w] ? -1 : 1;
    return 0;
}

/* Of entries that lead equally: by the whole fingerprint, then by id. */
static int by_row_and_id(const void *a, const void *b, void *context)
{
    const struct writer *w = context;
    const struct nd_hamming_source *s = w->source;
    uint32_t x = ((const struct nd_hamming_entry *)a)->number,
             y = ((const struct nd_hamming_entry *)b)->number;
    size_t words = w->scheme->words;
    int order = compare_rows(s->row + x * words, s->row + y * words, words);

    if (order)
        return order;
    if (s->text)
        return strcmp(s->text[x], s->text[y]);
    return (s->id[x] > s->id[y]) - (s->id[x] < s->id[y]);
}

static void sort_equal(struct writer *w)
{
    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i + 1; end < w->n && w->entry[end].value == w->entry[i].value; end++)
            ;
        if (end - i > 1)
            qsort_r(w->entry + i, end - i, sizeof *w->entry, by_row_and_id, w);
    }
}

static enum nd_status write_texts(struct writer *w, struct nd_error *err)
{
    const char *const *text = w->source->text;
    uint64_t sum = 0, lengths = 0, place = 0;
    enum nd_status status;
    size_t bytes;
    void *data;

    for (size_t i = 0; i < w->n; i++) {
        size_t len = strlen(text[i]);

        sum += len;
        lengths += nd_hamming_text_length_bytes(len);
    }
    bytes = nd_hamming_texts_bytes(w->n, sum, lengths);
    data = nd_table_alloc(bytes);
    if (!data)
        return nd_fail(err, ND_ENOMEM, "out of memory for ids of %zu bytes", bytes);
    for (size_t i = 0; i < w->n; i++) {
        const char *id = text[w->entry[i].number];

        nd_hamming_texts_add(w->n, i, id, strlen(id), &place, data);
    }
    status = write_chunk(w, ND_HAMMING_IDS, data, bytes, err);
    nd_table_free(data, bytes);
    return status;
}

/* `other` is free and takes them. */
static enum nd_status write_ids(struct writer *w, struct nd_error *err)
{
    uint32_t *id = (uint32_t *)(void *)w->other;

    if (w->source->text)
        return write_texts(w, err);
    for (size_t i = 0; i < w->n; i++)
        id[i] = w->source->id[w->entry[i].number];
    id[w->n] = 0;
    return write_chunk(w, ND_HAMMING_IDS, id, (w->n + 1) / 2 * 8, err);
}

/* Which entries begin a group, and the first of each as a row.  `other` has room for the bits. */
static enum nd_status write_groups(struct writer *w, struct nd_error *err)
{
    uint64_t *bit = (uint64_t *)(void *)w->other;
    size_t words = w->scheme->words;

    memset(bit, 0, (w->n + 63) / 64 * sizeof *bit + w->n / 64 + 16);
    w->distinct = 0;
    for (size_t i = 0; i < w->n; i++) {
        const uint64_t *row = w->source->row + w->entry[i].number * words;

        if (i && compare_rows(row, w->row + (w->distinct - 1) * words, words) == 0)
            continue;
        memcpy(w->row + w->distinct++ * words, row, words * sizeof *row);
        bit[i / 64] |= UINT64_C(1) << i % 64;
    }
    if (w->distinct < w->n)
        nd_hamming_groups_finish(w->n, bit);
    return write_chunk(w, ND_HAMMING_GROUPS, bit, nd_hamming_groups_bytes(w->n, w->distinct), err);
}

/* The values of sorted entries, and the numbers beside them; `other` is free and takes them. */
static enum nd_status write_table(struct writer *w, unsigned t, struct nd_error *err)
{
    unsigned bits = nd_hamming_number_bits(w->distinct);
    size_t words = (size_t)nd_hamming_number_words(w->distinct, bits), bytes;
    uint64_t *out = (uint64_t *)(void *)w->other;
    enum nd_status status;
    void *data;

    for (size_t i = 0; i < w->distinct; i++)
        out[i] = w->entry[i].value;
    status = nd_hamming_values_encode(w->scheme->codec, nd_hamming_lead_bits(w->scheme->bits), out,
                                      w->distinct, &data, &bytes, err);
    if (status != ND_OK)
        return status;
    status = write_chunk(w, nd_hamming_values_chunk(t), data, bytes, err);
    nd_table_free(data, bytes);
    if (status != ND_OK || t == 0 || !nd_hamming_is_wide(w->scheme->bits))
        return status == ND_OK ? write_chunk(w, nd_hamming_numbers_chunk(t), NULL, 0, err) : status;
    memset(out, 0, words * sizeof *out);
    for (size_t i = 0; i < w->distinct; i++) {
        uint64_t number = w->entry[i].number, at = i * bits;

        out[at / 64] |= number << at % 64;
        out[at / 64 + 1] |= number >> (63 - at % 64) >> 1;
    }
    return write_chunk(w, nd_hamming_numbers_chunk(t), out, words * sizeof *out, err);
}

/* Table 0 with what hangs on it, then the others. */
static enum nd_status write_all(struct writer *w, struct nd_error *err)
{
    size_t words = w->scheme->words;
    bool wide = nd_hamming_is_wide(w->scheme->bits);
    enum nd_status status;

    for (size_t i = 0; i < w->n; i++)
        w->entry[i] = (struct nd_hamming_entry){
            nd_hamming_lead(&w->scheme->order[0], w->source->row + i * words), (uint32_t)i, 0};
    nd_hamming_entries_sort(&w->entry, &w->other, w->n);
    sort_equal(w);
    status = write_ids(w, err);
    if (status == ND_OK)
        status = write_groups(w, err);
    if (status == ND_OK)
        status = write_chunk(w, ND_HAMMING_ROWS, w->row, wide ? w->distinct * words * 8 : 0, err);
    for (unsigned t = 0; t < w->scheme->tables && status == ND_OK; t++) {
        for (size_t i = 0; i < w->distinct; i++)
            w->entry[i] = (struct nd_hamming_entry){
                nd_hamming_lead(&w->scheme->order[t], w->row + i * words), (uint32_t)i, 0};
        nd_hamming_entries_sort(&w->entry, &w->other, w->distinct);
        status = write_table(w, t, err);
    }
    return status;
}

enum nd_status nd_hamming_segment_write(const struct nd_hamming_scheme *scheme,
                                        const struct nd_hamming_source *source, int fd,
                                        const char *name, struct nd_hamming_place *place,
                                        struct nd_error *err)
{
    struct writer w = {.scheme = scheme, .source = source, .fd = fd, .name = name, .n = source->n};
    size_t chunks = nd_hamming_chunks(scheme->tables), head = chunks * sizeof *w.chunk;
    size_t entry_bytes = (w.n + 2) * sizeof *w.entry, row_bytes = w.n * scheme->words * 8;
    struct nd_hamming_entry *first = nd_table_alloc(entry_bytes),
                            *second = nd_table_alloc(entry_bytes);
    enum nd_status status = ND_ENOMEM;

    w.chunk = calloc(chunks, sizeof *w.chunk);
    w.row = nd_table_alloc(row_bytes);
    w.entry = first;
    w.other = second;
    w.begin = place->offset;
    w.at = head;
    if (first && second && w.chunk && w.row)
        status = write_all(&w, err);
    else
        nd_fail(err, ND_ENOMEM, "out of memory for %zu fingerprints", w.n);
    if (status == ND_OK)
        status = nd_hamming_write_at(fd, name, w.chunk, head, w.begin, err);
    if (status == ND_OK) {
        place->bytes = w.at;
        place->count = w.n;
        place->distinct = w.distinct;
        place->has_texts = source->text != NULL;
        place->hash = nd_hash_bytes(w.chunk, head);
    }
    nd_table_free(first, entry_bytes);
    nd_table_free(second, entry_bytes);
    nd_table_free(w.row, row_bytes);
    free(w.chunk);
    return status;
}
