/* bands.c - how many bands of how many rows, for a threshold and a recall */
#include <neardup/index.h>

#include <math.h>

double nd_bands_recall(double j, unsigned bands, unsigned rows)
{
    return 1 - pow(1 - pow(j, rows), bands);
}

enum nd_status nd_bands_choose(struct nd_ratio threshold, double recall, unsigned *bands,
                               unsigned *rows, struct nd_error *err)
{
    double j = threshold.q ? (double)threshold.p / threshold.q : 0;
    unsigned r = 0;

    if (!(j > 0 && j <= 1))
        return nd_fail(err, ND_EINVAL, "threshold %u/%u: it must be above 0 and at most 1",
                       threshold.p, threshold.q);
    if (!(recall > 0 && recall < 1))
        return nd_fail(err, ND_EINVAL, "recall %g: it must be above 0 and below 1", recall);
    while (r < 32 && 1 - nd_bands_recall(j, ND_MINHASH_COUNT / (r + 1), r + 1) <= (1 - recall) / 2)
        r++;
    if (r == 0)
        return nd_fail(err, ND_EINVAL, "%d minima cannot find pairs at %u/%u with recall %g",
                       ND_MINHASH_COUNT, threshold.p, threshold.q, recall);
    *rows = r;
    *bands = ND_MINHASH_COUNT / r;
    return ND_OK;
}
