/*
 * dedup.c - deduplicate a frame, in the order of a keep policy, or batches as they come
 *
 * A run over a frame has two steps: an order of the rows, then pushes of slices in that order.  The
 * engine keeps no text: it asks for those of earlier rows by their numbers, and they stand in the
 * frame.  Between two slices the GIL is taken for signals and progress, so a slice is a few megabytes.
 */
#define _GNU_SOURCE /* qsort_r */
#include "documents.h"
#include "result.h"

#include <neardup/text.h>

#include "base/groups.h"
#include "base/memory.h"
#include "recipe/keep.h"

#include <stdlib.h>
#include <string.h>

/* ---- The order ---- */

/* A run over a frame. */
struct run {
    PyObject *module;
    struct nd_py_documents documents; /* in keep order */
    struct nd_dedup *dedup;
    struct nd_py_result *result;
    bool is_components;
    /* How rows are ordered. */
    struct nd_keep keep;
    uint64_t *key;
    uint32_t *preference;
    const struct nd_py_column *keep_column;
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
    const struct nd_py_frame *f = r->documents.frame;
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

    r->preference = nd_alloc_array(r->documents.frame->n_rows + 1, sizeof *r->preference);
    for (Py_ssize_t i = 0; is_good && i < n; i++) {
        Py_ssize_t len;
        const char *text = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, i), &len);

        is_good = text && nd_groups_number(&values, (struct nd_view){text, (size_t)len}, &number);
    }
    is_good = is_good && r->preference;
    for (size_t i = 0; is_good && i < r->documents.frame->n_rows; i++) {
        number = nd_groups_find(&values, column->value[i]);
        r->preference[i] = number ? number : UINT32_MAX;
    }
    nd_groups_release(&values);
    return is_good;
}

static void sort_documents(struct run *r)
{
    if (r->key || r->preference || r->keep.by == ND_KEEP_LAST)
        qsort_r(r->documents.order, r->documents.n, sizeof *r->documents.order, by_keep_order, r);
}

/* ---- The pushes ---- */

static bool note_decisions(struct run *r, size_t from, size_t n, const struct nd_component_via *via)
{
    const uint64_t *order = r->documents.order;

    for (size_t i = 0; i < n; i++) {
        struct nd_py_removal removal = {
            .row = order[from + i], .kept = order[r->decision[i].kept], .decision = r->decision[i]};

        removal.via = via ? order[via[i].document] : removal.kept;
        if (removal.row != removal.kept && !nd_py_result_add(r->result, &removal))
            return false;
    }
    return true;
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

    for (size_t from = 0, to; from < r->documents.n; from = to) {
        enum nd_status status;
        bool is_noted = true;

        Py_BEGIN_ALLOW_THREADS to = nd_py_documents_fill(&r->documents, from);
        if (r->is_components)
            status = nd_dedup_push_components(r->dedup, r->documents.item, to - from, &err);
        else
            status = nd_dedup_push(r->dedup, r->documents.item, to - from, r->decision, &err);
        if (status == ND_OK && !r->is_components)
            is_noted = note_decisions(r, from, to - from, NULL);
        Py_END_ALLOW_THREADS if (!is_noted) PyErr_NoMemory();
        if (!is_noted || !raise_status(r, status, &err) ||
            !nd_py_report(progress, to, r->documents.n))
            return false;
    }
    return true;
}

static bool take_components(struct run *r)
{
    struct nd_component_via *via = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *via);
    struct nd_error err;
    bool is_good = via != NULL;

    if (!is_good)
        PyErr_NoMemory();
    for (size_t from = 0; is_good && from < r->documents.n; from += ND_PY_SLICE_ROWS) {
        size_t left = r->documents.n - from, n = left < ND_PY_SLICE_ROWS ? left : ND_PY_SLICE_ROWS;
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
    r->decision = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *r->decision);
    if (!r->decision) {
        PyErr_NoMemory();
        return false;
    }
    if (!push_all(r, progress) || (r->is_components && !take_components(r)))
        return false;
    nd_dedup_get_stats(r->dedup, &r->result->stats);
    return true;
}

static bool prepare(struct run *r, const struct nd_recipe *recipe, unsigned threads,
                    const char *keep, const unsigned columns[2], PyObject *preferred,
                    const struct nd_text_source *source)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    const struct nd_py_frame *frame = r->documents.frame;
    const struct nd_py_column *prefer = nd_py_column_at(frame, columns[1]);
    struct nd_error err;

    if (nd_keep_parse(keep, &r->keep, &err) != ND_OK) {
        nd_py_raise(r->module, &err);
        return false;
    }
    r->keep_column = nd_py_column_at(frame, columns[0]);
    if ((prefer && !make_preferences(r, prefer, preferred)) || !make_keys(r) ||
        !(r->result = nd_py_result_new(frame->n_rows, 0))) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return false;
    }
    sort_documents(r);
    options.threads = threads;
    options.source = source;
    r->dedup = nd_dedup_new(recipe, &options, &err);
    if (!r->dedup)
        nd_py_raise(r->module, &err);
    r->result->n_pushed = r->documents.n;
    return r->dedup != NULL;
}

/*
 * dedup(recipe, frame, threads, keep, is_components, keep column, prefer column, preferred values,
 * within column, never, field columns, progress): a result.  Columns are numbers in the frame, 0:
 * none.
 */
static PyObject *dedup(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *frame_capsule, *preferred, *never, *fields, *progress;
    PyObject *capsule = NULL;
    struct run r = {.module = module};
    struct nd_text_source source = nd_py_documents_source(&r.documents);
    const struct nd_recipe *recipe;
    const char *keep;
    unsigned threads, columns[2], within;
    int is_components;

    if (!PyArg_ParseTuple(args, "OOIspIIO!IO!O!O", &recipe_capsule, &frame_capsule, &threads, &keep,
                          &is_components, &columns[0], &columns[1], &PyTuple_Type, &preferred,
                          &within, &PyTuple_Type, &never, &PyTuple_Type, &fields, &progress) ||
        !(recipe = nd_py_recipe(recipe_capsule)) ||
        !(r.documents.frame = nd_py_frame(frame_capsule)))
        return NULL;
    if (nd_py_documents_take_fields(&r.documents, fields) &&
        nd_py_documents_group(&r.documents, within, never) && nd_py_documents_list(&r.documents) &&
        prepare(&r, recipe, threads, keep, columns, preferred, &source)) {
        r.is_components = is_components;
        if (run_all(&r, progress)) {
            capsule = nd_py_result_capsule(r.result);
            r.result = NULL;
        }
    }
    nd_py_result_free(r.result);
    Py_BEGIN_ALLOW_THREADS nd_dedup_free(r.dedup);
    Py_END_ALLOW_THREADS nd_py_documents_release(&r.documents);
    free(r.key);
    free(r.preference);
    free(r.decision);
    return capsule;
}

/* Places in the order of a policy: equal ones have the same place, rows without a text the last. */
static void put_places(struct run *r, uint64_t *place)
{
    const struct nd_py_documents *d = &r->documents;
    uint64_t before = 0;

    for (size_t i = 0; i < d->frame->n_rows; i++)
        place[i] = d->n;
    for (size_t i = 0; i < d->n; i++) {
        uint64_t row = d->order[i], last = i ? d->order[i - 1] : row;
        bool is_same = i && (!r->key || (r->key[row] == r->key[last] &&
                                         (!nd_keep_is_rough(&r->keep, r->key[row]) ||
                                          !nd_keep_compare(&r->keep, r->keep_column->value[row],
                                                           r->keep_column->value[last]))));

        place[row] = is_same ? before : i;
        before = place[row];
    }
}

/* keep_places(frame, policy, column): a column of the place of each row that has a text. */
static PyObject *keep_places(PyObject *module, PyObject *args)
{
    static const struct nd_py_column_type type = {"place", "L", 8, NULL, 0};
    struct run r = {.module = module};
    PyObject *capsule, *columns = NULL;
    struct nd_error err;
    const char *policy;
    unsigned column;
    void *values;

    if (!PyArg_ParseTuple(args, "OsI", &capsule, &policy, &column) ||
        !(r.documents.frame = nd_py_frame(capsule)))
        return NULL;
    if (nd_keep_parse(policy, &r.keep, &err) != ND_OK)
        return nd_py_raise(module, &err);
    r.keep_column = nd_py_column_at(r.documents.frame, column);
    if (nd_py_documents_list(&r.documents)) {
        if (!make_keys(&r))
            PyErr_NoMemory();
        else if ((columns = nd_py_columns(&type, 1, r.documents.frame->n_rows, &values, NULL))) {
            sort_documents(&r);
            put_places(&r, values);
        }
    }
    nd_py_documents_release(&r.documents);
    free(r.key);
    return columns;
}

PyMethodDef nd_py_dedup_functions[] = {
    {"keep_places", keep_places, METH_VARARGS, "The places of rows in the order of a policy."},
    {"dedup", dedup, METH_VARARGS, "Deduplicate a frame."},
    {NULL, NULL, 0, NULL},
};
