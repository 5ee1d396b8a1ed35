/*
 * compare_texts.c - two documents beside each other, two documents explained, the features of one
 *
 * The documents are the rows of a small frame.  What is said of them comes as the JSON that the
 * command prints (docs/format/uses.md).
 */
#include "frames/frame_documents.h"

#include "evidence/features.h"
#include "evidence/pair_evidence.h"

#include <stdlib.h>

/* The rows of a frame, with their fields. */
struct compared_rows {
    struct nd_py_documents documents;
    const struct nd_document *both[2];
};

/* Take n documents.  False: an exception is set; the rows are released all the same. */
static bool take_rows(struct compared_rows *rows, PyObject *frame, PyObject *fields, size_t n)
{
    struct nd_py_documents *d = &rows->documents;

    d->frame = nd_py_frame(frame);
    if (!d->frame || !nd_py_documents_take_fields(d, fields) || !nd_py_documents_list(d))
        return false;
    if (d->n != n) {
        PyErr_Format(PyExc_ValueError, "there are %zu documents, not %zu", d->n, n);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        d->document[i] = nd_py_document(d, i, d->fields ? &d->fields[i * d->n_fields] : NULL);
        rows->both[i] = &d->document[i];
    }
    return true;
}

/* Return the text that was made, as a str, and free it. */
static PyObject *take_json(PyObject *module, enum nd_status status, char *text, size_t len,
                           const struct nd_error *err)
{
    PyObject *json = status == ND_OK ? PyUnicode_FromStringAndSize(text, (Py_ssize_t)len) : NULL;

    free(text);
    return status == ND_OK ? json : nd_py_raise(module, err);
}

static enum nd_status compare_both(const struct nd_recipe *recipe,
                                   const struct nd_compare_params *params,
                                   const struct compared_rows *rows, char **text, size_t *len,
                                   struct nd_error *err)
{
    struct nd_comparison c;
    enum nd_status status = nd_compare_check(recipe, params, err);

    if (status != ND_OK)
        return status;
    status = nd_compare_documents(recipe, params, rows->both, &c, err);
    if (status == ND_OK)
        status = nd_comparison_json(&c, text, len, err);
    nd_comparison_release(&c);
    return status;
}

/*
 * compare(recipe, frame, field columns, parts, (insert, remove, replace), limit, (shingle, least,
 * gap)): JSON.
 */
static PyObject *compare(PyObject *module, PyObject *args)
{
    struct nd_compare_params params = nd_compare_params_default();
    PyObject *recipe_capsule, *frame, *fields, *json = NULL;
    struct compared_rows rows = {.both = {NULL}};
    const struct nd_recipe *recipe;
    unsigned long long limit;
    enum nd_status status;
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;

    if (!PyArg_ParseTuple(args, "OOO!I(III)K(III)", &recipe_capsule, &frame, &PyTuple_Type, &fields,
                          &params.parts, &params.costs.insert, &params.costs.remove,
                          &params.costs.replace, &limit, &params.passages.shingle,
                          &params.passages.least, &params.passages.gap) ||
        !(recipe = nd_py_recipe(recipe_capsule)))
        return NULL;
    params.limit = limit;
    if (take_rows(&rows, frame, fields, 2)) {
        Py_BEGIN_ALLOW_THREADS;
        status = compare_both(recipe, &params, &rows, &text, &len, &err);
        Py_END_ALLOW_THREADS;
        json = take_json(module, status, text, len, &err);
    }
    nd_py_documents_release(&rows.documents);
    return json;
}

static enum nd_status explain_both(const struct nd_recipe *recipe, const struct compared_rows *rows,
                                   char **text, size_t *len, struct nd_error *err)
{
    struct nd_explanation e;
    enum nd_status status = nd_explain_documents(recipe, rows->both, &e, err);

    if (status == ND_OK)
        status = nd_explanation_json(&e, text, len, err);
    nd_explanation_release(&e);
    return status;
}

static enum nd_status explain_one(const struct nd_recipe *recipe, const struct compared_rows *rows,
                                  bool by_position, size_t top, char **text, size_t *len,
                                  struct nd_error *err)
{
    struct nd_document_features d;
    enum nd_status status = nd_features_of_document(recipe, rows->both[0], &d, err);

    if (status == ND_OK)
        status = nd_document_features_json(&d, by_position, top, text, len, err);
    nd_document_features_release(&d);
    return status;
}

/* explain(recipe, frame, field columns, documents, by position, top): JSON of one document or two. */
static PyObject *explain(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *frame, *fields, *json = NULL;
    struct compared_rows rows = {.both = {NULL}};
    const struct nd_recipe *recipe;
    Py_ssize_t top;
    enum nd_status status;
    struct nd_error err;
    char *text = NULL;
    size_t len = 0;
    int by_position;
    unsigned n;

    if (!PyArg_ParseTuple(args, "OOO!Ipn", &recipe_capsule, &frame, &PyTuple_Type, &fields, &n,
                          &by_position, &top) ||
        !(recipe = nd_py_recipe(recipe_capsule)))
        return NULL;
    if (n != 1 && n != 2)
        return PyErr_Format(PyExc_ValueError, "one document or two are explained");
    if (take_rows(&rows, frame, fields, n)) {
        Py_BEGIN_ALLOW_THREADS;
        status = n == 2 ? explain_both(recipe, &rows, &text, &len, &err)
                        : explain_one(recipe, &rows, by_position, top > 0 ? (size_t)top : 0, &text,
                                      &len, &err);
        Py_END_ALLOW_THREADS;
        json = take_json(module, status, text, len, &err);
    }
    nd_py_documents_release(&rows.documents);
    return json;
}

ND_PY_READS_FRAME(compare, 1)
ND_PY_READS_FRAME(explain, 1)

PyMethodDef nd_py_compare_functions[] = {
    {"compare", compare_reading, METH_VARARGS, "Two documents by every measure."},
    {"explain", explain_reading, METH_VARARGS, "Two documents explained, or the features of one."},
    {NULL, NULL, 0, NULL},
};
