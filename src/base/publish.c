/* publish.c - a file that appears whole or not at all: a temporary name, a sync, a rename */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/publish.h"

enum nd_status nd_publish_failed(const struct nd_publish *p, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s", p->path, strerror(errno));
}

enum nd_status nd_publish_begin(struct nd_publish *p, const char *path, struct nd_error *err)
{
    struct nd_error why;
    struct stat about;
    int fd;

    *p = (struct nd_publish){.path = path};
    /* A device or a pipe would become a file. */
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return nd_fail(err, ND_EIO, "%s: is no regular file", path);
    p->temporary = nd_temporary_create(path, &fd, &why);
    if (!p->temporary) {
        if (err)
            *err = why;
        return why.status;
    }
    p->file = fdopen(fd, "wb");
    if (p->file)
        return ND_OK;
    close(fd);
    nd_temporary_discard(p->temporary);
    p->temporary = NULL;
    return nd_publish_failed(p, err);
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

enum nd_status nd_publish_end(struct nd_publish *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (fflush(p->file) != 0 || fsync(fileno(p->file)) != 0)
        return nd_publish_failed(p, err);
    if (fclose(p->file) != 0)
        status = nd_publish_failed(p, err);
    p->file = NULL;
    if (status != ND_OK)
        return status;
    status = nd_temporary_publish(p->temporary, err);
    p->temporary = NULL;
    if (status != ND_OK)
        return status;
    return sync_folder(p->path) ? ND_OK : nd_publish_failed(p, err);
}

void nd_publish_release(struct nd_publish *p)
{
    if (p->file)
        fclose(p->file);
    nd_temporary_discard(p->temporary);
    *p = (struct nd_publish){0};
}
