/* result.c - what became of rows, for Python */
#include "result.h"

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

void nd_py_removed_count(uint64_t measured[ND_RUN_STEPS], const struct nd_recipe *recipe,
                         const struct nd_py_removed *removed)
{
    if (removed->decision->identical == ND_IDENTICAL_NO)
        nd_measured_count(measured, &recipe->dedup,
                          removed->component ? &removed->component->overlap
                                             : &removed->decision->overlap);
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
    result->has_seen = result->has_seen || (removal->kept & ND_PY_SEEN);
    result->is_removed[removal->row - result->first_row] = 1;
    return true;
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
    for (size_t i = 0; i < r->n_removals; i++)
        switch (r->removal[i].identical) {
        case ND_IDENTICAL_BYTES: bytes++; break;
        case ND_IDENTICAL_TOKENS: tokens++; break;
        default: near++; break;
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

    return names[r->removal[i].identical];
}

static void put_removal(void *const *all, void *const *compared, uint8_t *is_compared,
                        void *distance, uint8_t *has_distance, const struct nd_py_removal *removal,
                        size_t i)
{
    const struct nd_py_removal *d = removal;
    const struct nd_overlap *o = &d->overlap;
    uint64_t either = o->a + o->b - o->shared;

    ((uint64_t *)all[0])[i] = removal->row;
    ((uint64_t *)all[1])[i] = removal->kept;
    ((uint64_t *)all[2])[i] = o->a;
    ((uint64_t *)all[3])[i] = o->b;
    ((uint64_t *)all[4])[i] = removal->via;
    if (d->verified)
        nd_py_set_bit(all[5], i);
    if (d->was_cut)
        nd_py_set_bit(all[6], i);
    if (d->verified) {
        ((double *)compared[0])[i] = either ? (double)o->shared / (double)either : 1.0;
        ((uint64_t *)compared[1])[i] = o->shared;
        nd_py_set_bit(is_compared, i);
    }
    if (d->distance <= ND_DISTANCE_MAX) {
        ((uint32_t *)distance)[i] = d->distance;
        nd_py_set_bit(has_distance, i);
    }
}

/* The removed rows, and why, as columns. */
static PyObject *result_removed(PyObject *module, PyObject *capsule)
{
    static const struct nd_py_column_type all_type[] = {
        {"row", "L", 8, NULL, 0}, {"kept_row", "L", 8, NULL, 0}, {"a", "L", 8, NULL, 0},
        {"b", "L", 8, NULL, 0},   {"via_row", "L", 8, NULL, 0},  {"verified", "b", 0, NULL, 0},
        {"cut", "b", 0, NULL, 0},
    };
    static const struct nd_py_column_type compared_type[] = {{"jaccard", "g", 8, NULL, 0},
                                                             {"shared", "L", 8, NULL, 0}};
    static const struct nd_py_column_type distance_type = {"distance", "I", 4, NULL, 0};
    const struct nd_py_result *r = PyCapsule_GetPointer(capsule, ND_PY_RESULT);
    void *values[7], *compared_values[2], *distances;
    uint8_t *is_compared, *has_distance;
    PyObject *all, *compared, *distance, *identical, *columns = NULL;

    (void)module;
    if (!r)
        return NULL;
    all = nd_py_columns(all_type, 7, r->n_removals, values, NULL);
    compared = nd_py_columns(compared_type, 2, r->n_removals, compared_values, &is_compared);
    distance = nd_py_columns(&distance_type, 1, r->n_removals, &distances, &has_distance);
    identical = nd_py_text_column("identical", r->n_removals, identical_at, r);
    if (all && compared && distance && identical) {
        for (size_t i = 0; i < r->n_removals; i++)
            put_removal(values, compared_values, is_compared, distances, has_distance,
                        &r->removal[i], i);
        columns = Py_BuildValue("OOOO", all, compared, distance, identical);
    }
    Py_XDECREF(all);
    Py_XDECREF(compared);
    Py_XDECREF(distance);
    Py_XDECREF(identical);
    return columns;
}

PyMethodDef nd_py_result_functions[] = {
    {"result_stats", result_stats, METH_O, "Counts of a result."},
    {"result_kept", result_kept, METH_O, "Which rows are kept, a byte each."},
    {"result_removed", result_removed, METH_O, "The removed rows, and why."},
    {NULL, NULL, 0, NULL},
};
