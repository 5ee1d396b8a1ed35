/* hamming_side.c - our side of bench/run hamming, by the protocol of its rivals
 *
 *     hamming_side index FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS [FAMILY TABLES | fit BYTES]
 *     hamming_side file  FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS LAYOUT PATH
 *     hamming_side scan  FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS
 *     hamming_side pairs FINGERPRINTS COUNT THREADS
 *     hamming_side large COUNT N_QUERIES BYTES
 *
 * 64 bits within 3.  One JSON object.  ANSWERS gets two 64-bit words a query: how many ids, and the
 * sum of (id + 1)^3 modulo 2^64.  scan compares with all, in a plain loop that shares no code with
 * the library; it is what the answers are held against.  `fit BYTES`: the planner's choice for at
 * most so many bytes a fingerprint (0: any).  file writes an index file of a layout, opens it from
 * the page cache, and at last from the disk: the kernel is told that the pages are not needed any
 * more (posix_fadvise), and mincore says which were dropped.  large chooses so too, and makes the
 * fingerprints as it adds them, and again as it compares the first answers with a plain loop over
 * all, so that nothing but the index is in memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <neardup/cpu.h>
#include <neardup/hamming.h>
#include <neardup/hamming_file.h>

#include "base/hash.h"

enum {
    BITS = 64,
    DISTANCE = 3,
    SINGLES = 20000,
    ROUNDS = 3,
    CHUNK = 1 << 20,
    SCANNED = 8,
    COLD = 1000 /* queries that are asked from the disk first */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "hamming_side: %s\n", what);
    exit(2);
}

static double clock_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bytes of this process that are in memory. */
static double resident(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long all = 0, here = 0;

    malloc_trim(0);
    if (!file || fscanf(file, "%ld %ld", &all, &here) != 2)
        die("no /proc/self/statm");
    fclose(file);
    return (double)here * (double)sysconf(_SC_PAGESIZE);
}

/* The most that there ever were. */
static double peak(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static uint64_t *read_words(const char *path, size_t n)
{
    FILE *file = fopen(path, "rb");
    uint64_t *row = malloc((n ? n : 1) * sizeof *row);

    if (!file || !row || fread(row, sizeof *row, n, file) != n)
        die("cannot read so many words");
    fclose(file);
    return row;
}

static void add_answer(uint64_t answer[2], uint64_t id)
{
    answer[0]++;
    answer[1] += (id + 1) * (id + 1) * (id + 1);
}

static void write_answers(const char *path, uint64_t (*answer)[2], size_t n)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(answer, sizeof *answer, n, file) != n || fclose(file))
        die("cannot write the answers");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct figures {
    double batch, p50, p99; /* seconds a query */
    uint64_t found;
};

/* The index that is asked: one of the two. */
struct asked {
    const struct nd_hamming *index;
    const struct nd_hamming_file *file;
};

static void ask(const struct asked *of, const uint64_t *query, size_t n,
                struct nd_hamming_matches *out)
{
    out->count = 0;
    if ((of->index ? nd_hamming_query(of->index, query, n, DISTANCE, out, NULL)
                   : nd_hamming_file_query(of->file, query, n, DISTANCE, out, NULL)) != ND_OK)
        die("a query failed");
}

static struct figures time_queries(const struct asked *of, const uint64_t *query, size_t n,
                                   struct nd_hamming_matches *out)
{
    size_t singles = n < SINGLES ? n : SINGLES;
    double took[ROUNDS], *single = malloc((singles + 1) * sizeof *single);
    struct figures f = {0};

    if (!single)
        die("out of memory");
    for (size_t i = 0; i < singles; i++) {
        double start = clock_of(CLOCK_MONOTONIC);

        ask(of, query + i, 1, out);
        single[i] = clock_of(CLOCK_MONOTONIC) - start;
    }
    qsort(single, singles, sizeof *single, by_value);
    f.p50 = single[singles / 2];
    f.p99 = single[singles * 99 / 100];
    for (int round = 0; round < ROUNDS; round++) {
        double start = clock_of(CLOCK_PROCESS_CPUTIME_ID);

        ask(of, query, n, out);
        took[round] = (clock_of(CLOCK_PROCESS_CPUTIME_ID) - start) / (double)n;
        f.found = out->count;
    }
    qsort(took, ROUNDS, sizeof *took, by_value);
    f.batch = took[ROUNDS / 2];
    free(single);
    return f;
}

static void print_index(const struct nd_hamming_plan *plan, double build, double grown,
                        double bytes, const struct figures *f)
{
    double n = (double)plan->problem.count;

    printf("{\"tool\":\"neardup\",\"cpu\":\"%s\",\"count\":%.0f,\"design\":\"%s\",\"tables\":%u,"
           "\"key_bits\":%u,\"build_s\":%.3f,\"inserts_per_s\":%.0f,\"bytes_each\":%.2f,"
           "\"allocated_each\":%.2f,\"peak_bytes\":%.0f,\"fill\":%.2f,\"queries_per_s\":%.0f,\"p50_"
           "us\":%.3f,\"p99_us\":%.3f,"
           "\"found\":%llu,\"predicted_build_s\":%.3f,\"predicted_us\":%.4f,"
           "\"predicted_bytes_each\":%.2f}\n",
           nd_cpu_name(), n, nd_hamming_family_name(plan->family), plan->tables, plan->key_bits,
           build, n / build, grown / n, bytes / n, peak(), plan->fill, 1 / f->batch, f->p50 * 1e6,
           f->p99 * 1e6, (unsigned long long)f->found, plan->build_seconds,
           plan->query_seconds * 1e6, plan->bytes / n);
}

/* size: bytes a fingerprint (family "fit"), or the number of tables. */
static struct nd_hamming_plan choose(uint64_t count, const char *family, double size)
{
    struct nd_hamming_problem problem = {BITS, DISTANCE, count};
    struct nd_hamming_machine machine;
    struct nd_hamming_plan plan;
    struct nd_error err;
    enum nd_status status = nd_hamming_calibrate(&machine, &err);
    bool known = !strcmp(family, "fit");

    if (status == ND_OK && known)
        status = nd_hamming_choose(&problem, &machine, size * (double)count, &plan, &err);
    for (int f = 0; status == ND_OK && !known && f < ND_HAMMING_FAMILY_COUNT; f++)
        if (!strcmp(family, nd_hamming_family_name((enum nd_hamming_family)f))) {
            status = nd_hamming_design(&problem, &machine, (enum nd_hamming_family)f, 0,
                                       (unsigned)size, &plan, &err);
            known = true;
        }
    if (status != ND_OK || !known)
        die(known ? err.message : "no such design");
    malloc_trim(0);
    return plan;
}

static void run_index(char **argv, const char *family, double size)
{
    size_t n = strtoull(argv[4], NULL, 10), n_queries = strtoull(argv[5], NULL, 10);
    uint64_t *row = read_words(argv[2], n), *query = read_words(argv[3], n_queries);
    struct nd_hamming_plan plan = choose(n, family, size);
    double before = resident(), start = clock_of(CLOCK_PROCESS_CPUTIME_ID), build, grown;
    uint64_t(*answer)[2] = calloc(n_queries + 1, sizeof *answer);
    struct nd_hamming_matches out = {.items = NULL};
    struct nd_hamming *index;
    struct nd_error err;
    struct figures f;

    if (!answer)
        die("out of memory");
    if (nd_hamming_new(&index, &plan, &err) != ND_OK ||
        nd_hamming_add(index, row, NULL, 0, n, &err) != ND_OK)
        die(err.message);
    build = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    grown = resident() - before;
    f = time_queries(&(struct asked){.index = index}, query, n_queries, &out);
    for (size_t i = 0; i < out.count; i++)
        add_answer(answer[out.items[i].query], out.items[i].id);
    write_answers(argv[6], answer, n_queries);
    print_index(&plan, build, grown, (double)nd_hamming_bytes(index), &f);
    nd_hamming_free(index);
    nd_hamming_matches_release(&out);
    free(answer);
    free(row);
    free(query);
}

/* Seconds of the clock that opening takes. */
static double open_index(struct nd_hamming_file **file, const char *path)
{
    double start = clock_of(CLOCK_MONOTONIC);
    struct nd_error err;

    if (nd_hamming_file_open(file, path, &err) != ND_OK)
        die(err.message);
    return clock_of(CLOCK_MONOTONIC) - start;
}

/* Drop the pages of a file that nobody has open.  Returns the share that was dropped. */
static double drop_pages(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long page = sysconf(_SC_PAGESIZE);
    size_t bytes, pages, left = 0;
    unsigned char *here;
    void *map;

    if (fd < 0 || fdatasync(fd) != 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) != 0)
        die("the pages of the index cannot be dropped");
    bytes = (size_t)lseek(fd, 0, SEEK_END);
    pages = (bytes + (size_t)page - 1) / (size_t)page;
    here = malloc(pages + 1);
    map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (!here || map == MAP_FAILED || mincore(map, bytes, here) != 0)
        die("mincore failed");
    for (size_t i = 0; i < pages; i++)
        left += here[i] & 1;
    munmap(map, bytes);
    close(fd);
    free(here);
    return 1 - (double)left / (double)pages;
}

/* Build a file, and ask it with its pages in memory, then without. */
static void run_file(char **argv)
{
    size_t n = strtoull(argv[4], NULL, 10), n_queries = strtoull(argv[5], NULL, 10);
    uint64_t *row = read_words(argv[2], n), *query = read_words(argv[3], n_queries);
    uint64_t(*answer)[2] = calloc(n_queries + 1, sizeof *answer);
    struct nd_hamming_shape shape = {.bits = BITS,
                                     .distance = DISTANCE,
                                     .codec = ND_HAMMING_EF,
                                     .layout = strcmp(argv[7], "fast") ? ND_HAMMING_COMPACT
                                                                       : ND_HAMMING_FAST};
    const struct nd_hamming_entries entries = {.fingerprints = row, .count = n};
    struct nd_hamming_matches out = {.items = NULL};
    double start = clock_of(CLOCK_PROCESS_CPUTIME_ID), build, warm, dropped, cold, first, all;
    const struct nd_hamming_plan *plan;
    struct nd_hamming_file *file;
    struct nd_error err;
    struct figures f;

    if (!answer)
        die("out of memory");
    if (nd_hamming_file_build(argv[8], &shape, &entries, &err) != ND_OK)
        die(err.message);
    build = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    warm = open_index(&file, argv[8]);
    f = time_queries(&(struct asked){.file = file}, query, n_queries, &out);
    for (size_t i = 0; i < out.count; i++)
        add_answer(answer[out.items[i].query], out.items[i].id);
    write_answers(argv[6], answer, n_queries);
    plan = nd_hamming_file_design(file);
    printf("{\"tool\":\"neardup\",\"cpu\":\"%s\",\"count\":%zu,\"layout\":\"%s\",\"design\":\"%s\","
           "\"tables\":%u,\"key_bits\":%u,\"build_s\":%.3f,\"inserts_per_s\":%.0f,"
           "\"bytes_each\":%.2f,\"queries_per_s\":%.0f,\"p50_us\":%.3f,\"p99_us\":%.3f,"
           "\"found\":%llu,\"open_s\":%.4f",
           nd_cpu_name(), n, argv[7], nd_hamming_family_name(plan->family), plan->tables,
           plan->key_bits, build, (double)n / build,
           (double)nd_hamming_file_bytes(file) / (double)n, 1 / f.batch, f.p50 * 1e6, f.p99 * 1e6,
           (unsigned long long)f.found, warm);
    nd_hamming_file_close(file);
    dropped = drop_pages(argv[8]);
    cold = open_index(&file, argv[8]);
    start = clock_of(CLOCK_MONOTONIC);
    ask(&(struct asked){.file = file}, query, n_queries < COLD ? n_queries : COLD, &out);
    first = clock_of(CLOCK_MONOTONIC) - start;
    ask(&(struct asked){.file = file}, query, n_queries, &out);
    all = clock_of(CLOCK_MONOTONIC) - start - first;
    printf(",\"dropped\":%.3f,\"cold_open_s\":%.4f,\"cold_first_s\":%.4f,\"cold_all_s\":%.4f}\n",
           dropped, cold, first, all);
    nd_hamming_file_close(file);
    nd_hamming_matches_release(&out);
    free(answer);
    free(row);
    free(query);
}

static void run_scan(char **argv)
{
    size_t n = strtoull(argv[4], NULL, 10), n_queries = strtoull(argv[5], NULL, 10);
    uint64_t *row = read_words(argv[2], n), *query = read_words(argv[3], n_queries);
    uint64_t(*answer)[2] = calloc(n_queries + 1, sizeof *answer), found = 0;

    if (!answer)
        die("out of memory");
    for (size_t q = 0; q < n_queries; q++)
        for (size_t i = 0; i < n; i++)
            if (__builtin_popcountll(row[i] ^ query[q]) <= DISTANCE)
                add_answer(answer[q], i);
    for (size_t q = 0; q < n_queries; q++)
        found += answer[q][0];
    write_answers(argv[6], answer, n_queries);
    printf("{\"tool\":\"scan\",\"count\":%zu,\"found\":%llu}\n", n, (unsigned long long)found);
    free(answer);
    free(row);
    free(query);
}

/* Count all pairs, and add up a sum that depends on which they are. */
static int add_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    uint64_t *sum = context;

    for (size_t i = 0; i < n; i++) {
        sum[0]++;
        sum[1] += (pair[i].a + 1) * (pair[i].b + 1) * (pair[i].b + 1);
    }
    return 0;
}

static void run_pairs(char **argv)
{
    size_t n = strtoull(argv[3], NULL, 10);
    uint64_t *row = read_words(argv[2], n), sum[2] = {0, 0};
    double start = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    struct nd_error err;

    if (nd_hamming_pairs(row, n, BITS, DISTANCE, (unsigned)strtoul(argv[4], NULL, 10), add_pairs,
                         sum, &err) != ND_OK)
        die(err.message);
    printf("{\"tool\":\"neardup\",\"count\":%zu,\"threads\":%s,\"seconds\":%.3f,\"cpu_s\":%.3f,"
           "\"pairs\":%llu,\"pairs_sum\":%llu}\n",
           n, argv[4], clock_of(CLOCK_MONOTONIC) - start, clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu,
           (unsigned long long)sum[0], (unsigned long long)sum[1]);
    free(row);
}

/* The i-th of the fingerprints that are nowhere stored. */
static uint64_t fingerprint(uint64_t i)
{
    return nd_mix64(i * UINT64_C(0x9E3779B97F4A7C15));
}

/* So many of them, from number `first` on. */
static void make_chunk(uint64_t *chunk, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        chunk[i] = fingerprint(first + i);
}

/* Processor seconds. */
static double add_all(struct nd_hamming *index, uint64_t *chunk, size_t n)
{
    struct nd_error err;
    double took = 0;

    for (size_t at = 0; at < n; at += CHUNK) {
        size_t some = n - at < CHUNK ? n - at : CHUNK;
        double start;

        make_chunk(chunk, at, some);
        start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        if (nd_hamming_add(index, chunk, NULL, (uint32_t)at, some, &err) != ND_OK)
            die(err.message);
        took += clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    }
    return took;
}

/* The answers to the first queries, by comparing with all that were added. */
static void check_all(const struct nd_hamming_matches *out, const uint64_t *query, size_t n_queries,
                      uint64_t *chunk, size_t n)
{
    uint64_t got[SCANNED][2] = {{0}}, expected[SCANNED][2] = {{0}};

    n_queries = n_queries < SCANNED ? n_queries : SCANNED;
    for (size_t i = 0; i < out->count; i++)
        if (out->items[i].query < n_queries)
            add_answer(got[out->items[i].query], out->items[i].id);
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t some = n - at < CHUNK ? n - at : CHUNK;

        make_chunk(chunk, at, some);
        for (size_t q = 0; q < n_queries; q++)
            for (size_t i = 0; i < some; i++)
                if (__builtin_popcountll(chunk[i] ^ query[q]) <= DISTANCE)
                    add_answer(expected[q], at + i);
    }
    if (memcmp(got, expected, sizeof got) != 0)
        die("an answer is not what comparing with all gives");
}

/* Every second query is a stored fingerprint with 3 bits wrong: it must be among the answers. */
static void run_large(char **argv)
{
    size_t n = strtoull(argv[2], NULL, 10), n_queries = strtoull(argv[3], NULL, 10), planted = 0;
    struct nd_hamming_plan plan = choose(n, "fit", strtod(argv[4], NULL));
    uint64_t *chunk = malloc(CHUNK * sizeof *chunk), *query = malloc(n_queries * sizeof *query);
    struct nd_hamming_matches out = {.items = NULL};
    double before = resident(), build, grown;
    struct nd_hamming *index;
    struct nd_error err;
    struct figures f;

    if (!chunk || !query || nd_hamming_new(&index, &plan, &err) != ND_OK)
        die("out of memory");
    build = add_all(index, chunk, n);
    grown = resident() - before;
    for (size_t i = 0; i < n_queries; i++)
        query[i] = i % 2 ? fingerprint(nd_mix64(i) % n) ^ UINT64_C(0x8000010000000001) << i % 13
                         : nd_mix64(~i);
    f = time_queries(&(struct asked){.index = index}, query, n_queries, &out);
    for (size_t i = 0; i < out.count; i++)
        planted += out.items[i].query % 2 && out.items[i].id == nd_mix64(out.items[i].query) % n;
    if (planted != n_queries / 2)
        die("a planted neighbour was not found");
    check_all(&out, query, n_queries, chunk, n);
    print_index(&plan, build, grown, (double)nd_hamming_bytes(index), &f);
    nd_hamming_free(index);
    nd_hamming_matches_release(&out);
    free(chunk);
    free(query);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "index") && (argc == 7 || argc == 9))
        run_index(argv, argc == 9 ? argv[7] : "fit", argc == 9 ? strtod(argv[8], NULL) : 0);
    else if (!strcmp(what, "file") && argc == 9)
        run_file(argv);
    else if (!strcmp(what, "scan") && argc == 7)
        run_scan(argv);
    else if (!strcmp(what, "pairs") && argc == 5)
        run_pairs(argv);
    else if (!strcmp(what, "large") && argc == 5)
        run_large(argv);
    else
        die("index|file|scan FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS ..., pairs ..., large "
            "...");
    return 0;
}
