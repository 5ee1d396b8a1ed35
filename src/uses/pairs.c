/* pairs.c - every verified pair, with its evidence */

/*
 * Documents are pushed in input order, and the engine reports each pair as it finds it. A row is
 * written at once; only the places of the documents are kept, and ids are looked up again when a
 * pair is written. Pairs below the threshold (near misses) are found by an engine with the lower
 * threshold and separated here.
 */
#include "engine/engine.h"
#include "engine/pair_rule.h"
#include <neardup/uses.h>

#include "base/address.h"
#include "pipeline/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "recipe/recipe.h"

/* ---- A pair as a line of TSV or of JSON (docs/format/outputs.md) ----------------------------- */

struct row {
    struct nd_name earlier, later;
    const struct nd_found_pair *pair; /* `a` is the later document */
    bool is_verified;                 /* the texts were compared */
    bool shows_containment;           /* columns of containments in TSV, if one decided */
    const struct nd_method *method;   /* the recipe's signatures were compared, if there are any */
    const char *site;                 /* "same", "other" or "" (unknown); NULL: no column */
    bool shows_match;                 /* near misses are listed too */
    bool is_match;
};

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
static void put_overlap(struct nd_json *out, const struct row *row)
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

static void put_tsv(struct nd_json *out, const struct row *row)
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

static void put_json(struct nd_json *out, const struct row *row)
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
    nd_json_close(out, '}');
    nd_json_line(out);
}

/* ---- The pairs ------------------------------------------------------------------------------- */

/* The place of every document is kept, so that its id can be written when it is in a pair. */
struct pairing {
    struct nd_run *run;
    const struct nd_pairs_params *params;
    struct nd_dedup_item *item; /* the documents of the batch */
    size_t n_items, capacity;
    struct nd_groups hosts;
    uint32_t *site; /* host of each document, with --site; 0: unknown */
    size_t n_sites, site_capacity;
    struct nd_pair_rule rule;
    struct nd_output *out;
    struct nd_json row, earlier; /* scratch: the row, and the name of the earlier document */
    struct nd_error *err;        /* error of `found`, which can return only a status */
};

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    struct nd_run *run = ((struct pairing *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_text(run->lookup, &place, worker, text, err);
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct nd_run *run = ((struct pairing *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_shingles(run->lookup, &place, worker, shingle, n, err);
}

/* Give the document's host a number; false: out of memory. */
static bool note_site(struct pairing *p, const struct nd_document *document)
{
    const struct nd_view url = nd_run_asked(p->run, document, 0);
    struct nd_view name = {NULL, 0}, path;
    char host[ND_HOST_MAX + 1];

    if (!p->params->site)
        return true;
    if (!ND_RESERVE(p->site, &p->site_capacity, p->n_sites + 1))
        return false;
    if (url.data && nd_address_split(url, host, &name.len, &path))
        name.data = host;
    return nd_groups_number(&p->hosts, name, &p->site[p->n_sites++]);
}

static enum nd_status list_item(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct pairing *p = context;
    struct nd_run *run = p->run;
    uint32_t group = 0;
    struct nd_place place;
    enum nd_status status = nd_lookup_keep(run->lookup, &parsed->record, &place, err);

    if (status != ND_OK)
        return status;
    nd_lookup_remember(run->lookup, run->places.documents, parsed);
    if (!nd_places_add(&run->places, &place) ||
        !nd_comparable_group(&run->comparable, &parsed->document, &group) ||
        !note_site(p, &parsed->document))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_id_note(&run->ids, parsed);
    p->item[p->n_items] = nd_parsed_item(parsed);
    p->item[p->n_items++].group = group;
    return ND_OK;
}

static enum nd_status find_name(struct pairing *p, uint64_t document, struct nd_name *name)
{
    struct nd_run *run = p->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_name(run->lookup, document, &place, name, p->err);
}

/* Look up both names. The lookup holds one name at a time, so the first is copied. */
static enum nd_status find_names(struct pairing *p, struct row *row)
{
    struct nd_json *copy = &p->earlier;
    enum nd_status status = find_name(p, row->pair->b, &row->earlier);

    if (status != ND_OK)
        return status;
    copy->text.len = 0;
    nd_json_bytes(copy, row->earlier.text.data, row->earlier.text.len);
    row->earlier.text.data = copy->text.data;
    if (copy->failed)
        return nd_fail(p->err, ND_ENOMEM, "out of memory");
    return find_name(p, row->pair->a, &row->later);
}

static const char *site_word(const struct pairing *p, const struct nd_found_pair *pair)
{
    uint32_t a, b;

    if (!p->site)
        return NULL;
    a = p->site[pair->a];
    b = p->site[pair->b];
    return !a || !b ? "" : a == b ? "same" : "other";
}

static enum nd_status found(void *context, const struct nd_found_pair *pair)
{
    struct pairing *p = context;
    const struct nd_dedup_params *params = &p->run->recipe->dedup;
    struct nd_json *out = &p->row;
    struct row row = {
        .pair = pair,
        .is_verified = pair->is_equal || params->verify != ND_VERIFY_NONE,
        .shows_containment = nd_dedup_measures_containment(params),
        .method = &p->run->recipe->method,
        .site = site_word(p, pair),
        .shows_match = p->rule.has_near_misses,
        .is_match = nd_pair_rule_matches(&p->rule, pair),
    };
    enum nd_status status = find_names(p, &row);

    if (status != ND_OK)
        return status;
    out->text.len = 0;
    p->params->json ? put_json(out, &row) : put_tsv(out, &row);
    if (out->failed)
        return nd_fail(p->err, ND_ENOMEM, "out of memory");
    p->run->summary->pairs += row.is_match;
    p->run->summary->near_misses += !row.is_match;
    return nd_output_write(p->out, out->text.data, out->text.len, p->err);
}

static enum nd_status pair_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct pairing *p = context;
    enum nd_status status;

    p->n_items = 0;
    if (!ND_RESERVE(p->item, &p->capacity, batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_run_each_document(p->run, batch, list_item, p, err);
    if (status == ND_OK)
        status = nd_dedup_push_pairs(p->run->dedup, p->item, p->n_items, found, p, err);
    return status == ND_OK ? nd_output_flush(p->out, err) : status;
}

static enum nd_status watch_fields(const struct pairing *p, struct nd_error *err)
{
    const struct nd_watched_field site = {
        .key = "site", .field = p->params->site, .otherwise = "hosts cannot be compared"};
    enum nd_status status =
        nd_field_set_watch_within(&p->run->fields, p->run->options->within, err);

    return status == ND_OK ? nd_field_set_watch(&p->run->fields, &site, err) : status;
}

enum nd_status nd_run_pairs(const struct nd_run_options *options,
                            const struct nd_pairs_params *params,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    const struct nd_run_request request = {.fields = {params->site},
                                           .takes_sketches = true,
                                           .compares = true,
                                           .heeds_within = true,
                                           .writes_output = true,
                                           .writes_summary = true};
    struct nd_error room = {0};
    struct nd_run run;
    struct pairing p = {.run = &run, .params = params, .err = err ? err : &room};
    const struct nd_text_source source = {.context = &p,
                                          .fetch = fetch,
                                          .keep = nd_run_keep_nothing,
                                          .fetch_shingles = fetch_shingles};
    enum nd_status status;

    *p.err = (struct nd_error){0};
    *summary = (struct nd_run_summary){0};
    if (nd_recipe_params_check(options->recipe, p.err) != ND_OK ||
        nd_pair_rule_check(&options->recipe->dedup, params->near_misses, p.err) != ND_OK)
        return p.err->status;
    status = nd_run_begin(&run, options, &request, events, summary, p.err);
    summary->lists_pairs = 1;
    if (status == ND_OK)
        status = nd_pair_rule_set(&p.rule, &run.recipe->dedup, params->near_misses, p.err);
    if (status == ND_OK)
        status = watch_fields(&p, p.err);
    if (status == ND_OK)
        status = nd_outputs_open(&run.outputs, p.err);
    if (status == ND_OK)
        status = nd_run_make_dedup(&run, ND_CLUSTER_PAIRS, &source, p.err);
    if (status == ND_OK && !(p.out = nd_outputs_open_one(&run.outputs, p.err)))
        status = ND_EIO;
    if (status == ND_OK)
        status = nd_run_each_batch(&run, pair_batch, &p, p.err);
    if (status == ND_OK)
        status = nd_run_finish(&run, p.out, p.err);
    else
        nd_output_discard(p.out);
    nd_run_end(&run);
    nd_groups_release(&p.hosts);
    nd_json_release(&p.row);
    nd_json_release(&p.earlier);
    free(p.site);
    free(p.item);
    return nd_run_status(status, p.err);
}
