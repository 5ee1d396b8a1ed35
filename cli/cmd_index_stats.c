/* cmd_index_stats.c - neardup index stats: how fingerprints are distributed */
#define _GNU_SOURCE
#include "fingerprints.h"
#include "report.h"
#include "stats_svg.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/hamming_file.h>

/* Bits that no option gives are those of the first file, where it is an index. */
static unsigned bits_of(const struct hamming_settings *h, const char *path)
{
    struct nd_hamming_shape shape;

    if (h->has_bits || strcmp(path, "-") == 0 || nd_hamming_file_peek(path, &shape, NULL) != ND_OK)
        return h->bits;
    return shape.bits;
}

static void print_stats(FILE *out, const struct nd_hamming_stats *s)
{
    fputs("figure\tplace\tcount\tuniform\n", out);
    fprintf(out, "fingerprints\t-\t%llu\t-\n", (unsigned long long)s->count);
    fprintf(out, "equal\t-\t%llu\t-\n", (unsigned long long)s->equal);
    for (unsigned i = 0; i < s->bits; i++)
        fprintf(out, "leading\t%u\t%llu\t%.4g\n", i, (unsigned long long)s->leading[i],
                nd_hamming_stats_uniform(s, i));
    for (unsigned i = 0; i < s->buckets; i++)
        fprintf(out, "bucket\t%u\t%llu\t%.4g\n", i, (unsigned long long)s->bucket[i],
                (double)s->count / s->buckets);
}

/* The figures and the table, each where it goes. */
static int write_stats(struct results *table, const char *svg, const char *const *others, size_t n,
                       const struct nd_hamming_stats *stats)
{
    struct results figures;

    if (svg) {
        if (!results_open(&figures, svg, others, n))
            return 2;
        draw_stats(figures.file, stats);
        if (results_close(&figures, 0))
            return 2;
    }
    print_stats(table->file, stats);
    return 0;
}

int index_stats(const struct settings *s, const char *const *path, size_t n)
{
    struct hamming_settings settings = s->hamming;
    struct fingerprints all = {.row = NULL};
    struct nd_hamming_stats *stats = malloc(sizeof *stats);
    const char **others = calloc(n + 1, sizeof *others);
    struct results to;
    struct nd_error err;
    int status = 2;

    if (!stats || !others)
        say("out of memory");
    for (size_t i = 0; others && i < n; i++)
        others[i] = path[i];
    if (stats && others && results_open(&to, settings.output, path, n)) {
        others[n] = settings.output;
        settings.bits = bits_of(&settings, path[0]);
        if (!fingerprints_read_files(&all, &settings, path, n, NULL))
            ;
        else if (nd_hamming_stats_make(all.row, all.n, settings.bits, settings.buckets, stats,
                                       &err) != ND_OK)
            say("%s", err.message);
        else
            status = write_stats(&to, settings.svg, others, n + 1, stats);
        status = results_close(&to, status);
    }
    fingerprints_release(&all);
    free(others);
    free(stats);
    return status;
}
