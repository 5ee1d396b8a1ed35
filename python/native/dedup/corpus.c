/*
 * corpus.c - rows whose texts wait in a file until all have come
 *
 * A keep policy other than "first" decides when it has seen all rows, and so do components.  In
 * memory is what orders the rows, 8 to 28 bytes each; their texts, ids and fields go to a file
 * without a name (spooled_texts.c), from which they are pushed in keep order.
 */
#include "dedup/corpus.h"
#include "dedup/frame_dedup.h"

#include <stdlib.h>

#define CAPSULE "neardup.corpus"

struct corpus {
    struct nd_py_order order;
    struct nd_py_fields fields;
    struct nd_py_texts *texts;
    unsigned columns[ND_PY_FIRST_FIELD + ND_PY_FIELDS_MAX];
    bool is_busy, is_broken, is_sorted;
};

static void free_corpus(struct corpus *c)
{
    nd_py_order_release(&c->order);
    nd_py_fields_release(&c->fields);
    nd_py_texts_free(c->texts);
    free(c);
}

static void free_capsule(PyObject *capsule)
{
    free_corpus(PyCapsule_GetPointer(capsule, CAPSULE));
}

const struct nd_py_texts *nd_py_corpus_texts(PyObject *capsule)
{
    const struct corpus *c = PyCapsule_GetPointer(capsule, CAPSULE);

    return c ? c->texts : NULL;
}

static bool open_texts(PyObject *module, struct corpus *c, const char *folder)
{
    struct nd_error err;

    c->texts = nd_py_texts_new(ND_PY_FIRST_FIELD + c->fields.n, folder, false, &err);
    if (!c->texts)
        nd_py_raise(module, &err);
    return c->texts != NULL;
}

/*
 * corpus_new(folder, keep, (keep column, prefer column, within column), preferred values, never,
 * fields, id column): texts go to a file in the folder.
 */
static PyObject *corpus_new(PyObject *module, PyObject *args)
{
    PyObject *preferred, *never, *fields, *capsule = NULL;
    const char *folder, *keep;
    struct nd_py_roles roles;
    struct corpus *c;
    unsigned id;

    if (!PyArg_ParseTuple(args, "ss(III)O!O!O!I", &folder, &keep, &roles.keep, &roles.prefer,
                          &roles.within, &PyTuple_Type, &preferred, &PyTuple_Type, &never,
                          &PyTuple_Type, &fields, &id))
        return NULL;
    c = calloc(1, sizeof *c);
    if (!c)
        return PyErr_NoMemory();
    if (nd_py_order_init(module, &c->order, keep, &roles, preferred, never) &&
        nd_py_fields_init(&c->fields, fields) && open_texts(module, c, folder)) {
        c->columns[ND_PY_ID] = id ? id : ND_PY_NO_COLUMN;
        for (size_t i = 0; i < c->fields.n; i++)
            c->columns[ND_PY_FIRST_FIELD + i] = c->fields.column[i];
        capsule = PyCapsule_New(c, CAPSULE, free_capsule);
    }
    if (!capsule)
        free_corpus(c);
    return capsule;
}

static enum nd_status add(struct corpus *c, const struct nd_py_frame *f, struct nd_error *err)
{
    uint64_t first = c->order.n_rows;
    enum nd_status status = nd_py_order_add(&c->order, f, err);

    for (size_t i = 0; status == ND_OK && i < f->n_rows; i++) {
        uint32_t group =
            c->order.group && f->column[0].value[i].data ? c->order.group[first + i] : 0;

        status = nd_py_texts_add(c->texts, first + i, f, i, c->columns, group, err);
    }
    return status;
}

/* corpus_add(corpus, frame): the frame's rows come after those before. */
static PyObject *corpus_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule;
    const struct nd_py_frame *f;
    struct corpus *c;
    struct nd_error err;
    enum nd_status status;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(c = PyCapsule_GetPointer(capsule, CAPSULE)) || !(f = nd_py_frame(frame_capsule)))
        return NULL;
    if (c->is_busy || c->is_broken || c->is_sorted)
        return PyErr_Format(PyExc_RuntimeError, "no more rows can be added");
    if (!nd_py_fields_fit(&c->fields, f))
        return NULL;
    if (c->columns[ND_PY_ID] != ND_PY_NO_COLUMN && c->columns[ND_PY_ID] >= f->n_columns)
        return PyErr_Format(PyExc_ValueError, "the frame has not all columns");
    c->is_busy = true;
    Py_BEGIN_ALLOW_THREADS;
    status = add(c, f, &err);
    Py_END_ALLOW_THREADS;
    c->is_busy = false;
    c->is_broken = status != ND_OK;
    if (c->is_broken)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* corpus_dedup(corpus, recipe, threads, progress): what became of the rows. */
static PyObject *corpus_dedup(PyObject *module, PyObject *args)
{
    PyObject *capsule, *recipe, *progress, *result;
    struct nd_py_run run = {0};
    struct corpus *c;
    bool is_good;

    if (!PyArg_ParseTuple(args, "OOIO", &capsule, &recipe, &run.threads, &progress) ||
        !(c = PyCapsule_GetPointer(capsule, CAPSULE)) || !(run.recipe = nd_py_recipe(recipe)))
        return NULL;
    if (c->is_busy || c->is_broken || c->is_sorted)
        return PyErr_Format(PyExc_RuntimeError, "rows were deduplicated already");
    c->is_busy = c->is_sorted = true;
    run.texts = c->texts;
    run.fields = &c->fields;
    Py_BEGIN_ALLOW_THREADS;
    is_good = nd_py_order_settle(&c->order);
    Py_END_ALLOW_THREADS;
    result = is_good ? nd_py_dedup(module, &run, &c->order, progress) : PyErr_NoMemory();
    c->is_busy = false;
    return result;
}

ND_PY_READS_FRAME(corpus_add, 1)

PyMethodDef nd_py_corpus_functions[] = {
    {"corpus_new", corpus_new, METH_VARARGS, "Rows whose texts wait in a file."},
    {"corpus_add", corpus_add_reading, METH_VARARGS, "Add the rows of a frame."},
    {"corpus_dedup", corpus_dedup, METH_VARARGS, "Deduplicate all rows."},
    {NULL, NULL, 0, NULL},
};
