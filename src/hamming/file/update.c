/* update.c - index files: build, add, merge; the old file or the new one, never between
 *
 * Crash safety.  There is no log.  Nothing in a file is ever written over except its two headers,
 * and those one at a time:
 *
 *     write anew   Everything goes to a file without a name, which is synced and then takes the
 *                  name (base/temporary.h).  Readers of the old file keep it.
 *     append       1. What a killed writer left behind the end is cut off.
 *                  2. The new segment is written behind the end and synced.  No header names it
 *                     yet, so no reader sees it.
 *                  3. The header that is not in use gets the new generation, and is synced.  From
 *                     here on the segment is there.
 *                  4. The other header gets the same bytes.  If that fails, the change has been made
 *                     all the same.
 *
 * A header has its own checksum, and readers take the newer of those that are whole.  Whenever a
 * writer dies or power fails, one header is whole, and what it names was synced before: the old
 * header before step 3, the new one afterwards.  The tests stop a writer before, within and after
 * each system call, let each call fail, and put together what a disk could hold.
 *
 * Writers exclude one another by a lock (flock) on the file.  Between opening and locking, another
 * file may take the name, so the name is checked again under the lock.
 *
 * Merging.  A new segment is merged with the last one if that holds at most twice as many entries,
 * the result with the one before, and so on.  So each segment holds more than twice as many as the
 * next, and there are at most log2(N) of them, like the digits of a binary counter.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "hamming/file/file.h"
#include "hamming/plan/plan.h"

enum { HEAD_BYTES = ND_HAMMING_HEADERS * ND_HAMMING_PAGE };

/* A file that is to be changed or made, and what it is to hold: segments of the old one, then one
 * with the entries. */
struct change {
    const char *path;                /* as messages call it */
    char *name;                      /* the file behind links */
    int fd;                          /* of the file, locked; -1: there is none yet */
    struct nd_hamming_header header; /* its segments: those that are kept */
    const struct nd_hamming_file *old;
    struct nd_hamming_entries entries;      /* all ids are numbers, or all are texts */
    uint64_t max_bytes;                     /* of the whole; 0: any */
    const struct nd_hamming_recipe *recipe; /* NULL: none */
};

/* ND_EIO with what errno says. */
static enum nd_status cannot_write(const struct change *c, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", c->path, strerror(errno));
}

static void release_change(struct change *c)
{
    if (c->fd >= 0)
        close(c->fd);
    free(c->name);
}

/* Whether the name is still that of the file that is open. */
static bool has_name(const struct change *c)
{
    struct stat open_file, named;

    return fstat(c->fd, &open_file) == 0 && stat(c->name, &named) == 0 &&
           named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino;
}

/* ND_ECHANGED: the name is that of another file by now. */
static enum nd_status check_name(const struct change *c, struct nd_error *err)
{
    if (c->fd < 0 || has_name(c))
        return ND_OK;
    return nd_fail(err, ND_ECHANGED, "%s: was replaced meanwhile, and is left as it is", c->path);
}

/* Open and lock the file of this name.  If the name went to another file before the lock was taken,
 * try again with that one. */
static enum nd_status open_locked(struct change *c, struct nd_error *err)
{
    struct stat open_file;

    for (;;) {
        c->fd = open(c->name, O_RDWR | O_NONBLOCK | O_CLOEXEC); /* it may be a pipe */
        if (c->fd < 0 && errno == ENOENT && lstat(c->name, &open_file) == 0)
            return nd_fail(err, ND_EIO, "%s: is a symbolic link to nothing", c->path);
        if (c->fd < 0 && errno == ENOENT)
            return ND_OK;
        if (c->fd < 0 || fstat(c->fd, &open_file) != 0)
            return cannot_write(c, err);
        if (!S_ISREG(open_file.st_mode))
            return nd_fail(err, ND_EIO, "%s: is not a regular file", c->path);
        if (flock(c->fd, LOCK_EX | LOCK_NB) != 0)
            return errno == EWOULDBLOCK
                       ? nd_fail(err, ND_EIO, "%s: another process is writing it", c->path)
                       : nd_fail(err, ND_EIO, "%s: cannot be locked: %s", c->path, strerror(errno));
        if (has_name(c))
            return ND_OK;
        close(c->fd);
    }
}

/*
 * Lock the file that is to be changed, and remove what a killed writer left beside it.  If this
 * fails there is nothing to release.  ND_EIO, also where another process is writing it; ND_ENOMEM.
 */
static enum nd_status open_change(struct change *c, const char *path, bool must_exist,
                                  struct nd_error *err)
{
    enum nd_status status;

    *c = (struct change){.path = path, .fd = -1, .name = realpath(path, NULL)};
    if (!c->name && errno == ENOENT && must_exist)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (!c->name && errno == ENOENT)
        c->name = strdup(path);
    if (!c->name)
        return errno == ENOMEM ? nd_fail(err, ND_ENOMEM, "out of memory") : cannot_write(c, err);
    status = open_locked(c, err);
    if (status == ND_OK && c->fd < 0 && must_exist)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(ENOENT));
    if (status == ND_OK)
        nd_temporary_remove_stale(c->name);
    else
        release_change(c);
    return status;
}

/* Open the folder of the file: the name is durable when the folder is synced.  ND_EIO, ND_ENOMEM. */
static enum nd_status open_folder(const struct change *c, int *fd, struct nd_error *err)
{
    const char *slash = strrchr(c->name, '/');
    char *folder = slash ? strndup(c->name, (size_t)(slash - c->name) + 1) : strdup(".");

    if (!folder)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    return *fd >= 0 ? ND_OK : cannot_write(c, err);
}

/* Entries from several places, to be written as one segment.  Starts from zeroes. */
struct collection {
    size_t n, total, words;
    const uint64_t *row; /* `own`, or the caller's */
    uint64_t *own;
    uint32_t *id;
    const char **text; /* NULL: all are numbers so far; else those that are not NULL are texts */
    struct nd_arena arena;
};

static enum nd_status out_of_memory(const struct collection *c, struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory for %zu fingerprints", c->total);
}

/* Room for `total` entries.  borrowed: all rows, where they stand together.  ND_ENOMEM. */
static enum nd_status collect_begin(struct collection *c, size_t total, size_t words,
                                    const uint64_t *borrowed, struct nd_error *err)
{
    *c = (struct collection){.total = total, .words = words, .row = borrowed};
    c->id = nd_alloc_array(total, sizeof *c->id);
    if (!borrowed)
        c->row = c->own = nd_alloc_array(total * words, sizeof *c->own);
    return c->id && c->row ? ND_OK : out_of_memory(c, err);
}

static void collect_release(struct collection *c)
{
    free(c->own);
    free(c->id);
    free(c->text);
    nd_arena_release(&c->arena);
    *c = (struct collection){.n = 0};
}

static bool expect_texts(struct collection *c)
{
    if (!c->text)
        c->text = calloc(c->total, sizeof *c->text);
    return c->text != NULL;
}

/* A terminated copy.  NULL: out of memory. */
static const char *copy_text(struct collection *c, const char *text, size_t len)
{
    char *copy = nd_arena_alloc(&c->arena, len + 1);

    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

static enum nd_status collect_segment(struct collection *c, const struct nd_hamming_segment *s,
                                      struct nd_error *err)
{
    if (!s->has_texts) {
        memcpy(c->id + c->n, s->id, s->count * sizeof *s->id);
        c->n += s->count;
        return ND_OK;
    }
    if (!expect_texts(c))
        return out_of_memory(c, err);
    for (uint64_t i = 0; i < s->count; i++, c->n++) {
        size_t len;
        const char *text = nd_hamming_texts_get(&s->texts, i, &len);

        c->text[c->n] = copy_text(c, text, len);
        if (!c->text[c->n])
            return out_of_memory(c, err);
    }
    return ND_OK;
}

/* What the open segments of a file hold.  ND_ENOMEM. */
static enum nd_status collect_file(struct collection *c, const struct nd_hamming_file *file,
                                   struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (unsigned i = file->first; i < file->n && status == ND_OK; i++) {
        const struct nd_hamming_segment *s = &file->segment[i];

        nd_hamming_segment_rows(s, 0, s->count, c->own + c->n * c->words);
        status = collect_segment(c, s, err);
    }
    return status;
}

/* One id as it is given: a number, or a text in c->text. */
static enum nd_status collect_id(struct collection *c, const char *text, uint32_t number,
                                 struct nd_error *err)
{
    size_t len;

    c->id[c->n] = number;
    if (!text || nd_hamming_text_number(text, &c->id[c->n]))
        return ND_OK;
    len = strlen(text);
    if (len >= ND_HAMMING_TEXT_MAX || !nd_hamming_text_is_id(text, len))
        return nd_fail(err, ND_EINVAL, "the id of fingerprint %zu has a tab or a newline", c->n);
    if (!expect_texts(c))
        return out_of_memory(c, err);
    c->text[c->n] = text;
    return ND_OK;
}

/* Entries from outside; numbers that are not given go on from first_number.  ND_EINVAL: a text that
 * cannot be an id; ND_ENOMEM. */
static enum nd_status collect_entries(struct collection *c,
                                      const struct nd_hamming_entries *entries,
                                      uint64_t first_number, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (c->own && entries->count)
        memcpy(c->own + c->n * c->words, entries->fingerprints,
               entries->count * c->words * sizeof *c->own);
    for (size_t i = 0; i < entries->count && status == ND_OK; i++, c->n++)
        status = collect_id(c, entries->texts ? entries->texts[i] : NULL,
                            entries->ids ? entries->ids[i] : (uint32_t)(first_number + i), err);
    return status;
}

/* What was collected: all ids numbers, or all texts.  As long as the collection is.  ND_ENOMEM. */
static enum nd_status collect_finish(struct collection *c, struct nd_hamming_entries *entries,
                                     struct nd_error *err)
{
    char digits[ND_HAMMING_NUMBER_MAX];

    for (size_t i = 0; c->text && i < c->n; i++)
        if (!c->text[i]) {
            size_t len;
            const char *text = nd_hamming_number_text(c->id[i], digits, &len);

            c->text[i] = copy_text(c, text, len);
            if (!c->text[i])
                return out_of_memory(c, err);
        }
    *entries = (struct nd_hamming_entries){c->row, c->n, c->id, c->text};
    return ND_OK;
}

/* After c->header was set. */
static void set_recipe(struct change *c, const struct nd_hamming_recipe *recipe)
{
    c->recipe = recipe;
    if (!recipe)
        return;
    c->header.recipe_fingerprint = recipe->fingerprint;
    c->header.recipe_hash = nd_hash_bytes(recipe->text, recipe->len);
    c->header.recipe_bytes = (uint32_t)recipe->len;
}

/* A file of which nothing is kept.  A request for bits of keys or for a size is noted as the number
 * of tables that it led to. */
static void begin_anew(struct change *c, const struct nd_hamming_plan *plan,
                       const struct nd_hamming_shape *shape, const struct nd_hamming_recipe *recipe)
{
    c->max_bytes = shape->max_bytes;
    c->header = (struct nd_hamming_header){
        .bits = plan->problem.bits,
        .distance = plan->problem.distance,
        .family = (uint32_t)plan->family,
        .tables = plan->tables,
        .key_bits = plan->key_bits,
        .codec = shape->codec,
        .requested = shape->key_bits || shape->max_bytes ? plan->tables : shape->tables,
        .generation = 1,
    };
    set_recipe(c, recipe);
}

/* Write the entries as a segment behind what the header counts. */
static enum nd_status write_entries(struct change *c, int fd, struct nd_error *err)
{
    struct nd_hamming_header *h = &c->header;
    struct nd_hamming_place *place = &h->segment[h->segments];
    struct nd_hamming_scheme scheme;
    enum nd_status status = nd_hamming_scheme_make(&scheme, h, err);

    if (status != ND_OK)
        return status;
    *place = (struct nd_hamming_place){.offset = nd_hamming_page_up(h->file_bytes)};
    status = nd_hamming_segment_write(&scheme, &c->entries, fd, c->path, place, err);
    if (status == ND_OK) {
        h->segments++;
        h->file_bytes = place->offset + place->bytes;
    }
    nd_hamming_scheme_release(&scheme);
    return status;
}

/* Copy the segments that stay, one after the other, without what was between them. */
static enum nd_status copy_kept(struct change *c, int fd, struct nd_error *err)
{
    struct nd_hamming_header *h = &c->header;
    enum nd_status status = ND_OK;

    h->file_bytes = nd_hamming_head_bytes(h);
    for (uint32_t i = 0; i < h->segments && status == ND_OK; i++) {
        const unsigned char *data = c->old->data + h->segment[i].offset;

        status = nd_hamming_segment_check_sums(&h->segment[i], h->tables, data, err);
        h->segment[i].offset = nd_hamming_page_up(h->file_bytes);
        h->file_bytes = h->segment[i].offset + h->segment[i].bytes;
        if (status == ND_OK)
            status = nd_hamming_write_at(fd, c->path, data, (size_t)h->segment[i].bytes,
                                         h->segment[i].offset, err);
    }
    return status;
}

/* Padded with zeroes: segments may follow, or none. */
static enum nd_status write_recipe(const struct change *c, int fd, struct nd_error *err)
{
    size_t bytes = (size_t)nd_hamming_page_up(c->recipe->len);
    char *padded = calloc(bytes, 1);
    enum nd_status status;

    if (!padded)
        return nd_fail(err, ND_ENOMEM, "out of memory for the recipe");
    memcpy(padded, c->recipe->text, c->recipe->len);
    status = nd_hamming_write_at(fd, c->path, padded, bytes, HEAD_BYTES, err);
    free(padded);
    return status;
}

/* Write the whole file, with both headers. */
static enum nd_status write_whole(struct change *c, int fd, struct nd_error *err)
{
    unsigned char page[ND_HAMMING_PAGE];
    enum nd_status status = copy_kept(c, fd, err);

    if (status == ND_OK && c->recipe)
        status = write_recipe(c, fd, err);
    if (status == ND_OK && c->entries.count)
        status = write_entries(c, fd, err);
    if (status == ND_OK && c->max_bytes && c->header.file_bytes > c->max_bytes)
        return nd_fail(err, ND_EINVAL, "an index file of these takes %llu bytes, more than %llu",
                       (unsigned long long)c->header.file_bytes, (unsigned long long)c->max_bytes);
    nd_hamming_header_write(&c->header, page);
    for (unsigned i = 0; i < ND_HAMMING_HEADERS && status == ND_OK; i++)
        status = nd_hamming_write_at(fd, c->path, page, sizeof page, i * sizeof page, err);
    return status;
}

/* Write the file anew, and let it take the name, which belongs to the locked file or to none. */
static enum nd_status replace(struct change *c, struct nd_error *err)
{
    struct nd_temporary *temporary = NULL;
    int fd, folder = -1;
    struct nd_error why;
    enum nd_status status = open_folder(c, &folder, err);

    if (status != ND_OK)
        return status;
    temporary = nd_temporary_create(c->name, &fd, &why);
    if (!temporary) {
        close(folder);
        return nd_fail(err, why.status, "%s", why.message);
    }
    status = write_whole(c, fd, err);
    if (status == ND_OK)
        status = nd_temporary_finish(temporary, true, err);
    if (status == ND_OK)
        status = check_name(c, err);
    if (status != ND_OK)
        nd_temporary_discard(temporary);
    else if (c->fd >= 0)
        status = nd_temporary_publish(temporary, err);
    else
        status = nd_temporary_publish_new(temporary, err);
    if (status == ND_OK) /* the name is there, whether the folder can be synced or not */
        (void)fsync(folder);
    close(folder);
    return status;
}

/*
 * Write and sync a header in place of the older one (step 3 above).  If that fails, the older
 * header is put back, and nothing was added.  If even that fails, the header that readers find
 * decides whether it was.  The new segment is not cut off then: a reader may have seen the new
 * header, or the disk may have it.
 */
static enum nd_status write_newer(const struct change *c, const unsigned char *page,
                                  uint64_t offset, struct nd_error *err)
{
    unsigned char older[ND_HAMMING_PAGE], now[ND_HAMMING_PAGE];
    enum nd_status status = ND_OK;

    if (pread(c->fd, older, sizeof older, (off_t)offset) != (ssize_t)sizeof older)
        return cannot_write(c, err);
    status = nd_hamming_write_at(c->fd, c->path, page, ND_HAMMING_PAGE, offset, err);
    if (status == ND_OK && fdatasync(c->fd) != 0)
        status = cannot_write(c, err);
    if (status == ND_OK)
        return ND_OK;
    if (nd_hamming_write_at(c->fd, c->path, older, sizeof older, offset, NULL) == ND_OK) {
        (void)fdatasync(c->fd);
        return status;
    }
    return pread(c->fd, now, sizeof now, (off_t)offset) == (ssize_t)sizeof now &&
                   memcmp(now, page, sizeof now) == 0
               ? ND_OK
               : status;
}

/* Append a segment in place, in the four steps above. */
static enum nd_status append(struct change *c, struct nd_error *err)
{
    uint64_t before = c->header.file_bytes;
    unsigned char page[ND_HAMMING_PAGE];
    enum nd_status status = ND_OK;
    unsigned current = c->old->holders & 1 ? 0 : 1;

    if (ftruncate(c->fd, (off_t)before) != 0) /* what a killed writer left behind the end */
        return cannot_write(c, err);
    status = write_entries(c, c->fd, err);
    if (status == ND_OK && fdatasync(c->fd) != 0)
        status = cannot_write(c, err);
    c->header.generation++;
    nd_hamming_header_write(&c->header, page);
    if (status == ND_OK)
        status = check_name(c, err);
    if (status != ND_OK) {
        (void)!ftruncate(c->fd, (off_t)before);
        return status;
    }
    status = write_newer(c, page, !current * sizeof page, err);
    if (status != ND_OK)
        return status;
    if (nd_hamming_write_at(c->fd, c->path, page, sizeof page, current * sizeof page, NULL) ==
        ND_OK)
        (void)fdatasync(c->fd);
    return ND_OK;
}

static enum nd_status check_count(uint64_t count, size_t more, struct nd_error *err)
{
    return more <= UINT32_MAX && count + more <= UINT32_MAX
               ? ND_OK
               : nd_fail(err, ND_EINVAL,
                         "%llu fingerprints are too many: a file holds at most 2^32 - 1",
                         (unsigned long long)(count + more));
}

/* Entries as they come in, for an index that holds some already. */
static enum nd_status check_entries(const struct nd_hamming_entries *entries, unsigned bits,
                                    uint64_t before, struct nd_error *err)
{
    enum nd_status status;

    if (!entries)
        return nd_fail(err, ND_EINVAL, "there are no entries");
    status = check_count(before, entries->count, err);
    return status == ND_OK ? nd_hamming_check_bits(entries->fingerprints, entries->count, bits, err)
                           : status;
}

/* A new file after a plan. */
static enum nd_status build(const char *path, const struct nd_hamming_plan *plan,
                            const struct nd_hamming_shape *shape,
                            const struct nd_hamming_entries *entries, struct nd_error *err)
{
    size_t words = nd_hamming_words(plan->problem.bits);
    struct collection all = {.n = 0};
    struct change c;
    enum nd_status status = check_entries(entries, plan->problem.bits, 0, err);

    if (status == ND_OK)
        status = open_change(&c, path, false, err);
    if (status != ND_OK)
        return status;
    begin_anew(&c, plan, shape, shape->recipe);
    if (entries->count)
        status = collect_begin(&all, entries->count, words, entries->fingerprints, err);
    if (status == ND_OK)
        status = collect_entries(&all, entries, 0, err);
    if (status == ND_OK)
        status = collect_finish(&all, &c.entries, err);
    if (status == ND_OK)
        status = replace(&c, err);
    collect_release(&all);
    release_change(&c);
    return status;
}

enum nd_status nd_hamming_file_build(const char *path, const struct nd_hamming_shape *shape,
                                     const struct nd_hamming_entries *entries, struct nd_error *err)
{
    uint64_t texts = shape && shape->max_bytes ? nd_hamming_text_bytes(entries) : 0;
    struct nd_hamming_plan plan;
    enum nd_status status =
        nd_hamming_file_plan_texts(shape, entries ? entries->count : 0, texts, &plan, err);

    if (status == ND_OK && shape) /* the plan refuses NULL */
        status = build(path, &plan, shape, entries, err);
    return status;
}

enum nd_status nd_hamming_file_write(const char *path, const struct nd_hamming_plan *plan,
                                     const uint64_t *fingerprints, const uint32_t *ids, size_t n,
                                     struct nd_error *err)
{
    const struct nd_hamming_entries entries = {fingerprints, n, ids, NULL};
    enum nd_status status = nd_hamming_plan_check(plan, err);
    struct nd_hamming_shape shape = {.codec = ND_HAMMING_EF};

    if (status == ND_OK && !nd_hamming_file_holds(plan->family))
        status = nd_fail(err, ND_EINVAL, "a file holds tables of blocks or coverings");
    if (status != ND_OK)
        return status;
    shape.tables = plan->tables;
    return build(path, plan, &shape, &entries, err);
}

/* The first segment that is to be merged with `more` new entries. */
static unsigned merge_from(const struct nd_hamming_header *h, uint64_t more)
{
    unsigned first = h->segments;

    while (first > 0 &&
           (h->segment[first - 1].count <= 2 * more || first >= ND_HAMMING_SEGMENTS_MAX)) {
        more += h->segment[first - 1].count;
        first--;
    }
    return first;
}

/* Keep the first segments of a file.  Where none is kept, the tables are planned for the number of
 * entries that there will be. */
static enum nd_status keep(struct change *c, const struct nd_hamming_file *file, unsigned kept,
                           uint64_t count, struct nd_error *err)
{
    struct nd_hamming_shape shape = nd_hamming_file_shape(file);
    struct nd_hamming_plan plan;
    enum nd_status status = ND_OK;

    c->old = file;
    if (kept == 0) {
        status = nd_hamming_file_plan(&shape, count, &plan, err);
        if (status == ND_OK)
            begin_anew(c, &plan, &shape, shape.recipe);
        return status;
    }
    c->header = file->header;
    c->header.segments = kept;
    c->recipe = shape.recipe;
    return ND_OK;
}

/* Whether the bytes that would be unused exceed half of those that would stay. */
static bool is_better_anew(const struct nd_hamming_header *h, unsigned kept)
{
    struct nd_hamming_header after = *h;
    uint64_t live = 0;

    after.segments = kept;
    if (kept == 0)
        return true;
    for (unsigned i = 0; i < kept; i++)
        live += nd_hamming_page_up(h->segment[i].bytes);
    return 2 * nd_hamming_header_dead(&after) > live;
}

/* To a file that is locked and mapped. */
static enum nd_status add(struct change *c, struct nd_hamming_file *file,
                          const struct nd_hamming_entries *entries, struct nd_error *err)
{
    uint64_t count = nd_hamming_header_count(&file->header), merged = entries->count;
    unsigned kept = merge_from(&file->header, entries->count);
    struct collection all = {.n = 0};
    enum nd_status status = nd_hamming_file_open_from(file, kept, c->path, err);

    for (unsigned i = kept; i < file->n; i++)
        merged += file->header.segment[i].count;
    if (status == ND_OK)
        status = keep(c, file, kept, count + entries->count, err);
    if (status == ND_OK)
        status = collect_begin(&all, (size_t)merged, file->scheme.words,
                               kept == file->n ? entries->fingerprints : NULL, err);
    if (status == ND_OK)
        status = collect_file(&all, file, err);
    if (status == ND_OK)
        status = collect_entries(&all, entries, count, err);
    if (status == ND_OK)
        status = collect_finish(&all, &c->entries, err);
    if (status == ND_OK)
        status = is_better_anew(&file->header, kept) ? replace(c, err) : append(c, err);
    collect_release(&all);
    return status;
}

enum nd_status nd_hamming_file_add(const char *path, const struct nd_hamming_entries *entries,
                                   struct nd_error *err)
{
    struct nd_hamming_file *file = NULL;
    struct change c;
    enum nd_status status = open_change(&c, path, true, err);

    if (status != ND_OK)
        return status;
    status = nd_hamming_file_map(&file, c.fd, path, err);
    if (status == ND_OK)
        status =
            check_entries(entries, file->header.bits, nd_hamming_header_count(&file->header), err);
    if (status == ND_OK && entries->count)
        status = add(&c, file, entries, err);
    nd_hamming_file_close(file);
    release_change(&c);
    return status;
}

static bool is_same_recipe(const struct nd_hamming_file *a, const struct nd_hamming_file *b)
{
    return !a->recipe.len == !b->recipe.len &&
           (!a->recipe.len || a->recipe.fingerprint == b->recipe.fingerprint);
}

/* Whether the files can be one, and of how many entries. */
static enum nd_status check_together(struct nd_hamming_file *const *file, size_t n, unsigned bits,
                                     uint64_t *total, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    *total = 0;
    for (size_t i = 0; i < n && status == ND_OK; i++) {
        uint64_t count = nd_hamming_header_count(&file[i]->header);

        if (!is_same_recipe(file[0], file[i]))
            return nd_fail(err, ND_EINVAL, "fingerprints of two recipes in one index");
        if (file[i]->header.bits != bits)
            return nd_fail(err, ND_EINVAL, "fingerprints of %u bits and of %u in one index", bits,
                           file[i]->header.bits);
        status = check_count(*total, (size_t)count, err);
        *total += count;
    }
    return status;
}

/* All segments of all files as one; files are open. */
static enum nd_status merge(struct change *c, struct nd_hamming_file *const *file, size_t n,
                            const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct collection all = {.n = 0};
    struct nd_hamming_plan plan;
    uint64_t total;
    enum nd_status status = check_together(file, n, shape->bits, &total, err);

    if (status == ND_OK)
        status = nd_hamming_file_plan(shape, total, &plan, err);
    if (status != ND_OK)
        return status;
    begin_anew(c, &plan, shape, nd_hamming_file_recipe(file[0]));
    status = collect_begin(&all, (size_t)total, nd_hamming_words(shape->bits), NULL, err);
    for (size_t i = 0; i < n && status == ND_OK; i++)
        status = collect_file(&all, file[i], err);
    if (status == ND_OK)
        status = collect_finish(&all, &c->entries, err);
    if (status == ND_OK)
        status = replace(c, err);
    collect_release(&all);
    return status;
}

enum nd_status nd_hamming_file_merge(const char *const *paths, size_t n, const char *output,
                                     const struct nd_hamming_shape *shape, struct nd_error *err)
{
    struct nd_hamming_file **file = calloc(n + 1, sizeof *file);
    struct nd_hamming_shape same;
    struct change c;
    enum nd_status status;

    if (!file)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = n ? open_change(&c, output, false, err)
               : nd_fail(err, ND_EINVAL, "no index to merge is given");
    if (status != ND_OK) {
        free(file);
        return status;
    }
    for (size_t i = 0; i < n && status == ND_OK; i++)
        status = nd_hamming_file_open(&file[i], paths[i], err);
    if (status == ND_OK) {
        same = nd_hamming_file_shape(file[0]);
        status = merge(&c, file, n, shape ? shape : &same, err);
    }
    for (size_t i = 0; i < n; i++)
        nd_hamming_file_close(file[i]);
    free(file);
    release_change(&c);
    return status;
}
