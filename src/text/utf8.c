/* utf8.c - is it valid UTF-8, and repair where it is not (Unicode 15.0, section 3.9) */
#include "base/utf8.h"
#include "base/replaced_hash.h"
#include "simd/text/text_kernels.h"

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

/* The place of the first ill-formed sequence, or len. */
static size_t first_bad(const uint8_t *p, size_t len)
{
    size_t i = 0;

    while (i < len) {
        int n;

        i += ascii_run(p + i, len - i);
        if (i == len)
            break;
        n = nd_utf8_sequence(p + i, len - i);
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
        i += (size_t)-nd_utf8_sequence(p + i, len - i);
        replaced++;
    }
    *out_len = written;
    return replaced;
}

size_t nd_utf8_next_replaced(const char *text, size_t len, size_t *at)
{
    const uint8_t *p = (const uint8_t *)text;
    size_t i = *at;

    while (i < len) {
        int n;

        i += ascii_run(p + i, len - i);
        if (i == len)
            break;
        n = nd_utf8_sequence(p + i, len - i);
        i += (size_t)(n < 0 ? -n : n);
        *at = i;
        if (n < 0)
            return (size_t)-n;
        if (n == 3 && memcmp(p + i - 3, "\xEF\xBF\xBD", 3) == 0)
            return 3;
    }
    return 0;
}

uint64_t nd_utf8_replaced(const char *text, size_t len)
{
    struct nd_replaced_hash hash = {0};
    size_t at = 0, n;

    if (nd_utf8_valid(text, len))
        return 0;
    while ((n = nd_utf8_next_replaced(text, len, &at)) > 0)
        nd_replaced_hash_add(&hash, nd_replaced_pack(text + at - n, (unsigned)n));
    return nd_replaced_hash_value(&hash);
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
