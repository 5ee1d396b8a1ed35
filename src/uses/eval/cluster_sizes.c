/* cluster_sizes.c - how large the clusters of a result are, and how many near duplicates each has */

/*
 * The near duplicates of a document are the others in pairs with it; of clusters and manifests, all
 * others of its cluster. Clusters are connected components. With a curve, pairs are joined from the
 * best value on, and figures are taken after each value (Seshasai 2009, Table 6.2 and Figure 6-2).
 */
#include "uses/eval/curve.h"
#include "uses/eval/evaluation.h"
#include "uses/eval/score_cells.h"
#include "uses/eval/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 1000 };

struct sizing {
    const struct nd_clusters_params *params;
    struct nd_eval_ids ids;
    bool has_documents;
    uint64_t n_documents; /* there are */
    struct nd_sets sets;
    uint64_t *near; /* by document - 1: near duplicates */
    size_t n;       /* documents with a name, which the two arrays have */
    uint64_t n_pairs;
    struct nd_use rows;
    FILE *stream;
};

/* The sizes of components, and of documents with their near duplicates, as histograms. */
struct size_counts {
    uint64_t *clusters, *documents; /* [size] */
    size_t largest;
};

static enum nd_status no_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Count the sizes. False: out of memory. */
static bool count_sizes(struct sizing *x, struct size_counts *c)
{
    uint64_t *size = calloc(x->n + 1, sizeof *size), most = 0;

    for (size_t i = 0; size && i < x->n; i++) {
        const uint64_t joined = ++size[nd_sets_root(&x->sets, (uint32_t)i)];

        most = joined > most ? joined : most;
        most = x->near[i] + 1 > most ? x->near[i] + 1 : most;
    }
    c->clusters = calloc(most + 2, sizeof *c->clusters);
    c->documents = calloc(most + 2, sizeof *c->documents);
    for (size_t i = 0; size && c->clusters && c->documents && i < x->n; i++) {
        if (size[i])
            c->clusters[size[i]]++;
        c->documents[x->near[i] + 1]++;
    }
    if (size && c->clusters && c->documents) {
        c->clusters[1] += x->n_documents - x->n;
        c->documents[1] += x->n_documents - x->n;
    }
    c->largest = most;
    free(size);
    return size && c->clusters && c->documents;
}

static void put_begin(struct sizing *x, const char *path, const double *at)
{
    nd_cell_text(&x->rows, "result", (struct nd_view){path, strlen(path)});
    if (!at)
        return;
    if (fabs(*at) < 1e15 && !(floor(*at) < *at))
        nd_cell_int(&x->rows, "at", (int64_t)*at);
    else
        nd_cell_double(&x->rows, "at", *at);
}

static double quotient(double over, double under)
{
    return under > 0 ? over / under : NAN;
}

static enum nd_status put_figures(struct sizing *x, const char *path, const double *at,
                                  const struct size_counts *c, struct nd_error *err)
{
    uint64_t clusters = 0, members = 0, largest = 0, near = 0, most_near = 0;
    struct nd_use *rows = &x->rows;

    for (size_t size = 1; size <= c->largest; size++) {
        clusters += size > 1 ? c->clusters[size] : 0;
        members += size > 1 ? c->clusters[size] * size : 0;
        largest = c->clusters[size] ? size : largest;
        near += c->documents[size] * (size - 1);
        most_near = c->documents[size] ? size - 1 : most_near;
    }
    put_begin(x, path, at);
    nd_cell_uint(rows, "documents", x->n_documents);
    nd_cell_uint(rows, "pairs", x->n_pairs);
    nd_cell_uint(rows, "clusters", clusters);
    nd_cell_uint(rows, "members", members);
    nd_cell_uint(rows, "alone", x->n_documents - members);
    nd_cell_uint(rows, "largest_cluster", largest ? largest : x->n_documents > 0);
    nd_cell_figure(rows, "mean_cluster", quotient((double)members, (double)clusters));
    nd_cell_figure(rows, "mean_with_alone",
                   quotient((double)x->n_documents, (double)(clusters + x->n_documents - members)));
    nd_cell_figure(rows, "mean_near", quotient((double)near, (double)x->n_documents));
    nd_cell_uint(rows, "most_near", most_near);
    return nd_row_put(rows, x->stream, err);
}

static enum nd_status put_sizes(struct sizing *x, const char *path, const double *at,
                                const struct size_counts *c, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t size = 1; status == ND_OK && size <= c->largest; size++) {
        if (!c->clusters[size] && !c->documents[size])
            continue;
        put_begin(x, path, at);
        nd_cell_uint(&x->rows, "size", size);
        nd_cell_uint(&x->rows, "clusters", c->clusters[size]);
        nd_cell_uint(&x->rows, "documents", c->documents[size]);
        status = nd_row_put(&x->rows, x->stream, err);
    }
    return status;
}

/* Tell of each size that occurs. */
static void tell_sizes(const struct sizing *x, const char *path, const struct size_counts *c)
{
    for (size_t size = 1; size <= c->largest; size++) {
        const struct nd_cluster_count count = {path, size, c->clusters[size], c->documents[size]};

        if (count.clusters || count.documents)
            x->params->each_size(x->params->context, &count);
    }
}

static enum nd_status put(struct sizing *x, const char *path, const double *at,
                          struct nd_error *err)
{
    struct size_counts counts = {.largest = 0};
    enum nd_status status = count_sizes(x, &counts) ? ND_OK : no_memory(err);

    if (status == ND_OK)
        status = x->params->by_size ? put_sizes(x, path, at, &counts, err)
                                    : put_figures(x, path, at, &counts, err);
    if (status == ND_OK && x->params->each_size && !x->params->curve)
        tell_sizes(x, path, &counts);
    free(counts.clusters);
    free(counts.documents);
    return status == ND_OK && ferror(x->stream) ? nd_fail(err, ND_EIO, "cannot write") : status;
}

/* ---- Results --------------------------------------------------------------------------------- */

static void join(struct sizing *x, uint64_t ids)
{
    const uint32_t a = (uint32_t)(ids >> 32) - 1, b = (uint32_t)ids - 1;

    nd_sets_join(&x->sets, a, b);
    x->near[a]++;
    x->near[b]++;
    x->n_pairs++;
}

/* Join the documents of each set, and give each all others as near duplicates. */
static enum nd_status join_sets(struct sizing *x, const struct nd_relation *r, struct nd_error *err)
{
    struct first_of_set {
        uint32_t first, size;
    } *set = calloc((size_t)r->n_sets + 1, sizeof *set);

    if (!set)
        return no_memory(err);
    for (uint32_t id = 1; id <= r->n_ids; id++) {
        struct first_of_set *s = &set[r->set[id - 1]];

        if (!r->set[id - 1])
            continue;
        if (s->size++)
            nd_sets_join(&x->sets, s->first, id - 1);
        else
            s->first = id - 1;
        x->n_pairs += s->size - 1;
    }
    for (uint32_t id = 1; id <= r->n_ids; id++)
        if (r->set[id - 1])
            x->near[id - 1] = set[r->set[id - 1]].size - 1;
    free(set);
    return ND_OK;
}

static int rising(const void *left, const void *right)
{
    const struct nd_related *a = left, *b = right;

    if (a->value < b->value || a->value > b->value)
        return a->value < b->value ? -1 : 1;
    return a->ids < b->ids ? -1 : a->ids > b->ids;
}

static int falling(const void *left, const void *right)
{
    return rising(right, left);
}

static enum nd_status put_curve(struct sizing *x, const char *path, struct nd_relation *r,
                                bool is_ascending, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    unsigned values = 0;

    if (r->n_pairs)
        qsort(r->pair, r->n_pairs, sizeof *r->pair, is_ascending ? rising : falling);
    for (size_t i = 0; status == ND_OK && i < r->n_pairs; i++) {
        const double at = r->pair[i].value;

        join(x, r->pair[i].ids);
        if (i + 1 < r->n_pairs && !(r->pair[i + 1].value < at) && !(r->pair[i + 1].value > at))
            continue;
        if (++values > VALUES_MAX)
            return nd_fail(err, ND_EINPUT, "%s: the column '%.60s' has more than %d values", path,
                           x->params->curve, VALUES_MAX);
        status = put(x, path, &at, err);
    }
    return status;
}

static enum nd_status put_result(struct sizing *x, const char *path, struct nd_relation *r,
                                 bool is_ascending, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (x->params->curve && r->form != ND_EVAL_PAIRS)
        return nd_fail(err, ND_EINPUT, "%s: --curve needs a result of pairs", path);
    x->n = x->ids.names.count;
    x->n_documents = x->params->total && !x->has_documents ? x->params->total : x->n;
    if (x->n_documents < x->n)
        return nd_fail(err, ND_EINPUT, "%s: %zu documents are named, more than --total", path,
                       x->n);
    x->n_pairs = 0;
    x->near = calloc(x->n + 1, sizeof *x->near);
    if (!x->near || !nd_sets_begin(&x->sets, x->n))
        return no_memory(err);
    if (x->params->curve)
        return put_curve(x, path, r, is_ascending, err);
    if (r->has_sets)
        status = join_sets(x, r, err);
    for (size_t i = 0; !r->has_sets && i < r->n_pairs; i++)
        join(x, r->pair[i].ids);
    return status == ND_OK ? put(x, path, NULL, err) : status;
}

/* Without --documents, each result has its own. */
static enum nd_status size_result(struct sizing *x, const char *path, struct nd_error *err)
{
    bool is_ascending = false;
    char *column = x->params->curve ? nd_curve_column(x->params->curve, &is_ascending) : NULL;
    const struct nd_relation_request request = {
        .form = x->params->result_form, .refuses_strangers = x->has_documents, .value = column};
    struct nd_relation result = {.n_pairs = 0};
    enum nd_status status = x->params->curve && !column ? no_memory(err) : ND_OK;

    if (!x->has_documents)
        nd_eval_ids_release(&x->ids);
    x->ids = x->has_documents ? x->ids : (struct nd_eval_ids){.n_known = 0};
    if (status == ND_OK)
        status = nd_relation_read(&result, path, &request, &x->ids, err);
    if (status == ND_OK)
        status = put_result(x, path, &result, is_ascending, err);
    free(x->near);
    nd_sets_release(&x->sets);
    x->near = NULL;
    nd_relation_release(&result);
    free(column);
    return status;
}

enum nd_status nd_run_clusters(const struct nd_run_options *options,
                               const struct nd_clusters_params *params,
                               const struct nd_run_events *events, FILE *stream,
                               struct nd_error *err)
{
    struct sizing x = {.params = params,
                       .has_documents = options->n_paths > 0,
                       .rows = {.is_json = params->json != 0},
                       .stream = stream};
    struct nd_error room = {0};
    enum nd_status status = ND_OK;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    if (!params->n_results)
        return nd_fail(err, ND_EINVAL, "no result: name files of pairs or clusters, or manifests");
    if (x.has_documents)
        status = nd_eval_ids_read(&x.ids, NULL, options, events, err);
    for (size_t i = 0; status == ND_OK && i < params->n_results; i++)
        status = size_result(&x, params->results[i], err);
    nd_eval_ids_release(&x.ids);
    nd_json_release(&x.rows.row);
    nd_json_release(&x.rows.head);
    return nd_run_status(status, err);
}
