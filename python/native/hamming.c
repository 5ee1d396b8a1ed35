/*
 * hamming.c - indexes of fingerprints in memory and in files
 *
 * Fingerprints and ids come as buffers: arrays of 64-bit words and of 32-bit ids, such as numpy's.
 */
#include "native.h"

#include <neardup/hamming.h>
#include <neardup/hamming_file.h>

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY "neardup.hamming"
#define FILE_INDEX "neardup.hamming_file"
#define BATCH "neardup.hamming_batch"

static void free_index(PyObject *capsule)
{
    nd_hamming_free(PyCapsule_GetPointer(capsule, MEMORY));
}

static void close_file(PyObject *capsule)
{
    nd_hamming_file_close(PyCapsule_GetPointer(capsule, FILE_INDEX));
}

static void free_batch(PyObject *capsule)
{
    nd_hamming_batch_free(PyCapsule_GetPointer(capsule, BATCH));
}

static struct nd_hamming *index_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, MEMORY);
}

/* A buffer of whole elements; *n: how many.  False: an exception is set, and nothing is held. */
static bool get_buffer(PyObject *object, Py_buffer *buffer, size_t size, const char *what,
                       size_t *n)
{
    if (PyObject_GetBuffer(object, buffer, PyBUF_C_CONTIGUOUS) < 0)
        return false;
    if ((size_t)buffer->len % size) {
        PyErr_Format(PyExc_ValueError, "%s: %zd bytes are not a whole number of %zu", what,
                     buffer->len, size);
        PyBuffer_Release(buffer);
        return false;
    }
    *n = (size_t)buffer->len / size;
    return true;
}

/* hamming_new(bits, distance, count, memory): an empty index; memory 0: any. */
static PyObject *hamming_new(PyObject *module, PyObject *args)
{
    struct nd_hamming_problem problem = {0};
    struct nd_hamming_plan plan;
    struct nd_hamming *index;
    unsigned long long count;
    struct nd_error err;
    PyObject *capsule;
    double memory;

    if (!PyArg_ParseTuple(args, "IIKd", &problem.bits, &problem.distance, &count, &memory))
        return NULL;
    problem.count = count;
    if (nd_hamming_choose(&problem, NULL, memory, &plan, &err) != ND_OK ||
        nd_hamming_new(&index, &plan, &err) != ND_OK)
        return nd_py_raise(module, &err);
    capsule = PyCapsule_New(index, MEMORY, free_index);
    if (!capsule)
        nd_hamming_free(index);
    return capsule;
}

static PyObject *hamming_count(PyObject *module, PyObject *capsule)
{
    struct nd_hamming *index = index_of(capsule);

    (void)module;
    return index ? PyLong_FromSize_t(nd_hamming_count(index)) : NULL;
}

static PyObject *hamming_bytes(PyObject *module, PyObject *capsule)
{
    struct nd_hamming *index = index_of(capsule);

    (void)module;
    return index ? PyLong_FromSize_t(nd_hamming_bytes(index)) : NULL;
}

/* hamming_add(index, bits, fingerprints, ids or None, first id) */
static PyObject *hamming_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *fingerprints, *ids;
    Py_buffer buffer, id_buffer = {0};
    struct nd_hamming *index;
    enum nd_status status = ND_OK;
    unsigned bits, first;
    struct nd_error err;
    size_t n, n_ids;

    if (!PyArg_ParseTuple(args, "OIOOI", &capsule, &bits, &fingerprints, &ids, &first) ||
        !(index = index_of(capsule)) ||
        !get_buffer(fingerprints, &buffer, 8 * nd_hamming_words(bits), "fingerprints", &n))
        return NULL;
    if (ids != Py_None && !get_buffer(ids, &id_buffer, 4, "ids", &n_ids)) {
        PyBuffer_Release(&buffer);
        return NULL;
    }
    if (ids != Py_None && n_ids != n) {
        PyErr_Format(PyExc_ValueError, "there are %zu fingerprints and %zu ids", n, n_ids);
    } else {
        Py_BEGIN_ALLOW_THREADS status = nd_hamming_add(
            index, buffer.buf, ids == Py_None ? NULL : id_buffer.buf, first, n, &err);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&buffer);
    if (ids != Py_None)
        PyBuffer_Release(&id_buffer);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* hamming_remove(index, bits, fingerprint, id) */
static PyObject *hamming_remove(PyObject *module, PyObject *args)
{
    PyObject *capsule, *fingerprint;
    struct nd_hamming *index;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    unsigned bits, id;
    size_t n;

    if (!PyArg_ParseTuple(args, "OIOI", &capsule, &bits, &fingerprint, &id) ||
        !(index = index_of(capsule)) ||
        !get_buffer(fingerprint, &buffer, 8 * nd_hamming_words(bits), "fingerprint", &n))
        return NULL;
    if (n != 1) {
        PyBuffer_Release(&buffer);
        return PyErr_Format(PyExc_ValueError, "one fingerprint is removed at a time, not %zu", n);
    }
    status = nd_hamming_remove(index, buffer.buf, id, &err);
    PyBuffer_Release(&buffer);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* The matches as columns: query, id, distance.  They are released. */
static PyObject *take_matches(struct nd_hamming_matches *matches)
{
    static const struct nd_py_column_type type[3] = {
        {"query", "I", 4, NULL, 0}, {"id", "I", 4, NULL, 0}, {"distance", "I", 4, NULL, 0}};
    void *values[3];
    PyObject *columns = nd_py_columns(type, 3, matches->count, values, NULL);

    for (size_t i = 0; columns && i < matches->count; i++) {
        ((uint32_t *)values[0])[i] = matches->items[i].query;
        ((uint32_t *)values[1])[i] = matches->items[i].id;
        ((uint32_t *)values[2])[i] = matches->items[i].distance;
    }
    nd_hamming_matches_release(matches);
    return columns;
}

/* hamming_query(index or file, bits, queries, distance): matches, sorted. */
static PyObject *hamming_query(PyObject *module, PyObject *args)
{
    struct nd_hamming_matches matches = {0};
    const struct nd_hamming_file *file = NULL;
    const struct nd_hamming *index = NULL;
    PyObject *capsule, *queries;
    unsigned bits, distance;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    size_t n;

    if (!PyArg_ParseTuple(args, "OIOI", &capsule, &bits, &queries, &distance))
        return NULL;
    if (PyCapsule_IsValid(capsule, FILE_INDEX))
        file = PyCapsule_GetPointer(capsule, FILE_INDEX);
    else if (!(index = index_of(capsule)))
        return NULL;
    if (!get_buffer(queries, &buffer, 8 * nd_hamming_words(bits), "queries", &n))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        file ? nd_hamming_file_query(file, buffer.buf, n, distance, &matches, &err)
             : nd_hamming_query(index, buffer.buf, n, distance, &matches, &err);
    if (status == ND_OK)
        nd_hamming_matches_sort(&matches);
    Py_END_ALLOW_THREADS PyBuffer_Release(&buffer);
    if (status != ND_OK) {
        nd_hamming_matches_release(&matches);
        return nd_py_raise(module, &err);
    }
    return take_matches(&matches);
}

/* hamming_find(index or file, fingerprint, distance): ids and distances near one of up to 64 bits. */
static PyObject *hamming_find(PyObject *module, PyObject *args)
{
    struct nd_hamming_matches matches = {0};
    unsigned long long fingerprint;
    PyObject *capsule, *list;
    enum nd_status status;
    struct nd_error err;
    uint64_t query;
    unsigned distance;

    if (!PyArg_ParseTuple(args, "OKI", &capsule, &fingerprint, &distance))
        return NULL;
    query = fingerprint;
    if (PyCapsule_IsValid(capsule, FILE_INDEX)) {
        status = nd_hamming_file_query(PyCapsule_GetPointer(capsule, FILE_INDEX), &query, 1,
                                       distance, &matches, &err);
    } else {
        struct nd_hamming *index = index_of(capsule);

        if (!index)
            return NULL;
        status = nd_hamming_query(index, &query, 1, distance, &matches, &err);
    }
    if (status != ND_OK) {
        nd_hamming_matches_release(&matches);
        return nd_py_raise(module, &err);
    }
    if (matches.count > 1)
        nd_hamming_matches_sort(&matches);
    list = PyList_New((Py_ssize_t)matches.count);
    for (size_t i = 0; list && i < matches.count; i++) {
        PyObject *pair = Py_BuildValue("II", matches.items[i].id, matches.items[i].distance);

        if (!pair)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, pair);
    }
    nd_hamming_matches_release(&matches);
    return list;
}

/* ---- Pairs ---- */

struct pairs {
    struct nd_hamming_pair *pair;
    size_t n, capacity;
};

static int note_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    struct pairs *p = context;

    if (!ND_RESERVE(p->pair, &p->capacity, p->n + n))
        return 1;
    memcpy(p->pair + p->n, pair, n * sizeof *pair);
    p->n += n;
    return 0;
}

static int by_places(const void *a, const void *b)
{
    const struct nd_hamming_pair *x = a, *y = b;

    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* The pairs as columns called `first`, `second` and distance, or the exception of a status.  They
 * are released. */
static PyObject *take_pairs(PyObject *module, struct pairs *pairs, const char *first,
                            const char *second, enum nd_status status, const struct nd_error *err)
{
    const struct nd_py_column_type type[3] = {
        {first, "L", 8, NULL, 0}, {second, "L", 8, NULL, 0}, {"distance", "I", 4, NULL, 0}};
    PyObject *columns = NULL;
    void *values[3];

    if (status == ND_ECANCELLED)
        PyErr_NoMemory();
    else if (status != ND_OK)
        nd_py_raise(module, err);
    else
        columns = nd_py_columns(type, 3, pairs->n, values, NULL);
    for (size_t i = 0; columns && i < pairs->n; i++) {
        ((uint64_t *)values[0])[i] = pairs->pair[i].a;
        ((uint64_t *)values[1])[i] = pairs->pair[i].b;
        ((uint32_t *)values[2])[i] = pairs->pair[i].distance;
    }
    free(pairs->pair);
    return columns;
}

/* hamming_pairs(fingerprints, bits, distance, threads): all pairs by position, in order. */
static PyObject *hamming_pairs(PyObject *module, PyObject *args)
{
    unsigned bits, distance, threads;
    struct pairs pairs = {0};
    PyObject *fingerprints;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    size_t n;

    if (!PyArg_ParseTuple(args, "OIII", &fingerprints, &bits, &distance, &threads) ||
        !get_buffer(fingerprints, &buffer, 8 * nd_hamming_words(bits), "fingerprints", &n))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        nd_hamming_pairs(buffer.buf, n, bits, distance, threads, note_pairs, &pairs, &err);
    if (status == ND_OK && pairs.n)
        qsort(pairs.pair, pairs.n, sizeof *pairs.pair, by_places);
    Py_END_ALLOW_THREADS PyBuffer_Release(&buffer);
    return take_pairs(module, &pairs, "a", "b", status, &err);
}

/* ---- Batches of queries, past which fingerprints stream ---- */

/* hamming_batch_new(queries, bits, distance): the queries are copied. */
static PyObject *hamming_batch_new(PyObject *module, PyObject *args)
{
    struct nd_hamming_batch *batch = NULL;
    PyObject *queries, *capsule;
    unsigned bits, distance;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    size_t n;

    if (!PyArg_ParseTuple(args, "OII", &queries, &bits, &distance) ||
        !get_buffer(queries, &buffer, 8 * nd_hamming_words(bits), "queries", &n))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        nd_hamming_batch_new(&batch, buffer.buf, n, bits, distance, &err);
    Py_END_ALLOW_THREADS PyBuffer_Release(&buffer);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    capsule = PyCapsule_New(batch, BATCH, free_batch);
    if (!capsule)
        nd_hamming_batch_free(batch);
    else
        /* What a fingerprint takes is the batch's, not the caller's, who could be wrong. */
        PyCapsule_SetContext(capsule, (void *)(8 * nd_hamming_words(bits)));
    return capsule;
}

/* hamming_batch_feed(batch, fingerprints): every pair of a query and a fingerprint. */
static PyObject *hamming_batch_feed(PyObject *module, PyObject *args)
{
    PyObject *capsule, *fingerprints;
    struct nd_hamming_batch *batch;
    struct pairs pairs = {0};
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    size_t n;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &fingerprints) ||
        !(batch = PyCapsule_GetPointer(capsule, BATCH)) ||
        !get_buffer(fingerprints, &buffer, (size_t)PyCapsule_GetContext(capsule), "fingerprints",
                    &n))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        nd_hamming_batch_feed(batch, buffer.buf, n, 0, note_pairs, &pairs, &err);
    Py_END_ALLOW_THREADS PyBuffer_Release(&buffer);
    return take_pairs(module, &pairs, "query", "place", status, &err);
}

/* ---- Files ---- */

/* hamming_save(path, bits, distance, fingerprints, ids): write an index file. */
static PyObject *hamming_save(PyObject *module, PyObject *args)
{
    struct nd_hamming_shape shape = {.codec = ND_HAMMING_EF};
    struct nd_hamming_entries entries = {0};
    PyObject *path, *fingerprints, *ids;
    Py_buffer buffer, id_buffer;
    enum nd_status status = ND_OK;
    struct nd_error err;
    size_t n_ids;

    if (!PyArg_ParseTuple(args, "O&IIOO", PyUnicode_FSConverter, &path, &shape.bits,
                          &shape.distance, &fingerprints, &ids))
        return NULL;
    if (!get_buffer(fingerprints, &buffer, 8 * nd_hamming_words(shape.bits), "fingerprints",
                    &entries.count)) {
        Py_DECREF(path);
        return NULL;
    }
    if (!get_buffer(ids, &id_buffer, 4, "ids", &n_ids)) {
        PyBuffer_Release(&buffer);
        Py_DECREF(path);
        return NULL;
    }
    entries.fingerprints = buffer.buf;
    entries.ids = id_buffer.buf;
    if (n_ids != entries.count) {
        PyErr_Format(PyExc_ValueError, "there are %zu fingerprints and %zu ids", entries.count,
                     n_ids);
    } else {
        const char *name = PyBytes_AsString(path);

        Py_BEGIN_ALLOW_THREADS status = nd_hamming_file_build(name, &shape, &entries, &err);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&buffer);
    PyBuffer_Release(&id_buffer);
    Py_DECREF(path);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

/* hamming_open(path): an index file. */
static PyObject *hamming_open(PyObject *module, PyObject *args)
{
    struct nd_hamming_file *file = NULL;
    PyObject *path, *capsule;
    enum nd_status status;
    struct nd_error err;
    const char *name;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS status = nd_hamming_file_open(&file, name, &err);
    Py_END_ALLOW_THREADS Py_DECREF(path);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    capsule = PyCapsule_New(file, FILE_INDEX, close_file);
    if (!capsule)
        nd_hamming_file_close(file);
    return capsule;
}

/* The bits, the distance, the number of entries and the bytes of a file; whether ids are texts. */
static PyObject *hamming_file_info(PyObject *module, PyObject *capsule)
{
    const struct nd_hamming_file *file = PyCapsule_GetPointer(capsule, FILE_INDEX);
    const struct nd_hamming_plan *plan;

    (void)module;
    if (!file)
        return NULL;
    plan = nd_hamming_file_design(file);
    return Py_BuildValue("IIKKi", plan->problem.bits, plan->problem.distance,
                         (unsigned long long)plan->problem.count,
                         (unsigned long long)nd_hamming_file_bytes(file),
                         nd_hamming_file_has_texts(file));
}

/* hamming_file_text(file, entry): the id of an entry as text. */
static PyObject *hamming_file_text(PyObject *module, PyObject *args)
{
    const struct nd_hamming_file *file;
    char number[ND_HAMMING_NUMBER_MAX];
    PyObject *capsule;
    const char *text;
    unsigned entry;
    size_t len;

    (void)module;
    if (!PyArg_ParseTuple(args, "OI", &capsule, &entry) ||
        !(file = PyCapsule_GetPointer(capsule, FILE_INDEX)))
        return NULL;
    text = nd_hamming_file_text(file, entry, number, &len);
    if (!text)
        return PyErr_Format(PyExc_IndexError, "there is no entry %u", entry);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
}

/* hamming_file_add(path, bits, fingerprints, ids): add entries to a file. */
static PyObject *hamming_file_add(PyObject *module, PyObject *args)
{
    struct nd_hamming_entries entries = {0};
    PyObject *path, *fingerprints, *ids;
    Py_buffer buffer, id_buffer;
    enum nd_status status = ND_OK;
    struct nd_error err;
    unsigned bits;
    size_t n_ids;

    if (!PyArg_ParseTuple(args, "O&IOO", PyUnicode_FSConverter, &path, &bits, &fingerprints, &ids))
        return NULL;
    if (!get_buffer(fingerprints, &buffer, 8 * nd_hamming_words(bits), "fingerprints",
                    &entries.count)) {
        Py_DECREF(path);
        return NULL;
    }
    if (!get_buffer(ids, &id_buffer, 4, "ids", &n_ids)) {
        PyBuffer_Release(&buffer);
        Py_DECREF(path);
        return NULL;
    }
    entries.fingerprints = buffer.buf;
    entries.ids = id_buffer.buf;
    if (n_ids != entries.count) {
        PyErr_Format(PyExc_ValueError, "there are %zu fingerprints and %zu ids", entries.count,
                     n_ids);
    } else {
        const char *name = PyBytes_AsString(path);

        Py_BEGIN_ALLOW_THREADS status = nd_hamming_file_add(name, &entries, &err);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&buffer);
    PyBuffer_Release(&id_buffer);
    Py_DECREF(path);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    if (PyErr_Occurred())
        return NULL;
    Py_RETURN_NONE;
}

PyMethodDef nd_py_hamming_functions[] = {
    {"hamming_new", hamming_new, METH_VARARGS, "An empty index in memory."},
    {"hamming_count", hamming_count, METH_O, "How many fingerprints it holds."},
    {"hamming_bytes", hamming_bytes, METH_O, "Its memory."},
    {"hamming_add", hamming_add, METH_VARARGS, "Add fingerprints."},
    {"hamming_remove", hamming_remove, METH_VARARGS, "Remove one fingerprint."},
    {"hamming_query", hamming_query, METH_VARARGS, "What is near each of many queries."},
    {"hamming_find", hamming_find, METH_VARARGS, "What is near one fingerprint."},
    {"hamming_pairs", hamming_pairs, METH_VARARGS, "All pairs of an array."},
    {"hamming_batch_new", hamming_batch_new, METH_VARARGS, "Queries for fingerprints to pass."},
    {"hamming_batch_feed", hamming_batch_feed, METH_VARARGS, "What of an array is near which."},
    {"hamming_save", hamming_save, METH_VARARGS, "Write an index file."},
    {"hamming_open", hamming_open, METH_VARARGS, "Open an index file."},
    {"hamming_file_info", hamming_file_info, METH_O, "What a file holds."},
    {"hamming_file_text", hamming_file_text, METH_VARARGS, "The id of an entry."},
    {"hamming_file_add", hamming_file_add, METH_VARARGS, "Add entries to a file."},
    {NULL, NULL, 0, NULL},
};
