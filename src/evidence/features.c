/* features.c - the features of one document, with their texts, weights and hashes */
#include "evidence/features.h"

#include <neardup/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/memory.h"
#include "base/system/c_functions.h"
#include "evidence/name.h"
#include "recipe/recipe_struct.h"

/* ---- From a document to the features of one signature, with the hashes that it uses ---------- */

/* How many signatures are explained: those of the recipe, or 1 for its shingles. */
unsigned nd_explained_signatures(const struct nd_recipe *recipe)
{
    return recipe->method.n_signatures ? recipe->method.n_signatures : 1;
}

void nd_explained_signature_name(const struct nd_recipe *recipe, unsigned i,
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

static enum nd_status make_featurers(struct nd_feature_maker *m,
                                     const struct nd_feature_params *features,
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
enum nd_status nd_feature_maker_init(struct nd_feature_maker *m, const struct nd_recipe *recipe,
                                     unsigned i, bool with_full, struct nd_error *err)
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

void nd_feature_maker_release(struct nd_feature_maker *m)
{
    nd_featurer_free(m->featurer);
    nd_featurer_free(m->full);
    nd_signer_free(m->signer);
    *m = (struct nd_feature_maker){.featurer = NULL};
}

/* Turn the hashes of n features into those that the signature uses, in place. */
void nd_feature_maker_hash(const struct nd_feature_maker *m, uint64_t *hash, size_t n)
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
        nd_sort_with(s->by_weight, s->n_features, sizeof *s->by_weight, by_falling_weight,
                     s->feature);
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

static bool take_features(const struct nd_feature_maker *m, const struct nd_features *f,
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
    nd_feature_maker_hash(m, hash, f->count);
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
static enum nd_status take_full(const struct nd_feature_maker *m,
                                const struct nd_document *document,
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

static enum nd_status explain_signature(const struct nd_feature_maker *m,
                                        const struct nd_document *document,
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

enum nd_status nd_features_of_document(const struct nd_recipe *recipe,
                                       const struct nd_document *document,
                                       struct nd_document_features *out, struct nd_error *err)
{
    struct nd_token *token = NULL;
    size_t tokens = 0;
    enum nd_status status;

    *out = (struct nd_document_features){.n_signatures = 0};
    status = nd_text_tokens(document->text.data, document->text.len, &token, &tokens, err);
    free(token);
    out->bytes = document->text.len;
    out->tokens = tokens;
    out->n_signatures = nd_explained_signatures(recipe);
    for (unsigned i = 0; i < out->n_signatures && status == ND_OK; i++) {
        struct nd_feature_maker maker = {.featurer = NULL};

        nd_explained_signature_name(recipe, i, out->signature[i].name);
        out->signature[i].is_set = is_set(recipe, i);
        status = nd_feature_maker_init(&maker, recipe, i, true, err);
        if (status == ND_OK)
            status = explain_signature(&maker, document, &out->signature[i], err);
        nd_feature_maker_release(&maker);
    }
    return status;
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
