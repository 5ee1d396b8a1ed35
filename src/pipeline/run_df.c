/* run_df.c - count the features of a corpus into a df table */
#include "pipeline/run_df_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct worker {
    struct nd_featurer *featurer;
    struct nd_df_builder *builder;
    uint64_t *hash;
    struct nd_view *text;
    size_t capacity, text_capacity;
    bool has_counted;      /* any feature */
    struct nd_error error; /* status 0: none so far */
};

struct counting {
    struct nd_run run; /* first: the hook is given the run */
    struct worker *worker;
    unsigned n_workers;
    bool keep_texts;
};

const struct nd_named_signature *nd_run_df_signature(const struct nd_recipe *recipe,
                                                     const char *which)
{
    const struct nd_method *m = &recipe->method;

    for (unsigned i = 0; i < m->n_signatures; i++)
        if (!which || strcmp(m->signature[i].name, which) == 0)
            return &m->signature[i];
    return NULL;
}

enum nd_status nd_run_df_features(const struct nd_recipe *recipe, const char *which,
                                  struct nd_feature_params *features,
                                  struct nd_weight_params *weights, struct nd_error *err)
{
    const struct nd_named_signature *s;

    if (nd_recipe_params_check(recipe, err) != ND_OK)
        return ND_EINVAL;
    s = nd_run_df_signature(recipe, which);
    *features = nd_feature_params_default();
    if (weights)
        *weights = nd_weight_params_default();
    if (which ? strcmp(which, "terms") == 0 : !s)
        return ND_OK;
    if (which && strcmp(which, "sketch") == 0) {
        features->unit = recipe->dedup.sketch.unit == ND_SHINGLE_CHARACTERS ? ND_FEATURE_CHARACTERS
                                                                            : ND_FEATURE_SHINGLES;
        features->width = recipe->dedup.sketch.w;
        return ND_OK;
    }
    if (!s)
        return nd_fail(err, ND_EINVAL,
                       "the recipe has no signature '%s'; terms and sketch are always there",
                       which);
    if (s->feature.unit == ND_FEATURE_NONE)
        return nd_fail(err, ND_EINVAL,
                       "signature %s: unit = none: fields and links are not counted, so that "
                       "nothing is left",
                       s->name);
    *features = s->feature;
    if (weights)
        *weights = s->weight;
    return ND_OK;
}

/* The texts of n features, which stand in one string with '\n' between them. */
static void split(const char *text, size_t len, size_t n, struct nd_view *view)
{
    const char *p = text, *end = text + len;

    for (size_t i = 0; i < n; i++) {
        const char *line = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;

        line = line ? line : end;
        view[i] = (struct nd_view){p, (size_t)(line - p)};
        p = line < end ? line + 1 : end;
    }
}

static enum nd_status count_features(struct worker *w, const struct nd_features *f,
                                     const char *text, size_t len)
{
    if (!nd_array_reserve((void **)&w->hash, &w->capacity, f->count, sizeof *w->hash) ||
        (text &&
         !nd_array_reserve((void **)&w->text, &w->text_capacity, f->count, sizeof *w->text)))
        return nd_fail(&w->error, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < f->count; i++)
        w->hash[i] = f->at[i].hash;
    w->has_counted = w->has_counted || f->count;
    if (text)
        split(text, len, f->count, w->text);
    return nd_df_builder_add(w->builder, w->hash, f->count, text ? w->text : NULL, &w->error);
}

static void count_one(void *context, struct nd_parsed *parsed, unsigned number)
{
    struct counting *c = context;
    struct worker *w = &c->worker[number];
    struct nd_features features;
    enum nd_status status;
    char *text = NULL;
    size_t len = 0;

    if (w->error.status != ND_OK)
        return;
    if (c->keep_texts)
        status = nd_featurer_explain(w->featurer, &parsed->document, &text, &len, &features);
    else
        status = nd_featurer_run(w->featurer, &parsed->document, &features);
    if (status == ND_OK)
        (void)count_features(w, &features, text, len); /* what failed stands in w->error */
    else
        nd_fail(&w->error, status, "out of memory");
    free(text);
}

static enum nd_status failed_worker(const struct counting *c, struct nd_error *err)
{
    for (unsigned i = 0; i < c->n_workers; i++)
        if (c->worker[i].error.status != ND_OK) {
            *err = c->worker[i].error;
            return err->status;
        }
    return ND_OK;
}

static enum nd_status make_workers(struct counting *c, const struct nd_run_df_options *df,
                                   struct nd_error *err)
{
    const struct nd_run_options *options = c->run.options;
    const struct nd_weight_params weights = nd_weight_params_default();
    struct nd_feature_params features, counted;
    struct nd_df_builder_params params;
    enum nd_status status =
        nd_run_df_features(&options->recipe, df->features, &features, NULL, err);

    if (status != ND_OK)
        return status;
    counted = nd_df_counted(&features);
    c->n_workers = nd_pool_threads(c->run.pool);
    c->keep_texts = df->keep_texts;
    c->worker = calloc(c->n_workers, sizeof *c->worker);
    if (!c->worker)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    params = (struct nd_df_builder_params){.memory_bytes = nd_run_df_memory(df, c->n_workers),
                                           .tmp = options->tmp,
                                           .features = &features,
                                           .keep_texts = df->keep_texts};
    for (unsigned i = 0; i < c->n_workers; i++) {
        struct worker *w = &c->worker[i];

        w->featurer = nd_featurer_new(&counted, &weights, NULL, err);
        w->builder = w->featurer ? nd_df_builder_new(&params, err) : NULL;
        if (!w->builder)
            return err->status;
    }
    return ND_OK;
}

uint64_t nd_run_df_memory(const struct nd_run_df_options *df, unsigned n_workers)
{
    const uint64_t least = 1 << 20, usual = 256 << 20;
    uint64_t memory = (df->memory_bytes ? df->memory_bytes : usual) / n_workers;

    return memory < least ? least : memory;
}

enum nd_status nd_run_each_batch(struct nd_run *run,
                                 enum nd_status (*each)(void *context,
                                                        struct nd_reading_batch *batch,
                                                        struct nd_error *err),
                                 void *context, struct nd_error *err)
{
    struct nd_reading_batch *batch;
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(run->reading, &batch, err)) > 0) {
        struct nd_run_progress progress = {
            .bytes_done = batch->done, .bytes_total = batch->total, .pass = 1, .passes = 1};

        for (size_t i = 0; i < batch->count && status == ND_OK; i++) {
            const struct nd_parsed *p = &batch->parsed[i];

            if (p->bad)
                status = nd_run_bad_record(run, nd_reading_source(run->reading, p->record.source),
                                           p->record.line, p->bad->reason, err);
            run->summary->documents += !p->bad;
        }
        if (status == ND_OK)
            status = each(context, batch, err);
        progress.documents = run->summary->documents;
        if (status == ND_OK)
            status = nd_run_tell(run, &progress, err);
    }
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK)
        status = nd_run_judge(run, err);
    run->summary->seconds = nd_run_clock() - run->started;
    if (status == ND_OK && run->summary->documents == 0)
        status = nd_fail(err, ND_EINPUT, "there is no document in the input");
    return status;
}

static enum nd_status after_batch(void *context, struct nd_reading_batch *batch,
                                  struct nd_error *err)
{
    (void)batch;
    return failed_worker(context, err);
}

static void warn_of_nothing(struct counting *c)
{
    static const struct nd_problem problem = {ND_PROBLEM_WARNING,
                                              "no document has anything that is counted"};

    for (unsigned i = 0; i < c->n_workers; i++)
        if (c->worker[i].has_counted)
            return;
    nd_run_problem(&c->run, &problem);
}

static enum nd_status write_table(struct counting *c, struct nd_error *err)
{
    struct nd_df_builder **all = nd_alloc_array(c->n_workers, sizeof(struct nd_df_builder *));
    enum nd_status status;

    if (!all)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; i < c->n_workers; i++)
        all[i] = c->worker[i].builder;
    status = nd_df_builder_write(all, c->n_workers, c->run.options->output, err);
    free(all);
    return status;
}

static void release(struct counting *c)
{
    for (unsigned i = 0; c->worker && i < c->n_workers; i++) {
        nd_featurer_free(c->worker[i].featurer);
        nd_df_builder_free(c->worker[i].builder);
        free(c->worker[i].hash);
        free(c->worker[i].text);
    }
    free(c->worker);
}

/* The tables that the recipe names need not be there yet. */
struct nd_run_options nd_run_df_plain(const struct nd_run_options *options)
{
    struct nd_run_options plain = *options;
    nd_run_want_markup(&plain.input, &options->recipe.method);
    plain.recipe.method.n_signatures = 0;
    return plain;
}

enum nd_status nd_run_df_build(const struct nd_run_options *options,
                               const struct nd_run_df_options *df,
                               const struct nd_run_events *events, struct nd_run_summary *summary,
                               struct nd_error *err)
{
    static const struct nd_reading_hooks hooks = {.parsed = count_one};
    static const struct nd_run_files files = {.writes_output = true};
    const struct nd_run_options plain = nd_run_df_plain(options);
    struct counting c = {.worker = NULL};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    if (!options->output || strcmp(options->output, "-") == 0)
        return nd_fail(err, ND_EINVAL, "a df table wants an output that is a file");
    status = nd_run_begin(&c.run, &plain, &files, events, summary, &hooks, err);
    c.run.options = options;
    if (status == ND_OK)
        status = make_workers(&c, df, err);
    if (status == ND_OK)
        status = nd_run_each_batch(&c.run, after_batch, &c, err);
    if (status == ND_OK)
        warn_of_nothing(&c);
    if (status == ND_OK)
        status = write_table(&c, err);
    release(&c);
    nd_run_end(&c.run);
    return nd_run_status(status, err);
}
