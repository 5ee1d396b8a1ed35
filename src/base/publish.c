/* publish.c - a file that appears whole or not at all: a temporary name, a sync, a rename */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/publish.h"

enum nd_status nd_publish_failed(const struct nd_publish *p, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: %s", p->path, strerror(errno));
}

enum nd_status nd_publish_begin(struct nd_publish *p, const char *path, struct nd_error *err)
{
    static const char suffix[] = ".XXXXXX";
    size_t len = strlen(path);
    int fd;

    *p = (struct nd_publish){.path = path, .temporary = nd_alloc_array(len + sizeof suffix, 1)};
    if (!p->temporary)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(p->temporary, path, len);
    memcpy(p->temporary + len, suffix, sizeof suffix);
    fd = mkostemp(p->temporary, O_CLOEXEC);
    if (fd >= 0) {
        p->file = fdopen(fd, "wb");
        if (p->file)
            return ND_OK;
        close(fd);
        unlink(p->temporary);
    }
    free(p->temporary);
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

    if (fflush(p->file) != 0 || fchmod(fileno(p->file), 0644) != 0 || fsync(fileno(p->file)) != 0)
        return nd_publish_failed(p, err);
    if (fclose(p->file) != 0)
        status = nd_publish_failed(p, err);
    p->file = NULL;
    if (status == ND_OK && rename(p->temporary, p->path) != 0)
        status = nd_publish_failed(p, err);
    if (status != ND_OK)
        return status;
    free(p->temporary);
    p->temporary = NULL;
    return sync_folder(p->path) ? ND_OK : nd_publish_failed(p, err);
}

void nd_publish_release(struct nd_publish *p)
{
    if (p->file)
        fclose(p->file);
    if (p->temporary)
        unlink(p->temporary);
    free(p->temporary);
    *p = (struct nd_publish){0};
}
