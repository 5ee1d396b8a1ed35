/* windows_process.c - the process on Windows: its arguments, its end, what it holds */
#ifdef _WIN32
#include "base/system/windows_names.h"

#include "base/system/process.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <bcrypt.h>
#include <psapi.h>
#include <shellapi.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STATUS_OF_STOP = 130, /* as a shell has it for Ctrl-C */
    STATUS_OF_PIPE = 141,
    STREAMS = 2048, /* open at once */
    HELD_MS = 2000  /* as long as a stop waits for threads that hold it back */
};

static bool (*on_stop)(void);
static void (*on_lost_page)(void);
static atomic_uint n_holding; /* threads that hold a stop back */
static UINT page_before;      /* the terminal's code page */

/* ---- For a program's main ---- */

static void keep_going(const wchar_t *expression, const wchar_t *function, const wchar_t *file,
                       unsigned line, uintptr_t reserved)
{
    (void)expression;
    (void)function;
    (void)file;
    (void)line;
    (void)reserved;
}

static void give_page_back(void)
{
    (void)SetConsoleOutputCP(page_before);
}

/* A file that is closed gets what refuses reading and writing, so that it is not taken by a file. */
static void prepare_standard_files(void)
{
    for (int fd = 0; fd < 3; fd++) {
        DWORD mode;
        HANDLE handle;

        if (_get_osfhandle(fd) < 0 && _wopen(L"NUL", fd ? _O_RDONLY : _O_WRONLY) != fd)
            exit(2);
        (void)_setmode(fd, _O_BINARY);
        handle = (HANDLE)_get_osfhandle(fd);
        if (fd && GetConsoleMode(handle, &mode)) {
            if (!page_before && (page_before = GetConsoleOutputCP()) && SetConsoleOutputCP(CP_UTF8))
                (void)atexit(give_page_back);
            (void)SetConsoleMode(handle, mode | ENABLE_PROCESSED_OUTPUT |
                                             ENABLE_VIRTUAL_TERMINAL_PROCESSING);
        }
    }
}

void nd_process_begin(int *n_arguments, char ***argument)
{
    int n;
    wchar_t **wide;
    char **narrow;

    (void)_set_invalid_parameter_handler(keep_going); /* errors are answers, as elsewhere */
    prepare_standard_files();
    (void)_setmaxstdio(STREAMS);
    wide = CommandLineToArgvW(GetCommandLineW(), &n);
    narrow = wide ? calloc((size_t)n + 1, sizeof *narrow) : NULL;
    if (!narrow)
        return;
    for (int i = 0; i < n; i++)
        if (!(narrow[i] = nd_narrow_text(wide[i])))
            exit(2);
    LocalFree((HLOCAL)wide);
    *n_arguments = n;
    *argument = narrow;
}

bool nd_process_has_stack(size_t bytes)
{
    ULONG_PTR low, high;

    GetCurrentThreadStackLimits(&low, &high);
    return high - low >= bytes;
}

/* Windows runs this in a thread of its own. */
static BOOL WINAPI stop(DWORD kind)
{
    (void)kind;
    for (int i = 0; i < HELD_MS && atomic_load(&n_holding); i++)
        Sleep(1);
    if (!on_stop())
        return TRUE;
    (void)TerminateProcess(GetCurrentProcess(), STATUS_OF_STOP);
    return TRUE;
}

void nd_signals_on_stop(bool (*abandon)(void))
{
    on_stop = abandon;
    (void)SetConsoleCtrlHandler(stop, TRUE);
}

static LONG WINAPI look_at_fault(EXCEPTION_POINTERS *fault)
{
    if (fault->ExceptionRecord->ExceptionCode == (DWORD)EXCEPTION_IN_PAGE_ERROR)
        on_lost_page();
    return EXCEPTION_CONTINUE_SEARCH;
}

void nd_signals_on_lost_page(void (*lost)(void))
{
    on_lost_page = lost;
    (void)AddVectoredExceptionHandler(1, look_at_fault);
}

_Noreturn void nd_process_die(const char *message, int status)
{
    DWORD n;

    (void)WriteFile(GetStdHandle(STD_ERROR_HANDLE), message, (DWORD)strlen(message), &n, NULL);
    (void)TerminateProcess(GetCurrentProcess(), (UINT)status);
    abort();
}

void nd_process_die_of_pipe(void)
{
    (void)TerminateProcess(GetCurrentProcess(), STATUS_OF_PIPE);
}

/* Write an argument as programs take their command line apart: in quotes, '\\' doubled before '"'. */
static wchar_t *quote(wchar_t *to, const wchar_t *argument)
{
    size_t slashes = 0;

    *to++ = L'"';
    for (; *argument; argument++) {
        slashes = *argument == L'\\' ? slashes + 1 : 0;
        if (*argument == L'"') {
            for (const wchar_t *at = argument; at[-1] == L'\\'; at--)
                *to++ = L'\\';
            *to++ = L'\\';
        }
        *to++ = *argument;
    }
    while (slashes--)
        *to++ = L'\\';
    *to++ = L'"';
    return to;
}

/* The command line; NULL: out of memory, or an argument is no UTF-8. */
static wchar_t *command_line(char **argument)
{
    size_t n = 1;
    wchar_t *line, *to;

    for (char **at = argument; *at; at++)
        n += 2 * strlen(*at) + 3;
    line = to = malloc(n * sizeof *line);
    for (; line && *argument; argument++) {
        /* The space before it is also what quote() may look back at. */
        wchar_t *wide = malloc((strlen(*argument) + 2) * sizeof *wide);

        if (!wide || !MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, *argument, -1, wide + 1,
                                          (int)strlen(*argument) + 1)) {
            free(wide);
            free(line);
            return NULL;
        }
        *wide = L' ';
        if (to > line)
            *to++ = L' ';
        to = quote(to, wide + 1);
        free(wide);
    }
    if (line)
        *to = 0;
    return line;
}

void nd_process_become(const char *path, char **argument)
{
    bool is_searched = !strpbrk(path, "/\\");
    wchar_t *wide = nd_wide_path(path), *line = command_line(argument);
    STARTUPINFOW how = {.cb = sizeof how};
    PROCESS_INFORMATION child;
    DWORD status;

    /* Without a program the system searches for the first word of the line, in PATH. */
    if (wide && line &&
        CreateProcessW(is_searched ? NULL : wide, line, NULL, NULL, TRUE, 0, NULL, NULL, &how,
                       &child)) {
        (void)WaitForSingleObject(child.hProcess, INFINITE);
        if (!GetExitCodeProcess(child.hProcess, &status))
            status = 2;
        ExitProcess(status);
    }
    if (!wide || !line)
        errno = ENOMEM;
    else
        (void)nd_windows_error();
    free(wide);
    free(line);
}

bool nd_process_path(char *path, size_t capacity)
{
    enum { PATH_LONGEST = 32768 };
    wchar_t *wide = malloc(PATH_LONGEST * sizeof *wide);
    DWORD n = wide ? GetModuleFileNameW(NULL, wide, PATH_LONGEST) : 0;
    char *narrow = n && n < PATH_LONGEST ? nd_narrow_text(wide) : NULL;
    bool fits = narrow && strlen(narrow) < capacity;

    if (fits)
        memcpy(path, narrow, strlen(narrow) + 1);
    free(narrow);
    free(wide);
    return fits;
}

/* ---- For all ---- */

void nd_signals_hold(struct nd_held_signals *held)
{
    (void)held;
    atomic_fetch_add(&n_holding, 1);
}

void nd_signals_release(const struct nd_held_signals *held)
{
    (void)held;
    atomic_fetch_sub(&n_holding, 1);
}

void *nd_library_load(const char *file)
{
    wchar_t *wide = nd_wide_path(file);
    void *library = wide ? (void *)LoadLibraryW(wide) : NULL;

    if (wide && !library)
        (void)nd_windows_error();
    free(wide);
    return library;
}

const char *nd_library_why(void)
{
    return strerror(errno);
}

void *nd_library_function(void *library, const char *name)
{
    FARPROC function = GetProcAddress(library, name);
    void *found = NULL;

    memcpy(&found, &function, sizeof found);
    if (!found)
        (void)nd_windows_error();
    return found;
}

uint64_t nd_process_number(void)
{
    return GetCurrentProcessId();
}

bool nd_random_bytes(void *to, size_t bytes)
{
    return BCryptGenRandom(NULL, to, (ULONG)bytes, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0;
}

uint64_t nd_process_peak_bytes(void)
{
    PROCESS_MEMORY_COUNTERS found = {.cb = sizeof found};

    return K32GetProcessMemoryInfo(GetCurrentProcess(), &found, sizeof found)
               ? found.PeakWorkingSetSize
               : 0;
}

uint64_t nd_process_bytes(void)
{
    PROCESS_MEMORY_COUNTERS found = {.cb = sizeof found};

    return K32GetProcessMemoryInfo(GetCurrentProcess(), &found, sizeof found) ? found.PagefileUsage
                                                                              : 0;
}
#else
enum { ND_WINDOWS_PROCESS_IS_FOR_OTHERS };
#endif
