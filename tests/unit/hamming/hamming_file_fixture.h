/* hamming_file_fixture.h - what the tests of index files share: sets of fingerprints, a slow search
 */
#ifndef TESTS_HAMMING_FILE_FIXTURE_H
#define TESTS_HAMMING_FILE_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/hamming_file.h>

#include "base/hash.h"

static uint64_t fixture_seed;

static inline uint64_t any(void)
{
    return nd_mix64(++fixture_seed);
}

/* A set, and what an index of it should say.  texts NULL: ids are numbers. */
struct set {
    unsigned bits, distance;
    size_t n, words;
    uint64_t *row;
    uint32_t *id;
    char **text; /* NULL entries: the number */
};

static inline void flip(uint64_t *row, unsigned bits)
{
    uint64_t at = any() % bits;

    row[at / 64] ^= UINT64_C(1) << at % 64;
}

static inline void make_any(uint64_t *row, unsigned bits)
{
    size_t words = nd_hamming_words(bits);

    for (size_t w = 0; w < words; w++)
        row[w] = any();
    if (bits % 64)
        row[words - 1] &= ~UINT64_C(0) >> (64 - bits % 64);
}

/* Half of them equal or near to another one. */
static inline struct set make_set(size_t n, unsigned bits, unsigned distance, bool with_texts)
{
    struct set s = {.bits = bits, .distance = distance, .n = n, .words = nd_hamming_words(bits)};

    s.row = calloc((n + 1) * s.words, sizeof *s.row);
    s.id = malloc((n + 1) * sizeof *s.id);
    s.text = with_texts ? calloc(n + 1, sizeof *s.text) : NULL;
    assert_true(s.row && s.id && (s.text || !with_texts));
    for (size_t i = 0; i < n; i++) {
        uint64_t *row = s.row + i * s.words;

        if (i && any() % 2)
            memcpy(row, s.row + any() % i * s.words, s.words * sizeof *row);
        else
            make_any(row, bits);
        for (uint64_t flips = any() % 3 ? any() % (distance + 2) : 0; flips; flips--)
            flip(row, bits);
        s.id[i] = (uint32_t)any();
        if (with_texts && any() % 4) {
            s.text[i] = malloc(400);
            assert_non_null(s.text[i]);
            snprintf(
                s.text[i], 400, "id %u %.*s", (unsigned)any() % 1000, (int)(any() % 300),
                "...............................................................................");
        }
    }
    return s;
}

static inline void free_set(struct set *s)
{
    for (size_t i = 0; s->text && i < s->n; i++)
        free(s->text[i]);
    free(s->text);
    free(s->row);
    free(s->id);
}

/* Entries from `first` to before `end`. */
static inline struct nd_hamming_entries part_of(const struct set *s, size_t first, size_t end)
{
    return (struct nd_hamming_entries){s->row + first * s->words, end - first, s->id + first,
                                       s->text ? (const char *const *)s->text + first : NULL};
}

static inline unsigned distance_between(const uint64_t *a, const uint64_t *b, size_t words)
{
    unsigned distance = 0;

    for (size_t w = 0; w < words; w++)
        distance += (unsigned)__builtin_popcountll(a[w] ^ b[w]);
    return distance;
}

/* One answer as a line, to be sorted. */
static inline char *answer_line(const char *id, size_t len, unsigned distance)
{
    char *line = malloc(len + 16);

    assert_non_null(line);
    snprintf(line, len + 16, "%.*s %u", (int)len, id, distance);
    return line;
}

static inline int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline size_t slow_answers(const struct set *s, const uint64_t *query, unsigned distance,
                                  char **line)
{
    size_t found = 0;

    for (size_t i = 0; i < s->n; i++) {
        unsigned away = distance_between(s->row + i * s->words, query, s->words);
        char number[16];
        const char *id = s->text && s->text[i] ? s->text[i] : number;

        if (away > distance)
            continue;
        snprintf(number, sizeof number, "%u", s->id[i]);
        line[found++] = answer_line(id, strlen(id), away);
    }
    return found;
}

static inline size_t file_answers(const struct nd_hamming_file *file, const uint64_t *query,
                                  unsigned distance, char **line)
{
    struct nd_hamming_matches got = {.items = NULL};
    size_t count;

    assert_int_equal(nd_hamming_file_query(file, query, 1, distance, &got, NULL), ND_OK);
    for (size_t i = 0; i < got.count; i++) {
        char number[16];
        const char *id = number;
        size_t len = (size_t)snprintf(number, sizeof number, "%u", got.items[i].id);

        if (nd_hamming_file_has_texts(file))
            id = nd_hamming_file_text(file, got.items[i].id, number, &len);
        line[i] = answer_line(id, len, got.items[i].distance);
    }
    count = got.count;
    nd_hamming_matches_release(&got);
    return count;
}

/* Some queries, near to the set and not, give what a scan gives. */
static inline void check_answers(const struct nd_hamming_file *file, const struct set *s,
                                 unsigned distance, int queries)
{
    char **expected = malloc((s->n + 1) * sizeof *expected);
    char **got = malloc((s->n + 1) * sizeof *got);

    assert_true(expected && got);
    for (int q = 0; q < queries; q++) {
        uint64_t query[ND_HAMMING_WORDS_MAX];
        size_t n, found;

        make_any(query, s->bits);
        if (s->n && q % 4)
            memcpy(query, s->row + any() % s->n * s->words, s->words * sizeof *query);
        for (uint64_t flips = any() % (distance + 1); flips; flips--)
            flip(query, s->bits);
        n = slow_answers(s, query, distance, expected);
        found = file_answers(file, query, distance, got);
        assert_int_equal(found, n);
        qsort(expected, n, sizeof *expected, by_line);
        qsort(got, n, sizeof *got, by_line);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(got[i], expected[i]);
            free(got[i]);
            free(expected[i]);
        }
    }
    free(expected);
    free(got);
}

/* All entries, read back, are those of the set, in whatever order. */
static inline void check_entries(const struct nd_hamming_file *file, const struct set *s)
{
    uint64_t *row = calloc((s->n + 1) * s->words, sizeof *row), sum = 0;
    uint32_t *id = calloc(s->n + 1, sizeof *id);

    assert_true(row && id);
    assert_int_equal(nd_hamming_file_design(file)->problem.count, s->n);
    assert_int_equal(nd_hamming_file_entries(file, 0, s->n, row, id, NULL), ND_OK);
    for (size_t i = 0; i < s->n; i++) {
        char number[16];
        const char *text = number, *expected = number;
        size_t len = (size_t)snprintf(number, sizeof number, "%u", id[i]);

        if (nd_hamming_file_has_texts(file))
            text = nd_hamming_file_text(file, id[i], number, &len);
        sum += nd_mix64(nd_hash_bytes(row + i * s->words, s->words * 8) ^
                        nd_mix64(nd_hash_bytes(text, len)));
        snprintf(number, sizeof number, "%u", s->id[i]);
        expected = s->text && s->text[i] ? s->text[i] : number;
        sum -= nd_mix64(nd_hash_bytes(s->row + i * s->words, s->words * 8) ^
                        nd_mix64(nd_hash_bytes(expected, strlen(expected))));
    }
    assert_true(sum == 0);
    for (int i = 0; s->n && i < 20; i++) { /* and any part of them is that part */
        size_t first = any() % s->n, n = any() % (s->n - first) + 1;
        uint64_t *some = calloc(n * s->words, sizeof *some);

        assert_non_null(some);
        assert_int_equal(nd_hamming_file_entries(file, first, n, some, NULL, NULL), ND_OK);
        assert_memory_equal(some, row + first * s->words, n * s->words * sizeof *some);
        free(some);
    }
    free(row);
    free(id);
}

/* How many temporary files of writers stand in a folder. */
static inline size_t count_temporaries(const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *e;
    size_t n = 0;

    assert_non_null(directory);
    while ((e = readdir(directory)))
        n += strncmp(e->d_name, ".neardup-", 9) == 0;
    closedir(directory);
    return n;
}

static inline unsigned char *read_whole(const char *path, size_t *len)
{
    FILE *in = fopen(path, "rb");
    unsigned char *data;

    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    *len = (size_t)ftell(in);
    rewind(in);
    data = malloc(*len + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *len, in), *len);
    fclose(in);
    return data;
}

#endif
