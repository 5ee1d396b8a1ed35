/* engine_plan.c - what the parameters of an engine ask for: by what candidates are found, and how near */
#include "engine/document/engine_plan.h"

/*
 * Two sets of cosine t share at least the fraction t of the smaller one, and more the more their
 * sizes differ: t sqrt(larger / smaller).  So samples that find a containment of t find the cosine.
 */
static enum nd_status plan_containers(struct nd_engine_plan *plan, struct nd_error *err)
{
    const struct nd_dedup_params *params = &plan->params;
    struct nd_container_params *p = &plan->containers;

    p->way = params->verify == ND_VERIFY_CONTAINMENT           ? ND_CONTAINERS_IN_KEPT
             : params->verify == ND_VERIFY_CONTAINMENT_OF_KEPT ? ND_CONTAINERS_OF_KEPT
                                                               : ND_CONTAINERS_BY_SMALLER;
    p->is_cosine = params->verify == ND_VERIFY_COSINE;
    p->threshold = params->threshold;
    return nd_sample_choose(p->threshold, params->recall, &p->sample, &p->min_shared, err);
}

static enum nd_status plan_bands(struct nd_engine_plan *plan, struct nd_error *err)
{
    const struct nd_dedup_params *params = &plan->params;

    plan->sketch_parts |= ND_SKETCH_MINHASH;
    plan->distance = ND_MINHASH_COUNT;
    /* With given bands: a cosine of t needs a resemblance of t^2 at least, a containment may have
     * any. */
    if (params->verify == ND_VERIFY_JACCARD || params->verify == ND_VERIFY_COSINE)
        plan->distance -= nd_low_bytes_agreeing(plan->threshold.num, plan->threshold.den);
    plan->index.bands = params->bands;
    plan->index.rows = params->rows;
    if (params->bands)
        return ND_OK;
    return nd_bands_choose(params->threshold, params->recall, &plan->index.bands, &plan->index.rows,
                           err);
}

static enum nd_status plan_candidates(struct nd_engine_plan *plan, struct nd_error *err)
{
    const struct nd_dedup_params *params = &plan->params;

    switch (params->candidates) {
    case ND_CANDIDATES_MATCH:
        plan->matching = nd_matching_new(params->method, err);
        return plan->matching ? ND_OK : ND_EINVAL;
    case ND_CANDIDATES_SIMHASH:
        plan->index.simhash_bits = plan->distance = params->simhash_bits;
        return ND_OK;
    case ND_CANDIDATES_MINHASH:
        return nd_dedup_takes_samples(params) ? plan_containers(plan, err) : plan_bands(plan, err);
    case ND_CANDIDATES_IDENTITY:
    case ND_CANDIDATES_ALL: break;
    }
    return ND_OK;
}

enum nd_status nd_engine_plan_init(struct nd_engine_plan *plan,
                                   const struct nd_dedup_params *params, struct nd_error *err)
{
    enum nd_status status;

    plan->params = *params;
    if (params->candidates == ND_CANDIDATES_ALL)
        plan->params.max_checks = UINT32_MAX;
    plan->threshold = nd_measure_threshold(params->verify, params->threshold);
    plan->index = (struct nd_index_params){0, 0, ND_NO_SIMHASH};
    plan->sketch_parts = ND_SKETCH_SIMHASH;
    plan->distance = UINT32_MAX;
    status = plan_candidates(plan, err);
    plan->n_keys = nd_table_count(&plan->index);
    plan->key_room = nd_key_room(&plan->index, plan->params.max_checks);
    return status;
}

void nd_engine_plan_release(struct nd_engine_plan *plan)
{
    nd_matching_free(plan->matching);
    nd_value_set_release(&plan->expected);
}

bool nd_engine_plan_ignores_text(const struct nd_engine_plan *plan)
{
    return plan->matching && plan->matching->ignores_text;
}

bool nd_engine_plan_has_copies(const struct nd_engine_plan *plan)
{
    const struct nd_matching *m = plan->matching;

    return !m || !(m->ignores_text || nd_beside_is_read(&m->beside));
}

struct nd_reach nd_engine_plan_reach(const struct nd_engine_plan *plan, uint64_t n_shingles)
{
    struct nd_reach reach = {0, UINT32_MAX, plan->distance};

    if (!plan->matching && plan->params.verify != ND_VERIFY_NONE)
        nd_measure_range(plan->params.verify, n_shingles, plan->threshold, &reach.least,
                         &reach.most);
    return reach;
}
