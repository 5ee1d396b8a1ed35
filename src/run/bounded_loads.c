/* bounded_loads.c - records of a run in files, as the documents that are decided in loads (staged.h) */
#include "run/bounded_loads.h"

#include "base/memory.h"

#include <stdlib.h>

/* ---- The engine of a load ---- */

static enum nd_status make(void *context, size_t n, const struct nd_text_source *source,
                           struct nd_dedup **dedup, struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;
    struct nd_run *run = l->records->run;
    enum nd_status status = nd_run_make_dedup_for(run, l->cluster, n, source, err);

    if (status == ND_OK)
        *dedup = run->dedup;
    return status;
}

static void retire(void *context, struct nd_dedup *dedup)
{
    const struct nd_bounded_loads *l = context;

    (void)dedup; /* run->dedup */
    nd_run_retire_dedup(l->records->run);
}

static enum nd_status fetch(void *context, uint32_t record, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;
    struct nd_place place;
    enum nd_status status = nd_bounded_records_place(l->records, record, worker, &place, err);

    return status == ND_OK ? nd_lookup_text(l->records->run->lookup, &place, worker, text, err)
                           : status;
}

static enum nd_status fetch_shingles(void *context, uint32_t record, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;
    struct nd_place place;
    enum nd_status status = nd_bounded_records_place(l->records, record, worker, &place, err);

    return status == ND_OK
               ? nd_lookup_shingles(l->records->run->lookup, &place, worker, shingle, n, err)
               : status;
}

/* ---- Records ---- */

static enum nd_status offer(void *context, uint32_t from, size_t n, struct nd_offer *offer,
                            bool *is_document, struct nd_error *err)
{
    struct nd_bounded_loads *l = context;
    const struct nd_bounded_record *record = l->records->batch;
    enum nd_status status = nd_bounded_records_read(l->records, from, err);

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        is_document[i] = !record[i].is_bad;
        offer[i] = (struct nd_offer){
            .key = record[i].key, .prefer = record[i].prefer, .record = from + (uint32_t)i};
    }
    return status;
}

/* Make the items of n records that were loaded. */
static enum nd_status make_items(struct nd_bounded_loads *l, enum nd_staged_pass pass,
                                 const uint32_t *record, const struct nd_parsed *loaded, size_t n,
                                 struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        l->item[i] = (struct nd_dedup_item){0};
        if (l->records->batch[i].is_bad)
            continue;
        status = nd_bounded_records_item(l->records, i, &loaded[i], &l->item[i], err);
        if (status == ND_OK && l->loaded && pass == ND_STAGED_DECIDE)
            status = l->loaded(l->context, record[i], &loaded[i], err);
    }
    return status;
}

static enum nd_status load(void *context, enum nd_staged_pass pass, uint64_t first,
                           const uint32_t *record, size_t n, const struct nd_dedup_item **items,
                           size_t *n_items, struct nd_error *err)
{
    struct nd_bounded_loads *l = context;
    const struct nd_parsed *loaded = NULL;
    enum nd_status status = nd_bounded_records_select(
        l->records, record, n < ND_BOUNDED_BATCH ? n : ND_BOUNDED_BATCH, err);

    if (status == ND_OK)
        status = nd_bounded_records_load(l->records, 0, true, &loaded, n_items, err);
    if (status == ND_OK)
        status = make_items(l, pass, record, loaded, *n_items, err);
    if (status == ND_OK && l->keeper && pass == ND_STAGED_LINK)
        status = nd_row_keeper_make(l->keeper, l->item, *n_items, err);
    else if (status == ND_OK && l->keeper)
        nd_row_keeper_find(l->keeper, l->item, *n_items);
    (void)first;
    *items = l->item;
    return status;
}

/* ---- What the driver tells ---- */

static enum nd_status removed(void *context, const struct nd_staged_removed *removed,
                              struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;

    return l->removed(l->context, removed, err);
}

static enum nd_status found(void *context, const struct nd_found_pair *pair)
{
    const struct nd_bounded_loads *l = context;

    return l->found(l->context, pair);
}

static enum nd_status begin_load(void *context, struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;

    l->records->run->summary->loads++;
    return l->begin_load ? l->begin_load(l->context, err) : ND_OK;
}

static enum nd_status tell(void *context, enum nd_staged_pass pass, uint64_t done, uint64_t total,
                           struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;

    if (pass == ND_STAGED_ASK)
        return ND_OK;
    return nd_bounded_records_tell(
        l->records, pass == ND_STAGED_LINK ? ND_BOUNDED_LINK : ND_BOUNDED_DECIDE, done, total, err);
}

/* Keep the rows that the engine made of n documents, where there is a checkpoint that has none of them
 * yet: to link them, all rows have been made. */
static enum nd_status pushed(void *context, uint64_t done, size_t n, struct nd_error *err)
{
    const struct nd_bounded_loads *l = context;

    (void)done;
    return l->staged.is_linked ? ND_OK : nd_run_keep_rows(l->records->run, 0, n, err);
}

/* ---- The whole ---- */

enum nd_status nd_bounded_loads_open(struct nd_bounded_loads *l, struct nd_error *err)
{
    static const struct nd_staged_owner owner = {.make = make,
                                                 .retire = retire,
                                                 .offer = offer,
                                                 .load = load,
                                                 .fetch = fetch,
                                                 .fetch_shingles = fetch_shingles,
                                                 .removed = removed,
                                                 .found = found,
                                                 .begin_load = begin_load,
                                                 .tell = tell,
                                                 .pushed = pushed};
    struct nd_run *run = l->records->run;
    enum nd_status status;

    l->staged = (struct nd_staged){.recipe = run->recipe,
                                   .cluster = l->cluster,
                                   .keep = l->records->keep,
                                   .rough = &l->records->rough,
                                   .budget = &run->budget,
                                   .tmp = run->options->tmp,
                                   .pool = run->pool,
                                   .alone = &run->past,
                                   .owner = &owner,
                                   .context = l};
    l->item = nd_alloc_array(ND_BOUNDED_BATCH, sizeof *l->item);
    if (!l->item)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_staged_open(&l->staged, err);
    if (status != ND_OK)
        return status;
    l->staged.index_bytes = nd_loads_index_bytes(run->dedup);
    if (!run->known)
        return ND_OK;
    l->keeper = nd_row_keeper_new(run, err);
    return l->keeper ? ND_OK : err->status;
}

void nd_bounded_loads_release(struct nd_bounded_loads *l)
{
    nd_row_keeper_free(l->keeper);
    nd_staged_release(&l->staged);
    free(l->item);
}

uint64_t nd_bounded_loads_spilled(const struct nd_bounded_loads *l)
{
    return nd_staged_spilled(&l->staged);
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
    l->staged.n_records = records->count;
    l->staged.n_documents = records->n_documents;
    return status;
}

enum nd_status nd_bounded_loads_decide(struct nd_bounded_loads *l, struct nd_error *err)
{
    return nd_staged_run(&l->staged, err);
}
