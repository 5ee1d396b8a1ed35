/* change.c - how an index file is changed: the old file or the new one, never between
 *
 * Crash safety.  There is no log.  Nothing in a file is ever written over except its two headers,
 * and those one at a time:
 *
 *     write anew   Everything goes to a file without a name, which is synced and then takes the
 *                  name (base/file/temporary.h).  Readers of the old file keep it.
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
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/temporary.h"
#include "base/hash.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "hamming/file/change.h"

enum { HEAD_BYTES = ND_HAMMING_HEADERS * ND_HAMMING_PAGE };

/* ND_EIO with what errno says. */
static enum nd_status cannot_write(const struct nd_hamming_change *c, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be written: %s", c->path, strerror(errno));
}

void nd_hamming_change_release(struct nd_hamming_change *c)
{
    if (c->fd >= 0)
        (void)nd_descriptor_close(c->fd);
    free(c->name);
}

/* Whether the name is still that of the file that is open. */
static bool has_name(const struct nd_hamming_change *c)
{
    struct nd_file_about open_file, named;

    return nd_descriptor_about(c->fd, &open_file) && nd_path_about(c->name, &named) &&
           nd_file_is_one(&named, &open_file);
}

/* ND_ECHANGED: the name is that of another file by now. */
static enum nd_status check_name(const struct nd_hamming_change *c, struct nd_error *err)
{
    if (c->fd < 0 || has_name(c))
        return ND_OK;
    return nd_fail(err, ND_ECHANGED, "%s: was replaced meanwhile, and is left as it is", c->path);
}

/* Open and lock the file of this name.  If the name went to another file before the lock was taken,
 * try again with that one. */
static enum nd_status open_locked(struct nd_hamming_change *c, struct nd_error *err)
{
    struct nd_file_about open_file;

    for (;;) {
        c->fd = nd_descriptor_open(c->name, ND_OPEN_BOTH | ND_OPEN_NOW); /* it may be a pipe */
        if (c->fd < 0 && errno == ENOENT && nd_path_about_itself(c->name, &open_file))
            return nd_fail(err, ND_EIO, "%s: is a symbolic link to nothing", c->path);
        if (c->fd < 0 && errno == ENOENT)
            return ND_OK;
        if (c->fd < 0 || !nd_descriptor_about(c->fd, &open_file))
            return cannot_write(c, err);
        if (open_file.kind != ND_FILE_REGULAR)
            return nd_fail(err, ND_EIO, "%s: is not a regular file", c->path);
        if (!nd_descriptor_lock(c->fd))
            return errno == EWOULDBLOCK
                       ? nd_fail(err, ND_EIO, "%s: another process is writing it", c->path)
                       : nd_fail(err, ND_EIO, "%s: cannot be locked: %s", c->path, strerror(errno));
        if (has_name(c))
            return ND_OK;
        (void)nd_descriptor_close(c->fd);
    }
}

enum nd_status nd_hamming_change_open(struct nd_hamming_change *c, const char *path,
                                      bool must_exist, struct nd_error *err)
{
    enum nd_status status;

    *c = (struct nd_hamming_change){.path = path, .fd = -1, .name = nd_path_whole(path)};
    if (!c->name && errno == ENOENT && must_exist)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (!c->name && errno == ENOENT)
        c->name = nd_text_copy(path);
    if (!c->name)
        return errno == ENOMEM ? nd_fail(err, ND_ENOMEM, "out of memory") : cannot_write(c, err);
    status = open_locked(c, err);
    if (status == ND_OK && c->fd < 0 && must_exist)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(ENOENT));
    if (status == ND_OK)
        nd_temporary_remove_stale(c->name);
    else
        nd_hamming_change_release(c);
    return status;
}

/* The folder of the file; NULL: out of memory. */
static char *folder_of(const struct nd_hamming_change *c)
{
    size_t len = (size_t)(nd_path_name(c->name) - c->name);

    return nd_text_copy_n(len ? c->name : ".", len ? len : 1);
}

/* After c->header was set. */
static void set_recipe(struct nd_hamming_change *c, const struct nd_hamming_recipe *recipe)
{
    c->recipe = recipe;
    if (!recipe)
        return;
    c->header.recipe_fingerprint = recipe->fingerprint;
    c->header.recipe_hash = nd_hash_bytes(recipe->text, recipe->len);
    c->header.recipe_bytes = (uint32_t)recipe->len;
}

void nd_hamming_change_begin(struct nd_hamming_change *c, const struct nd_hamming_plan *plan,
                             const struct nd_hamming_shape *shape,
                             const struct nd_hamming_recipe *recipe)
{
    c->max_bytes = shape->max_bytes;
    c->header = (struct nd_hamming_header){
        .bits = plan->problem.bits,
        .distance = plan->problem.distance,
        .family = (uint32_t)plan->family,
        .tables = plan->tables,
        .key_bits = plan->key_bits,
        .codec = shape->codec,
        .layout = shape->layout ? shape->layout : ND_HAMMING_COMPACT,
        .fill = shape->layout == ND_HAMMING_FAST ? (uint32_t)(plan->fill * 1000 + 0.5) : 0,
        .requested = shape->key_bits || shape->max_bytes ? plan->tables : shape->tables,
        .generation = 1,
        .part_max = shape->part_fingerprints,
    };
    set_recipe(c, recipe);
}

static enum nd_status add_piece(struct nd_hamming_change *c, struct nd_hamming_piece piece,
                                struct nd_error *err)
{
    if (c->n_pieces == ND_HAMMING_SEGMENTS_MAX)
        return nd_fail(err, ND_EINVAL,
                       "%s: would have more than %d segments: its parts of at most %llu "
                       "fingerprints are too small",
                       c->path, ND_HAMMING_SEGMENTS_MAX,
                       (unsigned long long)nd_hamming_part_max(c->header.part_max));
    c->piece[c->n_pieces++] = piece;
    if (piece.part) /* what is not said is that there is one part */
        c->header.part_max = (uint32_t)nd_hamming_part_max(c->header.part_max);
    return ND_OK;
}

enum nd_status nd_hamming_change_add_kept(struct nd_hamming_change *c, unsigned old, unsigned part,
                                          struct nd_error *err)
{
    return add_piece(c, (struct nd_hamming_piece){.part = part, .is_kept = true, .old = old}, err);
}

enum nd_status nd_hamming_change_add_new(struct nd_hamming_change *c, uint64_t count, unsigned part,
                                         struct nd_error *err)
{
    return add_piece(c, (struct nd_hamming_piece){.part = part, .count = count}, err);
}

enum nd_status nd_hamming_change_add_parts(struct nd_hamming_change *c, uint64_t n, uint64_t first,
                                           unsigned part, struct nd_error *err)
{
    const uint64_t max = nd_hamming_part_max(c->header.part_max);
    enum nd_status status = ND_OK;

    for (uint64_t most = first ? first : max; n && status == ND_OK; most = max) {
        uint64_t some = n < most ? n : most;

        status = nd_hamming_change_add_new(c, some, part++, err);
        n -= some;
    }
    return status;
}

/* Write a new segment at its place. */
static enum nd_status write_new(const struct nd_hamming_change *c,
                                const struct nd_hamming_piece *piece,
                                struct nd_hamming_place *place, int fd, struct nd_error *err)
{
    struct nd_hamming_entries entries;
    struct nd_hamming_scheme scheme;
    enum nd_status status = c->write ? ND_OK : c->collect(c->context, piece, &entries, err);

    if (status == ND_OK)
        status = nd_hamming_scheme_make(&scheme, &c->header, err);
    if (status != ND_OK)
        return status;
    status = c->write ? c->write(c->context, piece, &scheme, fd, c->path, place, err)
                      : nd_hamming_segment_write(&scheme, &entries, fd, c->path, place, err);
    nd_hamming_scheme_release(&scheme);
    return status;
}

/* Copy a segment that is kept to its new place. */
static enum nd_status copy_old(const struct nd_hamming_change *c,
                               const struct nd_hamming_piece *piece, struct nd_hamming_place *place,
                               int fd, struct nd_error *err)
{
    const struct nd_hamming_place *old = &c->old->header.segment[piece->old];
    const unsigned char *data = c->old->data + old->offset;
    uint64_t offset = place->offset;
    enum nd_status status = nd_hamming_segment_check_sums(old, &c->old->header, data, err);

    *place = *old;
    place->offset = offset;
    return status == ND_OK ? nd_hamming_write_at(fd, c->path, data, (size_t)old->bytes, offset, err)
                           : status;
}

/* Write the pieces from number `first` on behind what the header counts. */
static enum nd_status write_pieces(struct nd_hamming_change *c, unsigned first, int fd,
                                   struct nd_error *err)
{
    struct nd_hamming_header *h = &c->header;
    enum nd_status status = ND_OK;

    for (unsigned i = first; i < c->n_pieces && status == ND_OK; i++) {
        const struct nd_hamming_piece *piece = &c->piece[i];
        struct nd_hamming_place *place = &h->segment[i];

        *place = (struct nd_hamming_place){.offset = nd_hamming_page_up(h->file_bytes)};
        status = piece->is_kept ? copy_old(c, piece, place, fd, err)
                                : write_new(c, piece, place, fd, err);
        place->part = piece->part;
        h->segments = i + 1;
        h->file_bytes = place->offset + place->bytes;
    }
    return status;
}

/* Padded with zeroes: segments may follow, or none. */
static enum nd_status write_recipe(const struct nd_hamming_change *c, int fd, struct nd_error *err)
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
static enum nd_status write_whole(struct nd_hamming_change *c, int fd, struct nd_error *err)
{
    unsigned char page[ND_HAMMING_PAGE];
    enum nd_status status = c->recipe ? write_recipe(c, fd, err) : ND_OK;

    c->header.segments = 0;
    c->header.file_bytes = nd_hamming_head_bytes(&c->header);
    if (status == ND_OK)
        status = write_pieces(c, 0, fd, err);
    if (status == ND_OK && c->max_bytes && c->header.file_bytes > c->max_bytes)
        return nd_fail(err, ND_EINVAL, "an index file of these takes %llu bytes, more than %llu",
                       (unsigned long long)c->header.file_bytes, (unsigned long long)c->max_bytes);
    nd_hamming_header_write(&c->header, page);
    for (unsigned i = 0; i < ND_HAMMING_HEADERS && status == ND_OK; i++)
        status = nd_hamming_write_at(fd, c->path, page, sizeof page, i * sizeof page, err);
    return status;
}

void nd_hamming_change_collect(struct nd_hamming_change *c, nd_hamming_collect *collect,
                               void *context)
{
    c->collect = collect;
    c->context = context;
}

/* Give a whole file its name; a process that is told to stop does so before, or goes on. */
static enum nd_status publish(const struct nd_hamming_change *c, struct nd_temporary *file,
                              const char *folder, struct nd_error *err)
{
    enum nd_status status;

    nd_temporary_begin_publishing();
    status = c->fd >= 0 ? nd_temporary_publish(file, err) : nd_temporary_publish_new(file, err);
    if (status == ND_OK) /* the name is there, whether the folder can be synced or not */
        (void)nd_folder_make_durable(folder);
    nd_temporary_end_publishing();
    return status;
}

enum nd_status nd_hamming_change_replace(struct nd_hamming_change *c, struct nd_error *err)
{
    struct nd_temporary *temporary = NULL;
    char *folder = folder_of(c);
    enum nd_status status = ND_OK;
    struct nd_error why;
    int fd;

    if (!folder)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    temporary = nd_temporary_create(c->name, &fd, &why);
    if (!temporary) {
        free(folder);
        return nd_fail(err, why.status, "%s", why.message);
    }
    status = write_whole(c, fd, err);
    if (status == ND_OK)
        status = nd_temporary_finish(temporary, true, err);
    if (status == ND_OK)
        status = check_name(c, err);
    if (status == ND_OK)
        status = publish(c, temporary, folder, err);
    else
        nd_temporary_discard(temporary);
    free(folder);
    return status;
}

/*
 * Write and sync a header in place of the older one (step 3 above).  If that fails, the older
 * header is put back, and nothing was added.  If even that fails, the header that readers find
 * decides whether it was.  The new segment is not cut off then: a reader may have seen the new
 * header, or the disk may have it.
 */
static enum nd_status write_newer(const struct nd_hamming_change *c, const unsigned char *page,
                                  uint64_t offset, struct nd_error *err)
{
    unsigned char older[ND_HAMMING_PAGE], now[ND_HAMMING_PAGE];
    enum nd_status status = ND_OK;

    errno = EIO; /* of a file that is too short */
    if (nd_descriptor_read_at(c->fd, older, sizeof older, offset) != (ssize_t)sizeof older)
        return cannot_write(c, err);
    status = nd_hamming_write_at(c->fd, c->path, page, ND_HAMMING_PAGE, offset, err);
    if (status == ND_OK && !nd_descriptor_sync_data(c->fd))
        status = cannot_write(c, err);
    if (status == ND_OK)
        return ND_OK;
    if (nd_hamming_write_at(c->fd, c->path, older, sizeof older, offset, NULL) == ND_OK) {
        (void)nd_descriptor_sync_data(c->fd);
        return status;
    }
    return nd_descriptor_read_at(c->fd, now, sizeof now, offset) == (ssize_t)sizeof now &&
                   memcmp(now, page, sizeof now) == 0
               ? ND_OK
               : status;
}

enum nd_status nd_hamming_change_append(struct nd_hamming_change *c, struct nd_error *err)
{
    uint64_t before = c->header.file_bytes;
    unsigned char page[ND_HAMMING_PAGE];
    enum nd_status status = ND_OK;
    unsigned current = c->old->holders & 1 ? 0 : 1;

    if (!nd_descriptor_resize(c->fd, before)) /* what a killed writer left behind the end */
        return cannot_write(c, err);
    status = write_pieces(c, c->header.segments, c->fd, err);
    if (status == ND_OK && !nd_descriptor_sync_data(c->fd))
        status = cannot_write(c, err);
    c->header.generation++;
    nd_hamming_header_write(&c->header, page);
    if (status == ND_OK)
        status = check_name(c, err);
    if (status != ND_OK) {
        (void)nd_descriptor_resize(c->fd, before);
        return status;
    }
    nd_temporary_begin_publishing();
    status = write_newer(c, page, !current * sizeof page, err);
    if (status == ND_OK && nd_hamming_write_at(c->fd, c->path, page, sizeof page,
                                               current * sizeof page, NULL) == ND_OK)
        (void)nd_descriptor_sync_data(c->fd);
    nd_temporary_end_publishing();
    return status;
}

enum nd_status nd_hamming_change_keep(struct nd_hamming_change *c,
                                      const struct nd_hamming_file *file, unsigned kept,
                                      bool keeps_later, uint64_t count, struct nd_error *err)
{
    struct nd_hamming_shape shape = nd_hamming_file_shape(file);
    struct nd_hamming_plan plan;
    enum nd_status status = ND_OK;

    c->old = file;
    if (kept == 0 && !keeps_later) {
        status = nd_hamming_file_plan(&shape, count, &plan, err);
        if (status == ND_OK)
            nd_hamming_change_begin(c, &plan, &shape, shape.recipe);
        return status;
    }
    c->header = file->header;
    c->header.segments = kept;
    c->recipe = shape.recipe;
    for (unsigned i = 0; i < kept && status == ND_OK; i++)
        status = nd_hamming_change_add_kept(c, i, file->header.segment[i].part, err);
    return status;
}
