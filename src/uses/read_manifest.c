/* read_manifest.c - a manifest read again: how its run read documents, and its lowest rows */

/*
 * A manifest is JSON Lines: a header that says how the run read its documents, then one row for
 * each removed document. Only the rows of lowest resemblance are kept, in a list that is sorted and
 * cut whenever it has grown to several times the requested number. So memory does not depend on the
 * length of the manifest.
 */
#include "uses/read_manifest.h"

#include "input/formats/json_walk.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* The fields that are read from each line: those of a row and those of the header. */
enum {
    REMOVED_AT,
    KEPT_AT,
    REMOVED,
    KEPT,
    RESEMBLANCE,
    DISTANCE,
    RECIPE,
    INPUTS,
    FORMAT,
    UNIT,
    MISSING_TEXT,
    BINARY,
    MAIL,
    TEXT_FORMAT,
    TEXT_FIELDS,
    ID_FIELD,
    GLOBS,
    EXCLUDES,
    CHARSET,
    DF_AUTO,
    N_FIELDS
};
static const char *const field_names[N_FIELDS] = {"removed_at",
                                                  "kept_at",
                                                  "removed",
                                                  "kept",
                                                  "resemblance",
                                                  "distance",
                                                  "recipe",
                                                  "inputs",
                                                  "options.format",
                                                  "options.unit",
                                                  "options.missing_text",
                                                  "options.binary",
                                                  "options.mail",
                                                  "options.text_format",
                                                  "options.text_fields",
                                                  "options.id_field",
                                                  "options.globs",
                                                  "options.excludes",
                                                  "options.charset",
                                                  "options.df_auto"};

/* Collect up to this multiple of the requested rows before dropping the others. */
enum { SLACK = 2, ROOM_BEHIND = 64 };

static void release_row(struct nd_manifest_row *row)
{
    for (unsigned i = 0; i < 2; i++) {
        free(row->name[i]);
        free(row->at[i]);
    }
}

void nd_manifest_release(struct nd_manifest *m)
{
    for (size_t i = 0; i < m->n_rows; i++)
        release_row(&m->row[i]);
    free(m->row);
    nd_arena_release(&m->arena);
    m->row = NULL;
    m->n_rows = m->capacity = 0;
}

/* ---- Lists of the header ---------------------------------------------------------------------
 */

/* Take the next element of an array, from *at on, as JSON. False: there are no more. */
static bool next_element(struct nd_view array, size_t *at, struct nd_view *element)
{
    size_t depth = 0, from, i = *at;
    bool in_string = false;

    while (i < array.len && strchr(" \t,[", array.data[i]) && (array.data[i] != '[' || i == 0))
        i++;
    if (i >= array.len || array.data[i] == ']')
        return false;
    for (from = i; i < array.len; i++) {
        char c = array.data[i];

        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
            continue;
        }
        in_string = c == '"';
        if (depth == 0 && (c == ',' || c == ']'))
            break;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
    }
    *element = (struct nd_view){array.data + from, i - from};
    *at = i;
    return true;
}

/*
 * Copy the string that an element is, or that its key "path" holds; "" if it is neither. NULL: out
 * of memory.
 */
static const char *string_of(struct nd_manifest *m, struct nd_json_indexer *indexer,
                             struct nd_view element)
{
    static const struct nd_view path = {"path", 4};
    struct nd_buffer text = {0};
    struct nd_json_value value = {.kind = ND_JSON_ABSENT};
    enum nd_json_found found = ND_JSON_NO_MEMORY;
    const char *reason;
    char *copy = NULL;
    bool is_object = element.len && *element.data == '{';

    if (nd_buffer_append(&text, "{\"path\":", is_object ? 0 : 8) &&
        nd_buffer_append(&text, element.data, element.len) &&
        nd_buffer_append(&text, "}", is_object ? 0 : 1) &&
        nd_buffer_reserve(&text, text.len + ROOM_BEHIND))
        found = nd_json_walk(indexer, text.data, text.len, &path, 1, 0, &m->arena, &value, &reason);
    if (found != ND_JSON_INDEXED || value.kind != ND_JSON_STRING)
        value.bytes = (struct nd_view){"", 0};
    if (found != ND_JSON_NO_MEMORY)
        copy = nd_arena_alloc(&m->arena, value.bytes.len + 1);
    if (copy) {
        memcpy(copy, value.bytes.data, value.bytes.len);
        copy[value.bytes.len] = '\0';
    }
    nd_buffer_release(&text);
    return copy;
}

/*
 * Read an array of strings or of objects with a path; adjacent equal ones count once. False: out of
 * memory.
 */
static bool read_list(struct nd_manifest *m, struct nd_view array, const char *const **list,
                      size_t *n)
{
    struct nd_json_indexer *indexer = nd_json_indexer_new();
    struct nd_view element;
    const char **to;
    size_t most = 0, at = 0;
    bool good = indexer != NULL;

    while (next_element(array, &at, &element))
        most++;
    to = nd_arena_alloc(&m->arena, (most + 1) * sizeof *to);
    *n = 0;
    at = 0;
    while (good && to && next_element(array, &at, &element)) {
        const char *string = string_of(m, indexer, element);

        good = string != NULL;
        if (good && (*n == 0 || strcmp(to[*n - 1], string) != 0))
            to[(*n)++] = string;
    }
    nd_json_indexer_free(indexer);
    *list = to;
    return good && to;
}

/* ---- Lines -----------------------------------------------------------------------------------
 */

static bool is_word(struct nd_view value, const char *word)
{
    return value.data && value.len == strlen(word) && memcmp(value.data, word, value.len) == 0;
}

static void read_words(struct nd_input_options *input, const struct nd_field *field)
{
    static const char *const units[] = {"file", "line", "paragraph"};

    for (unsigned i = ND_FORMAT_AUTO; i < ND_FORMAT_COUNT; i++)
        if (is_word(field[FORMAT].value, nd_format_word((enum nd_format)i)))
            input->format = (enum nd_format)i;
    for (unsigned i = 0; i < 3; i++)
        if (is_word(field[UNIT].value, units[i]))
            input->unit = (enum nd_unit)i;
    input->missing_text =
        is_word(field[MISSING_TEXT].value, "empty") ? ND_MISSING_EMPTY : ND_MISSING_SKIP;
    input->binary = is_word(field[BINARY].value, "text") ? ND_BINARY_TEXT : input->binary;
    input->no_mail = is_word(field[MAIL].value, "none");
    input->text_format = is_word(field[TEXT_FORMAT].value, "html") ? ND_TEXT_HTML : ND_TEXT_PLAIN;
}

/*
 * Copy a value into the arena, zero-terminated. NULL if it is absent, or if out of memory: then
 * *failed is set.
 */
static char *arena_string(struct nd_manifest *m, struct nd_view value, bool *failed)
{
    char *copy = value.data ? nd_arena_alloc(&m->arena, value.len + 1) : NULL;

    *failed |= value.data && !copy;
    if (copy) {
        memcpy(copy, value.data, value.len);
        copy[value.len] = '\0';
    }
    return copy;
}

static enum nd_status read_options(struct nd_manifest *m, const struct nd_field *field,
                                   struct nd_error *err)
{
    struct nd_input_options *input = &m->input;
    bool failed = false;
    const char *id = arena_string(m, field[ID_FIELD].value, &failed);

    *input = nd_input_options_default();
    read_words(input, field);
    input->charset = arena_string(m, field[CHARSET].value, &failed);
    input->id_field = id ? id : input->id_field;
    if (failed || !read_list(m, field[INPUTS].value, &m->paths, &m->n_paths) ||
        !read_list(m, field[TEXT_FIELDS].value, &input->text_fields, &input->n_text_fields) ||
        !read_list(m, field[GLOBS].value, &input->globs, &input->n_globs) ||
        !read_list(m, field[EXCLUDES].value, &input->excludes, &input->n_excludes))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return ND_OK;
}

static enum nd_status read_header(struct nd_manifest *m, const struct nd_document *line,
                                  struct nd_error *err)
{
    const struct nd_field *field = line->fields;
    const struct nd_view recipe = field[RECIPE].value;
    struct nd_error reason = {.status = ND_OK};
    bool failed = false;
    const char *df = arena_string(m, field[DF_AUTO].value, &failed);
    enum nd_status status;

    m->has_header = true;
    m->recipe = nd_recipe_default();
    status = failed ? nd_fail(&reason, ND_ENOMEM, "out of memory")
                    : nd_recipe_parse(&m->recipe, "its recipe", recipe.data, recipe.len, &reason);
    if (status == ND_OK && df)
        status = nd_recipe_set_df(&m->recipe, df, &reason);
    if (status != ND_OK)
        return nd_fail(err, status == ND_EINVAL ? ND_EINPUT : status, "%s: %s", m->path,
                       reason.message);
    return read_options(m, field, err);
}

/* The number, or a negative one if it is absent. */
static double number_of(struct nd_view value)
{
    char text[64];

    if (!value.data || !value.len || value.len >= sizeof text)
        return -1;
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    return strtod(text, NULL);
}

static int compare_rows(const void *left, const void *right)
{
    const struct nd_manifest_row *a = left, *b = right;

    if ((a->resemblance < 0) != (b->resemblance < 0))
        return a->resemblance < 0 ? 1 : -1;
    if (a->resemblance < b->resemblance || a->resemblance > b->resemblance)
        return a->resemblance < b->resemblance ? -1 : 1;
    if (a->resemblance < 0 && (a->distance < b->distance || a->distance > b->distance))
        return a->distance > b->distance ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Keep only the rows with the lowest resemblance. */
static void drop_rows(struct nd_manifest *m)
{
    if (m->n_rows)
        qsort(m->row, m->n_rows, sizeof *m->row, compare_rows);
    while (m->n_rows > m->lowest)
        release_row(&m->row[--m->n_rows]);
}

static char *copy_string(struct nd_view text)
{
    char *copy = malloc(text.len + 1);

    if (copy && text.len)
        memcpy(copy, text.data, text.len);
    if (copy)
        copy[text.len] = '\0';
    return copy;
}

static enum nd_status read_row(struct nd_manifest *m, const struct nd_document *line,
                               struct nd_error *err)
{
    const struct nd_field *field = line->fields;
    struct nd_manifest_row row = {
        .number = m->n_read,
        .resemblance = number_of(field[RESEMBLANCE].value),
        .distance = number_of(field[DISTANCE].value),
        .name = {copy_string(field[KEPT].value), copy_string(field[REMOVED].value)},
        .at = {copy_string(field[KEPT_AT].value), copy_string(field[REMOVED_AT].value)}};

    m->n_removed++;
    if (!row.name[0] || !row.name[1] || !row.at[0] || !row.at[1] ||
        !ND_RESERVE(m->row, &m->capacity, m->n_rows + 1)) {
        release_row(&row);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    m->row[m->n_rows++] = row;
    if (m->n_rows >= SLACK * m->lowest + 64)
        drop_rows(m);
    return ND_OK;
}

static enum nd_status read_line(struct nd_manifest *m, const struct nd_document *line,
                                struct nd_error *err)
{
    if (!m->has_header)
        return line->fields[RECIPE].value.data && line->fields[INPUTS].value.data
                   ? read_header(m, line, err)
                   : nd_fail(err, ND_EINPUT, "%s: not a manifest: its first line has no recipe",
                             m->path);
    m->n_read++;
    return line->fields[REMOVED_AT].value.data && line->fields[KEPT_AT].value.data
               ? read_row(m, line, err)
               : ND_OK;
}

static enum nd_status read_lines(struct nd_manifest *m, struct nd_input *input,
                                 struct nd_parser *parser, struct nd_error *err)
{
    struct nd_batch batch = {0};
    enum nd_status status = ND_OK;
    int got = 1;

    while (status == ND_OK && (got = nd_input_read(input, 1 << 20, 1024, &batch, err)) > 0)
        for (size_t i = 0; status == ND_OK && i < batch.count; i++) {
            const struct nd_record *record = &batch.records[i];
            struct nd_document line;
            struct nd_bad_record bad;
            int parsed;

            nd_parser_reset(parser);
            parsed = nd_parser_parse(parser, nd_input_source(input, record->source), record->bytes,
                                     &line, NULL, &bad);
            status = parsed > 0    ? read_line(m, &line, err)
                     : parsed == 0 ? nd_fail(err, ND_EINPUT, "%s:%llu: not a manifest: %s", m->path,
                                             (unsigned long long)record->line, bad.reason)
                                   : nd_fail(err, ND_ENOMEM, "out of memory");
        }
    nd_batch_release(&batch);
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && !m->has_header)
        status = nd_fail(err, ND_EINPUT, "%s: not a manifest: it is empty", m->path);
    return status;
}

/* The reader's own messages say why a file cannot be read. */
static void keep_problem(void *context, const struct nd_problem *problem)
{
    if (problem->kind == ND_PROBLEM_FAILED)
        nd_fail(context, ND_EINPUT, "%s", problem->message);
}

enum nd_status nd_manifest_read(struct nd_manifest *m, const char *path, size_t lowest,
                                struct nd_error *err)
{
    static const char *const text[] = {"removed_at"};
    struct nd_input_options options = nd_input_options_default();
    struct nd_error problem = {.status = ND_OK};
    struct nd_parser *parser = NULL;
    struct nd_input *input;
    enum nd_status status = ND_ENOMEM;

    m->path = path;
    m->lowest = lowest;
    options.format = ND_FORMAT_JSONL;
    options.text_fields = text;
    options.n_text_fields = 1;
    options.missing_text = ND_MISSING_EMPTY;
    options.fields = field_names;
    options.n_fields = N_FIELDS;
    input = nd_input_open(&path, 1, &options, keep_problem, &problem, err);
    if (input)
        parser = nd_parser_new(&options, err);
    if (parser)
        status = read_lines(m, input, parser, err);
    else if (err->status)
        status = err->status;
    if (problem.status != ND_OK && status != ND_ENOMEM) {
        *err = problem;
        status = problem.status;
    }
    nd_parser_free(parser);
    nd_input_close(input);
    drop_rows(m);
    return status;
}
