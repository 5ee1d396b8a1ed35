/* features.c - the features of one document, and how the hashes of all are spread */

/*
 * Two views of the features that signatures are made of. One document: its features with texts,
 * weights and hashes, in order of weight or position, for `explain FILE`. Many documents: a
 * histogram of their distinct hashes, which should be uniform; the deviation is given relative to
 * what chance alone would cause.
 */
#define _GNU_SOURCE
#include "base/hash_set.h"
#include "pipeline/df.h"
#include "pipeline/names.h"
#include "pipeline/run.h"
#include "uses/two_documents.h"

#include <neardup/feature.h>
#include <neardup/run_df.h>
#include <neardup/text.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recipe/recipe.h"

/* ---- From a document to the features of one signature, with the hashes that it uses ---------- */

/* The working memory of one thread.  Starts from zeroes. */
struct maker {
    struct nd_featurer *featurer;
    struct nd_featurer *full; /* without position, clipping and thresholds; NULL: the same */
    struct nd_signer *signer; /* NULL: the hashes of features are used unchanged */
};

/* How many signatures are explained: those of the recipe, or 1 for its shingles. */
static unsigned n_explained(const struct nd_recipe *recipe)
{
    return recipe->method.n_signatures ? recipe->method.n_signatures : 1;
}

static void put_signature_name(const struct nd_recipe *recipe, unsigned i,
                               char name[ND_RECIPE_NAME_MAX + 1])
{
    snprintf(name, ND_RECIPE_NAME_MAX + 1, "%s",
             recipe->method.n_signatures ? recipe->method.signature[i].name : "sketch");
}

/* Whether the signature uses only the set of features that have a weight, and not the weights. */
static bool is_set(const struct nd_recipe *recipe, unsigned i)
{
    return recipe->method.n_signatures &&
           recipe->method.signature[i].signature.kind != ND_SIGNATURE_SIMHASH;
}

/*
 * Weights before position, clipping and thresholds are applied, as in Seshasai 2009, Figure 3-4, so
 * that they can be compared with the final ones (Figures 5-1 to 5-4).
 */
static struct nd_weight_params full_weights(const struct nd_weight_params *weights)
{
    struct nd_weight_params full = *weights;
    const struct nd_weight_params none = nd_weight_params_default();

    full.position = none.position;
    memcpy(full.position_table, none.position_table, sizeof full.position_table);
    full.clip_quantile = none.clip_quantile;
    full.clip_rank = none.clip_rank;
    full.low = none.low;
    full.high = none.high;
    full.band_low = none.band_low;
    full.band_high = none.band_high;
    full.top = none.top;
    full.top_share = none.top_share;
    return full;
}

static enum nd_status make_featurers(struct maker *m, const struct nd_feature_params *features,
                                     const struct nd_weight_params *weights,
                                     const struct nd_df *table, bool with_full,
                                     struct nd_error *err)
{
    const struct nd_weight_params full = full_weights(weights);

    m->featurer = nd_featurer_new(features, weights, table, err);
    if (m->featurer && with_full)
        m->full = nd_featurer_new(features, &full, table, err);
    return m->featurer && (m->full || !with_full) ? ND_OK : err->status;
}

/*
 * `with_full`: compute the full weights too. ND_EINVAL, ND_ENOMEM: *err says why; the caller still
 * releases what was made.
 */
static enum nd_status init_maker(struct maker *m, const struct nd_recipe *recipe, unsigned i,
                                 bool with_full, struct nd_error *err)
{
    const struct nd_recipe_signature *s = &recipe->method.signature[i];
    struct nd_feature_params features;
    struct nd_weight_params weights;
    struct nd_error reason = {.status = ND_ENOMEM, .message = "out of memory"};
    enum nd_status status;

    if (!recipe->method.n_signatures) {
        status = nd_recipe_df_features(recipe, "sketch", &features, &weights, err);
        weights.tf = ND_TF_BINARY; /* a shingle counts once, however often it occurs */
        return status == ND_OK ? make_featurers(m, &features, &weights, NULL, with_full, err)
                               : status;
    }
    status = make_featurers(m, &s->feature, &s->weight, s->table, with_full, &reason);
    if (status == ND_OK && !(m->signer = nd_signer_new(&s->signature, s->table, &reason)))
        status = reason.status;
    return status == ND_OK ? ND_OK
                           : nd_fail(err, status, "signature %s: %s", s->name, reason.message);
}

static void release_maker(struct maker *m)
{
    nd_featurer_free(m->featurer);
    nd_featurer_free(m->full);
    nd_signer_free(m->signer);
    *m = (struct maker){.featurer = NULL};
}

/* Turn the hashes of n features into those that the signature uses, in place. */
static void hash_features(const struct maker *m, uint64_t *hash, size_t n)
{
    if (m->signer)
        nd_signer_hash(m->signer, hash, n);
}

/* ---- The features of one document ------------------------------------------------------------ */

static void release_explained(struct nd_explained_signature *s)
{
    for (size_t i = 0; s->feature && i < s->n_features; i++)
        free(s->feature[i].text);
    free(s->feature);
    free(s->by_weight);
}

void nd_document_features_release(struct nd_document_features *d)
{
    for (unsigned i = 0; i < ND_RECIPE_SIGNATURES; i++)
        release_explained(&d->signature[i]);
    nd_name_release(&d->name);
    *d = (struct nd_document_features){.n_signatures = 0};
}

/* Order by weight, greatest first; ties by position. */
static int by_falling_weight(const void *left, const void *right, void *context)
{
    const struct nd_explained_feature *feature = context;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    if (feature[a].weight > feature[b].weight || feature[a].weight < feature[b].weight)
        return feature[a].weight > feature[b].weight ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool rank(struct nd_explained_signature *s)
{
    s->by_weight = nd_alloc_array(s->n_features, sizeof *s->by_weight);
    if (!s->by_weight)
        return false;
    for (size_t i = 0; i < s->n_features; i++)
        s->by_weight[i] = i;
    if (s->n_features)
        qsort_r(s->by_weight, s->n_features, sizeof *s->by_weight, by_falling_weight, s->feature);
    return true;
}

/* Copy the lines of a text, one for each feature; missing lines become empty. */
static bool copy_texts(struct nd_explained_signature *s, const char *text, size_t len)
{
    const char *at = text, *end = text + len;

    for (size_t i = 0; i < s->n_features; i++) {
        const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

        stop = stop ? stop : end;
        s->feature[i].text = malloc((size_t)(stop - at) + 1);
        if (!s->feature[i].text)
            return false;
        if (stop > at)
            memcpy(s->feature[i].text, at, (size_t)(stop - at));
        s->feature[i].text[stop - at] = '\0';
        at = stop < end ? stop + 1 : end;
    }
    return true;
}

/* The fixed-point value of the weight 1. */
static double unit_of(const struct nd_features *f)
{
    return (double)f->unit / 4294967296.0 / ND_WEIGHT_ONE;
}

static bool take_features(const struct maker *m, const struct nd_features *f,
                          struct nd_explained_signature *s)
{
    uint64_t *hash = nd_alloc_array(f->count, sizeof *hash);

    s->feature = calloc(f->count + 1, sizeof *s->feature);
    if (!hash || !s->feature) {
        free(hash);
        return false;
    }
    for (size_t i = 0; i < f->count; i++)
        hash[i] = f->items[i].hash;
    hash_features(m, hash, f->count);
    s->n_features = f->count;
    s->n_forced = f->n_forced;
    s->has_df = f->df != NULL;
    for (size_t i = 0; i < f->count; i++) {
        double weight = f->items[i].weight * unit_of(f);

        s->feature[i] = (struct nd_explained_feature){.hash = hash[i],
                                                      .weight = weight,
                                                      .full = weight,
                                                      .df = f->df ? f->df[i] : 0,
                                                      .from_field = i + f->n_metadata >= f->count};
        s->n_weighted += f->items[i].weight != 0;
    }
    free(hash);
    return true;
}

/*
 * Find the full weights of the same features. Weights of fields are relative to the greatest of the
 * others.
 */
static enum nd_status take_full(const struct maker *m, const struct nd_document *document,
                                struct nd_explained_signature *s)
{
    struct nd_features f;
    enum nd_status status = nd_featurer_run(m->full, document, &f);

    if (status != ND_OK)
        return status;
    for (size_t i = 0; i < f.count && i < s->n_features; i++) {
        s->feature[i].full = f.items[i].weight * unit_of(&f);
        /* Each unit's weight is rounded once, so rounding alone makes no difference. */
        s->has_full |= (f.items[i].weight != 0) != (s->feature[i].weight != 0) ||
                       s->feature[i].full > s->feature[i].weight + 2 * unit_of(&f) ||
                       s->feature[i].full < s->feature[i].weight - 2 * unit_of(&f);
    }
    return ND_OK;
}

static enum nd_status explain_signature(const struct maker *m, const struct nd_document *document,
                                        struct nd_explained_signature *s, struct nd_error *err)
{
    struct nd_features f;
    char *text = NULL;
    size_t len = 0;
    enum nd_status status = nd_featurer_explain(m->featurer, document, &text, &len, &f);

    if (status == ND_OK && (!take_features(m, &f, s) || !copy_texts(s, text, len) || !rank(s)))
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = take_full(m, document, s);
    free(text);
    return status == ND_OK ? ND_OK : nd_fail(err, status, "out of memory");
}

static enum nd_status explain_all(const struct nd_recipe *recipe, struct nd_held *held,
                                  struct nd_document_features *out, struct nd_error *err)
{
    struct nd_token *token = NULL;
    size_t tokens = 0;
    enum nd_status status =
        nd_text_tokens(held->document.text.data, held->document.text.len, &token, &tokens, err);

    free(token);
    out->bytes = held->document.text.len;
    out->tokens = tokens;
    out->n_signatures = n_explained(recipe);
    for (unsigned i = 0; i < out->n_signatures && status == ND_OK; i++) {
        struct maker maker = {.featurer = NULL};

        put_signature_name(recipe, i, out->signature[i].name);
        out->signature[i].is_set = is_set(recipe, i);
        status = init_maker(&maker, recipe, i, true, err);
        if (status == ND_OK)
            status = explain_signature(&maker, &held->document, &out->signature[i], err);
        release_maker(&maker);
    }
    out->name = held->name;
    held->name = (struct nd_document_name){.id = NULL};
    return status;
}

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
        status = explain_all(run.recipe, &held, out, err);
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
struct worker {
    struct maker maker[ND_RECIPE_SIGNATURES];
    struct nd_hashes hash[ND_RECIPE_SIGNATURES];
    enum nd_status status;
};

struct counting {
    struct nd_run run;
    struct worker *worker;
    unsigned n_workers, n_signatures;
    struct nd_hash_histogram *histogram;
    struct nd_hash_set seen[ND_RECIPE_SIGNATURES];
};

static void count_one(void *context, struct nd_parsed *parsed, unsigned number)
{
    struct counting *c = context;
    struct worker *w = &c->worker[number];

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
        hash_features(&w->maker[i], hash->item + hash->n, features.count);
        hash->n += features.count;
    }
}

static enum nd_status end_batch(void *context, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    struct counting *c = context;
    enum nd_status status = nd_run_each_document(&c->run, batch, NULL, NULL, err);

    for (unsigned n = 0; n < c->n_workers && status == ND_OK; n++) {
        struct worker *w = &c->worker[n];

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

static enum nd_status make_workers(struct counting *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    c->n_workers = nd_pool_threads(c->run.pool);
    c->worker = calloc(c->n_workers, sizeof *c->worker);
    if (!c->worker)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned n = 0; n < c->n_workers; n++)
        for (unsigned i = 0; i < c->n_signatures && status == ND_OK; i++)
            status = init_maker(&c->worker[n].maker[i], c->run.recipe, i, false, err);
    return status;
}

static void release(struct counting *c)
{
    for (unsigned i = 0; i < c->n_signatures; i++)
        nd_hash_set_release(&c->seen[i]);
    for (unsigned n = 0; c->worker && n < c->n_workers; n++)
        for (unsigned i = 0; i < c->n_signatures; i++) {
            release_maker(&c->worker[n].maker[i]);
            free(c->worker[n].hash[i].item);
        }
    free(c->worker);
}

enum nd_status nd_run_hash_histograms(const struct nd_run_options *options, unsigned buckets,
                                      const struct nd_run_events *events,
                                      struct nd_hash_histogram *out, unsigned *n,
                                      struct nd_run_summary *summary, struct nd_error *err)
{
    struct counting c = {.histogram = out};
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
    c.n_signatures = n_explained(options->recipe);
    for (unsigned i = 0; i < c.n_signatures; i++) {
        char name[ND_RECIPE_NAME_MAX + 1];

        put_signature_name(options->recipe, i, name);
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

static void put_feature(struct nd_json *out, const struct nd_explained_signature *s, size_t i)
{
    const struct nd_explained_feature *f = &s->feature[i];

    nd_json_open(out, '{');
    nd_json_put_text(out, "feature", f->text);
    nd_json_put_uint(out, "position", i + 1);
    nd_json_put_double(out, "weight", f->weight);
    if (s->has_full)
        nd_json_put_double(out, "full_weight", f->full);
    if (s->has_df && !f->from_field)
        nd_json_put_uint(out, "df", f->df);
    if (f->from_field)
        nd_json_put_bool(out, "of_field", true);
    nd_json_put_hex(out, "hash", f->hash);
    nd_json_close(out, '}');
}

enum nd_status nd_document_features_json(const struct nd_document_features *d, int by_position,
                                         size_t top, char **text, size_t *len, struct nd_error *err)
{
    struct nd_json out = {0};

    nd_json_open(&out, '{');
    nd_name_put(&out, &d->name);
    nd_json_put_uint(&out, "bytes", d->bytes);
    nd_json_put_uint(&out, "tokens", d->tokens);
    nd_json_key(&out, "signatures");
    nd_json_open(&out, '[');
    for (unsigned k = 0; k < d->n_signatures; k++) {
        const struct nd_explained_signature *s = &d->signature[k];

        nd_json_open(&out, '{');
        nd_json_put_text(&out, "name", s->name);
        nd_json_put_uint(&out, "count", s->n_features);
        nd_json_put_uint(&out, "weighted", s->n_weighted);
        nd_json_put_uint(&out, "forced", s->n_forced);
        nd_json_key(&out, "features");
        nd_json_open(&out, '[');
        for (size_t i = 0; i < s->n_features && (!top || i < top); i++)
            put_feature(&out, s, by_position ? i : s->by_weight[i]);
        nd_json_close(&out, ']');
        nd_json_close(&out, '}');
    }
    nd_json_close(&out, ']');
    nd_json_close(&out, '}');
    nd_json_line(&out);
    return nd_json_take(&out, text, len, err);
}

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
