/* summary_table.c - the summary for people */
#include "report.h"

#include <neardup/index.h>

#include <stdio.h>
#include <string.h>

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void row(const char *name, uint64_t value)
{
    fprintf(stderr, "  %-22s %12llu\n", name, (unsigned long long)value);
}

static void row_of(const char *name, uint64_t value, uint64_t whole)
{
    fprintf(stderr, "  %-22s %12llu  %5.1f%%\n", name, (unsigned long long)value,
            percent(value, whole));
}

/* Only where there is something to say. */
static void row_if(const char *name, uint64_t value)
{
    if (value)
        row(name, value);
}

static void print_kind(const struct nd_run_kind *kind)
{
    static const char *const formats[] = {"nothing", "text", "HTML", "JSON Lines",
                                          "CSV",     "TSV",  "mail", "mbox"};
    char size[32];

    fputs("  ", stderr);
    put_name(kind->first);
    if (kind->sources > 1)
        fprintf(stderr, " and %llu more", (unsigned long long)(kind->sources - 1));
    fprintf(stderr, ": %s%s", formats[kind->format],
            kind->is_container && kind->format == ND_FORMAT_TEXT ? " in parts" : "");
    if (strcmp(kind->compression, "none") != 0)
        fprintf(stderr, ", %s", kind->compression);
    if (kind->archive[0])
        fprintf(stderr, ", in %s", kind->archive);
    fprintf(stderr, ", %llu record%s, %s\n", (unsigned long long)kind->records,
            kind->records == 1 ? "" : "s", bytes_text((double)kind->bytes, size));
}

static void print_inputs(const struct nd_run_summary *s)
{
    fputs("Inputs, and what they were taken for\n", stderr);
    for (size_t i = 0; i < s->n_kinds; i++)
        print_kind(&s->kinds[i]);
    if (s->other_sources)
        fprintf(stderr, "  and %llu of other kinds\n", (unsigned long long)s->other_sources);
}

static void print_counts(const struct nd_run_summary *s)
{
    fputs("Documents\n", stderr);
    row("read", s->documents);
    if (s->documents && s->kept + s->removed) {
        row_of("kept", s->kept, s->documents);
        row_of("removed", s->removed, s->documents);
        row_of("  equal bytes", s->identical_bytes, s->documents);
        row_of("  equal words", s->identical_tokens, s->documents);
        row_of("  near", s->near, s->documents);
        row("clusters", s->clusters);
    }
    row_if("pairs", s->pairs);
    row_if("without words", s->empty_documents);
    row_if("shorter than a shingle", s->short_documents);
    row_if("without signatures", s->unsigned_documents);
    row_if("candidates cut", s->cut_documents);
    row_if("left out of full keys", s->crowded_documents);
    row_if("bad records", s->bad_records);
    row_if("inputs that failed", s->failed_inputs);
    row_if("invalid UTF-8 repaired", s->repaired);
    row_if(s->ids_full ? "double ids, at least" : "double ids", s->double_ids);
}

static void print_largest(const struct nd_run_summary *s)
{
    if (!s->n_largest)
        return;
    fputs("Largest clusters\n", stderr);
    for (size_t i = 0; i < s->n_largest; i++)
        fprintf(stderr, "  %12llu  %s\n", (unsigned long long)s->largest[i].documents,
                s->largest[i].id);
}

/* How likely a pair is looked at, by its resemblance. */
static void print_curve(const struct nd_run_summary *s)
{
    static const double at[] = {0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95};

    if (!s->bands)
        return;
    fprintf(stderr, "Chance that a pair is compared, %u bands of %u\n ", s->bands, s->rows);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        fprintf(stderr, " %6.2f", at[i]);
    fputs("  resemblance\n ", stderr);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        fprintf(stderr, " %6.4f", nd_bands_recall(at[i], s->bands, s->rows));
    fprintf(stderr,
            "\n  unrelated documents (resemblance %.2f): %.2g, so %.2g candidates a document\n",
            ND_RUN_UNRELATED, nd_bands_recall(ND_RUN_UNRELATED, s->bands, s->rows), s->unrelated);
    if (s->unrelated > 1)
        fputs(
            "  warning: unrelated documents meet, and each meeting is compared; a higher threshold "
            "or a lower --recall is faster\n",
            stderr);
}

static void print_work(const struct nd_run_summary *s)
{
    char size[32], rate[32], peak[32], index[32];
    double seconds = s->seconds > 0 ? s->seconds : 1e-9;

    fputs("Work\n", stderr);
    fprintf(stderr, "  %s in %.2f s: %s/s, %u thread%s\n", bytes_text((double)s->bytes, size),
            s->seconds, bytes_text((double)s->bytes / seconds, rate), s->threads,
            s->threads == 1 ? "" : "s");
    fprintf(stderr, "  %llu candidates, %llu exact comparisons\n",
            (unsigned long long)s->candidates, (unsigned long long)s->checks);
    fprintf(stderr, "  peak memory %s, of it the index %s\n",
            bytes_text((double)s->peak_bytes, peak), bytes_text((double)s->index_bytes, index));
}

void print_summary(const struct nd_run_summary *s)
{
    if (!s->is_verified)
        fputs("NOT VERIFIED: what was removed only looks alike, no texts were compared\n", stderr);
    print_inputs(s);
    print_counts(s);
    print_largest(s);
    print_curve(s);
    print_work(s);
}
