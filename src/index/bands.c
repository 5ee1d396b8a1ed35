/* bands.c - how many bands of how many rows, for a threshold and a recall */
#include <neardup/index.h>

#include <math.h>

#include "index/bands_table.h"

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
