/* explain_rows.c - the rows of a manifest with the least resemblance, each explained */

/*
 * Reads the rows of lowest resemblance from a manifest, finds both documents of each row in the
 * inputs that the manifest names, and explains each pair as explain.c does. A document is searched
 * by its place, and by its id if the name is an id: files may have changed since the run, so what
 * is found under a name may be a different text. In that case the new resemblance differs from the
 * recorded one, and the row says so.
 */
#define _GNU_SOURCE
#include "reading/names.h"
#include "run/run_parts.h"
#include "uses/read_manifest.h"
#include "uses/two_documents.h"

#include <neardup/explain.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A name to search for, and where the document with that name goes. */
struct wanted {
    const char *name;
    size_t held;
};

struct manifest_rows {
    struct nd_manifest manifest;
    const struct nd_run_events *events;
    struct nd_held *held; /* of row i: held[2 i] was kept, held[2 i + 1] removed */
    struct wanted *place, *id;
    size_t n, missing; /* documents to find, and those left; one in two rows is two */
    bool by_id;
    struct nd_parser *parser;
    struct nd_json at, value, own, room;
};

static int by_name(const void *left, const void *right)
{
    const struct wanted *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : a->held < b->held ? -1 : a->held > b->held;
}

static enum nd_status want(struct manifest_rows *r, struct nd_error *err)
{
    const struct nd_manifest *m = &r->manifest;

    r->n = r->missing = 2 * m->n_rows;
    r->held = calloc(r->n + 1, sizeof *r->held);
    r->place = nd_alloc_array(r->n, sizeof *r->place);
    r->id = nd_alloc_array(r->n, sizeof *r->id);
    if (!r->held || !r->place || !r->id)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < r->n; i++) {
        r->place[i] = (struct wanted){m->row[i / 2].at[i % 2], i};
        r->id[i] = (struct wanted){m->row[i / 2].name[i % 2], i};
    }
    if (r->n) {
        qsort(r->place, r->n, sizeof *r->place, by_name);
        qsort(r->id, r->n, sizeof *r->id, by_name);
    }
    return ND_OK;
}

/* The index of the first entry with this name; n if there is none. */
static size_t find(const struct wanted *list, size_t n, struct nd_view name)
{
    size_t from = 0, to = n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const char *here = list[middle].name;
        size_t len = strlen(here), least = len < name.len ? len : name.len;
        int order = memcmp(here, name.data, least);

        if (order < 0 || (order == 0 && len < name.len))
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool is_called(const struct wanted *w, struct nd_view name)
{
    return strlen(w->name) == name.len && memcmp(w->name, name.data, name.len) == 0;
}

/* Put the value of a name into *room, with one byte after it so that it is never NULL. */
static struct nd_view value_of(struct nd_json *room, struct nd_view name)
{
    room->text.len = 0;
    nd_name_value(room, name);
    nd_json_bytes(room, "", 1);
    return room->failed ? (struct nd_view){"", 0}
                        : (struct nd_view){room->text.data, room->text.len - 1};
}

/*
 * Give the document to every entry that searches for this name, at this place or anywhere. An entry
 * that was found by its place is not replaced. False: out of memory.
 */
static bool give(struct manifest_rows *r, struct nd_view wanted, bool is_place,
                 const struct nd_document *document, const struct nd_name *called)
{
    const struct nd_view at = {r->at.text.data, r->at.text.len};
    const struct wanted *list = is_place ? r->place : r->id;

    for (size_t i = find(list, r->n, wanted); i < r->n && is_called(&list[i], wanted); i++) {
        const size_t number = list[i].held;
        struct nd_held *held = &r->held[number];
        const struct wanted own = {r->manifest.row[number / 2].name[number % 2], number};

        if (held->is_exact || (held->is_found && !is_place))
            continue;
        /* The file may have been rewritten since, with another document at the same place. */
        if (is_place && !is_called(&own, value_of(&r->own, called->text)))
            continue;
        r->missing -= !held->is_found;
        if (!nd_held_take(held, document, called, at))
            return false;
        held->is_exact = is_place;
    }
    return true;
}

/* Records that cannot match are not parsed, unless some entry is searched by id. */
/* False: out of memory. */
static bool look_at(struct manifest_rows *r, const struct nd_source *source,
                    const struct nd_record *record)
{
    struct nd_document document;
    struct nd_bad_record bad;
    struct nd_view place;
    struct nd_name name;
    size_t first;
    int parsed;

    r->at.text.len = 0;
    nd_place_append(&r->at, source, record->line);
    if (r->at.failed)
        return false;
    place = value_of(&r->value, (struct nd_view){r->at.text.data, r->at.text.len});
    first = find(r->place, r->n, place);
    if (r->value.failed)
        return false;
    if (!r->by_id && (first == r->n || !is_called(&r->place[first], place)))
        return true;
    nd_parser_reset(r->parser);
    parsed = nd_parser_parse(r->parser, source, record->bytes, &document, NULL, &bad);
    if (parsed <= 0)
        return parsed == 0;
    name = nd_name_of(&document, source, record->line, &r->room);
    return !r->room.failed && give(r, place, true, &document, &name) &&
           (!r->by_id || give(r, value_of(&r->value, name.text), false, &document, &name)) &&
           !r->value.failed && !r->own.failed;
}

/* A later document with the same id may be the one at the recorded place. */
static int take(void *context, const struct nd_source *source, const struct nd_record *record,
                struct nd_error *err)
{
    struct manifest_rows *r = context;

    return look_at(r, source, record) ? r->missing || r->by_id
                                      : (int)nd_fail(err, ND_ENOMEM, "out of memory");
}

/*
 * Decode a path of the manifest into bytes: \xNN stands for a byte that is not valid UTF-8, unless
 * a file has that literal name.
 */
static void restore_path(char *path)
{
    char *to = path;

    if (access(path, F_OK) == 0)
        return;
    for (const char *at = path; *at;) {
        unsigned byte;
        int used = 0;

        if (sscanf(at, "\\x%2X%n", &byte, &used) == 1 && used == 4 && byte >= 0x80 &&
            byte <= 0xFF) {
            *to++ = (char)byte;
            at += 4;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

/* Whether one of the places is in this input, such as "path", "path:3" or "path!entry". */
static bool is_needed(const struct manifest_rows *r, const char *path)
{
    const size_t len = strlen(path);
    size_t i = find(r->place, r->n, (struct nd_view){path, len});

    for (; i < r->n && strncmp(r->place[i].name, path, len) == 0; i++)
        if (!r->place[i].name[len] || r->place[i].name[len] == ':' || r->place[i].name[len] == '!')
            return true;
    return false;
}

/* List the inputs that contain a document to find. */
static enum nd_status needed_paths(struct manifest_rows *r, const char **path, size_t *n,
                                   struct nd_error *err)
{
    const struct nd_manifest *m = &r->manifest;

    *n = 0;
    for (size_t i = 0; i < m->n_paths; i++) {
        if (!is_needed(r, m->paths[i]))
            continue;
        if (strcmp(m->paths[i], "-") == 0)
            return nd_fail(
                err, ND_EINPUT,
                "the manifest's documents came from the standard input: name their files with "
                "--corpus, to find them by their ids");
        path[*n] = m->paths[i];
        restore_path((char *)(uintptr_t)path[(*n)++]);
    }
    return ND_OK;
}

static enum nd_status find_documents(struct manifest_rows *r, const struct nd_run *run,
                                     struct nd_error *err)
{
    const struct nd_run_options *options = run->options;
    const char **path = nd_alloc_array(r->manifest.n_paths, sizeof *path);
    enum nd_status status = path ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
    size_t n = options->n_paths;

    r->by_id = n > 0;
    if (status == ND_OK && !r->by_id)
        status = needed_paths(r, path, &n, err);
    if (status == ND_OK && n) {
        r->parser = nd_parser_new(&run->input, err);
        status = r->parser ? nd_each_record(run, r->by_id ? options->paths : path, n, take, r, err)
                           : ND_ENOMEM;
    }
    free(path);
    return status;
}

/*
 * Both numbers are the shortest decimals of doubles computed in the same way, so any difference
 * means that the texts changed.
 */
static bool has_changed(const struct nd_manifest_row *row, const struct nd_overlap *o)
{
    uint64_t either = o->a + o->b - o->shared;

    return row->resemblance >= 0 &&
           fabs(row->resemblance - (either ? (double)o->shared / (double)either : 1)) > 1e-9;
}

static enum nd_status explain_row(struct manifest_rows *r, size_t i, const struct nd_recipe *recipe,
                                  const struct nd_explain_rows_params *params,
                                  struct nd_use_summary *summary, struct nd_error *err)
{
    const struct nd_manifest_row *row = &r->manifest.row[i];
    struct nd_held *held = &r->held[2 * i];
    struct nd_explanation e = {.is_duplicate = 0};
    struct nd_explained_row out = {.number = row->number,
                                   .resemblance = row->resemblance,
                                   .kept_at = row->at[0],
                                   .removed_at = row->at[1],
                                   .missing = !held[0].is_found   ? row->at[0]
                                              : !held[1].is_found ? row->at[1]
                                                                  : NULL};
    enum nd_status status = ND_OK;

    if (!out.missing) {
        status = nd_explain_both(recipe, held, &e, err);
        out.explanation = &e;
        out.has_changed = has_changed(row, &e.overlap);
    }
    summary->found += !out.missing;
    summary->left_out += out.missing != NULL;
    if (status == ND_OK && params->each(params->context, &out) != 0)
        status = nd_fail(err, ND_ECANCELLED, "stopped");
    nd_explanation_release(&e);
    return status;
}

static void release(struct manifest_rows *r)
{
    for (size_t i = 0; r->held && i < r->n; i++)
        nd_held_release(&r->held[i]);
    free(r->held);
    free(r->place);
    free(r->id);
    nd_parser_free(r->parser);
    nd_json_release(&r->at);
    nd_json_release(&r->value);
    nd_json_release(&r->own);
    nd_json_release(&r->room);
    nd_manifest_release(&r->manifest);
}

static enum nd_status run_rows(struct manifest_rows *r, const struct nd_run_options *options,
                               const struct nd_explain_rows_params *params,
                               struct nd_use_summary *summary, struct nd_error *err)
{
    static const struct nd_run_request request;
    struct nd_run run;
    enum nd_status status = nd_run_begin_recipe(&run, options, &request, r->events, NULL, err);

    if (status == ND_OK)
        status = nd_manifest_read(&r->manifest, params->manifest, params->lowest, err);
    if (status == ND_OK)
        status = want(r, err);
    if (status == ND_OK) {
        if (!params->own_recipe)
            *run.recipe = r->manifest.recipe;
        run.input = r->manifest.input;
        run.input.fields = run.fields.name;
        run.input.n_fields = 0;
        status = nd_run_open_recipe(&run, err);
    }
    if (status == ND_OK)
        status = find_documents(r, &run, err);
    for (size_t i = 0; i < r->manifest.n_rows && status == ND_OK; i++)
        status = explain_row(r, i, run.recipe, params, summary, err);
    summary->documents = r->manifest.n_removed;
    nd_run_end(&run);
    return status;
}

enum nd_status nd_run_explain_rows(const struct nd_run_options *options,
                                   const struct nd_explain_rows_params *params,
                                   const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err)
{
    struct manifest_rows r = {.events = events};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    *summary = (struct nd_use_summary){.documents = 0};
    if (!params->manifest || !params->each || params->lowest < 1 ||
        params->lowest > ND_EXPLAIN_ROWS_MAX)
        return nd_fail(err, ND_EINVAL,
                       "rows need a manifest, a number from 1 to %u, and a function",
                       ND_EXPLAIN_ROWS_MAX);
    if (options->df_auto)
        return nd_fail(err, ND_EINVAL,
                       "--df auto counts the documents that are read, which are only some of the "
                       "manifest's: name a table");
    status = run_rows(&r, options, params, summary, err);
    release(&r);
    return nd_run_status(status, err);
}
