/* comparison.c - two documents beside each other, by every measure */

/*
 * Measures two documents in every way that the library knows: sets of shingles, terms with and
 * without counts, weighted features, edit distance, simhash. Each measure is computed only if one
 * of the requested parts needs it (struct nd_compare_params: parts). The texts are tokenised once,
 * and the measures work on hashes of tokens.
 */
#include "evidence/pair_evidence.h"

#include <neardup/feature.h>
#include <neardup/sketch.h>
#include <neardup/text.h>
#include <neardup/uses.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "base/memory.h"
#include "evidence/name.h"
#include "evidence/rows.h"
#include "recipe/recipe_struct.h"

/* ---- The weighted features of both ----------------------------------------------------------- */

/* A feature of one of the documents. */
struct term_entry {
    uint64_t hash;
    size_t order; /* features of the first document sort before those of the second */
    int64_t weight[2];
    struct nd_view text;
};

static int by_hash(const void *left, const void *right)
{
    const struct term_entry *x = left, *y = right;

    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int64_t apart(const struct term_entry *x)
{
    int64_t d = x->weight[0] - x->weight[1];

    return d < 0 ? -d : d;
}

/* Order by difference, greatest first. */
static int by_difference(const void *left, const void *right)
{
    const struct term_entry *x = left, *y = right;

    if (apart(x) != apart(y))
        return apart(x) > apart(y) ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

struct featured {
    struct nd_featurer *featurer;
    struct nd_features features;
    char *text; /* one line for each feature */
    size_t len;
};

static enum nd_status make_features(const struct nd_recipe_signature *s,
                                    const struct nd_document *document, struct featured *out,
                                    struct nd_error *err)
{
    out->featurer = nd_featurer_new(&s->feature, &s->weight, s->table, err);
    if (!out->featurer)
        return err->status;
    if (nd_featurer_explain(out->featurer, document, &out->text, &out->len, &out->features) !=
        ND_OK)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static void list_entries(const struct featured *f, unsigned which, size_t before,
                         struct term_entry *entry)
{
    const char *at = f->text, *end = f->text + f->len;

    for (size_t i = 0; i < f->features.count; i++) {
        const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;

        stop = stop ? stop : end;
        entry[i] = (struct term_entry){.hash = f->features.items[i].hash,
                                       .order = before + i,
                                       .text = {at, (size_t)(stop - at)}};
        entry[i].weight[which] = f->features.items[i].weight;
        at = stop < end ? stop + 1 : end;
    }
}

/* Add up features with equal hashes, which are adjacent. Returns how many are left. */
static size_t add_equal(struct term_entry *entry, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept && entry[kept - 1].hash == entry[i].hash) {
            entry[kept - 1].weight[0] += entry[i].weight[0];
            entry[kept - 1].weight[1] += entry[i].weight[1];
        } else {
            entry[kept++] = entry[i];
        }
    }
    return kept;
}

static enum nd_status copy_entries(const struct term_entry *entry, size_t n,
                                   struct nd_comparison *out, struct nd_error *err)
{
    out->weight = calloc(n ? n : 1, sizeof *out->weight);
    for (size_t i = 0; out->weight && i < n; i++) {
        double a = (double)entry[i].weight[0], b = (double)entry[i].weight[1];
        char *text = malloc(entry[i].text.len + 1);

        if (!text)
            return nd_fail(err, ND_ENOMEM, "out of memory");
        memcpy(text, entry[i].text.data, entry[i].text.len);
        text[entry[i].text.len] = '\0';
        out->weight[out->n_weights++] =
            (struct nd_weight){text, entry[i].weight[0], entry[i].weight[1]};
        out->weights_inner += a * b;
        out->weights_squares[0] += a * a;
        out->weights_squares[1] += b * b;
    }
    return out->weight ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

/*
 * List the features of a signature in both documents, with their weights, greatest difference
 * first.
 */
static enum nd_status compare_weights(const struct nd_recipe_signature *signature,
                                      const struct nd_document *const document[2],
                                      struct nd_comparison *out, struct nd_error *err)
{
    struct featured f[2] = {{.featurer = NULL}, {.featurer = NULL}};
    enum nd_status status = ND_OK;
    struct term_entry *entry = NULL;
    size_t n;

    for (unsigned i = 0; status == ND_OK && i < 2; i++)
        status = make_features(signature, document[i], &f[i], err);
    n = f[0].features.count + f[1].features.count;
    if (status == ND_OK && !(entry = nd_alloc_array(n, sizeof *entry)))
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK) {
        list_entries(&f[0], 0, 0, entry);
        list_entries(&f[1], 1, f[0].features.count, entry + f[0].features.count);
        if (n)
            qsort(entry, n, sizeof *entry, by_hash);
        n = add_equal(entry, n);
        if (n)
            qsort(entry, n, sizeof *entry, by_difference);
        memcpy(out->signature, signature->name, sizeof out->signature);
        for (unsigned i = 0; i < 2; i++)
            out->weights_unit[i] = (double)f[i].features.unit / 4294967296.0 / ND_WEIGHT_ONE;
        status = copy_entries(entry, n, out, err);
    }
    for (unsigned i = 0; i < 2; i++) {
        free(f[i].text);
        nd_featurer_free(f[i].featurer);
    }
    free(entry);
    return status;
}

/* ---- All measures ---------------------------------------------------------------------------- */

/* How many cells of the edit-distance table to compute without --limit: about two seconds. */
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
    nd_terms_free(c->term, c->n_shared + c->n_only_a + c->n_only_b);
    for (size_t i = 0; i < c->n_weights; i++)
        free(c->weight[i].text);
    free(c->weight);
    free(c->edit);
    free(c->passage);
    for (unsigned i = 0; i < 2; i++) {
        nd_name_release(&c->name[i]);
        free(c->text[i]);
        free(c->token[i]);
    }
    *c = (struct nd_comparison){0};
}

/* The hashes of tokens. */
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

static bool same_before_repair(const struct nd_document *const document[2])
{
    return document[0]->text_replaced == document[1]->text_replaced;
}

static enum nd_status copy_texts(const struct nd_document *const document[2],
                                 struct nd_comparison *c, struct nd_error *err)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct nd_view text = document[i]->text;

        c->bytes[i] = text.len;
        c->text[i] = malloc(text.len + 1);
        if (!c->text[i])
            return nd_fail(err, ND_ENOMEM, "out of memory");
        memcpy(c->text[i], text.data, text.len);
        c->text[i][text.len] = '\0';
    }
    c->same_bytes = c->bytes[0] == c->bytes[1] &&
                    memcmp(c->text[0], c->text[1], c->bytes[0]) == 0 &&
                    same_before_repair(document);
    return ND_OK;
}

enum nd_status nd_compare_documents(const struct nd_recipe *recipe,
                                    const struct nd_compare_params *params,
                                    const struct nd_document *const document[2],
                                    struct nd_comparison *c, struct nd_error *err)
{
    struct nd_two_sketches both = {.distance = 0};
    struct nd_difference differs = {.by = ND_DIFFERS_NOTHING};
    enum nd_status status;

    *c = (struct nd_comparison){.parts = params->parts};
    status = copy_texts(document, c, err);
    for (unsigned i = 0; status == ND_OK && i < 2; i++)
        status = nd_text_tokens(c->text[i], c->bytes[i], &c->token[i], &c->tokens[i], err);
    if (status == ND_OK)
        status = nd_two_sketches(&recipe->dedup.sketch, document, &both, err);
    c->shingles = both.overlap;
    c->hamming = both.distance;
    if (status == ND_OK)
        status = compare_tokens(params, c, err);
    c->same_words = c->same_words && same_before_repair(document);
    if (status == ND_OK)
        status = nd_difference_of(document[0]->text, document[1]->text, &differs, err);
    c->differs_in = differs.by;
    if (status == ND_OK && params->parts & ND_COMPARE_TERMS)
        status = nd_two_terms(document, &c->term, &c->n_shared, &c->n_only_a, &c->n_only_b, err);
    if (status == ND_OK && params->parts & ND_COMPARE_WEIGHTS)
        status = compare_weights(&recipe->method.signature[0], document, c, err);
    return status;
}

enum nd_status nd_compare_check(const struct nd_recipe *recipe,
                                const struct nd_compare_params *params, struct nd_error *err)
{
    if (nd_recipe_params_check(recipe, err) != ND_OK)
        return ND_EINVAL;
    if (params->parts & ND_COMPARE_WEIGHTS && !recipe->method.n_signatures)
        return nd_fail(err, ND_EINVAL,
                       "weights need a recipe with a signature, such as seshasai-2009");
    return ND_OK;
}

/* ---- As JSON (docs/format/uses.md) ----------------------------------------------------------- */

static void put_document(struct nd_json *out, const char *key, const struct nd_comparison *c,
                         unsigned i)
{
    nd_json_key(out, key);
    nd_json_open(out, '{');
    nd_name_put(out, &c->name[i]);
    nd_json_put_uint(out, "bytes", c->bytes[i]);
    nd_json_put_uint(out, "tokens", c->tokens[i]);
    nd_json_put_uint(out, "terms", i ? c->terms.distinct.b : c->terms.distinct.a);
    nd_json_put_uint(out, "shingles", i ? c->shingles.b : c->shingles.a);
    nd_json_close(out, '}');
}

static void put_measures(struct nd_json *out, const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles, *t = &c->terms.distinct;
    double resemblance = nd_fraction(o->shared, o->a + o->b - o->shared);

    nd_json_put_bool(out, "same_bytes", c->same_bytes);
    nd_json_put_bool(out, "same_words", c->same_words);
    nd_json_put_text(out, "differs_in", nd_differs_name(c->differs_in));
    nd_json_put_uint(out, "shared_shingles", o->shared);
    nd_json_put_double(out, "resemblance", resemblance);
    nd_json_put_double(out, "resemblance_distance", 1 - resemblance);
    nd_json_put_double(out, "containment_a", nd_fraction(o->shared, o->a));
    nd_json_put_double(out, "containment_b", nd_fraction(o->shared, o->b));
    nd_json_put_uint(out, "hamming", c->hamming);
    nd_json_put_uint(out, "shared_terms", t->shared);
    nd_json_put_double(out, "cosine",
                       t->shared ? (double)t->shared / sqrt((double)t->a * (double)t->b) : 0);
    nd_json_put_uint(out, "inner", c->terms.inner);
    nd_json_put_double(out, "cosine_tf",
                       c->terms.inner ? (double)c->terms.inner / sqrt((double)c->terms.squares_a *
                                                                      (double)c->terms.squares_b)
                                      : 0);
    nd_json_put_bool(out, "conrad_schriber", c->conrad_schriber);
}

/* The bytes of a document that an edit covers: from its first token to its last; of an edit without
 * tokens there, none, at the next token or the end. */
static void put_bytes(struct nd_json *out, const char *offset_key, const char *bytes_key,
                      const struct nd_comparison *c, unsigned i, size_t at, size_t count)
{
    size_t offset = at < c->tokens[i] ? c->token[i][at].offset : c->bytes[i], bytes = 0;

    if (count)
        bytes = c->token[i][at + count - 1].offset + c->token[i][at + count - 1].len - offset;
    nd_json_put_uint(out, offset_key, offset);
    nd_json_put_uint(out, bytes_key, bytes);
}

static void put_edits(struct nd_json *out, const struct nd_comparison *c)
{
    static const char *const kinds[] = {"keep", "replace", "remove", "insert"};

    nd_json_key(out, "edits");
    nd_json_open(out, '[');
    for (size_t i = 0; i < c->n_edits; i++) {
        const struct nd_edit *e = &c->edit[i];

        nd_json_open(out, '{');
        nd_json_put_text(out, "kind", kinds[e->kind]);
        nd_json_put_uint(out, "a", e->at_a);
        nd_json_put_uint(out, "b", e->at_b);
        nd_json_put_uint(out, "tokens", e->count);
        put_bytes(out, "a_offset", "a_bytes", c, 0, e->at_a,
                  e->kind == ND_EDIT_INSERT ? 0 : e->count);
        put_bytes(out, "b_offset", "b_bytes", c, 1, e->at_b,
                  e->kind == ND_EDIT_REMOVE ? 0 : e->count);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

/* Tokens at to at + count of a document, and the bytes that they span. */
static void put_span(struct nd_json *out, const char *key, const struct nd_comparison *c,
                     unsigned i, size_t at, size_t count)
{
    const struct nd_token *first = &c->token[i][at], *last = &c->token[i][at + count - 1];

    nd_json_key(out, key);
    nd_json_open(out, '{');
    nd_json_put_uint(out, "token", at);
    nd_json_put_uint(out, "tokens", count);
    nd_json_put_uint(out, "offset", first->offset);
    nd_json_put_uint(out, "bytes", last->offset + last->len - first->offset);
    nd_json_close(out, '}');
}

static void put_passages(struct nd_json *out, const struct nd_comparison *c)
{
    nd_json_put_uint(out, "covered_a", c->covered[0]);
    nd_json_put_uint(out, "covered_b", c->covered[1]);
    nd_json_key(out, "passages");
    nd_json_open(out, '[');
    for (size_t i = 0; i < c->n_passages; i++) {
        const struct nd_passage *p = &c->passage[i];
        const struct nd_token *first = &c->token[1][p->at_b],
                              *last = &c->token[1][p->at_b + p->count_b - 1];

        nd_json_open(out, '{');
        put_span(out, "a", c, 0, p->at_a, p->count_a);
        put_span(out, "b", c, 1, p->at_b, p->count_b);
        nd_json_put_uint(out, "equal", p->equal);
        nd_json_put_string(
            out, "text",
            (struct nd_view){c->text[1] + first->offset, last->offset + last->len - first->offset});
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static void put_terms(struct nd_json *out, const struct nd_comparison *c)
{
    size_t n = c->n_shared + c->n_only_a + c->n_only_b;

    nd_json_key(out, "term_counts");
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        nd_json_open(out, '{');
        nd_json_put_text(out, "term", c->term[i].text);
        nd_json_put_uint(out, "a", c->term[i].in_a);
        nd_json_put_uint(out, "b", c->term[i].in_b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static void put_weights(struct nd_json *out, const struct nd_comparison *c)
{
    double product = c->weights_squares[0] * c->weights_squares[1];

    nd_json_put_text(out, "signature", c->signature);
    nd_json_put_double(out, "cosine_weights", product > 0 ? c->weights_inner / sqrt(product) : 0);
    nd_json_put_double(out, "inner_weights",
                       c->weights_inner * c->weights_unit[0] * c->weights_unit[1]);
    nd_json_key(out, "weights");
    nd_json_open(out, '[');
    for (size_t i = 0; i < c->n_weights; i++) {
        nd_json_open(out, '{');
        nd_json_put_text(out, "feature", c->weight[i].text);
        nd_json_put_double(out, "a", (double)c->weight[i].in_a);
        nd_json_put_double(out, "b", (double)c->weight[i].in_b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

enum nd_status nd_comparison_json(const struct nd_comparison *c, char **text, size_t *len,
                                  struct nd_error *err)
{
    struct nd_json out = {0};

    nd_json_open(&out, '{');
    put_document(&out, "a", c, 0);
    put_document(&out, "b", c, 1);
    put_measures(&out, c);
    if (c->parts & (ND_COMPARE_EDIT | ND_COMPARE_SCRIPT)) {
        nd_json_key(&out, "edit_distance");
        if (c->edit_distance == ND_EDIT_BEYOND) {
            nd_json_null(&out);
            nd_json_put_uint(&out, "edit_limit", c->edit_limit);
        } else {
            nd_json_uint(&out, c->edit_distance);
        }
    }
    if (c->parts & ND_COMPARE_SCRIPT)
        put_edits(&out, c);
    if (c->parts & ND_COMPARE_PASSAGES)
        put_passages(&out, c);
    if (c->parts & ND_COMPARE_TERMS)
        put_terms(&out, c);
    if (c->parts & ND_COMPARE_WEIGHTS)
        put_weights(&out, c);
    nd_json_close(&out, '}');
    nd_json_line(&out);
    return nd_json_take(&out, text, len, err);
}
