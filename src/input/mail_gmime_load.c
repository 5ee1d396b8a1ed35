/* mail_gmime_load.c - opens GMime when the first mail is met, and finds its functions */
#include "base/pool.h"

#ifdef ND_WITH_GMIME
#include "input/mail_gmime_load.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define SONAME "libgmime-3.0.so.0"
#define PACKAGE "libgmime-3.0-0" /* Debian's */

struct nd_gmime nd_gmime;

static char reason[192]; /* empty: it is open */

static const struct {
    const char *name;
    size_t offset;
} FUNCTION[] = {
#define ENTRY(name) {"g_" #name, offsetof(struct nd_gmime, name)},
    ND_GMIME_FUNCTIONS(ENTRY)
#undef ENTRY
};

static const char *const VERSION[] = {"gmime_major_version", "gmime_minor_version",
                                      "gmime_micro_version"};

static bool find_functions(void *library)
{
    for (size_t i = 0; i < sizeof FUNCTION / sizeof *FUNCTION; i++) {
        void *found = dlsym(library, FUNCTION[i].name);

        if (!found)
            return false;
        /* POSIX has an address of a function fit in one of data; ISO C has no conversion. */
        memcpy((char *)&nd_gmime + FUNCTION[i].offset, &found, sizeof found);
    }
    return true;
}

static bool find_version(void *library)
{
    for (size_t i = 0; i < sizeof VERSION / sizeof *VERSION; i++) {
        const guint *found = dlsym(library, VERSION[i]);

        if (!found)
            return false;
        nd_gmime.version[i] = *found;
    }
    return true;
}

/* It is never closed: GLib cannot be. */
static void load(void)
{
    void *library = dlopen(SONAME, RTLD_LAZY | RTLD_LOCAL);

    if (library && find_functions(library) && find_version(library))
        nd_gmime.mime_init();
    else
        (void)snprintf(reason, sizeof reason,
                       "mail cannot be read without GMime (Debian: " PACKAGE "): %s", dlerror());
}

const char *nd_gmime_load(void)
{
    static atomic_bool done;

    nd_once(&done, load);
    return *reason ? reason : NULL;
}
#endif
