/* descriptor.h - open files: read and written at places, described, locked, made durable */
#ifndef ND_BASE_SYSTEM_DESCRIPTOR_H
#define ND_BASE_SYSTEM_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h> /* ssize_t, which every system's C library has there */

/*
 * A descriptor is the int of the C library: 0, 1 and 2 are the standard files.  Functions that fail
 * set errno, so that strerror says why.  Names are UTF-8 on Windows and bytes elsewhere; bytes are
 * never converted.  No descriptor is handed on to a program that this one starts.
 */

/* ---- Opening ---- */

enum nd_descriptor_how {
    ND_OPEN_READ = 0,
    ND_OPEN_WRITE = 1,  /* without ND_OPEN_READ */
    ND_OPEN_BOTH = 2,   /* read and written */
    ND_OPEN_NEW = 4,    /* make it; EEXIST: the name is taken, be it by a link */
    ND_OPEN_NOW = 8,    /* do not wait for the other end of a pipe */
    ND_OPEN_OWN = 16,   /* a new file is readable by its owner alone */
    ND_OPEN_ITSELF = 32 /* a link is not followed: ELOOP */
};
/*
 * Open a file by its name; -1: errno says why.  On Windows it may be renamed, replaced and removed
 * while it is open, as elsewhere, except where another program has opened it without allowing that.
 */
int nd_descriptor_open(const char *path, unsigned how);
int nd_descriptor_close(int fd);
/* Another descriptor for the same open file, with the same locks; -1. */
int nd_descriptor_copy(int fd);
/* A stream with a descriptor of its own, so that closing it closes nothing else; NULL.  Bytes are not
 * converted, whatever the mode. */
FILE *nd_descriptor_stream(int fd, const char *mode);
/* Open a stream by the name of its file, as fopen does; NULL.  Mode "r", "w", "a", with "+" or not. */
FILE *nd_stream_open(const char *path, const char *mode);
int nd_stream_descriptor(FILE *stream);
/*
 * Create a file without a name in this folder, to be read and written, which goes away when it is
 * closed; if the process is killed too.  -1 with the reason in errno.  ENOTSUP: the system or the
 * file system has none; nothing was made.  is_to_be_named: nd_descriptor_name will be called.
 */
int nd_descriptor_nameless(const char *folder, bool is_to_be_named, bool is_own);
/* Create a file for this process alone, to be read and written, which nobody can name: if need be, by
 * a name that is removed at once.  -1: errno. */
int nd_descriptor_scratch(const char *folder);
/* Let a descriptor stand for another open file; 0 or -1. */
int nd_descriptor_replace(int fd, int by);
/* Give a file of nd_descriptor_nameless a name that no file has: 0; -1: errno, EEXIST among others. */
int nd_descriptor_name(int fd, const char *path);

/* ---- Reading and writing ---- */

/* Read what there is, up to `bytes`; 0: the end; -1.  A signal does not interrupt it. */
ssize_t nd_descriptor_read(int fd, void *to, size_t bytes);
/* Read all bytes from a place on, fewer only at the file's end; -1.  Any number of threads do. */
ssize_t nd_descriptor_read_at(int fd, void *to, size_t bytes, uint64_t at);
/* Write all bytes: at a place, or where the file stands.  False: errno says why. */
bool nd_descriptor_write_at(int fd, const void *data, size_t bytes, uint64_t at);
bool nd_descriptor_write(int fd, const void *data, size_t bytes);
/* A piece of memory. */
struct nd_piece {
    const void *data;
    size_t bytes;
};
/* Write some of n pieces one behind the other, from a place on, or NULL: where the file stands.
 * Return how many bytes, or -1; EINTR is possible. */
ssize_t nd_descriptor_write_pieces(int fd, const struct nd_piece *piece, size_t n,
                                   const uint64_t *place);
/* Go to a place, for nd_descriptor_read.  False: it is no regular file. */
bool nd_descriptor_seek(int fd, uint64_t place);
/* The place where a file stands; -1: it has none. */
int64_t nd_descriptor_place(int fd);
/* Wait so many milliseconds for bytes, or for the end.  True: neither has come. */
bool nd_descriptor_pauses(int fd, int milliseconds);
/* The reader of this pipe has gone.  Windows: false always; writing says it. */
bool nd_descriptor_is_unread(int fd);
bool nd_descriptor_is_terminal(int fd);

/* Hints: it is read from its begin to its end; this part is read soon. */
void nd_descriptor_hint_whole(int fd);
void nd_descriptor_hint_part(int fd, uint64_t at, uint64_t bytes);

/* ---- What it is ---- */

enum nd_file_kind {
    ND_FILE_REGULAR,
    ND_FILE_FOLDER,
    ND_FILE_CHARACTERS,
    ND_FILE_PIPE,
    ND_FILE_OTHER
};
struct nd_file_about {
    enum nd_file_kind kind;
    uint64_t device, inode; /* which file it is; inode 0: the system cannot say */
    uint64_t bytes;
    int64_t seconds, nanoseconds; /* time of modification */
};
/* Describe an open file; the file of this name, links followed; what has this name, be it a link.
 * False: errno says why. */
bool nd_descriptor_about(int fd, struct nd_file_about *about);
bool nd_path_about(const char *path, struct nd_file_about *about);
bool nd_path_about_itself(const char *path, struct nd_file_about *about);
bool nd_file_is_one(const struct nd_file_about *a, const struct nd_file_about *b);
/* A name that stands for this open file in this process; false: there is none. */
bool nd_descriptor_path(int fd, char path[64]);
/* It belongs to the user who runs this process.  Windows: true, and the file system says no later. */
bool nd_descriptor_is_own(int fd);
/* Let exactly the users who may read the file of this name read the open one.  Windows: the folder's
 * rights stay. */
void nd_descriptor_inherit(int fd, const char *path);

/* ---- Locks and the disk ---- */

/* Lock the whole file against others who lock it; false: errno is EWOULDBLOCK if another process, or
 * another opening of this one, has it.  The lock ends when the last copy of the descriptor is closed. */
bool nd_descriptor_lock(int fd);
/* Bring all to the disk; `data` alone: without times.  False: errno says why. */
bool nd_descriptor_sync(int fd);
bool nd_descriptor_sync_data(int fd);
/* Make the names in a folder durable; true as well where the file system or the system needs or knows
 * no such call. */
bool nd_folder_make_durable(const char *folder);
/* Cut the file, or let it grow by zeroes, to so many bytes. */
bool nd_descriptor_resize(int fd, uint64_t bytes);
/* Take disk space for a part, so that writing there, be it through a mapping, cannot fail for lack of
 * it.  Where the system cannot promise that, zeroes are written. */
bool nd_descriptor_take_space(int fd, uint64_t at, uint64_t bytes);

#endif
