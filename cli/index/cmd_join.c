/* cmd_join.c - neardup join: queries against files of fingerprints; merging what that gave */
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"
#include "file_list.h"
#include "index/fingerprints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming.h>

enum { BLOCK = 1 << 16 };

/* The arguments of print_pairs: both sides' ids. */
struct sides {
    struct results *to;
    const struct fingerprints *queries, *block;
    uint64_t first; /* the number of the block's first fingerprint in its file */
    bool found;
};

static int print_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    struct sides *s = context;

    for (size_t i = 0; i < n; i++) {
        print_fingerprint_id(s->to, s->queries, pair[i].a, 0);
        putc('\t', s->to->file);
        print_fingerprint_id(s->to, s->block, pair[i].b, s->first);
        fprintf(s->to->file, "\t%u\n", pair[i].distance);
    }
    s->found = true;
    return results_failed(s->to);
}

static bool stream(const struct hamming_settings *h, const struct nd_hamming_batch *batch,
                   const char *path, struct sides *sides)
{
    struct fingerprint_file file;
    struct fingerprints block = {.row = NULL};
    struct nd_error err;
    bool fine = fingerprint_file_open(&file, h, path);

    /* cppcheck-suppress autoVariables ; taken back before it goes */
    sides->block = &block;
    while (fine) {
        fingerprints_clear(&block);
        sides->first = file.n;
        fine = fingerprint_file_read(&file, BLOCK, &block);
        if (!fine || block.n == 0)
            break;
        if (nd_hamming_batch_feed(batch, block.row, block.n, 0, print_pairs, sides, &err) !=
            ND_OK) {
            if (!results_failed(sides->to))
                say("%s", err.message);
            fine = false;
        }
    }
    sides->block = NULL;
    fingerprint_file_close(&file);
    fingerprints_release(&block);
    return fine;
}

static int join(struct results *to, const struct settings *s, const struct fingerprints *queries)
{
    static const char *const standard = "-";
    const char *const *path = s->paths.count > 1 ? s->paths.at + 1 : &standard;
    size_t n = s->paths.count > 1 ? s->paths.count - 1 : 1;
    struct sides sides = {.to = to, .queries = queries};
    struct nd_hamming_batch *batch;
    struct nd_error err;
    bool fine = true;

    if (nd_hamming_batch_new(&batch, queries->row, queries->n, s->hamming.bits, s->hamming.distance,
                             &err) != ND_OK) {
        say("%s", err.message);
        return 2;
    }
    for (size_t i = 0; i < n && fine; i++)
        fine = stream(&s->hamming, batch, path[i], &sides);
    nd_hamming_batch_free(batch);
    if (!fine)
        return 2;
    return sides.found ? 0 : 1;
}

struct lines {
    char **at;
    size_t n, capacity;
};

static bool add_line(struct lines *lines, const char *text)
{
    if (lines->n == lines->capacity) {
        size_t capacity = lines->capacity * 3 / 2 + 1024;
        char **more = nd_resize_array(lines->at, capacity, sizeof *more);

        if (!more)
            return false;
        lines->at = more;
        lines->capacity = capacity;
    }
    lines->at[lines->n] = nd_text_copy(text);
    return lines->at[lines->n++] != NULL;
}

static bool read_lines(const char *path, struct lines *lines)
{
    bool standard = strcmp(path, "-") == 0, fine = true;
    FILE *file = standard ? stdin : nd_stream_open(path, "r");
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;

    while (file && fine && (len = nd_read_line(&line, &capacity, '\n', file)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = '\0';
        fine = add_line(lines, line);
    }
    if (!file || !fine || ferror(file)) {
        say("%s: %s", path, fine ? strerror(errno) : "out of memory");
        fine = false;
    }
    if (file && !standard)
        fclose(file);
    free(line);
    return fine;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put_line(struct results *to, const char *line)
{
    results_put_row(to, line, strlen(line));
    putc('\n', to->file);
}

/* The reduce of Manku 2007, §3.3: all results sorted by their bytes, each once. */
static int merge(struct results *to, const struct settings *s)
{
    struct lines lines = {.at = NULL};
    bool fine = true;

    for (size_t i = 0; i < s->paths.count && fine; i++)
        fine = read_lines(s->paths.at[i], &lines);
    if (fine && lines.n)
        qsort(lines.at, lines.n, sizeof *lines.at, by_text);
    for (size_t i = 0; i < lines.n; i++) {
        if (fine && (i == 0 || strcmp(lines.at[i - 1], lines.at[i]) != 0))
            put_line(to, lines.at[i]);
    }
    for (size_t i = 0; i < lines.n; i++)
        free(lines.at[i]);
    free(lines.at);
    return fine ? 0 : 2;
}

static bool open_results(struct results *to, const struct settings *s)
{
    const char **inputs = calloc(s->paths.count + 1, sizeof *inputs);
    bool fine = inputs != NULL;

    if (!inputs)
        say("out of memory");
    for (size_t i = 0; fine && i < s->paths.count; i++)
        inputs[i] = s->paths.at[i];
    if (fine) /* join with one file reads queries from the standard input */
        inputs[s->paths.count] = s->paths.count == 1 && !s->hamming.merge ? "-" : NULL;
    fine = fine && results_open(to, s->hamming.output, inputs, s->paths.count + 1);
    free(inputs);
    return fine;
}

static bool is_of_merge(const char *option)
{
    return strcmp(option, "merge") == 0 || strcmp(option, "output") == 0 ||
           strcmp(option, "files-from") == 0 || strcmp(option, "null") == 0;
}

/* Check for options that --merge does not use. False: there is one, which was reported. */
static bool check_merge(const struct settings *s)
{
    for (size_t i = 0; i < s->given.count; i++)
        if (!is_of_merge(s->given.at[i])) {
            say("join --merge only sorts results: it has no option --%s", s->given.at[i]);
            return false;
        }
    return true;
}

int cmd_join(struct settings *s)
{
    struct fingerprints queries = {.row = NULL};
    struct fingerprint_file file;
    struct results to;
    int status = 2;

    if (s->paths.count == 0) {
        say("join needs a file%s; see neardup help join", s->hamming.merge ? "" : " of queries");
        return 2;
    }
    if (!s->hamming.merge && s->paths.count == 1 && strcmp(s->paths.at[0], "-") == 0) {
        say("queries and fingerprints cannot both come from the standard input");
        return 2;
    }
    if (s->hamming.merge ? !check_merge(s) : s->hamming.raw && s->hamming.any_digits) {
        if (!s->hamming.merge)
            say("--any-digits applies to lines, but --raw files have none");
        return 2;
    }
    if (!file_lists_fit(s, s->hamming.output) || !open_results(&to, s))
        return 2;
    if (s->hamming.merge)
        return results_close(&to, merge(&to, s));
    if (fingerprint_file_open(&file, &s->hamming, s->paths.at[0]) &&
        fingerprint_file_read(&file, SIZE_MAX, &queries))
        status = join(&to, s, &queries);
    fingerprint_file_close(&file);
    fingerprints_release(&queries);
    return results_close(&to, status);
}
