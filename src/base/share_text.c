/* share_text.c - a number from 0 to 1 as the shortest decimal that reads back to it */
#include "base/share_text.h"

#include <stdint.h>
#include <string.h>

typedef unsigned __int128 wide;

/* value = mantissa / 2^shift, 2^52 < mantissa < 2^53. */
struct binary {
    uint64_t mantissa;
    int shift;
};

static wide power_of_ten(int n)
{
    wide p = 1;

    while (n-- > 0)
        p *= 10;
    return p;
}

/*
 * The value to so many decimals, half to even: *number / 10^decimals.  False where that does not
 * read back to the value, or only just might.  All products are below 2^117: 2^53 * 10^19.
 */
static int rounds_back(struct binary b, int decimals, uint64_t *number)
{
    wide scale = power_of_ten(decimals), product = b.mantissa * scale;
    wide rest = product & (((wide)1 << b.shift) - 1), half = (wide)1 << (b.shift - 1);
    wide n = product >> b.shift, error;

    if (rest > half || (rest == half && (n & 1))) {
        n++;
        error = ((wide)1 << b.shift) - rest;
    } else {
        error = rest;
    }
    *number = (uint64_t)n;
    return 2 * error < scale; /* nearer than half the gap between two doubles */
}

static int put(uint64_t number, int decimals, char out[32])
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

int nd_share_text(double value, char out[32])
{
    static const int digits[] = {1, 15, 16, 17};
    uint64_t bits, number;
    struct binary b;
    int zeros = value >= 0.1 ? 0 : value >= 0.01 ? 1 : 2; /* behind the point */

    if (value == 1) {
        memcpy(out, "1", 2);
        return 1;
    }
    if (!(value >= 0.001 && value < 1))
        return 0;
    memcpy(&bits, &value, 8);
    b.mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    b.shift = 1075 - (int)(bits >> 52 & 0x7FF);
    if (b.mantissa == UINT64_C(1) << 52) /* a power of two: the gap below is smaller */
        return 0;
    for (int i = 0; i < 4; i++)
        if (rounds_back(b, digits[i] + zeros, &number))
            return put(number, digits[i] + zeros, out);
    return 0;
}
