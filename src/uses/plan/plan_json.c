/* plan_json.c - a plan as a line of JSON (docs/format/plan.md) */
#include <neardup/plan.h>
#include <neardup/version.h>

#include "base/json_out.h"
#include "evidence/figures.h"

enum { RECALL_STEPS = 20 };

static void put_sample(struct nd_json *out, const struct nd_plan *plan)
{
    nd_json_key(out, "sample");
    nd_json_open(out, '{');
    nd_json_put_bool(out, "whole", plan->is_whole);
    nd_json_put_uint(out, "bytes", plan->sample_bytes);
    nd_json_put_uint(out, "stored_bytes", plan->stored_bytes);
    nd_json_put_uint(out, "documents", plan->sample_documents);
    nd_json_put_uint(out, "removed", plan->sample.removed);
    nd_json_put_uint(out, "read_bytes", plan->read_bytes);
    nd_json_put_uint(out, "read_documents", plan->read_documents);
    nd_json_put_uint(out, "beginnings", plan->beginnings);
    nd_json_put_uint(out, "beginning_bytes", plan->beginning_bytes);
    nd_json_put_double(out, "processor_seconds", plan->processor_seconds);
    nd_json_put_double(out, "seconds", plan->seconds);
    nd_json_close(out, '}');
}

static void put_stages(struct nd_json *out, const struct nd_plan *plan)
{
    nd_json_key(out, "processor");
    nd_json_open(out, '{');
    nd_json_put_double(out, "reading", plan->reading);
    nd_json_put_double(out, "sketching", plan->sketching);
    nd_json_put_double(out, "deciding", plan->deciding);
    nd_json_close(out, '}');
}

static void put_recall(struct nd_json *out, const struct nd_run_summary *s)
{
    nd_json_put_text(out, "recall_of", s->curve_of);
    nd_json_key(out, "recall");
    nd_json_open(out, '[');
    for (int i = 1; (s->bands || s->sample) && i <= RECALL_STEPS; i++) {
        nd_json_open(out, '[');
        nd_json_double(out, (double)i / RECALL_STEPS);
        nd_json_double(out, nd_run_recall(s, (double)i / RECALL_STEPS));
        nd_json_close(out, ']');
    }
    nd_json_close(out, ']');
}

static void put_steps(struct nd_json *out, const struct nd_plan *plan)
{
    nd_json_key(out, "thresholds");
    nd_json_open(out, '[');
    for (size_t i = 0; i < plan->n_steps; i++) {
        const struct nd_plan_step *step = &plan->step[i];

        nd_json_open(out, '{');
        nd_json_put_double(out, "threshold", step->threshold);
        nd_json_put_uint(out, "bands", step->bands);
        nd_json_put_uint(out, "rows", step->rows);
        nd_json_put_double(out, "recall", step->recall);
        nd_json_put_double(out, "candidates", step->candidates);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static void put_memory(struct nd_json *out, const struct nd_plan *plan)
{
    nd_json_put_uint(out, "one_load_bytes", plan->one_load_bytes);
    nd_json_put_double(out, "unlimited_processor_seconds", plan->unlimited_processor_seconds);
    nd_json_put_double(out, "unlimited_seconds", plan->unlimited_seconds);
    nd_json_put_double(out, "unlimited_peak_bytes", plan->unlimited_peak_bytes);
    nd_json_key(out, "memory");
    nd_json_open(out, '[');
    for (size_t i = 0; i < plan->n_memory; i++) {
        const struct nd_plan_memory *row = &plan->memory[i];

        nd_json_open(out, '{');
        nd_json_put_uint(out, "memory_bytes", row->memory_bytes);
        nd_json_put_double(out, "loads", row->loads);
        nd_json_put_double(out, "peak_bytes", row->peak_bytes);
        nd_json_put_double(out, "spilled_bytes", row->spilled_bytes);
        nd_json_put_double(out, "spool_bytes", row->spool_bytes);
        nd_json_put_double(out, "processor_seconds", row->processor_seconds);
        nd_json_put_double(out, "seconds", row->seconds);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static void put_spark(struct nd_json *out, const struct nd_plan *plan)
{
    const struct nd_spark_job *job = &plan->spark;

    nd_json_key(out, "spark");
    nd_json_open(out, '{');
    nd_json_put_double(out, "executors", job->executors);
    nd_json_put_double(out, "cores", job->cores);
    nd_json_put_double(out, "documents", job->documents);
    nd_json_put_double(out, "bytes", job->bytes);
    nd_json_put_double(out, "matching", job->matching);
    nd_json_put_double(out, "buckets", job->buckets);
    nd_json_put_double(out, "edges", job->edges);
    nd_json_put_double(out, "rounds", job->rounds);
    nd_json_put_double(out, "busy", job->busy);
    nd_json_put_double(out, "disk_bytes", plan->spark_disk_bytes);
    nd_json_key(out, "stages");
    nd_json_open(out, '[');
    for (size_t i = 0; i < ND_SPARK_STAGES; i++) {
        const struct nd_spark_stage *stage = &plan->spark_stage[i];

        nd_json_open(out, '{');
        nd_json_put_text(out, "name", stage->name);
        nd_json_put_double(out, "shuffled_bytes", stage->shuffled_bytes);
        nd_json_put_double(out, "processor_seconds", stage->processor_seconds);
        nd_json_put_double(out, "seconds", stage->seconds);
        nd_json_put_double(out, "memory_bytes", stage->memory_bytes);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_json_close(out, '}');
}

enum nd_status nd_plan_json(const struct nd_plan *plan, char **text, size_t *len,
                            struct nd_error *err)
{
    struct nd_json out = {0};

    nd_json_open(&out, '{');
    nd_json_put_text(&out, "neardup", nd_version());
    nd_json_put_hex(&out, "recipe_hash", plan->recipe_hash);
    nd_json_put_uint(&out, "threads", plan->sample.threads);
    put_sample(&out, plan);
    nd_json_key(&out, "figures");
    nd_figures_put(&out, plan->figure, NULL);
    put_stages(&out, plan);
    nd_json_put_uint(&out, "bands", plan->sample.bands);
    nd_json_put_uint(&out, "rows", plan->sample.rows);
    put_recall(&out, &plan->sample);
    put_steps(&out, plan);
    if (plan->n_memory)
        put_memory(&out, plan);
    if (plan->spark.executors > 0)
        put_spark(&out, plan);
    nd_json_close(&out, '}');
    nd_json_line(&out);
    return nd_json_take(&out, text, len, err);
}
