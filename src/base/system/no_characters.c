/*
 * no_characters.c - charsets on Windows and macOS: none, so that a text is the same on every system;
 * the tables of these two are not those of glibc's iconv
 */
#if defined _WIN32 || defined __APPLE__
#include "base/system/characters.h"

#include <errno.h>

struct nd_converter *nd_converter_open(const char *charset)
{
    (void)charset;
    return NULL;
}

void nd_converter_close(struct nd_converter *converter)
{
    (void)converter;
}

void nd_converter_restart(struct nd_converter *converter)
{
    (void)converter;
}

size_t nd_converter_convert(struct nd_converter *converter, const char **in, size_t *left,
                            char **to, size_t *capacity)
{
    (void)converter;
    (void)in;
    (void)left;
    (void)to;
    (void)capacity;
    errno = EINVAL;
    return (size_t)-1;
}
#else
enum { ND_NO_CHARACTERS_IS_FOR_OTHERS };
#endif
