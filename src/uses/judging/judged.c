/* judged.c - the figures of judged samples: shares with intervals, and how judges agree */

/*
 * Pairs are drawn from each stratum alone, so what is judged of a stratum says what all of it is like,
 * however its pairs depend on one another: here pairs are the units, and not components as in
 * ../eval. Where documents were drawn, these are.
 */
#include <neardup/judging.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "uses/eval/score_cells.h"
#include "uses/judging/judgements.h"
#include "uses/judging/proportions.h"

enum { DOCUMENTS_MIN = 20 };

/* Counts of the labels of some judgements. */
struct label_counts {
    uint64_t of[ND_LABELS], unjudged;
};

/* The pairs of a document that was drawn. */
struct judged_document {
    uint32_t id;
    uint64_t same, found;
};

struct judged_figures {
    struct label_counts counts;
    struct nd_judged_stratum *stratum; /* listed ones first */
    struct label_counts *of_stratum;   /* likewise */
    uint32_t *number;                  /* likewise, of the name */
    size_t n_strata, n_listed;
    struct judged_document *document; /* that have a pair which is the same */
    size_t n_documents;
    struct nd_rated plain, weighted, recall, query_recall;
    double agreement, kappa; /* NAN: unknown */
};

struct nd_judged_params nd_judged_params_default(void)
{
    return (struct nd_judged_params){.resamplings = 1000, .seed = 1};
}

static void release(struct judged_figures *f)
{
    free(f->stratum);
    free(f->of_stratum);
    free(f->number);
    free(f->document);
}

static void count_label(struct label_counts *counts, const struct nd_judgement *g)
{
    if (g->is_judged)
        counts->of[g->label]++;
    else
        counts->unjudged++;
}

/* ---- Strata ---------------------------------------------------------------------------------- */

static bool count_strata(struct judged_figures *f, const struct nd_judgements *j)
{
    const size_t n = j->strata.count;
    size_t *place = calloc(n + 1, sizeof *place);

    f->stratum = calloc(n + 1, sizeof *f->stratum);
    f->of_stratum = calloc(n + 1, sizeof *f->of_stratum);
    f->number = calloc(n + 1, sizeof *f->number);
    for (int listed = 1; place && f->stratum && f->of_stratum && f->number && listed >= 0;
         listed--) {
        for (uint32_t i = 1; i <= n; i++)
            if ((*j->strata.value[i - 1].data == '1') == listed) {
                f->number[f->n_strata] = i;
                place[i] = f->n_strata++;
            }
        f->n_listed = listed ? f->n_strata : f->n_listed;
    }
    for (size_t i = 0; place && f->n_strata == n && !j->draws_documents && i < j->n; i++) {
        const struct nd_judgement *g = &j->at[i];
        struct nd_judged_stratum *s = &f->stratum[place[g->stratum]];

        s->size = g->size;
        s->is_listed = g->is_listed;
        s->judged += g->is_judged && g->label != ND_LABEL_UNSURE;
        s->same += g->is_judged && g->label == ND_LABEL_SAME;
        count_label(&f->of_stratum[place[g->stratum]], g);
    }
    free(place);
    return f->number != NULL && f->n_strata == n;
}

/* ---- Documents ------------------------------------------------------------------------------- */

static int by_drawn(const void *left, const void *right)
{
    const struct judged_document *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

/* Count the pairs of each document that was drawn and is the same as others. */
static bool count_documents(struct judged_figures *f, const struct nd_judgements *j)
{
    size_t n = 0;

    f->document = calloc(j->n + 1, sizeof *f->document);
    for (size_t i = 0; f->document && i < j->n; i++)
        if (j->at[i].is_judged && j->at[i].label == ND_LABEL_SAME)
            f->document[n++] = (struct judged_document){j->at[i].drawn, 1, j->at[i].is_listed};
    if (!f->document)
        return false;
    if (n)
        qsort(f->document, n, sizeof *f->document, by_drawn);
    for (size_t i = 0; i < n; i++) {
        struct judged_document *last = f->n_documents ? &f->document[f->n_documents - 1] : NULL;

        if (last && last->id == f->document[i].id) {
            last->same++;
            last->found += f->document[i].found;
        } else {
            f->document[f->n_documents++] = f->document[i];
        }
    }
    return true;
}

struct recalled {
    double found, same, shares;
};

static void add_document(struct recalled *sum, const struct judged_document *d)
{
    sum->found += (double)d->found;
    sum->same += (double)d->same;
    sum->shares += (double)d->found / (double)d->same;
}

static int by_value(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static void set_ends(double *value, unsigned times, struct nd_rated *out)
{
    const unsigned beyond = (unsigned)((uint64_t)times * 25 / 1000);

    qsort(value, times, sizeof *value, by_value);
    out->low = value[beyond];
    out->high = value[times - 1 - beyond];
}

/* Draw as many documents as there are, again and again, as docs/format/eval.md says of components. */
static bool resample(struct judged_figures *f, const struct nd_judged_params *p)
{
    const size_t n = f->n_documents;
    double *value = nd_alloc_array((size_t)p->resamplings * 2 + 1, sizeof *value);

    for (unsigned r = 0; value && r < p->resamplings; r++) {
        const uint64_t stream = nd_mix64(nd_mix64(p->seed) + r);
        struct recalled sum = {0, 0, 0};

        for (uint64_t i = 0; i < n; i++) {
            const uint64_t random = nd_mix64(stream + (i + 1) * UINT64_C(0x9E3779B97F4A7C15));

            add_document(&sum, &f->document[(unsigned __int128)random * n >> 64]);
        }
        value[r] = sum.found / sum.same;
        value[p->resamplings + r] = sum.shares / (double)n;
    }
    if (!value)
        return false;
    set_ends(value, p->resamplings, &f->recall);
    set_ends(value + p->resamplings, p->resamplings, &f->query_recall);
    free(value);
    return true;
}

static bool find_recall(struct judged_figures *f, const struct nd_judged_params *p)
{
    struct recalled sum = {0, 0, 0};

    for (size_t i = 0; i < f->n_documents; i++)
        add_document(&sum, &f->document[i]);
    if (!f->n_documents)
        return true;
    f->recall.value = sum.found / sum.same;
    f->query_recall.value = sum.shares / (double)f->n_documents;
    return f->n_documents < DOCUMENTS_MIN || !p->resamplings || resample(f, p);
}

/* ---- All figures of a file ------------------------------------------------------------------- */

static enum nd_status find_figures(struct judged_figures *f, const struct nd_judgements *j,
                                   const struct nd_judged_params *p, struct nd_error *err)
{
    const struct nd_rated none = {NAN, NAN, NAN};
    bool good = count_strata(f, j);

    f->plain = f->weighted = f->recall = f->query_recall = none;
    f->agreement = f->kappa = NAN;
    for (size_t i = 0; i < j->n; i++)
        count_label(&f->counts, &j->at[i]);
    if (good && j->draws_documents) {
        good = count_documents(f, j) && find_recall(f, p);
    } else if (good) {
        f->plain = nd_share_plain(f->stratum, f->n_listed);
        f->weighted = nd_share_weighted(f->stratum, f->n_listed);
        f->recall = nd_share_recall(f->stratum, f->n_strata);
    }
    return good ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory for %zu judgements", j->n);
}

/* How two judges agree on the pairs that both judged: as a share, and by Cohen's kappa (1960). */
static void compare(struct judged_figures *f, const struct nd_judgements *first,
                    const struct nd_judgements *second)
{
    double n = 0, equal = 0, chance = 0, row[ND_LABELS] = {0}, column[ND_LABELS] = {0};

    for (size_t i = 0; i < first->n; i++) {
        const struct nd_judgement *a = &first->at[i], *b = nd_judgements_find(second, a);

        if (!b || !a->is_judged || !b->is_judged)
            continue;
        n++;
        equal += a->label == b->label;
        row[a->label]++;
        column[b->label]++;
    }
    if (!(n > 0))
        return;
    for (int k = 0; k < ND_LABELS; k++)
        chance += row[k] * column[k] / n / n;
    f->agreement = equal / n;
    if (chance < 1)
        f->kappa = (f->agreement - chance) / (1 - chance);
}

/* Keep what all judges say: unsure where two differ, unjudged where one has not judged. */
static void agree(struct nd_judgements *all, const struct nd_judgements *other)
{
    for (size_t i = 0; i < all->n; i++) {
        struct nd_judgement *g = &all->at[i];
        const struct nd_judgement *o = nd_judgements_find(other, g);

        if (!o || !o->is_judged)
            g->is_judged = false;
        else if (o->label != g->label)
            g->label = ND_LABEL_UNSURE;
    }
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void put_counts(struct nd_use *rows, const struct label_counts *counts)
{
    nd_cell_uint(rows, "judged",
                 counts->of[ND_LABEL_SAME] + counts->of[ND_LABEL_DIFFERENT] +
                     counts->of[ND_LABEL_UNSURE]);
    nd_cell_uint(rows, "same", counts->of[ND_LABEL_SAME]);
    nd_cell_uint(rows, "different", counts->of[ND_LABEL_DIFFERENT]);
    nd_cell_uint(rows, "unsure", counts->of[ND_LABEL_UNSURE]);
    nd_cell_uint(rows, "unjudged", counts->unjudged);
}

static const char *note_of(const struct judged_figures *f, const struct nd_judgements *j)
{
    if (j->draws_documents && f->n_documents < DOCUMENTS_MIN)
        return "no intervals: fewer than 20 of the documents that were drawn are the same as "
               "others";
    if (!j->draws_documents && f->n_listed && isnan(f->weighted.value))
        return "no weighted figures: a stratum has no pair that was judged";
    if (!j->draws_documents && f->n_listed == f->n_strata)
        return "no recall: near misses were not drawn";
    return "";
}

static enum nd_status put_row(struct nd_use *rows, const char *name, const struct judged_figures *f,
                              const struct nd_judgements *j, FILE *stream, struct nd_error *err)
{
    const char *note = note_of(f, j);

    nd_cell_text(rows, "result", (struct nd_view){name, strlen(name)});
    put_counts(rows, &f->counts);
    nd_cell_count(rows, "strata", f->n_strata, !j->draws_documents);
    nd_cell_rated(rows, "precision", &f->plain);
    nd_cell_rated(rows, "precision_weighted", &f->weighted);
    nd_cell_rated(rows, "recall", &f->recall);
    nd_cell_count(rows, "documents", f->n_documents, j->draws_documents);
    nd_cell_rated(rows, "query_recall", &f->query_recall);
    nd_cell_figure(rows, "agreement", f->agreement);
    nd_cell_figure(rows, "kappa", f->kappa);
    nd_cell_text(rows, "note", (struct nd_view){note, strlen(note)});
    return nd_row_put(rows, stream, err);
}

static enum nd_status put_strata(struct nd_use *rows, const char *name,
                                 const struct judged_figures *f, const struct nd_judgements *j,
                                 FILE *stream, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    if (j->draws_documents)
        return nd_fail(err, ND_EINPUT, "%s: documents were drawn, and have no strata", name);
    for (size_t i = 0; status == ND_OK && i < f->n_strata; i++) {
        const struct nd_view text = j->strata.value[f->number[i] - 1];
        const struct nd_rated share = nd_share_plain(&f->stratum[i], 1);

        nd_cell_text(rows, "result", (struct nd_view){name, strlen(name)});
        nd_cell_text(rows, "stratum", (struct nd_view){text.data + 1, text.len - 1});
        nd_cell_uint(rows, "listed", f->stratum[i].is_listed);
        nd_cell_uint(rows, "pairs", f->stratum[i].size);
        put_counts(rows, &f->of_stratum[i]);
        nd_cell_rated(rows, "precision", &share);
        status = nd_row_put(rows, stream, err);
    }
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

struct judging {
    const struct nd_judged_params *params;
    struct nd_eval_ids ids;
    struct nd_judgements *of_file;
    struct nd_use rows;
    FILE *stream;
};

static enum nd_status put(struct judging *x, const char *name, const struct nd_judgements *j,
                          bool is_second, struct nd_error *err)
{
    struct judged_figures f = {.n_strata = 0};
    enum nd_status status = find_figures(&f, j, x->params, err);

    if (status == ND_OK && is_second)
        compare(&f, &x->of_file[0], j);
    if (status == ND_OK)
        status = x->params->by_stratum ? put_strata(&x->rows, name, &f, j, x->stream, err)
                                       : put_row(&x->rows, name, &f, j, x->stream, err);
    release(&f);
    return status == ND_OK && ferror(x->stream) ? nd_fail(err, ND_EIO, "cannot write") : status;
}

static enum nd_status put_files(struct judging *x, struct nd_error *err)
{
    const size_t n = x->params->n_files;
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = nd_judgements_read(&x->of_file[i], x->params->files[i], &x->ids, err);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = put(x, x->params->files[i], &x->of_file[i], i > 0, err);
    for (size_t i = 1; status == ND_OK && i < n; i++)
        agree(&x->of_file[0], &x->of_file[i]);
    if (status == ND_OK && n > 1)
        status = put(x, "all judges", &x->of_file[0], false, err);
    return status;
}

enum nd_status nd_run_judged(const struct nd_judged_params *params, FILE *stream,
                             struct nd_error *err)
{
    struct judging x = {.params = params, .rows = {.is_json = params->json != 0}, .stream = stream};
    struct nd_error room = {0};
    enum nd_status status;

    err = err ? err : &room;
    *err = (struct nd_error){0};
    if (!params->n_files)
        return nd_fail(err, ND_EINVAL, "no judgements: name files that neardup sample began");
    x.of_file = calloc(params->n_files, sizeof *x.of_file);
    status = x.of_file ? put_files(&x, err) : nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; x.of_file && i < params->n_files; i++)
        nd_judgements_release(&x.of_file[i]);
    free(x.of_file);
    nd_eval_ids_release(&x.ids);
    nd_json_release(&x.rows.row);
    nd_json_release(&x.rows.head);
    return nd_run_status(status, err);
}
