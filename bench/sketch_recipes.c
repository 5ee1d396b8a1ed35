/* sketch_recipes.c - megabytes of text a second to the sketches of recipes, on one thread
 *
 *     sketch_recipes TEXTS RECIPE[=DF]…
 *
 * TEXTS: documents one after the other, each ended by a zero byte; DF: the recipe's df table.  The
 * recipe "default" is shingles and min-hash; of the others all signatures are made.  Recipes
 * take turns, so that a busy machine is unfair to none; the fastest of the rounds counts.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup.h>

enum { ROUNDS = 5, RECIPES = 40, DOCUMENTS = 1 << 20 };

static struct nd_document document[DOCUMENTS];
static size_t n_documents, n_bytes;
static volatile uint64_t sink;

static void die(const char *what, const char *why)
{
    fprintf(stderr, "sketch_recipes: %s: %s\n", what, why);
    exit(2);
}

static void load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text;
    long len = 0;

    if (!file || fseek(file, 0, SEEK_END) || (len = ftell(file)) < 0)
        die(path, "cannot be read");
    rewind(file);
    text = malloc((size_t)len + 64); /* stays for good */
    if (!text || fread(text, 1, (size_t)len, file) != (size_t)len)
        die(path, "cannot be read");
    fclose(file);
    memset(text + len, 0, 64);
    for (char *end = text + len; text < end && n_documents < DOCUMENTS;) {
        size_t n = strnlen(text, (size_t)(end - text));

        document[n_documents++].text = (struct nd_view){text, n};
        n_bytes += n;
        text += n + 1;
    }
}

struct contestant {
    const char *name;
    struct nd_recipe *recipe;
    struct nd_sketcher *sketcher; /* of default */
    struct nd_document_signer *signer[ND_RECIPE_SIGNATURES];
    double best;
};

static void prepare(struct contestant *c, char *name)
{
    char *table = strchr(name, '=');
    struct nd_df *df = NULL; /* stays for good */
    struct nd_sketch_params params;
    struct nd_error err;

    if (table)
        *table++ = 0;
    if (table && !(df = nd_df_open(table, &err)))
        die(table, err.message);
    c->name = name;
    c->best = 1e9;
    c->recipe = nd_recipe_new(&err);
    if (!c->recipe || nd_recipe_by_name(c->recipe, name, &err))
        die(name, err.message);
    params = nd_recipe_sketch_params(c->recipe);
    if (!nd_recipe_signatures(c->recipe) && !(c->sketcher = nd_sketcher_new(&params, &err)))
        die(name, err.message);
    for (size_t i = 0; i < nd_recipe_signatures(c->recipe); i++) {
        if (nd_recipe_needs_df(c->recipe, i) && nd_recipe_use_df(c->recipe, i, df, &err))
            die(name, err.message);
        c->signer[i] = nd_document_signer_new(c->recipe, i, &err);
        if (!c->signer[i])
            die(name, err.message);
    }
}

static void sketch(struct contestant *c, const struct nd_document *d)
{
    struct nd_signature made;
    struct nd_sketch minima;

    if (c->sketcher) {
        if (nd_sketcher_run(c->sketcher, d->text.data, d->text.len, ND_SKETCH_MINHASH, &minima))
            die(c->name, "out of memory");
        sink += minima.minhash[0];
    }
    for (size_t i = 0; i < nd_recipe_signatures(c->recipe); i++) {
        if (nd_document_signer_run(c->signer[i], d, &made, NULL))
            die(c->name, "out of memory");
        sink += made.count ? made.word[0] : 0;
    }
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int n, char **argument)
{
    static struct contestant list[RECIPES];
    size_t n_list = 0;

    if (n < 3)
        die("usage", "sketch_recipes TEXTS RECIPE[=DF]…");
    load(argument[1]);
    for (int i = 2; i < n && n_list < RECIPES; i++)
        prepare(&list[n_list++], argument[i]);
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < n_list; i++) {
            double start = seconds(), took;

            for (size_t d = 0; d < n_documents; d++)
                sketch(&list[i], &document[d]);
            took = seconds() - start;
            list[i].best = took < list[i].best ? took : list[i].best;
        }
    for (size_t i = 0; i < n_list; i++)
        printf("{\"recipe\": \"%s\", \"documents\": %zu, \"bytes\": %zu, \"seconds\": %.6f}\n",
               list[i].name, n_documents, n_bytes, list[i].best);
    return 0;
}
