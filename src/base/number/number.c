/* number.c - numbers in text: read, and written as the shortest that reads back; in any locale */
#include "base/number/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/c_functions.h"

double nd_number_read(const char *text, char **end)
{
    return nd_read_double(text, end);
}

/* ---- A number from 0 to 1 as the shortest decimal that reads back to it ---- */

typedef unsigned __int128 wide;

static wide power_of_ten(int n)
{
    wide p = 1;

    while (n-- > 0)
        p *= 10;
    return p;
}

/*
 * The value mantissa / 2^shift, 2^52 < mantissa < 2^53, to so many decimals, half to even:
 * *number / 10^decimals.  False where that does not read back to the value, or only just might.
 * All products are below 2^117: 2^53 * 10^19.
 */
static int rounds_back(uint64_t mantissa, int shift, int decimals, uint64_t *number)
{
    wide scale = power_of_ten(decimals), product = mantissa * scale;
    wide rest = product & (((wide)1 << shift) - 1), half = (wide)1 << (shift - 1);
    wide n = product >> shift, error;

    if (rest > half || (rest == half && (n & 1))) {
        n++;
        error = ((wide)1 << shift) - rest;
    } else {
        error = rest;
    }
    *number = (uint64_t)n;
    return 2 * error < scale; /* nearer than half the gap between two doubles */
}

static int put_fraction(uint64_t number, int decimals, char out[32])
{
    int len;

    while (number % 10 == 0) {
        number /= 10;
        decimals--;
    }
    len = decimals + 2;
    memcpy(out, "0.", 2);
    for (int i = len - 1; i >= 2; i--) {
        out[i] = (char)('0' + number % 10);
        number /= 10;
    }
    out[len] = 0;
    return len;
}

int nd_fraction_text(double value, char out[32])
{
    static const int digits[] = {1, 15, 16, 17};
    uint64_t bits, mantissa, number;
    int zeros = value >= 0.1 ? 0 : value >= 0.01 ? 1 : 2; /* behind the point */
    int shift;

    if (value == 1) {
        memcpy(out, "1", 2);
        return 1;
    }
    if (!(value >= 0.001 && value < 1))
        return 0;
    memcpy(&bits, &value, 8);
    mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    shift = 1075 - (int)(bits >> 52 & 0x7FF);
    if (mantissa == UINT64_C(1) << 52) /* a power of two: the gap below is smaller */
        return 0;
    for (int i = 0; i < 4; i++)
        if (rounds_back(mantissa, shift, digits[i] + zeros, &number))
            return put_fraction(number, digits[i] + zeros, out);
    return 0;
}

/* ---- Any number ---- */

size_t nd_uint_text(uint64_t value, char out[ND_UINT_TEXT])
{
    char digit[ND_UINT_TEXT];
    size_t at = sizeof digit;

    do {
        digit[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    memcpy(out, digit + at, sizeof digit - at);
    return sizeof digit - at;
}

int nd_double_text(double value, char out[32])
{
    int len = nd_fraction_text(value, out);

    if (len > 0)
        return len;
    for (int digits = 1; digits <= 17; digits += digits < 15 ? 14 : 1) {
        len = snprintf(out, 32, "%.*g", digits, value);
        if (strtod(out, NULL) == value)
            break;
    }
    for (int i = 0; i < len; i++)
        if (out[i] == ',')
            out[i] = '.';
    return len;
}
