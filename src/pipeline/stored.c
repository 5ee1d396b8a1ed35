/* stored.c - a file copied as it is stored */
#define _GNU_SOURCE
#include "pipeline/stored.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 1 << 16 };

bool nd_stored_is_another(const struct nd_source *source)
{
    struct stat about;

    return !source->entry && !source->is_rereadable && stat(source->path, &about) == 0 &&
           S_ISREG(about.st_mode);
}

static enum nd_status refused(const struct nd_source *source, struct nd_error *err)
{
    return nd_fail(err, ND_EIO, "%s: cannot be read again: %s", source->path, strerror(errno));
}

static enum nd_status copy_all(const struct nd_source *source, int fd, char *piece,
                               struct nd_hash_stream *hash, struct nd_output *out,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;
    ssize_t n = 1;

    while (status == ND_OK && n != 0) {
        n = read(fd, piece, PIECE_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refused(source, err);
        nd_hash_stream_add(hash, piece, (size_t)n);
        status = nd_output_write(out, piece, (size_t)n, err);
    }
    return status;
}

enum nd_status nd_stored_copy(const struct nd_source *source, struct nd_output *out,
                              struct nd_error *err)
{
    struct nd_hash_stream *hash = nd_hash_stream_new();
    char *piece = malloc(PIECE_BYTES);
    int fd = open(source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    enum nd_status status;

    if (!hash || !piece)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else if (fd < 0)
        status = refused(source, err);
    else
        status = copy_all(source, fd, piece, hash, out, err);
    /* The hash is known where the source has ended. */
    if (status == ND_OK && source->bytes_hash && nd_hash_stream_value(hash) != source->bytes_hash)
        status = nd_fail(err, ND_ECHANGED, "%s: was changed after it was first read", source->path);
    if (fd >= 0)
        (void)close(fd);
    nd_hash_stream_free(hash);
    free(piece);
    return status;
}
