/*
 * frame_filter.c - rows of a frame against prototypes, which are the rows of another frame
 *
 * The prototypes are pushed into an engine once.  Then the rows query it, a slice at a time, and are
 * not compared with one another.  Of prototypes with the same bytes the first stands for all.
 */
#include "frames/frame_documents.h"

#include "base/hash.h"
#include "base/hash_set.h"
#include "base/memory.h"
#include "base/replaced_hash.h"
#include "engine/document/matching.h"
#include "engine/engine.h"
#include "evidence/rows.h"
#include "loads/streamed.h"

#include <stdlib.h>
#include <string.h>

/* A row that matches: the nearest prototype, and how many match. */
struct prototype_match {
    uint64_t row, prototype; /* rows of the two frames */
    uint64_t prototypes;
    struct nd_overlap overlap;
    unsigned distance;
    bool is_equal;
};

struct filter_run {
    PyObject *module;
    struct nd_py_documents prototypes, documents;
    struct nd_streamed streamed;
    struct prototype_match *match;
    size_t n, capacity;
    size_t from; /* the slice that queries */
    bool is_verified;
};

/* ---- The prototypes ---- */

/* Leave out those whose bytes stand there already, and those that match nothing. */
static bool choose_prototypes(struct nd_py_documents *d, bool ignores_text)
{
    struct nd_hash_set seen = {.bytes_max = (size_t)64 << 20};
    size_t kept = 0;

    for (size_t i = 0; i < d->n; i++) {
        uint64_t row = d->order[i], replaced = nd_py_frame_replaced(d->frame, row);
        struct nd_view text = d->frame->column[0].value[row];

        if (d->group && d->group[row])
            continue;
        if (ignores_text ||
            !nd_hash_set_add(
                &seen, nd_mix64(nd_replaced_mark(nd_hash_bytes(text.data, text.len), replaced))))
            d->order[kept++] = row;
    }
    d->n = kept;
    nd_hash_set_release(&seen);
    return !seen.has_no_memory;
}

static bool push_prototypes(struct filter_run *r)
{
    struct nd_error err;

    for (size_t from = 0, to; from < r->prototypes.n; from = to) {
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        to = nd_py_documents_fill(&r->prototypes, from);
        status = nd_streamed_push_old(&r->streamed, r->prototypes.item, to - from, &err);
        Py_END_ALLOW_THREADS;
        if (status != ND_OK)
            nd_py_raise(r->module, &err);
        if (status != ND_OK || PyErr_CheckSignals() < 0)
            return false;
    }
    return true;
}

/* ---- The rows ---- */

static enum nd_status found(void *context, const struct nd_found_pair *pair)
{
    struct filter_run *r = context;
    uint64_t row = r->documents.order[r->from + pair->a];
    struct prototype_match *m = r->n ? &r->match[r->n - 1] : NULL;

    if (!m || m->row != row) {
        if (!ND_RESERVE(r->match, &r->capacity, r->n + 1))
            return ND_ENOMEM;
        m = &r->match[r->n++];
        *m = (struct prototype_match){.row = row};
    }
    m->prototypes++;
    if (!pair->is_nearest)
        return ND_OK;
    m->prototype = r->prototypes.order[pair->b];
    m->overlap = pair->overlap;
    m->distance = pair->distance;
    m->is_equal = pair->is_equal;
    return ND_OK;
}

static bool query_all(struct filter_run *r, PyObject *progress)
{
    struct nd_error err = {0};

    for (size_t to; r->from < r->documents.n; r->from = to) {
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        to = nd_py_documents_fill(&r->documents, r->from);
        status = nd_streamed_push(&r->streamed, r->documents.item, to - r->from, &err);
        Py_END_ALLOW_THREADS;
        if (status == ND_ENOMEM)
            PyErr_NoMemory();
        else if (status != ND_OK)
            nd_py_raise(r->module, &err);
        if (status != ND_OK || !nd_py_report(progress, to, r->documents.n))
            return false;
    }
    return true;
}

/* ---- The columns ---- */

static void put_match(const struct filter_run *r, size_t i, void *const *all, void *const *compared,
                      uint8_t *is_compared, void *distance, uint8_t *has_distance)
{
    const struct prototype_match *m = &r->match[i];

    ((uint64_t *)all[0])[i] = m->row;
    ((uint64_t *)all[1])[i] = m->prototype;
    ((uint64_t *)all[2])[i] = m->prototypes;
    if (m->is_equal)
        nd_py_set_bit(all[3], i);
    if (m->is_equal || r->is_verified) {
        ((double *)compared[0])[i] = nd_overlap_resemblance(&m->overlap);
        ((uint64_t *)compared[1])[i] = m->overlap.shared;
        ((uint64_t *)compared[2])[i] = m->overlap.a;
        ((uint64_t *)compared[3])[i] = m->overlap.b;
        nd_py_set_bit(is_compared, i);
    }
    if (m->distance <= ND_DISTANCE_MAX) {
        ((uint32_t *)distance)[i] = m->distance;
        nd_py_set_bit(has_distance, i);
    }
}

/* (mask of the rows that match, number of matches, measures) */
static PyObject *take_columns(const struct filter_run *r)
{
    static const struct nd_py_column_type all_type[] = {{"row", "L", 8, NULL, 0},
                                                        {"prototype_row", "L", 8, NULL, 0},
                                                        {"prototypes", "L", 8, NULL, 0},
                                                        {"is_equal", "b", 0, NULL, 0}};
    static const struct nd_py_column_type compared_type[] = {{"jaccard", "g", 8, NULL, 0},
                                                             {"shared", "L", 8, NULL, 0},
                                                             {"a", "L", 8, NULL, 0},
                                                             {"b", "L", 8, NULL, 0}};
    static const struct nd_py_column_type distance_type = {"distance", "I", 4, NULL, 0};
    void *values[4], *compared_values[4], *distances;
    uint8_t *is_compared, *has_distance;
    PyObject *all = nd_py_columns(all_type, 4, r->n, values, NULL);
    PyObject *compared = nd_py_columns(compared_type, 4, r->n, compared_values, &is_compared);
    PyObject *distance = nd_py_columns(&distance_type, 1, r->n, &distances, &has_distance);
    PyObject *mask = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)r->documents.frame->n_rows);
    PyObject *columns = NULL;

    if (all && compared && distance && mask) {
        char *bits = PyBytes_AsString(mask);

        memset(bits, 0, r->documents.frame->n_rows);
        for (size_t i = 0; i < r->n; i++) {
            bits[r->match[i].row] = 1;
            put_match(r, i, values, compared_values, is_compared, distances, has_distance);
        }
        columns = Py_BuildValue("On(OOO)", mask, (Py_ssize_t)r->n, all, compared, distance);
    }
    Py_XDECREF(all);
    Py_XDECREF(compared);
    Py_XDECREF(distance);
    Py_XDECREF(mask);
    return columns;
}

static bool make_engine(struct filter_run *r, const struct nd_recipe *recipe, unsigned threads)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    const struct nd_text_source source = nd_py_documents_source(&r->prototypes);
    bool ignores_text =
        recipe->dedup.candidates == ND_CANDIDATES_MATCH && nd_method_ignores_text(&recipe->method);
    struct nd_error err;

    if (!choose_prototypes(&r->prototypes, ignores_text)) {
        PyErr_NoMemory();
        return false;
    }
    options.makes_pairs = 1;
    options.threads = threads;
    options.source = &source;
    r->streamed = (struct nd_streamed){.dedup = nd_dedup_new(recipe, &options, &err),
                                       .cluster = ND_CLUSTER_PAIRS,
                                       .only_old = true,
                                       .found = found,
                                       .context = r};
    if (!r->streamed.dedup)
        nd_py_raise(r->module, &err);
    r->is_verified = recipe->dedup.verify != ND_VERIFY_NONE;
    return r->streamed.dedup != NULL;
}

/*
 * filter(recipe, prototypes, frame, threads, (never, field columns) of the prototypes, the same of the
 * frame, progress)
 */
static PyObject *filter(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *capsule[2], *never[2], *fields[2], *progress, *columns = NULL;
    struct filter_run r = {.module = module};
    struct nd_py_documents *side[2] = {&r.prototypes, &r.documents};
    const struct nd_recipe *recipe;
    unsigned threads;
    bool is_good = true;

    if (!PyArg_ParseTuple(args, "OOOI(O!O!)(O!O!)O", &recipe_capsule, &capsule[0], &capsule[1],
                          &threads, &PyTuple_Type, &never[0], &PyTuple_Type, &fields[0],
                          &PyTuple_Type, &never[1], &PyTuple_Type, &fields[1], &progress) ||
        !(recipe = nd_py_recipe(recipe_capsule)) ||
        !(r.prototypes.frame = nd_py_frame(capsule[0])) ||
        !(r.documents.frame = nd_py_frame(capsule[1])))
        return NULL;
    for (unsigned i = 0; is_good && i < 2; i++)
        is_good = nd_py_documents_take_fields(side[i], fields[i]) &&
                  nd_py_documents_group(side[i], 0, never[i]) && nd_py_documents_list(side[i]);
    if (is_good && make_engine(&r, recipe, threads) && push_prototypes(&r) &&
        query_all(&r, progress))
        columns = take_columns(&r);
    Py_BEGIN_ALLOW_THREADS;
    nd_dedup_free(r.streamed.dedup);
    Py_END_ALLOW_THREADS;
    nd_py_documents_release(&r.prototypes);
    nd_py_documents_release(&r.documents);
    free(r.match);
    return columns;
}

ND_PY_READS_FRAME(filter, 1)
ND_PY_READS_FRAME(filter_reading, 2)

PyMethodDef nd_py_filter_functions[] = {
    {"filter", filter_reading_reading, METH_VARARGS, "Rows that are near a prototype."},
    {NULL, NULL, 0, NULL},
};
