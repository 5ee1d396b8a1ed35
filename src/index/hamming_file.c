/* hamming_file.c - an index file: open and check everything, look up, read back */
#define _GNU_SOURCE
#include "index/hamming_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/temporary.h"
#include "index/hamming_plan.h"

enum { HEAD_BYTES = ND_HAMMING_HEADERS * ND_HAMMING_PAGE, TRIES = 20 };

void nd_hamming_file_abandon(void)
{
    nd_temporary_abandon();
}

/* What follows from the header; the bytes are not looked at. */
static enum nd_status init(struct nd_hamming_file **file, const struct nd_hamming_header *header,
                           struct nd_error *err)
{
    struct nd_hamming_file *f = calloc(1, sizeof *f);
    enum nd_status status;

    if (!f)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    f->header = *header;
    f->n = f->first = header->segments;
    status = nd_hamming_header_plan(header, &f->plan, err);
    if (status == ND_OK)
        status = nd_hamming_orders_new(&f->order, &f->plan, err);
    if (status != ND_OK) {
        free(f);
        return status;
    }
    f->scheme = (struct nd_hamming_scheme){
        .bits = header->bits,
        .tables = header->tables,
        .words = nd_hamming_words(header->bits),
        .codec = header->codec == ND_HAMMING_EF ? ND_HAMMING_EF : ND_HAMMING_MANKU,
        .order = f->order,
    };
    *file = f;
    return ND_OK;
}

static enum nd_status too_short(struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "no index file, or a damaged one: it is too short");
}

enum nd_status nd_hamming_file_init(struct nd_hamming_file **file, const void *data, size_t len,
                                    struct nd_error *err)
{
    struct nd_hamming_header header;
    struct nd_hamming_file *f;
    struct nd_hamming_copies copies;
    enum nd_status status;

    if (len < HEAD_BYTES)
        return too_short(err);
    status = nd_hamming_headers_read(&header, data, &copies, err);
    if (status == ND_OK && header.file_bytes > len)
        status = too_short(err);
    if (status == ND_OK)
        status = init(&f, &header, err);
    if (status != ND_OK)
        return status;
    f->data = data;
    f->len = len;
    f->copies = copies;
    status = nd_hamming_file_open_from(f, 0, NULL, err);
    if (status != ND_OK) {
        nd_hamming_file_close(f);
        return status;
    }
    *file = f;
    return ND_OK;
}

enum nd_status nd_hamming_file_open_from(struct nd_hamming_file *file, unsigned first,
                                         const char *path, struct nd_error *err)
{
    struct nd_error inner = {.status = ND_OK};
    enum nd_status status = ND_OK;

    while (status == ND_OK && file->first > first) {
        const struct nd_hamming_place *place = &file->header.segment[file->first - 1];

        status = nd_hamming_segment_open(&file->segment[file->first - 1], &file->scheme, place,
                                         file->data + place->offset, &inner);
        if (status == ND_OK)
            file->first--;
    }
    if (status != ND_OK)
        return nd_fail(err, status, "%s%s%.900s", path ? path : "", path ? ": " : "",
                       inner.message);
    return ND_OK;
}

static enum nd_status io_failed(const char *path, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
}

/* Both headers: a writer changes them one after the other, so one moment or the next one is whole.
 */
static enum nd_status read_headers(struct nd_hamming_header *header,
                                   struct nd_hamming_copies *copies, int fd, const char *path,
                                   struct nd_error *err)
{
    _Alignas(8) unsigned char pages[HEAD_BYTES];
    enum nd_status status = ND_EINPUT;
    struct nd_error inner = {.status = ND_OK};

    for (int i = 0; i < TRIES && status != ND_OK; i++) {
        const struct timespec pause = {0, 1000000};
        ssize_t n = pread(fd, pages, sizeof pages, 0);

        if (i)
            nanosleep(&pause, NULL);
        if (n < 0)
            return io_failed(path, err);
        if (n < HEAD_BYTES) {
            (void)too_short(&inner);
            break;
        }
        status = nd_hamming_headers_read(header, pages, copies, &inner);
        if (memcmp(pages, ND_HAMMING_MAGIC, 8) != 0 &&
            memcmp(pages + ND_HAMMING_PAGE, ND_HAMMING_MAGIC, 8) != 0)
            break;
    }
    return status == ND_OK ? ND_OK : nd_fail(err, inner.status, "%s: %.900s", path, inner.message);
}

enum nd_status nd_hamming_file_map(struct nd_hamming_file **file, int fd, const char *path,
                                   struct nd_error *err)
{
    struct nd_error inner = {.status = ND_OK};
    struct nd_hamming_header header;
    struct nd_hamming_file *f;
    struct stat info;
    struct nd_hamming_copies copies = {0, 0};
    enum nd_status status = read_headers(&header, &copies, fd, path, err);
    void *map;

    if (status != ND_OK)
        return status;
    if (fstat(fd, &info) != 0)
        return io_failed(path, err);
    if ((uint64_t)info.st_size < header.file_bytes)
        return nd_fail(err, ND_EINPUT, "%s: a damaged index file: it is too short", path);
    status = init(&f, &header, &inner);
    if (status != ND_OK)
        return nd_fail(err, status, "%s: %.900s", path, inner.message);
    map = mmap(NULL, (size_t)header.file_bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        status = nd_fail(err, errno == ENOMEM ? ND_ENOMEM : ND_EIO, "%s: cannot be mapped: %s",
                         path, strerror(errno));
        nd_hamming_file_close(f);
        return status;
    }
    f->map = map;
    f->data = map;
    f->len = (size_t)header.file_bytes;
    f->copies = copies;
    *file = f;
    return ND_OK;
}

enum nd_status nd_hamming_file_open(struct nd_hamming_file **file, const char *path,
                                    struct nd_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct nd_hamming_file *f;
    enum nd_status status;

    if (fd < 0)
        return io_failed(path, err);
    status = nd_hamming_file_map(&f, fd, path, err);
    close(fd);
    if (status != ND_OK)
        return status;
    status = nd_hamming_file_open_from(f, 0, path, err);
    if (status == ND_OK)
        *file = f;
    else
        nd_hamming_file_close(f);
    return status;
}

enum nd_status nd_hamming_file_peek(const char *path, struct nd_hamming_shape *shape,
                                    struct nd_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct nd_hamming_file *f;
    enum nd_status status;

    if (fd < 0)
        return io_failed(path, err);
    status = nd_hamming_file_map(&f, fd, path, err);
    close(fd);
    if (status != ND_OK)
        return status;
    *shape = nd_hamming_file_shape(f);
    nd_hamming_file_close(f);
    return ND_OK;
}

void nd_hamming_file_close(struct nd_hamming_file *file)
{
    if (!file)
        return;
    for (unsigned i = file->first; i < file->n; i++)
        nd_hamming_segment_close(&file->segment[i], file->scheme.tables);
    if (file->map)
        munmap(file->map, file->len);
    free(file->order);
    free(file);
}

const struct nd_hamming_plan *nd_hamming_file_design(const struct nd_hamming_file *file)
{
    return &file->plan;
}

struct nd_hamming_shape nd_hamming_file_shape(const struct nd_hamming_file *file)
{
    return (struct nd_hamming_shape){file->header.bits, file->header.distance, file->header.wish,
                                     file->scheme.codec};
}

uint64_t nd_hamming_file_distinct(const struct nd_hamming_file *file)
{
    uint64_t distinct = 0;

    for (unsigned i = 0; i < file->n; i++)
        distinct += file->segment[i].distinct;
    return distinct;
}

uint64_t nd_hamming_file_bytes(const struct nd_hamming_file *file)
{
    return file->header.file_bytes;
}

struct nd_hamming_file_sizes nd_hamming_file_sizes(const struct nd_hamming_file *file)
{
    struct nd_hamming_file_sizes s = {.segments = file->n, .sound_headers = file->copies.sound};

    for (unsigned i = 0; i < file->n; i++) {
        const struct nd_hamming_chunk *chunk =
            (const struct nd_hamming_chunk *)(const void *)(file->data +
                                                            file->header.segment[i].offset);

        s.values += file->segment[i].distinct * file->header.tables;
        s.ids += chunk[ND_HAMMING_IDS].bytes + chunk[ND_HAMMING_GROUPS].bytes;
        s.fingerprints += chunk[ND_HAMMING_ROWS].bytes;
        for (size_t c = ND_HAMMING_TABLES; c < nd_hamming_chunks(file->header.tables); c++)
            s.tables += chunk[c].bytes;
    }
    s.unused = nd_hamming_header_dead(&file->header);
    s.other = file->header.file_bytes - s.ids - s.fingerprints - s.tables;
    s.unused = s.unused < s.other ? s.unused : s.other;
    s.other -= s.unused;
    return s;
}

int nd_hamming_file_has_texts(const struct nd_hamming_file *file)
{
    for (unsigned i = 0; i < file->n; i++)
        if (file->segment[i].has_texts)
            return 1;
    return 0;
}

/* The segment of an entry; the entry's number becomes that within it. */
static const struct nd_hamming_segment *segment_of(const struct nd_hamming_file *file,
                                                   uint64_t *entry)
{
    const struct nd_hamming_segment *s = file->segment;

    while (*entry >= s->count)
        *entry -= s++->count;
    return s;
}

const char *nd_hamming_file_text(const struct nd_hamming_file *file, uint32_t entry, char *number,
                                 size_t *len)
{
    uint64_t at = entry;
    const struct nd_hamming_segment *s;

    if (at >= file->plan.problem.count) {
        *len = 0;
        return NULL;
    }
    s = segment_of(file, &at);
    return s->has_texts ? nd_hamming_texts_get(&s->texts, at, len)
                        : nd_hamming_number_text(s->id[at], number, len);
}

void nd_hamming_file_entries(const struct nd_hamming_file *file, uint64_t first, size_t n,
                             uint64_t *fingerprints, uint32_t *ids)
{
    bool texts = nd_hamming_file_has_texts(file) != 0;
    uint64_t count = file->plan.problem.count;

    if (first >= count)
        return;
    n = n < count - first ? n : (size_t)(count - first);
    for (size_t done = 0; done < n;) {
        uint64_t at = first + done;
        const struct nd_hamming_segment *s = segment_of(file, &at);
        size_t some = n - done < s->count - at ? n - done : (size_t)(s->count - at);

        nd_hamming_segment_rows(s, &file->scheme, at, some,
                                fingerprints + done * file->scheme.words);
        for (size_t i = 0; ids && i < some; i++)
            ids[done + i] = texts ? (uint32_t)(first + done + i) : s->id[at + i];
        done += some;
    }
}

enum nd_status nd_hamming_file_query(const struct nd_hamming_file *file, const uint64_t *queries,
                                     size_t n, unsigned distance, struct nd_hamming_matches *out,
                                     struct nd_error *err)
{
    struct nd_hamming_search s = {.scheme = &file->scheme,
                                  .distance = distance,
                                  .entries = nd_hamming_file_has_texts(file) != 0,
                                  .sink = {.matches = out}};
    enum nd_status status = nd_hamming_check_bits(queries, n, file->header.bits, err);

    if (status == ND_OK && !out)
        status = nd_fail(err, ND_EINVAL, "there is no list for the answers");
    if (status != ND_OK)
        return status;
    if (distance > file->header.distance)
        return nd_fail(err, ND_EINVAL, "distance %u: the file was made for %u at most", distance,
                       file->header.distance);
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "%zu queries at once: 2^32 - 1 at most", n);
    for (size_t i = 0; i < n && !s.sink.out_of_memory; i++) {
        s.query = queries + i * file->scheme.words;
        s.number = (uint32_t)i;
        s.base = 0;
        for (unsigned j = 0; j < file->n; s.base += (uint32_t)file->segment[j++].count)
            nd_hamming_segment_search(&file->segment[j], &s);
    }
    return s.sink.out_of_memory ? nd_fail(err, ND_ENOMEM, "out of memory for the matches") : ND_OK;
}
