/* one_pass.c - the first of equals is kept: everything leaves as it is decided */
#include "run/run_parts.h"

#include "base/memory.h"
#include "base/thread/thread.h"
#include "evidence/difference.h"
#include "report/revisit.h"
#include "report/summary.h"
#include "sketches/known_rows.h"

#include <stdlib.h>
#include <string.h>

/*
 * Every thread takes batches of its own through seven steps:
 *
 *   thread A   read 0 | cut 0 | parse, sketch 0 | decide 0 | note 0 | rows 0 | write 0 | read 2 | …
 *   thread B   read 1         | cut 1 | parse, sketch 1    | decide 1 | note 1 | rows 1 | write 1
 *                      in turn                    in turn    in turn             in turn
 *
 * Reading (of plain files; others are read as they are cut), parsing and sketching (prepare) and the
 * rows of the manifest (make_rows) are most of the work, and have no order.  Nor has the writing to
 * files that nobody sees yet, among them the copies of kept records that cannot be read again: its
 * turn only reserves the places (place_batch, keep), to which the bytes go after it (write_late).  Each of the other steps is done in the order of the batches, by one thread at a
 * time.  So a batch stays in the caches of one processor from its reading to its writing, and
 * threads meet only where they must: at the input, the index and the output.  A thread that waits to
 * decide does tasks of the thread that decides.
 *
 * Why the result does not depend on the number of threads, though several batches are in flight:
 * what is prepared depends on the document and the recipe alone; a ticket is drawn before a batch is
 * cut, and the turns go through the tickets in order, so the records are cut, numbered, decided and
 * written as a single thread would; the rows read only what deciding left in the batch itself.  That
 * is why note_name copies the names of kept documents of earlier batches: the cache that finds them
 * already serves the next batch when the rows are made.
 *
 * A document leaves behind, after its batch, 24 bytes of place and 4 of count where it is kept, a
 * bit where not; the engine's index comes on top.
 */

enum { N_SCRATCH = 4 }; /* scratch for the two names and the place in a row; a second place */

#define NOT_PLACED UINT32_MAX

/* The batch of one worker, and what is computed for it. */
struct worker_batch {
    struct nd_reading_batch *batch;
    struct nd_dedup_item *item; /* its documents, without bad records */
    uint32_t *index;            /* index of each item's record in the batch */
    uint64_t *id_hash;          /* by item, as the next one */
    struct nd_place *own;       /* where it is; source NOT_PLACED: it must be copied to be kept */
    size_t n;
    uint64_t first; /* number of its first document */
    struct nd_decision *decision;
    struct nd_place *place; /* by item: of the kept document, if that is in an earlier batch */
    struct nd_party *kept;  /* and its name */
    struct nd_arena names;  /* the bytes of those names */
    uint32_t *survivor;     /* indexes of records */
    size_t n_survivors;
    size_t items, indexes, id_hashes, owns, decisions, places, kepts, survivors; /* capacities */
    struct nd_json scratch[N_SCRATCH];
    struct nd_rows rows;
    uint64_t measured[ND_MEASURED];        /* totals of all batches so far */
    bool is_listed, is_decided, is_placed; /* placed: what it writes has its places */
    struct nd_late_writes late;
    struct nd_late_write copies; /* of records that cannot be read again, to the spool */
    struct turn_times {
        uint64_t read, decide, note, write, others;
    } spent;                     /* nanoseconds of processor time: in turns, and in between */
    uint64_t lap;                /* when the thread began what it does */
    struct nd_error failed;      /* after the batch was decided, before its turn to write */
    struct nd_error not_written; /* after that turn */
};

/* ---- What leaves of a batch: rows, survivors ---- */

static void release_batch(struct worker_batch *b)
{
    free(b->item);
    free(b->index);
    free(b->id_hash);
    free(b->own);
    free(b->decision);
    free(b->place);
    free(b->kept);
    free(b->survivor);
    nd_arena_release(&b->names);
    for (unsigned k = 0; k < N_SCRATCH; k++)
        nd_json_release(&b->scratch[k]);
    nd_rows_release(&b->rows);
    nd_late_writes_release(&b->late);
    nd_late_write_release(&b->copies);
}

static struct nd_party party_of(const struct nd_parsed *parsed, struct nd_json *scratch)
{
    return (struct nd_party){
        nd_name_of(&parsed->document, parsed->source, parsed->record.line, scratch),
        nd_at_of(parsed->source, parsed->record.line)};
}

/* Whether an item is a duplicate of a document of an earlier batch. */
static bool follows_earlier(const struct worker_batch *b, size_t item)
{
    return b->decision[item].kept < b->first;
}

/* Find the text of the document that an item was removed for: in the batch, or else it is read again;
 * valid until the worker looks up something else. */
static enum nd_status kept_text(struct nd_run *run, struct worker_batch *b, size_t item,
                                unsigned worker, struct nd_view *text, struct nd_error *err)
{
    enum nd_status status;

    if (!follows_earlier(b, item)) {
        *text = nd_text_there(
            b->batch->parsed[b->index[b->decision[item].kept - b->first]].document.text);
        return ND_OK;
    }
    nd_pool_read_lock(run->pool, worker); /* a document that is kept now may go to the spool */
    status = nd_lookup_text(run->lookup, &b->place[item], worker, text, err);
    nd_pool_read_unlock(run->pool, worker);
    return status;
}

/* Remember a removal for the page, if it is one that the page shows. */
static enum nd_status note_example(struct nd_run *run, struct worker_batch *b, size_t item,
                                   unsigned worker, const struct nd_party *removed,
                                   const struct nd_party *kept, struct nd_error *err)
{
    const struct nd_noted_removal noted = {removed, kept, &b->decision[item], &b->scratch[2],
                                           &b->scratch[3]};
    struct nd_example example;
    enum nd_status status = ND_OK;

    if (!nd_run_wants_example(run, &noted, &example))
        return ND_OK;
    example.text[1] = nd_text_there(b->batch->parsed[b->index[item]].document.text);
    if (follows_earlier(b, item))
        example.kept = b->place[item];
    if (!follows_earlier(b, item) || nd_examples_needs_both(run->examples, &example))
        status = kept_text(run, b, item, worker, &example.text[0], err);
    return status == ND_OK ? nd_examples_add(run->examples, &example, err) : status;
}

/* Compare the text of a removed document with that of the kept one; *out is valid until the worker looks up something else. */
static enum nd_status find_difference(struct nd_run *run, struct worker_batch *b, size_t item,
                                      unsigned worker, struct nd_difference *out,
                                      struct nd_error *err)
{
    struct nd_view kept;
    enum nd_status status = ND_OK;

    *out = (struct nd_difference){.by = ND_DIFFERS_NOTHING};
    if (b->decision[item].identical == ND_IDENTICAL_BYTES)
        return ND_OK;
    status = kept_text(run, b, item, worker, &kept, err);
    return status == ND_OK
               ? nd_difference_of(b->batch->parsed[b->index[item]].document.text, kept, out, err)
               : status;
}

/* Make the revisit record of a removed one, of the records as they stand in the archives. */
static enum nd_status put_revisit(struct nd_run *run, struct worker_batch *b, size_t item,
                                  unsigned worker, struct nd_error *err)
{
    const struct nd_decision *decision = &b->decision[item];
    const struct nd_parsed *removed = &b->batch->parsed[b->index[item]], *kept;
    const struct nd_place *place = &b->place[item];
    struct nd_revisit revisit = {
        .removed = {removed->source, removed->record.bytes, removed->record.line},
        .decision = decision,
        .recipe = run->recipe,
        .fingerprint = run->outputs.fingerprint};
    enum nd_status status;

    if (!follows_earlier(b, item)) {
        kept = &b->batch->parsed[b->index[decision->kept - b->first]];
        revisit.kept =
            (struct nd_revisit_record){kept->source, kept->record.bytes, kept->record.line};
        return nd_revisit_put(&b->rows.revisits, &revisit, err);
    }
    revisit.kept.source = nd_reading_source(run->reading, place->source);
    revisit.kept.line = place->line;
    nd_pool_read_lock(run->pool, worker); /* a document that is kept now may go to the spool */
    status = nd_lookup_record(run->lookup, place, worker, &revisit.kept.bytes, err);
    nd_pool_read_unlock(run->pool, worker);
    return status == ND_OK ? nd_revisit_put(&b->rows.revisits, &revisit, err) : status;
}

static enum nd_status put_removed(struct nd_run *run, struct worker_batch *b, size_t item,
                                  unsigned worker, struct nd_error *err)
{
    struct nd_row_parts parts = {.via = NULL};
    struct nd_difference differs;
    enum nd_status status = ND_OK;
    const struct nd_decision *decision = &b->decision[item];
    const struct nd_parsed *parsed = &b->batch->parsed[b->index[item]];
    struct nd_party removed, kept;

    if (decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(b->measured, &run->recipe->dedup, &decision->overlap, &decision->overlap);
    if (!nd_outputs_has_names(&run->outputs))
        return ND_OK;
    removed = party_of(parsed, &b->scratch[0]);
    if (decision->kept < b->first)
        kept = b->kept[item];
    else
        kept = party_of(&b->batch->parsed[b->index[decision->kept - b->first]], &b->scratch[1]);
    if (run->examples)
        status = note_example(run, b, item, worker, &removed, &kept, err);
    if (status == ND_OK && run->outputs.rows && run->options->differs) {
        status = find_difference(run, b, item, worker, &differs, err);
        parts.differs = &differs;
    }
    if (status == ND_OK && run->outputs.rows)
        nd_row_removed(&b->rows.manifest, &b->scratch[2], &removed, &kept, decision, run->recipe,
                       parts);
    if (run->outputs.clusters)
        nd_row_cluster(&b->rows.clusters, &removed.name, &kept.name, NULL);
    return status == ND_OK && run->outputs.revisits ? put_revisit(run, b, item, worker, err)
                                                    : status;
}

static void put_kept(const struct nd_run *run, struct worker_batch *b, size_t place)
{
    struct nd_name name;

    if (run->outputs.clusters) {
        name = party_of(&b->batch->parsed[place], &b->scratch[0]).name;
        nd_row_cluster(&b->rows.clusters, &name, &name, NULL);
    }
    b->survivor[b->n_survivors++] = (uint32_t)place;
}

static void put_bad(const struct nd_run *run, struct worker_batch *b, size_t place)
{
    const struct nd_parsed *parsed = &b->batch->parsed[place];
    const struct nd_at at = nd_at_of(parsed->source, parsed->record.line);

    if (run->outputs.rows)
        nd_row_skipped(&b->rows.manifest, &b->scratch[2], &at, parsed->bad->reason);
}

/* Format the rows of a batch that is decided, and list its survivors. */
static enum nd_status make_rows(struct nd_run *run, struct worker_batch *b, unsigned worker,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n = 0;

    b->n_survivors = 0;
    for (size_t i = 0; status == ND_OK && i < b->batch->count; i++) {
        const struct nd_parsed *parsed = &b->batch->parsed[i];

        if (parsed->bad)
            put_bad(run, b, i);
        else if (b->decision[n].kept == b->first + n)
            put_kept(run, b, i);
        else
            status = put_removed(run, b, n, worker, err);
        n += !parsed->bad;
    }
    for (unsigned i = 0; i < N_SCRATCH; i++)
        b->rows.manifest.failed |= b->scratch[i].failed;
    return status;
}

/* List the records that do not survive, including bad ones. */
static enum nd_status write_removed(struct nd_run *run, const struct worker_batch *b,
                                    struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t next = 0;

    for (size_t i = 0; status == ND_OK && i < b->batch->count; i++) {
        const struct nd_record *record = &b->batch->parsed[i].record;

        if (next < b->n_survivors && b->survivor[next] == i)
            next++;
        else
            status = nd_outputs_remove(&run->outputs, record, err);
    }
    return status;
}

/* Find the places of all that the batch writes; to pipes and packers it is written at once. */
static enum nd_status place_batch(struct nd_run *run, struct worker_batch *b, struct nd_error *err)
{
    size_t n = run->outputs.survivors ? b->n_survivors : 0;
    enum nd_status status = ND_OK;

    nd_outputs_borrow(&run->outputs, &b->late);
    if (run->outputs.removed)
        status = write_removed(run, b, err);
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        const struct nd_record *record = &b->batch->parsed[b->survivor[i]].record;

        status = nd_outputs_survive(&run->outputs, record, record->bytes, err);
    }
    return status == ND_OK ? nd_outputs_return(&run->outputs, &b->rows, &b->late, err) : status;
}

/* ---- The way of a batch ---- */

/* The state that the threads share. */
struct passing {
    struct nd_run *run;
    struct worker_batch *batch; /* one for each worker */
    struct nd_ticket_lock read, decide, note, write;
    struct worker_batch *now;    /* ticket of the batch being decided */
    uint64_t first;              /* number of its first document */
    atomic_bool is_over;         /* stop reading: the input has ended, or something failed */
    atomic_bool has_not_written; /* of a batch that had its turn */
    struct nd_error decided, wrote, delivered; /* each of one turn, or of one thread, only */
};

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    struct nd_run *run = ((struct passing *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_text(run->lookup, &place, worker, text, err);
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct nd_run *run = ((struct passing *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_shingles(run->lookup, &place, worker, shingle, n, err);
}

/* The documents between the last kept one and this one were removed. */
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
    struct worker_batch *b = p->now;
    struct nd_place place = b->own[item];
    enum nd_status status = ND_OK;

    if (place.source == NOT_PLACED)
        status = nd_lookup_keep(run->lookup, &b->batch->parsed[b->index[item]].record, &b->copies,
                                &place, err);
    if (status != ND_OK)
        return status;
    if (!nd_cluster_sizes_set(&run->sizes, run->places.count, 1) || !fill_places(run, document) ||
        !nd_places_add(&run->places, &place))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static bool reserve(struct worker_batch *b, size_t n)
{
    return ND_RESERVE(b->item, &b->items, n) && ND_RESERVE(b->index, &b->indexes, n) &&
           ND_RESERVE(b->id_hash, &b->id_hashes, n) && ND_RESERVE(b->own, &b->owns, n) &&
           ND_RESERVE(b->decision, &b->decisions, n) && ND_RESERVE(b->place, &b->places, n) &&
           ND_RESERVE(b->kept, &b->kepts, n) && ND_RESERVE(b->survivor, &b->survivors, n);
}

/* Make items for the engine from the documents of the batch. False: out of memory. */
static bool list_items(struct nd_run *run, struct worker_batch *b, unsigned worker)
{
    b->n = 0;
    if (run->known)
        nd_known_rows_begin(run->known, worker);
    if (!reserve(b, b->batch->count))
        return false;
    for (size_t i = 0; i < b->batch->count; i++) {
        const struct nd_parsed *parsed = &b->batch->parsed[i];
        struct nd_dedup_item *item = &b->item[b->n];
        struct nd_name id;

        if (parsed->bad)
            continue;
        *item = nd_parsed_item(parsed);
        if (run->known)
            item->known = nd_known_rows_find(run->known, worker, &parsed->document);
        if (!nd_comparable_item(&run->comparable, &parsed->document, item))
            return false;
        id = nd_id_of(&parsed->document);
        b->id_hash[b->n] = nd_id_hash(&id);
        if (!nd_lookup_find_place(run->lookup, &parsed->record, &b->own[b->n]))
            b->own[b->n].source = NOT_PLACED;
        b->index[b->n++] = (uint32_t)i;
    }
    return true;
}

/* Every batch is matched ahead, even one that will not be decided: others wait for it. */
static void prepare(struct nd_run *run, struct worker_batch *b, unsigned worker,
                    unsigned long ticket)
{
    nd_reading_parse(run->reading, worker, &b->batch);
    b->is_listed = list_items(run, b, worker);
    nd_dedup_prepare(run->dedup, worker, b->item, b->is_listed ? b->n : 0);
    nd_dedup_match_ahead(run->dedup, worker, ticket);
}

/* Count a removed document, and note where its kept one is if it must be named later. */
static void note_removed(struct passing *p, struct worker_batch *b, size_t item)
{
    struct nd_run *run = p->run;
    uint64_t kept = b->decision[item].kept;
    size_t rank = nd_places_rank(&run->places, kept);

    run->sizes.members[rank]++;
    if (run->request->watch)
        run->request->watch->removed(run->request->watch->context, p->first + item, kept,
                                     b->decision[item].identical);
    if (kept < p->first)
        b->place[item] = run->places.item[rank];
}

/* Record the decisions of the batch. */
static enum nd_status note_decisions(struct passing *p, struct worker_batch *b,
                                     struct nd_error *err)
{
    enum { AHEAD = 8 };
    const struct nd_run_watch *watch = p->run->request->watch;
    const struct nd_reading_batch *batch = b->batch;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && b->n < batch->count && i < batch->count; i++)
        if (batch->parsed[i].bad)
            status = nd_reporter_bad_record(&p->run->reporter, &batch->parsed[i],
                                            batch->parsed[i].bad->reason, err);
        else
            nd_reporter_meet(&p->run->reporter);
    if (b->n)
        nd_reporter_meet(&p->run->reporter);
    for (size_t n = 0; status == ND_OK && n < b->n; n++) {
        if (n + AHEAD < b->n && b->decision[n + AHEAD].kept < p->first)
            nd_places_prefetch(&p->run->places, b->decision[n + AHEAD].kept);
        if (watch && !watch->read(watch->context, p->first + n, &batch->parsed[b->index[n]]))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        if (status == ND_OK && b->decision[n].kept != p->first + n)
            note_removed(p, b, n);
    }
    return status;
}

/* Copy the name of a kept document, because the next batch may have it forgotten. */
static bool copy_name(struct worker_batch *b, size_t item, struct nd_name name)
{
    char *copy = nd_arena_copy(&b->names, name.text.data, name.text.len);

    b->kept[item].name = (struct nd_name){name.kind, {copy, name.text.len}};
    return copy != NULL;
}

/* Remember the name of a kept document; find that of the kept one of a removed document, if it is
 * remembered. */
static void note_name(const struct nd_run *run, struct worker_batch *b, size_t item)
{
    struct nd_name name;

    b->kept[item].name.text.data = NULL;
    if (b->decision[item].kept == b->first + item)
        nd_lookup_remember(run->lookup, b->first + item, &b->batch->parsed[b->index[item]]);
    else if (follows_earlier(b, item) &&
             nd_lookup_remembered(run->lookup, b->decision[item].kept, &name))
        (void)copy_name(b, item, name);
}

/* Note the ids, fields and names of the batch, in the order of the input. */
static void note_documents(struct nd_run *run, struct worker_batch *b)
{
    enum { AHEAD = 16 };
    bool has_names = nd_outputs_has_names(&run->outputs);

    nd_arena_reset(&b->names);
    for (size_t n = 0; n < b->n; n++) {
        const struct nd_parsed *parsed = &b->batch->parsed[b->index[n]];
        const struct nd_name id = nd_id_of(&parsed->document);
        const struct nd_at at = nd_at_of(parsed->source, parsed->record.line);

        if (n + AHEAD < b->n) {
            nd_id_check_prefetch(&run->ids, b->id_hash[n + AHEAD]);
            if (has_names && follows_earlier(b, n + AHEAD))
                nd_lookup_prefetch_remembered(run->lookup, b->decision[n + AHEAD].kept);
        }
        nd_id_check_note_hash(&run->ids, b->id_hash[n], &id, &at);
        nd_run_meet(run, parsed);
        if (has_names)
            note_name(run, b, n);
    }
}

/* Read the names again that were not remembered. */
static enum nd_status find_names(struct nd_run *run, struct worker_batch *b, unsigned worker,
                                 struct nd_error *err)
{
    if (!nd_outputs_has_names(&run->outputs))
        return ND_OK;
    for (size_t n = 0; n < b->n; n++) {
        const struct nd_place *place = &b->place[n];
        struct nd_name name;
        enum nd_status status = ND_OK;

        if (!follows_earlier(b, n))
            continue;
        b->kept[n].at = nd_at_of(nd_reading_source(run->reading, place->source), place->line);
        if (b->kept[n].name.text.data)
            continue;
        nd_pool_read_lock(run->pool, worker); /* what is kept meanwhile may go to the spool */
        status = nd_lookup_name_again(run->lookup, place, worker, &b->scratch[0], &name, err);
        nd_pool_read_unlock(run->pool, worker);
        if (status == ND_OK && !copy_name(b, n, name))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        if (status != ND_OK)
            return status;
    }
    return ND_OK;
}

static enum nd_status decide_batch(struct passing *p, struct worker_batch *b, unsigned worker,
                                   struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_run_progress progress = nd_progress_of(b->batch, 1);
    enum nd_status status = ND_OK;

    if (!b->is_listed)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    b->first = p->first;
    if (status == ND_OK)
        status = nd_dedup_push_prepared(run->dedup, worker, b->decision, err);
    if (status == ND_OK)
        status = note_decisions(p, b, err);
    p->first += b->n;
    run->summary->repaired += b->batch->repaired;
    progress.documents = p->first;
    return status == ND_OK ? nd_reporter_progress(&run->reporter, &progress, err) : status;
}

/* Decide batches in order. Nothing more is decided after the end or a failure. */
static void decide_in_turn(struct passing *p, struct worker_batch *b, unsigned worker)
{
    struct nd_error *f = &p->decided;
    int got;

    b->is_decided = false;
    if (atomic_load(&p->is_over)) {
        nd_dedup_end_ahead(p->run->dedup);
        return;
    }
    p->now = b;
    got = nd_reading_take(p->run->reading, worker, f);
    if (got < 0)
        f->status = (enum nd_status)got;
    else if (got > 0)
        f->status = decide_batch(p, b, worker, f);
    b->is_decided = got > 0 && f->status == ND_OK;
    if (b->is_decided)
        return;
    atomic_store(&p->is_over, true);
    nd_dedup_end_ahead(p->run->dedup);
}

static void write_decided(struct passing *p, struct worker_batch *b, unsigned worker)
{
    struct nd_error *f = &p->wrote;

    b->is_placed = false;
    if (!b->is_decided || f->status != ND_OK || atomic_load(&p->has_not_written))
        return;
    if (b->failed.status != ND_OK)
        *f = b->failed;
    else
        f->status = place_batch(p->run, b, f);
    b->is_placed = f->status == ND_OK;
    if (f->status == ND_OK)
        f->status = nd_run_keep_rows(p->run, worker, b->n, f);
    if (f->status != ND_OK)
        atomic_store(&p->is_over, true);
}

/* After the turn, beside others.  A file that cannot be written ends the run. */
static void write_late(struct passing *p, struct worker_batch *b)
{
    struct nd_error *f = &b->not_written;
    enum nd_status copied = nd_lookup_write_kept(p->run->lookup, &b->copies, f);

    if (copied == ND_OK && (!b->is_placed || f->status != ND_OK))
        return;
    f->status =
        copied == ND_OK ? nd_outputs_write_late(&p->run->outputs, &b->rows, &b->late, f) : copied;
    if (f->status == ND_OK)
        return;
    atomic_store(&p->has_not_written, true);
    atomic_store(&p->is_over, true);
}

/* Called by the thread that started the run, between its batches. */
static void deliver(struct passing *p)
{
    struct nd_error *f = &p->delivered;

    if (f->status != ND_OK)
        return;
    f->status = nd_reporter_deliver(&p->run->reporter, f);
    if (f->status != ND_OK)
        atomic_store(&p->is_over, true);
}

/* Count the time since the last lap for a step; what a thread waits is counted for none. */
static void begin_lap(struct worker_batch *b)
{
    b->lap = nd_thread_ns();
}

static void end_lap(struct worker_batch *b, uint64_t *step)
{
    uint64_t now = nd_thread_ns();

    *step += now - b->lap;
    b->lap = now;
}

static void read_in_turn(struct passing *p, struct worker_batch *b, unsigned worker,
                         unsigned long ticket)
{
    nd_pool_await(p->run->pool, &p->read, ticket);
    begin_lap(b);
    nd_reading_fill(p->run->reading, worker);
    end_lap(b, &b->spent.read);
    nd_pool_pass(p->run->pool, &p->read);
}

static void note_in_turn(struct passing *p, struct worker_batch *b, unsigned long ticket)
{
    nd_pool_await(p->run->pool, &p->note, ticket);
    begin_lap(b);
    if (b->is_decided)
        note_documents(p->run, b);
    end_lap(b, &b->spent.note);
    nd_pool_pass(p->run->pool, &p->note);
}

/* Find the names that the rows of a batch need, and make the rows.  The batch is decided and its
 * names are noted; batches may be finished in any order. */
static void finish_batch(struct nd_run *run, struct worker_batch *b, unsigned worker)
{
    b->failed.status = find_names(run, b, worker, &b->failed);
    if (b->failed.status == ND_OK)
        b->failed.status = make_rows(run, b, worker, &b->failed);
}

static void write_in_turn(struct passing *p, struct worker_batch *b, unsigned worker,
                          unsigned long ticket)
{
    nd_pool_await(p->run->pool, &p->write, ticket);
    begin_lap(b);
    write_decided(p, b, worker);
    end_lap(b, &b->spent.write);
    nd_pool_pass(p->run->pool, &p->write);
}

static void go_through(void *context, unsigned worker)
{
    struct passing *p = context;
    struct nd_run *run = p->run;
    struct worker_batch *b = &p->batch[worker];

    while (!atomic_load(&p->is_over)) {
        unsigned long ticket;
        uint64_t waited;

        begin_lap(b);
        ticket = nd_reading_begin(run->reading, worker);
        end_lap(b, &b->spent.others);
        read_in_turn(p, b, worker, ticket);
        waited = nd_pool_waited(run->pool, worker);
        prepare(run, b, worker, ticket);
        end_lap(b, &b->spent.others);
        b->spent.others -= nd_pool_waited(run->pool, worker) - waited;
        nd_pool_lead(run->pool, worker, &p->decide, ticket);
        begin_lap(b);
        decide_in_turn(p, b, worker);
        end_lap(b, &b->spent.decide);
        nd_pool_pass(run->pool, &p->decide);
        note_in_turn(p, b, ticket);
        if (b->is_decided)
            finish_batch(run, b, worker);
        end_lap(b, &b->spent.others);
        write_in_turn(p, b, worker, ticket);
        begin_lap(b);
        write_late(p, b);
        end_lap(b, &b->spent.others);
        if (worker == 0)
            deliver(p);
    }
}

/* Sum the times of the turns; the leaders' time in tasks is counted in that of all tasks. */
static void sum_turns(struct passing *p)
{
    const struct nd_pool_led led = nd_pool_led(p->run->pool);
    struct nd_run_turns *turns = &p->run->summary->turns;
    struct turn_times sum = {0};
    const double ns = 1e-9;
    const uint64_t unpack = nd_reading_unpack_ns(p->run->reading);

    for (unsigned i = 0; i < nd_pool_threads(p->run->pool); i++) {
        sum.read += p->batch[i].spent.read;
        sum.decide += p->batch[i].spent.decide;
        sum.note += p->batch[i].spent.note;
        sum.write += p->batch[i].spent.write;
        sum.others += p->batch[i].spent.others;
    }
    sum.decide -= led.leaders < sum.decide ? led.leaders : sum.decide;
    *turns = (struct nd_run_turns){
        .read = (double)sum.read * ns,
        .decide = (double)sum.decide * ns,
        .shared = (double)led.tasks * ns,
        .note = (double)sum.note * ns,
        .write = (double)sum.write * ns,
        .unpack = (double)unpack * ns,
        .processor = (double)(sum.read + sum.decide + led.tasks + sum.note + sum.write +
                              sum.others + unpack) *
                     ns,
    };
}

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

static void release_batches(const struct passing *p)
{
    for (unsigned i = 0; i < nd_pool_threads(p->run->pool); i++) {
        for (size_t step = 0; step < ND_MEASURED; step++)
            p->run->measured[step] += p->batch[i].measured[step];
        release_batch(&p->batch[i]);
    }
    free(p->batch);
}

/* An error in writing is reported before one in deciding. */
static enum nd_status result_of(const struct passing *p, const struct nd_error *not_written,
                                struct nd_error *err)
{
    const struct nd_error *f = not_written->status != ND_OK ? not_written
                               : p->wrote.status != ND_OK   ? &p->wrote
                               : p->decided.status != ND_OK ? &p->decided
                                                            : &p->delivered;

    if (f->status != ND_OK && err)
        *err = *f;
    return f->status;
}

/* The error of any of the workers that could not write. */
static struct nd_error find_not_written(const struct passing *p)
{
    for (unsigned i = 0; i < nd_pool_threads(p->run->pool); i++)
        if (p->batch[i].not_written.status != ND_OK)
            return p->batch[i].not_written;
    return (struct nd_error){0};
}

enum nd_status nd_run_one_pass(struct nd_run *run, struct nd_error *err)
{
    struct passing p = {.run = run};
    const struct nd_text_source source = {
        .context = &p, .fetch = fetch, .keep = keep, .fetch_shingles = fetch_shingles};
    enum nd_status status = nd_run_make_dedup(run, ND_CLUSTER_STAR, &source, err);
    struct nd_error not_written;

    if (status != ND_OK)
        return status;
    p.batch = calloc(nd_pool_threads(run->pool), sizeof *p.batch);
    if (!p.batch)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    run->reporter.is_queueing = nd_pool_threads(run->pool) > 1;
    nd_pool_each(run->pool, go_through, &p);
    deliver(&p);
    run->reporter.is_queueing = false;
    sum_turns(&p);
    not_written = find_not_written(&p);
    release_batches(&p);
    status = result_of(&p, &not_written, err);
    if (status != ND_OK)
        return status;
    count(run);
    nd_run_count_clusters(run, run->places.count);
    return nd_cluster_sizes_summarise(&run->sizes, run->places.count, run->lookup, &run->places,
                                      run->reading, run->summary, err);
}
