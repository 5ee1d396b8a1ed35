/* live_inserts.c - what an insertion into the live index costs, and the longest of all */

/*
 * usage: live_inserts [DOCUMENTS [FOLDER]]
 *
 * Sketches of random documents are inserted one at a time; FOLDER: the columns lie in files there.
 * In processor time of the thread, what other programs do does not count; in elapsed time it does,
 * and so do waits for the disk.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "index/live.h"

static uint64_t now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
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

/* Anonymous memory in MB (10^6), at most so far as this was called. */
static double anonymous(double most)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (double)kib * 1024e-6 > most ? (double)kib * 1024e-6 : most;
}

enum { STEPS = 6 };
static const double limit[STEPS] = {10e3, 100e3, 1e6, 10e6, 50e6, 1e18}; /* ns */
static const char *const words[STEPS] = {"10 us", "100 us", "1 ms", "10 ms", "50 ms", "more"};

/* Times of one clock. */
struct times {
    clockid_t clock;
    uint64_t start, total, longest, at, n_up_to[STEPS];
    long waits; /* of the thread, when it began */
    uint64_t n_waited[STEPS];
};

/* How often the thread waited for anything but its turn. */
static long waits(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

static void note(struct times *t, uint64_t document)
{
    uint64_t time = now(t->clock) - t->start;
    unsigned step = 0;

    t->total += time;
    if (time > t->longest) {
        t->longest = time;
        t->at = document;
    }
    while ((double)time > limit[step])
        step++;
    t->n_up_to[step]++;
    t->n_waited[step] += waits() != t->waits;
}

static void report(const struct times *t, const char *what, uint64_t documents)
{
    printf("%s: %.0f ns an insertion; the longest, of document %llu, %.2f ms\n", what,
           (double)t->total / (double)documents, (unsigned long long)t->at,
           (double)t->longest / 1e6);
    for (unsigned i = 0; i < STEPS; i++)
        printf("  up to %-6s %12llu, of which %llu waited\n", words[i],
               (unsigned long long)t->n_up_to[i], (unsigned long long)t->n_waited[i]);
}

int main(int argc, char **argv)
{
    uint64_t documents = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    struct times cpu = {.clock = CLOCK_THREAD_CPUTIME_ID}, wall = {.clock = CLOCK_MONOTONIC};
    struct nd_index_params params = nd_index_params_default();
    struct nd_error err;
    struct nd_index *index = nd_index_new(&params, &err);
    struct nd_sketch sketch = {0};
    double most = 0;
    uint32_t number;

    if (index && argc > 2 && nd_index_back_columns(index, argv[2], &err) != ND_OK)
        documents = 0;
    for (uint64_t i = 0; index && i < documents; i++) {
        make_sketch(&sketch, i);
        cpu.waits = wall.waits = waits();
        wall.start = now(wall.clock);
        cpu.start = now(cpu.clock);
        if (nd_index_insert(index, &sketch, 0, &number, &err) != ND_OK)
            break;
        note(&cpu, i);
        note(&wall, i);
        if (i % 100000 == 0 || i == documents - 1)
            most = anonymous(most);
    }
    if (!index || documents == 0 || nd_index_count(index) != documents) {
        fprintf(stderr, "live_inserts: %s\n", err.message);
        return 1;
    }
    printf("%llu documents: %.0f bytes each; anonymous memory %.0f MB at most, %.0f at the end\n",
           (unsigned long long)documents, (double)nd_index_bytes(index) / (double)documents, most,
           anonymous(0));
    report(&cpu, "processor time", documents);
    report(&wall, "elapsed time", documents);
    nd_index_free(index);
    return 0;
}
