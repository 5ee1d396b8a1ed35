/* code.c - the perfect [31, 26] Hamming code as a way to choose buckets */
#include "hamming/memory/code.h"

enum { WORD_BITS = 31, CHECKS = 5 };

static uint32_t reversed(uint32_t x)
{
    uint32_t r = 0;

    for (int i = 0; i < 32; i++)
        r |= (x >> i & 1) << (31 - i);
    return r;
}

/* The columns of data bits are the numbers of two ones or more, ascending; that of check bit j is
 * 2^j, so that the checks of some data are the syndrome of these data. */
static void choose_columns(uint8_t *column)
{
    unsigned n = 0;

    for (unsigned c = 1; c <= WORD_BITS; c++)
        if (c & (c - 1))
            column[n++] = (uint8_t)c;
    for (unsigned j = 0; j < CHECKS; j++)
        column[ND_HAMMING_DATA_BITS + j] = (uint8_t)(1u << j);
}

/*
 * The masks of a syndrome s: none for the nearest code word, and for each pair of columns a, b with
 * a ^ b = s the three errors together, of which the data bits count.  They are in the order of
 * their bits reversed.  A bucket's address is some low bits of the data, so masks that lead to the
 * same address are neighbours, however many bits there are, and the kernel `ball` drops repeats by
 * looking at the one before.
 */
static void list_ball(struct nd_hamming_code *code, unsigned s)
{
    uint32_t *ball = code->ball[s];
    unsigned n = 0;

    ball[n++] = 0;
    for (unsigned a = 1; a <= WORD_BITS; a++)
        if ((a ^ s) > a)
            ball[n++] =
                (code->error[s] ^ code->error[a] ^ code->error[a ^ s]) & ND_HAMMING_DATA_MASK;
    for (unsigned i = 1; i < n; i++)
        for (unsigned j = i; j > 0 && reversed(ball[j]) < reversed(ball[j - 1]); j--) {
            uint32_t swap = ball[j];

            ball[j] = ball[j - 1];
            ball[j - 1] = swap;
        }
}

void nd_hamming_code_init(struct nd_hamming_code *code)
{
    uint8_t column[WORD_BITS];

    choose_columns(column);
    code->error[0] = 0;
    for (unsigned i = 0; i < WORD_BITS; i++)
        code->error[column[i]] = UINT32_C(1) << i;
    for (unsigned byte = 0; byte < 4; byte++)
        for (unsigned value = 0; value < 256; value++) {
            unsigned s = 0;

            for (unsigned i = 0; i < 8 && byte * 8 + i < WORD_BITS; i++)
                s ^= (value >> i & 1) * column[byte * 8 + i];
            code->syndrome[byte][value] = (uint8_t)s;
        }
    for (unsigned s = 1; s < 32; s++)
        list_ball(code, s);
    for (unsigned i = 0; i < ND_HAMMING_BALL; i++)
        code->ball[0][i] = 0;
}
