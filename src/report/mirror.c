/* mirror.c - one file a source, under its relative path in a folder */

/*
 * --output-dir, --copy-to and --link-to write one file for each source below a folder. A source's
 * path is made relative in such a way that it cannot leave the folder. Folders are created as
 * needed and removed again if nothing is published in them.
 */
#include "report/mirror.h"

#include "base/hash.h"
#include "base/hash_set.h"
#include "base/memory.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "reading/reading.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct nd_mirror {
    struct nd_publisher *publisher;
    const char *folder;
    bool may_replace;
    struct nd_output *open;
    const struct nd_input_file *source;    /* the input that the open file replaces */
    const struct nd_input_file **replaced; /* the inputs that will be replaced */
    size_t n_replaced, replaced_capacity;
    struct nd_hash_set names; /* names of the files so far */
    struct nd_buffer name;    /* path of the last file, zero-terminated */
    struct nd_buffer made;    /* folders that were created, zero-terminated, outer ones first */
};

struct nd_mirror *nd_mirror_new(struct nd_publisher *publisher, const char *folder,
                                bool may_replace, struct nd_error *err)
{
    struct nd_mirror *m = calloc(1, sizeof *m);

    if (!m) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    m->publisher = publisher;
    m->folder = folder;
    m->may_replace = may_replace;
    nd_temporary_remove_stale_in(folder);
    m->names.bytes_max = SIZE_MAX;
    return m;
}

/* Append the parts of a path, leaving out those that would lead out of the folder. */
static bool append_parts(struct nd_buffer *name, const char *path)
{
    while (*path) {
        bool is_name;
        size_t len = nd_path_part_len(path, &is_name);

        if (is_name && (!nd_buffer_append(name, "/", 1) || !nd_buffer_append(name, path, len)))
            return false;
        path += len;
        path += *path != 0;
    }
    return true;
}

/* Write the path of a file below the folder to *name, without a zero at its end. */
static enum nd_status join(struct nd_buffer *name, const char *folder, const char *path,
                           struct nd_error *err)
{
    name->len = 0;
    if (!nd_buffer_append(name, folder, strlen(folder)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    while (name->len > 1 && name->data[name->len - 1] == '/')
        name->len--;
    return append_parts(name, path) ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status make_name(struct nd_mirror *m, const char *path, const char *entry,
                                struct nd_error *err)
{
    enum nd_status status = join(&m->name, m->folder, path, err);
    size_t before = m->name.len;

    if (status != ND_OK)
        return status;
    if ((entry && !append_parts(&m->name, entry)) || !nd_buffer_append(&m->name, "", 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (entry && m->name.len == before + 1)
        return nd_fail(err, ND_EINPUT,
                       "%s!%s: cannot be a file of its own in a folder; use -o or --output-dir",
                       path, entry);
    if (nd_hash_set_add(&m->names, nd_hash_bytes(m->name.data, m->name.len)))
        return nd_fail(err, ND_EINPUT, "%s: two inputs would be written to it; the second is %s",
                       m->name.data, path);
    if (m->names.has_no_memory)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (nd_publisher_is_claimed(m->publisher, m->name.data))
        return nd_fail(err, ND_EINVAL, "two outputs cannot both go to '%s'", m->name.data);
    return ND_OK;
}

static enum nd_status make_folder(struct nd_mirror *m, const char *name, struct nd_error *err)
{
    if (nd_folder_make(name) == 0)
        return nd_buffer_append(&m->made, name, strlen(name) + 1)
                   ? ND_OK
                   : nd_fail(err, ND_ENOMEM, "out of memory");
    if (errno == EEXIST)
        return ND_OK;
    return nd_fail(err, ND_EIO, "%s: cannot be created: %s", name, strerror(errno));
}

/* Create all folders of the last name. */
static enum nd_status make_folders(struct nd_mirror *m, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    char *slash = strchr(m->name.data + 1, '/');

    for (; slash && status == ND_OK; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = make_folder(m, m->name.data, err);
        *slash = '/';
    }
    return status;
}

/* Remove the created folders that are still empty, innermost first. */
static void remove_made(struct nd_mirror *m)
{
    size_t end = m->made.len;

    while (end) {
        size_t begin = end - 1;

        while (begin && m->made.data[begin - 1])
            begin--;
        (void)nd_folder_remove(m->made.data + begin);
        end = begin;
    }
}

/* A file with the last name may be replaced by its own survivors, but must not be another input. */
static enum nd_status check_replaced(const struct nd_mirror *m, const struct nd_source *source,
                                     struct nd_file_mark *own, struct nd_error *err)
{
    const struct nd_file_mark there = nd_file_mark_at(m->name.data);

    *own = nd_input_file_mark(source->file);
    if (!m->may_replace || !nd_file_mark_is_one(&there, own))
        *own = (struct nd_file_mark){.inode = 0};
    if (!own->inode && nd_publisher_is_read(m->publisher, &there))
        return nd_fail(err, ND_EINVAL,
                       "'%s' is an input and would be replaced by the output for %s", m->name.data,
                       source->path);
    return ND_OK;
}

static enum nd_status note_replaced(struct nd_mirror *m, struct nd_error *err)
{
    if (!ND_RESERVE(m->replaced, &m->replaced_capacity, m->n_replaced + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    m->replaced[m->n_replaced++] = m->source;
    return ND_OK;
}

enum nd_status nd_mirror_open(struct nd_mirror *m, const struct nd_source *source,
                              const char *entry, struct nd_output **file, struct nd_error *err)
{
    struct nd_file_mark replaced = {.inode = 0};
    enum nd_status status = make_name(m, source->path, entry, err);

    if (status == ND_OK)
        status = make_folders(m, err);
    if (status == ND_OK)
        status = check_replaced(m, source, &replaced, err);
    if (status != ND_OK)
        return status;
    m->open = nd_output_open(m->publisher, m->name.data, ND_PUBLISH_RESULT, err);
    *file = m->open;
    m->source = NULL;
    if (!m->open)
        return ND_EIO;
    if (!replaced.inode)
        return ND_OK;
    m->source = source->file;
    nd_output_replace(m->open, &replaced);
    if (source->is_container && !source->archive)
        nd_output_be_compressed(m->open, source->compression);
    return note_replaced(m, err);
}

/* A source that could not be read to its end is not replaced. */
enum nd_status nd_mirror_close(struct nd_mirror *m, struct nd_error *err)
{
    struct nd_output *file = m->open;

    m->open = NULL;
    if (!m->source || nd_input_file_is_whole(m->source))
        return nd_output_finish(file, err);
    nd_output_discard(file);
    return ND_OK;
}

enum nd_status nd_mirror_would_replace(const char *folder, const struct nd_input_file *file,
                                       bool *would, struct nd_error *err)
{
    const struct nd_file_mark own = nd_input_file_mark(file);
    struct nd_buffer name = {0};
    enum nd_status status = join(&name, folder, file->path, err);
    struct nd_file_mark there;

    if (status == ND_OK && !nd_buffer_append(&name, "", 1))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK) {
        there = nd_file_mark_at(name.data);
        *would = nd_file_mark_is_one(&there, &own);
    }
    nd_buffer_release(&name);
    return status;
}

const struct nd_input_file *nd_mirror_replaced(const struct nd_mirror *m, size_t i)
{
    return i < m->n_replaced ? m->replaced[i] : NULL;
}

static bool are_one_file(const char *a, const char *b)
{
    struct nd_file_about x, y;

    return nd_path_about(a, &x) && nd_path_about_itself(b, &y) && nd_file_is_one(&x, &y);
}

enum nd_status nd_mirror_link(struct nd_mirror *m, const struct nd_source *source,
                              struct nd_error *err)
{
    struct nd_file_mark own;
    enum nd_status status = make_name(m, source->path, NULL, err);

    if (status == ND_OK)
        status = make_folders(m, err);
    if (status == ND_OK)
        status = check_replaced(m, source, &own, err);
    /*
     * Already linked, or the source itself: rename() would do nothing and leave the temporary name.
     */
    if (status != ND_OK || are_one_file(source->path, m->name.data))
        return status;
    return nd_publisher_add_link(m->publisher, m->name.data, source->path, err);
}

void nd_mirror_is_published(struct nd_mirror *m)
{
    m->made.len = 0;
}

void nd_mirror_free(struct nd_mirror *m)
{
    if (!m)
        return;
    nd_output_discard(m->open);
    remove_made(m);
    free(m->replaced);
    nd_hash_set_release(&m->names);
    nd_buffer_release(&m->name);
    nd_buffer_release(&m->made);
    free(m);
}
