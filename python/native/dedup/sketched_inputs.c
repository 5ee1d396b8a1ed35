/*
 * sketched_inputs.c - sketch files in place of documents, as the command reads them (sketches/sketches.h)
 *
 *     open   the files, if they are sketch files
 *     fit    a recipe: what it leaves open is that of the files
 *     want   the columns that decide, each a field that the records keep
 *     read   block by block, as rows of a frame (against.c)
 *     write  some of the records to another file
 */
#include "dedup/sketched_inputs.h"
#include "frames/frame_documents.h"
#include "objects/sketch_file_object.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "record/packed_document.h"

#define CAPSULE "neardup.sketched"

struct nd_py_sketched {
    struct nd_sketches *sketches;
    PyObject *columns; /* holds the names; NULL: nothing was asked for yet */
    const char *name[ND_FIELDS_MAX];
    unsigned column[ND_FIELDS_MAX]; /* which column of a frame each field is */
    size_t n_columns;
};

static void free_sketched(PyObject *capsule)
{
    struct nd_py_sketched *s = PyCapsule_GetPointer(capsule, CAPSULE);

    nd_sketches_free(s->sketches);
    Py_XDECREF(s->columns);
    free(s);
}

static struct nd_py_sketched *sketched_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

struct nd_py_sketched *nd_py_sketched(PyObject *capsule)
{
    struct nd_py_sketched *s = sketched_of(capsule);

    if (!s || s->columns)
        return s;
    PyErr_SetString(PyExc_ValueError, "no columns of the sketch files were asked for");
    return NULL;
}

const struct nd_sketches *nd_py_sketched_files(const struct nd_py_sketched *s)
{
    return s->sketches;
}

/* ---- Opened ---- */

/* The paths as bytes, which a list keeps.  NULL: an exception is set. */
static const char **paths_of(PyObject *paths, PyObject *kept)
{
    Py_ssize_t n = PyTuple_Size(paths);
    const char **path = calloc((size_t)n + 1, sizeof *path);
    PyObject *bytes;

    if (!path)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; path && i < n; i++) {
        if (PyUnicode_FSConverter(PyTuple_GetItem(paths, i), &bytes)) {
            path[i] = PyList_Append(kept, bytes) == 0 ? PyBytes_AsString(bytes) : NULL;
            Py_DECREF(bytes);
        }
        if (!path[i]) {
            free(path);
            return NULL;
        }
    }
    return path;
}

/* sketched_open(tuple of paths): None if they are no sketch files. */
static PyObject *sketched_open(PyObject *module, PyObject *paths)
{
    PyObject *kept, *capsule = NULL;
    const char **path = NULL;
    struct nd_py_sketched *s;
    struct nd_error err;
    int found;

    if (!PyTuple_Check(paths))
        return PyErr_Format(PyExc_TypeError, "the paths must be a tuple");
    s = calloc(1, sizeof *s);
    kept = PyList_New(0);
    if (!s)
        PyErr_NoMemory();
    if (s && kept && (path = paths_of(paths, kept))) {
        found = nd_sketches_open(path, (size_t)PyTuple_Size(paths), &s->sketches, &err);
        capsule = found < 0    ? nd_py_raise(module, &err)
                  : found == 0 ? Py_NewRef(Py_None)
                               : PyCapsule_New(s, CAPSULE, free_sketched);
    }
    if (s && (!capsule || capsule == Py_None)) {
        nd_sketches_free(s->sketches);
        free(s);
    }
    free(path);
    Py_XDECREF(kept);
    return capsule;
}

/* A tuple (path, name in an archive or None, records, hash) of a source. */
static PyObject *about_source(const struct nd_source *source)
{
    return Py_BuildValue("NzKK", PyUnicode_DecodeFSDefault(source->path), source->entry,
                         (unsigned long long)source->records,
                         (unsigned long long)source->bytes_hash);
}

/* Append what is made to a list.  False: an exception is set. */
static bool append(PyObject *list, PyObject *item)
{
    bool is_good = item && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return is_good;
}

/* sketched_info(sketched): the paths, in the order in which they are read, and the sources. */
static PyObject *sketched_info(PyObject *module, PyObject *capsule)
{
    const struct nd_py_sketched *s = sketched_of(capsule);
    PyObject *paths = s ? PyList_New(0) : NULL, *sources = paths ? PyList_New(0) : NULL;
    bool is_good = sources != NULL;

    (void)module;
    for (size_t i = 0; is_good && i < nd_sketches_files(s->sketches); i++)
        is_good = append(paths, PyUnicode_DecodeFSDefault(nd_sketches_path(s->sketches, i)));
    for (uint32_t i = 0; is_good && i < nd_sketches_sources(s->sketches); i++)
        is_good = append(sources, about_source(nd_sketches_source(s->sketches, i)));
    if (is_good)
        return Py_BuildValue("NN", paths, sources);
    Py_XDECREF(paths);
    Py_XDECREF(sources);
    return NULL;
}

/* ---- The recipe ---- */

static PyObject *none_or_raise(PyObject *module, enum nd_status status, const struct nd_error *err)
{
    if (status != ND_OK)
        return nd_py_raise(module, err);
    Py_RETURN_NONE;
}

/* sketched_take_recipe(sketched, recipe): give the recipe the keys of sketches, where it
 * has those of the default. */
static PyObject *sketched_take_recipe(PyObject *module, PyObject *args)
{
    PyObject *capsule, *recipe_capsule;
    const struct nd_py_sketched *s;
    struct nd_recipe *recipe;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &recipe_capsule) || !(s = sketched_of(capsule)) ||
        !(recipe = nd_py_recipe_to_change(recipe_capsule)))
        return NULL;
    return none_or_raise(module, nd_sketches_take_recipe(s->sketches, recipe, false, &err), &err);
}

/* sketched_fit(sketched, recipe): the df tables that it names were opened; check that the files are of
 * the recipe. */
static PyObject *sketched_fit(PyObject *module, PyObject *args)
{
    PyObject *capsule, *recipe_capsule;
    const struct nd_py_sketched *s;
    struct nd_recipe *recipe;
    enum nd_status status;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &recipe_capsule) || !(s = sketched_of(capsule)) ||
        !(recipe = nd_py_recipe_to_change(recipe_capsule)))
        return NULL;
    status = nd_sketches_take_df_versions(s->sketches, recipe, &err);
    if (status == ND_OK)
        status = nd_sketches_fit(s->sketches, recipe, true, &err);
    return none_or_raise(module, status, &err);
}

/* ---- Documents ---- */

/* Take the columns and their names from a tuple.  False: an exception is set. */
static bool take_columns(struct nd_py_sketched *s, PyObject *columns, size_t *n)
{
    Py_ssize_t count = PyTuple_Size(columns);

    if (count < 0 || count > ND_FIELDS_MAX) {
        PyErr_Format(PyExc_ValueError, "at most %d columns", ND_FIELDS_MAX);
        return false;
    }
    s->n_columns = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!nd_py_parse_item(columns, i, "Is", &s->column[i], &s->name[i]))
            return false;
        if (s->column[i] == 0 || s->column[i] > 2 * ND_FIELDS_MAX) {
            PyErr_SetString(PyExc_ValueError, "that is no column");
            return false;
        }
        if (s->column[i] >= s->n_columns)
            s->n_columns = s->column[i] + (size_t)1;
    }
    *n = (size_t)count;
    return true;
}

/* sketched_want(sketched, tuple of pairs of a column's number and its name, how many of them all files
 * must keep): once. */
static PyObject *sketched_want(PyObject *module, PyObject *args)
{
    PyObject *capsule, *columns;
    struct nd_py_sketched *s;
    Py_ssize_t n_needed;
    struct nd_error err;
    size_t n;

    if (!PyArg_ParseTuple(args, "OO!n", &capsule, &PyTuple_Type, &columns, &n_needed) ||
        !(s = sketched_of(capsule)))
        return NULL;
    if (s->columns || n_needed < 0 || n_needed > PyTuple_Size(columns))
        return PyErr_Format(PyExc_ValueError, "columns are asked for once, some of them needed");
    if (!take_columns(s, columns, &n))
        return NULL;
    if (nd_sketches_want(s->sketches, s->name, n, (size_t)n_needed, &err) != ND_OK)
        return nd_py_raise(module, &err);
    s->columns = Py_NewRef(columns);
    Py_RETURN_NONE;
}

/* The columns of a block's frame, all of them empty.  False: out of memory. */
static bool reserve(const struct nd_py_sketched *s, struct nd_py_sketched_rows *rows, size_t n)
{
    struct nd_py_frame *f = &rows->frame;

    if (!f->column) {
        f->column = calloc(s->n_columns, sizeof *f->column);
        rows->n_columns = f->n_columns = f->column ? s->n_columns : 0;
    }
    for (size_t i = 0; i < f->n_columns; i++) {
        if (!ND_RESERVE(f->column[i].value, &f->column[i].capacity, n + 1))
            return false;
        memset(f->column[i].value, 0, n * sizeof *f->column[i].value);
        f->column[i].n_repaired = 0;
    }
    return f->column != NULL;
}

/* Set the value of a column of a row.  False: out of memory. */
static bool set_value(struct nd_py_column *column, size_t row, struct nd_view value,
                      uint64_t replaced)
{
    column->value[row] = value;
    if (!replaced)
        return true;
    if (!ND_RESERVE(column->repaired, &column->repaired_capacity, column->n_repaired + 1))
        return false;
    column->repaired[column->n_repaired++] = (struct nd_py_repaired){row, replaced};
    return true;
}

static bool set_row(const struct nd_py_sketched *s, struct nd_py_sketched_rows *rows, size_t row)
{
    const struct nd_sketched_fields *fields = nd_sketches_fields(s->sketches);
    struct nd_field field[ND_FIELDS_MAX];
    uint64_t replaced[ND_FIELDS_MAX];

    nd_sketched_fields_get(fields, &rows->block.rows[row], field, replaced);
    rows->frame.column[0].value[row] = (struct nd_view){"", 0};
    for (size_t i = 0; i < fields->n; i++)
        if (!set_value(&rows->frame.column[s->column[i]], row, field[i].value, replaced[i]))
            return false;
    return true;
}

enum nd_status nd_py_sketched_read(const struct nd_py_sketched *s, size_t block,
                                   struct nd_py_sketched_rows *rows, struct nd_error *err)
{
    uint32_t first_source;
    size_t number;
    const struct nd_sketch_file *file =
        nd_sketches_file_of(s->sketches, block, &number, &first_source);
    enum nd_status status =
        nd_sketch_file_read(file, number, ND_SKETCH_FILE_ROWS, &rows->block, err);
    bool is_good = status == ND_OK && reserve(s, rows, rows->block.n);

    rows->frame.n_rows = is_good ? rows->block.n : 0;
    for (size_t i = 0; is_good && i < rows->block.n; i++)
        is_good = set_row(s, rows, i);
    return status == ND_OK && !is_good ? nd_fail(err, ND_ENOMEM, "out of memory") : status;
}

void nd_py_sketched_rows_release(struct nd_py_sketched_rows *rows)
{
    for (size_t i = 0; i < rows->n_columns; i++) {
        free(rows->frame.column[i].value);
        free(rows->frame.column[i].repaired);
    }
    free(rows->frame.column);
    nd_sketch_block_release(&rows->block);
}

/* ---- Written ---- */

struct survivor_writing {
    const struct nd_sketches *sketches;
    struct nd_sketch_writer *writer;
    const char *mask; /* of each document a byte: */
    char wanted;      /* those that are written have this one */
    size_t at, n;
    struct nd_sketched_batch batch;
};

static enum nd_status add_sources(const struct survivor_writing *w, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (uint32_t i = 0; status == ND_OK && i < nd_sketches_sources(w->sketches); i++) {
        const struct nd_source *from = nd_sketches_source(w->sketches, i);
        const struct nd_sketch_source source = {from->path, from->entry, from->bytes_hash,
                                                from->records};

        status = nd_sketch_writer_add_source(w->writer, &source, err);
    }
    return status;
}

static enum nd_status write_block(struct survivor_writing *w, size_t block, struct nd_error *err)
{
    enum nd_status status = nd_sketches_read(w->sketches, block, &w->batch, err);
    const size_t n = w->batch.block.n;

    if (status == ND_OK && n > w->n - w->at)
        return nd_fail(err, ND_EINVAL, "the mask is not of these documents");
    for (size_t i = 0; status == ND_OK && i < n; i++) {
        struct nd_view bytes = w->batch.record[i].bytes;
        const struct nd_packed_row row = {
            .data = (char *)(uintptr_t)bytes.data,
            .len = bytes.len,
            .row_len = nd_sketch_packed_row_bytes(bytes, nd_sketches_keep(w->sketches).shingles)};

        if (w->mask[w->at + i] == w->wanted)
            status = nd_sketch_writer_add(w->writer, &row, err);
    }
    w->at += n;
    return status;
}

/* False: an exception is set. */
static bool write_all(PyObject *module, struct survivor_writing *w)
{
    struct nd_error err;
    enum nd_status status = ND_OK;
    const size_t blocks = nd_sketches_blocks(w->sketches);

    for (size_t i = 0; status == ND_OK && i <= blocks; i++) {
        Py_BEGIN_ALLOW_THREADS;
        if (i < blocks)
            status = write_block(w, i, &err);
        else if ((status = add_sources(w, &err)) == ND_OK)
            status = nd_sketch_writer_finish(w->writer, &err);
        Py_END_ALLOW_THREADS;
        if (status == ND_OK && !nd_py_report(Py_None, i, blocks))
            return false;
    }
    if (status != ND_OK)
        nd_py_raise(module, &err);
    return status == ND_OK;
}

/*
 * sketched_write(sketched, recipe, mask, whether those are written whose bytes are 1, file of a
 * publisher or descriptor): a sketch file of some of the documents, with all sources.
 */
static PyObject *sketched_write(PyObject *module, PyObject *args)
{
    PyObject *capsule, *recipe_capsule, *file;
    struct nd_sketch_writer_options like;
    const struct nd_py_sketched *s;
    const struct nd_recipe *recipe;
    struct survivor_writing w = {.at = 0};
    FILE *stream = NULL;
    struct nd_error err;
    bool is_good = false;
    Py_ssize_t n;
    int wanted, fd;

    if (!PyArg_ParseTuple(args, "OOy#pO", &capsule, &recipe_capsule, &w.mask, &n, &wanted, &file) ||
        !(s = sketched_of(capsule)) || !(recipe = nd_py_recipe(recipe_capsule)) ||
        (fd = nd_py_output_descriptor(file)) < 0)
        return NULL;
    w.sketches = s->sketches;
    w.wanted = (char)wanted;
    w.n = (size_t)n;
    like = nd_sketches_like(s->sketches);
    stream = nd_py_output_stream(fd, &err);
    w.writer = stream ? nd_sketch_writer_new(stream, recipe, &like, &err) : NULL;
    if (!w.writer)
        nd_py_raise(module, &err);
    else
        is_good = write_all(module, &w);
    nd_sketch_writer_free(w.writer);
    nd_sketched_batch_release(&w.batch);
    if (stream && fclose(stream) != 0 && is_good) {
        PyErr_SetFromErrno(PyExc_OSError);
        is_good = false;
    }
    if (is_good)
        Py_RETURN_NONE;
    return NULL;
}

PyMethodDef nd_py_sketched_functions[] = {
    {"sketched_open", sketched_open, METH_O, "Sketch files in place of documents, or None."},
    {"sketched_info", sketched_info, METH_O, "The files, and what they were made of."},
    {"sketched_take_recipe", sketched_take_recipe, METH_VARARGS, "Complete a recipe by the files."},
    {"sketched_fit", sketched_fit, METH_VARARGS, "Check that the files are of a recipe."},
    {"sketched_want", sketched_want, METH_VARARGS, "Ask for columns that decide."},
    {"sketched_write", sketched_write, METH_VARARGS, "Write some of the documents to a file."},
    {NULL, NULL, 0, NULL},
};
