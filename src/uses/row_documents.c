/* row_documents.c - the documents of the rows of a manifest, found again */

/*
 * A document is searched by its place, and by its id if other files are named: files may have changed
 * since the run, so what is found under a name may be a different text.
 */
#include "uses/row_documents.h"

#include "base/system/naming.h"
#include "reading/names.h"
#include "run/run_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A name to search for, and where the document with that name goes. */
struct wanted {
    const char *name;
    size_t held;
};

struct row_search {
    const struct nd_manifest *manifest;
    struct nd_row_documents *found;
    struct wanted *place, *id;
    size_t n, missing; /* documents to find, and those left; one in two rows is two */
    bool by_id, leaves_out;
    struct nd_parser *parser;
    struct nd_json at, value, own, room;
};

static int by_name(const void *left, const void *right)
{
    const struct wanted *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : a->held < b->held ? -1 : a->held > b->held;
}

static enum nd_status want(struct row_search *r, struct nd_error *err)
{
    const struct nd_manifest *m = r->manifest;

    r->n = r->missing = r->found->n = 2 * m->n_rows;
    r->found->held = calloc(r->n + 1, sizeof *r->found->held);
    r->place = nd_alloc_array(r->n, sizeof *r->place);
    r->id = nd_alloc_array(r->n, sizeof *r->id);
    if (!r->found->held || !r->place || !r->id)
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
static bool give(struct row_search *r, struct nd_view wanted, bool is_place,
                 const struct nd_document *document, const struct nd_name *called)
{
    const struct nd_view at = {r->at.text.data, r->at.text.len};
    const struct wanted *list = is_place ? r->place : r->id;

    for (size_t i = find(list, r->n, wanted); i < r->n && is_called(&list[i], wanted); i++) {
        const size_t number = list[i].held;
        struct nd_held *held = &r->found->held[number];
        const struct wanted own = {r->manifest->row[number / 2].name[number % 2], number};

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
static bool look_at(struct row_search *r, const struct nd_source *source,
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
    struct row_search *r = context;

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

    if (nd_path_exists(path))
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
static bool is_needed(const struct row_search *r, const char *path)
{
    const size_t len = strlen(path);
    size_t i = find(r->place, r->n, (struct nd_view){path, len});

    for (; i < r->n && strncmp(r->place[i].name, path, len) == 0; i++)
        if (!r->place[i].name[len] || r->place[i].name[len] == ':' || r->place[i].name[len] == '!')
            return true;
    return false;
}

/* Note an input that cannot be searched. */
static void leave_out(struct nd_row_documents *found, const char *path)
{
    found->first_missing = found->n_missing++ ? found->first_missing : path;
}

/* List the inputs that contain a document to find. */
static enum nd_status needed_paths(struct row_search *r, const char **path, size_t *n,
                                   struct nd_error *err)
{
    const struct nd_manifest *m = r->manifest;

    *n = 0;
    for (size_t i = 0; i < m->n_paths; i++) {
        const bool is_stream = strcmp(m->paths[i], "-") == 0;

        if (!is_needed(r, m->paths[i]))
            continue;
        if (is_stream && !r->leaves_out)
            return nd_fail(
                err, ND_EINPUT,
                "the manifest's documents came from the standard input: name their files with "
                "--corpus, to find them by their ids");
        if (!is_stream)
            restore_path((char *)(uintptr_t)m->paths[i]);
        if (r->leaves_out && (is_stream || !nd_path_is_readable(m->paths[i])))
            leave_out(r->found, m->paths[i]);
        else
            path[(*n)++] = m->paths[i];
    }
    return ND_OK;
}

static enum nd_status search(struct row_search *r, const struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *options = run->options;
    const char **path = nd_alloc_array(r->manifest->n_paths + 1, sizeof *path);
    enum nd_status status = path ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
    size_t n = options->n_paths;

    r->by_id = n > 0;
    if (status == ND_OK && !r->by_id)
        status = needed_paths(r, path, &n, err);
    if (status == ND_OK && n && r->n) {
        r->parser = nd_parser_new(&run->input, err);
        status = r->parser ? nd_each_record(run, r->by_id ? options->paths : path, n, take, r, err)
                           : ND_ENOMEM;
    }
    free(path);
    return status;
}

enum nd_status nd_row_documents_find(struct nd_row_documents *found, const struct nd_run *run,
                                     const struct nd_manifest *manifest, bool leaves_out,
                                     struct nd_error *err)
{
    struct row_search r = {.manifest = manifest, .found = found, .leaves_out = leaves_out};
    enum nd_status status = want(&r, err);

    if (status == ND_OK)
        status = search(&r, run, err);
    free(r.place);
    free(r.id);
    nd_parser_free(r.parser);
    nd_json_release(&r.at);
    nd_json_release(&r.value);
    nd_json_release(&r.own);
    nd_json_release(&r.room);
    return status;
}

void nd_row_documents_release(struct nd_row_documents *found)
{
    for (size_t i = 0; found->held && i < found->n; i++)
        nd_held_release(&found->held[i]);
    free(found->held);
    *found = (struct nd_row_documents){.n = 0};
}
