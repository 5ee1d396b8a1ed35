/* find_libraries.c - which of the libraries that neardup opens when it needs them are not there */
#include <dlfcn.h>
#include <stdio.h>

static const struct {
    const char *file, *without;
} library_table[] = {
    {ND_LIBARCHIVE_SONAME, "tar and zip archives cannot be read or written"},
    {ND_LIBXML_SONAME, "pages of HTML cannot be read"},
#ifdef ND_GMIME_SONAME
    {ND_GMIME_SONAME, "mail cannot be read"},
#endif
    {ND_ZSTD_SONAME, ".zst cannot be read or written"},
    {ND_LZMA_SONAME, ".xz cannot be read or written"},
    {ND_BZ2_SONAME, ".bz2 cannot be read or written"},
    {ND_ZLIB_SONAME, ".gz cannot be written"},
};

int main(void)
{
    size_t n = sizeof library_table / sizeof *library_table, missing = 0;

    for (size_t i = 0; i < n; i++)
        if (!dlopen(library_table[i].file, RTLD_LAZY | RTLD_LOCAL)) {
            printf("not found: %s; without it %s\n", library_table[i].file,
                   library_table[i].without);
            missing++;
        }
#ifndef ND_GMIME_SONAME
    puts("built without GMime: mail cannot be read");
#endif
    if (!missing)
        printf("all %zu optional libraries were found\n", n);
    return 0;
}
