/* plan_costs.c - the candidates of a plan, and what they and all documents cost */
#include "uses/plan/planning.h"

#include <neardup/index.h>

#include <math.h>

/* ---- Candidates ---- */

/* Candidates among kept documents for each document of the inputs. */
static double candidates_of(const struct nd_planning *p, const struct nd_candidate_count *pairs)
{
    double documents = (double)p->plan->sample_documents;

    return documents > 0 ? (pairs->within + pairs->across * p->block_scale) / documents : 0;
}

/*
 * The near documents that are removed and that bands for a threshold would find: they have one kept
 * candidate at least.
 */
static double removed_candidates(const struct nd_planning *p, const struct nd_plan_step *step)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double found = 0, near = 0;

    for (size_t i = 0; i < s->n_measured; i++) {
        double x = s->measured[i].from, n = (double)s->measured[i].documents;

        near += n;
        if (x >= step->threshold)
            found += n * nd_bands_recall(x, step->bands, step->rows);
    }
    return near > 0 ? found / near * p->plan->figure[ND_FIGURE_NEAR].value : 0;
}

/*
 * Candidates of a document of the inputs, kept or removed.  Those that removed documents of the
 * sample had stay as they were, for each removed one; the pairs of kept ones grow.
 */
void nd_planning_candidates(struct nd_planning *p)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double removed = (double)s->near + (double)s->identical_tokens;
    double rest = fmax((double)s->candidates - p->pairs.found, 0) / fmax(removed, 1);
    double now =
        p->plan->figure[ND_FIGURE_NEAR].value + p->plan->figure[ND_FIGURE_IDENTICAL_TOKENS].value;
    double value = p->plan->n_steps ? candidates_of(p, &p->pairs) + rest * now
                                    : nd_run_figure(s, ND_FIGURE_CANDIDATES) * p->block_scale;

    if (p->plan->is_whole)
        value = nd_run_figure(s, ND_FIGURE_CANDIDATES);
    for (size_t i = 0; i < p->plan->n_steps; i++)
        if (p->plan->step[i].bands)
            p->plan->step[i].candidates =
                candidates_of(p, &p->at_step[i]) + removed_candidates(p, &p->plan->step[i]);
    p->plan->figure[ND_FIGURE_CANDIDATES] = nd_planning_exactly(value);
}

/* ---- Time, memory and disk ---- */

/* A value at the share of documents that is removed, and at the ends of its interval; `at` falls
 * where that share grows. */
static struct nd_forecast by_kept(const struct nd_planning *p,
                                  double (*at)(const struct nd_planning *p, double removed))
{
    const struct nd_forecast *removed = &p->plan->figure[ND_FIGURE_REMOVED];
    struct nd_forecast f = {at(p, removed->value), at(p, removed->high), at(p, removed->low)};

    f.low = fmin(f.low, f.value);
    f.high = fmax(f.high, f.value);
    return f;
}

/*
 * The work that grows with all that is read, and with the sample alone, in seconds of a processor.
 */
struct shared_work {
    double reading, parsing; /* parsing is known only where there is a slice */
    double rest;
};

static struct shared_work work_of(const struct nd_planning *p)
{
    const struct nd_run_summary *s = &p->plan->sample;
    struct shared_work w = {.reading = fmax(s->turns.read - p->skipped_seconds, 0),
                            .parsing = p->read.parsing_seconds};

    w.rest = fmax(s->processor_seconds - p->skipped_seconds - w.reading - w.parsing -
                      p->read.slice_seconds - p->against_seconds - p->table_seconds,
                  0);
    return w;
}

/* Time for a second of a processor, in the second half of the sample. */
static double time_of_processor(const struct nd_planning *p)
{
    const struct nd_run_summary *s = &p->plan->sample;
    const struct nd_planning_mark *last = p->n_marks ? &p->mark[p->n_marks - 1] : NULL,
                                  *half = p->n_marks ? &p->mark[p->n_marks / 2] : NULL;

    if (p->one_pass && p->n_marks >= (p->has_slice ? 256 : 4) && last->processor > half->processor)
        return (last->time - half->time) / (last->processor - half->processor);
    return s->seconds / fmax(s->processor_seconds, 1e-9);
}

/*
 * The cost of the documents of the inputs that are not in the sample, but for reading and parsing,
 * by the cost of the second half of the sample: the first one also pays for the beginning, when
 * tables and caches are cold.
 */
static double cost_of_others(const struct nd_planning *p, const struct shared_work *w)
{
    const struct nd_planning_mark *last = p->n_marks ? &p->mark[p->n_marks - 1] : NULL,
                                  *half = p->n_marks ? &p->mark[p->n_marks / 2] : NULL;
    const struct nd_run_summary *s = &p->plan->sample;
    double n = fmax((double)s->documents, 1), each = w->rest / n, late;

    if (s->turns.processor > 0 && p->has_slice)
        each -= fmin(fmax(s->processor_seconds - s->turns.processor, 0), w->rest) / n;
    if (p->one_pass && p->n_marks >= (p->has_slice ? 256 : 4)) {
        late = (last->processor - half->processor) / (double)(last->documents - half->documents);
        late -= (p->skipped_seconds + w->reading + w->parsing + p->read.slice_seconds) / n;
        each = fmax(late, each / 2);
    }
    return each * fmax(nd_planning_documents(p) - n, 0);
}

/*
 * By what the time to decide grows for each document.  A document that is removed is compared with
 * its kept one, which is read and sketched again, unless its shingles are in the cache; so more time
 * goes into deciding where more documents are removed.
 */
static double growth_of_deciding(const struct nd_planning *p, double decide, double sketch)
{
    const struct nd_run_summary *s = &p->plan->sample;
    const struct nd_forecast *f = p->plan->figure;
    double n = fmax((double)s->documents, 1);
    double found = ((double)s->near + (double)s->identical_tokens) / n;
    double will_find = f[ND_FIGURE_NEAR].value + f[ND_FIGURE_IDENTICAL_TOKENS].value;
    double base = fmax(decide / n - found * sketch / n, decide / n / 4);

    return base > 0 ? (base + will_find * sketch / n) / (base + found * sketch / n) : 1;
}

/* The shares of the processor time. */
static void share_out(struct nd_plan *plan, double reading, double sketching, double deciding,
                      double writing)
{
    double sum = fmax(reading + sketching + deciding + writing, 1e-9);

    plan->reading = reading / sum;
    plan->sketching = sketching / sum;
    plan->deciding = deciding / sum;
}

/* Copies of bytes are not tokenised. */
static void predict_time(struct nd_planning *p)
{
    struct nd_plan *plan = p->plan;
    const struct nd_run_summary *s = &plan->sample;
    const struct nd_run_turns *t = &s->turns;
    const struct shared_work w = work_of(p);
    double copies = nd_run_figure(s, ND_FIGURE_IDENTICAL_BYTES), growth = 1, others, processor;
    double tokenised = (1 - plan->figure[ND_FIGURE_IDENTICAL_BYTES].value) / fmax(1 - copies, 1e-9);
    double decide = t->decide + t->shared;
    double sketch = fmax(
               t->processor - t->read - decide - t->write - w.parsing - p->read.slice_seconds, 0),
           before = fmax(sketch + decide + t->write, 1e-9);

    if (t->processor > 0 && !plan->is_whole) {
        decide *= growth_of_deciding(p, decide, sketch);
        sketch *= tokenised;
        growth = (sketch + decide + t->write) / before;
    }
    if (t->processor > 0)
        share_out(plan, w.reading * p->block_scale, w.parsing * p->block_scale + sketch * p->scale,
                  decide * p->scale, t->write * p->scale);
    others = cost_of_others(p, &w) * growth;
    processor = (w.reading + w.parsing) * p->block_scale + w.rest + others + p->against_seconds +
                p->table_seconds * p->table_scale;
    plan->figure[ND_FIGURE_PROCESSOR_SECONDS] = nd_planning_exactly(processor);
    plan->figure[ND_FIGURE_SECONDS] =
        nd_planning_exactly(plan->is_whole ? s->seconds : processor * time_of_processor(p));
}

/*
 * Bytes that documents take, as the READMEs of engine, index and run say.  Of an index of
 * bands the tables are made for 40,000 documents at first.
 */
double nd_planning_memory(const struct nd_planning *p, double documents, double kept)
{
    enum { ROW = 153, ENTRY = 15 /* halves */, FIRST = 40000, ENGINE = 20, BESIDE_OLD = 240 };
    const struct nd_run_summary *s = &p->plan->sample;
    double indexed = p->cluster == ND_CLUSTER_STAR ? kept : documents, index;
    double ids = fmin(documents * 12, 96 << 20);

    if (p->plan->n_steps)
        index = ROW * indexed + fmax(indexed, FIRST) * (s->bands + 1) * ENTRY / 2;
    else
        index = (double)s->index_bytes * indexed /
                fmax(p->cluster == ND_CLUSTER_STAR ? (double)s->kept : (double)s->documents, 1);
    index += ENGINE * indexed + ids;
    if (p->has_old) /* rows of the new ones, and the filter of their keys (seen_rows.h) */
        index += BESIDE_OLD * documents;
    if (p->cluster == ND_CLUSTER_COMPONENTS)
        index += 24 * documents;
    if (p->cluster == ND_CLUSTER_COMPLETE)
        index += 16 * documents;
    return index + (p->one_pass ? 28 * kept : 37 * documents + 48 * (documents - kept));
}

/* The cache holds the shingles of kept documents that were candidates: they grow with the kept ones,
 * and with the share of documents that find one. */
double nd_planning_shingles(const struct nd_planning *p, double removed)
{
    enum { CACHE_BYTES = 96 << 20 };
    const struct nd_run_summary *s = &p->plan->sample;
    double kept = nd_planning_documents(p) * (1 - removed) / fmax((double)s->kept, 1);
    double found = removed / fmax(nd_run_figure(s, ND_FIGURE_REMOVED), 1e-9);

    if (p->plan->is_whole || !s->removed)
        return (double)p->cached_bytes;
    if (p->has_old) /* new documents find more of the old ones */
        return fmin((double)p->cached_bytes * p->scale, CACHE_BYTES);
    return fmin((double)p->cached_bytes * fmax(kept * found, 1), CACHE_BYTES);
}

static double peak_at(const struct nd_planning *p, double removed)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double documents = nd_planning_documents(p);

    return (double)s->peak_bytes - (double)p->read.bytes +
           nd_planning_memory(p, documents, documents * (1 - removed)) -
           nd_planning_memory(p, (double)s->documents, (double)s->kept) +
           nd_planning_shingles(p, removed) - (double)p->cached_bytes;
}

/* In one pass only the texts of kept documents are spooled. */
static double spool_at(const struct nd_planning *p, double removed)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double kept = nd_planning_documents(p) * (1 - removed);

    return (double)s->spool_bytes * (p->one_pass ? kept / fmax((double)s->kept, 1) : p->scale);
}

void nd_planning_costs(struct nd_planning *p)
{
    predict_time(p);
    p->plan->figure[ND_FIGURE_PEAK_BYTES] = by_kept(p, peak_at);
    p->plan->figure[ND_FIGURE_SPOOL_BYTES] = by_kept(p, spool_at);
    p->plan->figure[ND_FIGURE_SPILLED_BYTES] = p->plan->figure[ND_FIGURE_LOADS] =
        nd_planning_exactly(0);
}
