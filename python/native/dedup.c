/*
 * dedup.c - deduplicate rows in the order of a keep policy
 *
 * A run has two steps: an order of the rows, then pushes of slices in that order.  The engine keeps
 * no text: it asks for those of earlier rows by their numbers, and they stand in the frame, or in a
 * file.  Between two slices the GIL is taken for signals and progress, so a slice is a few
 * megabytes.
 */
#include "dedup.h"

#include "base/memory.h"
#include "evidence/counts.h"

#include <stdlib.h>

struct run {
    PyObject *module;
    const struct nd_py_run *what;
    struct nd_recipe *recipe;
    struct nd_dedup *dedup;
    struct nd_text_source source;
    struct nd_py_slice slice;
    struct nd_arena slice_texts;
    struct nd_buffer *buffer; /* of each worker, and one more */
    bool is_components;
};

/* ---- The pushes ---- */

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct run *r = context;
    uint32_t row = r->what->row[document];
    struct nd_py_entry entry;
    enum nd_status status;

    if (r->what->frame) {
        *text = r->what->frame->column[0].value[row];
        return ND_OK;
    }
    status = nd_py_texts_read(r->what->texts, row, &r->buffer[worker], &entry, err);
    *text = entry.value[0];
    return status;
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

/* A slice of the documents from here on. */
static enum nd_status fill(struct run *r, size_t from, struct nd_error *err)
{
    const struct nd_py_run *what = r->what;
    enum nd_status status = ND_OK;

    nd_py_slice_clear(&r->slice);
    nd_arena_reset(&r->slice_texts);
    for (size_t i = from; status == ND_OK && i < what->n && !nd_py_slice_is_full(&r->slice); i++) {
        if (what->frame)
            nd_py_slice_add_row(&r->slice, what->frame, what->row[i],
                                what->group ? what->group[i] : 0);
        else
            status = nd_py_slice_load(&r->slice, &r->slice_texts, what->texts, what->row[i],
                                      &r->buffer[ND_PY_WORKERS_MAX], err);
    }
    return status;
}

static enum nd_status note_decisions(struct run *r, size_t from, size_t n,
                                     const struct nd_component_via *via, struct nd_error *err)
{
    const uint32_t *row = r->what->row;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++) {
        const struct nd_decision *decision = &r->slice.decision[i];
        const struct nd_py_removed removed = {.row = row[from + i],
                                              .kept = row[decision->kept],
                                              .via = row[via ? via[i].document : decision->kept],
                                              .decision = decision,
                                              .component = via ? &via[i] : NULL};

        if (removed.row != removed.kept)
            status = r->what->removed(r->what->context, &removed, err);
    }
    return status;
}

static enum nd_status check_engine(const struct run *r, size_t pushed, struct nd_error *err)
{
    struct nd_dedup_stats stats;

    if (!r->what->check)
        return ND_OK;
    nd_dedup_get_stats(r->dedup, &stats);
    return r->what->check(r->what->context, &stats, pushed, err);
}

static bool raise_status(const struct run *r, enum nd_status status, const struct nd_error *err)
{
    if (status != ND_OK)
        nd_py_raise(r->module, err);
    return status == ND_OK;
}

static bool push_all(struct run *r, PyObject *progress)
{
    const struct nd_py_run *what = r->what;
    struct nd_error err;

    for (size_t from = 0, n; from < what->n; from += n) {
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        status = fill(r, from, &err);
        n = r->slice.n;
        if (status == ND_OK && r->is_components)
            status = nd_dedup_push_components(r->dedup, r->slice.item, n, &err);
        else if (status == ND_OK)
            status = nd_dedup_push(r->dedup, r->slice.item, n, r->slice.decision, &err);
        if (status == ND_OK)
            status = check_engine(r, from + n, &err);
        if (status == ND_OK && !r->is_components)
            status = note_decisions(r, from, n, NULL, &err);
        Py_END_ALLOW_THREADS;
        if (!raise_status(r, status, &err) ||
            !nd_py_report(progress, what->n_before + from + n, what->n_all))
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
    for (size_t from = 0; is_good && from < r->what->n; from += ND_PY_SLICE_ROWS) {
        size_t n = r->what->n - from < ND_PY_SLICE_ROWS ? r->what->n - from : ND_PY_SLICE_ROWS;
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        status = nd_dedup_components(r->dedup, from, n, r->slice.decision, via, &err);
        if (status == ND_OK)
            status = note_decisions(r, from, n, via, &err);
        Py_END_ALLOW_THREADS;
        is_good = raise_status(r, status, &err) && PyErr_CheckSignals() == 0;
    }
    free(via);
    return is_good;
}

static bool prepare(struct run *r)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    const struct nd_py_run *what = r->what;
    struct nd_error err;

    r->recipe = nd_recipe_copy(what->recipe, &err);
    if (!what->frame)
        r->buffer = calloc(ND_PY_WORKERS_MAX + 1, sizeof *r->buffer);
    if (!r->recipe || !nd_py_slice_init(&r->slice, what->fields) || (!what->frame && !r->buffer)) {
        PyErr_NoMemory();
        return false;
    }
    if (what->slice_bytes && what->slice_bytes < r->slice.bytes_max)
        r->slice.bytes_max = what->slice_bytes;
    if (what->cache_bytes)
        options.cache_bytes = what->cache_bytes;
    r->source = (struct nd_text_source){.context = r, .fetch = fetch, .keep = keep_nothing};
    options.threads = what->threads;
    options.source = &r->source;
    r->dedup = nd_dedup_new(r->recipe, &options, &err);
    if (!r->dedup)
        nd_py_raise(r->module, &err);
    r->is_components = r->recipe->dedup.cluster == ND_CLUSTER_COMPONENTS;
    return r->dedup != NULL;
}

static void release(struct run *r)
{
    Py_BEGIN_ALLOW_THREADS;
    nd_dedup_free(r->dedup);
    Py_END_ALLOW_THREADS;
    for (size_t i = 0; r->buffer && i <= ND_PY_WORKERS_MAX; i++)
        nd_buffer_release(&r->buffer[i]);
    free(r->buffer);
    nd_py_slice_release(&r->slice);
    nd_arena_release(&r->slice_texts);
    nd_recipe_free(r->recipe);
}

bool nd_py_decide(PyObject *module, const struct nd_py_run *what, PyObject *progress,
                  struct nd_dedup_stats *stats)
{
    struct run r = {.module = module, .what = what};
    bool is_good =
        prepare(&r) && push_all(&r, progress) && (!r.is_components || take_components(&r));
    struct nd_dedup_stats own;

    if (is_good) {
        nd_dedup_get_stats(r.dedup, &own);
        nd_dedup_stats_add(stats, &own);
    }
    release(&r);
    return is_good;
}

/* ---- As a result ---- */

struct sink {
    struct nd_py_result *result;
    const struct nd_recipe *recipe;
};

static enum nd_status put_removed(void *context, const struct nd_py_removed *removed,
                                  struct nd_error *err)
{
    const struct sink *sink = context;

    return nd_py_result_add(sink->result, sink->recipe, removed)
               ? ND_OK
               : nd_fail(err, ND_ENOMEM, "out of memory");
}

PyObject *nd_py_dedup(PyObject *module, struct nd_py_run *run, const struct nd_py_order *order,
                      PyObject *progress)
{
    struct sink sink = {nd_py_result_new(order->n_rows, 0, run->recipe), run->recipe};

    if (!sink.result)
        return PyErr_NoMemory();
    run->row = order->row;
    run->group = order->group;
    run->n = run->n_all = order->n;
    run->removed = put_removed;
    /* cppcheck-suppress autoVariables ; only nd_py_decide uses it */
    run->context = &sink;
    if (!nd_py_decide(module, run, progress, &sink.result->stats)) {
        nd_py_result_free(sink.result);
        return NULL;
    }
    if (order->keep.by == ND_KEEP_NONE && !nd_py_result_remove_leaders(sink.result)) {
        nd_py_result_free(sink.result);
        return PyErr_NoMemory();
    }
    sink.result->n_pushed = order->n;
    sink.result->n_never = order->comparable.n_alone;
    return nd_py_result_capsule(sink.result);
}

/*
 * dedup(recipe, frame, threads, keep, (keep column, prefer column, within column), preferred values,
 * never, fields, progress): a result.  Columns are numbers in the frame, 0: none.
 */
static PyObject *dedup(PyObject *module, PyObject *args)
{
    PyObject *recipe, *frame, *preferred, *never, *columns, *progress, *capsule = NULL;
    struct nd_py_order order = {0};
    struct nd_py_fields fields = {0};
    struct nd_py_roles roles;
    struct nd_py_run what = {.fields = &fields};
    struct nd_error err;
    enum nd_status status;
    const char *keep;

    if (!PyArg_ParseTuple(args, "OOIs(III)O!O!O!O", &recipe, &frame, &what.threads, &keep,
                          &roles.keep, &roles.prefer, &roles.within, &PyTuple_Type, &preferred,
                          &PyTuple_Type, &never, &PyTuple_Type, &columns, &progress) ||
        !(what.recipe = nd_py_recipe(recipe)) || !(what.frame = nd_py_frame(frame)))
        return NULL;
    if (nd_py_fields_init(&fields, columns) && nd_py_fields_fit(&fields, what.frame) &&
        nd_py_order_init(module, &order, keep, &roles, preferred, never)) {
        Py_BEGIN_ALLOW_THREADS;
        status = nd_py_order_add(&order, what.frame, &err);
        if (status == ND_OK && !nd_py_order_settle(&order))
            status = nd_fail(&err, ND_ENOMEM, "out of memory");
        Py_END_ALLOW_THREADS;
        capsule = status == ND_OK ? nd_py_dedup(module, &what, &order, progress)
                                  : nd_py_raise(module, &err);
    }
    nd_py_order_release(&order);
    nd_py_fields_release(&fields);
    return capsule;
}

/* Places in the order of a policy: equal ones have the same place, rows without a text the last. */
static void put_places(const struct nd_py_order *o, uint64_t *place)
{
    for (size_t i = 0; i < o->n_rows; i++)
        place[i] = o->n;
    for (size_t i = 0; i < o->n; i++) {
        bool is_same = i && nd_py_order_is_tied(o, o->row[i - 1], o->row[i]);

        place[o->row[i]] = is_same ? place[o->row[i - 1]] : i;
    }
}

/* keep_places(frame, policy, column): a column of the place of each row that has a text. */
static PyObject *keep_places(PyObject *module, PyObject *args)
{
    static const struct nd_py_column_type type = {"place", "L", 8, NULL, 0};
    struct nd_py_order order = {0};
    struct nd_py_roles roles = {0};
    PyObject *capsule, *none = PyTuple_New(0), *columns = NULL;
    const struct nd_py_frame *frame;
    struct nd_error err;
    const char *policy;
    void *values;

    if (none && PyArg_ParseTuple(args, "OsI", &capsule, &policy, &roles.keep) &&
        (frame = nd_py_frame(capsule)) &&
        nd_py_order_init(module, &order, policy, &roles, none, none)) {
        if (order.keep.by == ND_KEEP_NONE) {
            nd_fail(&err, ND_EINVAL, "keep: none is no order of rows");
            nd_py_raise(module, &err);
        } else if (nd_py_order_add(&order, frame, &err) != ND_OK) {
            nd_py_raise(module, &err);
        } else if ((columns = nd_py_columns(&type, 1, frame->n_rows, &values, NULL))) {
            nd_py_order_sort(&order);
            put_places(&order, values);
        }
    }
    Py_XDECREF(none);
    nd_py_order_release(&order);
    return columns;
}

ND_PY_READS_FRAME(dedup, 1)

PyMethodDef nd_py_dedup_functions[] = {
    {"keep_places", keep_places, METH_VARARGS, "The places of rows in the order of a policy."},
    {"dedup", dedup_reading, METH_VARARGS, "Deduplicate a frame."},
    {NULL, NULL, 0, NULL},
};
