/* module.c - the extension module neardup._native: its functions, its exceptions */
#include "native.h"

#include <neardup/cpu.h>
#include <neardup/text.h>
#include <neardup/version.h>

#include <stdlib.h>

PyObject *nd_py_raise(PyObject *module, const struct nd_error *err)
{
    const struct nd_py_state *state = PyModule_GetState(module);
    PyObject *type = state->error;

    switch (err->status) {
    case ND_ENOMEM: type = PyExc_MemoryError; break;
    case ND_EINVAL: type = state->invalid; break;
    case ND_EIO: type = PyExc_OSError; break;
    case ND_EUNSUPPORTED: type = state->unsupported; break;
    case ND_ECANCELLED:
        if (PyErr_Occurred())
            return NULL;
        break;
    default: break;
    }
    PyErr_SetString(type, err->message);
    return NULL;
}

bool nd_py_parse_item(PyObject *tuple, Py_ssize_t i, const char *format, ...)
{
    PyObject *item = PyTuple_GetItem(tuple, i);
    va_list values;
    int is_parsed;

    if (item && !PyTuple_Check(item))
        PyErr_Format(PyExc_TypeError, "item %zd is not a tuple", i);
    if (PyErr_Occurred())
        return false;
    va_start(values, format);
    is_parsed = PyArg_VaParse(item, format, values);
    va_end(values);
    return is_parsed;
}

bool nd_py_begin_reading(struct nd_py_users *users)
{
    int count = atomic_load(&users->count);

    while (count >= 0)
        if (atomic_compare_exchange_weak(&users->count, &count, count + 1))
            return true;
    PyErr_SetString(PyExc_RuntimeError, "it is being changed, by another thread or by the caller");
    return false;
}

bool nd_py_begin_change(struct nd_py_users *users)
{
    int nobody = 0;

    if (atomic_compare_exchange_strong(&users->count, &nobody, -1))
        return true;
    PyErr_SetString(PyExc_RuntimeError, "it is being used, by another thread or by the caller");
    return false;
}

void nd_py_end_use(struct nd_py_users *users)
{
    if (atomic_load(&users->count) < 0)
        atomic_store(&users->count, 0);
    else
        atomic_fetch_sub(&users->count, 1);
}

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(nd_version());
}

static PyObject *unicode_version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(nd_unicode_version());
}

static PyObject *canonical_url(PyObject *module, PyObject *arg)
{
    struct nd_error err = {.message = ""};
    Py_ssize_t len;
    const char *url = PyUnicode_AsUTF8AndSize(arg, &len);
    char *canonical;
    size_t canonical_len;
    PyObject *result;

    (void)module;
    if (!url)
        return NULL;
    if (nd_url_canonical(url, (size_t)len, &canonical, &canonical_len, &err) != ND_OK)
        return PyErr_NoMemory();
    result = PyUnicode_DecodeUTF8(canonical, (Py_ssize_t)canonical_len, NULL);
    free(canonical);
    return result;
}

static PyMethodDef functions[] = {
    {"canonical_url", canonical_url, METH_O,
     "canonical_url(url, /)\n--\n\n"
     "Write an address in the form in which ``url:1:address`` of a recipe compares it.\n\n"
     "Parameters\n----------\nurl : str\n    An address of a page.\n\n"
     "Returns\n-------\nstr\n"
     "    Scheme and host in small letters, no default port, dot segments, fragment and tracking\n"
     "    parameters, the others sorted by name, one percent-encoding (docs/format/urls.md).  "
     "What\n"
     "    has no ``scheme://`` stays as it is.\n\n"
     "Examples\n--------\n"
     ">>> canonical_url(\"HTTP://Example.org:80/a/../%7eb?utm_source=x&q=2&p=1#top\")\n"
     "'http://example.org/~b?p=1&q=2'\n"},
    {"version", version, METH_NOARGS,
     "version()\n--\n\n"
     "Say the version of the library.\n\n"
     "Returns\n-------\nstr\n    Its numbers, separated by dots.\n\n"
     "Examples\n--------\n>>> version().split(\".\")[0]\n'0'\n"},
    {"unicode_version", unicode_version, METH_NOARGS,
     "unicode_version()\n--\n\n"
     "Say the version of the Unicode tables, by which texts are cut into tokens.\n\n"
     "Returns\n-------\nstr\n    Its numbers, separated by dots.\n\n"
     "Examples\n--------\n>>> unicode_version()\n'15.0'\n"},
    {NULL, NULL, 0, NULL},
};

/* Add an exception class to the module, and keep it in the state. */
static int add_exception(PyObject *module, const char *name, const char *doc, PyObject *bases,
                         PyObject **to)
{
    char full[64];

    PyOS_snprintf(full, sizeof full, "neardup.%s", name);
    *to = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
    return *to ? PyModule_AddObjectRef(module, name, *to) : -1;
}

static int add_exceptions(PyObject *module)
{
    struct nd_py_state *state = PyModule_GetState(module);
    PyObject *bases;
    int status;

    if (add_exception(module, "Error",
                      "What went wrong, as the command would say it.\n\n"
                      "Examples\n--------\n"
                      ">>> import neardup\n"
                      ">>> issubclass(neardup.InvalidError, neardup.Error)\nTrue\n",
                      NULL, &state->error) < 0 ||
        !(bases = PyTuple_Pack(2, state->error, PyExc_ValueError)))
        return -1;
    status = add_exception(module, "InvalidError",
                           "An argument, a column or a key of a recipe is wrong.\n\n"
                           "Examples\n--------\n"
                           ">>> import neardup\n"
                           ">>> neardup.dedup([\"a b c\"], keep=\"best\")\n"
                           "Traceback (most recent call last):\n    ...\n"
                           "neardup.InvalidError: keep: 'best' is not one of ...\n",
                           bases, &state->invalid);
    Py_DECREF(bases);
    if (status < 0)
        return status;
    return add_exception(module, "UnsupportedError",
                         "The request is well formed, but cannot be carried out here.\n\n"
                         "Examples\n--------\n"
                         ">>> import neardup\n"
                         ">>> neardup.dedup(\"letters.docx\")\n"
                         "Traceback (most recent call last):\n    ...\n"
                         "neardup.UnsupportedError: ...\n",
                         state->error, &state->unsupported);
}

static int execute(PyObject *module)
{
#define TABLE(file) , nd_py_##file##_functions
    PyMethodDef *tables[] = {functions ND_PY_FILES(TABLE)};

    if (add_exceptions(module) < 0)
        return -1;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (PyModule_AddFunctions(module, tables[i]) < 0)
            return -1;
    return 0;
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct nd_py_state *state = PyModule_GetState(module);

    Py_VISIT(state->error);
    Py_VISIT(state->invalid);
    Py_VISIT(state->unsupported);
    return 0;
}

static int clear(PyObject *module)
{
    struct nd_py_state *state = PyModule_GetState(module);

    Py_CLEAR(state->error);
    Py_CLEAR(state->invalid);
    Py_CLEAR(state->unsupported);
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#if !defined(Py_LIMITED_API) && defined(Py_mod_gil)
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "neardup._native",
    .m_doc = "The C core of neardup.",
    .m_size = sizeof(struct nd_py_state),
    .m_slots = slots,
    .m_traverse = traverse,
    .m_clear = clear,
};

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
