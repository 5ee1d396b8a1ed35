/*
 * sketch_file_object.c - files of sketches: written from the rows of frames, and read a block at a
 * time
 *
 * The bytes are those of the command (docs/format/sketch-file.md).  A writer takes one frame after the
 * other; it sketches a slice of rows on all threads, and adds them in order.
 */
#define _GNU_SOURCE
#include "objects/sketch_file_object.h"
#include "frames/frame_documents.h"
#include "frames/output_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread/pool.h"
#include "record/document_row.h"

#define WRITER "neardup.sketch_writer"
#define READER "neardup.sketch_file"
#define APPENDER "neardup.sketch_appender"

/* ---- Writing ---- */

struct sketch_file_writer {
    const struct nd_recipe *recipe;          /* of the capsule in the context */
    const char *field[ND_SKETCH_FIELDS_MAX]; /* likewise */
    size_t n_fields;
    FILE *stream;
    struct nd_sketch_writer *writer; /* NULL: the file is complete, or it failed */
    uint32_t n_sources;
    struct nd_py_users users;
};

static void free_writer(PyObject *capsule)
{
    PyObject *kept = PyCapsule_GetContext(capsule);
    struct sketch_file_writer *w = PyCapsule_GetPointer(capsule, WRITER);

    nd_sketch_writer_free(w->writer);
    if (w->stream)
        (void)fclose(w->stream);
    free(w);
    Py_XDECREF(kept);
}

static struct sketch_file_writer *writer_of(PyObject *capsule)
{
    struct sketch_file_writer *w = PyCapsule_GetPointer(capsule, WRITER);

    if (w && !w->writer) {
        PyErr_SetString(PyExc_ValueError, "the sketch file was completed, or could not be written");
        return NULL;
    }
    return w;
}

FILE *nd_py_output_stream(int fd, struct nd_error *err)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *stream = own >= 0 ? fdopen(own, "wb") : NULL;

    if (!stream)
        nd_fail(err, ND_EIO, "the sketch file cannot be written: %s", strerror(errno));
    if (!stream && own >= 0)
        (void)close(own);
    return stream;
}

int nd_py_output_descriptor(PyObject *file)
{
    long number;

    if (!PyLong_Check(file))
        return nd_py_file_descriptor(file);
    number = PyLong_AsLong(file);
    if (number >= 0 && number <= INT_MAX)
        return (int)number;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "that is no descriptor of a file");
    return -1;
}

/* The names of fields in a tuple, which are its own.  False: an exception is set. */
static bool names_of(PyObject *module, PyObject *tuple, const char **field, size_t *n)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    struct nd_error err;

    *n = 0;
    if (count > ND_SKETCH_FIELDS_MAX) {
        (void)nd_fail(&err, ND_EINVAL, "fields: records keep at most %d", ND_SKETCH_FIELDS_MAX);
        (void)nd_py_raise(module, &err);
        return false;
    }
    for (; (Py_ssize_t)*n < count; ++*n) {
        field[*n] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, (Py_ssize_t)*n), NULL);
        if (!field[*n])
            return false;
    }
    return count >= 0;
}

/* sketch_writer_new(recipe, file of a publisher or descriptor, whether to keep shingles, names of
 * fields) */
static PyObject *sketch_writer_new(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *file_capsule, *fields, *capsule = NULL;
    struct nd_sketch_writer_options options = {0};
    struct sketch_file_writer *w;
    struct nd_error err;
    int keeps_shingles, fd;

    if (!PyArg_ParseTuple(args, "OOpO!", &recipe_capsule, &file_capsule, &keeps_shingles,
                          &PyTuple_Type, &fields) ||
        (fd = nd_py_output_descriptor(file_capsule)) < 0)
        return NULL;
    w = calloc(1, sizeof *w);
    if (!w)
        return PyErr_NoMemory();
    w->recipe =
        names_of(module, fields, w->field, &w->n_fields) ? nd_py_recipe(recipe_capsule) : NULL;
    if (w->recipe)
        options.keeps = nd_sketch_kept_of(w->recipe);
    options.fields = w->field;
    options.n_fields = w->n_fields;
    options.keeps.shingles &= keeps_shingles != 0;
    if (w->recipe && (w->stream = nd_py_output_stream(fd, &err)))
        w->writer = nd_sketch_writer_new(w->stream, w->recipe, &options, &err);
    if (w->recipe && !w->writer)
        nd_py_raise(module, &err);
    if (w->writer && (capsule = PyCapsule_New(w, WRITER, free_writer)))
        (void)PyCapsule_SetContext(capsule,
                                   Py_BuildValue("OOO", recipe_capsule, file_capsule, fields));
    if (!capsule) {
        nd_sketch_writer_free(w->writer);
        if (w->stream)
            (void)fclose(w->stream);
        free(w);
    }
    return capsule;
}

/* sketch_writer_source(writer, path, hash of the file, records): the rows before are of this one. */
static PyObject *sketch_writer_source(PyObject *module, PyObject *args)
{
    struct nd_sketch_source source = {.entry = NULL};
    unsigned long long bytes_hash, records;
    PyObject *capsule, *path;
    enum nd_status status = ND_OK;
    struct nd_error err;
    struct sketch_file_writer *w;

    if (!PyArg_ParseTuple(args, "OO&KK", &capsule, PyUnicode_FSConverter, &path, &bytes_hash,
                          &records))
        return NULL;
    w = writer_of(capsule);
    if (w && !nd_py_begin_change(&w->users))
        w = NULL;
    if (w) {
        source.path = PyBytes_AsString(path);
        source.bytes_hash = bytes_hash;
        source.records = records;
        status = nd_sketch_writer_add_source(w->writer, &source, &err);
        w->n_sources += status == ND_OK;
        nd_py_end_use(&w->users);
    }
    Py_DECREF(path);
    if (!w || status != ND_OK)
        return w ? nd_py_raise(module, &err) : NULL;
    Py_RETURN_NONE;
}

/* sketch_writer_finish(writer): all was added, and is in the file. */
static PyObject *sketch_writer_finish(PyObject *module, PyObject *capsule)
{
    struct sketch_file_writer *w = writer_of(capsule);
    enum nd_status status;
    struct nd_error err;

    if (!w || !nd_py_begin_change(&w->users))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = nd_sketch_writer_finish(w->writer, &err);
    nd_sketch_writer_free(w->writer);
    w->writer = NULL;
    if (fclose(w->stream) != 0 && status == ND_OK)
        status = nd_fail(&err, ND_EIO, "the sketch file cannot be written: %s", strerror(errno));
    w->stream = NULL;
    Py_END_ALLOW_THREADS;
    nd_py_end_use(&w->users);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* ---- The rows of a frame ---- */

/* The working memory of one thread, and why it failed. */
struct pack_worker {
    struct nd_document_rows rows;
    struct nd_error error;
};

struct rows_added {
    PyObject *module;
    struct sketch_file_writer *writer;
    struct nd_py_documents documents;
    const struct nd_py_column *id; /* NULL: none */
    const char *places;            /* of each row its line and its offset, 8 bytes each; NULL: */
    unsigned long long first_line; /* the rows are lines from this one on */
    struct nd_pool *pool;
    struct pack_worker *worker;
    unsigned n_workers;
    struct nd_packed_row *packed; /* of each row of a slice */
    size_t from;                  /* where the slice begins in the order */
};

static void set_place(const struct rows_added *a, uint64_t row, struct nd_sketch_row *to)
{
    to->source = a->writer->n_sources;
    to->line = a->first_line + row;
    if (a->places) {
        memcpy(&to->line, a->places + 16 * row, sizeof to->line);
        memcpy(&to->offset, a->places + 16 * row + 8, sizeof to->offset);
    }
}

static void set_id(const struct rows_added *a, uint64_t row, struct nd_document *document)
{
    if (!a->id || !a->id->value[row].data || a->id->value[row].len == 0)
        return;
    document->id = a->id->value[row];
    document->id_kind = a->id->is_raw && a->id->is_raw[row] ? ND_ID_RAW : ND_ID_STRING;
}

static void pack_one(void *context, size_t task, unsigned number)
{
    struct rows_added *a = context;
    struct pack_worker *w = &a->worker[number];
    struct nd_document *document = &a->documents.document[task];
    uint64_t row = a->documents.order[a->from + task], replaced[ND_PY_FIELDS_MAX];
    struct nd_sketch_row to = {.offset = 0};

    if (w->error.status != ND_OK)
        return;
    set_place(a, row, &to);
    set_id(a, row, document);
    for (size_t i = 0; i < a->documents.n_fields; i++)
        replaced[i] = nd_py_column_replaced(a->documents.field[i], row);
    document->fields_replaced = replaced;
    if (nd_document_rows_make(&w->rows, document, &to, &w->error) == ND_OK)
        (void)nd_sketch_row_pack(a->writer->writer, &to, w->rows.scratch, &a->packed[task],
                                 &w->error);
}

static enum nd_status add_slice(struct rows_added *a, size_t from, size_t *to, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    *to = nd_py_documents_fill(&a->documents, from);
    a->from = from;
    nd_pool_run(a->pool, *to - from, pack_one, a);
    for (unsigned i = 0; i < a->n_workers; i++)
        if (a->worker[i].error.status != ND_OK) {
            *err = a->worker[i].error;
            return err->status;
        }
    for (size_t i = 0; status == ND_OK && i < *to - from; i++)
        status = nd_sketch_writer_add(a->writer->writer, &a->packed[i], err);
    return status;
}

static bool make_workers(struct rows_added *a, unsigned threads)
{
    struct nd_error err;
    bool is_good;

    a->pool = nd_pool_new(threads, &err);
    is_good = a->pool != NULL;
    a->n_workers = is_good ? nd_pool_threads(a->pool) : 0;
    a->worker = calloc(a->n_workers + (size_t)1, sizeof *a->worker);
    a->packed = calloc(ND_PY_SLICE_ROWS, sizeof *a->packed);
    if (!a->worker || !a->packed)
        is_good = nd_fail(&err, ND_ENOMEM, "out of memory") == ND_OK;
    for (unsigned i = 0; is_good && i < a->n_workers; i++) {
        is_good = nd_document_rows_init(&a->worker[i].rows, a->writer->recipe, &err);
        memcpy(a->worker[i].rows.field, a->writer->field, sizeof a->writer->field);
        a->worker[i].rows.n_fields = a->writer->n_fields;
    }
    if (!is_good)
        nd_py_raise(a->module, &err);
    return is_good;
}

static void release(struct rows_added *a)
{
    for (unsigned i = 0; a->worker && i < a->n_workers; i++)
        nd_document_rows_release(&a->worker[i].rows);
    for (size_t i = 0; a->packed && i < ND_PY_SLICE_ROWS; i++)
        nd_packed_row_release(&a->packed[i]);
    free(a->worker);
    free(a->packed);
    nd_pool_free(a->pool);
    nd_py_documents_release(&a->documents);
}

static bool add_all(struct rows_added *a, PyObject *progress)
{
    struct nd_error err;

    for (size_t from = 0, to; from < a->documents.n; from = to) {
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        status = add_slice(a, from, &to, &err);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            nd_py_raise(a->module, &err);
        if (status != ND_OK || !nd_py_report(progress, to, a->documents.n))
            return false;
    }
    return true;
}

/* Whether the places are as many as the rows.  False: an exception is set. */
static bool take_places(struct rows_added *a, PyObject *places)
{
    Py_ssize_t n;
    char *data;

    if (places == Py_None)
        return true;
    if (PyBytes_AsStringAndSize(places, &data, &n) < 0)
        return false;
    if ((size_t)n != 16 * a->documents.frame->n_rows) {
        PyErr_SetString(PyExc_ValueError, "each row has a line and an offset");
        return false;
    }
    a->places = data;
    return true;
}

/*
 * sketch_writer_add(writer, frame, column of ids, field columns, first line, places or None, threads,
 * progress): the rows that have a text; how many there were.  After a failure the file cannot be
 * completed.
 */
static PyObject *sketch_writer_add(PyObject *module, PyObject *args)
{
    PyObject *capsule, *frame_capsule, *fields, *places, *progress;
    struct rows_added a = {.module = module};
    unsigned id_column, threads;
    bool is_added = false;

    if (!PyArg_ParseTuple(args, "OOIO!KOIO", &capsule, &frame_capsule, &id_column, &PyTuple_Type,
                          &fields, &a.first_line, &places, &threads, &progress) ||
        !(a.writer = writer_of(capsule)))
        return NULL;
    a.documents.frame = nd_py_frame(frame_capsule);
    if (!a.documents.frame || !nd_py_begin_change(&a.writer->users))
        return NULL;
    a.id = nd_py_column_at(a.documents.frame, id_column);
    if (take_places(&a, places) && nd_py_documents_take_fields(&a.documents, fields) &&
        nd_py_documents_list(&a.documents) && make_workers(&a, threads)) {
        is_added = add_all(&a, progress);
        if (!is_added) { /* some rows are in */
            nd_sketch_writer_free(a.writer->writer);
            a.writer->writer = NULL;
        }
    }
    nd_py_end_use(&a.writer->users);
    release(&a);
    return is_added ? PyLong_FromSize_t(a.documents.n) : NULL;
}

ND_PY_READS_FRAME(sketch_writer_add, 1)

/* ---- Reading ---- */

static void close_reader(PyObject *capsule)
{
    nd_sketch_file_close(PyCapsule_GetPointer(capsule, READER));
}

const struct nd_sketch_file *nd_py_sketch_file(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, APPENDER))
        return nd_sketch_appender_file(nd_py_sketch_appender(capsule));
    return PyCapsule_GetPointer(capsule, READER);
}

struct nd_sketch_appender *nd_py_sketch_appender(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, APPENDER);
}

static void close_appender(PyObject *capsule)
{
    nd_sketch_appender_close(PyCapsule_GetPointer(capsule, APPENDER));
}

/* sketch_appender_open(path, recipe, names of fields that a new file keeps): nobody else can add to it
 * meanwhile. */
static PyObject *sketch_appender_open(PyObject *module, PyObject *args)
{
    struct nd_sketch_writer_options create = {0};
    struct nd_sketch_appender *appender = NULL;
    PyObject *path, *recipe_capsule, *fields, *capsule = NULL;
    const char *field[ND_SKETCH_FIELDS_MAX];
    const struct nd_recipe *recipe;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "O&OO!", PyUnicode_FSConverter, &path, &recipe_capsule,
                          &PyTuple_Type, &fields))
        return NULL;
    recipe =
        names_of(module, fields, field, &create.n_fields) ? nd_py_recipe(recipe_capsule) : NULL;
    create.fields = field;
    if (recipe) {
        create.keeps = nd_sketch_kept_of(recipe);
        appender = nd_sketch_appender_open(PyBytes_AsString(path), recipe, &create, &err);
        capsule = appender ? PyCapsule_New(appender, APPENDER, close_appender)
                           : nd_py_raise(module, &err);
    }
    if (!capsule)
        nd_sketch_appender_close(appender);
    Py_DECREF(path);
    return capsule;
}

static PyObject *sketch_file_open(PyObject *module, PyObject *args)
{
    struct nd_sketch_file *file;
    PyObject *path, *capsule;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    file = nd_sketch_file_open(PyBytes_AsString(path), &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    capsule = file ? PyCapsule_New(file, READER, close_reader) : nd_py_raise(module, &err);
    if (!capsule)
        nd_sketch_file_close(file);
    return capsule;
}

static PyObject *names_kept(const struct nd_sketch_file_info *info)
{
    PyObject *names = PyTuple_New((Py_ssize_t)info->n_fields);

    for (unsigned i = 0; names && i < info->n_fields; i++) {
        PyObject *name = PyUnicode_DecodeUTF8(info->field[i], (Py_ssize_t)strlen(info->field[i]),
                                              "surrogateescape");

        if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(names);
    }
    return names;
}

static PyObject *words_kept(const struct nd_sketch_file_info *info)
{
    PyObject *words = PyTuple_New((Py_ssize_t)info->n_signatures);

    for (unsigned i = 0; words && i < info->n_signatures; i++) {
        PyObject *number = PyLong_FromUnsignedLong(info->signature[i].words);

        if (!number || PyTuple_SetItem(words, (Py_ssize_t)i, number) < 0)
            Py_CLEAR(words);
    }
    return words;
}

/* sketch_file_info(file): the recipe's text, its fingerprint, generation, documents, blocks, bits of a
 * fingerprint, whether there are shingles, bytes, the names of fields, words of each signature. */
static PyObject *sketch_file_info(PyObject *module, PyObject *capsule)
{
    const struct nd_sketch_file *file = nd_py_sketch_file(capsule);
    const struct nd_sketch_file_info *info = file ? nd_sketch_file_info(file) : NULL;

    (void)module;
    return info ? Py_BuildValue("s#KKKIINKNN", info->recipe.data, (Py_ssize_t)info->recipe.len,
                                (unsigned long long)info->recipe_fingerprint,
                                (unsigned long long)info->generation,
                                (unsigned long long)info->documents, info->blocks,
                                nd_sketch_fingerprint_bits(info),
                                PyBool_FromLong(info->keeps.shingles),
                                (unsigned long long)info->bytes, names_kept(info), words_kept(info))
                : NULL;
}

/* sketch_file_sources(file): of each its path, its name in an archive or None, hash, records. */
static PyObject *sketch_file_sources(PyObject *module, PyObject *capsule)
{
    const struct nd_sketch_file *file = nd_py_sketch_file(capsule);
    PyObject *list = file ? PyList_New(0) : NULL;
    const struct nd_sketch_source *source;

    (void)module;
    for (uint32_t i = 0; list && (source = nd_sketch_file_source(file, i)); i++) {
        PyObject *entry =
            source->entry ? PyUnicode_DecodeFSDefault(source->entry) : Py_NewRef(Py_None);
        PyObject *path = PyUnicode_DecodeFSDefault(source->path);
        PyObject *row = path && entry ? Py_BuildValue("OOKK", path, entry,
                                                      (unsigned long long)source->bytes_hash,
                                                      (unsigned long long)source->records)
                                      : NULL;

        if (!row || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(path);
        Py_XDECREF(entry);
        Py_XDECREF(row);
    }
    return list;
}

static struct nd_view id_at(const void *context, size_t i)
{
    const struct nd_sketch_row *row = &((const struct nd_sketch_block *)context)->rows[i];

    return row->id_kind == ND_ID_NONE ? (struct nd_view){NULL, 0} : row->id;
}

enum {
    TEXT_HASH,
    IDENTITY,
    SIMHASH,
    TOKENS,
    TEXT_BYTES,
    SHINGLES,
    SOURCE,
    OFFSET,
    LINE,
    LOW,
    N_COLUMNS
};

static void put_row(void *const *to, size_t i, const struct nd_sketch_row *row)
{
    const uint64_t number[] = {
        [IDENTITY] = row->identity,     [SIMHASH] = row->simhash, [TOKENS] = row->tokens,
        [TEXT_BYTES] = row->text_bytes, [OFFSET] = row->offset,   [LINE] = row->line};

    for (size_t c = 0; c < sizeof number / sizeof *number; c++)
        if (c != TEXT_HASH && c != SHINGLES && c != SOURCE)
            ((uint64_t *)to[c])[i] = number[c];
    memcpy((char *)to[TEXT_HASH] + 16 * i, row->text_hash, sizeof row->text_hash);
    memcpy((char *)to[LOW] + sizeof row->low * i, row->low, sizeof row->low);
    ((uint32_t *)to[SHINGLES])[i] = row->n_shingles;
    ((uint32_t *)to[SOURCE])[i] = row->source;
}

static PyObject *columns_of(const struct nd_sketch_block *block)
{
    static const struct nd_py_column_type type[N_COLUMNS] = {
        [TEXT_HASH] = {"text_hash", "w:16", 16, NULL, 0},
        [IDENTITY] = {"identity", "L", 8, NULL, 0},
        [SIMHASH] = {"simhash", "L", 8, NULL, 0},
        [TOKENS] = {"tokens", "L", 8, NULL, 0},
        [TEXT_BYTES] = {"text_bytes", "L", 8, NULL, 0},
        [SHINGLES] = {"n_shingles", "I", 4, NULL, 0},
        [SOURCE] = {"source", "I", 4, NULL, 0},
        [OFFSET] = {"offset", "L", 8, NULL, 0},
        [LINE] = {"line", "L", 8, NULL, 0},
        [LOW] = {"low", "w:128", ND_MINHASH_COUNT, NULL, 0},
    };
    void *values[N_COLUMNS];
    PyObject *columns = nd_py_columns(type, N_COLUMNS, block->n, values, NULL);

    for (size_t i = 0; columns && i < block->n; i++)
        put_row(values, i, &block->rows[i]);
    return columns;
}

/* A signature of one width: a number each, or a list of words; missing where it is rejected. */
static PyObject *words_of(const struct nd_sketch_block *block, unsigned signature, unsigned words,
                          const char *name)
{
    char format[16];
    const struct nd_py_column_type type = {name, words > 1 ? format : "L", 8 * (size_t)words,
                                           words > 1 ? "L" : NULL, words > 1 ? words : 0};
    PyObject *columns, *column;
    uint8_t *validity;
    void *values;

    PyOS_snprintf(format, sizeof format, "+w:%u", words);
    columns = nd_py_columns(&type, 1, block->n, &values, &validity);
    if (!columns)
        return NULL;
    for (size_t i = 0; i < block->n; i++) {
        const uint64_t *word = nd_sketch_row_words(&block->rows[i], signature);

        if (word) {
            memcpy((uint64_t *)values + words * i, word, 8 * (size_t)words);
            nd_py_set_bit(validity, i);
        }
    }
    column = Py_XNewRef(PyTuple_GetItem(columns, 0));
    Py_DECREF(columns);
    return column;
}

/* The numbers of a row in a column of lists: those of a signature, or its shingles. */
struct numbers {
    const uint64_t *word;
    size_t count;
};
enum { OF_SHINGLES = ND_RECIPE_SIGNATURES };

static struct numbers numbers_of(const struct nd_sketch_row *row, unsigned which)
{
    if (which == OF_SHINGLES)
        return (struct numbers){row->shingles, row->n_shingles};
    return row->signature[which].is_rejected
               ? (struct numbers){NULL, 0}
               : (struct numbers){row->signature[which].word, row->signature[which].count};
}

/* Lists of numbers; an empty one where a set of values is rejected. */
static PyObject *lists_of(const struct nd_sketch_block *block, unsigned which, const char *name)
{
    PyObject *ends = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(8 * (block->n + 1)));
    PyObject *values = NULL, *column = NULL;
    uint64_t n = 0;

    for (size_t i = 0; ends && i <= block->n; i++) {
        memcpy(PyBytes_AsString(ends) + 8 * i, &n, sizeof n);
        n += i < block->n ? numbers_of(&block->rows[i], which).count : 0;
    }
    if (ends)
        values = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(8 * n));
    n = 0;
    for (size_t i = 0; values && i < block->n; i++) {
        struct numbers list = numbers_of(&block->rows[i], which);

        if (list.count)
            memcpy(PyBytes_AsString(values) + 8 * n, list.word, 8 * list.count);
        n += list.count;
    }
    if (values)
        column = Py_BuildValue("ssOOsIO", name, "+L", values, Py_None, "L", 0, ends);
    Py_XDECREF(ends);
    Py_XDECREF(values);
    return column;
}

/* A column for each signature that has a name in the tuple; None for the others. */
static PyObject *signatures_of(const struct nd_sketch_block *block,
                               const struct nd_sketch_file_info *info, PyObject *names)
{
    PyObject *columns = PyTuple_New(PyTuple_Size(names));

    for (unsigned i = 0; columns && i < (unsigned)PyTuple_Size(names); i++) {
        PyObject *name = PyTuple_GetItem(names, (Py_ssize_t)i), *column = NULL;
        const char *text = name == Py_None ? NULL : PyUnicode_AsUTF8AndSize(name, NULL);

        if (name == Py_None)
            column = Py_NewRef(Py_None);
        else if (text)
            column = info->signature[i].words ? words_of(block, i, info->signature[i].words, text)
                                              : lists_of(block, i, text);
        if (!column || PyTuple_SetItem(columns, (Py_ssize_t)i, column) < 0)
            Py_CLEAR(columns);
    }
    return columns;
}

/* Id, the other columns, signatures, shingles; and how many rows. */
static PyObject *tables_of(const struct nd_sketch_block *block,
                           const struct nd_sketch_file_info *info, PyObject *names, bool shingles)
{
    PyObject *id = nd_py_text_column("id", block->n, id_at, block);
    PyObject *columns = id ? columns_of(block) : NULL;
    PyObject *signatures = columns ? signatures_of(block, info, names) : NULL;
    PyObject *lists = NULL, *result = NULL;

    if (signatures)
        lists = shingles ? lists_of(block, OF_SHINGLES, "shingles") : Py_NewRef(Py_None);
    if (lists)
        result = Py_BuildValue("OOOOn", id, columns, signatures, lists, (Py_ssize_t)block->n);
    Py_XDECREF(id);
    Py_XDECREF(columns);
    Py_XDECREF(signatures);
    Py_XDECREF(lists);
    return result;
}

/* sketch_file_read(file, block, whether with shingles, names of signatures): its columns and how many
 * rows; block -1: those of no rows.  A signature is read if it has a name, not None. */
static PyObject *sketch_file_read(PyObject *module, PyObject *args)
{
    struct nd_sketch_block block = {0};
    const struct nd_sketch_file *file;
    const struct nd_sketch_file_info *info;
    PyObject *capsule, *names, *result;
    enum nd_status status = ND_OK;
    struct nd_error err;
    long long number;
    int shingles;

    if (!PyArg_ParseTuple(args, "OLpO!", &capsule, &number, &shingles, &PyTuple_Type, &names) ||
        !(file = PyCapsule_GetPointer(capsule, READER)))
        return NULL;
    info = nd_sketch_file_info(file);
    if (shingles && !info->keeps.shingles)
        return PyErr_Format(PyExc_ValueError, "the file keeps no shingles");
    if (PyTuple_Size(names) != (Py_ssize_t)info->n_signatures)
        return PyErr_Format(PyExc_ValueError, "the file has %u signatures", info->n_signatures);
    if (number >= 0) {
        Py_BEGIN_ALLOW_THREADS;
        status =
            nd_sketch_file_read(file, (size_t)number,
                                shingles ? ND_SKETCH_FILE_ALL : ND_SKETCH_FILE_ROWS, &block, &err);
        Py_END_ALLOW_THREADS;
    }
    result = status == ND_OK ? tables_of(&block, info, names, shingles) : nd_py_raise(module, &err);
    nd_sketch_block_release(&block);
    return result;
}

PyMethodDef nd_py_sketch_file_functions[] = {
    {"sketch_writer_new", sketch_writer_new, METH_VARARGS, "A sketch file to write."},
    {"sketch_writer_source", sketch_writer_source, METH_VARARGS, "What the last rows were of."},
    {"sketch_writer_add", sketch_writer_add_reading, METH_VARARGS, "Sketch the rows of a frame."},
    {"sketch_writer_finish", sketch_writer_finish, METH_O, "The sketch file is whole."},
    {"sketch_appender_open", sketch_appender_open, METH_VARARGS, "Open a file to add to it."},
    {"sketch_file_open", sketch_file_open, METH_VARARGS, "Open a sketch file."},
    {"sketch_file_info", sketch_file_info, METH_O, "What a sketch file holds."},
    {"sketch_file_sources", sketch_file_sources, METH_O, "What its documents were read from."},
    {"sketch_file_read", sketch_file_read, METH_VARARGS, "The columns of a block."},
    {NULL, NULL, 0, NULL},
};
