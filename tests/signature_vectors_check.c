/* signature_vectors_check.c - known answers of signatures, by every kernel here
 *
 *     signature_vectors_check FILE      (tests/vectors/signatures.txt, or - for standard input)
 *
 * A program of its own, without a test library, so that a cross build can run it too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/cpu.h>

#include "base/hash.h"
#include "sketch/signer.h"

enum { LINE = 1 << 16, MOST = 1 << 16, MOST_WORDS = 1 << 16 };

/* One paragraph of the file. */
struct known {
    struct nd_signature_params params;
    struct nd_feature feature[MOST], forced[8];
    uint32_t df[MOST]; /* as the table has it: 0 is unseen */
    size_t n, n_forced, n_metadata;
    uint64_t n_tokens, n_documents;
    uint64_t word[MOST_WORDS], n_words;
    int is_rejected, is_open;
    unsigned line;
};

static const char *const kinds[] = {
    "simhash",         "minhash",       "bottom-k", "mod-p",     "winnowing", "super-shingles",
    "sorted-shingles", "mega-shingles", "i-match",  "checksums", "profile",   "features"};
static const char *const functions[] = {"token", "lookup8", "rabin", "sha1"};
static unsigned passed, failed;

static void expect(int holds, const struct known *k, const char *cpu, const char *what)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("%s: the %s before line %u: %s\n", cpu, kinds[k->params.kind], k->line, what);
}

static unsigned number_of(const char *name, const char *const *names, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!strcmp(name, names[i]))
            return i;
    printf("no such name: %s\n", name);
    exit(2);
}

/* Look a hash up in the table, which consists of the features of the case. */
static uint32_t look_up(const void *context, uint64_t hash)
{
    const struct known *k = context;

    for (size_t i = 0; i < k->n; i++)
        if (k->feature[i].hash == hash)
            return k->df[i];
    return 0;
}

static void add_feature(struct known *k, uint64_t hash, int32_t weight, uint32_t df)
{
    if (k->n == MOST)
        exit(2);
    k->feature[k->n] = (struct nd_feature){hash, weight};
    k->df[k->n++] = df;
}

/* SEED N KINDS WEIGHTS, as the file says. */
static void generate(struct known *k, const char *value)
{
    uint64_t seed, different, weights;
    size_t n;

    if (sscanf(value, "%" SCNu64 " %zu %" SCNu64 " %" SCNu64, &seed, &n, &different, &weights) != 4)
        exit(2);
    for (size_t i = 0; i < n; i++) {
        uint64_t hash = nd_mix64(seed + 1 + (different ? nd_mix64(i) % different : i));

        add_feature(k, hash, weights ? (int32_t)(nd_mix64(hash) % weights) : 1,
                    (uint32_t)(nd_mix64(hash + 1) % (UINT64_C(1) << (hash & 15))));
    }
}

static void read_words(struct known *k, const char *value)
{
    char *end;

    for (uint64_t x = strtoull(value, &end, 16); end != value; x = strtoull(value, &end, 16)) {
        if (k->n_words == MOST_WORDS)
            exit(2);
        k->word[k->n_words++] = x;
        value = end;
    }
}

static int read_parameter(struct nd_signature_params *p, const char *key, const char *value)
{
    unsigned *const number[] = {&p->bits,   &p->reserved_bits, &p->minima,
                                &p->groups, &p->width,         &p->modulus,
                                &p->window, &p->least_terms,   &p->lexicons};
    static const char *const name[] = {"bits",   "reserved_bits", "minima",
                                       "groups", "width",         "modulus",
                                       "window", "least_terms",   "lexicons"};
    double *const share[] = {&p->lexicon_low, &p->lexicon_high, &p->drop, &p->quantum};
    static const char *const share_name[] = {"lexicon_low", "lexicon_high", "drop", "quantum"};

    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (!strcmp(key, name[i]))
            return *number[i] = (unsigned)strtoul(value, NULL, 10), 1;
    for (size_t i = 0; i < 4; i++)
        if (!strcmp(key, share_name[i]))
            return *share[i] = strtod(value, NULL), 1;
    if (!strcmp(key, "hash"))
        p->hash = (enum nd_hash_function)number_of(value, functions, 4);
    else if (!strcmp(key, "rabin_polynomial"))
        p->rabin_polynomial = strtoull(value, NULL, 16);
    else if (!strcmp(key, "seed"))
        p->seed = strtoull(value, NULL, 10);
    else if (!strcmp(key, "secondary"))
        p->secondary = (unsigned)atoi(value);
    else if (!strcmp(key, "bootstrap"))
        p->bootstrap = (unsigned char)atoi(value);
    else
        return 0;
    return 1;
}

/* False: a line of no known kind. */
static int read_line(struct known *k, char *line)
{
    char *value = strchr(line, ' ');
    uint64_t hash;
    int32_t weight;
    uint32_t df;

    value = value ? (*value = 0, value + 1) : line + strlen(line);
    if (!strcmp(line, "kind")) {
        k->params = nd_signature_params_default();
        k->params.kind = (enum nd_signature_kind)number_of(value, kinds, 12);
        k->is_open = 1;
    } else if (!strcmp(line, "feature")) {
        if (sscanf(value, "%" SCNx64 " %" SCNd32 " %" SCNu32, &hash, &weight, &df) != 3)
            return 0;
        add_feature(k, hash, weight, df);
    } else if (!strcmp(line, "forced")) {
        if (k->n_forced == 8 || sscanf(value, "%" SCNx64 " %" SCNd32, &hash, &weight) != 2)
            return 0;
        k->forced[k->n_forced++] = (struct nd_feature){hash, weight};
    } else if (!strcmp(line, "generated")) {
        generate(k, value);
    } else if (!strcmp(line, "n_metadata")) {
        k->n_metadata = strtoull(value, NULL, 10);
    } else if (!strcmp(line, "n_tokens")) {
        k->n_tokens = strtoull(value, NULL, 10);
    } else if (!strcmp(line, "documents")) {
        k->n_documents = strtoull(value, NULL, 10);
    } else if (!strcmp(line, "rejected")) {
        k->is_rejected = atoi(value);
    } else if (!strcmp(line, "words")) {
        read_words(k, value);
    } else {
        return read_parameter(&k->params, line, value);
    }
    return 1;
}

static void compare(const struct known *k, const char *cpu, const struct nd_signature *got)
{
    size_t fixed = nd_signature_words(&k->params);

    expect(got->is_rejected == k->is_rejected, k, cpu, "rejected or not");
    expect(got->count == k->n_words, k, cpu, "the number of words");
    expect(!fixed || got->count == fixed, k, cpu, "the number of words that was promised");
    expect(got->count == k->n_words &&
               (!got->count || !memcmp(got->word, k->word, got->count * sizeof *k->word)),
           k, cpu, "the words");
}

/* Twice in a row, and with the frequencies beside the features as well as without. */
static void check_on(const struct known *k, const char *cpu)
{
    static uint32_t df[MOST];
    const struct nd_df_source source = {k->n_documents, look_up, k};
    struct nd_features features = {.items = k->feature,
                                   .count = k->n,
                                   .n_metadata = k->n_metadata,
                                   .forced = k->forced,
                                   .n_forced = k->n_forced,
                                   .n_tokens = k->n_tokens};
    struct nd_error err;
    struct nd_signer *signer = nd_signer_new_from(&k->params, &source, &err);
    struct nd_signature signature;

    if (!signer) {
        expect(0, k, cpu, err.message);
        return;
    }
    for (size_t i = 0; i < k->n; i++)
        df[i] = k->df[i] ? k->df[i] : 1;
    for (int round = 0; round < 2; round++) {
        features.df = round ? df : NULL;
        if (nd_signer_run(signer, &features, &signature) != ND_OK)
            exit(2);
        compare(k, cpu, &signature);
    }
    nd_signer_free(signer);
}

static void check(struct known *k)
{
    static const char *const cpu[] = {"scalar", "avx2", "avx512", "neon"};

    for (int i = 0; i < 4; i++)
        if (nd_cpu_force(cpu[i], NULL) == ND_OK)
            check_on(k, cpu[i]);
    k->n = k->n_forced = k->n_metadata = 0;
    k->n_tokens = k->n_documents = k->n_words = 0;
    k->is_rejected = k->is_open = 0;
}

int main(int argc, char **argv)
{
    static char line[LINE];
    static struct known known;
    FILE *file = NULL;

    if (argc == 2)
        file = strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
    if (!file) {
        fprintf(stderr, "usage: signature_vectors_check tests/vectors/signatures.txt\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        known.line++;
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#')
            continue;
        if (line[0] == 0 && known.is_open)
            check(&known);
        else if (line[0] && !read_line(&known, line))
            expect(0, &known, "the file", line);
    }
    if (known.is_open)
        check(&known);
    fclose(file);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
