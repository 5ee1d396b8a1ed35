/* reread.c - a record once more, from a file that must still be what it was */
#define _GNU_SOURCE
#include "input/input_state.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static enum nd_status changed(const struct nd_source *s, struct nd_error *err)
{
    return nd_fail(err, ND_ECHANGED, "%s: was changed after it was first read", s->path);
}

static enum nd_status refused(const struct nd_source *s, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be read again: %s", s->path, strerror(errno));
}

static enum nd_status check_unchanged(const struct nd_source_kept *kept, int fd,
                                      struct nd_error *err)
{
    struct stat st;

    if (fstat(fd, &st) != 0)
        return refused(&kept->source, err);
    if ((uint64_t)st.st_size != kept->size || st.st_mtim.tv_sec != kept->time.tv_sec ||
        st.st_mtim.tv_nsec != kept->time.tv_nsec)
        return changed(&kept->source, err);
    return ND_OK;
}

static enum nd_status read_all(const struct nd_source *s, int fd, uint64_t offset, char *out,
                               size_t len, struct nd_error *err)
{
    size_t got = 0;

    while (got < len) {
        ssize_t n = pread(fd, out + got, len - got, (off_t)(offset + got));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refused(s, err);
        if (n == 0)
            return changed(s, err);
        got += (size_t)n;
    }
    return ND_OK;
}

enum nd_status nd_input_reread(const struct nd_input *input, uint32_t source, uint64_t offset,
                               size_t len, char **bytes, size_t *capacity, struct nd_error *err)
{
    const struct nd_source_kept *kept = nd_sources_get(&input->sources, source);
    void *array = *bytes;
    enum nd_status status;
    int fd = kept->fd;

    if (!kept->source.is_rereadable)
        return nd_fail(err, ND_EINVAL, "%s: cannot be read again", kept->source.path);
    if (len > SIZE_MAX - ND_BUFFER_PADDING ||
        !nd_array_reserve(&array, capacity, len + ND_BUFFER_PADDING, 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *bytes = array;
    if (fd < 0)
        fd = open(kept->source.path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return refused(&kept->source, err);
    status = read_all(&kept->source, fd, offset, *bytes, len, err);
    if (status == ND_OK)
        status = check_unchanged(kept, fd, err);
    if (fd != kept->fd)
        (void)close(fd);
    if (status == ND_OK)
        memset(*bytes + len, 0, ND_BUFFER_PADDING);
    return status;
}
