/* two_documents.c - two documents: finding them, and what compare and explain say of both */

/*
 * The code that compare and explain share. A document is found by its exact name, or by the escaped
 * form in which outputs write it; an exact match wins, so the search goes on after a match by
 * escapes. Found documents are copied into an arena, because the reader's batch is reused.
 */
#include "uses/two_documents.h"
#include "base/groups.h"
#include "reading/names.h"
#include "run/run_parts.h"

#include <neardup/sketch.h>
#include <neardup/text.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "recipe/recipe_struct.h"

/* ---- Reading record by record ---------------------------------------------------------------- */

static void pass_on(void *context, const struct nd_problem *problem)
{
    const struct nd_run_events *events = context;

    if (events && events->problem)
        events->problem(events->context, problem);
}

enum nd_status nd_each_record(const struct nd_run *run, const char *const *paths, size_t n_paths,
                              nd_take_record *take, void *context, struct nd_error *err)
{
    struct nd_input *input = nd_input_open(paths, n_paths, &run->input, pass_on,
                                           (void *)(uintptr_t)run->reporter.to, err);
    struct nd_batch batch = {0};
    int got = 1;

    if (!input)
        return err->status ? err->status : ND_EINVAL;
    while (got > 0 && (got = nd_input_read(input, 1 << 20, 1024, &batch, err)) > 0)
        for (size_t i = 0; got > 0 && i < batch.count; i++) {
            const struct nd_record *record = &batch.records[i];

            got = take(context, nd_input_source(input, record->source), record, err);
        }
    nd_batch_release(&batch);
    nd_input_close(input);
    return got < 0 ? (enum nd_status)got : ND_OK;
}

/* ---- Finding documents by their names -------------------------------------------------------- */

struct finding {
    const char *const *wanted;
    size_t n_wanted;
    struct nd_held *held;
    uint64_t documents;
    struct nd_parser *parser;
    const struct nd_run_events *events;
    struct nd_json room; /* scratch for names with escapes */
};

static bool keep_view(struct nd_arena *arena, struct nd_view *view)
{
    if (!view->data)
        return true;
    view->data = nd_arena_copy(arena, view->data, view->len);
    return view->data != NULL;
}

/* A copy of an array in the arena; NULL: out of memory. */
static void *keep_array(struct nd_arena *arena, const void *from, size_t bytes)
{
    void *copied = nd_arena_alloc(arena, bytes + 1);

    if (copied && bytes)
        memcpy(copied, from, bytes);
    return copied;
}

/* Copy the whole document, because features are made of more than its text. */
static bool hold_document(struct nd_held *held, const struct nd_document *from)
{
    struct nd_arena *arena = &held->arena;
    struct nd_document *d = &held->document;
    struct nd_field *field = keep_array(arena, from->fields, from->n_fields * sizeof *field);
    struct nd_link *link = keep_array(arena, from->links, from->n_links * sizeof *link);
    struct nd_element *element =
        keep_array(arena, from->elements, from->n_elements * sizeof *element);

    *d = *from;
    d->fields = field;
    d->links = link;
    d->elements = element;
    d->fields_replaced = NULL;
    if (!d->text.data)
        d->text = (struct nd_view){"", 0};
    d->markup = keep_array(arena, from->markup, from->n_markup * sizeof *from->markup);
    if (!field || !link || !element || !d->markup || !keep_view(arena, &d->id) ||
        !keep_view(arena, &d->text) || !keep_view(arena, &d->base))
        return false;
    for (size_t i = 0; i < d->n_fields; i++)
        if (!keep_view(arena, &field[i].name) || !keep_view(arena, &field[i].value))
            return false;
    for (size_t i = 0; i < d->n_links; i++)
        if (!keep_view(arena, &link[i].target))
            return false;
    for (size_t i = 0; i < d->n_elements; i++)
        if (!keep_view(arena, &element[i].name))
            return false;
    return true;
}

void nd_held_release(struct nd_held *held)
{
    nd_name_release(&held->name);
    nd_arena_release(&held->arena);
    *held = (struct nd_held){0};
}

bool nd_held_take(struct nd_held *held, const struct nd_document *document,
                  const struct nd_name *name, struct nd_view at)
{
    nd_held_release(held);
    held->is_found = true;
    return nd_name_copy(&held->name, name, at) && hold_document(held, document);
}

static bool is_called(const char *wanted, struct nd_view name)
{
    return strlen(wanted) == name.len && memcmp(wanted, name.data, name.len) == 0;
}

/*
 * Whether the name is the document's id or place, either exactly or with escapes. An exact match
 * wins over one with escapes, wherever it is found.
 */
static bool consider_one(struct finding *f, size_t which, const struct nd_document *document,
                         const struct nd_name *name, struct nd_view at)
{
    const char *wanted = f->wanted[which];
    const struct nd_view written = {wanted, strlen(wanted)};
    struct nd_held *held = &f->held[which];
    bool is_exact;

    if (held->is_exact)
        return true;
    is_exact = is_called(wanted, name->text) || is_called(wanted, at);
    if (!is_exact && (held->is_found || (!nd_name_is_written(written, name->text, &f->room) &&
                                         !nd_name_is_written(written, at, &f->room))))
        return !f->room.failed;
    if (!nd_held_take(held, document, name, at))
        return false;
    held->is_exact = is_exact;
    return true;
}

/* The first document with an id or place counts. */
static bool consider(struct finding *f, const struct nd_document *document,
                     const struct nd_name *name, struct nd_view at)
{
    f->documents++;
    if (!f->wanted)
        return f->held->is_found || nd_held_take(f->held, document, name, at);
    for (size_t i = 0; i < f->n_wanted; i++)
        if (!consider_one(f, i, document, name, at))
            return false;
    return true;
}

static bool is_done(const struct finding *f)
{
    size_t n = 0;

    while (n < f->n_wanted && f->held[n].is_exact)
        n++;
    return f->n_wanted && n == f->n_wanted;
}

static int take_record(void *context, const struct nd_source *source,
                       const struct nd_record *record, struct nd_error *err)
{
    struct finding *f = context;
    struct nd_json at = {0}, room = {0};
    struct nd_document document;
    struct nd_bad_record bad;
    uint64_t repaired = 0;
    bool ok;
    int parsed;

    nd_parser_reset(f->parser);
    parsed = nd_parser_parse(f->parser, source, record->bytes, &document, &repaired, &bad);
    nd_place_append(&at, source, record->line);
    ok = parsed >= 0 && !at.failed;
    if (ok && parsed) {
        struct nd_name name = nd_name_of(&document, source, record->line, &room);

        ok = consider(f, &document, &name, (struct nd_view){at.text.data, at.text.len}) &&
             !room.failed;
    } else if (ok) {
        nd_json_bytes(&at, "", 1);
        if (f->events && f->events->bad_record && !at.failed)
            f->events->bad_record(f->events->context, at.text.data, bad.reason);
    }
    nd_json_release(&at);
    nd_json_release(&room);
    return ok ? !is_done(f) : (int)nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status judge(const struct finding *f, const char *path, struct nd_error *err)
{
    for (size_t i = 0; i < f->n_wanted; i++)
        if (!f->held[i].is_found)
            return nd_fail(err, ND_EINPUT, "%s: no document has this id or place", f->wanted[i]);
    if (!f->wanted && f->documents == 0)
        return nd_fail(err, ND_EINPUT, "%s: contains no document", path);
    if (!f->wanted && f->documents > 1)
        return nd_fail(err, ND_EINPUT,
                       "%s: contains %llu documents; name one by its id with --corpus", path,
                       (unsigned long long)f->documents);
    return ND_OK;
}

enum nd_status nd_find_documents(const struct nd_run *run, const char *const *paths, size_t n_paths,
                                 const char *const *wanted, size_t n_wanted, struct nd_held *held,
                                 struct nd_error *err)
{
    struct finding f = {.wanted = wanted,
                        .n_wanted = n_wanted,
                        .held = held,
                        .parser = nd_parser_new(&run->input, err),
                        .events = run->reporter.to};
    enum nd_status status =
        f.parser ? nd_each_record(run, paths, n_paths, take_record, &f, err) : ND_ENOMEM;

    if (status == ND_OK)
        status = judge(&f, paths[0], err);
    nd_parser_free(f.parser);
    nd_json_release(&f.room);
    return status;
}

enum nd_status nd_find_both(const struct nd_run *run, const char *const *names,
                            struct nd_held *held, struct nd_error *err)
{
    const struct nd_run_options *options = run->options;
    enum nd_status status;

    if (options->n_paths)
        return nd_find_documents(run, options->paths, options->n_paths, names, 2, held, err);
    if (strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0)
        return nd_fail(err, ND_EINVAL, "standard input cannot be both documents");
    status = nd_find_documents(run, &names[0], 1, NULL, 0, &held[0], err);
    if (status != ND_OK)
        return status;
    return nd_find_documents(run, &names[1], 1, NULL, 0, &held[1], err);
}

enum nd_status nd_finding_begin(struct nd_run *run, const struct nd_run_options *options,
                                const struct nd_run_events *events, bool opens_recipe,
                                struct nd_error *err)
{
    static const struct nd_run_request request;
    enum nd_status status = nd_recipe_params_check(options->recipe, err);

    if (status != ND_OK)
        *run = (struct nd_run){.options = options, .request = &request};
    else
        status = nd_run_begin_recipe(run, options, &request, events, NULL, err);
    return status == ND_OK && opens_recipe ? nd_run_open_recipe(run, err) : status;
}

enum nd_status nd_finding_end(struct nd_run *run, enum nd_status status, struct nd_error *err)
{
    size_t n_published = 0;

    if (status == ND_OK)
        status = nd_publisher_publish(&run->outputs.publisher, &n_published, err);
    nd_run_end(run);
    return nd_run_status(status, err);
}
