/* bench_features.c - megabytes of text a second to weighted features
 *
 *     bench_features [FILE [DOCUMENT_BYTES [WHAT]]]
 *
 * FILE is any UTF-8 text, gone through in documents of about so many bytes (2000), cut at line
 * ends; without one, words of random letters.  Document frequencies are those of the text itself.
 * WHAT stands in the names of those that are measured.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <neardup/cpu.h>
#include <neardup/df.h>
#include <neardup/feature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>

#include "base/hash.h"

enum { MOST = 32 << 20, GENERATED = 16 << 20, ROUNDS = 12, DOCUMENT = 2000 };

static char *text;
static size_t text_len, document_bytes = DOCUMENT;
static const char *wanted = "";
static volatile uint64_t sink;

static void die(const char *what)
{
    fprintf(stderr, "bench_features: %s\n", what);
    exit(2);
}

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

    if (!file)
        die("the file cannot be opened");
    text_len = fread(text, 1, MOST, file);
    fclose(file);
    n = nd_utf8_repair(text, text_len, &repaired, &text_len);
    if (n < 0)
        die("out of memory");
    if (n > 0)
        text = repaired;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t document_end(size_t start)
{
    size_t end = text_len - start < document_bytes ? text_len : start + document_bytes;

    while (end < text_len && text[end - 1] != '\n')
        end++;
    return end;
}

/*
 * Make the features of every document; give them to the builder, if there is one. Return how many
 * there were.
 */
static uint64_t run(struct nd_featurer *f, struct nd_df_builder *b)
{
    uint64_t count = 0, *hash = b ? malloc((size_t)MOST * sizeof *hash) : NULL;

    for (size_t at = 0, end; at < text_len; at = end) {
        struct nd_markup markup = {0};
        struct nd_document document = {0};
        struct nd_features made;

        end = document_end(at);
        document.text = (struct nd_view){text + at, end - at};
        markup.len = (end - at) / 8;
        document.markup = &markup;
        document.n_markup = 1;
        if (nd_featurer_run(f, &document, &made) != ND_OK)
            die("out of memory");
        count += made.count;
        for (size_t i = 0; hash && i < made.count; i++)
            hash[i] = made.items[i].hash;
        if (hash && nd_df_builder_add(b, hash, made.count, NULL, NULL) != ND_OK)
            die("a df table cannot be built");
        sink += made.count ? made.items[0].hash : 0;
    }
    free(hash);
    return count;
}

static struct nd_featurer *featurer(const struct nd_feature_params *p,
                                    const struct nd_weight_params *w, const struct nd_df *df)
{
    struct nd_error err;
    struct nd_featurer *f = nd_featurer_new(p, w, df, &err);

    if (!f && err.status == ND_EUNSUPPORTED)
        return NULL;
    if (!f)
        die(err.message);
    return f;
}

/* The df table of the text for these features. */
static struct nd_df *table_of(const struct nd_feature_params *p)
{
    struct nd_feature_params counted = nd_df_counted(p);
    struct nd_weight_params plain = nd_weight_params_default();
    struct nd_df_builder_params params = {.features = p};
    struct nd_df_builder *b = nd_df_builder_new(&params, NULL);
    struct nd_featurer *f = featurer(&counted, &plain, NULL);
    char path[] = "/tmp/bench_features-XXXXXX";
    int fd = mkstemp(path);
    struct nd_df *df;

    if (!b || fd < 0)
        die("a df table cannot be built");
    run(f, b);
    if (nd_df_builder_write(&b, 1, path, NULL) != ND_OK || !(df = nd_df_open(path, NULL)))
        die("a df table cannot be written");
    close(fd);
    unlink(path);
    nd_df_builder_free(b);
    nd_featurer_free(f);
    return df;
}

static void say(const char *what, double best, uint64_t features)
{
    printf("{\"bench\":\"features\",\"cpu\":\"%s\",\"document_bytes\":%zu,\"what\":\"%s\","
           "\"mb_per_s\":%.0f,\"features\":%llu}\n",
           nd_cpu_name(), document_bytes, what, 1e-6 * (double)text_len / best,
           (unsigned long long)features);
    fflush(stdout);
}

static void measure(const char *what, const struct nd_feature_params *p,
                    const struct nd_weight_params *w, const struct nd_df *df)
{
    struct nd_featurer *f = strstr(what, wanted) ? featurer(p, w, df) : NULL;
    double best = 1e9;
    uint64_t count = 0;

    for (int round = 0; f && round < ROUNDS; round++) {
        double start = seconds(), took;

        count = run(f, NULL);
        took = seconds() - start;
        best = took < best ? took : best;
    }
    if (f)
        say(what, best, count);
    nd_featurer_free(f);
}

/* The default recipe's sketch, to compare with. */
static void measure_default(void)
{
    struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *s = nd_sketcher_new(&params, NULL);
    double best = 1e9;
    uint64_t count = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double start = seconds(), took;

        count = 0;
        for (size_t at = 0, end; at < text_len; at = end) {
            struct nd_sketch sketch;

            end = document_end(at);
            if (nd_sketcher_run(s, text + at, end - at, ND_SKETCH_MINHASH, &sketch) != ND_OK)
                die("out of memory");
            count += sketch.n_shingles;
        }
        took = seconds() - start;
        best = took < best ? took : best;
    }
    say("the default recipe: 3-shingles and 128 minima", best, count);
    nd_sketcher_free(s);
}

static void measure_terms(void)
{
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_weight_params plain = nd_weight_params_default(), w = plain;
    struct nd_df *df;

    measure("terms", &p, &plain, NULL);
    df = table_of(&p);
    w.idf = ND_IDF_LOG;
    measure("terms, tf idf", &p, &w, df);
    w.position = ND_POSITION_LOG;
    measure("terms, tf idf, position", &p, &w, df);
    w.position = ND_POSITION_NONE;
    w.markup = ND_MARKUP_MULTIPLY;
    measure("terms, tf idf, markup", &p, &w, df);
    w.markup = ND_MARKUP_IGNORE;
    p.join_apostrophes = 1;
    strcpy(p.stop_words, "english");
    measure("terms, apostrophes, stop words", &p, &plain, NULL);
    p.strip = ND_STRIP_DATES;
    measure("terms, apostrophes, stop words, dates", &p, &plain, NULL);
    p = nd_feature_params_default();
    p.least_length = 4;
    p.most_digits = 1;
    measure("Kolcz words, tf idf", &p, &w, df);
    nd_df_close(df);
    p = nd_feature_params_default();
    strcpy(p.stem, "english");
    df = table_of(&p);
    measure("stems, tf idf", &p, &w, df);
    nd_df_close(df);
    p = nd_feature_params_default();
    p.phrases = 2;
    df = table_of(&p);
    measure("terms and phrases, tf idf", &p, &w, df);
    nd_df_close(df);
}

static void measure_units(void)
{
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_weight_params plain = nd_weight_params_default(), w = plain;
    struct nd_df *df;

    p.unit = ND_FEATURE_SHINGLES;
    measure("3-shingles", &p, &plain, NULL);
    df = table_of(&p);
    w.idf = ND_IDF_LOG;
    measure("3-shingles, tf idf", &p, &w, df);
    nd_df_close(df);
    strcpy(p.stop_words, "english");
    measure("3-shingles, stop words", &p, &plain, NULL);
    p.unit = ND_FEATURE_SPOTS;
    p.width = 2;
    measure("spots", &p, &plain, NULL);
    p = nd_feature_params_default();
    p.unit = ND_FEATURE_SENTENCES;
    measure("sentences", &p, &plain, NULL);
    p.unit = ND_FEATURE_CHARACTERS;
    p.width = 5;
    measure("5-grams of characters", &p, &plain, NULL);
    p.count = ND_FEATURE_OCCURRENCES;
    plain.tf = ND_TF_BINARY;
    measure("5-grams of characters, each occurrence", &p, &plain, NULL);
}

int main(int argc, char **argv)
{
    text = calloc(1, MOST + 64);
    if (!text)
        return 2;
    if (argc > 1)
        load(argv[1]);
    else
        generate();
    if (argc > 2 && atoi(argv[2]) > 0)
        document_bytes = (size_t)atoi(argv[2]);
    wanted = argc > 3 ? argv[3] : "";
    measure_default();
    measure_terms();
    measure_units();
    return 0;
}
