/* explain_find.c - the two documents to explain, found in their inputs */
#include "pipeline/explain.h"

#include "pipeline/names.h"

#include <string.h>

struct finding {
    const char *const *wanted;
    struct nd_held *held;
    uint64_t documents;
    struct nd_input *input;
    struct nd_parser *parser;
    const struct nd_run_events *events;
    char bad[512]; /* the last bad record */
};

static bool copy(struct nd_json *to, struct nd_view from)
{
    to->text.len = 0;
    nd_json_bytes(to, from.data, from.len);
    nd_json_bytes(to, "", 1);
    return !to->failed;
}

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

/* All of the document, for features that are made of more than its text. */
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

static bool hold(struct nd_held *held, const struct nd_document *document,
                 const struct nd_name *name, struct nd_view at)
{
    held->is_found = true;
    return copy(&held->text, document->text) && copy(&held->id, name->text) &&
           copy(&held->at, at) && hold_document(held, document);
}

static bool is_called(const char *wanted, struct nd_view name)
{
    return strlen(wanted) == name.len && memcmp(wanted, name.data, name.len) == 0;
}

/* The first document of an id or place counts. */
static bool consider(struct finding *f, const struct nd_document *document,
                     const struct nd_name *name, struct nd_view at)
{
    f->documents++;
    if (!f->wanted)
        return f->held->is_found || hold(f->held, document, name, at);
    for (unsigned i = 0; i < 2; i++)
        if (!f->held[i].is_found &&
            (is_called(f->wanted[i], name->text) || is_called(f->wanted[i], at)))
            if (!hold(&f->held[i], document, name, at))
                return false;
    return true;
}

static bool take(struct finding *f, const struct nd_record *record)
{
    const struct nd_source *source = nd_input_source(f->input, record->source);
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
    return ok;
}

static bool is_done(const struct finding *f)
{
    return f->wanted && f->held[0].is_found && f->held[1].is_found;
}

static enum nd_status search(struct finding *f, struct nd_error *err)
{
    struct nd_batch batch = {0};
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && !is_done(f) &&
           (got = nd_input_read(f->input, 1 << 20, 1024, &batch, err)) > 0)
        for (size_t i = 0; status == ND_OK && !is_done(f) && i < batch.count; i++)
            if (!take(f, &batch.records[i]))
                status = nd_fail(err, ND_ENOMEM, "out of memory");
    nd_batch_release(&batch);
    return status == ND_OK && got < 0 ? (enum nd_status)got : status;
}

static enum nd_status judge(const struct finding *f, const char *path, struct nd_error *err)
{
    for (unsigned i = 0; f->wanted && i < 2; i++)
        if (!f->held[i].is_found)
            return nd_fail(err, ND_EINPUT, "%s: no document has this id", f->wanted[i]);
    if (!f->wanted && f->documents == 0)
        return nd_fail(err, ND_EINPUT, "%s: holds no document", path);
    if (!f->wanted && f->documents > 1)
        return nd_fail(err, ND_EINPUT,
                       "%s: holds %llu documents; name two of them by their ids with --corpus",
                       path, (unsigned long long)f->documents);
    return ND_OK;
}

static void pass_on(void *context, const struct nd_problem *problem)
{
    const struct nd_run_events *events = context;

    if (events && events->problem)
        events->problem(events->context, problem);
}

enum nd_status nd_explain_find(const struct nd_run_options *options, const char *const *paths,
                               size_t n_paths, const char *const *wanted, struct nd_held *held,
                               const struct nd_run_events *events, struct nd_error *err)
{
    struct finding f = {.wanted = wanted, .held = held, .events = events};
    enum nd_status status = ND_ENOMEM;

    f.input =
        nd_input_open(paths, n_paths, &options->input, pass_on, (void *)(uintptr_t)events, err);
    if (!f.input)
        return err->status ? err->status : ND_EINVAL;
    f.parser = nd_parser_new(&options->input, err);
    if (f.parser)
        status = search(&f, err);
    if (status == ND_OK)
        status = judge(&f, paths[0], err);
    nd_parser_free(f.parser);
    nd_input_close(f.input);
    return status;
}

enum nd_status nd_explain_find_both(const struct nd_run_options *options, const char *const *names,
                                    struct nd_held *held, const struct nd_run_events *events,
                                    struct nd_error *err)
{
    enum nd_status status;

    if (options->n_paths)
        return nd_explain_find(options, options->paths, options->n_paths, names, held, events, err);
    if (strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0)
        return nd_fail(err, ND_EINVAL, "the standard input cannot be both documents");
    status = nd_explain_find(options, &names[0], 1, NULL, &held[0], events, err);
    if (status != ND_OK)
        return status;
    return nd_explain_find(options, &names[1], 1, NULL, &held[1], events, err);
}
