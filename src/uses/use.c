/* use.c - what the uses share: reading and sketching all documents, writing rows */

/*
 * The commands that go through all documents once differ only in what they do with each. This file
 * reads batches, makes sketches in parallel if they are asked for, calls the command's function for
 * each document in input order, and writes rows as TSV or JSON to an output that is published at
 * the end.
 */
#include "uses/use.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/replaced_hash.h"
#include "loads/streamed.h"

struct nd_use_summary nd_run_use_summary(const struct nd_run_summary *counts, uint64_t found)
{
    return (struct nd_use_summary){
        .documents = counts->documents,
        .bad_records = counts->bad_records,
        .failed_inputs = counts->failed_inputs,
        .left_out = counts->left_out,
        .partly_published = counts->partly_published,
        .wrote_in_place = counts->wrote_in_place,
        .replaced = counts->replaced,
        .found = found,
    };
}

enum nd_status nd_use_begin(struct nd_use *use, const struct nd_run_options *options,
                            const struct nd_run_request *request,
                            const struct nd_run_events *events, struct nd_error *err)
{
    *use = (struct nd_use){.signs = false};
    return nd_run_begin(&use->run, options, request, events, &use->counts, err);
}

/* False: out of memory. */
static bool sign(struct nd_document_signer *signer, const struct nd_document *document,
                 struct nd_use_sketch *out)
{
    struct nd_signature made;

    if (nd_document_signer_run(signer, document, &made, NULL) != ND_OK ||
        !ND_RESERVE(out->word, &out->capacity, made.count + 1))
        return false;
    if (made.count)
        memcpy(out->word, made.word, made.count * sizeof *out->word);
    out->signature = made;
    out->signature.word = out->word;
    return true;
}

/*
 * Take the row of a sketch file in place of its document; it has no minima. False: out of memory.
 */
static bool take_row(const struct nd_use *use, const struct nd_sketch_row *row,
                     struct nd_use_sketch *out)
{
    const struct nd_signature *x = &row->signature[0];

    out->raw = row->text_hash[0];
    out->n_tokens = row->tokens;
    out->identity = row->identity;
    out->simhash = row->simhash;
    if (!use->signs)
        return true;
    if (!ND_RESERVE(out->word, &out->capacity, x->count + 1))
        return false;
    out->signature = *x;
    out->signature.word = out->word;
    if (x->count)
        memcpy(out->word, x->word, x->count * sizeof *out->word);
    return true;
}

static void sketch_one(void *context, size_t task, unsigned worker)
{
    struct nd_use *use = context;
    const struct nd_parsed *parsed = &use->batch->parsed[task];
    const struct nd_view text = parsed->document.text;
    struct nd_use_worker *w = &use->worker[worker];
    struct nd_use_sketch *out = &use->sketch[task];
    uint64_t replaced = parsed->document.text_replaced;
    struct nd_sketch sketch;

    if (parsed->bad)
        return;
    if (parsed->sketched) {
        if (!take_row(use, parsed->sketched, out))
            atomic_store(&use->has_failed, true);
        return;
    }
    if (nd_sketcher_run(w->sketcher, text.data, text.len, (unsigned)use->parts, &sketch) != ND_OK) {
        atomic_store(&use->has_failed, true);
        return;
    }
    out->raw = nd_replaced_mark(nd_hash_bytes(text.data, text.len), replaced);
    out->n_tokens = sketch.n_tokens;
    out->identity = nd_replaced_mark(sketch.identity, replaced);
    out->simhash = sketch.simhash;
    memcpy(out->minhash, sketch.minhash, sizeof out->minhash);
    if (use->signs && !sign(w->signer[0], &parsed->document, out))
        atomic_store(&use->has_failed, true);
}

static bool sketch_batch(struct nd_use *use, const struct nd_reading_batch *batch)
{
    size_t before = use->n_sketches;

    if (!ND_RESERVE(use->sketch, &use->n_sketches, batch->count))
        return false;
    if (use->n_sketches > before)
        memset(&use->sketch[before], 0, (use->n_sketches - before) * sizeof *use->sketch);
    use->batch = batch;
    nd_pool_run(use->run.pool, batch->count, sketch_one, use);
    return !atomic_load(&use->has_failed);
}

enum nd_status nd_use_make_workers(struct nd_use *use, unsigned n_signatures, struct nd_error *err)
{
    unsigned n = nd_pool_threads(use->run.pool);

    use->worker = calloc(n, sizeof *use->worker);
    if (!use->worker)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < n; i++) {
        struct nd_use_worker *w = &use->worker[i];

        w->sketcher = nd_sketcher_new(&use->run.recipe->dedup.sketch, err);
        if (!w->sketcher)
            return err->status;
        for (unsigned k = 0; k < n_signatures; k++) {
            w->signer[k] = nd_document_signer_of(&use->run.recipe->method.signature[k], err);
            if (!w->signer[k])
                return err->status;
        }
    }
    return ND_OK;
}

static enum nd_status walk_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct nd_use *use = context;
    enum nd_status status;

    if (use->worker && !sketch_batch(use, batch))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_run_each_document(&use->run, batch, use->take, use->context, err);
    return status == ND_OK && use->name.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : status;
}

enum nd_status nd_use_walk(struct nd_use *use, int parts, nd_run_take *take, void *context,
                           struct nd_error *err)
{
    enum nd_status status =
        parts >= 0 ? nd_use_make_workers(use, use->signs && !use->run.sketches, err) : ND_OK;

    use->parts = parts;
    use->take = take;
    use->context = context;
    if (status == ND_OK)
        status = nd_run_each_batch(&use->run, walk_batch, use, err);
    return status == ND_OK ? nd_run_conclude(&use->run, err) : status;
}

struct nd_name nd_use_name(struct nd_use *use, const struct nd_parsed *parsed)
{
    return nd_name_of(&parsed->document, parsed->source, parsed->record.line, &use->name);
}

enum nd_status nd_use_bad(struct nd_use *use, const struct nd_parsed *parsed, const char *reason,
                          struct nd_error *err)
{
    use->counts.documents--;
    return nd_reporter_bad_record(&use->run.reporter, parsed, reason, err);
}

/* Documents of sketch files, with their rows in memory of the arena. */
static bool parse_packed(struct nd_use *use, struct nd_parsed *held, size_t n,
                         struct nd_arena *arena, struct nd_dedup_item *item)
{
    struct nd_sketch_row *row = nd_arena_alloc(arena, (n + 1) * sizeof *row);

    for (size_t i = 0; row && i < n; i++) {
        if (nd_sketches_parse(use->run.sketches, held[i].record.bytes, arena, &row[i], NULL) !=
            ND_OK)
            return false;
        held[i].sketched = &row[i];
        held[i].document = nd_sketched_document(&row[i], NULL, NULL, NULL);
        item[i] = nd_parsed_item(&held[i]);
    }
    return row != NULL;
}

/* Parse records again; those that were good when they were first read are good again. */
static bool parse_held(struct nd_use *use, struct nd_parsed *held, size_t n,
                       struct nd_parser *parser, struct nd_dedup_item *item)
{
    for (size_t i = 0; i < n; i++) {
        struct nd_document *document = &held[i].document;
        struct nd_bad_record bad;

        if (nd_parser_parse(parser, held[i].source, held[i].record.bytes, document, NULL, &bad) !=
            1)
            return false;
        item[i] = (struct nd_dedup_item){.text = document->text, .document = document};
        if (nd_comparable_is_never(&use->run.comparable, document))
            item[i].group = (uint32_t)i + 1; /* of its own */
    }
    return true;
}

/* A batch after the other, as one holds the sketches and shingles of its documents. */
static enum nd_status push_batches(struct nd_streamed *streamed, const struct nd_dedup_item *item,
                                   size_t n, struct nd_error *err)
{
    enum { BATCH_BYTES = 4 << 20 };
    enum nd_status status = ND_OK;

    for (size_t from = 0, to = 0; status == ND_OK && from < n; from = to) {
        size_t bytes = 0;

        while (to < n && (to == from || bytes + item[to].text.len <= BATCH_BYTES))
            bytes += item[to++].text.len;
        status = nd_streamed_push(streamed, item + from, to - from, err);
    }
    return status;
}

static enum nd_status note_decision(void *decisions, uint64_t document,
                                    const struct nd_decision *decision,
                                    const struct nd_component_via *via, struct nd_error *err)
{
    (void)via;
    (void)err;
    ((struct nd_decision *)decisions)[document] = *decision;
    return ND_OK;
}

enum nd_status nd_use_decide(struct nd_use *use, struct nd_parsed *held, const uint32_t *labels,
                             size_t n, struct nd_decision *decision, const char *what,
                             struct nd_error *err)
{
    struct nd_dedup_params params = nd_recipe_dedup_params(use->run.recipe);
    struct nd_dedup_item *item = nd_alloc_array(n, sizeof *item);
    struct nd_parser *parser = nd_parser_new(&use->run.input, err);
    struct nd_streamed streamed = {
        .cluster = ND_CLUSTER_STAR, .decided = note_decision, .context = decision};
    struct nd_arena rows = {0};
    enum nd_status status = ND_OK;

    params.cluster = ND_CLUSTER_STAR;
    params.takes_sketches = params.takes_no_texts = use->run.sketches != NULL;
    if (!item || !parser ||
        !(use->run.sketches ? parse_packed(use, held, n, &rows, item)
                            : parse_held(use, held, n, parser, item)))
        status = nd_fail(err, ND_ENOMEM, "out of memory for %zu documents", n);
    for (size_t i = 0; status == ND_OK && labels && i < n; i++)
        item[i].labels = nd_comparable_set(&use->run.comparable, labels[i]);
    if (status != ND_OK)
        ; /* which was reported */
    else if (!(streamed.dedup = nd_dedup_new_on(use->run.pool, &params, NULL, err)))
        status = err->status;
    else
        status = push_batches(&streamed, item, n, err);
    if (status == ND_OK && what)
        nd_run_warn_unsigned(&use->run, streamed.dedup, what);
    nd_dedup_free(streamed.dedup);
    nd_streamed_release(&streamed);
    nd_parser_free(parser);
    nd_arena_release(&rows);
    free(item);
    return status;
}

enum nd_status nd_use_open(struct nd_use *use, bool is_json, struct nd_error *err)
{
    use->is_json = is_json;
    use->out = nd_outputs_open_one(&use->run.outputs, err);
    return use->out ? ND_OK : err->status ? err->status : ND_EIO;
}

/* Write the separator before a cell. */
static void begin_cell(struct nd_use *use, const char *key)
{
    bool is_first = !use->in_row;

    use->in_row = true;
    if (use->is_json) {
        if (is_first)
            nd_json_open(&use->row, '{');
        nd_json_key(&use->row, key);
        return;
    }
    if (!is_first)
        nd_json_bytes(&use->row, "\t", 1);
    use->row.after_value = false;
    if (!use->has_head) {
        if (use->head.text.len)
            nd_json_bytes(&use->head, "\t", 1);
        nd_json_bytes(&use->head, key, strlen(key));
    }
}

void nd_cell_text(struct nd_use *use, const char *key, struct nd_view value)
{
    begin_cell(use, key);
    if (use->is_json)
        nd_json_string(&use->row, value);
    else
        nd_tsv_field(&use->row, value);
}

void nd_cell_name(struct nd_use *use, const char *key, const struct nd_name *name)
{
    begin_cell(use, key);
    if (use->is_json)
        nd_name_json(&use->row, name);
    else
        nd_name_tsv(&use->row, name);
}

void nd_cell_uint(struct nd_use *use, const char *key, uint64_t value)
{
    begin_cell(use, key);
    nd_json_uint(&use->row, value);
}

void nd_cell_int(struct nd_use *use, const char *key, int64_t value)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRId64, value);

    begin_cell(use, key);
    nd_json_raw(&use->row, (struct nd_view){text, (size_t)len});
}

void nd_cell_double(struct nd_use *use, const char *key, double value)
{
    begin_cell(use, key);
    nd_json_double(&use->row, value);
}

void nd_cell_none(struct nd_use *use, const char *key)
{
    begin_cell(use, key);
    if (use->is_json)
        nd_json_null(&use->row);
}

/* Complete the row. */
static enum nd_status close_row(struct nd_use *use, struct nd_error *err)
{
    if (use->is_json)
        nd_json_close(&use->row, '}');
    nd_json_bytes(&use->row, "\n", 1);
    nd_json_bytes(&use->head, "\n", 1);
    return use->row.failed || use->head.failed ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

static void forget_row(struct nd_use *use)
{
    use->has_head = true;
    use->row.text.len = 0;
    use->row.after_value = use->in_row = false;
}

enum nd_status nd_row_end(struct nd_use *use, struct nd_error *err)
{
    enum nd_status status = close_row(use, err);

    if (status == ND_OK && !use->is_json && !use->has_head)
        status = nd_output_write(use->out, use->head.text.data, use->head.text.len, err);
    if (status == ND_OK)
        status = nd_output_write(use->out, use->row.text.data, use->row.text.len, err);
    forget_row(use);
    return status;
}

enum nd_status nd_row_put(struct nd_use *use, FILE *stream, struct nd_error *err)
{
    enum nd_status status = close_row(use, err);

    if (status == ND_OK && !use->is_json && !use->has_head)
        fwrite(use->head.text.data, 1, use->head.text.len, stream);
    if (status == ND_OK)
        fwrite(use->row.text.data, 1, use->row.text.len, stream);
    forget_row(use);
    return status;
}

enum nd_status nd_use_end(struct nd_use *use, enum nd_status status, uint64_t found,
                          struct nd_use_summary *summary, struct nd_error *err)
{
    if (status == ND_OK && use->out)
        status = nd_output_finish(use->out, err);
    else
        nd_output_discard(use->out);
    if (status == ND_OK)
        status = nd_run_ask(&use->run, err);
    if (status == ND_OK)
        status = nd_outputs_publish(&use->run.outputs, use->run.summary, err);
    for (unsigned i = 0; use->worker && i < nd_pool_threads(use->run.pool); i++) {
        nd_sketcher_free(use->worker[i].sketcher);
        for (unsigned k = 0; k < ND_RECIPE_SIGNATURES; k++)
            nd_document_signer_free(use->worker[i].signer[k]);
    }
    for (size_t i = 0; i < use->n_sketches; i++)
        free(use->sketch[i].word);
    free(use->worker);
    free(use->sketch);
    nd_json_release(&use->name);
    nd_json_release(&use->row);
    nd_json_release(&use->head);
    nd_run_end(&use->run);
    if (summary)
        *summary = nd_run_use_summary(&use->counts, found);
    return nd_run_status(status, err);
}
