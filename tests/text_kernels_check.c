/* text_kernels_check.c - every text kernel that this processor can run gives what the scalar one
 * gives
 *
 * A program of its own, without a test library, so that a cross build can run it too.  Exits 1 at
 * the first difference.
 */
#include "simd/text/text_kernels.h"
#include "simd/text/token_hash.h"

#include "base/hash.h"

#include <neardup/cpu.h>
#include <neardup/text.h>

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;
static uint64_t rnd(void)
{
    return nd_mix64(state += UINT64_C(0x9E3779B97F4A7C15));
}

static void require(int holds, const char *what, const struct nd_text_kernels *kernels, size_t len)
{
    if (holds)
        return;
    printf("%s: %s: wrong for %zu bytes\n", kernels->name, what, len);
    exit(1);
}

/* The kernels that this processor can run; NULL ends the list. */
static const struct nd_text_kernels *runnable[4];

static void find_runnable(void)
{
    size_t n = 0;

#if defined(__x86_64__)
    if (nd_cpu_force("avx2", NULL) == ND_OK)
        runnable[n++] = &nd_text_kernels_avx2;
    if (nd_cpu_force("avx512", NULL) == ND_OK) {
        runnable[n++] = &nd_text_kernels_avx512;
        if (nd_isa_has_vbmi2())
            runnable[n++] = &nd_text_kernels_vbmi2;
    }
#elif defined(__aarch64__)
    runnable[n++] = &nd_text_kernels_neon;
#endif
    for (size_t i = 0; i < n; i++)
        printf("kernels: %s\n", runnable[i]->name);
}

enum { LONGEST = 130, ALIGNMENTS = 64, ROUNDS = 8 };

/* Entries of all kinds, as no language has them. */
static uint32_t pairs[0x800], entries[64 * 64];
static uint16_t blocks[0x400 + 1];
static const struct nd_fold_tables tables = {pairs, blocks, entries};

static void make_tables(void)
{
    for (size_t c = 0; c < 0x800; c++) {
        uint64_t r = rnd();

        pairs[c] = (uint32_t)(r & 0xFFFF) | ((r >> 20) % 5 ? 0 : ND_PAIR_SEPARATOR);
        if (c < 0x80 || (r >> 30) % 23 == 0)
            pairs[c] = ND_PAIR_HARD;
    }
    for (size_t i = 0; i < 0x400; i++)
        blocks[i] = (uint16_t)(rnd() % 64);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        uint64_t r = rnd(), shift = (r >> 8) % 3 ? 0 : (uint32_t)(r >> 20) >> (r >> 12) % 20;

        entries[i] = (uint32_t)(r & 1) | (uint32_t)(r & 0xFF0) | (uint32_t)(shift << 12);
        if ((r >> 40) % 23 == 0)
            entries[i] = r >> 63 ? (entries[i] & ~1u) | ND_FOLD_BIGRAM
                                 : entries[i] | (uint32_t)(r >> 50 & 3) << 2;
    }
}

/* Bytes of a kind that depends on the round: letters, ASCII, mostly zero, UTF-8 with more or less
 * that is not ASCII, cut at the end. */
static void fill(uint8_t *p, size_t len, int round)
{
    for (size_t i = 0; i < len; i++) {
        uint64_t r = rnd();

        p[i] = (uint8_t)(r & 127);
        switch (round % 5) {
        case 0: p[i] = (uint8_t)("aZ z09_@[`{/:~\x7F"[r % 15]); break;
        case 1: break;
        case 2: p[i] = (r >> 8) % 3 ? p[i] : 0; break;
        default:
            if ((r >> 8) % 30 < (round % 5 == 3 ? 28 : 9)) /* so much is ASCII */
                break;
            p[i] = (uint8_t)((r >> 8) % 150 == 1  ? 0xF1
                             : (r >> 40) % 3 == 0 ? 0xE0 + (r >> 50) % 16
                                                  : 0xC2 + (r >> 20) % 30);
            for (int more = p[i] < 0xE0 ? 1 : p[i] < 0xF0 ? 2 : 3; more > 0 && i + 1 < len; more--)
                p[++i] = (uint8_t)(0x80 + (r >> (30 + more * 6) & 63));
        }
    }
}

/*
 * The input is an allocation of its exact size, so that the sanitisers see a read beyond it; what
 * is written beyond must stay within the slack.
 */
static void check_folds(const struct nd_text_kernels *kernels, const uint8_t *in, size_t len)
{
    const struct nd_text_kernels *scalar = &nd_text_kernels_scalar;
    uint8_t want[LONGEST + ND_FOLD_SLACK], got[LONGEST + ND_FOLD_SLACK + 1];
    size_t n = scalar->fold_words(in, len, want, &tables);

    got[n + ND_FOLD_SLACK] = 0xA5;
    require(kernels->fold_words(in, len, got, &tables) == n && memcmp(got, want, n) == 0 &&
                got[n + ND_FOLD_SLACK] == 0xA5,
            "fold_words", kernels, len);
    n = scalar->fold_text(in, len, want, &tables);
    got[n + ND_FOLD_SLACK] = 0xA5;
    require(kernels->fold_text(in, len, got, &tables) == n && memcmp(got, want, n) == 0 &&
                got[n + ND_FOLD_SLACK] == 0xA5,
            "fold_text", kernels, len);
}

static void folds_equal_the_definition(void)
{
    make_tables();
    for (size_t k = 0; runnable[k]; k++)
        for (size_t len = 0; len <= LONGEST; len++)
            for (size_t align = 0; align < ALIGNMENTS; align++)
                for (int round = 0; round < ROUNDS; round++) {
                    uint8_t *in = malloc(align + len ? align + len : 1);

                    fill(in + align, len, round);
                    check_folds(runnable[k], in + align, len);
                    free(in);
                }
}

static void edges_equal_the_definition(void)
{
    static uint16_t want[ND_EDGES_MAX + ND_EDGES_SLACK], got[ND_EDGES_MAX + ND_EDGES_SLACK + 1];

    for (size_t k = 0; runnable[k]; k++)
        for (size_t len = 1; len <= LONGEST; len++)
            for (size_t align = 0; align < ALIGNMENTS; align++)
                for (int round = 0; round < ROUNDS; round++) {
                    uint8_t *in = malloc(align + len);
                    size_t n;

                    fill(in + align, len, round);
                    in[align + len - 1] = 0;
                    n = nd_text_kernels_scalar.edges(in + align, len, want);
                    got[n + ND_EDGES_SLACK] = 0xA5A5;
                    require(n % 2 == 0 && runnable[k]->edges(in + align, len, got) == n &&
                                memcmp(got, want, n * sizeof *want) == 0 &&
                                got[n + ND_EDGES_SLACK] == 0xA5A5,
                            "edges", runnable[k], len);
                    free(in);
                }
}

static void edges_of_the_longest_stream_are_found(void)
{
    static uint16_t want[ND_EDGES_MAX + ND_EDGES_SLACK], got[ND_EDGES_MAX + ND_EDGES_SLACK];
    static uint8_t in[ND_EDGES_MAX];

    for (size_t i = 0; i < sizeof in; i++)
        in[i] = i % 2 == 0 ? 'x' : 0;
    for (size_t k = 0; runnable[k]; k++) {
        require(nd_text_kernels_scalar.edges(in, sizeof in, want) == ND_EDGES_MAX &&
                    runnable[k]->edges(in, sizeof in, got) == ND_EDGES_MAX &&
                    memcmp(got, want, sizeof in * 2) == 0,
                "edges", runnable[k], sizeof in);
    }
}

/* Tokens of all lengths up to 40, with what stands around them. */
static void hashes_equal_the_definition(void)
{
    static uint8_t stream[4096 + ND_TOKEN_HASH_SHORT];
    static uint16_t edge[4096];
    static uint64_t want[2048], got[2048 + 1];

    for (size_t k = 0; runnable[k]; k++)
        for (int round = 0; round < 500; round++) {
            size_t count = 0, at = 0, most = rnd() % 300;

            for (size_t i = 0; i < sizeof stream; i++)
                stream[i] = (uint8_t)rnd();
            while (count < most && at + 60 < 4096) {
                at += rnd() % 4;
                edge[2 * count] = (uint16_t)at;
                at += 1 + rnd() % (round % 2 ? 40 : 16);
                edge[2 * count++ + 1] = (uint16_t)at;
            }
            nd_text_kernels_scalar.hash(stream, edge, count, want);
            for (size_t i = 0; i < count; i++)
                require(want[i] == nd_token_hash((const char *)stream + edge[2 * i],
                                                 (size_t)(edge[2 * i + 1] - edge[2 * i])),
                        "hash", &nd_text_kernels_scalar, count);
            got[count] = 1;
            runnable[k]->hash(stream, edge, count, got);
            require(memcmp(got, want, count * sizeof *want) == 0 && got[count] == 1, "hash",
                    runnable[k], count);
        }
}

/* UTF-8 of random code points, one byte of which may be changed, at every length and alignment. */
static void validity_equals_the_definition(void)
{
    static const uint8_t hot[] = {0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2,
                                  0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
    size_t n_valid = 0, n_bad = 0;

    for (size_t k = 0; runnable[k]; k++)
        for (size_t len = 0; len <= LONGEST; len++)
            for (int round = 0; round < 512; round++) {
                uint8_t *in = malloc(len ? len : 1);
                bool want;

                for (size_t i = 0; i < len; i++)
                    in[i] = 0x61;
                for (size_t i = 0; i + 4 <= len; i += 1 + rnd() % 7) {
                    static const char *const sample[] = {"é",   "߿", "ࠀ", "日",
                                                         "퟿", "",   "𐀀", "\xF4\x8F\xBF\xBF"};
                    const char *s = sample[rnd() % 8];

                    memcpy(in + i, s, strlen(s));
                    i += strlen(s);
                }
                if (len && round % 2)
                    in[rnd() % len] = hot[rnd() % sizeof hot];
                want = nd_text_kernels_scalar.valid(in, len);
                n_valid += want;
                n_bad += !want;
                require(runnable[k]->valid(in, len) == want, "valid", runnable[k], len);
                free(in);
            }
    require(!runnable[0] || (n_valid > 10000 && n_bad > 10000), "too few cases",
            &nd_text_kernels_scalar, 0);
}

int main(void)
{
    find_runnable();
    folds_equal_the_definition();
    edges_equal_the_definition();
    edges_of_the_longest_stream_are_found();
    hashes_equal_the_definition();
    validity_equals_the_definition();
    return 0;
}
