/* bounded_records.c - what bounded memory keeps of every record: a row in a file */
#include "run/bounded_records.h"

#include "base/memory.h"
#include "run/removal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Records that are read although they are not needed, so that those around them are read at once. */
enum { NEAR = 64 };

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

enum nd_status nd_bounded_records_open(struct nd_bounded_records *r, struct nd_run *run,
                                       struct nd_error *err)
{
    r->run = run;
    r->n_spooled = nd_pool_threads(run->pool) + 1;
    r->spooled = calloc(r->n_spooled, sizeof *r->spooled);
    r->batch = nd_alloc_array(ND_BOUNDED_BATCH, sizeof *r->batch);
    r->places.item = nd_alloc_array(ND_BOUNDED_BATCH, sizeof *r->places.item);
    if (!r->spooled || !r->batch || !r->places.item)
        return out_of_memory(err);
    r->spool = nd_spool_new(run->options->tmp, err);
    if (!r->spool)
        return ND_EIO;
    r->loader = nd_loader_new(run->pool, run->reading, run->lookup, &r->places, &run->input, err);
    return r->loader ? ND_OK : ND_ENOMEM;
}

void nd_bounded_records_release(struct nd_bounded_records *r)
{
    nd_loader_free(r->loader);
    nd_spool_free(r->spool);
    nd_rough_keys_release(&r->rough);
    for (unsigned i = 0; r->spooled && i < r->n_spooled; i++)
        nd_buffer_release(&r->spooled[i]);
    free(r->spooled);
    free(r->batch);
    free(r->places.item);
}

enum nd_status nd_bounded_records_tell(struct nd_bounded_records *r, unsigned pass, uint64_t done,
                                       uint64_t total, struct nd_error *err)
{
    const struct nd_run_progress progress = {.documents = done,
                                             .pass = pass,
                                             .passes = ND_BOUNDED_PASSES,
                                             .pass_done = done,
                                             .pass_total = total};

    return nd_reporter_progress(&r->run->reporter, &progress, err);
}

/* ---- Collected ---- */

/* Values of a policy, of `within`, of security labels or of a use's notes, which memory has to hold. */
static enum nd_status check_keys(const struct nd_bounded_records *r, struct nd_error *err)
{
    const struct nd_run *run = r->run;
    uint64_t compared = nd_comparable_bytes(&run->comparable);
    uint64_t bytes = compared + r->rough.bytes;
    char text[ND_BUDGET_TEXT];

    if (bytes <= run->budget.key_bytes)
        return ND_OK;
    return nd_fail(err, ND_ENOMEM,
                   "memory: after %" PRIu64 " records, the values of %s take %" PRIu64
                   " bytes: more than %s is needed",
                   r->count,
                   compared <= r->rough.bytes                                ? "keep"
                   : nd_groups_bytes(&run->comparable.values) * 2 > compared ? "within"
                                                                             : "security-field",
                   bytes, nd_budget_text(run->budget.total / run->budget.key_bytes * bytes, text));
}

static enum nd_status add_record(struct nd_bounded_records *r, const struct nd_parsed *parsed,
                                 struct nd_error *err)
{
    struct nd_run *run = r->run;
    uint64_t skipped = parsed->record.skipped_bytes;
    struct nd_bounded_record record = {.key = skipped ? skipped : parsed->key,
                                       .is_bad = parsed->bad != NULL,
                                       .is_too_long = skipped != 0};
    enum nd_status status = nd_lookup_keep(run->lookup, &parsed->record, NULL, &record.place, err);

    if (status != ND_OK)
        return status;
    if (r->count == ND_NO_RECORD - 1)
        return nd_fail(err, ND_EUNSUPPORTED, "more than %" PRIu64 " records", r->count);
    if (!parsed->bad) {
        record.prefer = nd_preference(run, &parsed->document);
        if (!nd_comparable_group(&run->comparable, &parsed->document, &record.group) ||
            !nd_comparable_labels(&run->comparable, &parsed->document, &record.labels) ||
            !nd_rough_keys_note(&r->rough, r->keep, parsed->key, (uint32_t)r->count,
                                nd_document_field(&parsed->document, run->keep_index)))
            return out_of_memory(err);
        r->n_documents++;
    }
    status = nd_spool_append(r->spool, &record, sizeof record, NULL, err);
    r->count++;
    if (status != ND_OK)
        return status;
    if (parsed->bad)
        return nd_reporter_bad_record(&run->reporter, parsed, parsed->bad->reason, err);
    nd_id_note(&run->ids, parsed);
    nd_run_meet(run, parsed);
    return ND_OK;
}

enum nd_status nd_bounded_records_add(void *records, const struct nd_reading_batch *batch,
                                      struct nd_error *err)
{
    struct nd_bounded_records *r = records;
    enum nd_status status = ND_OK;

    if (atomic_load(&r->run->reporter.is_out_of_memory))
        return out_of_memory(err);
    for (size_t i = 0; status == ND_OK && i < batch->count; i++)
        status = add_record(r, &batch->parsed[i], err);
    return status == ND_OK ? check_keys(r, err) : status;
}

enum nd_status nd_bounded_records_check(const struct nd_bounded_records *r, struct nd_error *err)
{
    uint64_t bytes = (r->count + 64) * (sizeof(uint32_t) + 1);
    char text[ND_BUDGET_TEXT];

    if (bytes <= r->run->budget.array_bytes)
        return ND_OK;
    return nd_fail(err, ND_ENOMEM, "memory: %" PRIu64 " records need at least %s", r->count,
                   nd_budget_text(nd_budget_for_arrays(bytes), text));
}

/* ---- Read again ---- */

enum nd_status nd_bounded_records_select(struct nd_bounded_records *r, const uint32_t *number,
                                         size_t n, struct nd_error *err)
{
    struct nd_buffer *rows = &r->spooled[r->n_spooled - 1];
    enum nd_status status = ND_OK;

    for (size_t from = 0, to; status == ND_OK && from < n; from = to) {
        uint64_t first = number[from], last = first;

        for (to = from + 1; to < n && number[to] > last && number[to] - last <= NEAR; to++)
            last = number[to];
        status = nd_spool_read(r->spool, first * sizeof *r->batch,
                               (size_t)(last - first + 1) * sizeof *r->batch, rows, err);
        for (size_t i = from; status == ND_OK && i < to; i++)
            memcpy(&r->batch[i], rows->data + (number[i] - first) * sizeof *r->batch,
                   sizeof *r->batch);
    }
    r->n_batch = n;
    return status;
}

enum nd_status nd_bounded_records_read(struct nd_bounded_records *r, uint64_t from,
                                       struct nd_error *err)
{
    struct nd_buffer *rows = &r->spooled[r->n_spooled - 1];
    size_t n = r->count - from < ND_BOUNDED_BATCH ? (size_t)(r->count - from) : ND_BOUNDED_BATCH;
    enum nd_status status =
        nd_spool_read(r->spool, from * sizeof *r->batch, n * sizeof *r->batch, rows, err);

    if (status == ND_OK && n)
        memcpy(r->batch, rows->data, n * sizeof *r->batch);
    r->n_batch = n;
    return status;
}

enum nd_status nd_bounded_records_load(struct nd_bounded_records *r, size_t from, bool parse,
                                       const struct nd_parsed **loaded, size_t *n,
                                       struct nd_error *err)
{
    for (size_t i = from; i < r->n_batch; i++)
        r->places.item[i] = r->batch[i].place;
    *n = nd_loader_batch(r->loader, NULL, from, r->n_batch);
    return nd_loader_load(r->loader, NULL, from, *n, parse, loaded, err);
}

enum nd_status nd_bounded_records_item(const struct nd_bounded_records *r, size_t i,
                                       const struct nd_parsed *loaded, struct nd_dedup_item *item,
                                       struct nd_error *err)
{
    if (loaded->bad)
        return nd_fail(err, ND_ECHANGED, "%s: changed while it was read: %s", loaded->source->path,
                       loaded->bad->reason);
    *item = nd_parsed_item(loaded);
    item->group = r->batch[i].group;
    item->labels = nd_comparable_set(&r->run->comparable, r->batch[i].labels);
    return ND_OK;
}

enum nd_status nd_bounded_records_place(struct nd_bounded_records *r, uint32_t number,
                                        unsigned worker, struct nd_place *place,
                                        struct nd_error *err)
{
    struct nd_buffer *row = &r->spooled[worker];
    enum nd_status status =
        nd_spool_read(r->spool, (uint64_t)number * sizeof(struct nd_bounded_record),
                      sizeof(struct nd_bounded_record), row, err);

    if (status == ND_OK)
        memcpy(place, row->data + offsetof(struct nd_bounded_record, place), sizeof *place);
    return status;
}
