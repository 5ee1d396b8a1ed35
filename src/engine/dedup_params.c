/* dedup_params.c - the parameters of the engine, a recipe and its signatures: defaults and ranges
 */
#include <string.h>

#include "base/pool.h"
#include "engine/engine.h"
#include "engine/params.h"
#include "sketch/sketcher.h"

#include <neardup/index.h>

struct nd_dedup_params nd_dedup_params_default(void)
{
    return (struct nd_dedup_params){
        .sketch = nd_sketch_params_default(),
        .candidates = ND_CANDIDATES_MINHASH,
        .verify = ND_VERIFY_JACCARD,
        .cluster = ND_CLUSTER_STAR,
        .short_policy = ND_SHORT_IDENTICAL,
        .threshold = {4, 5},
        .recall = 0.995,
        .simhash_bits = 3,
        .max_checks = 256,
        .cache_bytes = (size_t)96 << 20,
    };
}

static enum nd_status check_words(const struct nd_dedup_params *p, struct nd_error *err)
{
    if ((unsigned)p->candidates > ND_CANDIDATES_MATCH || (unsigned)p->verify > ND_VERIFY_NONE ||
        (unsigned)p->cluster > ND_CLUSTER_COMPLETE || (unsigned)p->short_policy > ND_SHORT_TOKENS)
        return nd_fail(
            err, ND_EINVAL,
            "candidates %u, verify %u, cluster %u, short %u: one of them is no such value",
            p->candidates, p->verify, p->cluster, p->short_policy);
    return ND_OK;
}

/* What an engine cannot do, though each value is one. */
static enum nd_status check_fit(const struct nd_dedup_params *p, struct nd_error *err)
{
    if (p->candidates == ND_CANDIDATES_MATCH && (!p->method || p->method->n_signatures == 0))
        return nd_fail(err, ND_EINVAL,
                       "candidates 'match' need a section [signature NAME] and a rule 'match'");
    if (p->candidates == ND_CANDIDATES_ALL && p->verify == ND_VERIFY_NONE)
        return nd_fail(err, ND_EINVAL,
                       "candidates 'all' without verification would remove everything");
    return ND_OK;
}

enum nd_status nd_bands_check(const struct nd_dedup_params *p, struct nd_error *err)
{
    if (!p->bands != !p->rows)
        return nd_fail(err, ND_EINVAL, "%s = %u, but %s = 0: both are given, or both are chosen",
                       p->bands ? "bands" : "rows", p->bands ? p->bands : p->rows,
                       p->bands ? "rows" : "bands");
    if (p->bands && p->rows > ND_MINHASH_COUNT / p->bands)
        return nd_fail(err, ND_EINVAL,
                       "bands = %u: with %u rows each they need more than %d minima", p->bands,
                       p->rows, ND_MINHASH_COUNT);
    return ND_OK;
}

static enum nd_status check_numbers(const struct nd_dedup_params *p, struct nd_error *err)
{
    if (p->threshold.q == 0 || p->threshold.p == 0 || p->threshold.p > p->threshold.q)
        return nd_fail(err, ND_EINVAL, "threshold %u/%u: it must be above 0 and at most 1",
                       p->threshold.p, p->threshold.q);
    if (p->candidates == ND_CANDIDATES_MINHASH && !p->bands &&
        !(p->recall >= 0 && p->recall <= ND_RECALL_MAX))
        return nd_fail(err, ND_EINVAL, "recall = %g: 0 to %g are possible", p->recall,
                       ND_RECALL_MAX);
    if (p->candidates == ND_CANDIDATES_SIMHASH && p->simhash_bits > ND_SIMHASH_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "simhash_bits = %u: 0 to %u are possible", p->simhash_bits,
                       ND_SIMHASH_BITS_MAX);
    if (p->max_checks == 0)
        return nd_fail(err, ND_EINVAL, "max_checks must be at least 1");
    if (p->threads > ND_POOL_THREADS_MAX)
        return nd_fail(err, ND_EINVAL, "threads = %u: at most %d", p->threads, ND_POOL_THREADS_MAX);
    return ND_OK;
}

static enum nd_status check_ranges(const struct nd_dedup_params *p, struct nd_error *err)
{
    enum nd_status status = nd_sketch_params_check(&p->sketch, err);

    if (status == ND_OK)
        status = check_words(p, err);
    if (status == ND_OK)
        status = check_numbers(p, err);
    if (status == ND_OK && p->candidates == ND_CANDIDATES_MINHASH)
        status = nd_bands_check(p, err);
    return status;
}

enum nd_status nd_dedup_params_check(const struct nd_dedup_params *p, struct nd_error *err)
{
    enum nd_status status = check_ranges(p, err);

    if (status == ND_OK)
        status = check_fit(p, err);
    if (status == ND_OK && p->candidates == ND_CANDIDATES_MATCH)
        status = nd_method_check(p->method, err);
    return status;
}

static bool has_end(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

/* What is read of it before its features and its kind are checked, each by its own function. */
static bool signature_has_ends(const struct nd_named_signature *s)
{
    const struct nd_feature_params *f = &s->feature;

    return has_end(s->name, sizeof s->name) && has_end(s->df, sizeof s->df) &&
           has_end(s->template_df, sizeof s->template_df) &&
           has_end(f->anchors, sizeof f->anchors) && has_end(f->stop_words, sizeof f->stop_words) &&
           has_end(f->stem, sizeof f->stem) && has_end(f->fields, sizeof f->fields) &&
           has_end(f->force, sizeof f->force) &&
           has_end(f->reserved_field, sizeof f->reserved_field) &&
           has_end(s->weight.position_table, sizeof s->weight.position_table);
}

enum nd_status nd_method_check(const struct nd_method *method, struct nd_error *err)
{
    if (method->n_signatures > ND_METHOD_SIGNATURES)
        return nd_fail(err, ND_EINVAL, "n_signatures = %u: at most %d", method->n_signatures,
                       ND_METHOD_SIGNATURES);
    if (!has_end(method->match, sizeof method->match))
        return nd_fail(err, ND_EINVAL, "match: its text does not end");
    for (unsigned i = 0; i < method->n_signatures; i++)
        if (!signature_has_ends(&method->signature[i]))
            return nd_fail(err, ND_EINVAL, "signature %u: one of its texts does not end", i);
    return ND_OK;
}

enum nd_status nd_recipe_has_ends(const struct nd_recipe *recipe, struct nd_error *err)
{
    if (!has_end(recipe->keep, sizeof recipe->keep))
        return nd_fail(err, ND_EINVAL, "keep: its text does not end");
    return nd_method_check(&recipe->method, err);
}

enum nd_status nd_recipe_params_check(const struct nd_recipe *recipe, struct nd_error *err)
{
    enum nd_status status = nd_recipe_has_ends(recipe, err);

    return status == ND_OK ? check_ranges(&recipe->dedup, err) : status;
}
