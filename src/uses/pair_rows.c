/* pair_rows.c - a pair as a line of TSV or of JSON */
#include "uses/pair_rows.h"

#include "base/number/number.h"
#include "evidence/rows.h"

#include <string.h>

static void put(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

static void put_number(struct nd_json *out, const char *before, uint64_t number)
{
    put(out, before);
    out->after_value = false;
    nd_json_uint(out, number);
    out->after_value = false;
}

static void put_share_text(struct nd_json *out, uint64_t part, uint64_t whole)
{
    char number[32];

    put(out, "\t");
    nd_json_bytes(out, number, (size_t)nd_double_text(nd_fraction(part, whole), number));
}

/* Resemblance, shared shingles and union; empty fields if the texts were not compared. */
static void put_overlap(struct nd_json *out, const struct nd_pair_line *row)
{
    const struct nd_overlap *o = &row->pair->overlap;
    char number[32];

    if (!row->is_verified) {
        put(out, "\t\t");
        return;
    }
    nd_json_bytes(out, number, (size_t)nd_double_text(nd_overlap_resemblance(o), number));
    put_number(out, "\t", o->shared);
    put_number(out, "\t", o->a + o->b - o->shared);
    if (row->shows_containment) {
        put_share_text(out, o->shared, o->b);
        put_share_text(out, o->shared, o->a);
    }
}

static void put_columns(struct nd_json *out, const struct nd_pair_line *row)
{
    const struct nd_pair_numbers *x = &row->number;

    if (row->columns & ND_PAIR_TERMS) {
        put_number(out, "\t", x->terms);
        put_number(out, "\t", x->shared_terms);
    }
    if (row->columns & ND_PAIR_LENGTHS) {
        put_number(out, "\t", x->tokens_a);
        put_number(out, "\t", x->tokens_b);
    }
    if (row->columns & ND_PAIR_EDIT) {
        if (x->edit == ND_EDIT_BEYOND)
            put(out, "\t");
        else
            put_number(out, "\t", x->edit);
    }
}

void nd_pair_head_tsv(struct nd_json *out, const struct nd_pair_line *row)
{
    put(out, "a\tb\tresemblance\tshared\tunion");
    if (row->is_verified && row->shows_containment)
        put(out, "\tcontainment_a\tcontainment_b");
    for (unsigned i = 0; i < row->method->n_signatures; i++) {
        put(out, "\t");
        put(out, row->method->signature[i].name);
    }
    put(out, row->site ? "\tsite" : "");
    put(out, row->shows_match ? "\tmatch" : "");
    put(out, row->columns & ND_PAIR_TERMS ? "\tterms\tshared_terms" : "");
    put(out, row->columns & ND_PAIR_LENGTHS ? "\ttokens_a\ttokens_b" : "");
    put(out, row->columns & ND_PAIR_EDIT ? "\tedit" : "");
    put(out, "\n");
}

void nd_pair_line_tsv(struct nd_json *out, const struct nd_pair_line *row)
{
    nd_name_tsv(out, &row->earlier);
    put(out, "\t");
    nd_name_tsv(out, &row->later);
    put(out, "\t");
    put_overlap(out, row);
    for (unsigned i = 0; i < row->method->n_signatures; i++) {
        const struct nd_agreement *agreement = &row->pair->agreement[i];

        put_number(out, "\t", agreement->shared);
        put_number(out, ":", agreement->b);
        put_number(out, ":", agreement->a);
    }
    if (row->site) {
        put(out, "\t");
        put(out, row->site);
    }
    if (row->shows_match)
        put(out, row->is_match ? "\tmatch" : "\tnear-miss");
    put_columns(out, row);
    put(out, "\n");
}

static void put_measures(struct nd_json *out, const struct nd_overlap *o)
{
    nd_json_put_double(out, "resemblance", nd_overlap_resemblance(o));
    nd_json_put_uint(out, "shared", o->shared);
    nd_json_put_uint(out, "shingles_a", o->b);
    nd_json_put_uint(out, "shingles_b", o->a);
    nd_json_put_double(out, "containment_a", nd_fraction(o->shared, o->b));
    nd_json_put_double(out, "containment_b", nd_fraction(o->shared, o->a));
}

static void put_agreements(struct nd_json *out, const struct nd_method *method,
                           const struct nd_agreement *agreement)
{
    nd_json_key(out, "signatures");
    nd_json_open(out, '{');
    for (unsigned i = 0; i < method->n_signatures; i++) {
        nd_json_key(out, method->signature[i].name);
        nd_json_open(out, '{');
        nd_json_put_uint(out, "shared", agreement[i].shared);
        nd_json_put_uint(out, "a", agreement[i].b);
        nd_json_put_uint(out, "b", agreement[i].a);
        nd_json_close(out, '}');
    }
    nd_json_close(out, '}');
}

static void put_columns_json(struct nd_json *out, const struct nd_pair_line *row)
{
    const struct nd_pair_numbers *x = &row->number;

    if (row->columns & ND_PAIR_TERMS) {
        nd_json_put_uint(out, "terms", x->terms);
        nd_json_put_uint(out, "shared_terms", x->shared_terms);
    }
    if (row->columns & ND_PAIR_LENGTHS) {
        nd_json_put_uint(out, "tokens_a", x->tokens_a);
        nd_json_put_uint(out, "tokens_b", x->tokens_b);
    }
    if (row->columns & ND_PAIR_EDIT) {
        nd_json_key(out, "edit");
        x->edit == ND_EDIT_BEYOND ? nd_json_null(out) : nd_json_uint(out, x->edit);
    }
}

void nd_pair_line_json(struct nd_json *out, const struct nd_pair_line *row)
{
    const struct nd_found_pair *pair = row->pair;

    nd_json_open(out, '{');
    nd_json_key(out, "a");
    nd_name_json(out, &row->earlier);
    nd_json_key(out, "b");
    nd_name_json(out, &row->later);
    if (row->shows_match) {
        nd_json_put_bool(out, "match", row->is_match);
    }
    if (row->is_verified)
        put_measures(out, &pair->overlap);
    if (pair->distance <= ND_DISTANCE_MAX)
        nd_json_put_uint(out, "hamming", pair->distance);
    if (row->method->n_signatures)
        put_agreements(out, row->method, pair->agreement);
    if (row->site) {
        nd_json_key(out, "site");
        *row->site ? nd_json_text(out, row->site) : nd_json_null(out);
    }
    put_columns_json(out, row);
    nd_json_close(out, '}');
    nd_json_line(out);
}
