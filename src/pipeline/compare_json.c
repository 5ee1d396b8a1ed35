/* compare_json.c - a comparison as a JSON object */
#include <neardup/uses.h>

#include "base/json_out.h"

#include <math.h>
#include <string.h>

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 1;
}

static void put_number(struct nd_json *out, const char *key, double value)
{
    nd_json_key(out, key);
    nd_json_double(out, value);
}

static void put_count(struct nd_json *out, const char *key, uint64_t value)
{
    nd_json_key(out, key);
    nd_json_uint(out, value);
}

static void put_flag(struct nd_json *out, const char *key, int value)
{
    nd_json_key(out, key);
    nd_json_bool(out, value != 0);
}

static void put_document(struct nd_json *out, const char *key, const struct nd_comparison *c,
                         unsigned i)
{
    nd_json_key(out, key);
    nd_json_open(out, '{');
    nd_json_key(out, "id");
    nd_json_text(out, c->id[i]);
    nd_json_key(out, "at");
    nd_json_text(out, c->at[i]);
    put_count(out, "bytes", c->bytes[i]);
    put_count(out, "tokens", c->tokens[i]);
    put_count(out, "terms", i ? c->terms.distinct.b : c->terms.distinct.a);
    put_count(out, "shingles", i ? c->shingles.b : c->shingles.a);
    nd_json_close(out, '}');
}

static void put_measures(struct nd_json *out, const struct nd_comparison *c)
{
    const struct nd_overlap *o = &c->shingles, *t = &c->terms.distinct;
    double resemblance = share(o->shared, o->a + o->b - o->shared);

    put_flag(out, "same_bytes", c->same_bytes);
    put_flag(out, "same_words", c->same_words);
    put_count(out, "shared_shingles", o->shared);
    put_number(out, "resemblance", resemblance);
    put_number(out, "resemblance_distance", 1 - resemblance);
    put_number(out, "containment_a", share(o->shared, o->a));
    put_number(out, "containment_b", share(o->shared, o->b));
    put_count(out, "hamming", c->hamming);
    put_count(out, "shared_terms", t->shared);
    put_number(out, "cosine",
               t->shared ? (double)t->shared / sqrt((double)t->a * (double)t->b) : 0);
    put_count(out, "inner", c->terms.inner);
    put_number(out, "cosine_tf",
               c->terms.inner ? (double)c->terms.inner /
                                    sqrt((double)c->terms.squares_a * (double)c->terms.squares_b)
                              : 0);
    put_flag(out, "conrad_schriber", c->conrad_schriber);
}

static void put_edits(struct nd_json *out, const struct nd_comparison *c)
{
    static const char *const kinds[] = {"keep", "replace", "remove", "insert"};

    nd_json_key(out, "edits");
    nd_json_open(out, '[');
    for (size_t i = 0; i < c->n_edits; i++) {
        nd_json_open(out, '{');
        nd_json_key(out, "kind");
        nd_json_text(out, kinds[c->edit[i].kind]);
        put_count(out, "a", c->edit[i].at_a);
        put_count(out, "b", c->edit[i].at_b);
        put_count(out, "tokens", c->edit[i].count);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

/* Tokens at … at + count of a document, and the bytes that they span. */
static void put_span(struct nd_json *out, const char *key, const struct nd_comparison *c,
                     unsigned i, size_t at, size_t count)
{
    const struct nd_token *first = &c->token[i][at], *last = &c->token[i][at + count - 1];

    nd_json_key(out, key);
    nd_json_open(out, '{');
    put_count(out, "token", at);
    put_count(out, "tokens", count);
    put_count(out, "offset", first->offset);
    put_count(out, "bytes", last->offset + last->len - first->offset);
    nd_json_close(out, '}');
}

static void put_passages(struct nd_json *out, const struct nd_comparison *c)
{
    put_count(out, "covered_a", c->covered[0]);
    put_count(out, "covered_b", c->covered[1]);
    nd_json_key(out, "passages");
    nd_json_open(out, '[');
    for (size_t i = 0; i < c->n_passages; i++) {
        const struct nd_passage *p = &c->passage[i];
        const struct nd_token *first = &c->token[1][p->at_b],
                              *last = &c->token[1][p->at_b + p->count_b - 1];

        nd_json_open(out, '{');
        put_span(out, "a", c, 0, p->at_a, p->count_a);
        put_span(out, "b", c, 1, p->at_b, p->count_b);
        put_count(out, "equal", p->equal);
        nd_json_key(out, "text");
        nd_json_string(out, (struct nd_view){c->text[1] + first->offset,
                                             last->offset + last->len - first->offset});
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
        nd_json_key(out, "term");
        nd_json_text(out, c->term[i].text);
        put_count(out, "a", c->term[i].in_a);
        put_count(out, "b", c->term[i].in_b);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static void put_weights(struct nd_json *out, const struct nd_comparison *c)
{
    double product = c->weights_squares[0] * c->weights_squares[1];

    nd_json_key(out, "signature");
    nd_json_text(out, c->signature);
    put_number(out, "cosine_weights", product > 0 ? c->weights_inner / sqrt(product) : 0);
    put_number(out, "inner_weights", c->weights_inner * c->weights_unit[0] * c->weights_unit[1]);
    nd_json_key(out, "weights");
    nd_json_open(out, '[');
    for (size_t i = 0; i < c->n_weights; i++) {
        nd_json_open(out, '{');
        nd_json_key(out, "feature");
        nd_json_text(out, c->weight[i].text);
        put_number(out, "a", (double)c->weight[i].in_a);
        put_number(out, "b", (double)c->weight[i].in_b);
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
            put_count(&out, "edit_limit", c->edit_limit);
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
    if (out.failed) {
        nd_json_release(&out);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    *text = out.text.data;
    *len = out.text.len;
    return ND_OK;
}
