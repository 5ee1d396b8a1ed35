/* utf8.c - whether bytes are valid UTF-8, and making them so */
#include <neardup/text.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char REPLACEMENT[3] = {'\xEF', '\xBF', '\xBD'}; /* U+FFFD */

static bool is_ascii8(const unsigned char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return (word & UINT64_C(0x8080808080808080)) == 0;
}

/*
 * The bytes at p (len > 0) begin a well-formed sequence (Unicode 15.0, table 3-7): its length.
 * Otherwise *bad is set, and the result is the length of the maximal ill-formed subpart: the bytes
 * that could still have become a sequence, at least one.
 */
static size_t sequence(const unsigned char *p, size_t len, bool *bad)
{
    unsigned char low = 0x80, high = 0xBF;
    size_t n, i;

    *bad = false;
    if (p[0] < 0x80)
        return 1;
    *bad = true;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 1;
    n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    switch (p[0]) {
    case 0xE0: low = 0xA0; break;
    case 0xED: high = 0x9F; break;
    case 0xF0: low = 0x90; break;
    case 0xF4: high = 0x8F; break;
    }
    for (i = 1; i < n; i++, low = 0x80, high = 0xBF)
        if (i == len || p[i] < low || p[i] > high)
            return i;
    *bad = false;
    return n;
}

/* Bytes from the start that are valid. */
static size_t valid_prefix(const unsigned char *p, size_t len)
{
    size_t i = 0;
    bool bad;

    while (i < len) {
        size_t n;

        while (len - i >= 8 && is_ascii8(p + i))
            i += 8;
        if (i == len)
            break;
        n = sequence(p + i, len - i, &bad);
        if (bad)
            return i;
        i += n;
    }
    return len;
}

int nd_utf8_valid(const char *text, size_t len)
{
    return valid_prefix((const unsigned char *)text, len) == len;
}

/* Repair into `out`, or only measure where it is NULL; returns the number of replacements. */
static int64_t repair(const unsigned char *p, size_t len, char *out, size_t *out_len)
{
    int64_t count = 0;
    size_t i = 0, o = 0;
    bool bad;

    while (i < len) {
        size_t n = valid_prefix(p + i, len - i);

        if (out)
            memcpy(out + o, p + i, n);
        i += n;
        o += n;
        if (i == len)
            break;
        i += sequence(p + i, len - i, &bad);
        if (out)
            memcpy(out + o, REPLACEMENT, sizeof REPLACEMENT);
        o += sizeof REPLACEMENT;
        count++;
    }
    *out_len = o;
    return count;
}

int64_t nd_utf8_repair(const char *text, size_t len, char **out, size_t *out_len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t need;
    int64_t count = repair(p, len, NULL, &need);
    char *made;

    if (count == 0)
        return 0;
    made = malloc(need);
    if (!made)
        return ND_ENOMEM;
    (void)repair(p, len, made, &need);
    *out = made;
    *out_len = need;
    return count;
}
