/* bench_sketch.c - nanoseconds a shingle for every sketch kernel and set operation */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup/cpu.h>
#include <neardup/sketch.h>

#include "base/hash.h"
#include "simd/sketch/sketch_kernels.h"
#include "sketch/shingle_set.h"
#include "sketch/shingler.h"

enum { MOST = 400000, W = 3, ROUNDS = 7 };

static uint64_t token[MOST + W], shingle[MOST], other[MOST], out[40000];
static uint32_t minima[ND_MINIMA], minima2[ND_MINIMA];
static uint8_t bytes[ND_MINIMA], bytes2[ND_MINIMA];
static int64_t sum[ND_SIMHASH_WIDTH];
static volatile uint64_t sink;

/* Each call takes the next values, so that no branch is learnt by heart. */
static size_t at;

/* A measurement: one call on the first n values. */
struct measure {
    const char *name;
    void (*run)(const struct nd_sketch_kernels *kernels, size_t n);
    int per_call; /* the time of a call, not of a value */
};

static struct nd_shingle_set set;
static struct nd_shingler shingler;

static void run_shingles(const struct nd_sketch_kernels *kernels, size_t n)
{
    kernels->shingles(token + at, n, W, out);
}

static void run_minhash(const struct nd_sketch_kernels *kernels, size_t n)
{
    memset(minima, 0xFF, sizeof minima);
    kernels->minhash(shingle + at, n, minima);
}

static void run_simhash(const struct nd_sketch_kernels *kernels, size_t n)
{
    kernels->simhash(shingle + at, n, sum);
}

static void run_bytes_equal(const struct nd_sketch_kernels *kernels, size_t n)
{
    uint64_t equal[2];

    (void)n;
    kernels->bytes_equal(bytes, bytes2, equal);
    sink += equal[0] ^ equal[1];
}

static void run_minima_equal(const struct nd_sketch_kernels *kernels, size_t n)
{
    (void)n;
    sink += kernels->minima_equal(minima, minima2);
}

static void run_low_bytes(const struct nd_sketch_kernels *kernels, size_t n)
{
    (void)n;
    kernels->low_bytes(minima, bytes);
}

static void run_build(const struct nd_sketch_kernels *kernels, size_t n)
{
    (void)kernels;
    sink += nd_shingle_set_build(&set, shingle + at, n);
}

static void run_shared(const struct nd_sketch_kernels *kernels, size_t n)
{
    run_build(kernels, n);
    sink += nd_shingle_set_shared(&set, other + at, n, 0);
}

static void run_shingler(const struct nd_sketch_kernels *kernels, size_t n)
{
    struct nd_sketch sketch;

    (void)kernels;
    nd_shingler_begin(&shingler, W);
    sink += nd_shingler_feed(&shingler, token + at, n);
    sink += nd_shingler_end(&shingler, &sketch);
}

static const struct measure measures[] = {
    {"shingle hash", run_shingles, 0},
    {"128 minima", run_minhash, 0},
    {"simhash", run_simhash, 0},
    {"distinct set: build", run_build, 0},
    {"distinct set: build, and shared with another, 89% found", run_shared, 0},
    {"tokens to distinct shingles and identity", run_shingler, 0},
    {"128 bytes equal", run_bytes_equal, 1},
    {"128 minima equal", run_minima_equal, 1},
    {"low bytes of 128 minima", run_low_bytes, 1},
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The best of some rounds, each long enough for the clock. */
static double time_of(const struct measure *m, const struct nd_sketch_kernels *kernels, size_t n)
{
    size_t calls = 1 + (m->per_call ? 200000 : 400000 / n);
    double best = 1e9;

    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds(), took;

        for (size_t call = 0; call < calls; call++) {
            at = at + n <= MOST - n ? at + n : 0;
            m->run(kernels, n);
        }
        took = (seconds() - start) / (double)calls;
        if (took < best)
            best = took;
    }
    return m->per_call ? best : best / (double)n;
}

static void fill(void)
{
    for (size_t i = 0; i < MOST + W; i++)
        token[i] = nd_mix64(i + 1);
    for (size_t i = 0; i < MOST; i++) {
        shingle[i] = nd_mix64(~i);
        other[i] = i % 9 ? shingle[i] : nd_mix64(i << 32);
    }
}

int main(void)
{
    static const char *const isa[] = {"scalar", "avx2", "avx512", "neon"};
    static const size_t length[] = {50, 150, 1000, 10000, 40000};

    fill();
    for (int i = 0; i < 4; i++) {
        const struct nd_sketch_kernels *kernels = nd_sketch_kernels_of((enum nd_isa)i);

        if (!kernels || nd_cpu_force(isa[i], NULL) != ND_OK)
            continue;
        for (size_t k = 0; k < sizeof measures / sizeof *measures; k++)
            for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
                if (measures[k].per_call && l)
                    break;
                printf("{\"bench\":\"sketch\",\"cpu\":\"%s\",\"what\":\"%s\",\"n\":%zu,"
                       "\"ns\":%.3f}\n",
                       isa[i], measures[k].name, measures[k].per_call ? 1 : length[l],
                       1e9 * time_of(&measures[k], kernels, length[l]));
                fflush(stdout);
            }
    }
    nd_shingle_set_release(&set);
    nd_shingler_release(&shingler);
    return 0;
}
