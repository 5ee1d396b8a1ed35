/* feature_dump.c - for oracles in other languages: what the library makes of texts
 *
 * Reads lines.  "document HASH HASH …" is counted into a df table, which all later lines use, also
 * as one of 3-shingles for template text.  Any other is
 *
 *     UNIT WIDTH DISTANCE COUNT SELECT SELECT_COUNT PHRASES JOIN STRIP LEAST MOST STOP STEM
 *     TEMPLATE_COUNT TEMPLATE_WEIGHT ANCHORS TEXT
 *
 * numbers, then words, then lists and the text in hexadecimal, each with an x before it.  Written
 * is for each: tokens, terms, code points, then HASH:TF:DF for each feature, a tab, and their texts
 * in hexadecimal.  Where UNIT is that of paths, ANCHORS is the page's tree: DEPTH:NAME DEPTH:NAME …
 * If TEMPLATE_WEIGHT is above 0, HASH:TF:DF:GAIN is written.  "units" writes the units of the
 * library in one line, with a * after those that are made of words.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <neardup/df.h>
#include <neardup/feature.h>
#include <neardup/text.h>

#include "feature/featurer.h"

static struct nd_df *df, *template_df;
static struct nd_df_builder *builder, *template_builder;

static void die(const char *what)
{
    fprintf(stderr, "feature_dump: %s\n", what);
    exit(2);
}

static void count_document(char *line)
{
    struct nd_feature_params shingles = nd_feature_params_default();
    struct nd_df_builder_params params = {0}, of_shingles = {.features = &shingles};
    uint64_t *hash = malloc((strlen(line) / 2 + 1) * sizeof *hash);
    size_t n = 0;

    shingles.unit = ND_FEATURE_SHINGLES;
    if (!builder) {
        builder = nd_df_builder_new(&params, NULL);
        template_builder = nd_df_builder_new(&of_shingles, NULL);
    }
    if (!builder || !template_builder || !hash)
        die("out of memory");
    for (char *word = strtok(line, " \n"); (word = strtok(NULL, " \n"));)
        hash[n++] = strtoull(word, NULL, 16);
    if (nd_df_builder_add(builder, hash, n, NULL, NULL) != ND_OK ||
        nd_df_builder_add(template_builder, hash, n, NULL, NULL) != ND_OK)
        die("the df table cannot be built");
    free(hash);
}

static struct nd_df *open_table(struct nd_df_builder **counted)
{
    char path[] = "/tmp/feature_dump-XXXXXX";
    int fd = mkstemp(path);
    struct nd_df *table = NULL;

    if (fd < 0 || nd_df_builder_write(counted, 1, path, NULL) != ND_OK ||
        !(table = nd_df_open(path, NULL)))
        die("the df table cannot be written");
    close(fd);
    unlink(path);
    nd_df_builder_free(*counted);
    *counted = NULL;
    return table;
}

/* In place; the length. */
static size_t from_hex(char *text)
{
    size_t n = 0;
    unsigned byte;

    for (const char *p = text + 1; sscanf(p, "%2x", &byte) == 1; p += 2)
        text[n++] = (char)byte;
    text[n] = 0;
    return n;
}

static void print_features(const struct nd_featurer *f, const struct nd_features *made,
                           int64_t length, const char *text, size_t len)
{
    printf("%" PRIu64 " %" PRIu64 " %" PRId64, made->n_tokens, made->n_terms, length);
    for (size_t i = 0; i < made->count; i++) {
        size_t number =
            f->plan.params.count == ND_FEATURE_DISTINCT ? i + 1 : f->counts.occurrence.items[i];

        printf(" %016" PRIx64 ":%u:%u", made->items[i].hash, f->counts.tally.entry[number].tf,
               made->df ? made->df[i] : 0);
        if (f->plan.template.weight)
            printf(":%" PRIu64, f->counts.tally.entry[number].gain);
    }
    printf("\tx");
    for (size_t i = 0; i < len; i++)
        printf("%02x", (unsigned)(unsigned char)text[i]);
    putchar('\n');
}

static void same_features(const struct nd_features *a, const struct nd_feature *b, size_t n)
{
    size_t same = 0;

    while (same < n && a->items[same].hash == b[same].hash &&
           a->items[same].weight == b[same].weight)
        same++;
    if (a->count != n || same < n)
        die("explaining gives other features");
}

/* Weights that were found by a short cut are those of the weigher. */
static void same_weights(struct nd_featurer *f)
{
    size_t n = f->counts.tally.count;
    int32_t *weight = malloc((n + 1) * sizeof *weight);

    if (!weight || (n && nd_weigher_run(f->plan.weigher, &f->scratch, f->counts.tally.entry + 1, n,
                                        f->terms.n_tokens, weight, NULL) != ND_OK))
        die("out of memory");
    if (n && memcmp(weight, f->output.weight, n * sizeof *weight) != 0)
        die("other weights than the weigher's");
    free(weight);
}

static struct nd_element element[1000];
static size_t n_elements;

static void read_tree(char *text)
{
    uint32_t open[1000];

    n_elements = 0;
    for (char *word = strtok(text, " "); word && n_elements < 1000; word = strtok(NULL, " ")) {
        size_t depth = strtoul(word, &word, 10);

        if (depth >= 1000)
            die("a tree of more than 1,000 elements");
        open[depth] = (uint32_t)n_elements;
        element[n_elements++] = (struct nd_element){{word + 1, strlen(word + 1)},
                                                    depth ? open[depth - 1] : ND_ELEMENT_NONE};
    }
}

static void dump(struct nd_featurer *f, const char *text, size_t len)
{
    struct nd_document document = {
        .text = {text, len}, .elements = element, .n_elements = n_elements};
    struct nd_features made;
    struct nd_feature *first;
    char *explained;
    size_t n, explained_len;

    if (nd_featurer_run(f, &document, &made) != ND_OK)
        die("out of memory");
    n = made.count;
    first = malloc((n + 1) * sizeof *first);
    if (!first)
        die("out of memory");
    if (n)
        memcpy(first, made.items, n * sizeof *first);
    if (nd_featurer_explain(f, &document, &explained, &explained_len, &made) != ND_OK)
        die("out of memory");
    same_features(&made, first, n);
    same_weights(f);
    print_features(f, &made, nd_text_length(text, len), explained, explained_len);
    free(first);
    free(explained);
}

static unsigned number(void)
{
    const char *word = strtok(NULL, " ");

    return word ? (unsigned)strtoul(word, NULL, 10) : 0;
}

static void write_units(void)
{
    for (unsigned i = 0; i < ND_FEATURE_UNITS; i++)
        printf("%s%s%s", i ? " " : "", nd_unit_word(i),
               nd_unit_has_words((enum nd_feature_unit)i) ? "*" : "");
    putchar('\n');
}

static void featurise(char *line)
{
    struct nd_feature_params p = nd_feature_params_default();
    struct nd_weight_params w = nd_weight_params_default();
    struct nd_featurer *f;
    struct nd_error err;
    char *text, *anchors;

    p.unit = (enum nd_feature_unit)strtoul(strtok(line, " "), NULL, 10);
    p.width = number();
    p.distance = number();
    w.tf = p.distance == 2 ? ND_TF_BINARY : p.distance == 3 ? ND_TF_LOG : ND_TF_COUNT;
    p.count = (enum nd_feature_count)number();
    p.select = (enum nd_feature_select)number();
    p.select_count = number();
    p.phrases = strtod(strtok(NULL, " "), NULL);
    p.join_apostrophes = (unsigned char)number();
    p.strip = (enum nd_strip)number();
    p.least_length = number();
    p.most_digits = number();
    snprintf(p.stop_words, sizeof p.stop_words, "%s", strtok(NULL, " "));
    snprintf(p.stem, sizeof p.stem, "%s", strtok(NULL, " "));
    p.template_count = number();
    p.template_table = template_df;
    w.template_weight = strtod(strtok(NULL, " "), NULL);
    anchors = strtok(NULL, " ");
    text = strtok(NULL, " ");
    from_hex(anchors);
    if (p.unit == ND_FEATURE_PATHS)
        read_tree(anchors);
    else
        snprintf(p.anchors, sizeof p.anchors, "%s", anchors);
    f = nd_featurer_new(&p, &w, df, &err);
    if (!f)
        die(err.message);
    dump(f, text, from_hex(text));
    nd_featurer_free(f);
}

int main(void)
{
    char *line = NULL;
    size_t capacity = 0;

    while (getline(&line, &capacity, stdin) > 0) {
        if (strncmp(line, "document", 8) == 0) {
            count_document(line);
            continue;
        }
        if (strncmp(line, "units", 5) == 0) {
            write_units();
            continue;
        }
        if (builder) {
            df = open_table(&builder);
            template_df = open_table(&template_builder);
        }
        featurise(line);
    }
    free(line);
    nd_df_close(df);
    nd_df_close(template_df);
    return 0;
}
