/* generate_fingerprints.c - fingerprints and queries for bench/run hamming: uniform, or of texts
 *
 *     generate_fingerprints uniform COUNT QUERIES FINGERPRINTS-OUT QUERIES-OUT
 *     generate_fingerprints texts COUNT QUERIES FINGERPRINTS-OUT QUERIES-OUT TEXTS
 *
 * Both files are 64-bit words, little-endian; the same every time.
 *
 * uniform: every tenth is an earlier one with 1 to 3 bits wrong; half of the queries are random,
 * half are a stored one with 0 to 4 bits wrong.
 *
 * texts: TEXTS is UTF-8, its documents with a NUL behind each.  They are cut into passages of about
 * 1000 bytes at white space; a fingerprint is the simhash that neardup makes of a passage with some
 * edits: none for one in eight, else 1 to 8 words replaced, dropped, or exchanged with the next.
 * With more fingerprints than passages each passage comes many times.  The queries are more of the
 * same, which are not stored.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/sketch.h>
#include <neardup/text.h>

#include "base/hash.h"

enum { PASSAGE = 1000, PASSAGE_MOST = 1500, WORDS_MOST = PASSAGE_MOST, EDITS_MOST = 8 };

static uint64_t seed = 7;

static uint64_t any(uint64_t below)
{
    return nd_mix64(seed += UINT64_C(0x9E3779B97F4A7C15)) % below;
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "generate_fingerprints: %s\n", what);
    exit(2);
}

/* x with n different bits wrong. */
static uint64_t with_errors(uint64_t x, unsigned n)
{
    uint64_t errors = 0;

    while ((unsigned)__builtin_popcountll(errors) < n)
        errors |= UINT64_C(1) << any(64);
    return x ^ errors;
}

static uint64_t any_word(void)
{
    return any(UINT64_C(1) << 32) << 32 | any(UINT64_C(1) << 32);
}

static void make_uniform(uint64_t *row, size_t n, uint64_t *query, size_t n_queries)
{
    for (size_t i = 0; i < n; i++)
        row[i] = i % 10 == 9 ? with_errors(row[any(i)], 1 + (unsigned)any(3)) : any_word();
    for (size_t i = 0; i < n_queries; i++)
        query[i] = i % 2 ? with_errors(row[any(n)], (unsigned)any(5)) : any_word();
}

struct passage {
    const char *text;
    size_t len;
};

static struct passage *passage;
static size_t n_passages, capacity;

static void add_passage(const char *text, size_t len)
{
    if (n_passages == capacity) {
        capacity = capacity ? 2 * capacity : 1024;
        passage = realloc(passage, capacity * sizeof *passage);
        if (!passage)
            die("out of memory");
    }
    passage[n_passages++] = (struct passage){text, len};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Cut a document; what is shorter than half a passage at its end joins the one before or is left.
 */
static void cut(const char *text, size_t len)
{
    size_t start = 0;

    while (len - start >= PASSAGE / 2) {
        size_t end = start + PASSAGE, most = start + PASSAGE_MOST;

        if (len - start < PASSAGE + PASSAGE / 2)
            end = len;
        for (; end < len && end < most && !is_space(text[end]); end++)
            ;
        while (end < len && ((unsigned char)text[end] & 0xC0) == 0x80)
            end--; /* not within a character */
        add_passage(text + start, end - start);
        start = end;
    }
}

static char *read_texts(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    long size;
    char *text;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0)
        die("the texts cannot be read");
    rewind(file);
    *len = (size_t)size;
    text = malloc(*len + 1);
    if (!text || fread(text, 1, *len, file) != *len)
        die("the texts cannot be read");
    text[*len] = 0;
    fclose(file);
    return text;
}

static size_t split_words(const struct passage *p, struct passage *word)
{
    size_t n = 0, i = 0;

    while (i < p->len) {
        size_t start;

        for (; i < p->len && is_space(p->text[i]); i++)
            ;
        start = i;
        for (; i < p->len && !is_space(p->text[i]); i++)
            ;
        if (i > start)
            word[n++] = (struct passage){p->text + start, i - start};
    }
    return n;
}

/* A word of any passage, to put in place of another. */
static struct passage other_word(void)
{
    static struct passage word[WORDS_MOST];
    size_t n = split_words(&passage[any(n_passages)], word);

    return n ? word[any(n)] : (struct passage){"x", 1};
}

/* Some passage with some edits, in `out` of 16 * PASSAGE_MOST bytes; its length. */
static size_t edited(char *out)
{
    static struct passage word[WORDS_MOST];
    size_t n = split_words(&passage[any(n_passages)], word), len = 0;

    for (unsigned edits = any(8) ? 1 + (unsigned)any(EDITS_MOST) : 0; n > 2 && edits; edits--) {
        size_t at = any(n - 1);
        struct passage kept = word[at];

        switch (any(3)) {
        case 0: word[at] = other_word(); break;
        case 1: word[at].len = 0; break;
        default: word[at] = word[at + 1]; word[at + 1] = kept;
        }
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(out + len, word[i].text, word[i].len);
        len += word[i].len;
        out[len++] = ' ';
    }
    return len;
}

static void make_of_texts(uint64_t *row, size_t n, const char *path)
{
    static char out[(EDITS_MOST + 2) * 2 * PASSAGE_MOST];
    const struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
    size_t len;
    char *text = read_texts(path, &len);

    for (size_t start = 0; start < len; start += strlen(text + start) + 1)
        cut(text + start, strlen(text + start));
    if (!sketcher || !n_passages)
        die(sketcher ? "the texts have no passages" : "out of memory");
    for (size_t i = 0; i < n; i++) {
        struct nd_sketch sketch;

        if (nd_sketcher_run(sketcher, out, edited(out), ND_SKETCH_SIMHASH, &sketch) != ND_OK)
            die("out of memory");
        row[i] = sketch.simhash;
    }
    nd_sketcher_free(sketcher);
    free(passage);
    free(text);
}

static void write_file(const char *path, const uint64_t *row, size_t n)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(row, sizeof *row, n, file) != n || fclose(file))
        die("cannot write");
}

int main(int argc, char **argv)
{
    size_t n, n_queries;
    uint64_t *row;

    if (argc < 6)
        die("uniform|texts COUNT QUERIES FINGERPRINTS-OUT QUERIES-OUT [TEXTS]");
    n = strtoull(argv[2], NULL, 10);
    n_queries = strtoull(argv[3], NULL, 10);
    row = malloc((n + n_queries) * sizeof *row);
    if (!row || !n)
        die("out of memory");
    if (!strcmp(argv[1], "uniform"))
        make_uniform(row, n, row + n, n_queries);
    else if (!strcmp(argv[1], "texts") && argc == 7)
        make_of_texts(row, n + n_queries, argv[6]);
    else
        die("no such kind");
    write_file(argv[4], row, n);
    write_file(argv[5], row + n, n_queries);
    free(row);
    return 0;
}
