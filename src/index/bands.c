/* bands.c - how many bands of how many rows, for a threshold and a recall */
#include <neardup/index.h>

#include <math.h>

#include "index/bands_table.h"
#include "index/live.h"

enum { ROWS = sizeof missed[0] / sizeof *missed[0], PARTS = 1000000 };

double nd_bands_recall(double j, unsigned bands, unsigned rows)
{
    return 1 - pow(1 - pow(j, rows), bands);
}

/*
 * The table has a line for each hundredth.  A threshold between two takes the lower one's: whoever
 * finds pairs there finds those above with greater probability.
 */
enum nd_status nd_bands_choose(struct nd_ratio threshold, double recall, unsigned *bands,
                               unsigned *rows, struct nd_error *err)
{
    const uint32_t *line;
    unsigned r = ROWS;

    if (threshold.p == 0 || threshold.p > threshold.q) /* q is not 0 then */
        return nd_fail(err, ND_EINVAL, "threshold %u/%u: it must be above 0 and at most 1",
                       threshold.p, threshold.q);
    if (!(recall >= 0 && recall <= ND_RECALL_MAX))
        return nd_fail(err, ND_EINVAL, "recall = %g: 0 to %g are possible", recall, ND_RECALL_MAX);
    line = missed[(uint64_t)threshold.p * 100 / threshold.q];
    while (r > 0 && line[r - 1] > (1 - recall) * PARTS)
        r--;
    if (r == 0)
        return nd_fail(err, ND_EINVAL, "%d minima cannot find pairs at %u/%u with recall %g",
                       ND_MINHASH_COUNT, threshold.p, threshold.q, recall);
    *rows = r;
    *bands = ND_MINHASH_COUNT / r;
    return ND_OK;
}

/*
 * By hundredths of the resemblance: the greatest c for which fewer than c successes of 128, each of
 * that probability, have probability below 1e-15.  A byte that agrees by chance only adds to them.
 * Two sets of two or three shingles are less regular than that, as all their minima come from few
 * hashes: of 200,000 pairs of {x} and {x, y}, one had fewer than the 21 of .5.
 */
static const uint8_t agreeing[101] = {
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,   0,   0,   0,  0,  0,  0,  0,
    0,  0,  0,  1,  1,  2,  2,  3,  3,  4,  4,  5,  6,  7,   7,   8,   9,  10, 11, 11, 12,
    13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 27,  28,  29,  30, 31, 33, 34, 35,
    36, 38, 39, 40, 42, 43, 45, 46, 48, 49, 51, 52, 54, 55,  57,  59,  60, 62, 64, 66, 67,
    69, 71, 73, 75, 77, 80, 82, 84, 87, 89, 92, 95, 98, 101, 105, 110, 128};

unsigned nd_low_bytes_agreeing(uint64_t num, uint64_t den)
{
    return agreeing[num >= den ? 100 : (uint64_t)((unsigned __int128)num * 100 / den)];
}
