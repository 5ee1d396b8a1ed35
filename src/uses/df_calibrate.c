/*
 * df_calibrate.c - the factor of a threshold, found on a sample of documents (Seshasai 2009,
 * §6.4.3)
 */
#include "run/count_df.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum { SAMPLE = 500, SAMPLE_MAX = 1 << 20 };

/* A document of the sample. */
struct sampled {
    uint64_t key;
    size_t n;
    int32_t *weight;
};

/* A heap with the greatest key on top, which is the next to be dropped. */
struct calibrating {
    struct nd_run run;
    struct nd_featurer *featurer;
    struct sampled *at;
    size_t n, most;
    struct nd_df *template_table; /* NULL: none asked for */
};

static void key_of_text(void *context, struct nd_parsed *parsed, unsigned worker)
{
    const struct nd_view text = parsed->document.text;

    (void)context;
    (void)worker;
    parsed->key = nd_hash_bytes(text.len ? text.data : "", text.len);
}

static void sift_down(struct calibrating *c, size_t i)
{
    for (;;) {
        struct sampled swap = c->at[i];
        size_t most = i;

        for (size_t child = 2 * i + 1; child < 2 * i + 3 && child < c->n; child++)
            if (c->at[child].key > c->at[most].key)
                most = child;
        if (most == i)
            return;
        c->at[i] = c->at[most];
        c->at[most] = swap;
        i = most;
    }
}

static void sift_up(struct calibrating *c, size_t i)
{
    while (i > 0 && c->at[(i - 1) / 2].key < c->at[i].key) {
        struct sampled swap = c->at[i];

        c->at[i] = c->at[(i - 1) / 2];
        c->at[(i - 1) / 2] = swap;
        i = (i - 1) / 2;
    }
}

static bool is_wanted(const struct calibrating *c, uint64_t key)
{
    if (c->n == c->most && key >= c->at[0].key)
        return false;
    for (size_t i = 0; i < c->n; i++) /* linear: samples are small; equal texts count once */
        if (c->at[i].key == key)
            return false;
    return true;
}

/* Compute the weights of a document, ND_WEIGHT_ONE for the greatest. A document without any weight
 * is not sampled. */
static enum nd_status sample_one(struct calibrating *c, const struct nd_parsed *parsed)
{
    struct sampled new = {.key = parsed->key};
    int64_t greatest = 0;
    struct nd_features f;

    if (nd_featurer_run(c->featurer, &parsed->document, &f) != ND_OK)
        return ND_ENOMEM;
    new.n = f.count - f.n_metadata;
    for (size_t i = 0; i < new.n; i++)
        greatest = f.items[i].weight > greatest ? f.items[i].weight : greatest;
    if (!greatest)
        return ND_OK;
    new.weight = nd_alloc_array(new.n, sizeof *new.weight);
    if (!new.weight)
        return ND_ENOMEM;
    for (size_t i = 0; i < new.n; i++)
        new.weight[i] =
            (int32_t)((f.items[i].weight * (int64_t)ND_WEIGHT_ONE + greatest / 2) / greatest);
    if (c->n == c->most) {
        free(c->at[0].weight);
        c->at[0] = new;
        sift_down(c, 0);
    } else {
        c->at[c->n] = new;
        sift_up(c, c->n++);
    }
    return ND_OK;
}

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct calibrating *c = context;

    if (is_wanted(c, parsed->key) && sample_one(c, parsed) != ND_OK)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static enum nd_status sample_batch(void *context, const struct nd_reading_batch *batch,
                                   struct nd_error *err)
{
    struct calibrating *c = context;

    return nd_run_each_document(&c->run, batch, take, c, err);
}

/*
 * The smallest threshold below which the given fraction of weights lies; the greatest weight of
 * each document is always kept. A quantised weight w stands for real weights from w - 1/2 on.
 */
static enum nd_status find_factor(const struct calibrating *c, struct nd_run_df_calibration *out,
                                  struct nd_error *err)
{
    uint64_t *share = calloc(ND_WEIGHT_ONE + 2, sizeof *share), sum = 0;
    const uint64_t one = (uint64_t)1 << 40; /* the features of a document */
    int32_t w = 0;

    if (!share)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    out->documents = c->n;
    for (size_t i = 0; i < c->n; i++) {
        out->n_features += c->at[i].n;
        for (size_t j = 0; j < c->at[i].n; j++)
            share[c->at[i].weight[j]] += one / c->at[i].n;
    }
    /* Each feature's part of `one` was rounded down, by less than 1. */
    while (w < ND_WEIGHT_ONE &&
           (double)(sum + out->n_features) < out->drop * (double)one * (double)c->n)
        sum += share[w++];
    out->factor = w > 0 ? (w - 0.5) / ND_WEIGHT_ONE : 0;
    out->dropped = (double)sum / (double)one / (double)c->n;
    free(share);
    return ND_OK;
}

static enum nd_status make_featurer(struct calibrating *c, const struct nd_df *df,
                                    const char *table,
                                    const struct nd_run_df_calibration *calibration,
                                    struct nd_error *err)
{
    struct nd_feature_params features;
    struct nd_weight_params weights;
    const struct nd_recipe_signature *s;
    enum nd_status status = nd_recipe_df_features(c->run.options->recipe, calibration->features,
                                                  &features, &weights, err);
    struct nd_error reason;

    if (status == ND_OK && df && nd_df_check(df, &features, &reason) != ND_OK)
        status = nd_fail(err, reason.status, "%s: %s", table, reason.message);
    if (status == ND_OK && !(calibration->drop > 0 && calibration->drop < 1))
        status = nd_fail(err, ND_EINVAL, "the share to drop must be above 0 and below 1");
    if (status == ND_OK && calibration->sample > SAMPLE_MAX)
        status = nd_fail(err, ND_EINVAL, "a sample can have at most %d documents", SAMPLE_MAX);
    if (status != ND_OK)
        return status;
    memset(features.fields, 0, sizeof features.fields);
    memset(features.force, 0, sizeof features.force);
    features.links = 0;
    weights.low = weights.high = weights.band_low = weights.band_high = weights.top_share = 0;
    weights.top = 0;
    c->most = calibration->sample ? calibration->sample : SAMPLE;
    c->at = nd_alloc_array(c->most, sizeof *c->at);
    if (!c->at)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    s = features.template_count
            ? nd_recipe_df_signature(c->run.options->recipe, calibration->features)
            : NULL;
    if (s && *s->template_df && !(c->template_table = nd_df_open(s->template_df, err)))
        return err->status;
    features.template_table = c->template_table;
    c->featurer = nd_featurer_new(&features, &weights, df, err);
    return c->featurer ? ND_OK : err->status;
}

static enum nd_status calibrate(struct calibrating *c, const struct nd_df *df, const char *table,
                                struct nd_run_df_calibration *out, struct nd_error *err)
{
    enum nd_status status = make_featurer(c, df, table, out, err);

    if (status == ND_OK)
        status = nd_run_df_read(&c->run, sample_batch, c, err);
    if (status == ND_OK && c->n == 0)
        status = nd_fail(err, ND_EINPUT, "no document has a feature that weighs anything");
    if (status == ND_OK)
        status = find_factor(c, out, err);
    for (size_t i = 0; i < c->n; i++)
        free(c->at[i].weight);
    free(c->at);
    nd_featurer_free(c->featurer);
    nd_df_close(c->template_table);
    return status;
}

enum nd_status nd_run_df_calibrate(const struct nd_run_options *options, const char *table,
                                   const struct nd_run_events *events,
                                   struct nd_run_summary *summary,
                                   struct nd_run_df_calibration *calibration, struct nd_error *err)
{
    static const struct nd_run_request request = {.reading = {.parsed = key_of_text},
                                                  .ignores_signatures = true};
    struct calibrating c = {.featurer = NULL};
    struct nd_error room = {0};
    struct nd_df *df = NULL;
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    if (table && !(df = nd_df_open(table, err)))
        return err->status;
    status = nd_run_begin(&c.run, options, &request, events, summary, err);
    if (status == ND_OK)
        status = calibrate(&c, df, table, calibration, err);
    nd_run_end(&c.run);
    nd_df_close(df);
    return nd_run_status(status, err);
}
