/* eval.c - results measured against the truth: the run, and a row for each result */

/*
 * The ids of the documents are read first, if some are given, then the truth, and then one result
 * after the other. Memory holds the truth and one result: 24 bytes for each pair that is listed,
 * and some 100 for each document.
 */
#include "uses/eval/curve.h"
#include "uses/eval/estimates.h"
#include "uses/eval/evaluation.h"
#include "uses/eval/lost.h"
#include "uses/eval/score_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 1000 };  /* of a column that has a row for each */
enum { RUNS_MAX = 1 << 23 }; /* that are kept of those of all documents: 256 MB at most */

/* The runs of words that a result takes away, counted while the documents are read again. */
struct losing {
    struct nd_use documents;
    struct nd_eval_ids *ids;
    const struct nd_relation *result;
    struct nd_sketcher *sketcher;
    struct nd_lost lost;
};

struct evaluating {
    struct nd_evaluation against;
    const struct nd_run_options *options; /* of reading the documents */
    struct nd_use rows;                   /* the cells of the table */
    FILE *stream;
};

struct nd_eval_params nd_eval_params_default(void)
{
    return (struct nd_eval_params){.resamplings = 1000, .seed = 1};
}

/* ---- Runs of words that are lost ------------------------------------------------------------- */

static enum nd_status take_runs(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct losing *l = context;
    const struct nd_name name = nd_use_name(&l->documents, parsed);
    const struct nd_view text = parsed->document.text;
    struct nd_sketch sketch;
    struct nd_view plain;
    bool good = nd_eval_ids_plain(l->ids, name.text, &plain), is_kept;

    if (good)
        good = nd_sketcher_run(l->sketcher, text.data, text.len, 0, &sketch) == ND_OK;
    is_kept = good &&
              nd_relation_fate(l->result, nd_groups_find(&l->ids->names, plain)) != ND_FATE_REMOVED;
    for (uint64_t i = 0; good && i < sketch.n_shingles; i++)
        good = nd_lost_add(&l->lost, sketch.shingle[i], is_kept);
    return good ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for runs of words");
}

/* Read the documents again, and count the runs of those that the result removes. */
static enum nd_status count_lost(struct evaluating *e, const struct nd_relation *result,
                                 struct nd_runs_lost *out, struct nd_error *err)
{
    static const struct nd_run_request request = {.ignores_signatures = true};
    const struct nd_sketch_params three_words = nd_sketch_params_default();
    struct losing l = {.ids = &e->against.ids, .result = result, .lost = {.most = RUNS_MAX}};
    enum nd_status status = nd_use_begin(&l.documents, e->options, &request, NULL, err);

    l.sketcher = nd_sketcher_new(&three_words, err);
    if (status == ND_OK && !l.sketcher)
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = nd_use_walk(&l.documents, -1, take_runs, &l, err);
    status = nd_use_end(&l.documents, status, 0, NULL, err);
    nd_lost_count(&l.lost, &out->removed, &out->lost);
    out->is_known = true;
    nd_sketcher_free(l.sketcher);
    nd_lost_release(&l.lost);
    return status;
}

/* ---- A row ----------------------------------------------------------------------------------- */

static enum nd_status end_row(struct evaluating *e, struct nd_error *err)
{
    enum nd_status status = nd_row_put(&e->rows, e->stream, err);

    return status == ND_OK && ferror(e->stream) ? nd_fail(err, ND_EIO, "cannot write") : status;
}

/* ---- A curve, and a row for each value ------------------------------------------------------- */

/* A value of the curve; a whole number without an exponent. */
static void put_value_of(struct nd_use *rows, double at)
{
    if (fabs(at) < 1e15 && !(floor(at) < at))
        nd_cell_int(rows, "at", (int64_t)at);
    else
        nd_cell_double(rows, "at", at);
}

static enum nd_status put_curve(struct evaluating *e, const char *path,
                                const struct nd_curve *curve, bool knows_wrong,
                                struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < curve->n_steps; i++) {
        const struct nd_curve_step *s = &curve->step[i];
        const double right = (double)s->right, listed = (double)s->listed,
                     same = (double)curve->same;
        struct nd_use *rows = &e->rows;

        nd_cell_text(rows, "result", (struct nd_view){path, strlen(path)});
        put_value_of(rows, s->at);
        nd_cell_count(rows, "listed", s->listed, true);
        nd_cell_count(rows, "right", s->right, true);
        nd_cell_count(rows, "wrong", s->listed - s->right, knows_wrong);
        nd_cell_count(rows, "missed", curve->same - s->right, true);
        nd_cell_figure(rows, "precision", knows_wrong ? right / listed : NAN);
        nd_cell_figure(rows, "recall", curve->same ? right / same : NAN);
        nd_cell_figure(rows, "f1", knows_wrong ? 2 * right / (listed + same) : NAN);
        nd_cell_figure(rows, "average_precision", curve->average_precision);
        if (e->against.params->each_point) {
            const struct nd_eval_point point = {path, s->at, knows_wrong ? right / listed : NAN,
                                                curve->same ? right / same : NAN};

            e->against.params->each_point(e->against.params->context, &point);
        }
        nd_cell_figure(rows, "break_even", curve->break_even);
        status = end_row(e, err);
    }
    return status;
}

static int by_value(const void *left, const void *right)
{
    const struct nd_related *a = left, *b = right;

    if (a->value < b->value || a->value > b->value)
        return a->value < b->value ? -1 : 1;
    return a->ids < b->ids ? -1 : a->ids > b->ids;
}

/* Pairs that have one value. */
struct valued {
    struct nd_view value;
    struct nd_related *pair; /* of the result */
    size_t n_pairs;
    struct nd_same_part part; /* of the truth */
};

/* The row of a value. */
static enum nd_status put_value(struct evaluating *e, const char *path, const struct valued *v,
                                struct nd_error *err)
{
    const struct nd_relation part = {.form = ND_EVAL_PAIRS, .pair = v->pair, .n_pairs = v->n_pairs};
    struct nd_scores scores = {.n_sets = 0};
    struct nd_rated rated[ND_RATES], unknown = {NAN, NAN, NAN};
    enum nd_no_interval why = ND_INTERVALS;
    enum nd_status status = nd_scores_count(&scores, &e->against.truth, &part,
                                            e->against.ids.n_known, e->against.all, &v->part, err);

    if (status == ND_OK)
        status = nd_resample(&scores, e->against.params->resamplings, e->against.params->seed,
                             rated, &why, err);
    if (status == ND_OK) {
        const struct nd_pair_counts *x = &scores.sum.pairs;
        struct nd_use *rows = &e->rows;

        nd_cell_text(rows, "result", (struct nd_view){path, strlen(path)});
        nd_cell_text(rows, "value", v->value);
        nd_cell_count(rows, "listed", x->listed, true);
        nd_cell_count(rows, "right", x->right, true);
        nd_cell_count(rows, "wrong", x->listed - x->right, scores.has_negatives);
        nd_cell_count(rows, "unclear", scores.unsure, true);
        nd_cell_count(rows, "unlabelled", scores.unlabelled, true);
        nd_cell_count(rows, "missed", x->same - x->right, v->part.same != NULL);
        nd_cell_rated(rows, "precision", &rated[ND_RATE_PRECISION]);
        nd_cell_rated(rows, "recall", v->part.same ? &rated[ND_RATE_RECALL] : &unknown);
        nd_cell_rated(rows, "f1", v->part.same ? &rated[ND_RATE_F1] : &unknown);
        nd_cell_count(rows, "components", scores.n_paired, true);
        nd_cell_notes(rows, &scores, why);
        status = end_row(e, err);
    }
    nd_scores_release(&scores);
    return status;
}

/* The pairs of the truth, divided by the values of documents. */
struct divided {
    struct nd_same_value *entry;
    struct nd_same_pairs *pairs; /* of the entries */
    size_t n;
};

static enum nd_status divide_truth(struct evaluating *e, struct nd_relation *result,
                                   struct divided *d, struct nd_error *err)
{
    bool good = nd_attributes_divide(&e->against.attributes, &e->against.truth, &result->texts,
                                     &d->entry, &d->n);

    if (good) {
        d->pairs = nd_alloc_array(d->n + 1, sizeof *d->pairs);
        good = d->pairs != NULL;
    }
    for (size_t i = 0; good && i < d->n; i++)
        d->pairs[i] = d->entry[i].pairs;
    return good ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for pairs of the truth");
}

/* A row for each value of the column, in the order of their first appearance, those of documents that
 * only pairs of the truth have last. */
static enum nd_status put_each_value(struct evaluating *e, const char *path,
                                     struct nd_relation *result, const struct divided *d,
                                     struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t from = 0, at = 0;

    for (size_t i = 0; status == ND_OK && i < result->texts.count; i++) {
        const double number = (double)(i + 1);
        struct valued v = {.value = result->texts.value[i],
                           .pair = result->pair + from,
                           .part = {.same = d->pairs ? d->pairs + at : NULL}};

        for (; from < result->n_pairs && !(result->pair[from].value > number); from++)
            v.n_pairs++;
        for (; at < d->n && d->entry[at].value == i + 1; at++)
            v.part.n++;
        if (v.n_pairs || v.part.n)
            status = put_value(e, path, &v, err);
    }
    return status;
}

static enum nd_status put_values(struct evaluating *e, const char *path, struct nd_relation *result,
                                 struct nd_error *err)
{
    struct divided d = {.n = 0};
    enum nd_status status = ND_OK;

    if (e->against.attributes.kind != ND_ATTRIBUTE_NONE)
        status = divide_truth(e, result, &d, err);
    if (status == ND_OK && result->texts.count > VALUES_MAX)
        status = nd_fail(err, ND_EINPUT, "%s: the column '%.60s' has more than %d values", path,
                         e->against.params->by, VALUES_MAX);
    if (result->n_pairs)
        qsort(result->pair, result->n_pairs, sizeof *result->pair, by_value);
    if (status == ND_OK)
        status = put_each_value(e, path, result, &d, err);
    free(d.entry);
    free(d.pairs);
    return status;
}

/* ---- A result -------------------------------------------------------------------------------- */

static enum nd_status put_whole(struct evaluating *e, const char *path,
                                const struct nd_relation *result, const struct nd_scores *scores,
                                struct nd_error *err)
{
    struct nd_rated rated[ND_RATES];
    enum nd_no_interval why = ND_INTERVALS;
    struct nd_runs_lost lost = {.is_known = false};
    enum nd_status status = nd_resample(scores, e->against.params->resamplings,
                                        e->against.params->seed, rated, &why, err);

    if (status == ND_OK && e->against.params->counts_lost && result->has_fates)
        status = count_lost(e, result, &lost, err);
    if (status != ND_OK)
        return status;
    nd_cell_text(&e->rows, "result", (struct nd_view){path, strlen(path)});
    nd_cell_form(&e->rows, result);
    if (e->against.truth.form == ND_EVAL_CLASSES)
        nd_cells_of_classes(&e->rows, scores);
    else
        nd_cells_of_pairs(&e->rows, scores, &lost, rated, why);
    return end_row(e, err);
}

static enum nd_status draw_curve(struct evaluating *e, const char *path,
                                 const struct nd_relation *result, const struct nd_scores *scores,
                                 bool is_ascending, struct nd_error *err)
{
    struct nd_curve curve = {.n_steps = 0};
    enum nd_status status =
        nd_curve_make(&curve, &e->against.truth, result, scores, e->against.ids.n_known,
                      e->against.all, is_ascending, err);

    if (status == ND_OK)
        status = put_curve(e, path, &curve, scores->has_negatives, err);
    nd_curve_release(&curve);
    return status;
}

/* Estimates from a sample of clusters; documents of the result alone are there, too. */
static enum nd_status put_estimates(struct evaluating *e, const char *path,
                                    const struct nd_relation *result, struct nd_error *err)
{
    static const char *const name[ND_ESTIMATES] = {
        "precision",    "recall",           "f1",           "exact_precision",
        "exact_recall", "bcubed_precision", "bcubed_recall"};
    const size_t n = e->against.has_documents ? e->against.ids.n_known : e->against.ids.names.count;
    const struct nd_view few = {"no intervals: fewer than 20 clusters were drawn", 47},
                         none = {"", 0};
    struct nd_rated rated[ND_ESTIMATES];
    enum nd_status status;
    size_t drawn;

    if (!result->has_sets)
        return nd_fail(err, ND_EINPUT,
                       "%s: --universe sample needs clusters or a manifest, or --close", path);
    status = nd_estimate(&e->against.truth, result, n, e->against.params->weighs_by_size != 0,
                         rated, &drawn, err);
    if (status != ND_OK)
        return status;
    nd_cell_text(&e->rows, "result", (struct nd_view){path, strlen(path)});
    nd_cell_form(&e->rows, result);
    nd_cell_uint(&e->rows, "documents", n);
    nd_cell_uint(&e->rows, "clusters_drawn", drawn);
    for (unsigned k = 0; k < ND_ESTIMATES; k++)
        nd_cell_rated(&e->rows, name[k], &rated[k]);
    nd_cell_text(&e->rows, "note", drawn < 20 ? few : none);
    return end_row(e, err);
}

static enum nd_status put_result(struct evaluating *e, const char *path, struct nd_relation *result,
                                 bool is_ascending, struct nd_error *err)
{
    const struct nd_eval_params *p = e->against.params;
    struct nd_scores scores = {.n_sets = 0};
    enum nd_status status;

    if ((p->by || p->curve) && result->form != ND_EVAL_PAIRS)
        return nd_fail(err, ND_EINPUT, "%s: %s needs a result of pairs", path,
                       p->by ? "--by" : "--curve");
    if (p->by)
        return put_values(e, path, result, err);
    if (p->universe == ND_EVAL_SAMPLE)
        return put_estimates(e, path, result, err);
    status = nd_scores_count(&scores, &e->against.truth, result, e->against.ids.n_known,
                             e->against.all, NULL, err);
    if (status == ND_OK)
        status = p->curve ? draw_curve(e, path, result, &scores, is_ascending, err)
                          : put_whole(e, path, result, &scores, err);
    nd_scores_release(&scores);
    return status;
}

static enum nd_status evaluate(struct evaluating *e, const char *path, struct nd_error *err)
{
    const struct nd_eval_params *p = e->against.params;
    bool is_ascending = false;
    char *column = p->curve ? nd_curve_column(p->curve, &is_ascending) : NULL;
    const bool of_documents = e->against.attributes.kind != ND_ATTRIBUTE_NONE;
    const struct nd_relation_request request = {.form = p->result_form,
                                                .refuses_strangers =
                                                    e->against.all || e->against.has_documents,
                                                .closes = p->closes != 0,
                                                .value = !p->by         ? column
                                                         : of_documents ? NULL
                                                                        : p->by,
                                                .value_is_text = p->by != NULL};
    struct nd_relation result = {.n_pairs = 0};
    enum nd_status status = p->curve && !column
                                ? nd_fail(err, ND_ENOMEM, "out of memory")
                                : nd_relation_read(&result, path, &request, &e->against.ids, err);

    if (status == ND_OK && of_documents && !nd_attributes_apply(&e->against.attributes, &result))
        status = nd_fail(err, ND_ENOMEM, "out of memory for %zu pairs", result.n_pairs);
    if (status == ND_OK)
        status = put_result(e, path, &result, is_ascending, err);
    nd_relation_release(&result);
    free(column);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static enum nd_status check(const struct nd_run_options *options, const struct nd_eval_params *p,
                            struct nd_error *err)
{
    size_t n = 0;

    if (!p->truth)
        return nd_fail(err, ND_EINVAL, "no truth: name a file of labelled pairs or of clusters");
    if (!p->n_results)
        return nd_fail(err, ND_EINVAL, "no result: name files of pairs or clusters, or manifests");
    if (p->has_at && p->n_positive)
        return nd_fail(err, ND_EINVAL, "labels are scores or grades: give --at or --positive");
    if (p->counts_lost && !options->n_paths)
        return nd_fail(err, ND_EINVAL, "lost runs of words are those of --documents: name them");
    if ((p->curve != NULL) + (p->by != NULL) + (p->closes != 0) > 1)
        return nd_fail(err, ND_EINVAL, "only one of --curve, --by and --close can be given");
    if (p->universe == ND_EVAL_SAMPLE && (p->curve || p->by || p->counts_lost))
        return nd_fail(err, ND_EINVAL,
                       "--curve, --by and --lost cannot be estimated from a sample");
    n += strcmp(p->truth, "-") == 0;
    for (size_t i = 0; i < p->n_results; i++)
        n += strcmp(p->results[i], "-") == 0;
    for (size_t i = 0; i < options->n_paths; i++)
        n += (p->counts_lost ? 2U : 1U) * (strcmp(options->paths[i], "-") == 0);
    return n < 2 ? ND_OK
                 : nd_fail(err, ND_EINVAL,
                           "only one file can be the standard input, and not "
                           "one that is read twice");
}

enum nd_status nd_run_eval(const struct nd_run_options *options,
                           const struct nd_eval_params *params, const struct nd_run_events *events,
                           FILE *stream, struct nd_error *err)
{
    struct evaluating e = {
        .options = options, .rows = {.is_json = params->json != 0}, .stream = stream};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(options, params, err);
    if (status == ND_OK)
        status = nd_evaluation_read(&e.against, options, params, events, err);
    for (size_t i = 0; status == ND_OK && i < params->n_results; i++)
        status = evaluate(&e, params->results[i], err);
    nd_evaluation_release(&e.against);
    nd_json_release(&e.rows.row);
    nd_json_release(&e.rows.head);
    return nd_run_status(status, err);
}
