/* library.c - somebody else's library, opened when it is first needed */
#include "input/library.h"

#include "base/pool.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find_symbols(const struct nd_library *library, void *handle)
{
    for (size_t i = 0; i < library->n_symbols; i++) {
        void *found = dlsym(handle, library->symbols[i].name);

        if (!found)
            return false;
        /* POSIX has an address of a function fit in one of data; ISO C has no conversion. */
        memcpy(library->symbols[i].pointer, &found, sizeof found);
    }
    return true;
}

static void load(void *context)
{
    struct nd_library *library = context;
    void *handle = dlopen(library->file, RTLD_LAZY | RTLD_LOCAL);

    if (!handle || !find_symbols(library, handle))
        (void)snprintf(library->missing, sizeof library->missing, "%s: %s", library->without,
                       dlerror());
    else if (library->make_ready)
        library->make_ready();
}

const char *nd_library_open(struct nd_library *library)
{
    nd_once(&library->is_asked, load, library);
    return *library->missing ? library->missing : NULL;
}
