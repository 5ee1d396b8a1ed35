/*
 * sketch_texts.c - texts to sketches, as Arrow arrays
 *
 * A sketcher makes of each text what the section [sketch] of a recipe says: the simhash, the minima,
 * and the hash of the tokens.  Rows without a text have no sketch.
 *
 * Threads may use a sketcher of Python at the same time.  The core's are for one thread each, so a
 * call takes the one that is idle, or makes another.
 */
#include "native.h"

#include <neardup/sketch.h>

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(ND_MINHASH_COUNT == 128, "the format of the minima says so");

#define CAPSULE "neardup.sketcher"

struct sketchers {
    struct nd_sketch_params params;
    struct nd_sketcher *_Atomic idle; /* NULL: a call has it */
};

static struct nd_sketcher *take_sketcher(struct sketchers *all, struct nd_error *err)
{
    struct nd_sketcher *s = atomic_exchange(&all->idle, NULL);

    return s ? s : nd_sketcher_new(&all->params, err);
}

static void give_back(struct sketchers *all, struct nd_sketcher *s)
{
    struct nd_sketcher *none = NULL;

    if (!atomic_compare_exchange_strong(&all->idle, &none, s))
        nd_sketcher_free(s);
}

static void free_sketchers(PyObject *capsule)
{
    struct sketchers *all = PyCapsule_GetPointer(capsule, CAPSULE);

    nd_sketcher_free(all->idle);
    free(all);
}

static PyObject *sketcher_new(PyObject *module, PyObject *recipe_capsule)
{
    const struct nd_recipe *recipe = nd_py_recipe(recipe_capsule);
    struct sketchers *all;
    struct nd_sketcher *s;
    struct nd_error err;
    PyObject *capsule;

    if (!recipe)
        return NULL;
    all = calloc(1, sizeof *all);
    if (!all)
        return PyErr_NoMemory();
    all->params = nd_recipe_sketch_params(recipe);
    s = take_sketcher(all, &err);
    if (!s) {
        free(all);
        return nd_py_raise(module, &err);
    }
    give_back(all, s);
    capsule = PyCapsule_New(all, CAPSULE, free_sketchers);
    if (!capsule) {
        nd_sketcher_free(s);
        free(all);
    }
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
    enum { ROWS = 4096, SLICE_BYTES = 1 << 20 };
    PyObject *capsule, *frame_capsule, *columns;
    const struct nd_py_frame *f;
    struct sketchers *all;
    struct nd_sketcher *s;
    struct nd_error err;
    enum nd_status status = ND_OK;
    void *values[N_COLUMNS];
    uint8_t *validity;

    if (!PyArg_ParseTuple(args, "OO", &capsule, &frame_capsule) ||
        !(all = PyCapsule_GetPointer(capsule, CAPSULE)) || !(f = nd_py_frame(frame_capsule)) ||
        !(columns = nd_py_columns(type, N_COLUMNS, f->n_rows, values, &validity)))
        return NULL;
    s = take_sketcher(all, &err);
    if (!s) {
        Py_DECREF(columns);
        return nd_py_raise(module, &err);
    }
    for (size_t from = 0, to; from < f->n_rows; from = to) {
        size_t bytes = 0;

        for (to = from; to < f->n_rows && to - from < ROWS && bytes < SLICE_BYTES; to++)
            bytes += f->column[0].value[to].len;
        Py_BEGIN_ALLOW_THREADS;
        status = sketch_rows(s, f, from, to, values, validity);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            PyErr_NoMemory();
        if (status != ND_OK || PyErr_CheckSignals() < 0) {
            Py_DECREF(columns);
            columns = NULL;
            break;
        }
    }
    give_back(all, s);
    return columns;
}

ND_PY_READS_FRAME(sketcher_run, 1)

PyMethodDef nd_py_sketch_functions[] = {
    {"sketcher_new", sketcher_new, METH_O, "A sketcher of a recipe."},
    {"sketcher_run", sketcher_run_reading, METH_VARARGS, "The sketches of a frame's rows."},
    {NULL, NULL, 0, NULL},
};
