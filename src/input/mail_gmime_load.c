/* mail_gmime_load.c - opens GMime when the first mail is met, and finds its functions */
#include "input/library.h"

#ifdef ND_WITH_GMIME
#include "input/mail_gmime_load.h"

struct nd_gmime nd_gmime;

static void make_ready(void)
{
    nd_gmime.mime_init();
}

const char *nd_gmime_load(void)
{
    static const struct nd_symbol symbols[] = {
#define SYMBOL(name) {"g_" #name, &nd_gmime.name},
        {"gmime_major_version", &nd_gmime.version[0]},
        {"gmime_minor_version", &nd_gmime.version[1]},
        {"gmime_micro_version", &nd_gmime.version[2]},
        ND_GMIME_FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static struct nd_library gmime = {
        .file = ND_GMIME_SONAME,
        .without = "mail cannot be read without GMime (Debian: libgmime-3.0-0)",
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
        .make_ready = make_ready,
    };

    return nd_library_open(&gmime);
}
#endif
