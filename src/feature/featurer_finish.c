/* featurer_finish.c - from the distinct features to weighted ones, and those of fields and links */
#include "feature/featurer.h"

#include <string.h>

enum { FREQUENCIES = 64 };

static bool reserve_output(struct nd_featurer *f, size_t n, size_t n_distinct)
{
    void *at = f->at, *weight = f->weight, *df_of = f->df_of;
    bool good = nd_array_reserve(&at, &f->at_capacity, n, sizeof *f->at);

    f->at = at;
    good = nd_array_reserve(&weight, &f->weight_capacity, n_distinct, sizeof *f->weight) && good;
    f->weight = weight;
    if (f->df) {
        good = nd_array_reserve(&df_of, &f->df_capacity, n, sizeof *f->df_of) && good;
        f->df_of = df_of;
    }
    return good;
}

/*
 * Where weights come from frequencies alone: those of 1 … the greatest, which are few, and then
 * each feature's from that list.
 */
static enum nd_status weigh_by_frequency(struct nd_featurer *f, uint32_t greatest, uint64_t *unit)
{
    struct nd_term_stat stat[FREQUENCIES];
    int32_t weight[FREQUENCIES];
    enum nd_status status;

    for (uint32_t i = 0; i < greatest; i++)
        stat[i] = (struct nd_term_stat){.tf = i + 1};
    status = nd_weigher_run(f->weigher, stat, greatest, f->n_words, weight, unit);
    for (size_t i = 0; status == ND_OK && i < f->tally.count; i++)
        f->weight[i] = weight[f->tally.entry[i + 1].tf - 1];
    return status;
}

static enum nd_status weigh(struct nd_featurer *f, uint64_t *unit)
{
    uint32_t greatest = 0;

    if (f->tally.count == 0)
        return ND_OK;
    for (size_t i = 1; f->is_flat && i <= f->tally.count; i++)
        greatest = f->tally.entry[i].tf > greatest ? f->tally.entry[i].tf : greatest;
    if (f->is_flat && greatest <= FREQUENCIES)
        return weigh_by_frequency(f, greatest, unit);
    return nd_weigher_run(f->weigher, f->tally.entry + 1, f->tally.count, f->n_words, f->weight,
                          unit);
}

/* The features of the text, in order. */
static void put_all(struct nd_featurer *f, size_t n)
{
    bool is_distinct = f->params.count == ND_FEATURE_DISTINCT;

    for (size_t i = 0; i < n; i++) {
        size_t number = is_distinct ? i + 1 : f->occurrence.at[i];

        f->at[i] = (struct nd_feature){f->tally.entry[number].hash, f->weight[number - 1]};
        if (f->df)
            f->df_of[i] = f->tally.entry[number].df;
    }
}

/* The same where nothing was counted. */
static void put_direct(struct nd_featurer *f)
{
    for (size_t i = 0; i < f->n_direct; i++)
        f->at[i] = (struct nd_feature){f->direct[i], ND_WEIGHT_ONE};
}

static void put_metadata(struct nd_featurer *f, const struct nd_metadata_features *m, size_t n)
{
    for (size_t i = 0; i < m->count; i++) {
        f->at[n + i] = m->at[i];
        if (f->df)
            f->df_of[n + i] = 1;
    }
}

enum nd_status nd_featurer_finish(struct nd_featurer *f, const struct nd_document *document,
                                  struct nd_features *out)
{
    bool is_direct = nd_featurer_is_direct(f);
    size_t n = is_direct                                ? f->n_direct
               : f->params.count == ND_FEATURE_DISTINCT ? f->tally.count
                                                        : f->occurrence.count;
    uint64_t unit = is_direct ? nd_weigher_unit_of_one(f->weigher, f->n_words) : 0;
    struct nd_metadata_features metadata;
    enum nd_status status = nd_metadata_run(f->metadata, document, &metadata);
    bool is_bare = is_direct && f->is_plainly_asked && metadata.count == 0;

    if (status == ND_OK && !is_bare && !reserve_output(f, n + metadata.count, f->tally.count))
        status = ND_ENOMEM;
    if (status == ND_OK && !is_direct)
        status = weigh(f, &unit);
    if (status != ND_OK)
        return status;
    if (!is_direct)
        put_all(f, n);
    else if (!is_bare)
        put_direct(f);
    put_metadata(f, &metadata, n);
    *out = (struct nd_features){
        .at = is_bare ? NULL : f->at,
        .hash = is_bare ? f->direct : NULL,
        .count = n + metadata.count,
        .n_metadata = metadata.count,
        .forced = metadata.forced,
        .n_forced = metadata.n_forced,
        .df = f->df ? f->df_of : NULL,
        .unit = unit,
        .n_tokens = f->n_words,
        .n_terms = f->params.unit == ND_FEATURE_CHARACTERS ? f->n_words : f->n_terms,
        .has_reserved = f->params.reserved_field[0] != 0,
    };
    if (out->has_reserved)
        out->reserved = nd_metadata_reserved(document, f->params.reserved_field);
    return ND_OK;
}
