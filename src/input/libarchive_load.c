/* libarchive_load.c - opens libarchive when it is first needed, and finds its functions */
#include "input/libarchive_load.h"

#include "input/library.h"

struct nd_libarchive nd_libarchive;

const char *nd_libarchive_load(void)
{
    static const struct nd_symbol symbols[] = {
#define SYMBOL(name) {"archive_" #name, &nd_libarchive.name},
        {"archive_errno", &nd_libarchive.error_number}, ND_LIBARCHIVE_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct nd_library libarchive = {
        .file = ND_LIBARCHIVE_SONAME,
        .without = "without libarchive",
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
    };

    return nd_library_open(&libarchive);
}
