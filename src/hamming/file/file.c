/* file.c - an index file: open, check, look up, read back
 *
 * Opening has two steps.  nd_hamming_file_map reads the header and maps the file; for _peek that is
 * enough.  nd_hamming_file_open_from opens segments, from the last one back to a given one, since a
 * writer that adds must have read only those that it merges (update.c).  A writer checks all of what
 * it opens, a reader only what it reads, when it does; nd_hamming_file_check is there for both.
 *
 * Entries are numbered through all segments, in their order.  A query looks into each segment by
 * itself.
 */
#include "hamming/file/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file/temporary.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/system/descriptor.h"
#include "base/system/pages.h"
#include "base/system/threads.h"
#include "hamming/file/segment.h"
#include "hamming/plan/plan_checks.h"

enum { HEAD_BYTES = ND_HAMMING_HEADERS * ND_HAMMING_PAGE, TRIES = 20 };

int nd_hamming_file_abandon(void)
{
    return nd_temporary_abandon();
}

/* Make a file from its header; the bytes behind it are not looked at. */
static enum nd_status init(struct nd_hamming_file **file, const struct nd_hamming_header *header,
                           unsigned holders, struct nd_error *err)
{
    struct nd_hamming_file *f = calloc(1, sizeof *f);
    enum nd_status status;

    if (!f)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    f->header = *header;
    f->holders = holders;
    f->n = f->first = header->segments;
    status = nd_hamming_scheme_make(&f->scheme, header, err);
    if (status == ND_OK)
        *file = f;
    else
        free(f);
    return status;
}

static enum nd_status too_short(struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT, "not a neardup index, or a damaged one: it is too short");
}

enum nd_status nd_hamming_file_init_lazily(struct nd_hamming_file **file, const void *data,
                                           size_t len, struct nd_error *err)
{
    struct nd_hamming_header header;
    struct nd_hamming_file *f = NULL;
    unsigned holders;
    enum nd_status status;

    if (len < HEAD_BYTES)
        return too_short(err);
    status = nd_hamming_headers_read(&header, data, &holders, err);
    if (status == ND_OK && header.file_bytes > len)
        status = too_short(err);
    if (status == ND_OK)
        status = init(&f, &header, holders, err);
    if (status != ND_OK)
        return status;
    f->data = data;
    f->len = len;
    f->is_lazy = true;
    status = nd_hamming_file_open_from(f, 0, NULL, err);
    if (status != ND_OK) {
        nd_hamming_file_close(f);
        return status;
    }
    *file = f;
    return ND_OK;
}

enum nd_status nd_hamming_file_init(struct nd_hamming_file **file, const void *data, size_t len,
                                    struct nd_error *err)
{
    struct nd_hamming_file *f;
    enum nd_status status = nd_hamming_file_init_lazily(&f, data, len, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_file_check(f, err);
    if (status == ND_OK)
        *file = f;
    else
        nd_hamming_file_close(f);
    return status;
}

static enum nd_status open_recipe(struct nd_hamming_file *file, struct nd_error *err)
{
    const struct nd_hamming_header *h = &file->header;
    const char *text = (const char *)file->data + HEAD_BYTES;

    if (h->recipe_bytes && nd_hash_bytes(text, h->recipe_bytes) != h->recipe_hash)
        return nd_fail(err, ND_EINPUT, "a damaged index file: the recipe's checksum is wrong");
    file->recipe = (struct nd_hamming_recipe){text, h->recipe_bytes, h->recipe_fingerprint};
    return ND_OK;
}

enum nd_status nd_hamming_file_open_from(struct nd_hamming_file *file, unsigned first,
                                         const char *path, struct nd_error *err)
{
    struct nd_error inner = {.status = ND_OK};
    enum nd_status status = open_recipe(file, &inner);

    while (status == ND_OK && file->first > first) {
        const struct nd_hamming_place *place = &file->header.segment[file->first - 1];

        status = nd_hamming_segment_open(&file->segment[file->first - 1], &file->scheme, place,
                                         file->data + place->offset, &inner);
        if (status == ND_OK)
            file->first--;
        if (status == ND_OK && !file->is_lazy)
            status = nd_hamming_segment_check(&file->segment[file->first],
                                              file->data + place->offset, &inner);
    }
    if (status != ND_OK)
        return nd_fail(err, status, "%s%s%.900s", path ? path : "", path ? ": " : "",
                       inner.message);
    return ND_OK;
}

enum nd_status nd_hamming_file_check(const struct nd_hamming_file *file, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (unsigned i = file->first; i < file->n && status == ND_OK && file->is_lazy; i++)
        status = nd_hamming_segment_check(&file->segment[i],
                                          file->data + file->header.segment[i].offset, err);
    return status;
}

static enum nd_status io_failed(const char *path, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
}

/* Read both headers.  A writer changes one after the other, so if neither is whole at one moment, a
 * little later one is. */
static enum nd_status read_headers(struct nd_hamming_header *header, unsigned *holders, int fd,
                                   const char *path, struct nd_error *err)
{
    _Alignas(8) unsigned char pages[HEAD_BYTES];
    enum nd_status status = ND_EINPUT;
    struct nd_error inner = {.status = ND_OK};

    for (int i = 0; i < TRIES && status != ND_OK; i++) {
        ssize_t n = nd_descriptor_read_at(fd, pages, sizeof pages, 0);

        if (i)
            nd_thread_sleep_ns(1000000);
        if (n < 0)
            return io_failed(path, err);
        if (n < HEAD_BYTES) {
            (void)too_short(&inner);
            break;
        }
        status = nd_hamming_headers_read(header, pages, holders, &inner);
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
    struct nd_hamming_file *f = NULL;
    struct nd_file_about info;
    unsigned holders = 0;
    enum nd_status status = read_headers(&header, &holders, fd, path, err);
    void *map;

    if (status != ND_OK)
        return status;
    if (!nd_descriptor_about(fd, &info))
        return io_failed(path, err);
    if (info.bytes < header.file_bytes)
        return nd_fail(err, ND_EINPUT, "%s: a damaged index file: it is too short", path);
    status = init(&f, &header, holders, &inner);
    if (status != ND_OK)
        return nd_fail(err, status, "%s: %.900s", path, inner.message);
    map = nd_pages_map(fd, 0, (size_t)header.file_bytes, ND_MAP_READ, NULL);
    if (!map) {
        status = nd_fail(err, errno == ENOMEM ? ND_ENOMEM : ND_EIO, "%s: cannot be mapped: %s",
                         path, strerror(errno));
        nd_hamming_file_close(f);
        return status;
    }
    f->map = map;
    f->data = map;
    f->len = (size_t)header.file_bytes;
    *file = f;
    return ND_OK;
}

/* nd_hamming_file_map of what a path names. */
static enum nd_status map_path(struct nd_hamming_file **file, const char *path,
                               struct nd_error *err)
{
    int fd = nd_descriptor_open(path, ND_OPEN_READ);
    enum nd_status status;

    if (fd < 0)
        return io_failed(path, err);
    status = nd_hamming_file_map(file, fd, path, err);
    (void)nd_descriptor_close(fd);
    return status;
}

enum nd_status nd_hamming_file_open(struct nd_hamming_file **file, const char *path,
                                    struct nd_error *err)
{
    struct nd_hamming_file *f;
    enum nd_status status = map_path(&f, path, err);

    if (status != ND_OK)
        return status;
    f->is_lazy = true;
    status = nd_hamming_file_open_from(f, 0, path, err);
    if (status == ND_OK)
        *file = f;
    else
        nd_hamming_file_close(f);
    return status;
}

/* A copy that outlives the file. */
static enum nd_status copy_recipe(struct nd_hamming_file *f, const char *path,
                                  struct nd_hamming_recipe *out, struct nd_error *err)
{
    struct nd_error inner;
    char *text;

    *out = (struct nd_hamming_recipe){.text = NULL};
    if (open_recipe(f, &inner) != ND_OK)
        return nd_fail(err, ND_EINPUT, "%s: %.900s", path, inner.message);
    if (!f->recipe.len)
        return ND_OK;
    text = malloc(f->recipe.len);
    if (!text)
        return nd_fail(err, ND_ENOMEM, "out of memory for the recipe");
    memcpy(text, f->recipe.text, f->recipe.len);
    *out = f->recipe;
    out->text = text;
    return ND_OK;
}

enum nd_status nd_hamming_file_peek(const char *path, struct nd_hamming_shape *shape,
                                    struct nd_hamming_recipe *recipe, struct nd_error *err)
{
    struct nd_hamming_file *f;
    enum nd_status status = map_path(&f, path, err);

    if (status != ND_OK)
        return status;
    *shape = nd_hamming_file_shape(f);
    shape->recipe = NULL;
    if (recipe)
        status = copy_recipe(f, path, recipe, err);
    nd_hamming_file_close(f);
    return status;
}

void nd_hamming_file_close(struct nd_hamming_file *file)
{
    if (!file)
        return;
    for (unsigned i = file->first; i < file->n; i++)
        nd_hamming_segment_close(&file->segment[i]);
    if (file->map)
        nd_pages_free(file->map, file->len);
    nd_hamming_scheme_release(&file->scheme);
    free(file);
}

const struct nd_hamming_plan *nd_hamming_file_design(const struct nd_hamming_file *file)
{
    return &file->scheme.plan;
}

struct nd_hamming_shape nd_hamming_file_shape(const struct nd_hamming_file *file)
{
    return (struct nd_hamming_shape){
        .bits = file->header.bits,
        .distance = file->header.distance,
        .tables = file->header.requested,
        .codec = file->scheme.codec,
        .family = file->scheme.plan.family,
        .recipe = nd_hamming_file_recipe(file),
        .part_fingerprints = file->header.part_max,
        .layout = file->scheme.layout,
    };
}

const struct nd_hamming_recipe *nd_hamming_file_recipe(const struct nd_hamming_file *file)
{
    return file->recipe.len ? &file->recipe : NULL;
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
    struct nd_hamming_file_sizes s = {.segments = file->n,
                                      .parts =
                                          file->n ? file->header.segment[file->n - 1].part + 1 : 0,
                                      .sound_headers = file->holders == 3 ? 2 : 1};

    for (unsigned i = 0; i < file->n; i++) {
        const struct nd_hamming_chunk *chunk =
            (const struct nd_hamming_chunk *)(const void *)(file->data +
                                                            file->header.segment[i].offset);

        s.values += file->segment[i].distinct * file->header.tables;
        s.ids += chunk[ND_HAMMING_IDS].bytes + chunk[ND_HAMMING_GROUPS].bytes;
        s.fingerprints += chunk[ND_HAMMING_ROWS].bytes;
        for (size_t c = ND_HAMMING_TABLES; c < nd_hamming_sums_chunk(file->header.tables); c++)
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

const char *nd_hamming_file_text(const struct nd_hamming_file *file, uint64_t entry, char *number,
                                 size_t *len)
{
    uint64_t at = entry;
    const struct nd_hamming_segment *s;

    if (at >= file->scheme.plan.problem.count) {
        *len = 0;
        return NULL;
    }
    s = segment_of(file, &at);
    if (s->has_texts)
        return nd_hamming_texts_get(&s->texts, at, len);
    *len = 0;
    return nd_hamming_is_sound(s, &s->id[at], sizeof *s->id)
               ? nd_hamming_number_text(s->id[at], number, len)
               : NULL;
}

enum nd_status nd_hamming_file_entries(const struct nd_hamming_file *file, uint64_t first, size_t n,
                                       uint64_t *fingerprints, uint32_t *ids, struct nd_error *err)
{
    bool texts = nd_hamming_file_has_texts(file) != 0;
    uint64_t count = file->scheme.plan.problem.count;

    if (first >= count)
        return ND_OK;
    n = n < count - first ? n : (size_t)(count - first);
    for (size_t done = 0; done < n;) {
        uint64_t at = first + done;
        const struct nd_hamming_segment *s = segment_of(file, &at);
        size_t some = n - done < s->count - at ? n - done : (size_t)(s->count - at);

        if (!nd_hamming_segment_rows(s, at, some, fingerprints + done * file->scheme.words) ||
            (ids && s->id && !nd_hamming_is_sound(s, &s->id[at], some * sizeof *s->id)))
            return nd_hamming_damaged_there(err);
        for (size_t i = 0; ids && i < some; i++)
            ids[done + i] = s->id && !texts ? s->id[at + i] : (uint32_t)(first + done + i);
        done += some;
    }
    return ND_OK;
}

static enum nd_status check_query(const struct nd_hamming_file *file, const uint64_t *queries,
                                  size_t n, unsigned distance, bool has_list, struct nd_error *err)
{
    enum nd_status status = nd_hamming_check_bits(queries, n, file->header.bits, err);

    if (status == ND_OK && !has_list)
        status = nd_fail(err, ND_EINVAL, "no list for the answers is given");
    if (status != ND_OK)
        return status;
    if (distance > file->header.distance)
        return nd_fail(err, ND_EINVAL, "distance %u is too large: the file was made for at most %u",
                       distance, file->header.distance);
    if (n > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "%zu queries at once are too many: at most 2^32 - 1", n);
    return ND_OK;
}

enum nd_status nd_hamming_file_query(const struct nd_hamming_file *file, const uint64_t *queries,
                                     size_t n, unsigned distance, struct nd_hamming_matches *out,
                                     struct nd_error *err)
{
    struct nd_hamming_search s = {.queries = queries,
                                  .n = n,
                                  .distance = distance,
                                  .entries = nd_hamming_file_has_texts(file) != 0,
                                  .sink = {.matches = out}};
    enum nd_status status = check_query(file, queries, n, distance, out != NULL, err);

    if (status == ND_OK && s.entries && file->scheme.plan.problem.count > UINT32_MAX)
        status = nd_fail(err, ND_EUNSUPPORTED,
                         "the entries of %llu fingerprints take numbers of more than 32 bits",
                         (unsigned long long)file->scheme.plan.problem.count);
    if (status != ND_OK)
        return status;
    for (unsigned i = 0; n && i < file->n && !s.sink.out_of_memory;
         s.base += (uint32_t)file->segment[i++].count)
        nd_hamming_segment_search(&file->segment[i], &s);
    if (s.sink.out_of_memory)
        return nd_fail(err, ND_ENOMEM, "out of memory for the matches");
    return s.sink.is_damaged ? nd_hamming_damaged_there(err) : ND_OK;
}

/* Entries of one segment, whose first one has number `base` in the file.  False: out of memory. */
static bool add_matches(struct nd_hamming_file_matches *out, const struct nd_hamming_matches *found,
                        uint64_t base)
{
    if (!ND_RESERVE(out->items, &out->capacity, out->count + found->count))
        return false;
    for (size_t i = 0; i < found->count; i++)
        out->items[out->count++] = (struct nd_hamming_file_match){
            base + found->items[i].id, found->items[i].query, found->items[i].distance};
    return true;
}

enum nd_status nd_hamming_file_find(const struct nd_hamming_file *file, const uint64_t *queries,
                                    size_t n, unsigned distance,
                                    struct nd_hamming_file_matches *out, struct nd_error *err)
{
    struct nd_hamming_matches found = {.items = NULL};
    struct nd_hamming_search s = {.queries = queries,
                                  .n = n,
                                  .distance = distance,
                                  .entries = true,
                                  .sink = {.matches = &found}};
    enum nd_status status = check_query(file, queries, n, distance, out != NULL, err);
    uint64_t base = 0;

    for (unsigned i = 0; n && i < file->n && status == ND_OK; base += file->segment[i++].count) {
        found.count = 0;
        nd_hamming_segment_search(&file->segment[i], &s);
        if (s.sink.out_of_memory || !add_matches(out, &found, base))
            status = nd_fail(err, ND_ENOMEM, "out of memory for the matches");
        else if (s.sink.is_damaged)
            status = nd_hamming_damaged_there(err);
    }
    nd_hamming_matches_release(&found);
    return status;
}
