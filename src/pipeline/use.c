/* use.c - what track, collapse, mirrors and template share: reading all documents, writing rows */
#include "pipeline/use.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct nd_use_summary nd_run_use_summary(const struct nd_run_summary *counts, uint64_t found)
{
    return (struct nd_use_summary){
        .documents = counts->documents,
        .bad_records = counts->bad_records,
        .failed_inputs = counts->failed_inputs,
        .left_out = counts->left_out,
        .partly_published = counts->partly_published,
        .wrote_in_place = counts->wrote_in_place,
        .found = found,
    };
}

enum nd_status nd_use_begin(struct nd_use *use, const struct nd_run_options *options,
                            const struct nd_run_files *files, const char *first, const char *second,
                            const struct nd_run_events *events, struct nd_error *err)
{
    static const struct nd_reading_hooks hooks;

    *use = (struct nd_use){.options = *options};
    use->options.manifest = use->options.clusters = use->options.summary = NULL;
    use->options.removed = NULL;
    use->options.output_dir = use->options.copy_to = use->options.link_to = NULL;
    use->options.within = first;
    use->options.prefer_field = second;
    use->options.n_prefer = 0;
    use->options.dry_run = 1;
    return nd_run_begin(&use->run, &use->options, files, events, &use->counts, &hooks, err);
}

struct nd_view nd_use_first(const struct nd_use *use, const struct nd_document *document)
{
    return nd_run_field(document, use->run.within_at);
}

struct nd_view nd_use_second(const struct nd_use *use, const struct nd_document *document)
{
    return nd_run_field(document, use->run.prefer_at);
}

struct sketching {
    struct nd_use *use;
    const struct nd_reading_batch *batch;
    unsigned parts;
    atomic_bool failed;
};

/* False: out of memory. */
static bool sign(struct nd_named_signer *signer, const struct nd_document *document,
                 struct nd_use_sketch *out)
{
    struct nd_signature made;
    void *word = out->word;

    if (nd_named_signer_run(signer, document, &made, NULL) != ND_OK ||
        !nd_array_reserve(&word, &out->capacity, made.count + 1, sizeof *out->word))
        return false;
    out->word = word;
    if (made.count)
        memcpy(out->word, made.word, made.count * sizeof *out->word);
    out->signature = made;
    out->signature.word = out->word;
    return true;
}

static void sketch_one(void *context, size_t task, unsigned worker)
{
    struct sketching *s = context;
    const struct nd_parsed *parsed = &s->batch->parsed[task];
    struct nd_use_sketch *out = &s->use->sketch[task];
    struct nd_sketch sketch;

    if (parsed->bad)
        return;
    if (nd_sketcher_run(s->use->sketcher[worker], parsed->document.text.data,
                        parsed->document.text.len, s->parts, &sketch) != ND_OK) {
        atomic_store(&s->failed, true);
        return;
    }
    out->raw = nd_hash_bytes(parsed->document.text.data, parsed->document.text.len);
    out->n_tokens = sketch.n_tokens;
    out->identity = sketch.identity;
    out->simhash = sketch.simhash;
    memcpy(out->minhash, sketch.minhash, sizeof out->minhash);
    if (s->use->signs && !sign(s->use->signer[worker], &parsed->document, out))
        atomic_store(&s->failed, true);
}

static enum nd_status sketch_batch(struct nd_use *use, const struct nd_reading_batch *batch,
                                   unsigned parts, struct nd_error *err)
{
    struct sketching s = {.use = use, .batch = batch, .parts = parts};
    void *sketches = use->sketch;
    size_t before = use->n_sketches;

    if (!nd_array_reserve(&sketches, &use->n_sketches, batch->count, sizeof *use->sketch))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    use->sketch = sketches;
    if (use->n_sketches > before)
        memset(&use->sketch[before], 0, (use->n_sketches - before) * sizeof *use->sketch);
    nd_pool_run(use->run.pool, batch->count, sketch_one, &s);
    return atomic_load(&s.failed) ? nd_fail(err, ND_ENOMEM, "out of memory") : ND_OK;
}

static enum nd_status make_sketchers(struct nd_use *use, struct nd_error *err)
{
    unsigned n = nd_pool_threads(use->run.pool);

    use->sketcher = calloc(n, sizeof(struct nd_sketcher *));
    use->signer = calloc(n, sizeof(struct nd_named_signer *));
    if (!use->sketcher || !use->signer)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < n; i++) {
        use->sketcher[i] = nd_sketcher_new(&use->options.recipe.dedup.sketch, err);
        if (!use->sketcher[i])
            return err->status;
        if (use->signs)
            use->signer[i] = nd_named_signer_new(&use->run.recipe.method.signature[0], err);
        if (use->signs && !use->signer[i])
            return err->status;
    }
    return ND_OK;
}

static enum nd_status
take_batch(struct nd_use *use, const struct nd_reading_batch *batch, bool is_sketched,
           enum nd_status (*take)(void *, const struct nd_use_item *, struct nd_error *),
           void *context, struct nd_error *err)
{
    struct nd_run *run = &use->run;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];
        struct nd_use_item item = {
            .parsed = parsed, .source = nd_reading_source(run->reading, parsed->record.source)};

        if (parsed->bad) {
            status =
                nd_run_bad_record(run, item.source, parsed->record.line, parsed->bad->reason, err);
            continue;
        }
        item.name =
            nd_name_of(&parsed->document, item.source, parsed->record.line, &run->name_room[0]);
        if (is_sketched)
            item.sketch = &use->sketch[i];
        use->counts.documents++;
        status = run->name_room[0].failed ? nd_fail(err, ND_ENOMEM, "out of memory")
                                          : take(context, &item, err);
    }
    return status;
}

enum nd_status nd_use_walk(struct nd_use *use, int parts,
                           enum nd_status (*take)(void *context, const struct nd_use_item *item,
                                                  struct nd_error *err),
                           void *context, struct nd_error *err)
{
    enum nd_status status = parts >= 0 ? make_sketchers(use, err) : ND_OK;
    struct nd_reading_batch *batch;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(use->run.reading, &batch, err)) > 0) {
        struct nd_run_progress progress = {
            .bytes_done = batch->done, .bytes_total = batch->total, .pass = 1, .passes = 1};

        if (parts >= 0)
            status = sketch_batch(use, batch, (unsigned)parts, err);
        if (status == ND_OK)
            status = take_batch(use, batch, parts >= 0, take, context, err);
        progress.documents = use->counts.documents;
        if (status == ND_OK)
            status = nd_run_tell(&use->run, &progress, err);
    }
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    return status == ND_OK ? nd_run_judge(&use->run, err) : status;
}

enum nd_status nd_use_bad(struct nd_use *use, const struct nd_use_item *item, const char *reason,
                          struct nd_error *err)
{
    use->counts.documents--;
    return nd_run_bad_record(&use->run, item->source, item->parsed->record.line, reason, err);
}

enum nd_status nd_use_open(struct nd_use *use, bool is_json, struct nd_error *err)
{
    use->is_json = is_json;
    use->out = nd_run_open_output(&use->run, err);
    return use->out ? ND_OK : err->status ? err->status : ND_EIO;
}

/* Before each cell. */
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

enum nd_status nd_row_end(struct nd_use *use, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (use->is_json)
        nd_json_close(&use->row, '}');
    nd_json_bytes(&use->row, "\n", 1);
    nd_json_bytes(&use->head, "\n", 1);
    if (use->row.failed || use->head.failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (!use->is_json && !use->has_head)
        status = nd_output_write(use->out, use->head.text.data, use->head.text.len, err);
    use->has_head = true;
    if (status == ND_OK)
        status = nd_output_write(use->out, use->row.text.data, use->row.text.len, err);
    use->row.text.len = 0;
    use->row.after_value = use->in_row = false;
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
        status = nd_run_publish(&use->run, err);
    for (unsigned i = 0; use->sketcher && i < nd_pool_threads(use->run.pool); i++)
        nd_sketcher_free(use->sketcher[i]);
    for (unsigned i = 0; use->signer && i < nd_pool_threads(use->run.pool); i++)
        nd_named_signer_free(use->signer[i]);
    for (size_t i = 0; i < use->n_sketches; i++)
        free(use->sketch[i].word);
    free(use->sketcher);
    free(use->signer);
    free(use->sketch);
    nd_json_release(&use->row);
    nd_json_release(&use->head);
    nd_run_end(&use->run);
    *summary = nd_run_use_summary(&use->counts, found);
    return nd_run_status(status, err);
}
