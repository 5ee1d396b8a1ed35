/* posix_characters.c - charsets, as iconv has them */
#if !defined _WIN32 && !defined __APPLE__
#define _GNU_SOURCE
#include "base/system/characters.h"

#include <iconv.h>
#include <stdint.h>

/* An iconv_t is a pointer everywhere. */
static iconv_t handle_of(struct nd_converter *converter)
{
    return (iconv_t)converter;
}

struct nd_converter *nd_converter_open(const char *charset)
{
    iconv_t opened = iconv_open("UTF-8", charset);

    return opened == (iconv_t)-1 ? NULL : (struct nd_converter *)opened;
}

void nd_converter_close(struct nd_converter *converter)
{
    (void)iconv_close(handle_of(converter));
}

void nd_converter_restart(struct nd_converter *converter)
{
    (void)iconv(handle_of(converter), NULL, NULL, NULL, NULL);
}

size_t nd_converter_convert(struct nd_converter *converter, const char **in, size_t *left,
                            char **to, size_t *capacity)
{
    char *from = (char *)(uintptr_t)*in; /* iconv only reads from it */
    size_t code = iconv(handle_of(converter), &from, left, to, capacity);

    *in = from;
    return code;
}
#else
enum { ND_POSIX_CHARACTERS_IS_FOR_OTHERS };
#endif
