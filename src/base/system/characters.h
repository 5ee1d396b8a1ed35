/* characters.h - texts in other charsets, which the system converts to UTF-8 */
#ifndef ND_BASE_SYSTEM_CHARACTERS_H
#define ND_BASE_SYSTEM_CHARACTERS_H

#include <stddef.h>

/*
 * Open a converter to UTF-8; NULL: the system cannot read this charset.  Windows and macOS: none is
 * read, for their own tables differ from those of glibc's iconv, and texts would be other ones there.
 */
struct nd_converter;
struct nd_converter *nd_converter_open(const char *charset);
void nd_converter_close(struct nd_converter *converter);
/* Begin a text. */
void nd_converter_restart(struct nd_converter *converter);
/* Convert as iconv does: (size_t)-1 with E2BIG, EILSEQ or EINVAL in errno. */
size_t nd_converter_convert(struct nd_converter *converter, const char **in, size_t *left,
                            char **to, size_t *capacity);

#endif
