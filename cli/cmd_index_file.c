/* cmd_index_file.c - neardup index build, query, info, verify: an index in a file */
#define _GNU_SOURCE
#include "fingerprints.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming_file.h>

enum { BLOCK = 1 << 14 };

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

/* Ids are numbers of 32 bits; one without text is its place among all.  NULL: it was said why. */
static uint32_t *numbers_of(const struct fingerprints *f)
{
    uint32_t *id = malloc((f->n + 1) * sizeof *id);

    if (!id)
        say("out of memory for %zu ids", f->n);
    for (size_t i = 0; id && i < f->n; i++) {
        const char *text = f->id[i] == NO_TEXT ? NULL : f->text + f->id[i];
        char *end = NULL;
        unsigned long long n;

        errno = 0;
        n = text ? strtoull(text, &end, 10) : i;
        if (n > UINT32_MAX || errno || (text && (*text < '0' || *text > '9' || *end))) {
            say("the id '%s' is no number from 0 to 4294967295, as an index file wants it",
                text ? text : "of a line");
            free(id);
            return NULL;
        }
        id[i] = (uint32_t)n;
    }
    return id;
}

static int build(const struct settings *s, const struct fingerprints *all, const uint32_t *id)
{
    const struct nd_hamming_problem problem = {s->hamming.bits, s->hamming.distance, all->n};
    struct nd_hamming_plan plan;
    struct nd_error err;

    if (nd_hamming_file_plan(&problem, s->hamming.tables, &plan, &err) != ND_OK ||
        nd_hamming_file_write(s->hamming.output, &plan, all->row, id, all->n, &err) != ND_OK)
        return failed(&err);
    return 0;
}

int index_build(const struct settings *s, const char *const *path, size_t n)
{
    struct fingerprints all = {.row = NULL};
    int status = 2;

    if (!s->hamming.output) {
        say("index build wants --output FILE");
        return 2;
    }
    if (fingerprints_read_files(&all, &s->hamming, path, n, NULL)) {
        uint32_t *id = numbers_of(&all);

        if (id)
            status = build(s, &all, id);
        free(id);
    }
    fingerprints_release(&all);
    return status;
}

int index_verify(const char *path)
{
    struct nd_hamming_file *file;
    struct nd_error err;

    if (nd_hamming_file_open(&file, path, &err) != ND_OK)
        return failed(&err);
    nd_hamming_file_close(file);
    return 0;
}

int index_info(const char *path)
{
    const struct nd_hamming_plan *plan;
    struct nd_hamming_file *file;
    struct nd_error err;
    double bytes;

    if (nd_hamming_file_open(&file, path, &err) != ND_OK)
        return failed(&err);
    plan = nd_hamming_file_design(file);
    bytes = (double)nd_hamming_file_bytes(file);
    printf("bits: %u\ndistance: %u\nfingerprints: %llu\ndistinct: %llu\ndesign: %s\ntables: %u\n"
           "key bits: %u-%u\nbytes: %.0f\n",
           plan->problem.bits, plan->problem.distance, (unsigned long long)plan->problem.count,
           (unsigned long long)nd_hamming_file_distinct(file), nd_hamming_family_name(plan->family),
           plan->tables, plan->key_bits, plan->key_bits_most, bytes);
    if (plan->problem.count)
        printf("bytes a fingerprint: %.2f\n", bytes / (double)plan->problem.count);
    nd_hamming_file_close(file);
    return close_output();
}

/* The answers for one block of queries.  -1: it was said what failed. */
static int answer(const struct nd_hamming_file *file, const struct fingerprints *block,
                  uint64_t first, unsigned distance)
{
    struct nd_hamming_matches found = {.at = NULL};
    struct nd_error err;
    int any;

    if (nd_hamming_file_query(file, block->row, block->n, distance, &found, &err) != ND_OK) {
        failed(&err);
        nd_hamming_matches_release(&found);
        return -1;
    }
    nd_hamming_matches_sort(&found);
    for (size_t i = 0; i < found.count; i++) {
        print_fingerprint_id(block, found.at[i].query, first);
        printf("\t%u\t%u\n", found.at[i].id, found.at[i].distance);
    }
    any = found.count > 0;
    nd_hamming_matches_release(&found);
    return any;
}

static int stream(const struct nd_hamming_file *file, struct fingerprint_file *queries,
                  unsigned distance)
{
    struct fingerprints block = {.row = NULL};
    int any = 0, got = 0;

    do {
        uint64_t first = queries->n;

        fingerprints_clear(&block);
        got = fingerprint_file_read(queries, BLOCK, &block) ? answer(file, &block, first, distance)
                                                            : -1;
        any |= got > 0;
    } while (got >= 0 && block.n > 0);
    fingerprints_release(&block);
    return close_output() || got < 0 ? 2 : !any;
}

int index_query(const struct settings *s, const char *index, const char *queries)
{
    struct hamming_settings settings = s->hamming;
    const struct nd_hamming_problem *problem;
    struct fingerprint_file in;
    struct nd_hamming_file *file;
    struct nd_error err;
    int status = 2;

    if (nd_hamming_file_open(&file, index, &err) != ND_OK)
        return failed(&err);
    problem = &nd_hamming_file_design(file)->problem;
    settings.bits = problem->bits;
    if (!settings.has_distance)
        settings.distance = problem->distance;
    if (fingerprint_file_open(&in, &settings, queries))
        status = stream(file, &in, settings.distance);
    fingerprint_file_close(&in);
    nd_hamming_file_close(file);
    return status;
}
