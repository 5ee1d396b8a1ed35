/*
 * frame_dedup.c - deduplicate rows in the order of a keep policy
 *
 * The rows are those of a frame, or they stand in a file (spooled_texts.c).  What drives them is
 * what drives the command (loads/staged.h): here are the texts that it asks for, and what it
 * decides goes to whoever began the run.  Between two slices the GIL is taken for signals and
 * progress, so a slice is a few megabytes.
 */
#include "dedup/frame_dedup.h"

#include "base/memory.h"
#include "evidence/counts.h"
#include "loads/staged.h"

#include <stdlib.h>

/* Bytes for each document in an index that grows as it is filled: 484 at most. */
enum { INDEX_BYTES = 490 };

struct frame_run {
    const struct nd_py_run *what;
    struct nd_py_outside outside;
    struct nd_recipe *recipe;
    struct nd_staged staged;
    struct nd_py_slice slice;
    struct nd_arena slice_texts;
    struct nd_buffer *buffer; /* of each worker, and one more */
    struct nd_dedup_stats *stats;
};

/* ---- What the driver asks for ---- */

static enum nd_status make(void *context, size_t n, const struct nd_text_source *source,
                           struct nd_dedup **dedup, struct nd_error *err)
{
    const struct frame_run *r = context;
    struct nd_dedup_options options = nd_dedup_options_default();

    (void)n;
    options.threads = r->what->threads;
    options.source = source;
    if (r->what->cache_bytes)
        options.cache_bytes = r->what->cache_bytes;
    *dedup = nd_dedup_new(r->recipe, &options, err);
    return *dedup ? ND_OK : err->status;
}

static void retire(void *context, struct nd_dedup *dedup)
{
    const struct frame_run *r = context;
    struct nd_dedup_stats own;

    nd_dedup_get_stats(dedup, &own);
    nd_dedup_stats_add(r->stats, &own);
    nd_dedup_free(dedup);
}

static enum nd_status offer(void *context, uint32_t from, size_t n, struct nd_offer *offer,
                            bool *is_document, struct nd_error *err)
{
    const struct nd_py_divided *divided = ((const struct frame_run *)context)->what->divided;

    return divided->offer(divided->context, from, n, offer, is_document, err);
}

static enum nd_status fetch(void *context, uint32_t row, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct frame_run *r = context;
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

/* To be linked, a row that has a text has a document, and another one none. */
static void mark_documents(struct nd_py_slice *s)
{
    for (size_t i = 0; i < s->n; i++) {
        if (!s->item[i].text.data) {
            s->item[i].document = NULL;
        } else if (!s->item[i].document) {
            s->document[i] = (struct nd_document){.text = s->item[i].text};
            s->item[i].document = &s->document[i];
        }
    }
}

static enum nd_status load(void *context, enum nd_staged_pass pass, uint64_t first,
                           const uint32_t *row, size_t n, const struct nd_dedup_item **items,
                           size_t *n_items, struct nd_error *err)
{
    struct frame_run *r = context;
    const struct nd_py_run *what = r->what;
    enum nd_status status = ND_OK;

    nd_py_slice_clear(&r->slice);
    nd_arena_reset(&r->slice_texts);
    for (size_t i = 0; status == ND_OK && i < n && !nd_py_slice_is_full(&r->slice); i++) {
        if (what->frame)
            nd_py_slice_add_row(&r->slice, what->frame, row[i],
                                what->group ? what->group[first + i] : 0);
        else
            status = nd_py_slice_load(&r->slice, &r->slice_texts, what->texts, row[i],
                                      &r->buffer[ND_PY_WORKERS_MAX], err);
    }
    if (pass == ND_STAGED_LINK)
        mark_documents(&r->slice);
    *items = r->slice.item;
    *n_items = r->slice.n;
    return status;
}

/* ---- What it tells ---- */

static enum nd_status removed(void *context, const struct nd_staged_removed *removed,
                              struct nd_error *err)
{
    const struct frame_run *r = context;
    const struct nd_py_removed of_rows = {.row = removed->record,
                                          .kept = removed->kept,
                                          .via = removed->via,
                                          .decision = removed->decision,
                                          .component = removed->component};

    return r->what->removed(r->what->context, &of_rows, err);
}

/* Linking rows, if that is needed, is half of the work. */
static enum nd_status tell(void *context, enum nd_staged_pass pass, uint64_t done, uint64_t total,
                           struct nd_error *err)
{
    struct frame_run *r = context;
    struct nd_py_outside signals = {.progress = Py_None};
    enum nd_status status;

    if (pass == ND_STAGED_LINK)
        return nd_py_outside_report(&r->outside, (size_t)done, 2 * (size_t)total, err);
    if (pass != ND_STAGED_ASK)
        return ND_OK;
    signals.thread = r->outside.thread;
    status = nd_py_outside_report(&signals, 0, 0, err);
    r->outside.thread = signals.thread;
    return status;
}

static enum nd_status pushed(void *context, uint64_t done, size_t n, struct nd_error *err)
{
    struct frame_run *r = context;
    const struct nd_py_divided *divided = r->what->divided;
    size_t told = divided && r->staged.is_linked ? (size_t)divided->n_rows : 0;

    return nd_py_outside_report(&r->outside, told + (size_t)done + n,
                                told + (divided ? (size_t)divided->n_rows : r->what->n), err);
}

/* ---- The whole ---- */

static void stage(struct frame_run *r)
{
    static const struct nd_staged_owner owner = {.make = make,
                                                 .retire = retire,
                                                 .offer = offer,
                                                 .load = load,
                                                 .fetch = fetch,
                                                 .removed = removed,
                                                 .tell = tell,
                                                 .pushed = pushed};
    const struct nd_py_run *what = r->what;
    const struct nd_py_divided *divided = what->divided;
    struct nd_staged *s = &r->staged;

    *s = (struct nd_staged){.owner = &owner,
                            .context = r,
                            .recipe = r->recipe,
                            .cluster = r->recipe->dedup.cluster,
                            .is_ordered = !divided,
                            .order = what->row,
                            .n_order = what->n,
                            .alone = r->stats,
                            .threads = what->threads,
                            .index_bytes = INDEX_BYTES};
    if (!divided)
        return;
    s->n_records = divided->n_rows;
    s->n_documents = divided->n_documents;
    s->keep = divided->keep;
    s->rough = divided->rough;
    s->budget = divided->budget;
    s->tmp = divided->folder;
}

/* False: an exception is set. */
static bool prepare(PyObject *module, struct frame_run *r)
{
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
    stage(r);
    if (what->divided || nd_staged_open(&r->staged, &err) == ND_OK)
        return true;
    nd_py_raise(module, &err);
    return false;
}

static void release(struct frame_run *r)
{
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
    struct frame_run r = {.what = what, .stats = stats, .outside = {.progress = progress}};
    bool is_good = prepare(module, &r);
    struct nd_error err;

    if (is_good) {
        enum nd_status status;

        r.outside.thread = PyEval_SaveThread();
        status = nd_staged_run(&r.staged, &err);
        if (what->divided) {
            what->divided->spilled = nd_staged_spilled(&r.staged);
            what->divided->n_loads = r.staged.n_loads;
        }
        nd_staged_release(&r.staged);
        is_good = nd_py_outside_end(module, &r.outside, status, &err);
    }
    release(&r);
    return is_good;
}

/* ---- As a result ---- */

struct decision_sink {
    struct nd_py_result *result;
    const struct nd_recipe *recipe;
};

static enum nd_status put_removed(void *context, const struct nd_py_removed *removed,
                                  struct nd_error *err)
{
    const struct decision_sink *sink = context;

    return nd_py_result_add(sink->result, sink->recipe, removed)
               ? ND_OK
               : nd_fail(err, ND_ENOMEM, "out of memory");
}

PyObject *nd_py_dedup(PyObject *module, struct nd_py_run *run, const struct nd_py_order *order,
                      PyObject *progress)
{
    struct decision_sink sink = {nd_py_result_new(order->n_rows, 0, run->recipe), run->recipe};

    if (!sink.result)
        return PyErr_NoMemory();
    run->row = order->row;
    run->group = order->group;
    run->n = order->n;
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
