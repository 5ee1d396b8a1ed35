/* bounded.c - several passes in bounded memory: collect, link, decide load by load, write */
#define _GNU_SOURCE
#include "base/external_sort.h"
#include "base/memory.h"
#include "base/spool.h"
#include "engine/engine.h"
#include "pipeline/keep_order.h"
#include "pipeline/linking.h"
#include "pipeline/lookup.h"
#include "pipeline/removal.h"
#include "pipeline/run.h"
#include "pipeline/summary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where the memory is bounded (option `memory`), nothing is held for each document but what this
 * page counts.  The passes:
 *
 *   collect   read all in input order: of each record, its place and its place in the keep order go
 *             to a file
 *   link      only where the index of all documents would not fit: read them again, and find which
 *             could influence each other's decisions (linking.h)
 *   decide    load after load: as many components of linked documents as an engine has room for,
 *             pushed in keep order; what it decides is sorted by record number.  Who is alone in its
 *             component is kept, and never read here.  Where all fit, there is one load
 *   emit      in input order, with what was decided: read those that some output needs, and write
 *
 * A document's decision depends only on its component (src/engine/README.md), so it is that of one
 * engine which is given everything, and the outputs are the same bytes.
 *
 * In memory for each record: 4 bytes and a bit while they are linked, and 4 bytes, the sizes of
 * clusters, while they are written.  For each document of a load, what DOCUMENT_BYTES counts.
 */
struct record {
    struct nd_place place;
    uint64_t key; /* nd_keep_key; or the length of a record that is too long */
    uint32_t prefer, group;
    uint8_t is_bad, is_too_long, unused[6];
};

/* A document on its way to an engine: by its component, then in keep order. */
struct offered {
    uint64_t component;
    struct nd_offer offer;
};

/* What was decided of a record; its agreements follow. */
struct decided {
    uint64_t record;
    struct nd_removal removal;
};

/*
 * What a document takes in a load: its row in the index and its tables, 340 bytes or less, and what
 * an engine has beside them; an entry of 24 bytes, as much while these are sorted, and a number.
 */
enum {
    KEPT_BYTES = 20,
    DOCUMENT_BYTES = 340 + KEPT_BYTES + 2 * (int)sizeof(struct offered) + 4,
    COMPONENT_BYTES = 24 + 28,
    COMPLETE_BYTES = 16 + 28,
    SIGNATURE_BYTES = 64,
    FIRST_DOCUMENTS = 40000, /* an index begins with room for so many (nd_dedup_new_on) */
    LISTED = 4096,
    NEAR = 64, /* records that are read although they are not needed */
    PASSES = 4
};

struct bounded {
    struct nd_run *run;
    struct nd_loader *loader;
    struct nd_spool *records;
    struct nd_spool *flags; /* a byte a record: nd_candidate_flags */
    struct nd_rough_keys rough;
    uint64_t count, n_documents; /* records; those that are not bad */
    struct nd_buffer *spooled;   /* one a worker, and one more: what was read of a spool */
    unsigned n_spooled;

    struct nd_external_sort *offers, *decisions;
    size_t decided_bytes;
    unsigned char *decided; /* one, as it is made */
    uint64_t spilled;

    /* The load at hand.  Where one component exceeds the room for entries, only numbers. */
    struct offered *entry, coming;
    size_t n_entries, entries_max, n_carried;
    bool has_coming;
    struct nd_column number; /* uint32_t: the documents, as they are pushed as 0, 1, 2 … */
    uint64_t n_load, n_decided;

    /* A batch, to be read again: places->item has its places. */
    struct nd_places places;
    struct record *batch;
    size_t n_batch;

    struct nd_emitter emitter;
    uint64_t n_removed;
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status tell(struct bounded *b, unsigned pass, uint64_t done, uint64_t total,
                           struct nd_error *err)
{
    const struct nd_run_progress progress = {
        .documents = done, .pass = pass, .passes = PASSES, .pass_done = done, .pass_total = total};

    return nd_reporter_progress(&b->run->reporter, &progress, err);
}

/* ---- The first pass: a place and an offer of every record ---- */

/* Values of a policy or of `within` that memory has to hold. */
static enum nd_status check_keys(const struct bounded *b, struct nd_error *err)
{
    const struct nd_run *run = b->run;
    const struct nd_groups *values = &run->comparable.values;
    uint64_t bytes = nd_groups_bytes(values) + b->rough.bytes;
    char text[ND_BUDGET_TEXT];

    if (bytes <= run->budget.key_bytes)
        return ND_OK;
    return nd_fail(err, ND_ENOMEM,
                   "memory: after %" PRIu64 " records, the values of %s take %" PRIu64
                   " bytes: more than %s is needed",
                   b->count, nd_groups_bytes(values) > b->rough.bytes ? "within" : "keep", bytes,
                   nd_budget_text(run->budget.total / run->budget.key_bytes * bytes, text));
}

static enum nd_status add_record(struct bounded *b, const struct nd_parsed *parsed,
                                 struct nd_error *err)
{
    struct nd_run *run = b->run;
    uint64_t skipped = parsed->record.skipped_bytes;
    struct record record = {.key = skipped ? skipped : parsed->key,
                            .is_bad = parsed->bad != NULL,
                            .is_too_long = skipped != 0};
    enum nd_status status = nd_lookup_keep(run->lookup, &parsed->record, &record.place, err);

    if (status != ND_OK)
        return status;
    if (b->count == ND_NO_RECORD - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %" PRIu64 " records", b->count);
    if (!parsed->bad) {
        record.prefer = nd_preference(run, &parsed->document);
        if (!nd_comparable_group(&run->comparable, &parsed->document, &record.group) ||
            !nd_rough_keys_note(&b->rough, &run->keep, parsed->key, (uint32_t)b->count,
                                nd_document_field(&parsed->document, run->keep_index)))
            return out_of_memory(err);
        b->n_documents++;
    }
    status = nd_spool_append(b->records, &record, sizeof record, NULL, err);
    b->count++;
    if (status != ND_OK)
        return status;
    if (parsed->bad)
        return nd_reporter_bad_record(&run->reporter, parsed, parsed->bad->reason, err);
    nd_id_note(&run->ids, parsed);
    nd_field_set_meet(&run->fields, &parsed->document);
    return ND_OK;
}

static enum nd_status collect(void *context, const struct nd_reading_batch *batch,
                              struct nd_error *err)
{
    struct bounded *b = context;
    enum nd_status status = ND_OK;

    if (atomic_load(&b->run->reporter.is_out_of_memory))
        return out_of_memory(err);
    for (size_t i = 0; status == ND_OK && i < batch->count; i++)
        status = add_record(b, &batch->parsed[i], err);
    return status == ND_OK ? check_keys(b, err) : status;
}

static enum nd_status check_count(const struct bounded *b, struct nd_error *err)
{
    uint64_t bytes = (b->count + 64) * (sizeof(uint32_t) + 1);
    char text[ND_BUDGET_TEXT];

    if (bytes <= b->run->budget.array_bytes)
        return ND_OK;
    return nd_fail(err, ND_ENOMEM, "memory: %" PRIu64 " records need at least %s", b->count,
                   nd_budget_text(nd_budget_for_arrays(bytes), text));
}

/* ---- Records, read again ---- */

/* Read the rows of records in order of their numbers, or one by one where they are far apart. */
static enum nd_status read_rows(struct bounded *b, const uint32_t *number, size_t n,
                                struct nd_error *err)
{
    struct nd_buffer *rows = &b->spooled[b->n_spooled - 1];
    enum nd_status status = ND_OK;

    for (size_t from = 0, to; status == ND_OK && from < n; from = to) {
        uint64_t first = number[from], last = first;

        for (to = from + 1; to < n && number[to] > last && number[to] - last <= NEAR; to++)
            last = number[to];
        status = nd_spool_read(b->records, first * sizeof(struct record),
                               (size_t)(last - first + 1) * sizeof(struct record), rows, err);
        for (size_t i = from; status == ND_OK && i < to; i++)
            memcpy(&b->batch[i], rows->data + (number[i] - first) * sizeof(struct record),
                   sizeof(struct record));
    }
    b->n_batch = n;
    return status;
}

static void list_places(struct bounded *b)
{
    for (size_t i = 0; i < b->n_batch; i++)
        b->places.item[i] = b->batch[i].place;
}

/* The place of a record, as a worker. */
static enum nd_status look_up(struct bounded *b, uint32_t number, unsigned worker,
                              struct nd_place *place, struct nd_error *err)
{
    struct nd_buffer *row = &b->spooled[worker];
    enum nd_status status = nd_spool_read(b->records, (uint64_t)number * sizeof(struct record),
                                          sizeof(struct record), row, err);

    if (status == ND_OK)
        memcpy(place, row->data + offsetof(struct record, place), sizeof *place);
    return status;
}

static enum nd_status place_of(void *context, uint32_t number, struct nd_place *place,
                               struct nd_error *err)
{
    return look_up(context, number, 0, place, err);
}

static enum nd_status check_unchanged(const struct nd_parsed *loaded, struct nd_error *err)
{
    if (!loaded->bad)
        return ND_OK;
    return nd_fail(err, ND_ECHANGED, "%s: changed while it was read: %s", loaded->source->path,
                   loaded->bad->reason);
}

/* ---- The second pass: links ---- */

/* Some records from this one on, bad ones too. */
static enum nd_status read_next(struct bounded *b, uint64_t from, struct nd_error *err)
{
    uint32_t number[LISTED];
    size_t n = b->count - from < LISTED ? (size_t)(b->count - from) : LISTED;

    for (size_t i = 0; i < n; i++)
        number[i] = (uint32_t)(from + i);
    return read_rows(b, number, n, err);
}

/* Records from … of the batch at hand, which were loaded. */
static enum nd_status link_loaded(struct bounded *b, struct nd_linking *linking,
                                  const struct nd_parsed *loaded, size_t from, size_t n,
                                  struct nd_error *err)
{
    struct nd_dedup_item item[LISTED];
    unsigned char flags[LISTED];
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        const struct record *record = &b->batch[from + i];

        item[i] = (struct nd_dedup_item){.group = record->group};
        if (record->is_bad)
            continue;
        status = check_unchanged(&loaded[i], err);
        item[i] = nd_parsed_item(&loaded[i]);
        item[i].group = record->group;
    }
    if (status == ND_OK)
        status = nd_linking_add(linking, item, n, flags, err);
    return status == ND_OK ? nd_spool_append(b->flags, flags, n, NULL, err) : status;
}

static enum nd_status link_all(struct bounded *b, struct nd_linking *linking, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (uint64_t from = 0; status == ND_OK && from < b->count; from += b->n_batch) {
        status = tell(b, 2, from, b->count, err);
        if (status == ND_OK)
            status = read_next(b, from, err);
        if (status == ND_OK)
            list_places(b);
        for (size_t at = 0, n; status == ND_OK && at < b->n_batch; at += n) {
            const struct nd_parsed *loaded;

            n = nd_loader_batch(b->loader, NULL, at, b->n_batch);
            status = nd_loader_load(b->loader, NULL, at, n, true, &loaded, err);
            if (status == ND_OK)
                status = link_loaded(b, linking, loaded, at, n, err);
        }
    }
    return status == ND_OK ? nd_linking_join(linking, err) : status;
}

/* ---- Who is offered to which engine ---- */

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct offered *x = a, *y = b;
    const struct bounded *bounded = context;

    return nd_offer_compare(&bounded->run->keep, &bounded->rough, &x->offer, &y->offer);
}

/* A document that no other could influence: as an engine would count it. */
static void count_alone(struct nd_dedup_stats *stats, unsigned flags)
{
    stats->documents++;
    stats->kept++;
    stats->short_documents += (flags & ND_CANDIDATE_SHORT) != 0;
    stats->empty_documents += (flags & ND_CANDIDATE_EMPTY) != 0;
    stats->signed_documents += (flags & ND_CANDIDATE_SIGNED) != 0;
    stats->unsigned_documents += (flags & ND_CANDIDATE_UNSIGNED) != 0;
}

static enum nd_status offer(struct bounded *b, const struct record *record, uint32_t number,
                            uint64_t component, struct nd_error *err)
{
    const struct offered offered = {
        .component = component,
        .offer = {.key = record->key, .prefer = record->prefer, .record = number}};

    return nd_external_sort_add(b->offers, &offered, err);
}

/* linking NULL: all are of one component. */
static enum nd_status offer_all(struct bounded *b, struct nd_linking *linking, struct nd_error *err)
{
    struct nd_buffer *flags = &b->spooled[0];
    enum nd_status status = ND_OK;

    for (uint64_t from = 0; status == ND_OK && from < b->count; from += b->n_batch) {
        status = read_next(b, from, err);
        if (status == ND_OK && linking)
            status = nd_spool_read(b->flags, from, b->n_batch, flags, err);
        for (size_t i = 0; status == ND_OK && i < b->n_batch; i++) {
            uint32_t number = (uint32_t)(from + i);

            if (b->batch[i].is_bad)
                continue;
            if (linking && nd_linking_is_alone(linking, number))
                count_alone(&b->run->past, (unsigned char)flags->data[i]);
            else
                status = offer(b, &b->batch[i], number,
                               linking ? nd_linking_component(linking, number) : 0, err);
        }
    }
    return status;
}

/* ---- Loads ---- */

static uint64_t document_bytes(const struct nd_run *run)
{
    uint64_t bytes = DOCUMENT_BYTES;

    if (run->recipe->dedup.cluster == ND_CLUSTER_COMPONENTS)
        bytes += COMPONENT_BYTES;
    if (run->recipe->dedup.cluster == ND_CLUSTER_COMPLETE)
        bytes += COMPLETE_BYTES;
    return bytes + (uint64_t)SIGNATURE_BYTES * run->recipe->method.n_signatures;
}

/* The next document that is offered, or none. */
static enum nd_status advance(struct bounded *b, struct nd_error *err)
{
    const void *offered;
    int got = nd_external_sort_next(b->offers, &offered, err);

    b->has_coming = got > 0;
    if (got > 0)
        memcpy(&b->coming, offered, sizeof b->coming);
    return got < 0 ? (enum nd_status)got : ND_OK;
}

static enum nd_status add_number(struct bounded *b, uint32_t number, struct nd_error *err)
{
    if (!nd_column_reserve(&b->number, b->n_load + 1, sizeof number))
        return out_of_memory(err);
    ((uint32_t *)b->number.data)[b->n_load++] = number;
    return ND_OK;
}

/* The load is this one component, of which the entries are the first part. */
static enum nd_status load_large(struct bounded *b, struct nd_error *err)
{
    uint64_t component = b->coming.component;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < b->n_entries; i++)
        status = add_number(b, b->entry[i].offer.record, err);
    while (status == ND_OK && b->has_coming && b->coming.component == component) {
        status = add_number(b, b->coming.offer.record, err);
        if (status == ND_OK)
            status = advance(b, err);
    }
    b->n_entries = b->n_carried = 0;
    return status;
}

/*
 * Entries 0 … whole are the load, and the rest begins the next one.  In keep order the documents are
 * read as they lie in the input, more or less; components have no order among themselves.
 */
static enum nd_status load_entries(struct bounded *b, size_t whole, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    qsort_r(b->entry, whole, sizeof *b->entry, by_keep_order, b);
    for (size_t i = 0; status == ND_OK && i < whole; i++)
        status = add_number(b, b->entry[i].offer.record, err);
    b->n_carried = b->n_entries - whole;
    memmove(b->entry, b->entry + whole, b->n_carried * sizeof *b->entry);
    b->n_entries = b->n_carried;
    return status;
}

/* Gather the next load; it is empty where there are no more documents. */
static enum nd_status gather(struct bounded *b, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t last = 0; /* where the last component begins */

    b->n_load = 0;
    while (status == ND_OK && b->has_coming && b->n_entries < b->entries_max) {
        if (b->n_entries && b->entry[b->n_entries - 1].component != b->coming.component)
            last = b->n_entries;
        b->entry[b->n_entries++] = b->coming;
        status = advance(b, err);
    }
    if (status != ND_OK || !b->n_entries)
        return status;
    if (!b->has_coming || b->entry[b->n_entries - 1].component != b->coming.component)
        return load_entries(b, b->n_entries, err);
    return last ? load_entries(b, last, err) : load_large(b, err);
}

/* ---- The third pass: decisions of a load ---- */

static const uint32_t *numbers(const struct bounded *b)
{
    return b->number.data;
}

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    struct bounded *b = context;
    struct nd_place place;
    enum nd_status status = look_up(b, numbers(b)[document], worker, &place, err);

    return status == ND_OK ? nd_lookup_text(b->run->lookup, &place, worker, text, err) : status;
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct bounded *b = context;
    struct nd_place place;
    enum nd_status status = look_up(b, numbers(b)[document], worker, &place, err);

    return status == ND_OK ? nd_lookup_shingles(b->run->lookup, &place, worker, shingle, n, err)
                           : status;
}

/* Every record has a place from the first pass. */
static enum nd_status keep_none(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

/* Documents from … of the load, as many as make a batch. */
static enum nd_status load_items(struct bounded *b, uint64_t from, struct nd_dedup_item *item,
                                 size_t *n, struct nd_error *err)
{
    size_t most = b->n_load - from < LISTED ? (size_t)(b->n_load - from) : LISTED;
    enum nd_status status = read_rows(b, numbers(b) + from, most, err);
    const struct nd_parsed *loaded = NULL;

    *n = 0;
    if (status != ND_OK)
        return status;
    list_places(b);
    *n = nd_loader_batch(b->loader, NULL, 0, most);
    status = nd_loader_load(b->loader, NULL, 0, *n, true, &loaded, err);
    for (size_t i = 0; status == ND_OK && i < *n; i++) {
        status = check_unchanged(&loaded[i], err);
        item[i] = nd_parsed_item(&loaded[i]);
        item[i].group = b->batch[i].group;
    }
    return status;
}

/* The load's index may not grow beyond its share: its documents are too many that could match. */
static enum nd_status check_engine(const struct bounded *b, uint64_t pushed, struct nd_error *err)
{
    const struct nd_run *run = b->run;
    uint64_t beside = document_bytes(run) - DOCUMENT_BYTES, bytes;
    struct nd_dedup_stats stats;
    char text[ND_BUDGET_TEXT];

    nd_dedup_get_stats(run->dedup, &stats);
    bytes = stats.index_bytes + stats.kept * KEPT_BYTES + pushed * beside +
            b->n_load * sizeof(uint32_t) + b->entries_max * sizeof *b->entry;
    if (pushed <= FIRST_DOCUMENTS || bytes <= run->budget.engine_bytes)
        return ND_OK;
    return nd_fail(
        err, ND_ENOMEM,
        "memory: %" PRIu64 " documents could match one another, directly or through "
        "others; to decide about them together takes up to %s",
        b->n_load,
        nd_budget_text(nd_budget_for_engine(b->n_load * document_bytes(run) * 9 / 8), text));
}

static enum nd_status note_removed(struct bounded *b, uint64_t document,
                                   const struct nd_decision *decision,
                                   const struct nd_component_via *via, struct nd_error *err)
{
    struct nd_run *run = b->run;
    size_t n = run->recipe->method.n_signatures;
    struct decided decided = {.record = numbers(b)[document]};

    decided.removal = nd_removal_of(decision, numbers(b)[decision->kept]);
    if (via) {
        decided.removal.via = numbers(b)[via->document];
        decided.removal.via_verified = via->verified;
        decided.removal.via_resemblance = nd_overlap_resemblance(&via->overlap);
    }
    if (decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(run->measured, &run->recipe->dedup,
                          via ? &via->overlap : &decision->overlap);
    memcpy(b->decided, &decided, sizeof decided);
    if (n)
        memcpy(b->decided + sizeof decided, decision->agreement, n * sizeof *decision->agreement);
    b->n_removed++;
    return nd_external_sort_add(b->decisions, b->decided, err);
}

/* The scratch of a push, and of asking what it came to. */
struct deciding {
    struct nd_dedup_item item[LISTED];
    struct nd_decision decision[LISTED];
    struct nd_component_via via[LISTED];
};

static enum nd_status note_all(struct bounded *b, struct deciding *d, uint64_t from, size_t n,
                               bool has_via, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++)
        if (d->decision[i].kept != from + i)
            status = note_removed(b, from + i, &d->decision[i], has_via ? &d->via[i] : NULL, err);
    return status;
}

static enum nd_status push_all(struct bounded *b, struct deciding *d, bool components,
                               struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (uint64_t from = 0, n = 0; status == ND_OK && from < b->n_load; from += n) {
        size_t some = 0;

        status = tell(b, 3, b->n_decided + from, b->n_documents, err);
        if (status == ND_OK)
            status = load_items(b, from, d->item, &some, err);
        n = some;
        if (status == ND_OK && components)
            status = nd_dedup_push_components(b->run->dedup, d->item, some, err);
        else if (status == ND_OK)
            status = nd_dedup_push(b->run->dedup, d->item, some, d->decision, err);
        if (status == ND_OK)
            status = check_engine(b, from + n, err);
        if (status == ND_OK && !components)
            status = note_all(b, d, from, some, false, err);
    }
    return status;
}

static enum nd_status make_engine(struct bounded *b, struct nd_error *err)
{
    const struct nd_text_source source = {
        .context = b, .fetch = fetch, .keep = keep_none, .fetch_shingles = fetch_shingles};

    return nd_run_make_dedup(b->run, b->run->recipe->dedup.cluster, &source, err);
}

static enum nd_status decide_load(struct bounded *b, struct deciding *d, struct nd_error *err)
{
    bool components = b->run->recipe->dedup.cluster == ND_CLUSTER_COMPONENTS;
    enum nd_status status = b->run->dedup ? ND_OK : make_engine(b, err);

    if (status == ND_OK)
        status = push_all(b, d, components, err);
    for (uint64_t from = 0, n; status == ND_OK && components && from < b->n_load; from += n) {
        n = b->n_load - from < LISTED ? b->n_load - from : LISTED;
        status = nd_dedup_components(b->run->dedup, from, (size_t)n, d->decision, d->via, err);
        if (status == ND_OK)
            status = note_all(b, d, from, (size_t)n, true, err);
    }
    nd_run_retire_dedup(b->run);
    b->n_decided += b->n_load;
    b->run->summary->loads++;
    return status;
}

static enum nd_status decide(struct bounded *b, struct nd_error *err)
{
    struct deciding *d = malloc(sizeof *d);
    enum nd_status status;

    b->entry = nd_alloc_array(b->entries_max, sizeof *b->entry);
    if (!b->entry || !d) {
        free(d);
        return out_of_memory(err);
    }
    status = advance(b, err);
    if (status == ND_OK)
        status = gather(b, err);
    while (status == ND_OK && b->n_load) {
        status = decide_load(b, d, err);
        if (status == ND_OK)
            status = gather(b, err);
    }
    nd_run_retire_dedup(b->run);
    free(d);
    free(b->entry);
    b->entry = NULL;
    nd_column_release(&b->number);
    return status;
}

/* ---- The last pass ---- */

/* What was decided of the batch at hand: the removal of each of its records, or none. */
struct emitting {
    uint32_t number[LISTED];
    const struct decided *removed[LISTED];
    unsigned char *room; /* LISTED of what was decided */
    size_t n_room;
    const void *coming; /* the next that was decided; NULL: there is none */
};

static enum nd_status next_decided(struct bounded *b, struct emitting *e, struct nd_error *err)
{
    int got = nd_external_sort_next(b->decisions, &e->coming, err);

    if (got <= 0)
        e->coming = NULL;
    return got < 0 ? (enum nd_status)got : ND_OK;
}

/* What was decided of this record, in the room for the batch, or NULL. */
static enum nd_status take_decided(struct bounded *b, struct emitting *e, uint64_t record,
                                   const struct decided **removed, struct nd_error *err)
{
    struct nd_cluster_sizes *sizes = &b->run->sizes;
    unsigned char *to = e->room + e->n_room * b->decided_bytes;
    uint64_t number;

    *removed = NULL;
    if (!e->coming)
        return ND_OK;
    memcpy(&number, e->coming, sizeof number);
    if (number != record)
        return ND_OK;
    memcpy(to, e->coming, b->decided_bytes);
    e->n_room++;
    *removed = (const struct decided *)(const void *)to;
    sizes->members[(*removed)->removal.kept]++;
    return next_decided(b, e, err);
}

static void count_removed(struct nd_run_summary *summary, const struct nd_removal *removal)
{
    summary->identical_bytes += removal->identical == ND_IDENTICAL_BYTES;
    summary->identical_tokens += removal->identical == ND_IDENTICAL_TOKENS;
    summary->near += removal->identical == ND_IDENTICAL_NO;
}

/* Keep of the batch those that some output needs. */
static enum nd_status choose(struct bounded *b, struct emitting *e, uint64_t from,
                             struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t n = 0;

    e->n_room = 0;
    for (size_t i = 0; status == ND_OK && i < b->n_batch; i++) {
        const struct decided *removed;

        b->run->sizes.members[from + i] += !b->batch[i].is_bad;
        status = take_decided(b, e, from + i, &removed, err);
        if (removed)
            count_removed(b->run->summary, &removed->removal);
        if (!nd_emitter_needs(b->run, !removed && !b->batch[i].is_bad))
            continue;
        e->removed[n] = removed;
        b->batch[n++] = b->batch[i];
    }
    b->n_batch = n;
    return status;
}

static enum nd_status put(struct bounded *b, const struct nd_parsed *loaded,
                          const struct record *record, const struct decided *removed,
                          struct nd_error *err)
{
    struct nd_bad_record too_long;
    struct nd_parsed skipped = *loaded;

    if (record->is_too_long) {
        too_long = nd_bad_record_too_long(record->key, nd_pool_threads(b->run->pool));
        skipped.record.bytes = (struct nd_view){NULL, 0};
        skipped.bad = &too_long;
        loaded = &skipped;
    }
    return nd_emitter_put(&b->emitter, loaded, record->is_bad, removed ? &removed->removal : NULL,
                          removed ? (const struct nd_agreement *)(const void *)(removed + 1) : NULL,
                          err);
}

static enum nd_status emit_batch(struct bounded *b, const struct emitting *e, struct nd_error *err)
{
    bool parse = nd_outputs_has_names(&b->run->outputs);
    enum nd_status status = ND_OK;

    list_places(b);
    for (size_t from = 0, n; status == ND_OK && from < b->n_batch; from += n) {
        const struct nd_parsed *loaded = NULL;

        n = nd_loader_batch(b->loader, NULL, from, b->n_batch);
        status = nd_loader_load(b->loader, NULL, from, n, parse, &loaded, err);
        for (size_t i = 0; status == ND_OK && i < n; i++)
            status = put(b, &loaded[i], &b->batch[from + i], e->removed[from + i], err);
        if (status == ND_OK)
            status = nd_emitter_end_batch(&b->emitter, err);
    }
    return status;
}

static enum nd_status emit_all(struct bounded *b, struct emitting *e, struct nd_error *err)
{
    enum nd_status status = next_decided(b, e, err);

    for (uint64_t from = 0, n; status == ND_OK && from < b->count; from += n) {
        status = tell(b, 4, from, b->count, err);
        if (status == ND_OK)
            status = read_next(b, from, err);
        n = b->n_batch;
        if (status == ND_OK)
            status = choose(b, e, from, err);
        if (status == ND_OK)
            status = emit_batch(b, e, err);
    }
    return status;
}

static enum nd_status emit(struct bounded *b, struct nd_error *err)
{
    struct emitting *e = calloc(1, sizeof *e);
    enum nd_status status = ND_OK;

    if (e)
        e->room = nd_alloc_array(LISTED, b->decided_bytes);
    if (!e || !e->room ||
        (b->count && !nd_cluster_sizes_set(&b->run->sizes, (size_t)b->count - 1, 0)))
        status = out_of_memory(err);
    if (status == ND_OK && b->count)
        memset(b->run->sizes.members, 0, (size_t)b->count * sizeof *b->run->sizes.members);
    if (status == ND_OK)
        status = emit_all(b, e, err);
    if (e)
        free(e->room);
    free(e);
    return status;
}

static enum nd_status summarise(struct bounded *b, struct nd_error *err)
{
    struct nd_run *run = b->run;
    struct nd_run_summary *summary = run->summary;
    size_t largest[ND_RUN_LARGEST];
    size_t n = nd_cluster_sizes_largest(&run->sizes, (size_t)b->count, largest, &summary->clusters);
    enum nd_status status = ND_OK;

    summary->removed = b->n_removed;
    summary->kept = summary->documents - b->n_removed;
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_place place;

        status = place_of(b, (uint32_t)largest[i], &place, err);
        if (status == ND_OK)
            status = nd_summary_name_cluster(&summary->largest[i], run->sizes.members[largest[i]],
                                             &place, run->lookup, run->reading, err);
    }
    summary->n_largest = status == ND_OK ? n : 0;
    return status;
}

/* ---- The whole ---- */

/* Before anything is read. */
static enum nd_status make_parts(struct bounded *b, struct nd_error *err)
{
    struct nd_run *run = b->run;

    b->n_spooled = nd_pool_threads(run->pool) + 1;
    b->decided_bytes =
        sizeof(struct decided) + run->recipe->method.n_signatures * sizeof(struct nd_agreement);
    b->spooled = calloc(b->n_spooled, sizeof *b->spooled);
    b->batch = nd_alloc_array(LISTED, sizeof *b->batch);
    b->places.item = nd_alloc_array(LISTED, sizeof *b->places.item);
    b->decided = malloc(b->decided_bytes);
    if (!b->spooled || !b->batch || !b->places.item || !b->decided)
        return out_of_memory(err);
    b->records = nd_spool_new(run->options->tmp, err);
    b->flags = b->records ? nd_spool_new(run->options->tmp, err) : NULL;
    if (!b->flags)
        return ND_EIO;
    b->loader = nd_loader_new(run->pool, run->reading, run->lookup, &b->places, &run->input, err);
    return b->loader ? make_engine(b, err) : ND_ENOMEM;
}

static enum nd_status make_sorts(struct bounded *b, struct nd_error *err)
{
    const struct nd_external_sort_options options = {.tmp = b->run->options->tmp,
                                                     .record_bytes = b->decided_bytes,
                                                     .memory_bytes = b->run->budget.sort_bytes / 2};
    struct nd_external_sort_options offers = options;

    offers.record_bytes = sizeof(struct offered);
    offers.compare = by_keep_order;
    offers.context = b;
    b->decisions = nd_external_sort_new(&options, err);
    b->offers = nd_external_sort_new(&offers, err);
    return b->decisions && b->offers ? ND_OK : ND_ENOMEM;
}

/* Offer every document that is not alone, by its component.  The engine that has only said that the
 * parameters are fine gives its memory to the links. */
static enum nd_status offer_linked(struct bounded *b, struct nd_error *err)
{
    struct nd_run *run = b->run;
    const struct nd_linking_options options = {.recipe = run->recipe,
                                               .pool = run->pool,
                                               .tmp = run->options->tmp,
                                               .sort_bytes = run->budget.link_sort_bytes,
                                               .rows_bytes = run->budget.link_rows_bytes};
    struct nd_linking *linking;
    enum nd_status status;

    nd_run_retire_dedup(run);
    linking = nd_linking_new(&options, err);
    if (!linking)
        return err->status;
    status = link_all(b, linking, err);
    if (status == ND_OK)
        status = offer_all(b, linking, err);
    b->spilled += nd_linking_spilled(linking);
    nd_linking_free(linking);
    return status;
}

static enum nd_status offer_documents(struct bounded *b, struct nd_error *err)
{
    uint64_t fitting = b->run->budget.engine_bytes / document_bytes(b->run);
    enum nd_status status;

    b->entries_max = (size_t)(b->n_documents < fitting ? b->n_documents : fitting) + 1;
    if (b->n_documents <= fitting)
        return offer_all(b, NULL, err);
    status = offer_linked(b, err);
    if (status != ND_EUNSUPPORTED)
        return status;
    /* Their candidates are found in other ways: one engine has them all, if they are few enough. */
    *err = (struct nd_error){0};
    return offer_all(b, NULL, err);
}

static enum nd_status go_through(struct bounded *b, struct nd_error *err)
{
    struct nd_run *run = b->run;
    enum nd_status status = make_parts(b, err);

    if (status == ND_OK)
        status = nd_run_each_batch(run, collect, b, err);
    nd_id_check_forget(&run->ids, run->summary);
    if (status == ND_OK)
        status = check_count(b, err);
    if (status == ND_OK)
        status = make_sorts(b, err);
    if (status == ND_OK)
        status = offer_documents(b, err);
    if (status == ND_OK)
        status = decide(b, err);
    if (status == ND_OK)
        status = emit(b, err);
    return status == ND_OK ? summarise(b, err) : status;
}

static void release(struct bounded *b)
{
    nd_loader_free(b->loader);
    nd_spool_free(b->records);
    nd_spool_free(b->flags);
    nd_rough_keys_release(&b->rough);
    for (unsigned i = 0; b->spooled && i < b->n_spooled; i++)
        nd_buffer_release(&b->spooled[i]);
    free(b->spooled);
    free(b->batch);
    free(b->places.item);
    free(b->decided);
    free(b->entry);
    nd_column_release(&b->number);
    nd_external_sort_free(b->offers);
    nd_external_sort_free(b->decisions);
    nd_emitter_release(&b->emitter);
}

enum nd_status nd_run_bounded(struct nd_run *run, struct nd_error *err)
{
    struct bounded b = {.run = run, .emitter = {.run = run, .place_of = place_of, .context = &b}};
    enum nd_status status = go_through(&b, err);

    run->summary->spilled_bytes = b.spilled;
    if (b.records && b.flags)
        run->summary->spilled_bytes += nd_spool_bytes(b.records) + nd_spool_bytes(b.flags);
    if (b.offers && b.decisions)
        run->summary->spilled_bytes +=
            nd_external_sort_spilled(b.offers) + nd_external_sort_spilled(b.decisions);
    release(&b);
    return status;
}
