/* cmd_index_stats.c - neardup index stats: how fingerprints are distributed */
#define _GNU_SOURCE
#include "fingerprints.h"
#include "report.h"
#include "stats_svg.h"

#include <errno.h>
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

static void print_stats(const struct nd_hamming_stats *s)
{
    puts("figure\tplace\tcount\tuniform");
    printf("fingerprints\t-\t%llu\t-\n", (unsigned long long)s->count);
    printf("equal\t-\t%llu\t-\n", (unsigned long long)s->equal);
    for (unsigned i = 0; i < s->bits; i++)
        printf("leading\t%u\t%llu\t%.4g\n", i, (unsigned long long)s->leading[i],
               nd_hamming_stats_uniform(s, i));
    for (unsigned i = 0; i < s->buckets; i++)
        printf("bucket\t%u\t%llu\t%.4g\n", i, (unsigned long long)s->bucket[i],
               (double)s->count / s->buckets);
}

static bool draw(const char *path, const struct nd_hamming_stats *stats)
{
    FILE *out = fopen(path, "we");
    bool fine = out != NULL;

    if (out) {
        draw_stats(out, stats);
        fine = !ferror(out);
        fine = fclose(out) == 0 && fine;
    }
    if (!fine)
        say("%s: cannot be written: %s", path, strerror(errno));
    return fine;
}

int index_stats(const struct settings *s, const char *const *path, size_t n)
{
    struct hamming_settings settings = s->hamming;
    struct fingerprints all = {.row = NULL};
    struct nd_hamming_stats *stats = malloc(sizeof *stats);
    struct nd_error err;
    int status = 2;

    settings.bits = bits_of(&settings, path[0]);
    if (!stats)
        say("out of memory");
    else if (fingerprints_read_files(&all, &settings, path, n, NULL)) {
        if (nd_hamming_stats_make(all.row, all.n, settings.bits, settings.buckets, stats, &err) !=
            ND_OK) {
            say("%s", err.message);
        } else if (!settings.svg || draw(settings.svg, stats)) {
            print_stats(stats);
            status = close_output();
        }
    }
    fingerprints_release(&all);
    free(stats);
    return status;
}
