/* recipe.c - recipes: made, changed and read by their keys */
#include "native.h"

#include "recipe/recipe.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "neardup.recipe"

static void free_recipe(PyObject *capsule)
{
    nd_recipe_free(PyCapsule_GetPointer(capsule, CAPSULE));
}

static struct nd_recipe *recipe_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

const struct nd_recipe *nd_py_recipe(PyObject *capsule)
{
    return recipe_of(capsule);
}

/* A capsule of a new recipe. */
static PyObject *wrap(PyObject *module, struct nd_recipe *recipe, const struct nd_error *err)
{
    PyObject *capsule;

    if (!recipe)
        return nd_py_raise(module, err);
    capsule = PyCapsule_New(recipe, CAPSULE, free_recipe);
    if (!capsule)
        nd_recipe_free(recipe);
    return capsule;
}

static PyObject *none_or_raise(PyObject *module, enum nd_status status, const struct nd_error *err)
{
    if (status != ND_OK)
        return nd_py_raise(module, err);
    Py_RETURN_NONE;
}

static PyObject *recipe_new(PyObject *module, PyObject *unused)
{
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);

    (void)unused;
    return wrap(module, recipe, &err);
}

static PyObject *recipe_copy(PyObject *module, PyObject *capsule)
{
    struct nd_error err;
    const struct nd_recipe *recipe = recipe_of(capsule);

    return recipe ? wrap(module, nd_recipe_copy(recipe, &err), &err) : NULL;
}

static PyObject *recipe_by_name(PyObject *module, PyObject *args)
{
    struct nd_error err;
    struct nd_recipe *recipe;
    PyObject *capsule;
    const char *name;

    if (!PyArg_ParseTuple(args, "Os", &capsule, &name) || !(recipe = recipe_of(capsule)))
        return NULL;
    return none_or_raise(module, nd_recipe_by_name(recipe, name, &err), &err);
}

static PyObject *recipe_load(PyObject *module, PyObject *args)
{
    struct nd_error err;
    struct nd_recipe *recipe;
    PyObject *capsule, *path;
    enum nd_status status;

    if (!PyArg_ParseTuple(args, "OO&", &capsule, PyUnicode_FSConverter, &path))
        return NULL;
    recipe = recipe_of(capsule);
    status = recipe ? nd_recipe_load(recipe, PyBytes_AsString(path), &err) : ND_OK;
    Py_DECREF(path);
    return recipe ? none_or_raise(module, status, &err) : NULL;
}

static PyObject *recipe_parse(PyObject *module, PyObject *args)
{
    struct nd_error err;
    struct nd_recipe *recipe;
    PyObject *capsule;
    const char *name, *text;
    Py_ssize_t len;

    if (!PyArg_ParseTuple(args, "Oss#", &capsule, &name, &text, &len) ||
        !(recipe = recipe_of(capsule)))
        return NULL;
    return none_or_raise(module, nd_recipe_parse(recipe, name, text, (size_t)len, &err), &err);
}

static PyObject *recipe_set(PyObject *module, PyObject *args)
{
    struct nd_error err;
    struct nd_recipe *recipe;
    PyObject *capsule;
    const char *assignment;

    if (!PyArg_ParseTuple(args, "Os", &capsule, &assignment) || !(recipe = recipe_of(capsule)))
        return NULL;
    return none_or_raise(module, nd_recipe_set(recipe, assignment, &err), &err);
}

static PyObject *recipe_get(PyObject *module, PyObject *args)
{
    struct nd_error err;
    const struct nd_recipe *recipe;
    PyObject *capsule, *text;
    const char *key;
    char *value;

    if (!PyArg_ParseTuple(args, "Os", &capsule, &key) || !(recipe = recipe_of(capsule)))
        return NULL;
    if (nd_recipe_get(recipe, key, &value, &err) != ND_OK)
        return nd_py_raise(module, &err);
    text = PyUnicode_FromString(value);
    free(value);
    return text;
}

static PyObject *recipe_check(PyObject *module, PyObject *capsule)
{
    struct nd_error err;
    const struct nd_recipe *recipe = recipe_of(capsule);

    return recipe ? none_or_raise(module, nd_recipe_check(recipe, &err), &err) : NULL;
}

static PyObject *recipe_warnings(PyObject *module, PyObject *capsule)
{
    struct nd_error warning;
    const struct nd_recipe *recipe = recipe_of(capsule);
    PyObject *list = recipe ? PyList_New(0) : NULL;

    (void)module;
    for (size_t i = 0; list && nd_recipe_warning(recipe, i, &warning); i++) {
        PyObject *text = PyUnicode_FromString(warning.message);

        if (!text || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

static PyObject *recipe_canonical(PyObject *module, PyObject *capsule)
{
    struct nd_error err;
    const struct nd_recipe *recipe = recipe_of(capsule);
    uint64_t fingerprint;
    char *text;
    size_t len;
    PyObject *result;

    if (!recipe)
        return NULL;
    if (nd_recipe_canonical(recipe, &text, &len, &fingerprint, &err) != ND_OK)
        return nd_py_raise(module, &err);
    result = Py_BuildValue("s#K", text, (Py_ssize_t)len, (unsigned long long)fingerprint);
    free(text);
    return result;
}

static PyObject *recipe_names(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const char *name;

    (void)module, (void)unused;
    for (size_t i = 0; list && (name = nd_recipe_name(i)); i++) {
        struct nd_view about = nd_recipe_about(name);
        PyObject *pair = Py_BuildValue("ss#", name, about.data, (Py_ssize_t)about.len);

        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

/* The names of the fields that the signatures read, each once for each signature. */
static PyObject *recipe_fields(PyObject *module, PyObject *capsule)
{
    const struct nd_recipe *recipe = recipe_of(capsule);
    PyObject *list = recipe ? PyList_New(0) : NULL;
    char names[ND_FEATURE_NAMES_MAX], *name;
    struct nd_error err;
    size_t n;

    for (unsigned i = 0; list && i < recipe->method.n_signatures; i++) {
        if (nd_feature_field_names(&recipe->method.signature[i].feature, names, &n, &err) !=
            ND_OK) {
            Py_DECREF(list);
            return nd_py_raise(module, &err);
        }
        for (name = names; list && n > 0; n--, name += strlen(name) + 1) {
            PyObject *text = PyUnicode_FromString(name);

            if (!text || PyList_Append(list, text) < 0)
                Py_CLEAR(list);
            Py_XDECREF(text);
        }
    }
    return list;
}

PyMethodDef nd_py_recipe_functions[] = {
    {"recipe_new", recipe_new, METH_NOARGS, "A new recipe: recipes/default.ini."},
    {"recipe_copy", recipe_copy, METH_O, "A copy that changes independently."},
    {"recipe_by_name", recipe_by_name, METH_VARARGS, "Read a shipped recipe."},
    {"recipe_load", recipe_load, METH_VARARGS, "Read a file."},
    {"recipe_parse", recipe_parse, METH_VARARGS, "Read a text."},
    {"recipe_set", recipe_set, METH_VARARGS, "Change one key."},
    {"recipe_get", recipe_get, METH_VARARGS, "The value of one key."},
    {"recipe_check", recipe_check, METH_O, "Raise where the whole does not fit together."},
    {"recipe_warnings", recipe_warnings, METH_O, "Warnings about a valid recipe."},
    {"recipe_canonical", recipe_canonical, METH_O, "The canonical text and the fingerprint."},
    {"recipe_fields", recipe_fields, METH_O, "The fields that the signatures read."},
    {"recipe_names", recipe_names, METH_NOARGS, "Names and summaries of the shipped recipes."},
    {NULL, NULL, 0, NULL},
};
