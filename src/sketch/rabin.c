/* rabin.c - Rabin's 64-bit fingerprints (Rabin 1981; Seshasai 2009, §2.3.1), eight bytes at a time
 *
 * A polynomial over GF(2) of degree below 64 is a word, bit i the coefficient of t^i; P is t^64
 * plus such a word.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "sketch/hash_functions.h"

enum { BYTES = 8 };

/* a t modulo P */
static uint64_t times_t(uint64_t a, uint64_t p)
{
    return a << 1 ^ (a >> 63 ? p : 0);
}

static uint64_t multiply(uint64_t a, uint64_t b, uint64_t p)
{
    uint64_t product = 0;

    for (int i = 63; i >= 0; i--)
        product = times_t(product, p) ^ (b >> i & 1 ? a : 0);
    return product;
}

/* a modulo b, which is not 0; degrees up to 64. */
static unsigned __int128 remainder_of(unsigned __int128 a, unsigned __int128 b)
{
    int degree = 64;

    while (!(b >> degree & 1))
        degree--;
    for (int i = 64; i >= degree; i--)
        if (a >> i & 1)
            a ^= b << (i - degree);
    return a;
}

/*
 * Rabin 1980's test.  t^(2^n) - t is the product of all irreducible polynomials whose degree
 * divides n.  So P of degree 64 is irreducible if it divides t^(2^64) - t and has no factor in
 * common with t^(2^32) - t: if it divides the former and is reducible, its factors have degrees
 * that divide 64 and are below it, so these divide 32.  The powers are made by squaring, the common
 * factor by Euclid's algorithm.
 */
bool nd_rabin_is_irreducible(uint64_t polynomial)
{
    unsigned __int128 a = (unsigned __int128)1 << 64 | polynomial, b;
    uint64_t power = 2;

    for (int i = 0; i < 32; i++)
        power = multiply(power, power, polynomial);
    for (b = power ^ 2; b;) {
        unsigned __int128 rest = remainder_of(a, b);

        a = b;
        b = rest;
    }
    for (int i = 0; i < 32; i++)
        power = multiply(power, power, polynomial);
    return a == 1 && power == 2;
}

static uint64_t (*table_of(uint64_t polynomial))[256]
{
    uint64_t(*table)[256] = nd_alloc_array(BYTES, sizeof *table);
    uint64_t power = polynomial; /* t^64 */

    if (!table)
        return NULL;
    for (int i = 0; i < BYTES; i++) {
        table[i][0] = 0;
        for (unsigned bit = 1; bit < 256; bit <<= 1, power = times_t(power, polynomial))
            for (unsigned low = 0; low < bit; low++)
                table[i][bit | low] = power ^ table[i][low];
    }
    return table;
}

/* t^128 is t^64 P and more: long division, a bit of the quotient at a time. */
static uint64_t quotient_of(uint64_t polynomial)
{
    uint64_t rest = polynomial, quotient = 0;

    for (int i = 0; i < 64; i++) {
        quotient = quotient << 1 | rest >> 63;
        rest = times_t(rest, polynomial);
    }
    return quotient;
}

bool nd_rabin_init(struct nd_rabin *r, uint64_t polynomial)
{
    *r = (struct nd_rabin){polynomial, quotient_of(polynomial), table_of(polynomial)};
    return r->table != NULL;
}

void nd_rabin_release(struct nd_rabin *r)
{
    free(r->table);
    r->table = NULL;
}
