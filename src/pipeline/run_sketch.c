/* run_sketch.c - the sketches of every document */
#include "pipeline/run_state.h"
#include "pipeline/signers.h"

#include <neardup/sketch.h>

#include <stdlib.h>
#include <string.h>

struct sketching {
    struct nd_run *run;
    struct nd_sketcher **sketcher; /* one a worker */
    struct nd_signers *signers;    /* likewise */
    struct nd_json *row;           /* one a record of the batch */
    size_t capacity;
    const struct nd_reading_batch *batch;
    struct nd_output *out;
    atomic_bool failed;
};

static enum nd_status put_row(struct nd_json *out, const struct nd_name *name,
                              const struct nd_sketch *sketch, struct nd_signers *signers,
                              const struct nd_document *document)
{
    enum nd_status status = ND_OK;

    nd_json_open(out, '{');
    nd_json_key(out, "id");
    nd_name_json(out, name);
    nd_json_key(out, "tokens");
    nd_json_uint(out, sketch->n_tokens);
    nd_json_key(out, "shingles");
    nd_json_uint(out, sketch->n_shingles);
    nd_json_key(out, "simhash");
    nd_json_hex(out, sketch->simhash);
    nd_json_key(out, "identity");
    nd_json_hex(out, sketch->identity);
    nd_json_key(out, "minima");
    nd_json_open(out, '[');
    for (unsigned i = 0; i < ND_MINHASH_COUNT; i++)
        nd_json_uint(out, sketch->minhash[i]);
    nd_json_close(out, ']');
    if (signers->method->n_signatures)
        status = nd_signers_put(signers, document, out);
    nd_json_close(out, '}');
    nd_json_line(out);
    return status;
}

static void sketch_one(void *context, size_t task, unsigned worker)
{
    struct sketching *s = context;
    const struct nd_parsed *parsed = &s->batch->parsed[task];
    const struct nd_source *source = nd_reading_source(s->run->reading, parsed->record.source);
    struct nd_json room = {0};
    struct nd_sketch sketch;
    struct nd_name name;

    s->row[task].text.len = 0;
    if (parsed->bad)
        return;
    name = nd_name_of(&parsed->document, source, parsed->record.line, &room);
    if (nd_sketcher_run(s->sketcher[worker], parsed->document.text.data, parsed->document.text.len,
                        ND_SKETCH_ALL, &sketch) != ND_OK ||
        put_row(&s->row[task], &name, &sketch, &s->signers[worker], &parsed->document) != ND_OK)
        atomic_store(&s->failed, true);
    if (room.failed || s->row[task].failed)
        atomic_store(&s->failed, true);
    nd_json_release(&room);
}

static bool reserve_rows(struct sketching *s, size_t n)
{
    void *rows = s->row;
    size_t before = s->capacity;

    if (!nd_array_reserve(&rows, &s->capacity, n, sizeof *s->row))
        return false;
    s->row = rows;
    if (s->capacity > before)
        memset(&s->row[before], 0, (s->capacity - before) * sizeof *s->row);
    return true;
}

static enum nd_status sketch_batch(struct sketching *s, struct nd_error *err)
{
    struct nd_run *run = s->run;
    enum nd_status status = ND_OK;

    if (!reserve_rows(s, s->batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_pool_run(run->pool, s->batch->count, sketch_one, s);
    if (atomic_load(&s->failed))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; status == ND_OK && i < s->batch->count; i++) {
        const struct nd_parsed *parsed = &s->batch->parsed[i];
        const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);

        if (parsed->bad)
            status = nd_run_bad_record(run, source, parsed->record.line, parsed->bad->reason, err);
        else
            status = nd_output_write(s->out, s->row[i].text.data, s->row[i].text.len, err);
        run->summary->documents += !parsed->bad;
    }
    return status == ND_OK ? nd_output_flush(s->out, err) : status;
}

static enum nd_status sketch_all(struct sketching *s, struct nd_error *err)
{
    struct nd_run *run = s->run;
    struct nd_reading_batch *batch;
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(run->reading, &batch, err)) > 0) {
        struct nd_run_progress progress = {
            .bytes_done = batch->done, .bytes_total = batch->total, .pass = 1, .passes = 1};

        s->batch = batch;
        status = sketch_batch(s, err);
        progress.documents = run->summary->documents;
        if (status == ND_OK)
            status = nd_run_tell(run, &progress, err);
    }
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    return status == ND_OK ? nd_run_judge(run, err) : status;
}

static enum nd_status make_sketchers(struct sketching *s, struct nd_error *err)
{
    unsigned n = nd_pool_threads(s->run->pool);

    s->sketcher = calloc(n, sizeof(struct nd_sketcher *));
    s->signers = calloc(n, sizeof *s->signers);
    if (!s->sketcher || !s->signers)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < n; i++) {
        s->sketcher[i] = nd_sketcher_new(&s->run->options->recipe.dedup.sketch, err);
        if (!s->sketcher[i] ||
            nd_signers_init(&s->signers[i], &s->run->recipe.method, err) != ND_OK)
            return err->status;
    }
    return ND_OK;
}

static void release(struct sketching *s)
{
    for (unsigned i = 0; s->sketcher && i < nd_pool_threads(s->run->pool); i++)
        nd_sketcher_free(s->sketcher[i]);
    for (unsigned i = 0; s->signers && i < nd_pool_threads(s->run->pool); i++)
        nd_signers_release(&s->signers[i]);
    for (size_t i = 0; i < s->capacity; i++)
        nd_json_release(&s->row[i]);
    free(s->sketcher);
    free(s->signers);
    free(s->row);
}

enum nd_status nd_run_sketch(const struct nd_run_options *options,
                             const struct nd_run_events *events, struct nd_run_summary *summary,
                             struct nd_error *err)
{
    static const struct nd_reading_hooks hooks;
    static const struct nd_run_files files = {.writes_output = true};
    struct nd_error room = {0};
    struct nd_run run;
    struct sketching s = {.run = &run};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = nd_run_begin(&run, options, &files, events, summary, &hooks, err);
    if (status == ND_OK)
        status = make_sketchers(&s, err);
    if (status == ND_OK && !(s.out = nd_run_open_output(&run, err)))
        status = ND_EIO;
    if (status == ND_OK)
        status = sketch_all(&s, err);
    if (status == ND_OK)
        status = nd_output_finish(s.out, err);
    else
        nd_output_discard(s.out);
    if (status == ND_OK)
        status = nd_run_publish(&run, err);
    release(&s);
    nd_run_end(&run);
    return nd_run_status(status, err);
}
