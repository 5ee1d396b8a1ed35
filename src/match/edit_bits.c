/* edit_bits.c - the last row of the table of unit costs, 64 cells at a time */
#include "match/edit_bits.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/*
 * Neighbours in the table of unit costs differ by at most one, so that a column is two bits a row:
 * is the cell one more, or one less, than the cell above it?  A column follows from the one before,
 * 64 rows in some 15 instructions (Myers; Hyyrö's carries between blocks).  What the bottom cell
 * gains or loses in each column is the last row.
 *
 * The tokens of the first text that equal the column's are found in a list sorted by token, so that
 * memory is linear in the text and not in the text times its vocabulary.
 */

enum { WORD = 64, CELLS_A_STEP = 16 }; /* a block's step takes as long as so many single cells */

bool nd_edit_bits_init(struct nd_edit_bits *bits, size_t n)
{
    size_t blocks = n / WORD + 1;

    *bits = (struct nd_edit_bits){.up = nd_alloc_array(blocks, sizeof *bits->up),
                                  .down = nd_alloc_array(blocks, sizeof *bits->down),
                                  .equal = calloc(blocks, sizeof *bits->equal),
                                  .place = nd_alloc_array(n, sizeof *bits->place)};
    if (bits->up && bits->down && bits->equal && bits->place)
        return true;
    nd_edit_bits_release(bits);
    return false;
}

void nd_edit_bits_release(struct nd_edit_bits *bits)
{
    free(bits->up);
    free(bits->down);
    free(bits->equal);
    free(bits->place);
    *bits = (struct nd_edit_bits){NULL, NULL, NULL, NULL};
}

bool nd_edit_bits_pay(const struct nd_edit_costs *costs, size_t n_b, uint64_t diagonals)
{
    return costs->insert == 1 && costs->remove == 1 && costs->replace == 1 &&
           n_b < diagonals * CELLS_A_STEP;
}

static int by_token(const void *left, const void *right)
{
    const struct nd_edit_place *x = left, *y = right;

    return x->token < y->token ? -1 : x->token > y->token;
}

/* The first place of a token that is not less. */
static size_t lower_bound(const struct nd_edit_place *place, size_t n, uint64_t token)
{
    size_t low = 0;

    while (n) {
        size_t half = n / 2;

        if (place[low + half].token < token) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/* A step of all blocks; returns what the bottom cell gains: 1, 0 or -1. */
static int step(struct nd_edit_bits *bits, size_t blocks, uint64_t bottom)
{
    uint64_t gain = 1, loss = 0; /* of the cell above the block: the top row counts up */

    for (size_t i = 0; i < blocks; i++) {
        const uint64_t up = bits->up[i], down = bits->down[i], same = bits->equal[i] | loss;
        const uint64_t vertical = bits->equal[i] | down;
        const uint64_t horizontal = (((same & up) + up) ^ up) | same;
        uint64_t gains = down | ~(horizontal | up), losses = up & horizontal;
        const uint64_t top = i + 1 < blocks ? UINT64_C(1) << (WORD - 1) : bottom;
        const uint64_t gain_out = (gains & top) != 0, loss_out = (losses & top) != 0;

        gains = gains << 1 | gain;
        losses = losses << 1 | loss;
        bits->up[i] = losses | ~(vertical | gains);
        bits->down[i] = gains & vertical;
        gain = gain_out;
        loss = loss_out;
    }
    return (int)gain - (int)loss;
}

void nd_edit_bits_last_row(struct nd_edit_bits *bits, const struct nd_edit_pair *pair,
                           uint32_t *row)
{
    const size_t n = pair->n_a, blocks = (n + WORD - 1) / WORD;
    const uint64_t bottom = UINT64_C(1) << ((n + WORD - 1) % WORD);

    for (size_t i = 0; i < n; i++)
        bits->place[i] = (struct nd_edit_place){pair->a[(ptrdiff_t)i * pair->step], i};
    if (n)
        qsort(bits->place, n, sizeof *bits->place, by_token);
    for (size_t i = 0; i < blocks; i++) {
        bits->up[i] = ~UINT64_C(0);
        bits->down[i] = 0;
    }
    row[0] = (uint32_t)n;
    for (size_t j = 1; j <= pair->n_b; j++) {
        const uint64_t token = pair->b[(ptrdiff_t)(j - 1) * pair->step];
        const size_t first = lower_bound(bits->place, n, token);
        size_t end = first;

        for (; end < n && bits->place[end].token == token; end++)
            bits->equal[bits->place[end].at / WORD] |= UINT64_C(1) << bits->place[end].at % WORD;
        row[j] = n ? (uint32_t)((int64_t)row[j - 1] + step(bits, blocks, bottom)) : (uint32_t)j;
        for (size_t k = first; k < end; k++)
            bits->equal[bits->place[k].at / WORD] = 0;
    }
}
