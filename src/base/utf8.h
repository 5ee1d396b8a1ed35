/* utf8.h - one character of UTF-8: written, read, and found well-formed or not */
#ifndef ND_BASE_UTF8_H
#define ND_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The 1 to 4 bytes of a character into `out`; returns how many. */
static inline size_t nd_utf8_put(char *out, uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* Return the code point at `text`, which is valid UTF-8; *len is the number of its bytes. */
static inline uint32_t nd_utf8_decode(const char *text, size_t *len)
{
    const uint8_t *p = (const uint8_t *)text;

    if (p[0] < 0x80) {
        *len = 1;
        return p[0];
    }
    if (p[0] < 0xE0) {
        *len = 2;
        return (uint32_t)(p[0] & 31) << 6 | (p[1] & 63);
    }
    if (p[0] < 0xF0) {
        *len = 3;
        return (uint32_t)(p[0] & 15) << 12 | (uint32_t)(p[1] & 63) << 6 | (p[2] & 63);
    }
    *len = 4;
    return (uint32_t)(p[0] & 7) << 18 | (uint32_t)(p[1] & 63) << 12 | (uint32_t)(p[2] & 63) << 6 |
           (p[3] & 63);
}

/*
 * The length of the well-formed sequence at p; or minus the length of the maximal subpart of an
 * ill-formed one: the longest beginning of a well-formed sequence, and at least one byte.  The
 * second byte's range is Unicode's table 3-7.
 */
static inline int nd_utf8_sequence(const uint8_t *p, size_t len)
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

#endif
