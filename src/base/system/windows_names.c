/* windows_names.c - what names files on Windows: paths in UTF-8, folders, links, patterns */
#ifdef _WIN32
#include "base/system/windows_names.h"

#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "base/system/naming.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONG_PATH = 240, /* from here on a path needs the prefix; 260 with what is appended to it */
    TRIES = 6        /* programs that look at new files hold them open for moments */
};

/* ---- Errors ---- */

int nd_windows_error(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_DRIVE:
    case ERROR_BAD_NETPATH:
    case ERROR_BAD_NET_NAME:
    case ERROR_MOD_NOT_FOUND: errno = ENOENT; break;
    case ERROR_INVALID_NAME:
    case ERROR_BAD_PATHNAME: errno = ENOENT; break;
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS: errno = EEXIST; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_USER_MAPPED_FILE:
    case ERROR_DELETE_PENDING:
    case ERROR_WRITE_PROTECT:
    case ERROR_PRIVILEGE_NOT_HELD: errno = EACCES; break;
    case ERROR_LOCK_VIOLATION:
    case ERROR_IO_PENDING: errno = EWOULDBLOCK; break;
    case ERROR_DISK_FULL:
    case ERROR_HANDLE_DISK_FULL: errno = ENOSPC; break;
    case ERROR_TOO_MANY_OPEN_FILES: errno = EMFILE; break;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_COMMITMENT_LIMIT: errno = ENOMEM; break;
    case ERROR_BROKEN_PIPE:
    case ERROR_NO_DATA:
    case ERROR_PIPE_NOT_CONNECTED: errno = EPIPE; break;
    case ERROR_NOT_SAME_DEVICE: errno = EXDEV; break;
    case ERROR_DIR_NOT_EMPTY: errno = ENOTEMPTY; break;
    case ERROR_DIRECTORY: errno = ENOTDIR; break;
    case ERROR_FILENAME_EXCED_RANGE: errno = ENAMETOOLONG; break;
    case ERROR_INVALID_HANDLE: errno = EBADF; break;
    case ERROR_INVALID_PARAMETER:
    case ERROR_NEGATIVE_SEEK: errno = EINVAL; break;
    case ERROR_NOT_SUPPORTED:
    case ERROR_INVALID_FUNCTION:
    case ERROR_CALL_NOT_IMPLEMENTED: errno = ENOTSUP; break;
    case ERROR_CANT_RESOLVE_FILENAME: errno = ELOOP; break;
    default: errno = EIO;
    }
    return -1;
}

/* ---- UTF-8 ---- */

static wchar_t *widen(const char *text)
{
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide;

    if (n <= 0) {
        errno = ENOENT; /* Windows has no file of such a name */
        return NULL;
    }
    wide = malloc((size_t)n * sizeof *wide);
    if (!wide)
        errno = ENOMEM;
    else
        (void)MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, n);
    return wide;
}

/* \\?\C:\... and \\?\UNC\server\...; such names have no '/', no "." and no "..". */
static wchar_t *lengthen(wchar_t *path)
{
    DWORD n = GetFullPathNameW(path, 0, NULL, NULL);
    size_t capacity = (size_t)n + 8;
    wchar_t *full = n ? malloc(n * sizeof *full) : NULL, *made = malloc(capacity * sizeof *made);

    if (full && made && GetFullPathNameW(path, n, full, NULL)) {
        bool is_share = wcsncmp(full, L"\\\\", 2) == 0;

        (void)swprintf(made, capacity, is_share ? L"\\\\?\\UNC%ls" : L"\\\\?\\%ls",
                       full + is_share);
        free(path);
        path = made;
        made = NULL;
    }
    free(full);
    free(made);
    return path;
}

wchar_t *nd_wide_path(const char *path)
{
    wchar_t *wide = widen(path);

    if (wide && wcslen(wide) >= LONG_PATH && wcsncmp(wide, L"\\\\?\\", 4) != 0 &&
        wcsncmp(wide, L"\\\\.\\", 4) != 0)
        wide = lengthen(wide);
    return wide;
}

char *nd_narrow_text(const wchar_t *text)
{
    int n = WideCharToMultiByte(CP_UTF8, 0, text, -1, NULL, 0, NULL, NULL);
    char *narrow = n > 0 ? malloc((size_t)n) : NULL;

    if (narrow)
        (void)WideCharToMultiByte(CP_UTF8, 0, text, -1, narrow, n, NULL, NULL);
    else
        errno = ENOMEM;
    return narrow;
}

/* ---- Files ---- */

/* Rename over a file that others have open: Windows 10 does it as POSIX has it. */
static bool rename_as_posix(const wchar_t *from, const wchar_t *to)
{
    enum { RENAME_INFO_EX = 22, REPLACE = 1, AS_POSIX = 2 };
    struct {
        DWORD flags;
        HANDLE folder;
        DWORD name_bytes;
        wchar_t name[1];
    } * info;
    size_t n = wcslen(to);
    HANDLE file = CreateFileW(from, DELETE | SYNCHRONIZE,
                              FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                              OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    bool is_done = false;

    if (file == INVALID_HANDLE_VALUE)
        return false;
    info = calloc(1, sizeof *info + (n + 1) * sizeof(wchar_t));
    if (info) {
        info->flags = REPLACE | AS_POSIX;
        info->name_bytes = (DWORD)(n * sizeof(wchar_t));
        wmemcpy(info->name, to, n);
        is_done = SetFileInformationByHandle(file, (FILE_INFO_BY_HANDLE_CLASS)RENAME_INFO_EX, info,
                                             (DWORD)(sizeof *info + (n + 1) * sizeof(wchar_t)));
    }
    free(info);
    CloseHandle(file);
    return is_done;
}

/*
 * Rename over a file that is open here or elsewhere, on file systems that cannot do it in one step:
 * that file gets another name first, which it loses at the end.
 */
static bool rename_aside(const wchar_t *from, const wchar_t *to)
{
    static const wchar_t ending[] = L".neardup-replaced";
    size_t n = wcslen(to);
    wchar_t *aside = malloc(n * sizeof *aside + sizeof ending);
    bool is_done = false;

    if (!aside)
        return false;
    wmemcpy(aside, to, n);
    wmemcpy(aside + n, ending, sizeof ending / sizeof *ending);
    if (MoveFileExW(to, aside, 0)) {
        is_done = MoveFileExW(from, to, 0) != 0;
        if (is_done)
            (void)DeleteFileW(aside);
        else
            (void)MoveFileExW(aside, to, 0);
    }
    free(aside);
    return is_done;
}

static bool is_busy(void)
{
    DWORD error = GetLastError();

    return error == ERROR_SHARING_VIOLATION || error == ERROR_ACCESS_DENIED ||
           error == ERROR_LOCK_VIOLATION || error == ERROR_DELETE_PENDING;
}

static bool is_folder(const wchar_t *path)
{
    DWORD attributes = GetFileAttributesW(path);

    return attributes != INVALID_FILE_ATTRIBUTES && attributes & FILE_ATTRIBUTE_DIRECTORY;
}

static int rename_by(const char *from, const char *to, bool replaces)
{
    wchar_t *wide_from = nd_wide_path(from), *wide_to = wide_from ? nd_wide_path(to) : NULL;
    bool is_done = false;

    for (unsigned i = 0; wide_to && !is_done && i < TRIES; i++) {
        if (i)
            Sleep(1U << i);
        is_done = MoveFileExW(wide_from, wide_to, replaces ? MOVEFILE_REPLACE_EXISTING : 0) != 0;
        if (is_done)
            break;
        (void)nd_windows_error();
        if (!is_busy())
            break;
        if (is_folder(wide_to)) {
            errno = EISDIR;
            break;
        }
        is_done =
            replaces && (rename_as_posix(wide_from, wide_to) || rename_aside(wide_from, wide_to));
    }
    free(wide_from);
    free(wide_to);
    return is_done ? 0 : -1;
}

int nd_path_rename(const char *from, const char *to)
{
    return rename_by(from, to, true);
}

int nd_path_rename_new(const char *from, const char *to)
{
    return rename_by(from, to, false);
}

int nd_path_remove(const char *path)
{
    wchar_t *wide = nd_wide_path(path);
    int result = -1;

    if (!wide)
        return -1;
    for (unsigned i = 0; i < TRIES && result != 0; i++) {
        if (i)
            Sleep(1U << i);
        if (DeleteFileW(wide)) {
            result = 0;
            break;
        }
        (void)nd_windows_error();
        if (!is_busy())
            break;
        if (is_folder(wide)) {
            errno = EISDIR;
            break;
        }
        /* Elsewhere a file that may not be written can be removed. */
        (void)SetFileAttributesW(wide, FILE_ATTRIBUTE_NORMAL);
    }
    free(wide);
    return result;
}

int nd_path_link(const char *existing, const char *name)
{
    enum { UNPRIVILEGED = 2 };
    char *whole = nd_path_whole(existing);
    wchar_t *wide = whole ? nd_wide_path(whole) : NULL,
            *wide_name = wide ? nd_wide_path(name) : NULL;
    int result = -1;

    for (wchar_t *at = wide; at && *at; at++)
        if (*at == L'/')
            *at = L'\\'; /* a symbolic link holds it as it is */
    if (wide_name) {
        if (CreateHardLinkW(wide_name, wide, NULL))
            result = 0;
        else if (nd_windows_error(), errno != EEXIST && errno != ENOENT &&
                                         CreateSymbolicLinkW(wide_name, wide, UNPRIVILEGED))
            result = 0;
    }
    free(whole);
    free(wide);
    free(wide_name);
    return result;
}

bool nd_path_exists(const char *path)
{
    struct nd_file_about about;

    return nd_path_about(path, &about);
}

bool nd_path_is_readable(const char *path)
{
    int fd = nd_descriptor_open(path, ND_OPEN_READ);

    if (fd >= 0)
        nd_descriptor_close(fd);
    return fd >= 0;
}

bool nd_path_is_writable(const char *path)
{
    wchar_t *wide = nd_wide_path(path);
    DWORD attributes = wide ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;

    if (wide && attributes == INVALID_FILE_ATTRIBUTES)
        (void)nd_windows_error();
    free(wide);
    if (attributes == INVALID_FILE_ATTRIBUTES)
        return false;
    if (attributes & FILE_ATTRIBUTE_DIRECTORY || !(attributes & FILE_ATTRIBUTE_READONLY))
        return true; /* of a folder, the attribute says something else */
    errno = EACCES;
    return false;
}

bool nd_path_is_program(const char *path)
{
    size_t n = strlen(path);

    return n > 4 && nd_compare_caseless(path + n - 4, ".exe") == 0 && nd_path_exists(path);
}

/* The whole name of an open file, '/' between folders, without the prefix of long names. */
static char *name_of(HANDLE file)
{
    DWORD n = GetFinalPathNameByHandleW(file, NULL, 0, FILE_NAME_NORMALIZED);
    wchar_t *wide = n ? malloc(((size_t)n + 1) * sizeof *wide) : NULL, *from = wide;
    char *name;

    if (!wide || !GetFinalPathNameByHandleW(file, wide, n + 1, FILE_NAME_NORMALIZED)) {
        (void)nd_windows_error();
        free(wide);
        return NULL;
    }
    if (wcsncmp(from, L"\\\\?\\UNC\\", 8) == 0)
        *(from += 6) = L'\\';
    else if (wcsncmp(from, L"\\\\?\\", 4) == 0)
        from += 4;
    for (wchar_t *at = from; *at; at++)
        if (*at == L'\\')
            *at = L'/';
    name = nd_narrow_text(from);
    free(wide);
    return name;
}

char *nd_path_whole(const char *path)
{
    wchar_t *wide = nd_wide_path(path);
    HANDLE file = wide
                      ? CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                    NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL)
                      : INVALID_HANDLE_VALUE;
    char *whole = NULL;

    if (wide && file == INVALID_HANDLE_VALUE)
        (void)nd_windows_error();
    free(wide);
    if (file == INVALID_HANDLE_VALUE)
        return NULL;
    whole = name_of(file);
    CloseHandle(file);
    return whole;
}

const char *nd_path_name(const char *path)
{
    const char *name = path;

    for (const char *at = path; *at; at++)
        if (*at == '/' || *at == '\\' || (*at == ':' && at == path + 1))
            name = at + 1;
    return name;
}

size_t nd_path_part_len(const char *path, bool *is_name)
{
    size_t len = strcspn(path, "/\\:");

    *is_name = strspn(path, ". ") < len;
    return len;
}

int nd_path_descriptor(const char *path)
{
    (void)path;
    return -1;
}

bool nd_path_is_absolute(const char *path)
{
    return *path == '/' || *path == '\\' || (*path && path[1] == ':');
}

/* ---- Folders ---- */

int nd_folder_make(const char *path)
{
    wchar_t *wide = nd_wide_path(path);
    int result = !wide ? -1 : CreateDirectoryW(wide, NULL) ? 0 : nd_windows_error();

    free(wide);
    return result;
}

int nd_folder_remove(const char *path)
{
    wchar_t *wide = nd_wide_path(path);
    int result = !wide ? -1 : RemoveDirectoryW(wide) ? 0 : nd_windows_error();

    free(wide);
    return result;
}

/*
 * Windows locks no folder.  But who asks for the right to remove one, and lets nobody else have it,
 * is alone; listing the folder and making files in it ask for other rights.
 */
int nd_folder_lock(const char *path)
{
    wchar_t *wide = nd_wide_path(path);
    HANDLE folder;

    if (!wide)
        return -1;
    if (!is_folder(wide)) {
        if (GetFileAttributesW(wide) == INVALID_FILE_ATTRIBUTES)
            (void)nd_windows_error();
        else
            errno = ENOTDIR;
        free(wide);
        return -1;
    }
    folder = CreateFileW(wide, DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                         FILE_FLAG_BACKUP_SEMANTICS, NULL);
    free(wide);
    if (folder != INVALID_HANDLE_VALUE)
        return nd_descriptor_of_handle(folder, _O_RDONLY);
    if (GetLastError() != ERROR_SHARING_VIOLATION)
        return nd_windows_error();
    errno = EWOULDBLOCK;
    return -1;
}

struct nd_folder_list {
    HANDLE search;
    WIN32_FIND_DATAW entry;
    bool has_entry; /* the first one comes with opening */
    char *name;
};

struct nd_folder_list *nd_folder_list_open(const char *path)
{
    struct nd_folder_list *list = calloc(1, sizeof *list);
    char *pattern = NULL;
    wchar_t *wide = NULL;

    if (!list || nd_print_new(&pattern, "%s/*", *path ? path : ".") < 0) {
        free(list);
        errno = ENOMEM;
        return NULL;
    }
    wide = nd_wide_path(pattern);
    free(pattern);
    list->search = wide ? FindFirstFileW(wide, &list->entry) : INVALID_HANDLE_VALUE;
    list->has_entry = true;
    if (list->search == INVALID_HANDLE_VALUE) {
        if (wide)
            (void)nd_windows_error();
        free(wide);
        free(list);
        return NULL;
    }
    free(wide);
    return list;
}

const char *nd_folder_list_next(struct nd_folder_list *list)
{
    for (;;) {
        errno = 0;
        if (!list->has_entry && !FindNextFileW(list->search, &list->entry)) {
            if (GetLastError() != ERROR_NO_MORE_FILES)
                (void)nd_windows_error();
            return NULL;
        }
        list->has_entry = false;
        if (wcscmp(list->entry.cFileName, L".") == 0 || wcscmp(list->entry.cFileName, L"..") == 0)
            continue;
        free(list->name);
        list->name = nd_narrow_text(list->entry.cFileName);
        return list->name;
    }
}

int nd_folder_list_is_folder(const struct nd_folder_list *list)
{
    if (list->entry.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT)
        return -1;
    return list->entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? 1 : 0;
}

void nd_folder_list_close(struct nd_folder_list *list)
{
    if (!list)
        return;
    FindClose(list->search);
    free(list->name);
    free(list);
}

const char *nd_folder_for_temporary(void)
{
    static SRWLOCK lock = SRWLOCK_INIT;
    static char folder[3 * MAX_PATH + 4];

    AcquireSRWLockExclusive(&lock);
    if (!*folder) {
        wchar_t wide[MAX_PATH + 2];
        DWORD n = GetTempPathW(MAX_PATH + 1, wide);
        char *narrow;

        if (n > 1 && n <= MAX_PATH && wide[n - 1] == L'\\' && wide[n - 2] != L':')
            wide[n - 1] = 0;
        narrow = n && n <= MAX_PATH ? nd_narrow_text(wide) : NULL;
        snprintf(folder, sizeof folder, "%s", narrow ? narrow : ".");
        free(narrow);
        for (char *at = folder; *at; at++)
            if (*at == '\\')
                *at = '/';
    }
    ReleaseSRWLockExclusive(&lock);
    return folder;
}

/* ---- Patterns ---- */

/* Compare a byte with a set, "[a-z]" or "[!a-z]", and return the pattern behind it; NULL: no set. */
static const char *match_set(const char *pattern, char byte, bool *matches)
{
    const char *at = pattern + 1;
    bool is_turned = *at == '!' || *at == '^', is_in = false;

    if (is_turned)
        at++;
    for (bool is_first = true; *at && (is_first || *at != ']'); is_first = false, at++) {
        unsigned char from = (unsigned char)*at, to = from;

        if (at[1] == '-' && at[2] && at[2] != ']') {
            to = (unsigned char)at[2];
            at += 2;
        }
        is_in |= (unsigned char)byte >= from && (unsigned char)byte <= to;
    }
    *matches = is_in != is_turned;
    return *at ? at + 1 : NULL;
}

/* Match one byte of the name; NULL: it does not. */
static const char *match_one(const char *pattern, char byte, bool is_path)
{
    const char *behind;
    bool matches;

    if (is_path && byte == '/' && *pattern != '/')
        return NULL;
    if (*pattern == '?')
        return pattern + 1;
    if (*pattern == '[' && (behind = match_set(pattern, byte, &matches)))
        return matches ? behind : NULL;
    if (*pattern == '\\' && pattern[1])
        pattern++;
    return *pattern == byte ? pattern + 1 : NULL;
}

bool nd_pattern_matches(const char *pattern, const char *name, bool is_path)
{
    const char *star = NULL, *again = NULL, *behind;

    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            again = name;
        } else if (*pattern && (behind = match_one(pattern, *name, is_path))) {
            pattern = behind;
            name++;
        } else if (star && !(is_path && *again == '/')) {
            pattern = star;
            name = ++again;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
#else
enum { ND_WINDOWS_NAMES_IS_FOR_OTHERS };
#endif
