/*
 * appender.c - adds to a sketch file: all of an addition, or none of it
 *
 *   lock      flock on the file, for as long as it is open here
 *   write     blocks and a new directory behind the end that the head in force names
 *   sync
 *   replace   the older head
 *   sync
 *
 * Up to the replacement, readers take the head in force, which knows nothing of what is behind its
 * end.  A head that is torn has a wrong checksum, and the head in force is still the other one.
 */
#include <neardup/sketch_file.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/temporary.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "record/parts.h"
#include "record/sketch_file_layout.h"
#include "record/sketch_reader.h"

struct nd_sketch_appender {
    char *path;
    int fd; /* holds the lock */
    struct nd_sketch_file *file;
    struct nd_sketch_writer *writer;
    uint64_t end; /* of the file as it was opened */
    uint32_t n_sources;
    struct nd_sketch_source *added; /* sources, with strings of their own */
    size_t n_added, added_capacity;
    uint32_t *slot; /* numbers of sources + 1 by their hashes; 0: free */
    size_t slots;
    struct nd_temporary
        *made; /* the file, where it was made for this; NULL: it was there, or stays */
    bool has_ended;
    bool may_be_added; /* the replacement of a head has begun */
};

static enum nd_status no_write(const struct nd_sketch_appender *a, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be added to: %s", a->path, strerror(errno));
}

/* ---- Opening ---- */

/* Write a file without documents, under its name from when it is whole; it goes away again if nothing
 * is added.  That another process was faster is no failure: then *made is NULL. */
static enum nd_status make_file(const char *path, const struct nd_recipe *recipe,
                                const struct nd_sketch_writer_options *create,
                                struct nd_temporary **made, struct nd_error *err)
{
    struct nd_sketch_writer_options options = *create;
    struct nd_sketch_writer *writer = NULL;
    struct nd_temporary *file;
    FILE *stream = NULL;
    int fd;
    enum nd_status status = ND_OK;

    options.name = path;
    file = nd_temporary_create(path, &fd, err);
    if (!file)
        return ND_EIO;
    stream = nd_descriptor_stream(fd, "wb+");
    if (stream)
        writer = nd_sketch_writer_new(stream, recipe, &options, err);
    else
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (stream && !writer)
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = nd_sketch_writer_finish(writer, err);
    nd_sketch_writer_free(writer);
    if (stream && fclose(stream) != 0 && status == ND_OK)
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (status == ND_OK)
        status = nd_temporary_finish(file, true, err);
    if (status != ND_OK) {
        nd_temporary_discard(file);
        return status;
    }
    status = nd_temporary_publish_for_now(file, err);
    *made = status == ND_OK ? file : NULL;
    return status == ND_ECHANGED ? ND_OK : status;
}

/* The lock is of use only while the name still means the file. */
static bool is_still_named(const struct nd_sketch_appender *a)
{
    struct nd_file_about mine, named;

    return nd_descriptor_about(a->fd, &mine) && nd_path_about(a->path, &named) &&
           nd_file_is_one(&mine, &named);
}

static enum nd_status lock(struct nd_sketch_appender *a, struct nd_error *err)
{
    a->fd = nd_descriptor_open(a->path, ND_OPEN_BOTH);
    if (a->fd < 0)
        return no_write(a, err);
    if (!nd_descriptor_lock(a->fd))
        return errno == EWOULDBLOCK
                   ? nd_fail(err, ND_EINVAL, "%s: another process is adding to this file", a->path)
                   : no_write(a, err);
    if (!is_still_named(a))
        return nd_fail(err, ND_EINVAL, "%s: another process is replacing this file", a->path);
    return ND_OK;
}

/* A descriptor for the same open file, so that the lock is the same. */
static int another(const struct nd_sketch_appender *a)
{
    return nd_descriptor_copy(a->fd);
}

static enum nd_status open_writer(struct nd_sketch_appender *a, struct nd_error *err)
{
    struct nd_view directory;
    unsigned which;
    const union nd_sketch_head_page *page = nd_sketch_file_head(a->file, &which, &directory);

    a->end = page->head.end;
    a->n_sources = page->head.sources;
    a->writer = nd_sketch_writer_resume(a->fd, a->path, page, directory, err);
    return a->writer ? ND_OK : ND_ENOMEM;
}

static enum nd_status open_all(struct nd_sketch_appender *a, const struct nd_recipe *recipe,
                               const struct nd_sketch_writer_options *create, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    int fd;

    if (create && !nd_path_exists(a->path) && errno == ENOENT)
        status = make_file(a->path, recipe, create, &a->made, err);
    if (status == ND_OK)
        status = lock(a, err);
    if (status != ND_OK)
        return status;
    fd = another(a);
    if (fd < 0)
        return no_write(a, err);
    a->file = nd_sketch_file_open_descriptor(a->path, fd, err);
    if (!a->file)
        return err->status;
    status = nd_sketch_file_fits(a->file, recipe, err);
    return status == ND_OK ? open_writer(a, err) : status;
}

struct nd_sketch_appender *nd_sketch_appender_open(const char *path, const struct nd_recipe *recipe,
                                                   const struct nd_sketch_writer_options *create,
                                                   struct nd_error *err)
{
    struct nd_sketch_appender *a = calloc(1, sizeof *a);
    struct nd_error room;

    err = err ? err : &room;
    if (a) {
        a->fd = -1;
        a->path = nd_text_copy(path);
    }
    if (!a || !a->path)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (open_all(a, recipe, create, err) == ND_OK)
        return a;
    nd_sketch_appender_close(a);
    return NULL;
}

void nd_sketch_appender_close(struct nd_sketch_appender *a)
{
    if (!a)
        return;
    /* Bytes that were written and are no part of the file take room until the next addition. */
    if (a->writer && !a->made && !a->may_be_added && !nd_descriptor_resize(a->fd, a->end))
        errno = 0;
    nd_temporary_discard(a->made);
    nd_sketch_writer_free(a->writer);
    nd_sketch_file_close(a->file);
    if (a->fd >= 0)
        (void)nd_descriptor_close(a->fd);
    for (size_t i = 0; i < a->n_added; i++) {
        free((char *)(uintptr_t)a->added[i].path);
        free((char *)(uintptr_t)a->added[i].entry);
    }
    free(a->added);
    free(a->slot);
    free(a->path);
    free(a);
}

const struct nd_sketch_file *nd_sketch_appender_file(const struct nd_sketch_appender *a)
{
    return a->file;
}

struct nd_sketch_writer *nd_sketch_appender_writer(struct nd_sketch_appender *a)
{
    return a->writer;
}

/* ---- Sources ---- */

static enum nd_status remember(struct nd_sketch_appender *a, const struct nd_sketch_source *source,
                               struct nd_error *err)
{
    struct nd_sketch_source *copy;

    if (!ND_RESERVE(a->added, &a->added_capacity, a->n_added + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    copy = &a->added[a->n_added];
    *copy = *source;
    copy->path = nd_text_copy(source->path);
    copy->entry = source->entry ? nd_text_copy(source->entry) : NULL;
    a->n_added++;
    return copy->path && !copy->entry == !source->entry ? ND_OK
                                                        : nd_fail(err, ND_ENOMEM, "out of memory");
}

static const struct nd_sketch_source *source_at(const struct nd_sketch_appender *a, uint32_t number)
{
    return number < a->n_sources ? nd_sketch_file_source(a->file, number)
                                 : &a->added[number - a->n_sources];
}

/* The slot of an equal source, or the free one where it belongs. */
static uint32_t *slot_of(const struct nd_sketch_appender *a, const struct nd_sketch_source *source)
{
    size_t i = (size_t)nd_mix64(source->bytes_hash) & (a->slots - 1);

    while (a->slot[i] && !nd_sketch_source_equals(source, source_at(a, a->slot[i] - 1)))
        i = (i + 1) & (a->slots - 1);
    return &a->slot[i];
}

/* Room for one more source, at least half of it free.  Sources of unknown hash are in no slot. */
static enum nd_status reserve_slots(struct nd_sketch_appender *a, struct nd_error *err)
{
    size_t n = a->n_sources + a->n_added, slots = a->slots ? a->slots : 64;
    uint32_t *slot;

    while (slots < 2 * (n + 1))
        slots *= 2;
    if (slots == a->slots)
        return ND_OK;
    slot = calloc(slots, sizeof *slot);
    if (!slot)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    free(a->slot);
    a->slot = slot;
    a->slots = slots;
    for (uint32_t i = 0; i < n; i++)
        if (source_at(a, i)->bytes_hash)
            *slot_of(a, source_at(a, i)) = i + 1;
    return ND_OK;
}

enum nd_status nd_sketch_appender_source(struct nd_sketch_appender *a,
                                         const struct nd_sketch_source *source, uint32_t *number,
                                         struct nd_error *err)
{
    uint32_t *slot = NULL;
    enum nd_status status = reserve_slots(a, err);

    if (status != ND_OK)
        return status;
    if (source->bytes_hash)
        slot = slot_of(a, source);
    if (slot && *slot) {
        *number = *slot - 1;
        return ND_OK;
    }
    *number = a->n_sources + (uint32_t)a->n_added;
    if (*number >= UINT32_MAX - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "%s: more than 2^32 sources in one sketch file",
                       a->path);
    status = remember(a, source, err);
    if (slot && status == ND_OK)
        *slot = *number + 1;
    return status == ND_OK ? nd_sketch_writer_add_source(a->writer, source, err) : status;
}

/* ---- The end of an addition ---- */

/* Replace the older head; where that fails, put back what was there, or remove a file that was made. */
static enum nd_status write_head(struct nd_sketch_appender *a, union nd_sketch_head_page *page,
                                 struct nd_error *err)
{
    const union nd_sketch_head_page *before;
    union nd_sketch_head_page older;
    struct nd_view directory;
    const bool was_made = a->made != NULL;
    unsigned which;
    uint64_t at;

    before = nd_sketch_file_head(a->file, &which, &directory);
    page->head.generation = before->head.generation + 1;
    nd_sketch_head_seal(page);
    at = which == 0 ? ND_SKETCH_HEAD_BYTES : 0;
    if (nd_sketch_file_read_at(a->file, older.bytes, sizeof older.bytes, at, err) != ND_OK)
        return ND_EIO;
    a->may_be_added = true;
    nd_temporary_keep(a->made);
    a->made = NULL;
    if (nd_sketch_write_at(a->fd, a->path, page->bytes, sizeof page->bytes, at, err) == ND_OK) {
        if (nd_descriptor_sync_data(a->fd))
            return ND_OK;
        no_write(a, err);
    }
    (void)nd_sketch_write_at(a->fd, a->path, older.bytes, sizeof older.bytes, at, NULL);
    if (was_made)
        (void)nd_path_remove(a->path);
    return ND_EIO;
}

enum nd_status nd_sketch_appender_commit(struct nd_sketch_appender *a, struct nd_error *err)
{
    union nd_sketch_head_page page;
    enum nd_status status;

    if (a->has_ended)
        return nd_fail(err, ND_EINVAL, "%s: the addition has ended", a->path);
    a->has_ended = true;
    status = nd_sketch_writer_end(a->writer, &page, err);
    if (status == ND_OK && !nd_descriptor_sync_data(a->fd))
        status = no_write(a, err);
    return status == ND_OK ? write_head(a, &page, err) : status;
}
