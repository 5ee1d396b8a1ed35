/* plan_memory.c - what a limit of memory makes of a plan: loads, time, disk, and the peak */

/*
 * With a limit a run goes through its documents in another way (run/bounded_run.c), so that is
 * rehearsed over the same sample, with a limit as much smaller as the sample is.  It has as many
 * loads as the run, and for each document it writes as much to files.
 */
#include <math.h>

#include "base/repeats.h"
#include "input/streams/sampling.h"
#include "loads/loads.h"
#include "run/run_parts.h"
#include "uses/plan/planning.h"

/* A rehearsal with one limit. */
struct limited {
    struct nd_plan_memory *row;
    double documents; /* of the inputs */
};

static enum nd_status note_run(void *context, const struct nd_run *run, struct nd_error *err)
{
    struct limited *l = context;
    const struct nd_run_summary *s = run->summary;
    const struct nd_sampling *sampling = nd_input_sampling(nd_reading_input(run->reading));
    struct nd_slice_totals read = {.documents = s->documents};
    enum nd_status status = run->slice ? nd_slice_total(run->slice, &read, err) : ND_OK;
    double blocks = 1, scale, fixed = run->tables.counting_seconds, rest;

    if (nd_reading_sketches(run->reading))
        blocks = 1 / nd_reading_blocks_read(run->reading);
    else if (sampling->is_on)
        blocks = (double)sampling->total / fmax((double)sampling->bytes, 1);
    l->documents = (double)read.documents * blocks;
    scale = l->documents / fmax((double)s->documents, 1);
    rest = fmax(s->processor_seconds - fixed - read.parsing_seconds - read.slice_seconds -
                    sampling->skipped_seconds,
                0);
    l->row->processor_seconds =
        read.parsing_seconds * blocks + rest * scale + fixed * fmax(run->tables.counted_scale, 1);
    l->row->seconds = l->row->processor_seconds * s->seconds / fmax(s->processor_seconds, 1e-9);
    l->row->spilled_bytes = (double)s->spilled_bytes * scale;
    l->row->spool_bytes = (double)s->spool_bytes * scale;
    l->row->loads = (double)s->loads;
    return status;
}

static enum nd_status rehearse(const struct nd_run_options *options, uint64_t sample_bytes,
                               const struct nd_run_events *events, struct limited *l,
                               struct nd_error *err)
{
    const struct nd_run_watch watch = {.context = l,
                                       .sample_bytes = sample_bytes,
                                       .memory = l->row->memory_bytes,
                                       .ended = note_run};
    struct nd_run_summary summary;

    return nd_run_rehearse(options, &watch, events, &summary, err);
}

static uint64_t one_load(const struct nd_run_options *options, double documents)
{
    const uint64_t arrays = nd_budget_for_arrays((uint64_t)documents * 5);
    uint64_t bytes = nd_loads_memory(options->recipe, (uint64_t)documents + 1);

    bytes = bytes > arrays ? bytes : arrays;
    return bytes > ND_BUDGET_LEAST ? bytes : ND_BUDGET_LEAST;
}

/* Errors of the inputs are told once, by the run without a limit. */
enum nd_status nd_planning_rehearse_limits(const struct nd_run_options *options,
                                           uint64_t sample_bytes,
                                           const struct nd_run_events *events, struct nd_plan *plan,
                                           struct nd_error *err)
{
    const struct nd_run_events quiet = {.context = events ? events->context : NULL,
                                        .progress = events ? events->progress : NULL};
    uint64_t limit = options->memory, enough = UINT64_MAX;
    enum nd_status status = ND_OK;

    while (status == ND_OK && plan->n_memory < ND_PLAN_MEMORY) {
        struct limited l = {.row = &plan->memory[plan->n_memory]};

        l.row->memory_bytes = limit;
        status = rehearse(options, sample_bytes, &quiet, &l, err);
        if (!plan->n_memory++)
            plan->one_load_bytes = enough = one_load(options, l.documents);
        if (limit >= enough)
            break;
        limit = limit < enough / 4 && plan->n_memory + 1 < ND_PLAN_MEMORY ? limit * 4 : enough;
    }
    return status;
}

/* ---- The peak ---- */

/* Documents that are linked with others, of each: removed ones, those that they are removed for, and
 * pairs of kept ones. */
static double linked_share(const struct nd_planning *p)
{
    return fmin(2 * p->plan->figure[ND_FIGURE_REMOVED].value +
                    2 * (p->pairs.within + p->pairs.across * p->block_scale) /
                        fmax((double)p->plan->sample_documents, 1),
                1);
}

static double in_load(const struct nd_planning *p, double documents, double limit)
{
    enum { ENTRY = sizeof(struct nd_load_offer), NUMBER = 4 };
    double kept = documents * (1 - p->plan->figure[ND_FIGURE_REMOVED].value);

    return fmin(nd_planning_memory(p, documents, kept) + documents * (ENTRY + NUMBER), limit);
}

/* The memory of linking: the filter of all keys, or what is sorted of them, and the links. */
static double in_links(const struct nd_planning *p, const struct nd_budget *b, double documents)
{
    double keys = documents * (p->plan->sample.bands + 1);
    double filter = fmin((double)nd_repeats_enough((uint64_t)keys), (double)b->link_filter_bytes);

    return fmax(filter, (double)b->link_rows_bytes) + documents * 4.125;
}

/*
 * The memory of the process with its libraries, its threads and their batches. The peak of the
 * sample does not tell, as the rehearsals before it had more.
 */
static double of_process(const struct nd_planning *p)
{
    enum { PROCESS = 10 << 20, THREAD = 4 << 20 };

    return PROCESS + (double)THREAD * p->plan->sample.threads;
}

static double unlimited_peak(const struct nd_planning *p)
{
    double documents = p->plan->figure[ND_FIGURE_DOCUMENTS].value,
           removed = p->plan->figure[ND_FIGURE_REMOVED].value;

    return of_process(p) + nd_planning_memory(p, documents, documents * (1 - removed)) +
           nd_planning_shingles(p, removed);
}

static double peak_of(const struct nd_planning *p, const struct nd_plan_memory *row)
{
    const struct nd_budget b = nd_budget_divide(row->memory_bytes, p->plan->sample.threads);
    double documents = p->plan->figure[ND_FIGURE_DOCUMENTS].value,
           removed = p->plan->figure[ND_FIGURE_REMOVED].value;
    bool fits = row->memory_bytes >= p->plan->one_load_bytes;
    double load = in_load(p, fits ? documents : documents * linked_share(p),
                          (double)b.engine_bytes - documents * sizeof(uint32_t)),
           links = fits ? 0 : in_links(p, &b, documents),
           shingles = fmin(nd_planning_shingles(p, removed), (double)b.cache_bytes);

    return of_process(p) + fmin(documents * 12, (double)b.id_bytes) +
           fmax(load + shingles + documents * sizeof(uint32_t), links);
}

void nd_planning_limits(struct nd_planning *p)
{
    struct nd_forecast *figure = p->plan->figure;
    const struct nd_plan_memory *own = &p->plan->memory[0];

    for (size_t i = 0; i < p->plan->n_memory; i++)
        p->plan->memory[i].peak_bytes = peak_of(p, &p->plan->memory[i]);
    if (!p->plan->n_memory)
        return;
    p->plan->unlimited_seconds = figure[ND_FIGURE_SECONDS].value;
    p->plan->unlimited_processor_seconds = figure[ND_FIGURE_PROCESSOR_SECONDS].value;
    p->plan->unlimited_peak_bytes = unlimited_peak(p);
    p->plan->reading = p->plan->sketching = p->plan->deciding = 0;
    figure[ND_FIGURE_PROCESSOR_SECONDS] = nd_planning_exactly(own->processor_seconds);
    figure[ND_FIGURE_SECONDS] = nd_planning_exactly(own->seconds);
    figure[ND_FIGURE_PEAK_BYTES] = nd_planning_exactly(own->peak_bytes);
    figure[ND_FIGURE_SPOOL_BYTES] = nd_planning_exactly(own->spool_bytes);
    figure[ND_FIGURE_SPILLED_BYTES] = nd_planning_exactly(own->spilled_bytes);
    figure[ND_FIGURE_LOADS] = nd_planning_exactly(own->loads);
}
