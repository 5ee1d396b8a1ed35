/*
 * frame_df.c - df tables: opened, counted of a frame, written; and given to recipes
 *
 * A table that is counted goes to a file without a name in the temporary folder, which is mapped.
 * A recipe borrows its tables: its capsule holds theirs for as long as it lives (recipe_object.c).
 */
#define _GNU_SOURCE /* O_TMPFILE */
#include "frames/frame_documents.h"

#include "base/memory.h"
#include "base/thread/pool.h"
#include "recipe/df_counter.h"

#include <neardup/df.h>

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPSULE "neardup.df"

static void free_df(PyObject *capsule)
{
    nd_df_close(PyCapsule_GetPointer(capsule, CAPSULE));
}

const struct nd_df *nd_py_df(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

static PyObject *wrap(PyObject *module, struct nd_df *df, const struct nd_error *err)
{
    PyObject *capsule = df ? PyCapsule_New(df, CAPSULE, free_df) : nd_py_raise(module, err);

    if (!capsule)
        nd_df_close(df);
    return capsule;
}

static PyObject *df_open(PyObject *module, PyObject *args)
{
    struct nd_error err;
    struct nd_df *df;
    PyObject *path;

    if (!PyArg_ParseTuple(args, "O&", PyUnicode_FSConverter, &path))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    df = nd_df_open(PyBytes_AsString(path), &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    return wrap(module, df, &err);
}

/* df_about(df): documents, distinct features, version, what is counted, whether texts are held. */
static PyObject *df_about(PyObject *module, PyObject *capsule)
{
    const struct nd_df *df = nd_py_df(capsule);

    (void)module;
    return df ? Py_BuildValue("KKKsN", (unsigned long long)nd_df_documents(df),
                              (unsigned long long)nd_df_terms(df),
                              (unsigned long long)nd_df_fingerprint(df), nd_df_features(df),
                              PyBool_FromLong(nd_df_has_texts(df)))
              : NULL;
}

static enum nd_status write_table(const struct nd_df *df, const char *path, const char *folder,
                                  struct nd_error *err)
{
    const struct nd_df_builder_params params = {
        .tmp = folder, .like = df, .keep_texts = (unsigned char)nd_df_has_texts(df)};
    struct nd_df_builder *builder = nd_df_builder_new(&params, err);
    enum nd_status status = builder ? nd_df_builder_add_table(builder, df, err) : err->status;

    if (status == ND_OK)
        status = nd_df_builder_write(&builder, 1, path, err);
    nd_df_builder_free(builder);
    return status;
}

/* df_write(df, path, folder): the bytes are those that the command writes. */
static PyObject *df_write(PyObject *module, PyObject *args)
{
    PyObject *capsule, *path, *folder;
    const struct nd_df *df;
    enum nd_status status = ND_OK;
    struct nd_error err;

    if (!PyArg_ParseTuple(args, "OO&O&", &capsule, PyUnicode_FSConverter, &path,
                          PyUnicode_FSConverter, &folder))
        return NULL;
    df = nd_py_df(capsule);
    if (df) {
        Py_BEGIN_ALLOW_THREADS;
        status = write_table(df, PyBytes_AsString(path), PyBytes_AsString(folder), &err);
        Py_END_ALLOW_THREADS;
    }
    Py_DECREF(path);
    Py_DECREF(folder);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    return df ? Py_NewRef(Py_None) : NULL;
}

/* ---- The terms ---- */

struct term_texts {
    struct nd_df_term *term;
};

static struct nd_view text_at(const void *context, size_t i)
{
    return ((const struct term_texts *)context)->term[i].text;
}

/* df_terms(df): columns of hashes, counts, and where it holds them of texts. */
static PyObject *df_terms(PyObject *module, PyObject *capsule)
{
    static const struct nd_py_column_type type[] = {{"hash", "L", 8, NULL, 0},
                                                    {"documents", "I", 4, NULL, 0}};
    const struct nd_df *df = nd_py_df(capsule);
    struct nd_df_cursor cursor = {0};
    struct term_texts texts;
    PyObject *columns, *column = NULL, *result = NULL;
    void *values[2];
    size_t n;

    (void)module;
    if (!df)
        return NULL;
    n = (size_t)nd_df_terms(df);
    texts.term = nd_alloc_array(n + 1, sizeof *texts.term);
    columns = texts.term ? nd_py_columns(type, 2, n, values, NULL) : PyErr_NoMemory();
    for (size_t i = 0; texts.term && columns && i < n && nd_df_next(df, &cursor, &texts.term[i]);
         i++) {
        ((uint64_t *)values[0])[i] = texts.term[i].hash;
        ((uint32_t *)values[1])[i] = texts.term[i].count;
    }
    if (columns)
        column = nd_df_has_texts(df) ? nd_py_text_column("feature", n, text_at, &texts)
                                     : Py_NewRef(Py_None);
    if (column)
        result = Py_BuildValue("OO", columns, column);
    Py_XDECREF(columns);
    Py_XDECREF(column);
    free(texts.term);
    return result;
}

/* ---- Counting ---- */

struct df_worker {
    struct nd_df_counter counter;
    struct nd_error error;
};

struct df_counting {
    PyObject *module;
    struct nd_py_documents documents;
    struct nd_pool *pool;
    struct df_worker *worker;
    unsigned n_workers;
};

static void count_one(void *context, size_t task, unsigned number)
{
    struct df_counting *c = context;
    struct df_worker *w = &c->worker[number];

    if (w->error.status == ND_OK)
        (void)nd_df_counter_add(&w->counter, &c->documents.document[task], &w->error);
}

static enum nd_status make_workers(struct df_counting *c, const struct nd_df_builder_params *params,
                                   unsigned threads, struct nd_error *err)
{
    enum { MEMORY = 256 << 20, LEAST = 1 << 20 };
    struct nd_df_builder_params own = *params;
    enum nd_status status = ND_OK;

    c->pool = nd_pool_new(threads, err);
    if (!c->pool)
        return err->status;
    c->n_workers = nd_pool_threads(c->pool);
    own.memory_bytes = MEMORY / c->n_workers < LEAST ? LEAST : MEMORY / c->n_workers;
    c->worker = calloc(c->n_workers, sizeof *c->worker);
    if (!c->worker)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (unsigned i = 0; status == ND_OK && i < c->n_workers; i++)
        status = nd_df_counter_init(&c->worker[i].counter, &own, err);
    return status;
}

static enum nd_status count_slice(struct df_counting *c, size_t from, size_t *to,
                                  struct nd_error *err)
{
    *to = nd_py_documents_fill(&c->documents, from);
    nd_pool_run(c->pool, *to - from, count_one, c);
    for (unsigned i = 0; i < c->n_workers; i++)
        if (c->worker[i].error.status != ND_OK) {
            *err = c->worker[i].error;
            return err->status;
        }
    return ND_OK;
}

static bool count_all(struct df_counting *c, PyObject *progress)
{
    struct nd_error err;

    for (size_t from = 0, to; from < c->documents.n; from = to) {
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        status = count_slice(c, from, &to, &err);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            nd_py_raise(c->module, &err);
        if (status != ND_OK || !nd_py_report(progress, to, c->documents.n))
            return false;
    }
    return true;
}

/* A file without a name; < 0: *err. */
static int open_nameless(const char *folder, struct nd_error *err)
{
    char path[4096];
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
        snprintf(path, sizeof path, "%s/neardup-XXXXXX", folder);
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    if (fd < 0)
        nd_fail(err, ND_EIO, "%s: %s", folder, strerror(errno));
    return fd;
}

/* Write what was counted, and map it.  NULL: *err. */
static struct nd_df *make_table(struct df_counting *c, const char *folder, struct nd_error *err)
{
    struct nd_df_builder **all = nd_alloc_array(c->n_workers, sizeof(struct nd_df_builder *));
    int fd = all ? open_nameless(folder, err) : -1;
    FILE *stream = fd >= 0 ? fdopen(fd, "wb+") : NULL;
    struct nd_df *df = NULL;
    char path[40];

    for (unsigned i = 0; all && i < c->n_workers; i++)
        all[i] = c->worker[i].counter.builder;
    if (!all || (fd >= 0 && !stream))
        nd_fail(err, ND_ENOMEM, "out of memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (stream && nd_df_builder_write_stream(all, c->n_workers, stream, err) == ND_OK)
        df = nd_df_open(path, err);
    if (stream)
        (void)fclose(stream);
    else if (fd >= 0)
        (void)close(fd);
    free(all);
    return df;
}

/*
 * df_count(recipe, features or None, frame, field columns, threads, whether to hold texts, folder,
 * progress): a table of the rows that have a text.
 */
static PyObject *df_count(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *frame_capsule, *fields, *progress, *folder, *capsule = NULL;
    struct df_counting c = {.module = module};
    struct nd_df_builder_params params = {0};
    struct nd_feature_params features;
    const struct nd_recipe *recipe;
    const char *which;
    unsigned threads;
    int keep_texts;
    struct nd_error err = {0};

    if (!PyArg_ParseTuple(args, "OzOO!IpO&O", &recipe_capsule, &which, &frame_capsule,
                          &PyTuple_Type, &fields, &threads, &keep_texts, PyUnicode_FSConverter,
                          &folder, &progress))
        return NULL;
    recipe = nd_py_recipe(recipe_capsule);
    c.documents.frame = recipe ? nd_py_frame(frame_capsule) : NULL;
    if (c.documents.frame && nd_py_documents_take_fields(&c.documents, fields) &&
        nd_py_documents_list(&c.documents)) {
        params = (struct nd_df_builder_params){.tmp = PyBytes_AsString(folder),
                                               .features = &features,
                                               .keep_texts = (unsigned char)keep_texts};
        if (nd_recipe_df_features(recipe, which, &features, NULL, &err) != ND_OK ||
            make_workers(&c, &params, threads, &err) != ND_OK) {
            nd_py_raise(module, &err);
        } else if (count_all(&c, progress)) {
            struct nd_df *df;

            Py_BEGIN_ALLOW_THREADS;
            df = make_table(&c, params.tmp, &err);
            Py_END_ALLOW_THREADS;
            capsule = wrap(module, df, &err);
        }
    }
    for (unsigned i = 0; c.worker && i < c.n_workers; i++)
        nd_df_counter_release(&c.worker[i].counter);
    free(c.worker);
    nd_pool_free(c.pool);
    nd_py_documents_release(&c.documents);
    Py_DECREF(folder);
    return capsule;
}

ND_PY_READS_FRAME(df_count, 2)

PyMethodDef nd_py_df_functions[] = {
    {"df_open", df_open, METH_VARARGS, "Open a df table."},
    {"df_about", df_about, METH_O, "What a df table holds."},
    {"df_write", df_write, METH_VARARGS, "Write a df table to a file."},
    {"df_terms", df_terms, METH_O, "The features of a df table."},
    {"df_count", df_count_reading, METH_VARARGS, "Count a df table of a frame."},
    {NULL, NULL, 0, NULL},
};
