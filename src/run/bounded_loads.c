/* bounded_loads.c - records divided into loads (loads.h), and read again for the engine of each */
#include "run/bounded_loads.h"

#include "loads/linking.h"

#include <stdlib.h>

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

/* With room for the load at hand. */
static enum nd_status make_engine(struct nd_bounded_loads *l, size_t n, struct nd_error *err)
{
    const struct nd_text_source source = {.context = l,
                                          .fetch = fetch,
                                          .keep = nd_run_keep_nothing,
                                          .fetch_shingles = fetch_shingles};

    return nd_run_make_dedup_for(l->records->run, l->cluster, n, &source, err);
}

enum nd_status nd_bounded_loads_open(struct nd_bounded_loads *l, struct nd_error *err)
{
    struct nd_run *run = l->records->run;
    enum nd_status status = make_engine(l, 0, err);

    if (status != ND_OK)
        return status;
    l->loads.index_bytes = nd_loads_index_bytes(run->dedup);
    if (!run->known)
        return ND_OK;
    l->keeper = nd_row_keeper_new(run, err);
    return l->keeper ? ND_OK : err->status;
}

void nd_bounded_loads_release(struct nd_bounded_loads *l)
{
    nd_spool_free(l->flags);
    nd_row_keeper_free(l->keeper);
    nd_loads_release(&l->loads);
}

uint64_t nd_bounded_loads_spilled(const struct nd_bounded_loads *l)
{
    return l->linking_spilled + (l->flags ? nd_spool_bytes(l->flags) : 0) +
           nd_loads_spilled(&l->loads);
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
    if (status == ND_OK && l->keeper)
        status = nd_row_keeper_make(l->keeper, item, n, err);
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

static enum nd_status offer(struct nd_bounded_loads *l, const struct nd_bounded_record *record,
                            uint32_t number, uint64_t component, struct nd_error *err)
{
    const struct nd_offer offer = {.key = record->key, .prefer = record->prefer, .record = number};

    return nd_loads_offer(&l->loads, component, &offer, err);
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
            nd_loads_count_alone(&l->loads, &records->run->past, (unsigned char)flags->data[i]);
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
                                               .filter_bytes = run->budget.link_filter_bytes,
                                               .rows_bytes = run->budget.link_rows_bytes,
                                               .records = l->records->count};
    struct nd_linking *linking;
    enum nd_status status;

    nd_run_retire_dedup(run);
    linking = nd_linking_new(&options, err);
    if (!linking)
        return err->status;
    l->is_linked = true;
    status = link_all(l, linking, err);
    if (status == ND_OK)
        status = offer_all(l, linking, err);
    l->linking_spilled += nd_linking_spilled(linking);
    nd_linking_free(linking);
    return status;
}

static enum nd_status offer_documents(struct nd_bounded_loads *l, struct nd_error *err)
{
    enum nd_status status;

    if (nd_loads_have_room(&l->loads, l->records->n_documents))
        return offer_all(l, NULL, err);
    status = offer_linked(l, err);
    if (status != ND_EUNSUPPORTED)
        return status;
    /* Their candidates are found in other ways: one engine has them all, if they are few enough. */
    *err = (struct nd_error){0};
    return offer_all(l, NULL, err);
}

/* The records are there: offer their documents. */
static enum nd_status divide(struct nd_bounded_loads *l, struct nd_error *err)
{
    const struct nd_run *run = l->records->run;
    enum nd_status status;

    l->loads = (struct nd_loads){.recipe = run->recipe,
                                 .keep = l->records->keep,
                                 .rough = &l->records->rough,
                                 .budget = &run->budget,
                                 .tmp = run->options->tmp,
                                 .cluster = l->cluster,
                                 .threads = nd_pool_threads(run->pool),
                                 .index_bytes = l->loads.index_bytes};
    status = nd_loads_open(&l->loads, l->records->n_documents, err);
    if (status != ND_OK)
        return status;
    l->flags = nd_spool_new(run->options->tmp, err);
    return l->flags ? offer_documents(l, err) : ND_EIO;
}

/* The sizes of clusters are held beside the loads, to which at least half of their share is left. */
static void hold_sizes(struct nd_budget *budget, size_t bytes)
{
    budget->engine_bytes -= bytes < budget->engine_bytes / 2 ? bytes : budget->engine_bytes / 2;
}

enum nd_status nd_bounded_loads_collect(struct nd_bounded_loads *l, struct nd_error *err)
{
    struct nd_bounded_records *records = l->records;
    struct nd_run *run = records->run;
    enum nd_status status = nd_run_each_batch(run, nd_bounded_records_add, records, err);

    nd_id_check_forget(&run->ids, run->summary);
    if (status == ND_OK)
        status = nd_bounded_records_check(records, err);
    if (status == ND_OK && l->cluster != ND_CLUSTER_PAIRS)
        hold_sizes(&run->budget, (size_t)records->count * sizeof *run->sizes.members);
    return status == ND_OK ? divide(l, err) : status;
}

/* ---- Loads ---- */

enum nd_status nd_bounded_loads_next(struct nd_bounded_loads *l, struct nd_error *err)
{
    struct nd_run *run = l->records->run;
    enum nd_status status;

    if (l->loads.n_load)
        nd_run_retire_dedup(run);
    status = nd_loads_next(&l->loads, err);
    if (status != ND_OK)
        return status;
    if (!l->loads.n_load) {
        nd_run_retire_dedup(run);
        return ND_OK;
    }
    run->summary->loads++;
    if (run->dedup && nd_loads_room(&l->loads))
        nd_run_retire_dedup(run);
    return run->dedup ? ND_OK : make_engine(l, nd_loads_room(&l->loads), err);
}

enum nd_status nd_bounded_loads_items(struct nd_bounded_loads *l, uint64_t from,
                                      struct nd_dedup_item *item, const struct nd_parsed **loaded,
                                      size_t *n, struct nd_error *err)
{
    struct nd_bounded_records *records = l->records;
    uint64_t rest = l->loads.n_load - from;
    size_t most = rest < ND_BOUNDED_BATCH ? (size_t)rest : ND_BOUNDED_BATCH;
    const uint32_t *number = l->loads.number.data;
    enum nd_status status = nd_bounded_records_tell(
        records, ND_BOUNDED_DECIDE, l->loads.n_before + from, records->n_documents, err);

    *n = 0;
    if (status == ND_OK)
        status = nd_bounded_records_select(records, number + from, most, err);
    if (status == ND_OK)
        status = nd_bounded_records_load(records, 0, true, loaded, n, err);
    for (size_t i = 0; status == ND_OK && i < *n; i++)
        status = nd_bounded_records_item(records, i, &(*loaded)[i], &item[i], err);
    if (status == ND_OK && l->keeper)
        nd_row_keeper_find(l->keeper, item, *n);
    return status;
}

enum nd_status nd_bounded_loads_keep_rows(struct nd_bounded_loads *l, size_t n,
                                          struct nd_error *err)
{
    return l->is_linked ? ND_OK : nd_run_keep_rows(l->records->run, 0, n, err);
}

enum nd_status nd_bounded_loads_check(const struct nd_bounded_loads *l, uint64_t pushed,
                                      struct nd_error *err)
{
    struct nd_dedup_stats stats;

    nd_dedup_get_stats(l->records->run->dedup, &stats);
    return nd_loads_check(&l->loads, &stats, pushed, err);
}
