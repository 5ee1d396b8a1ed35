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
#include <time.h>

#define MEMORY "neardup.hamming"
#define FILE_INDEX "neardup.hamming_file"
#define BATCH "neardup.hamming_batch"

/* An index in memory.  It has a lock of its own, which nobody holds for long. */
struct fingerprint_column {
    struct nd_hamming *index;
    unsigned bits;
    struct nd_hamming_plan plan;
};

static void free_index(PyObject *capsule)
{
    struct fingerprint_column *f = PyCapsule_GetPointer(capsule, MEMORY);

    nd_hamming_free(f->index);
    free(f);
}

static void close_file(PyObject *capsule)
{
    nd_hamming_file_close(PyCapsule_GetPointer(capsule, FILE_INDEX));
}

static void free_batch(PyObject *capsule)
{
    nd_hamming_batch_free(PyCapsule_GetPointer(capsule, BATCH));
}

static struct fingerprint_column *index_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, MEMORY);
}

/* The index that is queried: in memory, or in a file. */
struct column_place {
    const struct nd_hamming *index;
    const struct nd_hamming_file *file;
    unsigned bits;
};

static bool place_of(PyObject *capsule, struct column_place *place)
{
    const struct fingerprint_column *f;

    *place = (struct column_place){0};
    if (PyCapsule_IsValid(capsule, FILE_INDEX)) {
        place->file = PyCapsule_GetPointer(capsule, FILE_INDEX);
        place->bits = nd_hamming_file_design(place->file)->problem.bits;
        return true;
    }
    f = index_of(capsule);
    if (f) {
        place->index = f->index;
        place->bits = f->bits;
    }
    return f != NULL;
}

static enum nd_status query(const struct column_place *place, const uint64_t *queries, size_t n,
                            unsigned distance, struct nd_hamming_matches *out, struct nd_error *err)
{
    return place->file ? nd_hamming_file_query(place->file, queries, n, distance, out, err)
                       : nd_hamming_query(place->index, queries, n, distance, out, err);
}

/*
 * How much is done between two looks at signals: as much as takes some milliseconds, whatever the
 * family and the distance.
 */
struct pace {
    size_t step;
    double since;
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* How many of what is left come next. */
static size_t next_step(struct pace *pace, size_t left)
{
    enum { FIRST = 256, MOST = 1 << 20 };
    const double least = 0.005, most = 0.02;
    double at = now();

    if (!pace->step)
        pace->step = FIRST;
    else if (at - pace->since < least && pace->step < MOST)
        pace->step *= 2;
    else if (at - pace->since > most && pace->step > 1)
        pace->step /= 2;
    pace->since = at;
    return left < pace->step ? left : pace->step;
}

/* A buffer of whole elements; *n: how many.  False: an exception is set, and nothing is held. */
static bool get_buffer(PyObject *object, Py_buffer *buffer, size_t size, const char *what,
                       size_t *n)
{
    if (PyObject_GetBuffer(object, buffer, PyBUF_C_CONTIGUOUS) < 0)
        return false;
    size = size ? size : 8; /* of 0 bits, which are refused later */
    if ((size_t)buffer->len % size) {
        PyErr_Format(PyExc_ValueError, "%s: %zd bytes are not a whole number of %zu", what,
                     buffer->len, size);
        PyBuffer_Release(buffer);
        return false;
    }
    /* An empty array may lie anywhere. */
    if (buffer->len && (uintptr_t)buffer->buf % (size < 8 ? size : 8)) {
        PyErr_Format(PyExc_ValueError, "%s: the values do not lie at whole words: copy them", what);
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
    struct fingerprint_column *f;
    unsigned long long count;
    struct nd_error err;
    PyObject *capsule;
    double memory;

    if (!PyArg_ParseTuple(args, "IIKd", &problem.bits, &problem.distance, &count, &memory))
        return NULL;
    problem.count = count;
    f = calloc(1, sizeof *f);
    if (!f)
        return PyErr_NoMemory();
    f->bits = problem.bits;
    if (nd_hamming_choose(&problem, NULL, memory, &plan, &err) != ND_OK ||
        nd_hamming_new(&f->index, &plan, &err) != ND_OK) {
        free(f);
        return nd_py_raise(module, &err);
    }
    f->plan = plan;
    capsule = PyCapsule_New(f, MEMORY, free_index);
    if (!capsule) {
        nd_hamming_free(f->index);
        free(f);
    }
    return capsule;
}

static PyObject *hamming_count(PyObject *module, PyObject *capsule)
{
    const struct fingerprint_column *f = index_of(capsule);

    (void)module;
    return f ? PyLong_FromSize_t(nd_hamming_count(f->index)) : NULL;
}

static PyObject *hamming_bytes(PyObject *module, PyObject *capsule)
{
    const struct fingerprint_column *f = index_of(capsule);

    (void)module;
    return f ? PyLong_FromSize_t(nd_hamming_bytes(f->index)) : NULL;
}

/* False: an exception is set; some may be in. */
static bool add_all(PyObject *module, struct fingerprint_column *f, const uint64_t *words,
                    const uint32_t *ids, size_t n)
{
    struct pace pace = {0};

    for (size_t at = 0, step; at < n; at += step) {
        enum nd_status status;
        struct nd_error err;

        step = next_step(&pace, n - at);
        Py_BEGIN_ALLOW_THREADS;
        status = nd_hamming_add(f->index, words + at * nd_hamming_words(f->bits), ids + at, 0, step,
                                &err);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            nd_py_raise(module, &err);
        if (status != ND_OK || PyErr_CheckSignals() < 0)
            return false;
    }
    return true;
}

/* hamming_numbers(first, n): n numbers from the first on, as ids. */
static PyObject *hamming_numbers(PyObject *module, PyObject *args)
{
    unsigned long long first;
    PyObject *bytes;
    Py_ssize_t n;

    (void)module;
    if (!PyArg_ParseTuple(args, "Kn", &first, &n))
        return NULL;
    if (n < 0 || first + (unsigned long long)n > (UINT64_C(1) << 32))
        return PyErr_Format(PyExc_OverflowError, "ids are numbers below 2**32");
    bytes = PyBytes_FromStringAndSize(NULL, 4 * n);
    for (Py_ssize_t i = 0; bytes && i < n; i++) {
        uint32_t id = (uint32_t)(first + (unsigned long long)i);

        memcpy(PyBytes_AsString(bytes) + 4 * i, &id, sizeof id);
    }
    return bytes;
}

/* hamming_plan(index): the family, the number of tables and the bits of their keys. */
static PyObject *hamming_plan(PyObject *module, PyObject *capsule)
{
    const struct fingerprint_column *f = index_of(capsule);

    (void)module;
    return f ? Py_BuildValue("sII", nd_hamming_family_name(f->plan.family), f->plan.tables,
                             f->plan.key_bits)
             : NULL;
}

/* hamming_add(index, fingerprints, ids): where it fails, the first so many are in. */
static PyObject *hamming_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *fingerprints, *ids;
    Py_buffer buffer, id_buffer;
    struct fingerprint_column *f;
    size_t n, n_ids;
    bool is_good;

    if (!PyArg_ParseTuple(args, "OOO", &capsule, &fingerprints, &ids) || !(f = index_of(capsule)) ||
        !get_buffer(fingerprints, &buffer, 8 * nd_hamming_words(f->bits), "fingerprints", &n))
        return NULL;
    if (!get_buffer(ids, &id_buffer, 4, "ids", &n_ids)) {
        PyBuffer_Release(&buffer);
        return NULL;
    }
    is_good = n_ids == n;
    if (!is_good)
        PyErr_Format(PyExc_ValueError, "there are %zu fingerprints and %zu ids", n, n_ids);
    is_good = is_good && add_all(module, f, buffer.buf, id_buffer.buf, n);
    PyBuffer_Release(&buffer);
    PyBuffer_Release(&id_buffer);
    if (!is_good)
        return NULL;
    Py_RETURN_NONE;
}

/* hamming_remove(index, fingerprint, id) */
static PyObject *hamming_remove(PyObject *module, PyObject *args)
{
    PyObject *capsule, *fingerprint;
    struct fingerprint_column *f;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    unsigned id;
    size_t n;

    if (!PyArg_ParseTuple(args, "OOI", &capsule, &fingerprint, &id) || !(f = index_of(capsule)) ||
        !get_buffer(fingerprint, &buffer, 8 * nd_hamming_words(f->bits), "fingerprint", &n))
        return NULL;
    if (n != 1) {
        PyBuffer_Release(&buffer);
        return PyErr_Format(PyExc_ValueError, "one fingerprint is removed at a time, not %zu", n);
    }
    status = nd_hamming_remove(f->index, buffer.buf, id, &err);
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

/* The matches of queries first … first + n - 1, sorted behind those of the queries before. */
static enum nd_status query_some(const struct column_place *place, const uint64_t *words,
                                 size_t first, size_t n, unsigned distance,
                                 struct nd_hamming_matches *out, struct nd_error *err)
{
    size_t before = out->count;
    enum nd_status status =
        query(place, words + first * nd_hamming_words(place->bits), n, distance, out, err);
    struct nd_hamming_matches found;

    if (status != ND_OK || out->count == before)
        return status;
    found = (struct nd_hamming_matches){.items = out->items + before, .count = out->count - before};
    nd_hamming_matches_sort(&found);
    for (size_t i = 0; i < found.count; i++)
        found.items[i].query += (uint32_t)first;
    return ND_OK;
}

/* False: an exception is set. */
static bool query_all(PyObject *module, const struct column_place *place, const uint64_t *words,
                      size_t n, unsigned distance, struct nd_hamming_matches *out)
{
    struct pace pace = {0};
    size_t at = 0;

    do { /* also of no queries, whose distance may be wrong */
        size_t step = next_step(&pace, n - at);
        enum nd_status status;
        struct nd_error err;

        Py_BEGIN_ALLOW_THREADS;
        status = query_some(place, words, at, step, distance, out, &err);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            nd_py_raise(module, &err);
        if (status != ND_OK || PyErr_CheckSignals() < 0)
            return false;
        at += step;
    } while (at < n);
    return true;
}

/* hamming_query(index or file, queries, distance): matches, sorted. */
static PyObject *hamming_query(PyObject *module, PyObject *args)
{
    struct nd_hamming_matches matches = {0};
    PyObject *capsule, *queries;
    struct column_place place;
    unsigned distance;
    Py_buffer buffer;
    bool is_good;
    size_t n;

    if (!PyArg_ParseTuple(args, "OOI", &capsule, &queries, &distance) ||
        !place_of(capsule, &place) ||
        !get_buffer(queries, &buffer, 8 * nd_hamming_words(place.bits), "queries", &n))
        return NULL;
    is_good = n <= UINT32_MAX;
    if (!is_good)
        PyErr_Format(PyExc_ValueError, "%zu queries are too many: at most %lu at once", n,
                     (unsigned long)UINT32_MAX);
    is_good = is_good && query_all(module, &place, buffer.buf, n, distance, &matches);
    PyBuffer_Release(&buffer);
    if (is_good)
        return take_matches(&matches);
    nd_hamming_matches_release(&matches);
    return NULL;
}

/* An int, or what can be one, such as numpy's.  False: an exception is set. */
static bool to_fingerprint(PyObject *object, uint64_t *to)
{
    PyObject *number = PyNumber_Index(object);
    unsigned long long value;

    if (!number)
        return false;
    value = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    *to = value;
    return value != (unsigned long long)-1 || !PyErr_Occurred();
}

/* The matches as a list of ids and distances.  They are released. */
static PyObject *list_matches(struct nd_hamming_matches *matches)
{
    PyObject *list;

    if (matches->count > 1)
        nd_hamming_matches_sort(matches);
    list = PyList_New((Py_ssize_t)matches->count);
    for (size_t i = 0; list && i < matches->count; i++) {
        PyObject *pair = Py_BuildValue("II", matches->items[i].id, matches->items[i].distance);

        if (!pair)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, pair);
    }
    nd_hamming_matches_release(matches);
    return list;
}

/*
 * hamming_find(index or file, fingerprint, distance): ids and distances near one of up to 64 bits.
 * The call that is made most often, so its arguments are read by hand and the GIL is kept.
 */
static PyObject *hamming_find(PyObject *module, PyObject *const *args, Py_ssize_t n)
{
    struct nd_hamming_matches matches = {0};
    unsigned long distance;
    struct column_place place;
    struct nd_error err;
    uint64_t fingerprint;

    if (n != 3)
        return PyErr_Format(PyExc_TypeError, "3 arguments are expected, not %zd", n);
    if (!place_of(args[0], &place) || !to_fingerprint(args[1], &fingerprint))
        return NULL;
    distance = PyLong_AsUnsignedLong(args[2]);
    if (distance == (unsigned long)-1 && PyErr_Occurred())
        return NULL;
    if (place.bits > 64)
        return PyErr_Format(PyExc_ValueError,
                            "one int is found in an index of up to 64 bits, not %u: use query",
                            place.bits);
    if (query(&place, &fingerprint, 1, distance > UINT32_MAX ? UINT32_MAX : (unsigned)distance,
              &matches, &err) == ND_OK)
        return list_matches(&matches);
    nd_hamming_matches_release(&matches);
    return nd_py_raise(module, &err);
}

/* ---- Pairs ---- */

struct pair_columns {
    struct nd_hamming_pair *pair;
    size_t n, capacity;
    /* The thread that called, which alone looks at signals, and when it did. */
    unsigned long owner;
    PyThreadState *state;
    double since;
    bool is_interrupted;
};

/* Let the GIL go: p->state takes it again. */
static void begin_pairs(struct pair_columns *p)
{
    *p = (struct pair_columns){.owner = PyThread_get_thread_ident(), .since = now()};
    p->state = PyEval_SaveThread();
}

static bool is_interrupted(struct pair_columns *p)
{
    const double pause = 0.02;

    if (PyThread_get_thread_ident() != p->owner || now() - p->since < pause)
        return false;
    PyEval_RestoreThread(p->state);
    p->is_interrupted = PyErr_CheckSignals() < 0;
    p->state = PyEval_SaveThread();
    p->since = now();
    return p->is_interrupted;
}

static int note_pairs(void *context, const struct nd_hamming_pair *pair, size_t n)
{
    struct pair_columns *p = context;

    if (is_interrupted(p) || !ND_RESERVE(p->pair, &p->capacity, p->n + n))
        return 1;
    if (n)
        memcpy(p->pair + p->n, pair, n * sizeof *pair);
    p->n += n;
    return 0;
}

static int by_second(const void *a, const void *b)
{
    const struct nd_hamming_pair *x = a, *y = b;

    return (x->b > y->b) - (x->b < y->b);
}

/* Sort pairs of n fingerprints: by the first of each, counted, then by the second.  False: out of
 * memory. */
static bool sort_pairs(struct pair_columns *p, size_t n)
{
    struct nd_hamming_pair *sorted = nd_alloc_array(p->n + 1, sizeof *sorted);
    size_t *end = calloc(n + 1, sizeof *end);
    bool is_good = sorted && end;

    for (size_t i = 0; is_good && i < p->n; i++)
        end[p->pair[i].a + 1]++;
    for (size_t a = 0; is_good && a < n; a++)
        end[a + 1] += end[a];
    for (size_t i = 0; is_good && i < p->n; i++)
        sorted[end[p->pair[i].a]++] = p->pair[i];
    for (size_t a = 0, from = 0; is_good && a < n; from = end[a++])
        if (end[a] - from > 1)
            qsort(sorted + from, end[a] - from, sizeof *sorted, by_second);
    free(end);
    if (!is_good) {
        free(sorted);
        return false;
    }
    free(p->pair);
    p->pair = sorted;
    return true;
}

/* The pairs as columns called `first`, `second` and distance, or the exception of a status.  They
 * are released. */
static PyObject *take_pairs(PyObject *module, struct pair_columns *pairs, const char *first,
                            const char *second, enum nd_status status, const struct nd_error *err)
{
    const struct nd_py_column_type type[3] = {
        {first, "L", 8, NULL, 0}, {second, "L", 8, NULL, 0}, {"distance", "I", 4, NULL, 0}};
    PyObject *columns = NULL;
    void *values[3];

    if (status == ND_ECANCELLED && !pairs->is_interrupted)
        PyErr_NoMemory();
    else if (status != ND_OK && !pairs->is_interrupted)
        nd_py_raise(module, err);
    else if (status == ND_OK)
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
    struct pair_columns pairs;
    PyObject *fingerprints;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    size_t n;

    if (!PyArg_ParseTuple(args, "OIII", &fingerprints, &bits, &distance, &threads) ||
        !get_buffer(fingerprints, &buffer, 8 * nd_hamming_words(bits), "fingerprints", &n))
        return NULL;
    begin_pairs(&pairs);
    status = nd_hamming_pairs(buffer.buf, n, bits, distance, threads, note_pairs, &pairs, &err);
    if (status == ND_OK && pairs.n && !sort_pairs(&pairs, n))
        status = nd_fail(&err, ND_ENOMEM, "out of memory");
    PyEval_RestoreThread(pairs.state);
    PyBuffer_Release(&buffer);
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
    Py_BEGIN_ALLOW_THREADS;
    status = nd_hamming_batch_new(&batch, buffer.buf, n, bits, distance, &err);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&buffer);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    capsule = PyCapsule_New(batch, BATCH, free_batch);
    if (!capsule)
        nd_hamming_batch_free(batch);
    else
        /* The batch knows the bytes of a fingerprint; its caller could be wrong. */
        PyCapsule_SetContext(capsule, (void *)(8 * nd_hamming_words(bits)));
    return capsule;
}

/* hamming_batch_feed(batch, fingerprints): every pair of a query and a fingerprint. */
static PyObject *hamming_batch_feed(PyObject *module, PyObject *args)
{
    PyObject *capsule, *fingerprints;
    struct nd_hamming_batch *batch;
    struct pair_columns pairs;
    enum nd_status status;
    struct nd_error err;
    Py_buffer buffer;
    size_t n;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &fingerprints) ||
        !(batch = PyCapsule_GetPointer(capsule, BATCH)) ||
        !get_buffer(fingerprints, &buffer, (size_t)PyCapsule_GetContext(capsule), "fingerprints",
                    &n))
        return NULL;
    begin_pairs(&pairs);
    status = nd_hamming_batch_feed(batch, buffer.buf, n, 0, note_pairs, &pairs, &err);
    PyEval_RestoreThread(pairs.state);
    PyBuffer_Release(&buffer);
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

        Py_BEGIN_ALLOW_THREADS;
        status = nd_hamming_file_build(name, &shape, &entries, &err);
        Py_END_ALLOW_THREADS;
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
    Py_BEGIN_ALLOW_THREADS;
    status = nd_hamming_file_open(&file, name, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
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
        return PyErr_Format(PyExc_IndexError, "there is no entry %u, or the file is damaged there",
                            entry);
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

        Py_BEGIN_ALLOW_THREADS;
        status = nd_hamming_file_add(name, &entries, &err);
        Py_END_ALLOW_THREADS;
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
    {"hamming_plan", hamming_plan, METH_O, "How it searches."},
    {"hamming_numbers", hamming_numbers, METH_VARARGS, "Numbers one after the other, as ids."},
    {"hamming_add", hamming_add, METH_VARARGS, "Add fingerprints."},
    {"hamming_remove", hamming_remove, METH_VARARGS, "Remove one fingerprint."},
    {"hamming_query", hamming_query, METH_VARARGS, "What is near each of many queries."},
    {"hamming_find", (PyCFunction)(void (*)(void))hamming_find, METH_FASTCALL,
     "What is near one fingerprint."},
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
