/* simulate_bands.c - the share of pairs that the shipped sketches miss, by simulation
 *
 *     simulate_bands > src/index/bands_table.h
 *
 * For each threshold and each size of the union, pairs of random sets whose resemblance is the
 * least that reaches the threshold are sketched with the shipped minima; two documents meet where
 * all low bytes of a band are equal.  What is written, for every number of rows and as many bands
 * as the minima allow, is the share missed at the worst size of the union, or the formula's where
 * that is greater.  The same numbers come out on every machine; about two minutes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "simd/sketch/sketch_kernels.h"

enum { MOST_ROWS = 32, MOST_UNION = 10000, PARTS = 1000000, LEAST_PERCENT = 5 };

static const unsigned sizes[] = {10, 30, 100, 300, 1000, 3000, 10000};
static const unsigned trials[] = {40000, 40000, 40000, 40000, 20000, 20000, 10000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static uint64_t seed;

/* Minima of both sets of a random pair: `shared` shingles in both, the others in turn in one. */
static void sketch_pair(unsigned size, unsigned shared, uint8_t *a, uint8_t *b)
{
    static uint64_t both[MOST_UNION], only[2][MOST_UNION];
    const struct nd_sketch_kernels *kernels = nd_sketch_kernels();
    uint32_t minima[2][ND_MINIMA];
    size_t n[2] = {0, 0};

    for (unsigned i = 0; i < shared; i++)
        both[i] = nd_mix64(++seed);
    for (unsigned i = shared; i < size; i++)
        only[i % 2][n[i % 2]++] = nd_mix64(++seed);
    memset(minima[0], 0xFF, sizeof minima[0]);
    kernels->minhash(both, shared, minima[0]);
    memcpy(minima[1], minima[0], sizeof minima[0]);
    kernels->minhash(only[0], n[0], minima[0]);
    kernels->minhash(only[1], n[1], minima[1]);
    kernels->low_bytes(minima[0], a);
    kernels->low_bytes(minima[1], b);
}

static int meet(const uint8_t *equal, unsigned rows)
{
    for (unsigned band = 0; band < ND_MINIMA / rows; band++) {
        unsigned row = 0;

        while (row < rows && equal[band * rows + row])
            row++;
        if (row == rows)
            return 1;
    }
    return 0;
}

/* missed[rows] of so many trials. */
static void simulate(unsigned size, unsigned shared, unsigned n_trials, unsigned *missed)
{
    memset(missed, 0, (MOST_ROWS + 1) * sizeof *missed);
    for (unsigned trial = 0; trial < n_trials; trial++) {
        uint8_t a[ND_MINIMA], b[ND_MINIMA];

        sketch_pair(size, shared, a, b);
        for (unsigned i = 0; i < ND_MINIMA; i++)
            a[i] = a[i] == b[i];
        for (unsigned rows = 1; rows <= MOST_ROWS; rows++)
            missed[rows] += !meet(a, rows);
    }
}

static double formula(double j, unsigned rows)
{
    unsigned bands = ND_MINIMA / rows;

    return pow(1 - pow(j, rows), bands);
}

/* The worst share missed at each threshold, for each number of rows. */
static void simulate_all(double missed[][MOST_ROWS])
{
    for (unsigned percent = 0; percent <= 100; percent++) {
        for (unsigned rows = 1; rows <= MOST_ROWS; rows++)
            missed[percent][rows - 1] = formula(percent / 100.0, rows);
        for (unsigned s = 0; s < SIZES && percent >= LEAST_PERCENT; s++) {
            unsigned count[MOST_ROWS + 1], shared = (sizes[s] * percent + 99) / 100;

            simulate(sizes[s], shared, trials[s], count);
            for (unsigned rows = 1; rows <= MOST_ROWS; rows++) {
                double share = count[rows] / (double)trials[s];

                if (missed[percent][rows - 1] < share)
                    missed[percent][rows - 1] = share;
            }
        }
        fprintf(stderr, "\r%u%%", percent);
    }
    fputc('\n', stderr);
}

/*
 * More alike is found more often; where the noise of the trials says otherwise, the lower threshold
 * takes the higher share.
 */
static void make_monotone(double missed[][MOST_ROWS])
{
    for (unsigned percent = 100; percent > 0; percent--)
        for (unsigned r = 0; r < MOST_ROWS; r++)
            if (missed[percent - 1][r] < missed[percent][r])
                missed[percent - 1][r] = missed[percent][r];
}

int main(void)
{
    static double missed[101][MOST_ROWS];

    simulate_all(missed);
    make_monotone(missed);
    puts(
        "/* bands_table.h - pairs missed at a threshold; made by tools/simulate_bands.c */\n\n"
        "/*\n * The pairs that share none of 128 / r bands of r rows, of a million of resemblance\n"
        " * t/100, at [t][r - 1]: in the worst of the sizes of the union that were simulated.\n "
        "*/\n/* clang-format off */\nstatic const uint32_t missed[101][32] = {");
    for (unsigned percent = 0; percent <= 100; percent++) {
        printf("    {");
        for (unsigned r = 0; r < MOST_ROWS; r++)
            printf("%.0f%s", fmin(ceil(missed[percent][r] * PARTS), PARTS - 1),
                   r + 1 == MOST_ROWS ? "},\n"
                   : r % 11 == 10     ? ",\n     "
                                      : ", ");
    }
    puts("};");
    return 0;
}
