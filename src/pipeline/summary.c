/* summary.c - what a run did, in numbers, and as JSON */
#define _GNU_SOURCE
#include "pipeline/run_state.h"

#include <neardup/index.h>
#include <neardup/version.h>

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static bool is_kind(const struct nd_run_kind *kind, const struct nd_source *source)
{
    return kind->format == source->format && strcmp(kind->compression, source->compression) == 0 &&
           strcmp(kind->archive, source->archive ? source->archive : "") == 0 &&
           kind->is_container == source->is_container;
}

static void count_source(struct nd_run_summary *summary, const struct nd_source *source)
{
    size_t i = 0;

    if (source->archive && !source->entry) /* its entries are counted */
        return;
    while (i < summary->n_kinds && !is_kind(&summary->kinds[i], source))
        i++;
    summary->bytes += source->bytes;
    if (i == ND_RUN_KINDS) {
        summary->other_sources++;
        return;
    }
    if (i == summary->n_kinds) {
        struct nd_run_kind *kind = &summary->kinds[summary->n_kinds++];

        kind->format = source->format;
        kind->is_container = source->is_container;
        snprintf(kind->compression, sizeof kind->compression, "%s", source->compression);
        snprintf(kind->archive, sizeof kind->archive, "%s", source->archive ? source->archive : "");
        snprintf(kind->first, sizeof kind->first, "%s", source->path);
    }
    summary->kinds[i].sources++;
    summary->kinds[i].records += source->records;
    summary->kinds[i].bytes += source->bytes;
}

static void count_decisions(struct nd_run *run)
{
    struct nd_run_summary *summary = run->summary;
    struct nd_dedup_stats stats;

    if (!run->dedup)
        return;
    nd_dedup_get_stats(run->dedup, &stats);
    summary->short_documents = stats.short_documents;
    summary->empty_documents = stats.empty_documents;
    summary->cut_documents = stats.cut_documents;
    summary->unsigned_documents = stats.unsigned_documents;
    summary->crowded_documents = stats.crowded_documents;
    summary->crowded_keys = stats.crowded_keys;
    summary->checks = stats.checks;
    summary->candidates = stats.candidates;
    summary->index_bytes = stats.index_bytes;
    summary->bands = stats.bands;
    summary->rows = stats.rows;
}

enum nd_status nd_summary_complete(struct nd_run *run, struct nd_error *err)
{
    struct nd_run_summary *summary = run->summary;
    struct rusage usage;

    (void)err;
    for (uint32_t i = 0; i < nd_reading_sources(run->reading); i++)
        count_source(summary, nd_reading_source(run->reading, i));
    count_decisions(run);
    if (summary->bands)
        summary->unrelated = (double)summary->documents *
                             nd_bands_recall(ND_RUN_UNRELATED, summary->bands, summary->rows);
    summary->is_verified = run->options->recipe.dedup.verify != ND_VERIFY_NONE;
    summary->spool_bytes = nd_lookup_spooled(run->lookup);
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        summary->peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    summary->seconds = nd_run_clock() - run->started;
    return ND_OK;
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

static void put_counts(struct nd_json *out, const struct nd_run_summary *s)
{
    const struct number numbers[] = {
        {"documents", s->documents},
        {"kept", s->kept},
        {"removed", s->removed},
        {"identical_bytes", s->identical_bytes},
        {"identical_tokens", s->identical_tokens},
        {"near", s->near},
        {"clusters", s->clusters},
        {"bad_records", s->bad_records},
        {"repaired_sequences", s->repaired},
        {"short_documents", s->short_documents},
        {"empty_documents", s->empty_documents},
        {"unsigned_documents", s->unsigned_documents},
        {"cut_documents", s->cut_documents},
        {"crowded_documents", s->crowded_documents},
        {"crowded_keys", s->crowded_keys},
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
        {"threads", s->threads},
        {"bands", s->bands},
        {"rows", s->rows},
    };

    put_numbers(out, numbers, sizeof numbers / sizeof *numbers);
    nd_json_key(out, "double_ids_is_lower_bound");
    nd_json_bool(out, s->ids_full);
    nd_json_key(out, "verified");
    nd_json_bool(out, s->is_verified);
    nd_json_key(out, "unrelated_candidates");
    nd_json_double(out, s->unrelated);
    nd_json_key(out, "seconds");
    nd_json_double(out, s->seconds);
}

/* The chance that a pair of a resemblance is looked at, where bands decide that. */
static void put_curve(struct nd_json *out, const struct nd_run_summary *s)
{
    nd_json_key(out, "s_curve");
    nd_json_open(out, '[');
    for (int i = 1; s->bands && i <= 20; i++) {
        nd_json_open(out, '[');
        nd_json_double(out, i / 20.0);
        nd_json_double(out, nd_bands_recall(i / 20.0, s->bands, s->rows));
        nd_json_close(out, ']');
    }
    nd_json_close(out, ']');
}

static void put_lists(struct nd_json *out, const struct nd_run_summary *s)
{
    nd_json_key(out, "largest_clusters");
    nd_json_open(out, '[');
    for (size_t i = 0; i < s->n_largest; i++) {
        nd_json_open(out, '{');
        nd_json_key(out, "kept");
        nd_json_text(out, s->largest[i].id);
        nd_json_key(out, "documents");
        nd_json_uint(out, s->largest[i].documents);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    nd_json_key(out, "inputs");
    nd_json_open(out, '[');
    for (size_t i = 0; i < s->n_kinds; i++) {
        const struct nd_run_kind *kind = &s->kinds[i];
        const struct number numbers[] = {
            {"files", kind->sources}, {"records", kind->records}, {"bytes", kind->bytes}};

        nd_json_open(out, '{');
        nd_json_key(out, "format");
        nd_json_text(out, nd_format_word(kind->format));
        nd_json_key(out, "compression");
        nd_json_text(out, kind->compression);
        nd_json_key(out, "archive");
        kind->archive[0] ? nd_json_text(out, kind->archive) : nd_json_null(out);
        nd_json_key(out, "first");
        nd_json_text(out, kind->first);
        put_numbers(out, numbers, 3);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
}

enum nd_status nd_summary_write(struct nd_run *run, struct nd_error *err)
{
    struct nd_json out = {0};
    enum nd_status status;

    nd_json_open(&out, '{');
    nd_json_key(&out, "neardup");
    nd_json_text(&out, nd_version());
    nd_json_key(&out, "published");
    nd_json_bool(&out, run->survivors || run->writes_output);
    put_counts(&out, run->summary);
    put_curve(&out, run->summary);
    put_lists(&out, run->summary);
    nd_json_close(&out, '}');
    nd_json_line(&out);
    if (out.failed)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = nd_output_write(run->report, out.text.data, out.text.len, err);
    nd_json_release(&out);
    return status;
}
