/* order.c - the first of several passes: a place and a key for every record, then the keep order */
#define _GNU_SOURCE
#include "pipeline/ordered.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* In parallel, right after parsing: the texts are at hand only now. */
static void make_key(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct nd_run *run = context;

    (void)worker;
    if (!nd_keep_key(&run->keep, parsed->document.text,
                     nd_run_field(&parsed->document, run->keep_at), &parsed->key))
        atomic_store(&run->is_out_of_memory, true);
}

const struct nd_reading_hooks nd_ordered_hooks = {.parsed = make_key};

static bool grow(void **array, size_t capacity, size_t size)
{
    size_t bytes;
    void *more;

    if (__builtin_mul_overflow(capacity, size, &bytes))
        return false;
    more = realloc(*array, bytes);
    if (more)
        *array = more;
    return more != NULL;
}

static bool reserve(struct nd_ordered *o, size_t n)
{
    size_t capacity = o->capacity + o->capacity / 4;
    void *key = o->key, *prefer = o->prefer, *group = o->group, *bad = o->is_bad;
    void *verdict = o->verdict_of;
    bool ok;

    if (n <= o->capacity)
        return true;
    if (capacity < n)
        capacity = n;
    ok = grow(&key, capacity, sizeof *o->key) && grow(&bad, capacity, sizeof *o->is_bad) &&
         grow(&verdict, capacity, sizeof *o->verdict_of) &&
         (!o->run->options->prefer_field || grow(&prefer, capacity, sizeof *o->prefer)) &&
         (!o->run->options->within || grow(&group, capacity, sizeof *o->group));
    o->key = key;
    o->prefer = prefer;
    o->group = group;
    o->is_bad = bad;
    o->verdict_of = verdict;
    if (ok)
        o->capacity = capacity;
    return ok;
}

/* Place of a value in the list of preferences; behind them all where it is not in it. */
static uint32_t preference(const struct nd_run_options *options, struct nd_view value)
{
    uint32_t i = 0;

    for (; i < options->n_prefer; i++)
        if (value.data && strlen(options->prefer[i]) == value.len &&
            memcmp(options->prefer[i], value.data, value.len) == 0)
            break;
    return i;
}

static enum nd_status add_record(struct nd_ordered *o, const struct nd_parsed *parsed,
                                 struct nd_error *err)
{
    struct nd_run *run = o->run;
    const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);
    struct nd_place place;
    enum nd_status status = nd_lookup_keep(run->lookup, &parsed->record, &place, err);
    size_t at = o->count;

    if (status != ND_OK)
        return status;
    if (at == ND_NO_VERDICT - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %zu records", at);
    if (!reserve(o, at + 1) || !nd_places_add(&run->places, &place) ||
        !nd_members_set(run, at, !parsed->bad))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    o->count++;
    o->key[at] = parsed->key;
    o->is_bad[at] = parsed->bad != NULL;
    o->verdict_of[at] = ND_NO_VERDICT;
    if (parsed->bad)
        return nd_run_bad_record(run, source, parsed->record.line, parsed->bad->reason, err);
    run->summary->documents++;
    nd_run_note_id(run, &parsed->document, source, parsed->record.line);
    if (run->unmet)
        nd_run_meet_fields(run, &parsed->document, parsed->key);
    if (o->prefer)
        o->prefer[at] = preference(run->options, nd_run_field(&parsed->document, run->prefer_at));
    if (o->group && !nd_groups_number(&run->groups, nd_run_field(&parsed->document, run->within_at),
                                      &o->group[at]))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

enum nd_status nd_ordered_collect(struct nd_ordered *o, struct nd_error *err)
{
    struct nd_run *run = o->run;
    struct nd_reading_batch *batch;
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(run->reading, &batch, err)) > 0) {
        struct nd_run_progress progress = {
            .bytes_done = batch->done, .bytes_total = batch->total, .pass = 1, .passes = 3};

        if (atomic_load(&run->is_out_of_memory))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        for (size_t i = 0; status == ND_OK && i < batch->count; i++)
            status = add_record(o, &batch->parsed[i], err);
        run->summary->repaired += batch->repaired;
        progress.documents = run->summary->documents;
        if (status == ND_OK)
            status = nd_run_tell(run, &progress, err);
    }
    nd_run_forget_ids(run);
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

static void shrink(void **array, size_t count, size_t size)
{
    void *less = count ? realloc(*array, count * size) : NULL;

    if (less)
        *array = less;
}

/* The index is still to come: give back what the first pass needed only to grow and to sort. */
static void make_room(struct nd_ordered *o)
{
    void *verdict = o->verdict_of, *group = o->group, *bad = o->is_bad;

    free(o->key);
    free(o->prefer);
    o->key = NULL;
    o->prefer = NULL;
    shrink(&verdict, o->count, sizeof *o->verdict_of);
    shrink(&bad, o->count, sizeof *o->is_bad);
    if (group)
        shrink(&group, o->count, sizeof *o->group);
    o->verdict_of = verdict;
    o->is_bad = bad;
    o->group = group;
    nd_places_shrink(&o->run->places);
    nd_members_shrink(o->run, o->count);
}

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct nd_ordered *o = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (o->prefer && o->prefer[x] != o->prefer[y])
        return o->prefer[x] < o->prefer[y] ? -1 : 1;
    if (o->key[x] != o->key[y])
        return o->key[x] < o->key[y] ? -1 : 1;
    if (o->run->keep.by == ND_KEEP_LAST)
        return x > y ? -1 : 1;
    return x < y ? -1 : 1;
}

enum nd_status nd_ordered_sort(struct nd_ordered *o, struct nd_error *err)
{
    o->order = nd_alloc_array(o->count, sizeof *o->order);
    if (!o->order)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < o->count; i++)
        if (!o->is_bad[i])
            o->order[o->n_order++] = (uint32_t)i;
    qsort_r(o->order, o->n_order, sizeof *o->order, by_keep_order, o);
    make_room(o);
    return ND_OK;
}
