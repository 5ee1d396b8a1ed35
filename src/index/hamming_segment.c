/* hamming_segment.c - index files: one segment, checked as it is opened, and searched */
#include "index/hamming_segment.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "simd/hamming_kernels.h"

enum { AT_ONCE = 512 };

static enum nd_status damaged(const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "a damaged index file: %s", what);
}

enum nd_status nd_hamming_segment_check_sums(const struct nd_hamming_place *place, unsigned tables,
                                             const unsigned char *data, struct nd_error *err)
{
    const struct nd_hamming_chunk *chunk = (const struct nd_hamming_chunk *)(const void *)data;
    size_t n = nd_hamming_chunks(tables);
    uint64_t offset = n * sizeof *chunk;

    if (place->bytes < offset || nd_hash_bytes(data, (size_t)offset) != place->hash)
        return damaged("the checksum of a segment is wrong", err);
    for (size_t i = 0; i < n; i++) {
        if (chunk[i].offset != offset || chunk[i].bytes > place->bytes - offset ||
            chunk[i].bytes % 8)
            return damaged("a table is not where it should be", err);
        if (nd_hash_bytes(data + offset, (size_t)chunk[i].bytes) != chunk[i].hash)
            return damaged("a table's checksum is wrong", err);
        offset += chunk[i].bytes;
    }
    return offset == place->bytes ? ND_OK : damaged("a segment is too long", err);
}

/* Ids, which of them are of the same fingerprint, and the wide fingerprints themselves. */
static enum nd_status open_columns(struct nd_hamming_segment *s,
                                   const struct nd_hamming_scheme *scheme,
                                   const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                   struct nd_error *err)
{
    const struct nd_hamming_chunk *ids = &chunk[ND_HAMMING_IDS], *rows = &chunk[ND_HAMMING_ROWS];
    const struct nd_hamming_chunk *groups = &chunk[ND_HAMMING_GROUPS];
    uint64_t row_bytes = nd_hamming_is_wide(scheme->bits) ? scheme->words * 8 : 0;

    if (s->has_texts &&
        !nd_hamming_texts_open(&s->texts, s->count, data + ids->offset, (size_t)ids->bytes))
        return damaged("its ids are not what they should be", err);
    if (!s->has_texts && ids->bytes != (s->count + 1) / 2 * 8)
        return damaged("its ids are too few or too many", err);
    if (!s->has_texts)
        s->id = (const uint32_t *)(const void *)(data + ids->offset);
    if (!nd_hamming_groups_open(&s->groups, s->count, s->distinct, data + groups->offset,
                                (size_t)groups->bytes))
        return damaged("its ids are not those of its fingerprints", err);
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
static enum nd_status check_rows(const struct nd_hamming_segment *s,
                                 const struct nd_hamming_scheme *scheme, struct nd_error *err)
{
    const struct nd_hamming_values *values = &s->table[0].values;
    unsigned over = scheme->bits % 64;
    uint64_t value[AT_ONCE], before = 0;

    for (uint64_t i = 0; i < s->distinct; i += AT_ONCE) {
        size_t n = s->distinct - i < AT_ONCE ? (size_t)(s->distinct - i) : AT_ONCE;

        nd_hamming_values_decode(values, i, n, value);
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
static enum nd_status check_table(const struct nd_hamming_segment *s,
                                  const struct nd_hamming_scheme *scheme, unsigned t,
                                  uint64_t *first_sum, struct nd_error *err)
{
    const struct nd_hamming_table *table = &s->table[t];
    const struct nd_hamming_order *order = &scheme->order[t];
    uint64_t most = ~UINT64_C(0) >> (64 - table->values.bits);
    struct nd_hamming_range range = nd_hamming_values_range(&table->values, 0, most);
    uint64_t value[AT_ONCE], sum = 0, at = 0, before = 0;

    for (size_t n; (n = nd_hamming_values_next(&table->values, &range, AT_ONCE, value)); at += n)
        for (size_t i = 0; i < n; before = value[i++]) {
            uint64_t number = 0;

            if (!s->row && at + i && value[i] == before)
                return damaged("a table holds a fingerprint twice", err);
            if (s->row && t)
                number = nd_hamming_number_get(table->number, s->number_bits, at + i);
            if (number >= s->distinct)
                return damaged("a table names a fingerprint that is not there", err);
            sum += s->row ? hash_pair(value[i], number)
                          : nd_mix64(nd_hamming_restore(order, value[i]));
        }
    if (t == 0)
        *first_sum = sum;
    for (uint64_t i = 0; s->row && t && i < s->distinct; i++)
        sum -= hash_pair(nd_hamming_lead(order, s->row + i * scheme->words), i);
    if (t && sum != (s->row ? 0 : *first_sum))
        return damaged("its tables differ in their fingerprints", err);
    return ND_OK;
}

static enum nd_status open_tables(struct nd_hamming_segment *s,
                                  const struct nd_hamming_scheme *scheme,
                                  const struct nd_hamming_chunk *chunk, const unsigned char *data,
                                  struct nd_error *err)
{
    uint64_t number_bytes = 8 * nd_hamming_number_words(s->distinct, s->number_bits);
    enum nd_status status = ND_OK;
    uint64_t first_sum = 0;

    for (unsigned t = 0; t < scheme->tables && status == ND_OK; t++) {
        const struct nd_hamming_chunk *values = &chunk[nd_hamming_values_chunk(t)];
        const struct nd_hamming_chunk *numbers = &chunk[nd_hamming_numbers_chunk(t)];

        if (numbers->bytes != (s->row && t ? number_bytes : 0))
            return damaged("a table has too few or too many numbers", err);
        s->table[t].number = (const uint64_t *)(const void *)(data + numbers->offset);
        status = nd_hamming_values_open(&s->table[t].values, scheme->codec,
                                        nd_hamming_lead_bits(scheme->bits), s->distinct,
                                        data + values->offset, (size_t)values->bytes, err);
        if (status == ND_OK)
            status = check_table(s, scheme, t, &first_sum, err);
        if (status == ND_OK && t == 0 && s->row)
            status = check_rows(s, scheme, err);
    }
    return status;
}

enum nd_status nd_hamming_segment_open(struct nd_hamming_segment *segment,
                                       const struct nd_hamming_scheme *scheme,
                                       const struct nd_hamming_place *place,
                                       const unsigned char *data, struct nd_error *err)
{
    const struct nd_hamming_chunk *chunk = (const struct nd_hamming_chunk *)(const void *)data;
    struct nd_hamming_segment made = {.count = place->count,
                                      .distinct = place->distinct,
                                      .has_texts = place->has_texts != 0,
                                      .number_bits = nd_hamming_number_bits(place->distinct)};
    enum nd_status status = nd_hamming_segment_check_sums(place, scheme->tables, data, err);

    if (status == ND_OK)
        status = open_columns(&made, scheme, chunk, data, err);
    if (status != ND_OK)
        return status;
    made.table = calloc(scheme->tables, sizeof *made.table);
    if (!made.table)
        return nd_fail(err, ND_ENOMEM, "out of memory for a file's tables");
    status = open_tables(&made, scheme, chunk, data, err);
    if (status == ND_OK)
        *segment = made;
    else
        nd_hamming_segment_close(&made, scheme->tables);
    return status;
}

void nd_hamming_segment_close(struct nd_hamming_segment *segment, unsigned tables)
{
    for (unsigned t = 0; segment->table && t < tables; t++)
        nd_hamming_values_close(&segment->table[t].values);
    free(segment->table);
    segment->table = NULL;
}

void nd_hamming_segment_rows(const struct nd_hamming_segment *segment,
                             const struct nd_hamming_scheme *scheme, uint64_t first, size_t n,
                             uint64_t *row)
{
    const struct nd_hamming_groups *groups = &segment->groups;
    uint64_t number = nd_hamming_groups_number(groups, first), narrow[AT_ONCE];
    uint64_t end = nd_hamming_groups_end(groups, nd_hamming_groups_start(groups, number));

    for (size_t i = 0; i < n;) {
        uint64_t left = segment->distinct - number;
        size_t some = n - i < AT_ONCE ? n - i : AT_ONCE;

        some = left < some ? (size_t)left : some;
        if (!segment->row)
            nd_hamming_values_decode(&segment->table[0].values, number, some, narrow);
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
}

/* Every id of the fingerprint with this number in table 0. */
static void emit(const struct nd_hamming_segment *s, struct nd_hamming_search *q, uint64_t number,
                 unsigned distance)
{
    uint64_t at = nd_hamming_groups_start(&s->groups, number);
    uint64_t end = nd_hamming_groups_end(&s->groups, at);

    for (; at < end; at++)
        nd_hamming_sink_id(&q->sink, q->number, q->entries ? q->base + (uint32_t)at : s->id[at],
                           distance);
}

static unsigned distance_of(const uint64_t *a, const uint64_t *b, size_t words)
{
    unsigned distance = 0;

    for (size_t w = 0; w < words; w++)
        distance += (unsigned)__builtin_popcountll(a[w] ^ b[w]);
    return distance;
}

/* Place `at` of table t leads like the query: reported where no table before sees it. */
static void found(const struct nd_hamming_segment *s, struct nd_hamming_search *q, unsigned t,
                  uint64_t at, uint64_t value)
{
    const struct nd_hamming_scheme *scheme = q->scheme;
    const struct nd_hamming_values *first = &s->table[0].values;
    uint64_t number = at, narrow;
    const uint64_t *row = &narrow;
    unsigned distance;

    if (s->row && t)
        number = nd_hamming_number_get(s->table[t].number, s->number_bits, at);
    if (s->row)
        row = s->row + number * scheme->words;
    else
        narrow = nd_hamming_restore(&scheme->order[t], value);
    distance = distance_of(row, q->query, scheme->words);
    if (distance > q->distance)
        return;
    for (unsigned before = 0; before < t; before++)
        if (nd_hamming_agree(&scheme->order[before], row, q->query))
            return;
    if (!s->row && t) {
        uint64_t in_first = nd_hamming_lead(&scheme->order[0], row);

        number = nd_hamming_values_range(first, in_first, in_first).at;
    }
    emit(s, q, number, distance);
}

/* All values that agree with the query in the key: between two places of the sorted table. */
static void search_table(const struct nd_hamming_segment *s, struct nd_hamming_search *q,
                         unsigned t)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct nd_hamming_order *order = &q->scheme->order[t];
    const struct nd_hamming_values *values = &s->table[t].values;
    unsigned bits = nd_hamming_lead_bits(q->scheme->bits), free_bits = bits - order->key_bits;
    uint64_t rest = free_bits ? ~UINT64_C(0) >> (64 - free_bits) : 0, value[AT_ONCE];
    uint64_t query = nd_hamming_lead(order, q->query), at;
    struct nd_hamming_range range = nd_hamming_values_range(values, query & ~rest, query | rest);
    uint32_t near[AT_ONCE];

    for (size_t n; at = range.at, (n = nd_hamming_values_next(values, &range, AT_ONCE, value));) {
        size_t count = kernels->rows(value, n, 1, &query, q->distance, near);

        for (size_t i = 0; i < count; i++)
            found(s, q, t, at + near[i], value[near[i]]);
    }
}

void nd_hamming_segment_search(const struct nd_hamming_segment *segment,
                               struct nd_hamming_search *search)
{
    for (unsigned t = 0; t < search->scheme->tables; t++)
        search_table(segment, search, t);
}
