/*
 * params.c - whether the parameters of a recipe are in range and fit together; its df tables
 *
 * Three checks, from the cheapest to the most thorough: nd_recipe_has_ends, before a recipe is read
 * or changed; nd_recipe_params_check and nd_dedup_params_check, before a run or an engine; and
 * nd_signature_fits and nd_recipe_fits, when a text is parsed and by nd_recipe_check.
 */
#include <inttypes.h>
#include <string.h>

#include <neardup/index.h>

#include "base/thread/pool.h"
#include "feature/feature_params.h"
#include "feature/featurer.h"
#include "feature/weigh.h"
#include "match/measure.h"
#include "match/rule.h"
#include "recipe/keep_policy.h"
#include "recipe/recipe_struct.h"
#include "sketch/sketcher.h"

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
    if ((unsigned)p->candidates > ND_CANDIDATES_MATCH || !nd_measure_row(p->verify) ||
        (unsigned)p->cluster > ND_CLUSTER_PAIRS || (unsigned)p->short_policy > ND_SHORT_TOKENS ||
        (unsigned)p->forms > ND_FORMS_DATES)
        return nd_fail(err, ND_EINVAL,
                       "candidates %u, verify %u, cluster %u, short %u, forms %u: one of these "
                       "values is unknown",
                       p->candidates, p->verify, p->cluster, p->short_policy, p->forms);
    return ND_OK;
}

/* Refuse what an engine cannot do though each value is in range. */
static enum nd_status check_fit(const struct nd_dedup_params *p, struct nd_error *err)
{
    if (p->candidates == ND_CANDIDATES_MATCH && (!p->method || p->method->n_signatures == 0))
        return nd_fail(err, ND_EINVAL,
                       "candidates 'match' needs a section [signature NAME] and a rule 'match'");
    if (p->candidates == ND_CANDIDATES_ALL && p->verify == ND_VERIFY_NONE)
        return nd_fail(err, ND_EINVAL,
                       "candidates 'all' without verification would remove everything");
    if ((p->cluster == ND_CLUSTER_COMPONENTS || p->cluster == ND_CLUSTER_COMPLETE) &&
        (p->verify == ND_VERIFY_CONTAINMENT || p->verify == ND_VERIFY_CONTAINMENT_OF_KEPT))
        return nd_fail(err, ND_EINVAL,
                       "cluster '%s' needs a measure that is the same in both directions: "
                       "'containment-either', not 'containment%s'",
                       p->cluster == ND_CLUSTER_COMPLETE ? "complete" : "components",
                       p->verify == ND_VERIFY_CONTAINMENT ? "" : "-of-kept");
    if (p->forms != ND_FORMS_NONE && p->cluster == ND_CLUSTER_COMPLETE)
        return nd_fail(err, ND_EINVAL,
                       "forms: with cluster 'complete' not all members of a cluster are compared");
    if (p->forms != ND_FORMS_NONE && p->candidates == ND_CANDIDATES_IDENTITY)
        return nd_fail(err, ND_EINVAL, "forms: equal documents differ in no words");
    return ND_OK;
}

static enum nd_status check_bands(const struct nd_dedup_params *p, struct nd_error *err)
{
    if (!p->bands != !p->rows)
        return nd_fail(err, ND_EINVAL,
                       "%s = %u, but %s = 0: give both, or neither to have them chosen",
                       p->bands ? "bands" : "rows", p->bands ? p->bands : p->rows,
                       p->bands ? "rows" : "bands");
    if (p->bands && p->rows > ND_MINHASH_COUNT / p->bands)
        return nd_fail(err, ND_EINVAL,
                       "bands = %u: with %u rows each, more than %d minima would be needed",
                       p->bands, p->rows, ND_MINHASH_COUNT);
    return ND_OK;
}

static enum nd_status check_numbers(const struct nd_dedup_params *p, struct nd_error *err)
{
    if (p->threshold.q == 0 || p->threshold.p == 0 || p->threshold.p > p->threshold.q)
        return nd_fail(err, ND_EINVAL, "threshold %u/%u: it must be above 0 and at most 1",
                       p->threshold.p, p->threshold.q);
    if (p->candidates == ND_CANDIDATES_MINHASH && !p->bands &&
        !(p->recall >= 0 && p->recall <= ND_RECALL_MAX))
        return nd_fail(err, ND_EINVAL, "recall = %g: must be from 0 to %g", p->recall,
                       ND_RECALL_MAX);
    if (p->candidates == ND_CANDIDATES_SIMHASH && p->simhash_bits > ND_SIMHASH_BITS_MAX)
        return nd_fail(err, ND_EINVAL, "simhash_bits = %u: must be from 0 to %u", p->simhash_bits,
                       ND_SIMHASH_BITS_MAX);
    if (p->max_checks == 0)
        return nd_fail(err, ND_EINVAL, "max_checks must be at least 1");
    if (p->threads > ND_POOL_THREADS_MAX)
        return nd_fail(err, ND_EINVAL, "threads = %u: must be at most %d", p->threads,
                       ND_POOL_THREADS_MAX);
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
        status = check_bands(p, err);
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

/* Check that the texts of a signature end in a NUL, which later checks rely on. */
static bool signature_has_ends(const struct nd_recipe_signature *s)
{
    return has_end(s->name, sizeof s->name) && has_end(s->df, sizeof s->df) &&
           has_end(s->template_df, sizeof s->template_df) &&
           has_end(s->weight.position_table, sizeof s->weight.position_table) &&
           !nd_feature_params_unended(&s->feature);
}

enum nd_status nd_method_check(const struct nd_method *method, struct nd_error *err)
{
    if (method->n_signatures > ND_RECIPE_SIGNATURES)
        return nd_fail(err, ND_EINVAL, "n_signatures = %u: must be at most %d",
                       method->n_signatures, ND_RECIPE_SIGNATURES);
    if (!has_end(method->match, sizeof method->match))
        return nd_fail(err, ND_EINVAL, "match: its text does not end in a NUL");
    for (unsigned i = 0; i < method->n_signatures; i++)
        if (!signature_has_ends(&method->signature[i]))
            return nd_fail(err, ND_EINVAL, "signature %u: one of its texts does not end in a NUL",
                           i);
    return ND_OK;
}

enum nd_status nd_recipe_has_ends(const struct nd_recipe *recipe, struct nd_error *err)
{
    if (!has_end(recipe->keep, sizeof recipe->keep))
        return nd_fail(err, ND_EINVAL, "keep: its text does not end in a NUL");
    return nd_method_check(&recipe->method, err);
}

enum nd_status nd_recipe_params_check(const struct nd_recipe *recipe, struct nd_error *err)
{
    enum nd_status status =
        recipe ? nd_recipe_has_ends(recipe, err) : nd_fail(err, ND_EINVAL, "the recipe is NULL");

    return status == ND_OK ? check_ranges(&recipe->dedup, err) : status;
}

const char *nd_dedup_measure(const struct nd_dedup_params *p)
{
    return nd_measure_row(p->verify)->name;
}

bool nd_dedup_takes_samples(const struct nd_dedup_params *p)
{
    return p->candidates == ND_CANDIDATES_MINHASH && p->bands == 0 &&
           p->verify != ND_VERIFY_JACCARD && p->verify != ND_VERIFY_NONE;
}

bool nd_dedup_measures_containment(const struct nd_dedup_params *p)
{
    return p->verify == ND_VERIFY_CONTAINMENT || p->verify == ND_VERIFY_CONTAINMENT_OF_KEPT ||
           p->verify == ND_VERIFY_CONTAINMENT_EITHER;
}

/* ---- What a signature needs a df table for, and the table that it is given ---------------------- */

/* Name what needs a df table of the signature's own features, for messages; NULL: nothing does. */
static const char *what_needs_counts(const struct nd_recipe_signature *s)
{
    return s->signature.kind == ND_SIGNATURE_IMATCH  ? "kind = imatch"
           : s->weight.idf != ND_IDF_NONE            ? "idf"
           : s->feature.select == ND_SELECT_RAREST   ? "select = rarest"
           : s->feature.select == ND_SELECT_UNCOMMON ? "select = uncommon"
                                                     : NULL;
}

/* Name what needs a df table at all: phrases and stop words always need one of terms. */
static const char *what_needs_df(const struct nd_recipe_signature *s)
{
    const char *what = what_needs_counts(s);

    return what                                             ? what
           : s->feature.phrases > 0                         ? "phrases"
           : nd_stop_words_are_by_df(s->feature.stop_words) ? "stop_words"
                                                            : NULL;
}

bool nd_signature_needs_df(const struct nd_recipe_signature *signature)
{
    return what_needs_df(signature) != NULL;
}

bool nd_signature_needs_template(const struct nd_recipe_signature *signature)
{
    return signature->feature.template_count > 0;
}

/* `wanted`: what the recipe states, 0: nothing. */
static enum nd_status check_version(const struct nd_recipe_signature *s, const char *path,
                                    const struct nd_df *table, uint64_t wanted,
                                    struct nd_error *err)
{
    uint64_t version = nd_df_fingerprint(table);

    if (wanted && wanted != version)
        return nd_fail(err, ND_EINVAL,
                       "signature %s: the df table %s has version 0x%" PRIx64
                       ", but the recipe needs 0x%" PRIx64
                       ": sketches made with different tables cannot be compared",
                       s->name, path, version, wanted);
    return ND_OK;
}

static enum nd_status check_table(const struct nd_recipe_signature *s, const struct nd_df *table,
                                  struct nd_error *err)
{
    struct nd_error reason;

    if (!table)
        return nd_fail(
            err, ND_EINVAL,
            "signature %s: %s needs a df table: make one of the input with --df auto=FILE or of "
            "other documents with neardup df build, or name an existing one with --df FILE",
            s->name, what_needs_df(s));
    if (check_version(s, s->df, table, s->df_version, err) != ND_OK)
        return err->status;
    if (nd_df_check(table, &s->feature, &reason) != ND_OK)
        return nd_fail(err, reason.status, "signature %s: %s: %s", s->name, s->df, reason.message);
    return ND_OK;
}

enum nd_status nd_signature_use_df(struct nd_recipe_signature *signature, const struct nd_df *table,
                                   struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (nd_signature_needs_df(signature))
        status = check_table(signature, table, err);
    if (status != ND_OK)
        return status;
    signature->table = table;
    signature->df_version = table ? nd_df_fingerprint(table) : 0;
    return ND_OK;
}

enum nd_status nd_signature_use_template(struct nd_recipe_signature *signature,
                                         const struct nd_df *table, struct nd_error *err)
{
    struct nd_feature_params with = signature->feature;
    struct nd_error reason;
    unsigned width;

    with.template_table = table;
    if (nd_signature_needs_template(signature)) {
        if (!table)
            return nd_fail(err, ND_EINVAL,
                           "signature %s: template_count needs a df table of shingles: make one "
                           "with neardup df build --features sketch, and name it in template_df",
                           signature->name);
        if (check_version(signature, signature->template_df, table, signature->template_df_version,
                          err) != ND_OK)
            return err->status;
        if (nd_template_check(&with, &width, &reason) != ND_OK)
            return nd_fail(err, reason.status, "signature %s: %s: %s", signature->name,
                           signature->template_df, reason.message);
    }
    signature->feature.template_table = table;
    signature->template_df_version = table ? nd_df_fingerprint(table) : 0;
    return ND_OK;
}

/* ---- Whether values that are each in range fit together; a message begins with the key ---------- */

/* The weights without the df table, which is not open yet. */
static enum nd_status check_weights(const struct nd_weight_params *params, struct nd_error *err)
{
    struct nd_weight_params without = *params;
    struct nd_weigher *weigher;

    without.idf = ND_IDF_NONE;
    weigher = nd_weigher_new(&without, NULL, false, err);
    if (!weigher)
        return err->status;
    nd_weigher_free(weigher);
    return ND_OK;
}

static enum nd_status check_fields(const struct nd_feature_params *params, struct nd_error *err)
{
    char names[ND_FEATURE_NAMES_MAX];
    size_t n;

    return nd_feature_field_names(params, names, &n, err);
}

/* A lexicon consists of what a df table counts; fields and links are not counted. */
static enum nd_status check_lexicon(const struct nd_recipe_signature *s, struct nd_error *err)
{
    if (s->signature.kind == ND_SIGNATURE_IMATCH && s->feature.unit == ND_FEATURE_NONE)
        return nd_fail(err, ND_EINVAL,
                       "unit = none, but kind = imatch needs a lexicon of the content");
    return ND_OK;
}

/* Winnowing slides a window over the text, and a profile counts: both need every occurrence. */
static enum nd_status check_count(const struct nd_recipe_signature *s, struct nd_error *err)
{
    bool is_counted =
        s->signature.kind == ND_SIGNATURE_WINNOWING || s->signature.kind == ND_SIGNATURE_PROFILE;

    if (is_counted && s->feature.count != ND_FEATURE_OCCURRENCES)
        return nd_fail(err, ND_EINVAL, "count = distinct, but kind = %s needs occurrences",
                       s->signature.kind == ND_SIGNATURE_PROFILE ? "profile" : "winnowing");
    return ND_OK;
}

/* A signature has one df table, which counts either terms or the signature's own features. */
static enum nd_status check_stop_words(const struct nd_recipe_signature *s, struct nd_error *err)
{
    const char *what = what_needs_counts(s);

    if (what && s->feature.unit != ND_FEATURE_TERMS &&
        nd_stop_words_are_by_df(s->feature.stop_words))
        return nd_fail(err, ND_EINVAL,
                       "stop_words = %s needs a df table of terms, but %s needs one of %s",
                       s->feature.stop_words, what, nd_unit_of(s->feature.unit)->word);
    return ND_OK;
}

enum nd_status nd_signature_fits(const struct nd_recipe_signature *s, struct nd_error *err)
{
    enum nd_status status = nd_signature_params_check(&s->signature, err);

    if (status == ND_OK)
        status = nd_feature_params_check(&s->feature, true, err);
    if (status == ND_OK)
        status = check_fields(&s->feature, err);
    if (status == ND_OK)
        status = check_weights(&s->weight, err);
    if (status == ND_OK)
        status = check_lexicon(s, err);
    if (status == ND_OK)
        status = check_stop_words(s, err);
    return status == ND_OK ? check_count(s, err) : status;
}

enum nd_status nd_recipe_fits(const struct nd_recipe *recipe, struct nd_error *err)
{
    enum nd_status status = check_bands(&recipe->dedup, err);
    struct nd_keep keep;
    struct nd_rule rule;

    if (status == ND_OK)
        status = nd_keep_parse(recipe->keep, &keep, err);
    if (status != ND_OK)
        return status;
    if (recipe->dedup.candidates != ND_CANDIDATES_MATCH)
        return ND_OK;
    if (!recipe->method.match[0])
        return nd_fail(err, ND_EINVAL,
                       "candidates = match needs the key 'match', which gives the rule");
    return nd_rule_parse(&rule, &recipe->method, err);
}
