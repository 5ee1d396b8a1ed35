/*
 * output_files.c - files that appear together, once all are whole
 *
 * The rules and the work are those of the command (base/file/publish.h).  Python writes to a file
 * descriptor; what is not published goes with its capsule.
 */
#include "frames/output_files.h"

#include "base/file/publish.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CAPSULE "neardup.publisher"
#define FILE_CAPSULE "neardup.file"

struct claim {
    char *name;
    struct nd_file_mark replaced;
};

struct publisher {
    struct nd_publisher publisher;
    struct claim *claim;
    size_t n, capacity;
};

struct output_file {
    struct nd_temporary *temporary; /* NULL: it was handed over */
    enum nd_publish_stage stage;
    struct nd_file_mark replaced;
    int fd;
};

static void free_publisher(PyObject *capsule)
{
    struct publisher *p = PyCapsule_GetPointer(capsule, CAPSULE);

    nd_publisher_release(&p->publisher);
    for (size_t i = 0; i < p->n; i++)
        free(p->claim[i].name);
    free(p->claim);
    free(p);
}

static struct publisher *publisher_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

static PyObject *publisher_new(PyObject *module, PyObject *unused)
{
    struct publisher *p = calloc(1, sizeof *p);
    PyObject *capsule;

    (void)module, (void)unused;
    if (!p)
        return PyErr_NoMemory();
    capsule = PyCapsule_New(p, CAPSULE, free_publisher);
    if (!capsule)
        free(p);
    return capsule;
}

/* publisher_read(publisher, path): the run reads this file. */
static PyObject *publisher_read(PyObject *module, PyObject *args)
{
    PyObject *capsule, *path;
    struct nd_error err;
    enum nd_status status;
    struct publisher *p;

    if (!PyArg_ParseTuple(args, "OO&", &capsule, PyUnicode_FSConverter, &path))
        return NULL;
    p = publisher_of(capsule);
    status = p ? nd_publisher_read_path(&p->publisher, PyBytes_AsString(path), &err) : ND_OK;
    Py_DECREF(path);
    if (!p || status != ND_OK)
        return p ? nd_py_raise(module, &err) : NULL;
    Py_RETURN_NONE;
}

static enum nd_status claim(struct publisher *p, const char *name, bool may_replace,
                            struct nd_error *err)
{
    struct nd_file_mark replaced = {.inode = 0};
    enum nd_status status;

    if (!ND_RESERVE(p->claim, &p->capacity, p->n + 1) || !(p->claim[p->n].name = strdup(name)))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status =
        nd_publisher_claim(&p->publisher, p->claim[p->n].name, may_replace ? &replaced : NULL, err);
    if (status != ND_OK) {
        free(p->claim[p->n].name);
        return status;
    }
    p->claim[p->n++].replaced = replaced;
    return ND_OK;
}

/* publisher_claim(publisher, name, may replace): an output goes there; the number of the claim, and
 * whether it replaces a file that is read. */
static PyObject *publisher_claim(PyObject *module, PyObject *args)
{
    PyObject *capsule, *name;
    struct nd_error err;
    enum nd_status status;
    struct publisher *p;
    int may_replace;

    if (!PyArg_ParseTuple(args, "OO&p", &capsule, PyUnicode_FSConverter, &name, &may_replace))
        return NULL;
    p = publisher_of(capsule);
    status = p ? claim(p, PyBytes_AsString(name), may_replace, &err) : ND_OK;
    Py_DECREF(name);
    if (!p || status != ND_OK)
        return p ? nd_py_raise(module, &err) : NULL;
    return Py_BuildValue("nN", (Py_ssize_t)p->n - 1,
                         PyBool_FromLong(p->claim[p->n - 1].replaced.inode != 0));
}

static void free_file(PyObject *capsule)
{
    struct output_file *f = PyCapsule_GetPointer(capsule, FILE_CAPSULE);

    nd_temporary_discard(f->temporary);
    free(f);
}

/* publisher_open(publisher, number of the claim, is evidence): a file and its descriptor, which it
 * owns; None: it is no file, and to be written in place. */
static PyObject *publisher_open(PyObject *module, PyObject *args)
{
    struct publisher *p;
    struct nd_error err;
    struct output_file *f;
    PyObject *capsule;
    char *target;
    Py_ssize_t number;
    int is_evidence;

    if (!PyArg_ParseTuple(args, "Onp", &capsule, &number, &is_evidence) ||
        !(p = publisher_of(capsule)))
        return NULL;
    if (number < 0 || (size_t)number >= p->n)
        return PyErr_Format(PyExc_ValueError, "there is no such claim");
    if (nd_output_descriptor(p->claim[number].name) >= 0)
        Py_RETURN_NONE;
    if (nd_output_target(p->claim[number].name, &target, &err) != ND_OK)
        return nd_py_raise(module, &err);
    if (!target)
        Py_RETURN_NONE;
    f = calloc(1, sizeof *f);
    if (f)
        f->temporary = nd_temporary_create(target, &f->fd, &err);
    free(target);
    if (!f || !f->temporary) {
        if (!f)
            return PyErr_NoMemory();
        free(f);
        return nd_py_raise(module, &err);
    }
    f->stage = is_evidence ? ND_PUBLISH_EVIDENCE : ND_PUBLISH_RESULT;
    f->replaced = p->claim[number].replaced;
    capsule = PyCapsule_New(f, FILE_CAPSULE, free_file);
    if (!capsule) {
        nd_temporary_discard(f->temporary);
        free(f);
        return NULL;
    }
    return Py_BuildValue("Ni", capsule, f->fd);
}

int nd_py_file_descriptor(PyObject *capsule)
{
    const struct output_file *f = PyCapsule_GetPointer(capsule, FILE_CAPSULE);

    if (f && !f->temporary)
        PyErr_SetString(PyExc_ValueError, "the file was finished already");
    return f && f->temporary ? f->fd : -1;
}

/* publisher_finish(publisher, file): it is whole. */
static PyObject *publisher_finish(PyObject *module, PyObject *args)
{
    PyObject *capsule, *file_capsule;
    struct nd_error err;
    enum nd_status status;
    struct publisher *p;
    struct output_file *f;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &file_capsule) || !(p = publisher_of(capsule)) ||
        !(f = PyCapsule_GetPointer(file_capsule, FILE_CAPSULE)))
        return NULL;
    if (!f->temporary)
        return PyErr_Format(PyExc_ValueError, "the file was finished already");
    status = nd_temporary_finish(f->temporary, p->publisher.syncs, &err);
    if (status == ND_OK) {
        status = nd_publisher_add(&p->publisher, f->temporary, f->stage, &f->replaced, &err);
        f->temporary = NULL;
    }
    if (status != ND_OK)
        return nd_py_raise(module, &err);
    Py_RETURN_NONE;
}

/* publisher_publish(publisher): all whole files get their names; how many, and None or why not all
 * of them did. */
static PyObject *publisher_publish(PyObject *module, PyObject *capsule)
{
    struct publisher *p = publisher_of(capsule);
    size_t n_published = 0;
    struct nd_error err;

    (void)module;
    if (!p)
        return NULL;
    if (nd_publisher_publish(&p->publisher, &n_published, &err) != ND_OK)
        return Py_BuildValue("nN", (Py_ssize_t)n_published, PyUnicode_DecodeFSDefault(err.message));
    return Py_BuildValue("nO", (Py_ssize_t)n_published, Py_None);
}

/* file_hash(descriptor): XXH3 of all that it gives. */
static PyObject *file_hash(PyObject *module, PyObject *args)
{
    struct nd_hash_stream *hash = NULL;
    char *buffer = NULL;
    uint64_t value = 0;
    ssize_t n = -1;
    int fd;

    (void)module;
    if (!PyArg_ParseTuple(args, "i", &fd))
        return NULL;
    Py_BEGIN_ALLOW_THREADS;
    hash = nd_hash_stream_new();
    buffer = malloc(1 << 20);
    while (hash && buffer && (n = read(fd, buffer, 1 << 20)) > 0)
        nd_hash_stream_add(hash, buffer, (size_t)n);
    if (n == 0)
        value = nd_hash_stream_value(hash);
    nd_hash_stream_free(hash);
    free(buffer);
    Py_END_ALLOW_THREADS;
    if (!hash || !buffer)
        return PyErr_NoMemory();
    return n < 0 ? PyErr_SetFromErrno(PyExc_OSError) : PyLong_FromUnsignedLongLong(value);
}

PyMethodDef nd_py_publish_functions[] = {
    {"publisher_new", publisher_new, METH_NOARGS, "Files that appear together."},
    {"publisher_read", publisher_read, METH_VARARGS, "The run reads this file."},
    {"publisher_claim", publisher_claim, METH_VARARGS, "An output goes there."},
    {"publisher_open", publisher_open, METH_VARARGS, "A file to write to."},
    {"publisher_finish", publisher_finish, METH_VARARGS, "The file is whole."},
    {"publisher_publish", publisher_publish, METH_O, "All files get their names."},
    {"file_hash", file_hash, METH_VARARGS, "XXH3 of what a descriptor gives."},
    {NULL, NULL, 0, NULL},
};
