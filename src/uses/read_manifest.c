/* read_manifest.c - a manifest, a file of clusters or of pairs read again */

/*
 * A manifest is JSON Lines: a header that says how the run read its documents, then one row for
 * each removed document. Only the rows of lowest resemblance are kept, in a list that is sorted and
 * cut whenever it has grown to several times the requested number. So memory does not depend on the
 * length of the manifest. nd_manifest_each hands all lines on instead, and takes a file of clusters
 * as well: TSV, with a line for each document. Who takes other lines too has hooks for them.
 */
#include "uses/read_manifest.h"

#include "input/formats/json_walk.h"
#include "run/run_parts.h"

#include <inttypes.h>
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
    TAGS,
    DF_AUTO,
    AGAINST,
    PROTOTYPES,
    SKIPPED,
    N_FIELDS
};
_Static_assert((int)N_FIELDS == (int)ND_MANIFEST_FIELDS, "as the header says");
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
                                                  "options.tags",
                                                  "options.df_auto",
                                                  "against",
                                                  "options.prototypes",
                                                  "skipped"};

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
    nd_tags_free(m->tags);
    m->tags = NULL;
    nd_arena_release(&m->arena);
    m->row = NULL;
    m->n_rows = m->capacity = 0;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool is_word(struct nd_view value, const char *word)
{
    return value.data && value.len == strlen(word) && memcmp(value.data, word, value.len) == 0;
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

enum { SOURCE_PATH, SOURCE_ENTRY, SOURCE_RECORDS, SOURCE_FIELDS };

/* Read an element of the array of inputs.  False: out of memory. */
static bool read_source(struct nd_manifest *m, struct nd_json_indexer *indexer,
                        struct nd_view element, struct nd_manifest_source *source)
{
    static const struct nd_view paths[SOURCE_FIELDS] = {{"path", 4}, {"entry", 5}, {"records", 7}};
    struct nd_json_value value[SOURCE_FIELDS] = {{.kind = ND_JSON_ABSENT}};
    struct nd_buffer text = {0};
    enum nd_json_found found = ND_JSON_NO_MEMORY;
    bool failed = false;
    const char *reason;

    *source = (struct nd_manifest_source){"", "", 0, false};
    if (nd_buffer_append(&text, element.data, element.len) &&
        nd_buffer_reserve(&text, text.len + ROOM_BEHIND))
        found = nd_json_walk(indexer, text.data, text.len, paths, SOURCE_FIELDS, 0, &m->arena,
                             value, &reason);
    for (unsigned k = 0; found == ND_JSON_INDEXED && k < SOURCE_ENTRY + 1; k++)
        if (value[k].kind == ND_JSON_STRING)
            *(k ? &source->entry : &source->path) = arena_string(m, value[k].bytes, &failed);
    if (found == ND_JSON_INDEXED) {
        source->has_records = value[SOURCE_RECORDS].kind == ND_JSON_NUMBER;
        if (source->has_records)
            source->records = (uint64_t)number_of(value[SOURCE_RECORDS].bytes);
    }
    nd_buffer_release(&text);
    return found != ND_JSON_NO_MEMORY && !failed;
}

static bool read_sources(struct nd_manifest *m, struct nd_view array)
{
    struct nd_json_indexer *indexer = nd_json_indexer_new();
    struct nd_view element;
    size_t most = 0, at = 0;
    bool good;

    while (next_element(array, &at, &element))
        most++;
    m->source = nd_arena_alloc(&m->arena, (most + 1) * sizeof *m->source);
    good = indexer && m->source;
    for (at = 0; good && next_element(array, &at, &element);)
        good = read_source(m, indexer, element, &m->source[m->n_sources++]);
    nd_json_indexer_free(indexer);
    return good;
}

/* ---- Lines -----------------------------------------------------------------------------------
 */

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

/* The tag sets that the run had. */
static enum nd_status read_tags(struct nd_manifest *m, struct nd_view value, struct nd_error *err)
{
    bool failed = false;
    const char *text = arena_string(m, value, &failed);
    struct nd_error reason;

    if (failed)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    nd_tags_free(m->tags);
    m->tags = text ? nd_tags_parse("its tags", text, strlen(text), &reason) : NULL;
    m->input.tags = m->tags;
    if (!text || m->tags)
        return ND_OK;
    return nd_fail(err, reason.status == ND_EINVAL ? ND_EINPUT : reason.status, "%s: %s", m->path,
                   reason.message);
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
    return read_tags(m, field[TAGS].value, err);
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
    m->has_against = field[AGAINST].value.data != NULL;
    m->has_prototypes = field[PROTOTYPES].value.data != NULL;
    m->recipe_text = arena_string(m, recipe, &failed);
    m->recipe = nd_recipe_default();
    if (m->hooks) {
        m->has_recipe =
            nd_recipe_parse(&m->recipe, "its recipe", recipe.data, recipe.len, NULL) == ND_OK;
        if (failed || (m->hooks->header && !read_sources(m, field[INPUTS].value)))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        status = read_options(m, field, err);
        return status == ND_OK && m->hooks->header ? m->hooks->header(m->hooks->context, err)
                                                   : status;
    }
    status = failed ? nd_fail(&reason, ND_ENOMEM, "out of memory")
                    : nd_recipe_parse(&m->recipe, "its recipe", recipe.data, recipe.len, &reason);
    if (status == ND_OK && df)
        status = nd_recipe_set_df(&m->recipe, df, &reason);
    if (status != ND_OK)
        return nd_fail(err, status == ND_EINVAL ? ND_EINPUT : status, "%s: %s", m->path,
                       reason.message);
    return read_options(m, field, err);
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

/* Hand a row on. A header may be missing. */
static enum nd_status hand_row(struct nd_manifest *m, const struct nd_document *line,
                               uint64_t number, struct nd_error *err)
{
    const struct nd_field *field = line->fields;

    if (line->id_kind != ND_ID_NONE) {
        m->n_removed++;
        return m->hooks->row(m->hooks->context, line, field[REMOVED_AT].value, field[KEPT].value,
                             field[KEPT_AT].value, number, err);
    }
    if (field[SKIPPED].value.data)
        return m->hooks->skipped ? m->hooks->skipped(m->hooks->context, field[SKIPPED].value, err)
                                 : ND_OK;
    if (m->hooks->object)
        return m->hooks->object(m->hooks->context, line, number, err);
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64
                   ": not a row of a manifest: it has neither 'removed' nor 'skipped'",
                   m->path, number);
}

static enum nd_status read_line(struct nd_manifest *m, const struct nd_document *line,
                                uint64_t number, struct nd_error *err)
{
    const struct nd_field *field = line->fields;

    if (!m->has_header && field[RECIPE].value.data && field[INPUTS].value.data)
        return read_header(m, line, err);
    if (m->hooks)
        return hand_row(m, line, number, err);
    if (!m->has_header)
        return nd_fail(err, ND_EINPUT, "%s: not a manifest: its first line has no recipe", m->path);
    m->n_read++;
    return field[REMOVED_AT].value.data && field[KEPT_AT].value.data ? read_row(m, line, err)
                                                                     : ND_OK;
}

/* ---- Lines of a file of clusters ------------------------------------------------------------- */

/* Cut the text before the next tab, or all of it, off *left. False: nothing is left. */
static bool cut_field(struct nd_view *left, struct nd_view *field)
{
    const char *tab = left->len ? memchr(left->data, '\t', left->len) : NULL;

    if (!left->data)
        return false;
    *field = (struct nd_view){left->data, tab ? (size_t)(tab - left->data) : left->len};
    *left = tab ? (struct nd_view){tab + 1, left->len - field->len - 1} : (struct nd_view){NULL, 0};
    return true;
}

enum nd_status nd_cluster_line_parse(const struct nd_record *record, const char *path,
                                     struct nd_cluster_line *line, struct nd_error *err)
{
    struct nd_view left = record->bytes, fate;
    bool has_names, has_fate;

    while (left.len && (left.data[left.len - 1] == '\n' || left.data[left.len - 1] == '\r'))
        left.len--;
    has_names = cut_field(&left, &line->name) && cut_field(&left, &line->kept);
    has_fate = has_names && cut_field(&left, &fate);
    line->fate = !has_fate                  ? ND_FATE_UNSAID
                 : is_word(fate, "kept")    ? ND_FATE_KEPT
                 : is_word(fate, "removed") ? ND_FATE_REMOVED
                                            : ND_FATE_UNSAID;
    if (has_names && !left.data && has_fate == (line->fate != ND_FATE_UNSAID))
        return ND_OK;
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64
                   ": not an id, a tab and an id, with or without a tab and kept or removed",
                   path, record->line);
}

static enum nd_status hand_cluster(struct nd_manifest *m, const struct nd_record *record,
                                   struct nd_error *err)
{
    struct nd_cluster_line line;
    enum nd_status status = nd_cluster_line_parse(record, m->path, &line, err);

    if (status == ND_OK)
        return m->hooks->cluster(m->hooks->context, &line, record->line, err);
    return record->line > 1
               ? status
               : nd_fail(err, ND_EINPUT,
                         "%s: neither a manifest nor a file of clusters: its first line is neither "
                         "a JSON object nor two ids with a tab between them",
                         m->path);
}

/* ---- All lines ------------------------------------------------------------------------------- */

/* Whether a line is a JSON object. An id may begin with a brace as well. */
static bool is_object(struct nd_view line)
{
    size_t i = 0;

    while (i < line.len && strchr(" \t\r\n", line.data[i]))
        i++;
    if (i == line.len || line.data[i++] != '{')
        return false;
    while (i < line.len && strchr(" \t\r\n", line.data[i]))
        i++;
    return i < line.len && (line.data[i] == '"' || line.data[i] == '}');
}

static enum nd_status read_record(struct nd_manifest *m, const struct nd_source *source,
                                  const struct nd_record *record, struct nd_parser *parser,
                                  struct nd_error *err)
{
    struct nd_document line;
    struct nd_bad_record bad;
    int parsed;

    if (m->hooks && m->is_of_clusters)
        return m->hooks->text ? m->hooks->text(m->hooks->context, record, err)
                              : hand_cluster(m, record, err);
    nd_parser_reset(parser);
    parsed = nd_parser_parse(parser, source, record->bytes, &line, NULL, &bad);
    return parsed > 0 ? read_line(m, &line, record->line, err)
           : parsed == 0
               ? nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": %s%s", m->path, record->line,
                         m->hooks && m->hooks->object ? "" : "not a manifest: ", bad.reason)
               : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status read_lines(struct nd_manifest *m, struct nd_input *input,
                                 struct nd_parser *parser, struct nd_error *err)
{
    struct nd_batch batch = {0};
    enum nd_status status = ND_OK;
    bool is_first = true;
    int got = 1;

    while (status == ND_OK && (got = nd_input_read(input, 1 << 20, 1024, &batch, err)) > 0)
        for (size_t i = 0; status == ND_OK && i < batch.count; i++, is_first = false) {
            const struct nd_record *record = &batch.records[i];

            if (is_first && m->hooks)
                m->is_of_clusters = !is_object(record->bytes);
            status = read_record(m, nd_input_source(input, record->source), record, parser, err);
        }
    nd_batch_release(&batch);
    if (status == ND_OK && got < 0)
        status = (enum nd_status)got;
    if (status == ND_OK && !m->has_header && !m->hooks)
        status = nd_fail(err, ND_EINPUT, "%s: not a manifest: it is empty", m->path);
    m->is_of_clusters |= is_first;
    return status;
}

/* The reader's own messages say why a file cannot be read. */
static void keep_problem(void *context, const struct nd_problem *problem)
{
    if (problem->kind == ND_PROBLEM_FAILED)
        nd_fail(context, ND_EINPUT, "%s", problem->message);
}

static enum nd_status read_file(struct nd_manifest *m, const char *path, struct nd_error *err)
{
    static const char *const text[] = {"removed_at"};
    const struct nd_manifest_hooks *hooks = m->hooks;
    const char *fields[N_FIELDS + ND_MANIFEST_FIELDS_MORE];
    struct nd_input_options options = nd_input_options_default();
    struct nd_error problem = {.status = ND_OK};
    struct nd_parser *parser = NULL;
    struct nd_input *input;
    enum nd_status status = ND_ENOMEM;

    m->path = path;
    options.format = ND_FORMAT_JSONL;
    options.id_field = "removed";
    options.text_fields = text;
    options.n_text_fields = 1;
    options.missing_text = ND_MISSING_EMPTY;
    memcpy(fields, field_names, sizeof field_names);
    options.fields = fields;
    options.n_fields = N_FIELDS;
    for (size_t i = 0; hooks && i < hooks->n_fields && i < ND_MANIFEST_FIELDS_MORE; i++)
        fields[options.n_fields++] = hooks->fields[i];
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
    return status;
}

enum nd_status nd_manifest_read(struct nd_manifest *m, const char *path, size_t lowest,
                                struct nd_error *err)
{
    enum nd_status status;

    m->lowest = lowest;
    status = read_file(m, path, err);
    drop_rows(m);
    return status;
}

enum nd_status nd_manifest_each(struct nd_manifest *m, const char *path,
                                const struct nd_manifest_hooks *hooks, struct nd_error *err)
{
    m->hooks = hooks;
    return read_file(m, path, err);
}

/* ---- How its documents are read --------------------------------------------------------------- */

static bool is_default_text(const struct nd_input_options *o)
{
    return !o->n_text_fields || (o->n_text_fields == 1 && strcmp(o->text_fields[0], "text") == 0);
}

void nd_manifest_take_reading(struct nd_input_options *to, const struct nd_manifest *m)
{
    const struct nd_input_options *from = &m->input;
    const struct nd_input_options usual = nd_input_options_default();

    if (!m->n_paths)
        return;
    if (to->format == usual.format)
        to->format = from->format;
    if (to->unit == usual.unit)
        to->unit = from->unit;
    if (to->missing_text == usual.missing_text)
        to->missing_text = from->missing_text;
    if (to->binary == usual.binary)
        to->binary = from->binary;
    if (to->text_format == usual.text_format)
        to->text_format = from->text_format;
    if (strcmp(to->id_field, usual.id_field) == 0)
        to->id_field = from->id_field;
    to->charset = to->charset ? to->charset : from->charset;
    to->tags = to->tags ? to->tags : from->tags;
    to->no_mail |= from->no_mail;
    if (is_default_text(to) && from->n_text_fields) {
        to->text_fields = from->text_fields;
        to->n_text_fields = from->n_text_fields;
    }
    if (!to->n_globs) {
        to->globs = from->globs;
        to->n_globs = from->n_globs;
    }
    if (!to->n_excludes) {
        to->excludes = from->excludes;
        to->n_excludes = from->n_excludes;
    }
}
