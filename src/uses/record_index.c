/*
 * record_index.c - an index of records: documents are added to a file of them, and looked up there
 *
 * The file is a sketch file, so any recipe can be used.  The documents that are looked up are sketched
 * first.  Then the file is gone through once, and the records that some of them could match are given
 * to an engine (old/against_run.h), which compares: memory follows the documents that are asked
 * about and what they meet.
 */
#include <neardup/uses.h>

#include <stdlib.h>

#include "base/memory.h"
#include "loads/staged.h"
#include "old/against_run.h"
#include "recipe/recipe_struct.h"
#include "run/run_parts.h"
#include "uses/pair_rows.h"

struct indexing {
    struct nd_run run;
    const struct nd_reading_batch *batch;
    uint32_t *record; /* of each document */
    size_t n, capacity;
    size_t n_records; /* before the batch */
    struct nd_output *out;
    bool json;
    struct nd_json row, earlier, later; /* scratch: a line, and two names */
    struct nd_staged staged;
    uint64_t first;       /* document of the items that ask at the moment */
    struct nd_error *err; /* error of `found`, which can return only a status */
};

/* ---- Documents are read ---- */

static enum nd_status list_record(void *context, const struct nd_parsed *parsed,
                                  struct nd_error *err)
{
    struct indexing *x = context;

    if (!ND_RESERVE(x->record, &x->capacity, x->n + 1))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_id_note(&x->run.ids, parsed);
    x->record[x->n++] = (uint32_t)(x->n_records + (size_t)(parsed - x->batch->parsed));
    return ND_OK;
}

static enum nd_status take_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct indexing *x = context;
    enum nd_status status = nd_against_take(x->run.against, batch, err);

    x->batch = batch;
    if (status == ND_OK)
        status = nd_run_each_document(&x->run, batch, list_record, x, err);
    x->n_records += batch->count;
    return status;
}

static enum nd_status begin(struct indexing *x, const struct nd_run_options *options,
                            const struct nd_run_request *request,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    enum nd_status status = nd_run_begin(&x->run, options, request, events, summary, err);

    x->run.outputs.publisher.syncs |= options->append;
    return status == ND_OK ? nd_run_open_against(&x->run, err) : status;
}

static void end(struct indexing *x)
{
    nd_staged_release(&x->staged);
    nd_run_end(&x->run);
    nd_json_release(&x->row);
    nd_json_release(&x->earlier);
    nd_json_release(&x->later);
    free(x->record);
}

/* ---- Added ---- */

enum nd_status nd_run_index_add(const struct nd_run_options *options,
                                const struct nd_run_events *events, struct nd_run_summary *summary,
                                struct nd_error *err)
{
    static const struct nd_run_request request = {.takes_sketches = true};
    struct nd_error room = {0};
    struct indexing x = {.n = 0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = begin(&x, options, &request, events, summary, err);
    if (status == ND_OK)
        status = nd_run_each_batch(&x.run, take_batch, &x, err);
    if (status == ND_OK)
        status = nd_against_end_reading(x.run.against, x.run.reading, err);
    for (size_t i = 0; status == ND_OK && i < x.n; i++)
        nd_against_keep(x.run.against, x.record[i]);
    if (status == ND_OK)
        status = nd_run_finish(&x.run, NULL, err);
    if (status == ND_OK)
        status = nd_run_append(&x.run, err);
    end(&x);
    return nd_run_status(status, err);
}

/* ---- Looked up ---- */

static enum nd_status make(void *context, size_t n, const struct nd_text_source *source,
                           struct nd_dedup **dedup, struct nd_error *err)
{
    struct indexing *x = context;
    enum nd_status status = nd_run_make_dedup_for(&x->run, ND_CLUSTER_PAIRS, n, source, err);

    if (status == ND_OK)
        *dedup = x->run.dedup;
    return status;
}

/* The run frees its engine when it ends. */
static void retire(void *context, struct nd_dedup *dedup)
{
    (void)context;
    (void)dedup;
}

static enum nd_status load(void *context, enum nd_staged_pass pass, uint64_t first,
                           const uint32_t *record, size_t n, const struct nd_dedup_item **items,
                           size_t *n_items, struct nd_error *err)
{
    struct indexing *x = context;

    (void)pass, (void)record;
    x->first = first;
    return nd_against_load(x->run.against, first, n, items, n_items, err);
}

static enum nd_status fetch(void *context, uint32_t record, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    (void)context, (void)record, (void)worker, (void)text;
    return nd_fail(err, ND_EINVAL, "a record has no text");
}

static enum nd_status fetch_shingles(void *context, uint32_t record, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct indexing *x = context;

    return nd_against_shingles(x->run.against, record, worker, shingle, n, err);
}

static enum nd_status write_pair(void *context, const struct nd_found_pair *pair)
{
    struct indexing *x = context;
    const struct nd_dedup_params *params = &x->run.recipe->dedup;
    struct nd_party earlier = {0}, later = {0};
    struct nd_pair_line row = {
        .pair = pair,
        .is_verified = pair->is_equal || params->verify != ND_VERIFY_NONE,
        .shows_containment = nd_dedup_measures_containment(params),
        .method = &x->run.recipe->method,
    };
    enum nd_status status =
        nd_against_party(x->run.against, pair->b, &x->earlier, &earlier, x->err);

    if (status == ND_OK)
        status = nd_against_party(x->run.against, x->first + pair->a, &x->later, &later, x->err);
    if (status != ND_OK)
        return status;
    row.earlier = earlier.name;
    row.later = later.name;
    x->row.text.len = 0;
    x->json ? nd_pair_line_json(&x->row, &row) : nd_pair_line_tsv(&x->row, &row);
    if (x->row.failed)
        return nd_fail(x->err, ND_ENOMEM, "out of memory");
    x->run.summary->pairs++;
    return nd_output_write(x->out, x->row.text.data, x->row.text.len, x->err);
}

/* Records stand before the documents that ask about them. */
static enum nd_status answer(struct indexing *x, struct nd_error *err)
{
    static const struct nd_staged_owner owner = {.make = make,
                                                 .retire = retire,
                                                 .load = load,
                                                 .fetch = fetch,
                                                 .fetch_shingles = fetch_shingles,
                                                 .found = write_pair};
    enum nd_status status;

    nd_against_set_order(x->run.against, x->record, x->n);
    x->staged = (struct nd_staged){.owner = &owner,
                                   .context = x,
                                   .recipe = x->run.recipe,
                                   .cluster = ND_CLUSTER_PAIRS,
                                   .n_records = x->n_records,
                                   .is_ordered = true,
                                   .order = x->record,
                                   .n_order = x->n,
                                   .n_old = nd_against_count(x->run.against),
                                   .only_old = true};
    status = nd_staged_open(&x->staged, err);
    if (status == ND_OK)
        status = nd_staged_run(&x->staged, err);
    return status == ND_OK ? nd_output_flush(x->out, err) : status;
}

static enum nd_status look_up(struct indexing *x, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    x->out = nd_outputs_open_one(&x->run.outputs, err);
    if (!x->out)
        return ND_EIO;
    status = nd_run_each_batch(&x->run, take_batch, x, err);
    if (status == ND_OK)
        status = nd_against_search(x->run.against, x->run.reading, err);
    return status == ND_OK ? answer(x, err) : status;
}

enum nd_status nd_run_index_query(const struct nd_run_options *options, int json,
                                  const struct nd_run_events *events,
                                  struct nd_run_summary *summary, struct nd_error *err)
{
    static const struct nd_run_request request = {
        .takes_sketches = true, .compares = true, .heeds_within = true, .writes_output = true};
    struct nd_error room = {0};
    struct indexing x = {.json = json != 0, .err = err ? err : &room};
    enum nd_status status;

    *x.err = (struct nd_error){0};
    status = begin(&x, options, &request, events, summary, x.err);
    summary->lists_pairs = 1;
    if (status == ND_OK)
        status = look_up(&x, x.err);
    if (status == ND_OK)
        status = nd_run_finish(&x.run, x.out, x.err);
    else
        nd_output_discard(x.out);
    end(&x);
    return nd_run_status(status, x.err);
}
