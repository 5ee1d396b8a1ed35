/*
 * arrow_export.c - columns of Python for others, by the Arrow C data interface, without a copy
 *
 * A column is a tuple (name, format, values, validity or None, item format or None, width, offsets
 * or None): values, validity and offsets are bytes, laid out as Arrow does.  A column of somebody
 * else is a tuple (name, capsule of a schema, capsule of an array), which stay as they are.  What is
 * exported holds a reference to its tuple. A consumer may move a child out of its parent and release
 * it later, from any thread.
 */
#include "native.h"

#include "frames/arrow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void drop(void *object)
{
    PyGILState_STATE state;

    if (!object || !Py_IsInitialized())
        return;
    state = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(state);
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++) {
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
        free(schema->children[i]);
    }
    free(schema->children);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    drop(schema->private_data);
    schema->release = NULL;
}

/* Behind an array: its buffers, unless they are somebody else's, and whose they are. */
struct buffers {
    const void *address[3];
    PyObject *owner;
};

static void release_array(struct ArrowArray *array)
{
    struct buffers *buffers = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++) {
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
        free(array->children[i]);
    }
    free(array->children);
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    free(array->dictionary);
    if (buffers)
        drop(buffers->owner);
    free(buffers);
    array->release = NULL;
}

/* A schema and an array with room for children; owner NULL: they own nothing.  False: out of memory,
 * and both can be released. */
static bool begin(struct ArrowSchema *schema, struct ArrowArray *array, PyObject *owner,
                  const char *format, const char *name, size_t n_children)
{
    struct buffers *buffers = calloc(1, sizeof *buffers);

    *schema = (struct ArrowSchema){
        .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    *array = (struct ArrowArray){.n_buffers = 1, .release = release_array, .private_data = buffers};
    if (!buffers)
        return false;
    array->buffers = buffers->address;
    schema->private_data = Py_XNewRef(owner);
    buffers->owner = Py_XNewRef(owner);
    if (!n_children)
        return true;
    schema->children = calloc(n_children, sizeof(struct ArrowSchema *));
    array->children = calloc(n_children, sizeof(struct ArrowArray *));
    return schema->children && array->children;
}

/* A new child of both.  NULL: out of memory. */
static struct ArrowArray *add_child(struct ArrowSchema *schema, struct ArrowArray *array)
{
    struct ArrowSchema *child_schema = calloc(1, sizeof *child_schema);
    struct ArrowArray *child_array = calloc(1, sizeof *child_array);

    if (!child_schema || !child_array) {
        free(child_schema);
        free(child_array);
        return NULL;
    }
    schema->children[schema->n_children++] = child_schema;
    array->children[array->n_children++] = child_array;
    return child_array;
}

/* The bytes of a value of a format "w:16"; 0: it is none. */
static int64_t width_of(const char *format)
{
    int64_t width = 0;

    if (format[0] != 'w' || format[1] != ':')
        return 0;
    for (const char *at = format + 2; *at; at++) {
        if (*at < '0' || *at > '9' || width > 1 << 16)
            return 0;
        width = 10 * width + (*at - '0');
    }
    return width;
}

/* The bytes that n values of a format take; -1: it is not one of ours. */
static int64_t bytes_of(const char *format, int64_t n)
{
    static const char sizes[] = "c1C1s2S2i4I4f4l8L8g8";
    const char *at = format[0] && !format[1] ? strchr("cCsSiIflLg", format[0]) : NULL;
    int64_t width = !strcmp(format, "tdD")         ? 4
                    : !strncmp(format, "tsu:", 4)  ? 8
                    : !strncmp(format, "d:38,", 5) ? 16
                                                   : width_of(format);

    if (!strcmp(format, "b"))
        return (n + 7) / 8;
    if (width)
        return n <= INT64_MAX / width ? n * width : -1;
    return at ? n * (strchr(sizes, format[0])[1] - '0') : -1;
}

/* Whether a format is that of lists of so many items. */
static bool is_list(const char *format, Py_ssize_t width)
{
    char expected[16];

    if (width < 1 || width > 1 << 16)
        return false;
    PyOS_snprintf(expected, sizeof expected, "+w:%d", (int)width);
    return !strcmp(format, expected);
}

/* Whether offsets lead through texts of so many bytes. */
static bool are_offsets(const char *offsets, Py_ssize_t n_bytes, int64_t length, Py_ssize_t texts)
{
    int64_t before = 0, end;

    if (n_bytes / 8 < length + 1)
        return false;
    for (int64_t i = 0; i <= length; i++) {
        memcpy(&end, offsets + 8 * i, sizeof end);
        if (end < before || end > texts)
            return false;
        before = end;
    }
    return true;
}

static bool fail_column(const char *name)
{
    PyErr_Format(PyExc_ValueError, "column '%s' is not laid out as its format says", name);
    return false;
}

/* The items of a list, as the only child of both. */
static bool make_items(PyObject *column, const char *item, const char *bytes, int64_t length,
                       struct ArrowSchema *schema, struct ArrowArray *array)
{
    array = add_child(schema, array);
    if (!array || !begin(schema->children[0], array, column, item, "item", 0)) {
        PyErr_NoMemory();
        return false;
    }
    array->length = length;
    array->n_buffers = 2;
    array->buffers[1] = bytes;
    return true;
}

/* A column of texts, or of lists, whose values lie between offsets. */
static bool make_variable(PyObject *column, const char *name, const char *format, const char *item,
                          PyObject *values, PyObject *offsets, int64_t length,
                          struct ArrowSchema *schema, struct ArrowArray *array)
{
    int64_t size = item ? bytes_of(item, 1) : 1, n_items;
    Py_ssize_t n_values, n;
    char *bytes, *ends;

    if (PyBytes_AsStringAndSize(values, &bytes, &n_values) < 0 ||
        PyBytes_AsStringAndSize(offsets, &ends, &n) < 0)
        return false;
    if ((strcmp(format, item ? "+L" : "U") != 0 && (item || strcmp(format, "Z") != 0)) ||
        size < 1 || (item && !strcmp(item, "b")) || !are_offsets(ends, n, length, n_values / size))
        return fail_column(name);
    array->buffers[1] = ends;
    array->n_buffers = item ? 2 : 3;
    if (!item) {
        array->buffers[2] = bytes;
        return true;
    }
    memcpy(&n_items, ends + 8 * length, sizeof n_items);
    return make_items(column, item, bytes, n_items, schema, array);
}

/* ---- Columns of somebody else ---- */

static void free_schema_capsule(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

    if (schema && schema->release)
        schema->release(schema);
    free(schema);
}

static void free_array_capsule(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");

    if (array && array->release)
        array->release(array);
    free(array);
}

/* Describe the type of `from` once more, under this name.  False: out of memory. */
static bool lend_schema(PyObject *owner, const struct ArrowSchema *from, const char *name,
                        struct ArrowSchema *to)
{
    *to = *from;
    to->name = name;
    to->children = NULL;
    to->dictionary = NULL;
    to->n_children = 0;
    to->release = release_schema;
    to->private_data = Py_NewRef(owner);
    if (from->n_children && !(to->children = calloc((size_t)from->n_children, sizeof(void *))))
        return false;
    for (int64_t i = 0; i < from->n_children; i++) {
        struct ArrowSchema *child = calloc(1, sizeof *child);

        if (!child)
            return false;
        to->children[to->n_children++] = child;
        if (!lend_schema(owner, from->children[i], from->children[i]->name, child))
            return false;
    }
    if (!from->dictionary)
        return true;
    to->dictionary = calloc(1, sizeof *to->dictionary);
    return to->dictionary &&
           lend_schema(owner, from->dictionary, from->dictionary->name, to->dictionary);
}

/* Show the values of `from` once more.  False: out of memory. */
static bool lend_array(PyObject *owner, const struct ArrowArray *from, struct ArrowArray *to)
{
    struct buffers *buffers = calloc(1, sizeof *buffers);

    *to = *from;
    to->children = NULL;
    to->dictionary = NULL;
    to->n_children = 0;
    to->release = release_array;
    to->private_data = buffers;
    if (!buffers)
        return false;
    buffers->owner = Py_NewRef(owner);
    if (from->n_children && !(to->children = calloc((size_t)from->n_children, sizeof(void *))))
        return false;
    for (int64_t i = 0; i < from->n_children; i++) {
        struct ArrowArray *child = calloc(1, sizeof *child);

        if (!child)
            return false;
        to->children[to->n_children++] = child;
        if (!lend_array(owner, from->children[i], child))
            return false;
    }
    if (!from->dictionary)
        return true;
    to->dictionary = calloc(1, sizeof *to->dictionary);
    return to->dictionary && lend_array(owner, from->dictionary, to->dictionary);
}

/* Lend the first rows of a column that somebody else has made.  False: an exception is set, and both
 * can be released. */
static bool lend_column(PyObject *column, int64_t length, struct ArrowSchema *schema,
                        struct ArrowArray *array)
{
    PyObject *schema_capsule, *array_capsule;
    const struct ArrowSchema *from_schema;
    const struct ArrowArray *from_array;
    const char *name;

    if (!PyArg_ParseTuple(column, "sOO", &name, &schema_capsule, &array_capsule) ||
        !(from_schema = PyCapsule_GetPointer(schema_capsule, "arrow_schema")) ||
        !(from_array = PyCapsule_GetPointer(array_capsule, "arrow_array")))
        return false;
    if (!from_schema->release || !from_array->release || length < 0 ||
        length > from_array->length) {
        PyErr_Format(PyExc_ValueError, "column '%s' was given away, or has fewer rows", name);
        return false;
    }
    if (!lend_schema(column, from_schema, name, schema) || !lend_array(column, from_array, array)) {
        PyErr_NoMemory();
        return false;
    }
    if (array->length != length)
        array->null_count = -1; /* not counted */
    array->length = length;
    return true;
}

/* stream_array(stream): the only array of an Arrow stream, as two capsules: a schema and an array. */
static PyObject *stream_array(PyObject *module, PyObject *capsule)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    struct ArrowArray *array = calloc(1, sizeof *array), more = {0};
    PyObject *schema_capsule = NULL, *array_capsule = NULL, *pair = NULL;

    if (!schema || !array)
        PyErr_NoMemory();
    else if (!stream || !stream->release || !stream->get_schema || !stream->get_next)
        PyErr_SetString(PyExc_ValueError, "the stream was read already");
    else if (stream->get_schema(stream, schema) || stream->get_next(stream, array) ||
             !array->release || stream->get_next(stream, &more) || more.release)
        PyErr_SetString(state->error, "reading the data failed: it is not one array");
    if (more.release)
        more.release(&more);
    if (!PyErr_Occurred() &&
        (schema_capsule = PyCapsule_New(schema, "arrow_schema", free_schema_capsule)))
        schema = NULL;
    if (schema_capsule && (array_capsule = PyCapsule_New(array, "arrow_array", free_array_capsule)))
        array = NULL;
    if (array_capsule)
        pair = PyTuple_Pack(2, schema_capsule, array_capsule);
    Py_XDECREF(schema_capsule);
    Py_XDECREF(array_capsule);
    if (schema && schema->release)
        schema->release(schema);
    if (array && array->release)
        array->release(array);
    free(schema);
    free(array);
    return pair;
}

/* A column as a schema and an array.  False: an exception is set, and both can be released. */
static bool make_column(PyObject *column, int64_t length, struct ArrowSchema *schema,
                        struct ArrowArray *array)
{
    const char *name, *format, *item;
    PyObject *values, *validity, *offsets;
    Py_ssize_t width, n = 0;
    char *bytes;

    if (!PyTuple_Check(column)) {
        PyErr_SetString(PyExc_TypeError, "a column is a tuple");
        return false;
    }
    if (PyTuple_Size(column) == 3)
        return lend_column(column, length, schema, array);
    if (!PyArg_ParseTuple(column, "ssO!OznO", &name, &format, &PyBytes_Type, &values, &validity,
                          &item, &width, &offsets))
        return false;
    if (!begin(schema, array, column, format, name, item ? 1 : 0)) {
        PyErr_NoMemory();
        return false;
    }
    array->length = length;
    if (length < 0 || length > PY_SSIZE_T_MAX / 16)
        return fail_column(name);
    if (validity != Py_None) {
        if (PyBytes_AsStringAndSize(validity, &bytes, &n) < 0)
            return false;
        if (n < (length + 7) / 8) {
            PyErr_SetString(PyExc_ValueError, "the validity of a column is too short");
            return false;
        }
        array->buffers[0] = bytes;
        array->null_count = -1; /* not counted */
    }
    if (offsets != Py_None)
        return make_variable(column, name, format, item, values, offsets, length, schema, array);
    if (PyBytes_AsStringAndSize(values, &bytes, &n) < 0)
        return false;
    if (item ? !is_list(format, width) || bytes_of(item, 1) < 0 || length > n ||
                   bytes_of(item, length * width) > n
             : bytes_of(format, length) < 0 || bytes_of(format, length) > n)
        return fail_column(name);
    if (item)
        return make_items(column, item, bytes, length * width, schema, array);
    array->n_buffers = 2;
    array->buffers[1] = bytes;
    return true;
}

static bool make_struct(PyObject *columns, int64_t length, struct ArrowSchema *schema,
                        struct ArrowArray *array)
{
    Py_ssize_t n = PyTuple_Size(columns);

    if (!begin(schema, array, NULL, "+s", "", (size_t)n)) {
        PyErr_NoMemory();
        return false;
    }
    schema->flags = 0;
    array->length = length;
    for (Py_ssize_t i = 0; i < n; i++) {
        struct ArrowArray *child = add_child(schema, array);

        if (!child) {
            PyErr_NoMemory();
            return false;
        }
        if (!make_column(PyTuple_GetItem(columns, i), length, schema->children[i], child))
            return false;
    }
    return true;
}

/* Whether there are as many columns and rows as there can be; false: an exception is set. */
static bool is_count(PyObject *columns, long long length, bool is_one)
{
    if (length >= 0 && (!is_one || PyTuple_Size(columns) == 1))
        return true;
    PyErr_SetString(PyExc_ValueError,
                    length < 0 ? "the number of rows is negative" : "one column is expected");
    return false;
}

/*
 * table_export(columns, length, is_one): a tuple of two capsules, "arrow_schema" and "arrow_array":
 * a struct of the columns, or with is_one the only one.
 */
static PyObject *table_export(PyObject *module, PyObject *args)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    struct ArrowArray *array = calloc(1, sizeof *array);
    PyObject *columns, *schema_capsule = NULL, *array_capsule = NULL, *pair = NULL;
    long long length;
    bool is_made = false;
    int is_one;

    (void)module;
    if (!schema || !array)
        PyErr_NoMemory();
    else if (PyArg_ParseTuple(args, "O!Lp", &PyTuple_Type, &columns, &length, &is_one) &&
             is_count(columns, length, is_one))
        is_made = is_one ? make_column(PyTuple_GetItem(columns, 0), length, schema, array)
                         : make_struct(columns, length, schema, array);
    if (is_made && (schema_capsule = PyCapsule_New(schema, "arrow_schema", free_schema_capsule)))
        schema = NULL;
    if (schema_capsule && (array_capsule = PyCapsule_New(array, "arrow_array", free_array_capsule)))
        array = NULL;
    if (array_capsule)
        pair = PyTuple_Pack(2, schema_capsule, array_capsule);
    Py_XDECREF(schema_capsule);
    Py_XDECREF(array_capsule);
    if (schema && schema->release)
        schema->release(schema);
    if (array && array->release)
        array->release(array);
    free(schema);
    free(array);
    return pair;
}

/* Bytes that are all 0, and where they are. */
static PyObject *new_bytes(size_t n, void **data)
{
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)n);

    if (bytes)
        memset(*data = PyBytes_AsString(bytes), 0, n);
    return bytes;
}

PyObject *nd_py_columns(const struct nd_py_column_type *type, size_t n, size_t rows, void **values,
                        uint8_t **validity)
{
    PyObject *columns = PyTuple_New((Py_ssize_t)n), *valid;
    void *bits = NULL;

    valid = validity ? new_bytes(rows / 8 + 1, &bits) : Py_NewRef(Py_None);
    if (validity)
        *validity = bits;
    for (size_t i = 0; columns && valid && i < n; i++) {
        size_t size = type[i].bytes ? rows * type[i].bytes : rows / 8;
        PyObject *bytes = new_bytes(size + 1, &values[i]);
        PyObject *column = bytes ? Py_BuildValue("ssOOzIO", type[i].name, type[i].format, bytes,
                                                 valid, type[i].item, type[i].width, Py_None)
                                 : NULL;

        Py_XDECREF(bytes);
        if (!column || PyTuple_SetItem(columns, (Py_ssize_t)i, column) < 0)
            Py_CLEAR(columns);
    }
    if (!valid)
        Py_CLEAR(columns);
    Py_XDECREF(valid);
    return columns;
}

PyObject *nd_py_text_column(const char *name, size_t rows,
                            struct nd_view (*at)(const void *context, size_t row),
                            const void *context)
{
    void *data, *offsets, *bits;
    PyObject *valid = new_bytes(rows / 8 + 1, &bits), *column = NULL, *bytes = NULL, *ends;
    size_t len = 0;

    ends = new_bytes((rows + 1) * sizeof(int64_t), &offsets);
    for (size_t i = 0; i < rows; i++)
        len += at(context, i).len;
    if (valid && ends)
        bytes = new_bytes(len, &data);
    len = 0;
    for (size_t i = 0; bytes && i < rows; i++) {
        struct nd_view view = at(context, i);

        if (view.data) {
            nd_py_set_bit(bits, i);
            memcpy((char *)data + len, view.data, view.len);
        }
        len += view.len;
        ((int64_t *)offsets)[i + 1] = (int64_t)len;
    }
    if (bytes)
        column = Py_BuildValue("ssOOzIO", name, "U", bytes, valid, NULL, 0, ends);
    Py_XDECREF(valid);
    Py_XDECREF(bytes);
    Py_XDECREF(ends);
    return column;
}

/* ---- Streams of batches ---- */

struct batches {
    PyObject *columns; /* of the schema: of any number of rows */
    PyObject *rest;    /* an iterator of (columns, how many rows) */
    char *failure;     /* what the last call failed for; NULL: out of memory */
};

/* Keep the message of the exception that is set. */
static void keep_failure(struct batches *batches)
{
    PyObject *type, *value, *trace, *text, *bytes = NULL;
    const char *message;

    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    text = value ? PyObject_Str(value) : NULL;
    if (text)
        bytes = PyUnicode_AsEncodedString(text, "utf-8", "replace");
    message = bytes ? PyBytes_AsString(bytes) : NULL;
    free(batches->failure);
    batches->failure = message ? strdup(message) : NULL;
    PyErr_Clear();
    Py_XDECREF(text);
    Py_XDECREF(bytes);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
}

/* Make the schema and the array; those that are not wanted are released. */
static bool make_batch(PyObject *columns, int64_t length, struct ArrowSchema *schema,
                       struct ArrowArray *array)
{
    struct ArrowSchema own_schema = {0};
    struct ArrowArray own_array = {0};
    bool is_made = make_struct(columns, length, &own_schema, &own_array);

    if (is_made && schema)
        *schema = own_schema;
    else if (own_schema.release)
        own_schema.release(&own_schema);
    if (is_made && array)
        *array = own_array;
    else if (own_array.release)
        own_array.release(&own_array);
    return is_made;
}

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *schema)
{
    struct batches *batches = stream->private_data;
    PyGILState_STATE state = PyGILState_Ensure();
    bool is_made = make_batch(batches->columns, 0, schema, NULL);

    if (!is_made)
        keep_failure(batches);
    PyGILState_Release(state);
    return is_made ? 0 : EIO;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *array)
{
    struct batches *batches = stream->private_data;
    PyGILState_STATE state = PyGILState_Ensure();
    PyObject *batch = PyIter_Next(batches->rest), *columns;
    bool is_good = !PyErr_Occurred();
    long long length;

    *array = (struct ArrowArray){0};
    if (batch)
        is_good = PyArg_ParseTuple(batch, "O!L", &PyTuple_Type, &columns, &length) &&
                  is_count(columns, length, false) && make_batch(columns, length, NULL, array);
    if (!is_good)
        keep_failure(batches);
    Py_XDECREF(batch);
    PyGILState_Release(state);
    return is_good ? 0 : EIO;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    const struct batches *batches = stream->private_data;

    return batches->failure ? batches->failure : "out of memory";
}

static void release_stream(struct ArrowArrayStream *stream)
{
    struct batches *batches = stream->private_data;

    drop(batches->columns);
    drop(batches->rest);
    free(batches->failure);
    free(batches);
    stream->release = NULL;
}

static void free_stream_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

/* table_stream(columns, batches): a capsule "arrow_array_stream" of what an iterable gives, pairs of
 * columns and of how many rows they have; the columns themselves name the types. */
static PyObject *table_stream(PyObject *module, PyObject *args)
{
    struct ArrowArrayStream *stream;
    struct batches *batches;
    PyObject *columns, *all, *rest, *capsule;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &columns, &all) ||
        !(rest = PyObject_GetIter(all)))
        return NULL;
    stream = calloc(1, sizeof *stream);
    batches = calloc(1, sizeof *batches);
    if (!stream || !batches) {
        free(stream);
        free(batches);
        Py_DECREF(rest);
        return PyErr_NoMemory();
    }
    *batches = (struct batches){Py_NewRef(columns), rest, NULL};
    *stream = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, release_stream,
                                        batches};
    capsule = PyCapsule_New(stream, "arrow_array_stream", free_stream_capsule);
    if (!capsule) {
        release_stream(stream);
        free(stream);
    }
    return capsule;
}

/* Bits, as Arrow has them, of bytes that are 0 or 1. */
static PyObject *pack_bits(PyObject *module, PyObject *flags)
{
    PyObject *bytes;
    void *bits;
    char *from;
    Py_ssize_t n;

    (void)module;
    if (PyBytes_AsStringAndSize(flags, &from, &n) < 0 ||
        !(bytes = new_bytes((size_t)n / 8 + 1, &bits)))
        return NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (from[i])
            nd_py_set_bit(bits, (size_t)i);
    return bytes;
}

PyMethodDef nd_py_export_functions[] = {
    {"table_stream", table_stream, METH_VARARGS, "Batches of columns as an Arrow stream."},
    {"pack_bits", pack_bits, METH_O, "Bytes of 0 and 1 as bits."},
    {"stream_array", stream_array, METH_O, "The only array of an Arrow stream."},
    {"table_export", table_export, METH_VARARGS, "Columns by the Arrow C data interface."},
    {NULL, NULL, 0, NULL},
};
