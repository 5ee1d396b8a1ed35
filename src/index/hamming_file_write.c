/* hamming_file_write.c - an index file: sort for each table, compress, write, sync, rename */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "index/hamming_layout.h"
#include "index/hamming_plan.h"

struct entry {
    uint64_t value;
    uint32_t id, unused;
};

struct writer {
    const char *path;
    char *temporary;
    FILE *file;
    struct nd_hamming_header header;
    struct nd_hamming_chunk *chunk;
    uint64_t offset; /* where the next chunk begins */
    struct entry *entry, *other;
    size_t n;
};

/* By bytes from the lowest; ids were in order, and equal values keep theirs. */
static void sort(struct writer *w)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t count[256] = {0}, sum = 0;
        struct entry *swap = w->entry;

        for (size_t i = 0; i < w->n; i++)
            count[w->entry[i].value >> shift & 255]++;
        if (w->n == 0 || count[w->entry[0].value >> shift & 255] == w->n)
            continue;
        for (int b = 0; b < 256; b++) {
            size_t here = count[b];

            count[b] = sum;
            sum += here;
        }
        for (size_t i = 0; i < w->n; i++)
            w->other[count[w->entry[i].value >> shift & 255]++] = w->entry[i];
        w->entry = w->other;
        w->other = swap;
    }
}

static int by_id(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static enum nd_status io_failed(const struct writer *w, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s", w->path, strerror(errno));
}

static enum nd_status write_chunk(struct writer *w, struct nd_hamming_chunk *chunk,
                                  const void *data, size_t bytes, struct nd_error *err)
{
    *chunk = (struct nd_hamming_chunk){w->offset, bytes, nd_hash_bytes(data, bytes)};
    w->offset += bytes;
    return fwrite(data, 1, bytes, w->file) == bytes ? ND_OK : io_failed(w, err);
}

/* The values of the sorted entries, coded; `other` is free and takes them first. */
static enum nd_status write_values(struct writer *w, struct nd_hamming_chunk *chunk,
                                   struct nd_error *err)
{
    struct nd_hamming_ef ef = nd_hamming_ef_shape(w->n);
    size_t bytes = nd_hamming_ef_bytes(&ef);
    void *data = nd_table_alloc(bytes);
    uint64_t *value = (uint64_t *)(void *)w->other;
    enum nd_status status;

    if (!data)
        return nd_fail(err, ND_ENOMEM, "out of memory for a table of %zu bytes", bytes);
    for (size_t i = 0; i < w->n; i++)
        value[i] = w->entry[i].value;
    nd_hamming_ef_encode(&ef, value, data);
    status = write_chunk(w, chunk, data, bytes, err);
    nd_table_free(data, bytes);
    return status;
}

static enum nd_status write_ids(struct writer *w, struct nd_hamming_chunk *chunk,
                                struct nd_error *err)
{
    uint32_t *id = (uint32_t *)(void *)w->other;

    for (size_t i = 0; i < w->n; i++)
        id[i] = w->entry[i].id;
    id[w->n] = 0;
    return write_chunk(w, chunk, id, (w->n + 1) / 2 * 8, err);
}

static void keep_distinct(struct writer *w)
{
    size_t kept = 0;

    for (size_t i = 0; i < w->n; i++)
        if (kept == 0 || w->entry[kept - 1].value != w->entry[i].value)
            w->entry[kept++] = w->entry[i];
    w->n = kept;
}

/* Table 0 and the ids, then the other tables of distinct values: each from the one before. */
static enum nd_status write_tables(struct writer *w, const struct nd_hamming_plan *plan,
                                   const uint64_t *keys, struct nd_error *err)
{
    struct nd_hamming_order before = {.key = 0}, order;
    enum nd_status status = ND_OK;

    for (unsigned t = 0; t < plan->tables && status == ND_OK; t++, before = order) {
        nd_hamming_order_init(&order, keys[t], plan->problem.bits);
        for (size_t i = 0; i < w->n; i++) {
            uint64_t x = w->entry[i].value;

            w->entry[i].value = nd_hamming_permute(&order, t ? nd_hamming_restore(&before, x) : x);
        }
        sort(w);
        status = write_values(w, &w->chunk[nd_hamming_table_chunk(t)], err);
        if (t > 0 || status != ND_OK)
            continue;
        status = write_ids(w, &w->chunk[ND_HAMMING_IDS_CHUNK], err);
        keep_distinct(w);
        w->header.distinct = w->n;
    }
    return status;
}

static bool open_temporary(struct writer *w)
{
    int fd;

    if (asprintf(&w->temporary, "%s.XXXXXX", w->path) < 0) {
        w->temporary = NULL;
        return false;
    }
    fd = mkostemp(w->temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    w->file = fdopen(fd, "wb");
    if (w->file)
        return true;
    close(fd);
    unlink(w->temporary);
    return false;
}

static void fill(struct writer *w, const struct nd_hamming_plan *plan, const uint64_t *fingerprints,
                 const uint32_t *ids)
{
    for (size_t i = 0; i < w->n; i++)
        w->entry[i] = (struct entry){fingerprints[i], ids ? ids[i] : (uint32_t)i, 0};
    if (ids && w->n)
        qsort(w->entry, w->n, sizeof *w->entry, by_id);
    w->header = (struct nd_hamming_header){
        .version = ND_HAMMING_VERSION,
        .bits = plan->problem.bits,
        .distance = plan->problem.distance,
        .family = (uint32_t)plan->family,
        .tables = plan->tables,
        .key_bits = plan->key_bits,
        .count = w->n,
    };
    memcpy(w->header.magic, ND_HAMMING_MAGIC, sizeof w->header.magic);
    w->offset = sizeof w->header + ((size_t)plan->tables + 1) * sizeof *w->chunk;
}

/* The header comes last: until it stands there the file is none. */
static enum nd_status finish(struct writer *w, struct nd_error *err)
{
    size_t chunks = (size_t)w->header.tables + 1;

    w->header.file_bytes = w->offset;
    w->header.hash = nd_hamming_header_hash(&w->header, w->chunk);
    if (fseeko(w->file, 0, SEEK_SET) != 0 ||
        fwrite(&w->header, sizeof w->header, 1, w->file) != 1 ||
        fwrite(w->chunk, sizeof *w->chunk, chunks, w->file) != chunks || fflush(w->file) != 0 ||
        fchmod(fileno(w->file), 0644) != 0 || fsync(fileno(w->file)) != 0)
        return io_failed(w, err);
    return ND_OK;
}

/* The name is durable when its folder is. */
static bool sync_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool synced = fd >= 0 && fsync(fd) == 0;

    if (fd >= 0)
        close(fd);
    free(folder);
    return synced;
}

static enum nd_status write_file(struct writer *w, const struct nd_hamming_plan *plan,
                                 const uint64_t *keys, struct nd_error *err)
{
    enum nd_status status;

    if (!open_temporary(w))
        return io_failed(w, err);
    status = fseeko(w->file, (off_t)w->offset, SEEK_SET) == 0 ? ND_OK : io_failed(w, err);
    if (status == ND_OK)
        status = write_tables(w, plan, keys, err);
    if (status == ND_OK)
        status = finish(w, err);
    if (fclose(w->file) != 0 && status == ND_OK)
        status = io_failed(w, err);
    if (status == ND_OK && rename(w->temporary, w->path) != 0)
        status = io_failed(w, err);
    if (status != ND_OK)
        unlink(w->temporary);
    else if (!sync_folder(w->path))
        status = io_failed(w, err);
    return status;
}

enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                     const uint64_t *fingerprints, const uint32_t *ids, size_t n,
                                     struct nd_error *err)
{
    struct writer w = {.path = path, .n = n};
    enum nd_status status = nd_hamming_layout_check(plan, err);
    struct entry *memory = nd_table_alloc((n + 1) * sizeof *memory);
    struct entry *other = nd_table_alloc((n + 1) * sizeof *other);
    uint64_t *keys = NULL;

    if (status == ND_OK)
        status = nd_hamming_problem_check(&plan->problem, err);
    if (status == ND_OK)
        status = nd_hamming_check_bits(fingerprints, n, plan->problem.bits, err);
    if (status == ND_OK && n > UINT32_MAX)
        status = nd_fail(err, ND_EINVAL, "%zu fingerprints: 2^32 - 1 at most", n);
    if (status == ND_OK) {
        keys = nd_hamming_keys_new(plan);
        w.chunk = calloc((size_t)plan->tables + 1, sizeof *w.chunk);
        w.entry = memory;
        w.other = other;
        if (!keys || !w.chunk || !memory || !other) {
            status = nd_fail(err, ND_ENOMEM, "out of memory for %zu fingerprints", n);
        } else {
            fill(&w, plan, fingerprints, ids);
            status = write_file(&w, plan, keys, err);
        }
    }
    nd_table_free(memory, (n + 1) * sizeof *memory);
    nd_table_free(other, (n + 1) * sizeof *other);
    free(keys);
    free(w.chunk);
    free(w.temporary);
    return status;
}
