/* library.h - somebody else's library, opened when it is first needed, its functions found by name
 */
#ifndef ND_INPUT_LIBRARY_LIBRARY_H
#define ND_INPUT_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include <stddef.h>

struct nd_symbol {
    const char *name;
    void *pointer;        /* address of the pointer that gets the symbol's address */
    void (*linked)(void); /* the function, if it is compiled with neardup (ND_CARRIED) */
};

/* The words that messages and `neardup doctor` have for a library. */
struct nd_library_row {
    const char *name, *packages; /* packages: of each distribution; NULL: it is never opened */
    const char *serves;          /* inputs and outputs that need it */
};

struct nd_library {
    const char *file; /* soname, as the linker would have recorded it; NULL: none is opened, and the
                            functions are a part of the program, or not had */
    const struct nd_library_row *row;
    const char *cannot; /* what begins the message that it is missing, with a space; or "" */
    const struct nd_symbol *symbols;
    size_t n_symbols;
    void (*make_ready)(void); /* called once when all symbols are found; NULL: nothing to do */

    atomic_bool is_asked;
    char missing[320]; /* why it is not open; empty: it is */
};

/*
 * Open the library at the first call in the process, from any thread. NULL: it is open and every
 * symbol has its address; otherwise why it is not, for all later calls too. It is never closed,
 * because GLib cannot be.
 */
const char *nd_library_open(struct nd_library *library);

#endif
