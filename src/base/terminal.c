/* terminal.c - what must not reach a terminal as it is: the one place that says so */
#include <neardup/terminal.h>

static size_t character_len(const unsigned char *s, size_t len)
{
    size_t n = s[0] < 0xC2 ? 1 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 1;

    for (size_t i = 1; i < n; i++)
        if (i >= len || (s[i] & 0xC0) != 0x80)
            return 1;
    return n;
}

/* The control characters of the Unicode Bidirectional Algorithm (UAX 9). */
static int is_direction_mark(const unsigned char *s, size_t len)
{
    if (len == 2)
        return s[0] == 0xD8 && s[1] == 0x9C; /* U+061C */
    if (len != 3 || s[0] != 0xE2)
        return 0;
    if (s[1] == 0x80) /* U+200E, U+200F, U+202A to U+202E */
        return s[2] == 0x8E || s[2] == 0x8F || (s[2] >= 0xAA && s[2] <= 0xAE);
    return s[1] == 0x81 && s[2] >= 0xA6 && s[2] <= 0xA9; /* U+2066 to U+2069 */
}

size_t nd_terminal_character(const char *text, size_t len, int *is_control)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = character_len(s, len);

    if (n == 1)
        *is_control = s[0] < 0x20 || (s[0] >= 0x7F && s[0] < 0xA0);
    else
        *is_control = (s[0] == 0xC2 && s[1] < 0xA0) || is_direction_mark(s, n);
    return n;
}
