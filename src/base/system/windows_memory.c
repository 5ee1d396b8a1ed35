/* windows_memory.c - memory in pages, and files mapped into memory, on Windows */
#ifdef _WIN32
#include "base/system/windows_names.h"

#include "base/system/pages.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <errno.h>
#include <stdlib.h>

/*
 * Windows gives back what was allocated at once only as a whole.  A part is emptied when it is freed,
 * and the whole goes with its last part.  The list has the allocations of which a part was freed.
 */
struct cut_allocation {
    struct cut_allocation *next;
    char *base;
    size_t left; /* bytes that are not freed */
};
static SRWLOCK cut_lock = SRWLOCK_INIT;
static struct cut_allocation *cut;

size_t nd_page_bytes(void)
{
    SYSTEM_INFO system;

    GetSystemInfo(&system);
    return system.dwPageSize;
}

void *nd_pages_alloc(size_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void *nd_pages_reserve(size_t bytes)
{
    return VirtualAlloc(NULL, bytes, MEM_RESERVE, PAGE_NOACCESS);
}

/* The bytes of the allocation that begins here. */
static size_t bytes_of(char *base)
{
    MEMORY_BASIC_INFORMATION part;
    size_t bytes = 0;

    while (VirtualQuery(base + bytes, &part, sizeof part) && part.AllocationBase == base)
        bytes += part.RegionSize;
    return bytes;
}

static void free_part(char *base, char *part, size_t bytes)
{
    struct cut_allocation **link = &cut, *found;
    size_t all;

    AcquireSRWLockExclusive(&cut_lock);
    while (*link && (*link)->base != base)
        link = &(*link)->next;
    found = *link;
    all = found ? found->left : bytes_of(base);
    if (bytes >= all) { /* the last part, or the only one */
        (void)VirtualFree(base, 0, MEM_RELEASE);
        if (found)
            *link = found->next;
        free(found);
    } else {
        (void)VirtualFree(part, bytes, MEM_DECOMMIT);
        if (!found && (found = calloc(1, sizeof *found))) {
            found->base = base;
            found->left = all;
            found->next = cut;
            cut = found;
        }
        if (found) /* else its addresses stay taken, but no memory */
            found->left -= bytes;
    }
    ReleaseSRWLockExclusive(&cut_lock);
}

void nd_pages_free(void *pages, size_t bytes)
{
    MEMORY_BASIC_INFORMATION about;
    size_t page = nd_page_bytes();

    if (!pages || !VirtualQuery(pages, &about, sizeof about))
        return;
    if (about.Type == MEM_MAPPED)
        (void)UnmapViewOfFile(about.AllocationBase);
    else
        free_part(about.AllocationBase, pages, (bytes + page - 1) / page * page);
}

bool nd_pages_fill(void *place, size_t bytes)
{
    return VirtualAlloc(place, bytes, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

bool nd_pages_move_is_possible(void)
{
    return false;
}

bool nd_pages_extend(void *pages, size_t bytes, size_t new_bytes)
{
    (void)pages;
    (void)bytes;
    (void)new_bytes;
    return false;
}

void *nd_pages_move(void *pages, size_t bytes, void *place, size_t new_bytes)
{
    (void)pages;
    (void)bytes;
    (void)place;
    (void)new_bytes;
    return NULL;
}

void nd_pages_hint(void *pages, size_t bytes, enum nd_pages_hint hint)
{
    if (hint == ND_PAGES_FORGET && VirtualFree(pages, bytes, MEM_DECOMMIT))
        (void)VirtualAlloc(pages, bytes, MEM_COMMIT, PAGE_READWRITE);
}

void *nd_pages_map(int fd, uint64_t offset, size_t bytes, enum nd_pages_map how, void *place)
{
    static const DWORD protection[] = {PAGE_READONLY, PAGE_WRITECOPY, PAGE_READWRITE},
                       access[] = {FILE_MAP_READ, FILE_MAP_COPY, FILE_MAP_WRITE};
    HANDLE mapping;
    void *view;

    if (place) {
        errno = ENOTSUP;
        return NULL;
    }
    mapping = CreateFileMappingW(nd_descriptor_handle(fd), NULL, protection[how], 0, 0, NULL);
    if (!mapping) {
        (void)nd_windows_error();
        return NULL;
    }
    view = MapViewOfFile(mapping, access[how], (DWORD)(offset >> 32), (DWORD)offset, bytes);
    if (!view)
        (void)nd_windows_error();
    CloseHandle(mapping); /* the view keeps it */
    return view;
}
#else
enum { ND_WINDOWS_MEMORY_IS_FOR_OTHERS };
#endif
