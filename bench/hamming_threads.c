/* hamming_threads.c - one index queried by many threads while one of them adds and removes
 *
 *     hamming_threads COUNT READERS SECONDS [WRITERS]
 *
 * COUNT random fingerprints of 64 bits within 3.  Each reader makes calls of one query; the writer
 * adds 64 fingerprints and removes them again.  One JSON object: calls a second, and the longest
 * call of each kind.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <neardup/hamming.h>

#include "base/hash.h"

enum { THREADS_MAX = 256, ADDED = 64 };

static struct nd_hamming *index_of_all;
static atomic_bool over;
static size_t count;

struct worker {
    pthread_t thread;
    unsigned number;
    uint64_t calls;
    double longest;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "hamming_threads: %s\n", what);
    exit(2);
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void note(struct worker *w, double since)
{
    double took = now() - since;

    w->longest = took > w->longest ? took : w->longest;
    w->calls++;
}

static void *read_on(void *argument)
{
    struct worker *w = argument;
    struct nd_hamming_matches found = {.items = NULL};

    for (uint64_t i = 0; !atomic_load(&over); i++) {
        uint64_t query = nd_mix64((i * 7919 + w->number) % count);
        double since = now();

        found.count = 0;
        if (nd_hamming_query(index_of_all, &query, 1, 3, &found, NULL) != ND_OK || found.count == 0)
            die("a query failed");
        note(w, since);
    }
    nd_hamming_matches_release(&found);
    return NULL;
}

static void *write_on(void *argument)
{
    struct worker *w = argument;
    uint64_t row[ADDED];

    for (uint64_t i = 0; !atomic_load(&over); i++) {
        double since;

        for (size_t k = 0; k < ADDED; k++)
            row[k] = nd_mix64(UINT64_C(1) << 40 | w->number << 16 | k);
        since = now();
        if (nd_hamming_add(index_of_all, row, NULL, 0, ADDED, NULL) != ND_OK)
            die("adding failed");
        note(w, since);
        for (uint32_t k = 0; k < ADDED; k++) {
            since = now();
            if (nd_hamming_remove(index_of_all, &row[k], k, NULL) != ND_OK)
                die("removing failed");
            note(w, since);
        }
    }
    return NULL;
}

static void make_index(void)
{
    const struct nd_hamming_problem problem = {64, 3, count};
    struct nd_hamming_plan plan;

    if (nd_hamming_choose(&problem, NULL, 0, &plan, NULL) != ND_OK ||
        nd_hamming_new(&index_of_all, &plan, NULL) != ND_OK)
        die("no index");
    for (uint64_t i = 0; i < count; i++) {
        uint64_t row = nd_mix64(i);

        if (nd_hamming_add(index_of_all, &row, NULL, (uint32_t)i, 1, NULL) != ND_OK)
            die("out of memory");
    }
}

static void sum_up(const char *name, const struct worker *w, size_t n, double seconds)
{
    double longest = 0;
    uint64_t calls = 0;

    for (size_t i = 0; i < n; i++) {
        calls += w[i].calls;
        longest = w[i].longest > longest ? w[i].longest : longest;
    }
    printf("\"%s\": %.0f, \"longest_%s_ms\": %.2f", name, (double)calls / seconds, name,
           longest * 1e3);
}

int main(int n, char **argument)
{
    static struct worker worker[THREADS_MAX];
    const struct timespec seconds = {n > 3 ? atol(argument[3]) : 0, 0};
    size_t readers = n > 2 ? (size_t)atol(argument[2]) : 0;
    size_t writers = n > 4 ? (size_t)atol(argument[4]) : 1, all = readers + writers;
    double begin;

    count = n > 1 ? (size_t)atol(argument[1]) : 0;
    if (count == 0 || seconds.tv_sec == 0 || all > THREADS_MAX)
        die("usage: hamming_threads COUNT READERS SECONDS [WRITERS]");
    make_index();
    begin = now();
    for (size_t i = 0; i < all; i++) {
        worker[i].number = (unsigned)i;
        if (pthread_create(&worker[i].thread, NULL, i < readers ? read_on : write_on, &worker[i]))
            die("no thread");
    }
    nanosleep(&seconds, NULL);
    atomic_store(&over, true);
    for (size_t i = 0; i < all; i++)
        pthread_join(worker[i].thread, NULL);
    begin = now() - begin;
    printf("{");
    sum_up("queries", worker, readers, begin);
    printf(", ");
    sum_up("changes", worker + readers, writers, begin);
    printf("}\n");
    nd_hamming_free(index_of_all);
    return 0;
}
