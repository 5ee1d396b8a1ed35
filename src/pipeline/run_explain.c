/* run_explain.c - two documents beside each other, and the verdict */
#define _GNU_SOURCE
#include "engine/matching.h"
#include "pipeline/explain.h"
#include "pipeline/run_state.h"
#include "pipeline/signers.h"

#include <neardup/index.h>
#include <neardup/sketch.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nd_explanation_release(struct nd_explanation *e)
{
    for (size_t i = 0; e->terms && i < e->n_shared + e->n_only_a + e->n_only_b; i++)
        free(e->terms[i].text);
    free(e->terms);
    for (unsigned i = 0; i < 2; i++) {
        free(e->id[i]);
        free(e->at[i]);
    }
    *e = (struct nd_explanation){0};
}

static struct nd_view text_of(const struct nd_held *held)
{
    return (struct nd_view){held->text.text.data, held->text.text.len - 1};
}

static enum nd_status sketch_both(const struct nd_sketch_params *params, const struct nd_held *held,
                                  struct nd_explanation *out, struct nd_error *err)
{
    struct nd_sketcher *sketcher[2] = {NULL, NULL};
    struct nd_sketch sketch[2] = {{0}, {0}};
    enum nd_status status = ND_OK;

    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        sketcher[i] = nd_sketcher_new(params, err);
        if (!sketcher[i])
            status = err->status;
        else if (nd_sketcher_run(sketcher[i], text_of(&held[i]).data, text_of(&held[i]).len,
                                 ND_SKETCH_ALL, &sketch[i]) != ND_OK)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
        else {
            out->bytes[i] = text_of(&held[i]).len;
            out->tokens[i] = sketch[i].n_tokens;
            out->is_short[i] = sketch[i].n_tokens < params->w;
        }
    }
    if (status == ND_OK) {
        status = nd_shingles_overlap(sketch[0].shingle, sketch[0].n_shingles, sketch[1].shingle,
                                     sketch[1].n_shingles, &out->overlap);
        out->distance = (unsigned)__builtin_popcountll(sketch[0].simhash ^ sketch[1].simhash);
        out->equal_minima = nd_minhash_equal(sketch[0].minhash, sketch[1].minhash);
    }
    nd_sketcher_free(sketcher[0]);
    nd_sketcher_free(sketcher[1]);
    return status;
}

/* What a run of these two documents would decide about the second. */
static enum nd_status decide(const struct nd_dedup_params *params, const struct nd_held *held,
                             struct nd_decision *decision, struct nd_dedup_stats *stats,
                             struct nd_error *err)
{
    struct nd_dedup_params own = *params;
    const struct nd_dedup_item items[2] = {{text_of(&held[0]), 0, &held[0].document},
                                           {text_of(&held[1]), 0, &held[1].document}};
    struct nd_decision decisions[2] = {{0}, {0}};
    struct nd_dedup *dedup;
    enum nd_status status;

    own.threads = 1;
    own.cluster = ND_CLUSTER_STAR; /* of two documents the two kinds are the same */
    dedup = nd_dedup_new(&own, NULL, err);
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
    static const char *const names[] = {"resemblance", "containment", "cosine", "resemblance"};

    return names[verify];
}

/* Why they are no duplicates: `would_be`: comparing all with all would have found them. */
static void say_why_not(const struct nd_dedup_params *p, struct nd_explanation *e, bool would_be)
{
    size_t room = sizeof e->why;
    const char *measure = measure_name(p->verify);

    if (p->candidates == ND_CANDIDATES_MATCH && nd_method_ignores_text(p->method))
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
                 "the %s reaches %" PRIu32 "/%" PRIu32 ", but their sketches do not meet", measure,
                 p->threshold.p, p->threshold.q);
    else
        snprintf(e->why, room, "the %s is below %" PRIu32 "/%" PRIu32, measure, p->threshold.p,
                 p->threshold.q);
}

static void say_why(const struct nd_dedup_params *p, struct nd_explanation *e, bool verified)
{
    if (e->identical == ND_IDENTICAL_BYTES)
        snprintf(e->why, sizeof e->why, "their bytes are equal");
    else if (e->identical == ND_IDENTICAL_TOKENS)
        snprintf(e->why, sizeof e->why, "their tokens are equal");
    else if (!verified && p->candidates == ND_CANDIDATES_MATCH)
        snprintf(e->why, sizeof e->why, "their signatures match, and nothing is verified: %s",
                 p->method->match);
    else if (!verified)
        snprintf(e->why, sizeof e->why, "their sketches meet, and nothing is verified");
    else
        snprintf(e->why, sizeof e->why, "the %s reaches %" PRIu32 "/%" PRIu32,
                 measure_name(p->verify), p->threshold.p, p->threshold.q);
}

static enum nd_status judge(const struct nd_dedup_params *params, const struct nd_held *held,
                            struct nd_explanation *e, struct nd_error *err)
{
    struct nd_dedup_params all = *params;
    struct nd_decision decision = {0};
    struct nd_dedup_stats stats = {0};
    enum nd_status status = decide(params, held, &decision, &stats, err);

    if (status != ND_OK)
        return status;
    e->is_duplicate = decision.kept == 0;
    e->identical = decision.identical;
    e->bands = stats.bands;
    e->rows = stats.rows;
    e->band_chance = -1;
    if (stats.bands && e->overlap.a + e->overlap.b > e->overlap.shared)
        e->band_chance = nd_bands_recall(
            (double)e->overlap.shared / (double)(e->overlap.a + e->overlap.b - e->overlap.shared),
            stats.bands, stats.rows);
    if (e->is_duplicate) {
        say_why(params, e, decision.verified);
        return ND_OK;
    }
    all.candidates = ND_CANDIDATES_ALL;
    if (all.verify == ND_VERIFY_NONE)
        all.verify = ND_VERIFY_JACCARD;
    status = decide(&all, held, &decision, &stats, err);
    if (status == ND_OK)
        say_why_not(params, e, decision.kept == 0);
    return status;
}

/* A copy for people of a zero-terminated text.  NULL: out of memory. */
static char *shown(const struct nd_json *text)
{
    char *copy = malloc(text->text.len);

    if (copy)
        nd_name_show((struct nd_view){text->text.data, text->text.len - 1}, copy, text->text.len);
    return copy;
}

/* What the signatures have in common; rejected ones nothing, and a = b = 0. */
static enum nd_status sign_both(const struct nd_method *method, const struct nd_held *held,
                                struct nd_explanation *e, struct nd_error *err)
{
    struct nd_signers signers[2] = {{0}, {0}};
    enum nd_status status = nd_signers_init(&signers[0], method, err);

    if (status == ND_OK)
        status = nd_signers_init(&signers[1], method, err);
    for (unsigned i = 0; status == ND_OK && i < method->n_signatures; i++) {
        struct nd_signature x[2];

        status = nd_signers_run(&signers[0], i, &held[0].document, &x[0]);
        if (status == ND_OK)
            status = nd_signers_run(&signers[1], i, &held[1].document, &x[1]);
        if (status != ND_OK)
            break;
        memcpy(e->signature[i].name, method->signature[i].name, sizeof e->signature[i].name);
        if (!x[0].is_rejected && !x[1].is_rejected)
            e->signature[i].agreement =
                nd_signature_compare(&method->signature[i].signature, &x[0], &x[1]);
        e->n_signatures = i + 1;
    }
    nd_signers_release(&signers[0]);
    nd_signers_release(&signers[1]);
    return status;
}

static enum nd_status explain(const struct nd_recipe *recipe, struct nd_held *held,
                              struct nd_explanation *e, struct nd_error *err)
{
    const struct nd_dedup_params params = nd_run_dedup_params(recipe);
    enum nd_status status = sketch_both(&params.sketch, held, e, err);

    if (status == ND_OK && recipe->method.n_signatures)
        status = sign_both(&recipe->method, held, e, err);
    if (status == ND_OK)
        status = judge(&params, held, e, err);
    if (status == ND_OK)
        status = nd_explain_terms(text_of(&held[0]), text_of(&held[1]), e, err);
    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        e->id[i] = shown(&held[i].id);
        e->at[i] = shown(&held[i].at);
        if (!e->id[i] || !e->at[i])
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return status;
}

enum nd_status nd_run_explain(const struct nd_run_options *options, const char *a, const char *b,
                              const struct nd_run_events *events, struct nd_explanation *out,
                              struct nd_error *err)
{
    const char *const names[2] = {a, b};
    struct nd_held held[2] = {{0}, {0}};
    struct nd_run_options own = *options;
    struct nd_error room = {0};
    struct nd_run run = {.recipe = options->recipe, .input = options->input};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *out = (struct nd_explanation){0};
    status = nd_run_open_recipe(&run, err);
    own.input = run.input;
    own.input.fields = run.fields;
    if (status == ND_OK)
        status = nd_explain_find_both(&own, names, held, events, err);
    if (status == ND_OK)
        status = explain(&run.recipe, held, out, err);
    if (status != ND_OK)
        nd_explanation_release(out);
    for (unsigned i = 0; i < 2; i++) {
        nd_json_release(&held[i].text);
        nd_json_release(&held[i].id);
        nd_json_release(&held[i].at);
        nd_arena_release(&held[i].arena);
    }
    nd_run_close_recipe(&run);
    return nd_run_status(status, err);
}
