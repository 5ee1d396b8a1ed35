/* recipe_object.c - recipes: made, changed and read by their keys */
#include "native.h"

#include "recipe/recipe_struct.h"

#include <stdlib.h>
#include <string.h>

#define CAPSULE "neardup.recipe"

/* The capsule's context is a list of the df tables that the recipe has ever been given: whatever was
 * made of it may still read one that another has replaced. */
static void free_recipe(PyObject *capsule)
{
    PyObject *tables = PyCapsule_GetContext(capsule);

    nd_recipe_free(PyCapsule_GetPointer(capsule, CAPSULE));
    Py_XDECREF(tables);
}

static struct nd_recipe *recipe_of(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, CAPSULE);
}

struct nd_recipe *nd_py_recipe_to_change(PyObject *capsule)
{
    return recipe_of(capsule);
}

const struct nd_recipe *nd_py_recipe(PyObject *capsule)
{
    return recipe_of(capsule);
}

/* A capsule of a new recipe, with these tables; NULL: none yet. */
static PyObject *wrap(PyObject *module, struct nd_recipe *recipe, PyObject *tables,
                      const struct nd_error *err)
{
    PyObject *capsule, *own;

    if (!recipe)
        return nd_py_raise(module, err);
    own = tables ? PySequence_List(tables) : PyList_New(0);
    capsule = own ? PyCapsule_New(recipe, CAPSULE, free_recipe) : NULL;
    if (!capsule || PyCapsule_SetContext(capsule, own) != 0) {
        Py_XDECREF(own);
        if (!capsule)
            nd_recipe_free(recipe);
        Py_CLEAR(capsule);
    }
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
    return wrap(module, recipe, NULL, &err);
}

static PyObject *recipe_copy(PyObject *module, PyObject *capsule)
{
    struct nd_error err;
    const struct nd_recipe *recipe = recipe_of(capsule);

    if (!recipe)
        return NULL;
    return wrap(module, nd_recipe_copy(recipe, &err), PyCapsule_GetContext(capsule), &err);
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

/*
 * recipe_tables(recipe): of each signature its name, whether it needs a df table and one of template
 * text, whether it has them, and their paths.
 */
static PyObject *recipe_tables(PyObject *module, PyObject *capsule)
{
    const struct nd_recipe *recipe = recipe_of(capsule);
    PyObject *list = recipe ? PyList_New(0) : NULL;

    (void)module;
    for (unsigned i = 0; list && i < recipe->method.n_signatures; i++) {
        const struct nd_recipe_signature *s = &recipe->method.signature[i];
        PyObject *one = Py_BuildValue(
            "s(OO)(OO)(ss)", s->name, nd_recipe_needs_df(recipe, i) ? Py_True : Py_False,
            nd_recipe_needs_template(recipe, i) ? Py_True : Py_False, s->table ? Py_True : Py_False,
            s->feature.template_table ? Py_True : Py_False, s->df, s->template_df);

        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* recipe_use(recipe, signature, df, whether of template text): the recipe holds the table. */
static PyObject *recipe_use(PyObject *module, PyObject *args)
{
    struct nd_error err;
    struct nd_recipe *recipe;
    const struct nd_df *df;
    PyObject *capsule, *table;
    enum nd_status status;
    Py_ssize_t signature;
    int is_template;

    if (!PyArg_ParseTuple(args, "OnOp", &capsule, &signature, &table, &is_template) ||
        !(recipe = recipe_of(capsule)) || !(df = nd_py_df(table)) ||
        PyList_Append(PyCapsule_GetContext(capsule), table) < 0)
        return NULL;
    status = is_template ? nd_recipe_use_template(recipe, (size_t)signature, df, &err)
                         : nd_recipe_use_df(recipe, (size_t)signature, df, &err);
    return none_or_raise(module, status, &err);
}

static bool add_key(PyObject *list, const char *signature, const char *key)
{
    PyObject *text =
        signature ? PyUnicode_FromFormat("%s.%s", signature, key) : PyUnicode_FromString(key);
    bool is_added = text && PyList_Append(list, text) == 0;

    Py_XDECREF(text);
    return is_added;
}

/* The keys by which the recipe reads what only pages and mail have: links, markup, elements. */
static PyObject *recipe_page_keys(PyObject *module, PyObject *capsule)
{
    const struct nd_recipe *recipe = recipe_of(capsule);
    PyObject *list = recipe ? PyList_New(0) : NULL;

    (void)module;
    if (list && nd_recipe_sketch_params(recipe).boilerplate == ND_BOILERPLATE_DROP &&
        !add_key(list, NULL, "boilerplate"))
        Py_CLEAR(list);
    for (unsigned i = 0; list && i < recipe->method.n_signatures; i++) {
        const struct nd_recipe_signature *s = &recipe->method.signature[i];
        bool reads_elements = nd_feature_reads_elements(&s->feature);

        if ((s->feature.links && !add_key(list, s->name, "links")) ||
            (s->weight.markup != ND_MARKUP_IGNORE && !add_key(list, s->name, "markup")) ||
            (reads_elements && !add_key(list, s->name, "unit")))
            Py_CLEAR(list);
    }
    return list;
}

/* recipe_difference(recipe, other): the first key in which they differ, or None. */
static PyObject *recipe_difference(PyObject *module, PyObject *args)
{
    const struct nd_recipe *a, *b;
    PyObject *first, *second, *text;
    struct nd_error err;
    char *key;

    if (!PyArg_ParseTuple(args, "OO", &first, &second) || !(a = recipe_of(first)) ||
        !(b = recipe_of(second)))
        return NULL;
    if (nd_recipe_difference(a, b, 0, &key, &err) != ND_OK)
        return nd_py_raise(module, &err);
    text = key ? PyUnicode_FromString(key) : Py_NewRef(Py_None);
    free(key);
    return text;
}

PyMethodDef nd_py_recipe_functions[] = {
    {"recipe_difference", recipe_difference, METH_VARARGS, "The first key in which two differ."},
    {"recipe_tables", recipe_tables, METH_O, "The df tables that the signatures need and have."},
    {"recipe_use", recipe_use, METH_VARARGS, "Give a signature a df table."},
    {"recipe_page_keys", recipe_page_keys, METH_O, "The keys that read what only pages have."},
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
