/* zip_comments.c - whether a zip has comments, of which libarchive does not tell */
#define _GNU_SOURCE
#include "input/archive_stream.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* APPNOTE.TXT 4.3.12 and 4.3.16: sizes of the fixed parts. */
enum { END_BYTES = 22, ENTRY_BYTES = 46, COMMENT_MAX = 65535, DIRECTORY_MAX = 1 << 28 };

static uint32_t number(const unsigned char *at, unsigned bytes)
{
    uint32_t value = 0;

    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

static const char *look_through(const unsigned char *directory, size_t len)
{
    for (size_t at = 0; at < len;) {
        const unsigned char *e = directory + at;

        if (len - at < ENTRY_BYTES || memcmp(e, "PK\1\2", 4) != 0)
            return "what its directory says";
        if (number(e + 32, 2))
            return "the comments of files";
        at += ENTRY_BYTES + number(e + 28, 2) + number(e + 30, 2);
    }
    return NULL;
}

static const char *look_at_directory(int fd, uint32_t offset, uint32_t len)
{
    unsigned char *directory;
    const char *found = "what its directory says";

    if (offset == UINT32_MAX || len > DIRECTORY_MAX) /* zip64, among others */
        return found;
    directory = malloc((size_t)len + 1);
    if (directory && pread(fd, directory, len, (off_t)offset) == (ssize_t)len)
        found = look_through(directory, len);
    free(directory);
    return found;
}

const char *nd_zip_comments(int fd, uint64_t bytes)
{
    unsigned char tail[END_BYTES + COMMENT_MAX];
    size_t len = bytes < sizeof tail ? (size_t)bytes : sizeof tail;

    if (pread(fd, tail, len, (off_t)(bytes - len)) != (ssize_t)len)
        return "what its directory says";
    for (size_t at = len; at-- >= END_BYTES;) {
        const unsigned char *end = tail + at - END_BYTES + 1;
        size_t left = len - (at - END_BYTES + 1);

        if (memcmp(end, "PK\5\6", 4) != 0 || END_BYTES + number(end + 20, 2) != left)
            continue;
        return number(end + 20, 2)
                   ? "its comment"
                   : look_at_directory(fd, number(end + 16, 4), number(end + 12, 4));
    }
    return "what its directory says";
}
