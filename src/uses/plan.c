/* plan.c - predict from a sample what deduplicating files will take and find */

/*
 * Blocks spread over the inputs are read (input/sampling.h), and dedup goes through them as it would
 * through everything (nd_run_rehearse).  What grows with the input is scaled by its bytes: documents,
 * and the time of reading and sketching.  What grows with pairs is not, as most pairs have at most
 * one document in the sample: the share of duplicates (cluster_estimate.c), and candidates
 * (engine/candidate_count.c), of which those within a block come in proportion to the blocks, and
 * those across two blocks in proportion to pairs of blocks.  From these follow the documents kept,
 * and from them memory, the spool and the time of deciding.
 */
#include <neardup/index.h>
#include <neardup/plan.h>

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "engine/candidate_count.h"
#include "input/sampling.h"
#include "pipeline/forecast.h"
#include "pipeline/run.h"
#include "uses/cluster_estimate.h"

/* A twentieth of a second a thread on most machines, and enough blocks of all but small inputs. */
enum { SAMPLE_BYTES = 64 << 20 };

/* By what a document of the sample was removed; a level holds what is removed by it and by those
 * before it. */
enum { BY_BYTES, BY_TOKENS, NEAR, LEVELS };

/* What the run had taken when it had read so many documents. */
struct mark {
    uint64_t documents;
    double processor, time;
};
enum { MARK_EVERY = 64 };

/* The sample while it is read, by the numbers of its documents. */
struct planning {
    struct mark counting; /* what counting candidates took, which no run does */
    struct mark *mark;
    size_t n_marks, mark_capacity;
    struct nd_plan *plan;
    uint32_t *block;
    uint32_t *kept;            /* the document that stands for it; its own number: it is kept */
    unsigned char *removed_by; /* of those that are not */
    unsigned char *is_document;
    uint32_t *pushed;       /* in several passes: by the engine's numbers, which document it is */
    uint32_t *engine_block; /* by the engine's numbers */
    size_t n, capacity[4];
    size_t n_pushed, pushed_capacity;
    double skipped; /* share of the time that went into decompressing what is not in the sample */
    double scale;   /* documents of the inputs for one of the sample */
    struct nd_forecast share[LEVELS]; /* removed up to a level */
    uint64_t cached_bytes;
    struct nd_candidate_count at_step[ND_PLAN_STEPS];
    struct nd_candidate_count pairs; /* of kept documents, at the run's threshold */
    enum nd_cluster cluster;
    bool one_pass;
};

struct nd_plan_params nd_plan_params_default(void)
{
    return (struct nd_plan_params){.sample_bytes = SAMPLE_BYTES};
}

/* ---- What the sample shows ---- */

static bool note_time(struct planning *p, uint64_t documents)
{
    if (!ND_RESERVE(p->mark, &p->mark_capacity, p->n_marks + 1))
        return false;
    p->mark[p->n_marks++] = (struct mark){documents, nd_processor_clock(), nd_clock()};
    return true;
}

static bool note_read(void *context, uint64_t number, const struct nd_parsed *parsed)
{
    struct planning *p = context;
    size_t n = (size_t)number + 1;

    if (number % MARK_EVERY == 0 && !note_time(p, number))
        return false;

    if (!ND_RESERVE(p->block, &p->capacity[0], n) || !ND_RESERVE(p->kept, &p->capacity[1], n) ||
        !ND_RESERVE(p->removed_by, &p->capacity[2], n) ||
        !ND_RESERVE(p->is_document, &p->capacity[3], n))
        return false;
    while (p->n < n) /* of bad records between */
        p->is_document[p->n++] = 0;
    p->block[number] = parsed->record.block;
    p->kept[number] = (uint32_t)number;
    p->is_document[number] = 1;
    return true;
}

static bool note_pushed(void *context, uint64_t document, uint64_t number)
{
    struct planning *p = context;

    if (!ND_RESERVE(p->pushed, &p->pushed_capacity, (size_t)document + 1))
        return false;
    p->pushed[document] = (uint32_t)number;
    p->n_pushed = (size_t)document + 1;
    return true;
}

static void note_removed(void *context, uint64_t number, uint64_t kept, enum nd_identical identical)
{
    struct planning *p = context;

    p->kept[number] = (uint32_t)kept;
    p->removed_by[number] = identical == ND_IDENTICAL_BYTES    ? BY_BYTES
                            : identical == ND_IDENTICAL_TOKENS ? BY_TOKENS
                                                               : NEAR;
}

/* ---- The share of duplicates ---- */

static enum nd_status estimate_level(struct planning *p, int level, struct nd_error *err)
{
    struct nd_sampled_document *document = nd_alloc_array(p->n + 1, sizeof *document);
    struct nd_estimate estimate;
    enum nd_status status;
    size_t n = 0;

    if (!document)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < p->n; i++) {
        bool is_removed = p->is_document[i] && p->kept[i] != i && p->removed_by[i] <= level;

        if (p->is_document[i])
            document[n++] = (struct nd_sampled_document){is_removed ? p->kept[i] : i, p->block[i]};
    }
    status = nd_estimate_duplicates(document, n, p->scale, &estimate, err);
    p->share[level] = (struct nd_forecast){estimate.value, estimate.low, estimate.high};
    free(document);
    return status;
}

static struct nd_forecast difference(struct nd_forecast all, struct nd_forecast less)
{
    struct nd_forecast d = {all.value - less.value, all.low - less.high, all.high - less.low};

    d.value = fmax(d.value, 0);
    d.low = fmin(fmax(d.low, 0), d.value);
    d.high = fmax(d.high, d.value);
    return d;
}

static enum nd_status estimate_shares(struct planning *p, struct nd_error *err)
{
    struct nd_forecast *figure = p->plan->figure;
    enum nd_status status = ND_OK;

    for (int level = 0; level < LEVELS && status == ND_OK; level++)
        status = estimate_level(p, level, err);
    if (status != ND_OK)
        return status;
    figure[ND_FIGURE_REMOVED] = p->share[NEAR];
    figure[ND_FIGURE_IDENTICAL_BYTES] = p->share[BY_BYTES];
    figure[ND_FIGURE_IDENTICAL_TOKENS] = difference(p->share[BY_TOKENS], p->share[BY_BYTES]);
    figure[ND_FIGURE_NEAR] = difference(p->share[NEAR], p->share[BY_TOKENS]);
    if (p->plan->is_whole)
        for (int i = ND_FIGURE_REMOVED; i <= ND_FIGURE_NEAR; i++) {
            double measured = nd_run_figure(&p->plan->sample, (enum nd_figure)i);

            figure[i] = (struct nd_forecast){measured, measured, measured};
        }
    return ND_OK;
}

/* ---- Candidates ---- */

/* Candidates among kept documents for each document of the inputs. */
static double candidates_of(const struct planning *p, const struct nd_candidate_count *pairs)
{
    double documents = (double)p->plan->sample_documents;

    return documents > 0 ? (pairs->within + pairs->across * p->scale) / documents : 0;
}

/* Of the near documents that are removed, those that bands for a threshold would find: they have
 * one kept candidate at least. */
static double removed_candidates(const struct planning *p, const struct nd_plan_step *step)
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

static enum nd_status count_step(struct planning *p, const struct nd_dedup *dedup, int i,
                                 struct nd_error *err)
{
    struct nd_plan_step *step = &p->plan->step[i];
    const struct nd_ratio threshold = {(uint32_t)(10 + i), 20};
    struct nd_candidate_count *pairs = &p->at_step[i];
    enum nd_status status =
        nd_dedup_count_candidates(dedup, p->engine_block, threshold, pairs, err);

    step->threshold = (double)threshold.p / threshold.q;
    if (status == ND_EINVAL) { /* the recall is too high for it */
        *pairs = (struct nd_candidate_count){.bands = 0};
        return ND_OK;
    }
    step->bands = pairs->bands;
    step->rows = pairs->rows;
    step->recall = nd_bands_recall(step->threshold, pairs->bands, pairs->rows);
    return status;
}

static bool list_blocks(struct planning *p)
{
    if (!p->n_pushed) {
        p->engine_block = p->block;
        return true;
    }
    p->engine_block = nd_alloc_array(p->n_pushed, sizeof *p->engine_block);
    for (size_t i = 0; p->engine_block && i < p->n_pushed; i++)
        p->engine_block[i] = p->block[p->pushed[i]];
    return p->engine_block != NULL;
}

/* While the engine is there. */
static enum nd_status count_candidates(void *context, const struct nd_run *run,
                                       struct nd_error *err)
{
    struct planning *p = context;
    const struct nd_ratio own = {0, 1};
    const struct mark began = {0, nd_processor_clock(), nd_clock()};
    enum nd_status status;

    p->cached_bytes = nd_dedup_cached_bytes(run->dedup);
    if (!nd_dedup_has_bands(run->dedup))
        return ND_OK;
    if (!list_blocks(p))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_dedup_count_candidates(run->dedup, p->engine_block, own, &p->pairs, err);
    for (int i = 0; i < ND_PLAN_STEPS && status == ND_OK; i++)
        status = count_step(p, run->dedup, i, err);
    p->plan->n_steps = ND_PLAN_STEPS;
    p->counting = (struct mark){0, nd_processor_clock() - began.processor, nd_clock() - began.time};
    return status;
}

/* ---- Time, memory and disk ---- */

static struct nd_forecast exactly(double value)
{
    return (struct nd_forecast){value, value, value};
}

/* A value at the share of documents that is removed, and at the ends of its interval; `at` falls
 * where that share grows. */
static struct nd_forecast by_kept(const struct planning *p,
                                  double (*at)(const struct planning *p, double removed))
{
    const struct nd_forecast *removed = &p->plan->figure[ND_FIGURE_REMOVED];
    struct nd_forecast f = {at(p, removed->value), at(p, removed->high), at(p, removed->low)};

    f.low = fmin(f.low, f.value);
    f.high = fmax(f.high, f.value);
    return f;
}

static double documents_of(const struct planning *p)
{
    return (double)p->plan->sample_documents * p->scale;
}

/*
 * Candidates of a document of the inputs, kept or removed.  Those that removed documents of the
 * sample had stay as they were, for each removed one; the pairs of kept ones grow.
 */
static void predict_candidates(struct planning *p)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double pairs = p->pairs.within + p->pairs.across;
    double removed = (double)s->near + (double)s->identical_tokens;
    double rest = fmax((double)s->candidates - pairs, 0) / fmax(removed, 1);
    double now =
        p->plan->figure[ND_FIGURE_NEAR].value + p->plan->figure[ND_FIGURE_IDENTICAL_TOKENS].value;
    double value = p->plan->n_steps ? candidates_of(p, &p->pairs) + rest * now
                                    : nd_run_figure(s, ND_FIGURE_CANDIDATES) * p->scale;

    if (p->plan->is_whole)
        value = nd_run_figure(s, ND_FIGURE_CANDIDATES);
    for (size_t i = 0; i < p->plan->n_steps; i++)
        if (p->plan->step[i].bands)
            p->plan->step[i].candidates =
                candidates_of(p, &p->at_step[i]) + removed_candidates(p, &p->plan->step[i]);
    p->plan->figure[ND_FIGURE_CANDIDATES] = exactly(value);
}

/*
 * What the documents of the inputs cost that are not in the sample, by the cost of the second half
 * of the sample: the first one also pays for the beginning, when tables and caches are cold.
 */
static struct mark cost_of_rest(const struct planning *p)
{
    const struct nd_run_summary *s = &p->plan->sample;
    const struct mark *last = p->n_marks ? &p->mark[p->n_marks - 1] : NULL,
                      *half = p->n_marks ? &p->mark[p->n_marks / 2] : NULL;
    double n = (double)s->documents, rest = documents_of(p) - n, part;

    if (!p->one_pass || p->n_marks < 4)
        return (struct mark){0, s->processor_seconds * rest / fmax(n, 1),
                             s->seconds * rest / fmax(n, 1)};
    part = rest / (double)(last->documents - half->documents);
    return (struct mark){0, (last->processor - half->processor) * part,
                         (last->time - half->time) * part};
}

/*
 * By what the time to decide grows for each document.  A document that is removed is compared with
 * its kept one, which is read and sketched again, unless its shingles are in the cache; so more time
 * goes into deciding where more documents are removed.
 */
static double growth_of_deciding(const struct planning *p, double decide, double sketch)
{
    const struct nd_run_summary *s = &p->plan->sample;
    const struct nd_forecast *f = p->plan->figure;
    double n = fmax((double)s->documents, 1);
    double found = ((double)s->near + (double)s->identical_tokens) / n;
    double will_find = f[ND_FIGURE_NEAR].value + f[ND_FIGURE_IDENTICAL_TOKENS].value;
    double base = fmax(decide / n - found * sketch / n, decide / n / 4);

    return base > 0 ? (base + will_find * sketch / n) / (base + found * sketch / n) : 1;
}

/* Copies of bytes are not tokenised. */
static void predict_time(struct planning *p)
{
    struct nd_plan *plan = p->plan;
    const struct nd_run_summary *s = &plan->sample;
    const struct nd_run_turns *t = &s->turns;
    const struct mark rest = cost_of_rest(p);
    const double used = 1 - fmin(p->skipped, 1);
    double read = fmax(t->read - p->skipped * s->processor_seconds, 0);
    double copies = nd_run_figure(s, ND_FIGURE_IDENTICAL_BYTES);
    double tokenised = (1 - plan->figure[ND_FIGURE_IDENTICAL_BYTES].value) / fmax(1 - copies, 1e-9);
    double decide = t->decide + t->shared, sketch = t->processor - t->read - decide - t->write;
    double sum = fmax(read + sketch + decide + t->write, 1e-9), growth = 1;

    if (t->processor > 0 && !plan->is_whole) {
        decide *= growth_of_deciding(p, decide, sketch);
        sketch *= tokenised;
        growth = (read + sketch + decide + t->write) / sum;
        sum *= growth;
    }
    plan->reading = read / sum;
    plan->sketching = sketch / sum;
    plan->deciding = decide / sum;
    plan->figure[ND_FIGURE_PROCESSOR_SECONDS] =
        exactly((s->processor_seconds + rest.processor * growth) * used);
    plan->figure[ND_FIGURE_SECONDS] = exactly((s->seconds + rest.time * growth) * used);
}

/*
 * Bytes that documents take, as the READMEs of engine, index and pipeline say.  Of an index of
 * bands the tables are made for 40,000 documents at first.
 */
static double memory_of(const struct planning *p, double documents, double kept)
{
    enum { ROW = 153, ENTRY = 15 /* halves */, FIRST = 40000, ENGINE = 20 };
    const struct nd_run_summary *s = &p->plan->sample;
    double indexed = p->cluster == ND_CLUSTER_STAR ? kept : documents, index;
    double ids = fmin(documents * 12, 96 << 20);

    if (p->plan->n_steps)
        index = ROW * indexed + fmax(indexed, FIRST) * (s->bands + 1) * ENTRY / 2;
    else
        index = (double)s->index_bytes * indexed /
                fmax(p->cluster == ND_CLUSTER_STAR ? (double)s->kept : (double)s->documents, 1);
    index += ENGINE * indexed + ids;
    if (p->cluster == ND_CLUSTER_COMPONENTS)
        index += 24 * documents;
    if (p->cluster == ND_CLUSTER_COMPLETE)
        index += 16 * documents;
    return index + (p->one_pass ? 28 * kept : 37 * documents + 48 * (documents - kept));
}

/* The cache holds the shingles of kept documents that were candidates: they grow with the kept ones,
 * and with the share of documents that find one. */
static double shingles_of(const struct planning *p, double removed)
{
    enum { CACHE_BYTES = 96 << 20 };
    const struct nd_run_summary *s = &p->plan->sample;
    double kept = documents_of(p) * (1 - removed) / fmax((double)s->kept, 1);
    double found = removed / fmax(nd_run_figure(s, ND_FIGURE_REMOVED), 1e-9);

    if (p->plan->is_whole || !s->removed)
        return (double)p->cached_bytes;
    return fmin((double)p->cached_bytes * fmax(kept * found, 1), CACHE_BYTES);
}

static double peak_at(const struct planning *p, double removed)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double documents = documents_of(p);

    return (double)s->peak_bytes + memory_of(p, documents, documents * (1 - removed)) -
           memory_of(p, (double)s->documents, (double)s->kept) + shingles_of(p, removed) -
           (double)p->cached_bytes;
}

/* In one pass only the texts of kept documents are spooled. */
static double spool_at(const struct planning *p, double removed)
{
    const struct nd_run_summary *s = &p->plan->sample;
    double kept = documents_of(p) * (1 - removed);

    return (double)s->spool_bytes * (p->one_pass ? kept / fmax((double)s->kept, 1) : p->scale);
}

/* ---- The whole ---- */

/* Sketch files are read whole: they are a fraction of the texts, and need no sketching. */
static uint64_t stored_bytes(const struct nd_run *run, const struct nd_sampling *sampling)
{
    const struct nd_sketches *sketches = nd_reading_sketches(run->reading);

    return sketches ? nd_sketches_bytes(sketches, nd_sketches_blocks(sketches)) : sampling->total;
}

static enum nd_status predict(void *context, const struct nd_run *run, struct nd_error *err)
{
    struct planning *p = context;
    struct nd_plan *plan = p->plan;
    const struct nd_sampling *sampling = nd_input_sampling(nd_reading_input(run->reading));
    enum nd_status status;

    plan->sample.processor_seconds -= p->counting.processor;
    plan->sample.seconds -= p->counting.time;
    plan->is_whole = !sampling->is_on;
    plan->stored_bytes = stored_bytes(run, sampling);
    plan->sample_bytes = sampling->is_on ? sampling->bytes : plan->stored_bytes;
    plan->beginnings = sampling->beginnings;
    plan->beginning_bytes = sampling->beginning_bytes;
    plan->sample_documents = run->summary->documents;
    plan->processor_seconds = run->summary->processor_seconds + p->counting.processor;
    plan->seconds = run->summary->seconds + p->counting.time;
    p->scale = plan->is_whole ? 1 : (double)sampling->total / fmax((double)sampling->bytes, 1);
    p->skipped = sampling->skipped_seconds / fmax(run->summary->processor_seconds, 1e-9);
    plan->figure[ND_FIGURE_DOCUMENTS] = exactly(documents_of(p));
    plan->figure[ND_FIGURE_BYTES] = exactly(plan->is_whole ? (double)run->summary->bytes
                                                           : (double)sampling->unpacked * p->scale);
    status = estimate_shares(p, err);
    if (status != ND_OK)
        return status;
    predict_candidates(p);
    predict_time(p);
    plan->figure[ND_FIGURE_PEAK_BYTES] = by_kept(p, peak_at);
    plan->figure[ND_FIGURE_SPOOL_BYTES] = by_kept(p, spool_at);
    return ND_OK;
}

static enum nd_status write_plan(void *context, struct nd_output *to, struct nd_error *err)
{
    const struct planning *p = context;
    char *text;
    size_t len;
    enum nd_status status = nd_plan_json(p->plan, &text, &len, err);

    if (status != ND_OK)
        return status;
    status = nd_output_write(to, text, len, err);
    free(text);
    return status;
}

static void release(struct planning *p)
{
    if (p->engine_block != p->block)
        free(p->engine_block);
    free(p->block);
    free(p->kept);
    free(p->removed_by);
    free(p->is_document);
    free(p->pushed);
    free(p->mark);
}

static enum nd_status check(const struct nd_run_options *options, struct nd_error *err)
{
    if (options->df_auto)
        return nd_fail(err, ND_EINVAL,
                       "df auto: a plan reads a sample, which has no df table of all documents; "
                       "count one first (neardup df build)");
    if (options->n_against)
        return nd_fail(err, ND_EINVAL, "against: a plan is made for new documents alone");
    return ND_OK;
}

enum nd_status nd_run_plan(const struct nd_run_options *options,
                           const struct nd_plan_params *params, const struct nd_run_events *events,
                           struct nd_plan *plan, struct nd_error *err)
{
    const struct nd_plan_params usual = nd_plan_params_default();
    struct planning p = {.plan = plan};
    const struct nd_run_watch watch = {.context = &p,
                                       .sample_bytes = (params ? params : &usual)->sample_bytes,
                                       .read = note_read,
                                       .pushed = note_pushed,
                                       .removed = note_removed,
                                       .decided = count_candidates,
                                       .ended = predict,
                                       .write = write_plan};
    enum nd_status status;

    *plan = (struct nd_plan){.is_whole = 0};
    status = check(options, err);
    if (status == ND_OK && options->recipe) {
        p.cluster = options->recipe->dedup.cluster;
        p.one_pass = nd_run_takes_one_pass(options);
        status = nd_forecast_recipe(options->recipe, &plan->recipe_hash, err);
    }
    if (status == ND_OK)
        status = nd_run_rehearse(options, &watch, events, &plan->sample, err);
    release(&p);
    return status;
}
