/* all_pairs.c - every verified pair, with its evidence */

/*
 * Documents are pushed in input order, and the engine reports each pair as it finds it. A row is
 * written at once; only the places of the documents are kept, and ids are looked up again when a
 * pair is written. Pairs below the threshold (near misses) are found by an engine with the lower
 * threshold and separated here.
 *
 * If the memory is bounded, places are in a file, and the documents are pushed load by load
 * (run/bounded_loads.h). The two documents of a pair are always in one load. A load's rows come
 * in the order of its documents; those of several loads are sorted in a file.
 */
#include "engine/engine.h"
#include "engine/pair_rule.h"
#include <neardup/uses.h>

#include "base/address.h"
#include "base/file/sorted_rows.h"
#include "recipe/recipe_struct.h"
#include "run/bounded_loads.h"
#include "run/run_parts.h"
#include "uses/pair_columns.h"
#include "uses/pair_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct pairs_run {
    struct nd_run *run;
    const struct nd_pairs_params *params;
    struct nd_dedup_item *item; /* the documents of the batch */
    size_t n_items, capacity;
    struct nd_groups hosts;
    uint32_t *site; /* host of each document that was pushed, with --site; 0: unknown */
    size_t n_sites, site_capacity;
    struct nd_pair_rule rule;
    struct nd_output *out;
    struct nd_streamed streamed;    /* where the memory is not bounded */
    struct nd_bounded_loads *loads; /* NULL: it is not */
    struct nd_sorted_rows *sorted;  /* where rows go, unless they are in order */
    struct nd_json row, earlier;    /* scratch: the row, and the name of the earlier document */
    struct nd_pair_texts texts;     /* for further columns */
    struct nd_error *err;           /* error of `found`, which can return only a status */
};

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    struct nd_run *run = ((struct pairs_run *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_text(run->lookup, &place, worker, text, err);
}

static enum nd_status fetch_shingles(void *context, uint64_t document, unsigned worker,
                                     const uint64_t **shingle, size_t *n, struct nd_error *err)
{
    struct nd_run *run = ((struct pairs_run *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);

    return nd_lookup_shingles(run->lookup, &place, worker, shingle, n, err);
}

/* Give the document's host a number; false: out of memory. */
static bool note_site(struct pairs_run *p, const struct nd_document *document)
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
    struct pairs_run *p = context;
    struct nd_run *run = p->run;
    struct nd_dedup_item item = nd_parsed_item(parsed);
    struct nd_place place;
    enum nd_status status = nd_lookup_keep(run->lookup, &parsed->record, NULL, &place, err);

    if (status != ND_OK)
        return status;
    nd_lookup_remember(run->lookup, run->places.documents, parsed);
    if (!nd_places_add(&run->places, &place) ||
        !nd_comparable_item(&run->comparable, &parsed->document, &item) ||
        !note_site(p, &parsed->document))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_id_note(&run->ids, parsed);
    p->item[p->n_items++] = item;
    return ND_OK;
}

/* ---- A pair ---- */

/* The number of a document of the pair among all. */
static uint64_t number_of(const struct pairs_run *p, uint64_t document)
{
    return p->loads ? nd_bounded_loads_record(p->loads, document) : document;
}

static enum nd_status find_place(struct pairs_run *p, uint64_t document, struct nd_place *place)
{
    if (p->loads)
        return nd_bounded_records_place(p->loads->records, (uint32_t)document, 0, place, p->err);
    *place = nd_places_get(&p->run->places, document);
    return ND_OK;
}

static enum nd_status find_name(struct pairs_run *p, uint64_t document, struct nd_name *name)
{
    struct nd_lookup *lookup = p->run->lookup;
    struct nd_place place = {0};
    enum nd_status status;

    document = number_of(p, document);
    if (nd_lookup_remembered(lookup, document, name))
        return ND_OK;
    status = find_place(p, document, &place);
    return status == ND_OK ? nd_lookup_name(lookup, document, &place, name, p->err) : status;
}

static enum nd_status take_text(struct pairs_run *p, uint64_t document, unsigned which)
{
    struct nd_place place = {0};
    struct nd_view text = {NULL, 0};
    enum nd_status status = find_place(p, document, &place);

    if (status == ND_OK)
        status = nd_lookup_text(p->run->lookup, &place, 0, &text, p->err);
    return status == ND_OK ? nd_pair_texts_take(&p->texts, which, text, p->err) : status;
}

/* Measure both texts for the further columns. Pairs of one later document follow one another. */
static enum nd_status measure(struct pairs_run *p, const struct nd_found_pair *pair,
                              struct nd_pair_numbers *number)
{
    const uint64_t later = number_of(p, pair->a);
    enum nd_status status = take_text(p, number_of(p, pair->b), 0);

    if (status == ND_OK && !(p->texts.has_later && p->texts.later == later))
        status = take_text(p, later, 1);
    if (status != ND_OK)
        return status;
    p->texts.has_later = true;
    p->texts.later = later;
    return nd_pair_texts_measure(&p->texts, number, p->err);
}

/* Look up both names. The lookup holds one name at a time, so the first is copied. */
static enum nd_status find_names(struct pairs_run *p, struct nd_pair_line *row)
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

static const char *site_word(const struct pairs_run *p, const struct nd_found_pair *pair)
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
    struct pairs_run *p = context;
    const struct nd_dedup_params *params = &p->run->recipe->dedup;
    struct nd_json *out = &p->row;
    struct nd_pair_line row = {
        .pair = pair,
        .is_verified = pair->is_equal || params->verify != ND_VERIFY_NONE,
        .shows_containment = nd_dedup_measures_containment(params),
        .method = &p->run->recipe->method,
        .site = site_word(p, pair),
        .shows_match = p->rule.has_near_misses,
        .is_match = nd_pair_rule_matches(&p->rule, pair),
        .columns = p->texts.columns,
    };
    enum nd_status status = row.columns ? measure(p, pair, &row.number) : ND_OK;

    /* A name is valid until the next text is looked up. */
    if (status == ND_OK)
        status = find_names(p, &row);
    if (status != ND_OK)
        return status;
    out->text.len = 0;
    p->params->json ? nd_pair_line_json(out, &row) : nd_pair_line_tsv(out, &row);
    if (out->failed)
        return nd_fail(p->err, ND_ENOMEM, "out of memory");
    p->run->summary->pairs += row.is_match;
    p->run->summary->near_misses += !row.is_match;
    if (p->sorted)
        return nd_sorted_rows_add(p->sorted, nd_bounded_loads_record(p->loads, pair->a),
                                  out->text.data, out->text.len, p->err);
    return nd_output_write(p->out, out->text.data, out->text.len, p->err);
}

/* Open the output. With further columns, TSV has a header. */
static enum nd_status open_output(struct pairs_run *p, struct nd_error *err)
{
    const struct nd_dedup_params *params = &p->run->recipe->dedup;
    const struct nd_pair_line head = {
        .is_verified = params->verify != ND_VERIFY_NONE,
        .shows_containment = nd_dedup_measures_containment(params),
        .method = &p->run->recipe->method,
        .site = p->params->site,
        .shows_match = p->rule.has_near_misses,
        .columns = p->texts.columns,
    };
    struct nd_json *out = &p->row;

    if (!(p->out = nd_outputs_open_one(&p->run->outputs, err)))
        return ND_EIO;
    if (!head.columns || p->params->json)
        return ND_OK;
    nd_pair_head_tsv(out, &head);
    return out->failed ? nd_fail(err, ND_ENOMEM, "out of memory")
                       : nd_output_write(p->out, out->text.data, out->text.len, err);
}

/* ---- All documents ---- */

static enum nd_status pair_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct pairs_run *p = context;
    enum nd_status status;

    p->n_items = 0;
    if (!ND_RESERVE(p->item, &p->capacity, batch->count))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_run_each_document(p->run, batch, list_item, p, err);
    if (status == ND_OK)
        status = nd_streamed_push(&p->streamed, p->item, p->n_items, err);
    return status == ND_OK ? nd_output_flush(p->out, err) : status;
}

static enum nd_status pair_all(struct pairs_run *p, struct nd_error *err)
{
    const struct nd_text_source source = {.context = p,
                                          .fetch = fetch,
                                          .keep = nd_run_keep_nothing,
                                          .fetch_shingles = fetch_shingles};
    enum nd_status status = nd_run_make_dedup(p->run, ND_CLUSTER_PAIRS, &source, err);

    p->streamed = (struct nd_streamed){
        .dedup = p->run->dedup, .cluster = ND_CLUSTER_PAIRS, .found = found, .context = p};
    if (status == ND_OK)
        status = open_output(p, err);
    return status == ND_OK ? nd_run_each_batch(p->run, pair_batch, p, err) : status;
}

/* ---- The same in bounded memory ---- */

/* Hosts are numbered in each load anew; one that has too many is refused. */
static enum nd_status note_loaded(void *context, uint32_t record, const struct nd_parsed *parsed,
                                  struct nd_error *err)
{
    struct pairs_run *p = context;
    const struct nd_budget *budget = &p->run->budget;
    size_t bytes = nd_groups_bytes(&p->hosts);
    char text[ND_BUDGET_TEXT];

    nd_lookup_remember(p->run->lookup, record, parsed);
    if (!note_site(p, &parsed->document))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    if (bytes <= budget->key_bytes)
        return ND_OK;
    return nd_fail(err, ND_ENOMEM,
                   "memory: the hosts of site take %zu bytes: more than %s is needed", bytes,
                   nd_budget_text(budget->total / budget->key_bytes * bytes, text));
}

/* If all are in one load, its rows are in order. */
static enum nd_status begin_load(void *context, struct nd_error *err)
{
    struct pairs_run *p = context;
    struct nd_run *run = p->run;

    p->n_sites = 0;
    nd_groups_release(&p->hosts);
    if (p->sorted || !nd_loads_has_more(&p->loads->staged.loads))
        return ND_OK;
    p->sorted = nd_sorted_rows_new(run->options->tmp, run->budget.sort_bytes / 2, err);
    return p->sorted ? ND_OK : err->status;
}

static enum nd_status write_sorted(struct pairs_run *p, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_view rows;
    int got;

    while (status == ND_OK && (got = nd_sorted_rows_next(p->sorted, &rows, err)) != 0)
        status = got < 0 ? (enum nd_status)got : nd_output_write(p->out, rows.data, rows.len, err);
    return status;
}

static enum nd_status pair_bounded(struct pairs_run *p, struct nd_error *err)
{
    struct nd_run *run = p->run;
    enum nd_status status = nd_bounded_records_open(p->loads->records, run, err);

    if (status == ND_OK)
        status = nd_bounded_loads_open(p->loads, err);
    if (status == ND_OK)
        status = open_output(p, err);
    if (status == ND_OK)
        status = nd_bounded_loads_collect(p->loads, err);
    if (status == ND_OK)
        status = nd_bounded_loads_decide(p->loads, err);
    return status == ND_OK && p->sorted ? write_sorted(p, err) : status;
}

static enum nd_status pair_in_loads(struct pairs_run *p, struct nd_error *err)
{
    static const struct nd_keep input_order = {.by = ND_KEEP_FIRST};
    struct nd_bounded_records records = {.keep = &input_order};
    struct nd_bounded_loads loads = {.records = &records,
                                     .cluster = ND_CLUSTER_PAIRS,
                                     .found = found,
                                     .begin_load = begin_load,
                                     .loaded = note_loaded,
                                     .context = p};
    enum nd_status status;

    /* cppcheck-suppress autoVariables ; taken back before it goes */
    p->loads = &loads;
    status = pair_bounded(p, err);
    p->loads = NULL;
    p->run->summary->spilled_bytes = nd_bounded_records_spilled(&records) +
                                     nd_bounded_loads_spilled(&loads) +
                                     (p->sorted ? nd_sorted_rows_spilled(p->sorted) : 0);
    nd_sorted_rows_free(p->sorted);
    nd_bounded_loads_release(&loads);
    nd_bounded_records_release(&records);
    return status;
}

static enum nd_status watch_fields(const struct pairs_run *p, struct nd_error *err)
{
    const struct nd_watched_field site = {
        .key = "site", .field = p->params->site, .otherwise = "hosts cannot be compared"};
    enum nd_status status = nd_field_set_watch_within(&p->run->fields, p->run->options->within,
                                                      p->run->options->security_field, err);

    return status == ND_OK ? nd_field_set_watch(&p->run->fields, &site, err) : status;
}

enum nd_status nd_run_pairs(const struct nd_run_options *options,
                            const struct nd_pairs_params *params,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    const struct nd_run_request request = {.fields = {params->site},
                                           .takes_sketches = true,
                                           .texts_for = params->columns ? "columns" : NULL,
                                           .compares = true,
                                           .heeds_within = true,
                                           .heeds_security = true,
                                           .writes_output = true,
                                           .writes_summary = true,
                                           .bounds_memory = true,
                                           .passes = options->memory ? ND_BOUNDED_PASSES : 1};
    struct nd_error room = {0};
    struct nd_run run;
    struct pairs_run p = {.run = &run,
                          .params = params,
                          .texts = {.columns = params->columns},
                          .err = err ? err : &room};
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
        status = run.budget.total ? pair_in_loads(&p, p.err) : pair_all(&p, p.err);
    if (status == ND_OK)
        status = nd_run_finish(&run, p.out, p.err);
    else
        nd_output_discard(p.out);
    nd_run_end(&run);
    nd_groups_release(&p.hosts);
    nd_json_release(&p.row);
    nd_json_release(&p.earlier);
    nd_pair_texts_release(&p.texts);
    free(p.site);
    free(p.item);
    return nd_run_status(status, p.err);
}
