/* frame_documents.c - rows of a frame as documents for an engine: their order, groups and fields */
#include "frames/frame_documents.h"
#include "frames/order.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void nd_py_documents_release(struct nd_py_documents *d)
{
    free(d->order);
    free(d->group);
    free(d->document);
    free(d->fields);
    free(d->item);
}

const struct nd_py_column *nd_py_column_at(const struct nd_py_frame *frame, unsigned number)
{
    return number > 0 && number < frame->n_columns ? &frame->column[number] : NULL;
}

bool nd_py_documents_take_fields(struct nd_py_documents *d, PyObject *columns)
{
    Py_ssize_t n = PyTuple_Size(columns);

    if (n < 0)
        return false;
    for (Py_ssize_t i = 0; i < n; i++) {
        unsigned long number = PyLong_AsUnsignedLong(PyTuple_GetItem(columns, i));
        const char *name;

        if (PyErr_Occurred())
            return false;
        if (d->n_fields == ND_PY_FIELDS_MAX || number >= d->frame->n_columns ||
            !(name = d->frame->name[number])) {
            PyErr_SetString(PyExc_ValueError, "there are too many fields");
            return false;
        }
        d->field[d->n_fields] = &d->frame->column[number];
        d->field_name[d->n_fields++] = (struct nd_view){name, strlen(name)};
    }
    return true;
}

bool nd_py_documents_group(struct nd_py_documents *d, unsigned within, PyObject *never)
{
    struct nd_py_comparable comparable;
    bool is_good = nd_py_comparable_init(&comparable, within, never);

    if (is_good && (within || comparable.n_never)) {
        d->group = calloc(d->frame->n_rows + 1, sizeof *d->group);
        is_good = d->group && nd_py_comparable_fits(&comparable, d->frame);
        for (size_t i = 0; is_good && i < d->frame->n_rows; i++)
            is_good = nd_py_comparable_group(&comparable, d->frame, i, &d->group[i]);
        if (!is_good)
            PyErr_NoMemory();
    }
    nd_py_comparable_release(&comparable);
    return is_good;
}

bool nd_py_documents_list(struct nd_py_documents *d)
{
    d->order = nd_alloc_array(d->frame->n_rows + 1, sizeof *d->order);
    d->item = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *d->item);
    d->document = nd_alloc_array(ND_PY_SLICE_ROWS, sizeof *d->document);
    if (d->n_fields)
        d->fields = nd_alloc_array(ND_PY_SLICE_ROWS * d->n_fields, sizeof *d->fields);
    if (!d->order || !d->item || !d->document || (d->n_fields && !d->fields)) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < d->frame->n_rows; i++)
        if (d->frame->column[0].value[i].data)
            d->order[d->n++] = i;
    return true;
}

struct nd_document nd_py_document(const struct nd_py_documents *d, size_t at,
                                  struct nd_field *fields)
{
    uint64_t row = d->order[at];

    for (size_t k = 0; fields && k < d->n_fields; k++)
        fields[k] = (struct nd_field){d->field_name[k], d->field[k]->value[row]};
    return (struct nd_document){.text = d->frame->column[0].value[row],
                                .fields = fields,
                                .n_fields = d->n_fields,
                                .text_replaced = nd_py_frame_replaced(d->frame, row)};
}

/* An item has a document where that tells more than the text: fields, or what was repaired. */
size_t nd_py_documents_fill(struct nd_py_documents *d, size_t from)
{
    size_t bytes = 0, to = from;

    for (; to < d->n && to - from < ND_PY_SLICE_ROWS && (to == from || bytes < ND_PY_SLICE_BYTES);
         to++) {
        struct nd_document *document = &d->document[to - from];
        struct nd_dedup_item *item = &d->item[to - from];

        *document = nd_py_document(d, to, d->fields ? &d->fields[(to - from) * d->n_fields] : NULL);
        *item = (struct nd_dedup_item){.text = document->text,
                                       .group = d->group ? d->group[d->order[to]] : 0};
        if (d->n_fields || document->text_replaced)
            item->document = document;
        bytes += document->text.len;
    }
    return to;
}

static enum nd_status fetch(void *context, uint64_t document, unsigned worker, struct nd_view *text,
                            struct nd_error *err)
{
    const struct nd_py_documents *d = context;

    (void)worker;
    (void)err;
    *text = d->frame->column[0].value[d->order[document]];
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

struct nd_text_source nd_py_documents_source(const struct nd_py_documents *d)
{
    return (struct nd_text_source){
        .context = (void *)(uintptr_t)d, .fetch = fetch, .keep = keep_nothing};
}

bool nd_py_report(PyObject *progress, size_t done, size_t all)
{
    PyObject *answer;

    if (PyErr_CheckSignals() < 0)
        return false;
    if (progress == Py_None)
        return true;
    answer = PyObject_CallFunction(progress, "nn", (Py_ssize_t)done, (Py_ssize_t)all);
    Py_XDECREF(answer);
    return answer != NULL;
}

enum nd_status nd_py_outside_report(struct nd_py_outside *outside, size_t done, size_t all,
                                    struct nd_error *err)
{
    bool goes_on;

    PyEval_RestoreThread(outside->thread);
    goes_on = nd_py_report(outside->progress, done, all);
    outside->thread = PyEval_SaveThread();
    return goes_on ? ND_OK : nd_fail(err, ND_ECANCELLED, "Python has raised an exception");
}

bool nd_py_outside_end(PyObject *module, struct nd_py_outside *outside, enum nd_status status,
                       const struct nd_error *err)
{
    PyEval_RestoreThread(outside->thread);
    if (status != ND_OK && !PyErr_Occurred())
        nd_py_raise(module, err);
    return status == ND_OK;
}
