/* emit.c - the last of several passes: survivors and rows, in input order */
#include "pipeline/ordered.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 4096 };

/* Whether this pass needs a record at all. */
static bool is_wanted(const struct nd_ordered *o, size_t number)
{
    const struct nd_run *run = o->run;

    if (run->rows || run->clusters || run->removed)
        return true;
    return run->survivors && o->verdict_of[number] == ND_NO_VERDICT && !o->is_bad[number];
}

static enum nd_status name_by_number(struct nd_ordered *o, uint32_t number, struct nd_party *party,
                                     unsigned room, struct nd_error *err)
{
    struct nd_run *run = o->run;
    struct nd_place place = nd_places_at(&run->places, number);
    struct nd_json *copy = &run->name_room[room];
    enum nd_status status;

    party->source = nd_reading_source(run->reading, place.source);
    party->line = place.line;
    status = nd_lookup_name(run->lookup, number, &place, &party->name, err);
    if (status != ND_OK)
        return status;
    /* Two names are held at once, the lookup holds one. */
    copy->text.len = 0;
    nd_json_bytes(copy, party->name.text.data, party->name.text.len);
    party->name.text.data = copy->text.data;
    return copy->failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

static enum nd_status put_removed(struct nd_ordered *o, const struct nd_party *removed,
                                  const struct nd_verdict *verdict, struct nd_error *err)
{
    struct nd_run *run = o->run;
    struct nd_pending *pending = &run->pending;
    struct nd_decision decision = {
        .identical = (enum nd_identical)verdict->identical,
        .verified = verdict->verified,
        .was_cut = verdict->was_cut,
        .distance = verdict->distance,
        .overlap = verdict->overlap,
    };
    struct nd_party kept = {0}, near = {0};
    size_t n = run->recipe.method.n_signatures;
    struct nd_row_via via;
    enum nd_status status;

    if (n)
        memcpy(decision.agreement, &o->agreement[(size_t)(verdict - o->verdict) * n],
               n * sizeof *decision.agreement);
    status = name_by_number(o, verdict->kept, &kept, 1, err);
    if (status == ND_OK && run->clusters)
        nd_row_cluster(&pending->clusters, &removed->name, &kept.name);
    if (status != ND_OK || !run->rows)
        return status;
    if (verdict->via != ND_NO_VERDICT) {
        struct nd_place place = nd_places_at(&run->places, verdict->via);

        status = nd_lookup_name(run->lookup, verdict->via, &place, &near.name, err);
        if (status != ND_OK)
            return status;
        via = (struct nd_row_via){near.name, verdict->via_resemblance};
    }
    nd_row_removed(&pending->manifest, &run->place_room, removed, &kept, &decision, run->options,
                   verdict->via != ND_NO_VERDICT ? &via : NULL);
    return ND_OK;
}

static enum nd_status put_record(struct nd_ordered *o, uint32_t number,
                                 const struct nd_loaded *loaded, struct nd_error *err)
{
    struct nd_run *run = o->run;
    const struct nd_source *source = nd_reading_source(run->reading, loaded->place.source);
    uint32_t verdict = o->verdict_of[number];
    struct nd_party party = {.source = source, .line = loaded->place.line};

    if (o->is_bad[number]) {
        if (run->rows)
            nd_row_skipped(&run->pending.manifest, &run->place_room, source, party.line,
                           loaded->bad ? loaded->bad->reason : "unreadable");
        return nd_run_remove(run, loaded->place.source, loaded->bytes, err);
    }
    if (run->rows || run->clusters)
        party.name = nd_name_of(&loaded->document, source, loaded->place.line, &run->name_room[0]);
    if (verdict != ND_NO_VERDICT) {
        enum nd_status status = nd_run_remove(run, loaded->place.source, loaded->bytes, err);

        return status == ND_OK && (run->rows || run->clusters)
                   ? put_removed(o, &party, &o->verdict[verdict], err)
                   : status;
    }
    if (run->clusters)
        nd_row_cluster(&run->pending.clusters, &party.name, &party.name);
    if (run->survivors)
        return nd_run_survive(run, loaded->place.source, loaded->bytes, err);
    return ND_OK;
}

static enum nd_status put_batch(struct nd_ordered *o, const uint32_t *number, size_t n,
                                struct nd_error *err)
{
    struct nd_run *run = o->run;
    bool parse = run->rows || run->clusters;
    struct nd_loaded *loaded = NULL;
    enum nd_status status = nd_loader_load(o->loader, number, 0, n, parse, &loaded, err);

    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = put_record(o, number[i], &loaded[i], err);
    /* A name for which there was no memory stands in rows, cut. */
    if (run->name_room[0].failed || run->name_room[1].failed || run->place_room.failed)
        run->pending.manifest.failed = true;
    return status == ND_OK ? nd_run_write_pending(run, &run->pending, err) : status;
}

/* The wanted records in input order, as numbers; true while there are any. */
static bool list_wanted(const struct nd_ordered *o, size_t *at, uint32_t *number, size_t *n)
{
    for (*n = 0; *at < o->count && *n < LISTED; ++*at)
        if (is_wanted(o, *at))
            number[(*n)++] = (uint32_t)*at;
    return *n > 0;
}

enum nd_status nd_ordered_emit(struct nd_ordered *o, struct nd_error *err)
{
    uint32_t number[LISTED] = {0};
    enum nd_status status = ND_OK;
    size_t at = 0, n;

    while (status == ND_OK && list_wanted(o, &at, number, &n)) {
        status = nd_ordered_tell(o, 3, at, o->count, err);
        for (size_t from = 0, some; status == ND_OK && from < n; from += some) {
            some = nd_loader_batch(o->loader, number, from, n);
            status = put_batch(o, number + from, some, err);
        }
    }
    return status;
}
