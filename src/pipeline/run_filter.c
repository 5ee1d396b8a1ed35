/* run_filter.c - each document of a stream against prototypes */
#include "pipeline/filtering.h"

#include "engine/matching.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct filtering {
    struct nd_run *run;
    enum nd_filter_output output;
    bool is_verified, ignores_text;
    struct nd_json name;    /* of all prototypes, behind one another */
    size_t *name_at;        /* where each begins; one more for the end */
    enum nd_id_kind *kind;  /* of each */
    size_t n, room[2];      /* prototypes; of name_at and kind */
    struct nd_hash_set raw; /* of their bytes */
    struct nd_dedup_item *item;
    struct nd_nearest *nearest; /* of each item */
    size_t n_items, item_room[2];
    struct nd_annotating annotating;
    uint64_t matches;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static bool reserve_items(struct filtering *f, size_t n)
{
    void *item = f->item, *nearest = f->nearest;
    bool ok = nd_array_reserve(&item, &f->item_room[0], n, sizeof *f->item) &&
              nd_array_reserve(&nearest, &f->item_room[1], n, sizeof *f->nearest);

    f->item = item;
    f->nearest = nearest;
    return ok;
}

static bool add_name(struct filtering *f, const struct nd_name *name)
{
    void *at = f->name_at, *kind = f->kind;
    bool ok = nd_array_reserve(&at, &f->room[0], f->n + 2, sizeof *f->name_at) &&
              nd_array_reserve(&kind, &f->room[1], f->n + 1, sizeof *f->kind);

    f->name_at = at;
    f->kind = kind;
    if (!ok)
        return false;
    f->name_at[f->n] = f->name.text.len;
    f->kind[f->n++] = name->kind;
    nd_json_bytes(&f->name, name->text.data, name->text.len);
    f->name_at[f->n] = f->name.text.len;
    return !f->name.failed;
}

/* The prototypes of a batch; of equal bytes the first stands for all. */
static enum nd_status push_prototypes(struct filtering *f, struct nd_reading *reading,
                                      const struct nd_reading_batch *batch, struct nd_error *err)
{
    struct nd_run *run = f->run;
    size_t n = 0;

    if (!reserve_items(f, batch->count))
        return no_memory(err);
    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_parsed *p = &batch->parsed[i];
        const struct nd_source *source = nd_reading_source(reading, p->record.source);
        struct nd_name name;

        if (p->bad) {
            enum nd_status status =
                nd_run_bad_record(run, source, p->record.line, p->bad->reason, err);

            if (status != ND_OK)
                return status;
            continue;
        }
        if (!f->ignores_text &&
            nd_hash_set_add(&f->raw,
                            nd_mix64(nd_hash_bytes(p->document.text.data, p->document.text.len))))
            continue;
        if (f->raw.has_no_memory)
            return no_memory(err);
        name = nd_name_of(&p->document, source, p->record.line, &run->name_room[0]);
        if (run->name_room[0].failed || !add_name(f, &name))
            return no_memory(err);
        f->item[n++] = (struct nd_dedup_item){.text = p->document.text, .document = &p->document};
    }
    return nd_dedup_push_prototypes(run->dedup, f->item, n, err);
}

static enum nd_status read_prototypes(struct filtering *f, const char *const *paths, size_t n,
                                      struct nd_error *err)
{
    const struct nd_reading_hooks hooks = {.context = f->run, .problem = nd_run_problem};
    struct nd_input_options input = f->run->input;
    struct nd_reading_batch *batch;
    struct nd_reading *reading;
    enum nd_status status = ND_OK;
    int got = 1;

    if (input.format == ND_FORMAT_MAIL)
        input.format = ND_FORMAT_MBOX; /* which one message is as well */
    reading = nd_reading_new(f->run->pool, paths, n, &input, &hooks, err);
    if (!reading)
        return err->status ? err->status : ND_EINVAL;
    while (status == ND_OK && (got = nd_reading_next(reading, &batch, err)) > 0)
        status = push_prototypes(f, reading, batch, err);
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && f->run->summary->failed_inputs)
        status = nd_fail(err, ND_EINPUT, "%s", f->run->failed_input);
    if (status == ND_OK && f->n == 0)
        status = nd_fail(err, ND_EINPUT, "there is no prototype in %s%s", paths[0],
                         n > 1 ? " and the others" : "");
    nd_reading_free(reading);
    if (status == ND_OK)
        nd_run_warn_unsigned(f->run, f->run->dedup, "prototype");
    return status;
}

static bool is_nearer(const struct filtering *f, const struct nd_found_pair *x,
                      const struct nd_found_pair *y)
{
    const struct nd_overlap *p = &x->overlap, *q = &y->overlap;

    if (!f->is_verified && f->run->recipe.method.n_signatures)
        return x->agreement[0].shared > y->agreement[0].shared;
    if (!f->is_verified)
        return x->distance < y->distance;
    return p->shared * (q->a + q->b - q->shared) > q->shared * (p->a + p->b - p->shared);
}

static enum nd_status note(void *context, const struct nd_found_pair *pair)
{
    struct filtering *f = context;
    struct nd_nearest *nearest = &f->nearest[pair->a];

    if (nearest->prototypes++ == 0 || is_nearer(f, pair, &nearest->pair))
        nearest->pair = *pair;
    return ND_OK;
}

static enum nd_status list_items(struct filtering *f, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct nd_run *run = f->run;

    f->n_items = 0;
    if (!reserve_items(f, batch->count))
        return no_memory(err);
    for (size_t i = 0; i < batch->count; i++) {
        const struct nd_parsed *p = &batch->parsed[i];

        if (p->bad) {
            enum nd_status status =
                nd_run_bad_record(run, nd_reading_source(run->reading, p->record.source),
                                  p->record.line, p->bad->reason, err);

            if (status != ND_OK)
                return status;
            continue;
        }
        f->nearest[f->n_items] = (struct nd_nearest){.prototypes = 0};
        f->item[f->n_items++] =
            (struct nd_dedup_item){.text = p->document.text, .document = &p->document};
    }
    return ND_OK;
}

static struct nd_name name_of_prototype(const struct filtering *f, uint64_t number)
{
    size_t at = f->name_at[number];

    return (struct nd_name){f->kind[number], {f->name.text.data + at, f->name_at[number + 1] - at}};
}

static bool is_annotated(const struct filtering *f)
{
    return f->output == ND_FILTER_ANNOTATE || f->output == ND_FILTER_ROWS;
}

static enum nd_status put(struct filtering *f, const struct nd_parsed *parsed,
                          struct nd_nearest *nearest, struct nd_error *err)
{
    bool is_match = nearest->prototypes > 0;

    f->matches += is_match;
    if (is_match)
        nearest->name = name_of_prototype(f, nearest->pair.b);
    if (is_annotated(f))
        return nd_annotate(&f->annotating, parsed, nearest, err);
    if (f->output == ND_FILTER_NOTHING || is_match != (f->output == ND_FILTER_MATCHES))
        return ND_OK;
    return nd_run_survive(f->run, parsed->record.source, parsed->record.bytes, err);
}

/* The batch in order, the records that are none too. */
static enum nd_status put_batch(struct filtering *f, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t item = 0;

    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];

        if (!parsed->bad)
            status = put(f, parsed, &f->nearest[item++], err);
        else if (is_annotated(f))
            status = nd_annotate(&f->annotating, parsed, NULL, err);
    }
    return status;
}

static enum nd_status flush(struct filtering *f, struct nd_error *err)
{
    if (is_annotated(f) && !f->run->survivors)
        return nd_annotating_flush(&f->annotating, err);
    return f->run->survivors ? nd_survivors_flush(f->run->survivors, err) : ND_OK;
}

static enum nd_status filter_batch(struct filtering *f, const struct nd_reading_batch *batch,
                                   struct nd_error *err)
{
    struct nd_run *run = f->run;
    struct nd_run_progress progress = {
        .bytes_done = batch->done, .bytes_total = batch->total, .pass = 1, .passes = 1};
    enum nd_status status = list_items(f, batch, err);

    if (status == ND_OK)
        status = nd_dedup_ask(run->dedup, f->item, f->n_items, note, f, err);
    if (status == ND_OK)
        status = put_batch(f, batch, err);
    run->summary->documents += f->n_items;
    progress.documents = run->summary->documents;
    if (status == ND_OK)
        status = flush(f, err);
    return status == ND_OK ? nd_run_tell(run, &progress, err) : status;
}

static enum nd_status filter_all(struct filtering *f, struct nd_error *err)
{
    struct nd_reading_batch *batch;
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(f->run->reading, &batch, err)) > 0)
        status = filter_batch(f, batch, err);
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

static enum nd_status finish(struct filtering *f, struct nd_error *err)
{
    enum nd_status status = is_annotated(f) ? nd_annotating_begin_none(&f->annotating, err) : ND_OK;
    struct nd_output *out = f->annotating.out;

    f->annotating.out = NULL;
    if (status == ND_OK)
        return nd_run_finish(f->run, out, err);
    nd_output_discard(out);
    return status;
}

static enum nd_status filter(struct filtering *f, const char *const *prototypes, size_t n,
                             struct nd_error *err)
{
    struct nd_run *run = f->run;
    enum nd_status status = nd_run_make_dedup(run, NULL, err);

    if (status == ND_OK)
        status = read_prototypes(f, prototypes, n, err);
    if (status == ND_OK)
        status = nd_run_open_outputs(run, err);
    if (status == ND_OK)
        status = filter_all(f, err);
    return status == ND_OK ? finish(f, err) : status;
}

enum nd_status nd_run_filter(const struct nd_run_options *options, const char *const *prototypes,
                             size_t n_prototypes, enum nd_filter_output output,
                             const struct nd_run_events *events, struct nd_use_summary *summary,
                             struct nd_error *err)
{
    static const struct nd_reading_hooks hooks;
    struct nd_run_options own = *options;
    struct nd_run_summary counts;
    struct nd_error room = {0};
    struct nd_run run;
    const struct nd_run_files files = {.writes_output = !options->output_dir,
                                       .may_replace = output == ND_FILTER_MATCHES ||
                                                      output == ND_FILTER_OTHERS,
                                       .reads = prototypes,
                                       .n_reads = n_prototypes};
    struct filtering f = {.run = &run,
                          .output = output,
                          .is_verified = options->recipe.dedup.verify != ND_VERIFY_NONE,
                          .raw.bytes_max = (size_t)64 << 20};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    own.manifest = own.clusters = own.summary = own.copy_to = own.link_to = NULL;
    own.within = own.prefer_field = NULL;
    f.annotating = (struct nd_annotating){
        .run = &run, .is_json = output == ND_FILTER_ROWS, .is_verified = f.is_verified};
    own.dry_run = is_annotated(&f) || output == ND_FILTER_NOTHING; /* no survivors of their own */
    if (!n_prototypes)
        return nd_fail(err, ND_EINVAL, "no prototypes: name files or folders");
    if (nd_recipe_params_check(&options->recipe, err) != ND_OK)
        return ND_EINVAL;
    f.ignores_text = options->recipe.dedup.candidates == ND_CANDIDATES_MATCH &&
                     nd_method_ignores_text(&options->recipe.method);
    status = nd_run_begin(&run, &own, &files, events, &counts, &hooks, err);
    if (status == ND_OK)
        status = filter(&f, prototypes, n_prototypes, err);
    nd_annotating_release(&f.annotating);
    nd_run_end(&run);
    *summary = nd_run_use_summary(&counts, f.matches);
    nd_json_release(&f.name);
    nd_hash_set_release(&f.raw);
    free(f.name_at);
    free(f.kind);
    free(f.item);
    free(f.nearest);
    return nd_run_status(status, err);
}
