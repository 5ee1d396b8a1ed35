/* loader.c - batches of records read again, in any order */
#include "pipeline/loader.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH_BYTES = 2 << 20, BATCH_RECORDS = 8192 };

struct nd_loader {
    struct nd_pool *pool;
    struct nd_reading *reading;
    struct nd_lookup *lookup;
    const struct nd_places *places;
    unsigned n_workers;
    struct nd_parser **parser; /* one a worker, as are the arenas and the errors */
    struct nd_arena *arena;
    struct nd_error *error;
    struct nd_loaded *loaded;
    size_t count, capacity;
    bool parse;
};

struct nd_loader *nd_loader_new(struct nd_pool *pool, struct nd_reading *reading,
                                struct nd_lookup *lookup, const struct nd_places *places,
                                const struct nd_input_options *options, struct nd_error *err)
{
    struct nd_loader *l = calloc(1, sizeof *l);
    unsigned n = nd_pool_threads(pool);

    if (!l) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    *l = (struct nd_loader){.pool = pool, .reading = reading, .lookup = lookup, .places = places};
    l->n_workers = n;
    l->parser = calloc(n, sizeof(struct nd_parser *));
    l->arena = calloc(n, sizeof *l->arena);
    l->error = calloc(n, sizeof *l->error);
    if (!l->parser || !l->arena || !l->error) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        nd_loader_free(l);
        return NULL;
    }
    for (unsigned i = 0; i < n; i++) {
        l->parser[i] = nd_parser_new(options, err);
        if (!l->parser[i]) {
            nd_loader_free(l);
            return NULL;
        }
    }
    return l;
}

static void forget(struct nd_loader *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->loaded[i].bad);
    l->count = 0;
}

void nd_loader_free(struct nd_loader *l)
{
    if (!l)
        return;
    forget(l);
    for (unsigned i = 0; i < l->n_workers; i++) {
        if (l->parser)
            nd_parser_free(l->parser[i]);
        if (l->arena)
            nd_arena_release(&l->arena[i]);
    }
    free(l->parser);
    free(l->arena);
    free(l->error);
    free(l->loaded);
    free(l);
}

static struct nd_place place_of(const struct nd_loader *l, const uint32_t *number, size_t at)
{
    return nd_places_at(l->places, number ? number[at] : at);
}

size_t nd_loader_batch(const struct nd_loader *l, const uint32_t *number, size_t from, size_t to)
{
    uint64_t bytes = 0;
    size_t at = from;

    while (at < to && at - from < BATCH_RECORDS && bytes < BATCH_BYTES)
        bytes += place_of(l, number, at++).len;
    return at - from;
}

static enum nd_status parse(struct nd_loader *l, struct nd_loaded *loaded, unsigned worker,
                            struct nd_error *err)
{
    struct nd_bad_record bad;
    uint64_t repaired = 0;
    int result =
        nd_parser_parse(l->parser[worker], nd_reading_source(l->reading, loaded->place.source),
                        loaded->bytes, &loaded->document, &repaired, &bad);

    if (result == 0) {
        loaded->bad = malloc(sizeof bad);
        if (loaded->bad)
            *loaded->bad = bad;
    }
    if (result < 0 || (result == 0 && !loaded->bad))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static void load_one(void *context, size_t task, unsigned worker)
{
    struct nd_loader *l = context;
    struct nd_loaded *loaded = &l->loaded[task];
    struct nd_error *err = &l->error[worker];
    struct nd_view bytes;
    char *copy;

    if (err->status != ND_OK)
        return;
    loaded->status = nd_lookup_record(l->lookup, &loaded->place, worker, &bytes, err);
    if (loaded->status != ND_OK)
        return;
    copy = nd_arena_copy(&l->arena[worker], bytes.data, bytes.len);
    if (!copy) {
        loaded->status = nd_fail(err, ND_ENOMEM, "out of memory");
        return;
    }
    loaded->bytes = (struct nd_view){copy, bytes.len};
    if (l->parse)
        loaded->status = parse(l, loaded, worker, err);
}

enum nd_status nd_loader_load(struct nd_loader *l, const uint32_t *number, size_t from, size_t n,
                              bool parse_too, struct nd_loaded **loaded, struct nd_error *err)
{
    void *list = l->loaded;

    forget(l);
    if (!nd_array_reserve(&list, &l->capacity, n, sizeof *l->loaded))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    l->loaded = list;
    l->count = n;
    l->parse = parse_too;
    for (size_t i = 0; i < n; i++)
        l->loaded[i] = (struct nd_loaded){.place = place_of(l, number, from + i)};
    for (unsigned i = 0; i < l->n_workers; i++) {
        nd_arena_reset(&l->arena[i]);
        nd_parser_reset(l->parser[i]);
        l->error[i].status = ND_OK;
    }
    nd_pool_run(l->pool, n, load_one, l);
    for (unsigned i = 0; i < l->n_workers; i++) {
        if (l->error[i].status == ND_OK)
            continue;
        if (err)
            *err = l->error[i];
        return l->error[i].status;
    }
    *loaded = l->loaded;
    return ND_OK;
}
