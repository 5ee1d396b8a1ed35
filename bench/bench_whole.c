/* bench_whole.c - MB/s from text to sketch, through the public functions */

/*
 * usage: bench_whole TEXT…
 *
 * Each file is cut into documents of 4 KB (at a space), which are sketched one by one: tokens only,
 * then with identity and shingles, then with the simhash, the minima, or both.  One line of JSON
 * for each file, set of kernels and depth; the best of ROUNDS, or of those that fit in `enough`.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup/cpu.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

enum { DOCUMENT = 4096, PADDING = 64, MOST = 1 << 24, ROUNDS = 5 };

struct text {
    const char *name;
    char *data;
    size_t len;
};

struct depth {
    const char *what;
    int sketch;
    unsigned parts;
};

static const struct depth depths[] = {
    {"tokens and their hashes", 0, 0},
    {"+ identity and distinct shingles", 1, 0},
    {"+ 64-bit simhash", 1, ND_SKETCH_SIMHASH},
    {"or 128 minima", 1, ND_SKETCH_MINHASH},
    {"or both", 1, ND_SKETCH_ALL},
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int read_text(struct text *text, const char *path)
{
    FILE *file = fopen(path, "rb");

    if (!file)
        return -1;
    text->data = calloc(1, MOST + PADDING);
    text->len = text->data ? fread(text->data, 1, MOST, file) : 0;
    while (text->len > 0 && text->data[text->len - 1] != ' ')
        text->len--; /* no half character at the end */
    text->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    fclose(file);
    return text->len > 0 ? 0 : -1;
}

static const double enough = 0.6; /* seconds */

/* The next document: DOCUMENT bytes and what is left of the last word. */
static size_t document_at(const struct text *text, size_t at)
{
    size_t len = text->len - at < DOCUMENT ? text->len - at : DOCUMENT;

    while (at + len < text->len && text->data[at + len] != ' ')
        len++;
    return len;
}

static int count_tokens(struct nd_tokeniser *t, const char *text, size_t len, size_t *total)
{
    const uint64_t *hash;
    size_t count;
    int status;

    nd_tokeniser_start(t, text, len);
    while ((status = nd_tokeniser_next(t, &hash, &count)) == 1)
        *total += count;
    return status;
}

static int one_round(const struct text *text, const struct depth *depth, struct nd_sketcher *s,
                     struct nd_tokeniser *t, size_t *total)
{
    for (size_t at = 0, len; at < text->len; at += len) {
        struct nd_sketch sketch;
        int status;

        len = document_at(text, at);
        if (depth->sketch) {
            status = nd_sketcher_run(s, text->data + at, len, depth->parts, &sketch);
            *total += status ? 0 : sketch.n_shingles;
        } else {
            status = count_tokens(t, text->data + at, len, total);
        }
        if (status)
            return status;
    }
    return 0;
}

static int measure(const struct text *text, const char *cpu, struct nd_sketcher *s,
                   struct nd_tokeniser *t)
{
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
        double best = 1e9, begin = seconds();
        size_t total = 0;

        for (int round = 0; round < ROUNDS && seconds() - begin < enough; round++) {
            double start = seconds();

            total = 0;
            if (one_round(text, &depths[d], s, t, &total))
                return -1;
            best = seconds() - start < best ? seconds() - start : best;
        }
        printf("{\"bench\":\"whole\",\"cpu\":\"%s\",\"text\":\"%s\",\"what\":\"%s\",\"items\":%zu,"
               "\"mb_per_s\":%.1f}\n",
               cpu, text->name, depths[d].what, total, 1e-6 * (double)text->len / best);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const cpu[] = {"scalar", "avx2", "avx512", "neon"};
    struct nd_sketch_params params = nd_sketch_params_default();
    int status = argc < 2 ? 2 : 0;

    for (int i = 1; i < argc && status == 0; i++) {
        struct text text;

        if (read_text(&text, argv[i])) {
            fprintf(stderr, "bench_whole: %s: cannot be read\n", argv[i]);
            return 2;
        }
        for (size_t c = 0; c < sizeof cpu / sizeof *cpu && status == 0; c++) {
            struct nd_sketcher *s;
            struct nd_tokeniser *t;

            if (nd_cpu_force(cpu[c], NULL) != ND_OK)
                continue;
            s = nd_sketcher_new(&params, NULL);
            t = nd_tokeniser_new();
            status = s && t ? measure(&text, cpu[c], s, t) : -1;
            nd_tokeniser_free(t);
            nd_sketcher_free(s);
        }
        free(text.data);
    }
    return status ? 2 : 0;
}
