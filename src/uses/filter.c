/* filter.c - each document of a stream against prototypes */

/*
 * The prototypes are pushed into an engine once. Then the stream is read in batches, and every
 * batch queries the engine without adding to it, so memory does not grow with the stream. The
 * output is either the records that match (or do not), byte for byte, or one annotation for every
 * document.
 */
#include "engine/document/matching.h"
#include "engine/engine.h"
#include "report/annotation.h"
#include "uses/use.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/replaced_hash.h"
#include "input/formats/formats.h"
#include "loads/streamed.h"
#include "recipe/recipe_struct.h"

/* The prototype that is nearest to a document. */
struct nearest_prototype {
    struct nd_found_pair pair;
    struct nd_name name; /* the prototype's */
    uint64_t prototypes; /* how many prototypes it matches */
};

struct filtering {
    struct nd_run *run;
    const struct nd_filter_params *params;
    enum nd_filter_output output;
    bool ignores_text;

    /* Prototypes. */
    struct nd_json name;   /* of all, behind one another */
    size_t *name_at;       /* start of each name, and the end of the last */
    enum nd_id_kind *kind; /* id kind of each prototype */
    struct nd_at *at;      /* its place */
    uint32_t *group;       /* and its group in run->quoted */
    struct nd_arena paths;
    const struct nd_source *source; /* of the last one */
    int group_index;                /* of its field; -1: there are no groups */
    bool has_group;                 /* some prototype has the field */
    size_t n, room[4];      /* number of prototypes, and capacities of name_at, kind, at, group */
    struct nd_hash_set raw; /* hashes of the prototypes' bytes */
    struct nd_json place;   /* scratch */

    /* The batch of the stream. */
    struct nd_dedup_item *item;
    struct nearest_prototype *nearest; /* of each item */
    size_t n_items, item_room[2];
    uint64_t asked;              /* documents of the batches before */
    struct nd_streamed streamed; /* prototypes are its old documents */
    struct nd_rows rows;         /* of the manifest */

    /* Annotations: messages with a field more, or rows, to `out`. */
    const struct nd_source *first; /* whose format decides which */
    bool has_messages;
    struct nd_output *out;
    struct nd_json row, own_name;
    const struct nd_parsed *message;       /* that is written; and what it is near to, */
    const struct nearest_prototype *found; /* NULL: the message could not be read */
};

/* ---- Annotations: rows of JSON, or messages with one field more ------------------------------ */

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* Messages become rows too where those are asked for. */
static bool is_message(const struct filtering *f, const struct nd_source *source)
{
    return f->output != ND_FILTER_ROWS && nd_format_row(source->format)->is_mail;
}

static struct nd_measures measures_of(const struct filtering *f,
                                      const struct nearest_prototype *nearest)
{
    const struct nd_recipe *recipe = f->run->recipe;
    bool by_match = recipe->dedup.candidates == ND_CANDIDATES_MATCH;

    return (struct nd_measures){
        .is_verified = recipe->dedup.verify != ND_VERIFY_NONE || nearest->pair.is_equal,
        .resemblance = nd_overlap_resemblance(&nearest->pair.overlap),
        .overlap = &nearest->pair.overlap,
        .shows_containment = nd_dedup_measures_containment(&recipe->dedup),
        .distance = nearest->pair.distance,
        .method = by_match ? &recipe->method : NULL,
        .agreement = nearest->pair.agreement,
    };
}

static void put_prototype(struct filtering *f, const struct nearest_prototype *nearest)
{
    const struct nd_measures measures = measures_of(f, nearest);

    nd_json_key(&f->row, "prototype");
    nd_name_json(&f->row, &nearest->name);
    nd_json_put_uint(&f->row, "prototypes", nearest->prototypes);
    nd_measures_json(&f->row, &measures, "prototype");
}

static enum nd_status write_row(struct filtering *f, const struct nd_parsed *parsed,
                                const struct nearest_prototype *nearest, struct nd_error *err)
{
    struct nd_json *room = &f->own_name;
    const struct nd_name name =
        nd_name_of(&parsed->document, parsed->source, parsed->record.line, room);

    f->row.text.len = 0;
    nd_json_open(&f->row, '{');
    nd_json_key(&f->row, "id");
    nd_name_json(&f->row, &name);
    nd_json_put_bool(&f->row, "match", nearest->prototypes > 0);
    if (nearest->prototypes)
        put_prototype(f, nearest);
    nd_json_close(&f->row, '}');
    nd_json_line(&f->row);
    if (f->row.failed || room->failed)
        return no_memory(err);
    return nd_output_write(f->out, f->row.text.data, f->row.text.len, err);
}

static void put_text(struct nd_json *out, const char *text)
{
    nd_json_bytes(out, text, strlen(text));
}

static void write_field(struct nd_json *out, const void *context, const char *line_end)
{
    const struct filtering *f = context;
    const struct nearest_prototype *nearest = f->found;

    if (!nearest) {
        put_text(out, "unread; reason=\"");
        put_text(out, f->message->bad ? f->message->bad->reason : "");
        put_text(out, "\"");
    } else if (!nearest->prototypes) {
        put_text(out, "none");
    } else {
        const struct nd_measures measures = measures_of(f, nearest);

        put_text(out, "match");
        nd_measures_mail(out, &measures);
        put_text(out, "; prototypes=");
        out->after_value = false;
        nd_json_uint(out, nearest->prototypes);
        nd_mail_name(out, "prototype", nearest->name.text, line_end);
    }
}

static enum nd_status write_message(struct filtering *f, const struct nd_parsed *parsed,
                                    const struct nearest_prototype *nearest, struct nd_error *err)
{
    f->row.text.len = 0;
    f->message = parsed;
    f->found = nearest;
    nd_mail_annotate(&f->row, parsed->record.bytes, write_field, f);
    if (f->row.failed)
        return no_memory(err);
    return nd_outputs_survive(&f->run->outputs, &parsed->record,
                              (struct nd_view){f->row.text.data, f->row.text.len}, err);
}

static enum nd_status open_rows(struct filtering *f, struct nd_error *err)
{
    if (f->run->options->output_dir)
        return nd_fail(err, ND_EINVAL, "rows of JSON go to one output, not to --output-dir");
    f->out = nd_outputs_open_one(&f->run->outputs, err);
    return f->out ? ND_OK : ND_EIO;
}

/* The first document decides whether messages or rows are written. */
static enum nd_status begin(struct filtering *f, const struct nd_source *source,
                            struct nd_error *err)
{
    f->first = source;
    f->has_messages = is_message(f, source);
    f->run->outputs.hands_on_bad = f->has_messages;
    if (!f->has_messages)
        return open_rows(f, err);
    if (nd_outputs_open_survivors(&f->run->outputs, err) != ND_OK)
        return err->status;
    nd_survivors_take_documents(f->run->outputs.survivors);
    return ND_OK;
}

/*
 * Write the result for one document. Mail is written byte for byte, with the field X-Neardup added
 * above its header; other documents get a row. nearest NULL: the message could not be parsed (a bad
 * record); it is passed on, so that no mail is lost. ND_EINPUT: the stream mixes both kinds;
 * ND_EIO; ND_ENOMEM.
 */
static enum nd_status annotate(struct filtering *f, const struct nd_parsed *parsed,
                               const struct nearest_prototype *nearest, struct nd_error *err)
{
    const struct nd_source *source = parsed->source;
    bool writes_message = is_message(f, source);
    enum nd_status status = ND_OK;

    if (!nearest && !writes_message)
        return ND_OK;
    if (!f->first)
        status = begin(f, source, err);
    if (status != ND_OK)
        return status;
    if (writes_message != f->has_messages)
        return nd_fail(
            err, ND_EINPUT,
            "only one of %s and %s is mail: messages and rows cannot go to one output; --json "
            "writes rows for both",
            f->first->path, source->path);
    return writes_message ? write_message(f, parsed, nearest, err)
                          : write_row(f, parsed, nearest, err);
}

/* All has been read. The file of rows is opened even if there is no row. */
static enum nd_status open_rows_of_none(struct filtering *f, struct nd_error *err)
{
    return !f->first && !f->run->options->output_dir ? open_rows(f, err) : ND_OK;
}

/* ---- The stream ------------------------------------------------------------------------------ */

static bool reserve_items(struct filtering *f, size_t n)
{
    return ND_RESERVE(f->item, &f->item_room[0], n) && ND_RESERVE(f->nearest, &f->item_room[1], n);
}

static bool add_name(struct filtering *f, const struct nd_name *name)
{
    if (!ND_RESERVE(f->name_at, &f->room[0], f->n + 2) ||
        !ND_RESERVE(f->kind, &f->room[1], f->n + 1) || !ND_RESERVE(f->at, &f->room[2], f->n + 1) ||
        !ND_RESERVE(f->group, &f->room[3], f->n + 1))
        return false;
    f->name_at[f->n] = f->name.text.len;
    f->kind[f->n++] = name->kind;
    nd_json_bytes(&f->name, name->text.data, name->text.len);
    f->name_at[f->n] = f->name.text.len;
    return !f->name.failed;
}

/* The hash of a prototype's bytes: all are documents, or all are sketches. */
static uint64_t hash_of(const struct nd_parsed *p)
{
    const struct nd_view text = p->document.text;

    return p->sketched
               ? p->sketched->text_hash[0]
               : nd_replaced_mark(nd_hash_bytes(text.data, text.len), p->document.text_replaced);
}

static char *copy(struct filtering *f, const char *text)
{
    return text ? nd_arena_copy(&f->paths, text, strlen(text) + 1) : NULL;
}

/* Keep the place of the next prototype; the names of a file are copied once. */
static bool add_place(struct filtering *f, const struct nd_parsed *p)
{
    struct nd_at *at = &f->at[f->n - 1];

    *at = f->n > 1 ? f->at[f->n - 2] : (struct nd_at){.path = NULL};
    at->line = p->record.line;
    if (p->source == f->source)
        return true;
    f->source = p->source;
    at->path = copy(f, p->source->path);
    at->entry = copy(f, p->source->entry);
    return at->path && (at->entry || !p->source->entry);
}

/* The hash by which the first of equal prototypes is found, of those of a group and with one set of
 * security labels. */
static uint64_t key_of(const struct nd_parsed *p, uint32_t group, uint32_t labels)
{
    return nd_mix64(hash_of(p) + group) + nd_mix64(labels);
}

static bool find_group(struct filtering *f, const struct nd_parsed *p, uint32_t *group)
{
    const struct nd_view value = nd_document_field(&p->document, f->group_index);

    *group = 0;
    f->has_group |= value.data != NULL;
    return f->group_index < 0 || nd_quoted_add(&f->run->quoted, value, 0, group);
}

/* List a prototype. The first of equal bytes in a group stands for all. */
static enum nd_status list_prototype(void *context, const struct nd_parsed *p, struct nd_error *err)
{
    struct filtering *f = context;
    struct nd_name name;
    uint32_t group, labels;

    if (nd_comparable_is_never(&f->run->comparable, &p->document))
        return ND_OK; /* matches nothing */
    if (!find_group(f, p, &group) ||
        !nd_comparable_labels(&f->run->comparable, &p->document, &labels))
        return no_memory(err);
    if (!f->ignores_text && nd_hash_set_add(&f->raw, key_of(p, group, labels)))
        return ND_OK;
    name = nd_name_of(&p->document, p->source, p->record.line, &f->place);
    if (f->raw.has_no_memory || f->place.failed || !add_name(f, &name) || !add_place(f, p))
        return no_memory(err);
    f->group[f->n - 1] = group;
    if (f->group_index >= 0)
        f->run->quoted.item[group].prototypes++;
    f->item[f->n_items] = nd_parsed_item(p);
    f->item[f->n_items++].labels = nd_comparable_set(&f->run->comparable, labels);
    return ND_OK;
}

/* Name the option that says where the text of a prototype is, where a hint names that of documents. */
static void correct_hint(struct nd_bad_record *bad)
{
    static const char option[] = "--text-field ", added[] = "prototypes-";
    struct nd_bad_record old = *bad;
    const char *at = strstr(old.reason, option);

    if (at)
        (void)snprintf(bad->reason, sizeof bad->reason, "%.*s--%s%s", (int)(at - old.reason),
                       old.reason, added, at + 2);
}

static enum nd_status push_prototypes(struct filtering *f, const struct nd_reading_batch *batch,
                                      struct nd_error *err)
{
    enum nd_status status;

    f->n_items = 0;
    if (!reserve_items(f, batch->count))
        return no_memory(err);
    for (size_t i = 0; i < batch->count; i++)
        if (batch->parsed[i].bad)
            correct_hint(batch->parsed[i].bad);
    status = nd_run_each_document(f->run, batch, list_prototype, f, err);
    return status == ND_OK ? nd_streamed_push_old(&f->streamed, f->item, f->n_items, err) : status;
}

/* How the prototypes are read: as the documents, but for their own fields.  `fields` has room for
 * those of the documents and one more. */
static struct nd_input_options input_of_prototypes(struct filtering *f, const char **fields)
{
    const struct nd_filter_params *p = f->params;
    struct nd_input_options input = f->run->input;

    if (input.format == ND_FORMAT_MAIL)
        input.format = ND_FORMAT_MBOX; /* a single message is a stream as well */
    if (p->n_text_fields) {
        input.text_fields = p->text_fields;
        input.n_text_fields = p->n_text_fields;
    }
    if (p->id_field)
        input.id_field = p->id_field;
    f->group_index = p->group_field ? (int)input.n_fields : -1;
    if (!p->group_field)
        return input;
    if (input.n_fields)
        memcpy(fields, input.fields, input.n_fields * sizeof *fields);
    fields[input.n_fields++] = p->group_field;
    input.fields = fields;
    return input;
}

static void warn_of_prototypes(struct filtering *f, const struct nd_reading *reading,
                               uint64_t documents)
{
    struct nd_field_set *fields = &f->run->fields;

    for (size_t i = 0; f->params->id_field && i < fields->n_watched; i++)
        fields->watched[i].is_met |= fields->watched[i].is_id; /* it is that of the documents */
    nd_field_set_warn(fields, &f->run->reporter, "prototype", f->run->first.names);
    nd_run_forget_first(f->run);
    if (f->params->group_field && !f->has_group)
        nd_reporter_warn(&f->run->reporter, "prototypes-group-field: no prototype has a field '%s'",
                         f->params->group_field);
    nd_run_warn_of_repairs(f->run, reading, documents, "prototype");
    nd_run_warn_unsigned(f->run, f->run->dedup, "prototype");
}

static enum nd_status read_prototypes(struct filtering *f, struct nd_error *err)
{
    const char *const *paths = f->params->prototypes;
    const char *fields[ND_FIELDS_MAX + 1];
    size_t n = f->params->n_prototypes;
    const struct nd_reading_hooks hooks = {.reporter = &f->run->reporter,
                                           .problem = nd_reporter_tell,
                                           .sketches = f->run->sketches_beside,
                                           .record_bytes = f->run->budget.record_bytes,
                                           .batch_bytes = f->run->budget.batch_bytes};
    const struct nd_input_options input = input_of_prototypes(f, fields);
    struct nd_reading_batch *batch;
    struct nd_reading *reading;
    enum nd_status status = ND_OK;
    uint64_t documents = 0;
    int got = 1;

    if (f->run->sketches_beside && (f->params->group_field || f->run->options->security_field))
        return nd_fail(err, ND_EINVAL,
                       "%s: sketch files keep no fields; name the prototypes themselves",
                       f->params->group_field ? "prototypes-group-field" : "security-field");
    reading = nd_reading_new(f->run->pool, paths, n, &input, &hooks, err);
    if (!reading)
        return err->status ? err->status : ND_EINVAL;
    while (status == ND_OK && (got = nd_reading_next(reading, &batch, err)) > 0) {
        documents += batch->count;
        status = push_prototypes(f, batch, err);
        if (status == ND_OK && f->run->budget.total)
            status = nd_budget_check(&f->run->budget, documents, batch->done, batch->total, err);
    }
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && f->run->summary->failed_inputs)
        status = nd_fail(err, ND_EINPUT, "%s", f->run->reporter.failed_input);
    if (status == ND_OK && f->n == 0)
        status = nd_fail(err, ND_EINPUT, "no prototype in %s%s", paths[0],
                         n > 1 ? " or the others" : "");
    if (status == ND_OK)
        warn_of_prototypes(f, reading, documents);
    nd_dedup_get_stats(f->run->dedup, &f->run->old);
    nd_reading_free(reading);
    return status;
}

static enum nd_status note(void *context, const struct nd_found_pair *pair)
{
    struct filtering *f = context;
    struct nearest_prototype *nearest = &f->nearest[pair->a];

    nearest->prototypes++;
    if (f->group_index >= 0)
        nd_quoted_count(&f->run->quoted, f->group[pair->b], f->asked + pair->a);
    if (pair->is_nearest)
        nearest->pair = *pair;
    return ND_OK;
}

static enum nd_status list_item(void *context, const struct nd_parsed *p, struct nd_error *err)
{
    struct filtering *f = context;
    struct nd_dedup_item *item = &f->item[f->n_items];

    *item = nd_parsed_item(p);
    f->nearest[f->n_items++] = (struct nearest_prototype){.prototypes = 0};
    return nd_comparable_item(&f->run->comparable, &p->document, item) ? ND_OK : no_memory(err);
}

static struct nd_name name_of_prototype(const struct filtering *f, uint64_t number)
{
    size_t at = f->name_at[number];

    return (struct nd_name){f->kind[number], {f->name.text.data + at, f->name_at[number + 1] - at}};
}

static bool is_annotated(const struct filtering *f)
{
    return f->output == ND_FILTER_ANNOTATE || f->output == ND_FILTER_ROWS;
}

/* A row of the manifest, as dedup writes it. */
static void put_manifest(struct filtering *f, const struct nd_parsed *parsed,
                         const struct nearest_prototype *nearest,
                         const struct nd_decision *decision)
{
    const struct nd_party matching = {
        nd_name_of(&parsed->document, parsed->source, parsed->record.line, &f->own_name),
        nd_at_of(parsed->source, parsed->record.line)};
    const struct nd_party prototype = {nearest->name, f->at[nearest->pair.b]};

    nd_row_removed(&f->rows.manifest, &f->place, &matching, &prototype, decision, f->run->recipe,
                   (struct nd_row_parts){.via = NULL});
    if (f->own_name.failed || f->place.failed)
        f->rows.manifest.failed = true;
}

static void put_skipped(struct filtering *f, const struct nd_parsed *parsed)
{
    const struct nd_at at = nd_at_of(parsed->source, parsed->record.line);

    if (f->run->outputs.rows)
        nd_row_skipped(&f->rows.manifest, &f->place, &at, parsed->bad->reason);
}

static enum nd_status put(struct filtering *f, const struct nd_parsed *parsed,
                          struct nearest_prototype *nearest, const struct nd_decision *decision,
                          struct nd_error *err)
{
    bool is_match = nearest->prototypes > 0;

    if (is_match)
        nearest->name = name_of_prototype(f, nearest->pair.b);
    if (is_match && decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(f->run->measured, &f->run->recipe->dedup, &decision->overlap,
                          &decision->overlap);
    if (is_match && f->run->outputs.rows)
        put_manifest(f, parsed, nearest, decision);
    if (is_annotated(f))
        return annotate(f, parsed, nearest, err);
    if (f->output == ND_FILTER_NOTHING || is_match != (f->output == ND_FILTER_MATCHES))
        return ND_OK;
    return nd_outputs_survive(&f->run->outputs, &parsed->record, parsed->record.bytes, err);
}

/* Write the results of the batch in order, including bad records. */
static enum nd_status put_batch(struct filtering *f, const struct nd_reading_batch *batch,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t item = 0;

    for (size_t i = 0; status == ND_OK && i < batch->count; i++) {
        const struct nd_parsed *parsed = &batch->parsed[i];

        if (parsed->bad)
            put_skipped(f, parsed);
        if (!parsed->bad) {
            status = put(f, parsed, &f->nearest[item], &f->streamed.decision[item], err);
            item++;
        } else if (is_annotated(f)) {
            status = annotate(f, parsed, NULL, err);
        }
    }
    f->asked += item;
    return status == ND_OK ? nd_outputs_put_rows(&f->run->outputs, &f->rows, err) : status;
}

static enum nd_status flush(struct filtering *f, struct nd_error *err)
{
    if (is_annotated(f) && !f->run->outputs.survivors)
        return f->out ? nd_output_flush(f->out, err) : ND_OK;
    return f->run->outputs.survivors ? nd_survivors_flush(f->run->outputs.survivors, err) : ND_OK;
}

static enum nd_status filter_batch(void *context, const struct nd_reading_batch *batch,
                                   struct nd_error *err)
{
    struct filtering *f = context;
    enum nd_status status;

    f->n_items = 0;
    if (!reserve_items(f, batch->count))
        return no_memory(err);
    status = nd_run_each_document(f->run, batch, list_item, f, err);
    if (status == ND_OK)
        status = nd_streamed_push(&f->streamed, f->item, f->n_items, err);
    if (status == ND_OK)
        status = put_batch(f, batch, err);
    return status == ND_OK ? flush(f, err) : status;
}

static void summarise(struct filtering *f)
{
    struct nd_run_summary *summary = f->run->summary;

    nd_dedup_stats_add(&f->run->past, &f->streamed.judged);
    f->run->has_past = true;
    summary->filters = 1;
    summary->prototypes = f->n;
    summary->kept = f->streamed.judged.kept;
    summary->removed = summary->documents - f->streamed.judged.kept;
    summary->identical_bytes = f->streamed.judged.identical_bytes;
    summary->identical_tokens = f->streamed.judged.identical_tokens;
    summary->near = f->streamed.judged.near;
}

static enum nd_status finish(struct filtering *f, struct nd_error *err)
{
    enum nd_status status = is_annotated(f) ? open_rows_of_none(f, err) : ND_OK;
    struct nd_output *out = f->out;

    f->out = NULL;
    summarise(f);
    if (status == ND_OK)
        return nd_run_finish(f->run, out, err);
    nd_output_discard(out);
    return status;
}

/* Annotated messages have an output too, but it is opened at the first message (annotation.c). */
static enum nd_status open_survivors(struct filtering *f, struct nd_error *err)
{
    return f->output == ND_FILTER_MATCHES || f->output == ND_FILTER_OTHERS
               ? nd_outputs_open_survivors(&f->run->outputs, err)
               : ND_OK;
}

static enum nd_status filter(struct filtering *f, struct nd_error *err)
{
    struct nd_run *run = f->run;
    enum nd_status status = nd_run_make_dedup(run, ND_CLUSTER_PAIRS, NULL, err);

    f->streamed = (struct nd_streamed){.dedup = run->dedup,
                                       .cluster = ND_CLUSTER_PAIRS,
                                       .only_old = true,
                                       .judges = true,
                                       .found = note,
                                       .context = f};
    if (status == ND_OK)
        status = read_prototypes(f, err);
    if (status == ND_OK)
        status = nd_outputs_open_summary(&run->outputs, err);
    if (status == ND_OK)
        status = open_survivors(f, err);
    if (status == ND_OK)
        status = nd_outputs_open_manifest(&run->outputs, err);
    if (status == ND_OK)
        status = nd_run_each_batch(run, filter_batch, f, err);
    return status == ND_OK ? finish(f, err) : status;
}

static void release(struct filtering *f)
{
    nd_output_discard(f->out);
    nd_json_release(&f->name);
    nd_json_release(&f->place);
    nd_json_release(&f->row);
    nd_json_release(&f->own_name);
    nd_rows_release(&f->rows);
    nd_hash_set_release(&f->raw);
    nd_arena_release(&f->paths);
    free(f->name_at);
    free(f->kind);
    free(f->at);
    free(f->group);
    free(f->item);
    free(f->nearest);
    nd_streamed_release(&f->streamed);
}

static enum nd_status check_filter(const struct nd_run_options *options,
                                   const struct nd_filter_params *params, struct nd_error *err)
{
    if (!params->n_prototypes)
        return nd_fail(err, ND_EINVAL, "no prototypes: name files or folders");
    if (options->copy_to || options->link_to || options->annotate)
        return nd_fail(err, ND_EINVAL,
                       "filter has neither copy_to nor link_to, and annotates through `output`");
    return nd_recipe_params_check(options->recipe, err);
}

enum nd_status nd_run_filter(const struct nd_run_options *options,
                             const struct nd_filter_params *params,
                             const struct nd_run_events *events, struct nd_run_summary *summary,
                             struct nd_error *err)
{
    struct nd_error room = {0};
    struct nd_run run;
    const struct nd_first_line_prototypes prototypes = {params->prototypes,   params->text_fields,
                                                        params->n_prototypes, params->n_text_fields,
                                                        params->id_field,     params->group_field};
    const struct nd_run_request request = {.reads = params->prototypes,
                                           .n_reads = params->n_prototypes,
                                           .reading.answers_pauses = true,
                                           .reads_documents = true,
                                           .takes_sketches = true,
                                           .compares = true,
                                           .heeds_security = true,
                                           .writes_output = !options->output_dir,
                                           .writes_survivors = true,
                                           .hands_on_bad = params->output == ND_FILTER_ANNOTATE,
                                           .writes_summary = true,
                                           .writes_manifest = true,
                                           .prototypes = &prototypes,
                                           .may_replace = params->output == ND_FILTER_MATCHES ||
                                                          params->output == ND_FILTER_OTHERS};
    struct filtering f = {.run = &run,
                          .params = params,
                          .output = params->output,
                          .group_index = -1,
                          .raw.bytes_max = (size_t)64 << 20};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *summary = (struct nd_run_summary){0};
    if (check_filter(options, params, err) != ND_OK)
        return err->status;
    f.ignores_text = options->recipe->dedup.candidates == ND_CANDIDATES_MATCH &&
                     nd_method_ignores_text(&options->recipe->method);
    status = nd_run_begin(&run, options, &request, events, summary, err);
    if (status == ND_OK)
        status = nd_field_set_watch_within(&run.fields, NULL, options->security_field, err);
    if (status == ND_OK)
        status = filter(&f, err);
    release(&f);
    nd_run_end(&run);
    return nd_run_status(status, err);
}
