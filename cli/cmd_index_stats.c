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

/* "folder/name" with the folder in full, the caller's to free; NULL: there is no such folder. */
static char *full_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    char *folder = slash ? strndup(name, (size_t)(slash - name) + 1) : strdup(".");
    char *whole = folder ? realpath(folder, NULL) : NULL, *full = NULL;

    if (whole && asprintf(&full, "%s/%s", whole, slash ? slash + 1 : name) < 0)
        full = NULL;
    free(whole);
    free(folder);
    return full;
}

/* Whether two outputs, which may not exist yet, would be one file. */
static bool is_one_output(const char *a, const char *b)
{
    char *x = a && b ? full_name(a) : NULL, *y = a && b ? full_name(b) : NULL;
    bool is_one = x && y && strcmp(x, y) == 0;

    free(x);
    free(y);
    if (is_one)
        say("two outputs cannot both go to '%s'", a);
    return is_one;
}

/* The figures and the table, each where it goes. */
static int write_stats(struct results *table, const char *svg, const char *const *path, size_t n,
                       const struct nd_hamming_stats *stats)
{
    struct results figures;

    if (svg) {
        if (!results_open(&figures, svg, path, n))
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
    struct results to;
    struct nd_error err;
    int status = 2;

    if (!stats)
        say("out of memory");
    if (stats && !is_one_output(settings.svg, settings.output) &&
        results_open(&to, settings.output, path, n)) {
        settings.bits = bits_of(&settings, path[0]);
        if (!fingerprints_read_files(&all, &settings, path, n, NULL))
            ;
        else if (nd_hamming_stats_make(all.row, all.n, settings.bits, settings.buckets, stats,
                                       &err) != ND_OK)
            say("%s", err.message);
        else
            status = write_stats(&to, settings.svg, path, n, stats);
        status = results_close(&to, status);
    }
    fingerprints_release(&all);
    free(stats);
    return status;
}
