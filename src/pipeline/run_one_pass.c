/* run_one_pass.c - the first of equals is kept: everything leaves as it is decided */
#include "pipeline/run_state.h"

#include <stdlib.h>

/* The documents of a batch, bad records left out. */
struct listed {
    const struct nd_reading_batch *batch; /* of which they are; NULL: not listed */
    struct nd_dedup_item *item;
    uint32_t *at; /* place in the batch, by item */
    size_t n, capacity;
};

/*
 * While a batch is decided, the one before is written and the next but one read beside it, and as
 * far as threads have time the next is parsed and prepared.  What is held of a document after its
 * batch: 24 bytes of place and 4 of count where it is kept, a bit where not; the engine's index
 * comes on top.
 */
struct passing {
    struct nd_run *run;
    const struct nd_reading_batch *batch;
    struct nd_pending *pending;
    struct listed *now, *next, listed[2];
    struct nd_reading_batch *ahead; /* being parsed for `next`, or NULL */
    struct nd_decision *decision;
    size_t n_decisions;
    uint64_t first; /* number of the batch's first document */
};

/* The stages of the work ahead. */
enum { STAGE_PARSE, STAGE_HASH, STAGE_PREPARE, N_STAGES };

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    struct nd_run *run = ((struct passing *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);
    struct nd_document found;
    enum nd_status status = nd_lookup_document(run->lookup, &place, worker, &found, err);

    if (status == ND_OK)
        *text = found.text;
    return status;
}

/* The documents between the last kept one and this were removed. */
static bool fill_places(struct nd_run *run, uint64_t up_to)
{
    while (run->places.documents < up_to)
        if (!nd_places_add(&run->places, NULL))
            return false;
    return true;
}

static enum nd_status keep(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    struct passing *p = context;
    struct nd_run *run = p->run;
    struct nd_place place;
    enum nd_status status =
        nd_lookup_keep(run->lookup, &p->batch->parsed[p->now->at[item]].record, &place, err);

    if (status != ND_OK)
        return status;
    if (run->rows || run->clusters) {
        const struct nd_parsed *parsed = &p->batch->parsed[p->now->at[item]];

        nd_lookup_remember(run->lookup, document, &parsed->document,
                           nd_reading_source(run->reading, place.source), place.line);
    }
    if (!nd_members_set(run, run->places.count, 1) || !fill_places(run, document) ||
        !nd_places_add(&run->places, &place))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static bool reserve(struct listed *list, size_t n)
{
    void *item = list->item, *at = list->at;
    size_t capacity[2] = {list->capacity, list->capacity};
    bool ok = nd_array_reserve(&item, &capacity[0], n, sizeof *list->item) &&
              nd_array_reserve(&at, &capacity[1], n, sizeof *list->at);

    list->item = item;
    list->at = at;
    if (ok)
        list->capacity = capacity[0];
    return ok;
}

/* The documents of the batch as items for the engine; false: out of memory. */
static bool list_items(struct nd_run *run, const struct nd_reading_batch *batch,
                       struct listed *list)
{
    list->n = 0;
    if (!reserve(list, batch->count))
        return false;
    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];
        struct nd_dedup_item *item = &list->item[list->n];

        if (parsed->bad)
            continue;
        *item =
            (struct nd_dedup_item){.text = parsed->document.text, .document = &parsed->document};
        if (!nd_groups_number(&run->groups, nd_run_field(&parsed->document, run->within_at),
                              &item->group))
            return false;
        list->at[list->n++] = (uint32_t)i;
    }
    list->batch = batch;
    return true;
}

/* What fails ahead is done again when it is needed, and fails there if it must. */
static size_t begin_hashing(void *context)
{
    struct passing *p = context;

    if (!list_items(p->run, p->ahead, p->next))
        return 0;
    return nd_dedup_ahead(p->run->dedup, p->next->item, p->next->n);
}

static void hash(void *context, size_t task, unsigned worker)
{
    nd_dedup_ahead_hash(((struct passing *)context)->run->dedup, task, worker);
}

/* What the threads do that have no part in deciding this batch. */
static void go_on(void *context)
{
    struct passing *p = context;
    struct nd_stage stage[N_STAGES];

    nd_reading_go_on(p->run->reading);
    if (!nd_reading_ahead(p->run->reading, &stage[STAGE_PARSE], &p->ahead))
        return;
    stage[STAGE_HASH] = (struct nd_stage){begin_hashing, hash, p};
    stage[STAGE_PREPARE] =
        (struct nd_stage){nd_dedup_ahead_group, nd_dedup_ahead_prepare, p->run->dedup};
    nd_pool_ahead(p->run->pool, stage, N_STAGES);
}

/* The documents of the batch, listed by now or ahead, and a decision for each. */
static enum nd_status take_items(struct passing *p, struct nd_error *err)
{
    struct listed *list = p->next;
    void *decision = p->decision;

    p->next = p->now;
    p->now = list;
    p->next->batch = NULL;
    if (list->batch != p->batch && !list_items(p->run, p->batch, list))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (!nd_array_reserve(&decision, &p->n_decisions, list->n, sizeof *p->decision))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    p->decision = decision;
    return ND_OK;
}

static struct nd_party party_of(struct nd_run *run, const struct nd_parsed *parsed, unsigned room)
{
    const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);

    return (struct nd_party){
        nd_name_of(&parsed->document, source, parsed->record.line, &run->name_room[room]), source,
        parsed->record.line};
}

/* The kept document: of this batch, or looked up. */
static enum nd_status find_kept(struct passing *p, uint64_t number, struct nd_party *kept,
                                struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_place place;

    if (number >= p->first) {
        *kept = party_of(run, &p->batch->parsed[p->now->at[number - p->first]], 1);
        return ND_OK;
    }
    place = nd_places_get(&run->places, number);
    kept->source = nd_reading_source(run->reading, place.source);
    kept->line = place.line;
    return nd_lookup_name(run->lookup, number, &place, &kept->name, err);
}

static enum nd_status note_removed(struct passing *p, const struct nd_parsed *parsed,
                                   const struct nd_decision *decision, struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_party removed, kept;
    enum nd_status status;

    run->members[nd_places_rank(&run->places, decision->kept)]++;
    if (!run->rows && !run->clusters)
        return ND_OK;
    removed = party_of(run, parsed, 0);
    status = find_kept(p, decision->kept, &kept, err);
    if (status != ND_OK)
        return status;
    if (run->rows)
        nd_row_removed(&p->pending->manifest, &run->place_room, &removed, &kept, decision,
                       run->options, NULL);
    if (run->clusters)
        nd_row_cluster(&p->pending->clusters, &removed.name, &kept.name);
    return ND_OK;
}

static enum nd_status note_kept(struct passing *p, const struct nd_parsed *parsed, uint32_t at,
                                struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_pending *pending = p->pending;
    void *survivor = pending->survivor;

    if (run->clusters) {
        struct nd_name name = party_of(run, parsed, 0).name;

        nd_row_cluster(&pending->clusters, &name, &name);
    }
    if (!run->survivors)
        return ND_OK;
    if (!nd_array_reserve(&survivor, &pending->capacity, pending->n_survivors + 1,
                          sizeof *pending->survivor))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    pending->survivor = survivor;
    pending->survivor[pending->n_survivors++] = at;
    return ND_OK;
}

static enum nd_status note_bad(struct passing *p, const struct nd_parsed *parsed,
                               struct nd_error *err)
{
    struct nd_run *run = p->run;
    const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);

    if (run->rows)
        nd_row_skipped(&p->pending->manifest, &run->place_room, source, parsed->record.line,
                       parsed->bad->reason);
    return nd_run_bad_record(run, source, parsed->record.line, parsed->bad->reason, err);
}

/* What became of the batch, in the order of the input. */
static enum nd_status note_all(struct passing *p, struct nd_error *err)
{
    enum { AHEAD = 8 };
    struct nd_run *run = p->run;
    enum nd_status status = ND_OK;
    size_t n = 0;

    for (size_t i = 0; status == ND_OK && i < p->batch->count; i++) {
        const struct nd_parsed *parsed = &p->batch->parsed[i];
        const struct nd_decision *decision = &p->decision[n];

        if (i + AHEAD < p->batch->count && !parsed[AHEAD].bad)
            nd_run_expect_id(run, &parsed[AHEAD].document);
        if (parsed->bad) {
            status = note_bad(p, parsed, err);
            continue;
        }
        nd_run_note_id(run, &parsed->document,
                       nd_reading_source(run->reading, parsed->record.source), parsed->record.line);
        if (run->unmet)
            nd_run_meet_fields(run, &parsed->document, 0);
        if (decision->kept == p->first + n)
            status = note_kept(p, parsed, (uint32_t)i, err);
        else
            status = note_removed(p, parsed, decision, err);
        n++;
    }
    return status;
}

static enum nd_status decide_batch(struct passing *p, struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_run_progress progress = {
        .bytes_done = p->batch->done, .bytes_total = p->batch->total, .pass = 1, .passes = 1};
    enum nd_status status = take_items(p, err);

    if (status == ND_OK)
        status = nd_dedup_push(run->dedup, p->now->item, p->now->n, p->decision, err);
    if (status == ND_OK && !fill_places(run, p->first + p->now->n))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = note_all(p, err);
    p->first += p->now->n;
    run->summary->repaired += p->batch->repaired;
    progress.documents = p->first;
    return status == ND_OK ? nd_run_tell(run, &progress, err) : status;
}

/* In the job beside the pool: the batch's records are still in its slot. */
static enum nd_status write_slot(void *context, unsigned slot, struct nd_error *err)
{
    struct nd_run *run = context;
    struct nd_pending *pending = &run->pending[slot];
    const struct nd_reading_batch *batch = pending->batch;
    enum nd_status status = ND_OK;

    if (pending->n_survivors)
        nd_survivors_borrow(run->survivors);
    for (size_t i = 0; status == ND_OK && i < pending->n_survivors; i++) {
        const struct nd_record *record = &batch->parsed[pending->survivor[i]].record;

        status = nd_run_survive(run, record->source, record->bytes, err);
    }
    if (pending->n_survivors && status == ND_OK)
        status = nd_survivors_return(run->survivors, err);
    return status == ND_OK ? nd_run_write_pending(run, pending, err) : status;
}

const struct nd_reading_hooks nd_one_pass_hooks = {.write = write_slot, .goes_on = true};

static void count(struct nd_run *run)
{
    struct nd_dedup_stats stats;

    nd_dedup_get_stats(run->dedup, &stats);
    run->summary->documents = stats.documents;
    run->summary->kept = stats.kept;
    run->summary->removed = stats.documents - stats.kept;
    run->summary->identical_bytes = stats.identical_bytes;
    run->summary->identical_tokens = stats.identical_tokens;
    run->summary->near = stats.near;
}

enum nd_status nd_run_one_pass(struct nd_run *run, struct nd_error *err)
{
    struct passing p = {.run = run, .now = &p.listed[0], .next = &p.listed[1]};
    const struct nd_text_source source = {&p, fetch, keep};
    struct nd_reading_batch *batch;
    enum nd_status status = nd_run_make_dedup(run, &source, err);
    int got = 1;

    if (status == ND_OK)
        nd_dedup_on_begun(run->dedup, go_on, &p);
    while (status == ND_OK && (got = nd_reading_next(run->reading, &batch, err)) > 0) {
        p.batch = batch;
        p.pending = &run->pending[batch->slot];
        p.pending->batch = batch;
        status = decide_batch(&p, err);
        if (status == ND_OK)
            nd_pool_reach(run->pool, STAGE_PREPARE);
        else
            nd_pool_drop(run->pool);
    }
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    for (unsigned i = 0; i < 2; i++) {
        free(p.listed[i].item);
        free(p.listed[i].at);
    }
    free(p.decision);
    if (status != ND_OK)
        return status;
    count(run);
    return nd_members_summarise(run, run->places.count, err);
}
