/* bands.c - how many bands of how many rows, or how large a sample of shingles, for a threshold and
 * a recall */
#include <neardup/index.h>

#include <math.h>

#include "index/bands_table.h"
#include "index/containers.h"
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
        return nd_fail(err, ND_EINVAL, "recall = %g: must be from 0 to %g", recall, ND_RECALL_MAX);
    line = missed[(uint64_t)threshold.p * 100 / threshold.q];
    while (r > 0 && line[r - 1] > (1 - recall) * (double)PARTS)
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

/* ---- Samples of shingles ---- */

enum { SAMPLE_FIRST = 128, SAMPLE_MAX = 1024, SHARED_WANTED = 8 };

/*
 * The shingles of a sample are those with the smallest hashes, which is a random choice.  Let the
 * fraction x of a document's shingles be in another document.  How many of a sample of n are there
 * then follows the hypergeometric distribution, as the sample is drawn without replacement.  We use
 * the binomial distribution in its place: its tails are heavier (Hoeffding 1963, §6), so the recall
 * that it promises is met, and it does not depend on the size of the document.  A document of no more
 * shingles than the sample is looked up whole, and has no such error.
 */

/* The chance of fewer than `min_shared` successes of n, each of probability p. */
static double chance_of_fewer(double p, unsigned n, unsigned min_shared)
{
    double log_choices = 0, sum = 0;

    if (p <= 0 || p >= 1)
        return p <= 0 && min_shared > 0 ? 1 : 0;
    for (unsigned i = 0; i < min_shared; i++) {
        sum += exp(log_choices + i * log(p) + (n - i) * log1p(-p));
        log_choices += log((double)(n - i) / (i + 1));
    }
    return sum < 1 ? sum : 1;
}

/* The smaller of the two sides is summed, so that a chance near 0 keeps its digits. */
double nd_sample_recall(double fraction, unsigned sample, unsigned min_shared)
{
    if (fraction * sample < min_shared)
        return chance_of_fewer(1 - fraction, sample, sample - min_shared + 1);
    return 1 - chance_of_fewer(fraction, sample, min_shared);
}

/* The highest number of shared values that may be required, with this recall. */
static unsigned min_shared_for(double fraction, unsigned sample, double recall)
{
    unsigned min_shared = sample;

    while (min_shared > 0 && chance_of_fewer(fraction, sample, min_shared) > 1 - recall)
        min_shared--;
    return min_shared;
}

/*
 * A sample in which some eight values must be shared tells documents apart; where the threshold is
 * so low that this takes too many, fewer have to do.
 */
enum nd_status nd_sample_choose(struct nd_ratio threshold, double recall, unsigned *sample,
                                unsigned *min_shared, struct nd_error *err)
{
    double fraction;

    if (threshold.p == 0 || threshold.p > threshold.q) /* q is not 0 then */
        return nd_fail(err, ND_EINVAL, "threshold %u/%u: it must be above 0 and at most 1",
                       threshold.p, threshold.q);
    if (!(recall >= 0 && recall <= ND_RECALL_MAX))
        return nd_fail(err, ND_EINVAL, "recall = %g: must be from 0 to %g", recall, ND_RECALL_MAX);
    if (threshold.p == threshold.q) { /* all are shared, without a chance to miss a pair */
        *sample = *min_shared = ND_SAMPLE_OF_ALL;
        return ND_OK;
    }
    fraction = (double)threshold.p / threshold.q;
    *sample = SAMPLE_FIRST;
    while ((*min_shared = min_shared_for(fraction, *sample, recall)) < SHARED_WANTED &&
           *sample < SAMPLE_MAX)
        *sample *= 2;
    if (*min_shared == 0)
        return nd_fail(err, ND_EINVAL,
                       "samples of %d shingles cannot find pairs at %u/%u with recall %g",
                       SAMPLE_MAX, threshold.p, threshold.q, recall);
    return ND_OK;
}
