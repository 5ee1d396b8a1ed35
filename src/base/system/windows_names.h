/* windows_names.h - names and errors of Windows as the C library has them: UTF-8, and errno */
#ifndef ND_BASE_SYSTEM_WINDOWS_NAMES_H
#define ND_BASE_SYSTEM_WINDOWS_NAMES_H
#ifdef _WIN32

#include <stdbool.h>
#include <stdint.h>
#include <wchar.h>

/*
 * Convert a path from UTF-8 to what Windows takes; the caller frees it.  A long path gets the prefix
 * that lifts the limit of 260 characters.  NULL: out of memory, or no UTF-8; errno says which.
 */
wchar_t *nd_wide_path(const char *path);
/* Convert a text to UTF-8; the caller frees it.  NULL: out of memory. */
char *nd_narrow_text(const wchar_t *text);
/* Set errno from GetLastError(), and return -1. */
int nd_windows_error(void);
/* The handle of a descriptor, as HANDLE. */
void *nd_descriptor_handle(int fd);
/* A descriptor for a handle, which it takes over even if it fails; -1. */
int nd_descriptor_of_handle(void *handle, int flags);

#endif
#endif
