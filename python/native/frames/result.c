/* result.c - what became of rows, for Python */
#include "frames/result.h"

#include "base/memory.h"
#include "evidence/counts.h"
#include "evidence/rows.h"

#include <stdlib.h>
#include <string.h>

struct nd_py_result *nd_py_result_new(size_t n_rows, uint64_t first_row,
                                      const struct nd_recipe *recipe)
{
    struct nd_py_result *result = calloc(1, sizeof *result);

    if (!result)
        return NULL;
    result->n_rows = n_rows;
    result->first_row = first_row;
    result->n_all = first_row + n_rows;
    result->n_signatures = recipe->method.n_signatures;
    result->is_removed = calloc(n_rows + 1, 1);
    if (!result->is_removed) {
        free(result);
        return NULL;
    }
    return result;
}

void nd_py_result_free(struct nd_py_result *result)
{
    if (!result)
        return;
    free(result->is_removed);
    free(result->removal);
    free(result->agreement);
    free(result);
}

struct nd_py_result *nd_py_result(PyObject *capsule)
{
    return PyCapsule_GetPointer(capsule, ND_PY_RESULT);
}

struct nd_py_removal nd_py_removal_of(const struct nd_py_removed *removed)
{
    const struct nd_decision *d = removed->decision;
    const struct nd_component_via *via = removed->component;

    return (struct nd_py_removal){
        .row = removed->row,
        .kept = removed->kept,
        .via = removed->via,
        .overlap = d->overlap,
        .via_resemblance = via ? nd_overlap_resemblance(&via->overlap) : 0,
        .distance = d->distance,
        .identical = (uint8_t)d->identical,
        .verified = d->verified,
        .was_cut = d->was_cut,
        .has_via = via != NULL,
        .via_verified = via && via->verified,
    };
}

void nd_py_removed_count(uint64_t measured[ND_MEASURED], const struct nd_recipe *recipe,
                         const struct nd_py_removed *removed)
{
    if (removed->decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(measured, &recipe->dedup,
                          removed->component ? &removed->component->overlap
                                             : &removed->decision->overlap,
                          &removed->decision->overlap);
}

bool nd_py_result_put(struct nd_py_result *result, const struct nd_py_removal *removal,
                      const struct nd_agreement *agreement)
{
    size_t n = result->n_signatures, at = result->n_removals * n;

    if (!ND_RESERVE(result->removal, &result->capacity, result->n_removals + 1) ||
        (n && !ND_RESERVE(result->agreement, &result->agreement_capacity, at + n)))
        return false;
    if (n)
        memcpy(&result->agreement[at], agreement, n * sizeof *result->agreement);
    result->removal[result->n_removals] = *removal;
    result->removal[result->n_removals].number = result->n_removals;
    result->n_removals++;
    result->has_seen = result->has_seen || nd_py_is_for_seen(removal);
    result->has_leaders = result->has_leaders || nd_py_is_leader(removal);
    result->is_removed[removal->row - result->first_row] = 1;
    return true;
}

struct nd_py_removal nd_py_removal_of_leader(uint64_t row)
{
    return (struct nd_py_removal){
        .row = row, .kept = ND_PY_NOBODY, .via = ND_PY_NOBODY, .distance = ND_DISTANCE_MAX + 1};
}

/* Count in members[row] how many rows were removed for each. */
static void count_members(const struct nd_py_result *result, uint32_t *members)
{
    for (size_t i = 0; i < result->n_removals; i++)
        if (result->removal[i].kept < result->n_rows)
            members[result->removal[i].kept]++;
}

bool nd_py_result_remove_leaders(struct nd_py_result *result)
{
    static const struct nd_agreement none[ND_RECIPE_SIGNATURES];
    uint32_t *members = calloc(result->n_rows + 1, sizeof *members);
    bool is_good = members != NULL;

    if (is_good)
        count_members(result, members);
    for (size_t i = 0; is_good && i < result->n_rows; i++) {
        const struct nd_py_removal removal = nd_py_removal_of_leader(i);

        if (members[i])
            is_good = nd_py_result_put(result, &removal, none);
    }
    free(members);
    return is_good;
}

bool nd_py_result_add(struct nd_py_result *result, const struct nd_recipe *recipe,
                      const struct nd_py_removed *removed)
{
    const struct nd_py_removal removal = nd_py_removal_of(removed);

    nd_py_removed_count(result->measured, recipe, removed);
    return nd_py_result_put(result, &removal, removed->decision->agreement);
}

const struct nd_py_removal *nd_py_result_find(const struct nd_py_result *result, uint64_t row)
{
    size_t low = 0, high = result->n_removals;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (result->removal[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < result->n_removals && result->removal[low].row == row ? &result->removal[low]
                                                                       : NULL;
}

struct nd_decision nd_py_result_decision(const struct nd_py_result *result,
                                         const struct nd_py_removal *removal)
{
    size_t n = result->n_signatures;
    struct nd_decision decision = {.kept = removal->kept,
                                   .identical = (enum nd_identical)removal->identical,
                                   .verified = removal->verified,
                                   .was_cut = removal->was_cut,
                                   .distance = removal->distance,
                                   .overlap = removal->overlap};

    if (n)
        memcpy(decision.agreement, &result->agreement[removal->number * n],
               n * sizeof *decision.agreement);
    return decision;
}

static int by_row(const void *a, const void *b)
{
    const struct nd_py_removal *x = a, *y = b;

    return x->row < y->row ? -1 : x->row > y->row;
}

static void free_capsule(PyObject *capsule)
{
    nd_py_result_free(PyCapsule_GetPointer(capsule, ND_PY_RESULT));
}

PyObject *nd_py_result_capsule(struct nd_py_result *result)
{
    PyObject *capsule = PyCapsule_New(result, ND_PY_RESULT, free_capsule);

    if (!capsule)
        nd_py_result_free(result);
    else if (result->n_removals)
        qsort(result->removal, result->n_removals, sizeof *result->removal, by_row);
    return capsule;
}

static PyObject *result_stats(PyObject *module, PyObject *capsule)
{
    const struct nd_py_result *r = PyCapsule_GetPointer(capsule, ND_PY_RESULT);
    const struct nd_dedup_stats *s;
    unsigned long long bytes = 0, tokens = 0, near = 0;

    (void)module;
    if (!r)
        return NULL;
    s = &r->stats;
    for (size_t i = 0; i < r->n_removals; i++) {
        if (nd_py_is_leader(&r->removal[i]))
            continue;
        switch (r->removal[i].identical) {
        case ND_IDENTICAL_BYTES: bytes++; break;
        case ND_IDENTICAL_TOKENS: tokens++; break;
        default: near++; break;
        }
    }
    return Py_BuildValue(
        "{s:n,s:n,s:n,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:I,s:I}", "rows",
        (Py_ssize_t)r->n_rows, "documents", (Py_ssize_t)r->n_pushed, "removed",
        (Py_ssize_t)r->n_removals, "identical_bytes", bytes, "identical_tokens", tokens, "near",
        near, "short_documents", (unsigned long long)s->short_documents, "empty_documents",
        (unsigned long long)s->empty_documents, "cut_documents",
        (unsigned long long)s->cut_documents, "candidates", (unsigned long long)s->candidates,
        "checks", (unsigned long long)s->checks, "bytes", (unsigned long long)s->bytes,
        "index_bytes", (unsigned long long)s->index_bytes, "bands", s->bands, "rows_of_band",
        s->rows);
}

/* Which rows are kept: a byte of 0 or 1 for each. */
static PyObject *result_kept(PyObject *module, PyObject *capsule)
{
    const struct nd_py_result *r = PyCapsule_GetPointer(capsule, ND_PY_RESULT);
    PyObject *kept;
    char *bytes;

    (void)module;
    if (!r || !(kept = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)r->n_rows)))
        return NULL;
    bytes = PyBytes_AsString(kept);
    for (size_t i = 0; i < r->n_rows; i++)
        bytes[i] = !r->is_removed[i];
    return kept;
}

static struct nd_view identical_at(const void *context, size_t i)
{
    static const struct nd_view names[] = {{"no", 2}, {"bytes", 5}, {"tokens", 6}};
    const struct nd_py_result *r = context;

    return nd_py_is_leader(&r->removal[i]) ? (struct nd_view){NULL, 0}
                                           : names[r->removal[i].identical];
}

/* The columns of removed rows; and, for those that only some rows have, which rows have them. */
struct removed_columns {
    void *all[3], *of_kept[4], *compared[2], *distance[1];
    uint8_t *has_kept, *is_compared, *has_distance;
};

static void put_removal(const struct removed_columns *to, const struct nd_py_removal *removal,
                        size_t i)
{
    const struct nd_overlap *o = &removal->overlap;
    uint64_t either = o->a + o->b - o->shared;

    ((uint64_t *)to->all[0])[i] = removal->row;
    if (removal->verified)
        nd_py_set_bit(to->all[1], i);
    if (removal->was_cut)
        nd_py_set_bit(to->all[2], i);
    if (nd_py_is_leader(removal))
        return;
    ((uint64_t *)to->of_kept[0])[i] = removal->kept;
    ((uint64_t *)to->of_kept[1])[i] = o->a;
    ((uint64_t *)to->of_kept[2])[i] = o->b;
    ((uint64_t *)to->of_kept[3])[i] = removal->via;
    if (to->has_kept)
        nd_py_set_bit(to->has_kept, i);
    if (removal->verified) {
        ((double *)to->compared[0])[i] = either ? (double)o->shared / (double)either : 1.0;
        ((uint64_t *)to->compared[1])[i] = o->shared;
        nd_py_set_bit(to->is_compared, i);
    }
    if (removal->distance <= ND_DISTANCE_MAX) {
        ((uint32_t *)to->distance[0])[i] = removal->distance;
        nd_py_set_bit(to->has_distance, i);
    }
}

/* The removed rows, and why, as columns. */
static PyObject *result_removed(PyObject *module, PyObject *capsule)
{
    static const struct nd_py_column_type all_type[] = {
        {"row", "L", 8, NULL, 0}, {"verified", "b", 0, NULL, 0}, {"cut", "b", 0, NULL, 0}};
    static const struct nd_py_column_type kept_type[] = {{"kept_row", "L", 8, NULL, 0},
                                                         {"a", "L", 8, NULL, 0},
                                                         {"b", "L", 8, NULL, 0},
                                                         {"via_row", "L", 8, NULL, 0}};
    static const struct nd_py_column_type compared_type[] = {{"jaccard", "g", 8, NULL, 0},
                                                             {"shared", "L", 8, NULL, 0}};
    static const struct nd_py_column_type distance_type = {"distance", "I", 4, NULL, 0};
    const struct nd_py_result *r = PyCapsule_GetPointer(capsule, ND_PY_RESULT);
    struct removed_columns to = {.has_kept = NULL};
    PyObject *all, *of_kept, *compared, *distance, *identical, *columns = NULL;

    (void)module;
    if (!r)
        return NULL;
    all = nd_py_columns(all_type, 3, r->n_removals, to.all, NULL);
    of_kept = nd_py_columns(kept_type, 4, r->n_removals, to.of_kept,
                            r->has_leaders ? &to.has_kept : NULL);
    compared = nd_py_columns(compared_type, 2, r->n_removals, to.compared, &to.is_compared);
    distance = nd_py_columns(&distance_type, 1, r->n_removals, to.distance, &to.has_distance);
    identical = nd_py_text_column("identical", r->n_removals, identical_at, r);
    if (all && of_kept && compared && distance && identical) {
        for (size_t i = 0; i < r->n_removals; i++)
            put_removal(&to, &r->removal[i], i);
        columns = Py_BuildValue("OOOOO", all, of_kept, compared, distance, identical);
    }
    Py_XDECREF(all);
    Py_XDECREF(of_kept);
    Py_XDECREF(compared);
    Py_XDECREF(distance);
    Py_XDECREF(identical);
    return columns;
}

/* result_copies(result, mask): the column of the rows whose byte of the mask is not 0: how many rows the
 * cluster of each has, itself included.  The result has all rows. */
static PyObject *result_copies(PyObject *module, PyObject *args)
{
    static const struct nd_py_column_type type = {"copies", "l", 8, NULL, 0};
    PyObject *capsule, *columns = NULL;
    const struct nd_py_result *r;
    uint32_t *members;
    const char *mask;
    Py_ssize_t n;
    size_t n_rows = 0;
    void *values;

    (void)module;
    if (!PyArg_ParseTuple(args, "Oy#", &capsule, &mask, &n) || !(r = nd_py_result(capsule)))
        return NULL;
    if ((size_t)n != r->n_rows || r->first_row)
        return PyErr_Format(PyExc_ValueError, "the mask is not of these rows");
    members = calloc(r->n_rows + 1, sizeof *members);
    if (!members)
        return PyErr_NoMemory();
    count_members(r, members);
    for (size_t i = 0; i < r->n_rows; i++)
        n_rows += mask[i] != 0;
    columns = nd_py_columns(&type, 1, n_rows, &values, NULL);
    for (size_t i = 0, to = 0; columns && i < r->n_rows; i++)
        if (mask[i])
            ((int64_t *)values)[to++] = (int64_t)members[i] + 1;
    free(members);
    return columns;
}

PyMethodDef nd_py_result_functions[] = {
    {"result_stats", result_stats, METH_O, "Counts of a result."},
    {"result_kept", result_kept, METH_O, "Which rows are kept, a byte each."},
    {"result_removed", result_removed, METH_O, "The removed rows, and why."},
    {"result_copies", result_copies, METH_VARARGS, "How many rows clusters have."},
    {NULL, NULL, 0, NULL},
};
