/* run_pairs.c - every verified pair, with its evidence */
#include "pipeline/address.h"
#include "pipeline/run_state.h"

#include <stdlib.h>
#include <string.h>

/* Every document is held: its place, so that its id can be written when it is in a pair. */
struct pairing {
    struct nd_run *run;
    const struct nd_reading_batch *batch;
    struct nd_dedup_item *item;
    uint32_t *at; /* place in the batch, by item */
    size_t n_items, capacity;
    struct nd_groups hosts;
    uint32_t *site; /* of each document, where sites are asked for: its host; 0: none known */
    size_t n_sites, site_capacity;
    struct nd_output *out;
    struct nd_error *err; /* of `found`, which can hand back a status only */
};

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    struct nd_run *run = ((struct pairing *)context)->run;
    struct nd_place place = nd_places_get(&run->places, document);
    struct nd_document found;
    enum nd_status status = nd_lookup_document(run->lookup, &place, worker, &found, err);

    if (status == ND_OK)
        *text = found.text;
    return status;
}

static enum nd_status keep(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK; /* all have their places before they are pushed */
}

/* Number the document's host; false: out of memory. */
static bool note_site(struct pairing *p, const struct nd_document *document)
{
    const struct nd_view url = nd_run_field(document, p->run->site_at);
    struct nd_view name = {NULL, 0}, path;
    char host[ND_HOST_MAX + 1];
    void *site = p->site;

    if (p->run->site_at < 0)
        return true;
    if (!nd_array_reserve(&site, &p->site_capacity, p->n_sites + 1, sizeof *p->site))
        return false;
    p->site = site;
    if (url.data && nd_address_split(url, host, &name.len, &path))
        name.data = host;
    return nd_groups_number(&p->hosts, name, &p->site[p->n_sites++]);
}

static enum nd_status list_items(struct pairing *p, struct nd_error *err)
{
    struct nd_run *run = p->run;
    void *item = p->item;
    struct nd_place place;

    p->n_items = 0;
    if (!nd_array_reserve(&item, &p->capacity, p->batch->count, sizeof *p->item))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    p->item = item;
    for (size_t i = 0; i < p->batch->count; i++) {
        const struct nd_parsed *parsed = &p->batch->parsed[i];
        const struct nd_source *source = nd_reading_source(run->reading, parsed->record.source);
        uint32_t group = 0;
        enum nd_status status;

        if (parsed->bad) {
            status = nd_run_bad_record(run, source, parsed->record.line, parsed->bad->reason, err);
            if (status != ND_OK)
                return status;
            continue;
        }
        status = nd_lookup_keep(run->lookup, &parsed->record, &place, err);
        if (status != ND_OK)
            return status;
        nd_lookup_remember(run->lookup, run->places.documents, &parsed->document, source,
                           parsed->record.line);
        if (!nd_places_add(&run->places, &place) ||
            !nd_groups_number(&run->groups, nd_run_field(&parsed->document, run->within_at),
                              &group) ||
            !note_site(p, &parsed->document))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        nd_run_note_id(run, &parsed->document, source, parsed->record.line);
        if (run->unmet)
            nd_run_meet_fields(run, &parsed->document, 0);
        p->item[p->n_items++] =
            (struct nd_dedup_item){parsed->document.text, group, &parsed->document};
    }
    return ND_OK;
}

static enum nd_status put_name(struct pairing *p, struct nd_json *row, uint64_t document)
{
    struct nd_run *run = p->run;
    struct nd_place place = nd_places_get(&run->places, document);
    struct nd_name name;
    enum nd_status status = nd_lookup_name(run->lookup, document, &place, &name, p->err);

    if (status == ND_OK)
        nd_name_tsv(row, &name);
    return status;
}

static void put_number(struct nd_json *row, uint64_t number)
{
    row->after_value = false;
    nd_json_bytes(row, "\t", 1);
    nd_json_uint(row, number);
}

/* shared:a:b, of the earlier document b first. */
static void put_agreement(struct nd_json *row, const struct nd_agreement *x)
{
    put_number(row, x->shared);
    row->after_value = false;
    nd_json_bytes(row, ":", 1);
    nd_json_uint(row, x->b);
    row->after_value = false;
    nd_json_bytes(row, ":", 1);
    nd_json_uint(row, x->a);
}

static void put_site(struct nd_json *row, uint32_t a, uint32_t b)
{
    const char *word = !a || !b ? "\t" : a == b ? "\tsame" : "\tother";

    nd_json_bytes(row, word, strlen(word));
}

static enum nd_status found(void *context, const struct nd_found_pair *pair)
{
    struct pairing *p = context;
    struct nd_json *row = &p->run->pending.clusters;
    bool verified = p->run->options->recipe.dedup.verify != ND_VERIFY_NONE;
    char number[32];
    enum nd_status status;

    row->text.len = 0;
    status = put_name(p, row, pair->b);
    nd_json_bytes(row, "\t", 1);
    if (status == ND_OK)
        status = put_name(p, row, pair->a);
    if (status != ND_OK)
        return status;
    nd_json_bytes(row, "\t", 1);
    if (verified) {
        nd_json_bytes(row, number,
                      (size_t)nd_double_text(nd_overlap_resemblance(&pair->overlap), number));
        put_number(row, pair->overlap.shared);
        put_number(row, pair->overlap.a + pair->overlap.b - pair->overlap.shared);
    } else {
        nd_json_bytes(row, "\t\t", 2); /* not compared: the fields are empty */
    }
    for (unsigned i = 0; i < p->run->recipe.method.n_signatures; i++)
        put_agreement(row, &pair->agreement[i]);
    if (p->site)
        put_site(row, p->site[pair->a], p->site[pair->b]);
    nd_json_bytes(row, "\n", 1);
    if (row->failed)
        return nd_fail(p->err, ND_ENOMEM, "out of memory");
    p->run->summary->pairs++;
    return nd_output_write(p->out, row->text.data, row->text.len, p->err);
}

static enum nd_status pair_all(struct pairing *p, struct nd_error *err)
{
    struct nd_run *run = p->run;
    struct nd_reading_batch *batch;
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_reading_next(run->reading, &batch, err)) > 0) {
        struct nd_run_progress progress = {
            .bytes_done = batch->done, .bytes_total = batch->total, .pass = 1, .passes = 1};

        p->batch = batch;
        status = list_items(p, err);
        if (status == ND_OK)
            status = nd_dedup_push_pairs(run->dedup, p->item, p->n_items, found, p, err);
        run->summary->repaired += batch->repaired;
        run->summary->documents += p->n_items;
        progress.documents = run->summary->documents;
        if (status == ND_OK)
            status = nd_output_flush(p->out, err);
        if (status == ND_OK)
            status = nd_run_tell(run, &progress, err);
    }
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

enum nd_status nd_run_pairs(const struct nd_run_options *options,
                            const struct nd_run_events *events, struct nd_run_summary *summary,
                            struct nd_error *err)
{
    static const struct nd_reading_hooks hooks;
    static const struct nd_run_files files = {.writes_output = true};
    struct nd_run_options own = *options;
    struct nd_error room = {0};
    struct nd_run run;
    struct pairing p = {.run = &run, .err = err ? err : &room};
    const struct nd_text_source source = {&p, fetch, keep};
    enum nd_status status;

    *p.err = (struct nd_error){0};
    own.manifest = own.clusters = own.output_dir = own.copy_to = own.link_to = NULL;
    own.dry_run = 1; /* no survivors; the summary is written */
    status = nd_run_begin(&run, &own, &files, events, summary, &hooks, p.err);
    if (status == ND_OK)
        status = nd_run_open_outputs(&run, p.err);
    if (status == ND_OK)
        status = nd_run_make_dedup(&run, &source, p.err);
    if (status == ND_OK && !(p.out = nd_run_open_output(&run, p.err)))
        status = ND_EIO;
    if (status == ND_OK)
        status = pair_all(&p, p.err);
    if (status == ND_OK)
        status = nd_run_finish(&run, p.out, p.err);
    else
        nd_output_discard(p.out);
    nd_run_end(&run);
    nd_groups_release(&p.hosts);
    free(p.site);
    free(p.item);
    return nd_run_status(status, p.err);
}
