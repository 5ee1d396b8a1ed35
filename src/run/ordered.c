/* ordered.c - several passes: collect, decide in keep order, write in input order */
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "loads/staged.h"
#include "old/against_run.h"
#include "reading/lookup.h"
#include "recipe/keep_order.h"
#include "report/summary.h"
#include "run/removal.h"
#include "run/run_parts.h"
#include "sketches/known_rows.h"

#include <stdlib.h>
#include <string.h>

#define ND_NO_VERDICT UINT32_MAX

/*
 * Which document of a cluster is kept is known only when all have been seen, so the documents are
 * gone through three times:
 *
 *   collect   read all in input order: a place and a key of the keep policy for each; then sort
 *   decide    load them in keep order, and push them (loads/staged.h): the engine keeps the first of
 *             a cluster
 *   emit      load in input order those that some output needs, and write
 *
 * Records are numbered in input order; run->places knows where each of them is.  Texts are never
 * held.  Memory a record, beside the engine's: 24 bytes of place and 4 of count; 13 more until the
 * keep order is sorted (key, verdict_of, is_bad), and then 9 (order, verdict_of, is_bad); 4 each for
 * prefer and group where they are asked for; 48 where it is removed.  What only the first pass needs
 * is given back before the engine's index grows.
 *
 * The result does not depend on the number of threads: batches are read and pushed one after the
 * other, and the workers only parse, load and sketch parts of one.  The keep order is a total order
 * (by_keep_order ends with the number), so no sort can make another of it.
 *
 * If the memory is bounded (only with old documents does it come here), the bytes held are measured
 * while they grow, and a run that needs more says how much.
 *
 * With old documents (against_run.c) the first pass sketches, too.  The engine then gets rows in
 * place of texts: first the old documents that matter, then the new ones in keep order.  Old ones
 * have the record numbers behind all others, and are never written.
 */
/* A record that needs more memory than there is. */
struct too_long {
    uint64_t bytes;
    uint32_t record;
};

struct ordered {
    struct nd_run *run;
    struct nd_loader *loader;
    uint64_t *key; /* key of the keep policy */
    struct nd_rough_keys rough;
    uint32_t *prefer; /* index in --prefer; NULL: not requested */
    uint32_t *group;  /* group of --within; NULL: not requested */
    uint32_t *labels; /* set of --security-field; NULL: not requested */
    uint8_t *is_bad;
    struct too_long *too_long; /* records, ascending */
    size_t n_too_long, too_long_capacity;
    uint32_t *verdict_of; /* index in `verdict`, or ND_NO_VERDICT: kept, or bad */
    size_t count, capacity;
    uint32_t *order; /* the documents in keep order; they are pushed as n_old, n_old + 1 … */
    size_t n_order;
    struct nd_staged staged;
    struct nd_dedup_item *item; /* of the batch at hand */
    size_t item_capacity;
    struct nd_removal *verdict;
    struct nd_agreement *agreement; /* for each verdict, one for each signature */
    size_t n_verdicts, verdict_capacity, agreement_capacity;
    struct nd_emitter emitter;
};

/* ---- The first pass: a place and a key for every record, then the keep order ---- */

/* Called in parallel, right after parsing, because the texts are in memory only then. */
void nd_ordered_make_key(void *context, struct nd_parsed *parsed, unsigned worker)
{
    struct nd_run *run = context;
    const struct nd_view value = nd_document_field(&parsed->document, run->keep_index);
    uint64_t length = 0;

    if (run->expects && nd_dedup_expect(run->dedup, worker, parsed->document.text) != ND_OK)
        atomic_store(&run->reporter.is_out_of_memory, true);
    if (parsed->sketched && nd_keep_is_by_length(&run->keep)) {
        for (size_t i = 0; i < value.len; i++)
            length = length * 10 + (uint64_t)(value.data[i] - '0');
        parsed->key = nd_keep_key_of_length(&run->keep, length);
    } else if (!nd_keep_key(&run->keep, parsed->document.text, value, &parsed->key))
        atomic_store(&run->reporter.is_out_of_memory, true);
}

static bool resize(void *array, size_t capacity, size_t size)
{
    size_t none = 0;

    return nd_array_reserve(array, &none, capacity, size);
}

/*
 * The arrays share one capacity and grow by a quarter: they are large, so little of them should be
 * unused.
 */
static bool reserve(struct ordered *o, size_t n)
{
    const struct nd_run_options *options = o->run->options;
    size_t capacity = o->capacity + o->capacity / 4;

    if (n <= o->capacity)
        return true;
    if (capacity < n)
        capacity = n;
    if (!resize(&o->key, capacity, sizeof *o->key) ||
        !resize(&o->is_bad, capacity, sizeof *o->is_bad) ||
        !resize(&o->verdict_of, capacity, sizeof *o->verdict_of) ||
        (options->prefer_field && !resize(&o->prefer, capacity, sizeof *o->prefer)) ||
        ((options->within || options->n_never) && !resize(&o->group, capacity, sizeof *o->group)) ||
        (options->security_field && !resize(&o->labels, capacity, sizeof *o->labels)))
        return false;
    o->capacity = capacity;
    return true;
}

static enum nd_status add_bad(struct ordered *o, const struct nd_parsed *parsed, size_t at,
                              struct nd_error *err)
{
    if (parsed->record.skipped_bytes) {
        if (!ND_RESERVE(o->too_long, &o->too_long_capacity, o->n_too_long + 1))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        o->too_long[o->n_too_long++] =
            (struct too_long){parsed->record.skipped_bytes, (uint32_t)at};
    }
    return nd_reporter_bad_record(&o->run->reporter, parsed, parsed->bad->reason, err);
}

static enum nd_status add_record(struct ordered *o, const struct nd_parsed *parsed,
                                 struct nd_error *err)
{
    struct nd_run *run = o->run;
    struct nd_place place;
    enum nd_status status = nd_lookup_keep(run->lookup, &parsed->record, NULL, &place, err);
    size_t at = o->count;

    if (status != ND_OK)
        return status;
    if (at == ND_NO_VERDICT - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %zu records", at);
    if (!reserve(o, at + 1) || !nd_places_add(&run->places, &place) ||
        !nd_cluster_sizes_set(&run->sizes, at, !parsed->bad))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    o->count++;
    o->key[at] = parsed->key;
    o->is_bad[at] = parsed->bad != NULL;
    o->verdict_of[at] = ND_NO_VERDICT;
    if (parsed->bad)
        return add_bad(o, parsed, at, err);
    nd_id_note(&run->ids, parsed);
    nd_run_meet(run, parsed);
    if (!nd_rough_keys_note(&o->rough, &run->keep, parsed->key, (uint32_t)at,
                            nd_document_field(&parsed->document, run->keep_index)) ||
        (run->request->watch &&
         !run->request->watch->read(run->request->watch->context, at, parsed)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (o->prefer)
        o->prefer[at] = nd_preference(run, &parsed->document);
    if ((o->group && !nd_comparable_group(&run->comparable, &parsed->document, &o->group[at])) ||
        (o->labels && !nd_comparable_labels(&run->comparable, &parsed->document, &o->labels[at])))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static enum nd_status collect(void *context, const struct nd_reading_batch *batch,
                              struct nd_error *err)
{
    struct ordered *o = context;
    enum nd_status status = ND_OK;

    if (atomic_load(&o->run->reporter.is_out_of_memory))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (o->run->against)
        status = nd_against_take(o->run->against, batch, err);
    for (size_t i = 0; status == ND_OK && i < batch->count; i++)
        status = add_record(o, &batch->parsed[i], err);
    return status;
}

/* Shrink an array to its first elements; if that fails, it stays as it is. */
static void *shrunk(void *array, size_t count, size_t size)
{
    void *less = array && count ? realloc(array, count * size) : NULL;

    return less ? less : array;
}

/* Free what only the first pass needed for growing and sorting, before the index is built. */
static void release_spare(struct ordered *o)
{
    free(o->key);
    free(o->prefer);
    o->key = NULL;
    o->prefer = NULL;
    nd_rough_keys_release(&o->rough);
    o->verdict_of = shrunk(o->verdict_of, o->count, sizeof *o->verdict_of);
    o->is_bad = shrunk(o->is_bad, o->count, sizeof *o->is_bad);
    o->group = shrunk(o->group, o->count, sizeof *o->group);
    o->labels = shrunk(o->labels, o->count, sizeof *o->labels);
    nd_places_shrink(&o->run->places);
    nd_cluster_sizes_shrink(&o->run->sizes, o->count);
}

static struct nd_offer offer_of(const struct ordered *o, uint32_t record)
{
    return (struct nd_offer){
        .key = o->key[record], .prefer = o->prefer ? o->prefer[record] : 0, .record = record};
}

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct ordered *o = context;
    const struct nd_offer x = offer_of(o, *(const uint32_t *)a),
                          y = offer_of(o, *(const uint32_t *)b);

    return nd_offer_compare(&o->run->keep, &o->rough, &x, &y);
}

static enum nd_status sort(struct ordered *o, struct nd_error *err)
{
    o->order = nd_alloc_array(o->count, sizeof *o->order);
    if (!o->order)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < o->count; i++)
        if (!o->is_bad[i])
            o->order[o->n_order++] = (uint32_t)i;
    nd_sort_with(o->order, o->n_order, sizeof *o->order, by_keep_order, o);
    release_spare(o);
    return ND_OK;
}

/* ---- The second pass: decisions, in keep order ---- */

static enum nd_status make(void *context, size_t n, const struct nd_text_source *source,
                           struct nd_dedup **dedup, struct nd_error *err)
{
    struct ordered *o = context;
    enum nd_status status = nd_run_make_dedup_for(o->run, o->staged.cluster, n, source, err);

    if (status == ND_OK)
        *dedup = o->run->dedup;
    return status;
}

/* The run counts what its engine has done, and frees it, when it ends. */
static void retire(void *context, struct nd_dedup *dedup)
{
    (void)context;
    (void)dedup;
}

static enum nd_status fetch(void *context, uint32_t record, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct ordered *o = context;
    struct nd_place place = o->run->places.item[record];

    return nd_lookup_text(o->run->lookup, &place, worker, text, err);
}

static enum nd_status fetch_shingles(void *context, uint32_t record, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    const struct ordered *o = context;
    struct nd_place place;

    if (o->run->against)
        return nd_against_shingles(o->run->against, record, worker, shingle, n, err);
    place = o->run->places.item[record];
    return nd_lookup_shingles(o->run->lookup, &place, worker, shingle, n, err);
}

/* Say with whom a document is compared. */
static void compare_as(const struct ordered *o, uint32_t record, struct nd_dedup_item *item)
{
    item->group = o->group ? o->group[record] : 0;
    item->labels = o->labels ? nd_comparable_set(&o->run->comparable, o->labels[record]) : NULL;
}

static enum nd_status load_rows(struct ordered *o, uint64_t first, const uint32_t *record, size_t n,
                                size_t *n_items, struct nd_error *err)
{
    const struct nd_dedup_item *loaded;
    enum nd_status status = nd_against_load(o->run->against, first, n, &loaded, n_items, err);

    if (status != ND_OK)
        return status;
    if (!ND_RESERVE(o->item, &o->item_capacity, *n_items))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(o->item, loaded, *n_items * sizeof *o->item);
    for (size_t i = 0; first >= o->staged.n_old && i < *n_items; i++)
        compare_as(o, record[i], &o->item[i]);
    return ND_OK;
}

static enum nd_status make_item(struct ordered *o, uint64_t document, uint32_t record,
                                const struct nd_parsed *loaded, struct nd_dedup_item *item,
                                struct nd_error *err)
{
    const struct nd_run_watch *watch = o->run->request->watch;

    if (loaded->bad)
        return nd_fail(err, ND_ECHANGED, "%s: changed while it was read: %s", loaded->source->path,
                       loaded->bad->reason);
    if (watch && !watch->pushed(watch->context, document, record))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    *item = nd_parsed_item(loaded);
    compare_as(o, record, item);
    if (o->run->known)
        item->known = nd_known_rows_find(o->run->known, 0, &loaded->document);
    return ND_OK;
}

static enum nd_status load(void *context, enum nd_staged_pass pass, uint64_t first,
                           const uint32_t *record, size_t n, const struct nd_dedup_item **items,
                           size_t *n_items, struct nd_error *err)
{
    struct ordered *o = context;
    const struct nd_parsed *loaded = NULL;
    size_t count = o->run->against ? 0 : nd_loader_batch(o->loader, record, 0, n);
    enum nd_status status;

    (void)pass;
    if (o->run->against)
        status = load_rows(o, first, record, n, &count, err);
    else if (!ND_RESERVE(o->item, &o->item_capacity, count))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = nd_loader_load(o->loader, record, 0, count, true, &loaded, err);
    if (status == ND_OK && loaded && o->run->known)
        nd_known_rows_begin(o->run->known, 0);
    for (size_t i = 0; status == ND_OK && loaded && i < count; i++)
        status = make_item(o, first + i, record[i], &loaded[i], &o->item[i], err);
    *items = o->item;
    *n_items = count;
    return status;
}

/* Store what the signatures have in common, for the verdict that is added next. */
static bool note_agreement(struct ordered *o, const struct nd_decision *decision)
{
    size_t n = o->run->recipe->method.n_signatures;

    if (!n)
        return true;
    if (!ND_RESERVE(o->agreement, &o->agreement_capacity, (o->n_verdicts + 1) * n))
        return false;
    memcpy(&o->agreement[o->n_verdicts * n], decision->agreement, n * sizeof *o->agreement);
    return true;
}

static enum nd_status removed(void *context, const struct nd_staged_removed *removed,
                              struct nd_error *err)
{
    struct ordered *o = context;
    struct nd_run *run = o->run;
    const struct nd_run_watch *watch = run->request->watch;

    if (!ND_RESERVE(o->verdict, &o->verdict_capacity, o->n_verdicts + 1) ||
        !note_agreement(o, removed->decision))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    o->verdict_of[removed->record] = (uint32_t)o->n_verdicts;
    o->verdict[o->n_verdicts++] = nd_removal_of(run, removed);
    if (removed->kept < o->count)
        run->sizes.members[removed->kept]++;
    if (watch)
        watch->removed(watch->context, removed->record, removed->kept,
                       removed->decision->identical);
    return ND_OK;
}

static enum nd_status tell(struct ordered *o, unsigned pass, size_t done, size_t total,
                           struct nd_error *err)
{
    const struct nd_run_progress progress = {
        .documents = done, .pass = pass, .passes = 3, .pass_done = done, .pass_total = total};
    enum nd_status status = ND_OK;

    if (o->run->budget.total && pass == 2) /* while the index grows */
        status = nd_budget_check(&o->run->budget, done, done, total, err);
    return status == ND_OK ? nd_reporter_progress(&o->run->reporter, &progress, err) : status;
}

static enum nd_status tell_decided(void *context, enum nd_staged_pass pass, uint64_t done,
                                   uint64_t total, struct nd_error *err)
{
    if (pass != ND_STAGED_DECIDE)
        return ND_OK;
    return tell(context, 2, (size_t)done, (size_t)total, err);
}

static enum nd_status pushed(void *context, uint64_t done, size_t n, struct nd_error *err)
{
    const struct ordered *o = context;

    (void)done;
    return o->staged.only_old ? ND_OK : nd_run_keep_rows(o->run, 0, n, err);
}

/* ---- Old documents ---- */

static enum nd_status old_decided(void *context, uint64_t document,
                                  const struct nd_decision *decision, struct nd_error *err)
{
    const struct ordered *o = context;

    return decision->kept == document ? nd_against_keep_old(o->run->against, document, err) : ND_OK;
}

/* Remember what is counted of the old documents. */
static void old_pushed(void *context)
{
    struct ordered *o = context;

    if (!o->staged.n_old)
        return;
    nd_dedup_get_stats(o->run->dedup, &o->run->old);
    nd_against_set_order(o->run->against, o->order, o->staged.n_order);
}

static enum nd_status find_short(void *context, uint32_t record, struct nd_decision *decision,
                                 bool *found, struct nd_error *err)
{
    const struct ordered *o = context;

    return nd_against_find_short(o->run->against, record, decision, found, err);
}

/* Count a document in the table once for each file, whatever it matches there. */
static void matched(void *context, uint32_t record, const uint64_t *old, size_t n)
{
    struct ordered *o = context;
    const struct nd_against *against = o->run->against;

    for (size_t i = 0; i < n; i++)
        nd_against_count_quoted(against, old[i], record, &o->run->quoted);
    nd_against_count_short(against, record, &o->run->quoted);
}

/* ---- The last pass: survivors and rows, in input order ---- */

enum { LISTED = 4096 };

/* Whether the record stands for the others of its cluster, and is removed with them. */
static bool goes_as_leader(const struct ordered *o, size_t number)
{
    return o->verdict_of[number] == ND_NO_VERDICT && !o->is_bad[number] &&
           nd_run_removes_leader(o->run, o->run->sizes.members[number]);
}

/* Whether this pass needs the record. */
static bool is_wanted(const struct ordered *o, size_t number)
{
    return nd_emitter_needs(o->run, o->verdict_of[number] == ND_NO_VERDICT && !o->is_bad[number] &&
                                        !goes_as_leader(o, number));
}

static enum nd_status place_of(void *context, uint32_t number, struct nd_place *place,
                               struct nd_error *err)
{
    const struct ordered *o = context;

    (void)err;
    *place = o->run->places.item[number];
    return ND_OK;
}

/* The bytes of the record if it is too long; 0: it is not. */
static uint64_t too_long(const struct ordered *o, uint32_t number)
{
    size_t low = 0, high = o->n_too_long;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (o->too_long[middle].record < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->n_too_long && o->too_long[low].record == number ? o->too_long[low].bytes : 0;
}

static enum nd_status put_record(struct ordered *o, uint32_t number, const struct nd_parsed *loaded,
                                 struct nd_error *err)
{
    size_t n = o->run->recipe->method.n_signatures;
    uint32_t verdict = o->verdict_of[number];
    uint64_t bytes = o->is_bad[number] ? too_long(o, number) : 0;

    if (bytes) {
        struct nd_bad_record bad = nd_bad_record_too_long(bytes, nd_pool_threads(o->run->pool));
        struct nd_parsed skipped = *loaded;

        skipped.record.bytes = (struct nd_view){NULL, 0};
        skipped.bad = &bad;
        return nd_emitter_put(&o->emitter, &skipped, true, NULL, NULL, 0, err);
    }
    if (verdict == ND_NO_VERDICT)
        return nd_emitter_put(&o->emitter, loaded, o->is_bad[number],
                              goes_as_leader(o, number) ? &nd_removal_of_leader : NULL, NULL,
                              o->run->options->only_against ? 0 : o->run->sizes.members[number],
                              err);
    return nd_emitter_put(&o->emitter, loaded, false, &o->verdict[verdict],
                          n ? &o->agreement[verdict * n] : NULL, 0, err);
}

static enum nd_status put_batch(struct ordered *o, const uint32_t *number, size_t n,
                                struct nd_error *err)
{
    struct nd_run *run = o->run;
    bool parse = nd_outputs_has_names(&run->outputs);
    const struct nd_parsed *loaded = NULL;
    enum nd_status status = nd_loader_load(o->loader, number, 0, n, parse, &loaded, err);

    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = put_record(o, number[i], &loaded[i], err);
    return status == ND_OK ? nd_emitter_end_batch(&o->emitter, err) : status;
}

/* The next record that is needed, in input order. False: there are no more. */
static bool list_wanted(const struct ordered *o, size_t *at, uint32_t *number, size_t *n)
{
    for (*n = 0; *at < o->count && *n < LISTED; ++*at)
        if (is_wanted(o, *at))
            number[(*n)++] = (uint32_t)*at;
    return *n > 0;
}

static enum nd_status emit(struct ordered *o, struct nd_error *err)
{
    uint32_t number[LISTED] = {0};
    enum nd_status status = ND_OK;
    size_t at = 0, n;

    while (status == ND_OK && list_wanted(o, &at, number, &n)) {
        status = tell(o, 3, at, o->count, err);
        for (size_t from = 0, some; status == ND_OK && from < n; from += some) {
            some = nd_loader_batch(o->loader, number, from, n);
            status = put_batch(o, number + from, some, err);
        }
    }
    return status;
}

/* Find what outputs call a document that is in none of the inputs. */
static enum nd_status party_of(void *context, uint32_t number, struct nd_json *room,
                               struct nd_party *party, struct nd_error *err)
{
    struct ordered *o = context;

    return nd_against_party(o->run->against, number - o->count, room, party, err);
}

static enum nd_status passage_of(void *context, uint32_t number, struct nd_view text,
                                 struct nd_row_passage *passage, struct nd_error *err)
{
    struct ordered *o = context;

    return nd_against_passage(o->run->against, number - o->count, text, passage, err);
}

/* ---- The whole ---- */

/* Find the old documents that matter to those that were read. */
static enum nd_status meet_old(struct ordered *o, struct nd_error *err)
{
    struct nd_against *against = o->run->against;
    double began = nd_processor_clock();
    enum nd_status status = nd_against_search(against, o->run->reading, err);

    o->run->against_seconds += nd_processor_clock() - began;
    if (status != ND_OK)
        return status;
    o->staged.n_old = nd_against_count(against);
    nd_against_set_order(against, o->order, o->n_order);
    if (o->staged.n_old + o->count >= ND_NO_VERDICT)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %u records and old documents",
                       ND_NO_VERDICT);
    o->emitter.n_records = (uint32_t)o->count;
    o->emitter.party_of = party_of;
    o->emitter.passage_of = passage_of;
    return status;
}

static void note_survivors(const struct ordered *o)
{
    for (size_t i = 0; i < o->count; i++)
        if (o->verdict_of[i] == ND_NO_VERDICT && !o->is_bad[i])
            nd_against_keep(o->run->against, (uint32_t)i);
}

/* An engine comes before anything is read: it says whether the parameters are fine. */
static enum nd_status open_staged(struct ordered *o, struct nd_error *err)
{
    static const struct nd_staged_owner owner = {.make = make,
                                                 .retire = retire,
                                                 .load = load,
                                                 .fetch = fetch,
                                                 .fetch_shingles = fetch_shingles,
                                                 .removed = removed,
                                                 .old_decided = old_decided,
                                                 .old_pushed = old_pushed,
                                                 .find_short = find_short,
                                                 .matched = matched,
                                                 .tell = tell_decided,
                                                 .pushed = pushed};
    const bool only_old = o->run->options->only_against;

    o->staged = (struct nd_staged){.owner = &owner,
                                   .context = o,
                                   .recipe = o->run->recipe,
                                   .cluster = only_old ? ND_CLUSTER_PAIRS
                                                       : o->run->options->recipe->dedup.cluster,
                                   .is_ordered = true,
                                   .only_old = only_old};
    return nd_staged_open(&o->staged, err);
}

static enum nd_status decide(struct ordered *o, struct nd_error *err)
{
    struct nd_run *run = o->run;
    enum nd_status status = ND_OK;

    o->loader = nd_loader_new(run->pool, run->reading, run->lookup, &run->places, &run->input, err);
    if (!o->loader)
        return ND_ENOMEM;
    o->staged.n_records = o->count;
    o->staged.order = o->order;
    o->staged.n_order = o->n_order;
    if (o->staged.only_old)
        status = nd_against_begin_quoted(run->against, &run->quoted, err);
    if (status == ND_OK)
        status = nd_staged_run(&o->staged, err);
    if (o->staged.only_old) {
        nd_dedup_stats_add(&run->past, &o->staged.streamed.judged);
        run->has_past = true;
    }
    return status;
}

/* Whether the first pass announces its documents to the engine: their texts are there, and all that
 * are compared are of no group. */
static bool expects(const struct nd_run *run)
{
    const struct nd_run_options *options = run->options;

    return nd_dedup_expects(run->dedup) && !run->against && !run->sketches && !options->within &&
           !options->n_never;
}

static enum nd_status go_through(struct ordered *o, struct nd_error *err)
{
    struct nd_run *run = o->run;
    enum nd_status status = open_staged(o, err);

    run->expects = status == ND_OK && expects(run);
    if (status == ND_OK)
        status = nd_run_each_batch(run, collect, o, err);
    if (status == ND_OK && run->expects)
        status = nd_dedup_expected(run->dedup, err);
    nd_id_check_forget(&run->ids, run->summary);
    if (status == ND_OK)
        status = sort(o, err);
    if (status == ND_OK && run->against)
        status = meet_old(o, err);
    if (status == ND_OK)
        status = decide(o, err);
    if (status == ND_OK)
        status = emit(o, err);
    if (status == ND_OK && run->against)
        note_survivors(o);
    return status;
}

static void count(struct ordered *o)
{
    struct nd_run_summary *summary = o->run->summary;

    summary->removed = o->n_verdicts;
    for (size_t i = 0; i < o->count; i++)
        summary->removed += goes_as_leader(o, i);
    summary->kept = summary->documents - summary->removed;
    for (size_t i = 0; i < o->n_verdicts; i++) {
        summary->identical_bytes += o->verdict[i].identical == ND_IDENTICAL_BYTES;
        summary->identical_tokens += o->verdict[i].identical == ND_IDENTICAL_TOKENS;
        summary->near += o->verdict[i].identical == ND_IDENTICAL_NO;
    }
}

enum nd_status nd_run_ordered(struct nd_run *run, struct nd_error *err)
{
    struct ordered o = {.run = run, .emitter = {.run = run, .place_of = place_of, .context = &o}};
    enum nd_status status = go_through(&o, err);

    if (status == ND_OK) {
        count(&o);
        nd_run_count_clusters(run, o.count);
        status = nd_cluster_sizes_summarise(&run->sizes, o.count, run->lookup, &run->places,
                                            run->reading, run->summary, err);
    }
    nd_loader_free(o.loader);
    free(o.key);
    free(o.prefer);
    nd_rough_keys_release(&o.rough);
    free(o.group);
    free(o.labels);
    free(o.is_bad);
    free(o.too_long);
    free(o.verdict_of);
    free(o.order);
    free(o.verdict);
    free(o.agreement);
    free(o.item);

    nd_staged_release(&o.staged);
    nd_emitter_release(&o.emitter);
    return status;
}
