/* run_one_pass.c - the first of equals is kept: everything leaves as it is decided */
#include "pipeline/run_state.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ROOMS = 3 }; /* scratch for the names and the place of a row */

/* The batch of a worker, and what is made of it. */
struct lane {
    struct nd_reading_batch *batch;
    struct nd_dedup_item *item; /* its documents, bad records left out */
    uint32_t *at;               /* place in the batch, by item */
    size_t n;
    uint64_t first; /* number of its first document */
    struct nd_decision *decision;
    struct nd_party *kept; /* by item: where the document that removed it is of an earlier batch */
    struct nd_arena names; /* theirs */
    uint32_t *survivor;    /* places in the batch */
    size_t n_survivors;
    size_t items, ats, decisions, kepts, survivors; /* capacities */
    struct nd_json room[ROOMS];                     /* scratch for names and places */
    struct nd_pending pending;
    bool is_listed, is_decided;
};

/*
 * Every thread takes batches of its own through four steps: read, parse and prepare, decide, write.
 * Preparing, the most of the work, has no order; each of the others is done in the order of the
 * batches, by one thread at a time.  So a batch stays in the caches of one processor from its
 * reading to its writing, and threads meet where they must: at the input, the index and the output.
 * One that waits to decide helps the one that decides.
 *
 * What is held of a document after its batch: 24 bytes of place and 4 of count where it is kept, a
 * bit where not; the engine's index comes on top.
 */
struct passing {
    struct nd_run *run;
    struct lane *lane; /* one a worker */
    atomic_ulong ticket;
    struct nd_turn read, decide, write;
    const struct lane *now; /* being decided */
    uint64_t first;         /* number of its first document */
    atomic_bool is_over;
    struct failure {
        enum nd_status status;
        struct nd_error error;
    } decided, wrote, told;
};

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
        nd_lookup_keep(run->lookup, &p->now->batch->parsed[p->now->at[item]].record, &place, err);

    if (status != ND_OK)
        return status;
    if (run->rows || run->clusters) {
        const struct nd_parsed *parsed = &p->now->batch->parsed[p->now->at[item]];

        nd_lookup_remember(run->lookup, document, &parsed->document,
                           nd_reading_source(run->reading, place.source), place.line);
    }
    if (!nd_members_set(run, run->places.count, 1) || !fill_places(run, document) ||
        !nd_places_add(&run->places, &place))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

/* `array` is where the pointer to it stands. */
static bool grow(void *array, size_t *capacity, size_t n, size_t size)
{
    void *memory;
    bool ok;

    memcpy(&memory, array, sizeof memory);
    ok = nd_array_reserve(&memory, capacity, n, size);
    memcpy(array, &memory, sizeof memory);
    return ok;
}

static bool reserve(struct lane *lane, size_t n)
{
    return grow(&lane->item, &lane->items, n, sizeof *lane->item) &&
           grow(&lane->at, &lane->ats, n, sizeof *lane->at) &&
           grow(&lane->decision, &lane->decisions, n, sizeof *lane->decision) &&
           grow(&lane->kept, &lane->kepts, n, sizeof *lane->kept) &&
           grow(&lane->survivor, &lane->survivors, n, sizeof *lane->survivor);
}

/* Lanes number groups as they come; what depends on the numbers is no more than the place of an
 * entry in a table. */
static bool number_group(struct nd_run *run, const struct nd_document *document, uint32_t *group)
{
    bool ok;

    if (run->within_at < 0)
        return true;
    nd_pool_lock(run->pool);
    ok = nd_groups_number(&run->groups, nd_run_field(document, run->within_at), group);
    nd_pool_unlock(run->pool);
    return ok;
}

/* The documents of the batch as items for the engine; false: out of memory. */
static bool list_items(struct nd_run *run, struct lane *lane)
{
    lane->n = 0;
    if (!reserve(lane, lane->batch->count))
        return false;
    for (size_t i = 0; i < lane->batch->count; i++) {
        const struct nd_parsed *parsed = &lane->batch->parsed[i];
        struct nd_dedup_item *item = &lane->item[lane->n];

        if (parsed->bad)
            continue;
        *item =
            (struct nd_dedup_item){.text = parsed->document.text, .document = &parsed->document};
        if (!number_group(run, &parsed->document, &item->group))
            return false;
        lane->at[lane->n++] = (uint32_t)i;
    }
    return true;
}

static void prepare(struct nd_run *run, struct lane *lane, unsigned worker)
{
    nd_reading_parse(run->reading, worker, &lane->batch);
    lane->is_listed = list_items(run, lane);
    if (lane->is_listed)
        nd_dedup_prepare(run->dedup, worker, lane->item, lane->n);
}

static struct nd_party party_of(const struct nd_run *run, const struct nd_parsed *parsed,
                                struct nd_json *room)
{
    const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);

    return (struct nd_party){nd_name_of(&parsed->document, source, parsed->record.line, room),
                             source, parsed->record.line};
}

/* A kept document of an earlier batch: its name is copied, as it may soon be forgotten. */
static enum nd_status find_kept(struct nd_run *run, struct lane *lane, uint64_t number,
                                struct nd_party *kept, struct nd_error *err)
{
    const struct nd_place place = nd_places_get(&run->places, number);
    enum nd_status status = nd_lookup_name(run->lookup, number, &place, &kept->name, err);
    char *copy;

    if (status != ND_OK)
        return status;
    kept->source = nd_reading_source(run->reading, place.source);
    kept->line = place.line;
    copy = nd_arena_copy(&lane->names, kept->name.text.data, kept->name.text.len);
    if (!copy)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    kept->name.text.data = copy;
    return ND_OK;
}

static enum nd_status note_removed(struct passing *p, struct lane *lane, size_t item,
                                   struct nd_error *err)
{
    struct nd_run *run = p->run;
    uint64_t kept = lane->decision[item].kept;

    run->members[nd_places_rank(&run->places, kept)]++;
    if ((!run->rows && !run->clusters) || kept >= p->first)
        return ND_OK;
    return find_kept(run, lane, kept, &lane->kept[item], err);
}

/* What became of the batch, in the order of the input. */
static enum nd_status note_all(struct passing *p, struct lane *lane, struct nd_error *err)
{
    enum { AHEAD = 8 };
    struct nd_run *run = p->run;
    const struct nd_reading_batch *batch = lane->batch;
    enum nd_status status = ND_OK;
    size_t n = 0;

    nd_arena_reset(&lane->names);
    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];
        const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);

        if (i + AHEAD < batch->count && !parsed[AHEAD].bad)
            nd_run_expect_id(run, &parsed[AHEAD].document);
        if (parsed->bad) {
            status = nd_run_bad_record(run, source, parsed->record.line, parsed->bad->reason, err);
            continue;
        }
        nd_run_note_id(run, &parsed->document, source, parsed->record.line);
        if (run->unmet)
            nd_run_meet_fields(run, &parsed->document, 0);
        if (lane->decision[n].kept != p->first + n)
            status = note_removed(p, lane, n, err);
        n++;
    }
    return status;
}

static void put_removed(const struct nd_run *run, struct lane *lane, const struct nd_parsed *parsed,
                        size_t item)
{
    const struct nd_decision *decision = &lane->decision[item];
    const struct nd_party removed = party_of(run, parsed, &lane->room[0]);
    struct nd_party kept;

    if (decision->kept < lane->first)
        kept = lane->kept[item];
    else
        kept = party_of(run, &lane->batch->parsed[lane->at[decision->kept - lane->first]],
                        &lane->room[1]);
    if (run->rows)
        nd_row_removed(&lane->pending.manifest, &lane->room[2], &removed, &kept, decision,
                       run->options, NULL);
    if (run->clusters)
        nd_row_cluster(&lane->pending.clusters, &removed.name, &kept.name);
}

static void put_kept(const struct nd_run *run, struct lane *lane, size_t place)
{
    if (run->clusters) {
        const struct nd_name name = party_of(run, &lane->batch->parsed[place], &lane->room[0]).name;

        nd_row_cluster(&lane->pending.clusters, &name, &name);
    }
    lane->survivor[lane->n_survivors++] = (uint32_t)place;
}

/* The rows of the batch, and its survivors; no other batch is touched. */
static void put_all(const struct nd_run *run, struct lane *lane)
{
    size_t n = 0;

    lane->n_survivors = 0;
    for (size_t i = 0; i < lane->batch->count; i++) {
        const struct nd_parsed *parsed = &lane->batch->parsed[i];

        if (!parsed->bad && lane->decision[n].kept == lane->first + n)
            put_kept(run, lane, i);
        else if (!parsed->bad && (run->rows || run->clusters))
            put_removed(run, lane, parsed, n);
        else if (parsed->bad && run->rows)
            nd_row_skipped(&lane->pending.manifest, &lane->room[2],
                           nd_reading_source(run->reading, parsed->record.source),
                           parsed->record.line, parsed->bad->reason);
        n += !parsed->bad;
    }
    for (unsigned i = 0; i < ROOMS; i++)
        lane->pending.manifest.failed |= lane->room[i].failed;
}

static enum nd_status decide_batch(struct passing *p, struct lane *lane, unsigned worker,
                                   struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_run_progress progress = {
        .bytes_done = lane->batch->done, .bytes_total = lane->batch->total, .pass = 1, .passes = 1};
    enum nd_status status = ND_OK;

    if (!lane->is_listed)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    lane->first = p->first;
    if (status == ND_OK)
        status = nd_dedup_push_prepared(run->dedup, worker, lane->decision, err);
    if (status == ND_OK && !fill_places(run, p->first + lane->n))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK)
        status = note_all(p, lane, err);
    p->first += lane->n;
    run->summary->repaired += lane->batch->repaired;
    progress.documents = p->first;
    return status == ND_OK ? nd_run_tell(run, &progress, err) : status;
}

/* In the order of the batches.  Nothing more is decided after the end, or what failed. */
static void decide_in_turn(struct passing *p, struct lane *lane, unsigned worker)
{
    struct failure *f = &p->decided;
    int got;

    lane->is_decided = false;
    if (atomic_load(&p->is_over))
        return;
    p->now = lane;
    got = nd_reading_take(p->run->reading, worker, &f->error);
    if (got < 0)
        f->status = (enum nd_status)got;
    else if (got > 0)
        f->status = decide_batch(p, lane, worker, &f->error);
    lane->is_decided = got > 0 && f->status == ND_OK;
    if (!lane->is_decided)
        atomic_store(&p->is_over, true);
}

/* The records that are no survivors, bad ones among them. */
static enum nd_status write_removed(struct nd_run *run, const struct lane *lane,
                                    struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t next = 0;

    for (size_t i = 0; status == ND_OK && i < lane->batch->count; i++) {
        const struct nd_record *record = &lane->batch->parsed[i].record;

        if (next < lane->n_survivors && lane->survivor[next] == i)
            next++;
        else
            status = nd_run_remove(run, record->source, record->bytes, err);
    }
    return status;
}

static enum nd_status write_batch(struct nd_run *run, struct lane *lane, struct nd_error *err)
{
    size_t n = run->survivors ? lane->n_survivors : 0;
    enum nd_status status = ND_OK;

    if (run->removed)
        status = write_removed(run, lane, err);
    if (n && status == ND_OK)
        nd_survivors_borrow(run->survivors);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        const struct nd_record *record = &lane->batch->parsed[lane->survivor[i]].record;

        status = nd_run_survive(run, record->source, record->bytes, err);
    }
    if (n && status == ND_OK)
        status = nd_survivors_return(run->survivors, err);
    return status == ND_OK ? nd_run_write_pending(run, &lane->pending, err) : status;
}

static void write_in_turn(struct passing *p, struct lane *lane)
{
    struct failure *f = &p->wrote;

    if (!lane->is_decided || f->status != ND_OK)
        return;
    f->status = write_batch(p->run, lane, &f->error);
    if (f->status != ND_OK)
        atomic_store(&p->is_over, true);
}

/* By the thread that runs, between its batches. */
static void tell(struct passing *p)
{
    struct failure *f = &p->told;

    if (f->status != ND_OK)
        return;
    f->status = nd_run_tell_now(p->run, &f->error);
    if (f->status != ND_OK)
        atomic_store(&p->is_over, true);
}

static void go_through(void *context, unsigned worker)
{
    struct passing *p = context;
    struct nd_run *run = p->run;
    struct lane *lane = &p->lane[worker];

    while (!atomic_load(&p->is_over)) {
        unsigned long ticket = atomic_fetch_add(&p->ticket, 1);

        nd_pool_await(run->pool, &p->read, ticket);
        nd_reading_fill(run->reading, worker);
        nd_pool_pass(run->pool, &p->read);
        prepare(run, lane, worker);
        nd_pool_lead(run->pool, worker, &p->decide, ticket);
        decide_in_turn(p, lane, worker);
        nd_pool_pass(run->pool, &p->decide);
        if (lane->is_decided)
            put_all(run, lane);
        nd_pool_await(run->pool, &p->write, ticket);
        write_in_turn(p, lane);
        nd_pool_pass(run->pool, &p->write);
        if (worker == 0)
            tell(p);
    }
}

const struct nd_reading_hooks nd_one_pass_hooks = {.in_lanes = true};

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

static void release_lanes(const struct passing *p)
{
    for (unsigned i = 0; i < nd_pool_threads(p->run->pool); i++) {
        free(p->lane[i].item);
        free(p->lane[i].at);
        free(p->lane[i].decision);
        free(p->lane[i].kept);
        free(p->lane[i].survivor);
        nd_arena_release(&p->lane[i].names);
        for (unsigned k = 0; k < ROOMS; k++)
            nd_json_release(&p->lane[i].room[k]);
        nd_pending_release(&p->lane[i].pending);
    }
    free(p->lane);
}

/* What was written goes before what was decided. */
static enum nd_status result_of(const struct passing *p, struct nd_error *err)
{
    const struct failure *f = p->wrote.status != ND_OK     ? &p->wrote
                              : p->decided.status != ND_OK ? &p->decided
                                                           : &p->told;

    if (f->status != ND_OK && err)
        *err = f->error;
    return f->status;
}

enum nd_status nd_run_one_pass(struct nd_run *run, struct nd_error *err)
{
    struct passing p = {.run = run};
    const struct nd_text_source source = {&p, fetch, keep};
    enum nd_status status = nd_run_make_dedup(run, &source, err);

    if (status != ND_OK)
        return status;
    p.lane = calloc(nd_pool_threads(run->pool), sizeof *p.lane);
    if (!p.lane)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    run->tells_later = nd_pool_threads(run->pool) > 1;
    nd_pool_each(run->pool, go_through, &p);
    tell(&p);
    run->tells_later = false;
    release_lanes(&p);
    status = result_of(&p, err);
    if (status != ND_OK)
        return status;
    count(run);
    return nd_members_summarise(run, run->places.count, err);
}
