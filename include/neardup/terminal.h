/* neardup/terminal.h - what must not reach a terminal as it is */
#ifndef NEARDUP_TERMINAL_H
#define NEARDUP_TERMINAL_H

#include <stddef.h>

#include <neardup/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Names, ids and texts come from elsewhere, and may hold what steers a terminal.  The length of the
 * character at text[0], of which `len` > 0 bytes are there: 1 to 4, and 1 for a byte that is no
 * UTF-8.  *is_control: it must not be shown as it is.  Such are the controls of ASCII, line ends
 * and tabs among them; U+007F to U+009F, also as the single bytes that 8-bit terminals take for
 * them; and the marks that turn the direction of writing.
 */
ND_API size_t nd_terminal_character(const char *text, size_t len, int *is_control);

#ifdef __cplusplus
}
#endif
#endif
