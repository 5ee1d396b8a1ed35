/* repeats_run.c - documents without the parts that stand in earlier ones */

/*
 * The documents are read twice.  First the windows of each text are listed by all threads, and
 * sorted; then the cuts are known, and come back in input order, beside the documents.  A text has
 * nearly as many passages as tokens, so these are not all sorted: a run before the first notes their
 * anchors in a filter, which tells nearly all of those that repeat nowhere.  If near parts repeat,
 * too, the run before lists all parts, and a run of dedup over them says which are near.
 *
 *     run 0    document → anchors → base/repeats.h
 *              with `near`: document → lines … → near_parts.c
 *     run 1    document → windows → repeat_cuts.c
 *     run 2    document, its cuts → cut_record.c → survivors, manifest
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file/spool.h"
#include "base/repeats.h"
#include "base/system/descriptor.h"
#include "evidence/first_line.h"
#include "input/formats/formats.h"
#include "input/streams/pack.h"
#include "run/manifest.h"
#include "run/run_parts.h"
#include "uses/repeats/cut_record.h"
#include "uses/repeats/domain_counts.h"
#include "uses/repeats/near_parts.h"
#include "uses/repeats/repeat_cuts.h"
#include "uses/repeats/text_units.h"
#include "uses/use.h"

/* Memory where no limit is given: more goes to files. */
#define SORT_BYTES ((size_t)1 << 30)
#define GROUP_BYTES ((size_t)4 << 30)
#define FILTER_BYTES ((size_t)2 << 30)

struct repeating {
    const struct nd_repeats_params *params;
    struct nd_repeats_summary *counts;
    struct nd_use before, first, use; /* of the runs */
    uint64_t inputs_state;            /* of the first */
    int64_t standard_start;           /* where the standard input began; negative: it is no file */
    struct nd_text_units **units;     /* of each worker */
    unsigned n_units;

    /* The run before: anchors of each record of a batch, then of all. */
    struct nd_hashes *anchors;
    size_t n_anchors;
    struct nd_hashes noted;
    unsigned n_slices;
    struct nd_repeats filter;
    bool has_filter;
    struct nd_near_parts *near; /* NULL: only equal parts repeat */

    /* The first run: windows of each record of a batch. */
    struct nd_window_list *list;
    size_t n_lists;
    const struct nd_reading_batch *batch;
    atomic_bool has_failed; /* a worker, for want of memory */
    uint32_t document;      /* number of the next */
    struct nd_repeat_cuts *cuts;

    /* The second run: the next cut, and those of the document at hand. */
    const struct nd_repeat_cut *cut; /* NULL: there are no more */
    struct nd_text_ranges ranges;    /* their union */
    struct nd_record_cutter *cutter;
    struct nd_buffer record, text;
    struct nd_domain_counts domains;
    struct nd_rows rows;
    /* With a manifest: what each document is called there, one after the other, and where that ends. */
    struct nd_spool *names, *name_ends;
    struct nd_json name, scratch;
    struct nd_buffer found;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- What is asked for ----------------------------------------------------------------------- */

/* Check that every input can be read twice: the standard input only as a file. */
static enum nd_status check_paths(const struct nd_run_options *o, struct nd_error *err)
{
    struct nd_file_about about;

    for (size_t i = 0; i < o->n_paths; i++) {
        const bool is_standard = strcmp(o->paths[i], "-") == 0;
        const bool got =
            is_standard ? nd_descriptor_about(0, &about) : nd_path_about(o->paths[i], &about);

        if (got && about.kind != ND_FILE_REGULAR && !(about.kind == ND_FILE_FOLDER && !is_standard))
            return nd_fail(err, ND_EINVAL,
                           "the documents are read twice, but %s can be read only once: write it "
                           "to a file first",
                           is_standard ? "standard input" : o->paths[i]);
    }
    return ND_OK;
}

/* Have the standard input, if it is a file, read from where it began. */
static void rewind_input(const struct repeating *r)
{
    if (r->standard_start >= 0)
        (void)nd_descriptor_seek(0, (uint64_t)r->standard_start);
}

static enum nd_status check_options(const struct nd_run_options *o,
                                    const struct nd_repeats_params *p, struct nd_error *err)
{
    const struct nd_input_options *in = &o->input;

    if (o->copy_to || o->link_to || o->annotate)
        return nd_fail(err, ND_EINVAL,
                       "repeats has neither copy-to nor link-to nor annotate: it changes records");
    if (p->texts && o->output_dir)
        return nd_fail(err, ND_EINVAL, "output-dir: texts go to one output, as JSON Lines");
    if (p->texts)
        return check_paths(o, err);
    if (in->n_text_fields > 1 || (in->n_text_fields && strchr(in->text_fields[0], '*')))
        return nd_fail(err, ND_EINVAL,
                       "text-field: parts are cut of one text; name one field without *, or write "
                       "the texts alone (--texts)");
    if (in->text_format == ND_TEXT_HTML)
        return nd_fail(
            err, ND_EINVAL,
            "text-format: parts are cut of texts, and these are pages: write their texts "
            "(--texts)");
    if (nd_input_charset(in))
        return nd_fail(err, ND_EINVAL,
                       "charset: parts are cut of UTF-8, and the records are in %.48s: write their "
                       "texts (--texts)",
                       in->charset);
    return check_paths(o, err);
}

/* Check that parts can be cut of the records of a source. */
static enum nd_status check_format(const struct nd_repeats_params *p,
                                   const struct nd_source *source, struct nd_error *err)
{
    if (p->texts || source->format == ND_FORMAT_JSONL || source->format == ND_FORMAT_TEXT ||
        nd_format_row(source->format)->has_header)
        return ND_OK;
    return nd_fail(err, ND_EINPUT,
                   "%s is %s, of which no parts are cut as they stand: write the texts as JSON "
                   "Lines (--texts)",
                   source->path, nd_format_name(source->format));
}

/* ---- Working memory of threads --------------------------------------------------------------- */

static enum nd_status make_units(struct repeating *r, struct nd_pool *pool, struct nd_error *err)
{
    if (r->units)
        return ND_OK;
    r->n_units = nd_pool_threads(pool);
    r->units = calloc(r->n_units, sizeof *r->units);
    for (unsigned i = 0; r->units && i < r->n_units; i++)
        if (!(r->units[i] = nd_text_units_new(r->params)))
            return no_memory(err);
    return r->units ? ND_OK : no_memory(err);
}

/* Begin a run over the inputs that writes nothing, with what cuts texts into units. */
static enum nd_status begin_rehearsal(struct repeating *r, struct nd_use *use,
                                      const struct nd_run_options *options, struct nd_error *err)
{
    static const struct nd_run_request request = {
        .ignores_signatures = true, .is_rehearsal = true, .bounds_memory = true};
    enum nd_status status;

    rewind_input(r);
    status = nd_use_begin(use, options, &request, NULL, err);
    return status == ND_OK ? make_units(r, use->run.pool, err) : status;
}

/* ---- The run before: anchors ----------------------------------------------------------------- */

static void find_anchors(void *context, size_t task, unsigned worker)
{
    struct repeating *r = context;
    const struct nd_parsed *parsed = &r->batch->parsed[task];

    r->anchors[task].n = 0;
    if (!parsed->bad &&
        !nd_text_units_anchors(r->units[worker], parsed->document.text, &r->anchors[task]))
        atomic_store(&r->has_failed, true);
}

static void note_slice(void *context, size_t slice, unsigned worker)
{
    struct repeating *r = context;

    (void)worker;
    nd_repeats_note(&r->filter, (unsigned)slice, r->n_slices, r->noted.item, r->noted.n);
}

/* Make a list for each of n records, of an array whose items start from zeroes. */
static bool reserve_zeroes(void *array, size_t *capacity, size_t n, size_t size)
{
    const size_t before = *capacity;
    char *items;

    if (!nd_array_reserve(array, capacity, n, size))
        return false;
    memcpy(&items, array, sizeof items);
    if (*capacity > before)
        memset(items + before * size, 0, (*capacity - before) * size);
    return true;
}

static bool gather_anchors(struct repeating *r, size_t n)
{
    r->noted.n = 0;
    for (size_t i = 0; i < n; i++) {
        const struct nd_hashes *list = &r->anchors[i];

        if (!ND_RESERVE(r->noted.item, &r->noted.capacity, r->noted.n + list->n + 1))
            return false;
        if (list->n)
            memcpy(r->noted.item + r->noted.n, list->item, list->n * sizeof *list->item);
        r->noted.n += list->n;
    }
    return true;
}

static enum nd_status note_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct repeating *r = context;

    if (!reserve_zeroes(&r->anchors, &r->n_anchors, batch->count, sizeof *r->anchors))
        return no_memory(err);
    r->batch = batch;
    nd_pool_run(r->before.run.pool, batch->count, find_anchors, r);
    if (atomic_load(&r->has_failed) || !gather_anchors(r, batch->count))
        return no_memory(err);
    nd_pool_run(r->before.run.pool, r->n_slices, note_slice, r);
    return ND_OK;
}

/* Estimate how many anchors all inputs have.  With too small a filter more windows are sorted than
 * needed, and the result is the same. */
static uint64_t expect_anchors(const struct repeating *r)
{
    enum { TOKEN_BYTES = 5, PACKED = 4 };
    const struct nd_input *input = nd_reading_input(r->before.run.reading);
    double bytes = 0;

    for (size_t i = 0; i < nd_input_files(input); i++) {
        const struct nd_input_file *file = nd_input_file(input, i);

        bytes += (double)file->size * (nd_compression_of_name(file->path) ? PACKED : 1);
    }
    return (uint64_t)(bytes / TOKEN_BYTES * nd_text_units_anchor_density(r->params));
}

static enum nd_status make_filter(struct repeating *r, struct nd_error *err)
{
    const struct nd_run *run = &r->before.run;
    const size_t most = run->budget.total ? (size_t)run->budget.total / 4 : FILTER_BYTES;
    const size_t enough = 2 * nd_repeats_enough(expect_anchors(r));

    for (r->n_slices = 1;
         r->n_slices < nd_pool_threads(run->pool) && r->n_slices < ND_REPEATS_SLICES;)
        r->n_slices *= 2;
    r->has_filter = nd_repeats_init(&r->filter, enough < most ? enough : most);
    return r->has_filter ? ND_OK : no_memory(err);
}

static void release_anchors(struct repeating *r)
{
    for (size_t i = 0; i < r->n_anchors; i++)
        free(r->anchors[i].item);
    free(r->anchors);
    free(r->noted.item);
    r->anchors = NULL;
    r->noted = (struct nd_hashes){.item = NULL};
    r->n_anchors = 0;
}

static enum nd_status note_anchors(struct repeating *r, const struct nd_run_options *options,
                                   struct nd_error *err)
{
    enum nd_status status = begin_rehearsal(r, &r->before, options, err);

    if (status == ND_OK)
        status = make_filter(r, err);
    if (status == ND_OK)
        status = nd_run_each_batch(&r->before.run, note_batch, r, err);
    release_anchors(r);
    if (r->has_filter)
        nd_repeats_end_noting(&r->filter);
    return nd_use_end(&r->before, status, 0, NULL, err);
}

/* ---- The run before: parts that may be near -------------------------------------------------- */

static void list_each(void *context, size_t task, unsigned worker)
{
    struct repeating *r = context;
    const struct nd_parsed *parsed = &r->batch->parsed[task];

    r->list[task].n = 0;
    if (!parsed->bad &&
        !nd_text_units_each(r->units[worker], parsed->document.text, &r->list[task]))
        atomic_store(&r->has_failed, true);
}

/* List the units of each record of a batch. */
static enum nd_status list_all(struct repeating *r, struct nd_pool *pool,
                               const struct nd_reading_batch *batch,
                               void (*list)(void *, size_t, unsigned), struct nd_error *err)
{
    if (!reserve_zeroes(&r->list, &r->n_lists, batch->count, sizeof *r->list))
        return no_memory(err);
    r->batch = batch;
    nd_pool_run(pool, batch->count, list, r);
    return atomic_load(&r->has_failed) ? no_memory(err) : ND_OK;
}

static enum nd_status add_parts(void *context, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    struct repeating *r = context;
    enum nd_status status = list_all(r, r->before.run.pool, batch, list_each, err);

    for (size_t i = 0; status == ND_OK && i < batch->count; i++)
        status = batch->parsed[i].bad
                     ? ND_OK
                     : nd_near_parts_add(r->near, batch->parsed[i].document.text, &r->list[i], err);
    return status;
}

static enum nd_status find_near(struct repeating *r, const struct nd_run_options *options,
                                struct nd_error *err)
{
    enum nd_status status = begin_rehearsal(r, &r->before, options, err);

    if (status == ND_OK && !(r->near = nd_near_parts_new(options, r->params, err)))
        status = ND_EIO;
    if (status == ND_OK)
        status = nd_run_each_batch(&r->before.run, add_parts, r, err);
    status = nd_use_end(&r->before, status, 0, NULL, err);
    return status == ND_OK ? nd_near_parts_decide(r->near, err) : status;
}

/* ---- The first run: windows ------------------------------------------------------------------ */

static enum nd_status make_cuts(struct repeating *r, struct nd_error *err)
{
    const struct nd_run *run = &r->first.run;
    const size_t total = (size_t)run->budget.total;
    const struct nd_repeat_cuts_options options = {
        .tmp = run->options->tmp,
        .sort_bytes = total ? total / 4 : SORT_BYTES,
        .order_bytes = total ? total / 8 : SORT_BYTES,
        .group_bytes = total ? total / 8 : GROUP_BYTES,
        .occurrences = r->params->occurrences,
    };

    r->cuts = nd_repeat_cuts_new(&options, err);
    return r->cuts ? ND_OK : ND_EIO;
}

static void list_one(void *context, size_t task, unsigned worker)
{
    struct repeating *r = context;
    const struct nd_parsed *parsed = &r->batch->parsed[task];

    r->list[task].n = 0;
    if (!parsed->bad && !nd_text_units_list(r->units[worker], parsed->document.text,
                                            r->has_filter ? &r->filter : NULL, &r->list[task]))
        atomic_store(&r->has_failed, true);
}

static enum nd_status list_batch(void *context, const struct nd_reading_batch *batch,
                                 struct nd_error *err)
{
    struct repeating *r = context;
    enum nd_status status = nd_run_each_document(&r->first.run, batch, NULL, NULL, err);

    if (status == ND_OK)
        status = list_all(r, r->first.run.pool, batch, r->near ? list_each : list_one, err);
    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        if (batch->parsed[i].bad)
            continue;
        status = check_format(r->params, batch->parsed[i].source, err);
        if (status == ND_OK && r->document == UINT32_MAX)
            status = nd_fail(err, ND_EINVAL, "more than 2^32 documents");
        if (status == ND_OK && r->near)
            status = nd_near_parts_represent(r->near, r->document, &r->list[i], err);
        if (status == ND_OK)
            status = nd_repeat_cuts_add(r->cuts, r->document++, &r->list[i], err);
    }
    return status;
}

static void release_lists(struct repeating *r)
{
    for (size_t i = 0; i < r->n_lists; i++)
        free(r->list[i].item);
    free(r->list);
    r->list = NULL;
    r->n_lists = 0;
}

static enum nd_status find_cuts(struct repeating *r, const struct nd_run_options *options,
                                struct nd_error *err)
{
    enum nd_status status = begin_rehearsal(r, &r->first, options, err);

    if (status == ND_OK)
        status = make_cuts(r, err);
    if (status == ND_OK)
        status = nd_run_each_batch(&r->first.run, list_batch, r, err);
    release_lists(r);
    nd_repeats_release(&r->filter);
    if (status == ND_OK)
        status = nd_repeat_cuts_decide(r->cuts, err);
    if (status == ND_OK)
        r->inputs_state = nd_run_inputs_state(&r->first.run);
    return nd_use_end(&r->first, status, 0, NULL, err);
}

/* ---- The manifest ---------------------------------------------------------------------------- */

static void put_place(struct repeating *r, struct nd_json *out, const struct nd_parsed *parsed)
{
    r->scratch.text.len = 0;
    nd_place_append(&r->scratch, parsed->source, parsed->record.line);
    nd_json_string(out, (struct nd_view){r->scratch.text.data, r->scratch.text.len});
}

/* Keep what a document is called as a source: the values of two keys, as they stand in a row. */
static enum nd_status keep_name(struct repeating *r, const struct nd_parsed *parsed,
                                struct nd_error *err)
{
    const struct nd_name name = nd_use_name(&r->use, parsed);
    uint64_t end;
    enum nd_status status;

    r->name.text.len = 0;
    r->name.after_value = false;
    nd_name_json(&r->name, &name);
    nd_json_key(&r->name, "kept_at");
    put_place(r, &r->name, parsed);
    if (r->name.failed || r->scratch.failed)
        return no_memory(err);
    status = nd_spool_append(r->names, r->name.text.data, r->name.text.len, NULL, err);
    end = nd_spool_bytes(r->names);
    return status == ND_OK ? nd_spool_append(r->name_ends, &end, sizeof end, NULL, err) : status;
}

/* Read what the document of this number is called into r->found. */
static enum nd_status find_name(struct repeating *r, uint32_t document, struct nd_error *err)
{
    uint64_t ends[2] = {0, 0};
    const uint64_t first = document ? document - 1 : 0;
    enum nd_status status = nd_spool_read(r->name_ends, first * sizeof *ends,
                                          (document ? 2 : 1) * sizeof *ends, &r->found, err);

    if (status != ND_OK)
        return status;
    memcpy(document ? ends : ends + 1, r->found.data, (document ? 2 : 1) * sizeof *ends);
    return nd_spool_read(r->names, ends[0], (size_t)(ends[1] - ends[0]), &r->found, err);
}

static enum nd_status put_row(struct repeating *r, const struct nd_parsed *parsed,
                              const struct nd_repeat_cut *cut, struct nd_error *err)
{
    const struct nd_name name = nd_use_name(&r->use, parsed);
    struct nd_json *out = &r->rows.manifest;
    enum nd_status status = find_name(r, cut->source, err);

    if (status != ND_OK)
        return status;
    nd_json_open(out, '{');
    nd_json_key(out, "cut");
    nd_name_json(out, &name);
    nd_json_key(out, "cut_at");
    put_place(r, out, parsed);
    nd_json_put_uint(out, "from", cut->from);
    nd_json_put_uint(out, "to", cut->to);
    nd_json_key(out, "kept");
    nd_json_raw(out, (struct nd_view){r->found.data, r->found.len});
    nd_json_put_uint(out, "kept_from", cut->source_from);
    nd_json_put_uint(out, "kept_to", cut->source_to);
    if (r->near) {
        const double resemblance =
            nd_near_parts_resemblance(r->near, cut->document, cut->from, cut->to, err);

        if (resemblance < 0)
            return ND_EIO;
        nd_json_put_double(out, "resemblance", resemblance);
    }
    nd_json_close(out, '}');
    nd_json_line(out);
    return out->failed || r->scratch.failed ? no_memory(err) : ND_OK;
}

static enum nd_status open_manifest(struct repeating *r, struct nd_error *err)
{
    const struct nd_run_options *o = r->use.run.options;
    enum nd_status status = nd_outputs_open_manifest(&r->use.run.outputs, err);

    if (status != ND_OK || !o->manifest)
        return status;
    r->names = nd_spool_new(o->tmp, err);
    r->name_ends = r->names ? nd_spool_new(o->tmp, err) : NULL;
    return r->name_ends ? ND_OK : ND_EIO;
}

/* ---- The second run: records without their cuts ---------------------------------------------- */

static enum nd_status next_cut(struct repeating *r, struct nd_error *err)
{
    const int got = nd_repeat_cuts_next(r->cuts, &r->cut, err);

    if (got <= 0)
        r->cut = NULL;
    return got < 0 ? (enum nd_status)got : ND_OK;
}

/* Take the cuts of the document at hand: write their rows, and make their union. */
static enum nd_status take_cuts(struct repeating *r, const struct nd_parsed *parsed,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    r->ranges.n = 0;
    while (status == ND_OK && r->cut && r->cut->document == r->document) {
        if (r->names)
            status = put_row(r, parsed, r->cut, err);
        r->counts->cuts++;
        if (status == ND_OK && !nd_text_ranges_add(&r->ranges, r->cut->from, r->cut->to))
            return no_memory(err);
        if (status == ND_OK)
            status = next_cut(r, err);
    }
    return status;
}

/* Write a record, or its text. */
static enum nd_status put_record(struct repeating *r, const struct nd_parsed *parsed,
                                 struct nd_view record, struct nd_view text, struct nd_error *err)
{
    const struct nd_name name = nd_use_name(&r->use, parsed);

    if (!r->params->texts)
        return nd_outputs_survive(&r->use.run.outputs, &parsed->record, record, err);
    nd_cell_name(&r->use, "id", &name);
    nd_cell_text(&r->use, "text", text);
    return nd_row_end(&r->use, err);
}

/* Write the record without its cuts, unless nothing is left of its text and it is dropped. */
static enum nd_status put_shortened(struct repeating *r, const struct nd_parsed *parsed,
                                    struct nd_error *err)
{
    enum nd_status status = ND_OK;
    int64_t tokens;

    if (!nd_text_cut(parsed->document.text, &r->ranges, &r->text))
        return no_memory(err);
    if (!r->params->texts)
        status = nd_record_cut(r->cutter, parsed, &r->ranges, &r->record, err);
    if (status != ND_OK)
        return status;
    r->counts->cut_bytes += nd_text_ranges_bytes(&r->ranges);
    r->counts->changed++;
    tokens = nd_text_units_count(r->units[0], (struct nd_view){r->text.data, r->text.len});
    if (tokens < 0)
        return no_memory(err);
    r->counts->emptied += tokens == 0;
    if (tokens == 0 && r->params->drop_empty)
        return ND_OK;
    return put_record(r, parsed, (struct nd_view){r->record.data, r->record.len},
                      (struct nd_view){r->text.data, r->text.len}, err);
}

/* Return the value by which a document is counted; data NULL: there is none. */
static struct nd_view domain_of(const struct repeating *r, const struct nd_document *document)
{
    const struct nd_view value = nd_run_asked(&r->use.run, document, 0);

    return value.data || r->params->domain_field ? value : document->id;
}

static enum nd_status put_document(void *context, const struct nd_parsed *parsed,
                                   struct nd_error *err)
{
    struct repeating *r = context;
    enum nd_status status = check_format(r->params, parsed->source, err);

    if (status == ND_OK && r->names)
        status = keep_name(r, parsed, err);
    if (status == ND_OK)
        status = take_cuts(r, parsed, err);
    if (status != ND_OK)
        return status;
    r->document++;
    r->counts->text_bytes += parsed->document.text.len;
    if (!nd_domain_counts_add(&r->domains, domain_of(r, &parsed->document),
                              parsed->document.text.len, nd_text_ranges_bytes(&r->ranges)))
        return no_memory(err);
    nd_id_note(&r->use.run.ids, parsed);
    if (r->ranges.n)
        return put_shortened(r, parsed, err);
    return put_record(r, parsed, parsed->record.bytes, parsed->document.text, err);
}

static enum nd_status put_batch(void *context, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    struct repeating *r = context;
    struct nd_run *run = &r->use.run;
    enum nd_status status = nd_run_each_document(run, batch, put_document, r, err);

    if (status == ND_OK && r->use.name.failed)
        status = no_memory(err);
    return status == ND_OK ? nd_outputs_put_rows(&run->outputs, &r->rows, err) : status;
}

static enum nd_status open_output(struct repeating *r, struct nd_error *err)
{
    enum nd_status status;

    if (r->params->texts)
        return nd_use_open(&r->use, true, err);
    status = nd_outputs_open_survivors(&r->use.run.outputs, err);
    if (status == ND_OK)
        nd_survivors_take_documents(r->use.run.outputs.survivors);
    return status;
}

static enum nd_status begin_writing(struct repeating *r, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (nd_run_inputs_state(&r->use.run) != r->inputs_state)
        status = nd_fail(err, ND_ECHANGED, "the input changed while it was read");
    if (status == ND_OK && !(r->cutter = nd_record_cutter_new(&r->use.run.input)))
        status = no_memory(err);
    if (status == ND_OK)
        status = open_output(r, err);
    if (status == ND_OK)
        status = open_manifest(r, err);
    if (status == ND_OK)
        status = nd_outputs_open_summary(&r->use.run.outputs, err);
    r->document = 0;
    return status == ND_OK ? next_cut(r, err) : status;
}

static const char *domain_field(const struct nd_repeats_params *params)
{
    return params->domain_field ? params->domain_field : "url";
}

static enum nd_status write_rest(struct repeating *r, const struct nd_run_options *options,
                                 const struct nd_run_events *events, struct nd_run_summary *summary,
                                 struct nd_error *err)
{
    const struct nd_first_line_repeats repeats = {.cut = nd_repeats_cut_name(r->params->cut),
                                                  .tokens = r->params->tokens,
                                                  .occurrences = r->params->occurrences,
                                                  .near = r->params->near,
                                                  .drop_empty = r->params->drop_empty,
                                                  .texts = r->params->texts};
    const struct nd_run_request request = {.ignores_signatures = true,
                                           .bounds_memory = true,
                                           .writes_output = !options->output_dir,
                                           .writes_survivors = !r->params->texts,
                                           .writes_manifest = true,
                                           .writes_summary = true,
                                           .fields = {domain_field(r->params)},
                                           .repeats = &repeats};
    struct nd_run *run = &r->use.run;
    enum nd_status status;

    rewind_input(r);
    status = nd_run_begin(run, options, &request, events, summary, err);
    if (status == ND_OK)
        status = begin_writing(r, err);
    if (status == ND_OK)
        status = nd_run_each_batch(run, put_batch, r, err);
    summary->removed = r->params->drop_empty ? r->counts->emptied : 0;
    summary->kept = summary->documents - summary->removed;
    summary->repeats = r->counts;
    nd_domain_counts_summarise(&r->domains, r->counts);
    if (status == ND_OK)
        status = nd_run_finish(run, r->use.out, err);
    else
        nd_output_discard(r->use.out);
    nd_run_end(run);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void release(struct repeating *r)
{
    for (unsigned i = 0; r->units && i < r->n_units; i++)
        nd_text_units_free(r->units[i]);
    free(r->units);
    nd_repeats_release(&r->filter);
    nd_repeat_cuts_free(r->cuts);
    nd_near_parts_free(r->near);
    release_lists(r);
    nd_record_cutter_free(r->cutter);
    free(r->ranges.item);
    nd_buffer_release(&r->record);
    nd_buffer_release(&r->text);
    nd_buffer_release(&r->found);
    nd_rows_release(&r->rows);
    nd_domain_counts_release(&r->domains);
    nd_spool_free(r->names);
    nd_spool_free(r->name_ends);
    nd_json_release(&r->name);
    nd_json_release(&r->scratch);
    nd_json_release(&r->use.name);
    nd_json_release(&r->use.row);
    nd_json_release(&r->use.head);
}

enum nd_status nd_run_repeats(const struct nd_run_options *options,
                              const struct nd_repeats_params *params,
                              const struct nd_run_events *events, struct nd_repeats_summary *counts,
                              struct nd_use_summary *summary, struct nd_error *err)
{
    struct nd_repeats_params own = *params;
    struct repeating r = {.params = &own,
                          .counts = counts,
                          .standard_start = nd_descriptor_place(0),
                          .domains.takes_values = params->domain_field != NULL};
    struct nd_run_summary run = {0};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *counts = (struct nd_repeats_summary){0};
    status = nd_text_units_check(&own, err);
    if (status == ND_OK)
        status = check_options(options, &own, err);
    if (status == ND_OK && own.cut == ND_REPEATS_PASSAGES)
        status = note_anchors(&r, options, err);
    if (status == ND_OK && own.near.p)
        status = find_near(&r, options, err);
    if (status == ND_OK)
        status = find_cuts(&r, options, err);
    if (status == ND_OK)
        status = write_rest(&r, options, events, &run, err);
    release(&r);
    *summary = nd_run_use_summary(&run, counts->cuts);
    return nd_run_status(status, err);
}
