/* bench_signature.c - signatures from lists of features, in megabytes of their text a second
 *
 *     bench_signature [FILE]
 *
 * FILE is any UTF-8 text, gone through in documents of 4 KB; without one, words of random letters.
 * The features are made before: distinct terms weighted by their counts, or the shingles of three
 * terms, or their occurrences; so a whole sketch takes the time of the features on top.  The first
 * row is the default recipe's whole way, from text to 128 minima.
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
#include "simd/sketch/sketch_kernels.h"
#include "sketch/shingle_set.h"
#include "sketch/signer.h"

enum { MOST = 32 << 20, GENERATED = 8 << 20, DOCUMENT = 4096, ROUNDS = 5, W = 3 };

/* The lists that kinds are given. */
enum list { TERMS, SHINGLES, OCCURRENCES, LISTS };

struct document {
    size_t from, len;
    struct nd_features list[LISTS];
};

static char *text;
static size_t text_len, n_documents;
static struct document *document;
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

static void *allocate(size_t n, size_t size)
{
    void *p = calloc(n + 1, size);

    if (!p)
        exit(2);
    return p;
}

/* A df of the hash: of 2^20 documents, as many words of each frequency as Zipf's law has. */
static uint32_t df_of(const void *context, uint64_t hash)
{
    (void)context;
    return (uint32_t)((UINT64_C(1) << 20) / (1 + (hash & 0xFFFFF)));
}

static void set_list(struct nd_features *list, const uint64_t *hash, size_t n, bool with_df)
{
    struct nd_feature *feature = allocate(n, sizeof *feature);
    uint32_t *df = allocate(n, sizeof *df);

    for (size_t i = 0; i < n; i++) {
        feature[i] = (struct nd_feature){hash[i], (int32_t)(1 + hash[i] % ND_WEIGHT_ONE)};
        df[i] = df_of(NULL, hash[i]);
    }
    *list = (struct nd_features){
        .items = feature, .count = n, .df = with_df ? df : NULL, .n_tokens = n};
}

static void read_document(struct document *d, struct nd_tokeniser *t)
{
    static uint64_t token[DOCUMENT], shingle[DOCUMENT];
    struct nd_shingle_set set = {0};
    const uint64_t *hash;
    size_t n = 0, count;

    nd_tokeniser_start(t, text + d->from, d->len);
    while (nd_tokeniser_next(t, &hash, &count) == 1 && n + count <= DOCUMENT) {
        memcpy(token + n, hash, count * sizeof *token);
        n += count;
    }
    set_list(&d->list[OCCURRENCES], token, n, false);
    if (!nd_shingle_set_build(&set, token, n))
        exit(2);
    set_list(&d->list[TERMS], set.distinct, set.count, true);
    count = n < W ? 0 : n - W + 1;
    nd_sketch_kernels()->shingles(token, count, W, shingle);
    if (!nd_shingle_set_build(&set, shingle, count))
        exit(2);
    set_list(&d->list[SHINGLES], set.distinct, set.count, false);
    nd_shingle_set_release(&set);
}

static void read_documents(void)
{
    struct nd_tokeniser *t = nd_tokeniser_new();

    document = allocate(text_len / DOCUMENT + 1, sizeof *document);
    for (size_t at = 0; at + DOCUMENT + 4 < text_len; n_documents++) {
        struct document *d = document + n_documents;
        size_t end = at + DOCUMENT;

        while (((unsigned char)text[end] & 0xC0) == 0x80)
            end++;
        d->from = at;
        d->len = end - at;
        at = end;
        read_document(d, t);
    }
    nd_tokeniser_free(t);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run_default(void)
{
    const struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *s = nd_sketcher_new(&params, NULL);
    double start = seconds();

    for (size_t i = 0; i < n_documents; i++) {
        struct nd_sketch sketch;

        if (nd_sketcher_run(s, text + document[i].from, document[i].len, ND_SKETCH_MINHASH,
                            &sketch) != ND_OK)
            exit(2);
        sink += sketch.minhash[0];
    }
    nd_sketcher_free(s);
    return seconds() - start;
}

static double run(const struct nd_signature_params *params, enum list list)
{
    const struct nd_df_source df = {1 << 20, df_of, NULL};
    struct nd_signer *s = nd_signer_new_from(params, &df, NULL);
    double start = seconds(), took;

    if (!s)
        return 0;
    for (size_t i = 0; i < n_documents; i++) {
        struct nd_signature out;

        if (nd_signer_run(s, &document[i].list[list], &out) != ND_OK)
            exit(2);
        sink += out.count ? out.word[0] : 0;
    }
    took = seconds() - start;
    nd_signer_free(s);
    return took;
}

/* A measurement: a kind, its list, and what is not as by default. */
struct measure {
    const char *name;
    enum nd_signature_kind kind;
    enum list list;
    unsigned bits, minima, window, lexicons;
    enum nd_hash_function hash;
};

static const struct measure measures[] = {
    {"simhash 64, weighted terms", ND_SIGNATURE_SIMHASH, TERMS, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"simhash 64, lookup8", ND_SIGNATURE_SIMHASH, TERMS, 64, 84, 4, 0, ND_HASH_LOOKUP8},
    {"simhash 64, rabin", ND_SIGNATURE_SIMHASH, TERMS, 64, 84, 4, 0, ND_HASH_RABIN},
    {"simhash 64, sha1", ND_SIGNATURE_SIMHASH, TERMS, 64, 84, 4, 0, ND_HASH_SHA1},
    {"simhash 384, weighted terms", ND_SIGNATURE_SIMHASH, TERMS, 384, 84, 4, 0, ND_HASH_TOKEN},
    {"min-hash 84", ND_SIGNATURE_MINHASH, SHINGLES, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"min-hash 256", ND_SIGNATURE_MINHASH, SHINGLES, 64, 256, 4, 0, ND_HASH_TOKEN},
    {"bottom-k 128", ND_SIGNATURE_BOTTOM_K, SHINGLES, 64, 128, 4, 0, ND_HASH_TOKEN},
    {"mod-25", ND_SIGNATURE_MOD_P, SHINGLES, 40, 84, 4, 0, ND_HASH_TOKEN},
    {"winnowing, w = 4", ND_SIGNATURE_WINNOWING, OCCURRENCES, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"winnowing, w = 100", ND_SIGNATURE_WINNOWING, OCCURRENCES, 64, 84, 100, 0, ND_HASH_TOKEN},
    {"super-shingles, 6 of 84", ND_SIGNATURE_SUPERSHINGLES, SHINGLES, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"super-shingles, rabin", ND_SIGNATURE_SUPERSHINGLES, SHINGLES, 64, 84, 4, 0, ND_HASH_RABIN},
    {"sorted shingles", ND_SIGNATURE_SORTED_SHINGLES, SHINGLES, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"mega-shingles", ND_SIGNATURE_MEGASHINGLES, SHINGLES, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"I-Match", ND_SIGNATURE_IMATCH, TERMS, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"I-Match, sha1", ND_SIGNATURE_IMATCH, TERMS, 64, 84, 4, 0, ND_HASH_SHA1},
    {"I-Match, 10 lexicons", ND_SIGNATURE_IMATCH, TERMS, 64, 84, 4, 10, ND_HASH_TOKEN},
    {"I-Match, 10 lexicons, sha1", ND_SIGNATURE_IMATCH, TERMS, 64, 84, 4, 10, ND_HASH_SHA1},
    {"checksums, 6 buckets", ND_SIGNATURE_CHECKSUMS, TERMS, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"text profile", ND_SIGNATURE_PROFILE, OCCURRENCES, 64, 84, 4, 0, ND_HASH_TOKEN},
    {"features", ND_SIGNATURE_FEATURES, TERMS, 64, 84, 4, 0, ND_HASH_TOKEN},
};

static void report(const char *cpu, const char *source, const char *what, size_t bytes, size_t n,
                   double took)
{
    printf("{\"bench\":\"signature\",\"cpu\":\"%s\",\"text\":\"%s\",\"what\":\"%s\","
           "\"mb_per_s\":%.0f,\"ns_per_feature\":%.2f}\n",
           cpu, source, what, 1e-6 * (double)bytes / took, 1e9 * took / (double)n);
    fflush(stdout);
}

static void measure_all(const char *cpu, const char *source)
{
    double best[sizeof measures / sizeof *measures + 1], took;
    size_t bytes = 0, n[LISTS] = {0}, kinds = sizeof measures / sizeof *measures;

    for (size_t i = 0; i < n_documents; i++) {
        bytes += document[i].len;
        for (int list = 0; list < LISTS; list++)
            n[list] += document[i].list[list].count;
    }
    for (int round = 0; round < ROUNDS; round++) /* in turn, so that all see the same machine */
        for (size_t k = 0; k <= kinds; k++) {
            struct nd_signature_params p = nd_signature_params_default();
            const struct measure *m = measures + k - (k == kinds);

            p.kind = m->kind;
            p.bits = m->bits;
            p.minima = m->minima;
            p.window = m->window;
            p.lexicons = m->lexicons;
            p.hash = m->hash;
            took = k == kinds ? run_default() : run(&p, m->list);
            if (round == 0 || took < best[k])
                best[k] = took;
        }
    report(cpu, source, "default: text to 128 minima", bytes, n[SHINGLES], best[kinds]);
    for (size_t k = 0; k < kinds; k++)
        if (best[k] > 0)
            report(cpu, source, measures[k].name, bytes, n[measures[k].list], best[k]);
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
    read_documents();
    for (int i = 0; i < 3; i++)
        if (nd_cpu_force(cpu[i], NULL) == ND_OK)
            measure_all(cpu[i], argc > 1 ? "file" : "random words");
    for (size_t i = 0; i < n_documents; i++)
        for (int list = 0; list < LISTS; list++)
            free((void *)(uintptr_t)document[i].list[list].items);
    free(document);
    free(text);
    return 0;
}
