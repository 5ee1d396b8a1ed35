/* hamming_file.c - an index file: open and check everything, look up */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/hamming_file.h"
#include "index/hamming_index.h"
#include "index/hamming_plan.h"
#include "simd/hamming_kernels.h"

enum { AT_ONCE = 512 };

struct table {
    struct nd_hamming_order order;
    struct nd_hamming_ef values;
};

struct nd_hamming_file {
    const unsigned char *data;
    size_t len;
    struct nd_hamming_header header;
    struct nd_hamming_plan plan;
    struct table *table;
    const uint32_t *id;
    void *map; /* NULL: the bytes are the caller's */
};

static enum nd_status damaged(const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "no index file, or a damaged one: %s", what);
}

/* The header and that the chunks are where they should be and what they were. */
static enum nd_status check_chunks(struct nd_hamming_file *f, const struct nd_hamming_chunk *chunk,
                                   struct nd_error *err)
{
    size_t n = (size_t)f->header.tables + 1;
    uint64_t offset = sizeof f->header + n * sizeof *chunk;

    if (nd_hamming_header_hash(&f->header, chunk) != f->header.hash)
        return damaged("the header's checksum is wrong", err);
    for (size_t i = 0; i < n; i++) {
        if (chunk[i].offset != offset || chunk[i].bytes > f->len - offset || chunk[i].bytes % 8)
            return damaged("a table is not where it should be", err);
        if (nd_hash_bytes(f->data + offset, chunk[i].bytes) != chunk[i].hash)
            return damaged("a table's checksum is wrong", err);
        offset += chunk[i].bytes;
    }
    return offset == f->len ? ND_OK : damaged("it is longer than it should be", err);
}

static enum nd_status read_header(struct nd_hamming_file *f, struct nd_error *err)
{
    struct nd_hamming_header *h = &f->header;

    if (f->len < sizeof *h)
        return damaged("it is too short", err);
    memcpy(h, f->data, sizeof *h);
    if (memcmp(h->magic, ND_HAMMING_MAGIC, sizeof h->magic) != 0)
        return damaged("it begins otherwise", err);
    if (h->version != ND_HAMMING_VERSION)
        return nd_fail(err, ND_EUNSUPPORTED, "an index file of version %u: this is for %d",
                       h->version, ND_HAMMING_VERSION);
    if (h->file_bytes != f->len)
        return damaged("its length is not what it says", err);
    if (h->tables < 1 || h->tables > ND_HAMMING_TABLES_MAX ||
        f->len < sizeof *h + ((size_t)h->tables + 1) * sizeof(struct nd_hamming_chunk))
        return damaged("its number of tables cannot be", err);
    if (h->count > UINT32_MAX || h->distinct > h->count)
        return damaged("its number of fingerprints cannot be", err);
    return ND_OK;
}

/* The design again, from its name. */
static enum nd_status make_plan(struct nd_hamming_file *f, struct nd_error *err)
{
    const struct nd_hamming_header *h = &f->header;
    const struct nd_hamming_problem problem = {h->bits, h->distance, h->count};
    enum nd_hamming_family family =
        h->family == ND_HAMMING_BLOCKS ? ND_HAMMING_BLOCKS : ND_HAMMING_COVERING;
    uint64_t *keys;

    if ((h->family != ND_HAMMING_BLOCKS && h->family != ND_HAMMING_COVERING) || h->bits > 64 ||
        h->key_bits == 0 ||
        nd_hamming_design(&problem, NULL, family, h->key_bits, 0, &f->plan, NULL) != ND_OK ||
        f->plan.tables != h->tables || f->plan.key_bits != h->key_bits)
        return damaged("its design is unknown", err);
    keys = nd_hamming_keys_new(&f->plan);
    f->table = nd_alloc_array(h->tables, sizeof *f->table);
    for (unsigned t = 0; keys && f->table && t < h->tables; t++)
        nd_hamming_order_init(&f->table[t].order, keys[t], h->bits);
    free(keys);
    return keys && f->table ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for a file's tables");
}

/*
 * Values have `bits` bits, and the tables hold the same distinct fingerprints: as many, with the
 * same sum of their hashes, whatever the order; none but the first holds one twice.
 */
static enum nd_status check_values(const struct nd_hamming_file *f, unsigned t, uint64_t *sum,
                                   struct nd_error *err)
{
    const struct nd_hamming_ef *ef = &f->table[t].values;
    uint64_t value[AT_ONCE], before = 0, distinct = 0, spare = 64 - f->header.bits;

    *sum = 0;
    for (uint64_t i = 0; i < ef->n; i += AT_ONCE) {
        size_t n = ef->n - i < AT_ONCE ? (size_t)(ef->n - i) : AT_ONCE;

        nd_hamming_ef_decode(ef, i, n, value);
        for (size_t j = 0; j < n; j++) {
            if (spare && value[j] << (64 - spare))
                return damaged("a fingerprint has too many bits", err);
            if (i + j == 0 || value[j] != before) {
                *sum += nd_mix64(nd_hamming_restore(&f->table[t].order, value[j]));
                distinct++;
            }
            before = value[j];
        }
    }
    if (distinct != f->header.distinct || (t > 0 && distinct != ef->n))
        return damaged("its tables differ in their fingerprints", err);
    return ND_OK;
}

static enum nd_status open_tables(struct nd_hamming_file *f, const struct nd_hamming_chunk *chunk,
                                  struct nd_error *err)
{
    const struct nd_hamming_chunk *ids = &chunk[ND_HAMMING_IDS_CHUNK];
    enum nd_status status = ND_OK;
    uint64_t sum = 0, first_sum = 0;

    if (ids->bytes != (f->header.count + 1) / 2 * 8)
        return damaged("its ids are too few or too many", err);
    f->id = (const uint32_t *)(const void *)(f->data + ids->offset);
    for (unsigned t = 0; t < f->header.tables && status == ND_OK; t++) {
        const struct nd_hamming_chunk *c = &chunk[nd_hamming_table_chunk(t)];

        status = nd_hamming_ef_open(&f->table[t].values, t ? f->header.distinct : f->header.count,
                                    f->data + c->offset, (size_t)c->bytes, err);
        if (status == ND_OK)
            status = check_values(f, t, &sum, err);
        if (t == 0)
            first_sum = sum;
        if (status == ND_OK && sum != first_sum)
            status = damaged("its tables differ in their fingerprints", err);
    }
    return status;
}

enum nd_status nd_hamming_file_init(struct nd_hamming_file **file, const void *data, size_t len,
                                    struct nd_error *err)
{
    struct nd_hamming_file *f = calloc(1, sizeof *f);
    const struct nd_hamming_chunk *chunk;
    enum nd_status status;

    if (!f)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    f->data = data;
    f->len = len;
    chunk = (const struct nd_hamming_chunk *)(const void *)(f->data + sizeof f->header);
    status = read_header(f, err);
    if (status == ND_OK)
        status = check_chunks(f, chunk, err);
    if (status == ND_OK)
        status = make_plan(f, err);
    if (status == ND_OK)
        status = open_tables(f, chunk, err);
    if (status != ND_OK) {
        nd_hamming_file_close(f);
        return status;
    }
    *file = f;
    return ND_OK;
}

enum nd_status nd_hamming_file_open(struct nd_hamming_file **file, const char *path,
                                    struct nd_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct nd_error inner = {.status = ND_OK};
    struct stat info;
    enum nd_status status;
    void *map;

    if (fd < 0 || fstat(fd, &info) != 0) {
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    map = info.st_size > 0 ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0)
                           : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED)
        return info.st_size > 0 ? nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno))
                                : nd_fail(err, ND_EINPUT, "%s: it is empty", path);
    status = nd_hamming_file_init(file, map, (size_t)info.st_size, &inner);
    if (status != ND_OK) {
        munmap(map, (size_t)info.st_size);
        return nd_fail(err, status, "%s: %.900s", path, inner.message);
    }
    (*file)->map = map;
    return ND_OK;
}

void nd_hamming_file_close(struct nd_hamming_file *file)
{
    if (!file)
        return;
    if (file->map)
        munmap(file->map, file->len);
    free(file->table);
    free(file);
}

const struct nd_hamming_plan *nd_hamming_file_design(const struct nd_hamming_file *file)
{
    return &file->plan;
}

uint64_t nd_hamming_file_distinct(const struct nd_hamming_file *file)
{
    return file->header.distinct;
}

uint64_t nd_hamming_file_bytes(const struct nd_hamming_file *file)
{
    return file->header.file_bytes;
}

struct search {
    const struct nd_hamming_file *file;
    uint64_t query;
    uint32_t number;
    unsigned distance;
    struct nd_hamming_sink sink;
};

/* Every id of a fingerprint, found by its value in table 0; `at` is the first such. */
static void emit_ids(struct search *s, uint64_t value, uint64_t at, unsigned distance)
{
    const struct nd_hamming_ef *ef = &s->file->table[0].values;
    uint64_t there[16];

    for (bool equal = true; equal && at < ef->n;) {
        size_t n = ef->n - at < 16 ? (size_t)(ef->n - at) : 16;

        nd_hamming_ef_decode(ef, at, n, there);
        for (size_t i = 0; i < n && equal; i++, at += equal) {
            equal = there[i] == value;
            if (equal)
                nd_hamming_sink_id(&s->sink, s->number, s->file->id[at], distance);
        }
    }
}

/* A value of table t that is near: reported where no table before sees it. */
static void found(struct search *s, unsigned t, uint64_t value)
{
    const struct table *first = &s->file->table[0];
    uint64_t x = nd_hamming_restore(&s->file->table[t].order, value), in_first;

    for (unsigned before = 0; before < t; before++)
        if (!((x ^ s->query) & s->file->table[before].order.key))
            return;
    in_first = nd_hamming_permute(&first->order, x);
    emit_ids(s, in_first, nd_hamming_ef_rank(&first->values, in_first),
             (unsigned)__builtin_popcountll(x ^ s->query));
}

/* All values that agree with the query in the key: between two places of the sorted table. */
static void search_table(struct search *s, unsigned t)
{
    const struct nd_hamming_kernels *kernels = nd_hamming_kernels();
    const struct table *table = &s->file->table[t];
    uint64_t query = nd_hamming_permute(&table->order, s->query), value[AT_ONCE], before = 0;
    uint64_t rest = table->order.key_bits == 64 ? 0 : ~UINT64_C(0) >> table->order.key_bits;
    uint64_t at = nd_hamming_ef_rank(&table->values, query & ~rest);
    uint64_t end = (query | rest) == UINT64_MAX
                       ? table->values.n
                       : nd_hamming_ef_rank(&table->values, (query | rest) + 1);
    uint32_t near[AT_ONCE];
    bool any = false;

    for (; at < end; at += AT_ONCE) {
        size_t n = end - at < AT_ONCE ? (size_t)(end - at) : AT_ONCE, count;

        nd_hamming_ef_decode(&table->values, at, n, value);
        count = kernels->rows(value, n, 1, &query, s->distance, near);
        for (size_t i = 0; i < count; i++) { /* equal values of table 0 are one fingerprint */
            if (!any || value[near[i]] != before)
                found(s, t, value[near[i]]);
            any = true;
            before = value[near[i]];
        }
    }
}

enum nd_status nd_hamming_file_query(const struct nd_hamming_file *file, const uint64_t *queries,
                                     size_t n, unsigned distance, struct nd_hamming_matches *out,
                                     struct nd_error *err)
{
    struct search s = {.file = file, .distance = distance, .sink = {.matches = out}};
    enum nd_status status = nd_hamming_check_bits(queries, n, file->header.bits, err);

    if (status != ND_OK)
        return status;
    if (distance > file->header.distance)
        return nd_fail(err, ND_EINVAL, "distance %u: the file was made for %u at most", distance,
                       file->header.distance);
    for (size_t i = 0; i < n && !s.sink.out_of_memory; i++) {
        s.query = queries[i];
        s.number = (uint32_t)i;
        for (unsigned t = 0; t < file->header.tables; t++)
            search_table(&s, t);
    }
    return s.sink.out_of_memory ? nd_fail(err, ND_ENOMEM, "out of memory for the matches") : ND_OK;
}
