/*
 * stream.c - deduplicate batches as they come: each decision is final at once
 *
 * The engine asks for the texts of earlier kept documents.  Either it holds them itself, in memory,
 * or they go to a file without a name (spooled_texts.c), with their ids.  A row without a text is
 * not pushed, so documents and rows are numbered differently after it.
 */
#include "dedup/stream.h"
#include "dedup/frame_dedup.h"
#include "frames/result.h"

#include "base/memory.h"
#include "base/thread/handle.h"
#include "loads/streamed.h"

#include <stdlib.h>

#define CAPSULE "neardup.stream"

struct stream {
    struct nd_recipe *recipe;
    PyObject *recipe_capsule; /* which holds the df tables that the engine reads */
    struct nd_streamed streamed;
    struct nd_py_texts *texts; /* NULL: in memory */
    struct nd_text_source source;
    struct nd_buffer *buffer; /* of each worker */
    struct nd_py_fields fields;
    struct nd_py_comparable comparable;
    struct nd_py_slice slice;
    size_t *at; /* of each item of the slice, its place in the frame: */
    const struct nd_py_frame *frame;
    struct nd_py_result *result; /* of the frame */
    unsigned columns[2];         /* what is kept of a row: the text, the id */
    struct nd_handle use;        /* by one call at a time */
    bool is_broken;
    uint64_t n_rows, n_documents;
    uint64_t *without; /* rows without a text */
    size_t n_without, without_capacity;
};

/*
 * The row of a document: as many rows without a text lie before it as without[i] - i <= document.
 */
static uint64_t row_of(const struct stream *s, uint64_t document)
{
    size_t low = 0, high = s->n_without;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->without[middle] - middle <= document)
            low = middle + 1;
        else
            high = middle;
    }
    return document + low;
}

/* ---- Texts in a file ---- */

static enum nd_status keep_text(void *context, uint64_t document, size_t item, struct nd_error *err)
{
    struct stream *s = context;

    return nd_py_texts_add(s->texts, row_of(s, document), s->frame, s->at[item], s->columns, 0,
                           err);
}

static enum nd_status fetch_text(void *context, uint64_t document, unsigned worker,
                                 struct nd_view *text, struct nd_error *err)
{
    struct stream *s = context;
    struct nd_py_entry entry;
    enum nd_status status;

    if (document >= s->n_documents) {
        *text = s->slice.item[document - s->n_documents].text;
        return ND_OK;
    }
    status = nd_py_texts_read(s->texts, row_of(s, document), &s->buffer[worker], &entry, err);
    *text = entry.value[0];
    return status;
}

const struct nd_py_texts *nd_py_stream_texts(PyObject *capsule)
{
    const struct stream *s = PyCapsule_GetPointer(capsule, CAPSULE);

    return s ? s->texts : NULL;
}

/* ---- Decisions ---- */

/* A document of the slice, or of one before, has become this. */
static enum nd_status decided(void *context, uint64_t document, const struct nd_decision *decision,
                              const struct nd_component_via *via, struct nd_error *err)
{
    struct stream *s = context;
    const uint64_t kept = row_of(s, decision->kept);
    const struct nd_py_removed removed = {.row = s->n_rows + s->at[document - s->n_documents],
                                          .kept = kept,
                                          .via = kept,
                                          .decision = decision};

    (void)via;
    return removed.row == kept || nd_py_result_add(s->result, s->recipe, &removed)
               ? ND_OK
               : nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- The stream ---- */

static void free_stream(struct stream *s)
{
    nd_streamed_release(&s->streamed);
    nd_dedup_free(s->streamed.dedup);
    nd_py_texts_free(s->texts);
    for (size_t i = 0; s->buffer && i < ND_PY_WORKERS_MAX; i++)
        nd_buffer_release(&s->buffer[i]);
    free(s->buffer);
    nd_py_fields_release(&s->fields);
    nd_py_comparable_release(&s->comparable);
    nd_py_slice_release(&s->slice);
    free(s->at);
    free(s->without);
    nd_recipe_free(s->recipe);
    Py_XDECREF(s->recipe_capsule);
    free(s);
}

static void free_capsule(PyObject *capsule)
{
    free_stream(PyCapsule_GetPointer(capsule, CAPSULE));
}

/* False: an exception is set. */
static bool make_engine(PyObject *module, struct stream *s, const struct nd_recipe *recipe,
                        unsigned threads, const char *folder)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_error err = {0};

    s->recipe = nd_recipe_copy(recipe, &err);
    s->at = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *s->at);
    s->buffer = calloc(ND_PY_WORKERS_MAX, sizeof *s->buffer);
    if (!s->recipe || !s->at || !s->buffer || !nd_py_slice_init(&s->slice, &s->fields)) {
        PyErr_NoMemory();
        return false;
    }
    s->source = (struct nd_text_source){.context = s, .fetch = fetch_text, .keep = keep_text};
    s->streamed =
        (struct nd_streamed){.cluster = s->recipe->dedup.cluster, .decided = decided, .context = s};
    options.threads = threads;
    options.source = folder ? &s->source : NULL;
    if (folder)
        s->texts = nd_py_texts_new(sizeof s->columns / sizeof *s->columns, folder, false, &err);
    if (!folder || s->texts)
        s->streamed.dedup = nd_dedup_new(s->recipe, &options, &err);
    if (!s->streamed.dedup)
        nd_py_raise(module, &err);
    return s->streamed.dedup != NULL;
}

/*
 * stream_new(recipe, threads, folder, within column, never, fields, id column): texts go to a file in the folder, with ids; None: they stay in memory.
 */
static PyObject *stream_new(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *folder, *never, *columns, *capsule = NULL;
    const struct nd_recipe *recipe;
    struct stream *s;
    const char *path = NULL;
    unsigned threads, within, id;

    if (!PyArg_ParseTuple(args, "OIOIO!O!I", &recipe_capsule, &threads, &folder, &within,
                          &PyTuple_Type, &never, &PyTuple_Type, &columns, &id) ||
        !(recipe = nd_py_recipe(recipe_capsule)) ||
        (folder != Py_None && !(path = PyUnicode_AsUTF8AndSize(folder, NULL))))
        return NULL;
    s = calloc(1, sizeof *s);
    if (!s)
        return PyErr_NoMemory();
    s->recipe_capsule = Py_NewRef(recipe_capsule);
    s->columns[ND_PY_ID] = id ? id : ND_PY_NO_COLUMN;
    if (nd_py_fields_init(&s->fields, columns) &&
        nd_py_comparable_init(&s->comparable, within, never) &&
        make_engine(module, s, recipe, threads, path))
        capsule = PyCapsule_New(s, CAPSULE, free_capsule);
    if (!capsule)
        free_stream(s);
    return capsule;
}

/* Fill a slice with the rows from *at on that have a text. */
static enum nd_status fill(struct stream *s, size_t *at, struct nd_error *err)
{
    const struct nd_py_frame *f = s->frame;

    nd_py_slice_clear(&s->slice);
    for (; *at < f->n_rows && !nd_py_slice_is_full(&s->slice); ++*at) {
        uint32_t group;

        if (!f->column[0].value[*at].data) {
            if (!ND_RESERVE(s->without, &s->without_capacity, s->n_without + 1))
                return nd_fail(err, ND_ENOMEM, "out of memory");
            s->without[s->n_without++] = s->n_rows + *at;
            continue;
        }
        if (!nd_py_comparable_group(&s->comparable, f, *at, &group))
            return nd_fail(err, ND_ENOMEM, "out of memory");
        s->at[s->slice.n] = *at;
        nd_py_slice_add_row(&s->slice, f, *at, group);
    }
    return ND_OK;
}

static bool push_all(PyObject *module, struct stream *s)
{
    for (size_t at = 0; at < s->frame->n_rows;) {
        struct nd_error err;
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        status = fill(s, &at, &err);
        if (status == ND_OK)
            status = nd_streamed_push(&s->streamed, s->slice.item, s->slice.n, &err);
        s->n_documents += s->slice.n;
        Py_END_ALLOW_THREADS;
        if (status != ND_OK) {
            nd_py_raise(module, &err);
            return false;
        }
        if (PyErr_CheckSignals() < 0)
            return false;
    }
    return true;
}

static PyObject *push_frame(PyObject *module, struct stream *s, const struct nd_py_frame *f)
{
    struct nd_py_result *result;

    if (s->is_broken)
        return PyErr_Format(PyExc_RuntimeError,
                            "a push has failed: what came after it is not known");
    if (!nd_py_fields_fit(&s->fields, f))
        return NULL;
    if (!nd_py_comparable_fits(&s->comparable, f) ||
        (s->columns[ND_PY_ID] != ND_PY_NO_COLUMN && s->columns[ND_PY_ID] >= f->n_columns))
        return PyErr_Format(PyExc_ValueError, "the frame has not all columns");
    result = nd_py_result_new(f->n_rows, s->n_rows, s->recipe);
    if (!result)
        return PyErr_NoMemory();
    s->frame = f;
    s->result = result;
    s->is_broken = !push_all(module, s);
    if (s->is_broken) {
        nd_py_result_free(result);
        return NULL;
    }
    s->n_rows += f->n_rows;
    result->n_pushed = s->n_documents;
    result->n_never = s->comparable.n_alone;
    nd_dedup_get_stats(s->streamed.dedup, &result->stats);
    return nd_py_result_capsule(result);
}

/* stream_push(stream, frame): what became of the frame's rows. */
static PyObject *stream_push(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule, *result;
    const struct nd_py_frame *f;
    struct stream *s;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(s = PyCapsule_GetPointer(capsule, CAPSULE)) || !(f = nd_py_frame(frame_capsule)))
        return NULL;
    if (nd_handle_enter(&s->use, ND_CALL_CHANGES, NULL) != ND_OK)
        return PyErr_Format(PyExc_RuntimeError, "another thread is pushing");
    result = push_frame(module, s, f);
    (void)nd_handle_leave(&s->use, ND_CALL_CHANGES);
    return result;
}

/* stream_end(stream): nothing more will be pushed, and the engine's memory is given back. */
static PyObject *stream_end(PyObject *module, PyObject *capsule)
{
    struct stream *s = PyCapsule_GetPointer(capsule, CAPSULE);

    (void)module;
    if (!s)
        return NULL;
    if (nd_handle_enter(&s->use, ND_CALL_CHANGES, NULL) != ND_OK)
        return PyErr_Format(PyExc_RuntimeError, "another thread is pushing");
    s->is_broken = true;
    Py_BEGIN_ALLOW_THREADS;
    nd_dedup_free(s->streamed.dedup);
    Py_END_ALLOW_THREADS;
    s->streamed.dedup = NULL;
    (void)nd_handle_leave(&s->use, ND_CALL_CHANGES);
    Py_RETURN_NONE;
}

ND_PY_READS_FRAME(stream_push, 1)

PyMethodDef nd_py_stream_functions[] = {
    {"stream_new", stream_new, METH_VARARGS, "Deduplicate batches as they come."},
    {"stream_end", stream_end, METH_O, "Nothing more will be pushed."},
    {"stream_push", stream_push_reading, METH_VARARGS, "Decide about the rows of a frame."},
    {NULL, NULL, 0, NULL},
};
