/* sketch.c - the sketches of every document, or only what an index of fingerprints takes */

/*
 * Each worker makes the sketches of its records, and encodes them as rows or, for an index of
 * fingerprints, as binary words. The rows of a batch are written in input order when the batch is
 * complete, so the output does not depend on the number of threads.
 */
#include <neardup/uses.h>

#include "uses/use.h"

#include <neardup/hamming.h>
#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

/* "signatures":{"B":["hex", …], …}; null for a rejected signature. ND_ENOMEM. */
static enum nd_status put_signatures(const struct nd_method *method, const struct nd_use_worker *w,
                                     const struct nd_document *document, struct nd_json *out)
{
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < method->n_signatures; i++) {
        struct nd_signature x;
        enum nd_status status = nd_document_signer_run(w->signer[i], document, &x, NULL);

        if (status)
            return status;
        nd_json_key(out, method->signature[i].name);
        if (x.is_rejected) {
            nd_json_null(out);
            continue;
        }
        nd_json_open(out, '[');
        for (size_t word = 0; word < x.count; word++)
            nd_json_hex(out, x.word[word]);
        nd_json_close(out, ']');
    }
    nd_json_close(out, '}');
    return ND_OK;
}

struct sketching {
    struct nd_use use;
    struct nd_json *row; /* one for each record of the batch */
    size_t capacity;
    const struct nd_reading_batch *batch;
    struct nd_recipe_simhash simhash;
    bool has_simhash;                       /* otherwise rows have no fingerprint */
    const struct nd_run_fingerprints *sink; /* NULL: rows are JSON, and go to the output */
};

/*
 * The hexadecimal digits that index and join read, highest first; null if the document has no
 * fingerprint.
 */
static void put_fingerprint(struct nd_json *out, const uint64_t *word, unsigned bits)
{
    char digits[ND_HAMMING_BITS_MAX / 4 + 1];
    size_t n = bits / 4;

    nd_json_key(out, "fingerprint");
    if (!word) {
        nd_json_null(out);
        return;
    }
    for (size_t i = 0; i < n; i++)
        digits[n - 1 - i] = "0123456789abcdef"[word[i / 16] >> i % 16 * 4 & 15];
    nd_json_string(out, (struct nd_view){digits, n});
}

/* Compute the fingerprint of one document; *word NULL: it has none. Valid until the next call. */
static enum nd_status make_fingerprint(const struct sketching *s, unsigned worker,
                                       const struct nd_document *document,
                                       const struct nd_sketch *sketch, const uint64_t **word)
{
    struct nd_signature x;
    enum nd_status status;

    *word = sketch->n_shingles ? &sketch->simhash : NULL;
    if (s->simhash.signature < 0)
        return ND_OK;
    status = nd_document_signer_run(s->use.worker[worker].signer[s->simhash.signature], document,
                                    &x, NULL);
    if (status == ND_OK)
        *word = x.is_rejected ? NULL : x.word;
    return status;
}

/*
 * Encode what the sink gets: the words of the fingerprint, then the id; nothing if there is no
 * fingerprint.
 */
static enum nd_status put_words(const struct sketching *s, unsigned worker, struct nd_json *out,
                                const struct nd_name *name, const struct nd_parsed *parsed)
{
    const struct nd_document *document = &parsed->document;
    const struct nd_sketch_row *row = parsed->sketched;
    struct nd_sketch sketch = {.n_shingles = 0};
    enum nd_status status = ND_OK;
    const uint64_t *word;

    if (row)
        word = s->simhash.signature >= 0 ? nd_sketch_row_words(row, (unsigned)s->simhash.signature)
               : row->n_shingles         ? &row->simhash
                                         : NULL;
    else if (s->simhash.signature < 0)
        status = nd_sketcher_run(s->use.worker[worker].sketcher, document->text.data,
                                 document->text.len, ND_SKETCH_SIMHASH, &sketch);
    if (status == ND_OK && !row)
        status = make_fingerprint(s, worker, document, &sketch, &word);
    if (status == ND_OK && word) {
        nd_json_bytes(out, word, nd_hamming_words(s->simhash.bits) * sizeof *word);
        nd_json_bytes(out, name->text.data, name->text.len);
    }
    return status;
}

static enum nd_status put_row(const struct sketching *s, unsigned worker, struct nd_json *out,
                              const struct nd_name *name, const struct nd_sketch *sketch,
                              const struct nd_document *document)
{
    const struct nd_method *method = &s->use.run.recipe->method;
    enum nd_status status = ND_OK;
    const uint64_t *word;

    nd_json_open(out, '{');
    nd_json_key(out, "id");
    nd_name_json(out, name);
    if (s->has_simhash) {
        status = make_fingerprint(s, worker, document, sketch, &word);
        if (status != ND_OK)
            return status;
        put_fingerprint(out, word, s->simhash.bits);
    }
    nd_json_put_uint(out, "tokens", sketch->n_tokens);
    nd_json_put_uint(out, "shingles", sketch->n_shingles);
    nd_json_put_hex(out, "simhash", sketch->simhash);
    nd_json_put_hex(out, "identity", sketch->identity);
    nd_json_key(out, "minima");
    nd_json_open(out, '[');
    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        nd_json_uint(out, sketch->minhash[i]);
    nd_json_close(out, ']');
    if (method->n_signatures)
        status = put_signatures(method, &s->use.worker[worker], document, out);
    nd_json_close(out, '}');
    nd_json_line(out);
    return status;
}

static void sketch_one(void *context, size_t task, unsigned worker)
{
    struct sketching *s = context;
    const struct nd_parsed *parsed = &s->batch->parsed[task];
    struct nd_json room = {0};
    struct nd_sketch sketch;
    struct nd_name name;

    s->row[task].text.len = 0;
    if (parsed->bad)
        return;
    name = nd_name_of(&parsed->document, parsed->source, parsed->record.line, &room);
    if (s->sink ? put_words(s, worker, &s->row[task], &name, parsed) != ND_OK
                : nd_sketcher_run(s->use.worker[worker].sketcher, parsed->document.text.data,
                                  parsed->document.text.len, ND_SKETCH_ALL, &sketch) != ND_OK ||
                      put_row(s, worker, &s->row[task], &name, &sketch, &parsed->document) != ND_OK)
        atomic_store(&s->use.has_failed, true);
    if (room.failed || s->row[task].failed)
        atomic_store(&s->use.has_failed, true);
    nd_json_release(&room);
}

static bool reserve_rows(struct sketching *s, size_t n)
{
    size_t before = s->capacity;

    if (!ND_RESERVE(s->row, &s->capacity, n))
        return false;
    if (s->capacity > before)
        memset(&s->row[before], 0, (s->capacity - before) * sizeof *s->row);
    return true;
}

static enum nd_status hand_on(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct sketching *s = context;
    const struct nd_json *row = &s->row[parsed - s->batch->parsed];
    uint64_t word[ND_HAMMING_WORDS_MAX];
    size_t bytes = nd_hamming_words(s->simhash.bits) * sizeof *word;

    if (!s->sink)
        return nd_output_write(s->use.out, row->text.data, row->text.len, err);
    if (row->text.len < bytes) {
        s->use.counts.unsigned_documents++;
        return ND_OK;
    }
    memcpy(word, row->text.data, bytes);
    return s->sink->take(
        s->sink->context,
        (struct nd_view){(const char *)row->text.data + bytes, row->text.len - bytes}, word, err);
}

static enum nd_status sketch_batch(void *context, const struct nd_reading_batch *batch,
                                   struct nd_error *err)
{
    struct sketching *s = context;
    enum nd_status status;

    s->batch = batch;
    if (!reserve_rows(s, batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_pool_run(s->use.run.pool, batch->count, sketch_one, s);
    if (atomic_load(&s->use.has_failed))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_run_each_document(&s->use.run, batch, hand_on, s, err);
    return status == ND_OK && s->use.out ? nd_output_flush(s->use.out, err) : status;
}

/* Tell the sink the shape of the fingerprints. */
static enum nd_status begin_sink(const struct sketching *s, struct nd_error *err)
{
    char *text;
    size_t len;
    uint64_t fingerprint;
    enum nd_status status = nd_recipe_canonical(s->use.run.recipe, &text, &len, &fingerprint, err);

    if (status != ND_OK)
        return status;
    status = s->sink->begin(s->sink->context, &s->simhash, (struct nd_view){text, len}, fingerprint,
                            err);
    free(text);
    return status;
}

static enum nd_status sketch_all(struct sketching *s, struct nd_error *err)
{
    struct nd_run *run = &s->use.run;
    unsigned n_signatures = run->sketches ? 0 : run->recipe->method.n_signatures;
    enum nd_status status = nd_use_make_workers(&s->use, n_signatures, err);

    if (status == ND_OK)
        status = s->sink ? begin_sink(s, err) : nd_use_open(&s->use, true, err);
    if (status == ND_OK)
        status = nd_run_each_batch(run, sketch_batch, s, err);
    return status == ND_OK ? nd_run_conclude(run, err) : status;
}

/* Publishes also a df table of the input, options->df_auto. */
static enum nd_status end(struct sketching *s, enum nd_status status,
                          struct nd_run_summary *summary, struct nd_error *err)
{
    status = nd_use_end(&s->use, status, 0, NULL, err);
    *summary = s->use.counts;
    for (size_t i = 0; i < s->capacity; i++)
        nd_json_release(&s->row[i]);
    free(s->row);
    return status;
}

enum nd_status nd_run_fingerprints(const struct nd_run_options *options,
                                   const struct nd_run_fingerprints *out,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary, struct nd_error *err)
{
    static const struct nd_run_request request = {.takes_sketches = true, .takes_recipe = true};
    struct nd_error room = {0};
    struct sketching s = {.sink = out};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_use_begin(&s.use, options, &request, events, err);
    if (status == ND_OK)
        status = nd_recipe_simhash_of(s.use.run.recipe, &s.simhash, err);
    if (status == ND_OK)
        status = sketch_all(&s, err);
    return end(&s, status, summary, err);
}

enum nd_status nd_run_sketch(const struct nd_run_options *options,
                             const struct nd_run_events *events, struct nd_run_summary *summary,
                             struct nd_error *err)
{
    static const struct nd_run_request request = {.writes_output = true};
    struct nd_error room = {0};
    struct sketching s = {.sink = NULL};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_use_begin(&s.use, options, &request, events, err);
    if (status == ND_OK) {
        s.has_simhash = nd_recipe_simhash_of(s.use.run.recipe, &s.simhash, NULL) == ND_OK;
        status = sketch_all(&s, err);
    }
    return end(&s, status, summary, err);
}
