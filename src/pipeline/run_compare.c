/* run_compare.c - two documents beside each other, by every measure */
#include "pipeline/explain.h"
#include "pipeline/run_state.h"

#include <neardup/sketch.h>
#include <neardup/text.h>
#include <neardup/uses.h>

#include <stdlib.h>
#include <string.h>

/* Cells of the edit distance's table where nobody says how far to go: about two seconds. */
#define CELLS (UINT64_C(1) << 30)

struct nd_compare_params nd_compare_params_default(void)
{
    return (struct nd_compare_params){
        .parts = ND_COMPARE_EDIT,
        .costs = nd_edit_costs_default(),
        .passages = nd_passage_params_default(),
    };
}

void nd_comparison_release(struct nd_comparison *c)
{
    for (size_t i = 0; c->term && i < c->n_shared + c->n_only_a + c->n_only_b; i++)
        free(c->term[i].text);
    for (size_t i = 0; i < c->n_weights; i++)
        free(c->weight[i].text);
    free(c->term);
    free(c->weight);
    free(c->edit);
    free(c->passage);
    for (unsigned i = 0; i < 2; i++) {
        free(c->id[i]);
        free(c->at[i]);
        free(c->text[i]);
        free(c->token[i]);
    }
    *c = (struct nd_comparison){0};
}

static enum nd_status compare_shingles(const struct nd_sketch_params *params,
                                       struct nd_comparison *c, struct nd_error *err)
{
    struct nd_sketcher *sketcher[2] = {NULL, NULL};
    struct nd_sketch sketch[2] = {{0}, {0}};
    enum nd_status status = ND_OK;

    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        sketcher[i] = nd_sketcher_new(params, err);
        if (!sketcher[i])
            status = err->status;
        else if (nd_sketcher_run(sketcher[i], c->text[i], c->bytes[i], ND_SKETCH_SIMHASH,
                                 &sketch[i]) != ND_OK)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    if (status == ND_OK) {
        c->hamming = (unsigned)__builtin_popcountll(sketch[0].simhash ^ sketch[1].simhash);
        if (nd_shingles_overlap(sketch[0].shingle, sketch[0].n_shingles, sketch[1].shingle,
                                sketch[1].n_shingles, &c->shingles) != ND_OK)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    nd_sketcher_free(sketcher[0]);
    nd_sketcher_free(sketcher[1]);
    return status;
}

/* Tokens as hashes alone. */
static uint64_t *hashes_of(const struct nd_token *token, size_t n)
{
    uint64_t *hash = nd_alloc_array(n, sizeof *hash);

    for (size_t i = 0; hash && i < n; i++)
        hash[i] = token[i].hash;
    return hash;
}

static enum nd_status compare_edits(const struct nd_compare_params *params, const uint64_t *a,
                                    const uint64_t *b, struct nd_comparison *c,
                                    struct nd_error *err)
{
    c->edit_limit = params->limit;
    if (params->limit == 0)
        c->edit_limit = nd_edit_limit_for(c->tokens[0], c->tokens[1], &params->costs, CELLS);
    if (params->parts & ND_COMPARE_SCRIPT)
        return nd_edit_script(a, c->tokens[0], b, c->tokens[1], &params->costs, c->edit_limit,
                              &c->edit_distance, &c->edit, &c->n_edits, err);
    return nd_edit_distance(a, c->tokens[0], b, c->tokens[1], &params->costs, c->edit_limit,
                            &c->edit_distance, err);
}

static enum nd_status compare_passages(const struct nd_compare_params *params, const uint64_t *a,
                                       const uint64_t *b, struct nd_comparison *c,
                                       struct nd_error *err)
{
    enum nd_status status = nd_passages_find(a, c->tokens[0], b, c->tokens[1], &params->passages,
                                             &c->passage, &c->n_passages, err);

    for (unsigned i = 0; status == ND_OK && i < 2; i++) {
        c->covered[i] = nd_passages_cover(c->passage, c->n_passages, i);
        if (c->covered[i] == UINT64_MAX)
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    }
    return status;
}

static enum nd_status compare_tokens(const struct nd_compare_params *params,
                                     struct nd_comparison *c, struct nd_error *err)
{
    static const struct nd_ratio four_fifths = {4, 5};
    uint64_t *a = hashes_of(c->token[0], c->tokens[0]), *b = hashes_of(c->token[1], c->tokens[1]);
    enum nd_status status = a && b ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");

    if (status == ND_OK) {
        c->same_words = c->tokens[0] == c->tokens[1] && memcmp(a, b, c->tokens[0] * sizeof *a) == 0;
        status = nd_terms_compare(a, c->tokens[0], b, c->tokens[1], &c->terms, err);
        c->conrad_schriber = nd_conrad_schriber(&c->terms, four_fifths, four_fifths);
    }
    if (status == ND_OK && params->parts & (ND_COMPARE_EDIT | ND_COMPARE_SCRIPT))
        status = compare_edits(params, a, b, c, err);
    if (status == ND_OK && params->parts & ND_COMPARE_PASSAGES)
        status = compare_passages(params, a, b, c, err);
    free(a);
    free(b);
    return status;
}

static enum nd_status list_terms(struct nd_comparison *c, struct nd_error *err)
{
    struct nd_explanation e = {0};
    enum nd_status status = nd_explain_terms((struct nd_view){c->text[0], c->bytes[0]},
                                             (struct nd_view){c->text[1], c->bytes[1]}, &e, err);

    if (status != ND_OK) {
        nd_explanation_release(&e);
        return status;
    }
    c->term = e.terms;
    c->n_shared = e.n_shared;
    c->n_only_a = e.n_only_a;
    c->n_only_b = e.n_only_b;
    return ND_OK;
}

/* The text as it is, the names without what could steer a terminal. */
static enum nd_status take_over(const struct nd_held *held, struct nd_comparison *c,
                                struct nd_error *err)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct nd_json *text = &held[i].text, *id = &held[i].id, *at = &held[i].at;

        c->bytes[i] = text->text.len - 1;
        c->text[i] = malloc(text->text.len);
        c->id[i] = malloc(id->text.len);
        c->at[i] = malloc(at->text.len);
        if (!c->text[i] || !c->id[i] || !c->at[i])
            return nd_fail(err, ND_ENOMEM, "out of memory");
        memcpy(c->text[i], text->text.data, text->text.len);
        nd_name_show((struct nd_view){id->text.data, id->text.len - 1}, c->id[i], id->text.len);
        nd_name_show((struct nd_view){at->text.data, at->text.len - 1}, c->at[i], at->text.len);
    }
    c->same_bytes = c->bytes[0] == c->bytes[1] && memcmp(c->text[0], c->text[1], c->bytes[0]) == 0;
    return ND_OK;
}

static enum nd_status compare(const struct nd_recipe *recipe,
                              const struct nd_compare_params *params, const struct nd_held *held,
                              struct nd_comparison *c, struct nd_error *err)
{
    enum nd_status status = take_over(held, c, err);

    c->parts = params->parts;
    for (unsigned i = 0; status == ND_OK && i < 2; i++)
        status = nd_text_tokens(c->text[i], c->bytes[i], &c->token[i], &c->tokens[i], err);
    if (status == ND_OK)
        status = compare_shingles(&recipe->dedup.sketch, c, err);
    if (status == ND_OK)
        status = compare_tokens(params, c, err);
    if (status == ND_OK && params->parts & ND_COMPARE_TERMS)
        status = list_terms(c, err);
    if (status == ND_OK && params->parts & ND_COMPARE_WEIGHTS)
        status = nd_compare_weights(&recipe->method.signature[0], held, c, err);
    return status;
}

static enum nd_status check(const struct nd_run_options *options,
                            const struct nd_compare_params *params, struct nd_error *err)
{
    if (params->parts & ND_COMPARE_WEIGHTS && !options->recipe.method.n_signatures)
        return nd_fail(err, ND_EINVAL,
                       "weights are those of a recipe with a signature, such as seshasai-2009");
    return ND_OK;
}

enum nd_status nd_run_compare(const struct nd_run_options *options,
                              const struct nd_compare_params *params, const char *a, const char *b,
                              const struct nd_run_events *events, struct nd_comparison *out,
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
    *out = (struct nd_comparison){0};
    status = check(options, params, err);
    if (status != ND_OK)
        return status;
    if (params->parts & ND_COMPARE_WEIGHTS)
        status = nd_run_open_recipe(&run, err);
    own.input = run.input;
    own.input.fields = run.fields;
    if (status == ND_OK)
        status = nd_explain_find_both(&own, names, held, events, err);
    if (status == ND_OK)
        status = compare(&run.recipe, params, held, out, err);
    if (status != ND_OK)
        nd_comparison_release(out);
    for (unsigned i = 0; i < 2; i++) {
        nd_json_release(&held[i].text);
        nd_json_release(&held[i].id);
        nd_json_release(&held[i].at);
        nd_arena_release(&held[i].arena);
    }
    nd_run_close_recipe(&run);
    return nd_run_status(status, err);
}
