/* live_scale.c - a large live index with its columns in files: rebuilt, saved while it goes on, opened
 */

/*
 * usage: live_scale build DOCUMENTS FOLDER [THREADS]
 *        live_scale open FOLDER
 *
 * `build` makes an index of random rows in order of their numbers, of which 1 in 100 is deleted;
 * inserts a hundredth more while a thread saves it as FOLDER/snapshot; and says how long each of
 * these takes, and how much anonymous memory there is.  `open` opens the snapshot (page cache:
 * `echo 3 > /proc/sys/vm/drop_caches`), asks it, checks the rest of it, and inserts.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup/index.h>

#include "base/hash.h"
#include "base/thread/pool.h"
#include "base/thread/thread.h"
#include "index/live.h"

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Anonymous memory in MB (10^6). */
static double anonymous(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (double)kib * 1024e-6;
}

struct step {
    double elapsed, processor;
};

static struct step begin(void)
{
    return (struct step){now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID)};
}

static void report(struct step since, const char *what)
{
    printf("%-44s %8.3f s, processor %8.3f s, anonymous %5.0f MB\n", what,
           now(CLOCK_MONOTONIC) - since.elapsed, now(CLOCK_PROCESS_CPUTIME_ID) - since.processor,
           anonymous());
    fflush(stdout);
}

static void require(enum nd_status status, const struct nd_error *err)
{
    if (status == ND_OK)
        return;
    fprintf(stderr, "live_scale: %s\n", err->message);
    exit(1);
}

static void make_row(struct nd_index_row *row, uint64_t number)
{
    for (unsigned m = 0; m < ND_MINHASH_COUNT; m += 8) {
        uint64_t word = nd_mix64(number << 8 | m);

        memcpy(row->low + m, &word, sizeof word);
    }
    row->simhash = nd_mix64(~number);
    row->identity = nd_mix64(number) | 1;
    row->n_shingles = 500;
}

struct saving {
    struct nd_index *frozen;
    const char *path;
    atomic_bool done;
};

static void save(void *context)
{
    struct saving *job = context;
    struct nd_error err;

    require(nd_index_save(job->frozen, job->path, NULL, 0, &err), &err);
    atomic_store(&job->done, true);
}

/* Insert rows until there are so many, and at least until the job is done. */
static void insert(struct nd_index *index, uint64_t from, uint64_t n, struct saving *job)
{
    double longest = 0, longest_processor = 0, most = 0;
    struct nd_index_row row = {.group = 0};
    struct nd_error err;
    uint32_t number;
    uint64_t i = from;

    for (; i < from + n || (job && !atomic_load(&job->done)); i++) {
        double elapsed, processor;

        make_row(&row, i);
        elapsed = now(CLOCK_MONOTONIC);
        processor = now(CLOCK_THREAD_CPUTIME_ID);
        require(nd_index_insert_row(index, &row, &number, &err), &err);
        processor = now(CLOCK_THREAD_CPUTIME_ID) - processor;
        elapsed = now(CLOCK_MONOTONIC) - elapsed;
        longest = elapsed > longest ? elapsed : longest;
        longest_processor = processor > longest_processor ? processor : longest_processor;
        if (i % 4096 == 0 && anonymous() > most)
            most = anonymous();
    }
    printf(
        "%llu insertions: longest %.1f ms, in processor time %.1f ms; anonymous %.0f MB at most\n",
        (unsigned long long)(i - from), longest * 1e3, longest_processor * 1e3, most);
}

/* Rows in order of their numbers, as a store has them. */
static void rebuild(struct nd_index *index, uint64_t n, struct nd_pool *pool)
{
    enum { TOGETHER = 1 << 16 };
    static struct nd_index_row row[TOGETHER];
    static const struct nd_index_row *listed[TOGETHER];
    static uint32_t number[TOGETHER];
    size_t n_listed = 0;
    struct nd_error err;

    require(nd_index_reserve(index, n, &err), &err);
    for (uint64_t i = 0; i < n; i++) {
        if (i % 100 == 99) {
            require(nd_index_append_deleted(index, 1, &err), &err);
        } else {
            make_row(&row[n_listed], i);
            listed[n_listed] = &row[n_listed];
            require(nd_index_append(index, &row[n_listed], &number[n_listed], &err), &err);
            n_listed++;
        }
        if (n_listed == TOGETHER || i == n - 1) {
            require(nd_index_list(index, number, listed, n_listed, pool, &err), &err);
            n_listed = 0;
        }
    }
}

static void build(uint64_t n, const char *folder, const char *path, unsigned threads)
{
    struct nd_index_params params = nd_index_params_default();
    struct saving job = {.path = path};
    struct nd_thread thread;
    struct nd_error err;
    struct nd_pool *pool = nd_pool_new(threads, &err);
    struct nd_index *index = nd_index_new(&params, &err);
    struct step step;

    if (!pool || !index)
        require(err.status, &err);
    require(nd_index_back_columns(index, folder, &err), &err);
    step = begin();
    rebuild(index, n, pool);
    report(step, "rebuilt");
    step = begin();
    job.frozen = nd_index_freeze(index, &err);
    if (!job.frozen)
        require(err.status, &err);
    report(step, "frozen");
    step = begin();
    if (!nd_thread_start(&thread, save, &job))
        exit(1);
    insert(index, n, n / 100, &job);
    nd_thread_join(&thread);
    report(step, "saved, beside these");
    nd_index_free(job.frozen);
    nd_index_free(index);
    nd_pool_free(pool);
}

static void open_snapshot(const char *folder, const char *path)
{
    enum { QUERIES = 10000 };
    struct nd_candidates found = {0};
    struct nd_index_row row = {.group = 0};
    struct step step = begin();
    struct nd_error err;
    struct nd_index *index = nd_index_open_unchecked(path, NULL, NULL, &err);
    uint64_t n_found = 0;

    if (!index)
        require(err.status, &err);
    require(nd_index_back_columns(index, folder, &err), &err);
    report(step, "opened");
    step = begin();
    for (uint64_t i = 0; i < QUERIES; i++) {
        make_row(&row, nd_mix64(i) % nd_index_count(index));
        require(nd_index_query_row(index, &row, ND_REACH_ALL, &found, NULL), &err);
        n_found += found.count;
    }
    report(step, "10,000 queries");
    step = begin();
    require(nd_index_check(index, SIZE_MAX, NULL, &err), &err);
    report(step, "rest checked");
    insert(index, UINT64_C(1) << 40, nd_index_count(index) / 100, NULL);
    printf("%llu found\n", (unsigned long long)n_found);
    nd_candidates_release(&found);
    nd_index_free(index);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 3 ? argv[3] : argc > 2 ? argv[2] : NULL;
    char path[4096];

    if (!folder || (strcmp(argv[1], "build") == 0) != (argc > 3)) {
        fprintf(stderr, "usage: live_scale build DOCUMENTS FOLDER [THREADS] | open FOLDER\n");
        return 2;
    }
    (void)snprintf(path, sizeof path, "%s/snapshot", folder);
    if (argc > 3)
        build(strtoull(argv[2], NULL, 10), folder, path,
              argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0);
    else
        open_snapshot(folder, path);
    return 0;
}
