/* explanation.c - two documents beside each other, and the verdict */

/*
 * The verdict must be the one that dedup would give, so it is not computed here: an engine with the
 * run's recipe gets both documents, and its decision is reported. What the documents have in common
 * is measured separately, because the engine stops as soon as it can decide. If the engine does not
 * find the pair, a second engine that compares all pairs tells whether the candidates missed it.
 */
#include "engine/document/equal.h"
#include "engine/document/matching.h"
#include "engine/engine.h"
#include "evidence/name.h"
#include "evidence/pair_evidence.h"
#include "evidence/rows.h"
#include "recipe/recipe_struct.h"

#include <neardup/index.h>
#include <neardup/sketch.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nd_explanation_release(struct nd_explanation *e)
{
    nd_terms_free(e->terms, e->n_shared + e->n_only_a + e->n_only_b);
    for (unsigned i = 0; i < 2; i++)
        nd_name_release(&e->name[i]);
    *e = (struct nd_explanation){0};
}

/* Decide about the second document as a run of these two would. */
static enum nd_status decide(const struct nd_dedup_params *params,
                             const struct nd_document *const document[2],
                             struct nd_decision *decision, struct nd_dedup_stats *stats,
                             struct nd_error *err)
{
    struct nd_dedup_params own = *params;
    const struct nd_dedup_item items[2] = {{.text = document[0]->text, .document = document[0]},
                                           {.text = document[1]->text, .document = document[1]}};
    struct nd_decision decisions[2] = {{0}, {0}};
    struct nd_dedup *dedup;
    enum nd_status status;

    own.threads = 1;
    own.cluster = ND_CLUSTER_STAR; /* with only two documents, both kinds of cluster agree */
    dedup = nd_dedup_new_with(&own, NULL, err);
    if (!dedup)
        return err->status;
    status = nd_dedup_push(dedup, items, 2, decisions, err);
    *decision = decisions[1];
    nd_dedup_get_stats(dedup, stats);
    nd_dedup_free(dedup);
    return status;
}

static const char *measure_name(enum nd_verify verify)
{
    static const char *const names[] = {
        "resemblance", "containment of B in A", "cosine",
        "resemblance", "containment of A in B", "containment of the smaller in the larger"};

    return names[verify];
}

/* Say why the documents are not duplicates.  `would_be`: comparing all pairs would have found them;
 * `is_near`: they match, but for the words in which they differ. */
static void say_why_not(const struct nd_dedup_params *p, struct nd_explanation *e, bool would_be,
                        bool is_near)
{
    size_t room = sizeof e->why;
    const char *measure = measure_name(p->verify);

    if (nd_forms_apart(p->forms, e->differs_in) && is_near)
        snprintf(e->why, room, "they are one form filled in differently: only %s differ",
                 nd_differs_name(e->differs_in));
    else if (p->candidates == ND_CANDIDATES_MATCH && nd_method_ignores_text(p->method))
        snprintf(e->why, room, "their signatures do not match: %s", p->method->match);
    else if (e->is_short[0] || e->is_short[1])
        snprintf(e->why, room,
                 "%s shorter than a shingle (%u), and such a document is removed only where %s",
                 e->is_short[0] && e->is_short[1] ? "both are" : "one is", p->sketch.w,
                 p->short_policy == ND_SHORT_KEEP     ? "nothing is: --short keep"
                 : p->short_policy == ND_SHORT_TOKENS ? "its tokens are equal"
                                                      : "its bytes are equal");
    else if (p->candidates == ND_CANDIDATES_IDENTITY)
        snprintf(e->why, room, "neither their bytes nor their tokens are equal");
    else if (p->candidates == ND_CANDIDATES_MATCH && (would_be || p->verify == ND_VERIFY_NONE))
        snprintf(e->why, room, "their signatures do not match: %s", p->method->match);
    else if (would_be)
        snprintf(e->why, room,
                 "the %s reaches %" PRIu32 "/%" PRIu32 ", but their sketches do not match", measure,
                 p->threshold.p, p->threshold.q);
    else
        snprintf(e->why, room, "the %s is below %" PRIu32 "/%" PRIu32, measure, p->threshold.p,
                 p->threshold.q);
}

static void say_why(const struct nd_dedup_params *p, struct nd_explanation *e,
                    const struct nd_decision *d)
{
    if (d->identical == ND_IDENTICAL_BYTES)
        snprintf(e->why, sizeof e->why, "their bytes are equal");
    else if (d->identical == ND_IDENTICAL_TOKENS)
        snprintf(e->why, sizeof e->why, "their tokens are equal");
    else if (!d->verified && p->candidates == ND_CANDIDATES_MATCH)
        snprintf(e->why, sizeof e->why, "their signatures match, and nothing is verified: %s",
                 p->method->match);
    else if (!d->verified)
        snprintf(e->why, sizeof e->why, "their sketches match, and nothing is verified");
    else
        snprintf(e->why, sizeof e->why, "the %s reaches %" PRIu32 "/%" PRIu32,
                 measure_name(p->verify), p->threshold.p, p->threshold.q);
}

static enum nd_status judge(const struct nd_dedup_params *params,
                            const struct nd_document *const document[2], struct nd_explanation *e,
                            struct nd_error *err)
{
    struct nd_dedup_params all = *params, as_words = *params;
    struct nd_decision decision = {0}, without_forms = {.kept = 1};
    struct nd_dedup_stats stats = {0};
    enum nd_status status = decide(params, document, &decision, &stats, err);

    if (status != ND_OK)
        return status;
    e->is_duplicate = decision.kept == 0;
    e->bands = stats.bands;
    e->rows = stats.rows;
    e->band_chance = -1;
    if (stats.bands && e->overlap.a + e->overlap.b > e->overlap.shared)
        e->band_chance = nd_bands_recall(
            (double)e->overlap.shared / (double)(e->overlap.a + e->overlap.b - e->overlap.shared),
            stats.bands, stats.rows);
    if (e->is_duplicate) {
        say_why(params, e, &decision);
        return ND_OK;
    }
    all.candidates = ND_CANDIDATES_ALL;
    if (all.verify == ND_VERIFY_NONE)
        all.verify = ND_VERIFY_JACCARD;
    status = decide(&all, document, &decision, &stats, err);
    if (status == ND_OK && params->forms != ND_FORMS_NONE) {
        as_words.forms = ND_FORMS_NONE;
        status = decide(&as_words, document, &without_forms, &stats, err);
    }
    if (status == ND_OK)
        say_why_not(params, e, decision.kept == 0,
                    params->forms != ND_FORMS_NONE && without_forms.kept == 0);
    return status;
}

/* Compare the signatures. A rejected signature has nothing in common with any: a = b = 0. */
static enum nd_status sign_both(const struct nd_method *method,
                                const struct nd_document *const document[2],
                                struct nd_explanation *e, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (; status == ND_OK && e->n_signatures < method->n_signatures; e->n_signatures++) {
        const struct nd_recipe_signature *s = &method->signature[e->n_signatures];
        struct nd_document_signer *signer[2] = {NULL, NULL};
        struct nd_signature x[2] = {0};

        for (unsigned i = 0; status == ND_OK && i < 2; i++) {
            signer[i] = nd_document_signer_of(s, err);
            status = !signer[i] ? err->status
                                : nd_document_signer_run(signer[i], document[i], &x[i], NULL);
            if (status != ND_OK && signer[i])
                nd_fail(err, status, "out of memory");
        }
        memcpy(e->signature[e->n_signatures].name, s->name, sizeof s->name);
        if (status == ND_OK && !x[0].is_rejected && !x[1].is_rejected)
            e->signature[e->n_signatures].agreement =
                nd_signature_compare(&s->signature, &x[0], &x[1]);
        nd_document_signer_free(signer[0]);
        nd_document_signer_free(signer[1]);
    }
    return status;
}

/* Measure what both documents have in common, whatever the verdict. */
static enum nd_status measure_both(const struct nd_dedup_params *params,
                                   const struct nd_document *const document[2],
                                   struct nd_explanation *e, struct nd_error *err)
{
    struct nd_two_sketches both = {.distance = 0};
    struct nd_difference differs = {.by = ND_DIFFERS_NOTHING};
    enum nd_status status = nd_two_sketches(&params->sketch, document, &both, err);

    for (unsigned i = 0; i < 2; i++) {
        e->bytes[i] = document[i]->text.len;
        e->tokens[i] = both.tokens[i];
        e->is_short[i] = both.tokens[i] < params->sketch.w;
    }
    e->overlap = both.overlap;
    e->distance = both.distance;
    e->equal_minima = both.equal_minima;
    if (status == ND_OK)
        status = nd_texts_identical(&params->sketch, document[0], document[1], &e->identical, err);
    if (status == ND_OK)
        status = nd_difference_of(document[0]->text, document[1]->text, &differs, err);
    e->differs_in = differs.by;
    if (status == ND_OK)
        status = nd_two_terms(document, &e->terms, &e->n_shared, &e->n_only_a, &e->n_only_b, err);
    return status;
}

enum nd_status nd_explain_documents(const struct nd_recipe *recipe,
                                    const struct nd_document *const document[2],
                                    struct nd_explanation *e, struct nd_error *err)
{
    const struct nd_dedup_params params = nd_recipe_dedup_params(recipe);
    enum nd_status status;

    *e = (struct nd_explanation){0};
    status = measure_both(&params, document, e, err);
    if (status == ND_OK && recipe->method.n_signatures)
        status = sign_both(&recipe->method, document, e, err);
    return status == ND_OK ? judge(&params, document, e, err) : status;
}

/* ---- As JSON (docs/format/uses.md) ----------------------------------------------------------- */

static void put_document(struct nd_json *out, const struct nd_explanation *e, unsigned i)
{
    nd_json_key(out, i ? "b" : "a");
    nd_json_open(out, '{');
    nd_name_put(out, &e->name[i]);
    nd_json_put_uint(out, "bytes", e->bytes[i]);
    nd_json_put_uint(out, "tokens", e->tokens[i]);
    nd_json_put_uint(out, "shingles", i ? e->overlap.b : e->overlap.a);
    nd_json_put_bool(out, "short", e->is_short[i]);
    nd_json_close(out, '}');
}

static void put_measures(struct nd_json *out, const struct nd_explanation *e)
{
    static const char *const identical[] = {"no", "bytes", "tokens"};
    const struct nd_overlap *o = &e->overlap;

    nd_json_put_text(out, "identical", identical[e->identical]);
    nd_json_put_text(out, "differs_in", nd_differs_name(e->differs_in));
    nd_json_put_double(out, "resemblance", nd_fraction(o->shared, o->a + o->b - o->shared));
    nd_json_put_uint(out, "shared", o->shared);
    nd_json_put_double(out, "containment_of_a", nd_fraction(o->shared, o->a));
    nd_json_put_double(out, "containment_of_b", nd_fraction(o->shared, o->b));
    nd_json_put_uint(out, "distance", e->distance);
    nd_json_put_uint(out, "equal_minima", e->equal_minima);
    if (e->band_chance >= 0) {
        nd_json_put_uint(out, "bands", e->bands);
        nd_json_put_uint(out, "rows", e->rows);
        nd_json_put_double(out, "chance", e->band_chance);
    }
}

static void put_signatures(struct nd_json *out, const struct nd_explanation *e)
{
    if (!e->n_signatures)
        return;
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < e->n_signatures; i++) {
        nd_json_key(out, e->signature[i].name);
        nd_json_open(out, '{');
        nd_json_put_uint(out, "shared", e->signature[i].agreement.shared);
        nd_json_put_uint(out, "a", e->signature[i].agreement.a);
        nd_json_put_uint(out, "b", e->signature[i].agreement.b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, '}');
}

static void put_terms(struct nd_json *out, const char *key, const struct nd_term *term, size_t n)
{
    nd_json_key(out, key);
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++)
        nd_json_text(out, term[i].text);
    nd_json_close(out, ']');
}

static void put_explanation(struct nd_json *out, const struct nd_explanation *e)
{
    put_document(out, e, 0);
    put_document(out, e, 1);
    put_measures(out, e);
    put_signatures(out, e);
    nd_json_put_bool(out, "duplicates", e->is_duplicate);
    nd_json_put_text(out, "why", e->why);
    put_terms(out, "terms_in_both", e->terms, e->n_shared);
    put_terms(out, "terms_only_in_a", e->terms + e->n_shared, e->n_only_a);
    put_terms(out, "terms_only_in_b", e->terms + e->n_shared + e->n_only_a, e->n_only_b);
}

enum nd_status nd_explanation_json(const struct nd_explanation *e, char **text, size_t *len,
                                   struct nd_error *err)
{
    struct nd_json out = {0};

    nd_json_open(&out, '{');
    put_explanation(&out, e);
    nd_json_close(&out, '}');
    nd_json_line(&out);
    return nd_json_take(&out, text, len, err);
}

enum nd_status nd_explained_row_json(const struct nd_explained_row *row, char **text, size_t *len,
                                     struct nd_error *err)
{
    struct nd_json out = {0};

    nd_json_open(&out, '{');
    nd_json_put_uint(&out, "row", row->number);
    nd_json_key(&out, "row_resemblance");
    row->resemblance < 0 ? nd_json_null(&out) : nd_json_double(&out, row->resemblance);
    if (row->explanation) {
        nd_json_put_bool(&out, "changed", row->has_changed);
        put_explanation(&out, row->explanation);
    } else {
        nd_json_put_text(&out, "kept_at", row->kept_at);
        nd_json_put_text(&out, "removed_at", row->removed_at);
        nd_json_put_text(&out, "missing", row->missing);
    }
    nd_json_close(&out, '}');
    nd_json_line(&out);
    return nd_json_take(&out, text, len, err);
}
