/* libxml_load.c - opens libxml2 for the first page or mail, and finds its functions */
#include "input/libxml_load.h"

#include "input/library.h"

struct nd_libxml nd_libxml;

/* By itself it would do so at the first page; two threads that do that at once may wait for one
 * another for ever. */
static void make_ready(void)
{
    nd_libxml.xmlInitParser();
}

const char *nd_libxml_load(void)
{
    static const struct nd_symbol symbols[] = {
#define SYMBOL(name) {#name, &nd_libxml.name},
        ND_LIBXML_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct nd_library libxml = {
        .file = ND_LIBXML_SONAME,
        .without = "HTML cannot be read without libxml2",
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
        .make_ready = make_ready,
    };

    return nd_library_open(&libxml);
}
