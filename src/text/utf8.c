/* utf8.c - is it valid UTF-8, and repair where it is not (Unicode 15.0, section 3.9) */
#include "simd/text_kernels.h"

#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

/* Bytes that are ASCII from p on, in steps of 8. */
static size_t ascii_run(const uint8_t *p, size_t len)
{
    size_t n = 0;

    for (; n + 8 <= len; n += 8) {
        uint64_t word;

        memcpy(&word, p + n, 8);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return n;
}

/*
 * The length of the well-formed sequence at p; or minus the length of the maximal subpart of an
 * ill-formed one: the longest beginning of a well-formed sequence, and at least one byte.  The
 * second byte's range is Unicode's table 3-7.
 */
static int sequence(const uint8_t *p, size_t len)
{
    int need = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    uint8_t low = p[0] == 0xE0 ? 0xA0 : p[0] == 0xF0 ? 0x90 : 0x80;
    uint8_t high = p[0] == 0xED ? 0x9F : p[0] == 0xF4 ? 0x8F : 0xBF;

    if (need == 0 || p[0] > 0xF4)
        return -1;
    for (int i = 1; i < need; i++) {
        if ((size_t)i >= len || p[i] < low || p[i] > high)
            return -i;
        low = 0x80;
        high = 0xBF;
    }
    return need;
}

/* The place of the first ill-formed sequence, or len. */
static size_t first_bad(const uint8_t *p, size_t len)
{
    size_t i = 0;

    while (i < len) {
        int n;

        i += ascii_run(p + i, len - i);
        if (i == len)
            break;
        n = sequence(p + i, len - i);
        if (n < 0)
            return i;
        i += (size_t)n;
    }
    return len;
}

int nd_utf8_valid(const char *text, size_t len)
{
    return nd_text_kernels()->valid((const uint8_t *)text, len);
}

/* Copy p to out (NULL: only measure), repaired; returns the number of replacements. */
static int64_t repair(const uint8_t *p, size_t len, char *out, size_t *out_len)
{
    int64_t replaced = 0;
    size_t written = 0;

    for (size_t i = 0; i < len;) {
        size_t good = first_bad(p + i, len - i);

        if (out && good)
            memcpy(out + written, p + i, good);
        written += good;
        i += good;
        if (i == len)
            break;
        if (out)
            memcpy(out + written, "\xEF\xBF\xBD", 3);
        written += 3;
        i += (size_t)-sequence(p + i, len - i);
        replaced++;
    }
    *out_len = written;
    return replaced;
}

int64_t nd_utf8_repair(const char *text, size_t len, char **out, size_t *out_len)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t need;
    int64_t replaced;
    char *made;

    if (nd_utf8_valid(text, len))
        return 0;
    if (len > SIZE_MAX / 3)
        return ND_ENOMEM;
    replaced = repair(p, len, NULL, &need);
    made = malloc(need);
    if (!made)
        return ND_ENOMEM;
    (void)repair(p, len, made, out_len);
    *out = made;
    return replaced;
}
