/* windows_files.c - open files on Windows: the C library's descriptors, for handles of the system */
#ifdef _WIN32
#include "base/system/windows_names.h"

#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "base/system/process.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <winioctl.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file that is open hinders nobody from reading, writing, renaming and removing it. */
enum { SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };
enum {
    PIECE_MAX = 1 << 30,    /* bytes of one call */
    PAUSE_MS = 4,           /* between two looks at a pipe */
    RANDOM_CHARACTERS = 20, /* in a name that nobody sees */
    LOCK_PLACE = 0x40000000 /* upper half of an offset that no file reaches: locks hinder reading */
};
/* From 1601 to 1970, in units of 100 ns. */
static const uint64_t epoch = UINT64_C(116444736000000000);

/* ---- Handles ---- */

/*
 * Reading or writing at a place moves the place where the file stands, which other threads may read
 * on from.  So such calls have a handle of their own for each descriptor, made by the first of them,
 * which stands somewhere else.  It is closed with the descriptor; where a stream has closed that, when
 * its number is given again.
 */
enum { DESCRIPTORS = 8192 };                   /* as many as the C library has */
static _Atomic(HANDLE) placed[DESCRIPTORS][2]; /* for reading, for writing; NULL: not made yet */

static void forget_placed(int fd)
{
    for (unsigned i = 0; fd >= 0 && fd < DESCRIPTORS && i < 2; i++) {
        HANDLE handle = atomic_exchange(&placed[fd][i], NULL);

        if (handle)
            CloseHandle(handle);
    }
}

/* The handle for calls with a place; where the system makes none, as for pipes, the only one. */
static HANDLE placed_handle(int fd, bool writes)
{
    HANDLE handle = fd < DESCRIPTORS ? atomic_load(&placed[fd][writes]) : NULL, none = NULL;

    if (handle)
        return handle;
    handle = fd < DESCRIPTORS ? ReOpenFile(nd_descriptor_handle(fd),
                                           writes ? GENERIC_WRITE : GENERIC_READ, SHARE_ALL, 0)
                              : INVALID_HANDLE_VALUE;
    if (handle == INVALID_HANDLE_VALUE)
        return nd_descriptor_handle(fd);
    if (atomic_compare_exchange_strong(&placed[fd][writes], &none, handle))
        return handle;
    CloseHandle(handle); /* another thread was faster */
    return none;
}

void *nd_descriptor_handle(int fd)
{
    return (void *)_get_osfhandle(fd);
}

int nd_descriptor_of_handle(void *handle, int flags)
{
    int fd = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);

    if (fd < 0)
        CloseHandle(handle);
    forget_placed(fd);
    return fd;
}

/* ---- Opening ---- */

static bool is_link(HANDLE file)
{
    BY_HANDLE_FILE_INFORMATION about;

    return GetFileInformationByHandle(file, &about) &&
           about.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
}

int nd_descriptor_open(const char *path, unsigned how)
{
    DWORD access = how & ND_OPEN_WRITE  ? GENERIC_WRITE
                   : how & ND_OPEN_BOTH ? GENERIC_READ | GENERIC_WRITE
                                        : GENERIC_READ;
    DWORD flags = FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS |
                  (how & ND_OPEN_ITSELF ? FILE_FLAG_OPEN_REPARSE_POINT : 0);
    wchar_t *wide = nd_wide_path(path);
    HANDLE file;

    if (!wide)
        return -1;
    file = CreateFileW(wide, access, SHARE_ALL, NULL,
                       how & ND_OPEN_NEW ? CREATE_NEW : OPEN_EXISTING, flags, NULL);
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return nd_windows_error();
    if (how & ND_OPEN_ITSELF && is_link(file)) {
        CloseHandle(file);
        errno = ELOOP;
        return -1;
    }
    return nd_descriptor_of_handle(file, access == GENERIC_READ ? _O_RDONLY : _O_RDWR);
}

int nd_descriptor_close(int fd)
{
    forget_placed(fd);
    return _close(fd);
}

int nd_descriptor_copy(int fd)
{
    HANDLE copy, self = GetCurrentProcess();

    if (!DuplicateHandle(self, nd_descriptor_handle(fd), self, &copy, 0, FALSE,
                         DUPLICATE_SAME_ACCESS))
        return nd_windows_error();
    return nd_descriptor_of_handle(copy, _O_RDWR);
}

/* A stream that takes over the descriptor, even if it fails. */
static FILE *stream_of(int fd, const char *mode)
{
    char binary[8];
    FILE *stream;

    if (fd < 0)
        return NULL;
    (void)snprintf(binary, sizeof binary, "%.4sb", mode);
    stream = _fdopen(fd, binary);
    if (!stream)
        (void)_close(fd);
    return stream;
}

FILE *nd_descriptor_stream(int fd, const char *mode)
{
    return stream_of(nd_descriptor_copy(fd), mode);
}

FILE *nd_stream_open(const char *path, const char *mode)
{
    DWORD access = strchr(mode, '+') ? GENERIC_READ | GENERIC_WRITE
                   : *mode == 'r'    ? GENERIC_READ
                                     : GENERIC_WRITE;
    DWORD create = *mode == 'r' ? OPEN_EXISTING : *mode == 'w' ? CREATE_ALWAYS : OPEN_ALWAYS;
    wchar_t *wide = nd_wide_path(path);
    HANDLE file = wide ? CreateFileW(wide, access, SHARE_ALL, NULL, create,
                                     FILE_ATTRIBUTE_NORMAL | FILE_FLAG_BACKUP_SEMANTICS, NULL)
                       : INVALID_HANDLE_VALUE;

    if (wide && file == INVALID_HANDLE_VALUE)
        (void)nd_windows_error();
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    return stream_of(nd_descriptor_of_handle(file, (access == GENERIC_READ ? _O_RDONLY : _O_RDWR) |
                                                       (*mode == 'a' ? _O_APPEND : 0)),
                     mode);
}

int nd_stream_descriptor(FILE *stream)
{
    return _fileno(stream);
}

/* The system removes the file when its last handle is closed, at the latest when the process ends. */
int nd_descriptor_nameless(const char *folder, bool is_to_be_named, bool is_own)
{
    static const char digit[] = "abcdefghijklmnopqrstuvwxyz234567";

    (void)is_own; /* the folder's rights are the file's */
    if (is_to_be_named) {
        errno = ENOTSUP;
        return -1;
    }
    for (;;) {
        unsigned char byte[RANDOM_CHARACTERS];
        char random[RANDOM_CHARACTERS + 1] = {0}, *name;
        wchar_t *wide;
        HANDLE file;

        if (!nd_random_bytes(byte, sizeof byte)) {
            errno = EIO;
            return -1;
        }
        for (size_t i = 0; i < sizeof byte; i++)
            random[i] = digit[byte[i] % 32];
        if (nd_print_new(&name, "%s/.neardup-%s", folder, random) < 0) {
            errno = ENOMEM;
            return -1;
        }
        wide = nd_wide_path(name);
        free(name);
        if (!wide)
            return -1;
        file = CreateFileW(wide, GENERIC_READ | GENERIC_WRITE | DELETE, SHARE_ALL, NULL, CREATE_NEW,
                           FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, NULL);
        free(wide);
        if (file != INVALID_HANDLE_VALUE)
            return nd_descriptor_of_handle(file, _O_RDWR);
        if (nd_windows_error(), errno != EEXIST)
            return -1;
    }
}

int nd_descriptor_scratch(const char *folder)
{
    return nd_descriptor_nameless(folder, false, true);
}

int nd_descriptor_replace(int fd, int by)
{
    forget_placed(fd);
    return _dup2(by, fd);
}

int nd_descriptor_name(int fd, const char *path)
{
    (void)fd;
    (void)path;
    errno = ENOTSUP;
    return -1;
}

/* ---- Reading and writing ---- */

/* The place at which a call begins; NULL: that at which the file stands. */
static OVERLAPPED *set_place(OVERLAPPED *overlapped, const uint64_t *place)
{
    if (!place)
        return NULL;
    *overlapped = (OVERLAPPED){0};
    overlapped->Offset = (DWORD)*place;
    overlapped->OffsetHigh = (DWORD)(*place >> 32);
    return overlapped;
}

static ssize_t read_piece(int fd, void *to, size_t bytes, const uint64_t *place)
{
    OVERLAPPED overlapped;
    DWORD n = 0;

    if (bytes > PIECE_MAX)
        bytes = PIECE_MAX;
    if (ReadFile(place ? placed_handle(fd, false) : nd_descriptor_handle(fd), to, (DWORD)bytes, &n,
                 set_place(&overlapped, place)))
        return (ssize_t)n;
    if (GetLastError() == ERROR_HANDLE_EOF || GetLastError() == ERROR_BROKEN_PIPE)
        return 0;
    if (GetLastError() == ERROR_INVALID_FUNCTION || GetLastError() == ERROR_INVALID_PARAMETER) {
        struct nd_file_about about;

        if (nd_descriptor_about(fd, &about) && about.kind == ND_FILE_FOLDER) {
            errno = EISDIR;
            return -1;
        }
        SetLastError(ERROR_INVALID_PARAMETER);
    }
    return nd_windows_error();
}

ssize_t nd_descriptor_read(int fd, void *to, size_t bytes)
{
    return read_piece(fd, to, bytes, NULL);
}

ssize_t nd_descriptor_read_at(int fd, void *to, size_t bytes, uint64_t at)
{
    size_t done = 0;

    while (done < bytes) {
        uint64_t place = at + done;
        ssize_t n = read_piece(fd, (char *)to + done, bytes - done, &place);

        if (n < 0)
            return -1;
        if (n == 0)
            break;
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static bool write_all(int fd, const void *data, size_t bytes, const uint64_t *place)
{
    for (size_t done = 0; done < bytes;) {
        uint64_t at = (place ? *place : 0) + done;
        OVERLAPPED overlapped;
        DWORD n = 0;

        if (!WriteFile(place ? placed_handle(fd, true) : nd_descriptor_handle(fd),
                       (const char *)data + done,
                       (DWORD)(bytes - done < PIECE_MAX ? bytes - done : PIECE_MAX), &n,
                       set_place(&overlapped, place ? &at : NULL)))
            return nd_windows_error() == 0;
        if (n == 0) {
            errno = ENOSPC;
            return false;
        }
        done += n;
    }
    return true;
}

bool nd_descriptor_write_at(int fd, const void *data, size_t bytes, uint64_t at)
{
    return write_all(fd, data, bytes, &at);
}

bool nd_descriptor_write(int fd, const void *data, size_t bytes)
{
    return write_all(fd, data, bytes, NULL);
}

ssize_t nd_descriptor_write_pieces(int fd, const struct nd_piece *piece, size_t n,
                                   const uint64_t *place)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; sum += piece[i++].bytes) {
        uint64_t at = (place ? *place : 0) + sum;

        if (piece[i].bytes && !write_all(fd, piece[i].data, piece[i].bytes, place ? &at : NULL))
            return -1;
    }
    return (ssize_t)sum;
}

bool nd_descriptor_seek(int fd, uint64_t place)
{
    struct nd_file_about about;

    if (!nd_descriptor_about(fd, &about) || about.kind != ND_FILE_REGULAR) {
        errno = ESPIPE;
        return false;
    }
    if (SetFilePointerEx(nd_descriptor_handle(fd), (LARGE_INTEGER){.QuadPart = (LONGLONG)place},
                         NULL, FILE_BEGIN))
        return true;
    return nd_windows_error() == 0;
}

int64_t nd_descriptor_place(int fd)
{
    HANDLE file = nd_descriptor_handle(fd);
    LARGE_INTEGER place;

    if (GetFileType(file) == FILE_TYPE_DISK &&
        SetFilePointerEx(file, (LARGE_INTEGER){0}, &place, FILE_CURRENT))
        return place.QuadPart;
    errno = ESPIPE;
    return -1;
}

bool nd_descriptor_pauses(int fd, int milliseconds)
{
    HANDLE file = nd_descriptor_handle(fd);
    DWORD kind = GetFileType(file), n;

    if (kind == FILE_TYPE_CHAR)
        return WaitForSingleObject(file, (DWORD)milliseconds) == WAIT_TIMEOUT;
    if (kind != FILE_TYPE_PIPE)
        return false;
    for (int waited = 0;; waited += PAUSE_MS) {
        if (!PeekNamedPipe(file, NULL, 0, NULL, &n, NULL) || n)
            return false;
        if (waited >= milliseconds)
            return true;
        Sleep(PAUSE_MS);
    }
}

bool nd_descriptor_is_unread(int fd)
{
    (void)fd;
    return false;
}

bool nd_descriptor_is_terminal(int fd)
{
    DWORD mode;

    return GetConsoleMode(nd_descriptor_handle(fd), &mode) != 0;
}

void nd_descriptor_hint_whole(int fd)
{
    (void)fd;
}

void nd_descriptor_hint_part(int fd, uint64_t at, uint64_t bytes)
{
    (void)fd;
    (void)at;
    (void)bytes;
}

/* ---- What it is ---- */

static bool describe(HANDLE file, struct nd_file_about *about)
{
    BY_HANDLE_FILE_INFORMATION found;
    uint64_t written;

    *about = (struct nd_file_about){.kind = ND_FILE_OTHER};
    switch (GetFileType(file)) {
    case FILE_TYPE_CHAR: about->kind = ND_FILE_CHARACTERS; return true;
    case FILE_TYPE_DISK: break;
    case FILE_TYPE_PIPE: about->kind = ND_FILE_PIPE; return true;
    case FILE_TYPE_UNKNOWN:
        if (GetLastError() != NO_ERROR)
            return nd_windows_error() == 0;
        return true;
    default: return true;
    }
    if (!GetFileInformationByHandle(file, &found)) {
        LARGE_INTEGER bytes;

        (void)nd_windows_error();
        if (!GetFileSizeEx(file, &bytes)) /* wine: a standard file has a length, but no name */
            return false;
        about->kind = ND_FILE_REGULAR;
        about->bytes = (uint64_t)bytes.QuadPart;
        return true;
    }
    if (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
        about->kind = ND_FILE_FOLDER;
    else if (!(found.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT))
        about->kind = ND_FILE_REGULAR;
    about->device = found.dwVolumeSerialNumber;
    about->inode = (uint64_t)found.nFileIndexHigh << 32 | found.nFileIndexLow;
    about->bytes = (uint64_t)found.nFileSizeHigh << 32 | found.nFileSizeLow;
    written =
        (uint64_t)found.ftLastWriteTime.dwHighDateTime << 32 | found.ftLastWriteTime.dwLowDateTime;
    about->seconds = (int64_t)(written / 10000000) - (int64_t)(epoch / 10000000);
    about->nanoseconds = (int64_t)(written % 10000000) * 100;
    return true;
}

bool nd_descriptor_about(int fd, struct nd_file_about *about)
{
    return describe(nd_descriptor_handle(fd), about);
}

static bool describe_path(const char *path, bool is_followed, struct nd_file_about *about)
{
    wchar_t *wide = nd_wide_path(path);
    HANDLE file = wide ? CreateFileW(wide, FILE_READ_ATTRIBUTES, SHARE_ALL, NULL, OPEN_EXISTING,
                                     FILE_FLAG_BACKUP_SEMANTICS |
                                         (is_followed ? 0 : FILE_FLAG_OPEN_REPARSE_POINT),
                                     NULL)
                       : INVALID_HANDLE_VALUE;
    bool is_described;

    if (wide && file == INVALID_HANDLE_VALUE)
        (void)nd_windows_error();
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return false;
    is_described = describe(file, about);
    CloseHandle(file);
    return is_described;
}

bool nd_path_about(const char *path, struct nd_file_about *about)
{
    return describe_path(path, true, about);
}

bool nd_path_about_itself(const char *path, struct nd_file_about *about)
{
    return describe_path(path, false, about);
}

bool nd_descriptor_path(int fd, char path[64])
{
    (void)fd;
    *path = 0;
    return false;
}

bool nd_descriptor_is_own(int fd)
{
    (void)fd;
    return true;
}

void nd_descriptor_inherit(int fd, const char *path)
{
    (void)fd;
    (void)path;
}

/* ---- Locks and the disk ---- */

bool nd_descriptor_lock(int fd)
{
    OVERLAPPED place = {.OffsetHigh = LOCK_PLACE};

    if (LockFileEx(nd_descriptor_handle(fd), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0,
                   1, 0, &place))
        return true;
    return nd_windows_error() == 0;
}

bool nd_descriptor_sync(int fd)
{
    if (FlushFileBuffers(nd_descriptor_handle(fd)))
        return true;
    if (GetLastError() == ERROR_ACCESS_DENIED) /* it was opened for reading alone */
        return true;
    return nd_windows_error() == 0;
}

bool nd_descriptor_sync_data(int fd)
{
    return nd_descriptor_sync(fd);
}

bool nd_folder_make_durable(const char *folder)
{
    (void)folder;
    return true;
}

bool nd_descriptor_resize(int fd, uint64_t bytes)
{
    FILE_END_OF_FILE_INFO end = {.EndOfFile.QuadPart = (LONGLONG)bytes};

    if (SetFileInformationByHandle(nd_descriptor_handle(fd), FileEndOfFileInfo, &end, sizeof end))
        return true;
    return nd_windows_error() == 0;
}

/* A file that grows takes its space at once, unless it is compressed or sparse. */
bool nd_descriptor_take_space(int fd, uint64_t at, uint64_t bytes)
{
    struct nd_file_about about;

    if (!nd_descriptor_about(fd, &about))
        return false;
    return at + bytes <= about.bytes || nd_descriptor_resize(fd, at + bytes);
}
#else
enum { ND_WINDOWS_FILES_IS_FOR_OTHERS };
#endif
