/*
 * sketch.c - texts to sketches, as Arrow arrays
 *
 * A sketcher makes of each text what the section [sketch] of a recipe says: the simhash, the minima,
 * and the hash of the tokens.  Rows without a text have no sketch.
 */
#include "native.h"

#include <neardup/sketch.h>

#include <stdlib.h>

_Static_assert(ND_MINHASH_COUNT == 128, "the format of the minima says so");
#include <string.h>

#define CAPSULE "neardup.sketcher"

static void free_sketcher(PyObject *capsule)
{
    nd_sketcher_free(PyCapsule_GetPointer(capsule, CAPSULE));
}

static PyObject *sketcher_new(PyObject *module, PyObject *recipe_capsule)
{
    const struct nd_recipe *recipe = nd_py_recipe(recipe_capsule);
    struct nd_sketch_params params;
    struct nd_sketcher *s;
    struct nd_error err;
    PyObject *capsule;

    if (!recipe)
        return NULL;
    params = nd_recipe_sketch_params(recipe);
    s = nd_sketcher_new(&params, &err);
    if (!s)
        return nd_py_raise(module, &err);
    capsule = PyCapsule_New(s, CAPSULE, free_sketcher);
    if (!capsule)
        nd_sketcher_free(s);
    return capsule;
}

enum { SIMHASH, IDENTITY, TOKENS, SHINGLES, MINIMA, N_COLUMNS };

static void put_sketch(void *const *to, size_t row, const struct nd_sketch *sketch)
{
    ((uint64_t *)to[SIMHASH])[row] = sketch->simhash;
    ((uint64_t *)to[IDENTITY])[row] = sketch->identity;
    ((uint64_t *)to[TOKENS])[row] = sketch->n_tokens;
    ((uint64_t *)to[SHINGLES])[row] = sketch->n_shingles;
    memcpy((char *)to[MINIMA] + row * sizeof sketch->minhash, sketch->minhash,
           sizeof sketch->minhash);
}

static enum nd_status sketch_rows(struct nd_sketcher *s, const struct nd_py_frame *f, size_t from,
                                  size_t to, void *const *values, uint8_t *validity)
{
    for (size_t row = from; row < to; row++) {
        const struct nd_view *text = &f->column[0].value[row];
        struct nd_sketch sketch;
        enum nd_status status;

        if (!text->data)
            continue;
        status = nd_sketcher_run(s, text->data, text->len, ND_SKETCH_ALL, &sketch);
        if (status != ND_OK)
            return status;
        put_sketch(values, row, &sketch);
        nd_py_set_bit(validity, row);
    }
    return ND_OK;
}

/* sketcher_run(sketcher, frame): simhash, identity, tokens, shingles and minima of each row. */
static PyObject *sketcher_run(PyObject *module, PyObject *args)
{
    static const struct nd_py_column_type type[N_COLUMNS] = {
        [SIMHASH] = {"simhash", "L", 8, NULL, 0},
        [IDENTITY] = {"identity", "L", 8, NULL, 0},
        [TOKENS] = {"tokens", "L", 8, NULL, 0},
        [SHINGLES] = {"shingles", "L", 8, NULL, 0},
        [MINIMA] = {"minima", "+w:128", 4 * ND_MINHASH_COUNT, "I", ND_MINHASH_COUNT},
    };
    enum { ROWS = 4096 };
    PyObject *capsule, *frame_capsule, *columns;
    const struct nd_py_frame *f;
    struct nd_sketcher *s;
    enum nd_status status = ND_OK;
    void *values[N_COLUMNS];
    uint8_t *validity;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(s = PyCapsule_GetPointer(capsule, CAPSULE)) || !(f = nd_py_frame(frame_capsule)) ||
        !(columns = nd_py_columns(type, N_COLUMNS, f->n_rows, values, &validity)))
        return NULL;
    for (size_t from = 0; from < f->n_rows; from += ROWS) {
        size_t to = f->n_rows - from < ROWS ? f->n_rows : from + ROWS;

        Py_BEGIN_ALLOW_THREADS status = sketch_rows(s, f, from, to, values, validity);
        Py_END_ALLOW_THREADS if (status != ND_OK) PyErr_NoMemory();
        if (status != ND_OK || PyErr_CheckSignals() < 0) {
            Py_DECREF(columns);
            return NULL;
        }
    }
    return columns;
}

PyMethodDef nd_py_sketch_functions[] = {
    {"sketcher_new", sketcher_new, METH_O, "A sketcher of a recipe."},
    {"sketcher_run", sketcher_run, METH_VARARGS, "The sketches of a frame's rows."},
    {NULL, NULL, 0, NULL},
};
