/* sketch_vectors_check.c - the known answers of tests/vectors/sketch.txt, by every kernel here
 *
 * A program of its own, without a test library, so that a cross build can run it too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/cpu.h>

#include "base/hash.h"
#include "sketch/shingler.h"

enum { LINE = 1 << 16, MOST_TOKENS = 4096, SHOWN = 6 };

/* One paragraph of the file. */
struct known {
    struct nd_sketch_params params;
    char *text; /* or NULL: tokens */
    uint64_t token[MOST_TOKENS];
    size_t n_given;
    uint64_t n_tokens, identity, n_shingles, shingle[SHOWN], n_shown, shingle_sum, simhash;
    uint32_t minima[ND_MINHASH_COUNT];
    unsigned n_minima;
};

static unsigned passed, failed;

static void expect(int holds, const struct known *k, const char *cpu, const char *what)
{
    if (holds) {
        passed++;
        return;
    }
    failed++;
    printf("%s: %s is wrong: w %u, %s\n", cpu, what, k->params.w, k->text ? k->text : "tokens");
}

/* \n, \t and \\ in place. */
static char *unescape(char *text)
{
    char *to = text;

    for (char *from = text; *from; from++, to++) {
        *to = *from;
        if (*from == '\\') {
            from++;
            *to = *from == 'n' ? '\n' : *from == 't' ? '\t' : *from;
        }
    }
    *to = 0;
    return text;
}

static size_t read_hex(const char *value, uint64_t *out, size_t most)
{
    size_t n = 0;
    char *end;

    for (uint64_t x = strtoull(value, &end, 16); end != value; x = strtoull(value, &end, 16)) {
        if (n == most)
            abort();
        out[n++] = x;
        value = end;
    }
    return n;
}

static void generate(struct known *k, const char *value)
{
    uint64_t seed, kinds;

    if (sscanf(value, "%" SCNu64 " %zu %" SCNu64, &seed, &k->n_given, &kinds) != 3 ||
        k->n_given > MOST_TOKENS)
        abort();
    for (size_t i = 0; i < k->n_given; i++)
        k->token[i] = nd_mix64(seed + 1 + (kinds ? nd_mix64(i) % kinds : i));
}

static void read_minima(struct known *k, const char *value)
{
    uint64_t part[8];
    size_t n = read_hex(value, part, 8);

    for (size_t i = 0; i < n && k->n_minima < ND_MINHASH_COUNT; i++)
        k->minima[k->n_minima++] = (uint32_t)part[i];
}

/* False: a line of no known kind. */
static int read_line(struct known *k, char *line)
{
    char *value = strchr(line, ' ');

    value = value ? (*value = 0, value + 1) : line + strlen(line);
    if (!strcmp(line, "unit"))
        k->params.unit = !strcmp(value, "words") ? ND_SHINGLE_WORDS : ND_SHINGLE_CHARACTERS;
    else if (!strcmp(line, "w"))
        k->params.w = (unsigned)atoi(value);
    else if (!strcmp(line, "text"))
        k->text = strdup(unescape(value));
    else if (!strcmp(line, "tokens"))
        k->n_given = read_hex(value, k->token, MOST_TOKENS);
    else if (!strcmp(line, "generated"))
        generate(k, value);
    else if (!strcmp(line, "n_tokens"))
        k->n_tokens = strtoull(value, NULL, 10);
    else if (!strcmp(line, "identity"))
        read_hex(value, &k->identity, 1);
    else if (!strcmp(line, "n_shingles"))
        k->n_shingles = strtoull(value, NULL, 10);
    else if (!strcmp(line, "shingles"))
        k->n_shown = read_hex(value, k->shingle, SHOWN);
    else if (!strcmp(line, "shingle_sum"))
        read_hex(value, &k->shingle_sum, 1);
    else if (!strcmp(line, "simhash"))
        read_hex(value, &k->simhash, 1);
    else if (!strcmp(line, "minima"))
        read_minima(k, value);
    else
        return 0;
    return 1;
}

static void compare(const struct known *k, const char *cpu, const struct nd_sketch *got)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < got->n_shingles; i++)
        sum += got->shingle[i];
    expect(got->n_tokens == k->n_tokens, k, cpu, "n_tokens");
    expect(got->identity == k->identity, k, cpu, "identity");
    expect(got->n_shingles == k->n_shingles, k, cpu, "n_shingles");
    expect(got->n_shingles >= k->n_shown &&
               (!k->n_shown || !memcmp(got->shingle, k->shingle, k->n_shown * sizeof sum)),
           k, cpu, "shingles");
    expect(sum == k->shingle_sum, k, cpu, "shingle_sum");
    expect(got->simhash == k->simhash, k, cpu, "simhash");
    expect(k->n_minima == ND_MINHASH_COUNT && !memcmp(got->minhash, k->minima, sizeof k->minima), k,
           cpu, "minima");
}

static void check_text(const struct known *k, const char *cpu)
{
    struct nd_sketcher *sketcher = nd_sketcher_new(&k->params, NULL);
    struct nd_sketch sketch;

    if (!sketcher ||
        nd_sketcher_run(sketcher, k->text, strlen(k->text), ND_SKETCH_ALL, &sketch) != ND_OK)
        abort();
    compare(k, cpu, &sketch);
    nd_sketcher_free(sketcher);
}

static void check_tokens(const struct known *k, const char *cpu)
{
    struct nd_shingler shingler = {0};
    struct nd_sketch sketch;

    nd_shingler_begin(&shingler, k->params.w);
    if (!nd_shingler_feed(&shingler, k->token, k->n_given) || !nd_shingler_end(&shingler, &sketch))
        abort();
    nd_sketch_finish(&sketch, ND_SKETCH_ALL);
    compare(k, cpu, &sketch);
    nd_shingler_release(&shingler);
}

static void check(struct known *k)
{
    static const char *const cpu[] = {"scalar", "avx2", "avx512", "neon"};

    for (int i = 0; i < 4; i++) {
        if (nd_cpu_force(cpu[i], NULL) != ND_OK)
            continue;
        if (k->text)
            check_text(k, cpu[i]);
        else
            check_tokens(k, cpu[i]);
    }
    free(k->text);
    *k = (struct known){0};
}

int main(int argc, char **argv)
{
    static char line[LINE];
    static struct known known;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;

    if (!file) {
        fprintf(stderr, "usage: sketch_vectors_check tests/vectors/sketch.txt\n");
        return 2;
    }
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#')
            continue;
        if (line[0] == 0 && known.params.w)
            check(&known);
        else if (line[0] && !read_line(&known, line))
            expect(0, &known, "the file", line);
    }
    check(&known);
    fclose(file);
    printf("%u passed, %u failed\n", passed, failed);
    return failed != 0 || passed == 0;
}
