/*
 * dedup.c - deduplicate a frame, in the order of a keep policy, or batches as they come
 *
 * A run over a frame has two steps: an order of the rows, then pushes of slices in that order.  The
 * engine keeps no text: it asks for those of earlier rows by their numbers, and they stand in the
 * frame.  Between two slices the GIL is taken for signals and progress, so a slice is a few megabytes.
 */
#define _GNU_SOURCE /* qsort_r */
#include "result.h"

#include <neardup/text.h>

#include "base/groups.h"
#include "base/memory.h"
#include "recipe/keep.h"

#include <stdlib.h>
#include <string.h>

enum { SLICE_BYTES = 4 << 20, SLICE_ROWS = 8192 };

/* ---- The order ---- */

/* A run over a frame. */
struct run {
    PyObject *module;
    const struct nd_py_frame *frame;
    struct nd_dedup *dedup;
    struct nd_py_result *result;
    bool is_components;
    uint64_t *order; /* rows in keep order: what is pushed as 0, 1, 2 … */
    size_t n;
    /* How rows are ordered. */
    struct nd_keep keep;
    uint64_t *key;
    uint32_t *preference;
    const struct nd_py_column *keep_column;
    uint32_t *group; /* of each row; NULL: one group */
    /* Columns that the recipe reads as fields; and of a slice the documents and their fields. */
    const struct nd_py_column *field[64];
    struct nd_view field_name[64];
    size_t n_fields;
    struct nd_document *document;
    struct nd_field *fields;
    struct nd_dedup_item *item;
    struct nd_decision *decision;
};

static int by_keep_order(const void *a, const void *b, void *context)
{
    const struct run *r = context;
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    if (r->preference && r->preference[x] != r->preference[y])
        return r->preference[x] < r->preference[y] ? -1 : 1;
    if (r->key) {
        if (r->key[x] != r->key[y])
            return r->key[x] < r->key[y] ? -1 : 1;
        if (nd_keep_is_rough(&r->keep, r->key[x])) {
            int order =
                nd_keep_compare(&r->keep, r->keep_column->value[x], r->keep_column->value[y]);

            if (order)
                return order;
        }
    }
    if (r->keep.by == ND_KEEP_LAST)
        return x > y ? -1 : 1;
    return x < y ? -1 : 1;
}

static bool make_keys(struct run *r)
{
    const struct nd_py_frame *f = r->frame;
    const struct nd_view none = {NULL, 0};

    if (r->keep.by == ND_KEEP_FIRST || r->keep.by == ND_KEEP_LAST)
        return true;
    r->key = nd_alloc_array(f->n_rows + 1, sizeof *r->key);
    if (!r->key)
        return false;
    for (size_t i = 0; i < f->n_rows; i++) {
        struct nd_view text = f->column[0].value[i];

        if (text.data && !nd_keep_key(&r->keep, text,
                                      r->keep_column ? r->keep_column->value[i] : none, &r->key[i]))
            return false;
    }
    return true;
}

/* The place of each row's value in the list of preferences. */
static bool make_preferences(struct run *r, const struct nd_py_column *column, PyObject *list)
{
    struct nd_groups values = {0};
    Py_ssize_t n = PyTuple_Size(list);
    bool is_good = true;
    uint32_t number;

    r->preference = nd_alloc_array(r->frame->n_rows + 1, sizeof *r->preference);
    for (Py_ssize_t i = 0; is_good && i < n; i++) {
        Py_ssize_t len;
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, i), &len);

        is_good = text && nd_groups_number(&values, (struct nd_view){text, (size_t)len}, &number);
    }
    is_good = is_good && r->preference;
    for (size_t i = 0; is_good && i < r->frame->n_rows; i++) {
        number = nd_groups_find(&values, column->value[i]);
        r->preference[i] = number ? number : UINT32_MAX;
    }
    nd_groups_release(&values);
    return is_good;
}

static bool make_groups(struct run *r, const struct nd_py_column *column)
{
    struct nd_groups values = {0};
    bool is_good;

    r->group = nd_alloc_array(r->frame->n_rows + 1, sizeof *r->group);
    is_good = r->group != NULL;
    for (size_t i = 0; is_good && i < r->frame->n_rows; i++)
        is_good = nd_groups_number(&values, column->value[i], &r->group[i]);
    nd_groups_release(&values);
    return is_good;
}

/* Rows without a text are in no order: they are not compared. */
static bool make_order(struct run *r)
{
    r->order = nd_alloc_array(r->frame->n_rows + 1, sizeof *r->order);
    if (!r->order)
        return false;
    for (size_t i = 0; i < r->frame->n_rows; i++)
        if (r->frame->column[0].value[i].data)
            r->order[r->n++] = i;
    if (r->key || r->preference || r->keep.by == ND_KEEP_LAST)
        qsort_r(r->order, r->n, sizeof *r->order, by_keep_order, r);
    return true;
}

/* ---- The pushes ---- */

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct run *r = context;

    (void)worker;
    (void)err;
    *text = r->frame->column[0].value[r->order[document]];
    return ND_OK;
}

static enum nd_status keep_nothing(void *context, uint64_t document, size_t item,
                                   struct nd_error *err)
{
    (void)context;
    (void)document;
    (void)item;
    (void)err;
    return ND_OK;
}

/* Where a slice from here ends. */
static size_t slice_end(const struct run *r, size_t from)
{
    size_t bytes = 0, to = from;

    while (to < r->n && to - from < SLICE_ROWS && (to == from || bytes < SLICE_BYTES))
        bytes += r->frame->column[0].value[r->order[to++]].len;
    return to;
}

/* A document is made where it tells more than the text: fields, or what was repaired. */
static void fill_items(struct run *r, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint64_t row = r->order[i], replaced = nd_py_frame_replaced(r->frame, row);
        struct nd_field *fields = r->fields ? &r->fields[(i - from) * r->n_fields] : NULL;
        struct nd_dedup_item *item = &r->item[i - from];

        *item = (struct nd_dedup_item){.text = r->frame->column[0].value[row],
                                       .group = r->group ? r->group[row] : 0};
        for (size_t k = 0; k < r->n_fields; k++)
            fields[k] = (struct nd_field){r->field_name[k], r->field[k]->value[row]};
        if (replaced || r->n_fields) {
            r->document[i - from] = (struct nd_document){.text = item->text,
                                                         .fields = fields,
                                                         .n_fields = r->n_fields,
                                                         .text_replaced = replaced};
            item->document = &r->document[i - from];
        }
    }
}

static bool note_decisions(struct run *r, size_t from, size_t n, const struct nd_component_via *via)
{
    for (size_t i = 0; i < n; i++) {
        struct nd_py_removal removal = {.row = r->order[from + i],
                                        .kept = r->order[r->decision[i].kept],
                                        .decision = r->decision[i]};

        removal.via = via ? r->order[via[i].document] : removal.kept;
        if (removal.row != removal.kept && !nd_py_result_add(r->result, &removal))
            return false;
    }
    return true;
}

/* Signals, and progress(done, all), which may raise.  Needs the GIL. */
static bool report(const struct run *r, PyObject *progress, size_t done)
{
    PyObject *answer;

    if (PyErr_CheckSignals() < 0)
        return false;
    if (progress == Py_None)
        return true;
    answer = PyObject_CallFunction(progress, "nn", (Py_ssize_t)done, (Py_ssize_t)r->n);
    Py_XDECREF(answer);
    return answer != NULL;
}

static bool raise_status(const struct run *r, enum nd_status status, const struct nd_error *err)
{
    if (status != ND_OK)
        nd_py_raise(r->module, err);
    return status == ND_OK;
}

static bool push_all(struct run *r, PyObject *progress)
{
    struct nd_error err;

    for (size_t from = 0, to; from < r->n; from = to) {
        enum nd_status status;
        bool is_noted = true;

        Py_BEGIN_ALLOW_THREADS to = slice_end(r, from);
        fill_items(r, from, to);
        if (r->is_components)
            status = nd_dedup_push_components(r->dedup, r->item, to - from, &err);
        else
            status = nd_dedup_push(r->dedup, r->item, to - from, r->decision, &err);
        if (status == ND_OK && !r->is_components)
            is_noted = note_decisions(r, from, to - from, NULL);
        Py_END_ALLOW_THREADS if (!is_noted) PyErr_NoMemory();
        if (!is_noted || !raise_status(r, status, &err) || !report(r, progress, to))
            return false;
    }
    return true;
}

static bool take_components(struct run *r)
{
    struct nd_component_via *via = nd_alloc_array(SLICE_ROWS, sizeof *via);
    struct nd_error err;
    bool is_good = via != NULL;

    if (!is_good)
        PyErr_NoMemory();
    for (size_t from = 0; is_good && from < r->n; from += SLICE_ROWS) {
        size_t n = r->n - from < SLICE_ROWS ? r->n - from : SLICE_ROWS;
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS status =
            nd_dedup_components(r->dedup, from, n, r->decision, via, &err);
        Py_END_ALLOW_THREADS is_good = raise_status(r, status, &err);
        if (is_good && !note_decisions(r, from, n, via)) {
            PyErr_NoMemory();
            is_good = false;
        }
        is_good = is_good && PyErr_CheckSignals() == 0;
    }
    free(via);
    return is_good;
}

static bool run_all(struct run *r, PyObject *progress)
{
    r->item = nd_alloc_array(SLICE_ROWS, sizeof *r->item);
    r->document = nd_alloc_array(SLICE_ROWS, sizeof *r->document);
    r->decision = nd_alloc_array(SLICE_ROWS, sizeof *r->decision);
    if (r->n_fields)
        r->fields = nd_alloc_array(SLICE_ROWS * r->n_fields, sizeof *r->fields);
    if (!r->item || !r->document || !r->decision || (r->n_fields && !r->fields)) {
        PyErr_NoMemory();
        return false;
    }
    if (!push_all(r, progress) || (r->is_components && !take_components(r)))
        return false;
    nd_dedup_get_stats(r->dedup, &r->result->stats);
    return true;
}

/* Columns by their numbers in the frame; 0: there is none. */
static const struct nd_py_column *column_at(const struct nd_py_frame *f, unsigned i)
{
    return i > 0 && i < f->n_columns ? &f->column[i] : NULL;
}

static bool take_fields(struct run *r, PyObject *columns)
{
    Py_ssize_t n = PyTuple_Size(columns);

    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long number = PyLong_AsUnsignedLong(PyTuple_GetItem(columns, i));
        const char *name;

        if (PyErr_Occurred())
            return false;
        if (r->n_fields == sizeof r->field / sizeof *r->field || number >= r->frame->n_columns) {
            PyErr_SetString(PyExc_ValueError, "there are too many fields");
            return false;
        }
        name = r->frame->name[number];
        r->field[r->n_fields] = &r->frame->column[number];
        r->field_name[r->n_fields++] = (struct nd_view){name, strlen(name)};
    }
    return true;
}

static bool prepare(struct run *r, const struct nd_recipe *recipe, unsigned threads,
                    const char *keep, const unsigned columns[3], PyObject *preferred,
                    struct nd_text_source *source)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_error err;
    const struct nd_py_column *prefer = column_at(r->frame, columns[1]),
                              *within = column_at(r->frame, columns[2]);

    if (nd_keep_parse(keep, &r->keep, &err) != ND_OK) {
        nd_py_raise(r->module, &err);
        return false;
    }
    r->keep_column = column_at(r->frame, columns[0]);
    if ((prefer && !make_preferences(r, prefer, preferred)) ||
        (within && !make_groups(r, within)) || !make_keys(r) || !make_order(r) ||
        !(r->result = nd_py_result_new(r->frame->n_rows, 0))) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return false;
    }
    *source = (struct nd_text_source){r, fetch, keep_nothing};
    options.threads = threads;
    options.source = source;
    r->dedup = nd_dedup_new(recipe, &options, &err);
    if (!r->dedup)
        nd_py_raise(r->module, &err);
    r->result->n_pushed = r->n;
    return r->dedup != NULL;
}

/*
 * dedup(recipe, frame, threads, keep, is_components, keep column, prefer column, preferred values,
 * within column, field columns, progress): a result.  Columns are numbers in the frame, 0: none.
 */
static PyObject *dedup(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *frame_capsule, *preferred, *fields, *progress, *capsule = NULL;
    struct run r = {.module = module};
    struct nd_text_source source;
    const struct nd_recipe *recipe;
    const char *keep;
    unsigned threads, columns[3];
    int is_components;

    if (!PyArg_ParseTuple(args, "OOIspIIO!IO!O", &recipe_capsule, &frame_capsule, &threads, &keep,
                          &is_components, &columns[0], &columns[1], &PyTuple_Type, &preferred,
                          &columns[2], &PyTuple_Type, &fields, &progress) ||
        !(recipe = nd_py_recipe(recipe_capsule)) || !(r.frame = nd_py_frame(frame_capsule)) ||
        !take_fields(&r, fields))
        return NULL;
    if (prepare(&r, recipe, threads, keep, columns, preferred, &source)) {
        r.is_components = is_components;
        if (run_all(&r, progress)) {
            capsule = nd_py_result_capsule(r.result);
            r.result = NULL;
        }
    }
    nd_py_result_free(r.result);
    Py_BEGIN_ALLOW_THREADS nd_dedup_free(r.dedup);
    Py_END_ALLOW_THREADS free(r.order);
    free(r.key);
    free(r.preference);
    free(r.group);
    free(r.item);
    free(r.document);
    free(r.fields);
    free(r.decision);
    return capsule;
}

PyMethodDef nd_py_dedup_functions[] = {
    {"dedup", dedup, METH_VARARGS, "Deduplicate a frame."},
    {NULL, NULL, 0, NULL},
};
