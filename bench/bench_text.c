/* bench_text.c - MB/s of each stage from bytes to token hashes */

/*
 * usage: bench_text [TEXT…]
 *
 * Each file (at most 16 MB of it; without files, made-up English, Russian and Japanese) is cut into
 * documents of 900 bytes and of 64 KB, which go through each stage alone and through the whole
 * tokeniser.  One line of JSON for each text, set of kernels, document size and stage: the best of
 * ROUNDS.  Stages are cumulative but for the first and the last.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/fold.h"

#include <neardup/cpu.h>
#include <neardup/text.h>

enum { MOST = 1 << 24, ROUNDS = 5 };

struct text {
    const char *name;
    char *data;
    size_t len;
};

static struct nd_folder folder;
static struct nd_tokeniser *tokeniser;

/* One document through a stage; a number that depends on all of the work. */
static uint64_t validate(const char *text, size_t len)
{
    return (uint64_t)nd_utf8_valid(text, len);
}

static uint64_t fold(const char *text, size_t len)
{
    uint64_t sum = 0;

    nd_folder_start(&folder, text, len);
    while (!nd_folder_at_end(&folder)) {
        if (!nd_folder_words(&folder, ND_FOLDER_WINDOW))
            abort();
        sum += folder.mark;
        nd_folder_drop(&folder, nd_folder_at_end(&folder) ? folder.len : folder.mark);
    }
    return sum;
}

/* Fold, then find the edges of each window, then (hash) the hash of each token. */
static uint64_t edges(const char *text, size_t len, int hash)
{
    static uint16_t edge[ND_EDGES_MAX + ND_EDGES_SLACK];
    static uint64_t token[ND_EDGES_MAX / 2];
    uint64_t sum = 0;

    nd_folder_start(&folder, text, len);
    while (!nd_folder_at_end(&folder)) {
        size_t n, n_edges;

        if (!nd_folder_words(&folder, ND_FOLDER_WINDOW))
            abort();
        n = nd_folder_at_end(&folder) ? folder.len : folder.mark;
        folder.buffer[n] = 0; /* near enough: a word at the border of a window is cut */
        n_edges = folder.kernels->edges(folder.buffer, n + 1, edge);
        sum += n_edges;
        if (hash) {
            folder.kernels->hash(folder.buffer, edge, n_edges / 2, token);
            sum += token[n_edges / 4];
        }
        nd_folder_drop(&folder, n);
    }
    return sum;
}

static uint64_t find_edges(const char *text, size_t len)
{
    return edges(text, len, 0);
}

static uint64_t hash_tokens(const char *text, size_t len)
{
    return edges(text, len, 1);
}

static uint64_t tokenise(const char *text, size_t len)
{
    const uint64_t *hash;
    uint64_t sum = 0;
    size_t n;

    nd_tokeniser_start(tokeniser, text, len);
    while (nd_tokeniser_next(tokeniser, &hash, &n) == 1)
        sum += n;
    return sum;
}

static uint64_t length(const char *text, size_t len)
{
    return (uint64_t)nd_text_length(text, len);
}

static const struct stage {
    const char *name;
    uint64_t (*run)(const char *text, size_t len);
} stages[] = {
    {"valid UTF-8", validate},   {"fold", fold},
    {"fold, edges", find_edges}, {"fold, edges, token hash", hash_tokens},
    {"tokeniser", tokenise},     {"length of the normalised text", length},
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The end of a document that begins at `from`: before a character. */
static size_t document_end(const struct text *text, size_t from, size_t size)
{
    size_t end = text->len - from < size ? text->len : from + size;

    while (end < text->len && (text->data[end] & 0xC0) == 0x80)
        end--;
    return end;
}

static void measure(const struct text *text, const char *cpu, const struct stage *stage,
                    size_t size)
{
    double best = 1e9;
    uint64_t sum = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds();

        sum = 0;
        for (size_t at = 0, end; at < text->len; at = end) {
            end = document_end(text, at, size);
            sum += stage->run(text->data + at, end - at);
        }
        if (seconds() - start < best)
            best = seconds() - start;
    }
    printf("{\"bench\":\"text\",\"cpu\":\"%s\",\"text\":\"%s\",\"document_bytes\":%zu,"
           "\"what\":\"%s\",\"sum\":%llu,\"mb_per_s\":%.1f}\n",
           cpu, text->name, size, stage->name, (unsigned long long)sum,
           1e-6 * (double)text->len / best);
    fflush(stdout);
}

static void measure_all(const struct text *text)
{
    static const char *const cpu[] = {"scalar", "avx2", "avx512", "neon"};
    static const size_t size[] = {900, 65536};

    for (size_t c = 0; c < sizeof cpu / sizeof *cpu; c++) {
        if (nd_cpu_force(cpu[c], NULL) != ND_OK)
            continue;
        for (size_t d = 0; d < sizeof size / sizeof *size; d++)
            for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
                measure(text, cpu[c], &stages[s], size[d]);
    }
}

static int read_text(struct text *text, const char *path)
{
    FILE *file = fopen(path, "rb");
    char *repaired;

    if (!file)
        return -1;
    text->data = malloc(MOST);
    text->len = text->data ? fread(text->data, 1, MOST, file) : 0;
    text->name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    fclose(file);
    if (nd_utf8_repair(text->data, text->len, &repaired, &text->len) > 0) {
        free(text->data);
        text->data = repaired;
    }
    return text->len ? 0 : -1;
}

/* Sentences of random words out of a few letters, first letters upper case now and then. */
static int make_text(struct text *text, const char *name, const char *const *letter, size_t n,
                     int spaces)
{
    uint32_t random = 1;

    *text = (struct text){.name = name, .data = malloc(MOST)};
    while (text->data && text->len < MOST / 4) {
        const char *s;

        random = random * 1664525 + 1013904223;
        s = random >> 28 < 3 && spaces ? " "
            : random >> 22 & 63        ? letter[(random >> 12) % n]
                                       : ". ";
        memcpy(text->data + text->len, s, strlen(s));
        text->len += strlen(s);
    }
    return text->data ? 0 : -1;
}

static int measure_made_up(void)
{
    static const char *const english[] = {"e", "t", "a", "o", "i", "n", "s", "r", "h", "W"};
    static const char *const russian[] = {"о", "е", "а", "и", "н", "т", "с", "р", "в", "Л"};
    static const char *const japanese[] = {"の", "に", "は", "を", "日", "本", "語", "ー", "ン"};
    struct text text;

    if (make_text(&text, "made-up English", english, 10, 1) != 0)
        return 2;
    measure_all(&text);
    free(text.data);
    if (make_text(&text, "made-up Russian", russian, 10, 1) != 0)
        return 2;
    measure_all(&text);
    free(text.data);
    if (make_text(&text, "made-up Japanese", japanese, 9, 0) != 0)
        return 2;
    measure_all(&text);
    free(text.data);
    return 0;
}

int main(int argc, char **argv)
{
    tokeniser = nd_tokeniser_new();
    if (!tokeniser || !nd_folder_init(&folder))
        return 2;
    if (argc < 2)
        return measure_made_up();
    for (int i = 1; i < argc; i++) {
        struct text text = {0};

        if (read_text(&text, argv[i]) != 0) {
            fprintf(stderr, "bench_text: %s: cannot be read\n", argv[i]);
            return 2;
        }
        measure_all(&text);
        free(text.data);
    }
    nd_folder_release(&folder);
    nd_tokeniser_free(tokeniser);
    return 0;
}
