/* relation.c - which documents a file calls the same: by pairs, by clusters, or by removing them */

/*
 * All lines are read into arrays: pairs of numbers, and for each document the number of its set.
 * Pairs are sorted in the end, so that they can be looked up and each counts once. The files of
 * many tools are read by the names of their columns (columns.h); a manifest, and what neardup writes
 * itself, by the reader of read_manifest.h.
 */
#include "uses/eval/relation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "evidence/name.h"
#include "input/formats/lines.h"
#include "input/formats/table_row.h"
#include "uses/eval/columns.h"
#include "uses/eval/sets.h"

enum { CELLS_MAX = 256, SHOWN = 100 };

/* A file while it is read. */
struct relation_reading {
    struct nd_relation *r;
    struct nd_eval_ids *ids;
    const struct nd_relation_request *request;
    const char *path;
    enum nd_format format; /* of lines that are no objects; ND_FORMAT_AUTO: not known yet */
    struct nd_eval_columns columns;
    bool has_columns;
    struct nd_view cell[CELLS_MAX];
    size_t n_cells;
    uint64_t own_lines; /* of sets that have a member of their own name */
    uint64_t n_empty;   /* rows whose value is not known, which are left out */
    struct nd_arena arena;
};

/* ---- Names ----------------------------------------------------------------------------------- */

void nd_eval_ids_release(struct nd_eval_ids *ids)
{
    nd_groups_release(&ids->names);
    nd_json_release(&ids->room);
    nd_arena_release(&ids->arena);
}

bool nd_eval_ids_plain(struct nd_eval_ids *ids, struct nd_view name, struct nd_view *plain)
{
    ids->room.text.len = 0;
    nd_tsv_field(&ids->room, name);
    nd_arena_reset(&ids->arena);
    return !ids->room.failed &&
           nd_cell_value(ND_FORMAT_TSV, (struct nd_view){ids->room.text.data, ids->room.text.len},
                         &ids->arena, plain);
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static const char *shown(struct nd_view name, char out[SHOWN])
{
    nd_name_show(name, out, SHOWN);
    return out;
}

/* The number of a document. */
static enum nd_status number(struct relation_reading *x, struct nd_view name, uint64_t line,
                             uint32_t *id, struct nd_error *err)
{
    char text[SHOWN];

    if (x->format != ND_FORMAT_TSV && !nd_eval_ids_plain(x->ids, name, &name))
        return no_memory(err);
    if (!name.len)
        return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": an id is empty", x->path, line);
    if (x->request->refuses_strangers) {
        *id = nd_groups_find(&x->ids->names, name);
        if (*id && *id <= x->ids->n_known)
            return ND_OK;
        return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": the id '%s' is unknown: %s", x->path, line,
                       shown(name, text),
                       x->request->is_truth
                           ? "no document of --documents has it"
                           : "neither the truth nor --documents has it (with --universe labelled "
                             "and without --documents, such ids are left out)");
    }
    return nd_groups_number(&x->ids->names, name, id) ? ND_OK : no_memory(err);
}

/* ---- Pairs and members ----------------------------------------------------------------------- */

static enum nd_status add_pair(struct relation_reading *x, uint32_t a, uint32_t b,
                               enum nd_label label, double value, uint64_t line,
                               struct nd_error *err)
{
    struct nd_relation *r = x->r;
    char text[SHOWN];

    if (a == b)
        return nd_fail(err, ND_EINPUT,
                       "%s:%" PRIu64 ": both ids of the pair are '%s': each document needs an id "
                       "of its own",
                       x->path, line, shown(x->ids->names.value[a - 1], text));
    if (!ND_RESERVE(r->pair, &r->pairs_capacity, r->n_pairs + 1))
        return no_memory(err);
    r->pair[r->n_pairs++] = (struct nd_related){.ids = nd_pair_of(a, b),
                                                .line = line & ((UINT64_C(1) << 62) - 1),
                                                .label = label & 3U,
                                                .value = value};
    return ND_OK;
}

/* Have room for what is known of all documents so far. */
static bool reserve_ids(struct nd_relation *r, size_t n)
{
    if (n <= r->n_ids)
        return true;
    if (!ND_RESERVE(r->set, &r->set_capacity, n) ||
        !ND_RESERVE(r->set_line, &r->line_capacity, n) ||
        !ND_RESERVE(r->fate, &r->fate_capacity, n))
        return false;
    memset(r->set + r->n_ids, 0, (n - r->n_ids) * sizeof *r->set);
    memset(r->set_line + r->n_ids, 0, (n - r->n_ids) * sizeof *r->set_line);
    memset(r->fate + r->n_ids, ND_FATE_UNSAID, n - r->n_ids);
    r->n_ids = n;
    return true;
}

static enum nd_status add_member(struct relation_reading *x, uint32_t id, struct nd_view set,
                                 unsigned char fate, uint64_t line, struct nd_error *err)
{
    struct nd_relation *r = x->r;
    uint32_t number_of_set;
    char text[SHOWN];

    if (x->format != ND_FORMAT_TSV && !nd_eval_ids_plain(x->ids, set, &set))
        return no_memory(err);
    if (!reserve_ids(r, x->ids->names.count) || !nd_groups_number(&r->sets, set, &number_of_set))
        return no_memory(err);
    if (r->set[id - 1] && r->set[id - 1] != number_of_set)
        return nd_fail(err, ND_EINPUT,
                       "%s:%" PRIu64 ": '%s' is in another set than in line %" PRIu64, x->path,
                       line, shown(x->ids->names.value[id - 1], text), r->set_line[id - 1]);
    if (!r->set[id - 1]) {
        r->set_line[id - 1] = line;
        x->own_lines += nd_view_equal(x->ids->names.value[id - 1], set);
    }
    r->set[id - 1] = number_of_set;
    if (fate == ND_FATE_UNSAID && !nd_view_equal(x->ids->names.value[id - 1], set))
        fate = ND_FATE_REMOVED; /* if sets turn out to be called by their kept documents */
    else
        r->has_fates |= fate != ND_FATE_UNSAID;
    r->fate[id - 1] = fate;
    return ND_OK;
}

static enum nd_status add_removed(struct relation_reading *x, uint32_t removed, struct nd_view kept,
                                  double value, uint64_t line, struct nd_error *err)
{
    uint32_t leader = 0;
    enum nd_status status = ND_OK;

    if (kept.data)
        status = number(x, kept, line, &leader, err);
    if (status == ND_OK && !reserve_ids(x->r, x->ids->names.count))
        status = no_memory(err);
    if (status == ND_OK && leader)
        status = add_pair(x, removed, leader, ND_LABEL_SAME, value, line, err);
    if (status == ND_OK)
        x->r->fate[removed - 1] = ND_FATE_REMOVED;
    return status;
}

static struct nd_view cell_of(const struct relation_reading *x, size_t at)
{
    return at < x->n_cells ? x->cell[at] : (struct nd_view){NULL, 0};
}

static enum nd_status refuse_label(const struct relation_reading *x, struct nd_view label,
                                   uint64_t line, struct nd_error *err)
{
    char text[SHOWN];

    return nd_fail(
        err, ND_EINPUT, "%s:%" PRIu64 ": the label '%s' is %s", x->path, line, shown(label, text),
        x->request->labels.has_at
            ? "no number, and with --at labels are scores"
            : "none of 1, 0, ?, same, different and unsure: scores need --at, and grades "
              "--positive");
}

static enum nd_status read_value(struct relation_reading *x, struct nd_view cell, uint64_t line,
                                 double *value, struct nd_error *err)
{
    const struct nd_view none = {"", 0};
    uint32_t text;

    *value = NAN;
    if (!x->request->value || (!x->request->value_is_text && !cell.len))
        return ND_OK;
    if (x->request->value_is_text) {
        if (!nd_groups_number(&x->r->texts, cell.data ? cell : none, &text))
            return no_memory(err);
        *value = text;
        return ND_OK;
    }
    if (nd_label_number(cell, value))
        return ND_OK;
    return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": the column '%.60s' has no number", x->path,
                   line, x->request->value);
}

/* Whether the row is one of neardup pairs by a rule on signatures, which measures nothing. */
static bool is_unmeasured(const struct relation_reading *x)
{
    return x->columns.at[ND_CELL_THIRD] == 2 && x->n_cells > 4 && !x->cell[2].len &&
           !x->cell[3].len && !x->cell[4].len;
}

static enum nd_status take_pair(struct relation_reading *x, uint32_t a, uint64_t line,
                                struct nd_error *err)
{
    const struct nd_eval_columns *c = &x->columns;
    const struct nd_view third = cell_of(x, c->at[ND_CELL_THIRD]),
                         last = x->n_cells ? x->cell[x->n_cells - 1] : third;
    enum nd_label label = ND_LABEL_SAME;
    double number_of_value = NAN;
    uint32_t b;
    enum nd_status status = number(x, cell_of(x, c->at[ND_CELL_SECOND]), line, &b, err);

    if (status != ND_OK)
        return status;
    if (x->request->is_truth && third.data && !is_unmeasured(x) &&
        !nd_label_read(&x->request->labels, third, &label))
        return refuse_label(x, third, line, err);
    if (!x->request->is_truth && (nd_view_is(third, "near-miss") ||
                                  (x->format == ND_FORMAT_JSONL ? nd_view_is(third, "false")
                                                                : nd_view_is(last, "near-miss")))) {
        /* pairs --near-misses: it is not said to be a match */
        if (x->request->samples)
            label = ND_LABEL_DIFFERENT;
        else if (!x->request->value)
            return ND_OK;
    }
    status = read_value(x, cell_of(x, c->value), line, &number_of_value, err);
    if (status != ND_OK)
        return status;
    if (x->request->value && !x->request->samples && isnan(number_of_value)) {
        x->n_empty++;
        return ND_OK;
    }
    return add_pair(x, a, b, label, number_of_value, line, err);
}

static enum nd_status take_row(struct relation_reading *x, uint64_t line, struct nd_error *err)
{
    const struct nd_eval_columns *c = &x->columns;
    const struct nd_view first = cell_of(x, c->at[ND_CELL_FIRST]),
                         second = cell_of(x, c->at[ND_CELL_SECOND]),
                         fate = cell_of(x, c->at[ND_CELL_FATE]);
    enum nd_status status;
    const enum nd_eval_form form = c->form;
    double value = NAN;
    uint32_t id;

    if (!first.data || (!second.data && form != ND_EVAL_MANIFEST))
        return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": %s", x->path, line,
                       form == ND_EVAL_PAIRS ? "the two ids of a pair are not there"
                                             : "the id and its cluster or class are not there");
    status = number(x, first, line, &id, err);
    if (status != ND_OK)
        return status;
    switch (form) {
    case ND_EVAL_PAIRS: return take_pair(x, id, line, err);
    case ND_EVAL_MANIFEST:
        if (x->request->samples)
            status = read_value(x, cell_of(x, c->value), line, &value, err);
        return status == ND_OK ? add_removed(x, id, second, value, line, err) : status;
    default:
        return add_member(x, id, second,
                          nd_view_is(fate, "kept")      ? ND_FATE_KEPT
                          : nd_view_is(fate, "removed") ? ND_FATE_REMOVED
                                                        : ND_FATE_UNSAID,
                          line, err);
    }
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Find the column of the request's value by its name or number, or by what neardup calls it. */
static enum nd_status find_value(struct relation_reading *x, const struct nd_view *name, size_t n,
                                 struct nd_error *err)
{
    static const char *const known[] = {NULL, NULL, "resemblance", "shared", "union"};
    const char *wanted = x->request->value;
    double at;

    if (!wanted || (x->columns.form != ND_EVAL_PAIRS &&
                    !(x->request->samples && x->columns.form == ND_EVAL_MANIFEST)))
        return ND_OK;
    for (size_t i = 0; name && i < n; i++)
        if (nd_view_is(name[i], wanted))
            x->columns.value = i;
    if (nd_label_number((struct nd_view){wanted, strlen(wanted)}, &at) && at >= 1 &&
        at <= CELLS_MAX)
        x->columns.value = (size_t)at - 1;
    if (strcmp(wanted, "last") == 0)
        x->columns.value = n - 1;
    for (size_t i = 2; !name && i < 5; i++)
        if (strcmp(wanted, known[i]) == 0 || (i == 2 && strcmp(wanted, "distance") == 0))
            x->columns.value = i;
    if (x->columns.value != SIZE_MAX)
        return ND_OK;
    return nd_fail(err, ND_EINPUT, "%s: no column is called '%.60s': give its name or number",
                   x->path, wanted);
}

static enum nd_status refuse_form(const struct relation_reading *x, struct nd_error *err)
{
    const char *option = x->request->is_truth ? "--truth-is" : "--result";
    char text[SHOWN];

    if (x->n_cells < 2)
        return nd_fail(err, ND_EINPUT,
                       "%s:1: one cell: ids stand with a tab or a comma between them", x->path);
    return nd_fail(err, ND_EINPUT,
                   "%s:1: the third cell, '%s', is no number, label, kept or removed: say what the "
                   "file is with %s",
                   x->path, shown(x->cell[2], text), option);
}

/* The first line: find the columns. *is_header: it has no row. */
static enum nd_status take_first(struct relation_reading *x, bool *is_header, struct nd_error *err)
{
    const enum nd_eval_form form = x->request->form;

    *is_header = nd_columns_is_header(x->cell, x->n_cells, form, &x->columns);
    if (!*is_header && !nd_columns_guess(&x->columns, x->cell, x->n_cells, form))
        return refuse_form(x, err);
    x->has_columns = true;
    x->r->form = x->columns.form;
    return find_value(x, *is_header ? x->cell : NULL, x->n_cells, err);
}

static enum nd_status cut_cells(struct relation_reading *x, struct nd_view row, uint64_t line,
                                struct nd_error *err)
{
    struct nd_view raw;

    nd_arena_reset(&x->arena);
    x->n_cells = 0;
    while (nd_row_next(x->format, &row, &raw)) {
        if (x->n_cells == CELLS_MAX)
            return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": more than %d cells", x->path, line,
                           CELLS_MAX);
        if (!nd_cell_value(x->format, raw, &x->arena, &x->cell[x->n_cells++]))
            return no_memory(err);
    }
    return ND_OK;
}

/* The `text` hook. */
static enum nd_status take_text(void *context, const struct nd_record *record, struct nd_error *err)
{
    struct relation_reading *x = context;
    struct nd_view row = nd_line_without_end(nd_without_mark(record->bytes));
    bool is_header = false;
    enum nd_status status;

    if (x->format == ND_FORMAT_AUTO)
        x->format = row.len && memchr(row.data, '\t', row.len)  ? ND_FORMAT_TSV
                    : row.len && memchr(row.data, ',', row.len) ? ND_FORMAT_CSV
                                                                : ND_FORMAT_TSV;
    status = cut_cells(x, row, record->line, err);
    if (status == ND_OK && !x->has_columns)
        status = take_first(x, &is_header, err);
    return status == ND_OK && !is_header ? take_row(x, record->line, err) : status;
}

/* The `object` hook. */
static enum nd_status take_object(void *context, const struct nd_document *object, uint64_t line,
                                  struct nd_error *err)
{
    struct relation_reading *x = context;
    const struct nd_field *field = object->fields + ND_MANIFEST_FIELDS;
    struct nd_view name[ND_MANIFEST_FIELDS_MORE];

    x->format = ND_FORMAT_JSONL;
    x->n_cells = nd_column_n_keys;
    for (size_t i = 0; i < x->n_cells; i++) {
        x->cell[i] = field[i].value;
        name[i] = (struct nd_view){field[i].value.data ? nd_column_keys[i] : NULL,
                                   strlen(nd_column_keys[i])};
    }
    if (!x->has_columns) {
        if (!nd_columns_name(&x->columns, name, x->n_cells, x->request->form))
            return nd_fail(err, ND_EINPUT,
                           "%s:%" PRIu64 ": an object without the keys of a pair (a and b), of a "
                           "cluster (id and cluster), of a class (id and class) or of a manifest "
                           "(removed)",
                           x->path, line);
        x->has_columns = true;
        x->r->form = x->columns.form;
    }
    if (x->request->value) {
        x->cell[x->n_cells] = field[x->n_cells].value;
        x->columns.value = x->n_cells++;
    }
    return take_row(x, line, err);
}

/* The `row` hook: of a manifest. */
static enum nd_status take_removed(void *context, const struct nd_document *row, struct nd_view at,
                                   struct nd_view kept, struct nd_view kept_at, uint64_t line,
                                   struct nd_error *err)
{
    struct relation_reading *x = context;
    const struct nd_field *more = row->fields + ND_MANIFEST_FIELDS;
    double value = NAN;
    enum nd_status status;
    uint32_t id;

    (void)at;
    (void)kept_at;
    if (x->request->form != ND_EVAL_ANY && x->request->form != ND_EVAL_MANIFEST)
        return nd_fail(err, ND_EINPUT,
                       "%s:%" PRIu64 ": a row of a manifest, which %s does not name", x->path, line,
                       x->request->is_truth ? "--truth-is" : "--result");
    x->format = ND_FORMAT_JSONL;
    x->has_columns = true;
    x->r->form = ND_EVAL_MANIFEST;
    status = number(x, row->id, line, &id, err);
    if (status == ND_OK && x->request->samples && x->request->value)
        status = read_value(x, more[nd_column_n_keys].value, line, &value, err);
    return status == ND_OK ? add_removed(x, id, kept, value, line, err) : status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int by_ids(const void *left, const void *right)
{
    const struct nd_related *a = left, *b = right;

    if (a->ids != b->ids)
        return a->ids < b->ids ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static enum nd_status refuse_twice(const struct relation_reading *x, const struct nd_related *a,
                                   const struct nd_related *b, struct nd_error *err)
{
    const struct nd_view *name = x->ids->names.value;
    char text[2][SHOWN];

    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64 ": the pair '%s', '%s' is labelled %s, but %s in line %" PRIu64,
                   x->path, (uint64_t)b->line, shown(name[(a->ids >> 32) - 1], text[0]),
                   shown(name[(uint32_t)a->ids - 1], text[1]),
                   nd_label_word((enum nd_label)b->label), nd_label_word((enum nd_label)a->label),
                   (uint64_t)a->line);
}

/* Sort the pairs, each once, and count their labels. */
static enum nd_status sort_pairs(struct relation_reading *x, struct nd_error *err)
{
    struct nd_relation *r = x->r;
    size_t n = 0;

    if (r->n_pairs)
        qsort(r->pair, r->n_pairs, sizeof *r->pair, by_ids);
    for (size_t i = 0; i < r->n_pairs; i++) {
        if (!n || r->pair[n - 1].ids != r->pair[i].ids)
            r->pair[n++] = r->pair[i];
        else if (r->pair[n - 1].label != r->pair[i].label)
            return refuse_twice(x, &r->pair[n - 1], &r->pair[i], err);
    }
    r->n_pairs = n;
    for (size_t i = 0; i < n; i++)
        r->n_labelled[r->pair[i].label]++;
    return ND_OK;
}

/* Make the connected components of the pairs the sets. */
static enum nd_status close_pairs(struct nd_relation *r, struct nd_error *err)
{
    struct nd_sets sets = {0};

    if (!nd_sets_begin(&sets, r->n_ids))
        return no_memory(err);
    for (size_t i = 0; i < r->n_pairs; i++)
        if (r->pair[i].label == ND_LABEL_SAME)
            nd_sets_join(&sets, (uint32_t)(r->pair[i].ids >> 32) - 1, (uint32_t)r->pair[i].ids - 1);
    for (size_t i = 0; i < r->n_ids; i++) {
        r->set[i] = nd_sets_root(&sets, (uint32_t)i) + 1;
        r->n_sets = r->set[i] > r->n_sets ? r->set[i] : r->n_sets;
    }
    nd_sets_release(&sets);
    r->has_sets = true;
    return ND_OK;
}

static enum nd_status finish(struct relation_reading *x, bool is_manifest, struct nd_error *err)
{
    struct nd_relation *r = x->r;
    enum nd_status status;

    if (x->n_empty && !r->n_pairs)
        return nd_fail(err, ND_EINPUT, "%s: the column '%.60s' has no number in any row", x->path,
                       x->request->value);
    status = sort_pairs(x, err);
    if (status == ND_OK && !reserve_ids(r, x->ids->names.count))
        return no_memory(err);
    if (!x->has_columns) /* it has no rows */
        r->form = x->request->form != ND_EVAL_ANY ? x->request->form
                  : is_manifest                   ? ND_EVAL_MANIFEST
                                                  : ND_EVAL_PAIRS;
    r->has_sets = r->form == ND_EVAL_CLUSTERS || r->form == ND_EVAL_CLASSES;
    r->has_fates |= r->form == ND_EVAL_MANIFEST ||
                    (r->has_sets && r->sets.count && x->own_lines == r->sets.count);
    r->n_sets = (uint32_t)r->sets.count;
    if (status == ND_OK &&
        (r->form == ND_EVAL_MANIFEST || (r->form == ND_EVAL_PAIRS && x->request->closes)))
        status = close_pairs(r, err);
    return status;
}

enum nd_status nd_relation_read(struct nd_relation *r, const char *path,
                                const struct nd_relation_request *request, struct nd_eval_ids *ids,
                                struct nd_error *err)
{
    struct relation_reading *x = calloc(1, sizeof *x);
    struct nd_manifest manifest = {.n_rows = 0};
    const char *key[ND_MANIFEST_FIELDS_MORE];
    struct nd_manifest_hooks hooks = {.row = take_removed,
                                      .object = take_object,
                                      .text = take_text,
                                      .context = x,
                                      .fields = key,
                                      .n_fields = nd_column_n_keys};
    enum nd_status status;

    if (!x)
        return no_memory(err);
    *x = (struct relation_reading){.r = r, .ids = ids, .request = request, .path = path};
    memcpy(key, nd_column_keys, nd_column_n_keys * sizeof *key);
    if (request->value)
        key[hooks.n_fields++] = request->value;
    status = nd_manifest_each(&manifest, path, &hooks, err);
    if (status == ND_OK)
        status = finish(x, manifest.has_header, err);
    nd_manifest_release(&manifest);
    nd_arena_release(&x->arena);
    free(x);
    return status;
}

void nd_relation_release(struct nd_relation *r)
{
    free(r->pair);
    free(r->set);
    free(r->set_line);
    free(r->fate);
    nd_groups_release(&r->sets);
    nd_groups_release(&r->texts);
    *r = (struct nd_relation){.n_pairs = 0};
}

bool nd_relation_find(const struct nd_relation *r, uint64_t ids, enum nd_label *label)
{
    size_t from = 0, to = r->n_pairs;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (r->pair[middle].ids < ids)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == r->n_pairs || r->pair[from].ids != ids)
        return false;
    *label = (enum nd_label)r->pair[from].label;
    return true;
}
