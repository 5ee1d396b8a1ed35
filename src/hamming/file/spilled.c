/* spilled.c - a segment of an index file written in bounded memory
 *
 * segment.c has all entries in memory, and sorts them for each table.  Here they are in a temporary
 * file, and each table is an external sort:
 *
 *     1. The entries, by lead in table 0, then by row, then by id: ids, groups; each distinct row
 *        goes to another temporary file, in this order.
 *     2. For each table the leads of these rows, with their numbers: values and numbers.  Table 0
 *        needs no sort.
 *
 * Everything that a chunk has is written from its beginning to its end.  A code has four such parts,
 * whose places follow from how many distinct rows there are.  A chunk is read once more for its
 * checksum and those of units.
 */
#include "hamming/file/spilled.h"

#include <stdlib.h>
#include <string.h>

#include "base/file/external_sort.h"
#include "base/hash.h"
#include "hamming/file/chunk_stream.h"
#include "hamming/file/id_groups.h"
#include "hamming/file/packed_numbers.h"
#include "hamming/file/segment.h"
#include "hamming/plan/fingerprint.h"

enum { BLOCK = 1 << 16, GROUPS_EACH = 512, TEXTS_EACH = 16, LENGTH_MAX = 5 };

struct spilled_writer {
    const struct nd_hamming_spilled *spilled;
    const struct nd_hamming_scheme *scheme;
    int fd;
    const char *name;
    uint64_t first, n, distinct;
    uint64_t begin, at; /* of the segment in the file; where the next chunk begins, from there */
    struct nd_hamming_chunk *chunk;
    struct nd_checked_sums sums; /* of all chunks so far */
    struct nd_spool *rows;       /* the distinct ones in order */
    bool has_texts;
    uint64_t text_bytes, length_bytes; /* of all ids, as texts; of their lengths */
    struct nd_buffer text[2];
    struct nd_error *err;
    enum nd_status status; /* of reading ids while they are sorted */
};

const char *nd_hamming_spilled_id(const struct nd_hamming_spilled *spilled, const uint64_t *id,
                                  char *number, struct nd_buffer *buffer, size_t *len,
                                  struct nd_error *err)
{
    if (id[1] == 0)
        return nd_hamming_number_text((uint32_t)id[0], number, len);
    *len = (size_t)id[1] - 1;
    if (nd_spool_read(spilled->texts, id[0], *len, buffer, err) != ND_OK)
        return NULL;
    return *len ? buffer->data : "";
}

/* Rows of so many words, read one after the other. */
struct spilled_reader {
    const struct nd_spool *spool;
    size_t words, at; /* a row's; of the buffer, in bytes */
    uint64_t next, end;
    struct nd_buffer buffer;
};

/* 1; 0: there is none; < 0. */
static int next_row(struct spilled_reader *r, const uint64_t **row, struct nd_error *err)
{
    size_t bytes = r->words * sizeof **row, some = BLOCK / bytes;
    enum nd_status status;

    if (r->at == r->buffer.len) {
        if (r->next == r->end)
            return 0;
        some = r->end - r->next < some ? (size_t)(r->end - r->next) : some;
        status = nd_spool_read(r->spool, r->next * bytes, some * bytes, &r->buffer, err);
        if (status < ND_OK)
            return status;
        r->next += some;
        r->at = 0;
    }
    *row = (const uint64_t *)(const void *)(r->buffer.data + r->at);
    r->at += bytes;
    return 1;
}

static struct spilled_reader read_entries(const struct spilled_writer *w)
{
    return (struct spilled_reader){.spool = w->spilled->rows,
                                   .words = w->scheme->words + ND_HAMMING_SPILLED_ID_WORDS,
                                   .next = w->first,
                                   .end = w->first + w->n};
}

static struct nd_external_sort *new_sort(const struct spilled_writer *w, size_t words,
                                         int (*compare)(const void *, const void *, void *),
                                         void *context)
{
    const struct nd_external_sort_options options = {.tmp = w->spilled->tmp,
                                                     .record_bytes = words * sizeof(uint64_t),
                                                     .memory_bytes = w->spilled->memory_bytes,
                                                     .compare = compare,
                                                     .context = context};

    return nd_external_sort_new(&options, w->err);
}

/* Order entries that lead equally, as by_row_and_id of segment.c. */
static int by_row_and_id(const void *a, const void *b, void *context)
{
    struct spilled_writer *w = context;
    size_t words = w->scheme->words, len[2];
    const uint64_t *x = (const uint64_t *)a + 1, *y = (const uint64_t *)b + 1;
    int order = nd_hamming_compare(x, y, words);
    char number[2][ND_HAMMING_NUMBER_MAX];
    const char *text[2];

    x += words;
    y += words;
    if (order || w->status != ND_OK)
        return order;
    if (!w->has_texts)
        return (x[0] > y[0]) - (x[0] < y[0]);
    text[0] = nd_hamming_spilled_id(w->spilled, x, number[0], &w->text[0], &len[0], w->err);
    text[1] = text[0]
                  ? nd_hamming_spilled_id(w->spilled, y, number[1], &w->text[1], &len[1], w->err)
                  : NULL;
    if (!text[1]) {
        w->status = w->err->status;
        return 0;
    }
    order = memcmp(text[0], text[1], len[0] < len[1] ? len[0] : len[1]);
    return order ? order : (len[0] > len[1]) - (len[0] < len[1]);
}

/* Whether any id is a text, and the bytes of all as texts. */
static enum nd_status measure_ids(struct spilled_writer *w)
{
    struct spilled_reader r = read_entries(w);
    char number[ND_HAMMING_NUMBER_MAX];
    const uint64_t *row = NULL;
    int got;

    while ((got = next_row(&r, &row, w->err)) > 0) {
        const uint64_t *id = row + w->scheme->words;
        size_t len = (size_t)id[1] - 1;

        if (id[1] == 0)
            nd_hamming_number_text((uint32_t)id[0], number, &len);
        w->has_texts |= id[1] != 0;
        w->text_bytes += len;
        w->length_bytes += nd_hamming_text_length_bytes(len);
    }
    nd_buffer_release(&r.buffer);
    return got < 0 ? (enum nd_status)got : ND_OK;
}

/* The entries, sorted.  NULL: a failure. */
static struct nd_external_sort *sort_entries(struct spilled_writer *w)
{
    const size_t words = w->scheme->words;
    struct nd_external_sort *sort =
        new_sort(w, 1 + words + ND_HAMMING_SPILLED_ID_WORDS, by_row_and_id, w);
    uint64_t record[1 + ND_HAMMING_WORDS_MAX + ND_HAMMING_SPILLED_ID_WORDS];
    struct spilled_reader r = read_entries(w);
    enum nd_status status = sort ? ND_OK : ND_ENOMEM;
    const uint64_t *row = NULL;
    int got = 0;

    while (status == ND_OK && (got = next_row(&r, &row, w->err)) > 0) {
        record[0] = nd_hamming_lead(&w->scheme->order[0], row);
        memcpy(record + 1, row, (words + ND_HAMMING_SPILLED_ID_WORDS) * sizeof *row);
        status = nd_external_sort_add(sort, record, w->err);
    }
    nd_buffer_release(&r.buffer);
    if (status == ND_OK && got == 0)
        return sort;
    nd_external_sort_free(sort);
    return NULL;
}

/* Ids and groups, in the order of table 0. */
struct columns {
    struct nd_chunk_stream id, text_place, bit, ones;
    uint64_t i, text_at;
    uint64_t last[ND_HAMMING_WORDS_MAX];
};

static void put_text(struct spilled_writer *w, struct columns *c, const uint64_t *id)
{
    char number[ND_HAMMING_NUMBER_MAX];
    unsigned char length[LENGTH_MAX];
    size_t len, bytes = 0;
    const char *text = nd_hamming_spilled_id(w->spilled, id, number, &w->text[0], &len, w->err);

    if (!text) {
        w->status = w->err->status;
        return;
    }
    if (c->i % TEXTS_EACH == 0)
        nd_chunk_stream_put_word(&c->text_place, c->text_at);
    for (size_t left = len; bytes == 0 || left; left >>= 7)
        length[bytes++] = (unsigned char)(left % 128 + (left >> 7 ? 128 : 0));
    nd_chunk_stream_put(&c->id, length, bytes);
    nd_chunk_stream_put(&c->id, text, len);
    c->text_at += bytes + len;
}

/* One entry, the next in order. */
static enum nd_status put_entry(struct spilled_writer *w, struct columns *c, const uint64_t *row)
{
    const size_t words = w->scheme->words;
    bool begins = c->i == 0 || nd_hamming_compare(row, c->last, words) != 0;

    if (c->i % GROUPS_EACH == 0)
        nd_chunk_stream_put_bits(&c->ones, w->distinct, 32);
    nd_chunk_stream_put_bits(&c->bit, begins, 1);
    if (w->has_texts)
        put_text(w, c, row + words);
    else
        nd_chunk_stream_put_bits(&c->id, row[words], 32);
    c->i++;
    if (!begins)
        return w->status;
    w->distinct++;
    memcpy(c->last, row, words * sizeof *row);
    return w->status == ND_OK ? nd_spool_append(w->rows, row, words * sizeof *row, NULL, w->err)
                              : w->status;
}

/* The next chunk has been written: its place and its checksum. */
static enum nd_status end_chunk(struct spilled_writer *w, size_t chunk, uint64_t bytes)
{
    struct nd_hamming_chunk *c = &w->chunk[chunk];

    *c = (struct nd_hamming_chunk){.offset = w->at, .bytes = bytes};
    w->at += bytes;
    return nd_chunk_hash(w->fd, w->name, w->begin + c->offset, bytes, &w->sums, &c->hash, w->err);
}

static enum nd_status first_failure(enum nd_status status, enum nd_status next)
{
    return status != ND_OK ? status : next;
}

/* Bits and numbers of groups are written, but belong to the file only if a group has two entries. */
static void open_columns(struct spilled_writer *w, struct columns *c, uint64_t *id_bytes)
{
    uint64_t bit_bytes = (w->n + 63) / 64 * 8, at = w->begin + w->at, places = 0;

    *id_bytes = w->has_texts ? nd_hamming_texts_bytes(w->n, w->text_bytes, w->length_bytes)
                             : (w->n + 1) / 2 * 8;
    if (w->has_texts)
        places = ((w->n + TEXTS_EACH - 1) / TEXTS_EACH + 1) * 8;
    nd_chunk_stream_open(&c->text_place, w->fd, w->name, at, places, w->err);
    nd_chunk_stream_open(&c->id, w->fd, w->name, at + places, *id_bytes - places, w->err);
    at += *id_bytes;
    nd_chunk_stream_open(&c->bit, w->fd, w->name, at, bit_bytes, w->err);
    nd_chunk_stream_open(&c->ones, w->fd, w->name, at + bit_bytes, (w->n / GROUPS_EACH + 2) / 2 * 8,
                         w->err);
}

static enum nd_status close_columns(struct spilled_writer *w, struct columns *c)
{
    enum nd_status status;

    if (w->n % GROUPS_EACH == 0)
        nd_chunk_stream_put_bits(&c->ones, w->distinct, 32);
    if (w->has_texts)
        nd_chunk_stream_put_word(&c->text_place, c->text_at);
    status = nd_chunk_stream_close(&c->text_place);
    status = first_failure(status, nd_chunk_stream_close(&c->id));
    status = first_failure(status, nd_chunk_stream_close(&c->bit));
    return first_failure(status, nd_chunk_stream_close(&c->ones));
}

static enum nd_status write_columns(struct spilled_writer *w)
{
    struct nd_external_sort *sort;
    struct columns c = {.i = 0};
    const void *record;
    uint64_t id_bytes;
    enum nd_status status;
    int got = 0;

    sort = sort_entries(w);
    if (!sort)
        return w->err ? w->err->status : ND_EIO;
    open_columns(w, &c, &id_bytes);
    status = w->status;
    while (status == ND_OK && (got = nd_external_sort_next(sort, &record, w->err)) > 0)
        status = put_entry(w, &c, (const uint64_t *)record + 1);
    nd_external_sort_free(sort);
    status = first_failure(status, close_columns(w, &c));
    status = first_failure(status, got < 0 ? (enum nd_status)got : w->status);
    if (status == ND_OK)
        status = end_chunk(w, ND_HAMMING_IDS, id_bytes);
    return status == ND_OK
               ? end_chunk(w, ND_HAMMING_GROUPS, nd_hamming_groups_bytes(w->n, w->distinct))
               : status;
}

static struct spilled_reader read_rows(const struct spilled_writer *w)
{
    return (struct spilled_reader){.spool = w->rows, .words = w->scheme->words, .end = w->distinct};
}

/* The wide fingerprints themselves. */
static enum nd_status write_rows(struct spilled_writer *w)
{
    const uint64_t bytes = w->distinct * w->scheme->words * sizeof(uint64_t);
    struct nd_chunk_stream out;
    struct spilled_reader r = read_rows(w);
    const uint64_t *row = NULL;
    int got;

    if (!nd_hamming_has_rows(w->scheme))
        return end_chunk(w, ND_HAMMING_ROWS, 0);
    nd_chunk_stream_open(&out, w->fd, w->name, w->begin + w->at, bytes, w->err);
    while ((got = next_row(&r, &row, w->err)) > 0)
        nd_chunk_stream_put(&out, row, w->scheme->words * sizeof *row);
    nd_buffer_release(&r.buffer);
    w->status = first_failure(nd_chunk_stream_close(&out), got < 0 ? (enum nd_status)got : ND_OK);
    return w->status == ND_OK ? end_chunk(w, ND_HAMMING_ROWS, bytes) : w->status;
}

/* A table: the parts of its code (elias_fano.h), and the numbers of rows. */
struct table {
    struct nd_hamming_ef ef;
    struct nd_chunk_stream front, back, high, sample, number;
    unsigned number_bits; /* 0: it has no numbers */
    uint64_t i, word, word_at, samples;
};

static void open_table(struct spilled_writer *w, unsigned t, struct table *table)
{
    const struct nd_hamming_scheme *scheme = w->scheme;
    const struct nd_hamming_ef *ef = &table->ef;
    uint64_t at = w->begin + w->at, numbers = 0;

    table->ef = nd_hamming_ef_shape(w->distinct, nd_hamming_lead_bits(scheme->plan.problem.bits),
                                    scheme->ef);
    if (t && nd_hamming_is_wide(scheme->plan.problem.bits))
        table->number_bits = nd_hamming_number_bits(w->distinct);
    if (table->number_bits)
        numbers = nd_packed_words(w->distinct, table->number_bits) * 8;
    nd_chunk_stream_open(&table->front, w->fd, w->name, at, ef->front_words * 8, w->err);
    at += ef->front_words * 8;
    nd_chunk_stream_open(&table->back, w->fd, w->name, at, ef->back_words * 8, w->err);
    at += ef->back_words * 8;
    nd_chunk_stream_open(&table->high, w->fd, w->name, at, ef->high_words * 8, w->err);
    at += ef->high_words * 8;
    nd_chunk_stream_open(&table->sample, w->fd, w->name, at, ef->samples * 8, w->err);
    at += ef->samples * 8;
    nd_chunk_stream_open(&table->number, w->fd, w->name, at, numbers, w->err);
}

/* As nd_hamming_ef_encode. */
static void put_value(struct table *t, uint64_t value, uint64_t number)
{
    const struct nd_hamming_ef *ef = &t->ef;
    const unsigned rest = ef->low_bits - ef->front_bits;
    const uint64_t low = value & ((UINT64_C(1) << ef->low_bits) - 1);
    const uint64_t high = value >> ef->low_bits, place = high + t->i;

    nd_chunk_stream_put_bits(&t->front, low >> rest, ef->front_bits);
    if (rest)
        nd_chunk_stream_put_bits(&t->back, low & ((UINT64_C(1) << rest) - 1), rest);
    for (; t->word_at < place / 64; t->word_at++, t->word = 0)
        nd_chunk_stream_put_word(&t->high, t->word);
    t->word |= UINT64_C(1) << place % 64;
    for (; t->samples < ef->samples && t->samples << ef->sample_shift <= high; t->samples++)
        nd_chunk_stream_put_word(&t->sample, t->i);
    if (t->number_bits)
        nd_chunk_stream_put_bits(&t->number, number, t->number_bits);
    t->i++;
}

static enum nd_status close_table(struct spilled_writer *w, struct table *table)
{
    enum nd_status status;

    nd_chunk_stream_put_word(&table->high, table->word);
    for (; table->samples < table->ef.samples; table->samples++)
        nd_chunk_stream_put_word(&table->sample, w->distinct);
    status = nd_chunk_stream_close(&table->front);
    status = first_failure(status, nd_chunk_stream_close(&table->back));
    status = first_failure(status, nd_chunk_stream_close(&table->high));
    status = first_failure(status, nd_chunk_stream_close(&table->sample));
    return first_failure(status, nd_chunk_stream_close(&table->number));
}

/* The values of a table, whose records are a lead and the number of its row. */
static enum nd_status put_sorted(struct spilled_writer *w, unsigned t, struct table *table)
{
    struct nd_external_sort *sort = t ? new_sort(w, 2, NULL, NULL) : NULL;
    struct spilled_reader r = read_rows(w);
    enum nd_status status = t && !sort ? ND_ENOMEM : ND_OK;
    const void *record;
    const uint64_t *row = NULL;
    int got = 0;

    for (uint64_t i = 0; status == ND_OK && (got = next_row(&r, &row, w->err)) > 0; i++) {
        const uint64_t entry[2] = {nd_hamming_lead(&w->scheme->order[t], row), i};

        if (sort)
            status = nd_external_sort_add(sort, entry, w->err);
        else
            put_value(table, entry[0], i);
    }
    nd_buffer_release(&r.buffer);
    while (sort && status == ND_OK && got >= 0 &&
           (got = nd_external_sort_next(sort, &record, w->err)) > 0)
        put_value(table, *(const uint64_t *)record, ((const uint64_t *)record)[1]);
    nd_external_sort_free(sort);
    return got < 0 ? (enum nd_status)got : status;
}

static enum nd_status write_table(struct spilled_writer *w, unsigned t)
{
    struct table table = {.i = 0};
    uint64_t numbers;
    enum nd_status status;

    open_table(w, t, &table);
    numbers = table.number.end - table.number.at;
    status = put_sorted(w, t, &table);
    status = first_failure(status, close_table(w, &table));
    if (status == ND_OK)
        status = end_chunk(w, nd_hamming_values_chunk(t), nd_hamming_ef_bytes(&table.ef));
    return status == ND_OK ? end_chunk(w, nd_hamming_numbers_chunk(t), numbers) : status;
}

static enum nd_status write_sums(struct spilled_writer *w)
{
    struct nd_hamming_chunk *c = &w->chunk[nd_hamming_sums_chunk(w->scheme->plan.tables)];

    if (!nd_checked_sums_finish(&w->sums))
        return nd_fail(w->err, ND_ENOMEM, "out of memory for checksums");
    *c = (struct nd_hamming_chunk){.offset = w->at, .bytes = w->sums.n * sizeof *w->sums.sum};
    c->hash = nd_hash_bytes(w->sums.sum, (size_t)c->bytes);
    w->at += c->bytes;
    return nd_hamming_write_at(w->fd, w->name, w->sums.sum, (size_t)c->bytes, w->begin + c->offset,
                               w->err);
}

static enum nd_status write_all(struct spilled_writer *w)
{
    enum nd_status status = measure_ids(w);

    if (status == ND_OK)
        status = write_columns(w);
    if (status == ND_OK)
        status = write_rows(w);
    for (unsigned t = 0; t < w->scheme->plan.tables && status == ND_OK; t++)
        status = write_table(w, t);
    return status == ND_OK ? write_sums(w) : status;
}

enum nd_status nd_hamming_spilled_write(const struct nd_hamming_spilled *spilled,
                                        const struct nd_hamming_scheme *scheme, uint64_t first,
                                        uint64_t n, int fd, const char *name,
                                        struct nd_hamming_place *place, struct nd_error *err)
{
    size_t chunks = nd_hamming_chunks(scheme->plan.tables);
    size_t head = chunks * sizeof(struct nd_hamming_chunk);
    struct nd_error own;
    struct spilled_writer w = {.spilled = spilled,
                               .scheme = scheme,
                               .fd = fd,
                               .name = name,
                               .first = first,
                               .n = n,
                               .begin = place->offset,
                               .at = head,
                               .err = err ? err : &own};
    enum nd_status status = ND_OK;

    w.chunk = calloc(chunks, sizeof *w.chunk);
    w.rows = nd_spool_new(spilled->tmp, w.err);
    if (!w.chunk)
        status = nd_fail(w.err, ND_ENOMEM, "out of memory");
    else
        status = w.rows ? write_all(&w) : w.err->status;
    if (status == ND_OK)
        status = nd_hamming_write_at(fd, name, w.chunk, head, w.begin, err);
    if (status == ND_OK) {
        place->bytes = w.at;
        place->count = n;
        place->distinct = w.distinct;
        place->has_texts = w.has_texts;
        place->hash = nd_hash_bytes(w.chunk, head);
    }
    nd_buffer_release(&w.text[0]);
    nd_buffer_release(&w.text[1]);
    nd_checked_sums_release(&w.sums);
    nd_spool_free(w.rows);
    free(w.chunk);
    return status;
}
