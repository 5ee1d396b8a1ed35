/* cmd_index_file.c - neardup index build, add, merge: an index in a file, written */
#define _GNU_SOURCE
#include "fingerprints.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <neardup/hamming_file.h>

static int failed(const struct nd_error *err)
{
    say("%s", err->message);
    return 2;
}

/* The ids with a text, the others NULL.  NULL: it was said why. */
static const char **texts_of(const struct fingerprints *f)
{
    const char **text = calloc(f->n + 1, sizeof *text);

    if (!text)
        say("out of memory for %zu ids", f->n);
    for (size_t i = 0; text && i < f->n; i++)
        text[i] = f->id[i] == NO_TEXT ? NULL : f->text + f->id[i];
    return text;
}

/* Read all files, and build an index of them, or add them to one (shape NULL). */
static int write_index(const struct hamming_settings *settings, const char *index,
                       const struct nd_hamming_shape *shape, const char *const *path, size_t n)
{
    struct fingerprints all = {.row = NULL};
    struct nd_error err;
    int status = 2;

    if (fingerprints_read_files(&all, settings, path, n, NULL)) {
        const char **text = texts_of(&all);
        const struct nd_hamming_entries entries = {all.row, all.n, NULL, text};

        if (text && (shape ? nd_hamming_file_build(index, shape, &entries, &err)
                           : nd_hamming_file_add(index, &entries, &err)) == ND_OK)
            status = 0;
        else if (text)
            failed(&err);
        free(text);
    }
    fingerprints_release(&all);
    return status;
}

/* Whether the output is a file that is read. */
static bool would_lose(const char *output, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat x, y;

    return stat(output, &x) == 0 && (standard ? fstat(STDIN_FILENO, &y) : stat(path, &y)) == 0 &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int index_build(const struct settings *s, const char *const *path, size_t n)
{
    const struct hamming_settings *h = &s->hamming;
    const struct nd_hamming_shape shape = {h->bits, h->distance, h->tables,
                                           h->codec == ND_HAMMING_MANKU ? ND_HAMMING_MANKU
                                                                        : ND_HAMMING_EF};

    if (!h->output) {
        say("index build wants --output FILE");
        return 2;
    }
    for (size_t i = 0; i < n; i++)
        if (would_lose(h->output, path[i])) {
            say("'%s' is an input, and would be lost: write elsewhere", h->output);
            return 2;
        }
    return write_index(h, h->output, &shape, path, n);
}

int index_add(const struct settings *s, const char *index, const char *const *path, size_t n)
{
    struct hamming_settings settings = s->hamming;
    struct nd_hamming_shape shape;
    struct nd_error err;

    if (settings.output || settings.codec || settings.tables || settings.has_distance) {
        say("index add keeps to what the index is: no --output, --codec, --tables, --distance; see "
            "index merge");
        return 2;
    }
    if (nd_hamming_file_peek(index, &shape, &err) != ND_OK)
        return failed(&err);
    if (settings.has_bits && settings.bits != shape.bits) {
        say("%s: an index of %u bits, not of %u", index, shape.bits, settings.bits);
        return 2;
    }
    settings.bits = shape.bits;
    return write_index(&settings, index, NULL, path, n);
}

int index_merge(const struct settings *s, const char *const *path, size_t n)
{
    const struct hamming_settings *h = &s->hamming;
    struct nd_hamming_shape shape;
    struct nd_error err;

    if (n > 1 && !h->output) {
        say("index merge wants --output FILE for more than one index");
        return 2;
    }
    if (nd_hamming_file_peek(path[0], &shape, &err) != ND_OK)
        return failed(&err);
    if (h->has_bits && h->bits != shape.bits) {
        say("%s: an index of %u bits, not of %u", path[0], shape.bits, h->bits);
        return 2;
    }
    if (h->has_distance)
        shape.distance = h->distance;
    if (h->tables)
        shape.tables = h->tables;
    if (h->codec)
        shape.codec = h->codec == ND_HAMMING_MANKU ? ND_HAMMING_MANKU : ND_HAMMING_EF;
    if (nd_hamming_file_merge(path, n, h->output ? h->output : path[0], &shape, &err) != ND_OK)
        return failed(&err);
    return 0;
}
