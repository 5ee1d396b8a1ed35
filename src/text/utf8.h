/* utf8.h - code points from and to UTF-8 that is known to be valid */
#ifndef ND_TEXT_UTF8_H
#define ND_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The code point at p; *len is the number of its bytes. */
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

/* Write code point c to out, of which 4 bytes are writable; the number of its bytes. */
static inline size_t nd_utf8_encode(uint32_t c, char *out)
{
    uint8_t *p = (uint8_t *)out;

    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        p[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    p[0] = (uint8_t)(0xF0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    p[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

#endif
