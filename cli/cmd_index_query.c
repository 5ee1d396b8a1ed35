/* cmd_index_query.c - neardup index query, info, verify: an index in a file, read */
#define _GNU_SOURCE
#include "fingerprints.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include <neardup/hamming_file.h>

enum { BLOCK = 1 << 14 };

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

int index_verify(const struct settings *s, const char *path)
{
    struct nd_hamming_file *file;
    struct nd_error err;

    if (s->hamming.output) {
        say("index verify writes nothing: no --output");
        return 2;
    }
    if (nd_hamming_file_open(&file, path, &err) != ND_OK)
        return failed(&err);
    nd_hamming_file_close(file);
    return 0;
}

/* Where the bytes are; parts that an index has none of are left out. */
static void print_sizes(FILE *out, const struct nd_hamming_file *file, double count)
{
    const struct nd_hamming_file_sizes s = nd_hamming_file_sizes(file);
    double bytes = (double)nd_hamming_file_bytes(file);

    fprintf(out, "segments: %u\nbytes: %.0f\n", s.segments, bytes);
    fprintf(out, "bytes of tables: %llu\n", (unsigned long long)s.tables);
    if (s.fingerprints)
        fprintf(out, "bytes of fingerprints: %llu\n", (unsigned long long)s.fingerprints);
    fprintf(out, "bytes of ids: %llu\n", (unsigned long long)s.ids);
    if (s.unused)
        fprintf(out, "bytes unused: %llu\n", (unsigned long long)s.unused);
    if (s.values)
        fprintf(out, "bits a value in a table: %.2f\n", 8 * (double)s.tables / (double)s.values);
    if (count > 0)
        fprintf(out, "bytes a fingerprint: %.2f\n", bytes / count);
    if (s.sound_headers < 2)
        fprintf(out, "headers: one of two; the next add or merge writes both\n");
}

int index_info(const struct settings *s, const char *path)
{
    const struct nd_hamming_plan *plan;
    struct nd_hamming_shape shape;
    struct nd_hamming_file *file;
    struct results to;
    struct nd_error err;

    if (!results_open(&to, s->hamming.output, &path, 1))
        return 2;
    if (nd_hamming_file_open(&file, path, &err) != ND_OK)
        return results_close(&to, failed(&err));
    plan = nd_hamming_file_design(file);
    shape = nd_hamming_file_shape(file);
    fprintf(to.file,
            "bits: %u\ndistance: %u\nfingerprints: %llu\ndistinct: %llu\nids: %s\ndesign: %s\n"
            "tables: %u\nkey bits: %u-%u\ncodec: %s\n",
            plan->problem.bits, plan->problem.distance, (unsigned long long)plan->problem.count,
            (unsigned long long)nd_hamming_file_distinct(file),
            nd_hamming_file_has_texts(file) ? "texts" : "numbers",
            nd_hamming_family_name(plan->family), plan->tables, plan->key_bits, plan->key_bits_most,
            nd_hamming_codec_name(shape.codec));
    print_sizes(to.file, file, (double)plan->problem.count);
    nd_hamming_file_close(file);
    return results_close(&to, 0);
}

/* By query, distance, and the bytes of the id. */
static int by_text(const void *a, const void *b, void *context)
{
    const struct nd_hamming_file *file = context;
    const struct nd_hamming_match *x = a, *y = b;
    char digits[2][ND_HAMMING_NUMBER_MAX];
    const char *text[2];
    size_t len[2];
    int order;

    if (x->query != y->query)
        return x->query < y->query ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    text[0] = nd_hamming_file_text(file, x->id, digits[0], &len[0]);
    text[1] = nd_hamming_file_text(file, y->id, digits[1], &len[1]);
    order = memcmp(text[0], text[1], len[0] < len[1] ? len[0] : len[1]);
    return order ? order : (len[0] > len[1]) - (len[0] < len[1]);
}

static void print_matches(struct results *to, struct nd_hamming_file *file,
                          const struct fingerprints *block, uint64_t first,
                          struct nd_hamming_matches *found)
{
    bool texts = nd_hamming_file_has_texts(file) != 0;

    if (!texts)
        nd_hamming_matches_sort(found);
    else if (found->count)
        qsort_r(found->at, found->count, sizeof *found->at, by_text, file);
    for (size_t i = 0; i < found->count; i++) {
        const struct nd_hamming_match *match = &found->at[i];

        print_fingerprint_id(to, block, match->query, first);
        if (texts) {
            char digits[ND_HAMMING_NUMBER_MAX];
            size_t len;
            const char *text = nd_hamming_file_text(file, match->id, digits, &len);

            putc('\t', to->file);
            results_put_id(to, text, len);
            fprintf(to->file, "\t%u\n", match->distance);
        } else {
            fprintf(to->file, "\t%u\t%u\n", match->id, match->distance);
        }
    }
}

/* The answers for one block of queries.  -1: it was said what failed. */
static int answer(struct results *to, struct nd_hamming_file *file,
                  const struct fingerprints *block, uint64_t first, unsigned distance)
{
    struct nd_hamming_matches found = {.at = NULL};
    struct nd_error err;
    int any;

    if (nd_hamming_file_query(file, block->row, block->n, distance, &found, &err) != ND_OK) {
        failed(&err);
        nd_hamming_matches_release(&found);
        return -1;
    }
    print_matches(to, file, block, first, &found);
    any = found.count > 0;
    nd_hamming_matches_release(&found);
    return any;
}

static int stream(struct results *to, struct nd_hamming_file *file,
                  struct fingerprint_file *queries, unsigned distance)
{
    struct fingerprints block = {.row = NULL};
    int any = 0, got = 0;

    do {
        uint64_t first = queries->n;

        fingerprints_clear(&block);
        got = fingerprint_file_read(queries, BLOCK, &block)
                  ? answer(to, file, &block, first, distance)
                  : -1;
        any |= got > 0;
    } while (got >= 0 && block.n > 0);
    fingerprints_release(&block);
    return got < 0 ? 2 : !any;
}

int index_query(const struct settings *s, const char *index, const char *queries)
{
    struct hamming_settings settings = s->hamming;
    const struct nd_hamming_problem *problem;
    struct fingerprint_file in;
    const char *const inputs[] = {index, queries};
    struct nd_hamming_file *file;
    struct results to;
    struct nd_error err;
    int status = 2;

    if (!results_open(&to, settings.output, inputs, 2))
        return 2;
    if (nd_hamming_file_open(&file, index, &err) != ND_OK)
        return results_close(&to, failed(&err));
    problem = &nd_hamming_file_design(file)->problem;
    settings.bits = problem->bits;
    if (!settings.has_distance)
        settings.distance = problem->distance;
    if (fingerprint_file_open(&in, &settings, queries))
        status = stream(&to, file, &in, settings.distance);
    fingerprint_file_close(&in);
    nd_hamming_file_close(file);
    return results_close(&to, status);
}
