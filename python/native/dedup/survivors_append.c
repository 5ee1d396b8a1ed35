/* survivors_append.c - survivors of rows after the documents of sketch files, added to the last of these */
#include "dedup/against_state.h"
#include "objects/sketch_file_object.h"

#include "base/memory.h"
#include "record/document_row.h"
#include "record/packed_document.h"

#include <stdlib.h>
#include <string.h>

/* A sketch file that survivors are added to. */
struct survivors_added {
    struct nd_sketch_appender *appender;
    struct nd_sketch_writer *writer;
    bool keeps_shingles;          /* the file does */
    struct nd_document_rows rows; /* which puts the fields of sketched rows into the file's order */
    uint32_t *number;             /* of each source, in the file; or ND_PY_NONE */
    struct nd_packed_row packed;
};

/* The fields of a row in the order of the file that it is added to; those of a frame are. */
static enum nd_status order_fields(const struct nd_py_against *a, struct survivors_added *to,
                                   struct nd_sketch_row *row, struct nd_error *err)
{
    struct nd_field field[ND_FIELDS_MAX];
    uint64_t replaced[ND_FIELDS_MAX];
    struct nd_document document;

    if (!a->sketched)
        return ND_OK;
    if (to->keeps_shingles && row->n_shingles && !row->shingles)
        return nd_fail(err, ND_EINVAL,
                       "the sketches that are read have no shingles, and the file that they are "
                       "added to keeps them");
    document = nd_sketched_document(row, nd_sketches_fields(nd_py_sketched_files(a->sketched)),
                                    field, replaced);
    return nd_document_rows_fields(&to->rows, &document, row) == ND_OK
               ? ND_OK
               : nd_fail(err, ND_ENOMEM, "out of memory");
}

static enum nd_status append_row(struct nd_py_against *a, struct survivors_added *to,
                                 uint32_t document, struct nd_error *err)
{
    struct nd_sketch_row row;
    enum nd_status status = nd_py_against_fresh(
        a, document, to->keeps_shingles ? ND_SKETCH_FILE_ALL : ND_SKETCH_FILE_ROWS, &a->row_room[0],
        &row, err);

    if (status == ND_OK && to->number[row.source] == ND_PY_NONE) {
        const struct nd_sketch_source source = nd_py_against_source(a, row.source);

        status = nd_sketch_appender_source(to->appender, &source, &to->number[row.source], err);
    }
    if (status == ND_OK)
        status = order_fields(a, to, &row, err);
    if (status != ND_OK)
        return status;
    row.source = to->number[row.source];
    status = nd_sketch_row_pack(to->writer, &row, NULL, &to->packed, err);
    return status == ND_OK ? nd_sketch_writer_add(to->writer, &to->packed, err) : status;
}

/*
 * With stars a document is compared with survivors alone.  With other kinds of clusters it may belong
 * to one by a member that was removed, so these are added, too.
 */
static bool is_added(const struct nd_py_against *a, const char *kept, size_t row)
{
    return a->document_of[row] != ND_PY_NONE &&
           (kept[row] || a->recipe->dedup.cluster != ND_CLUSTER_STAR);
}

static enum nd_status append_all(struct nd_py_against *a, struct nd_sketch_appender *appender,
                                 const char *kept, uint64_t *n, struct nd_error *err)
{
    const size_t sources = a->sketched ? nd_sketches_sources(nd_py_sketched_files(a->sketched))
                                       : nd_sketch_file_info(a->fresh[0].file)->sources;
    struct survivors_added to = {
        .appender = appender,
        .writer = nd_sketch_appender_writer(appender),
        .keeps_shingles =
            nd_sketch_file_info(nd_sketch_appender_file(appender))->keeps.shingles != 0,
        .number = nd_alloc_array(sources + 1, sizeof *to.number)};
    enum nd_status status = to.number ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");

    if (to.number)
        memset(to.number, 0xFF, (sources + 1) * sizeof *to.number);
    to.rows.n_fields = nd_sketch_writer_fields(to.writer, to.rows.field);
    for (size_t row = 0; status == ND_OK && row < a->order.n_rows; row++) {
        if (!is_added(a, kept, row))
            continue;
        status = append_row(a, &to, a->document_of[row], err);
        ++*n;
    }
    nd_packed_row_release(&to.packed);
    nd_document_rows_release(&to.rows);
    free(to.number);
    return status == ND_OK ? nd_sketch_appender_commit(appender, err) : status;
}

/* against_append(against, appender, mask of survivors): add these to the appender's file, and what else
 * clusters need, all of them or none; how many have a text. */
static PyObject *against_append(PyObject *module, PyObject *args)
{
    PyObject *capsule, *appender_capsule;
    struct nd_sketch_appender *appender;
    struct nd_py_against *a;
    enum nd_status status;
    struct nd_error err;
    const char *kept;
    uint64_t added = 0;
    Py_ssize_t n;

    if (!PyArg_ParseTuple(args, "OOy#", &capsule, &appender_capsule, &kept, &n) ||
        !(appender = nd_py_sketch_appender(appender_capsule)) ||
        !(a = nd_py_against_enter(capsule, true)))
        return NULL;
    if ((size_t)n != a->order.n_rows) {
        nd_py_against_leave(a);
        return PyErr_Format(PyExc_ValueError, "the mask is not of these rows");
    }
    Py_BEGIN_ALLOW_THREADS;
    status = append_all(a, appender, kept, &added, &err);
    Py_END_ALLOW_THREADS;
    nd_py_against_leave(a);
    return status == ND_OK ? PyLong_FromUnsignedLongLong(added) : nd_py_raise(module, &err);
}

PyMethodDef nd_py_against_append_functions[] = {
    {"against_append", against_append, METH_VARARGS, "Add survivors to a sketch file."},
    {NULL, NULL, 0, NULL},
};
