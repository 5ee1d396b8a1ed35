/* bench_hamming.c - indexes, joins and codecs for fingerprints: time, memory, and what they find
 *
 * `bench_hamming --help` prints its options.
 *
 * Uniform fingerprints with a tenth planted within 1 to 3 bits of another, or raw 64-bit ones from
 * a file, repeated with a few bits changed until there are N.  Half of the queries are near one
 * that is in.  One JSON object a line.  --check compares that many queries with a scan.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup/cpu.h>
#include <neardup/hamming.h>

#include "base/hash.h"
#include "base/memory.h"
#include "hamming/file/elias_fano.h"
#include "hamming/file/manku.h"

struct options {
    size_t count, queries, check;
    unsigned bits, distance, tables;
    const char *what, *family, *file;
};

static uint64_t seed = 42;

static uint64_t any(void)
{
    return nd_mix64(seed += UINT64_C(0x9E3779B97F4A7C15));
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "bench_hamming: %s\n", what);
    exit(2);
}

static void flip(uint64_t *x, unsigned bits, unsigned n)
{
    while (n--) {
        unsigned at = (unsigned)(any() % bits);

        x[at / 64] ^= UINT64_C(1) << at % 64;
    }
}

static void random_fingerprint(uint64_t *x, unsigned bits)
{
    for (size_t w = 0; w < nd_hamming_words(bits); w++)
        x[w] = any();
    if (bits % 64)
        x[bits / 64] &= (UINT64_C(1) << bits % 64) - 1;
}

/* How many were read from the file, at most o->count. */
static size_t read_file(const struct options *o, uint64_t *row)
{
    FILE *file = fopen(o->file, "rb");
    size_t n;

    if (!file || o->bits != 64)
        die("--file needs a readable file of 64-bit fingerprints");
    n = fread(row, sizeof *row, o->count, file);
    fclose(file);
    if (n == 0)
        die("the file is empty");
    return n;
}

static void fill(const struct options *o, uint64_t *row)
{
    size_t words = nd_hamming_words(o->bits), have = o->file ? read_file(o, row) : 0;

    for (size_t i = have; i < o->count; i++) {
        uint64_t *x = row + i * words;

        if (o->file || (i && i % 10 == 9)) {
            memcpy(x, row + any() % (have ? have : i) * words, words * sizeof *x);
            flip(x, o->bits, 1 + (unsigned)(any() % 3));
        } else {
            random_fingerprint(x, o->bits);
        }
    }
}

static void fill_queries(const struct options *o, const uint64_t *row, uint64_t *query)
{
    size_t words = nd_hamming_words(o->bits);

    for (size_t i = 0; i < o->queries; i++) {
        uint64_t *x = query + i * words;

        random_fingerprint(x, o->bits);
        if (i % 2) {
            memcpy(x, row + any() % o->count * words, words * sizeof *x);
            flip(x, o->bits, (unsigned)(any() % (o->distance + 2)));
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

struct figures {
    double add, single_p50, single_p99, batch;
    uint64_t found, missed, wrong;
};

static void time_queries(const struct options *o, const struct nd_hamming *index,
                         const uint64_t *query, struct figures *f)
{
    size_t words = nd_hamming_words(o->bits), n = o->queries < 20000 ? o->queries : 20000;
    struct nd_hamming_matches out = {.items = NULL};
    double *took = malloc(n * sizeof *took);

    if (!took)
        die("out of memory");
    f->batch = 1e9;
    for (int round = 0; round < 3; round++) {
        double start = cpu_seconds(), t;

        out.count = 0;
        if (nd_hamming_query(index, query, o->queries, o->distance, &out, NULL) != ND_OK)
            die("a query failed");
        t = (cpu_seconds() - start) / (double)o->queries;
        f->batch = t < f->batch ? t : f->batch;
        f->found = out.count;
    }
    for (size_t i = 0; i < n; i++) {
        double start = seconds();

        out.count = 0;
        if (nd_hamming_query(index, query + i * words, 1, o->distance, &out, NULL) != ND_OK)
            die("a query failed");
        took[i] = seconds() - start;
    }
    qsort(took, n, sizeof *took, by_value);
    f->single_p50 = took[n / 2];
    f->single_p99 = took[n * 99 / 100];
    free(took);
    nd_hamming_matches_release(&out);
}

/* The first queries again, beside a scan of all. */
static void check(const struct options *o, const struct nd_hamming *index, const uint64_t *row,
                  const uint64_t *query, struct figures *f)
{
    size_t words = nd_hamming_words(o->bits);

    for (size_t i = 0; i < o->check && i < o->queries; i++) {
        const uint64_t *q = query + i * words;
        uint64_t got = 0, expected = 0;

        if (nd_hamming_query_count(index, q, 1, o->distance, &got, NULL) != ND_OK)
            die("a query failed");
        for (size_t j = 0; j < o->count; j++) {
            unsigned bits = 0;

            for (size_t w = 0; w < words; w++)
                bits += (unsigned)__builtin_popcountll(row[j * words + w] ^ q[w]);
            expected += bits <= o->distance;
        }
        f->missed += expected > got ? expected - got : 0;
        f->wrong += got > expected ? got - expected : 0;
    }
}

static void measure(const struct options *o, const struct nd_hamming_plan *plan,
                    const uint64_t *row, const uint64_t *query)
{
    struct nd_hamming *index;
    struct nd_error err;
    struct figures f = {0};
    double start = cpu_seconds();

    if (nd_hamming_new(&index, plan, &err) != ND_OK ||
        nd_hamming_add(index, row, NULL, 0, o->count, &err) != ND_OK)
        die(err.message);
    f.add = cpu_seconds() - start;
    time_queries(o, index, query, &f);
    check(o, index, row, query, &f);
    printf("{\"bench\":\"hamming\",\"what\":\"index\",\"cpu\":\"%s\",\"data\":\"%s\",\"bits\":%u,"
           "\"distance\":%u,\"count\":%zu,\"family\":\"%s\",\"tables\":%u,\"key_bits\":%u,"
           "\"adds_per_second\":%.0f,\"bytes_each\":%.2f,\"queries_per_second\":%.0f,"
           "\"batch_us\":%.3f,\"p50_us\":%.3f,\"p99_us\":%.3f,\"predicted_us\":%.3f,"
           "\"predicted_bytes_each\":%.2f,\"found\":%llu,\"checked\":%zu,\"missed\":%llu,"
           "\"wrong\":%llu}\n",
           nd_cpu_name(), o->file ? "file" : "uniform", o->bits, o->distance, o->count,
           nd_hamming_family_name(plan->family), plan->tables, plan->key_bits,
           (double)o->count / f.add, (double)nd_hamming_bytes(index) / (double)o->count,
           1 / f.batch, f.batch * 1e6, f.single_p50 * 1e6, f.single_p99 * 1e6,
           plan->query_seconds * 1e6, plan->bytes / (double)o->count, (unsigned long long)f.found,
           o->check, (unsigned long long)f.missed, (unsigned long long)f.wrong);
    fflush(stdout);
    nd_hamming_free(index);
}

static void indexes(const struct options *o, const uint64_t *row, const uint64_t *query)
{
    struct nd_hamming_problem problem = {o->bits, o->distance, o->count};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    struct nd_error err;
    int family = 0;
    size_t n;

    while (family < ND_HAMMING_FAMILY_COUNT &&
           strcmp(o->family, nd_hamming_family_name((enum nd_hamming_family)family)) != 0)
        family++;
    if (family == ND_HAMMING_FAMILY_COUNT)
        die("no such family; --help names them");
    if (o->tables) {
        if (nd_hamming_design(&problem, NULL, (enum nd_hamming_family)family, 0, o->tables, plan,
                              &err) != ND_OK)
            die(err.message);
        measure(o, plan, row, query);
        return;
    }
    if (nd_hamming_plans(&problem, NULL, plan, ND_HAMMING_PLANS_MAX, &n, &err) != ND_OK)
        die(err.message);
    for (size_t i = 0; i < n; i++)
        if ((int)plan[i].family == family)
            measure(o, &plan[i], row, query);
}

static int count_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    (void)pair;
    *(uint64_t *)context += n;
    return 0;
}

/* The self-join on 1 and 2 threads. */
static void self_join(const struct options *o, const uint64_t *row)
{
    for (unsigned threads = 1; threads <= 2; threads++) {
        double start = seconds(), cpu = cpu_seconds();
        struct nd_error err;
        uint64_t pairs = 0;

        if (nd_hamming_pairs(row, o->count, o->bits, o->distance, threads, count_pairs, &pairs,
                             &err) != ND_OK)
            die(err.message);
        printf("{\"bench\":\"hamming\",\"what\":\"pairs\",\"cpu\":\"%s\",\"data\":\"%s\","
               "\"bits\":%u,\"distance\":%u,\"count\":%zu,\"threads\":%u,\"seconds\":%.3f,"
               "\"cpu_seconds\":%.3f,\"pairs\":%llu}\n",
               nd_cpu_name(), o->file ? "file" : "uniform", o->bits, o->distance, o->count, threads,
               seconds() - start, cpu_seconds() - cpu, (unsigned long long)pairs);
        fflush(stdout);
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The queries against the fingerprints as a stream, as they come and (64 bits) sorted. */
static void batch_join(const struct options *o, uint64_t *row, const uint64_t *query)
{
    for (int sorted = 0; sorted <= (o->bits == 64); sorted++) {
        struct nd_hamming_batch *batch;
        struct nd_error err;
        uint64_t pairs = 0;
        double start = cpu_seconds(), made;

        if (nd_hamming_batch_new(&batch, query, o->queries, o->bits, o->distance, &err) != ND_OK)
            die(err.message);
        made = cpu_seconds() - start;
        if (sorted)
            qsort(row, o->count, sizeof *row, by_number);
        start = cpu_seconds();
        if (nd_hamming_batch_feed(batch, row, o->count, 0, count_pairs, &pairs, &err) != ND_OK)
            die(err.message);
        start = cpu_seconds() - start;
        printf("{\"bench\":\"hamming\",\"what\":\"batch\",\"cpu\":\"%s\",\"data\":\"%s\","
               "\"bits\":%u,\"distance\":%u,\"count\":%zu,\"queries\":%zu,\"sorted\":%d,"
               "\"build_seconds\":%.3f,\"ns_each\":%.2f,\"millions_per_second\":%.1f,"
               "\"pairs\":%llu}\n",
               nd_cpu_name(), o->file ? "file" : "uniform", o->bits, o->distance, o->count,
               o->queries, sorted, made, start / (double)o->count * 1e9,
               (double)o->count / start / 1e6, (unsigned long long)pairs);
        fflush(stdout);
        nd_hamming_batch_free(batch);
    }
}

static void print_codec(const struct options *o, const char *name, double bits, double bound,
                        double decode)
{
    printf("{\"bench\":\"hamming\",\"what\":\"codec\",\"cpu\":\"%s\",\"data\":\"%s\","
           "\"count\":%zu,\"codec\":\"%s\",\"bits_each\":%.3f,\"above_bound\":%.3f,"
           "\"decode_millions_per_second\":%.0f}\n",
           nd_cpu_name(), o->file ? "file" : "uniform", o->count, name, bits, bits - bound,
           (double)o->count / decode / 1e6);
}

static void manku(const struct options *o, const uint64_t *row, size_t n, double bound)
{
    static uint64_t out[ND_MANKU_BLOCK_VALUES];
    struct nd_manku m = {.n = n};
    uint8_t length[64];
    struct nd_manku_block *block;
    unsigned char *data;
    double start;

    nd_manku_lengths(row, n, length);
    if (nd_manku_code_init(&m.code, length, NULL) != ND_OK)
        die("no code");
    m.n_blocks = nd_manku_encode(&m.code, row, n, NULL, NULL);
    m.block = block = malloc(m.n_blocks * sizeof *block);
    m.data = data = malloc(m.n_blocks * ND_MANKU_BLOCK);
    if (!block || !data)
        die("out of memory");
    nd_manku_encode(&m.code, row, n, block, data);
    start = cpu_seconds();
    for (size_t b = 0; b < m.n_blocks; b++)
        if (nd_manku_decode(&m, b, out) == 0)
            die("a block is empty");
    print_codec(o, "manku", 8.0 * ND_MANKU_BLOCK * (double)m.n_blocks / (double)n, bound,
                cpu_seconds() - start);
    free(block);
    free(data);
}

/* Bits a value of a sorted table of 64 bits, and how fast it is decoded. */
static void codecs(const struct options *o, uint64_t *row)
{
    struct nd_hamming_ef ef = nd_hamming_ef_shape(o->count, 64, nd_hamming_ef_kind(3));
    size_t bytes = nd_hamming_ef_bytes(&ef), n = 0;
    double bound = 64 - log2((double)o->count) + 1.4427, start;
    uint64_t *data = nd_table_alloc(bytes), out[4096];

    if (!data || o->bits != 64)
        die(data ? "the codec is measured with 64 bits only" : "out of memory");
    qsort(row, o->count, sizeof *row, by_number);
    nd_hamming_ef_encode(&ef, row, data);
    if (nd_hamming_ef_open(&ef, o->count, 64, nd_hamming_ef_kind(3), data, bytes, NULL) != ND_OK)
        die("the code does not open");
    start = cpu_seconds();
    for (size_t i = 0; i < o->count; i += 4096)
        nd_hamming_ef_decode(&ef, i, o->count - i < 4096 ? o->count - i : 4096, out);
    print_codec(o, "elias-fano", 8.0 * (double)bytes / (double)o->count, bound,
                cpu_seconds() - start);
    for (size_t i = 0; i < o->count; i++)
        if (n == 0 || row[n - 1] != row[i])
            row[n++] = row[i];
    manku(o, row, n, bound);
    nd_table_free(data, bytes);
}

static void print_help(void)
{
    puts("bench_hamming [--what index|pairs|batch|codec] [--family NAME] [--count N] [--bits F]\n"
         "              [--distance K] [--queries Q] [--tables T] [--file RAW] [--check Q]\n"
         "\n"
         "  --family NAME  measure the designs of this family (index; default: halves):");
    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++)
        printf("%s%s", f ? ", " : "                 ",
               nd_hamming_family_name((enum nd_hamming_family)f));
    puts("\n"
         "  --tables T     of that family only the design of at most T tables (index)\n"
         "  --count N      fingerprints (1000000), of --bits F (64) within --distance K (3)\n"
         "  --queries Q    queries (200000), half of them near one that is in\n"
         "  --file RAW     take 64-bit fingerprints from a file, not uniform ones\n"
         "  --check Q      compare the answers to the first Q queries with a scan (index)");
}

static size_t number(const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (*end || value < 0)
        die("not a number");
    return (size_t)value;
}

static struct options parse(int argc, char **argv)
{
    struct options o = {.count = 1000000,
                        .queries = 200000,
                        .bits = 64,
                        .distance = 3,
                        .what = "index",
                        .family = "halves"};

    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;

        if (!strcmp(name, "--help")) {
            print_help();
            exit(0);
        }
        if (!value)
            die("an option needs a value; see --help");
        if (!strcmp(name, "--count"))
            o.count = number(value);
        else if (!strcmp(name, "--queries"))
            o.queries = number(value);
        else if (!strcmp(name, "--check"))
            o.check = number(value);
        else if (!strcmp(name, "--bits"))
            o.bits = (unsigned)number(value);
        else if (!strcmp(name, "--distance"))
            o.distance = (unsigned)number(value);
        else if (!strcmp(name, "--tables"))
            o.tables = (unsigned)number(value);
        else if (!strcmp(name, "--what"))
            o.what = value;
        else if (!strcmp(name, "--family"))
            o.family = value;
        else if (!strcmp(name, "--file"))
            o.file = value;
        else
            die("no such option; --help prints them");
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    size_t words = nd_hamming_words(o.bits);
    uint64_t *row = nd_table_alloc(o.count * words * 8), *query = malloc(o.queries * words * 8);

    if (!row || !query)
        die("out of memory");
    fill(&o, row);
    fill_queries(&o, row, query);
    if (!strcmp(o.what, "pairs"))
        self_join(&o, row);
    else if (!strcmp(o.what, "codec"))
        codecs(&o, row);
    else if (!strcmp(o.what, "batch"))
        batch_join(&o, row, query);
    else
        indexes(&o, row, query);
    nd_table_free(row, o.count * words * 8);
    free(query);
    return 0;
}
