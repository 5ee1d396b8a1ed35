/* counts.c - what a run did, in numbers, and as JSON */

/*
 * The histogram of resemblances uses integer arithmetic, so that a value on a step is counted on
 * the right side of it.
 */
#include "evidence/counts.h"
#include "evidence/figures.h"
#include "evidence/rows.h"

#include <neardup/index.h>
#include <neardup/version.h>

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- How near removed documents are ---- */

enum { WHOLE = ND_RUN_STEPS - 1 };

/* The step that the threshold stands on, or above which it stands. */
static unsigned lowest_step(struct nd_ratio threshold)
{
    return (unsigned)((uint64_t)threshold.p * WHOLE / threshold.q);
}

void nd_measured_count(uint64_t measured[ND_MEASURED], const struct nd_dedup_params *params,
                       const struct nd_overlap *overlap, const struct nd_overlap *with_kept)
{
    unsigned lowest = lowest_step(params->threshold), i = WHOLE;

    /* By integers: a rounded quotient could fall on the other side of a step. */
    while (i > lowest && !nd_overlap_reaches(overlap, params->verify, (struct nd_ratio){i, WHOLE}))
        i--;
    measured[i]++;
    measured[ND_RUN_STEPS] += with_kept->a - with_kept->shared;
}

double nd_measured_value(const struct nd_dedup_params *params, const struct nd_overlap *overlap)
{
    const double of_removed = nd_fraction(overlap->shared, overlap->a),
                 of_kept = nd_fraction(overlap->shared, overlap->b);

    switch (params->verify) {
    case ND_VERIFY_JACCARD: return nd_overlap_resemblance(overlap);
    case ND_VERIFY_CONTAINMENT: return of_removed;
    case ND_VERIFY_CONTAINMENT_OF_KEPT: return of_kept;
    case ND_VERIFY_CONTAINMENT_EITHER: return of_removed > of_kept ? of_removed : of_kept;
    case ND_VERIFY_COSINE: return sqrt(of_removed * of_kept);
    case ND_VERIFY_NONE: break;
    }
    return -1;
}

void nd_measured_count_value(uint64_t measured[ND_MEASURED], const struct nd_dedup_params *params,
                             double value)
{
    unsigned lowest = lowest_step(params->threshold), i = WHOLE;

    while (i > lowest && value < (double)i / WHOLE)
        i--;
    measured[i]++;
}

size_t nd_measured_steps(const uint64_t measured[ND_MEASURED], const struct nd_dedup_params *params,
                         struct nd_run_step step[ND_RUN_STEPS])
{
    unsigned lowest = lowest_step(params->threshold);
    size_t n = 0;

    for (unsigned i = WHOLE + 1; i-- > lowest;)
        step[n++] = (struct nd_run_step){(double)i / WHOLE, measured[i]};
    /* Nothing below the threshold is removed. */
    step[n - 1].from = (double)params->threshold.p / params->threshold.q;
    return n;
}

static void summarise_measured(const uint64_t step[ND_MEASURED],
                               const struct nd_dedup_params *params, struct nd_run_summary *summary)
{
    summary->measured_by = nd_dedup_measure(params);
    summary->lost_runs = step[ND_RUN_STEPS];
    summary->n_measured = nd_measured_steps(step, params, summary->measured);
}

/* ---- How many documents each kept one stands for ---- */

void nd_cluster_sizes_release(struct nd_cluster_sizes *s)
{
    free(s->members);
    *s = (struct nd_cluster_sizes){NULL, 0};
}

bool nd_cluster_sizes_set(struct nd_cluster_sizes *s, size_t rank, uint32_t members)
{
    if (!ND_RESERVE(s->members, &s->capacity, rank + 1))
        return false;
    s->members[rank] = members;
    return true;
}

void nd_cluster_sizes_shrink(struct nd_cluster_sizes *s, size_t n)
{
    uint32_t *less = n ? realloc(s->members, n * sizeof *less) : NULL;

    if (!less)
        return;
    s->members = less;
    s->capacity = n;
}

/* Keep the *n ranks of the greatest sizes, of equal ones the earlier. */
static void offer(size_t largest[ND_RUN_LARGEST], size_t *n, const uint32_t *members, size_t rank)
{
    size_t at = *n;

    if (*n == ND_RUN_LARGEST && members[largest[*n - 1]] >= members[rank])
        return;
    if (*n < ND_RUN_LARGEST)
        ++*n;
    else
        at--;
    for (; at > 0 && members[largest[at - 1]] < members[rank]; at--)
        largest[at] = largest[at - 1];
    largest[at] = rank;
}

void nd_cluster_step_ends(unsigned step, uint64_t *from, uint64_t *to)
{
    *to = step < 3 ? step + 2u : UINT64_C(1) << step;
    *from = step < 3 ? *to : *to / 2 + 1;
}

void nd_cluster_step_count(uint64_t clusters[ND_CLUSTER_STEPS], uint64_t size)
{
    unsigned step = 0;
    uint64_t from, to;

    if (size < 2)
        return;
    for (nd_cluster_step_ends(step, &from, &to); size > to && step + 1 < ND_CLUSTER_STEPS;)
        nd_cluster_step_ends(++step, &from, &to);
    clusters[step]++;
}

size_t nd_cluster_sizes_largest(const struct nd_cluster_sizes *s, size_t n,
                                size_t largest[ND_RUN_LARGEST], uint64_t *n_clusters)
{
    size_t n_largest = 0;

    *n_clusters = 0;
    for (size_t rank = 0; rank < n; rank++) {
        if (s->members[rank] < 2)
            continue;
        ++*n_clusters;
        offer(largest, &n_largest, s->members, rank);
    }
    return n_largest;
}

/* ---- The whole ---- */

static void count_decisions(struct nd_run_summary *summary, const struct nd_dedup_stats *stats)
{
    summary->short_documents = stats->short_documents;
    summary->empty_documents = stats->empty_documents;
    summary->cut_documents = stats->cut_documents;
    summary->unsigned_documents = stats->unsigned_documents;
    summary->crowded_documents = stats->crowded_documents;
    summary->crowded_keys = stats->crowded_keys;
    summary->checks = summary->is_verified ? stats->checks : 0;
    summary->candidates = stats->candidates;
    summary->index_bytes = stats->index_bytes;
    summary->bands = stats->bands;
    summary->rows = stats->rows;
    summary->sample = stats->sample;
    summary->sample_least = stats->sample_least;
}

void nd_dedup_stats_add(struct nd_dedup_stats *sum, const struct nd_dedup_stats *s)
{
    sum->documents += s->documents;
    sum->kept += s->kept;
    sum->identical_bytes += s->identical_bytes;
    sum->identical_tokens += s->identical_tokens;
    sum->near += s->near;
    sum->short_documents += s->short_documents;
    sum->empty_documents += s->empty_documents;
    sum->cut_documents += s->cut_documents;
    sum->candidates += s->candidates;
    sum->checks += s->checks;
    sum->bytes += s->bytes;
    sum->index_bytes = s->index_bytes > sum->index_bytes ? s->index_bytes : sum->index_bytes;
    sum->signed_documents += s->signed_documents;
    sum->unsigned_documents += s->unsigned_documents;
    sum->crowded_documents += s->crowded_documents;
    sum->crowded_keys += s->crowded_keys;
    sum->bands = s->bands;
    sum->rows = s->rows;
    sum->sample = s->sample;
    sum->sample_least = s->sample_least;
}

void nd_dedup_stats_leave_out(struct nd_dedup_stats *sum, const struct nd_dedup_stats *part)
{
    sum->short_documents -= part->short_documents;
    sum->empty_documents -= part->empty_documents;
    sum->cut_documents -= part->cut_documents;
    sum->candidates -= part->candidates;
    sum->checks -= part->checks;
    sum->signed_documents -= part->signed_documents;
    sum->unsigned_documents -= part->unsigned_documents;
}

void nd_summary_complete(struct nd_run_summary *summary, const struct nd_dedup_stats *stats,
                         const struct nd_dedup_params *params, const uint64_t measured[ND_MEASURED])
{
    summary->is_verified = params->verify != ND_VERIFY_NONE;
    if (stats)
        count_decisions(summary, stats);
    if (stats && measured && summary->is_verified)
        summarise_measured(measured, params, summary);
    summary->curve_of = !summary->sample                     ? "resemblance"
                        : params->verify == ND_VERIFY_COSINE ? "cosine"
                                                             : "containment";
    summary->unrelated = (double)summary->documents * nd_summary_recall(summary, ND_RUN_UNRELATED);
}

double nd_summary_recall(const struct nd_run_summary *s, double x)
{
    if (s->sample)
        return nd_sample_recall(x, s->sample, s->sample_least);
    return s->bands ? nd_bands_recall(x, s->bands, s->rows) : 0;
}

struct number {
    const char *key;
    uint64_t value;
};

static void put_numbers(struct nd_json *out, const struct number *number, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        nd_json_key(out, number[i].key);
        nd_json_uint(out, number[i].value);
    }
}

/* Write what became of the documents: a list of pairs keeps and removes none. */
static void put_decisions(struct nd_json *out, const struct nd_run_summary *s)
{
    const struct number pairs[] = {{"pairs", s->pairs}, {"near_misses", s->near_misses}};
    const struct number numbers[] = {
        {"kept", s->kept},
        {"removed", s->removed},
        {"identical_bytes", s->identical_bytes},
        {"identical_tokens", s->identical_tokens},
        {"near", s->near},
        {"clusters", s->clusters},
    };
    const struct number shortened[] = {{"kept", s->kept}, {"removed", s->removed}};
    const struct number filtered[] = {
        {"prototypes", s->prototypes},
        {"matches", s->removed},
        {"identical_bytes", s->identical_bytes},
        {"identical_tokens", s->identical_tokens},
        {"near", s->near},
        {"others", s->kept},
    };

    if (s->lists_pairs)
        put_numbers(out, pairs, sizeof pairs / sizeof *pairs);
    else if (s->repeats)
        put_numbers(out, shortened, sizeof shortened / sizeof *shortened);
    else if (s->filters)
        put_numbers(out, filtered, sizeof filtered / sizeof *filtered);
    else
        put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
}

/* Write what was cut, in all and of each domain. */
static void put_repeats(struct nd_json *out, const struct nd_repeats_summary *r)
{
    const struct number numbers[] = {{"changed", r->changed},
                                     {"emptied", r->emptied},
                                     {"cuts", r->cuts},
                                     {"text_bytes", r->text_bytes},
                                     {"cut_bytes", r->cut_bytes}};

    put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    nd_json_key(out, "domains");
    nd_json_open(out, '[');
    for (size_t i = 0; i < r->n_domains; i++) {
        const struct nd_repeats_domain *d = &r->domain[i];
        const struct number counts[] = {{"documents", d->documents},
                                        {"changed", d->changed},
                                        {"text_bytes", d->text_bytes},
                                        {"cut_bytes", d->cut_bytes}};

        nd_json_open(out, '{');
        nd_json_put_text(out, "name", d->name);
        put_numbers(out, counts, sizeof counts / sizeof *counts);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_json_put_uint(out, "other_domains", r->other_domains);
}

static void put_turns(struct nd_json *out, const struct nd_run_turns *turns)
{
    if (turns->processor <= 0)
        return;
    nd_json_key(out, "turns");
    nd_json_open(out, '{');
    nd_json_put_double(out, "processor", turns->processor);
    nd_json_put_double(out, "read", turns->read);
    nd_json_put_double(out, "decide", turns->decide);
    nd_json_put_double(out, "shared", turns->shared);
    nd_json_put_double(out, "note", turns->note);
    nd_json_put_double(out, "write", turns->write);
    nd_json_put_double(out, "unpack", turns->unpack);
    nd_json_close(out, '}');
}

/* Inputs that the run replaced, if any, and what they lost. */
static void put_replaced(struct nd_json *out, const struct nd_run_replaced *replaced)
{
    const struct number numbers[] = {
        {"inputs", replaced->inputs}, {"records", replaced->records}, {"gone", replaced->gone}};

    if (!replaced->inputs)
        return;
    nd_json_key(out, "replaced");
    nd_json_open(out, '{');
    nd_json_put_text(out, "first", replaced->first);
    put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    nd_json_close(out, '}');
}

static void put_counts(struct nd_json *out, const struct nd_run_summary *s)
{
    const struct number documents = {"documents", s->documents};
    const struct number numbers[] = {
        {"bad_records", s->bad_records},
        {"repaired_sequences", s->repaired},
        {"short_documents", s->short_documents},
        {"empty_documents", s->empty_documents},
        {"unsigned_documents", s->unsigned_documents},
        {"cut_documents", s->cut_documents},
        {"crowded_documents", s->crowded_documents},
        {"crowded_keys", s->crowded_keys},
        {"never_documents", s->never_documents},
        {"seen_documents", s->seen_documents},
        {"seen_met", s->seen_met},
        {"double_ids", s->double_ids},
        {"failed_inputs", s->failed_inputs},
        {"left_out", s->left_out},
        {"warnings", s->warnings},
        {"candidates", s->candidates},
        {"checks", s->checks},
        {"bytes", s->bytes},
        {"index_bytes", s->index_bytes},
        {"spool_bytes", s->spool_bytes},
        {"peak_bytes", s->peak_bytes},
        {"memory_bytes", s->memory_bytes},
        {"spilled_bytes", s->spilled_bytes},
        {"loads", s->loads},
        {"threads", s->threads},
        {"bands", s->bands},
        {"rows", s->rows},
        {"sample", s->sample},
        {"sample_least", s->sample_least},
    };

    put_numbers(out, &documents, 1);
    put_decisions(out, s);
    put_replaced(out, &s->replaced);
    put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    nd_json_put_bool(out, "double_ids_is_lower_bound", s->ids_full);
    nd_json_put_bool(out, "verified", s->is_verified);
    nd_json_put_double(out, "unrelated_candidates", s->unrelated);
    nd_json_put_double(out, "seconds", s->seconds);
    nd_json_put_double(out, "processor_seconds", s->processor_seconds);
    put_turns(out, &s->turns);
}

/* The chance that a pair is looked at, where bands or samples decide that. */
static void put_curve(struct nd_json *out, const struct nd_run_summary *s)
{
    nd_json_put_text(out, "s_curve_of", s->curve_of);
    nd_json_key(out, "s_curve");
    nd_json_open(out, '[');
    for (int i = 1; (s->bands || s->sample) && s->documents && i <= 20; i++) {
        nd_json_open(out, '[');
        nd_json_double(out, i / 20.0);
        nd_json_double(out, nd_summary_recall(s, i / 20.0));
        nd_json_close(out, ']');
    }
    nd_json_close(out, ']');
}

/* How much of what was removed measures how much: pairs of a step and a count. */
static void put_measured(struct nd_json *out, const struct nd_run_summary *s)
{
    if (!s->measured_by)
        return;
    nd_json_put_text(out, "measured_by", s->measured_by);
    nd_json_key(out, "measured");
    nd_json_open(out, '[');
    for (size_t i = 0; i < s->n_measured; i++) {
        nd_json_open(out, '[');
        nd_json_double(out, s->measured[i].from);
        nd_json_uint(out, s->measured[i].documents);
        nd_json_close(out, ']');
    }
    nd_json_close(out, ']');
    if (!s->filters)
        nd_json_put_uint(out, "lost_runs", s->lost_runs);
}

static void put_largest(struct nd_json *out, const struct nd_run_summary *s)
{
    nd_json_key(out, "largest_clusters");
    nd_json_open(out, '[');
    for (size_t i = 0; i < s->n_largest; i++) {
        nd_json_open(out, '{');
        nd_json_put_text(out, "kept", s->largest[i].id);
        nd_json_put_uint(out, "documents", s->largest[i].documents);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

static void put_quoted(struct nd_json *out, const struct nd_run_summary *s)
{
    if (!s->n_quoted)
        return;
    nd_json_key(out, "quoted");
    nd_json_open(out, '[');
    for (size_t i = 0; i < s->n_quoted; i++) {
        nd_json_open(out, '{');
        nd_json_put_text(out, "name", s->quoted[i].name);
        nd_json_put_uint(out, "prototypes", s->quoted[i].prototypes);
        nd_json_put_uint(out, "documents", s->quoted[i].documents);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_json_put_uint(out, "other_quoted", s->other_quoted);
}

static void put_inputs(struct nd_json *out, const struct nd_summary_input *input, size_t n)
{
    nd_json_key(out, "inputs");
    nd_json_open(out, '[');
    for (size_t i = 0; i < n; i++) {
        const struct number numbers[] = {
            {"files", input[i].files}, {"records", input[i].records}, {"bytes", input[i].bytes}};

        nd_json_open(out, '{');
        nd_json_put_text(out, "format", input[i].format);
        nd_json_put_text(out, "compression", input[i].compression);
        nd_json_key(out, "archive");
        input[i].archive ? nd_json_text(out, input[i].archive) : nd_json_null(out);
        nd_json_put_text(out, "first", input[i].first);
        put_numbers(out, numbers, 3);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

void nd_summary_json(struct nd_json *out, const struct nd_run_summary *summary, bool is_published,
                     const struct nd_summary_input *input, size_t n)
{
    nd_json_open(out, '{');
    nd_json_put_text(out, "neardup", nd_version());
    nd_json_put_bool(out, "published", is_published);
    put_counts(out, summary);
    if (summary->repeats)
        put_repeats(out, summary->repeats);
    put_measured(out, summary);
    if (!summary->repeats)
        put_curve(out, summary);
    if (!summary->lists_pairs && !summary->filters && !summary->repeats)
        put_largest(out, summary);
    put_quoted(out, summary);
    put_inputs(out, input, n);
    if (summary->has_forecast) {
        nd_json_key(out, "predicted");
        nd_figures_put(out, summary->forecast, summary);
    }
    nd_json_close(out, '}');
    nd_json_line(out);
}
