/* judgements.c - files of judgements: what people said of pairs that were drawn */
#include "uses/judging/judgements.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/view.h"
#include "evidence/name.h"
#include "input/formats/lines.h"
#include "input/formats/table_row.h"

/* The columns, by their names. */
enum judged_cell { AT_A, AT_B, AT_LABEL, AT_LISTED, AT_STRATUM, AT_OF, AT_DRAWN, N_AT };
static const char *const names[N_AT] = {"a", "b", "label", "listed", "stratum", "of", "drawn"};
enum { CELLS_MAX = 256, SHOWN = 100 };

struct judgements_reading {
    struct nd_judgements *j;
    struct nd_eval_ids *ids;
    const char *path;
    enum nd_format format;
    size_t at[N_AT]; /* of each column in a row */
    bool has_header;
    struct nd_arena arena;
};

void nd_judgements_release(struct nd_judgements *j)
{
    free(j->at);
    nd_groups_release(&j->strata);
    *j = (struct nd_judgements){.n = 0};
}

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status refuse(const struct judgements_reading *x, uint64_t line, const char *what,
                             struct nd_view cell, struct nd_error *err)
{
    char shown[SHOWN];

    nd_name_show(cell, shown, sizeof shown);
    return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": %s '%s'", x->path, line, what, shown);
}

/* ---- A row ----------------------------------------------------------------------------------- */

static enum nd_status number(struct judgements_reading *x, struct nd_view name, uint32_t *id,
                             struct nd_error *err)
{
    if (x->format != ND_FORMAT_TSV && !nd_eval_ids_plain(x->ids, name, &name))
        return no_memory(err);
    return nd_groups_number(&x->ids->names, name, id) ? ND_OK : no_memory(err);
}

static bool read_count(struct nd_view text, uint64_t *count)
{
    double value;

    if (!nd_label_number(text, &value) || value < 1 || value > 9e15 || floor(value) < value)
        return false;
    *count = (uint64_t)value;
    return true;
}

/* Number a stratum by its name: near misses have one of their own. */
static enum nd_status number_stratum(struct judgements_reading *x, struct nd_view name,
                                     struct nd_judgement *out, struct nd_error *err)
{
    struct nd_buffer text = {0};
    bool good = nd_buffer_append(&text, out->is_listed ? "1" : "0", 1) &&
                nd_buffer_append(&text, name.data, name.len);

    good = good &&
           nd_groups_number(&x->j->strata, (struct nd_view){text.data, text.len}, &out->stratum);
    nd_buffer_release(&text);
    return good ? ND_OK : no_memory(err);
}

static enum nd_status take_cells(struct judgements_reading *x, const struct nd_view cell[N_AT],
                                 uint64_t line, struct nd_error *err)
{
    static const struct nd_label_rule words = {.has_at = false};
    struct nd_judgement out = {.line = line, .is_judged = cell[AT_LABEL].len > 0};
    uint32_t id[2];
    enum nd_status status;

    if (!cell[AT_A].len || !cell[AT_B].len)
        return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": a pair without two ids", x->path, line);
    if (!nd_label_read(&words, cell[AT_LABEL], &out.label))
        return refuse(x, line, "the label is none of same, different and unsure:", cell[AT_LABEL],
                      err);
    if (!nd_view_is(cell[AT_LISTED], "1") && !nd_view_is(cell[AT_LISTED], "0"))
        return refuse(x, line, "listed is neither 1 nor 0:", cell[AT_LISTED], err);
    if (!read_count(cell[AT_OF], &out.size))
        return refuse(x, line, "of is no number of pairs:", cell[AT_OF], err);
    out.is_listed = *cell[AT_LISTED].data == '1';
    status = number(x, cell[AT_A], &id[0], err);
    if (status == ND_OK)
        status = number(x, cell[AT_B], &id[1], err);
    if (status == ND_OK && cell[AT_DRAWN].len)
        status = number(x, cell[AT_DRAWN], &out.drawn, err);
    else if (status == ND_OK)
        status = number_stratum(x, cell[AT_STRATUM], &out, err);
    if (status != ND_OK)
        return status;
    out.ids = nd_pair_of(id[0], id[1]);
    if (id[0] == id[1] || (out.drawn && out.drawn != id[0] && out.drawn != id[1]))
        return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": %s", x->path, line,
                       id[0] == id[1] ? "both ids of the pair are the same"
                                      : "the document that was drawn is not of the pair");
    if (x->j->n && x->j->draws_documents != (out.drawn != 0))
        return nd_fail(err, ND_EINPUT,
                       "%s:%" PRIu64 ": either pairs or documents were drawn, not both", x->path,
                       line);
    x->j->draws_documents = out.drawn != 0;
    if (!ND_RESERVE(x->j->at, &x->j->capacity, x->j->n + 1))
        return no_memory(err);
    x->j->at[x->j->n++] = out;
    return ND_OK;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static enum nd_status take_header(struct judgements_reading *x, const struct nd_view *cell,
                                  size_t n, struct nd_error *err)
{
    for (int k = 0; k < N_AT; k++) {
        x->at[k] = SIZE_MAX;
        for (size_t i = 0; i < n; i++)
            if (nd_view_is(cell[i], names[k]))
                x->at[k] = i;
        if (x->at[k] == SIZE_MAX && k != AT_DRAWN)
            return nd_fail(err, ND_EINPUT,
                           "%s:1: no column is called '%s': this is no file that neardup sample "
                           "wrote (a file of labels goes into --truth)",
                           x->path, names[k]);
    }
    x->has_header = true;
    return ND_OK;
}

/* The `text` hook. */
static enum nd_status take_text(void *context, const struct nd_record *record, struct nd_error *err)
{
    struct judgements_reading *x = context;
    struct nd_view row = nd_line_without_end(nd_without_mark(record->bytes)), raw, cell[CELLS_MAX],
                   known[N_AT];
    size_t n = 0;

    if (x->format == ND_FORMAT_AUTO)
        x->format = row.len && memchr(row.data, '\t', row.len) ? ND_FORMAT_TSV : ND_FORMAT_CSV;
    nd_arena_reset(&x->arena);
    while (nd_row_next(x->format, &row, &raw)) {
        if (n == CELLS_MAX)
            return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": more than %d cells", x->path,
                           record->line, CELLS_MAX);
        if (!nd_cell_value(x->format, raw, &x->arena, &cell[n++]))
            return no_memory(err);
    }
    if (!x->has_header)
        return take_header(x, cell, n, err);
    for (int k = 0; k < N_AT; k++)
        known[k] = x->at[k] < n ? cell[x->at[k]] : (struct nd_view){"", 0};
    return take_cells(x, known, record->line, err);
}

/* The `object` hook. */
static enum nd_status take_object(void *context, const struct nd_document *object, uint64_t line,
                                  struct nd_error *err)
{
    struct judgements_reading *x = context;
    struct nd_view known[N_AT];

    x->format = ND_FORMAT_JSONL;
    for (int k = 0; k < N_AT; k++) {
        known[k] = object->fields[ND_MANIFEST_FIELDS + k].value;
        if (!known[k].data)
            known[k] = (struct nd_view){"", 0};
    }
    return take_cells(x, known, line, err);
}

/* The `row` hook. */
static enum nd_status refuse_manifest(void *context, const struct nd_document *row,
                                      struct nd_view at, struct nd_view kept,
                                      struct nd_view kept_at, uint64_t line, struct nd_error *err)
{
    const struct judgements_reading *x = context;

    (void)row;
    (void)at;
    (void)kept;
    (void)kept_at;
    return nd_fail(err, ND_EINPUT, "%s:%" PRIu64 ": a row of a manifest, which nobody judged",
                   x->path, line);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int by_pair(const void *left, const void *right)
{
    const struct nd_judgement *a = left, *b = right;

    if (a->ids != b->ids)
        return a->ids < b->ids ? -1 : 1;
    if (a->drawn != b->drawn)
        return a->drawn < b->drawn ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

static bool is_of(const struct nd_judgement *a, const struct nd_judgement *b)
{
    return a->ids == b->ids && a->drawn == b->drawn;
}

/* Each stratum must have one size, which is no less than its rows. */
static enum nd_status check_strata(const struct judgements_reading *x, struct nd_error *err)
{
    const size_t n = x->j->strata.count;
    struct counted {
        uint64_t size, rows;
    } *known = calloc(n + 1, sizeof *known);
    enum nd_status status = known ? ND_OK : no_memory(err);

    for (size_t i = 0; status == ND_OK && i < x->j->n; i++) {
        const struct nd_judgement *g = &x->j->at[i];
        struct counted *s = &known[g->stratum];

        s->rows += g->stratum > 0;
        if (s->size && s->size != g->size)
            status = nd_fail(err, ND_EINPUT,
                             "%s:%" PRIu64 ": of is %" PRIu64 ", but %" PRIu64 " elsewhere",
                             x->path, g->line, g->size, s->size);
        else if (g->stratum && s->rows > g->size)
            status = nd_fail(err, ND_EINPUT,
                             "%s:%" PRIu64 ": of is %" PRIu64
                             ", but more pairs of this stratum are judged",
                             x->path, g->line, g->size);
        s->size = g->size;
    }
    free(known);
    return status;
}

static enum nd_status finish(const struct judgements_reading *x, struct nd_error *err)
{
    struct nd_judgements *j = x->j;

    if (j->n)
        qsort(j->at, j->n, sizeof *j->at, by_pair);
    for (size_t i = 1; i < j->n; i++)
        if (is_of(&j->at[i - 1], &j->at[i]))
            return nd_fail(err, ND_EINPUT,
                           "%s:%" PRIu64 ": the pair of line %" PRIu64 " again: each file is of "
                           "one judge",
                           x->path, j->at[i].line, j->at[i - 1].line);
    if (!j->n)
        return nd_fail(err, ND_EINPUT, "%s: there is no pair", x->path);
    return check_strata(x, err);
}

enum nd_status nd_judgements_read(struct nd_judgements *j, const char *path,
                                  struct nd_eval_ids *ids, struct nd_error *err)
{
    struct judgements_reading x = {.j = j, .ids = ids, .path = path};
    struct nd_manifest manifest = {.n_rows = 0};
    const struct nd_manifest_hooks hooks = {.row = refuse_manifest,
                                            .object = take_object,
                                            .text = take_text,
                                            .context = &x,
                                            .fields = names,
                                            .n_fields = N_AT};
    enum nd_status status = nd_manifest_each(&manifest, path, &hooks, err);

    if (status == ND_OK)
        status = finish(&x, err);
    nd_manifest_release(&manifest);
    nd_arena_release(&x.arena);
    return status;
}

const struct nd_judgement *nd_judgements_find(const struct nd_judgements *j,
                                              const struct nd_judgement *wanted)
{
    size_t from = 0, to = j->n;

    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const struct nd_judgement *at = &j->at[middle];

        if (at->ids < wanted->ids || (at->ids == wanted->ids && at->drawn < wanted->drawn))
            from = middle + 1;
        else
            to = middle;
    }
    return from < j->n && is_of(&j->at[from], wanted) ? &j->at[from] : NULL;
}
