/* live_file.c - a live index of texts, saved and opened */
#include "objects/live_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/restore.h"

/* ---- Saving ---- */

struct saving {
    const struct nd_py_side *side;
    struct nd_dedup_state state; /* n 0: the engine cannot be restored */
};

static struct nd_view describe(const void *context, uint32_t i, struct nd_saved_row *row)
{
    const struct saving *job = context;
    const struct nd_py_text *text = &job->side->text[i];

    *row = (struct nd_saved_row){.serial = text->serial,
                                 .bytes = text->bytes,
                                 .replaced = text->replaced,
                                 .is_gone = text->is_gone};
    if (job->state.n) {
        row->raw = job->state.raw[i];
        row->class_of = job->state.class_of[i];
    }
    return (struct nd_view){text->data, text->bytes};
}

static enum nd_status save(const struct nd_py_live *live, const char *path, struct nd_view ids,
                           struct nd_error *err)
{
    struct saving job = {.side = live->side};
    struct nd_saved_content content = {.ids = ids,
                                       .next_serial = live->next_serial,
                                       .n = (uint32_t)live->side->n,
                                       .describe = describe,
                                       .context = &job};
    enum nd_status status;
    char *recipe;
    size_t len;

    if (content.n && nd_dedup_is_restorable(live->side->dedup))
        job.state = nd_dedup_get_state(live->side->dedup, &content.index);
    status = nd_recipe_canonical(live->recipe, &recipe, &len, NULL, err);
    if (status != ND_OK)
        return status;
    content.recipe = (struct nd_view){recipe, len};
    status = nd_saved_write(path, &content, err);
    free(recipe);
    return status;
}

/* live_save(index, path, ids): write it to a file.  Queries go on meanwhile. */
static PyObject *live_save(PyObject *module, PyObject *args)
{
    struct nd_py_live *live;
    PyObject *capsule, *path;
    PyThreadState *state;
    enum nd_status status;
    struct nd_error err;
    struct nd_view ids;
    const char *name;
    Py_ssize_t len;

    if (!PyArg_ParseTuple(args, "OO&y#", &capsule, PyUnicode_FSConverter, &path, &ids.data, &len))
        return NULL;
    ids.len = (size_t)len;
    name = PyBytes_AsString(path);
    live = nd_py_live_of(module, capsule);
    if (!live || !nd_py_live_begin_change(live)) {
        Py_DECREF(path);
        return NULL;
    }
    state = nd_py_live_leave(live);
    nd_rwlock_read(live->lock);
    status = save(live, name, ids, &err);
    nd_rwlock_unlock(live->lock);
    nd_py_live_return(live, state);
    nd_py_live_end_change(live);
    Py_DECREF(path);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* ---- Opening ---- */

/* Its length is SIZE_MAX where the fields that the recipe reads do not stand behind it. */
static struct nd_py_text text_of(const struct nd_py_live *live, size_t i, size_t at)
{
    const struct nd_saved_texts *saved = &live->saved;
    const struct nd_saved_row *row = &saved->row[i];
    char *data = (char *)saved->map + saved->offset[ND_SAVED_TEXTS] + at;

    return (struct nd_py_text){
        .serial = row->serial,
        .data = data,
        .len = live->n_fields ? nd_py_live_take_fields(live, data, (size_t)row->bytes, live->field)
                              : (size_t)row->bytes,
        .bytes = (size_t)row->bytes,
        .replaced = row->replaced,
        .is_gone = row->is_gone,
        .is_mapped = true};
}

/* The engine as it was. */
static enum nd_status restore_engine(struct nd_py_live *live, const char *path,
                                     struct nd_error *err)
{
    const struct nd_saved_texts *saved = &live->saved;
    const uint32_t n = saved->header.n;
    uint64_t *raw = nd_alloc_array(n, sizeof *raw);
    uint32_t *class_of = nd_alloc_array(n, sizeof *class_of);
    struct nd_index *index = nd_saved_open_index(saved, path, err);
    enum nd_status status;

    if (index && raw && class_of) {
        for (uint32_t i = 0; i < n; i++) {
            raw[i] = saved->row[i].raw;
            class_of[i] = saved->row[i].class_of;
        }
        status =
            nd_dedup_restore(live->side->dedup, index, &(struct nd_dedup_state){n, raw, class_of},
                             saved->header.bytes[ND_SAVED_TEXTS], err);
        live->side->n = status == ND_OK ? n : 0;
    } else {
        status = index ? nd_fail(err, ND_ENOMEM, "out of memory for %u texts", n) : err->status;
        nd_index_free(index);
    }
    free(raw);
    free(class_of);
    return status;
}

/* How many of the texts that are there are the next slice. */
static size_t slice(const struct nd_py_side *s, size_t n)
{
    size_t bytes = 0, to = s->n;

    while (to < n && to - s->n < ND_PY_SLICE_ROWS && (to == s->n || bytes < ND_PY_SLICE_BYTES))
        bytes += s->text[to++].len;
    return to - s->n;
}

/* Texts, and an engine that knows them.  False: an exception is set. */
static bool fill(PyObject *module, struct nd_py_live *live, const char *path)
{
    const struct nd_saved_texts *saved = &live->saved;
    const size_t n = saved->header.n;
    struct nd_py_side *s = live->side;
    enum nd_status status = ND_OK;
    struct nd_error err;

    if (!ND_RESERVE(s->text, &s->capacity, n + 1))
        status = nd_fail(&err, ND_ENOMEM, "out of memory for %zu texts", n);
    for (size_t i = 0, at = 0; status == ND_OK && i < n; at += s->text[i++].bytes) {
        s->text[i] = text_of(live, i, at);
        if (s->text[i].len == SIZE_MAX)
            status = nd_fail(&err, ND_EINPUT, "%s: damaged: text %zu lacks its fields", path, i);
    }
    if (status == ND_OK && saved->header.bytes[ND_SAVED_INDEX]) {
        Py_BEGIN_ALLOW_THREADS;
        status = restore_engine(live, path, &err);
        Py_END_ALLOW_THREADS;
    }
    while (status == ND_OK && s->n < n) {
        Py_BEGIN_ALLOW_THREADS;
        status = nd_py_side_push(live, s, slice(s, n), &err);
        Py_END_ALLOW_THREADS;
        if (status == ND_OK && PyErr_CheckSignals() < 0)
            return false;
    }
    for (size_t i = 0; status == ND_OK && i < n; i++)
        if (s->text[i].is_gone) {
            status = nd_dedup_withdraw(s->dedup, i, &err);
            s->n_gone++;
        }
    if (status != ND_OK)
        nd_py_raise(module, &err);
    return status == ND_OK;
}

/* The ids as they were given, and the serial numbers of the texts that they are for. */
static PyObject *describe_opened(const struct nd_py_live *live, PyObject *capsule)
{
    const struct nd_py_side *s = live->side;
    struct nd_view ids = nd_saved_section(&live->saved, ND_SAVED_IDS);
    PyObject *serials =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((s->n - s->n_gone) * sizeof(uint64_t)));
    char *to = serials ? PyBytes_AsString(serials) : NULL;

    for (size_t i = 0; to && i < s->n; i++)
        if (!s->text[i].is_gone) {
            memcpy(to, &s->text[i].serial, sizeof(uint64_t));
            to += sizeof(uint64_t);
        }
    return serials ? Py_BuildValue("Oy#N", capsule, ids.data, (Py_ssize_t)ids.len, serials) : NULL;
}

static PyObject *open_file(PyObject *module, PyObject *recipe, const char *path, unsigned threads)
{
    PyObject *capsule = nd_py_live_new(module, recipe, threads), *result = NULL;
    struct nd_py_live *live = capsule ? nd_py_live_of(module, capsule) : NULL;
    enum nd_status status;
    struct nd_error err;

    if (!live)
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    status = nd_saved_open(path, 0, &live->saved, &err);
    Py_END_ALLOW_THREADS;
    live->next_serial = live->saved.header.next_serial;
    if (status != ND_OK)
        nd_py_raise(module, &err);
    else if (fill(module, live, path))
        result = describe_opened(live, capsule);
    Py_DECREF(capsule);
    return result;
}

/* live_open(recipe, path, threads): the index of a file, the ids that it was saved with, and the serial
 * numbers of its texts. */
static PyObject *live_open(PyObject *module, PyObject *args)
{
    PyObject *recipe, *path, *result;
    unsigned threads;

    if (!PyArg_ParseTuple(args, "OO&I", &recipe, PyUnicode_FSConverter, &path, &threads))
        return NULL;
    result = open_file(module, recipe, PyBytes_AsString(path), threads);
    Py_DECREF(path);
    return result;
}

/* live_file_recipe(path): the text of the recipe of an index in a file. */
static PyObject *live_file_recipe(PyObject *module, PyObject *argument)
{
    struct nd_saved_texts saved = {0};
    enum nd_status status;
    PyObject *path, *text;
    struct nd_error err;
    struct nd_view recipe;
    const char *name;

    if (!PyUnicode_FSConverter(argument, &path))
        return NULL;
    name = PyBytes_AsString(path);
    Py_BEGIN_ALLOW_THREADS;
    status = nd_saved_open(name, 1, &saved, &err);
    Py_END_ALLOW_THREADS;
    Py_DECREF(path);
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    recipe = nd_saved_section(&saved, ND_SAVED_RECIPE);
    text = PyUnicode_FromStringAndSize(recipe.data, (Py_ssize_t)recipe.len);
    nd_saved_close(&saved);
    return text;
}

PyMethodDef nd_py_live_file_functions[] = {
    {"live_save", live_save, METH_VARARGS, "Write an index to a file."},
    {"live_open", live_open, METH_VARARGS, "Open the index of a file."},
    {"live_file_recipe", live_file_recipe, METH_O, "The recipe of an index in a file."},
    {NULL, NULL, 0, NULL},
};
