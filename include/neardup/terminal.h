/*
 * neardup/terminal.h - which characters must not reach a terminal as they are (library neardup)
 *
 *     for (size_t i = 0, n; i < len; i += n) {
 *         int is_control;
 *
 *         n = nd_terminal_character(text + i, len - i, &is_control);
 *         if (is_control) putchar('?'); else fwrite(text + i, 1, n, stdout);
 *     }
 */
#ifndef NEARDUP_TERMINAL_H
#define NEARDUP_TERMINAL_H

#include <stddef.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Names, ids and texts come from other people and may contain characters that control a terminal.
 *
 * Returns the length in bytes of the character at text[0], of which `len` > 0 bytes are there: 1 to
 * 4, and 1 for a byte that is not valid UTF-8.  Sets *is_control to 1 if the character must not be
 * shown as it is, otherwise to 0.  These characters are: the ASCII controls, line ends and tabs
 * included; U+007F to U+009F, also as single bytes, since an 8-bit terminal obeys those; and the
 * marks that change the direction of writing.
 */
ND_API size_t nd_terminal_character(const char *text, size_t len, int *is_control);

#ifdef __cplusplus
}
#endif
#endif
