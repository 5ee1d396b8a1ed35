/* segment.c - one segment of an index file: written, opened, checked
 *
 * Written once and never changed: for each table the leads of the distinct fingerprints are sorted
 * and coded.  segment_lookup.c searches them.
 *
 * Opening reads little, so that a file of gigabytes is ready at once: a unit of it is compared with
 * its checksum when something in it is read.  nd_hamming_segment_check reads everything.
 */
#include "hamming/file/segment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/checked.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/sort.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "hamming/file/fast.h"
#include "hamming/file/packed_numbers.h"
#include "hamming/plan/fingerprint.h"

enum { AT_ONCE = 512 };

struct segment_writer {
    const struct nd_hamming_scheme *scheme;
    const struct nd_hamming_entries *source;
    int fd;
    const char *name;
    uint64_t begin, at; /* of the segment in the file; where the next chunk begins, from there */
    struct nd_hamming_chunk *chunk;
    struct nd_numbered_value *entry, *other;
    size_t n, distinct;
    uint64_t *row;                /* distinct fingerprints in the order of table 0 */
    struct nd_checked_sums *sums; /* of all chunks so far; NULL while they are written */
};

enum nd_status nd_hamming_write_at(int fd, const char *name, const void *data, size_t bytes,
                                   uint64_t offset, struct nd_error *err)
{
    if (!nd_descriptor_write_at(fd, data, bytes, offset))
        return nd_fail(err, ND_EIO, "%s: cannot be written: %s", name, strerror(errno));
    return ND_OK;
}

/* The place of a chunk that follows these bytes. */
static uint64_t chunk_place(enum nd_hamming_file_layout layout, uint64_t end)
{
    const uint64_t align = layout == ND_HAMMING_FAST ? ND_HAMMING_FAST_ALIGN : 1;

    return (end + align - 1) / align * align;
}

/* Go on with the checksums of units, which begin with the first chunk. */
static bool add_sums(struct segment_writer *w, size_t chunk, size_t gap, const void *data,
                     size_t bytes)
{
    return !w->sums || ((chunk == ND_HAMMING_IDS || nd_checked_sums_add(w->sums, NULL, gap)) &&
                        nd_checked_sums_add(w->sums, data, bytes));
}

static enum nd_status write_chunk(struct segment_writer *w, size_t chunk, const void *data,
                                  size_t bytes, struct nd_error *err)
{
    uint64_t end = w->at;
    enum nd_status status;

    w->at = chunk_place(w->scheme->layout, end);
    if (!add_sums(w, chunk, (size_t)(w->at - end), data, bytes))
        return nd_fail(err, ND_ENOMEM, "out of memory for checksums");
    status = nd_hamming_write_at(w->fd, w->name, data, bytes, w->begin + w->at, err);
    w->chunk[chunk] = (struct nd_hamming_chunk){w->at, bytes, nd_hash_bytes(data, bytes)};
    w->at += bytes;
    return status;
}

/* Order entries that lead equally: by the whole fingerprint, then by id. */
static int by_row_and_id(const void *a, const void *b, void *context)
{
    const struct segment_writer *w = context;
    const struct nd_hamming_entries *s = w->source;
    uint32_t x = ((const struct nd_numbered_value *)a)->number,
             y = ((const struct nd_numbered_value *)b)->number;
    size_t words = w->scheme->words;
    int order = nd_hamming_compare(s->fingerprints + x * words, s->fingerprints + y * words, words);

    if (order)
        return order;
    if (s->texts)
        return strcmp(s->texts[x], s->texts[y]);
    return (s->ids[x] > s->ids[y]) - (s->ids[x] < s->ids[y]);
}

static void sort_equal(struct segment_writer *w)
{
    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i + 1; end < w->n && w->entry[end].value == w->entry[i].value; end++)
            ;
        if (end - i > 1)
            nd_sort_with(w->entry + i, end - i, sizeof *w->entry, by_row_and_id, w);
    }
}

static enum nd_status write_texts(struct segment_writer *w, struct nd_error *err)
{
    const char *const *text = w->source->texts;
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
static enum nd_status write_ids(struct segment_writer *w, struct nd_error *err)
{
    uint32_t *id = (uint32_t *)(void *)w->other;

    if (w->source->texts)
        return write_texts(w, err);
    for (size_t i = 0; i < w->n; i++)
        id[i] = w->source->ids[w->entry[i].number];
    id[w->n] = 0;
    return write_chunk(w, ND_HAMMING_IDS, id, (w->n + 1) / 2 * 8, err);
}

/* The fingerprint of sorted entry i: as it is in the source, or, if its lead is all of it, from that,
 * which is at hand. */
static const uint64_t *row_of(const struct segment_writer *w, size_t i, uint64_t *narrow)
{
    const struct nd_hamming_order *order = w->scheme->order;

    if (w->scheme->words > 1 || (order && order->ones_at))
        return w->source->fingerprints + w->entry[i].number * w->scheme->words;
    *narrow = order ? nd_hamming_restore(order, w->entry[i].value) : w->entry[i].value;
    return narrow;
}

/*
 * Which entries begin a group, and the first of each as a row.  `other` is large enough for the
 * bits.
 */
static enum nd_status write_groups(struct segment_writer *w, struct nd_error *err)
{
    uint64_t *bit = (uint64_t *)(void *)w->other;
    size_t words = w->scheme->words;

    memset(bit, 0, (w->n + 63) / 64 * sizeof *bit + w->n / 64 + 16);
    w->distinct = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint64_t narrow;
        const uint64_t *row = row_of(w, i, &narrow);

        if (i && nd_hamming_compare(row, w->row + (w->distinct - 1) * words, words) == 0)
            continue;
        memcpy(w->row + w->distinct++ * words, row, words * sizeof *row);
        bit[i / 64] |= UINT64_C(1) << i % 64;
    }
    if (w->distinct < w->n)
        nd_hamming_groups_finish(w->n, bit);
    return write_chunk(w, ND_HAMMING_GROUPS, bit, nd_hamming_groups_bytes(w->n, w->distinct), err);
}

/* The values of sorted entries, and the numbers beside them; `other` is free and takes them. */
static enum nd_status write_table(struct segment_writer *w, unsigned t, struct nd_error *err)
{
    unsigned bits = nd_hamming_number_bits(w->distinct);
    size_t words = (size_t)nd_packed_words(w->distinct, bits), bytes;
    uint64_t *out = (uint64_t *)(void *)w->other;
    enum nd_status status;
    void *data;

    for (size_t i = 0; i < w->distinct; i++)
        out[i] = w->entry[i].value;
    status = nd_hamming_values_encode(w->scheme->codec,
                                      nd_hamming_lead_bits(w->scheme->plan.problem.bits),
                                      w->scheme->ef, out, w->distinct, &data, &bytes, err);
    if (status != ND_OK)
        return status;
    status = write_chunk(w, nd_hamming_values_chunk(t), data, bytes, err);
    nd_table_free(data, bytes);
    if (status != ND_OK || t == 0 || !nd_hamming_is_wide(w->scheme->plan.problem.bits))
        return status == ND_OK ? write_chunk(w, nd_hamming_numbers_chunk(t), NULL, 0, err) : status;
    memset(out, 0, words * sizeof *out);
    for (size_t i = 0; i < w->distinct; i++)
        nd_packed_put(out, bits, i, w->entry[i].number);
    return write_chunk(w, nd_hamming_numbers_chunk(t), out, words * sizeof *out, err);
}

/*
 * Put the rows of table 0 of the layout fast (fast.h), one for each distinct fingerprint, in place
 * of the entries.
 */
static void list_owns(struct segment_writer *w)
{
    size_t distinct = 0;

    for (size_t i = 0, end; i < w->n; i = end) {
        for (end = i + 1; end < w->n && w->entry[end].value == w->entry[i].value; end++)
            ;
        w->entry[distinct++] =
            (struct nd_numbered_value){w->entry[i].value, (uint32_t)i, end - i > 1};
    }
}

static enum nd_status write_sums(struct segment_writer *w, struct nd_error *err)
{
    struct nd_checked_sums *sums = w->sums;

    w->sums = NULL; /* they are not of themselves */
    if (!nd_checked_sums_finish(sums))
        return nd_fail(err, ND_ENOMEM, "out of memory for checksums");
    return write_chunk(w, nd_hamming_sums_chunk(w->scheme->plan.tables), sums->sum,
                       sums->n * sizeof *sums->sum, err);
}

/* The tables of the layout fast. */
static enum nd_status write_lines(struct segment_writer *w, struct nd_error *err)
{
    struct nd_hamming_plan plan = w->scheme->plan;
    struct nd_halves *halves;
    enum nd_status status = ND_OK;

    plan.problem.count = w->distinct; /* by which the number of lines is chosen */
    halves = nd_halves_apart(&plan, NULL);
    if (!halves)
        return nd_fail(err, ND_ENOMEM, "out of memory for an index");
    list_owns(w);
    for (unsigned t = 0; t < w->scheme->plan.tables && status == ND_OK; t++) {
        struct nd_hamming_fast_lines lines = {.main = NULL};

        status = nd_hamming_fast_fill(halves, t, w->entry, w->distinct, &lines, err);
        if (status == ND_OK)
            status = write_chunk(w, nd_hamming_values_chunk(t), lines.main,
                                 lines.n_main * sizeof *lines.main, err);
        if (status == ND_OK)
            status = write_chunk(w, nd_hamming_numbers_chunk(t), lines.over,
                                 lines.n_over * sizeof *lines.over, err);
        nd_hamming_fast_release(&lines);
    }
    nd_halves_free(halves);
    return status;
}

/* Sort all entries for table 0. */
static void sort_all(struct segment_writer *w)
{
    const struct nd_hamming_order *order = w->scheme->order;

    for (size_t i = 0; i < w->n; i++) {
        const uint64_t *row = w->source->fingerprints + i * w->scheme->words;

        w->entry[i] =
            (struct nd_numbered_value){order ? nd_hamming_lead(order, row) : *row, (uint32_t)i, 0};
    }
    nd_sort_numbered(&w->entry, &w->other, w->n);
    sort_equal(w);
}

/* The tables of sorted values. */
static enum nd_status write_tables(struct segment_writer *w, struct nd_error *err)
{
    const size_t words = w->scheme->words;
    enum nd_status status = ND_OK;

    for (unsigned t = 0; t < w->scheme->plan.tables && status == ND_OK; t++) {
        for (size_t i = 0; i < w->distinct; i++)
            w->entry[i] = (struct nd_numbered_value){
                nd_hamming_lead(&w->scheme->order[t], w->row + i * words), (uint32_t)i, 0};
        nd_sort_numbered(&w->entry, &w->other, w->distinct);
        status = write_table(w, t, err);
    }
    return status;
}

/* Ids, groups and rows in the order of table 0, then the tables, then the checksums. */
static enum nd_status write_all(struct segment_writer *w, struct nd_error *err)
{
    size_t words = w->scheme->words;
    bool has_rows = nd_hamming_has_rows(w->scheme);
    enum nd_status status;

    sort_all(w);
    status = write_ids(w, err);
    if (status == ND_OK)
        status = write_groups(w, err);
    if (status == ND_OK)
        status =
            write_chunk(w, ND_HAMMING_ROWS, w->row, has_rows ? w->distinct * words * 8 : 0, err);
    if (status == ND_OK)
        status = w->scheme->layout == ND_HAMMING_FAST ? write_lines(w, err) : write_tables(w, err);
    return status == ND_OK ? write_sums(w, err) : status;
}

enum nd_status nd_hamming_segment_write(const struct nd_hamming_scheme *scheme,
                                        const struct nd_hamming_entries *entries, int fd,
                                        const char *name, struct nd_hamming_place *place,
                                        struct nd_error *err)
{
    struct segment_writer w = {
        .scheme = scheme, .source = entries, .fd = fd, .name = name, .n = entries->count};
    struct nd_checked_sums sums = {.in_unit = 0};
    size_t chunks = nd_hamming_chunks(scheme->plan.tables);
    size_t head = chunks * sizeof *w.chunk;
    size_t entry_bytes = (w.n + 2) * sizeof *w.entry, row_bytes = w.n * scheme->words * 8;
    struct nd_numbered_value *first = nd_table_alloc(entry_bytes),
                             *second = nd_table_alloc(entry_bytes);
    enum nd_status status = ND_ENOMEM;

    w.chunk = calloc(chunks, sizeof *w.chunk);
    w.row = nd_table_alloc(row_bytes);
    w.entry = first;
    w.other = second;
    w.begin = place->offset;
    w.at = head;
    w.sums = &sums;
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
        place->has_texts = entries->texts != NULL;
        place->hash = nd_hash_bytes(w.chunk, head);
    }
    nd_table_free(first, entry_bytes);
    nd_table_free(second, entry_bytes);
    nd_table_free(w.row, row_bytes);
    nd_checked_sums_release(&sums);
    free(w.chunk);
    return status;
}

static enum nd_status damaged(const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "a damaged index file: %s", what);
}

enum nd_status nd_hamming_damaged_there(struct nd_error *err)
{
    return damaged("the checksum of what is read is wrong; build it again", err);
}

/* The list of chunks: where they are. */
static enum nd_status check_chunks(const struct nd_hamming_place *place, unsigned tables,
                                   enum nd_hamming_file_layout layout, const unsigned char *data,
                                   struct nd_error *err)
{
    const struct nd_hamming_chunk *chunk = (const struct nd_hamming_chunk *)(const void *)data;
    size_t n = nd_hamming_chunks(tables);
    uint64_t offset = n * sizeof *chunk;

    if (place->bytes < offset || nd_hash_bytes(data, (size_t)offset) != place->hash)
        return damaged("the checksum of a segment is wrong", err);
    for (size_t i = 0; i < n; i++) {
        offset = chunk_place(layout, offset);
        if (chunk[i].offset != offset || offset > place->bytes ||
            chunk[i].bytes > place->bytes - offset || chunk[i].bytes % 8)
            return damaged("a table is not at its place", err);
        offset += chunk[i].bytes;
    }
    return offset == place->bytes ? ND_OK : damaged("a segment is too long", err);
}

static enum nd_status check_sum(const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                struct nd_error *err)
{
    if (nd_hash_bytes(data + chunk->offset, (size_t)chunk->bytes) != chunk->hash)
        return damaged("a table's checksum is wrong", err);
    return ND_OK;
}

/* Check the sums of chunks that are where they should be. */
static enum nd_status check_all_sums(unsigned tables, const unsigned char *data,
                                     struct nd_error *err)
{
    const struct nd_hamming_chunk *chunk = (const struct nd_hamming_chunk *)(const void *)data;
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < nd_hamming_chunks(tables) && status == ND_OK; i++)
        status = check_sum(&chunk[i], data, err);
    return status;
}

enum nd_status nd_hamming_segment_check_sums(const struct nd_hamming_place *place,
                                             const struct nd_hamming_header *header,
                                             const unsigned char *data, struct nd_error *err)
{
    enum nd_hamming_file_layout layout = (enum nd_hamming_file_layout)header->layout;
    enum nd_status status = check_chunks(place, header->tables, layout, data, err);

    return status == ND_OK ? check_all_sums(header->tables, data, err) : status;
}

/* Point at the checksums of all that is between the first chunk and them. */
static enum nd_status open_sums(struct nd_hamming_segment *s, const struct nd_hamming_chunk *chunk,
                                const unsigned char *data, struct nd_error *err)
{
    const struct nd_hamming_chunk *sums = &chunk[nd_hamming_sums_chunk(s->scheme->plan.tables)];
    uint64_t bytes = sums->offset - chunk[0].offset;

    if (sums->bytes != nd_checked_units(bytes) * sizeof(uint64_t))
        return damaged("it has too few or too many checksums", err);
    s->checked = nd_checked_new(data + chunk[0].offset, bytes,
                                (const uint64_t *)(const void *)(data + sums->offset));
    return s->checked ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for a file's tables");
}

/* Ids, which of them are of the same fingerprint, and the wide fingerprints themselves. */
static enum nd_status open_columns(struct nd_hamming_segment *s,
                                   const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                   struct nd_error *err)
{
    const struct nd_hamming_chunk *ids = &chunk[ND_HAMMING_IDS], *rows = &chunk[ND_HAMMING_ROWS];
    const struct nd_hamming_chunk *groups = &chunk[ND_HAMMING_GROUPS];
    uint64_t row_bytes = nd_hamming_has_rows(s->scheme) ? s->scheme->words * 8 : 0;

    if (s->has_texts &&
        !nd_hamming_texts_open(&s->texts, s->count, data + ids->offset, (size_t)ids->bytes))
        return damaged("its ids are malformed", err);
    if (!s->has_texts && ids->bytes != (s->count + 1) / 2 * 8)
        return damaged("its ids are too few or too many", err);
    if (!s->has_texts)
        s->id = (const uint32_t *)(const void *)(data + ids->offset);
    if (!nd_hamming_groups_open(&s->groups, s->count, s->distinct, data + groups->offset,
                                (size_t)groups->bytes))
        return damaged("its ids do not belong to its fingerprints", err);
    if (rows->bytes != s->distinct * row_bytes)
        return damaged("its fingerprints are too few or too many", err);
    if (row_bytes)
        s->row = (const uint64_t *)(const void *)(data + rows->offset);
    return ND_OK;
}

/*
 * Wide fingerprints have no bit too many, are distinct, and stand in the order of table 0: by their
 * leading bits, then by word 0, word 1 …; table 0 says the same of them.
 */
static enum nd_status check_rows(const struct nd_hamming_segment *s, struct nd_error *err)
{
    const struct nd_hamming_scheme *scheme = s->scheme;
    const struct nd_hamming_values *values = &s->table[0].values;
    unsigned over = scheme->plan.problem.bits % 64;
    uint64_t value[AT_ONCE], before = 0;

    for (uint64_t i = 0; i < s->distinct; i += AT_ONCE) {
        size_t n = s->distinct - i < AT_ONCE ? (size_t)(s->distinct - i) : AT_ONCE;

        if (!nd_hamming_values_decode(values, i, n, value))
            return nd_hamming_damaged_there(err);
        for (size_t j = 0; j < n; before = value[j++]) {
            const uint64_t *row = s->row + (i + j) * scheme->words;
            size_t w = 0;

            if (over && row[scheme->words - 1] >> over)
                return damaged("a fingerprint has too many bits", err);
            if (nd_hamming_lead(&scheme->order[0], row) != value[j])
                return damaged("its tables differ in their fingerprints", err);
            if (i + j == 0 || value[j] != before)
                continue;
            while (w < scheme->words && row[w] == (row - scheme->words)[w])
                w++;
            if (w == scheme->words || row[w] < (row - scheme->words)[w])
                return damaged("its fingerprints are not in order", err);
        }
    }
    return ND_OK;
}

/* A sum over pairs that does not depend on their order. */
static inline uint64_t hash_pair(uint64_t value, uint64_t number)
{
    return nd_mix64(value ^ nd_mix64(number));
}

/*
 * A table holds the same as table 0: the same fingerprints, or the leading bits of all rows, each
 * beside its number.  The sums of their hashes agree, whatever the order.
 */
static enum nd_status check_table(const struct nd_hamming_segment *s, unsigned t,
                                  uint64_t *first_sum, struct nd_error *err)
{
    const struct nd_hamming_table *table = &s->table[t];
    const struct nd_hamming_order *order = &s->scheme->order[t];
    uint64_t max = ~UINT64_C(0) >> (64 - table->values.bits);
    struct nd_hamming_range range = nd_hamming_values_range(&table->values, 0, max);
    uint64_t value[AT_ONCE], sum = 0, at = 0, before = 0;

    for (size_t n; (n = nd_hamming_values_next(&table->values, &range, AT_ONCE, value)); at += n)
        for (size_t i = 0; i < n; before = value[i++]) {
            uint64_t number = 0;

            if (!s->row && at + i && value[i] == before)
                return damaged("a table holds a fingerprint twice", err);
            if (s->row && t)
                number = nd_packed_get(table->number, s->number_bits, at + i);
            if (number >= s->distinct)
                return damaged("a table refers to a fingerprint that is not there", err);
            sum += s->row ? hash_pair(value[i], number)
                          : nd_mix64(nd_hamming_restore(order, value[i]));
        }
    if (t == 0)
        *first_sum = sum;
    for (uint64_t i = 0; s->row && t && i < s->distinct; i++)
        sum -= hash_pair(nd_hamming_lead(order, s->row + i * s->scheme->words), i);
    if (t && sum != (s->row ? 0 : *first_sum))
        return damaged("its tables differ in their fingerprints", err);
    return ND_OK;
}

static enum nd_status open_tables(struct nd_hamming_segment *s,
                                  const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                  struct nd_error *err)
{
    const struct nd_hamming_scheme *scheme = s->scheme;
    uint64_t number_bytes = 8 * nd_packed_words(s->distinct, s->number_bits);
    enum nd_status status = ND_OK;

    s->table = calloc(scheme->plan.tables, sizeof *s->table);
    if (!s->table)
        return nd_fail(err, ND_ENOMEM, "out of memory for a file's tables");
    for (unsigned t = 0; t < scheme->plan.tables && status == ND_OK; t++) {
        const struct nd_hamming_chunk *values = &chunk[nd_hamming_values_chunk(t)];
        const struct nd_hamming_chunk *numbers = &chunk[nd_hamming_numbers_chunk(t)];

        if (numbers->bytes != (s->row && t ? number_bytes : 0))
            return damaged("a table has too few or too many numbers", err);
        s->table[t].number = (const uint64_t *)(const void *)(data + numbers->offset);
        status = nd_hamming_values_point(
            &s->table[t].values, scheme->codec, nd_hamming_lead_bits(scheme->plan.problem.bits),
            scheme->ef, s->distinct, data + values->offset, (size_t)values->bytes, s->checked, err);
    }
    return status;
}

static enum nd_status check_tables(const struct nd_hamming_segment *s, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    uint64_t first_sum = 0;

    for (unsigned t = 0; t < s->scheme->plan.tables && status == ND_OK; t++) {
        status = nd_hamming_values_check(&s->table[t].values, err);
        if (status == ND_OK)
            status = check_table(s, t, &first_sum, err);
        if (status == ND_OK && t == 0 && s->row)
            status = check_rows(s, err);
    }
    return status;
}

/* Compare all units with their checksums. */
static enum nd_status check_units(const struct nd_hamming_segment *s, struct nd_error *err)
{
    for (size_t i = 0; i < nd_checked_units(s->checked->bytes); i++)
        if (!nd_checked_compare(s->checked, i))
            return damaged("the checksum of a unit is wrong", err);
    return ND_OK;
}

enum nd_status nd_hamming_segment_check(const struct nd_hamming_segment *segment,
                                        const unsigned char *data, struct nd_error *err)
{
    enum nd_status status = check_all_sums(segment->scheme->plan.tables, data, err);

    if (status == ND_OK)
        status = check_units(segment, err);
    if (status == ND_OK)
        status = segment->halves ? nd_hamming_fast_check(segment, err) : check_tables(segment, err);
    return status;
}

/* Check those chunks that opening a segment reads: the others are checked as they are read. */
static enum nd_status check_read_at_once(const struct nd_hamming_segment *s,
                                         const struct nd_hamming_chunk *chunk,
                                         const unsigned char *data, struct nd_error *err)
{
    const unsigned tables = s->scheme->plan.tables;
    enum nd_status status = check_sum(&chunk[ND_HAMMING_GROUPS], data, err);

    if (status == ND_OK && s->has_texts)
        status = check_sum(&chunk[ND_HAMMING_IDS], data, err);
    for (unsigned t = 0; t < tables && s->scheme->codec != ND_HAMMING_EF && status == ND_OK; t++)
        status = check_sum(&chunk[nd_hamming_values_chunk(t)], data, err);
    if (status == ND_OK)
        status = check_sum(&chunk[nd_hamming_sums_chunk(tables)], data, err);
    return status;
}

enum nd_status nd_hamming_segment_open(struct nd_hamming_segment *segment,
                                       const struct nd_hamming_scheme *scheme,
                                       const struct nd_hamming_place *place,
                                       const unsigned char *data, struct nd_error *err)
{
    const struct nd_hamming_chunk *chunk = (const struct nd_hamming_chunk *)(const void *)data;
    struct nd_hamming_segment made = {.scheme = scheme,
                                      .count = place->count,
                                      .distinct = place->distinct,
                                      .has_texts = place->has_texts != 0,
                                      .number_bits = nd_hamming_number_bits(place->distinct)};
    enum nd_status status = check_chunks(place, scheme->plan.tables, scheme->layout, data, err);

    if (status == ND_OK)
        status = check_read_at_once(&made, chunk, data, err);
    if (status == ND_OK)
        status = open_columns(&made, chunk, data, err);
    if (status == ND_OK)
        status = open_sums(&made, chunk, data, err);
    if (status == ND_OK)
        status = scheme->layout == ND_HAMMING_FAST ? nd_hamming_fast_open(&made, chunk, data, err)
                                                   : open_tables(&made, chunk, data, err);
    if (status == ND_OK)
        *segment = made;
    else
        nd_hamming_segment_close(&made);
    return status;
}

void nd_hamming_segment_close(struct nd_hamming_segment *segment)
{
    for (unsigned t = 0; segment->table && t < segment->scheme->plan.tables; t++)
        nd_hamming_values_close(&segment->table[t].values);
    free(segment->table);
    segment->table = NULL;
    nd_halves_free(segment->halves);
    segment->halves = NULL;
    nd_checked_free(segment->checked);
    segment->checked = NULL;
}

bool nd_hamming_segment_rows(const struct nd_hamming_segment *segment, uint64_t first, size_t n,
                             uint64_t *row)
{
    const struct nd_hamming_scheme *scheme = segment->scheme;
    const struct nd_hamming_groups *groups = &segment->groups;
    uint64_t number = nd_hamming_groups_number(groups, first), narrow[AT_ONCE];
    uint64_t end = nd_hamming_groups_end(groups, nd_hamming_groups_start(groups, number));

    for (size_t i = 0; i < n;) {
        uint64_t left = segment->distinct - number;
        size_t some = n - i < AT_ONCE ? n - i : AT_ONCE;

        some = left < some ? (size_t)left : some;
        if (segment->row && !nd_hamming_is_sound(segment, segment->row + number * scheme->words,
                                                 some * scheme->words * sizeof *row))
            return false;
        if (!segment->row &&
            !nd_hamming_values_decode(&segment->table[0].values, number, some, narrow))
            return false;
        for (size_t j = 0; j < some && i < n; j++, number++) {
            const uint64_t *from = segment->row ? segment->row + number * scheme->words : narrow;

            if (!segment->row)
                *narrow = nd_hamming_restore(&scheme->order[0], narrow[j]);
            for (; i < n && first + i < end; i++)
                memcpy(row + i * scheme->words, from, scheme->words * sizeof *row);
            if (i < n)
                end = nd_hamming_groups_end(groups, end);
        }
    }
    return true;
}
