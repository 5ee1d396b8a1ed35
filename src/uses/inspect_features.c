/* inspect_features.c - the features of one document, and how the hashes of all are spread */

/*
 * Two views of the features that signatures are made of. One document: its features with texts,
 * weights and hashes, in order of weight or position, for `explain FILE`. Many documents: a
 * histogram of their distinct hashes, which should be uniform; the deviation is given relative to
 * what chance alone would cause.
 */
#include "base/hash_set.h"
#include "evidence/features.h"
#include "reading/names.h"
#include "run/count_df.h"
#include "run/run_parts.h"
#include "uses/two_documents.h"

#include <neardup/feature.h>
#include <neardup/run_df.h>
#include <neardup/text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"

/* ---- The features of one document ----------------------------------------- */

enum nd_status nd_run_features(const struct nd_run_options *options, const char *name,
                               const struct nd_run_events *events, struct nd_document_features *out,
                               struct nd_error *err)
{
    struct nd_held held = {.is_found = false};
    struct nd_error room = {0};
    struct nd_run run;
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *out = (struct nd_document_features){.n_signatures = 0};
    status = nd_finding_begin(&run, options, events, true, err);
    if (status == ND_OK)
        status = options->n_paths ? nd_find_documents(&run, options->paths, options->n_paths, &name,
                                                      1, &held, err)
                                  : nd_find_documents(&run, &name, 1, NULL, 0, &held, err);
    if (status == ND_OK)
        status = nd_features_of_document(run.recipe, &held.document, out, err);
    if (status == ND_OK) {
        out->name = held.name;
        held.name = (struct nd_document_name){.id = NULL};
    }
    status = nd_finding_end(&run, status, err);
    if (status != ND_OK)
        nd_document_features_release(out);
    nd_held_release(&held);
    return status;
}

/* ---- How hashes are spread over their space -------------------------------------------------- */

/* The budget for the distinct hashes of each signature: room for at least 24 million. */
enum { SET_BYTES_MAX = 512 << 20 };

static enum nd_status check_buckets(unsigned buckets, struct nd_error *err)
{
    if (buckets >= 2 && buckets <= ND_HISTOGRAM_BUCKETS_MAX)
        return ND_OK;
    return nd_fail(err, ND_EINVAL, "%u buckets: a histogram has from 2 to %u", buckets,
                   ND_HISTOGRAM_BUCKETS_MAX);
}

void nd_hash_histogram_add(struct nd_hash_histogram *h, uint64_t hash, int is_new)
{
    /* floor(hash * buckets / 2^64), from the two halves of the hash. */
    uint64_t low = (hash & UINT32_MAX) * h->buckets >> 32;
    size_t at = (size_t)(((hash >> 32) * h->buckets + low) >> 32);

    h->features++;
    h->all[at]++;
    if (is_new) {
        h->distinct++;
        h->bucket[at]++;
    }
}

double nd_hash_histogram_deviation(const struct nd_hash_histogram *h)
{
    double mean = (double)h->distinct / (h->buckets ? h->buckets : 1), sum = 0;

    for (unsigned i = 0; i < h->buckets; i++)
        sum += ((double)h->bucket[i] - mean) * ((double)h->bucket[i] - mean);
    /* Counts of a multinomial distribution have variance mean * (1 - 1 / buckets). */
    return h->distinct ? sqrt(sum / (mean * (h->buckets - 1))) : 0;
}

static void clear(struct nd_hash_histogram *h, const char *name, unsigned buckets)
{
    memset(h, 0, sizeof *h);
    strcpy(h->name, name);
    h->buckets = buckets;
}

enum nd_status nd_hash_histogram_of(const struct nd_explained_signature *s, unsigned buckets,
                                    struct nd_hash_histogram *out, struct nd_error *err)
{
    struct nd_hash_set seen = {.bytes_max = SET_BYTES_MAX};
    enum nd_status status = check_buckets(buckets, err);

    if (status != ND_OK)
        return status;
    clear(out, s->name, buckets);
    for (size_t i = 0; i < s->n_features; i++)
        nd_hash_histogram_add(out, s->feature[i].hash,
                              !nd_hash_set_add(&seen, s->feature[i].hash) && !seen.is_full);
    out->is_lower_bound = seen.is_full;
    nd_hash_set_release(&seen);
    return ND_OK;
}

/* The hashes that one thread found in the current batch. */
struct histogram_worker {
    struct nd_feature_maker maker[ND_RECIPE_SIGNATURES];
    struct nd_hashes hash[ND_RECIPE_SIGNATURES];
    enum nd_status status;
};

struct histogram_run {
    struct nd_run run;
    struct histogram_worker *worker;
    unsigned n_workers, n_signatures;
    struct nd_hash_histogram *histogram;
    struct nd_hash_set seen[ND_RECIPE_SIGNATURES];
};

static void count_one(void *context, struct nd_parsed *parsed, unsigned number)
{
    struct histogram_run *c = context;
    struct histogram_worker *w = &c->worker[number];

    for (unsigned i = 0; i < c->n_signatures && w->status == ND_OK; i++) {
        struct nd_hashes *hash = &w->hash[i];
        struct nd_features features;

        w->status = nd_featurer_run(w->maker[i].featurer, &parsed->document, &features);
        if (w->status == ND_OK &&
            !ND_RESERVE(hash->item, &hash->capacity, hash->n + features.count))
            w->status = ND_ENOMEM;
        if (w->status != ND_OK)
            return;
        for (size_t k = 0; k < features.count; k++)
            hash->item[hash->n + k] = features.items[k].hash;
        nd_feature_maker_hash(&w->maker[i], hash->item + hash->n, features.count);
        hash->n += features.count;
    }
}

static enum nd_status end_batch(void *context, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    struct histogram_run *c = context;
    enum nd_status status = nd_run_each_document(&c->run, batch, NULL, NULL, err);

    for (unsigned n = 0; n < c->n_workers && status == ND_OK; n++) {
        struct histogram_worker *w = &c->worker[n];

        if (w->status != ND_OK)
            return nd_fail(err, w->status, "out of memory");
        for (unsigned i = 0; i < c->n_signatures; i++) {
            for (size_t k = 0; k < w->hash[i].n; k++)
                nd_hash_histogram_add(&c->histogram[i], w->hash[i].item[k],
                                      !nd_hash_set_add(&c->seen[i], w->hash[i].item[k]) &&
                                          !c->seen[i].is_full);
            w->hash[i].n = 0;
        }
    }
    return status;
}

static enum nd_status make_workers(struct histogram_run *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    c->n_workers = nd_pool_threads(c->run.pool);
    c->worker = calloc(c->n_workers, sizeof *c->worker);
    if (!c->worker)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned n = 0; n < c->n_workers; n++)
        for (unsigned i = 0; i < c->n_signatures && status == ND_OK; i++)
            status = nd_feature_maker_init(&c->worker[n].maker[i], c->run.recipe, i, false, err);
    return status;
}

static void release(struct histogram_run *c)
{
    for (unsigned i = 0; i < c->n_signatures; i++)
        nd_hash_set_release(&c->seen[i]);
    for (unsigned n = 0; c->worker && n < c->n_workers; n++)
        for (unsigned i = 0; i < c->n_signatures; i++) {
            nd_feature_maker_release(&c->worker[n].maker[i]);
            free(c->worker[n].hash[i].item);
        }
    free(c->worker);
}

enum nd_status nd_run_hash_histograms(const struct nd_run_options *options, unsigned buckets,
                                      const struct nd_run_events *events,
                                      struct nd_hash_histogram *out, unsigned *n,
                                      struct nd_run_summary *summary, struct nd_error *err)
{
    struct histogram_run c = {.histogram = out};
    const struct nd_run_request request = {.reading = {.parsed = count_one, .context = &c}};
    struct nd_error room = {0};
    size_t n_published = 0;
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check_buckets(buckets, err);
    if (status == ND_OK)
        status = nd_recipe_params_check(options->recipe, err);
    if (status != ND_OK)
        return status;
    c.n_signatures = nd_explained_signatures(options->recipe);
    for (unsigned i = 0; i < c.n_signatures; i++) {
        char name[ND_RECIPE_NAME_MAX + 1];

        nd_explained_signature_name(options->recipe, i, name);
        clear(&out[i], name, buckets);
        c.seen[i].bytes_max = SET_BYTES_MAX / c.n_signatures;
    }
    status = nd_run_begin(&c.run, options, &request, events, summary, err);
    if (status == ND_OK)
        status = make_workers(&c, err);
    if (status == ND_OK)
        status = nd_run_df_read(&c.run, end_batch, &c, err);
    if (status == ND_OK)
        status = nd_publisher_publish(&c.run.outputs.publisher, &n_published, err);
    for (unsigned i = 0; i < c.n_signatures; i++)
        out[i].is_lower_bound = c.seen[i].is_full;
    *n = c.n_signatures;
    release(&c);
    nd_run_end(&c.run);
    return nd_run_status(status, err);
}

/* ---- As JSON (docs/format/uses.md) ----------------------------------------------------------- */

static void put_buckets(struct nd_json *out, const char *key, const uint64_t *value, unsigned n)
{
    nd_json_key(out, key);
    nd_json_open(out, '[');
    for (unsigned i = 0; i < n; i++)
        nd_json_uint(out, value[i]);
    nd_json_close(out, ']');
}

enum nd_status nd_hash_histograms_json(const struct nd_hash_histogram *h, unsigned n, char **text,
                                       size_t *len, struct nd_error *err)
{
    struct nd_json out = {0};

    nd_json_open(&out, '{');
    nd_json_key(&out, "histograms");
    nd_json_open(&out, '[');
    for (unsigned k = 0; k < n; k++) {
        nd_json_open(&out, '{');
        nd_json_put_text(&out, "name", h[k].name);
        nd_json_put_uint(&out, "features", h[k].features);
        nd_json_put_uint(&out, "distinct", h[k].distinct);
        if (h[k].is_lower_bound)
            nd_json_put_bool(&out, "distinct_is_lower_bound", true);
        nd_json_put_double(&out, "deviation", nd_hash_histogram_deviation(&h[k]));
        put_buckets(&out, "features_of_buckets", h[k].all, h[k].buckets);
        put_buckets(&out, "distinct_of_buckets", h[k].bucket, h[k].buckets);
        nd_json_close(&out, '}');
    }
    nd_json_close(&out, ']');
    nd_json_close(&out, '}');
    nd_json_line(&out);
    return nd_json_take(&out, text, len, err);
}
