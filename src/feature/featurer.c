/* featurer.c - from a document to weighted features (docs/format/features.md) */
#include "feature/featurer.h"

#include <neardup/text.h>

#include <stdlib.h>

enum { FREQUENCIES = 64 }; /* whose weights are made beforehand, where weights are flat */

static enum nd_status init(struct nd_featurer *f, const struct nd_feature_params *features,
                           const struct nd_weight_params *weights, const struct nd_df *df,
                           struct nd_error *err)
{
    enum nd_status status = nd_feature_plan_init(&f->plan, features, weights, df, err);

    if (status == ND_OK)
        status = nd_document_terms_init(&f->terms, &f->plan, err);
    if (status != ND_OK)
        return status;
    f->metadata = nd_metadata_new(features, err);
    if (!f->metadata)
        return err->status;
    return nd_feature_counts_init(&f->counts, &f->plan, &f->terms)
               ? ND_OK
               : nd_fail(err, ND_ENOMEM, "out of memory");
}

struct nd_featurer *nd_featurer_new(const struct nd_feature_params *features,
                                    const struct nd_weight_params *weights, const struct nd_df *df,
                                    struct nd_error *err)
{
    struct nd_featurer *f = calloc(1, sizeof *f);
    struct nd_error local;

    err = err ? err : &local;
    if (!f) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    if (init(f, features, weights, df, err) != ND_OK) {
        nd_featurer_free(f);
        return NULL;
    }
    return f;
}

void nd_featurer_free(struct nd_featurer *f)
{
    if (!f)
        return;
    nd_feature_counts_release(&f->counts);
    nd_document_terms_release(&f->terms);
    nd_feature_plan_release(&f->plan);
    nd_metadata_free(f->metadata);
    nd_weigh_scratch_release(&f->scratch);
    free(f->output.items);
    free(f->output.df);
    free(f->output.weight);
    free(f);
}

static bool reserve_output(struct nd_featurer *f, size_t n)
{
    struct nd_feature_output *o = &f->output;

    return ND_RESERVE(o->items, &o->capacity, n) &&
           ND_RESERVE(o->weight, &o->weight_capacity, f->counts.tally.count) &&
           (!f->plan.df || ND_RESERVE(o->df, &o->df_capacity, n));
}

/*
 * If weights are flat, weigh the frequencies 1 … max, which are few, in place of the features,
 * and look the weight of each feature up.  The greatest weight is that of max in both cases.
 */
static enum nd_status weigh_by_frequency(struct nd_featurer *f, uint32_t max, uint64_t *unit)
{
    const struct nd_tally *tally = &f->counts.tally;
    struct nd_term_stat stat[FREQUENCIES];
    int32_t weight[FREQUENCIES];
    enum nd_status status;

    for (uint32_t i = 0; i < max; i++)
        stat[i] = (struct nd_term_stat){.tf = i + 1};
    status =
        nd_weigher_run(f->plan.weigher, &f->scratch, stat, max, f->terms.n_tokens, weight, unit);
    for (size_t i = 0; status == ND_OK && i < tally->count; i++)
        f->output.weight[i] = weight[tally->entry[i + 1].tf - 1];
    return status;
}

static enum nd_status weigh(struct nd_featurer *f, uint64_t *unit)
{
    const struct nd_tally *tally = &f->counts.tally;
    uint32_t max = 0;

    if (tally->count == 0)
        return ND_OK;
    for (size_t i = 1; f->plan.is_flat && i <= tally->count; i++)
        max = tally->entry[i].tf > max ? tally->entry[i].tf : max;
    if (f->plan.is_flat && max <= FREQUENCIES)
        return weigh_by_frequency(f, max, unit);
    return nd_weigher_run(f->plan.weigher, &f->scratch, tally->entry + 1, tally->count,
                          f->terms.n_tokens, f->output.weight, unit);
}

/* The n features of the text, in order. */
static void put_content(struct nd_featurer *f, size_t n)
{
    bool is_distinct = f->plan.params.count == ND_FEATURE_DISTINCT;
    struct nd_feature_output *o = &f->output;

    if (f->counts.counting == ND_COUNT_NONE) {
        for (size_t i = 0; i < n; i++)
            o->items[i] = (struct nd_feature){f->counts.direct[i], ND_WEIGHT_ONE};
        return;
    }
    for (size_t i = 0; i < n; i++) {
        size_t number = is_distinct ? i + 1 : f->counts.occurrence.items[i];
        const struct nd_term_stat *entry = &f->counts.tally.entry[number];

        o->items[i] = (struct nd_feature){entry->hash, o->weight[number - 1]};
        if (f->plan.df)
            o->df[i] = entry->df;
    }
}

/* The greatest weight of the n features of the text; ND_WEIGHT_ONE if none has a weight. */
static int32_t greatest_weight(const struct nd_featurer *f, size_t n)
{
    int32_t greatest = 0;

    for (size_t i = 0; i < n; i++)
        if (f->output.items[i].weight > greatest)
            greatest = f->output.items[i].weight;
    return greatest ? greatest : ND_WEIGHT_ONE;
}

/* The features of fields and links, behind the n of the text.  A link weighs as much as the heaviest
 * of those, which weighs ND_WEIGHT_ONE if there are fields. */
static void put_metadata(struct nd_featurer *f, const struct nd_metadata_features *m, size_t n)
{
    int32_t link = m->count && !f->plan.params.fields[0] ? greatest_weight(f, n) : 0;

    for (size_t i = 0; i < m->count; i++) {
        f->output.items[n + i] = m->items[i];
        if (link)
            f->output.items[n + i].weight = link;
        if (f->plan.df)
            f->output.df[n + i] = 1;
    }
}

/* Weigh what was counted, and add the features of fields and links. */
static enum nd_status finish(struct nd_featurer *f, const struct nd_document *document,
                             struct nd_features *out)
{
    const struct nd_feature_plan *plan = &f->plan;
    const struct nd_feature_counts *c = &f->counts;
    bool is_direct = c->counting == ND_COUNT_NONE;
    size_t n = is_direct                                   ? c->n_direct
               : plan->params.count == ND_FEATURE_DISTINCT ? c->tally.count
                                                           : c->occurrence.count;
    uint64_t unit = is_direct ? nd_weigher_unit_of_one(plan->weigher, f->terms.n_tokens) : 0;
    struct nd_metadata_features metadata;
    enum nd_status status = nd_metadata_run(f->metadata, document, &metadata);
    bool is_bare = is_direct && c->request == ND_REQUEST_HASHES && metadata.count == 0;

    if (status == ND_OK && !is_bare && !reserve_output(f, n + metadata.count))
        status = ND_ENOMEM;
    if (status == ND_OK && !is_direct)
        status = weigh(f, &unit);
    if (status != ND_OK)
        return status;
    if (!is_bare)
        put_content(f, n);
    put_metadata(f, &metadata, n);
    *out = (struct nd_features){
        .items = is_bare ? NULL : f->output.items,
        .hash = is_bare ? c->direct : NULL,
        .count = n + metadata.count,
        .n_metadata = metadata.count,
        .forced = metadata.forced,
        .n_forced = metadata.n_forced,
        .df = plan->df ? f->output.df : NULL,
        .unit = unit,
        .n_tokens = f->terms.n_tokens,
        .n_terms = plan->unit->source == ND_FROM_CHARACTERS ? f->terms.n_tokens : f->terms.n_terms,
        .has_reserved = plan->params.reserved_field[0] != 0,
    };
    if (out->has_reserved)
        out->reserved = nd_metadata_reserved(document, plan->params.reserved_field);
    return ND_OK;
}

enum nd_status nd_featurer_request(struct nd_featurer *f, const struct nd_document *document,
                                   enum nd_feature_request request, struct nd_features *out)
{
    enum nd_status status;

    if (!nd_utf8_valid(document->text.data, document->text.len))
        return ND_EINVAL;
    status = nd_feature_counts_run(&f->counts, document, request);
    return status == ND_OK ? finish(f, document, out) : status;
}

enum nd_status nd_featurer_run(struct nd_featurer *f, const struct nd_document *document,
                               struct nd_features *out)
{
    return nd_featurer_request(f, document, ND_REQUEST_FEATURES, out);
}

enum nd_status nd_featurer_run_hashes(struct nd_featurer *f, const struct nd_document *document,
                                      struct nd_features *out)
{
    return nd_featurer_request(f, document, ND_REQUEST_HASHES, out);
}
