/* bounded_loads.c - documents divided into loads, each of which an engine has room for */
#define _GNU_SOURCE
#include "pipeline/bounded_loads.h"

#include "engine/engine.h"
#include "pipeline/linking.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a document takes in a load: its row in the index and its tables, 340 bytes or less, and what
 * an engine has beside them; an entry of 24 bytes, as much while these are sorted, and a number.
 */
enum {
    KEPT_BYTES = 20,
    DOCUMENT_BYTES = 340 + KEPT_BYTES + 2 * (int)sizeof(struct nd_bounded_offer) + 4,
    COMPONENT_BYTES = 24 + 28,
    COMPLETE_BYTES = 16 + 28,
    SIGNATURE_BYTES = 64,
    FIRST_DOCUMENTS = 40000 /* an index begins with room for so many (nd_dedup_new_on) */
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static uint64_t document_bytes(const struct nd_bounded_loads *l)
{
    uint64_t bytes = DOCUMENT_BYTES;

    if (l->cluster == ND_CLUSTER_COMPONENTS)
        bytes += COMPONENT_BYTES;
    if (l->cluster == ND_CLUSTER_COMPLETE)
        bytes += COMPLETE_BYTES;
    return bytes + (uint64_t)SIGNATURE_BYTES * l->records->run->recipe->method.n_signatures;
}

/* ---- The engine of a load ---- */

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;
    struct nd_place place;
    enum nd_status status = nd_bounded_records_place(
        l->records, nd_bounded_loads_record(l, document), worker, &place, err);

    return status == ND_OK ? nd_lookup_text(l->records->run->lookup, &place, worker, text, err)
                           : status;
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;
    struct nd_place place;
    enum nd_status status = nd_bounded_records_place(
        l->records, nd_bounded_loads_record(l, document), worker, &place, err);

    return status == ND_OK
               ? nd_lookup_shingles(l->records->run->lookup, &place, worker, shingle, n, err)
               : status;
}

static enum nd_status make_engine(struct nd_bounded_loads *l, struct nd_error *err)
{
    const struct nd_text_source source = {.context = l,
                                          .fetch = fetch,
                                          .keep = nd_run_keep_nothing,
                                          .fetch_shingles = fetch_shingles};

    return nd_run_make_dedup(l->records->run, l->cluster, &source, err);
}

enum nd_status nd_bounded_loads_open(struct nd_bounded_loads *l, struct nd_error *err)
{
    return make_engine(l, err);
}

void nd_bounded_loads_release(struct nd_bounded_loads *l)
{
    nd_spool_free(l->flags);
    nd_external_sort_free(l->offers);
    nd_column_release(&l->number);
    free(l->entry);
}

uint64_t nd_bounded_loads_spilled(const struct nd_bounded_loads *l)
{
    return l->linking_spilled + (l->flags ? nd_spool_bytes(l->flags) : 0) +
           (l->offers ? nd_external_sort_spilled(l->offers) : 0);
}

/* ---- Links ---- */

/* n documents of the batch at hand, from this one on, which were loaded. */
static enum nd_status link_loaded(struct nd_bounded_loads *l, struct nd_linking *linking,
                                  const struct nd_parsed *loaded, size_t from, size_t n,
                                  struct nd_error *err)
{
    struct nd_dedup_item item[ND_BOUNDED_BATCH];
    unsigned char flags[ND_BOUNDED_BATCH];
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        item[i] = (struct nd_dedup_item){0};
        if (!l->records->batch[from + i].is_bad)
            status = nd_bounded_records_item(l->records, from + i, &loaded[i], &item[i], err);
    }
    if (status == ND_OK)
        status = nd_linking_add(linking, item, n, flags, err);
    return status == ND_OK ? nd_spool_append(l->flags, flags, n, NULL, err) : status;
}

static enum nd_status link_all(struct nd_bounded_loads *l, struct nd_linking *linking,
                               struct nd_error *err)
{
    struct nd_bounded_records *records = l->records;
    enum nd_status status = ND_OK;

    for (uint64_t at = 0; status == ND_OK && at < records->count; at += records->n_batch) {
        status = nd_bounded_records_tell(records, ND_BOUNDED_LINK, at, records->count, err);
        if (status == ND_OK)
            status = nd_bounded_records_read(records, at, err);
        for (size_t from = 0, n; status == ND_OK && from < records->n_batch; from += n) {
            const struct nd_parsed *loaded;

            status = nd_bounded_records_load(records, from, true, &loaded, &n, err);
            if (status == ND_OK)
                status = link_loaded(l, linking, loaded, from, n, err);
        }
    }
    return status == ND_OK ? nd_linking_join(linking, err) : status;
}

/* ---- Offers ---- */

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct nd_bounded_offer *x = a, *y = b;
    const struct nd_bounded_records *records = context;

    return nd_offer_compare(records->keep, &records->rough, &x->offer, &y->offer);
}

/* A document that no other could influence: as an engine would count it. */
static void count_alone(const struct nd_bounded_loads *l, unsigned flags)
{
    struct nd_dedup_stats *stats = &l->records->run->past;

    stats->documents++;
    stats->kept++;
    stats->short_documents += (flags & ND_CANDIDATE_SHORT) != 0;
    stats->empty_documents += (flags & ND_CANDIDATE_EMPTY) != 0;
    stats->signed_documents += (flags & ND_CANDIDATE_SIGNED) != 0;
    stats->unsigned_documents += (flags & ND_CANDIDATE_UNSIGNED) != 0;
}

static enum nd_status offer(struct nd_bounded_loads *l, const struct nd_bounded_record *record,
                            uint32_t number, uint64_t component, struct nd_error *err)
{
    const struct nd_bounded_offer offered = {
        .component = component,
        .offer = {.key = record->key, .prefer = record->prefer, .record = number}};

    return nd_external_sort_add(l->offers, &offered, err);
}

/* The batch at hand, which begins with record `from`.  linking NULL: all are of one component. */
static enum nd_status offer_batch(struct nd_bounded_loads *l, struct nd_linking *linking,
                                  uint64_t from, struct nd_error *err)
{
    const struct nd_bounded_records *records = l->records;
    struct nd_buffer *flags = &records->spooled[0];
    enum nd_status status =
        linking ? nd_spool_read(l->flags, from, records->n_batch, flags, err) : ND_OK;

    for (size_t i = 0; status == ND_OK && i < records->n_batch; i++) {
        uint32_t number = (uint32_t)(from + i);

        if (records->batch[i].is_bad)
            continue;
        if (linking && nd_linking_is_alone(linking, number))
            count_alone(l, (unsigned char)flags->data[i]);
        else
            status = offer(l, &records->batch[i], number,
                           linking ? nd_linking_component(linking, number) : 0, err);
    }
    return status;
}

static enum nd_status offer_all(struct nd_bounded_loads *l, struct nd_linking *linking,
                                struct nd_error *err)
{
    struct nd_bounded_records *records = l->records;
    enum nd_status status = ND_OK;

    for (uint64_t from = 0; status == ND_OK && from < records->count; from += records->n_batch) {
        status = nd_bounded_records_read(records, from, err);
        if (status == ND_OK)
            status = offer_batch(l, linking, from, err);
    }
    return status;
}

/* Offer every document that is not alone, by its component.  The engine that has only said that the
 * parameters are fine gives its memory to the links. */
static enum nd_status offer_linked(struct nd_bounded_loads *l, struct nd_error *err)
{
    struct nd_run *run = l->records->run;
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
    status = link_all(l, linking, err);
    if (status == ND_OK)
        status = offer_all(l, linking, err);
    l->linking_spilled += nd_linking_spilled(linking);
    nd_linking_free(linking);
    return status;
}

static enum nd_status make_parts(struct nd_bounded_loads *l, struct nd_error *err)
{
    const struct nd_run *run = l->records->run;
    const struct nd_external_sort_options options = {.tmp = run->options->tmp,
                                                     .record_bytes =
                                                         sizeof(struct nd_bounded_offer),
                                                     .memory_bytes = run->budget.sort_bytes / 2,
                                                     .compare = by_keep_order,
                                                     .context = l->records};

    l->offers = nd_external_sort_new(&options, err);
    if (!l->offers)
        return ND_ENOMEM;
    l->flags = nd_spool_new(run->options->tmp, err);
    return l->flags ? ND_OK : ND_EIO;
}

static enum nd_status offer_documents(struct nd_bounded_loads *l, struct nd_error *err)
{
    uint64_t n = l->records->n_documents;
    uint64_t fitting = l->records->run->budget.engine_bytes / document_bytes(l);
    enum nd_status status;

    l->entries_max = (size_t)(n < fitting ? n : fitting) + 1;
    if (n <= fitting)
        return offer_all(l, NULL, err);
    status = offer_linked(l, err);
    if (status != ND_EUNSUPPORTED)
        return status;
    /* Their candidates are found in other ways: one engine has them all, if they are few enough. */
    *err = (struct nd_error){0};
    return offer_all(l, NULL, err);
}

/* The next document that is offered, or none. */
static enum nd_status advance(struct nd_bounded_loads *l, struct nd_error *err)
{
    const void *offered;
    int got = nd_external_sort_next(l->offers, &offered, err);

    l->has_coming = got > 0;
    if (got > 0)
        memcpy(&l->coming, offered, sizeof l->coming);
    return got < 0 ? (enum nd_status)got : ND_OK;
}

enum nd_status nd_bounded_loads_divide(struct nd_bounded_loads *l, struct nd_error *err)
{
    enum nd_status status = make_parts(l, err);

    if (status == ND_OK)
        status = offer_documents(l, err);
    if (status != ND_OK)
        return status;
    l->entry = nd_alloc_array(l->entries_max, sizeof *l->entry);
    return l->entry ? advance(l, err) : out_of_memory(err);
}

/* ---- Loads ---- */

static enum nd_status add_number(struct nd_bounded_loads *l, uint32_t number, struct nd_error *err)
{
    if (!nd_column_reserve(&l->number, l->n_load + 1, sizeof number))
        return out_of_memory(err);
    ((uint32_t *)l->number.data)[l->n_load++] = number;
    return ND_OK;
}

/* The load is this one component, of which the entries are the first part. */
static enum nd_status load_large(struct nd_bounded_loads *l, struct nd_error *err)
{
    uint64_t component = l->coming.component;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < l->n_entries; i++)
        status = add_number(l, l->entry[i].offer.record, err);
    while (status == ND_OK && l->has_coming && l->coming.component == component) {
        status = add_number(l, l->coming.offer.record, err);
        if (status == ND_OK)
            status = advance(l, err);
    }
    l->n_entries = 0;
    return status;
}

/*
 * Entries 0 … whole are the load, and the rest begins the next one.  In keep order the documents are
 * read as they lie in the input, more or less; components have no order among themselves.
 */
static enum nd_status load_entries(struct nd_bounded_loads *l, size_t whole, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    qsort_r(l->entry, whole, sizeof *l->entry, by_keep_order, l->records);
    for (size_t i = 0; status == ND_OK && i < whole; i++)
        status = add_number(l, l->entry[i].offer.record, err);
    l->n_entries -= whole;
    memmove(l->entry, l->entry + whole, l->n_entries * sizeof *l->entry);
    return status;
}

/* Gather the next load; it is empty where there are no more documents. */
static enum nd_status gather(struct nd_bounded_loads *l, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t last = 0; /* where the last component begins */

    while (status == ND_OK && l->has_coming && l->n_entries < l->entries_max) {
        if (l->n_entries && l->entry[l->n_entries - 1].component != l->coming.component)
            last = l->n_entries;
        l->entry[l->n_entries++] = l->coming;
        status = advance(l, err);
    }
    if (status != ND_OK || !l->n_entries)
        return status;
    if (!l->has_coming || l->entry[l->n_entries - 1].component != l->coming.component)
        return load_entries(l, l->n_entries, err);
    return last ? load_entries(l, last, err) : load_large(l, err);
}

enum nd_status nd_bounded_loads_next(struct nd_bounded_loads *l, struct nd_error *err)
{
    struct nd_run *run = l->records->run;
    enum nd_status status;

    if (l->n_load)
        nd_run_retire_dedup(run);
    l->n_before += l->n_load;
    l->n_load = 0;
    status = gather(l, err);
    if (status != ND_OK)
        return status;
    if (!l->n_load) {
        nd_run_retire_dedup(run);
        free(l->entry);
        l->entry = NULL;
        nd_column_release(&l->number);
        return ND_OK;
    }
    run->summary->loads++;
    return run->dedup ? ND_OK : make_engine(l, err);
}

enum nd_status nd_bounded_loads_items(struct nd_bounded_loads *l, uint64_t from,
                                      struct nd_dedup_item *item, size_t *n, struct nd_error *err)
{
    uint64_t rest = l->n_load - from;
    size_t most = rest < ND_BOUNDED_BATCH ? (size_t)rest : ND_BOUNDED_BATCH;
    const uint32_t *number = l->number.data;
    const struct nd_parsed *loaded = NULL;
    enum nd_status status = nd_bounded_records_select(l->records, number + from, most, err);

    *n = 0;
    if (status == ND_OK)
        status = nd_bounded_records_load(l->records, 0, true, &loaded, n, err);
    for (size_t i = 0; status == ND_OK && i < *n; i++)
        status = nd_bounded_records_item(l->records, i, &loaded[i], &item[i], err);
    return status;
}

enum nd_status nd_bounded_loads_check(const struct nd_bounded_loads *l, uint64_t pushed,
                                      struct nd_error *err)
{
    const struct nd_run *run = l->records->run;
    uint64_t beside = document_bytes(l) - DOCUMENT_BYTES, bytes;
    struct nd_dedup_stats stats;
    char text[ND_BUDGET_TEXT];

    nd_dedup_get_stats(run->dedup, &stats);
    bytes = stats.index_bytes + stats.kept * KEPT_BYTES + pushed * beside +
            l->n_load * sizeof(uint32_t) + l->entries_max * sizeof *l->entry;
    if (pushed <= FIRST_DOCUMENTS || bytes <= run->budget.engine_bytes)
        return ND_OK;
    return nd_fail(
        err, ND_ENOMEM,
        "memory: %" PRIu64 " documents could match one another, directly or through "
        "others; to decide about them together takes up to %s",
        l->n_load,
        nd_budget_text(nd_budget_for_engine(l->n_load * document_bytes(l) * 9 / 8), text));
}
