/* eval.c - results measured against the truth: the run, and a row for each result */

/*
 * The ids of the documents are read first, if some are given, then the truth, and then one result
 * after the other. Memory holds the truth and one result: 24 bytes for each pair that is listed,
 * and some 100 for each document.
 */
#include "uses/eval/curve.h"
#include "uses/eval/lost.h"
#include "uses/eval/resample.h"
#include "uses/use.h"

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
    uint64_t n_removed, n_lost;
};

struct evaluating {
    const struct nd_eval_params *params;
    struct nd_eval_ids ids;
    struct nd_relation truth;
    bool has_documents, all;
    const struct nd_run_options *options; /* of reading the documents */
    struct nd_use documents;              /* that are read */
    struct nd_use rows;                   /* the cells of the table */
    FILE *stream;
};

struct nd_eval_params nd_eval_params_default(void)
{
    return (struct nd_eval_params){.resamplings = 1000, .seed = 1};
}

/* ---- What is read ---------------------------------------------------------------------------- */

static enum nd_status take(void *context, const struct nd_parsed *parsed, struct nd_error *err)
{
    struct evaluating *e = context;
    const struct nd_name name = nd_use_name(&e->documents, parsed);
    const size_t before = e->ids.names.count;
    struct nd_view plain;
    char shown[100];
    uint32_t id;

    if (!nd_eval_ids_plain(&e->ids, name.text, &plain) ||
        !nd_groups_number(&e->ids.names, plain, &id))
        return nd_fail(err, ND_ENOMEM, "out of memory for %zu ids", before);
    if (e->ids.names.count > before)
        return ND_OK;
    nd_name_show(name.text, shown, sizeof shown);
    return nd_fail(err, ND_EINPUT,
                   "%s:%" PRIu64 ": the id '%s' again: each document needs an id of its own",
                   parsed->source->path, parsed->record.line, shown);
}

static enum nd_status read_documents(struct evaluating *e, const struct nd_run_options *options,
                                     const struct nd_run_events *events, struct nd_error *err)
{
    static const struct nd_run_request request = {.ignores_signatures = true};
    enum nd_status status = nd_use_begin(&e->documents, options, &request, events, err);

    if (status == ND_OK)
        status = nd_use_walk(&e->documents, -1, take, e, err);
    return nd_use_end(&e->documents, status, 0, NULL, err);
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
                                 struct losing *l, struct nd_error *err)
{
    static const struct nd_run_request request = {.ignores_signatures = true};
    const struct nd_sketch_params three_words = nd_sketch_params_default();
    enum nd_status status = nd_use_begin(&l->documents, e->options, &request, NULL, err);

    l->ids = &e->ids;
    l->result = result;
    l->lost.most = RUNS_MAX;
    l->sketcher = nd_sketcher_new(&three_words, err);
    if (status == ND_OK && !l->sketcher)
        status = ND_ENOMEM;
    if (status == ND_OK)
        status = nd_use_walk(&l->documents, -1, take_runs, l, err);
    status = nd_use_end(&l->documents, status, 0, NULL, err);
    nd_lost_count(&l->lost, &l->n_removed, &l->n_lost);
    nd_sketcher_free(l->sketcher);
    nd_lost_release(&l->lost);
    return status;
}

static enum nd_status read_truth(struct evaluating *e, struct nd_error *err)
{
    const struct nd_eval_params *p = e->params;
    const struct nd_relation_request request = {
        .form = p->truth_form,
        .is_truth = true,
        .refuses_strangers = e->has_documents,
        .labels = {p->has_at != 0, p->at, p->positive, p->n_positive}};
    enum nd_status status = nd_relation_read(&e->truth, p->truth, &request, &e->ids, err);

    if (!e->has_documents)
        e->ids.n_known = e->ids.names.count;
    if (status != ND_OK)
        return status;
    e->all = p->universe == ND_EVAL_ALL || (e->truth.has_sets && p->universe == ND_EVAL_UNSAID);
    if (p->universe == ND_EVAL_UNSAID && !e->truth.has_sets)
        return nd_fail(
            err, ND_EINVAL,
            "%s: the truth is of pairs: say with --universe which pairs count: labelled, "
            "those in the file (a sample that people judged), or all, where those that "
            "are not in the file are different (the pairs of an exact search)",
            p->truth);
    return ND_OK;
}

/* ---- A row ----------------------------------------------------------------------------------- */

static void put_count(struct nd_use *rows, const char *key, uint64_t count, bool is_known)
{
    static const struct nd_view none = {"-", 1};

    if (is_known)
        nd_cell_uint(rows, key, count);
    else if (rows->is_json)
        nd_cell_none(rows, key);
    else
        nd_cell_text(rows, key, none);
}

/* A figure: four digits behind the point for people, all in JSON. */
static void put_figure(struct nd_use *rows, const char *key, double value)
{
    char text[32];
    int len;

    if (isnan(value) || rows->is_json) {
        if (isnan(value))
            put_count(rows, key, 0, false);
        else
            nd_cell_double(rows, key, value);
        return;
    }
    len = snprintf(text, sizeof text, "%s%lld.%04lld", value < 0 ? "-" : "",
                   llabs(llround(value * 10000)) / 10000, llabs(llround(value * 10000)) % 10000);
    nd_cell_text(rows, key, (struct nd_view){text, (size_t)len});
}

static void put_rated(struct nd_use *rows, const char *key, const struct nd_rated *m)
{
    char part[64];

    put_figure(rows, key, m->value);
    snprintf(part, sizeof part, "%s_low", key);
    put_figure(rows, part, m->low);
    snprintf(part, sizeof part, "%s_high", key);
    put_figure(rows, part, m->high);
}

/* Say which figures are left out, and why. */
static void put_notes(struct nd_use *rows, const struct nd_scores *t, enum nd_no_interval why)
{
    char text[300];
    int len = 0;

    if (why == ND_FEW_COMPONENTS)
        len = snprintf(text, sizeof text, "no intervals: %zu components, and %d are needed",
                       t->n_paired, ND_COMPONENTS_MIN);
    else if (why == ND_ONE_COMPONENT)
        len = snprintf(text, sizeof text,
                       "no intervals: one component has half of the pairs or more");
    if (!t->has_negatives)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "%sno precision: the truth calls no pair different", len ? "; " : "");
    nd_cell_text(rows, "note", (struct nd_view){text, (size_t)len});
}

static struct nd_view word_of(const struct nd_relation *r)
{
    static const char *const word[] = {"", "pairs", "clusters", "manifest", "clusters"};
    const char *text = r->form == ND_EVAL_PAIRS && r->has_sets ? "closed pairs" : word[r->form];

    return (struct nd_view){text, strlen(text)};
}

static void put_classes(struct nd_use *rows, const struct nd_scores *t)
{
    const struct nd_pair_counts *x = &t->sum.pairs;

    put_count(rows, "documents", t->n_documents, true);
    put_count(rows, "listed", x->listed, true);
    put_count(rows, "mixed", x->listed - x->right, true);
    put_count(rows, "clusters", t->n_sets, t->has_sets);
    put_count(rows, "mixed_clusters", t->mixed_sets, t->has_sets);
    put_count(rows, "members", t->members, t->has_sets);
    put_count(rows, "mixed_members", t->mixed_members, t->has_sets);
    put_count(rows, "largest_cluster", t->largest_set, t->has_sets);
}

static void put_figures(struct nd_use *rows, const struct nd_scores *t, const struct losing *l,
                        const struct nd_rated m[ND_RATES], enum nd_no_interval why)
{
    static const char *const name[ND_RATES] = {
        "precision",         "recall",         "f1",         "query_recall",
        "cluster_precision", "cluster_recall", "cluster_f1", "bcubed_precision",
        "bcubed_recall",     "bcubed_f1"};
    const struct nd_pair_counts *x = &t->sum.pairs;

    put_count(rows, "documents", t->n_documents, true);
    put_count(rows, "listed", x->listed, true);
    put_count(rows, "right", x->right, true);
    put_count(rows, "wrong", x->listed - x->right, t->has_negatives);
    put_count(rows, "unclear", t->unsure, true);
    put_count(rows, "unlabelled", t->unlabelled, true);
    put_count(rows, "missed", x->same - x->right, true);
    for (unsigned i = 0; i < ND_RATE_SET_PRECISION; i++)
        put_rated(rows, name[i], &m[i]);
    put_count(rows, "clusters", t->n_sets, t->has_sets);
    put_count(rows, "largest_cluster", t->largest_set, t->has_sets);
    for (unsigned i = ND_RATE_SET_PRECISION; i < ND_RATES; i++)
        put_rated(rows, name[i], &m[i]);
    put_figure(rows, "adjusted_rand", t->has_true_sets ? nd_scores_rand(t) : NAN);
    put_count(rows, "true_clusters", t->n_true_sets, t->has_true_sets);
    put_count(rows, "exact_clusters", t->exact_sets, t->has_true_sets);
    put_count(rows, "removed", t->removed, t->knows_removed);
    put_count(rows, "removed_without_match", t->unmatched, t->knows_removed);
    put_count(rows, "runs_removed", l->n_removed, l->result != NULL);
    put_count(rows, "runs_lost", l->n_lost, l->result != NULL);
    put_count(rows, "components", t->n_paired, true);
    put_notes(rows, t, why);
}

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
        put_count(rows, "listed", s->listed, true);
        put_count(rows, "right", s->right, true);
        put_count(rows, "wrong", s->listed - s->right, knows_wrong);
        put_count(rows, "missed", curve->same - s->right, true);
        put_figure(rows, "precision", knows_wrong ? right / listed : NAN);
        put_figure(rows, "recall", curve->same ? right / same : NAN);
        put_figure(rows, "f1", knows_wrong ? 2 * right / (listed + same) : NAN);
        put_figure(rows, "average_precision", curve->average_precision);
        put_figure(rows, "break_even", curve->break_even);
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

/* The row of the n pairs of the result that have one value. */
static enum nd_status put_value(struct evaluating *e, const char *path, struct nd_view value,
                                struct nd_related *pair, size_t n, struct nd_error *err)
{
    const struct nd_relation part = {.form = ND_EVAL_PAIRS, .pair = pair, .n_pairs = n};
    struct nd_scores scores = {.n_sets = 0};
    struct nd_rated rated[ND_RATES];
    enum nd_no_interval why = ND_INTERVALS;
    enum nd_status status = nd_scores_count(&scores, &e->truth, &part, e->ids.n_known, e->all, err);

    if (status == ND_OK) {
        nd_scores_keep_listed(&scores);
        status = nd_resample(&scores, e->params->resamplings, e->params->seed, rated, &why, err);
    }
    if (status == ND_OK) {
        const struct nd_pair_counts *x = &scores.sum.pairs;
        struct nd_use *rows = &e->rows;

        nd_cell_text(rows, "result", (struct nd_view){path, strlen(path)});
        nd_cell_text(rows, "value", value);
        put_count(rows, "listed", x->listed, true);
        put_count(rows, "right", x->right, true);
        put_count(rows, "wrong", x->listed - x->right, scores.has_negatives);
        put_count(rows, "unclear", scores.unsure, true);
        put_count(rows, "unlabelled", scores.unlabelled, true);
        put_rated(rows, "precision", &rated[ND_RATE_PRECISION]);
        put_count(rows, "components", scores.n_paired, true);
        put_notes(rows, &scores, why);
        status = end_row(e, err);
    }
    nd_scores_release(&scores);
    return status;
}

/* A row for each value of the column, in the order of their first appearance. */
static enum nd_status put_values(struct evaluating *e, const char *path, struct nd_relation *result,
                                 struct nd_error *err)
{
    struct nd_related *pair = result->pair;
    enum nd_status status = ND_OK;

    if (result->texts.count > VALUES_MAX)
        return nd_fail(err, ND_EINPUT, "%s: the column '%.60s' has more than %d values", path,
                       e->params->by, VALUES_MAX);
    if (result->n_pairs)
        qsort(pair, result->n_pairs, sizeof *pair, by_value);
    for (size_t from = 0, to; status == ND_OK && from < result->n_pairs; from = to) {
        const struct nd_view text = result->texts.value[(size_t)pair[from].value - 1];

        for (to = from; to < result->n_pairs && !(pair[to].value > pair[from].value); to++)
            ;
        status = put_value(e, path, text, pair + from, to - from, err);
    }
    return status;
}

/* ---- A result -------------------------------------------------------------------------------- */

static enum nd_status put_whole(struct evaluating *e, const char *path,
                                const struct nd_relation *result, const struct nd_scores *scores,
                                struct nd_error *err)
{
    struct nd_rated rated[ND_RATES];
    enum nd_no_interval why = ND_INTERVALS;
    struct losing losing = {.result = NULL};
    enum nd_status status =
        nd_resample(scores, e->params->resamplings, e->params->seed, rated, &why, err);

    if (status == ND_OK && e->params->counts_lost && result->has_fates)
        status = count_lost(e, result, &losing, err);
    if (status != ND_OK)
        return status;
    nd_cell_text(&e->rows, "result", (struct nd_view){path, strlen(path)});
    nd_cell_text(&e->rows, "form", word_of(result));
    if (e->truth.form == ND_EVAL_CLASSES)
        put_classes(&e->rows, scores);
    else
        put_figures(&e->rows, scores, &losing, rated, why);
    return end_row(e, err);
}

static enum nd_status draw_curve(struct evaluating *e, const char *path,
                                 const struct nd_relation *result, const struct nd_scores *scores,
                                 bool is_ascending, struct nd_error *err)
{
    struct nd_curve curve = {.n_steps = 0};
    enum nd_status status =
        nd_curve_make(&curve, &e->truth, result, scores, e->ids.n_known, e->all, is_ascending, err);

    if (status == ND_OK)
        status = put_curve(e, path, &curve, scores->has_negatives, err);
    nd_curve_release(&curve);
    return status;
}

static enum nd_status put_result(struct evaluating *e, const char *path, struct nd_relation *result,
                                 bool is_ascending, struct nd_error *err)
{
    const struct nd_eval_params *p = e->params;
    struct nd_scores scores = {.n_sets = 0};
    enum nd_status status;

    if ((p->by || p->curve) && result->form != ND_EVAL_PAIRS)
        return nd_fail(err, ND_EINPUT, "%s: %s needs a result of pairs", path,
                       p->by ? "--by" : "--curve");
    if (p->by)
        return put_values(e, path, result, err);
    status = nd_scores_count(&scores, &e->truth, result, e->ids.n_known, e->all, err);
    if (status == ND_OK)
        status = p->curve ? draw_curve(e, path, result, &scores, is_ascending, err)
                          : put_whole(e, path, result, &scores, err);
    nd_scores_release(&scores);
    return status;
}

static enum nd_status evaluate(struct evaluating *e, const char *path, struct nd_error *err)
{
    const struct nd_eval_params *p = e->params;
    bool is_ascending = false;
    char *column = p->curve ? nd_curve_column(p->curve, &is_ascending) : NULL;
    const struct nd_relation_request request = {.form = p->result_form,
                                                .refuses_strangers = e->all || e->has_documents,
                                                .closes = p->closes != 0,
                                                .value = p->by ? p->by : column,
                                                .value_is_text = p->by != NULL};
    struct nd_relation result = {.n_pairs = 0};
    enum nd_status status = p->curve && !column
                                ? nd_fail(err, ND_ENOMEM, "out of memory")
                                : nd_relation_read(&result, path, &request, &e->ids, err);

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
    struct evaluating e = {.params = params,
                           .has_documents = options->n_paths > 0,
                           .options = options,
                           .rows = {.is_json = params->json != 0},
                           .stream = stream};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    status = check(options, params, err);
    if (status == ND_OK && e.has_documents)
        status = read_documents(&e, options, events, err);
    e.ids.n_known = e.ids.names.count;
    if (status == ND_OK)
        status = read_truth(&e, err);
    for (size_t i = 0; status == ND_OK && i < params->n_results; i++)
        status = evaluate(&e, params->results[i], err);
    nd_relation_release(&e.truth);
    nd_eval_ids_release(&e.ids);
    nd_json_release(&e.rows.row);
    nd_json_release(&e.rows.head);
    return nd_run_status(status, err);
}
