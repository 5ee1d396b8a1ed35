/* loader.c - batches of records read once more: neighbours at one go, parsed where they are wanted */
#include "reading/lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread/pool.h"
#include "sketches/sketches.h"

/*
 * A record is read by a call of the system, and the file is asked whether it is still what it was by
 * another.  Records that stand close to one another, as those of the last pass do, are read together
 * in a run of them.
 */
enum {
    BATCH_BYTES = 2 << 20,
    BATCH_RECORDS = 8192,
    RUN_BYTES = 1 << 16,
    GAP_BYTES = 1 << 12 /* between two records of a run, which are read for nothing */
};

/* Records of the batch from `from` on, up to `to`. */
struct neighbour_run {
    uint32_t from, to;
};

struct nd_loader {
    struct nd_pool *pool;
    struct nd_reading *reading;
    struct nd_lookup *lookup;
    const struct nd_places *places;
    unsigned n_workers;
    struct nd_parser **parser; /* one for each worker, like the arenas and the errors */
    struct nd_arena *arena;
    struct nd_buffer *bytes; /* of a run */
    struct nd_error *error;
    struct nd_parsed *loaded;
    size_t count, capacity;
    struct neighbour_run *run;
    size_t n_runs, run_capacity;
    /* members of the batch */
    const uint32_t *number;
    size_t from;
    bool parses;
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
    l->bytes = calloc(n, sizeof *l->bytes);
    l->error = calloc(n, sizeof *l->error);
    if (!l->parser || !l->arena || !l->bytes || !l->error) {
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
        if (l->bytes)
            nd_buffer_release(&l->bytes[i]);
    }
    free(l->parser);
    free(l->arena);
    free(l->bytes);
    free(l->run);
    free(l->error);
    free(l->loaded);
    free(l);
}

static const struct nd_place *place_of(const struct nd_loader *l, const uint32_t *number, size_t at)
{
    return &l->places->item[number ? number[at] : at];
}

size_t nd_loader_batch(const struct nd_loader *l, const uint32_t *number, size_t from, size_t to)
{
    uint64_t bytes = 0;
    size_t at = from;

    while (at < to && at - from < BATCH_RECORDS && bytes < BATCH_BYTES)
        bytes += place_of(l, number, at++)->len;
    return at - from;
}

/* A document of a sketch file, whose bytes are in the arena. */
static enum nd_status load_row(struct nd_loader *l, struct nd_parsed *loaded, unsigned worker,
                               struct nd_error *err)
{
    const struct nd_sketches *sketches = nd_reading_sketches(l->reading);
    const struct nd_sketched_fields *fields = nd_sketches_fields(sketches);
    struct nd_arena *arena = &l->arena[worker];
    struct nd_sketch_row *row = nd_arena_alloc(arena, sizeof *row);
    struct nd_field *field = nd_arena_alloc(arena, (fields->n + 1) * sizeof *field);
    uint64_t *replaced = nd_arena_alloc(arena, (fields->n + 1) * sizeof *replaced);
    enum nd_status status;

    if (!row || !field || !replaced)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_sketches_parse(sketches, loaded->record.bytes, arena, row, err);
    if (status == ND_OK) {
        loaded->sketched = row;
        loaded->document = nd_sketched_document(row, fields, field, replaced);
    }
    return status;
}

/* ---- Runs ---- */

/* Whether a record can be read together with the one before it, of a run that begins at `first`. */
static bool joins(const struct nd_loader *l, const struct nd_place *first,
                  const struct nd_place *before, const struct nd_place *place)
{
    uint64_t end = before->offset + before->len;

    return place->source == before->source && place->offset >= end &&
           place->offset - end <= GAP_BYTES &&
           place->offset + place->len - first->offset <= RUN_BYTES &&
           !nd_reading_sketches(l->reading) &&
           nd_reading_source(l->reading, place->source)->is_rereadable;
}

static bool find_runs(struct nd_loader *l, size_t n)
{
    const struct nd_place *first = NULL, *before = NULL;

    if (!ND_RESERVE(l->run, &l->run_capacity, n))
        return false;
    l->n_runs = 0;
    for (size_t i = 0; i < n; i++) {
        const struct nd_place *place = place_of(l, l->number, l->from + i);

        if (!before || !joins(l, first, before, place)) {
            l->run[l->n_runs++] = (struct neighbour_run){.from = (uint32_t)i};
            first = place;
        }
        l->run[l->n_runs - 1].to = (uint32_t)i + 1;
        before = place;
    }
    return true;
}

/* The bytes of a run, in the arena. */
static const char *read_run(struct nd_loader *l, const struct neighbour_run *run, unsigned worker)
{
    const struct nd_place *first = place_of(l, l->number, l->from + run->from);
    const struct nd_place *last = place_of(l, l->number, l->from + run->to - 1);
    size_t len = (size_t)(last->offset + last->len - first->offset);
    struct nd_error *err = &l->error[worker];
    const char *bytes;
    struct nd_view alone;

    if (run->to - run->from > 1) {
        if (nd_reading_reread(l->reading, first->source, first->offset, len, &l->bytes[worker],
                              err) != ND_OK)
            return NULL;
        alone = (struct nd_view){l->bytes[worker].data, len};
    } else if (nd_lookup_record(l->lookup, first, worker, &alone, err) != ND_OK) {
        return NULL;
    }
    bytes = nd_arena_copy(&l->arena[worker], alone.data, alone.len);
    if (!bytes)
        nd_fail(err, ND_ENOMEM, "out of memory");
    return bytes;
}

static void load_one(struct nd_loader *l, size_t i, const char *bytes, unsigned worker)
{
    struct nd_parsed *loaded = &l->loaded[i];
    const struct nd_place *place = place_of(l, l->number, l->from + i);
    struct nd_error *err = &l->error[worker];
    uint64_t repaired = 0;

    loaded->source = nd_reading_source(l->reading, place->source);
    loaded->record = (struct nd_record){
        .bytes = {bytes, (size_t)place->len}, .line = place->line, .source = place->source};
    if (l->parses && nd_reading_sketches(l->reading))
        (void)load_row(l, loaded, worker, err);
    else if (l->parses && !nd_parsed_make(loaded, l->parser[worker], &repaired))
        nd_fail(err, ND_ENOMEM, "out of memory");
}

static void load_run(void *context, size_t task, unsigned worker)
{
    struct nd_loader *l = context;
    const struct neighbour_run *run = &l->run[task];
    const struct nd_place *first = place_of(l, l->number, l->from + run->from);
    const char *bytes;

    if (l->error[worker].status != ND_OK || !(bytes = read_run(l, run, worker)))
        return;
    for (size_t i = run->from; i < run->to && l->error[worker].status == ND_OK; i++) {
        const struct nd_place *place = place_of(l, l->number, l->from + i);

        load_one(l, i, bytes + (place->offset - first->offset), worker);
    }
}

enum nd_status nd_loader_load(struct nd_loader *l, const uint32_t *number, size_t from, size_t n,
                              bool parse, const struct nd_parsed **loaded, struct nd_error *err)
{
    forget(l);
    l->number = number;
    l->from = from;
    l->parses = parse;
    if (!ND_RESERVE(l->loaded, &l->capacity, n) || !find_runs(l, n))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    l->count = n;
    if (n)
        memset(l->loaded, 0, n * sizeof *l->loaded);
    for (unsigned i = 0; i < l->n_workers; i++) {
        nd_arena_reset(&l->arena[i]);
        nd_parser_reset(l->parser[i]);
        l->error[i].status = ND_OK;
    }
    nd_pool_run(l->pool, l->n_runs, load_run, l);
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
