/* library.h - somebody else's library, opened when it is first needed, its functions found by name
 */
#ifndef ND_INPUT_LIBRARY_H
#define ND_INPUT_LIBRARY_H

#include <stdatomic.h>
#include <stddef.h>

struct nd_symbol {
    const char *name;
    void *pointer; /* to the pointer that gets its address */
};

struct nd_library {
    const char *file;    /* what the build's linker would have named: its soname */
    const char *without; /* the message begins with: "mail cannot be read without GMime" */
    const struct nd_symbol *symbols;
    size_t n_symbols;
    void (*make_ready)(void); /* called once, when all are found; NULL: nothing to do */

    atomic_bool is_asked;
    char missing[256]; /* empty: it is open */
};

/*
 * Open it at the first call in the process, from any thread.  NULL: it is open, and every symbol
 * has its address; else why not, for ever.  It is never closed: GLib cannot be.
 */
const char *nd_library_open(struct nd_library *library);

#endif
