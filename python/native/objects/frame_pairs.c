/*
 * frame_pairs.c - all pairs of a frame's rows that match, as columns
 *
 * Rows are pushed in their order, and the engine reports each pair as it finds it.  Memory grows with
 * the pairs: 56 bytes each, and for a recipe with signatures 24 more for each of them.
 */
#include "frames/frame_documents.h"

#include "base/address.h"
#include "base/groups.h"
#include "base/memory.h"
#include "engine/pair_rule.h"
#include "evidence/rows.h"
#include "loads/streamed.h"
#include "recipe/recipe_struct.h"

#include <stdlib.h>

struct row_pair {
    uint64_t earlier, later; /* rows */
    struct nd_overlap overlap;
    unsigned distance;
    bool is_equal, matches;
};

struct pairs_of_frame {
    PyObject *module;
    struct nd_py_documents documents;
    struct nd_streamed streamed;
    struct nd_recipe *recipe; /* a copy with the engine's threshold */
    struct nd_pair_rule rule;
    struct row_pair *pair;
    struct nd_agreement *agreement; /* n_signatures for each pair */
    unsigned n_signatures;
    size_t n, capacity, agreement_capacity;
};

static enum nd_status found(void *context, const struct nd_found_pair *pair)
{
    struct pairs_of_frame *r = context;
    const uint64_t *row = r->documents.order;

    if (!ND_RESERVE(r->pair, &r->capacity, r->n + 1) ||
        !ND_RESERVE(r->agreement, &r->agreement_capacity, (r->n + 1) * r->n_signatures))
        return ND_ENOMEM;
    for (unsigned i = 0; i < r->n_signatures; i++)
        r->agreement[r->n * r->n_signatures + i] = pair->agreement[i];
    r->pair[r->n++] = (struct row_pair){.earlier = row[pair->b],
                                        .later = row[pair->a],
                                        .overlap = pair->overlap,
                                        .distance = pair->distance,
                                        .is_equal = pair->is_equal,
                                        .matches = nd_pair_rule_matches(&r->rule, pair)};
    return ND_OK;
}

static bool push_all(struct pairs_of_frame *r, PyObject *progress)
{
    struct nd_error err = {0};

    for (size_t from = 0, to; from < r->documents.n; from = to) {
        enum nd_status status;

        Py_BEGIN_ALLOW_THREADS;
        to = nd_py_documents_fill(&r->documents, from);
        status = nd_streamed_push(&r->streamed, r->documents.item, to - from, &err);
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

struct texts {
    const struct pairs_of_frame *run;
    const uint32_t *site; /* of each row; 0: unknown */
};

static struct nd_view site_at(const void *context, size_t i)
{
    const struct texts *t = context;
    uint32_t a = t->site[t->run->pair[i].earlier], b = t->site[t->run->pair[i].later];

    return !a || !b ? (struct nd_view){NULL, 0}
           : a == b ? (struct nd_view){"same", 4}
                    : (struct nd_view){"other", 5};
}

static void put_pair(const struct pairs_of_frame *r, size_t i, void *const *all,
                     void *const *compared, uint8_t *is_compared, void *distance,
                     uint8_t *has_distance)
{
    const struct row_pair *pair = &r->pair[i];
    const struct nd_overlap *o = &pair->overlap;

    ((uint64_t *)all[0])[i] = pair->earlier;
    ((uint64_t *)all[1])[i] = pair->later;
    if (pair->is_equal)
        nd_py_set_bit(all[2], i);
    if (pair->matches)
        nd_py_set_bit(all[3], i);
    if (pair->is_equal || r->recipe->dedup.verify != ND_VERIFY_NONE) {
        ((double *)compared[0])[i] = nd_fraction(o->shared, o->a + o->b - o->shared);
        ((uint64_t *)compared[1])[i] = o->shared;
        ((uint64_t *)compared[2])[i] = o->a + o->b - o->shared;
        ((uint64_t *)compared[3])[i] = o->b;
        ((uint64_t *)compared[4])[i] = o->a;
        nd_py_set_bit(is_compared, i);
    }
    if (pair->distance <= ND_DISTANCE_MAX) {
        ((uint32_t *)distance)[i] = pair->distance;
        nd_py_set_bit(has_distance, i);
    }
}

/* Make the columns of signature k for all pairs: how much the two documents share, and how much
 * each has, the earlier one first. */
static PyObject *agreements(const struct pairs_of_frame *r, unsigned k)
{
    static const struct nd_py_column_type type[] = {
        {"shared", "L", 8, NULL, 0}, {"a", "L", 8, NULL, 0}, {"b", "L", 8, NULL, 0}};
    void *values[3];
    PyObject *columns = nd_py_columns(type, 3, r->n, values, NULL);

    for (size_t i = 0; columns && i < r->n; i++) {
        const struct nd_agreement *x = &r->agreement[i * r->n_signatures + k];

        ((uint64_t *)values[0])[i] = x->shared;
        ((uint64_t *)values[1])[i] = x->b;
        ((uint64_t *)values[2])[i] = x->a;
    }
    return columns;
}

static PyObject *all_agreements(const struct pairs_of_frame *r)
{
    PyObject *list = PyList_New(0);

    for (unsigned k = 0; list && k < r->n_signatures; k++) {
        PyObject *columns = agreements(r, k);
        PyObject *pair =
            columns ? Py_BuildValue("sN", nd_recipe_signature_name(r->recipe, k), columns) : NULL;

        if (!pair || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    return list;
}

static PyObject *measures(const struct pairs_of_frame *r)
{
    static const struct nd_py_column_type all_type[] = {{"row_a", "L", 8, NULL, 0},
                                                        {"row_b", "L", 8, NULL, 0},
                                                        {"is_equal", "b", 0, NULL, 0},
                                                        {"matches", "b", 0, NULL, 0}};
    static const struct nd_py_column_type compared_type[] = {{"jaccard", "g", 8, NULL, 0},
                                                             {"shared", "L", 8, NULL, 0},
                                                             {"union", "L", 8, NULL, 0},
                                                             {"a", "L", 8, NULL, 0},
                                                             {"b", "L", 8, NULL, 0}};
    static const struct nd_py_column_type distance_type = {"distance", "I", 4, NULL, 0};
    void *values[4], *compared_values[5], *distances;
    uint8_t *is_compared, *has_distance;
    PyObject *all = nd_py_columns(all_type, 4, r->n, values, NULL);
    PyObject *compared = nd_py_columns(compared_type, 5, r->n, compared_values, &is_compared);
    PyObject *distance = nd_py_columns(&distance_type, 1, r->n, &distances, &has_distance);
    PyObject *columns = NULL;

    if (all && compared && distance) {
        for (size_t i = 0; i < r->n; i++)
            put_pair(r, i, values, compared_values, is_compared, distances, has_distance);
        columns = Py_BuildValue("OOO", all, compared, distance);
    }
    Py_XDECREF(all);
    Py_XDECREF(compared);
    Py_XDECREF(distance);
    return columns;
}

/* The host of each row's address.  False: out of memory. */
static bool number_hosts(const struct nd_py_frame *frame, const struct nd_py_column *column,
                         uint32_t *site)
{
    struct nd_groups hosts = {0};
    char host[ND_HOST_MAX + 1];
    bool is_good = true;

    for (size_t i = 0; is_good && i < frame->n_rows; i++) {
        struct nd_view name = {NULL, 0}, path;

        if (column->value[i].data && nd_address_split(column->value[i], host, &name.len, &path))
            name.data = host;
        is_good = nd_groups_number(&hosts, name, &site[i]);
    }
    nd_groups_release(&hosts);
    return is_good;
}

static PyObject *sites(const struct pairs_of_frame *r, const struct nd_py_column *column)
{
    uint32_t *site = nd_alloc_array(r->documents.frame->n_rows + 1, sizeof *site);
    const struct texts t = {.run = r, .site = site};
    PyObject *made = site && number_hosts(r->documents.frame, column, site)
                         ? nd_py_text_column("site", r->n, site_at, &t)
                         : PyErr_NoMemory();

    free(site);
    return made;
}

/* (number of pairs, measures, agreements, sites or None) */
static PyObject *take_columns(const struct pairs_of_frame *r, const struct nd_py_column *site)
{
    PyObject *all = measures(r), *signatures = all ? all_agreements(r) : NULL, *hosts = NULL,
             *result = NULL;

    if (signatures)
        hosts = site ? sites(r, site) : Py_NewRef(Py_None);
    if (hosts)
        result = Py_BuildValue("nOOO", (Py_ssize_t)r->n, all, signatures, hosts);
    Py_XDECREF(all);
    Py_XDECREF(signatures);
    Py_XDECREF(hosts);
    return result;
}

static bool make_engine(struct pairs_of_frame *r, const struct nd_recipe *recipe, unsigned threads,
                        struct nd_ratio near, const struct nd_text_source *source)
{
    struct nd_dedup_options options = nd_dedup_options_default();
    struct nd_error err = {0};

    options.makes_pairs = 1;
    options.threads = threads;
    options.source = source;
    r->recipe = nd_recipe_copy(recipe, &err);
    if (r->recipe && nd_pair_rule_set(&r->rule, &r->recipe->dedup, near, &err) == ND_OK)
        r->streamed = (struct nd_streamed){.dedup = nd_dedup_new(r->recipe, &options, &err),
                                           .cluster = ND_CLUSTER_PAIRS,
                                           .found = found,
                                           .context = r};
    if (!r->streamed.dedup)
        nd_py_raise(r->module, &err);
    r->n_signatures = (unsigned)nd_recipe_signatures(recipe);
    return r->streamed.dedup != NULL;
}

/*
 * pairs(recipe, frame, threads, near misses, within column, never, field columns, site column,
 * progress): near misses is a pair of integers, a ratio, 0 and 0 for none.
 */
static PyObject *pairs(PyObject *module, PyObject *args)
{
    PyObject *recipe_capsule, *frame_capsule, *never, *fields, *progress, *columns = NULL;
    struct pairs_of_frame r = {.module = module};
    const struct nd_text_source source = nd_py_documents_source(&r.documents);
    const struct nd_recipe *recipe;
    unsigned threads, within, site;
    struct nd_ratio near;

    if (!PyArg_ParseTuple(args, "OOI(II)IO!O!IO", &recipe_capsule, &frame_capsule, &threads,
                          &near.p, &near.q, &within, &PyTuple_Type, &never, &PyTuple_Type, &fields,
                          &site, &progress) ||
        !(recipe = nd_py_recipe(recipe_capsule)) ||
        !(r.documents.frame = nd_py_frame(frame_capsule)))
        return NULL;
    if (nd_py_documents_take_fields(&r.documents, fields) &&
        nd_py_documents_group(&r.documents, within, never) && nd_py_documents_list(&r.documents) &&
        make_engine(&r, recipe, threads, near, &source) && push_all(&r, progress))
        columns = take_columns(&r, nd_py_column_at(r.documents.frame, site));
    Py_BEGIN_ALLOW_THREADS;
    nd_dedup_free(r.streamed.dedup);
    Py_END_ALLOW_THREADS;
    nd_recipe_free(r.recipe);
    nd_py_documents_release(&r.documents);
    free(r.pair);
    free(r.agreement);
    return columns;
}

ND_PY_READS_FRAME(pairs, 1)

PyMethodDef nd_py_pairs_functions[] = {
    {"pairs", pairs_reading, METH_VARARGS, "All pairs of rows that match."},
    {NULL, NULL, 0, NULL},
};
