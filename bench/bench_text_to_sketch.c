/* bench_text_to_sketch.c - gigabytes of text a second to shingles, simhash and minima
 *
 *     bench_text_to_sketch [FILE]
 *
 * FILE is any UTF-8 text, gone through in documents of 1 and 4 KB; without one, words of random
 * letters.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup/cpu.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

#include "base/hash.h"

enum { MOST = 32 << 20, GENERATED = 16 << 20, ROUNDS = 5 };

enum stage { TOKENS, SHINGLES, SIMHASH, MINIMA, BOTH, STAGES };
static const char *const stage_name[STAGES] = {
    "text to token hashes", "text to distinct shingles and identity", "text to simhash",
    "text to 128 minima", "text to simhash and 128 minima"};
static const unsigned stage_parts[STAGES] = {0, 0, ND_SKETCH_SIMHASH, ND_SKETCH_MINHASH,
                                             ND_SKETCH_ALL};

static char *text;
static size_t text_len;
static volatile uint64_t sink;

static void generate(void)
{
    uint64_t number = 0;

    while (text_len < GENERATED) {
        /* One of 16,384 words, the first ones more often; 1 to 9 letters. */
        uint64_t x = nd_mix64(++number), word = (x & 0x3FFF) >> (x >> 14 & 7);
        uint64_t letters = nd_mix64(~word);
        size_t len = 1 + (size_t)(letters >> 60) % 9;

        for (size_t i = 0; i < len; i++, letters /= 26)
            text[text_len++] = (char)('a' + letters % 26);
        text[text_len++] = x >> 20 & 7 ? ' ' : '\n';
    }
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *repaired;
    int64_t n;

    if (!file) {
        perror(path);
        exit(2);
    }
    text_len = fread(text, 1, MOST, file);
    fclose(file);
    n = nd_utf8_repair(text, text_len, &repaired, &text_len);
    if (n < 0)
        exit(2);
    if (n > 0)
        text = repaired;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The end of a document of about n bytes: not within a character. */
static size_t document_end(size_t start, size_t n)
{
    size_t end = text_len - start < n ? text_len : start + n;

    while (end < text_len && ((unsigned char)text[end] & 0xC0) == 0x80)
        end++;
    return end;
}

static uint64_t count_tokens(struct nd_tokeniser *t, const char *from, size_t len)
{
    const uint64_t *hash;
    size_t count;
    uint64_t n = 0;

    nd_tokeniser_start(t, from, len);
    while (nd_tokeniser_next(t, &hash, &count) == 1)
        n += count;
    return n;
}

/* Seconds for the whole text; *tokens counts. */
static double run(enum stage stage, size_t document, uint64_t *tokens)
{
    const struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
    struct nd_tokeniser *tokeniser = nd_tokeniser_new();
    double start = seconds(), took;

    *tokens = 0;
    for (size_t at = 0, end; at < text_len; at = end) {
        struct nd_sketch sketch;

        end = document_end(at, document);
        if (stage == TOKENS) {
            *tokens += count_tokens(tokeniser, text + at, end - at);
            continue;
        }
        if (nd_sketcher_run(sketcher, text + at, end - at, stage_parts[stage], &sketch) != ND_OK)
            exit(2);
        *tokens += sketch.n_tokens;
        sink += sketch.simhash + sketch.minhash[0];
    }
    took = seconds() - start;
    nd_sketcher_free(sketcher);
    nd_tokeniser_free(tokeniser);
    return took;
}

static void measure(const char *cpu, const char *source, size_t document)
{
    for (int stage = 0; stage < STAGES; stage++) {
        double best = 1e9, took;
        uint64_t tokens = 0;

        for (int round = 0; round < ROUNDS; round++)
            if ((took = run((enum stage)stage, document, &tokens)) < best)
                best = took;
        printf(
            "{\"bench\":\"text_to_sketch\",\"cpu\":\"%s\",\"text\":\"%s\",\"document_bytes\":%zu,"
            "\"what\":\"%s\",\"gb_per_s\":%.3f,\"ns_per_token\":%.2f}\n",
            cpu, source, document, stage_name[stage], 1e-9 * (double)text_len / best,
            1e9 * best / (double)tokens);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    static const char *const cpu[] = {"avx2", "avx512", "neon"};

    text = calloc(1, MOST + 64);
    if (!text)
        return 2;
    if (argc > 1)
        load(argv[1]);
    else
        generate();
    for (int i = 0; i < 3; i++) {
        if (nd_cpu_force(cpu[i], NULL) != ND_OK)
            continue;
        measure(cpu[i], argc > 1 ? "file" : "random words", 1024);
        measure(cpu[i], argc > 1 ? "file" : "random words", 4096);
    }
    free(text);
    return 0;
}
