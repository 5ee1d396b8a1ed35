/* live_inserts.c - what an insertion into the live index costs, and the longest of all */

/*
 * usage: live_inserts [DOCUMENTS]
 *
 * Sketches of random documents are inserted one at a time.  Times are processor time of the thread,
 * so that what other programs do does not count.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <neardup/index.h>

#include "base/hash.h"

static uint64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void make_sketch(struct nd_sketch *s, uint64_t number)
{
    for (unsigned m = 0; m < ND_MINHASH_COUNT; m++)
        s->minhash[m] = (uint32_t)nd_mix64(number << 8 | m);
    s->simhash = nd_mix64(~number);
    s->identity = nd_mix64(number) | 1;
    s->n_shingles = 500;
}

int main(int argc, char **argv)
{
    enum { STEPS = 6 };
    static const double limit[STEPS] = {10e3, 100e3, 1e6, 10e6, 50e6, 1e18}; /* ns */
    static const char *const words[STEPS] = {"10 us", "100 us", "1 ms", "10 ms", "50 ms", "more"};
    uint64_t documents = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    uint64_t total = 0, longest = 0, at = 0, n_up_to[STEPS] = {0};
    struct nd_index_params params = nd_index_params_default();
    struct nd_error err;
    struct nd_index *index = nd_index_new(&params, &err);
    struct nd_sketch sketch = {0};
    uint32_t number;

    for (uint64_t i = 0; index && i < documents; i++) {
        uint64_t start, time;
        unsigned step = 0;

        make_sketch(&sketch, i);
        start = now();
        if (nd_index_insert(index, &sketch, 0, &number, &err) != ND_OK)
            break;
        time = now() - start;
        total += time;
        if (time > longest) {
            longest = time;
            at = i;
        }
        while ((double)time > limit[step])
            step++;
        n_up_to[step]++;
    }
    if (!index || nd_index_count(index) != documents) {
        fprintf(stderr, "live_inserts: %s\n", err.message);
        return 1;
    }
    printf("%llu documents: %.0f ns an insertion; the longest, of document %llu, %.2f ms; %.0f "
           "bytes each\n",
           (unsigned long long)documents, (double)total / (double)documents, (unsigned long long)at,
           (double)longest / 1e6, (double)nd_index_bytes(index) / (double)documents);
    for (unsigned i = 0; i < STEPS; i++)
        printf("  up to %-6s %12llu\n", words[i], (unsigned long long)n_up_to[i]);
    nd_index_free(index);
    return 0;
}
