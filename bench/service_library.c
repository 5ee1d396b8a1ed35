/* service_library.c - what the library itself takes for a query: sketch, look-up, comparison
 *
 *     service_library STORED QUERIES
 *
 * Each file has texts, each behind a line with its length in bytes.  Those of STORED are put into a
 * live index and into an engine that makes pairs, with the default recipe and one thread.  Prints a
 * line of JSON: the processor time for a text of QUERIES in microseconds, the mean over a second,
 * of the sketch alone, of sketch and look-up, and of a query to the engine, which also compares the
 * texts of the candidates.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <neardup/dedup.h>
#include <neardup/index.h>
#include <neardup/sketch.h>

#include "base/memory.h"

enum { BATCH = 100 };
#define SECONDS 1.0

struct texts {
    struct nd_view *items;
    size_t n, capacity;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "service_library: %s\n", what);
    exit(2);
}

static struct texts read_texts(const char *path)
{
    struct texts texts = {0};
    FILE *file = fopen(path, "rb");
    size_t len;

    if (!file)
        fail(path);
    while (fscanf(file, "%zu", &len) == 1 && fgetc(file) == '\n') {
        char *text = malloc(len + 1);

        if (!text || fread(text, 1, len, file) != len ||
            !ND_RESERVE(texts.items, &texts.capacity, texts.n + 1))
            fail(path);
        texts.items[texts.n++] = (struct nd_view){text, len};
    }
    fclose(file);
    return texts;
}

static void free_texts(struct texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free((char *)texts->items[i].data);
    free(texts->items);
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The sketch, and the look-up ---- */

struct lookup {
    struct nd_sketcher *sketcher;
    struct nd_index *index;
    uint64_t n_found;
};

static void sketch(struct lookup *l, struct nd_view text, struct nd_sketch *out)
{
    if (nd_sketcher_run(l->sketcher, text.data, text.len, ND_SKETCH_ALL, out) != ND_OK)
        fail("no sketch");
}

static double time_sketches(struct lookup *l, const struct texts *queries)
{
    double start = seconds();
    struct nd_sketch made;

    for (size_t i = 0; i < queries->n; i++) {
        sketch(l, queries->items[i], &made);
        l->n_found += made.n_tokens == 0;
    }
    return seconds() - start;
}

static double time_lookups(struct lookup *l, const struct texts *queries)
{
    double start = seconds();
    struct nd_sketch made;

    for (size_t i = 0; i < queries->n; i++) {
        struct nd_candidates found = {0};

        sketch(l, queries->items[i], &made);
        if (nd_index_query(l->index, &made, 0, &found) != ND_OK)
            fail("no look-up");
        l->n_found += found.count;
        nd_candidates_release(&found);
    }
    return seconds() - start;
}

/* ---- The engine ---- */

static enum nd_status count_pair(void *context, const struct nd_found_pair *pair)
{
    *(uint64_t *)context += pair != NULL;
    return ND_OK;
}

static size_t take_items(const struct texts *texts, size_t at, struct nd_dedup_item *items)
{
    size_t n = 0;

    memset(items, 0, BATCH * sizeof *items);
    for (; n < BATCH && at + n < texts->n; n++)
        items[n].text = texts->items[at + n];
    return n;
}

static struct nd_dedup *make_engine(const struct texts *stored)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_recipe *recipe = nd_recipe_new(NULL);
    struct nd_dedup_item items[BATCH];
    struct nd_dedup *dedup;

    options.threads = 1;
    options.makes_pairs = 1;
    dedup = recipe ? nd_dedup_new(recipe, &options, NULL) : NULL;
    nd_recipe_free(recipe);
    if (!dedup)
        fail("no engine");
    for (size_t at = 0, n; (n = take_items(stored, at, items)) > 0; at += n)
        if (nd_dedup_push_prototypes(dedup, items, n, NULL) != ND_OK)
            fail("the engine takes no documents");
    return dedup;
}

static double time_queries(struct nd_dedup *dedup, const struct texts *queries, uint64_t *n_pairs)
{
    struct nd_dedup_item items[BATCH];
    double start = seconds();

    *n_pairs = 0;
    for (size_t at = 0, n; (n = take_items(queries, at, items)) > 0; at += n)
        if (nd_dedup_query(dedup, items, n, count_pair, n_pairs, NULL) != ND_OK)
            fail("no answer");
    return seconds() - start;
}

/* ---- All of it ---- */

static struct lookup make_lookup(const struct texts *stored)
{
    const struct nd_sketch_params sketch_params = nd_sketch_params_default();
    const struct nd_index_params index_params = nd_index_params_default();
    struct lookup l = {.sketcher = nd_sketcher_new(&sketch_params, NULL),
                       .index = nd_index_new(&index_params, NULL)};
    struct nd_sketch made;
    uint32_t number;

    if (!l.sketcher || !l.index)
        fail("no index");
    for (size_t i = 0; i < stored->n; i++) {
        sketch(&l, stored->items[i], &made);
        if (nd_index_insert(l.index, &made, 0, &number, NULL) != ND_OK)
            fail("the index takes no documents");
    }
    return l;
}

int main(int argc, char **argv)
{
    struct texts stored, queries;
    struct lookup lookup;
    struct nd_dedup *dedup;
    double sketches = 0, lookups = 0, answers = 0, us;
    uint64_t n_pairs = 0;
    unsigned rounds = 0;

    if (argc != 3)
        fail("usage: service_library STORED QUERIES");
    stored = read_texts(argv[1]);
    queries = read_texts(argv[2]);
    if (queries.n == 0)
        fail("no queries");
    lookup = make_lookup(&stored);
    dedup = make_engine(&stored);
    for (; answers < SECONDS; rounds++) {
        sketches += time_sketches(&lookup, &queries);
        lookups += time_lookups(&lookup, &queries);
        answers += time_queries(dedup, &queries, &n_pairs);
    }
    us = 1e6 / (double)queries.n / rounds;
    printf("{\"sketch_us\":%.2f,\"lookup_us\":%.2f,\"query_us\":%.2f,\"pairs\":%llu}\n",
           sketches * us, lookups * us, answers * us, (unsigned long long)n_pairs);
    nd_sketcher_free(lookup.sketcher);
    nd_index_free(lookup.index);
    nd_dedup_free(dedup);
    free_texts(&stored);
    free_texts(&queries);
    return 0;
}
