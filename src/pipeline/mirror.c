/* mirror.c - one file a source, under its relative path in a folder */
#define _GNU_SOURCE
#include "pipeline/mirror.h"

#include "base/hash.h"
#include "base/memory.h"
#include "base/temporary.h"
#include "pipeline/hash_set.h"
#include "pipeline/output_names.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct nd_mirror {
    const char *folder;
    const char *others[ND_MIRROR_OTHERS];
    struct nd_output *open;
    struct nd_output **done;
    size_t n_done, done_capacity;
    const char **link;
    size_t n_links, link_capacity;
    struct nd_hash_set names; /* of the files so far */
    struct nd_buffer name;    /* of the last one, zero-terminated */
    struct nd_buffer made;    /* folders that were not there, zero-terminated, inner ones behind */
};

struct nd_mirror *nd_mirror_new(const char *folder, const char *const others[ND_MIRROR_OTHERS],
                                struct nd_error *err)
{
    struct nd_mirror *m = calloc(1, sizeof *m);

    if (!m) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    m->folder = folder;
    memcpy(m->others, others, sizeof m->others);
    m->names.bytes_max = SIZE_MAX;
    return m;
}

/* Append the parts of a path, but for those that would lead out of the folder. */
static bool append_parts(struct nd_buffer *name, const char *path)
{
    while (*path) {
        size_t len = strcspn(path, "/");
        bool skip = len == 0 || (len == 1 && path[0] == '.') ||
                    (len == 2 && path[0] == '.' && path[1] == '.');

        if (!skip && (!nd_buffer_append(name, "/", 1) || !nd_buffer_append(name, path, len)))
            return false;
        path += len;
        path += *path == '/';
    }
    return true;
}

static enum nd_status make_name(struct nd_mirror *m, const char *path, const char *entry,
                                struct nd_error *err)
{
    size_t before;

    m->name.len = 0;
    if (!nd_buffer_append(&m->name, m->folder, strlen(m->folder)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    while (m->name.len > 1 && m->name.data[m->name.len - 1] == '/')
        m->name.len--;
    if (!append_parts(&m->name, path))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    before = m->name.len;
    if ((entry && !append_parts(&m->name, entry)) || !nd_buffer_append(&m->name, "", 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (entry && m->name.len == before + 1)
        return nd_fail(err, ND_EINPUT, "%s!%s: has no name in a folder; use -o or --output-dir",
                       path, entry);
    if (nd_hash_set_add(&m->names, nd_hash_bytes(m->name.data, m->name.len)))
        return nd_fail(err, ND_EINPUT, "%s: two inputs would be written to it, %s the second",
                       m->name.data, path);
    if (m->names.has_no_memory)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < ND_MIRROR_OTHERS; i++)
        if (m->others[i] && nd_output_is_same(m->name.data, m->others[i]))
            return nd_fail(err, ND_EINVAL, "two outputs cannot both go to '%s'", m->name.data);
    return ND_OK;
}

static enum nd_status make_folder(struct nd_mirror *m, const char *name, struct nd_error *err)
{
    if (mkdir(name, 0777) == 0)
        return nd_buffer_append(&m->made, name, strlen(name) + 1)
                   ? ND_OK
                   : nd_fail(err, ND_ENOMEM, "out of memory");
    if (errno == EEXIST)
        return ND_OK;
    return nd_fail(err, ND_EIO, "%s: cannot be created: %s", name, strerror(errno));
}

/* All that the last name stands in. */
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

/* Those that nothing was put into, from the inside. */
static void remove_made(struct nd_mirror *m)
{
    size_t end = m->made.len;

    while (end) {
        size_t begin = end - 1;

        while (begin && m->made.data[begin - 1])
            begin--;
        (void)rmdir(m->made.data + begin);
        end = begin;
    }
}

enum nd_status nd_mirror_open(struct nd_mirror *m, const char *path, const char *entry,
                              struct nd_output **file, struct nd_error *err)
{
    enum nd_status status = make_name(m, path, entry, err);

    if (status == ND_OK)
        status = make_folders(m, err);
    if (status != ND_OK)
        return status;
    m->open = nd_output_open(m->name.data, err);
    *file = m->open;
    return m->open ? ND_OK : ND_EIO;
}

enum nd_status nd_mirror_close(struct nd_mirror *m, struct nd_error *err)
{
    void *done = m->done;
    enum nd_status status = nd_output_finish(m->open, err);

    if (status == ND_OK &&
        !nd_array_reserve(&done, &m->done_capacity, m->n_done + 1, sizeof(struct nd_output *)))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status != ND_OK)
        return status;
    m->done = done;
    m->done[m->n_done++] = m->open;
    m->open = NULL;
    return ND_OK;
}

enum nd_status nd_mirror_link(struct nd_mirror *m, const char *path, struct nd_error *err)
{
    void *list = m->link;

    if (!nd_array_reserve(&list, &m->link_capacity, m->n_links + 1, sizeof(const char *)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    m->link = list;
    m->link[m->n_links++] = path;
    return ND_OK;
}

static bool are_one_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && lstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static enum nd_status publish_link(struct nd_mirror *m, const char *path, struct nd_error *err)
{
    enum nd_status status = make_name(m, path, NULL, err);
    struct nd_temporary *link;

    if (status == ND_OK)
        status = make_folders(m, err);
    /* Already linked, or the file itself: rename() would leave the temporary name. */
    if (status != ND_OK || are_one_file(path, m->name.data))
        return status;
    link = nd_temporary_create_link(m->name.data, path, err);
    return link ? nd_temporary_publish(link, err) : ND_EIO;
}

enum nd_status nd_mirror_publish(struct nd_mirror *m, size_t *n_published, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < m->n_done; i++) {
        status = nd_output_publish(m->done[i], err);
        m->done[i] = NULL;
        *n_published += status == ND_OK;
    }
    for (size_t i = 0; status == ND_OK && i < m->n_links; i++) {
        status = publish_link(m, m->link[i], err);
        *n_published += status == ND_OK;
    }
    if (status == ND_OK)
        m->made.len = 0;
    return status;
}

void nd_mirror_free(struct nd_mirror *m)
{
    if (!m)
        return;
    nd_output_discard(m->open);
    for (size_t i = 0; i < m->n_done; i++)
        nd_output_discard(m->done[i]);
    remove_made(m);
    free(m->done);
    free(m->link);
    nd_hash_set_release(&m->names);
    nd_buffer_release(&m->name);
    nd_buffer_release(&m->made);
    free(m);
}
