/* plan.c - predict from a sample what deduplicating files will take and find */

/*
 * Some blocks of the inputs are read, or all, and dedup goes through a slice of them as it would
 * through everything (nd_run_rehearse).  The slice keeps near duplicates together (reading/slice.h),
 * so its shares are those of all that was read; where only blocks were, most pairs have at most one
 * document in them, and shares are estimated (cluster_estimate.c).  So are candidates
 * (engine/candidate_count.c), of which those within a block come in proportion to the blocks, and
 * those across two blocks in proportion to pairs of blocks.  From these follow the documents kept,
 * and from them memory, the spool and the time of deciding (plan_costs.c).
 */
#include <neardup/index.h>
#include <neardup/plan.h>

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "input/streams/sampling.h"
#include "run/forecast.h"
#include "run/run_parts.h"
#include "uses/plan/planning.h"

/* A twentieth of a second a thread on most machines, and enough blocks of all but small inputs. */
enum { SAMPLE_BYTES = 64 << 20 };

enum { MARK_EVERY = 64 };

struct nd_plan_params nd_plan_params_default(void)
{
    struct nd_plan_params p = {.sample_bytes = SAMPLE_BYTES, .spark = nd_spark_job_default()};

    p.spark.matching = 0;
    return p;
}

/* ---- What the sample shows ---- */

static bool note_time(struct nd_planning *p, uint64_t documents)
{
    if (!ND_RESERVE(p->mark, &p->mark_capacity, p->n_marks + 1))
        return false;
    p->mark[p->n_marks++] = (struct nd_planning_mark){documents, nd_processor_clock(), nd_clock()};
    return true;
}

static bool note_read(void *context, uint64_t number, const struct nd_parsed *parsed)
{
    struct nd_planning *p = context;
    size_t n = (size_t)number + 1;

    if (number % MARK_EVERY == 0 && !note_time(p, number))
        return false;

    if (!ND_RESERVE(p->block, &p->capacity[0], n) || !ND_RESERVE(p->kept, &p->capacity[1], n) ||
        !ND_RESERVE(p->removed_by, &p->capacity[2], n) ||
        !ND_RESERVE(p->is_document, &p->capacity[3], n) || !ND_RESERVE(p->key, &p->capacity[4], n))
        return false;
    while (p->n < n) /* of bad records between */
        p->is_document[p->n++] = 0;
    p->block[number] = parsed->record.block;
    p->key[number] = parsed->mark.key;
    p->kept[number] = (uint32_t)number;
    p->is_document[number] = 1;
    return true;
}

static bool note_pushed(void *context, uint64_t document, uint64_t number)
{
    struct nd_planning *p = context;

    if (!ND_RESERVE(p->pushed, &p->pushed_capacity, (size_t)document + 1))
        return false;
    p->pushed[document] = (uint32_t)number;
    p->n_pushed = (size_t)document + 1;
    return true;
}

static void note_removed(void *context, uint64_t number, uint64_t kept, enum nd_identical identical)
{
    struct nd_planning *p = context;

    p->kept[number] = (uint32_t)kept;
    p->removed_by[number] = identical == ND_IDENTICAL_BYTES    ? ND_BY_BYTES
                            : identical == ND_IDENTICAL_TOKENS ? ND_BY_TOKENS
                                                               : ND_BY_NEARNESS;
}

/* ---- Candidates ---- */

static enum nd_status count_step(struct nd_planning *p, const struct nd_dedup *dedup, int i,
                                 struct nd_error *err)
{
    struct nd_plan_step *step = &p->plan->step[i];
    const struct nd_ratio threshold = {(uint32_t)(10 + i), 20};
    struct nd_candidate_count *pairs = &p->at_step[i];
    enum nd_status status =
        nd_dedup_count_candidates(dedup, p->engine_block, threshold, p->sliced, pairs, err);

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

static bool list_blocks(struct nd_planning *p)
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

/* Note the share of the inputs that was read for the sample, and which slice of that. */
static enum nd_status note_slice(struct nd_planning *p, const struct nd_run *run,
                                 struct nd_error *err)
{
    const struct nd_sampling *sampling = nd_input_sampling(nd_reading_input(run->reading));
    enum nd_status status = ND_OK;

    p->block_scale = 1;
    p->sliced = 1;
    if (nd_reading_sketches(run->reading))
        p->block_scale = 1 / nd_reading_blocks_read(run->reading);
    else if (sampling->is_on)
        p->block_scale = (double)sampling->total / fmax((double)sampling->bytes, 1);
    p->has_slice = run->slice != NULL;
    p->has_old = run->against != NULL;
    p->against_seconds = run->against_seconds;
    p->table_seconds = run->tables.counting_seconds;
    p->table_scale = fmax(run->tables.counted_scale, 1);
    if (run->slice) {
        status = nd_slice_total(run->slice, &p->read, err);
        p->sliced =
            fmax((double)run->summary->documents, 0.5) / fmax((double)p->read.documents, 0.5);
    }
    return status;
}

/* While the engine is there. */
static enum nd_status count_candidates(void *context, const struct nd_run *run,
                                       struct nd_error *err)
{
    struct nd_planning *p = context;
    const struct nd_ratio own = {0, 1};
    const struct nd_planning_mark began = {0, nd_processor_clock(), nd_clock()};
    enum nd_status status = note_slice(p, run, err);

    if (status != ND_OK)
        return status;
    p->cached_bytes = nd_dedup_cached_bytes(run->dedup);
    if (!nd_dedup_has_bands(run->dedup) || run->against) /* old ones are not in the sample */
        return ND_OK;
    if (!list_blocks(p))
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = nd_dedup_count_candidates(run->dedup, p->engine_block, own, p->sliced, &p->pairs, err);
    for (int i = 0; i < ND_PLAN_STEPS && status == ND_OK; i++)
        status = count_step(p, run->dedup, i, err);
    p->plan->n_steps = ND_PLAN_STEPS;
    p->counting = (struct nd_planning_mark){0, nd_processor_clock() - began.processor,
                                            nd_clock() - began.time};
    return status;
}

/* ---- Spark ---- */

/*
 * Predict the job on Spark.  A removed document and the one that is kept for it could match; more
 * cannot be told from the shares.
 */
static void predict_spark(struct nd_plan *plan)
{
    struct nd_spark_job *job = &plan->spark;

    if (job->executors <= 0)
        return;
    if (job->documents <= 0)
        job->documents = plan->figure[ND_FIGURE_DOCUMENTS].value;
    if (job->bytes <= 0)
        job->bytes =
            plan->figure[ND_FIGURE_BYTES].value / fmax(plan->figure[ND_FIGURE_DOCUMENTS].value, 1);
    if (job->matching <= 0)
        job->matching = fmin(2 * plan->figure[ND_FIGURE_REMOVED].value, 1);
    plan->spark_disk_bytes = nd_spark_predict(job, plan->spark_stage);
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
    struct nd_planning *p = context;
    struct nd_plan *plan = p->plan;
    const struct nd_sampling *sampling = nd_input_sampling(nd_reading_input(run->reading));
    enum nd_status status;

    plan->sample.processor_seconds -= p->counting.processor;
    plan->sample.seconds -= p->counting.time;
    plan->is_whole = !sampling->is_on && !run->slice && p->block_scale <= 1;
    plan->stored_bytes = stored_bytes(run, sampling);
    plan->read_bytes =
        sampling->is_on ? sampling->bytes : (uint64_t)((double)plan->stored_bytes / p->block_scale);
    plan->sample_bytes = (uint64_t)((double)plan->read_bytes * p->sliced);
    plan->beginnings = sampling->beginnings;
    plan->beginning_bytes = sampling->beginning_bytes;
    plan->sample_documents = run->summary->documents;
    plan->read_documents = run->slice ? p->read.documents : plan->sample_documents;
    plan->processor_seconds = run->summary->processor_seconds + p->counting.processor;
    plan->seconds = run->summary->seconds + p->counting.time;
    p->scale = p->block_scale / p->sliced;
    p->skipped_seconds = sampling->skipped_seconds;
    plan->figure[ND_FIGURE_DOCUMENTS] =
        nd_planning_exactly((double)plan->read_documents * p->block_scale);
    plan->figure[ND_FIGURE_BYTES] =
        nd_planning_exactly(sampling->is_on ? (double)sampling->unpacked * p->block_scale
                                            : (double)run->summary->bytes);
    status = nd_planning_shares(p, err);
    if (status != ND_OK)
        return status;
    nd_planning_candidates(p);
    nd_planning_costs(p);
    nd_planning_limits(p);
    predict_spark(plan);
    return ND_OK;
}

static enum nd_status write_plan(void *context, struct nd_output *to, struct nd_error *err)
{
    const struct nd_planning *p = context;
    char *text;
    size_t len;
    enum nd_status status = nd_plan_json(p->plan, &text, &len, err);

    if (status != ND_OK)
        return status;
    status = nd_output_write(to, text, len, err);
    free(text);
    return status;
}

static void release(struct nd_planning *p)
{
    if (p->engine_block != p->block)
        free(p->engine_block);
    free(p->block);
    free(p->key);
    free(p->kept);
    free(p->removed_by);
    free(p->is_document);
    free(p->pushed);
    free(p->mark);
}

enum nd_status nd_run_plan(const struct nd_run_options *options,
                           const struct nd_plan_params *params, const struct nd_run_events *events,
                           struct nd_plan *plan, struct nd_error *err)
{
    const struct nd_plan_params usual = nd_plan_params_default();
    struct nd_planning p = {.plan = plan};
    const struct nd_run_watch watch = {.context = &p,
                                       .sample_bytes = (params ? params : &usual)->sample_bytes,
                                       .read = note_read,
                                       .pushed = note_pushed,
                                       .removed = note_removed,
                                       .decided = count_candidates,
                                       .ended = predict,
                                       .write = write_plan};
    enum nd_status status = ND_OK;

    struct nd_run_options unlimited = *options;

    unlimited.memory = 0;
    *plan = (struct nd_plan){.spark = (params ? params : &usual)->spark};
    if (options->recipe) {
        p.cluster = options->recipe->dedup.cluster;
        p.one_pass = nd_run_takes_one_pass(&unlimited);
        status = nd_forecast_recipe(options->recipe, &plan->recipe_hash, err);
    }
    if (status == ND_OK && options->memory)
        status = nd_planning_rehearse_limits(options, watch.sample_bytes, events, plan, err);
    if (status == ND_OK)
        status = nd_run_rehearse(options, &watch, events, &plan->sample, err);
    release(&p);
    return status;
}
